import { cleanup, render, screen } from '@testing-library/svelte';
import { afterEach, expect, it } from 'vitest';
import type { ComparisonResult, Side } from '../api/types';
import ComparisonView from './ComparisonView.svelte';

afterEach(cleanup);

const started_at = '2026-01-01T00:00:00Z';
const side = (name: string, job: number): Side => ({
  name, target: 'postgres://db', workload: { name: 'tproc-c', title: 'TPROC-C', version: 1, scale: 1, scale_unit: 'warehouses', facts: {}, scripts: [] },
  server: { product: 'PostgreSQL', version: '17', transport: 'tcp', cipher: null, same_host: null },
  runs: [{ job, step: null, started_at, users: 1, value: 1, steady: 'steady', failure_share: 0, good: true, bottleneck: 'database_bound' }],
});
const comparison: ComparisonResult = {
  format: 1, price: null, energy: null, transaction_time: null, host_setting: null, job: null, kind: 'compare', tool: { name: 'triphammer', version: '0.1.0', debug_build: false }, label: null, status: 'complete', ending: { good: true, flaw: null, words: 'complete', detail: null }, started_at,
  primary_metric: { name: 'NOPM', meaning: '', per: '', better: 'higher' }, margin: 0.02, words: 'B is slower: NOPM B/A is 0.88', verdict: { kind: 'slower' }, more_minutes: null,
  a: side('job 1', 1), b: side('job 2', 2), warnings: [], profiles: null, another: null, pairs: null,
  figures: [
    { name: 'nopm', title: 'NOPM', unit: 'number', a: 10000, b: 8800, reason: null, comparison: { ratio: 0.88, interval: { low: 0.86, high: 0.9 }, margin: 0.02, better: 'higher', basis: { kind: 'series', a: 5, b: 5 }, verdict: { kind: 'slower' }, together: 1 } },
    { name: 'p99', title: 'p99', unit: 'us', a: 1000, b: 0, reason: 'B has none', comparison: null },
  ],
  waits: null, plans: [],
  answers: null, speeds: [], differences: [{ subject: 'server_setting', name: 'synchronous_commit', a: 'off', b: 'on', must_be_equal: false }],
};

it('shows both plans of a query whose plan changed, and marks what only one has', () => {
  const plan = (fingerprint: string, ...operations: string[]) => ({
    query: 'q9', fingerprint, analyzed: null, operations: operations.map((operation, depth) => ({ depth, operation, figures: 'rows 5' })),
  });
  const plans = [{ query: 'q9', title: 'product type profit', a: plan('aaaaaaaaaaaa', 'Sort', 'Index Scan'), b: plan('bbbbbbbbbbbb', 'Sort', 'Seq Scan') }];
  render(ComparisonView, { comparison: { ...comparison, plans } });
  expect(screen.getByText('The plan of Q9 changed')).toBeTruthy();
  expect(screen.getByText('aaaaaaaa')).toBeTruthy();
  expect(screen.getByText(/Index Scan/).className).toContain('changed');
  expect(screen.getByText(/Seq Scan/).className).toContain('changed');
  for (const same of screen.getAllByText(/Sort/)) expect(same.className).not.toContain('changed');
});

it('shows the verdict, each ratio with its interval, what cannot be said, and what differed', () => {
  render(ComparisonView, { comparison });
  expect([...screen.getByText('slower').classList]).toContain('bad');
  expect(screen.getByText('slower').closest('p')?.textContent).toBe('slower NOPM B/A is 0.88');
  expect(screen.getByText('0.880 (0.860 to 0.900)')).toBeTruthy();
  expect(screen.getByText('less')).toBeTruthy();
  expect(screen.getByText('B has none')).toBeTruthy();
  expect(screen.getByText('synchronous_commit').closest('tr')?.textContent).toMatch(/server setting.*off.*on/);
});

it('shows what sessions waited for with A before B', () => {
  const change = { share: 0.5, ms_per_transaction: 2, ms_per_transaction_rest: 1, change_ms: 1, change_ms_interval: { low: 0.5, high: 1.5 }, excess_sessions: 3, excess_sessions_interval: { low: 2, high: 4 } };
  const figures = { ...change, sessions: 5.5, sessions_rest: 2.5 } as unknown as NonNullable<ComparisonResult['waits']>['causes'][number]['figures'];
  render(ComparisonView, { comparison: { ...comparison, waits: { causes: [{ class: 'log', figures, events: [], advice: '' }], statements: [], resamples: 100 } } });
  const table = screen.getByText('Active sessions').closest('table')!;
  expect([...table.querySelectorAll('thead th')].map((th) => th.textContent).slice(1, 3)).toEqual(['A', 'B']);
  expect([...table.querySelectorAll('tbody td')].map((td) => td.textContent).slice(0, 2)).toEqual(['2.5', '5.5']);
});

it('is provisional while its pairs are being made, and does not warn about those to come', () => {
  const pairs = { asked: 4, made: 2, order: [], failed_runs: [], cool_down_s: 1 } as unknown as ComparisonResult['pairs'];
  const warnings = [{ kind: 'pairs_missing', text: 'only 2 of 4 pairs were completed', next: null }, { kind: 'schema', text: 'an index is missing', next: null }];
  const { rerender } = render(ComparisonView, { comparison: { ...comparison, pairs, warnings }, inProgress: true });
  expect(screen.queryByText(/Only 2 of 4 pairs/)).toBeNull();
  expect(screen.getByText('An index is missing')).toBeTruthy();
  expect(screen.getByText(/Provisional, after 2 of 4 pairs/)).toBeTruthy();
  expect([...screen.getByText('slower so far').classList]).not.toContain('bad');
  return rerender({ inProgress: false }).then(() => {
    expect(screen.getByText('Only 2 of 4 pairs were completed')).toBeTruthy();
    expect(screen.queryByText(/Provisional/)).toBeNull();
  });
});
