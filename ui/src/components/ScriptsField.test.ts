import { cleanup, fireEvent, render, screen } from '@testing-library/svelte';
import { afterEach, expect, it } from 'vitest';
import ScriptsField from './ScriptsField.svelte';

afterEach(cleanup);

it('adds scripts, and says in its own words that there is none', async () => {
  render(ScriptsField, { value: '', error: 'No script is given: name a file, as in --script a.sql@3' });
  expect(screen.getByRole('alert').textContent).toBe('Add at least one script.');
  await fireEvent.click(screen.getByRole('button', { name: 'Add a script' }));
  await fireEvent.click(screen.getByRole('button', { name: 'Add select-only' }));
  expect(screen.getByLabelText('SQL of script-1.sql')).toBeTruthy();
  expect(screen.queryByRole('button', { name: 'Add select-only' })).toBeNull();
  await fireEvent.click(screen.getByRole('button', { name: 'Remove script-1.sql' }));
  expect(screen.queryByLabelText('SQL of script-1.sql')).toBeNull();
});

it('shows the scripts of a job that is started again, with the error beside them', () => {
  const value = JSON.stringify([{ name: 'order.sql', weight: 3, text: 'SELECT 1' }]);
  render(ScriptsField, { value, error: 'order.sql:1:9: the command has no end' });
  expect((screen.getByLabelText('SQL of order.sql') as HTMLTextAreaElement).value).toBe('SELECT 1');
  expect((screen.getByLabelText(/Weight/) as HTMLInputElement).value).toBe('3');
  expect(screen.getByRole('alert').textContent).toContain('order.sql:1:9');
});
