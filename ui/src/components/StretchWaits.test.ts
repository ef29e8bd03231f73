import { cleanup, render, screen } from '@testing-library/svelte';
import { afterEach, expect, it } from 'vitest';
import type { JobSamples, SampledSeries } from '../api/types';
import StretchWaits from './StretchWaits.svelte';

const series = (metric: string, labels: Record<string, string>, value: number[]): SampledSeries =>
  ({ metric, labels, value, title: '', unit: 'average', merge: 'mean', spread: null });
const whole: JobSamples = {
  step: 1, first: [0, 1, 2, 3], left_out: 0,
  series: [
    series('db.sessions.active', { who: 'run', class: 'row_lock', wait: 'Lock:tuple' }, [0, 0, 3, 5]),
    series('db.statements.active', { statement: 'payment.warehouse' }, [1, 1, 2, 2]),
    series('db.sessions.blocked', { blocker: '42 ann, psql', object: 'warehouse' }, [0, 0, 2, 4]),
  ],
};
const samples = { whole, part: whole };

afterEach(cleanup);

it('shows waits, statements and blockers of the part beside the rest', () => {
  render(StretchWaits, { samples, shown: [1.6, 3.4], window: [0, 4] });
  expect(screen.getByRole('heading').textContent).toContain('from 0:02 to 0:04');
  expect(screen.getByText('Row locks').closest('tr')?.textContent).toMatch(/4\.00\s*0\.00/);
  expect(screen.getByText('Lock:tuple').closest('tr')?.textContent).toMatch(/4\.00\s*0\.00/);
  expect(screen.getByText('payment.warehouse').closest('tr')?.textContent).toMatch(/2\.00\s*1\.00/);
  expect(screen.getByText('42 ann, psql, at warehouse').closest('tr')?.textContent).toMatch(/3\.00\s*0\.00/);
});

it('says how to select a part while all of the run is shown', () => {
  render(StretchWaits, { samples, shown: [0, 3], window: [0, 4] });
  expect(screen.queryByRole('table')).toBeNull();
  expect(screen.getByText(/Drag over a chart/)).toBeTruthy();
});
