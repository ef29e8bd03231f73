// What a query or a phase used of the host, in words.

import type { Usage, UsageOf } from '../api/types';
import { bytes } from './observed';

/** Whose CPU time it is. */
export const usageOf = (of: UsageOf): string =>
  of === 'server'
    ? 'CPU time is that of the server’s processes on this host, without triphammer’s.'
    : 'CPU time is that of client and database together, which are one process.';

/** `CPU 3.2 s, triphammer 1.1 s, read 12 MiB`; empty if it is unknown. */
export function usageWords(usage: Usage | undefined): string {
  if (!usage) return '';
  const { cpu_s, client_cpu_s, read_bytes, written_bytes } = usage;
  return [
    `CPU ${cpu_s.toFixed(2)} s`,
    client_cpu_s == null ? '' : `triphammer ${client_cpu_s.toFixed(2)} s`,
    !read_bytes ? '' : `read ${bytes(read_bytes)}`,
    !written_bytes ? '' : `written ${bytes(written_bytes)}`,
  ].filter(Boolean).join(', ');
}
