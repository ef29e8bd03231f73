// Positions of the runs of a history on its axis.

import type { HistoryRun } from '../api/types';

/** Scale of the axis of a history. */
export type Over = 'date' | 'job';

/** Positions of the runs, in order: seconds since 1970, or job numbers. */
export const places = (runs: HistoryRun[], over: Over): number[] =>
  runs.map((run) => (over === 'job' ? run.job : Date.parse(run.started_at) / 1000));

/**
 * Adds room on both sides of the first and the last run, so that neither is cut off; on an axis of dates a few seconds
 * at least, and a minute around a single run, as ticks are no shorter than a second.
 */
export function margins(xs: number[], over: Over = 'job'): [number, number] {
  const [first, last] = [xs[0] ?? 0, xs.at(-1) ?? 1];
  const least = over === 'job' ? 0.5 : last > first ? 5 : 60;
  const room = Math.max((last - first) * 0.04, least);
  return [first - room, last + room];
}

/** Formats a tick of a date axis: the day, and also the hour if all runs are from a few days. */
export function day(seconds: number, span: number): string {
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) return '';
  const two = (n: number) => String(n).padStart(2, '0');
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}`;
  if (span < 600) return `${clock}:${two(date.getSeconds())}`;
  if (span < 86_400) return clock;
  const name = `${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return span < 3 * 86_400 ? `${name} ${clock}` : `${date.getFullYear()}-${name}`;
}
