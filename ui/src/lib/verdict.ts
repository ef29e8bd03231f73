// The verdict on a run: whether it can be used, and if not, why.

import type { DrillResult, RunResult } from '../api/types';
import { count, counted, duration, figure, percent, sizeOf } from './format';
import { arrivals } from './load';
import { figure as shown } from './queries';
import { isTimed } from './shown';

export type Tone = 'good' | 'warn' | 'bad' | 'plain';

/** How a run ended, in up to three words, and the colour for it. */
export interface Ending {
  tone: Tone;
  words: string;
}

/** Returns the requirements that the run did not meet. */
export const missed = (result: RunResult) => (result.requirements ?? []).filter((judged) => !judged.passed);

/** Returns how a run ended: complete only if nothing is wrong with it, by the same rule as the program's exit code. */
export function ending(result: RunResult): Ending {
  if (result.status !== 'complete') return { tone: result.status === 'interrupted' ? 'warn' : 'bad', words: result.status };
  const wrong = fault(result);
  if (wrong) return { tone: 'bad', words: `complete, ${wrong}` };
  // The requirements may allow it, but it is the first thing to know about the run.
  if ((result.availability?.outages ?? []).length > 0) return { tone: 'warn', words: 'complete, with an outage' };
  return { tone: 'good', words: 'complete' };
}

/** Names what is wrong with a complete run; null if it is good. */
function fault(result: RunResult): string | null {
  // Missing in results of earlier versions.
  if ((result.hosts ?? []).some((host) => host.loss)) return 'a host was lost';
  if (missed(result).length > 0) return 'requirements failed';
  if (lacksAnswers(result)) return 'queries without an answer';
  if ((result.queries?.answers.differing ?? 0) > 0) return 'answers differ';
  if (result.failures.above_limit) return 'too many failures';
  if (!result.queries && result.window.total.completed === 0) return 'nothing completed';
  if (result.primary_metric.verification.verdict === 'violated') return 'count violated';
  return violated(result).length > 0 ? 'audit violated' : null;
}

/** Returns the audits that contradict the run. */
export const violated = (result: RunResult) => result.audits.filter((audit) => audit.verdict === 'violated');

/** Describes how the run ended if it is not complete, as text reports do; null if it is. */
export function ended(result: RunResult): string | null {
  const after = duration(result.durations.whole_s);
  switch (result.status) {
    case 'complete':
      return null;
    case 'interrupted':
      return `interrupted after ${after}: these are partial figures`;
    case 'aborted': {
      const reason = result.notes.find((note) => note.kind === 'abort_on_failures');
      const givenUp = counted(result.run.total.in_flight ?? 0, 'transactions');
      return reason ? `aborted after ${after}: ${reason.text}` : `aborted after ${after}, ${givenUp} in flight abandoned: use the figures with care`;
    }
    case 'failed':
      return `failed after ${after}: ${cause(result)}`;
  }
}

/** Says why a run failed. */
function cause({ violated_identities: identities, availability, spec }: RunResult): string {
  const identity = identities?.[0];
  if (identity) {
    const of = identity.transaction ? `, ${identity.transaction}` : '';
    return `its counts contradict each other: ${identity.identity}${of}: ${count(identity.left)} and ${count(identity.right)}`;
  }
  const { sessions } = spec.pacing;
  const all = typeof sessions === 'object' ? sessions.pool : spec.users;
  const away = availability?.sessions_away ?? 0;
  const parts = [
    ...(away > 0 ? [`${count(away)} of ${counted(all, 'sessions')} were lost and had not reconnected at the end`] : []),
    ...(availability?.answered_at_end === false ? ['the database answered before the run but not after it'] : []),
  ];
  return parts.join('; ') || 'every virtual user had to end early';
}

/** Returns how a drill ended: complete only if every fault took place and nothing is wrong with the commits. */
export function drilled({ status, commits, faults }: DrillResult): Ending {
  if (status !== 'complete') return { tone: status === 'interrupted' ? 'warn' : 'bad', words: status };
  if (commits.lost === null) return { tone: 'bad', words: 'complete, table not read' };
  if (commits.lost > 0) return { tone: 'bad', words: 'complete, commits lost' };
  if (commits.duplicated + commits.reordered + commits.altered + commits.undead > 0) return { tone: 'bad', words: 'complete, commits wrong' };
  if (faults.some((fault) => !fault.succeeded)) return { tone: 'bad', words: 'complete, a fault did not take place' };
  return { tone: 'good', words: 'complete' };
}

/** Whether a query timed out or failed, in a set of queries or beside the transactions, or a stream had no connection. */
function lacksAnswers({ queries, query_streams: streams }: RunResult): boolean {
  // A refresh function that the database does not support is no fault of the run.
  if (queries?.steps.some((step) => !['answered', 'unsupported'].includes(step.outcome))) return true;
  if (!streams) return false;
  return streams.away > 0 || (streams.baseline?.unanswered ?? 0) > 0 || streams.queries.some((query) => query.timed_out + query.failed > 0);
}

/** Formats the error of most failed transactions. */
export function commonest(result: RunResult): string | null {
  const failing = result.errors.filter((error) => !['serialization', 'deadlock'].includes(error.class));
  const most = (failing.length > 0 ? failing : result.errors).toSorted((a, b) => b.count - a.count)[0];
  return most?.message ?? null;
}

/**
 * Formats the line above the figures of a run that cannot be used: `NOPM 0, 100 % failed: relation "stock" does
 * not exist`.
 */
export function failing(result: RunResult): string | null {
  const { share, above_limit } = result.failures;
  const error = commonest(result);
  if (!above_limit || share === 0) return null;
  const { name, value } = result.primary_metric;
  return `${name} ${figure(value)}, ${percent(share, share === 1 ? 0 : 1)} failed${error ? `: ${cut(error)}` : ''}`;
}

/** Longest error in a heading, in characters: all of it is in the table of errors. */
const LONGEST = 200;
const cut = (text: string) => (text.length > LONGEST ? `${text.slice(0, LONGEST).trimEnd()} …` : text);

/** Whether steadiness was not judged because the load itself changes. */
export const changes = (result: RunResult) => result.steadiness == null && /^(ramp|steps):/.test(result.spec.load);

/** Describes a run in one sentence. */
export function sentence(result: RunResult): string {
  const { workload, server, primary_metric, durations } = result;
  const load = loadInWords(result);
  const server_ = [server.product, server.version.split(/[ (]/)[0]].filter(Boolean).join(' ');
  const size = sizeOf(workload.scale, workload.scale_unit);
  const scale = size ? ` with ${size}` : '';
  const subject = `${workload.title}${scale} on ${server_}`;
  if (result.queries) {
    const { name, unavailable, value } = primary_metric;
    const title = result.queries.figures.find((one) => one.name === name)?.title ?? name;
    const outcome = unavailable ? `${title} is not available: ${unavailable}` : `${title} ${shown(name, value)}`;
    return `${subject}, ${counted(result.queries.streams, 'streams')}: ${outcome}.`;
  }
  if (!isTimed(result)) return `${subject}: ${load}${beside(result)}. There was no timed window, so ${primary_metric.name} is unknown.`;
  const steady = { steady: ', and was steady', drifting: ', but drifted', too_short: '' }[result.steadiness?.verdict ?? 'too_short'];
  return `${subject}: ${load} reached ${figure(primary_metric.value)} ${primary_metric.name} over ${duration(durations.window_s)}${beside(result)}${steady}.`;
}

/** Describes the streams of queries beside the transactions: `, alongside 2 streams with 5,520 queries per hour`. */
function beside({ query_streams: streams }: RunResult): string {
  if (!streams || streams.streams === 0) return '';
  const hourly = streams.figures.find((one) => one.name === 'queries_per_hour')?.value;
  return `, alongside ${counted(streams.streams, 'streams')}${hourly == null ? ' of queries' : ` with ${count(hourly)} queries per hour`}`;
}

/** Describes the load: `16 virtual users`, `arrivals at 500 per second over 64 sessions`. */
export function loadInWords(result: RunResult): string {
  const { users, load } = result.spec;
  const many = (n: number, one: string) => `${count(n)} ${one}${n === 1 ? '' : 's'}`;
  if (load === 'closed') return many(users, 'virtual user');
  if (load.startsWith('keyed')) return many(users, 'terminal');
  return `${arrivals(load)} over ${many(users, 'session')}`;
}
