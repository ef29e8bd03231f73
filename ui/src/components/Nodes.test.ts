import { render, screen } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import type { NodeFigures } from '../api/types';
import Nodes from './Nodes.svelte';

const none = { count: 0, min_us: 0, mean_us: 0, stdev_us: 0, p50_us: 0, p90_us: 0, p95_us: 0, p99_us: 0, p99_9_us: 0, p99_99_us: 0, max_us: 0 };
const node = (name: string, given: Partial<NodeFigures>): NodeFigures => ({
  name, target: `postgres://bench@${name}/tpcc`, version: '17', role: 'primary', role_at_end: 'primary', completed: 0, per_minute: 0, share: 0,
  types: [], failed: 0, failed_by_class: [], indeterminate: 0, response: none, sessions: 4, sessions_lost: 0, connections: null,
  lag_mean_s: null, lag_max_s: null, server_per_minute: null, changes: [], ...given,
});

it('shows what each node did, and what happened in order', () => {
  const nodes = [
    node('db1', { per_minute: 1200, share: 0.25, sessions_lost: 4, changes: [{ at_s: 3.2, change: 'lost' }] }),
    node('db2', { role: 'replica', per_minute: 3600, share: 0.75, lag_max_s: 0.5, changes: [{ at_s: 4.1, change: 'promoted' }] }),
  ];
  const failovers = [{ from: 'db1', to: 'db2', last_s: 3.1, first_s: 4.2, gap_s: 1.1 }];
  render(Nodes, { result: { nodes, failovers } });
  const rows = screen.getAllByRole('row').map((row) => row.textContent.replace(/\s+/g, ' '));
  expect(rows).toHaveLength(3);
  expect(rows[1]).toContain('primary');
  expect(rows[2]).toContain('replica → primary');
  expect(screen.getAllByRole('listitem').map((item) => item.textContent.replace(/\s+/g, ' '))).toEqual([
    '0:03 db1 was lost', '0:04 db2 accepted writes', '0:04 writes moved from db1 to db2; none committed for 1.100 s',
  ]);
});
