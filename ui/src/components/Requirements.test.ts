import { cleanup, render, screen } from '@testing-library/svelte';
import { afterEach, expect, it } from 'vitest';
import type { Judgement } from '../api/types';
import Requirements from './Requirements.svelte';

afterEach(cleanup);

const judged = (requirement: string, value: number | null, passed: boolean): Judgement => ({
  requirement, metric: '', operator: '<', limit: 50_000, unit: 'us', value, difference: value === null ? null : value - 50_000, passed,
});
const row = (requirement: string) => screen.getByText(requirement).closest('tr')!.textContent;

it('says of a run in progress what its window so far says, and what is known only at the end', () => {
  render(Requirements, { requirements: [judged('all.p95 < 50ms', 61_500, false), judged('all.p50 < 50ms', 9_000, true), judged('round_trips < 3', null, false)], soFar: true });
  expect(screen.getByRole('heading').textContent).toContain('by the timed window so far');
  expect(row('all.p95 < 50ms')).toMatch(/not met.*61\.5 ms.*11\.5 ms above/);
  expect(row('all.p50 < 50ms')).toMatch(/✓ met.*9\.00 ms|✓ met.*9 ms/);
  expect(row('round_trips < 3')).toMatch(/judged at the end/);
});

it('says of a result that what was not measured is not met', () => {
  render(Requirements, { requirements: [judged('all.p95 < 50ms', null, false)] });
  expect(row('all.p95 < 50ms')).toMatch(/not met.*none.*not measured in this run/);
});
