import { expect, test } from 'vitest';
import type { CapacityResult, Probe } from '../api/types';
import { beliefCurve, byRate, microseconds, standing } from './capacity';

const probe = (rate: number, reason: Probe['reason']) => ({ rate, reason }) as Probe;
const search = (judgement: CapacityResult['judgement']) => ({ judgement, status: 'interrupted', probes: [probe(400, null), probe(800, 'too_slow')] }) as CapacityResult;

test('a search that goes on says how far it is, and never that it was interrupted', () => {
  expect(standing(search(null), true)).toBe('The search is still running after 2 probes: the limit is kept at 400, exceeded at 800 transactions per second.');
  const mixed = { ...search(null), probes: [probe(410, null), probe(400, 'too_slow')] } as CapacityResult;
  expect(standing(mixed, true)).toContain(': probes at 400 to 410 transactions per second had both results.');
  expect(standing(search(null), false)).toContain('ended before the capacity was found');
});

test('what was found is said with its interval', () => {
  const found = { result: 'found', rate: 612, interval: { low: 590, high: 640 }, precise: true } as const;
  expect(standing(search(found), false)).toBe('The capacity is 612 transactions per second (95 % interval 590 to 640).');
  expect(standing(search({ result: 'never_ok', lowest: 10 }), false)).toContain('The limit does not hold even at 10 ');
});

test('small rates keep three digits', () => {
  const found = { result: 'found', rate: 1.004, interval: { low: 1.012, high: 12.54 }, precise: true } as const;
  expect(standing(search(found), false)).toBe('The capacity is 1 transaction per second (95 % interval 1.01 to 12.5).');
  const probes = [probe(1.25, null), probe(2.5, 'too_slow')];
  expect(standing({ ...search(null), probes }, true)).toContain('the limit is kept at 1.25, exceeded at 2.5 transactions per second.');
});

test('limits are read in their unit, and probes stand by their rate', () => {
  expect([microseconds('50ms'), microseconds('1.5s'), microseconds('200us'), microseconds('x')]).toEqual([50_000, 1_500_000, 200, null]);
  expect(byRate([probe(800, null), probe(400, null)]).map((p) => p.rate)).toEqual([400, 800]);
});

test('the curve is the server\'s, from what is certain to what is impossible', () => {
  const belief = [{ rate: 400, probability: 0.99 }, { rate: 465, probability: 0.5 }, { rate: 520, probability: 0.01 }];
  expect(beliefCurve(belief, 800)).toEqual([[0, 400, 465, 520, 800], [1, 0.99, 0.5, 0.01, 0]]);
  expect(beliefCurve(belief, 100)![0].at(-1)).toBeGreaterThan(520);
  expect(beliefCurve([], 800)).toBeNull();
});
