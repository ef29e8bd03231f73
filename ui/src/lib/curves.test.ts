import { expect, test } from 'vitest';

import type { MatrixResult } from '../api/types';
import { columnsOf, numericAxis, ofMatrix, positions } from './curves';

const estimate = (value: number) => ({ value, interval: null });
const law = { lambda: estimate(10), sigma: estimate(0), kappa: estimate(0), r_squared: 1, residual: 0 };
const cell = (values: string[], mean: number) => ({ values, mean, interval: null, bottleneck: 'database' });
const matrix = {
  axes: [
    { name: 'vus', values: ['4', '1', '2'] },
    { name: 'mode', values: ['a', 'b'] },
  ],
  cells: [cell(['4', 'a'], 40), cell(['4', 'b'], 30), cell(['1', 'a'], 10), cell(['1', 'b'], 8), cell(['2', 'a'], 20)],
  curves: [{ axis: 'vus', values: ['a'], usl: { curve: law } }],
} as unknown as MatrixResult;

test('a matrix over users has a curve for each combination of the other settings', () => {
  expect(numericAxis(matrix)).toBe(0);
  expect(numericAxis({ axes: [{ name: 'mode', values: ['a', 'b', 'c'] }] })).toBe(-1);
  const curves = ofMatrix(matrix, 0);
  expect(curves.map((curve) => [curve.label, curve.points.map((point) => point.x), curve.law !== null])).toEqual([
    ['mode a', [1, 2, 4], true],
    ['mode b', [1, 4], false],
  ]);
});

test('each curve has a column of its points, and one of its law', () => {
  const curves = ofMatrix(matrix, 0);
  const xs = positions(curves);
  const columns = columnsOf(curves, xs);
  expect(columns.length).toBe(3);
  const at = xs.indexOf(4);
  expect(columns.map((column) => column[at])).toEqual([40, 40, 30]);
});

test('a matrix over the delay of the network is drawn over the measured round trips', () => {
  const cells = [cell(['0', 'a'], 40), cell(['5ms', 'a'], 10), cell(['0', 'b'], 30)].map((one, i) => ({ ...one, round_trip_us: [120, 5130, null][i] }));
  const delayed = { ...matrix, axes: [{ name: 'delay', values: ['0', '5ms'] }, { name: 'mode', values: ['a', 'b'] }], cells, curves: [] } as unknown as MatrixResult;
  expect(numericAxis(delayed)).toBe(0);
  expect(ofMatrix(delayed, 0).map((curve) => [curve.label, curve.points.map((point) => point.x)])).toEqual([['mode a', [0.12, 5.13]]]);
});
