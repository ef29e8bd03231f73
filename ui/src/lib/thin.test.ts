import { describe, expect, it } from 'vitest';
import type { LiveSecond } from '../api/types';
import { add, replaced } from './thin';

const second = (first: number, last = first, round_trip_us: number | null = null) => ({ first, last, round_trip_us }) as LiveSecond;

it('a second that comes twice counts once', () => {
  const one = add([], second(3));
  expect(add(one, second(3))).toBe(one);
  expect(add(one, second(2))).toBe(one);
});

describe('what the server has merged', () => {
  const seconds = [second(0, 0, 30), second(1, 1, 90), second(2), second(3)];

  it('stands instead of what it covers, unchanged', () => {
    const merged = [second(0, 1, 30), second(2)];
    expect(replaced(seconds, merged)).toEqual([...merged, second(3)]);
  });

  it('takes nothing away when there is none', () => {
    expect(replaced(seconds, [])).toBe(seconds);
  });
});
