import { expect, test } from 'vitest';
import { applies, arrivals, loadText, parseLoad } from './load';

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

test('arrivals read as words', () => {
  expect(arrivals('rate:50/s,constant')).toBe('evenly spaced arrivals at 50 per second');
  expect(arrivals('ramp:200..10/1m')).toBe('arrivals falling from 200 to 10 per second within 1m');
  expect(arrivals('steps:load.csv')).toBe('arrivals by steps:load.csv');
});
