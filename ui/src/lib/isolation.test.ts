import { expect, test } from 'vitest';

import type { AnomalyExample, IsolationResult } from '../api/types';
import { drawing, examplesOf, stepsOf } from './isolation';

const transaction = (name: string, began_ms: number, at_ms: number) => ({
  name, user: 1, began_ms, ended_ms: at_ms + 1, fate: 'committed', statements: [{ at_ms, sql: `SELECT ${name}`, result: '1 row', key: 'counter 1' }],
});

const example: AnomalyExample = {
  transactions: [transaction('T1', 0, 3), transaction('T2', 1, 2)],
  edges: [{ from: 'T1', to: 'T2', kind: 'rw', why: '' }, { from: 'T2', to: 'T1', kind: 'ww', why: '' }],
};

test('the steps of all transactions stand in the order of their answers, each in its column', () => {
  expect(stepsOf(example).map(({ at, column }) => [at, column])).toEqual([[0, 0], [1, 1], [2, 1], [3, 0], [3, 1], [4, 0]]);
});

test('a cycle of two is drawn with two arrows that do not meet', () => {
  const { nodes, arrows } = drawing(example);
  expect(nodes.map(({ name }) => name)).toEqual(['T1', 'T2']);
  expect(arrows.map(({ label }) => label)).toEqual(['rw', 'ww']);
  expect(new Set(arrows.map(({ y }) => y)).size).toBe(2);
});

test('examples of broken promises come first', () => {
  const kind = (name: string, verdict: string) => ({ kind: name, verdict, example });
  const result = { levels: [{ level: 'serializable', kinds: [kind('G2', 'allowed'), kind('G1a', 'violated'), { kind: 'G0', verdict: 'kept', example: null }] }] };
  expect(examplesOf(result as unknown as IsolationResult).map(({ kind }) => kind.kind)).toEqual(['G1a', 'G2']);
});
