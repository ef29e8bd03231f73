import { render, screen } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import type { HostShare } from '../api/types';
import Hosts from './Hosts.svelte';

const host = (name: string, given: Partial<HostShare>): HostShare => ({
  name, cpus: 4, sessions: 50, completed: 1_000, clock_offset_ms: 0.4, clock_error_ms: 0.6, start_late_ms: 0.2,
  client_cpus: 1.25, lag_p99_us: 800, round_trip_us: 120, bottleneck: null, loss: null, ...given,
});

it('shows what each host did, and that one was lost', () => {
  const loss = { at_s: 12, reason: 'its process ended', in_doubt: 7 };
  render(Hosts, { hosts: [host('a', {}), host('b', { client_cpus: null, start_late_ms: null, loss })] });
  expect(screen.getByText('a').closest('tr')?.textContent).toMatch(/50.*1,000.*1\.25 of 4.*0\.4 ms ± 0\.6 ms.*0\.2 ms/);
  expect(screen.getByText('b').closest('tr')?.textContent).toMatch(/lost at 0:12: its process ended; 7 in doubt.*– of 4/);
});
