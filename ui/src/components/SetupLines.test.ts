import { cleanup, render, screen } from '@testing-library/svelte';
import { afterEach, expect, it } from 'vitest';
import SetupLines, { summed, toLookAt } from './SetupLines.svelte';

const lines = [
  { group: 'host' as const, name: 'governor', value: 'performance', verdict: 'fine' as const, why: 'Clock.', change: 'cpupower' },
  { group: 'database' as const, name: 'shared_buffers', value: '128 MB', verdict: 'look' as const, why: 'Pages.', change: '' },
  { group: 'database' as const, name: 'fsync', value: 'off', verdict: 'wrong' as const, why: 'Commits do not wait.', change: 'ALTER SYSTEM SET fsync = on;' },
];

afterEach(cleanup);

it('shows what is wrong first, with why it matters and what changes it, and folds away what is fine', () => {
  render(SetupLines, { lines });
  const rows = screen.getAllByRole('row').map((row) => row.textContent ?? '').filter((text) => !text.includes('Verdict'));
  expect(rows.map((row) => row.match(/fsync|shared_buffers|governor/)?.[0])).toEqual(['fsync', 'shared_buffers', 'governor']);
  expect(rows[0]).toMatch(/wrong.*off.*Commits do not wait\..*ALTER SYSTEM SET fsync = on;/s);
  expect(screen.getByText('1 check is fine').closest('details')?.open).toBe(false);
  expect(summed(lines)).toBe('1 wrong, 1 to look at, 1 fine');
  expect(toLookAt([...lines, lines[1]!])).toBe('1 thing wrong, 2 things to look at');
  expect(toLookAt(lines.filter(({ verdict }) => verdict === 'fine'))).toBe('');
});

it('shows the facts of a stored run, which have no commands', () => {
  render(SetupLines, { lines: lines.map(({ why: _, change: __, ...fact }) => fact) });
  expect(screen.queryByText(/Why it matters/)).toBeNull();
  expect(screen.getByText('128 MB')).toBeTruthy();
});

it('says which goal a line is for, and what it was measured to be worth, with the source', () => {
  const cost = { figure: '8.89 instead of 8.21 s', source: 'Intel', url: 'https://example.org/turbo' };
  const host = [
    { ...lines[0]!, name: 'turbo', verdict: 'look' as const, goals: ['comparable' as const], cost },
    { ...lines[0]!, name: 'swappiness', verdict: 'look' as const, goals: ['speed' as const, 'comparable' as const], cost: null },
  ];
  render(SetupLines, { lines: host });
  const rows = screen.getAllByRole('row').map((row) => row.textContent ?? '');
  expect(rows[1]).toMatch(/turbo.*comparable runs.*Worth: 8\.89 instead of 8\.21 s \(Intel\)\..*cpupower/s);
  expect(rows[2]).toMatch(/swappiness.*both.*Worth: not measured\./s);
  expect(screen.getByText('Intel').getAttribute('href')).toBe('https://example.org/turbo');
  cleanup();
  render(SetupLines, { lines });
  expect(screen.queryByText('For')).toBeNull();
});
