import { cleanup, render, screen } from '@testing-library/svelte';
import { afterEach, expect, it } from 'vitest';
import ProfileTable from './ProfileTable.svelte';
import TopStatements from './TopStatements.svelte';

afterEach(cleanup);

it('shows means per second and per transaction, without what was always 0', () => {
  const of = (title: string, mean: number, per_transaction: number | null) => ({ metric: 'm', labels: {}, title, unit: 'bytes_per_second', mean, max: mean * 2, last: mean, per_transaction, part: null, log: null });
  render(ProfileTable, { title: 'Load profile', figures: [of('WAL generated', 2048, 512), of('Temporary data', 0, 0)], open: true });
  expect(screen.getByText('WAL generated').closest('tr')?.textContent).toMatch(/2 KiB\/s.*512 B.*4 KiB\/s/s);
  expect(screen.queryByText('Temporary data')).toBeNull();
});

it('shows top statements with their share of the time', () => {
  const of = (text: string, total_s: number) => ({ text, total_s, calls: 1000, mean_ms: 1.25, rows: 1000, blocks_read: 5, blocks_hit: 9 });
  render(TopStatements, { statements: [of('SELECT 1', 3), of('UPDATE t', 1)] });
  expect(screen.getByText('SELECT 1').closest('tr')?.textContent).toMatch(/3 s.*75\.0 %.*1,000.*1\.25 ms/s);
});
