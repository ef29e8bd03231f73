// Curve and estimates of a profile, for display.

import type { Curve, Estimate } from '../api/types';

/** Returns the throughput at `n` virtual users by the Universal Scalability Law (N. J. Gunther). */
export function usl(n: number, fit: Pick<Curve, 'lambda' | 'sigma' | 'kappa'>): number {
  const [lambda, sigma, kappa] = [fit.lambda.value, fit.sigma.value, fit.kappa.value];
  return (lambda * n) / (1 + sigma * (n - 1) + kappa * n * (n - 1));
}

/** Returns a fitted curve at these positions, up to the highest level: the legend's last value is that of the table. */
export const curveAt = (xs: number[], highest: number, fit: Pick<Curve, 'lambda' | 'sigma' | 'kappa'>): (number | null)[] =>
  xs.map((x) => (x < 1 || x > highest ? null : usl(x, fit)));

/** Formats an estimate with its interval: `0.021 (0.015 to 0.027)`. */
export function estimate(it: Estimate, show: (value: number) => string): string {
  return it.interval ? `${show(it.value)} (${show(it.interval.low)} to ${show(it.interval.high)})` : show(it.value);
}
