import { expect, test } from 'vitest';
import type { RunResult } from '../api/types';
import { primary, response, shown } from './shown';

const figures = (seconds: number, count: number) => ({ seconds, total: { response: { count, p95_us: count && 2000 } } });
const run = (window_s: number, primary_metric: object = {}) =>
  ({ durations: { window_s }, queries: null, primary_metric: { name: 'NOPM', value: 0, unavailable: null, ...primary_metric }, window: figures(window_s, 0), run: figures(2.9, 5) }) as unknown as RunResult;

test('a run without a window shows the figures of all of it', () => {
  const { figures, heading } = shown(run(0));
  expect(heading).toBe('Transactions in the whole run of 2.9s: there was no timed window');
  expect(response(figures.total, 'p95_us')).toBe('2 ms');
  expect(primary(run(0))).toBe('–');
});

test('a run with a window shows that, though nothing completed in it', () => {
  const { figures, heading } = shown(run(60));
  expect(heading).toBe('Transactions in the timed window');
  expect(response(figures.total, 'p95_us')).toBe('–');
  expect(primary(run(60))).toBe('0');
  expect(primary(run(60, { unavailable: 'a query failed' }))).toBe('–');
});
