import { render, screen } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import LiveQueries from './LiveQueries.svelte';

it('shows how many queries have ended, and what each stream is at', () => {
  const running = [{ stream: 1, name: 'q7', lasts_ms: 61_000 }, { stream: null, name: 'rf1', lasts_ms: 900 }];
  render(LiveQueries, { progress: { activity: 1, phase: 'queries', done: 3, total: 22, unit: 'queries', elapsed_ms: 65_000, tables: [], running } });
  expect(screen.getByText('3 of 22 queries')).toBeTruthy();
  expect(screen.getByText('Q7').closest('tr')?.textContent).toBe('1Q71:01');
  expect(screen.getByText('RF1').closest('tr')?.textContent).toBe('refreshRF10:00');
});
