// Several curves over a common axis: measured points with intervals, and fitted laws.

import type { Curve as Law, Interval, MatrixResult, ProfileResult } from '../api/types';
import { curveAt } from './profile';

/** A curve: its points ascending, and the fitted law if there is one. */
export interface Curve {
  label: string;
  points: { x: number; mean: number; interval: Interval | null | undefined; limitedBy: string }[];
  law: Law | null;
}

/** Positions between the levels for smooth laws. */
const BETWEEN = 120;

/** Returns the positions of all points, and enough in between for smooth laws. */
export function positions(curves: Curve[]): number[] {
  const levels = curves.flatMap((curve) => curve.points.map((point) => point.x));
  const most = Math.max(...levels, 1);
  const between = curves.some((curve) => curve.law) ? Array.from({ length: BETWEEN + 1 }, (_, i) => 1 + ((most - 1) * i) / BETWEEN) : [];
  return [...new Set([0, most + Math.max(0.5, most * 0.04), ...levels, ...between])].sort((a, b) => a - b);
}

/** Returns the columns of a chart at these positions: of each curve the points, then its law if it has one. */
export const columnsOf = (curves: Curve[], xs: number[]): (number | null | undefined)[][] =>
  curves.flatMap(({ points, law }) => {
    const at = new Map(points.map(({ x, mean }) => [x, mean]));
    // A line without a law connects its points.
    const measured = xs.map((x) => at.get(x) ?? (law ? null : undefined));
    return law ? [measured, curveAt(xs, Math.max(...points.map((point) => point.x)), law)] : [measured];
  });

/** The curve of a profile. */
export const ofProfile = (label: string, profile: ProfileResult): Curve => ({
  label,
  points: profile.levels.map(({ users, mean, interval, bottleneck }) => ({ x: users, mean, interval, limitedBy: bottleneck })),
  law: profile.usl?.curve ?? null,
});

/** The setting that delays the network: its chart is over the measured time of a round trip. */
const DELAY = 'delay';

/** What the horizontal axis of a matrix's chart counts. */
export const unitOf = (name: string): string => (name === DELAY ? 'round trip, ms' : name);

/** The axis of a matrix that has the most numbers, but the delay of the network if that varies; -1 if none has three. */
export function numericAxis(matrix: Pick<MatrixResult, 'axes'>): number {
  const delay = matrix.axes.findIndex(({ name, values }) => name === DELAY && values.length > 1);
  if (delay >= 0) return delay;
  const numbers = matrix.axes.map((axis) => (axis.values.every((value) => value.trim() !== '' && Number.isFinite(Number(value))) ? axis.values.length : 0));
  const most = Math.max(...numbers);
  return most < 3 ? -1 : numbers.indexOf(most);
}

/** The curves of a matrix over one of its axes: one for each combination of the others. */
export function ofMatrix(matrix: MatrixResult, axis: number): Curve[] {
  const name = matrix.axes[axis]?.name;
  const curves = new Map<string, Curve>();
  for (const cell of matrix.cells) {
    const others = cell.values.filter((_, i) => i !== axis);
    const key = others.join('\n');
    const names = matrix.axes.filter((_, i) => i !== axis).map((other, i) => `${other.name} ${others[i]}`);
    const law = matrix.curves.find((curve) => curve.axis === name && curve.values.join('\n') === key)?.usl.curve ?? null;
    const curve = curves.get(key) ?? { label: names.join(', ') || 'measured', points: [], law };
    const x = name === DELAY ? (cell.round_trip_us ?? NaN) / 1000 : Number(cell.values[axis]);
    if (!Number.isFinite(x)) continue;
    curve.points.push({ x, mean: cell.mean, interval: cell.interval, limitedBy: cell.bottleneck });
    curves.set(key, curve);
  }
  for (const curve of curves.values()) curve.points.sort((a, b) => a.x - b.x);
  return [...curves.values()];
}
