import { cleanup, fireEvent, render, screen } from '@testing-library/svelte';
import { afterEach, expect, it, vi } from 'vitest';
import type { CauseFigures, WhyResult } from '../api/types';
import Why from './Why.svelte';

const figures: CauseFigures = {
  sessions: 11.2, sessions_rest: 3, share: 0.62, ms_per_transaction: 13.1, ms_per_transaction_rest: 5,
  change_ms: 8.1, change_ms_interval: { low: 7.2, high: 9 }, excess_sessions: 7, excess_sessions_interval: { low: 6, high: 8 },
};
const part = (committed_per_second: number) => ({ from_s: 10, to_s: 20, seconds: 10, committed_per_second, sessions: 12, idle_in_transaction: 0 });
const found = {
  basis: 'given', words: 'Row locks on `warehouse`: 8.1 ms per transaction more (7.2 to 9)', stretch: part(800), rest: part(1400),
  waits: { causes: [{ class: 'row_lock', figures, events: [{ wait: 'Lock:tuple', figures }], advice: 'use more warehouses' }], statements: [], resamples: 2000 },
  locks: [{ is_foreign: true, blocker: '42 ann, psql', statement: 'LOCK', object: 'warehouse', blocked: 3.5, blocked_rest: 0 }],
  evidence: [{ name: 'checkpoints', title: 'checkpoints', unit: 'per_minute', here: 20, rest: 1 }],
  notes: [], next: ['use more warehouses'], warnings: [],
} as unknown as WhyResult;

const answer = (status: number, body: unknown) =>
  vi.spyOn(globalThis, 'fetch').mockImplementation(() => Promise.resolve(new Response(JSON.stringify(body), { status })));

afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

it('asks about the part that the charts show, and shows cause, blocker, evidence and what to try', async () => {
  const asked = answer(200, found);
  render(Why, { job: 7, shown: [9.4, 19.2], window: [5, 65] });
  await fireEvent.click(screen.getByRole('button'));
  expect(await screen.findByText(/Row locks on `warehouse`/)).toBeTruthy();
  expect(asked.mock.calls[0]?.[0]).toBe('/api/v1/jobs/7/why?from=10&to=20');
  expect(screen.getByText('Lock:tuple').closest('tr')?.textContent).toMatch(/11\.2\s*3\s*\+8\.1 \(7\.2 to 9\)/);
  expect(screen.getByText(/Blocked by session 42 ann, psql of another program/).textContent).toContain('3.5 sessions (0 in the rest)');
  expect(screen.getByText('Checkpoints: 20 per minute (1 per minute in the rest)')).toBeTruthy();
  expect(screen.getByText('→ Use more warehouses')).toBeTruthy();
});

it('asks about the slowest part while all of the run is shown, and shows why there is no answer', async () => {
  const asked = answer(422, { code: 'invalid', message: 'job 7 was not observed' });
  render(Why, { job: 7, shown: [0, 70], window: [5, 65] });
  await fireEvent.click(screen.getByRole('button'));
  expect(await screen.findByText(/was not observed/)).toBeTruthy();
  expect(asked.mock.calls[0]?.[0]).toBe('/api/v1/jobs/7/why');
});
