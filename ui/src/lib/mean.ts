// Interval of the live figure during a run: a quick estimate by batch means. The result has the precise one.

/** Mean of a series with the half-width of its 95 % interval; `half` is null if there is too little data. */
export function interval(values: number[]): { n: number; mean: number; half: number | null } {
  const n = values.length;
  const mean = n === 0 ? 0 : values.reduce((a, b) => a + b, 0) / n;
  const batches = 10;
  const size = Math.floor(n / batches);
  if (size < 2) return { n, mean, half: null };
  const means = Array.from({ length: batches }, (_, i) => {
    const part = values.slice(n - (batches - i) * size, n - (batches - i - 1) * size);
    return part.reduce((a, b) => a + b, 0) / size;
  });
  const middle = means.reduce((a, b) => a + b, 0) / batches;
  const variance = means.reduce((sum, m) => sum + (m - middle) ** 2, 0) / (batches - 1);
  // Student's t for 9 degrees of freedom.
  return { n, mean, half: 2.262 * Math.sqrt(variance / batches) };
}
