import { render, screen } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import type { QueryStreams as Streams, StreamedQuery } from '../api/types';
import QueryStreams from './QueryStreams.svelte';

const query = (name: string, given: Partial<StreamedQuery>): StreamedQuery => ({
  name, title: `question of ${name}`, in_window: 0, median_s: null, mean_s: null, min_s: null, max_s: null, rows: 0,
  answered: 0, timed_out: 0, failed: 0, cancelled: 0, ...given,
});
const streams: Streams = {
  streams: 2, query_timeout_s: null, steps: [], steps_omitted: 0, sessions: { lost: 0, reconnected: 0 }, away: 0, cpu_s: 0,
  figures: [
    { name: 'queries_per_hour', title: 'Queries per hour', meaning: 'answered', value: 360, better: 'higher', reason: null },
    { name: 'query_geomean_ms', title: 'Query time', meaning: 'mean', value: null, better: 'lower', reason: 'not answered in the timed window: Q9' },
  ],
  queries: [query('q1', { in_window: 6, median_s: 1.5, max_s: 2 }), query('q9', { timed_out: 2 })],
  baseline: { seconds: 60, primary_metric: 4000, queries_per_hour: 480, query_geomean_ms: null, unanswered: 0, primary_metric_ratio: 0.8, queries_ratio: 0.75 },
};

it('shows the figures, each query with its median, and what remains of both', () => {
  render(QueryStreams, { streams, metric: 'NOPM' });
  expect(screen.getByText('not answered in the timed window: Q9')).toBeTruthy();
  expect(screen.getByText('question of q1').closest('tr')?.textContent).toMatch(/Q1.*6.*1\.500/);
  expect(screen.getByText('question of q9').closest('tr')?.textContent).toContain('0, 2 not');
  expect(screen.getByText('NOPM alone').closest('.tile')?.textContent).toContain('80.0\u00a0% remains');
  expect(screen.getByText('Queries per hour alone').closest('.tile')?.textContent).toContain('75.0\u00a0% remains');
});
