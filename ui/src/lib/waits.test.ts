import { expect, test } from 'vitest';
import type { JobSamples, LimitFigures, SampledSeries } from '../api/types';
import { CLASSES, compare, coresOf, eventsOf, onAxis, sessionsOf, sessionsUntil } from './waits';

const series = (metric: string, labels: Record<string, string>, value: (number | null)[]): SampledSeries =>
  ({ metric, labels, value, title: '', unit: 'average', merge: 'mean', spread: null });
const sessions = (cls: string, wait: string, value: (number | null)[]) => series('db.sessions.active', { who: 'run', class: cls, wait }, value);
const samples = (first: number[], ...of: SampledSeries[]): JobSamples => ({ step: 1, first, left_out: 0, series: of });

const run = samples(
  [0, 1, 2, 3, 4],
  sessions('cpu', '', [1, 2, 2, 1, null]),
  sessions('row_lock', 'Lock:tuple', [null, null, 3, 5, null]),
  sessions('row_lock', 'Lock:transactionid', [null, null, 1, null, null]),
  sessions('log', 'LWLock:WALWrite', [0, 0, 0, 0, null]),
  series('db.sessions.active', { who: 'run', class: 'idle_in_transaction' }, [0, 0, 0, 0, null]),
  series('db.sessions.active', { who: 'background', class: 'io' }, [9, 9, 9, 9, 9]),
  series('db.statements.active', { statement: 'new_order.stock' }, [1, 1, 4, 6, null]),
  series('db.sessions.blocked', { blocker: 'sessions of this run', object: 'district' }, [0, 0, 2, 4, null]),
);

test('sessions of the run are summed by class, and a second without samples is a gap', () => {
  const found = sessionsOf(run)!;
  expect(found.classes.map(({ title, values }) => [title, values])).toEqual([
    ['CPU', [1, 2, 2, 1, null]],
    ['Row locks', [0, 0, 4, 5, null]],
  ]);
  expect(sessionsUntil(found, 3)!.classes[0]!.values).toEqual([1, 2, 2, null, null]);
  expect(sessionsOf(samples([0, 1], series('system.cpu', {}, [1, 1])))).toBeNull();
  expect(sessionsOf(null)).toBeNull();
});

test('every class has its own colour', () => {
  expect(new Set(CLASSES.map(({ colour }) => colour)).size).toBe(CLASSES.length);
});

test('an unknown class counts as other waits', () => {
  expect(sessionsOf(samples([0], sessions('future', 'New:thing', [2])))!.classes).toMatchObject([{ title: 'Other waits', values: [2] }]);
});

test('sessions follow the points of the other charts', () => {
  const coarse = { x: [0, 10], step: 10, classes: [{ title: 'CPU', colour: 'c', values: [1, 2] }] };
  expect(onAxis(coarse, [5, 9, 10, 19, 20]).classes[0]!.values).toEqual([1, 1, 2, 2, null]);
});

test('a part of the run is compared with the rest of the timed window', () => {
  const found = compare(run, run, [2, 4], [1, 5]);
  expect(found.classes.map(({ name, here, rest }) => [name, here, rest])).toEqual([
    ['Row locks', 4.5, 0],
    ['CPU', 1.5, 2],
  ]);
  expect(found.waits.map(({ name, here, of }) => [name, here, of?.title])).toEqual([
    ['Lock:tuple', 4, 'Row locks'],
    ['Lock:transactionid', 0.5, 'Row locks'],
  ]);
  expect(found.statements).toEqual([{ name: 'new_order.stock', here: 5, rest: 1 }]);
  expect(found.blockers).toEqual([{ name: 'sessions of this run, at district', here: 3, rest: 0 }]);
});

test('where nothing was sampled there is no figure', () => {
  expect(compare(run, run, [4, 5], [0, 4]).classes.map(({ here }) => here)).toEqual([null, null]);
});

test('checkpoints and vacuums are marks, and only the first of each has a label', () => {
  const found = eventsOf(samples(
    [0, 1, 2, 3, 4],
    series('postgresql.bgwriter.checkpoint.count', { type: 'scheduled' }, [null, 0, 0, 0, 1]),
    series('postgresql.bgwriter.checkpoint.count', { type: 'requested' }, [null, 1, 0, 0, 0]),
    series('postgresql.autovacuum.workers', {}, [0, 0, 1, 2, 0]),
  ));
  expect(found).toEqual([
    { from: 1, label: 'checkpoint', colour: 's2' },
    { from: 2, to: 4, label: 'autovacuum', colour: 's3' },
    { from: 4, label: '', colour: 's2' },
  ]);
});

test('the cores are those of the server, and unknown for a remote one', () => {
  const figures = (of: Partial<LimitFigures>) => ({ same_host: null, in_process: false, server_cpus_allowed: null, host_cpus: 8, ...of }) as LimitFigures;
  expect(coresOf(figures({ same_host: true, server_cpus_allowed: 4 }))).toBe(4);
  expect(coresOf(figures({ same_host: true }))).toBe(8);
  expect(coresOf(figures({ same_host: true, host_cpus: 0 }))).toBeNull();
  expect(coresOf(figures({ same_host: false }))).toBeNull();
  expect(coresOf(figures({}))).toBeNull();
});
