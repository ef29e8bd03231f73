// The map of a host's CPUs over time: which figures it has, and how it is drawn. A run of any length has a limited
// number of columns, so that the map is drawn at once.

import type { CoreMap, CpuRow } from '../api/types';

export type CoreFigure = keyof CpuRow['columns'];

/** A figure of a map. */
export interface Shown {
  name: CoreFigure;
  title: string;
  /** Formats a value of a cell. */
  show: (value: number) => string;
}

const percent = (value: number) => `${value} %`;
const FIGURES: Shown[] = [
  { name: 'busy', title: 'Busy', show: percent },
  { name: 'hard', title: 'Hardware interrupts', show: percent },
  { name: 'soft', title: 'Software interrupts', show: percent },
  { name: 'server_tasks', title: 'Server’s tasks', show: String },
  { name: 'mhz', title: 'Frequency', show: (value) => `${(value / 1000).toFixed(2)} GHz` },
];

/** The figures that a map has. */
export const figuresOf = (map: CoreMap): Shown[] => FIGURES.filter(({ name }) => map.cpus.some((cpu) => cpu.columns[name].length > 0));

/** Number of columns of a map. */
export const columnsOf = (map: CoreMap): number => Math.max(0, ...map.cpus.map((cpu) => cpu.columns.busy.length));

/** The lowest and highest value of a figure, as its darkness: shares from 0 to 100 %, others up to their highest value. */
export function scaleOf(map: CoreMap, figure: CoreFigure): [least: number, most: number] {
  if (figure === 'busy') return [0, 100];
  const values = map.cpus.flatMap((cpu) => cpu.columns[figure]).filter((value) => value !== null);
  const most = values.reduce((a, b) => Math.max(a, b), 1);
  return figure === 'mhz' ? [values.reduce((a, b) => Math.min(a, b), most) * 0.9, most] : [0, most];
}

/** Darkness of a value, from 0 to 1. */
export const shade = (value: number, [least, most]: [number, number]): number => Math.max(0, Math.min(1, (value - least) / Math.max(most - least, 1e-9)));

/** Where a map is on its canvas, in CSS pixels. */
export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
  /** Pixels of the screen per CSS pixel. */
  ratio: number;
}

/** The cell at a place, as column and row; null outside. */
export function cellAt(map: CoreMap, box: Box, x: number, y: number): [column: number, row: number] | null {
  const column = Math.floor(((x - box.left) / box.width) * columnsOf(map));
  const row = Math.floor(((y - box.top) / box.height) * map.cpus.length);
  return column >= 0 && column < columnsOf(map) && row >= 0 && row < map.cpus.length ? [column, row] : null;
}

/** Fills the cells of a figure. Cells without a value stay empty. */
export function fill(ctx: Pick<CanvasRenderingContext2D, 'fillRect' | 'globalAlpha'>, map: CoreMap, figure: CoreFigure, box: Box): void {
  const [columns, rows] = [columnsOf(map), map.cpus.length];
  // Edges are on whole pixels of the screen, so that cells neither overlap nor leave gaps.
  const whole = (place: number) => Math.round(place * box.ratio) / box.ratio;
  const across = (i: number) => whole(box.left + (i * box.width) / columns);
  const scale = scaleOf(map, figure);
  map.cpus.forEach((cpu, row) => {
    const top = whole(box.top + (row * box.height) / rows);
    const height = whole(box.top + ((row + 1) * box.height) / rows) - top;
    cpu.columns[figure].forEach((value, i) => {
      const alpha = value === null ? 0 : shade(value, scale);
      if (alpha === 0) return;
      ctx.globalAlpha = alpha;
      const left = across(i);
      ctx.fillRect(left, top, across(i + 1) - left, height);
    });
  });
  ctx.globalAlpha = 1;
}
