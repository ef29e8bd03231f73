import { expect, test } from 'vitest';
import type { LivePhase, LiveSecond } from '../api/types';
import { ofLive, readingOf, stretches, untilEnd } from './timeline';

const second = (first: number, per_second: number) => {
  const type = { name: 'new_order', committed: per_second, failed: 0, retries: 0, per_second, p50_us: 1, p95_us: 1, p99_us: 1, max_us: 1 };
  return { first, last: first, primary_metric: per_second * 60, total: { ...type, name: 'all' }, types: [type] } as unknown as LiveSecond;
};

test('the second of the drain is a gap in the rates, not a fall to 0', () => {
  const timeline = untilEnd(ofLive([second(0, 90), second(1, 100), second(2, 3)]), 2.001);
  expect(timeline.primary_metric).toEqual([5400, 6000, null]);
  expect(timeline.rates[0]!.values).toEqual([90, 100, null]);
  expect(timeline.times[0]!.p95).toEqual([1, 1, null]);
  expect(timeline.x).toEqual([0, 1, 2]);
});

test('while the load goes on nothing is left out', () => {
  expect(untilEnd(ofLive([second(0, 90)]), null).primary_metric).toEqual([5400]);
});

test('a run without a ramp-up has no mark of one', () => {
  const begun = (at_s: number) => stretches([{ phase: 'window', at_s } as LivePhase]).map((stretch) => stretch.label);
  expect([begun(0.002), begun(5)]).toEqual([[], ['ramp-up']]);
});

test('samples are read every ten seconds, and once more at the end', () => {
  expect([9, 10, 19, 20].map((last) => readingOf(last, false))).toEqual([0, 1, 1, 2]);
  expect(readingOf(27, true)).toBeGreaterThan(readingOf(27, false));
  expect(readingOf(4, true)).toBeGreaterThan(0);
});
