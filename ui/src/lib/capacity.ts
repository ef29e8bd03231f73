// Formats a capacity search for charts and texts.

import type { CapacityResult, Probe, Reason } from '../api/types';
import { count, counted, time } from './format';

/** Describes why a probe exceeded the limit. */
export const REASONS: Record<Reason, string> = {
  too_slow: 'too slow',
  cannot_follow: 'could not keep up',
  failures: 'too many failures',
  nothing: 'nothing completed',
};

/** Parses a time as written in a limit, `50ms`, to microseconds; null if it is not a time. */
export function microseconds(text: string): number | null {
  const found = /^([\d.]+)\s*(us|µs|ms|s|m)$/.exec(text.trim());
  if (!found) return null;
  const unit = { us: 1, µs: 1, ms: 1e3, s: 1e6, m: 6e7 }[found[2] as 'us'];
  return Number(found[1]) * unit;
}

/** Returns the probes, the lowest rate first. */
export const byRate = (probes: Probe[]): Probe[] => probes.toSorted((a, b) => a.rate - b.rate);

/** Describes the result of a search, or its progress while it is running: never "interrupted" then. */
export function standing(result: CapacityResult, inProgress: boolean): string {
  const found = result.judgement;
  if (found?.result === 'found') {
    const sure = found.precise ? '' : ', less precisely than asked for';
    return `The capacity is ${count(found.rate)} transactions per second (95 % interval ${count(found.interval.low)} to ${count(found.interval.high)}${sure}).`;
  }
  if (found?.result === 'never_ok') return `Even the lowest rate, ${count(found.lowest)} per second, does not keep the limit.`;
  if (found?.result === 'always_ok') return `Even the highest rate, ${count(found.highest)} per second, keeps the limit.`;
  const kept = Math.max(0, ...result.probes.filter((p) => p.reason === null).map((p) => p.rate));
  const broken = Math.min(...result.probes.filter((p) => p.reason !== null).map((p) => p.rate));
  const between = [kept > 0 ? `kept at ${count(kept)}` : '', Number.isFinite(broken) ? `broken at ${count(broken)}` : ''].filter(Boolean).join(', ');
  const where = between ? `: the limit is ${between} transactions per second` : '';
  return inProgress ? `The search is still running after ${counted(result.probes.length, 'probes')}${where}.` : `The search ended before the capacity was found, after ${counted(result.probes.length, 'probes')}${where}.`;
}

/**
 * Returns the share of probes that keep the limit, as a function of their rate: a logistic curve over the
 * logarithm of the rate, fitted by Newton's method. A little shrinkage keeps it finite if all outcomes on each
 * side are equal.
 */
export function keepingCurve(probes: Probe[]): ((rate: number) => number) | null {
  const points = probes.filter((p) => p.rate > 0).map((p) => [Math.log(p.rate), p.reason === null ? 1 : 0] as const);
  if (!points.some(([, y]) => y === 1) || !points.some(([, y]) => y === 0)) return null;
  const middle = points.reduce((sum, [x]) => sum + x, 0) / points.length;
  const share = (a: number, b: number, x: number) => 1 / (1 + Math.exp(-(a + b * (x - middle))));
  const SHRINK = 0.02;
  let [a, b] = [0, 0];
  for (let step = 0; step < 50; step++) {
    let [ga, gb, aa, ab, bb] = [-SHRINK * a, -SHRINK * b, SHRINK, 0, SHRINK];
    for (const [x, y] of points) {
      const p = share(a, b, x);
      const [w, d] = [p * (1 - p), x - middle];
      ga += y - p;
      gb += (y - p) * d;
      aa += w;
      ab += w * d;
      bb += w * d * d;
    }
    const det = aa * bb - ab * ab;
    a += (bb * ga - ab * gb) / det;
    b += (aa * gb - ab * ga) / det;
  }
  return Number.isFinite(a) && Number.isFinite(b) ? (rate) => (rate <= 0 ? 1 : share(a, b, Math.log(rate))) : null;
}

/** Formats a probe's percentile with its interval: `12.0 ms (11.0 to 13.0)`. */
export function percentile(probe: Probe): string {
  if (probe.value_us === null) return '–';
  return probe.interval_us ? `${time(probe.value_us)} (${time(probe.interval_us.low)} to ${time(probe.interval_us.high)})` : time(probe.value_us);
}
