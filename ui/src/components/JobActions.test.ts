import { cleanup, fireEvent, render, screen } from '@testing-library/svelte';
import { afterEach, expect, it } from 'vitest';
import type { JobDetail } from '../api/types';
import JobActions from './JobActions.svelte';

afterEach(cleanup);

const command_line = 'triphammer run mysql://db/test --workload sysbench --script oltp_read_only';
const detail = (only_command_line: boolean) => ({
  job: { id: 7, kind: 'run', target: 'mysql://db/test', workload: 'sysbench' }, given: null, formats: ['json'], command_line, only_command_line,
  document: { kind: 'run', settings: [], workload: { scripts: [] } },
}) as unknown as JobDetail;

it('shows the command of a job that only the command line can run again', async () => {
  render(JobActions, { detail: detail(true) });
  expect(screen.queryByRole('link', { name: 'Run again' })).toBeNull();
  expect(screen.queryByText(command_line)).toBeNull();
  await fireEvent.click(screen.getByRole('button', { name: 'Run again' }));
  expect(screen.getByText(command_line)).toBeTruthy();
  expect(screen.getByRole('button', { name: 'Copy the command' })).toBeTruthy();
});

it('leads to the form for all others', () => {
  render(JobActions, { detail: detail(false) });
  expect(screen.getByRole('link', { name: 'Run again' }).getAttribute('href')).toContain('#/new?command=run');
});
