// Seconds of a run in bounded memory. The server merges older ones (by the rule of each figure), so a page that has
// too many replaces them with the server's, and merges none itself.

import type { LiveSecond } from '../api/types';

/** Number of points that is enough to draw; beyond it the page requests the server's. */
export const POINTS_MAX = 1200;

/** Appends a second, unless it is already there. */
export function add(seconds: LiveSecond[], second: LiveSecond): LiveSecond[] {
  const last = seconds.at(-1);
  return last && second.first <= last.last ? seconds : [...seconds, second];
}

/** Returns the server's seconds, followed by those that arrived during the request. */
export function replaced(seconds: LiveSecond[], merged: LiveSecond[]): LiveSecond[] {
  const last = merged.at(-1);
  return last ? [...merged, ...seconds.filter((second) => second.first > last.last)] : seconds;
}
