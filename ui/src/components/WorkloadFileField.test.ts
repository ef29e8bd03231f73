import { cleanup, fireEvent, render, screen } from '@testing-library/svelte';
import { afterEach, expect, it } from 'vitest';
import WorkloadFileField from './WorkloadFileField.svelte';

afterEach(cleanup);

it('says in its own words that there is no file', async () => {
  render(WorkloadFileField, { value: '', error: 'No workload file is given: name one, as in --workload-file bank.toml' });
  expect(screen.getByRole('alert').textContent).toBe('Enter or open a workload file.');
  await fireEvent.input(screen.getByLabelText('Text of the workload file'), { target: { value: 'name = "a"' } });
  expect(screen.getByRole('alert').textContent).toContain('No workload file is given');
});

it('shows the file of a job that is started again, with the lines of its errors', async () => {
  const value = JSON.stringify({ name: 'bank.toml', text: 'nam = 1', files: { 'a.csv': 'x' } });
  render(WorkloadFileField, { value, error: 'bank.toml:1:1: the workload file has no key `nam`\nbank.toml:1:1: no transactions' });
  expect((screen.getByLabelText('Text of the workload file') as HTMLTextAreaElement).value).toBe('nam = 1');
  expect(screen.getByRole('alert').textContent).toContain('bank.toml:1:1');
  await fireEvent.click(screen.getByRole('button', { name: 'Remove a.csv' }));
  expect(screen.queryByText('a.csv')).toBeNull();
});
