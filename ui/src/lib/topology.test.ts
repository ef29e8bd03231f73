import { expect, it } from 'vitest';
import { topologyOf } from './topology';

it('has a line per memory node where there are several', () => {
  const node = (number: number) => ({ number, cpus: `${4 * number}-${4 * number + 3}`, memory_bytes: 2 ** 35, huge_pages_bytes: number * 2 ** 30, distances: [10, 21] });
  const caches = [{ level: 3, kind: 'unified', bytes: 2 ** 25, count: 2, shared_by: 4 }];
  const facts = topologyOf({ packages: 2, cores: 4, threads: 8, caches, nodes: [node(0), node(1)] });
  expect(facts[0]).toEqual(['Processors', '2 packages, 4 cores, 8 threads']);
  expect(facts[1]?.[1]).toMatch(/^L3 32(\.0)? MiB × 2$/);
  expect(facts[2]?.[1]).toMatch(/^CPUs 0-3, 32(\.0)? GiB, distances 10 21$/);
  expect(facts[3]?.[1]).toMatch(/huge pages 1(\.0)? GiB/);
  expect(topologyOf({ packages: 1, cores: 1, threads: 1, caches: [], nodes: [node(0)] }).length).toBe(2);
  expect(topologyOf(null)).toEqual([]);
});
