// Which part of a long run the charts show, and which part of its series that needs.

/** From the first to the last second. */
export type Range = [number, number];

/** Points over what is shown. */
export const POINTS = 400;

/** What is shown, moved by so much, as far as there is something. */
export function moved([from, to]: Range, by: number, [first, last]: Range): Range {
  const within = Math.max(first - from, Math.min(by, last - to));
  return [from + within, to + within];
}

/** What is shown, a factor wider about its middle, as far as there is something. */
export function wider([from, to]: Range, factor: number, [first, last]: Range): Range {
  const half = (Math.min((to - from) * factor, last - first)) / 2;
  const middle = (from + to) / 2;
  return moved([middle - half, middle + half], 0, [first, last]);
}

/** A part of the series that was fetched. */
export interface Part {
  range: Range;
  /** Seconds of a point. */
  step: number;
}

/** What to fetch so that `shown` can be drawn, with as much on both sides to move on; null when that is there. */
export function toFetch(shown: Range, there: Part, [first, last]: Range): { range: Range; points: number } | null {
  const width = shown[1] - shown[0];
  const clip = (second: number) => Math.max(first, Math.min(second, last));
  // Half of a side's width is left when more is fetched, so that it comes before it is seen.
  const [low, high] = [clip(shown[0] - width / 2), clip(shown[1] + width / 2)];
  const fine = there.step <= Math.ceil(width / POINTS + 0.1);
  if (fine && there.range[0] <= low && there.range[1] >= high) return null;
  return { range: [Math.floor(clip(shown[0] - width)), Math.ceil(clip(shown[1] + width))], points: POINTS * 3 };
}
