import { expect, it } from 'vitest';
import type { JobSamples, SampledSeries, SeriesMeans } from '../api/types';
import { axisOf, bytes, changes, drawn, figuresOf, firstOf, nameOf, perTransaction, withUnit } from './observed';

const series = (metric: string, labels: Record<string, string>, title: string, unit: string, value: (number | null)[] = []): SampledSeries =>
  ({ metric, labels, title, unit, value, merge: 'mean', spread: null });
const cpu = (mode: string, value: number[], more = {}) => series('system.cpu.utilization', { 'cpu.mode': mode, ...more }, 'CPU', 'share', value);
const samples = (...all: SampledSeries[]): JobSamples => ({ step: 2, first: [0, 2], left_out: 0, series: all });

it('makes one chart of a title and a host, the database first, and none of single CPUs, sessions and our own metrics', () => {
  const found = figuresOf(samples(
    cpu('user', [0.2, 0.3]),
    cpu('user', [0.2, 0.3], { 'cpu.logical_number': '1' }),
    cpu('user', [0.5, 0.5], { 'host.name': 'db1' }),
    series('db.sessions.active', { who: 'run' }, 'Active sessions', 'average'),
    series('ready_share', {}, 'Ready', 'share'),
    series('postgresql.wal.generated', {}, 'WAL generated', 'bytes_per_second'),
  ));
  expect(found.map(({ group, title }) => `${group}: ${title}`)).toEqual(['Database: WAL generated', 'Host db1: CPU', 'Host of triphammer: CPU']);
  expect(firstOf(found).map(({ title, host }) => title + host)).toEqual(['CPUdb1', 'CPU', 'WAL generated']);
});

it('stacks what adds up without its rest, the largest at the bottom, at the points of the page', () => {
  const all = samples(cpu('idle', [0.7, 0.6]), cpu('system', [0.1, 0.1]), cpu('user', [0.2, 0.3]), cpu('nice', [0, 0]));
  const { lines, columns, isWhole } = drawn(figuresOf(all)[0]!, all, [0, 1, 2, 3]);
  expect(lines.map(({ label, stacked }) => [label, stacked])).toEqual([['system', true], ['user', true]]);
  expect(columns[1]).toEqual([0.2, 0.2, 0.3, 0.3]);
  expect(isWhole).toBe(true);
  expect(drawn(figuresOf(all)[0]!, all, [0, 1, 2, 3], 3).columns[1]).toEqual([0.2, 0.2, 0.3, null]);
});

it('names lines by the labels in which they differ, and leaves out the smallest of many', () => {
  const disk = (device: string, direction: string, of: number) => series('system.disk.io', { 'system.device': device, 'disk.io.direction': direction }, 'Disk', 'bytes_per_second', [of, of]);
  const one = samples(disk('vda', 'read', 1), disk('vda', 'write', 5));
  expect(drawn(figuresOf(one)[0]!, one, [0]).lines.map(({ label }) => label)).toEqual(['write', 'read']);
  const many = samples(...['a', 'b', 'c', 'd'].flatMap((device, i) => [disk(device, 'read', 10 - i), disk(device, 'write', 20 - i)]));
  const of = drawn(figuresOf(many)[0]!, many, [0]);
  expect([of.lines[0]!.label, of.lines.length, of.leftOut]).toEqual(['a write', 6, 2]);
});

it('writes figures with their units', () => {
  expect([bytes(0), bytes(1023), bytes(1536), bytes(3.2e9)]).toEqual(['0 B', '1023 B', '1.5 KiB', '3 GiB']);
  expect([withUnit('per_second', 0.0333), withUnit('bytes_per_second', 2 ** 21), withUnit('share', 0.123), withUnit('ms', 1.5), withUnit('count', null)]).toEqual(['0.0333/s', '2 MiB/s', '12.3 %', '1.50 ms', '–']);
  expect([perTransaction('bytes_per_second', 5000), perTransaction('per_second', 2.5)]).toEqual(['4.9 KiB', '2.5']);
  expect(axisOf('bytes').steps).toContain(1024);
});

it('puts the figures that differ most first, and ignores changes of next to nothing', () => {
  const means = (metric: string, here: number | null, rest: number | null, max = Math.max(here ?? 0, rest ?? 0)): SeriesMeans => {
    const of = (mean: number | null) => (mean === null ? null : { seconds: 10, mean, max });
    return { metric, labels: { relation: 'stock' }, title: metric, unit: 'per_second', here: of(here), rest: of(rest) };
  };
  const found = changes([means('p.same', 10, 10), means('p.more', 90, 10), means('p.noise', 0.3, 0.1, 100), means('p.less', 5, 20), means('p.new', 4, null), means('p.never', 0, 0)]);
  expect(found.map(({ name, ratio }) => [name.split(',')[0], ratio])).toEqual([['p.more', 9], ['p.less', 0.25], ['p.same', 1], ['p.noise', 1], ['p.new', null]]);
});

it('adds only the labels that a title lacks', () => {
  expect(nameOf({ title: 'Rows inserted', labels: { operation: 'inserted', relation: 'stock' } })).toBe('Rows inserted, stock');
});
