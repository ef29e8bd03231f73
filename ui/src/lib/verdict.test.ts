import { expect, test } from 'vitest';
import type { DrillResult, RunResult } from '../api/types';
import { commonest, drilled, ended, ending, failing, loadInWords, sentence } from './verdict';

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

test('a run whose requirement fails is not good though it is complete', () => {
  expect(ending(run())).toEqual({ tone: 'good', words: 'complete' });
  const judged = { requirement: 'nopm >= 50000', passed: false };
  expect(ending(run({ requirements: [judged] }))).toEqual({ tone: 'bad', words: 'complete, requirements failed' });
  expect(ending(run({ requirements: [{ ...judged, passed: true }] })).tone).toBe('good');
});

test('a run is good only where the exit code is 0', () => {
  const verification = { verdict: 'violated' };
  const wrong: [object, string][] = [
    [{ audits: [{ id: 'a', verdict: 'verified' }, { id: 'b', verdict: 'violated' }] }, 'complete, audit violated'],
    [{ primary_metric: { name: 'NOPM', value: 1, verification } }, 'complete, count violated'],
    [{ hosts: [{ name: 'a', loss: null }, { name: 'b', loss: { at_s: 3 } }] }, 'complete, a host was lost'],
    [{ window: { total: { completed: 0 } } }, 'complete, nothing completed'],
  ];
  for (const [over, words] of wrong) expect(ending(run(over))).toEqual({ tone: 'bad', words });
  expect(ending(run({ audits: [{ verdict: 'not_counted' }] })).tone).toBe('good');
});

test('a set of queries is good if all that the database supports are answered, and alike', () => {
  const queries = (outcomes: string[], differing = 0) =>
    ending(run({ queries: { steps: outcomes.map((outcome) => ({ outcome })), answers: { differing } }, window: { total: { completed: 0 } } })).words;
  expect(queries(['answered', 'unsupported'])).toBe('complete');
  expect(queries(['answered', 'timed_out'])).toBe('complete, queries without an answer');
  expect(queries(['answered'], 1)).toBe('complete, answers differ');
});

test('a drill is good only if its faults took place and all commits are there', () => {
  const drill = (commits: object, succeeded = true) =>
    drilled({ status: 'complete', commits: { lost: 0, duplicated: 0, reordered: 0, altered: 0, undead: 0, ...commits }, faults: [{ succeeded }] } as unknown as DrillResult);
  expect(drill({})).toEqual({ tone: 'good', words: 'complete' });
  expect(drill({}, false)).toEqual({ tone: 'bad', words: 'complete, a fault did not take place' });
  expect(drill({ lost: 2 }, false).words).toBe('complete, commits lost');
  expect(drill({ reordered: 1 }).words).toBe('complete, commits wrong');
  expect(drill({ lost: null }).words).toBe('complete, table not read');
});

test('a run with an outage is not plainly complete', () => {
  expect(ending(run({ availability: { outages: [{ from_s: 8, until_s: 15 }] } }))).toEqual({ tone: 'warn', words: 'complete, with an outage' });
});

test('a run whose streams lack answers is not good', () => {
  const streams = (over: object, failed = 0) => ({ away: 0, baseline: null, queries: [{ timed_out: 0, failed }], ...over });
  expect(ending(run({ query_streams: streams({}) })).tone).toBe('good');
  for (const lacking of [streams({}, 1), streams({ away: 1 }), streams({ baseline: { unanswered: 2 } })]) {
    expect(ending(run({ query_streams: lacking }))).toEqual({ tone: 'bad', words: 'complete, queries without an answer' });
  }
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

test('a run that is not complete says why', () => {
  const how = (status: string, over: object = {}) =>
    ended(run({ status, durations: { whole_s: 2.9 }, notes: [], run: { total: { in_flight: 3 } }, spec: { users: 16, load: 'closed', pacing: { sessions: 'own' } }, ...over }));
  expect(how('complete')).toBeNull();
  expect(how('interrupted')).toBe('interrupted after 2.9s: these are partial figures');
  expect(how('aborted')).toBe('aborted after 2.9s, 3 transactions in flight abandoned: use the figures with care');
  expect(how('aborted', { notes: [{ kind: 'abort_on_failures', text: '12 % failed' }] })).toBe('aborted after 2.9s: 12 % failed');
  expect(how('failed')).toBe('failed after 2.9s: every virtual user had to end early');
  expect(how('failed', { availability: { sessions_away: 2, answered_at_end: false } })).toBe(
    'failed after 2.9s: 2 of 16 sessions were lost and had not reconnected at the end; the database answered before the run but not after it',
  );
  const violated_identities = [{ identity: 'started = ended + in flight', transaction: 'new_order', left: 9, right: 7 }];
  expect(how('failed', { violated_identities })).toBe('failed after 2.9s: its counts contradict each other: started = ended + in flight, new_order: 9 and 7');
});
