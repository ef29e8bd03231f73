// What the sessions at the database waited for, from the sampled metrics of a job: for the chart on the time axis, and
// for the comparison of a part of the run with the rest.

import type { JobSamples, LimitFigures, SampledSeries, WaitClass } from '../api/types';
import type { Range } from './range';
import type { Column, Stretch } from './timeline';

/** The title and colour of each class of waits, in the order in which they are stacked, the lowest first. */
const SHOWN: Record<WaitClass, { title: string; colour: string }> = {
  cpu: { title: 'CPU', colour: 'wait-cpu' },
  io: { title: 'Data I/O', colour: 'wait-io' },
  log: { title: 'Commit log', colour: 'wait-log' },
  replica: { title: 'Standby', colour: 'wait-replica' },
  latch: { title: 'Latches', colour: 'wait-latch' },
  row_lock: { title: 'Row locks', colour: 'wait-row-lock' },
  lock: { title: 'Other locks', colour: 'wait-lock' },
  client: { title: 'Client', colour: 'wait-client' },
  sleep: { title: 'Sleep', colour: 'wait-sleep' },
  other: { title: 'Other waits', colour: 'wait-other' },
};

/** Classes of waits in that order. */
export const CLASSES = Object.entries(SHOWN).map(([name, shown]) => ({ name, ...shown }));

const SESSIONS = 'db.sessions.active';
const STATEMENTS = 'db.statements.active';
const BLOCKED = 'db.sessions.blocked';
const CHECKPOINTS = 'postgresql.bgwriter.checkpoint.count';
const VACUUMS = 'postgresql.table.vacuum.count';
const VACUUMING = 'postgresql.autovacuum.workers';

/** The metrics of sessions, which have charts and tables of their own. */
export const SESSIONS_SAMPLED = [SESSIONS, STATEMENTS, BLOCKED];

/** The metrics to request. */
export const SAMPLED = [...SESSIONS_SAMPLED, CHECKPOINTS, VACUUMS, VACUUMING].join(',');

/** Active sessions of the run over time; every list is as long as `x`. */
export interface Sessions {
  x: number[];
  /** Seconds per point. */
  step: number;
  classes: { title: string; colour: string; values: Column }[];
}

const named = (samples: JobSamples, metric: string) => samples.series.filter((series) => series.metric === metric);
const ofRun = (samples: JobSamples) => named(samples, SESSIONS).filter(({ labels }) => labels.who === 'run');
const waits = (samples: JobSamples) => ofRun(samples).filter(({ labels }) => labels.wait !== undefined);

/** Whether sessions were sampled at each point: then what has no value was not seen. */
function sampled(samples: JobSamples): boolean[] {
  const series = ofRun(samples);
  return samples.first.map((_, i) => series.some(({ value }) => value[i] != null));
}

/** Active sessions by class, without the classes that were never seen; null if sessions were not observed. */
export function sessionsOf(samples: JobSamples | null): Sessions | null {
  const there = samples ? sampled(samples) : [];
  if (!samples || !there.includes(true)) return null;
  const all = waits(samples);
  const known = new Set(CLASSES.map(({ name }) => name));
  const classes = CLASSES.map(({ name, title, colour }) => {
    const series = all.filter(({ labels }) => labels.class === name || (name === 'other' && !known.has(labels.class ?? '')));
    const values = there.map((is, i) => (is ? series.reduce((sum, { value }) => sum + (value[i] ?? 0), 0) : null));
    return { title, colour, values };
  });
  return { x: samples.first, step: samples.step, classes: classes.filter(({ values }) => values.some((value) => (value ?? 0) > 0)) };
}

/** The place of each point of the axis `x` among points of `step` seconds that begin at `first`; -1 where there is none. */
export function onto(first: number[], step: number, x: number[]): number[] {
  let i = 0;
  return x.map((second) => {
    while (i < first.length && first[i]! + step <= second) i++;
    return i < first.length && first[i]! <= second ? i : -1;
  });
}

/** The sessions at the points of another axis, so that all charts have the same; a gap where nothing is known. */
export function onAxis(sessions: Sessions, x: number[]): Sessions {
  const places = onto(sessions.x, sessions.step, x);
  const moved = (values: Column) => places.map((place) => values[place] ?? null);
  return { ...sessions, x, classes: sessions.classes.map((of) => ({ ...of, values: moved(of.values) })) };
}

/** Cuts what was sampled after the end of the load, where sessions only close. */
export function sessionsUntil(sessions: Sessions | null, end: number): Sessions | null {
  const cut = (values: Column) => values.map((value, i) => (sessions!.x[i]! > end - 0.5 ? null : value));
  return sessions && { ...sessions, classes: sessions.classes.map((of) => ({ ...of, values: cut(of.values) })) };
}

/** Number of cores of the server's host; null if it is unknown, as that of a remote host. */
export function coresOf(figures: LimitFigures): number | null {
  const isHere = figures.same_host === true || figures.in_process;
  return (isHere && (figures.server_cpus_allowed || figures.host_cpus)) || null;
}

/** Checkpoints and vacuums, as marks. The first of each kind has a label. */
export function eventsOf(samples: JobSamples | null): Stretch[] {
  if (!samples) return [];
  const happened = (metric: string) => {
    const series = named(samples, metric);
    return samples.first.map((_, i) => series.some(({ value }) => (value[i] ?? 0) > 0));
  };
  const at = (second: boolean[], label: string, colour: string) =>
    samples.first.filter((_, i) => second[i]).map((from, i) => ({ from, label: i === 0 ? label : '', colour }));
  const vacuuming = runs(happened(VACUUMING)).map(([first, end], i) => ({
    from: samples.first[first]!,
    to: samples.first[end - 1]! + samples.step,
    label: i === 0 ? 'autovacuum' : '',
    colour: 's3',
  }));
  const all = [...at(happened(CHECKPOINTS), 'checkpoint', 's2'), ...at(happened(VACUUMS), 'vacuumed', 's3'), ...vacuuming];
  return all.sort((a, b) => a.from - b.from);
}

/** The runs of `true`, each as its first place and its end. */
function runs(of: boolean[]): Range[] {
  const found: Range[] = [];
  of.forEach((is, i) => {
    if (is && i > 0 && of[i - 1]) found.at(-1)![1] = i + 1;
    else if (is) found.push([i, i + 1]);
  });
  return found;
}

/** Sessions on average in a part of the run and in the rest of the timed window; null where nothing was sampled. */
export interface Compared {
  name: string;
  here: number | null;
  rest: number | null;
  /** Its class, of a wait. */
  of?: { title: string; colour: string };
}

/** What sessions did in a part of a run, beside the rest. */
export interface Comparison {
  classes: Compared[];
  waits: Compared[];
  statements: Compared[];
  blockers: Compared[];
}

/** Maximum number of rows of a comparison. */
const ROWS_MAX = 12;

/**
 * Compares `part` of a run with the rest of its timed window. Means of the part come from `fine`, which may have more
 * points there than `whole` has.
 */
export function compare(whole: JobSamples, fine: JobSamples, part: Range, window: Range): Comparison {
  const inside = (second: number, [from, to]: Range) => second >= from && second < to;
  const isHere = (second: number) => inside(second, part);
  const isRest = (second: number) => inside(second, window) && !isHere(second);
  const table = (pick: (of: JobSamples) => SampledSeries[], name: (of: SampledSeries) => string): Compared[] => {
    const here = means(fine, pick(fine), name, isHere);
    const rest = means(whole, pick(whole), name, isRest);
    const names = [...new Set([...here.of.keys(), ...rest.of.keys()])];
    const value = (means: Means, name: string) => (means.points > 0 ? (means.of.get(name) ?? 0) : null);
    const rows = names.map((name) => ({ name, here: value(here, name), rest: value(rest, name) }));
    const most = (row: Compared) => Math.max(row.here ?? 0, row.rest ?? 0);
    return rows.filter((row) => most(row) >= 0.005).sort((a, b) => (b.here ?? 0) - (a.here ?? 0) || most(b) - most(a)).slice(0, ROWS_MAX);
  };
  const described = (name: string) => CLASSES.find((of) => of.name === name) ?? CLASSES.at(-1)!;
  const classOf = new Map([...waits(fine), ...waits(whole)].map(({ labels }) => [labels.wait, labels.class]));
  return {
    classes: table(waits, ({ labels }) => labels.class!).map((row) => ({ ...row, name: described(row.name).title, of: described(row.name) })),
    waits: table((of) => waits(of).filter(({ labels }) => labels.wait), ({ labels }) => labels.wait!).map((row) => ({ ...row, of: described(classOf.get(row.name) ?? '') })),
    statements: table((of) => named(of, STATEMENTS), ({ labels }) => labels.statement!),
    blockers: table((of) => named(of, BLOCKED), ({ labels }) => `${labels.blocker}${labels.object ? `, at ${labels.object}` : ''}`),
  };
}

interface Means {
  points: number;
  of: Map<string, number>;
}

/** Means of the series by name over the points that are chosen and were sampled. */
function means(samples: JobSamples, series: SampledSeries[], name: (of: SampledSeries) => string, isChosen: (second: number) => boolean): Means {
  const there = sampled(samples);
  const places = samples.first.flatMap((second, i) => (there[i] && isChosen(second) ? [i] : []));
  const of = new Map<string, number>();
  for (const one of series) {
    const sum = places.reduce((sum, i) => sum + (one.value[i] ?? 0), 0);
    of.set(name(one), (of.get(name(one)) ?? 0) + sum / Math.max(places.length, 1));
  }
  return { points: places.length, of };
}
