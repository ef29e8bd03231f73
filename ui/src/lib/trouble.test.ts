import { expect, test } from 'vitest';
import type { LiveNote, LiveSecond } from '../api/types';
import { trouble } from './trouble';

const second = (first: number, committed: number, failed = 0, outage_since: number | null = null) => ({ first, last: first, outage_since, primary_metric: 60 * committed, total: { committed, rolled_back: 0, failed } }) as LiveSecond;
const note = (kind: string, at_s: number, text: string) => ({ kind, at_s, text }) as LiveNote;
const error = note('error', 0, 'New-Order failed: relation "stock" does not exist');

test('a run that fails says so first, with the error', () => {
  expect(trouble([second(0, 0, 50), second(1, 0, 60)], [error], 'NOPM')).toBe('NOPM 0, 100 % failed: New-Order failed: relation "stock" does not exist');
  expect(trouble([second(0, 90, 1), second(1, 90, 2)], [error], 'NOPM')).toBeNull();
});

test('a run whose primary metric is 0 says so although other transactions complete', () => {
  const seconds = [0, 1].map((first) => ({ ...second(first, 52, 48), primary_metric: 0 }));
  expect(trouble(seconds, [error], 'NOPM')).toBe('NOPM 0, 48.0 % failed: New-Order failed: relation "stock" does not exist');
  expect(trouble([second(0, 80, 20)], [error], 'NOPM')).toBe('NOPM is too low: 20.0 % failed: New-Order failed: relation "stock" does not exist');
});

test('an outage says since when and why sessions stay away, and ends when the engine says so', () => {
  const notes = [error, note('away', 7.9, 'no new sessions: connection refused'), note('error', 8.1, 'Payment failed: the server closed the connection')];
  const seconds = [second(6, 90), second(7, 80), second(8, 0, 2, 8), second(9, 0, 0, 8)];
  expect(trouble(seconds, notes, 'NOPM')).toBe('No service since 0:08: no new sessions: connection refused');
  expect(trouble(seconds, notes.slice(2), 'NOPM')).toBe('No service since 0:08: Payment failed: the server closed the connection');
  expect(trouble(seconds, [error], 'NOPM'), 'an error of long ago explains nothing').toBe('No service since 0:08');
  expect(trouble([...seconds, second(10, 5)], notes, 'NOPM')).toBeNull();
});

test('a database that answers every transaction with an error is in service', () => {
  const seconds = [second(6, 90), second(7, 80), second(8, 0, 50, 8), second(9, 0, 60, 8)];
  expect(trouble(seconds, [error], 'NOPM')).toBe('NOPM 0, 100 % failed: New-Order failed: relation "stock" does not exist');
});

test('quiet seconds are no outage where the engine sees none', () => {
  expect(trouble([second(0, 9), second(1, 0), second(2, 0)], [], 'NOPM')).toBeNull();
});
