// Figures of a set of queries.

import type { QueriesResult } from '../api/types';
import { count, duration, figure as measured, time } from './format';

/** Formats a figure by its name: times are in milliseconds, as in `geomean_ms`. */
export const figure = (name: string, value: number | null | undefined): string =>
  value != null && name.endsWith('_ms') ? time(value * 1000) : measured(value);

/** Describes a figure that is shown with its unit. */
export const meaning = (text: string): string => text.replace(/, in milliseconds$/, '');

/** Formats the name of a figure without its unit: `geomean_ms` becomes `geomean`. */
export const figureName = (name: string): string => name.replace(/_ms$/, '').replaceAll('_', ' ');

/** Describes a test: `power test`, `queries alone`. */
export const testInWords = (test: QueriesResult['test']): string =>
  ({ queries: 'queries alone', power: 'power test', throughput: 'throughput test', both: 'power test, then throughput test' })[test];

/** Facts about a run of queries; `null` where there is nothing to say. */
export function facts(queries: QueriesResult, windowS: number): [string, string | null][] {
  return [
    ['Test', testInWords(queries.test)],
    ['Streams', count(queries.streams)],
    ['Repeats', queries.repeats > 1 ? count(queries.repeats) : null],
    ['Timed part', duration(windowS)],
    ['Limit per query', queries.query_timeout_s == null ? null : duration(queries.query_timeout_s)],
    ['Engine memory', queries.engine_memory_bytes == null ? null : `up to ${(queries.engine_memory_bytes / 2 ** 20).toFixed(0)} MiB`],
  ];
}

/** The unit of a table of times: milliseconds if no query takes a second. */
export function unitOf(queries: { max_s: number | null }[]): { name: string; show: (seconds: number | null) => string } {
  const short = queries.every((query) => (query.max_s ?? 0) < 1);
  const show = (seconds: number | null) => (seconds == null ? '–' : short ? (seconds * 1000).toFixed(1) : seconds.toFixed(3));
  return { name: short ? 'milliseconds' : 'seconds', show };
}
