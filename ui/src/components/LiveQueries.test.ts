import { render, screen } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import LiveQueries from './LiveQueries.svelte';

it('shows how many queries have ended, and what each stream is at', () => {
  const running = [{ stream: 1, name: 'q7', lasts_ms: 61_000 }, { stream: null, name: 'rf1', lasts_ms: 900 }];
  render(LiveQueries, { progress: { phase: 'queries', done: 3, total: 22, unit: 'queries', elapsed_ms: 65_000, tables: [], running, geomean_ms: null } });
  expect(screen.getByText('3 of 22 queries')).toBeTruthy();
  expect(screen.getByText('Q7').closest('tr')?.textContent).toBe('1Q71:01');
  expect(screen.getByText('RF1').closest('tr')?.textContent).toBe('refreshRF10:00');
});

it('shows streams beside transactions without an end, and their mean time so far', () => {
  const running = [{ stream: 1, name: 'q7', lasts_ms: 2_000 }, { stream: 2, name: 'q13', lasts_ms: 400 }];
  const progress = { activity: 1, phase: 'queries', done: 1, total: 0, unit: 'queries', elapsed_ms: 65_000, tables: [], running, geomean_ms: null as number | null };
  const { container, rerender } = render(LiveQueries, { progress });
  const text = () => container.textContent?.replace(/\s+/g, ' ');
  expect(text()).toContain('Queries alongside the transactions 1 query ended in 1:05');
  expect(text()).not.toContain('geometric mean');
  expect(container.querySelector('progress')).toBeNull();
  expect(screen.getByText('Q13').closest('tr')?.textContent).toBe('2Q130:00');
  return rerender({ progress: { ...progress, done: 44, geomean_ms: 250 } }).then(() => {
    expect(text()).toContain('44 queries ended in 1:05 · 250 ms geometric mean of the median times');
  });
});
