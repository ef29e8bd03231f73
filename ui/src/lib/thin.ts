// Seconds of a run in bounded memory. The server merges older ones (by the rule that each figure declares), so a
// page that has too many takes the server's instead, and merges none itself.

import type { LiveSecond } from '../api/types';

/** So many points are enough to draw; with more the page asks the server for its own. */
export const POINTS_MAX = 1200;

/** The seconds with one more. A second that is there already is not added. */
export function add(seconds: LiveSecond[], second: LiveSecond): LiveSecond[] {
  const last = seconds.at(-1);
  return last && second.first <= last.last ? seconds : [...seconds, second];
}

/** The server's seconds, and after them those that came while it was asked. */
export function replaced(seconds: LiveSecond[], merged: LiveSecond[]): LiveSecond[] {
  const last = merged.at(-1);
  return last ? [...merged, ...seconds.filter((second) => second.first > last.last)] : seconds;
}
