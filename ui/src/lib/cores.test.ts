import { expect, it } from 'vitest';
import type { CoreMap, CpuRow } from '../api/types';
import { cellAt, columnsOf, figuresOf, fill, scaleOf, shade } from './cores';

const row = (cpu: number, columns: Partial<CpuRow['columns']>): CpuRow => ({
  cpu, package: null, node: null, core: null, busy: 0.5, hard: 0, soft: 0, saturated: 0, mhz: null, server_tasks: null,
  columns: { busy: [], hard: [], soft: [], mhz: [], server_tasks: [], ...columns },
});
const map = (cpus: CpuRow[]): CoreMap => ({ host: null, from_s: 10, column_s: 2, cpus, balance: null });

it('has the figures that were measured, with their scales', () => {
  const of = map([row(0, { busy: [0, 100], soft: [1, 4] }), row(1, { busy: [null, 50], mhz: [2000, 3000] })]);
  expect(figuresOf(of).map(({ name }) => name)).toEqual(['busy', 'soft', 'mhz']);
  expect(columnsOf(of)).toBe(2);
  expect(scaleOf(of, 'busy')).toEqual([0, 100]);
  expect(scaleOf(of, 'soft')).toEqual([0, 4]);
  expect(shade(2, [0, 4])).toBe(0.5);
  expect(shade(2000, scaleOf(of, 'mhz'))).toBeCloseTo(1 / 6);
});

it('fills a cell per value, whole pixels wide, and finds the cell at a place', () => {
  const of = map([row(0, { busy: [0, 100, 50] }), row(1, { busy: [null, 10, null] })]);
  const box = { left: 10, top: 0, width: 100, height: 20, ratio: 1 };
  const cells: [number, number, number, number, number][] = [];
  const ctx = { globalAlpha: 1, fillRect: (x: number, y: number, w: number, h: number) => void cells.push([ctx.globalAlpha, x, y, w, h]) };
  fill(ctx, of, 'busy', box);
  expect(cells).toEqual([[1, 43, 0, 34, 10], [0.5, 77, 0, 33, 10], [0.1, 43, 10, 34, 10]]);
  expect(ctx.globalAlpha).toBe(1);
  expect(cellAt(of, box, 50, 15)).toEqual([1, 1]);
  expect([cellAt(of, box, 5, 5), cellAt(of, box, 50, 25), cellAt(of, box, 111, 5)]).toEqual([null, null, null]);
});
