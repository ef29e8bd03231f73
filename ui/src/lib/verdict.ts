// The verdict on a job in colour, and what a run's page says of it. The verdict itself is a field of every document.

import type { Ending, RunResult } from '../api/types';
import { count, counted, duration, figure, percent, sizeOf } from './format';
import { arrivals } from './load';
import { figure as shown } from './queries';
import { isTimed } from './shown';

export type Tone = 'good' | 'warn' | 'bad' | 'plain';

/** The colour of a job's verdict; plain while it runs. */
export function toneOf(job: { status: string; ending?: Ending | null }): Tone {
  if (job.status === 'running') return 'plain';
  if (job.status === 'interrupted') return 'warn';
  if (!job.ending && job.status === 'complete') return 'plain';
  if (job.ending?.good) return job.ending.flaw ? 'warn' : 'good';
  return 'bad';
}

/** Returns the requirements that the run did not meet. */
export const missed = (result: RunResult) => (result.requirements ?? []).filter((judged) => !judged.passed);

/** Returns the audits that contradict the run. */
export const violated = (result: RunResult) => result.audits.filter((audit) => audit.verdict === 'violated');

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

/** Whether the load was changed by request; nodes that are lost and return change no load. */
const changesLoad = ({ elasticity, nodes }: RunResult) => elasticity != null && ((nodes ?? []).length === 0 || elasticity.steps.some(({ what }) => what !== 'nodes'));

/** Whether steadiness was not judged because the load itself changes. */
export const changes = (result: RunResult) => result.steadiness == null && (/^(ramp|steps):|at=/.test(result.spec.load) || (result.spec.pacing?.changes ?? []).length > 0 || changesLoad(result));

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
  const steady = { steady: ', and was steady', within_window: ', and was steady within this window', drifting: ', but drifted', too_short: '' }[result.steadiness?.verdict ?? 'too_short'];
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
