// What is wrong with a run while it goes on, in a sentence that comes before its figures.

import type { LiveNote, LiveSecond } from '../api/types';
import { clock, percent } from './format';

/** Seconds whose failures are counted together. */
const LATEST = 10;
/** Share of failures above which a run is said to fail. */
const FAILING = 0.5;

const completed = (second: LiveSecond) => second.total.committed + second.total.rolled_back;

/** The latest error that transactions failed with, in words. */
function why(notes: LiveNote[]): string {
  const error = notes.findLast((note) => note.kind === 'error');
  return error ? `: ${error.text}` : '';
}

/** What is wrong now; null when nothing is. `metric` is the primary metric's name. */
export function trouble(seconds: LiveSecond[], notes: LiveNote[], metric: string): string | null {
  const latest = seconds.slice(-LATEST);
  const done = latest.reduce((sum, second) => sum + completed(second), 0);
  const failed = latest.reduce((sum, second) => sum + second.total.failed, 0);
  const lastDone = seconds.findLastIndex((second) => completed(second) > 0);
  const quiet = seconds.slice(lastDone + 1);
  if (lastDone >= 0 && quiet.length >= 2) return `No service since ${clock(quiet[0]!.first)}${why(notes)}`;
  const share = done + failed > 0 ? failed / (done + failed) : 0;
  if (share < FAILING) return null;
  return `${metric} ${done === 0 ? '0, ' : 'falls short, '}${percent(share, share === 1 ? 0 : 1)} failed${why(notes)}`;
}
