import { describe, expect, it } from 'vitest';
import type { StackFrame } from '../api/types';
import { flame } from './flame';

const frame = (depth: number, name: string, samples: number): StackFrame => ({ depth, name, module: 'postgres', samples });
const frames = [frame(0, 'main', 8), frame(1, 'exec', 5), frame(2, 'sort', 3), frame(1, 'parse', 2), frame(0, 'clone', 2)];
const places = (chosen?: number) => flame(frames, 10, chosen).map(({ frame, left, width, row }) => [frame.name, left, width, row]);

describe('flame', () => {
  it('puts what a function calls under it, side by side', () => {
    expect(places()).toEqual([
      ['main', 0, 0.8, 0],
      ['exec', 0, 0.5, 1],
      ['sort', 0, 0.3, 2],
      ['parse', 0.5, 0.2, 1],
      ['clone', 0.8, 0.2, 0],
    ]);
    expect(flame(frames, 10).map(({ caller }) => caller)).toEqual([-1, 0, 1, 0, -1]);
  });

  it('gives a chosen function the whole width, under its callers', () => {
    expect(places(3)).toEqual([['main', 0, 1, 0], ['parse', 0, 1, 1]]);
    expect(places(1)).toEqual([['main', 0, 1, 0], ['exec', 0, 1, 1], ['sort', 0, 0.6, 2]]);
  });

  it('leaves out what is too narrow to see', () => {
    expect(flame([frame(0, 'main', 100_000), frame(1, 'rare', 5)], 100_000)).toHaveLength(1);
    expect(flame([], 0)).toEqual([]);
  });
});
