import { cleanup, render, screen } from '@testing-library/svelte';
import { afterEach, expect, it } from 'vitest';
import type { JobDetail } from '../../api/types';
import Drill from './Drill.svelte';

afterEach(cleanup);

function detail(error: string | null): JobDetail {
  const commits = { acknowledged: 5000, lost: error ? null : 42, lost_between_s: [3, 5], duplicated: 0, reordered: 0, failed: 9, undead: 0, altered: 0, indeterminate: 4, indeterminate_committed: 1, indeterminate_absent: 3 };
  const document = {
    kind: 'drill', status: 'complete', ending: { good: false, flaw: error ? 'not_verified' : 'commits_lost', words: '', detail: null }, commits, findings: ['of 5,000 acknowledged commits: 42 lost', 'the lost commits began in seconds 3 to 5'],
    lost: [{ user: 2, first: 100, last: 141, from_s: 3, to_s: 5 }],
    faults: [{ fault: 'at=3s cut=1s', at_s: 3, began_s: 3.01, ended_s: 4.02, succeeded: true, detail: 'all connections were closed at its end' }],
    service: { without_service_s: 0.312, outages: [{ from_s: 3.011, until_s: 3.323 }], sessions_away: 0 }, run: null, users: 4, load_s: 10,
    verification: { target: 'postgres://u@h/d', server: null, waited_s: 0, rows: 4959, error }, server: { product: 'PostgreSQL', version: '15.9' },
  };
  return { job: { kind: 'drill' }, document } as unknown as JobDetail;
}

it('shows what became of the commits and the faults', () => {
  render(Drill, { detail: detail(null) });
  expect(screen.getByText('Of 5,000 acknowledged commits: 42 lost')).toBeTruthy();
  expect(screen.getByText('Lost').closest('tr')?.querySelector('.bad')?.textContent).toBe('42');
  expect(screen.getByText('Duplicated').closest('tr')?.querySelector('.good')?.textContent).toBe('0');
  expect(screen.getByText('at=3s cut=1s').closest('tr')?.textContent).toMatch(/yes.*3\.010 s.*4\.020 s.*closed/s);
});

it('shows an outage shorter than a second with its length', () => {
  render(Drill, { detail: detail(null) });
  expect(screen.getByText('312 ms').closest('tr')?.textContent).toMatch(/3\.011 s.*3\.323 s/);
});

it('says that counts are unknown if the table was not read back', () => {
  render(Drill, { detail: detail('no answer') });
  expect(screen.getByText('Lost').closest('tr')?.textContent).toContain('unknown');
});
