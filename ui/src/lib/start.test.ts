import { expect, test } from 'vitest';
import type { JobDetail, Preview, SettingInfo } from '../api/types';
import { again, grouped, sentence } from './start';

const preview = (settings: Record<string, string>) =>
  ({ url: 'postgres://bench@db1/tpcc', settings: Object.entries(settings).map(([name, value]) => ({ name, value, source: 'default' })) }) as unknown as Preview;

test('what a form comes to reads as a sentence', () => {
  const run = preview({ vus: '8', transactions: 'by time', duration: '5m', rampup: '1m', load: 'closed' });
  expect(sentence('run', run, 'TPROC-C')).toBe('Drives TPROC-C at postgres://bench@db1/tpcc with 8 virtual users for 5m after 1m of ramp-up.');
  const open = preview({ vus: '64', duration: '5m', rampup: '1m', load: 'rate:500/s' });
  expect(sentence('run', open, 'TPROC-C')).toContain('with arrivals at 500 per second over 64 sessions');
});

test('a run is started again with the settings that it was given', () => {
  const settings = [
    { name: 'vus', value: '8', source: 'flag' },
    { name: 'seed', value: '1', source: 'default' },
    { name: 'target', value: 'postgres://db1/tpcc', source: 'flag' },
  ];
  const run = { job: { kind: 'run' }, given: null, document: { kind: 'run', settings } } as unknown as JobDetail;
  expect(again(run)).toBe('#/new?command=run&vus=8');
});

test('a campaign is started again with its own settings, not with those of its runs', () => {
  const document = { kind: 'profile', settings: [{ name: 'vus', value: '4', source: 'campaign' }] };
  const profile = { job: { kind: 'profile' }, given: { vus: '4,8,16', repeats: '3', workload: 'tpc-b', schema: 's', resume: '7' }, document } as unknown as JobDetail;
  expect(again(profile)).toBe('#/new?command=profile&vus=4%2C8%2C16&repeats=3&workload=tpc-b');
  const failed = { ...profile, job: { kind: 'compare' }, document: 'it could not connect' } as JobDetail;
  expect(again(failed)).toContain('command=compare&vus=4%2C8%2C16');
  expect(again({ job: { kind: 'build' }, given: null, document: null } as unknown as JobDetail)).toBeNull();
});

test('settings stand in groups, and only those that the load model has', () => {
  const setting = (name: string, group: SettingInfo['group']) => ({ name, group }) as SettingInfo;
  const all = [setting('connect-timeout', 'connection'), setting('vus', 'load'), setting('backlog', 'load'), setting('load', 'load')];
  expect(grouped(all, 'closed').map((g) => [g.title, g.settings.map((s) => s.name)])).toEqual([['Load', ['vus']], ['Connection', ['connect-timeout']]]);
  expect(grouped(all, 'rate')[0]!.settings.map((s) => s.name)).toEqual(['vus', 'backlog']);
});
