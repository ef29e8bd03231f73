// The server of a result, in words.

import type { ServerInfo } from '../api/types';

/** Describes a server and how it was reached, as text reports do: `PostgreSQL 17.2 · tcp, io_uring · no TLS · on another host`. */
export const serverInWords = (server: ServerInfo): string =>
  [`${server.product} ${server.version}`.trim(), server.transport, encryption(server), place(server)].filter(Boolean).join(' · ');

function encryption({ cipher, transport }: ServerInfo): string {
  // A socket of the host and a database in the process need no TLS.
  return cipher ?? (transport?.startsWith('tcp') ? 'no TLS' : '');
}

function place({ same_host, transport }: ServerInfo): string {
  if (same_host === false) return 'on another host';
  return same_host && transport !== 'in process' ? "on the client's host: they share its CPUs" : '';
}
