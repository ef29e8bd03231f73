// What a profile's document says, as far as the page draws it (docs/reference/profile-schema.json).

export interface Interval {
  low: number;
  high: number;
}

export interface Estimate {
  value: number;
  interval?: Interval | null;
}

export interface Level {
  users: number;
  mean: number;
  interval: Interval | null;
  p95_us: number;
  p99_us: number;
  failure_share: number;
  limited_by: string;
  fitted: number | null;
  runs: { job: number | null; value: number; steady: string | null }[];
}

export interface Curve {
  lambda: Estimate;
  sigma: Estimate;
  kappa: Estimate;
  r_squared: number | null;
}

export type Peak =
  | { kind: 'reached'; users: Estimate; throughput: Estimate }
  | { kind: 'saturated'; users: number; throughput: number; highest: number }
  | { kind: 'not_reached'; highest: number; predicted_users?: number | null };

export interface ProfileDocument {
  headline: { name: string; meaning: string; per: string };
  times_of: string;
  levels: Level[];
  usl: { curve: Curve; amdahl: Curve; peak: Peak } | null;
  no_curve: string | null;
  findings: string[];
  refused: { users: number; reason: string }[];
}

export interface CapacityDocument {
  findings?: string[];
  words?: string;
}

/** Throughput at `n` virtual users by the Universal Scalability Law (N. J. Gunther). */
export function usl(n: number, fit: Curve): number {
  const [lambda, sigma, kappa] = [fit.lambda.value, fit.sigma.value, fit.kappa.value];
  return (lambda * n) / (1 + sigma * (n - 1) + kappa * n * (n - 1));
}

/** An estimate with its interval: `0.021 (0.015 to 0.027)`. */
export function estimate(it: Estimate, show: (value: number) => string): string {
  return it.interval ? `${show(it.value)} (${show(it.interval.low)} to ${show(it.interval.high)})` : show(it.value);
}
