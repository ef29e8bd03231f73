import { expect, test } from 'vitest';
import { count, percent, time } from './format';
import { alone, columns, extended, headroom, labelRows, labelsWidth, lastIn, plotHeight, pointed, powers, stack, steps, style, ticks, widths } from './plot';

test('a legend shows the value pointed at, and the last one that is there otherwise', () => {
  expect(pointed([1, 2, 3, null], 1)).toBe(2);
  expect(pointed([1, 2, 3, null], null)).toBe(3);
  expect(pointed([1, 2, 3, null], 3)).toBeNull();
  expect(pointed([null, undefined], null)).toBeNull();
  expect(pointed([1, 2, 3], null, lastIn([10, 20, 30], [0, 25]))).toBe(2);
  expect(pointed([1, 2, 3], null, lastIn([10, 20, 30], [0, 5]))).toBeNull();
});

test('of lines that coincide the lower one is wider, so that both are seen', () => {
  const [below, above, apart] = widths([[100, 101, 99], [100, 100, 100], [10, 12, 9]]);
  expect(below!).toBeGreaterThan(above!);
  expect(above).toBe(apart);
});

test('no two marks of an axis read the same', () => {
  expect(steps(count)).toContain(0.05);
  expect(Math.min(...steps((v) => v.toFixed(1)))).toBe(0.1);
  expect(Math.min(...steps(time))).toBe(1);
  expect(Math.min(...steps((v) => percent(v, 0)))).toBe(0.01);
});

test('lines side by side differ by colour and by dash', () => {
  const six = [0, 1, 2, 3, 4, 5].map(style);
  expect(new Set(six.map((s) => s.colour)).size).toBe(6);
  expect(new Set(six.map((s) => JSON.stringify(s.dash))).size).toBe(6);
});

test('stacked lines lie on those that follow, without the hidden ones', () => {
  const area = (label: string) => ({ label, colour: 's1', stacked: true });
  const lines = [area('top'), area('middle'), area('bottom'), { label: 'limit', colour: 's2' }];
  const columns = [[1, 1, null], [2, null, null], [4, 4, null], [9, 9, 9]];
  expect(stack(columns, lines, [])).toEqual([[7, 5, null], [6, null, null], [4, 4, null], [9, 9, 9]]);
  expect(stack(columns, lines, [false, true])[0]).toEqual([5, 5, null]);
});

test('labels of marks have room above the lines, more for two rows', () => {
  expect(headroom(0, 100)).toBe(1);
  expect(headroom(1, 100)).toBeGreaterThan(1.2);
  expect(headroom(2, 100)).toBeGreaterThan(headroom(1, 100));
  expect(plotHeight(170, true)).toBeLessThan(plotHeight(170, false));
});

test('long numbers of an axis do not reach its title', () => {
  expect(labelsWidth(['0', '150,000'])).toBe(66);
  expect(labelsWidth(['100,000,000'])).toBeGreaterThan(80);
});

test('a logarithmic grid has lines at powers of ten, unless there are too few', () => {
  expect(powers([1, 2, 5, 10, 20])).toEqual([1, null, null, 10, null]);
  expect(powers([20, 50, 100, 200])).toEqual([20, 50, 100, 200]);
});

test('ticks are round and within the axis', () => {
  expect(ticks(74_826, 4)).toEqual([0, 20_000, 40_000, 60_000]);
  expect(ticks(11_000, 5)).toEqual([0, 5000, 10_000]);
  expect(ticks(1, 5)).toHaveLength(6);
});

test('labels of marks that are close take several rows, and those out of sight none', () => {
  const mark = (from: number, label: string) => ({ from, label, colour: 's1' });
  const marks = [mark(0, 'ramp-up'), mark(1, 'checkpoint'), mark(50, 'end')];
  expect(labelRows(marks, [0, 60], 600)).toBe(2);
  expect(labelRows(marks, [0, 3], 600)).toBe(1);
  expect(labelRows(marks, [10, 20], 600)).toBe(0);
  expect(labelRows([mark(0, '')], [0, 60], 600)).toBe(0);
});

test('a value between gaps is found, and a value of a sparse column has its neighbours', () => {
  expect(alone([null, 5, null, 6, 7, null, 8])).toEqual([1, 6]);
  expect(alone([5])).toEqual([0]);
  expect(alone([5, undefined, 6])).toEqual([]);
  expect(alone([])).toEqual([]);
});

test('a logarithmic axis is extended by a share of its length', () => {
  const [low, high] = extended([10, 1000], 1.5);
  expect(low).toBe(10);
  expect(high).toBeCloseTo(10_000);
  expect(extended([10, 1000], 1)).toEqual([10, 1000]);
});

test('charts of equal width leave few places empty', () => {
  expect(columns(5, 5)).toBe(5);
  expect(columns(5, 4)).toBe(3);
  expect(columns(6, 5)).toBe(3);
  expect(columns(7, 5)).toBe(4);
  expect(columns(5, 3)).toBe(3);
  expect(columns(5, 1)).toBe(1);
  expect(columns(2, 5)).toBe(2);
  expect(columns(0, 3)).toBe(1);
});
