import { expect, test } from 'vitest';
import type { Preview, SettingInfo } from '../api/types';
import { grouped, sentence } from './start';

const preview = (settings: Record<string, string>) =>
  ({ url: 'postgres://bench@db1/tpcc', settings: Object.entries(settings).map(([name, value]) => ({ name, value, source: 'default' })) }) as unknown as Preview;

test('what a form comes to reads as a sentence', () => {
  const run = preview({ vus: '8', transactions: 'by time', duration: '5m', rampup: '1m', load: 'closed' });
  expect(sentence('run', run, 'TPROC-C')).toBe('Drives TPROC-C at postgres://bench@db1/tpcc with 8 virtual users for 5m after 1m of ramp-up.');
  const open = preview({ vus: '64', duration: '5m', rampup: '1m', load: 'rate:500/s' });
  expect(sentence('run', open, 'TPROC-C')).toContain('with arrivals at 500 per second over 64 sessions');
});

test('settings stand in groups, and only those that the load model has', () => {
  const setting = (name: string, group: SettingInfo['group']) => ({ name, group }) as SettingInfo;
  const all = [setting('connect-timeout', 'connection'), setting('vus', 'load'), setting('backlog', 'load'), setting('load', 'load')];
  expect(grouped(all, 'closed').map((g) => [g.title, g.settings.map((s) => s.name)])).toEqual([['Load', ['vus']], ['Connection', ['connect-timeout']]]);
  expect(grouped(all, 'rate')[0]!.settings.map((s) => s.name)).toEqual(['vus', 'backlog']);
});
