import { expect, test } from 'vitest';
import { start, toggle } from './theme';

test('a page in dark colours is printed in light ones', () => {
  const shown = () => document.documentElement.dataset.theme;
  start();
  if (shown() !== 'dark') toggle();
  expect(shown()).toBe('dark');
  dispatchEvent(new Event('beforeprint'));
  expect(shown()).toBe('light');
  dispatchEvent(new Event('afterprint'));
  expect(shown()).toBe('dark');
});
