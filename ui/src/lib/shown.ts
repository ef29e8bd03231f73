// What of a run is shown: the figures of its timed window, or of the whole run if there was no window.

import type { Figures, RunResult, TypeFigures } from '../api/types';
import { duration, NONE, time } from './format';
import { figure } from './queries';

/** Whether the run had a timed window: one that ended in its ramp-up has none. */
export const isTimed = ({ durations }: RunResult): boolean => durations.window_s > 0;

/** The figures that are shown, and what they are of. */
export interface Shown {
  figures: Figures;
  heading: string;
}

/** Returns the figures of the timed window; those of the whole run if there was none. */
export function shown(result: RunResult): Shown {
  if (isTimed(result)) return { figures: result.window, heading: 'Transactions in the timed window' };
  return { figures: result.run, heading: `Transactions in the whole run of ${duration(result.run.seconds)}: there was no timed window` };
}

/** Returns the value of the primary metric; null if the run has none. */
export function primaryValue(result: RunResult): number | null {
  const { value, unavailable } = result.primary_metric;
  return unavailable || (!result.queries && !isTimed(result)) ? null : value;
}

/** Formats the value of the primary metric, without its name. */
export function primary(result: RunResult): string {
  const value = primaryValue(result);
  return value === null ? NONE : figure(result.primary_metric.name, value);
}

/** Formats a response time of a transaction type; that of no transaction is unknown, not 0. */
export const response = ({ response: times }: TypeFigures, name: 'min_us' | 'mean_us' | 'stdev_us' | 'p50_us' | 'p95_us' | 'p99_us' | 'max_us'): string =>
  times.count > 0 ? time(times[name]) : NONE;
