import { expect, test } from 'vitest';
import { applies, loadText, parseLoad } from './load';

test('fields and the text of the setting say the same', () => {
  for (const text of ['rate:500/s', 'rate:500/s,constant', 'ramp:100..2000/10m', 'keyed', '']) expect(loadText(parseLoad(text))).toBe(text);
  expect(parseLoad('closed').kind).toBe('closed');
  expect(parseLoad('rate:500/s')).toMatchObject({ kind: 'rate', rate: '500', constant: false });
  expect(parseLoad('ramp:100..2000/10m')).toMatchObject({ from: '100', to: '2000', over: '10m' });
});

test('only what a load model has is asked for', () => {
  expect(applies('backlog', 'rate')).toBe(true);
  expect(applies('backlog', 'closed')).toBe(false);
  expect(applies('terminals', 'keyed')).toBe(true);
  expect(applies('vus', 'rate')).toBe(true);
});
