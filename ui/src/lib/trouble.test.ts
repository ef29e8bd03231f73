import { expect, test } from 'vitest';
import type { LiveNote, LiveSecond } from '../api/types';
import { trouble } from './trouble';

const second = (first: number, committed: number, failed = 0) => ({ first, last: first, total: { committed, rolled_back: 0, failed } }) as LiveSecond;
const error = { kind: 'error', text: 'New-Order failed: relation "stock" does not exist' } as LiveNote;

test('a run that fails says so first, with the error', () => {
  expect(trouble([second(0, 0, 50), second(1, 0, 60)], [error], 'NOPM')).toBe('NOPM 0, 100 % failed: New-Order failed: relation "stock" does not exist');
  expect(trouble([second(0, 90, 1), second(1, 90, 2)], [error], 'NOPM')).toBeNull();
});

test('an outage says since when and why, and ends when something completes', () => {
  const refused = { kind: 'error', text: 'Payment failed: connection refused' } as LiveNote;
  const seconds = [second(6, 90), second(7, 80), second(8, 0, 2), second(9, 0)];
  expect(trouble(seconds, [refused], 'NOPM')).toBe('No service since 0:08: Payment failed: connection refused');
  expect(trouble([...seconds, second(10, 5)], [refused], 'NOPM')).toBeNull();
});

test('one quiet second is no outage, and a run that has not begun neither', () => {
  expect(trouble([second(0, 9), second(1, 0)], [], 'NOPM')).toBeNull();
  expect(trouble([second(0, 0), second(1, 0)], [], 'NOPM')).toBeNull();
});
