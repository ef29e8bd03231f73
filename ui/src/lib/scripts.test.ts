import { expect, test } from 'vitest';
import { added, parseScripts, scriptsText } from './scripts';

test('scripts survive the way to a setting and back', () => {
  const scripts = [{ name: 'order.sql', weight: 3, text: "SELECT '[,]';\n" }, { name: 'select-only', weight: 1 }];
  expect(parseScripts(scriptsText(scripts))).toEqual(scripts);
  expect(scriptsText([])).toBe('');
});

test('names of built-in scripts are read, and broken text is no script', () => {
  expect(parseScripts('select-only@2, tpcb-like')).toEqual([{ name: 'select-only', weight: 2 }, { name: 'tpcb-like', weight: 1 }]);
  expect(parseScripts('[{')).toEqual([]);
  expect(parseScripts('')).toEqual([]);
});

test('a new script has a name of its own', () => {
  const one = added([]);
  expect(one).toEqual([{ name: 'script-1.sql', weight: 1, text: '' }]);
  expect(added([{ name: 'script-2.sql', weight: 1, text: '' }])[1]!.name).toBe('script-3.sql');
  expect(added(one, 'tpcb-like')[1]).toEqual({ name: 'tpcb-like', weight: 1 });
});
