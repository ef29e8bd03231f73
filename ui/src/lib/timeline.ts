// One form of series for the live page, the job page and the report.

import { METRICS, type Metric } from '../api/metrics';
import type { JobSeries, LivePhase, LiveSecond, Spread } from '../api/types';

/** Columns over the seconds of a run; every list is as long as `x`. */
export interface Timeline {
  x: number[];
  /** The primary metric in its own unit; null if it is unknown. */
  primary_metric: Column | null;
  rates: Named[];
  times: { name: string; p50: Column; p95: Column; p99: Column; max: Column }[];
  /** The declared figures with an additional chart, in display order. */
  figures: { metric: Metric; values: Column }[];
}

export type Column = (number | null)[];
export interface Named {
  name: string;
  values: Column;
}

/** No value if nothing committed: a gap in the line instead of a drop to 0. */
const orGap = (value: number, there: boolean) => (there ? value : null);

/** A declared member. */
const member = <T>(of: object, name: string) => (of as Record<string, T>)[name];

/** Values of a figure; of a figure of transaction types, their sum. */
function valuesOf(series: JobSeries, metric: Metric): Column {
  const one = (of: object): Column => {
    const found = member<number[] | Spread | null>(of, metric.points);
    return (Array.isArray(found) ? found : found?.[metric.spread]) ?? series.first.map(() => null);
  };
  if (metric.of === 'threads') return one(series);
  const types = series.types.map(one);
  return series.first.map((_, i) => types.reduce((sum, values) => sum + (values[i] ?? 0), 0));
}

/** Timeline of a run in progress. */
export function ofLive(seconds: LiveSecond[]): Timeline {
  const names = ['all', ...(seconds[0]?.types.map((t) => t.name) ?? [])];
  const pick = (s: LiveSecond, i: number) => (i === 0 ? s.total : s.types[i - 1]!);
  return {
    x: seconds.map((s) => s.first),
    primary_metric: seconds.map((s) => s.primary_metric),
    rates: names.slice(1).map((name, i) => ({ name, values: seconds.map((s) => pick(s, i + 1).per_second) })),
    times: names.map((name, i) => {
      const column = (read: (t: LiveSecond['total']) => number) =>
        seconds.map((s) => orGap(read(pick(s, i)), pick(s, i).committed > 0));
      return { name, p50: column((t) => t.p50_us), p95: column((t) => t.p95_us), p99: column((t) => t.p99_us), max: column((t) => t.max_us) };
    }),
    figures: METRICS.map((metric) => ({
      metric,
      values: seconds.map((s) => member<number | null>(metric.of === 'types' ? s.total : s, metric.live) ?? null),
    })),
  };
}

/** Timeline of a stored run. Where points are merged, rates are means, and times are those of the worst second. */
export function ofJob(series: JobSeries): Timeline {
  const gaps = (values: number[]) => values.map((v) => orGap(v, v > 0));
  return {
    x: series.first,
    primary_metric: series.primary_metric?.mean ?? null,
    rates: series.types.map((t) => ({ name: t.name, values: t.per_second.mean })),
    times: series.types.map((t) => ({ name: t.name, p50: gaps(t.p50_us.mean), p95: gaps(t.p95_us.max), p99: gaps(t.p99_us.max), max: gaps(t.max_us) })),
    figures: METRICS.map((metric) => ({ metric, values: valuesOf(series, metric) })),
  };
}

/**
 * Removes the rates and the times after the end of the load: the drain is shorter than a second and starts no
 * transactions, so its rate is not a drop in throughput, and its few transactions are not a sample of the
 * response times.
 */
export function untilEnd(timeline: Timeline, end: number | null): Timeline {
  if (end === null) return timeline;
  const cut = (values: Column): Column => values.map((v, i) => (timeline.x[i]! > end - 0.5 ? null : v));
  return {
    ...timeline,
    primary_metric: timeline.primary_metric && cut(timeline.primary_metric),
    rates: timeline.rates.map((rate) => ({ ...rate, values: cut(rate.values) })),
    times: timeline.times.map((t) => ({ ...t, p50: cut(t.p50), p95: cut(t.p95), p99: cut(t.p99), max: cut(t.max) })),
    // Counters include the drain; closing sessions and an idle host do not describe the run.
    figures: timeline.figures.map((figure) => (figure.metric.counts ? figure : { ...figure, values: cut(figure.values) })),
  };
}

/** A range of the time axis. */
export interface Stretch {
  from: number;
  to?: number;
  label: string;
  colour: string;
}

/** Phases of a run in progress, as ranges. */
export function stretches(phases: LivePhase[]): Stretch[] {
  const at = (name: string) => phases.find((p) => p.phase === name)?.at_s ?? null;
  const [window, drain] = [at('window'), at('drain') ?? at('abort')];
  const found: Stretch[] = [];
  // Without a ramp-up, the window starts shortly after the start of the run.
  if (window !== null && window >= 0.5) found.push({ from: 0, to: window, label: 'ramp-up', colour: 'quiet' });
  if (drain !== null) found.push({ from: drain, label: 'drain', colour: 'quiet' });
  return found;
}

/**
 * The seconds of the timed window so far of a run in progress. The window begins and ends on whole seconds; a phase is
 * announced a moment after its second began.
 */
export function inWindow(seconds: LiveSecond[], phases: LivePhase[]): LiveSecond[] {
  const at = (...names: string[]) => phases.find((p) => names.includes(p.phase) && p.at_s !== null)?.at_s ?? null;
  const [from, until] = [at('window'), at('drain', 'abort')];
  if (from === null) return [];
  return seconds.filter((s) => s.first >= Math.floor(from) && s.last < Math.floor(until ?? Infinity));
}

/** Seconds of a run in progress between two readings of its samples. */
const ROUND_S = 10;

/** Number of a reading of the samples of a run in progress; the last one, when it is over, has all of them. */
export const readingOf = (last: number, over: boolean): number => (over ? Infinity : Math.floor(last / ROUND_S));

/** Notes with a time, as marks. */
export function marks(notes: { at_s?: number | null; kind: string }[]): Stretch[] {
  const shown = new Set(['outage', 'recovered', 'retry_storm', 'checkpoint', 'user_ended']);
  return notes.filter((n) => n.at_s != null && shown.has(n.kind)).map((n) => ({ from: n.at_s!, label: n.kind.replace('_', ' '), colour: 'bad' }));
}

/** What a fault of a drill does, without its time and the text of a command: the place of its mark says when. */
export const faultLabel = (fault: string): string => fault.replace(/^fault: /, '').replace(/^at=\S+ /, '').replace(/^cmd=.*/s, 'command');

/** The faults of a drill in progress, as marks. */
export function faultMarks(notes: { at_s?: number | null; kind: string; text: string }[]): Stretch[] {
  return notes.filter((n) => n.at_s != null && n.kind === 'fault').map((n) => ({ from: n.at_s!, label: faultLabel(n.text), colour: 's4' }));
}

/** The moments of captures, as marks. */
export function captureMarks(observed: { captures?: { at_s: number }[] } | null | undefined): Stretch[] {
  return (observed?.captures ?? []).map(({ at_s }) => ({ from: at_s, label: 'capture', colour: 's4' }));
}
