import { describe, expect, it } from 'vitest';
import type { LiveSecond } from '../api/types';
import { POINTS_MAX, add } from './thin';

function second(n: number): LiveSecond {
  const type = { name: 'all', per_second: n, committed: 1, rolled_back: 0, failed: 0, retries: 0, p50_us: 1, p95_us: n, p99_us: n, max_us: n };
  return {
    activity: 1, first: n, last: n, headline: n, total: type, types: [{ ...type, name: 'new_order' }], connected: 8, lost: 0,
    reconnected: 0, client_cores: 0.1, busiest_thread: 0.1, lag_p99_us: null, round_trip_us: null, host_busy: n / 1e6,
  } as LiveSecond;
}

describe('a day of seconds', () => {
  let seconds: LiveSecond[] = [];
  for (let n = 0; n < 86_400; n += 1) seconds = add(seconds, second(n));

  it('stays bounded and loses no transaction', () => {
    expect(seconds.length).toBeLessThanOrEqual(POINTS_MAX);
    expect(seconds.reduce((sum, s) => sum + s.total.committed, 0)).toBe(86_400);
  });

  it('has no gap and keeps the worst', () => {
    for (let i = 1; i < seconds.length; i += 1) expect(seconds[i]!.first).toBe(seconds[i - 1]!.last + 1);
    expect(Math.max(...seconds.map((s) => s.total.max_us))).toBe(86_399);
  });
});

it('a second that comes twice counts once', () => {
  const one = add([], second(3));
  expect(add(one, second(3))).toBe(one);
  expect(add(one, second(2))).toBe(one);
});
