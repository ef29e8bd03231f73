import { expect, test } from 'vitest';

import type { MatrixResult } from '../api/types';
import { cellAt, half, rowsOf, titleOf, warmth } from './matrix';

const cell = (values: string[], mean: number) => ({ values, mean, interval: { low: mean * 0.9, high: mean * 1.1 } });
const matrix = (better: string) =>
  ({
    primary_metric: { better },
    axes: [
      { name: 'scale', values: ['1', '10'] },
      { name: 'mode', values: ['a'] },
      { name: 'vus', values: ['4', '8'] },
    ],
    cells: [cell(['1', 'a', '4'], 100), cell(['1', 'a', '8'], 200), cell(['10', 'a', '4'], 150)],
  }) as unknown as MatrixResult;

test('rows are the combinations of all axes but the last', () => {
  expect(rowsOf(matrix('higher'))).toEqual([['1', 'a'], ['10', 'a']]);
  expect(cellAt(matrix('higher'), ['1', 'a', '8'])?.mean).toBe(200);
  expect(cellAt(matrix('higher'), ['10', 'a', '8'])).toBeNull();
  expect(titleOf(matrix('higher'), ['10', 'a', '4'])).toBe('scale = 10, mode = a, vus = 4');
});

test('the best is the warmest, whichever direction is better', () => {
  expect([100, 150, 200].map((value) => warmth(matrix('higher'), value))).toEqual([0, 0.5, 1]);
  expect([100, 150, 200].map((value) => warmth(matrix('lower'), value))).toEqual([1, 0.5, 0]);
});

test('half of an interval is a share of the mean', () => {
  expect(half(cell([], 100) as never)).toBe('± 10 %');
  expect(half({ mean: 100, interval: null } as never)).toBeNull();
});
