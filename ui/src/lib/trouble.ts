// What is wrong with a run in progress, in a sentence that comes before its figures.

import type { LiveNote, LiveSecond } from '../api/types';
import { clock, percent } from './format';

/** Seconds whose failures are counted together. */
const LATEST = 10;
/** Share of failures from which a run counts as failing. */
const FAILING = 0.5;

const completed = (second: LiveSecond) => second.total.committed + second.total.rolled_back;

/** The latest remark of a kind from a second on, in words. */
function why(notes: LiveNote[], kind: string, from = 0): string | null {
  const note = notes.findLast((one) => one.kind === kind && (one.at_s ?? 0) >= from);
  return note ? `: ${note.text}` : null;
}

/** What is wrong now; null when nothing is. `metric` is the primary metric's name. */
export function trouble(seconds: LiveSecond[], notes: LiveNote[], metric: string): string | null {
  const latest = seconds.slice(-LATEST);
  const done = latest.reduce((sum, second) => sum + completed(second), 0);
  const failed = latest.reduce((sum, second) => sum + second.total.failed, 0);
  // The engine knows since when nothing completes; what keeps sessions away explains it better than what failed.
  const since = latest.at(-1)?.outage_since ?? null;
  if (since !== null) return `No service since ${clock(since)}${why(notes, 'away', since - 1) ?? why(notes, 'error', since - 1) ?? ''}`;
  const share = done + failed > 0 ? failed / (done + failed) : 0;
  if (share < FAILING) return null;
  return `${metric} ${done === 0 ? '0, ' : 'falls short, '}${percent(share, share === 1 ? 0 : 1)} failed${why(notes, 'error') ?? ''}`;
}
