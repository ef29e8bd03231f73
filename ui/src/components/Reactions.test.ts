import { render, screen } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import type { Logins as LoginsOfRun, Times } from '../api/types';
import Logins from './Logins.svelte';
import Reactions from './Reactions.svelte';

it('shows the reaction to each step, and a dash for what did not happen', () => {
  const step = { what: 'rate' as const, per_second: 398, response_us: 12_000, lasted_s: 60, from: 100, to: 400, half_s: 0, most_s: 10, full_s: 10, response_s: null, late: 2000, late_s: 15_100, overshoot: 1.01 };
  const mix = { ...step, what: 'mix' as const, from: 'read=1', to: 'read=1,update=1' };
  const nodes = { ...step, what: 'nodes' as const, from: 3, to: 2 };
  render(Reactions, { elasticity: { steps: [{ at_s: 30, ...step }, { at_s: 90, ...mix }, { at_s: 150, ...nodes }] } });
  expect(screen.getByText('2:30').closest('tr')?.textContent).toContain('3 → 2 nodes');
  expect(screen.getByText('1:30').closest('tr')?.textContent).toContain('read=1 → read=1,update=1');
  expect(screen.getByText('0:30').closest('tr')?.textContent).toMatch(/100 → 400\/s.*0 s.*10 s.*10 s.*–.*2,000.*101/);
});

it('shows logins by phase, and when lost sessions were back', () => {
  const times = (us: number): Times => ({ count: 3, min_us: us, mean_us: us, stdev_us: us, p50_us: us, p90_us: us, p95_us: us, p99_us: us, p99_9_us: us, p99_99_us: us, max_us: us });
  const none = { count: 0, failed: 0, per_second: 0, whole: times(0), connect: null, tls: null, authentication: null, setup: null, back: null };
  const some = { ...none, count: 3, failed: 2, per_second: 1.5, whole: times(2000), connect: times(50), authentication: times(1900) };
  const back = { sessions: 8, half_s: 1.2, most_s: 3, all_s: 4.5 };
  const logins: LoginsOfRun = { start: none, window: some, run: { ...some, back } };
  render(Logins, { logins, isLimited: false });
  expect(screen.getByText(/3 in the timed window, 1.5 per second; 2 failed/)).toBeTruthy();
  expect(screen.getByText('Authentication')).toBeTruthy();
  expect(screen.queryByText('TLS')).toBeNull();
  expect(screen.getByText(/Of 8 sessions half were back after 1.200 s/)).toBeTruthy();
});
