// What a job left, by what it is of.

import type { JobDetail, JobDocument } from '../api/types';

type Kinds = Extract<JobDocument, { kind: string }>;

/** A job's document if it is of that kind; null for another one, and where there is none. */
export function documentOf<K extends Kinds['kind']>(detail: JobDetail | null | undefined, kind: K): Extract<Kinds, { kind: K }> | null {
  const document = detail?.document;
  const isIt = (it: JobDetail['document']): it is Extract<Kinds, { kind: K }> => it !== null && typeof it === 'object' && 'kind' in it && it.kind === kind;
  return document !== undefined && isIt(document) ? document : null;
}
