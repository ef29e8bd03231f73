// A test of isolation: what its tables and the drawing of a cycle show.

import type { AnomalyExample, IsolationResult, KindResult, LevelResult } from '../api/types';

/** The kinds of a level that are promised not to happen or were found. */
export const shownKinds = (level: LevelResult): KindResult[] => level.kinds.filter((kind) => kind.promised || kind.count > 0);

/** How a verdict looks. */
export const toneOfKind = (kind: KindResult): string => ({ kept: 'good', violated: 'bad', undecided: 'unsure', allowed: '', not_seen: '' })[kind.verdict];

/** What shows that a kind would have been found. */
export const controlOf = (kind: KindResult): string => (kind.verdict !== 'kept' ? '' : kind.control === 'load' ? 'found at a weaker level' : 'found where it was planted');

/** The kinds with an example, those of broken promises first, each with its level. */
export function examplesOf(result: IsolationResult): { level: string; kind: KindResult; example: AnomalyExample }[] {
  const all = result.levels.flatMap((level) => level.kinds.flatMap((kind) => (kind.example ? [{ level: level.level, kind, example: kind.example }] : [])));
  return [...all.filter(({ kind }) => kind.verdict === 'violated'), ...all.filter(({ kind }) => kind.verdict !== 'violated')];
}

/** A statement, or the beginning or end of a transaction, in the column of its transaction. */
export interface Step {
  at: number;
  column: number;
  sql: string;
  result: string;
}

/** The steps of all transactions of an example, in the order of their answers. */
export function stepsOf(example: AnomalyExample): Step[] {
  const steps = example.transactions.flatMap((one, column): Step[] => [
    { at: one.began_ms, column, sql: '', result: `begins, user ${one.user}` },
    ...one.statements.map(({ at_ms, sql, result }) => ({ at: at_ms, column, sql, result })),
    { at: one.ended_ms, column, sql: '', result: one.fate },
  ]);
  return steps.sort((a, b) => a.at - b.at);
}

/** An arrow of a drawing, between two points, with the place of its label. */
export interface Arrow {
  path: string;
  label: string;
  x: number;
  y: number;
}

const WIDTH = 260;
const HEIGHT = 150;
/** Radius of a node, and the room that an arrow leaves to it. */
const NODE = 16;
const GAP = NODE + 4;

/** The drawing of how transactions depend on each other: nodes on an ellipse, bent arrows between them. */
export function drawing(example: AnomalyExample): { width: number; height: number; nodes: { name: string; x: number; y: number }[]; arrows: Arrow[] } {
  const nodes = example.transactions.map(({ name }, i, all) => {
    const angle = Math.PI + (2 * Math.PI * i) / all.length;
    return { name, x: WIDTH / 2 + (WIDTH / 2 - 50) * Math.cos(angle), y: HEIGHT / 2 + (HEIGHT / 2 - 30) * Math.sin(angle) };
  });
  const arrows = example.edges.flatMap(({ from, to, kind }): Arrow[] => {
    const [a, b] = [nodes.find((node) => node.name === from), nodes.find((node) => node.name === to)];
    if (!a || !b || a === b) return [];
    const length = Math.hypot(b.x - a.x, b.y - a.y);
    const [ux, uy] = [(b.x - a.x) / length, (b.y - a.y) / length];
    // To the right of its direction, so that the two arrows between two nodes do not meet.
    const [mx, my] = [(a.x + b.x) / 2 - uy * 30, (a.y + b.y) / 2 + ux * 30];
    const start = `${(a.x + ux * GAP).toFixed(1)} ${(a.y + uy * GAP).toFixed(1)}`;
    const end = `${(b.x - ux * GAP).toFixed(1)} ${(b.y - uy * GAP).toFixed(1)}`;
    return [{ path: `M ${start} Q ${mx.toFixed(1)} ${my.toFixed(1)} ${end}`, label: kind, x: mx, y: my }];
  });
  return { width: WIDTH, height: HEIGHT, nodes, arrows };
}
