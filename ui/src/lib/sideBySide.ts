// The table of runs side by side.

import type { RunResult } from '../api/types';
import { bottleneck, capital, figure, NONE, percent } from './format';
import { figureName } from './queries';
import { isTimed, primary, primaryValue, response } from './shown';

/** A row: a figure of each run. */
export interface Row {
  title: string;
  cells: string[];
  isPrimary?: boolean;
}

/** Figures of runs of transactions: of the timed window, because other times cannot be compared. */
const OF_TRANSACTIONS: [title: string, show: (result: RunResult) => string][] = [
  ['TPM', (result) => (isTimed(result) ? figure(result.tpm_client) : NONE)],
  ['p50', (result) => response(result.window.total, 'p50_us')],
  ['p95', (result) => response(result.window.total, 'p95_us')],
  ['p99', (result) => response(result.window.total, 'p99_us')],
  ['Failures', (result) => percent(result.failures.share, 2)],
  ['Client CPU per transaction', ({ client }) => (client.cpu_us_per_transaction > 0 ? `${client.cpu_us_per_transaction.toFixed(1)} µs` : NONE)],
  ['Limited by', (result) => bottleneck(result.bottleneck.kind)],
];

/** Returns the rows of the table. */
export function sideBySide(results: RunResult[]): Row[] {
  const ratios = ratiosOf(results);
  const more = results.some((result) => !result.queries) ? OF_TRANSACTIONS : [];
  return [
    primaryRow(results),
    ...(ratios ? [{ title: 'Relative to the first', cells: ratios }] : []),
    ...more.map(([title, show]) => ({ title, cells: results.map((result) => (result.queries ? NONE : show(result))) })),
  ];
}

/** The primary metric; each value has the name of its own if they differ. */
function primaryRow(results: RunResult[]): Row {
  const names = results.map((result) => figureName(result.primary_metric.name));
  const isOne = new Set(names).size === 1;
  const cells = results.map((result, i) => (isOne || primaryValue(result) === null ? primary(result) : `${primary(result)} ${names[i]}`));
  return { title: isOne ? capital(names[0]!) : 'Primary metric', cells, isPrimary: true };
}

/** Values divided by the first, of what has the first one's metric; null if there is nothing to divide. */
function ratiosOf(results: RunResult[]): string[] | null {
  const first = results[0] && primaryValue(results[0]);
  if (!first || first < 0) return null;
  const ratios = results.map((result) => {
    const value = primaryValue(result);
    return value === null || result.primary_metric.name !== results[0]!.primary_metric.name ? null : value / first;
  });
  return ratios.slice(1).every((ratio) => ratio === null) ? null : ratios.map((ratio) => ratio?.toFixed(3) ?? NONE);
}
