import { expect, test } from 'vitest';
import type { LivePhase, LiveSecond } from '../api/types';
import { faultMarks, inWindow, ofLive, readingOf, stretches, untilEnd } from './timeline';

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

test('the timed window so far has its first second, although the phase is announced later', () => {
  const seconds = [2, 3, 4, 5, 6].map((first) => second(first, 10));
  const phase = (name: string, at_s: number) => ({ phase: name, at_s }) as LivePhase;
  const firsts = (...phases: LivePhase[]) => inWindow(seconds, phases).map((s) => s.first);
  expect(firsts(phase('ramp_up', 0))).toEqual([]);
  expect(firsts(phase('ramp_up', 0), phase('window', 3.0004))).toEqual([3, 4, 5, 6]);
  expect(firsts(phase('window', 3.0004), phase('drain', 5.0002))).toEqual([3, 4]);
});

test('a fault of a drill in progress is a mark that says what it does', () => {
  const note = (at_s: number, text: string) => ({ at_s, kind: 'fault', text });
  const marks = faultMarks([note(6.02, 'fault: at=6s cut=300ms'), note(9, 'fault: at=9s cmd=./failover.sh'), { at_s: 7, kind: 'outage', text: '' }]);
  expect(marks.map(({ from, label }) => [from, label])).toEqual([[6.02, 'cut=300ms'], [9, 'command']]);
});
