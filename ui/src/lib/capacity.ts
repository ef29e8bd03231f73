// Formats a capacity search for charts and texts.

import type { CapacityBelief, CapacityResult, Probe, Reason } from '../api/types';
import { counted, figure, time } from './format';

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

/** Formats a rate in words: `12.5 transactions per second`. */
function perSecond(rate: number): string {
  const shown = figure(rate);
  return `${shown} ${shown === '1' ? 'transaction' : 'transactions'} per second`;
}

/** Describes the result of a search, or its progress while it is running: never "interrupted" then. */
export function standing(result: CapacityResult, inProgress: boolean): string {
  const found = result.judgement;
  if (found?.result === 'found') {
    const sure = found.precise ? '' : ', less precisely than asked for';
    return `The capacity is ${perSecond(found.rate)} (95 % interval ${figure(found.interval.low)} to ${figure(found.interval.high)}${sure}).`;
  }
  if (found?.result === 'never_ok') return `The limit does not hold even at ${perSecond(found.lowest)}, the lowest rate tried.`;
  if (found?.result === 'always_ok') return `The limit still holds at ${perSecond(found.highest)}, the highest rate tried: the capacity is at least that.`;
  const kept = Math.max(0, ...result.probes.filter((p) => p.reason === null).map((p) => p.rate));
  const broken = Math.min(...result.probes.filter((p) => p.reason !== null).map((p) => p.rate));
  const isBroken = Number.isFinite(broken);
  const between = [kept > 0 ? `kept at ${isBroken ? figure(kept) : perSecond(kept)}` : '', isBroken ? `exceeded at ${perSecond(broken)}` : ''].filter(Boolean).join(', ');
  // Near the capacity, chance decides.
  const both = kept >= broken ? `: probes at ${figure(broken)} to ${perSecond(kept)} had both results` : '';
  const where = both || (between ? `: the limit is ${between}` : '');
  return inProgress ? `The search is still running after ${counted(result.probes.length, 'probes')}${where}.` : `The search ended before the capacity was found, after ${counted(result.probes.length, 'probes')}${where}.`;
}

/** Returns the curve of the document from rate 0, which every target sustains, to `most`: rates, and the probability that the capacity is at least as high. */
export function beliefCurve(belief: CapacityBelief[], most: number): [number[], number[]] | null {
  if (belief.length === 0) return null;
  const last = Math.max(most, belief.at(-1)!.rate * 1.02);
  return [
    [0, ...belief.map((b) => b.rate), last],
    [1, ...belief.map((b) => b.probability), 0],
  ];
}

/** Formats a probe's percentile with its interval: `12.0 ms (11.0 to 13.0)`. */
export function percentile(probe: Probe): string {
  if (probe.value_us === null) return '–';
  return probe.interval_us ? `${time(probe.value_us)} (${time(probe.interval_us.low)} to ${time(probe.interval_us.high)})` : time(probe.value_us);
}
