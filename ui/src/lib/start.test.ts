import { expect, test } from 'vitest';
import type { JobDetail, Preview, SavedTarget, SettingInfo } from '../api/types';
import { again, formAgain, grouped, sentence, targetAt } from './start';

const preview = (settings: Record<string, string>) =>
  ({ url: 'postgres://bench@db1/tpcc', settings: Object.entries(settings).map(([name, value]) => ({ name, value, source: 'default' })) }) as unknown as Preview;

test('what a form comes to reads as a sentence', () => {
  const run = preview({ vus: '8', transactions: 'by time', duration: '5m', rampup: '1m', load: 'closed' });
  expect(sentence('run', run, 'TPROC-C')).toBe('Drives TPROC-C at postgres://bench@db1/tpcc with 8 virtual users for 5m after 1m of ramp-up.');
  const open = preview({ vus: '64', duration: '5m', rampup: '1m', load: 'rate:500/s' });
  expect(sentence('run', open, 'TPROC-C')).toContain('with arrivals at 500 per second over 64 sessions');
  const beside = preview({ vus: '8', transactions: 'by time', duration: '5m', rampup: '1m', load: 'closed', streams: '2' });
  expect(sentence('run', beside, 'CH-benCHmark')).toContain('with 8 virtual users and 2 streams of queries for 5m');
  const scripts = preview({ vus: '1', transactions: '5', load: 'closed', script: 'order.sql@3, select-only' });
  expect(sentence('run', scripts, 'Script')).toBe('Drives the scripts order.sql@3, select-only at postgres://bench@db1/tpcc with 1 virtual user for 5 transactions per user.');
});

test('a run of queries is described by its test, not by users and a duration', () => {
  const of = (settings: Record<string, string>) => sentence('run', preview({ queries: 'all', repeat: '1', ...settings }), 'TPROC-H', true);
  expect(of({ test: 'power' })).toBe('Runs the power test of TPROC-H, at postgres://bench@db1/tpcc.');
  expect(of({ test: 'queries', queries: '1,6', repeat: '3' })).toBe('Runs queries 1,6 of TPROC-H, 3 times, at postgres://bench@db1/tpcc.');
  expect(of({ test: 'throughput', queries: '1,6' })).toContain('Runs the throughput test with queries 1,6 of TPROC-H');
  const profile = preview({ streams: '1,2,4', repeats: '2' });
  expect(sentence('profile', profile, 'TPROC-H', true)).toBe('Runs the throughput test of TPROC-H at postgres://bench@db1/tpcc with 1,2,4 streams, 2 times at each level.');
});

test('a run is started again with the settings that it was given', () => {
  const settings = [
    { name: 'vus', value: '8', source: 'flag' },
    { name: 'seed', value: '1', source: 'default' },
    { name: 'target', value: 'postgres://db1/tpcc', source: 'flag' },
  ];
  const job = { kind: 'run', target: 'postgres://db1/tpcc', workload: 'tproc-c' };
  const run = { job, given: null, document: { kind: 'run', settings, workload: { scripts: [] } } } as unknown as JobDetail;
  const embedded = { ...run, job: { ...job, target: 'sqlite:tproc-c.sqlite' } } as JobDetail;
  expect(again(embedded)).toBe('#/new?command=run&vus=8');
  expect(again(run)).toBe('#/new?command=run&at=postgres%3A%2F%2Fdb1%2Ftpcc&vus=8');
  const labelled = { ...embedded, job: { ...embedded.job, label: 'before' } } as JobDetail;
  expect(again(labelled)).toBe('#/new?command=run&vus=8&label=before');
  const failed = { ...labelled, given: { vus: '8' }, document: 'it could not connect' } as unknown as JobDetail;
  expect(again(failed)).toBe('#/new?command=run&vus=8&label=before');
  expect(formAgain({ command: 'run', target: 'bench', settings: { vus: 'x', label: 'a b' } })).toBe('#/new?command=run&target=bench&vus=x&label=a+b');
});

test('the target of a job is found among the saved ones', () => {
  const saved = (name: string, url: string) => ({ name, url }) as SavedTarget;
  const targets = [saved('plain', 'postgres://u@db1/tpcc?sslmode=disable'), saved('slow', 'null:?service=5ms'), saved('failing', 'null:?fail=constraint:100%25')];
  expect(targetAt(targets, 'postgres://u@db1/tpcc')?.name).toBe('plain');
  expect(targetAt(targets, 'null:?fail=constraint:100%')?.name).toBe('failing');
  expect(targetAt(targets, 'null:?service=9ms')).toBeUndefined();
  expect(targetAt(targets, null)).toBeUndefined();
});

test('scripts are started again with their texts, built-in ones by their names', () => {
  const scripts = [{ name: 'a.sql', weight: 3, text: 'SELECT 1;', sha256: '', builtin: false }, { name: 'select-only', weight: 1, text: '\\set aid', sha256: '', builtin: true }];
  const settings = [{ name: 'workload', value: 'script', source: 'request' }, { name: 'script', value: 'a.sql@3, select-only', source: 'request' }];
  const run = { job: { kind: 'run', target: 'null:', workload: 'script' }, given: null, document: { kind: 'run', settings, workload: { scripts } } } as unknown as JobDetail;
  const form = new URLSearchParams(again(run)!.split('?')[1]);
  expect(JSON.parse(form.get('script')!)).toEqual([{ name: 'a.sql', weight: 3, text: 'SELECT 1;' }, { name: 'select-only', weight: 1 }]);
});

test('a campaign is started again with its own settings, not with those of its runs', () => {
  const document = { kind: 'profile', settings: [{ name: 'vus', value: '4', source: 'campaign' }] };
  const profile = { job: { kind: 'profile', target: 'sqlite:tpc-b.sqlite', workload: 'tpc-b' }, given: { vus: '4,8,16', repeats: '3', workload: 'tpc-b', schema: 's', resume: '7' }, document } as unknown as JobDetail;
  expect(again(profile)).toBe('#/new?command=profile&vus=4%2C8%2C16&repeats=3&workload=tpc-b');
  const job = { kind: 'compare', target: 'postgres://a/x', workload: 'tpc-b' };
  const failed = { ...profile, job, document: 'it could not connect' } as JobDetail;
  expect(again(failed)).toContain('command=compare&at=postgres%3A%2F%2Fa%2Fx&vus=4%2C8%2C16');
  const compared = { ...profile, job, document: { kind: 'compare', b: { target: 'postgres://b/x' } } } as unknown as JobDetail;
  expect(again(compared)).toContain('at=postgres%3A%2F%2Fa%2Fx&other-at=postgres%3A%2F%2Fb%2Fx&vus');
  expect(again({ job: { kind: 'build' }, given: null, document: null } as unknown as JobDetail)).toBeNull();
});

test('settings stand in groups, and only those that the load model has', () => {
  const setting = (name: string, group: SettingInfo['group']) => ({ name, group }) as SettingInfo;
  const all = [setting('connect-timeout', 'connection'), setting('vus', 'load'), setting('backlog', 'load'), setting('load', 'load')];
  expect(grouped(all, 'closed').map((g) => [g.title, g.settings.map((s) => s.name)])).toEqual([['Load', ['vus']], ['Connection', ['connect-timeout']]]);
  expect(grouped(all, 'rate')[0]!.settings.map((s) => s.name)).toEqual(['vus', 'backlog']);
});

test('a form of queries has no settings about transactions, and its own options come first', () => {
  const setting = (name: string, group: SettingInfo['group'], of_transactions = false) => ({ name, group, of_transactions }) as SettingInfo;
  const all = [setting('seed', 'data'), setting('vus', 'load', true), setting('test', 'workload')];
  expect(grouped(all, 'closed', true)).toMatchObject([{ title: 'Options of the workload', open: true }, { title: 'Data' }]);
  expect(grouped(all, 'closed').at(-1)).toMatchObject({ title: 'Options of the workload', open: false });
  expect(grouped([...all, setting('script', 'workload')], 'closed')[0]).toMatchObject({ title: 'Options of the workload', open: true });
});
