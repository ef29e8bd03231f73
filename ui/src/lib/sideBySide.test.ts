import { expect, test } from 'vitest';
import type { RunResult } from '../api/types';
import { sideBySide } from './sideBySide';

const total = (times: number) => ({ total: { response: { count: times, p50_us: times && 900, p95_us: times && 2000, p99_us: times && 3000 } } });
const run = (name: string, value: number, window_s = 60) =>
  ({
    primary_metric: { name, value, unavailable: null },
    queries: null,
    durations: { window_s },
    tpm_client: value * 2,
    window: total(window_s > 0 ? 100 : 0),
    failures: { share: 0 },
    client: { cpu_us_per_transaction: value / 10 },
    bottleneck: { kind: 'load_limited' },
  }) as unknown as RunResult;
const rows = (...runs: RunResult[]) => Object.fromEntries(sideBySide(runs).map(({ title, cells }) => [title, cells]));

test('runs with one metric are relative to the first', () => {
  const found = rows(run('NOPM', 1000), run('NOPM', 1250));
  expect(found['NOPM']).toEqual(['1,000', '1,250']);
  expect(found['Relative to the first']).toEqual(['1.000', '1.250']);
});

test('values of different metrics have their names, and no ratio', () => {
  const found = rows(run('NOPM', 1000), run('TPS', 50));
  expect(found['Primary metric']).toEqual(['1,000 NOPM', '50 TPS']);
  expect(found['Relative to the first']).toBeUndefined();
  expect(rows(run('NOPM', 1000), run('TPS', 50), run('NOPM', 500))['Relative to the first']).toEqual(['1.000', '–', '0.500']);
});

test('a run without a window has no throughput, and nothing is divided by it', () => {
  const found = rows(run('NOPM', 0, 0), run('NOPM', 1000));
  expect(found['NOPM']).toEqual(['–', '1,000']);
  expect(found['TPM']).toEqual(['–', '2,000']);
  expect(found['p50']).toEqual(['–', '900 µs']);
  expect(found['Client CPU per transaction']).toEqual(['–', '100.0 µs']);
  expect(found['Relative to the first']).toBeUndefined();
  expect(rows(run('NOPM', 0), run('NOPM', 0))['Relative to the first']).toBeUndefined();
  expect(rows(run('NOPM', 1000), run('NOPM', 0, 0))['Relative to the first']).toBeUndefined();
});

test('a time of no transaction is unknown', () => {
  const nothing = { ...run('NOPM', 0), window: total(0) } as RunResult;
  expect(rows(run('NOPM', 1000), nothing)['p50']).toEqual(['900 µs', '–']);
  expect(rows(run('NOPM', 1000), nothing)['Relative to the first']).toEqual(['1.000', '0.000']);
});
