import { describe, expect, it } from 'vitest';
import type { Comparison, Figure } from '../api/types';
import { bare, compared, extent, nameOf, ratio, shown, verdict, withoutVerdict } from './comparison';

const made = (low: number, high: number, better: 'higher' | 'lower', kind: 'faster' | 'slower' | 'equivalent'): Comparison =>
  ({ ratio: (low + high) / 2, interval: { low, high }, margin: 0.02, better, basis: { kind: 'pairs', pairs: 5 }, verdict: { kind }, together: 1 });
const figure = (comparison: Comparison | null, unit: Figure['unit'] = 'us'): Figure => ({ name: 'p95', title: 'p95', unit, a: 1000, b: 1200, comparison, reason: null });

describe('a comparison', () => {
  it('has its ratio with the interval', () => {
    expect(ratio(made(1.01, 1.074, 'higher', 'faster'))).toBe('1.042 (1.010 to 1.074)');
    expect(ratio(made(0.5, 13690958.15, 'higher', 'faster'))).toBe('>1,000 (0.500 to >1,000)');
    expect(ratio(made(0.0001, 350, 'lower', 'slower'))).toBe('175 (<0.001 to 350)');
    expect(withoutVerdict({ words: 'B is slower: NOPM B/A is 0.37', verdict: { kind: 'slower' } })).toBe('NOPM B/A is 0.37');
  });

  it('says what a time that is longer is', () => {
    expect(verdict(made(1.1, 1.2, 'lower', 'slower'))).toBe('longer');
    expect(verdict(made(1.1, 1.2, 'higher', 'faster'))).toBe('more');
    expect(shown(figure(null), 1200)).toBe('1.20 ms');
  });

  it('fits every interval and shows the margin', () => {
    expect(extent([figure(made(0.7, 1.1, 'lower', 'faster')), figure(null)])).toBeCloseTo(Math.log(1 / 0.7) * 1.05);
    expect(extent([figure(made(0.999, 1.001, 'lower', 'equivalent'))])).toBeCloseTo(Math.log(1.04) * 1.05);
    expect(extent([figure(made(0, 5, 'lower', 'slower'))])).toBe(Math.LN10);
  });
});

it('reads in a list as a verdict and a ratio', () => {
  expect(compared({ primary_metric_name: 'slower: NOPM B/A', primary_metric_value: 0.2841 })).toBe('slower, 0.284 × NOPM');
});

it('names jobs with the same label apart', () => {
  const labels = ['base', 'base', 'new', null];
  expect(nameOf({ id: 3, label: 'base' }, labels)).toBe('base (job 3)');
  expect(nameOf({ id: 5, label: 'new' }, labels)).toBe('new');
  expect(nameOf({ id: 6, label: null }, labels)).toBe('job 6');
});

it('has the plain ratio of a figure that was not judged', () => {
  expect(bare({ a: 1000, b: 1200 })).toBe('1.200');
  expect(bare({ a: 0, b: 1200 })).toBe('');
});
