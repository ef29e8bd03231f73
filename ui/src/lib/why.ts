// The figures of an explanation, as the page shows them.

import type { CauseFigures, Interval, WaitChanges, WhyEvidence } from '../api/types';
import { count, percent } from './format';
import { CLASSES } from './waits';

/** A row of the table of causes. */
export interface CauseRow {
  name: string;
  /** Whether it is an event of the class above it. */
  isEvent: boolean;
  figures: CauseFigures;
}

/** The causes with their events, and the statements. */
export function tablesOf(waits: WaitChanges): { title: string; rows: CauseRow[] }[] {
  const title = (name: string) => CLASSES.find((of) => of.name === name)?.title ?? name;
  const causes = waits.causes.flatMap((cause) => [
    { name: title(cause.class), isEvent: false, figures: cause.figures },
    ...cause.events.filter(({ wait }) => wait).map(({ wait, figures }) => ({ name: wait, isEvent: true, figures })),
  ]);
  const statements = waits.statements.map(({ statement, figures }) => ({ name: statement, isEvent: false, figures }));
  return [{ title: 'Active sessions', rows: causes }, { title: 'Statement', rows: statements }].filter(({ rows }) => rows.length > 0);
}

/** A number of sessions or milliseconds, to three digits. */
export const short = (value: number): string => (Math.abs(value) >= 100 ? count(value) : Number(value.toPrecision(3)).toString());

/** `+8.1 (7.2 to 9)` ms per transaction; in sessions where nothing was committed. */
export function changeOf(of: CauseFigures): string {
  const isMs = of.change_ms !== null && of.change_ms_interval !== null;
  const value = isMs ? of.change_ms! : of.excess_sessions;
  const { low, high }: Interval = isMs ? of.change_ms_interval! : of.excess_sessions_interval;
  const sign = of.sessions_rest !== null && value > 0 ? '+' : '';
  return `${sign}${short(value)}${isMs ? '' : ' sessions'} (${short(low)} to ${short(high)})`;
}

/** A figure of the server or of a host: `checkpoints: 20 per minute (1 in the rest)`. */
export function evidenceOf({ title, unit, here, rest }: WhyEvidence): string {
  const value = (of: number) => {
    if (unit === 'share') return percent(of, 1);
    if (unit === 'per_minute') return `${short(of)} per minute`;
    return unit === 'bytes_per_second' ? `${short(of / 1e6)} MB/s` : short(of);
  };
  return `${title}: ${value(here)}${rest === null ? '' : ` (${value(rest)} in the rest)`}`;
}
