import { expect, test } from 'vitest';
import { reach } from './errorBars';

test('an axis reaches above the highest bar', () => {
  expect(reach([{ low: 1, high: 100 }, null, { low: 2, high: 40 }])).toBeGreaterThan(100);
  expect(reach([null, undefined])).toBe(0);
});
