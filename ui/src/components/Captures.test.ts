import { fireEvent, render, screen } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import type { CapturedSession, Observed } from '../api/types';
import { captureMarks } from '../lib/timeline';
import Captures from './Captures.svelte';

const session: CapturedSession = {
  session: '41', who: 'ours', user: 'bench', client: 'triphammer', state: 'active', class: 'row_lock', wait: 'Lock:tuple',
  transaction_s: 1.5, statement_s: 1.25, statement: 'UPDATE warehouse', blocked_by: '42', object: 'warehouse',
};
const holder: CapturedSession = { ...session, session: '42', who: 'other', user: 'ann', client: 'psql', class: 'cpu', wait: '', blocked_by: null, object: '' };

const observed = {
  captures: [{
    condition: 'new_order.p95 > 100ms', value: 150000, unit: 'us', at_s: 70, statements: [], statements_from_s: null, engine_status: 'INNODB MONITOR OUTPUT',
    snapshots: [{ second: 65, sessions: [], more: 0 }, { second: 70, sessions: [holder, session], more: 3 }],
  }],
  log_probe: {
    interval_s: 0.1, failed: 2, missed: 0, histogram: [{ up_to_us: 1024, commits: 30 }, { up_to_us: 2048, commits: 10 }],
    times: { count: 40, min_us: 500, mean_us: 800, stdev_us: 300, p50_us: 700, p90_us: 1500, p95_us: 1600, p99_us: 1900, p99_9_us: 1900, p99_99_us: 1900, max_us: 2000 },
  },
} as unknown as Observed;

it('shows the moment of a capture with its lock tree, and other seconds when asked', async () => {
  render(Captures, { observed });
  expect(screen.getByText('41').closest('tr')?.textContent).toMatch(/this run.*Lock:tuple.*42, at warehouse.*1\.50 s.*UPDATE warehouse/s);
  expect(screen.getByText('42').closest('tr')?.textContent).toMatch(/ann, psql.*CPU/s);
  expect(screen.getByText('And 3 more.')).toBeTruthy();
  expect(screen.getByText('INNODB MONITOR OUTPUT')).toBeTruthy();
  await fireEvent.click(screen.getByRole('button', { name: '1:05' }));
  expect(screen.getByText('No session was active.')).toBeTruthy();
});

it('shows the histogram of the log probe as that of its own transaction', () => {
  const { container } = render(Captures, { observed });
  expect(container.querySelector('[aria-label="Log probe"]')?.textContent).toMatch(/triphammer’s own.*40 commits.*2 failed.*75\.0 %.*25\.0 %/s);
});

it('marks each capture on the time axis', () => {
  expect(captureMarks(observed).map(({ from, label }) => [from, label])).toEqual([[70, 'capture']]);
  expect(captureMarks(null)).toEqual([]);
});
