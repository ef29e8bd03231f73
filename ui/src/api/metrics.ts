// Made from the figures that the program declares; do not edit.
// `make generate` rewrites it.

/** A figure that the page draws over time. */
export interface Metric {
  /** What its line is called. */
  title: string;
  /** Of all threads, or of each transaction type and all of them. */
  of: 'threads' | 'types';
  unit: 'count' | 'per_second' | 'per_minute' | 'share' | 'cores' | 'us' | 'ns' | 's';
  /** Whether it counts what happened in a second. */
  counts: boolean;
  /** The chart; each of `own` has one for itself. */
  chart: 'trouble' | 'sessions' | 'cpu' | 'lag' | 'own';
  /** Its name in live events, and in a job's series. */
  live: string;
  points: string;
  /** Which value of a spread stands for several seconds. */
  spread: 'min' | 'mean' | 'max';
}

export const METRICS: Metric[] = [
  { title: 'failed', of: 'types', unit: 'count', counts: true, chart: 'trouble', live: 'failed', points: 'failed', spread: 'mean' },
  { title: 'retries', of: 'types', unit: 'count', counts: true, chart: 'trouble', live: 'retries', points: 'retries', spread: 'mean' },
  { title: 'sessions', of: 'threads', unit: 'count', counts: false, chart: 'sessions', live: 'connected', points: 'connected', spread: 'mean' },
  { title: 'sessions lost', of: 'threads', unit: 'count', counts: true, chart: 'trouble', live: 'lost', points: 'lost', spread: 'mean' },
  { title: 'logins', of: 'threads', unit: 'count', counts: true, chart: 'own', live: 'logins', points: 'logins', spread: 'mean' },
  { title: 'failed logins', of: 'threads', unit: 'count', counts: true, chart: 'own', live: 'logins_failed', points: 'logins_failed', spread: 'mean' },
  { title: 'login, median', of: 'threads', unit: 'us', counts: false, chart: 'own', live: 'login_p50_us', points: 'login_p50_us', spread: 'max' },
  { title: 'login, p99', of: 'threads', unit: 'us', counts: false, chart: 'own', live: 'login_p99_us', points: 'login_p99_us', spread: 'max' },
  { title: 'client thread', of: 'threads', unit: 'share', counts: false, chart: 'cpu', live: 'busiest_thread', points: 'busiest_thread', spread: 'max' },
  { title: 'lag', of: 'threads', unit: 'us', counts: false, chart: 'lag', live: 'lag_p99_us', points: 'lag_p99_us', spread: 'max' },
  { title: 'host', of: 'threads', unit: 'share', counts: false, chart: 'cpu', live: 'host_busy', points: 'host_busy', spread: 'max' },
];

/** The observed figures that are drawn unless others are chosen. */
export const FIRST: { metric: string; title: string }[] = [
  { metric: 'node.transactions', title: 'Transactions by node' },
  { metric: 'node.response_p95', title: 'Response time by node, p95' },
  { metric: 'node.replication_lag', title: 'Replication lag by node' },
  { metric: 'system.cpu.utilization', title: 'CPU' },
  { metric: 'system.disk.io', title: 'Disk' },
  { metric: 'mysql.buffer_pool.operations', title: 'Page reads' },
  { metric: 'mysql.log.written', title: 'Redo written' },
  { metric: 'postgresql.blks_read', title: 'Blocks read' },
  { metric: 'postgresql.wal.generated', title: 'WAL generated' },
  { metric: 'sqlite.busy.waits', title: 'Waits for the file' },
  { metric: 'sqlite.checkpoint.pages', title: 'Checkpoint pages' },
  { metric: 'sqlserver.batch.request.rate', title: 'Batch requests' },
  { metric: 'sqlserver.page.operation.rate', title: 'Page reads' },
  { metric: 'sqlserver.transaction_log.flush.data.rate', title: 'Log written' },
];

/** Observed figures that add up over a label; its value `rest` is what is left of the whole, and not drawn. */
export const STACKS: Record<string, { label: string; rest: string }> = {
  'system.cpu.utilization': { label: 'cpu.mode', rest: 'idle' },
  'system.memory.usage': { label: 'system.memory.state', rest: 'free' },
};

/** The label of a host that is not the client's. */
export const HOST = 'host.name';
/** The label of one of several CPUs. */
export const CPU_NUMBER = 'cpu.logical_number';
