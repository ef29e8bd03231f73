import { expect, test } from 'vitest';
import { moved, toFetch, wider, type Range } from './range';

const whole: Range = [0, 43_199];

test('what is shown moves to the ends and no further, and keeps its width', () => {
  expect(moved([100, 200], 50, whole)).toEqual([150, 250]);
  expect(moved([100, 200], -500, whole)).toEqual([0, 100]);
  expect(moved([43_000, 43_100], 500, whole)).toEqual([43_099, 43_199]);
});

test('wider ends at all there is', () => {
  expect(wider([100, 200], 2, whole)).toEqual([50, 250]);
  expect(wider([0, 100], 2, whole)).toEqual([0, 200]);
  expect(wider([100, 40_000], 9, whole)).toEqual(whole);
  expect(wider([100, 200], 0.5, whole)).toEqual([125, 175]);
});

test('a part is fetched with its sides, and again before what is shown leaves it', () => {
  const all = { range: whole, step: 108 };
  expect(toFetch(whole, all, whole)).toBeNull();
  expect(toFetch([10_000, 11_000], all, whole)).toEqual({ range: [9_000, 12_000], points: 1200 });
  const part = { range: [9_000, 12_000] as Range, step: 3 };
  expect(toFetch([10_400, 11_400], part, whole)).toBeNull();
  expect(toFetch([10_600, 11_600], part, whole)).toEqual({ range: [9_600, 12_600], points: 1200 });
  expect(toFetch([10_000, 10_500], part, whole)).toEqual({ range: [9_500, 11_000], points: 1200 });
  expect(toFetch([10_000, 10_500], { range: [9_500, 11_000], step: 2 }, whole)).toBeNull();
  expect(toFetch([0, 1_000], { range: [0, 2_000], step: 1 }, whole)).toBeNull();
});
