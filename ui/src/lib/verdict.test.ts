import { expect, test } from 'vitest';
import type { Ending, RunResult } from '../api/types';
import { commonest, failing, loadInWords, sentence, toneOf } from './verdict';

const run = (over: object = {}): RunResult =>
  ({
    status: 'complete',
    requirements: [],
    failures: { share: 0, limit: 0.01, above_limit: false },
    primary_metric: { name: 'NOPM', value: 12345, verification: { verdict: 'verified' } },
    errors: [],
    audits: [],
    window: { total: { completed: 741_000 } },
    workload: { title: 'TPROC-C', scale: 1, scale_unit: 'warehouses' },
    server: { product: 'PostgreSQL', version: '15.4 (Debian)' },
    durations: { window_s: 60 },
    spec: { users: 1, load: 'closed' },
    steadiness: { verdict: 'steady' },
    ...over,
  }) as unknown as RunResult;

test('the colour of a job is that of its verdict', () => {
  const job = (status: string, good: boolean, flaw: Ending['flaw'] = null) => toneOf({ status, ending: { good, flaw, words: '', detail: null } });
  expect(job('complete', true)).toBe('good');
  expect(job('complete', true, 'outage')).toBe('warn');
  expect(job('complete', false, 'commits_lost')).toBe('bad');
  expect(job('interrupted', false)).toBe('warn');
  expect(job('failed', false)).toBe('bad');
  expect(toneOf({ status: 'running', ending: null })).toBe('plain');
  expect(toneOf({ status: 'complete', ending: null })).toBe('plain');
});

test('a failing run says first how many failed, and with what', () => {
  const failures = { share: 1, limit: 0.01, above_limit: true };
  const errors = [
    { class: 'deadlock', count: 90, message: 'deadlock' },
    { class: 'other', count: 10, message: 'relation "stock" does not exist' },
  ];
  const failed = run({ status: 'failed', failures, errors, primary_metric: { name: 'NOPM', value: 0, verification: { verdict: 'verified' } } });
  expect(failing(failed)).toBe('NOPM 0, 100 % failed: relation "stock" does not exist');
  expect(failing(run())).toBeNull();
  expect(commonest(run())).toBeNull();
});

test('a summary reads as a sentence', () => {
  expect(sentence(run())).toBe('TPROC-C with 1 warehouse on PostgreSQL 15.4: 1 virtual user reached 12,345 NOPM over 1m, and was steady.');
  expect(loadInWords(run({ spec: { users: 64, load: 'rate:500/s' } }))).toBe('arrivals at 500 per second over 64 sessions');
});

test('a run that ended in its ramp-up reached nothing', () => {
  expect(sentence(run({ durations: { window_s: 0 } }))).toBe('TPROC-C with 1 warehouse on PostgreSQL 15.4: 1 virtual user. There was no timed window, so NOPM is unknown.');
});
