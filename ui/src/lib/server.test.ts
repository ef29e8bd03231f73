import { expect, test } from 'vitest';
import { serverInWords } from './server';

const server = { product: 'PostgreSQL', version: '17.2', transport: 'tcp, io_uring', cipher: null, same_host: null };

test('a server says how it was reached, and where it is', () => {
  expect(serverInWords(server)).toBe('PostgreSQL 17.2 · tcp, io_uring · no TLS');
  expect(serverInWords({ ...server, cipher: 'TLSv1.3 TLS_AES_256_GCM_SHA384', same_host: true })).toBe(
    "PostgreSQL 17.2 · tcp, io_uring · TLSv1.3 TLS_AES_256_GCM_SHA384 · on the client's host: they share its CPUs",
  );
  expect(serverInWords({ ...server, same_host: false })).toBe('PostgreSQL 17.2 · tcp, io_uring · no TLS · on another host');
  expect(serverInWords({ ...server, product: 'SQLite', version: '3.46', transport: 'in process', same_host: true })).toBe('SQLite 3.46 · in process');
});
