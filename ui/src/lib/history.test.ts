import { expect, test } from 'vitest';
import type { HistoryRun } from '../api/types';
import { day, margins, places } from './history';

const run = (job: number, started_at: string) => ({ job, started_at }) as HistoryRun;
const runs = [run(3, '2026-11-20T10:00:00Z'), run(9, '2026-11-22T10:00:00Z')];

test('runs stand at their dates or at the numbers of their jobs', () => {
  expect(places(runs, 'job')).toEqual([3, 9]);
  const [first, second] = places(runs, 'date');
  expect(second! - first!).toBe(2 * 86_400);
});

test('the first and the last run have room beside them, a single one too', () => {
  const [low, high] = margins([3, 9]);
  expect(low).toBeLessThan(3);
  expect(high).toBeGreaterThan(9);
  expect(margins([5])).toEqual([4.5, 5.5]);
  expect(margins([1000], 'date')).toEqual([940, 1060]);
  expect(margins([1000, 1100], 'date')).toEqual([995, 1105]);
});

test('a mark says as much of the date as the axis needs', () => {
  const at = new Date(2026, 10, 20, 10, 5, 7).getTime() / 1000;
  expect(day(at, 60)).toBe('10:05:07');
  expect(day(at, 7200)).toBe('10:05');
  expect(day(at, 2 * 86_400)).toBe('11-20 10:05');
  expect(day(at, 90 * 86_400)).toBe('2026-11-20');
});
