// Intervals of single points of a chart, as bars with caps.

import type uPlot from 'uplot';
import type { Interval } from '../api/types';
import { colour } from './theme';

/** Draws the interval of each point that has one, over a chart's first scales, in the colour of its line. */
export function errorBars(points: () => { x: number; interval: Interval | null | undefined; line?: string }[]): (u: uPlot) => void {
  return (u) => {
    const { ctx } = u;
    ctx.save();
    // An interval that extends beyond the visible range ends at the frame, with an arrow instead of a cap.
    ctx.beginPath();
    ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
    ctx.clip();
    ctx.setLineDash([]);
    ctx.lineWidth = 1.5 * devicePixelRatio;
    for (const { x, interval, line } of points()) {
      if (!interval) continue;
      ctx.strokeStyle = ctx.fillStyle = colour(line ?? 's1');
      const at = u.valToPos(x, 'x', true);
      const [low, high] = [u.valToPos(interval.low, 'y', true), u.valToPos(interval.high, 'y', true)];
      const cap = 4 * devicePixelRatio;
      ctx.beginPath();
      ctx.moveTo(at, low);
      ctx.lineTo(at, high);
      for (const y of [low, high]) {
        ctx.moveTo(at - cap, y);
        ctx.lineTo(at + cap, y);
      }
      ctx.stroke();
      const { top, height } = u.bbox;
      if (high < top) arrow(ctx, at, top, cap);
      if (low > top + height) arrow(ctx, at, top + height, -cap);
    }
    ctx.restore();
  };
}

/** Draws an arrow with its tip at a place of the frame; `size` is negative if it points downwards. */
function arrow(ctx: CanvasRenderingContext2D, x: number, y: number, size: number): void {
  ctx.beginPath();
  ctx.moveTo(x, y);
  ctx.lineTo(x - 1.2 * size, y + 2 * size);
  ctx.lineTo(x + 1.2 * size, y + 2 * size);
  ctx.fill();
}

/** Returns the upper end of an axis on which no bar is cut off; 0 without bars. */
export function reach(intervals: (Interval | null | undefined)[]): number {
  return Math.max(0, ...intervals.map((interval) => interval?.high ?? 0)) * 1.05;
}

/**
 * Returns the ends of a logarithmic axis with these points, on which no bar is cut off, unless it extends more than
 * a factor of ten beyond all points. Ends have one significant digit, where the axis has a line.
 */
export function logReach(values: number[], intervals: (Interval | null | undefined)[]): [low: number, high: number] {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const low = Math.max(Math.min(least, ...intervals.map((interval) => interval?.low ?? least)), least / 10, 1);
  const high = Math.min(Math.max(most, ...intervals.map((interval) => interval?.high ?? most)), most * 10);
  const digit = (value: number) => 10 ** Math.floor(Math.log10(value));
  return [Math.floor(low / digit(low)) * digit(low), Math.ceil(high / digit(high)) * digit(high)];
}
