import { expect, it } from 'vitest';
import { usageWords } from './usage';

it('says what is known', () => {
  expect(usageWords({ cpu_s: 1.234, client_cpu_s: 0.5, read_bytes: 0, written_bytes: 2 ** 20 })).toBe('CPU 1.23 s, triphammer 0.50 s, written 1 MiB');
  expect(usageWords({ cpu_s: 2, client_cpu_s: null, read_bytes: null, written_bytes: null })).toBe('CPU 2.00 s');
  expect(usageWords(undefined)).toBe('');
});
