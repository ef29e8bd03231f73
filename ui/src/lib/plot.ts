// Common parts of canvas charts: lines, axes and marks, in one type size.

import type uPlot from 'uplot';
import { CLOCK_STEPS, clock } from './format';
import { colour } from './theme';

/** A line; its colour is a role of the theme. */
export interface Line {
  label: string;
  colour: string;
  dash?: number[];
  width?: number;
  points?: boolean;
  /** Drawn as an area on top of the stacked lines that follow. */
  stacked?: boolean;
}

/** A point or range of the x axis, with a label if it is not empty. */
export interface Mark {
  from: number;
  to?: number;
  label: string;
  colour: string;
}

/** An axis: the format of its values, and its title with the unit. */
export interface Axis {
  show: (value: number) => string;
  title: string;
  /** Follows values in the legend; the title has it for the ticks. */
  unit?: string;
  /** Distances between its ticks; decimal ones without it. */
  steps?: number[];
  /** Minimum distance between its ticks in CSS pixels, for labels that are longer than usual. */
  space?: number;
}

/** Text size of a chart, in CSS pixels at the usual size of the page. */
export const TEXT = 12;

/** Styles of neighbouring lines: both colour and dash distinguish them, for any colour vision. */
const STYLES: Pick<Line, 'colour' | 'dash'>[] = [
  { colour: 's1' },
  { colour: 's2', dash: [9, 4] },
  { colour: 's3', dash: [3, 3] },
  { colour: 's4', dash: [10, 3, 2, 3] },
  { colour: 's5', dash: [16, 4] },
  { colour: 's6', dash: [2, 5] },
];

/** Returns the style of a line by its position. */
export const style = (place: number) => STYLES[place % STYLES.length]!;

/**
 * Line widths; the first line is drawn at the bottom. Each line is thinner than the one below it, so that lines
 * that coincide are all visible.
 */
export function widths(columns: (number | null | undefined)[][]): number[] {
  const top = Math.max(...columns.flat().map((v) => v ?? 0), Number.MIN_VALUE);
  const covers = (a: (number | null | undefined)[], b: (number | null | undefined)[]) => {
    const both = a.map((v, i) => [v, b[i]] as const).filter(([v, w]) => v != null && w != null);
    const apart = both.reduce((sum, [v, w]) => sum + Math.abs(v! - w!), 0) / Math.max(both.length, 1);
    return both.length > 0 && apart < 0.03 * top;
  };
  return columns.map((column, i) => {
    const above = columns.slice(i + 1).filter((other) => covers(column, other)).length;
    return 1.75 + 2 * Math.min(above, 3);
  });
}

/**
 * The columns as they are drawn: a stacked line is the sum of itself and of the stacked lines that follow it, so that
 * each area is drawn over the part of the previous one below it. Hidden lines add nothing.
 */
export function stack(columns: Values[], lines: Line[], hidden: boolean[]): Values[] {
  const sums: number[] = [];
  const drawn = [...columns];
  for (let place = columns.length - 1; place >= 0; place--) {
    if (!lines[place]?.stacked || hidden[place]) continue;
    drawn[place] = Array.from(columns[place]!, (value, i) => {
      sums[i] = (sums[i] ?? 0) + (value ?? 0);
      return value == null ? value : sums[i];
    });
  }
  return drawn;
}

type Values = ArrayLike<number | null | undefined>;

/** Returns the number of columns, at most `most`, in which `items` of equal width leave the fewest places empty. */
export function columns(items: number, most: number): number {
  const candidates = Array.from({ length: Math.max(1, Math.min(items, most)) }, (_, i) => i + 1).filter((n) => n > most / 2 || n >= items);
  const empty = (n: number) => Math.ceil(items / n) * n - items;
  return candidates.reduce((best, n) => (empty(n) <= empty(best) ? n : best));
}

/** Returns the position of the last value of the x axis in a range of it; -1 if there is none. */
export function lastIn(x: ArrayLike<number>, [, to]: [number, number]): number {
  let i = x.length - 1;
  while (i >= 0 && x[i]! > to) i--;
  return i;
}

/** Returns the value that a legend shows for a line: at the pointer, or the last one up to a position. */
export function pointed(column: ArrayLike<number | null | undefined>, at: number | null, until = Infinity): number | null {
  if (at !== null) return column[at] ?? null;
  for (let i = Math.min(column.length - 1, until); i >= 0; i--) if (column[i] != null) return column[i]!;
  return null;
}

/** Returns the mean of a line in a range of the x axis; null if it has no value there. */
export function meanIn(x: ArrayLike<number>, column: Values, [from, to]: [number, number]): number | null {
  let [sum, n] = [0, 0];
  for (let i = 0; i < x.length; i++) {
    const value = column[i];
    if (value == null || x[i]! < from || x[i]! > to) continue;
    sum += value;
    n += 1;
  }
  return n > 0 ? sum / n : null;
}

/** Returns the positions of values without a neighbour, which no line shows; a value that is undefined is no gap. */
export function alone(column: Values): number[] {
  const found: number[] = [];
  let [before, last] = [0, -1];
  for (let i = 0; i <= column.length; i++) {
    const value = column[i];
    if (i < column.length && value === undefined) continue;
    if (value == null) {
      if (before === 1) found.push(last);
      before = 0;
    } else {
      before += 1;
      last = i;
    }
  }
  return found;
}

/** Steps of an axis with distinct labels: 0.25 is none if values are whole numbers. */
export function steps(show: (value: number) => string): number[] {
  const all = Array.from({ length: 19 }, (_, i) => i - 6).flatMap((power) => [1, 2, 5].map((digit) => Number(`${digit}e${power}`)));
  return all.filter((step) => new Set([0, 1, 2, 3, 4].map((n) => show(n * step))).size === 5);
}

/** Width of the labels of a vertical axis for the usual length of its numbers, in CSS pixels; longer ones get more. */
const USUAL_WIDTH = 66;
/** Width that the vertical axis with its title takes of a chart, about, in CSS pixels. */
export const AXIS_WIDTH = USUAL_WIDTH + 37;
/** Estimated width of a character in the type size of charts, in CSS pixels. */
const CHARACTER = 7;
/** Height of the horizontal axis with and without a title, and of the space above the lines, in CSS pixels. */
const [BELOW, BELOW_UNTITLED, ABOVE] = [54, 30, 17];

/** Returns round positions for the ticks of an axis from 0 to `most`, at most `count` of them beside 0. */
export function ticks(most: number, count: number): number[] {
  const least = most / count;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = power * ([1, 2, 5].find((digit) => digit * power >= least) ?? 10);
  return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, i) => i * step);
}

/** Returns the width of the labels of a vertical axis, so that none reaches its title. */
export const labelsWidth = (labels: string[]) => Math.max(USUAL_WIDTH, 16 + CHARACTER * Math.max(0, ...labels.map((label) => label.length)));

/** Returns the height in which a chart draws its lines, without its axis. */
export const plotHeight = (height: number, titled: boolean) => Math.max(height - ABOVE - (titled ? BELOW : BELOW_UNTITLED), 20);

/** Returns the powers of ten, which alone are lines of a logarithmic grid; all values if there are less than two. */
export function powers(values: number[]): (number | null)[] {
  const isPower = (value: number) => Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-9;
  return values.filter(isPower).length < 2 ? values : values.map((value) => (isPower(value) ? value : null));
}

/** Returns how many rows the labels of marks take on an axis from `min` to `max` that is `width` CSS pixels wide. */
export function labelRows(marks: Mark[], [min, max]: [number, number], width: number): number {
  let [row, rows, taken] = [0, 0, -Infinity];
  for (const mark of marks) {
    if (!mark.label || mark.from > max || (mark.to ?? mark.from) < min) continue;
    const at = ((Math.max(mark.from, min) - min) / Math.max(max - min, Number.MIN_VALUE)) * width;
    const length = mark.label.length * CHARACTER + 8;
    const begin = at + length < width ? at : at - length;
    row = begin < taken ? row + 1 : 0;
    taken = Math.max(taken, begin + length);
    rows = Math.max(rows, row + 1);
  }
  return rows;
}

/** Returns by how much an axis extends beyond its lines, so that `rows` of labels of marks fit above them. */
export function headroom(rows: number, height: number): number {
  const share = (rows * (TEXT + 3) + 5) / height;
  return rows === 0 ? 1 : 1 / (1 - Math.min(share, 0.4));
}

/** Returns the ends of a logarithmic axis that is `times` as long, extended at its upper end. */
export const extended = ([low, high]: [number, number], times: number): [number, number] => [low, high * (high / low) ** (times - 1)];

/** The axes, `scale` times their usual size. `log`: whether they are logarithmic. */
export function axes(x: Axis, y: Axis, scale: number, log: { x?: boolean; y?: boolean } = {}): uPlot.Axis[] {
  const font = `${TEXT * scale}px system-ui, sans-serif`;
  const filter = (_: uPlot, all: number[]) => powers(all);
  const common = (isLog: boolean | undefined) => ({
    stroke: colour('quiet'), font, labelFont: font, labelSize: 20 * scale, labelGap: 2 * scale,
    grid: { stroke: colour('grid'), width: 1, ...(isLog ? { filter } : {}) },
    ticks: { stroke: colour('grid'), ...(isLog ? { filter } : {}) },
  });
  const values = (axis: Axis) => (_: uPlot, all: number[]) => all.map((v) => (v == null ? '' : axis.show(v)));
  return [
    // Small charts below others with the same axis have no title.
    { ...common(log.x), ...(x.title ? { label: x.title, size: (BELOW - 20) * scale } : { size: BELOW_UNTITLED * scale }), space: (x.space ?? 56) * scale, ...(x.show === clock ? { incrs: CLOCK_STEPS } : x.steps ? { incrs: x.steps } : {}), values: values(x) },
    { ...common(log.y), label: y.title, size: (_, labels) => labelsWidth(labels ?? []) * scale, incrs: y.steps ?? steps(y.show), values: values(y) },
  ];
}

/** Draws the marks: a dashed line, with its label if `labels`, and a tint over a range. */
export function drawMarks(u: uPlot, marks: Mark[], scale: number, labels = true): void {
  const { ctx } = u;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.font = `${TEXT * scale * ratio}px system-ui, sans-serif`;
  const end = u.bbox.left + u.bbox.width;
  let [line, taken] = [0, -Infinity];
  for (const mark of marks) {
    const left = u.valToPos(mark.from, 'x', true);
    const right = mark.to === undefined ? left : u.valToPos(mark.to, 'x', true);
    if (right < u.bbox.left || left > end) continue;
    ctx.fillStyle = ctx.strokeStyle = colour(mark.colour);
    if (mark.to !== undefined) {
      ctx.globalAlpha = 0.12;
      ctx.fillRect(left, u.bbox.top, right - left, u.bbox.height);
    }
    ctx.globalAlpha = 0.8;
    ctx.setLineDash([4 * ratio, 4 * ratio]);
    ctx.beginPath();
    ctx.moveTo(left, u.bbox.top);
    ctx.lineTo(left, u.bbox.top + u.bbox.height);
    ctx.stroke();
    ctx.globalAlpha = 1;
    if (!mark.label || !labels) continue;
    // Beside the line, on the side with enough room, and below the previous label if that is in the way.
    const width = ctx.measureText(mark.label).width + 8 * ratio;
    const fits = left + width < end;
    const begin = fits ? left : left - width;
    line = begin < taken ? line + 1 : 0;
    taken = Math.max(taken, begin + width);
    ctx.textAlign = fits ? 'left' : 'right';
    const at = [left + (fits ? 4 : -4) * ratio, u.bbox.top + (TEXT + line * (TEXT + 3)) * scale * ratio] as const;
    // Readable on an area, too.
    ctx.save();
    ctx.setLineDash([]);
    ctx.lineJoin = 'round';
    ctx.lineWidth = 4 * ratio;
    ctx.strokeStyle = colour('card');
    ctx.globalAlpha = 0.7;
    ctx.strokeText(mark.label, ...at);
    ctx.globalAlpha = 1;
    ctx.fillText(mark.label, ...at);
    ctx.restore();
  }
  ctx.restore();
}
