// How the CPUs and the memory of a host are arranged, as facts of a page.

import type { Topology } from '../api/types';
import { counted } from './format';
import { bytes } from './observed';

/** Names and values; empty where the host does not show it. */
export function topologyOf(topology: Topology | null | undefined): [string, string | null][] {
  if (!topology) return [];
  const { packages, cores, threads, caches, nodes } = topology;
  const parts = [counted(packages, 'packages'), counted(cores, 'cores'), counted(threads, 'threads')];
  const cache = caches.map((it) => `L${it.level}${it.kind === 'unified' ? '' : ` ${it.kind}`} ${bytes(it.bytes)} × ${it.count}`);
  const isPlain = nodes.length < 2 && nodes.every((node) => node.huge_pages_bytes === 0);
  return [
    ['Processors', parts.join(', ')],
    ['Caches', cache.join(', ') || null],
    ...(isPlain ? [] : nodes).map((node): [string, string] => [
      `Memory node ${node.number}`,
      [
        `CPUs ${node.cpus}`,
        node.memory_bytes == null ? '' : bytes(node.memory_bytes),
        node.huge_pages_bytes > 0 ? `huge pages ${bytes(node.huge_pages_bytes)}` : '',
        nodes.length > 1 && node.distances.length > 0 ? `distances ${node.distances.join(' ')}` : '',
      ].filter(Boolean).join(', '),
    ]),
  ];
}
