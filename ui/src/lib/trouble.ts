// Describes the problem of a run in progress in one sentence, which is shown before its figures.

import type { LiveNote, LiveSecond } from '../api/types';
import { clock, percent } from './format';

/** Number of seconds over which failures are counted. */
const LATEST = 10;
/** Share of failures from which a run counts as failing. It is far above the 1 % that a run may have unless `--max-failures` says otherwise, so that a single bad second of a good run is none. */
const FAILING = 0.05;

const completed = (second: LiveSecond) => second.total.committed + second.total.rolled_back;

/** Returns the text of the latest note of a kind since a second. */
function why(notes: LiveNote[], kind: string, from = 0): string | null {
  const note = notes.findLast((one) => one.kind === kind && (one.at_s ?? 0) >= from);
  return note ? `: ${note.text}` : null;
}

/** Describes the current problem; null if there is none. `metric` is the name of the primary metric. */
export function trouble(seconds: LiveSecond[], notes: LiveNote[], metric: string): string | null {
  // The engine reports since when nothing has completed. The reason why sessions are lost explains that better than
  // the failures do; without it, a database that answers with errors is in service.
  const now = seconds.at(-1);
  const since = now?.outage_since ?? null;
  const away = since === null ? null : why(notes, 'away', since - 1);
  if (since !== null && (away !== null || now?.total.failed === 0)) return `No service since ${clock(since)}${away ?? why(notes, 'error', since - 1) ?? ''}`;
  const latest = seconds.slice(-LATEST).filter((second) => since === null || second.first >= since);
  const done = latest.reduce((sum, second) => sum + completed(second), 0);
  const failed = latest.reduce((sum, second) => sum + second.total.failed, 0);
  const share = done + failed > 0 ? failed / (done + failed) : 0;
  if (share < FAILING) return null;
  const none = latest.every((second) => second.primary_metric === 0);
  return `${metric} ${none ? '0, ' : 'is too low: '}${percent(share, share === 1 ? 0 : 1)} failed${why(notes, 'error') ?? ''}`;
}
