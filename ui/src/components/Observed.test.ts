import { render, screen } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import type { Observed as Seen } from '../api/types';
import Observed from './Observed.svelte';

const observed: Seen = {
  interval_s: 0.1, profile: [], memory_hits: null, log_writes: [], hosts: [], cores: [], statements: [], log_probe: null, cpu_profile: null, captures: [],
  sessions: {
    samples: 100, missed: 0, average: 5, idle_in_transaction: 1.5, other: 0, background: 0.25, statements: [],
    classes: [{ class: 'row_lock', wait: '', average: 4, share: 0.8 }, { class: 'cpu', wait: '', average: 1, share: 0.2 }],
    waits: [{ class: 'row_lock', wait: 'Lock:tuple', average: 3, share: 0.6 }],
  },
  blockers: [{ session: '42', description: 'ann, psql, idle in transaction', statement: 'LOCK', object: 'warehouse', blocked: 3.5, blocked_max: 4 }],
  cost: { cpu_s: 0.1, cpu_share: 0.01, queries: 100, query_s: 0.1, lost: 0, values_lost: 0 },
  gaps: [{ name: 'pg_monitor', hides: 'sessions of other users', change: 'GRANT pg_monitor TO plain;', part: null }],
};

it('shows the waits with their shares, the blocker, and how to see what is hidden', () => {
  render(Observed, { observed });
  expect(screen.getByText('Row locks').closest('tr')?.textContent).toMatch(/Lock:tuple.*4\.00.*80 %/s);
  expect(screen.getByText(/42 ann, psql/).closest('tr')?.textContent).toMatch(/warehouse.*LOCK.*3\.50.*4/s);
  expect(screen.getByText('GRANT pg_monitor TO plain;')).toBeTruthy();
});
