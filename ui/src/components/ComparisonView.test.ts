import { render, screen } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import type { ComparisonResult } from '../api/types';
import ComparisonView from './ComparisonView.svelte';

const side = (name: string, job: number) => ({ name, server: { product: 'PostgreSQL', version: '17' }, runs: [{ job, value: 1 }] });
const comparison = {
  headline: { name: 'NOPM', meaning: '', per: '' }, margin: 0.02, words: 'B is slower by 12 %.', verdict: { kind: 'slower' }, more_minutes: null,
  a: side('job 1', 1), b: side('job 2', 2), warnings: [], profiles: null, pairs: null,
  figures: [
    { name: 'nopm', title: 'NOPM', unit: 'number', a: 10000, b: 8800, reason: null, comparison: { ratio: 0.88, interval: { low: 0.86, high: 0.9 }, margin: 0.02, better: 'higher', basis: { kind: 'series', a: 5, b: 5 }, verdict: { kind: 'slower' } } },
    { name: 'p99', title: 'p99', unit: 'us', a: 1000, b: 0, reason: 'B has none', comparison: null },
  ],
  differences: [{ subject: 'server_setting', name: 'synchronous_commit', a: 'off', b: 'on', must_be_equal: false }],
} as unknown as ComparisonResult;

it('shows the verdict, each ratio with its interval, what cannot be said, and what differed', () => {
  render(ComparisonView, { comparison });
  expect(screen.getByText('slower').className).toContain('bad');
  expect(screen.getByText('0.880 (0.860 to 0.900)')).toBeTruthy();
  expect(screen.getByText('less')).toBeTruthy();
  expect(screen.getByText('B has none')).toBeTruthy();
  expect(screen.getByText('synchronous_commit').closest('tr')?.textContent).toMatch(/server setting.*off.*on/);
});
