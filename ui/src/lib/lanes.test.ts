import { expect, test } from 'vitest';
import type { StepTime } from '../api/types';
import { lanes, share } from './lanes';

const step = (stream: number | null, name: string, start_s: number | null, seconds: number | null, outcome = 'answered') => ({ stream, name, start_s, seconds, outcome }) as unknown as StepTime;

test('queries have a lane per stream, without those that were not started, and refreshes are last', () => {
  const found = lanes([step(null, 'rf1', 0, 1), step(2, 'q3', 0.5, 2), step(1, 'q21', 0, 1), step(1, 'q4', 1, 2, 'timed_out'), step(1, 'q5', null, null)]);
  expect(found.map((lane) => lane.title)).toEqual(['stream 1', 'stream 2', 'refreshes']);
  expect(found[0]!.blocks).toEqual([{ name: 'Q21', from: 0, to: 1, answered: true }, { name: 'Q4', from: 1, to: 3, answered: false }]);
});

test('the shortest time is still seen beside the longest', () => {
  expect(share(5, 10)).toBe(0.5);
  expect(share(0.0001, 10)).toBeGreaterThan(0);
  expect(share(null, 10)).toBe(0);
});
