import { expect, it } from 'vitest';
import { curveAt, estimate, usl } from './profile';

const of = (value: number) => ({ value, interval: null });
const fit = { lambda: of(100), sigma: of(0.02), kappa: of(0.0005) };

it('the law is linear at one user, and falls beyond its peak', () => {
  expect(usl(1, fit)).toBe(100);
  const peak = Math.sqrt((1 - 0.02) / 0.0005);
  expect(usl(peak, fit)).toBeGreaterThan(usl(peak / 2, fit));
  expect(usl(peak, fit)).toBeGreaterThan(usl(peak * 2, fit));
});

it('the curve is drawn from one user to the highest level', () => {
  expect(curveAt([0, 1, 8, 8.5], 8, fit)).toEqual([null, 100, usl(8, fit), null]);
});

it('an estimate shows how sure it is', () => {
  expect(estimate({ value: 2, interval: { low: 1, high: 3 } }, String)).toBe('2 (1 to 3)');
  expect(estimate(of(2), String)).toBe('2');
});
