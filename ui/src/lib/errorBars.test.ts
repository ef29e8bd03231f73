import { expect, test } from 'vitest';
import { logReach, reach } from './errorBars';

test('an axis reaches above the highest bar', () => {
  expect(reach([{ low: 1, high: 100 }, null, { low: 2, high: 40 }])).toBeGreaterThan(100);
  expect(reach([null, undefined])).toBe(0);
});

test('a logarithmic axis has room for its bars, up to a factor of ten beyond the points', () => {
  expect(logReach([30_000, 54_000], [{ low: 21_800, high: 116_000 }, null])).toEqual([20_000, 200_000]);
  expect(logReach([30_000, 54_000], [{ low: 0.5, high: 184_000_000 }])).toEqual([3000, 600_000]);
});
