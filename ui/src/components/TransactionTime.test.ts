import { render, screen } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import type { TimeComparison, TransactionTime } from '../api/types';
import Time from './TransactionTime.svelte';

const row = (title: string) => screen.getByText(title).closest('tr')?.textContent ?? '';

it('shows the parts of a transaction’s time, and what would make unknown ones known', () => {
  const part = { depth: 0, unit: 'us', value: null, share: null, how: '' };
  const time: TransactionTime = {
    transactions: 1234,
    parts: [
      { ...part, name: 'response', title: 'response time', value: 8000, share: 1 },
      { ...part, name: 'network', title: 'network', depth: 1, value: 2000, share: 0.25, how: '7 round trips' },
      { ...part, name: 'planning', title: 'of it planning', depth: 3, how: 'needs track_planning = on' },
      { ...part, name: 'bytes_sent', title: 'bytes sent', unit: 'bytes', value: 2048 },
    ],
  };
  const { unmount } = render(Time, { time });
  expect(screen.getByText('mean of 1,234')).toBeTruthy();
  expect(row('network')).toMatch(/25.*%.*7 round trips/);
  expect(row('of it planning')).toMatch(/unknown.*track_planning/);
  expect(row('bytes sent')).toMatch(/2/);
  unmount();
});

it('shows both sides of a comparison with their ratio', () => {
  const compared: TimeComparison = { parts: [{ name: 'round_trips', title: 'round trips', depth: 0, unit: 'average', a: 27, b: 1, ratio: 1 / 27 }] };
  render(Time, { compared });
  expect(row('round trips')).toMatch(/27.*1.*0\.037/);
});
