// Formats and scales comparisons: the server judges them.

import type { Comparison, ComparisonVerdict, Figure, JobSummary } from '../api/types';
import { capital, count, percent, time } from './format';
import { figure as ofQueries, figureName } from './queries';

/** Returns the colour of a verdict on B. */
export const TONES: Record<ComparisonVerdict['kind'], string> = { faster: 'good', slower: 'bad', equivalent: 'plain', inconclusive: 'warn' };

/** Formats a value of a figure in its unit. */
export const shown = (figure: Figure, value: number) => ({ us: time, share: (v: number) => percent(v, 2), number: (v: number) => ofQueries(figure.name, v) })[figure.unit](value);

/** Title of a figure; those of queries are without the unit in their name. */
export const titled = ({ title }: Figure) => (title.endsWith('_ms') ? capital(figureName(title)) : title);

/** Why a figure has no comparison; empty if the figure before it has the same reason. */
export const reason = (figure: Figure, before: Figure | undefined) => (before?.reason === figure.reason ? '' : (figure.reason ?? 'not available'));

/** Formats a ratio with its interval: `1.042 (1.010 to 1.075)`. Ends beyond a factor of 1,000 say nothing more. */
export function ratio(made: Comparison): string {
  const three = (value: number) => (value < 0.001 ? '<0.001' : value < 100 ? value.toFixed(3) : value <= 1000 ? count(value) : '>1,000');
  return `${three(made.ratio)} (${three(made.interval.low)} to ${three(made.interval.high)})`;
}

/** The reason for a verdict, without the verdict itself, as in `B is slower: NOPM B/A is 0.37`. */
export const withoutVerdict = ({ words, verdict }: { words: string; verdict: ComparisonVerdict }) => words.replace(new RegExp(`^(B is )?${verdict.kind}: `), '');

/** Formats the verdict on one figure of B, in up to three words. */
export function verdict(made: Comparison): string {
  const { verdict, better } = made;
  if (verdict.kind === 'equivalent') return 'the same';
  if (verdict.kind === 'inconclusive') return 'not known yet';
  if (better === 'higher') return verdict.kind === 'faster' ? 'more' : 'less';
  return verdict.kind === 'faster' ? 'shorter' : 'longer';
}

/** Returns how far a ratio is from 1, as its logarithm: a half is as far as the double. */
export const away = (ratio: number) => Math.log(Math.max(ratio, 1e-9));

/**
 * Returns how far from 1 the bars extend, as a logarithm, so that all intervals fit and the margin is visible; at most
 * to a factor of ten.
 */
export function extent(figures: Figure[]): number {
  const far = figures.flatMap(({ comparison: made }) => (made ? [away(1 + made.margin * 2), -away(made.interval.low), away(made.interval.high)] : []));
  return Math.min(Math.LN10, Math.max(0.02, ...far) * 1.05);
}

/**
 * Formats the result of a stored comparison for a list: `slower, 0.284 × NOPM`. Its primary metric is `slower:
 * NOPM B/A`.
 */
export function compared(job: Pick<JobSummary, 'primary_metric_name' | 'primary_metric_value'>): string {
  const [verdict, figure] = (job.primary_metric_name ?? '').replace(/ B\/A$/, '').split(': ');
  return `${figure ? `${verdict}, ` : ''}${job.primary_metric_value?.toFixed(3)} × ${figure ?? verdict}`;
}

/** Names a job of several: by its label, with its number if others have that label. */
export function nameOf(job: { id: number; label: string | null }, labels: (string | null)[]): string {
  if (!job.label) return `job ${job.id}`;
  return labels.filter((label) => label === job.label).length > 1 ? `${job.label} (job ${job.id})` : job.label;
}

/** Returns the ratio of a figure that was not compared: B over A, without an interval. */
export const bare = ({ a, b }: Pick<Figure, 'a' | 'b'>) => (a > 0 && Number.isFinite(b / a) ? (b / a).toFixed(3) : '');
