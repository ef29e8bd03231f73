// Observed figures of a database and of hosts: what can be drawn, and how it is written, by what each series declares
// (name, labels, title, unit).

import { CPU_NUMBER, FIRST, HOST, STACKS } from '../api/metrics';
import type { JobSamples, SampledSeries, SeriesMeans } from '../api/types';
import { count, figure, percent, time } from './format';
import type { Axis, Line } from './plot';
import type { Column } from './timeline';
import { onto, SESSIONS_SAMPLED } from './waits';

/** The parameters that omit what the page does not draw. */
export const LEAN = `without=${CPU_NUMBER}&spread=false`;
/** Maximum number of lines of a chart: the largest. */
const LINES_MAX = 6;

/** A chart of observed figures: the series of one title, and of one host. */
export interface Figure {
  key: string;
  /** What is measured: the database, its nodes or a host. */
  group: string;
  title: string;
  metric: string;
  unit: string;
  host: string;
}

type Named = Pick<SampledSeries, 'metric' | 'labels' | 'title' | 'unit'>;

const hostOf = ({ labels }: Named) => labels[HOST] ?? '';
const isOfHost = ({ metric }: Named) => /^(system|process)\./.test(metric);
const isOfNode = ({ metric }: Named) => metric.startsWith('node.');

/** Whether a series is an observed figure: names of others have no dots, and sessions are drawn by what they wait for. */
const isObserved = (series: Named) => series.metric.includes('.') && !SESSIONS_SAMPLED.includes(series.metric) && !(CPU_NUMBER in series.labels);

function figureOf(series: Named): Figure {
  const [{ metric, title, unit }, host] = [series, hostOf(series)];
  const group = isOfNode(series) ? 'Nodes' : !isOfHost(series) ? 'Database' : host ? `Host ${host}` : 'Host of triphammer';
  return { key: [metric, title, host].join('|'), group, title, metric, unit, host };
}

/** The charts that the series of a job give, those of the database first, then by name. */
export function figuresOf(samples: JobSamples | null): Figure[] {
  const all = new Map<string, Figure>();
  for (const series of (samples?.series ?? []).filter(isObserved)) {
    const figure = figureOf(series);
    all.set(figure.key, figure);
  }
  return [...all.values()].sort((a, b) => Number(a.group !== 'Database') - Number(b.group !== 'Database') || a.group.localeCompare(b.group));
}

/** The charts that are drawn unless others are chosen, in the order of their declarations. */
export function firstOf(figures: Figure[]): Figure[] {
  return FIRST.flatMap(({ metric, title }) => figures.filter((figure) => figure.metric === metric && figure.title === title));
}

/** A chart as it is drawn. */
export interface Drawn {
  lines: Line[];
  columns: Column[];
  /** Number of series that are left out, because they are the smallest of many. */
  leftOut: number;
  /** Whether the lines add up to a whole of 1. */
  isWhole: boolean;
}

const COLOURS = ['s1', 's2', 's3', 's4', 's5', 's6'];
const DASHES = [undefined, [9, 4], [3, 3], [10, 3, 2, 3], [16, 4], [2, 5]];

/** The lines of a chart at the points of an axis, until the end of the load, after which sessions only close. */
export function drawn(figure: Figure, samples: JobSamples, x: number[], end = Infinity): Drawn {
  const stack = STACKS[figure.metric];
  const all = samples.series.filter((series) => isObserved(series) && figureOf(series).key === figure.key);
  const shown = all.filter(({ labels }) => !stack || labels[stack.label] !== stack.rest);
  const label = labelsOf(shown);
  const sum = ({ value }: SampledSeries) => value.reduce<number>((sum, v) => sum + Math.abs(v ?? 0), 0);
  const sums = new Map(shown.map((series) => [series, sum(series)]));
  const some = shown.filter((series) => sums.get(series)! > 0);
  // Of what never happened one line is enough to show that.
  const sorted = (some.length > 0 ? some : shown.slice(0, 1)).sort((a, b) => sums.get(b)! - sums.get(a)!);
  // The largest is the lowest of a stack, whose first line is its top.
  const kept = stack ? sorted.slice(0, LINES_MAX).reverse() : sorted.slice(0, LINES_MAX);
  const places = onto(samples.first, samples.step, x);
  return {
    columns: kept.map(({ value }) => places.map((place, i) => (x[i]! > end - 0.5 ? null : (value[place] ?? null)))),
    lines: kept.map((series, i) => {
      const colour = COLOURS[stack ? kept.length - 1 - i : i]!;
      const dash = DASHES[i];
      return { label: label(series), colour, ...(stack ? { stacked: true, width: 1 } : dash ? { dash } : {}) };
    }),
    leftOut: Math.max(sorted.length - LINES_MAX, 0),
    isWhole: stack !== undefined && figure.unit === 'share',
  };
}

/** Names series by the labels in which they differ, or by all of them. */
export function labelsOf(all: Named[]): (of: Named) => string {
  const names = [...new Set(all.flatMap(({ labels }) => Object.keys(labels)))].filter((name) => name !== HOST);
  const differ = names.filter((name) => new Set(all.map(({ labels }) => labels[name])).size > 1);
  const used = differ.length > 0 ? differ : names;
  return ({ labels, title }) => used.map((name) => labels[name]).filter(Boolean).join(' ') || title;
}

/** Writes bytes in the largest binary unit with at least 1: `7.8 GiB`. */
export function bytes(value: number | null | undefined): string {
  if (value == null || !Number.isFinite(value)) return count(null);
  const power = Math.max(0, Math.min(4, Math.floor(Math.log2(Math.max(Math.abs(value), 1)) / 10)));
  const scaled = value / 1024 ** power;
  return `${power === 0 || Math.abs(scaled) >= 99.95 ? scaled.toFixed(0) : Number(scaled.toFixed(1))} ${['B', 'KiB', 'MiB', 'GiB', 'TiB'][power]}`;
}

const POWERS_OF_2 = Array.from({ length: 50 }, (_, power) => 2 ** power);
const UNITS: Record<string, Axis> = {
  per_second: { show: figure, title: 'per second', unit: '/s' },
  per_minute: { show: figure, title: 'per minute', unit: '/min' },
  share: { show: (value) => percent(value, 0), title: 'share' },
  cores: { show: figure, title: 'cores' },
  bytes: { show: bytes, title: 'bytes', steps: POWERS_OF_2 },
  bytes_per_second: { show: bytes, title: 'per second', unit: '/s', steps: POWERS_OF_2 },
  ms: { show: (value) => time(value * 1000), title: 'time' },
  us: { show: time, title: 'time' },
  ns: { show: (value) => time(value / 1000), title: 'time' },
  s: { show: (value) => time(value * 1e6), title: 'time' },
  hz: { show: (value) => figure(value / 1e9), title: 'frequency', unit: ' GHz' },
  watts: { show: figure, title: 'power', unit: ' W' },
  count: { show: figure, title: 'number' },
  average: { show: figure, title: 'number' },
};

/** The y axis of a unit. */
export const axisOf = (unit: string): Axis => UNITS[unit] ?? { show: figure, title: unit };

/** Writes a value with its unit. */
export function withUnit(unit: string, value: number | null | undefined): string {
  if (value == null) return count(null);
  const axis = axisOf(unit);
  return (unit === 'share' ? percent(value) : axis.show(value)) + (axis.unit ?? '');
}

/** Writes an increase per transaction of a figure with this unit. */
export const perTransaction = (unit: string, value: number): string => withUnit({ bytes_per_second: 'bytes', ms: 'ms' }[unit] ?? 'count', value);

/** A figure in a part of the run and in the rest of the window. */
export interface Changed {
  key: string;
  group: string;
  name: string;
  unit: string;
  here: number | null;
  rest: number | null;
  /** Here divided by the rest; null if it cannot be judged. */
  ratio: number | null;
}

/** Figures of a part beside those of the rest, those that differ most first. Changes of next to nothing do not count. */
export function changes(all: SeriesMeans[]): Changed[] {
  const rows = all.filter(isObserved).map((series) => {
    const [of, here, rest] = [figureOf(series), series.here?.mean ?? null, series.rest?.mean ?? null];
    // Of a peak of 100, a change from 0.1 to 0.5 is noise.
    const least = 0.01 * Math.max(series.here?.max ?? 0, series.rest?.max ?? 0);
    const [a, b] = [Math.max(here ?? 0, least), Math.max(rest ?? 0, least)];
    const ratio = here === null || rest === null || least <= 0 ? null : a / b;
    return { key: JSON.stringify([series.metric, series.labels]), group: of.group, name: nameOf(series), unit: series.unit, here, rest, ratio };
  });
  const some = rows.filter(({ here, rest }) => (here ?? 0) !== 0 || (rest ?? 0) !== 0);
  const change = ({ ratio }: Changed) => (ratio === null ? 0 : Math.abs(Math.log(ratio)));
  return some.sort((a, b) => change(b) - change(a));
}

/** The title of a figure, with the labels that it does not contain. */
export function nameOf({ title, labels }: Pick<Named, 'title' | 'labels'>): string {
  const more = Object.entries(labels).filter(([name, value]) => name !== HOST && !title.toLowerCase().includes(value.toLowerCase()));
  return [title, ...more.map(([, value]) => value)].join(', ');
}
