// A set of queries over time: one lane per stream.

import type { StepTime } from '../api/types';

/** A query of a lane: its name, and from when until when it ran, in seconds since the start of the run. */
export interface Block {
  name: string;
  from: number;
  to: number;
  answered: boolean;
}

export interface Lane {
  title: string;
  blocks: Block[];
}

/** Returns the queries that were started by stream, the refresh functions last. */
export function lanes(steps: StepTime[]): Lane[] {
  const found = new Map<number | null, Block[]>();
  for (const { stream, name, start_s: from, seconds, outcome } of steps) {
    if (from == null || seconds == null) continue;
    if (!found.has(stream)) found.set(stream, []);
    found.get(stream)!.push({ name: name.toUpperCase(), from, to: from + seconds, answered: outcome === 'answered' });
  }
  const streams = [...found.keys()].sort((a, b) => (a ?? Infinity) - (b ?? Infinity));
  return streams.map((stream) => ({ title: stream === null ? 'refreshes' : `stream ${stream}`, blocks: found.get(stream)! }));
}

/** Returns what is drawn of a time relative to the longest: the share of the width, at least one that is visible. */
export const share = (seconds: number | null, longest: number) => (seconds == null || longest <= 0 ? 0 : Math.max(seconds / longest, 0.003));
