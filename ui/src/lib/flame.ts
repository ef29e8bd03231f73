// Where the frames of a flame graph are: the tree of calls, in pre-order, as rectangles.

import type { StackFrame } from '../api/types';

export interface FlameRect {
  frame: StackFrame;
  /** Place of the frame in the list. */
  index: number;
  /** Place of its caller, or -1. */
  caller: number;
  /** Left edge and width as shares of what is shown. */
  left: number;
  width: number;
  /** 0 for the row on top. */
  row: number;
}

/** Rectangles narrower than this share are not drawn. */
const NARROW = 0.001;

/** The frames that are shown when one is chosen (-1: all): its callers over the whole width, itself, and what it calls. */
export function flame(frames: StackFrame[], samples: number, chosen = -1): FlameRect[] {
  const starts: number[] = [];
  const callers: number[] = [];
  // The frames that call at the moment, with where the next callee of each starts.
  const open: { index: number; next: number }[] = [{ index: -1, next: 0 }];
  frames.forEach((frame, index) => {
    open.length = frame.depth + 1;
    const caller = open[frame.depth]!;
    starts[index] = caller.next;
    callers[index] = caller.index;
    open.push({ index, next: caller.next });
    caller.next += frame.samples;
  });
  const from = chosen < 0 ? 0 : starts[chosen]!;
  const whole = chosen < 0 ? samples : frames[chosen]!.samples;
  const shown: FlameRect[] = [];
  frames.forEach((frame, index) => {
    const start = Math.max(starts[index]!, from);
    const end = Math.min(starts[index]! + frame.samples, from + whole);
    const width = (end - start) / whole;
    if (whole > 0 && width >= NARROW) {
      shown.push({ frame, index, caller: callers[index]!, left: (start - from) / whole, width, row: frame.depth });
    }
  });
  return shown;
}
