// Result documents of jobs, by kind.

import type { JobDetail, JobDocument } from '../api/types';

type Kinds = Extract<JobDocument, { kind: string }>;

/** Returns a job's document if it is of that kind; null for other kinds, and if there is none. */
export function documentOf<K extends Kinds['kind']>(detail: JobDetail | null | undefined, kind: K): Extract<Kinds, { kind: K }> | null {
  const document = detail?.document;
  const isIt = (it: JobDetail['document']): it is Extract<Kinds, { kind: K }> => it !== null && typeof it === 'object' && 'kind' in it && it.kind === kind;
  return document !== undefined && isIt(document) ? document : null;
}
