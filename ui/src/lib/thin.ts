// Seconds of a run in bounded memory: when there are too many, neighbours are merged two by two, so that an
// hour and a day both draw as some hundred points. The store on the server keeps every second.

import type { LiveSecond, LiveType } from '../api/types';

/** Most points kept; after merging there are half as many. */
export const POINTS_MAX = 1200;

const length = (s: LiveSecond) => s.last - s.first + 1;
const worst = (a: number | null | undefined, b: number | null | undefined) =>
  a == null ? (b ?? null) : b == null ? a : Math.max(a, b);

function mergeType(a: LiveType, b: LiveType, mean: (x: number, y: number) => number): LiveType {
  return {
    name: a.name,
    per_second: mean(a.per_second, b.per_second),
    committed: a.committed + b.committed,
    rolled_back: a.rolled_back + b.rolled_back,
    failed: a.failed + b.failed,
    retries: a.retries + b.retries,
    p50_us: Math.max(a.p50_us, b.p50_us),
    p95_us: Math.max(a.p95_us, b.p95_us),
    p99_us: Math.max(a.p99_us, b.p99_us),
    max_us: Math.max(a.max_us, b.max_us),
  };
}

/** Two neighbours as one: counts are sums, times and shares those of the worse. */
export function merge(a: LiveSecond, b: LiveSecond): LiveSecond {
  const [la, lb] = [length(a), length(b)];
  const mean = (x: number, y: number) => (x * la + y * lb) / (la + lb);
  return {
    ...b,
    first: a.first,
    headline: mean(a.headline, b.headline),
    total: mergeType(a.total, b.total, mean),
    types: a.types.map((type, i) => mergeType(type, b.types[i]!, mean)),
    lost: a.lost + b.lost,
    reconnected: a.reconnected + b.reconnected,
    client_cores: Math.max(a.client_cores, b.client_cores),
    busiest_thread: Math.max(a.busiest_thread, b.busiest_thread),
    lag_p99_us: worst(a.lag_p99_us, b.lag_p99_us),
    host_busy: worst(a.host_busy, b.host_busy),
  };
}

/** The seconds with one more; merged when they are too many. A second that is there already is not added. */
export function add(seconds: LiveSecond[], second: LiveSecond): LiveSecond[] {
  const last = seconds.at(-1);
  if (last && second.first <= last.last) return seconds;
  if (seconds.length < POINTS_MAX) return [...seconds, second];
  const merged: LiveSecond[] = [];
  for (let i = 0; i < seconds.length; i += 2) {
    const [a, b] = [seconds[i]!, seconds[i + 1]];
    merged.push(b ? merge(a, b) : a);
  }
  return [...merged, second];
}
