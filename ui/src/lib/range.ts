// The part of a long run that the charts show, and the part of its series to load for that.

/** From the first to the last second. */
export type Range = [number, number];

/** Number of points over the visible range. */
export const POINTS = 400;

/** Moves the visible range, within the available one. */
export function moved([from, to]: Range, by: number, [first, last]: Range): Range {
  const within = Math.max(first - from, Math.min(by, last - to));
  return [from + within, to + within];
}

/** Widens the visible range around its middle by a factor, within the available one. */
export function wider([from, to]: Range, factor: number, [first, last]: Range): Range {
  const half = (Math.min((to - from) * factor, last - first)) / 2;
  const middle = (from + to) / 2;
  return moved([middle - half, middle + half], 0, [first, last]);
}

/** The whole seconds that the charts show, if they are a part of the timed window: a point is at the start of its second. */
export function partOf(shown: Range, window: Range): Range | null {
  const part: Range = [Math.ceil(shown[0]), Math.floor(shown[1]) + 1];
  return part[0] < part[1] && (part[0] > window[0] || part[1] < window[1]) ? part : null;
}

/** A loaded part of the series. */
export interface Part {
  range: Range;
  /** Seconds per point. */
  step: number;
}

/**
 * Returns what to load so that `shown` can be drawn, with the same width on both sides for panning; null if it
 * is loaded.
 */
export function toFetch(shown: Range, there: Part, [first, last]: Range): { range: Range; points: number } | null {
  const width = shown[1] - shown[0];
  const clip = (second: number) => Math.max(first, Math.min(second, last));
  // More is loaded while half the width is left on a side, so that it arrives before it is visible.
  const [low, high] = [clip(shown[0] - width / 2), clip(shown[1] + width / 2)];
  const fine = there.step <= Math.ceil(width / POINTS + 0.1);
  if (fine && there.range[0] <= low && there.range[1] >= high) return null;
  return { range: [Math.floor(clip(shown[0] - width)), Math.ceil(clip(shown[1] + width))], points: POINTS * 3 };
}
