import { cleanup, render, screen } from '@testing-library/svelte';
import { afterEach, expect, it } from 'vitest';
import type { RunResult } from '../api/types';
import RunVerdict from './RunVerdict.svelte';

afterEach(cleanup);

const run = (over: object = {}) =>
  ({
    job: 7,
    status: 'complete',
    ending: { good: true, flaw: null, words: 'complete', detail: null },
    requirements: [],
    failures: { share: 0, limit: 0.01, above_limit: false },
    primary_metric: { name: 'TPS', value: 12.5, verification: { verdict: 'verified' } },
    errors: [],
    notes: [],
    audits: [],
    setup: [{ verdict: 'wrong' }],
    window: { total: { completed: 750 } },
    run: { total: { in_flight: 0 } },
    workload: { title: 'tpc-b', scale: 1, scale_unit: 'branches' },
    server: { product: 'PostgreSQL', version: '17.2' },
    durations: { window_s: 60, whole_s: 62 },
    spec: { users: 1, load: 'closed' },
    steadiness: null,
    ...over,
  }) as unknown as RunResult;

it('names the audit that is violated', () => {
  render(RunVerdict, { result: run({ ending: { good: false, flaw: 'audit_violated', words: 'complete, audit violated', detail: null }, audits: [{ id: 'abalance', title: 'ΔΣ abalance = Σ delta', verdict: 'violated', words: '4 instead of 5' }] }) });
  expect(screen.getByText('complete, audit violated').className).toContain('bad');
  expect(screen.getByText('Audit violated: ΔΣ abalance = Σ delta: 4 instead of 5')).toBeTruthy();
});

it('says first why a run was aborted', () => {
  const ending = { good: false, flaw: null, words: 'aborted', detail: 'aborted after 1m2s: 20 % of the transactions failed' };
  render(RunVerdict, { result: run({ status: 'aborted', ending }) });
  expect(screen.getByText(/Aborted after 1m2s: 20.% of the transactions failed/)).toBeTruthy();
});

it('says when the database answered first after a pause', () => {
  const words = 'first answer after a pause of 10m: 1.200 s (login 1.100 s, statement 0.100 s)';
  render(RunVerdict, { result: run({ first_answer: { pause: '10m', answer_s: 1.2, words } }) });
  expect(screen.getByText(/First answer after a pause of 10m: 1.200.s/)).toBeTruthy();
});

it('leads to the set-up, where it is', () => {
  render(RunVerdict, { result: run() });
  expect(screen.getByRole('button', { name: '1 thing wrong' })).toBeTruthy();
  cleanup();
  render(RunVerdict, { result: run(), elsewhere: true });
  expect(screen.getByRole('link', { name: '1 thing wrong' }).getAttribute('href')).toBe('#/jobs/7');
  cleanup();
  render(RunVerdict, { result: run({ job: null }), elsewhere: true });
  expect(screen.getByText(/1 thing wrong/)).toBeTruthy();
  expect(screen.queryByRole('link')).toBeNull();
});
