// The table of a matrix: which combinations are in which row, and how dark each is.

import type { Cell, MatrixResult } from '../api/types';

/** Returns the combinations of the values of all axes but the last, which has the columns. */
export function rowsOf(matrix: Pick<MatrixResult, 'axes'>): string[][] {
  const rows = (before: string[][], values: string[]) => before.flatMap((row) => values.map((value) => [...row, value]));
  return matrix.axes.slice(0, -1).reduce((before, axis) => rows(before, axis.values), [[]] as string[][]);
}

/** Finds the combination with these values; null if it has no run yet. */
export const cellAt = (matrix: Pick<MatrixResult, 'cells'>, values: string[]): Cell | null =>
  matrix.cells.find((cell) => cell.values.every((value, i) => value === values[i])) ?? null;

/** Names a combination: `vus = 8, mode = statements`. */
export const titleOf = (matrix: Pick<MatrixResult, 'axes'>, values: string[]): string => values.map((value, i) => `${matrix.axes[i]?.name} = ${value}`).join(', ');

/** Places a value between the worst (0) and the best (1) of the matrix; 1 if all are equal. */
export function warmth(matrix: Pick<MatrixResult, 'cells' | 'primary_metric'>, value: number): number {
  const means = matrix.cells.map((cell) => cell.mean);
  const [low, high] = [Math.min(...means), Math.max(...means)];
  if (high <= low) return 1;
  const share = (value - low) / (high - low);
  return matrix.primary_metric.better === 'lower' ? 1 - share : share;
}

/** Half of a combination's interval as a share: `± 3.1 %`; null without an interval. */
export function half(cell: Pick<Cell, 'mean' | 'interval'>): string | null {
  if (!cell.interval || cell.mean <= 0) return null;
  const share = ((cell.interval.high - cell.interval.low) / 2 / cell.mean) * 100;
  return `± ${share < 9.95 ? share.toFixed(1) : Math.round(share)} %`;
}
