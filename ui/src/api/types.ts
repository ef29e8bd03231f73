// Made from docs/reference/openapi.json, which is made from the program; do not edit.
// `make generate` rewrites it.

/** Facts about the server and its host. */
export interface About {
  /** Whether the program is a debug build, which uses many times the CPU time of a release build. */
  debug_build: boolean;
  /** Directory of the default SQLite file and of all SQLite files that clients may use. */
  folder: string;
  host: Host;
  /** Identifier of the server process; changes with each start. */
  instance: string;
  /** Start time of the server, RFC 3339, UTC. */
  started_at: string;
  /** The job store's file. */
  store: string;
  /** Version of the program. */
  version: string;
}

/** Figures of energy from which the power of the idle host is subtracted. */
export interface AboveIdle {
  /** Seconds for which the idle host was read. */
  idle_s: number;
  /** Mean power of the idle host, in watts. */
  idle_watts: number;
  /** Energy above idle per transaction that is counted, in joules; `null` if none was. */
  joules_per_transaction: number | null;
  /** Mean power in the timed window above that, in watts; below 0 if the host used less. */
  watts: number;
}

/** Average numbers of active sessions: how many sessions did something, or waited for it, at a time. */
export interface ActiveSessions {
  /** Active sessions of this run. */
  average: number;
  /** Background processes at work. */
  background: number;
  /** `average` by class of wait, the largest first. */
  classes: WaitShare[];
  /** Sessions of this run that were idle in a transaction: they wait for the client. */
  idle_in_transaction: number;
  /** Number of samples that were due but not taken, because the server answered late. */
  missed: number;
  /** Active sessions of others. */
  other: number;
  /** Number of samples. */
  samples: number;
  /** `average` by statement, the largest first. */
  statements: StatementWaits[];
  /** `average` by class and name of the wait at the server, the largest first. */
  waits: WaitShare[];
}

/** A job that the server runs or has queued. */
export interface Activity {
  /** The command that it runs. */
  command: JobKind;
  /** Time of the request, RFC 3339, UTC. */
  created_at: string;
  /** End time, RFC 3339, UTC; `null` before. */
  ended_at: string | null;
  error: ApiError | null;
  /** Whether it was successful; false for a run with too many failures or a check that found violations. `null` until the end. */
  good: boolean | null;
  /** Activity number, from 1 after each start of the server. Not a job number. */
  id: number;
  /** Job number in the store, once it has one; drops have none. */
  job: number | null;
  /** Label given by the user; `null` without one. */
  label: string | null;
  /** URL of the target of B in a comparison, without secrets. */
  other_url: string | null;
  /** Outcome in one line. */
  outcome: string | null;
  /** Position in the queue, from 1; `null` when it is not waiting. */
  position: number | null;
  /** Name of the primary metric: `NOPM`; after a search, the name of its result. */
  primary_metric_name: string | null;
  /** Value of the primary metric, at the end. */
  primary_metric_value: number | null;
  /** Ramp-up of a run, in seconds. */
  rampup_s: number | null;
  /** Start time, RFC 3339, UTC; `null` before. */
  started_at: string | null;
  /** Current state of the activity. */
  state: ActivityState;
  /** Name of the saved target; `null` for the default SQLite file. */
  target: string | null;
  /** URL of the target, without secrets. */
  url: string;
  /** Number of virtual users of a run. */
  users: number | null;
  /** Timed window of a run, in seconds; `null` when its length is a number of transactions. */
  window_s: number | null;
  /** Name of the workload. */
  workload: string;
}

/** A report of an activity's job. */
export type ActivityCheck = LiveCheck & {
  /** Number of the activity. */
  activity: number;
};

/** An activity with its form, spec and result. */
export interface ActivityDetail {
  /** State of the activity. */
  activity: Activity;
  /** The result document; `null` while there is none. */
  document: JobDocument | null;
  /** The form as requested. */
  form: Form;
  spec: RunSpec | null;
}

/** Running, queued and recently ended activities. */
export interface ActivityList {
  /** Entries of the list, newest first. */
  activities: Activity[];
}

/** A report of an activity's job. */
export type ActivityNote = LiveNote & {
  /** Number of the activity. */
  activity: number;
};

/** A report of an activity's job. */
export type ActivityPhase = LivePhase & {
  /** Number of the activity. */
  activity: number;
};

/** A report of an activity's job. */
export type ActivityProgress = LiveProgress & {
  /** Number of the activity. */
  activity: number;
};

/** A report of an activity's job. */
export type ActivityRequirements = LiveRequirements & {
  /** Number of the activity. */
  activity: number;
};

/** State of an activity. */
export type ActivityState = "queued" | "running" | "stopping" | "aborting" | "complete" | "interrupted" | "aborted" | "failed" | "cancelled";

/** A report of an activity's job. */
export type ActivityStep = LiveStep & {
  /** Number of the activity. */
  activity: number;
};

/** A kind of statements that agree. */
export interface Agreement {
  /** Number of values that were compared. */
  values: number;
  /** What agrees, in words. */
  what: string;
}

/** A plan with measurements, from a separate execution. */
export interface AnalyzedPlan {
  /** The operations, each followed by its inputs. */
  operations: PlanOperation[];
  /** Time of that execution in seconds, slower than a timed one by the cost of measuring. */
  seconds: number;
}

/** A smallest anomaly, as SQL. */
export interface AnomalyExample {
  /** How they depend on each other. */
  edges: ExampleEdge[];
  /** The transactions; those of a cycle in its order. */
  transactions: ExampleTransaction[];
}

/** How much another run would differ. */
export interface AnotherRun {
  /** Number of their days, UTC. From one day, the interval is that of another run on that day. */
  days: number;
  /** 95 % prediction interval of the primary metric of another run; `null` if it is unknown, because there is only one run. */
  interval: Interval | null;
  /** Number of runs that it is based on, with this one. */
  runs: number;
  /** The interval in words. */
  words: string;
}

/** Whether queries with equal parameters had equal answers on equal data, by their fingerprints. */
export interface AnswerComparison {
  /** Number of answers that were compared with an earlier one. */
  compared: number;
  /** The first few of them, in words. */
  differences: string[];
  /** Number of answers that differ from the first one to the same query. */
  differing: number;
}

/** The answers of B beside those of A. */
export interface AnswersCompared {
  /** Statements of the recording whose answers are the same in all replays of A, and in all of B. */
  compared: number;
  /** Number of these whose answers differ between A and B. */
  differing: number;
  /** How well the data of A and of B fits the recording. */
  fit: ReplayFit[];
  /** Whether answers differ, and all of them may do so by chance, as those of sessions that work at the same time. */
  inconclusive: boolean;
  /** Number of those that were compared by less than their rows: by numbers of rows, or by whether they failed. */
  limited: number;
  /** Number of replays of A and of B. */
  replays: number[];
  /** Replays of each side with which chance could be excluded; `null` if that would not help: as many answers differ by another division of the replays. */
  replays_needed: number | null;
  /** The statements whose answers differ, those with the most first. */
  statements: DifferingStatement[];
  /** Whether equal answers show little, because the data of A does not fit the recording. */
  unfit: boolean;
  /** Statements that are not compared, because one side did not reach them. */
  unreached: number;
  /** Answers of the last replays whose rows could not be compared, because the driver does not read them as texts. */
  unread: number;
  /** Statements that are not compared, because their answers differ among the replays of one side. */
  unstable: number;
  /** The statements with the most such answers, those with the most first. */
  unstable_statements: UnstableStatement[];
}

/** An error response. */
export interface ApiError {
  /** Machine-readable kind: `invalid`, `not_found`, `conflict`, `unauthorized`, `database`, `store`. */
  code: string;
  /** The setting or field of the request that it refers to; `null` if none. */
  field?: string | null | undefined;
  /** Human-readable message without secrets; for an invalid value, the same as on the command line. */
  message: string;
  /** What to do next; `null` if there is no advice. */
  next?: string | null | undefined;
}

/** Arrivals of an open load, in the whole run. `offered = started + skipped + never_started`. */
export interface Arrivals {
  /** Number of arrivals dropped from the backlog, or still waiting when the load ended. */
  never_started: number;
  /** Number of arrivals due before the load ended. */
  offered: number;
  /** Number of arrivals skipped because they were too late (`--late`). */
  skipped: number;
  /** Number of arrivals started. */
  started: number;
}

/** Pairs whose runs took place at once. */
export interface AtOnce {
  /** The blocks, in order. If the pair ended when it was decided, the last few may have come after that, and are not used. */
  blocks: Block[];
  /** The first seconds of slices beside the rest of their slices; empty for a duet, and if there are too few slices. */
  carry_over: CarryOver[];
  /** Throughput of each side alone and together with the other; `null` if it was not measured. */
  contention: Contention | null;
  /** How they did. */
  kind: AtOnceKind;
  /** First seconds of each slice that are left out, because they differ from the rest. */
  left_out_s: number;
  /** Number of blocks after which it would have ended, if it ends when it is decided; `null` if it ended by the clock. */
  looks_most: number | null;
  /** Why the sides did not swap their CPUs; `null` if they did, and for slices. */
  not_swapped: string | null;
  /** Whether both sides drove the same database. */
  same_target: boolean;
  /** Length of a slice in seconds; `null` for a duet. */
  slice_s: number | null;
  /** What to know about how the pairs were made, in words. */
  words: string[];
}

/** How two runs took place at once. */
export type AtOnceKind = "interleaved" | "duet";

/** A sum over the data before and after the run, compared with the client's own sum. */
export interface Audit {
  /** The client's own sum over committed transactions; `null` if its counts are incomplete. */
  expected: number | null;
  /** Change of the database's sum; `null` if it could not be queried both before and after. */
  found: number | null;
  /** Maximum possible change, likewise. */
  high: number | null;
  /** Key of the audit: `abalance`. */
  id: string;
  /** Minimum possible change, given transactions in doubt or in flight; `null` if unknown. */
  low: number | null;
  /** The equation: `ΔΣ abalance = Σ delta`. */
  title: string;
  /** Whether client and database agree. */
  verdict: Verdict;
  /** The verdict in words. */
  words: string;
}

/** Availability of the database during the run. */
export interface Availability {
  /** Whether the database answered after the run and returned every number that it returned before. If false, the status is `failed`. `null` in results of versions that did not check. */
  answered_at_end: boolean | null;
  /** Outages: intervals of ramp-up and window in which no transaction completed although some should have. */
  outages: Outage[];
  /** Number of sessions that were lost and had not reconnected when the run ended. If not 0, the status is `failed`. */
  sessions_away: number;
  /** Seconds of the timed window without service. They are included in the window and its figures. */
  without_service_s: number;
}

/** A setting that varies. */
export interface Axis {
  /** Name of the setting: `vus`. */
  name: string;
  /** Its values as they are shown, in the given order; URLs without secrets and without what all have in common. */
  values: string[];
}

/** Work of a server in the background. */
export interface BackgroundWork {
  /** How much of it there was at the beginning of the wait. */
  first: number;
  /** Whether the wait ended because of the limit, and this was not done. */
  is_left: boolean;
  /** How much there was at its end. */
  last: number;
  /** Name of the work: `autovacuum`. */
  name: string;
}

/** What queries and transactions did alone before the timed window, each for the same time. The ratios are those of single measurements: they have no interval. */
export interface Baseline {
  /** Primary metric of the transactions alone; `null` if no second of it was measured. */
  primary_metric: number | null;
  /** Primary metric in the timed window relative to that alone. */
  primary_metric_ratio: number | null;
  /** Queries per hour alone. */
  queries_per_hour: number | null;
  /** Queries per hour in the timed window relative to those alone. */
  queries_ratio: number | null;
  /** Geometric mean of the queries' median times alone, in milliseconds; `null` if one was not answered. */
  query_geomean_ms: number | null;
  /** Time for which each ran alone, in seconds. */
  seconds: number;
  /** Number of queries that timed out or failed alone. */
  unanswered: number;
}

/** Data that an interval is based on. */
export type Basis = {
  kind: "pairs";
  /** Number of pairs compared. */
  pairs: number;
} | {
  /** Number of runs of A. */
  a: number;
  /** Number of runs of B. */
  b: number;
  kind: "runs";
} | {
  /** Number of points of A. */
  a: number;
  /** Number of points of B. */
  b: number;
  kind: "series";
} | {
  /** Number of blocks. */
  blocks: number;
  kind: "blocks";
};

/** Direction in which values improve. */
export type Better = "higher" | "lower";

/** A part of a pair of runs in which both sides worked for equally long. */
export interface Block {
  /** The primary metric of A in its seconds of the block. */
  a: number;
  /** The primary metric of B in its seconds of the block. */
  b: number;
  /** Number of the pair of runs, from 0. */
  pair: number;
  /** Ratio of B to A: in a duet the geometric mean of the ratios before and after the swap. */
  ratio: number;
  /** Length of the block in seconds, with seconds that are left out. */
  seconds: number;
  /** First second of the block. */
  start_s: number;
}

/** A session, or the sessions of this run, for which others waited. */
export interface Blocker {
  /** Average number of sessions of this run that waited for it. */
  blocked: number;
  /** Maximum number of sessions of this run that waited for it at once. */
  blocked_max: number;
  /** User, program and state of the session. */
  description: string;
  /** The table, and the row if known, that others waited for; empty if the server does not say. */
  object: string;
  /** Number of the session at the server; `null` for all sessions of this run together. */
  session: string | null;
  /** Its last statement. */
  statement: string;
}

/** A possible bottleneck of a run. */
export type Bottleneck = "load_limited" | "client_bound" | "host_bound" | "network_bound" | "database_bound" | "undecided";

/** The bottleneck of a run, the reason, and advice. */
export interface BottleneckVerdict {
  /** What to do next, as advice to the user; `null` when there is nothing to do. */
  advice: string;
  /** The specific cause; `null` for a set of queries. */
  cause: Cause | null;
  /** Certainty of the verdict. */
  certainty: Certainty;
  /** Figures from which it was decided. */
  figures: LimitFigures;
  /** What limited the run. */
  kind: Bottleneck;
  /** The second candidate, if the verdict is not certain. */
  second: Bottleneck | null;
  /** What the database's sessions waited for most, if the database is the bottleneck and was observed. */
  wait: BottleneckWait | null;
  /** Reason in words, with figures. */
  words: string;
}

/** What the sessions of a run waited for at the database. */
export interface BottleneckWait {
  /** Checkpoints per minute, if they are frequent. */
  checkpoints_per_minute: number | null;
  /** Class of the wait. */
  class: WaitClass;
  /** Share of the time of active sessions, from 0 to 1. */
  share: number;
  /** Which of the class, if it is most of it: the table of a lock, or the name of a latch or another wait at the server; empty otherwise. */
  which: string;
}

/** A host that loaded a part of the data. */
export interface BuildHost {
  /** CPU time of its process meanwhile, in seconds. */
  cpu_s: number;
  /** Its name, unique in the build. */
  host: string;
  /** Number of its parallel loader sessions. */
  jobs: number;
  /** Number of rows that it loaded. */
  rows: number;
  /** How long it loaded, in seconds. */
  seconds: number;
}

/** What a phase of a build used. */
export interface BuildPhaseUsage {
  /** Name of the phase. */
  phase: string;
  /** What was used meanwhile. */
  usage: Usage;
}

/** Report of a build. */
export interface BuildReport {
  /** Whether the build is good. */
  ending: Ending;
  /** The hosts that loaded the data, if it was spread over several. */
  hosts: BuildHost[];
  /** Number of parallel loader sessions. */
  jobs: number;
  /** What was observed from the first table to the last statistics; `null` with `--no-observe`. */
  observed: Observed | null;
  /** `built`, `resumed`, `added`, `already built`. */
  outcome: string;
  /** Name and seconds of each phase, in order. */
  phases: unknown[][];
  /** Number of rows loaded by this build. */
  rows: number;
  /** Scale of the data, in `scale_unit`. */
  scale: number;
  /** Unit of the scale, in the plural: `warehouses`. */
  scale_unit: string;
  /** Random seed of the data. */
  seed: number;
  /** URL of the target, without secrets. */
  target: string;
  /** What each phase used of this host; empty if neither the server nor the database is on it. */
  usage: BuildPhaseUsage[];
  /** Whose CPU time that is; `null` if it is unknown. */
  usage_of: UsageOf | null;
  /** Title of the workload: `TPROC-C`. */
  workload: string;
}

/** What `triphammer verify --json` prints: whether a bundle agrees with itself, and what its method allows. */
export interface BundleVerification {
  /** What was computed again, and agrees. */
  agreements: Agreement[];
  /** Whether everything agrees. */
  agrees: boolean;
  /** Number of disagreements in all. */
  disagreement_count: number;
  /** What does not agree, at most 200 of them. */
  disagreements: Disagreement[];
  /** Version of the document's format. */
  format: 1;
  /** Number of the job in the store that it came from. */
  job: number;
  /** Kind of the job in the bundle. */
  job_kind: string;
  /** Kind of document, by the name of its command. */
  kind: "verify";
  /** Judgement of the method; empty for jobs without a run. */
  method: MethodLine[];
  /** Names that the bundle shows. */
  names: ShownNames;
  /** Statements of the bundle that are in it only once: only hashes and a signature protect them. */
  not_recomputed: string[];
  /** What follows if another version wrote the bundle, in words; `null` if this version did. */
  other_version: string | null;
  /** The primary metric or the verdict of the job, in one line. */
  outcome: string;
  /** The signature of the manifest. */
  signature: Signature;
  /** The program that verified. */
  tool: Tool;
  /** The program that wrote the bundle, and its version. */
  written_by: string;
}

/** A point of the curve that the search is certain of by now. */
export interface CapacityBelief {
  /** Probability that the capacity is at least this rate, from 0 to 1. */
  probability: number;
  /** Rate in transactions per second. */
  rate: number;
}

/** Result of a search. */
export type CapacityJudgement = {
  /** 95 % interval of the rate. If runs were overloaded, it ends below what the target served in them. */
  interval: Interval;
  /** Whether the precision was reached; otherwise the runs were used up. */
  precise: boolean;
  /** Highest rate that is ok, in transactions per second: equally likely too high or too low if the search saw rates on both sides, else the highest rate that was ok. */
  rate: number;
  result: "found";
} | {
  /** The lowest rate, in transactions per second. */
  lowest: number;
  result: "never_ok";
} | {
  /** The highest rate, in transactions per second. */
  highest: number;
  result: "always_ok";
};

/** A response time limit: `new_order.p95 < 50ms`. */
export interface CapacityLimit {
  /** Percentile of the response time, measured from when a transaction was due. */
  percentile: Percentile;
  /** Key of the transaction type; `all` for all types together. */
  transaction: string;
  /** Exclusive maximum: `50ms`. */
  under: string;
}

/** The result of a capacity search, as printed by `triphammer capacity --json` and `triphammer report JOB --format json`. Times have the unit that the field's name ends with; shares are from 0 to 1; rates are transactions of all types per second. */
export interface CapacityResult {
  /** The curve behind the result: the probability that the capacity is at least a rate, at increasing rates. Empty until probes showed a rate on either side. */
  belief: CapacityBelief[];
  /** By how much the server changed during the search; `null` before its end, or if too few probes were near the limit. */
  change: ServerChange | null;
  /** Whether a capacity was found, and what is wrong with the search. */
  ending: Ending;
  /** Rates whose run failed. */
  failed_runs: FailedProbe[];
  /** Findings in words, the most important first. */
  findings: string[];
  /** Version of the document's format. */
  format: 1;
  /** The host of the client. */
  host: Host;
  /** Job number; `null` if it was not stored. */
  job: number | null;
  /** The result; `null` until the search has finished. */
  judgement: CapacityJudgement | null;
  /** Kind of document, by the name of its command. */
  kind: "capacity";
  /** Label given by the user; `null` without one. */
  label: string | null;
  /** The response time limit. */
  limit: CapacityLimit;
  /** The workload's primary metric, reported for each probe in addition to its rate. */
  primary_metric: PrimaryMetricName;
  /** The runs, in chronological order. */
  probes: Probe[];
  /** The server that the first run connected to. */
  server: ServerInfo;
  /** Every setting of the first run with its value and the source of the value. */
  settings: Setting[];
  /** Spec of the first run; the others differ in `load`. */
  spec: RunSpec;
  /** Start of the first run (its second 0), RFC 3339, UTC. */
  started_at: string;
  /** `complete`, or how the search ended before it was finished. */
  status: Status;
  /** URL of the target, without secrets. */
  target: Redacted;
  /** The program that wrote the document. */
  tool: Tool;
  /** Workload and its data. */
  workload: WorkloadFacts;
}

/** What the database did around the moment in which a condition became true. */
export interface Capture {
  /** That second, counted from the start of the run. */
  at_s: number;
  /** The condition as written: `new_order.p95 > 100ms`. */
  condition: string;
  /** The storage engine's own report on its state, read as soon as the condition was true, as MySQL's `SHOW ENGINE INNODB STATUS`, shortened; `null` where there is none. */
  engine_status: string | null;
  /** The sessions once per second, from some seconds before that moment to some seconds after it. */
  snapshots: Snapshot[];
  /** Statements executed from `statements_from_s` to the end of the capture, by the server's own statistics and by total time; empty where there are none. */
  statements: TopStatement[];
  /** Second at the end of which the statistics of statements were read first; `null` if they were not. */
  statements_from_s: number | null;
  /** Unit of the value. */
  unit: FigureUnit;
  /** Value of the metric in the second that made it true, in `unit`. */
  value: number;
}

/** A session at one time. */
export interface CapturedSession {
  /** Number of the session that it waits for; `null` if it waits for none. These are the edges of the lock tree. */
  blocked_by: string | null;
  /** Class of its wait. */
  class: WaitClass;
  /** Program or host that it was opened by; empty if unknown. */
  client: string;
  /** The table, and the row if known, that it waits for; empty if the server does not say. */
  object: string;
  /** Number of the session at the server. */
  session: string;
  /** `active` or `idle_in_transaction`. */
  state: string;
  /** Text of its statement, shortened; the last one if it is idle. */
  statement: string;
  /** Age of its statement, in seconds, also of the last one if it is idle; `null` if unknown. */
  statement_s: number | null;
  /** Age of its transaction, in seconds; `null` without one. */
  transaction_s: number | null;
  /** Its user, or kind of background process; empty if hidden. */
  user: string;
  /** Name of its wait at the server; empty if it does not wait. */
  wait: string;
  /** `ours` for those of this run, `other` or `background`. */
  who: string;
}

/** A second of all slices beside the rest of its slice. */
export interface CarryOver {
  /** That of A. */
  a: FirstPoint;
  /** That of B. */
  b: FirstPoint;
  /** The second of the slice, from 0. */
  second: number;
}

/** The specific cause of a bottleneck. */
export type Cause = "too_little" | "unseen" | "offered" | "few_users" | "threads" | "lag" | "starved" | "shared" | "other_processes" | "round_trips" | "waits" | "own_cpus" | "connections";

/** An event that sessions waited for. */
export interface CauseEvent {
  /** Its figures. */
  figures: CauseFigures;
  /** Name of the wait at the server, such as `Lock:transactionid`; empty if they did not wait. */
  wait: string;
}

/** Figures of a cause in the stretch and in the rest. */
export interface CauseFigures {
  /** Change in milliseconds per committed transaction; `null` if none was committed in the stretch. Without a rest, the milliseconds themselves. */
  change_ms: number | null;
  /** 95 % interval of `change_ms`; `null` if too few transactions were committed in the stretch. */
  change_ms_interval: Interval | null;
  /** Average number of sessions in the stretch beyond those that its transactions needed in the rest: it exists even if nothing was committed. */
  excess_sessions: number;
  /** 95 % interval of `excess_sessions`. */
  excess_sessions_interval: Interval;
  /** Milliseconds of session time per committed transaction in the stretch; `null` if none was committed. */
  ms_per_transaction: number | null;
  /** The same in the rest; `null` without a rest. */
  ms_per_transaction_rest: number | null;
  /** Average number of active sessions in the stretch. */
  sessions: number;
  /** The same in the rest; `null` without a rest. */
  sessions_rest: number | null;
  /** Share of active-session time in the stretch. */
  share: number;
}

/** A statement that sessions executed. */
export interface CauseStatement {
  /** Its figures. */
  figures: CauseFigures;
  /** Name of the workload's statement, or the shortened text of another. */
  statement: string;
}

/** A combination of values and its runs. */
export interface Cell {
  /** Most frequent bottleneck of its runs. */
  bottleneck: Bottleneck;
  /** Highest share of failures among its runs, from 0 to 1. */
  failure_share: number;
  /** 95 % confidence interval of the mean, by Student's t from the variation of its runs on a logarithmic scale; where every combination has a single run, that run's own interval from its seconds, which does not include the variation between runs. */
  interval: Interval | null;
  /** Mean of the primary metric over its runs. */
  mean: number;
  /** Median of the runs' 95th percentiles of response time, in microseconds. */
  p95_us: number;
  /** Median of the runs' 99th percentiles of response time, in microseconds. */
  p99_us: number;
  /** Median of the runs' times of a round trip, in microseconds; `null` unless the delay of the network varies. */
  round_trip_us: number | null;
  /** Its runs, in the order of execution. */
  runs: LevelRun[];
  /** Its value on each axis. */
  values: string[];
}

/** Certainty of a verdict. */
export type Certainty = "sure" | "probable";

/** A change of the primary metric. */
export interface Change {
  /** Mean until the next change, or until the end, likewise. */
  after: number;
  /** Index in `runs` of the first run after the change. */
  at: number;
  /** Mean since the previous change, or since the start; of the ratios if there is a control. */
  before: number;
  /** 1 minus the probability of such a change by chance: from noise, or from a host that alternates between two speeds. */
  confidence: number;
  /** Differences between the last run before it (A) and the first run after it (B). */
  differences: Difference[];
  /** 95 % confidence interval of the ratio; somewhat too narrow, because the position was chosen from the same runs. */
  interval: Interval | null;
  /** Job number of that run. */
  job: number;
  /** Ratio of `after` to `before`; `null` if `before` is 0. */
  ratio: number | null;
  /** Whether the change is for the worse. */
  slower: boolean;
}

/** The load of a run in progress, which can change. */
export interface ChangeableLoad {
  /** The largest value. */
  max: number;
  /** Weights of the transaction types now: `new_order=10,payment=10`; `None` if they cannot change. */
  mix: string | null;
  /** Arrivals per second, or users at work, now. */
  value: number;
  what: StepCause;
}

/** The cheapest level of a profile that keeps the requirements. */
export interface CheapestLevel {
  /** Other levels that keep them, and whose costs do not differ from these: their intervals overlap. */
  alike: number[];
  /** Costs per million of what the primary metric counts, in the list's currency. */
  per_million: Estimate;
  /** The requirements that it keeps, as `--require` has them; `null` without any. */
  required: string | null;
  /** Number of virtual users, or streams. */
  users: number;
}

/** Report of a check. */
export interface CheckReport {
  /** Results by condition, in order. */
  checks: CheckResult[];
  /** Who computed the answers that were compared, from the same queries on the same data: `DuckDB 1.5.5`. `null` if the workload knows the answers, or nothing was compared. */
  compared_with?: string | null | undefined;
  /** Whether all conditions hold that are expected to hold. */
  ending: Ending;
  /** The program that created the tables, if not triphammer; the rules of the initial population do not apply then. */
  made_by?: string | null | undefined;
  /** Why answers were not compared, and what to do. */
  not_compared?: string | null | undefined;
  /** The program whose texts the tables have, if they are not those of the specification's generator: answers that depend on them were compared with those that belong to these texts. */
  own_texts?: string | null | undefined;
  /** First and last warehouse or branch that was checked. */
  range: unknown[];
  /** Unit of the range: `warehouses`. */
  scale_unit: string;
  /** How much data that is, `0.01 SF`, where the unit has fractions and the range counts thousandths. */
  size?: string | null | undefined;
  /** URL of the target, without secrets. */
  target: string;
  /** Whether every condition of the workload was checked: after a run, the rules of the initial population are not. */
  untouched: boolean;
  /** Title of the workload: `TPROC-C`. */
  workload: string;
}

/** Result of one condition. */
export interface CheckResult {
  /** The program that created the tables, if its rules do not satisfy the condition: violations are reported then, but are not a failure. */
  by_rules_of?: string | null | undefined;
  /** Key of the first violation; `null` if the condition holds. */
  first_key: string | null;
  /** Identifier of the condition: `3.3.2.1`, `13`. */
  id: string;
  /** The condition in words or as an equation. */
  title: string;
  /** Number of violations; 0 if it holds. */
  violations: number;
}

/** An accepted word and its description. */
export interface ChoiceInfo {
  /** Description in one line. */
  meaning: string;
  /** The word as sent in requests. */
  value: string;
}

/** Number of occurrences of an error class. */
export interface ClassCount {
  /** Error class of the failures. */
  class: ErrorClass;
  /** Number of occurrences. */
  count: number;
}

/** CPU use of the client: of its threads over the whole run, of its process in the timed window. */
export interface ClientCost {
  /** CPU time of the busiest worker thread relative to the length of the run: 1 means a full core. */
  busiest_share: number;
  /** CPU time of all worker threads, in seconds. */
  cpu_s: number;
  /** CPU time per completed transaction, in microseconds; 0 if none completed. Of the whole process in the timed window if `process_cpus` is known, otherwise of the worker threads in the whole run. */
  cpu_us_per_transaction: number;
  /** CPU cores used by the whole process in the timed window: worker threads, control thread, and the thread that stores and shows the seconds. `null` if no transaction completed in it, or if the process executed other runs at the same time, as a server may. */
  process_cpus: number | null;
  /** CPU use of each worker thread. */
  threads: ThreadCpu[];
  /** CPU time per completed transaction of the worker threads in the whole run, in microseconds. */
  threads_cpu_us_per_transaction: number;
}

/** A command and its settings. The workload's options come in addition: see `WorkloadInfo`. */
export interface CommandInfo {
  /** The command of the job. */
  command: JobKind;
  /** Settings of the command, in the order of the reference. */
  settings: SettingInfo[];
}

/** The commands available in forms. */
export interface CommandList {
  /** The commands, in the order of use. */
  commands: CommandInfo[];
}

/** Commits of the log probe (`--log-probe`): a transaction of triphammer's own that updates one row of a table of its own. No server keeps a histogram of its log writes; this one is the probe's. */
export interface CommitProbe {
  /** Number of commits that failed, or had no answer in time. */
  failed: number;
  /** How many commits took how long, the shortest first; each class is twice as wide as the one before. */
  histogram: LatencyClass[];
  /** Time between two commits, in seconds. */
  interval_s: number;
  /** Number of commits that were due but left out, because another one was in progress. */
  missed: number;
  /** Times of the commits, with their round trip. */
  times: Times;
}

/** Counts of transactions and rows. All but the first are known only if the table was read back. */
export interface Commits {
  /** Commits that the database acknowledged. */
  acknowledged: number;
  /** Rows without their hash, or that this drill did not write. */
  altered: number;
  /** Rows beyond the first of a transaction. */
  duplicated: number;
  /** Transactions that failed. */
  failed: number;
  /** Commits in doubt: sent, and not answered. */
  indeterminate: number;
  /** Commits in doubt that have none. */
  indeterminate_absent: number;
  /** Commits in doubt that have a row. */
  indeterminate_committed: number;
  /** Acknowledged commits without a row; `null` if the table was not read. */
  lost: number | null;
  /** First and last second in which lost commits began; `null` without any. May be a second early, and more in drills of over an hour. */
  lost_between_s: unknown[] | null;
  /** Rows that do not follow the rows before them: the database kept a commit and lost one that it was built on, or did not show it one that had been acknowledged. */
  reordered: number;
  /** Transactions that were reported as failed and have a row. */
  undead: number;
}

/** A part of a transaction's time, or an amount that it needs, on both sides. */
export interface ComparedPart {
  /** Value per transaction in A, the mean of its runs; `null` if it is not known of each of them. */
  a: number | null;
  /** Value per transaction in B, the mean of its runs; `null` if it is not known of each of them. */
  b: number | null;
  /** Depth in the tree of parts: 0 for the response time and for amounts. */
  depth: number;
  /** Name of the part: `network`; `lock_table` for each table of a lock. */
  name: string;
  /** B over A; `null` if one of them is not known, or A is 0. */
  ratio: number | null;
  /** Title in reports and on the page. */
  title: string;
  /** Unit of the values: `us`, `bytes` or `average`. */
  unit: string;
}

/** Result of comparing B with A. */
export interface Comparison {
  /** Data that the interval is based on. */
  basis: Basis;
  /** Direction in which values improve. */
  better: Better;
  /** 95 % interval of the ratio; wider if `together` is above 1. */
  interval: Interval;
  /** Difference that does not matter, as a share. */
  margin: number;
  /** B over A: the geometric mean ratio. 1.05 is 5 % more. */
  ratio: number;
  /** Number of comparisons, this one included, whose intervals all contain the true ratios in 95 %: that of a level is one of several. */
  together: number;
  /** Verdict on B, given interval and margin. */
  verdict: ComparisonVerdict;
}

/** The result of a comparison of B with A, as printed by `triphammer compare --json` and `triphammer report JOB --json`. Ratios are B over A; shares are from 0 to 1. The verdict is that of the primary metric. */
export interface ComparisonResult {
  /** The baseline. */
  a: Side;
  /** 95 % prediction interval of the ratio that another comparison of as many runs would find; `null` if it is unknown, because there is one run of each side, or one pair at once. */
  another: Interval | null;
  /** Whether both sides answer the same to a replay; `null` for other loads. */
  answers: AnswersCompared | null;
  /** The side that is compared with the baseline. */
  b: Side;
  /** Conditions that differ between the sides. */
  differences: Difference[];
  /** Whether all runs were made and are good, and the verdict passes. */
  ending: Ending;
  /** Energy of both sides; `null` unless a run of either side measured it. */
  energy: EnergyComparison | null;
  /** Figures of both sides, the primary metric first. */
  figures: Figure[];
  /** Version of the document's format. */
  format: 1;
  /** The setting of the host that differs between the sides; `null` if no such was changed. */
  host_setting: HostSetting | null;
  /** Job number; `null` for a comparison of stored jobs, which creates no job. */
  job: number | null;
  /** Kind of document, by the name of its command. */
  kind: "compare";
  /** Label given by the user; `null` without one. */
  label: string | null;
  /** Smallest difference that matters, as a share from 0 to 1. */
  margin: number;
  /** Estimated minutes of further measurements for a decision; `null` if it is decided, or if no practical number would suffice. */
  more_minutes: number | null;
  /** The pairs of runs; `null` for a comparison of stored jobs. */
  pairs: Pairing | null;
  /** Execution plans that differ, of queries and of the statements of replays. */
  plans: PlanChange[];
  /** What B costs relative to A; `null` unless both sides have a price list. */
  price: PriceComparison | null;
  /** The primary metric, which decides the verdict. */
  primary_metric: PrimaryMetricName;
  /** Levels and curves; `null` unless profiles are compared or pairs were made at several levels. */
  profiles: Profiles | null;
  /** Times of the statements of a replay on both sides; empty for other loads. */
  speeds: StatementSpeed[];
  /** Start of the first run (its second 0), RFC 3339, UTC. */
  started_at: string;
  /** `complete`, or `interrupted` or `failed` if pairs are missing. */
  status: Status;
  /** The program that wrote the document. */
  tool: Tool;
  /** Where the time of a transaction goes on both sides; `null` unless all runs know it. */
  transaction_time: TimeComparison | null;
  /** Verdict on B by the primary metric. */
  verdict: ComparisonVerdict;
  /** What sessions did or waited for more or less per transaction in B than in A, from the seconds of one run each; `null` unless both were observed. Here is B, the rest is A. */
  waits: WaitChanges | null;
  /** Warnings to read before using the verdict. */
  warnings: Warning[];
  /** The verdict in words, with figures. */
  words: string;
}

/** Verdict of a comparison on B, decided in this order. */
export type ComparisonVerdict = {
  kind: "equivalent";
} | {
  kind: "slower";
} | {
  kind: "faster";
} | {
  kind: "inconclusive";
  /** Additional runs that would settle it if ratio and noise stay the same; `null` if nothing reasonable would. */
  more: More | null;
};

/** How much the sides of a duet slow each other. */
export interface Contention {
  /** The primary metric of A and of B alone. */
  alone: number[];
  /** Whether the duet measures contention instead of a difference: both sides lost more than a quarter. */
  is_dominant: boolean;
  /** What limited each side while both worked, from its run. */
  limits: string[];
  /** Share of its throughput alone that each side lost; negative for a gain. */
  lost: number[];
  /** The same together. */
  together: number[];
  /** The finding in words. */
  words: string;
}

/** What shows that an anomaly would have been found. */
export type Control = "load" | "planted" | "none";

/** How often a control showed a kind. */
export interface ControlCount {
  /** Times found. */
  count: number;
  /** Whether the control's own level promises that it does not happen. */
  is_broken_promise: boolean;
  /** Name of the kind. */
  kind: string;
}

/** The load at a weaker level. */
export interface ControlResult {
  /** The kinds that it showed, with their counts. */
  found: ControlCount[];
  /** The level. */
  level: string;
  /** Job number of its run; `null` if it was not stored. */
  run: number | null;
  /** Attempts at transactions that were examined. */
  transactions: number;
}

/** A run of the control beside a run of a history. */
export interface ControlRun {
  /** Number in the job store. */
  job: number;
  /** Value of the followed run over this one. */
  ratio: number;
  /** Value of the primary metric. */
  value: number;
}

/** Whether the work of a host was spread evenly over its CPUs. */
export interface CoreBalance {
  /** What to do next; `null` if there is nothing to do. */
  advice: string | null;
  /** The CPUs that are the cause; empty if there is none. */
  cpus: number[];
  /** Why it was not; `null` if it was. */
  uneven: UnevenCause | null;
  /** Reason in words, with figures. */
  words: string;
}

/** What each CPU of a host did in the timed window. */
export interface CoreMap {
  /** Whether the work was spread evenly; `null` with one CPU or in a short window. */
  balance: CoreBalance | null;
  /** Seconds per column: the smallest power of two that limits the number of columns. */
  column_s: number;
  /** The CPUs, by number. */
  cpus: CpuRow[];
  /** Second of the run at which the first column begins. */
  from_s: number;
  /** Name of the host of a node exporter; `null` for the host of triphammer. */
  host: string | null;
}

/** An event counted by the transactions themselves, over committed ones. */
export interface CounterFigure {
  /** Number of events. */
  count: number;
  /** Key of the counter: `districts_skipped`. */
  name: string;
  /** Maximum possible number of events. */
  possible: number;
  /** Share of `count` in `possible`, from 0 to 1. */
  share: number;
  /** Title of the counter: `districts skipped`. */
  title: string;
  /** Share above which the result has a warning. */
  warn_above: number;
}

/** The caches of a kind. */
export interface CpuCache {
  /** Size of one, in bytes. */
  bytes: number;
  /** Number of them in the host. */
  count: number;
  /** `data`, `instruction` or `unified`. */
  kind: string;
  /** Level: 1 is nearest to the core. */
  level: number;
  /** Number of logical CPUs that share one. */
  shared_by: number;
}

/** A CPU over time: a value per column, `null` where there is none. Lists of what a CPU never did are empty. */
export interface CpuColumns {
  /** Busy, in percent. */
  busy: (number | null)[];
  /** Hardware interrupts, in percent. */
  hard: (number | null)[];
  /** Frequency, in MHz. */
  mhz: (number | null)[];
  /** Working processes or threads of the server, rounded. */
  server_tasks: (number | null)[];
  /** Software interrupts, in percent. */
  soft: (number | null)[];
}

/** Where the CPUs of this host were in the timed window, by samples of their stacks. */
export interface CpuProfile {
  /** Samples per second of each CPU. */
  frequency_hz: number;
  /** Whether all processes of the host were sampled, not only this one. */
  is_of_host: boolean;
  /** Seconds that were sampled. */
  seconds: number;
  /** The sides that used a CPU, in the order of `CpuSide`. */
  sides: ProfiledSide[];
  /** What sampled: `perf version 6.1.187`. */
  tool: string;
}

/** What a CPU did in the timed window. */
export interface CpuRow {
  /** Share of the time in which it was busy. */
  busy: number;
  /** The figures over time. */
  columns: CpuColumns;
  /** Number of its core in the package; threads of a core have the same. */
  core: number | null;
  /** Number of the logical CPU. */
  cpu: number;
  /** Share of the time in which it handled hardware interrupts. */
  hard: number;
  /** Mean frequency in MHz, where it is known. */
  mhz: number | null;
  /** Number of its memory node. */
  node: number | null;
  /** Number of its package (socket). */
  package: number | null;
  /** Share of the seconds in which it was at least 90 % busy. */
  saturated: number;
  /** Mean number of working processes or threads of the server that were last on it, where they are known. */
  server_tasks: number | null;
  /** Share of the time in which it handled software interrupts. */
  soft: number;
}

/** Whose a sample is. */
export type CpuSide = "server" | "client" | "others";

/** The time of the test, beside stored ones. */
export interface CpuTest {
  /** Earlier times in the job store, the newest first. */
  earlier: StoredCpuTest[];
  /** The database's result; 873729.72 if it calculates correctly. */
  result: string;
  /** Time of the test, in seconds. */
  seconds: number;
}

/** Parameters of a fitted law. */
export interface Curve {
  /** κ: coherency, 0 or more. */
  kappa: Estimate;
  /** λ: primary metric of one virtual user. */
  lambda: Estimate;
  /** R²: share of the variance explained by the curve; `null` if there is no variance. */
  r_squared: number | null;
  /** Root mean square of the residuals, relative to the fitted value. */
  residual: number;
  /** σ: contention, from 0 to 1. */
  sigma: Estimate;
}

/** A parameter of both curves. */
export interface CurveFigure {
  /** Value of A's curve; `null` without a curve, or if the peak was not reached. */
  a: Estimate | null;
  /** Value of B's curve, likewise. */
  b: Estimate | null;
  /** Name: `lambda`, `sigma`, `kappa`, `peak_users` or `peak_throughput`. */
  name: string;
}

/** The state of the database at the start of a run; `null` for what the database does not report. */
export interface DatabaseState {
  /** Size of all tables and indexes, in bytes. */
  bytes: number | null;
  /** Number of rows that were deleted or replaced and still take space, as the database counts them. */
  dead_rows: number | null;
  /** Rows or checksums of the tables; `null` if they were not read. */
  fingerprint: Fingerprint | null;
  /** Space in the tables that holds nothing, in bytes. */
  free_bytes: number | null;
  /** How it was brought about, a sentence each. */
  preparation_words: string[];
  /** How long the run waited for the server's work in the background; `null` if it did not. */
  quiet: QuietWait | null;
  /** How the state was restored before the run; `null` if it was not. */
  restored: Restored | null;
  /** Number of rows of all tables, as estimated by the planner. */
  rows: number | null;
  /** Its size in words; `null` if nothing is known. */
  size_words: string | null;
  /** Age of the oldest statistics of a table, in seconds. */
  statistics_age_s: number | null;
  /** What was read into caches before the run; `null` if nothing was. */
  warmed: WarmedUp | null;
  /** Tables whose statistics were never gathered. */
  without_statistics: number;
}

/** A declared figure with its value, part of the result document. */
export interface DeclaredFigure {
  /** Name in requirements. */
  name: string;
  /** Title in reports and on the page. */
  title: string;
  /** Unit of the value. */
  unit: FigureUnit;
  /** Value in `unit`; `null` if the run did not measure it. */
  value: number | null;
}

/** A difference between the two sides. */
export interface Difference {
  /** Value of A, without secrets; `null` if A has none. Several values are joined by slashes. */
  a: string | null;
  /** Value of B, likewise. */
  b: string | null;
  /** Whether figures can only be compared if it is equal. */
  must_be_equal: boolean;
  /** Name of the fact. */
  name: string;
  /** Subject of the difference. */
  subject: Subject;
}

/** A statement to which B answers other than A. */
export interface DifferingStatement {
  /** Differences of A's last replay from the recording; none if it answered as recorded, or if the recording has no answers. */
  a: DivergenceCount[];
  /** Differences of B's last replay from the recording. */
  b: DivergenceCount[];
  /** Whether its answers may differ by chance. */
  by_chance: boolean;
  /** Number of its answers that were compared. */
  compared: number;
  /** Number of these that differ. */
  differing: number;
  /** The first answer of the last replay of A, and of B, that differs from the recording; `null` where none does. */
  examples: (DivergenceExample | null)[];
  /** The statement, in one line. */
  text: string;
}

/** A statement that does not agree with what it was computed from. */
export interface Disagreement {
  /** What was found instead. */
  found: string;
  /** Part of the bundle: `document.json`. */
  part: string;
  /** Place in it: `window.total.completed`. */
  place: string;
  /** What the part says. */
  written: string;
}

/** How the answer of a replayed statement differs from the recorded one. */
export type Divergence = "rows" | "changed" | "content" | "fails" | "succeeds" | "other_error" | "missing";

/** The number of divergences of a kind. */
export interface DivergenceCount {
  /** How many times. */
  count: number;
  /** The kind. */
  kind: Divergence;
  /** Its name for people. */
  title: string;
}

/** One divergence. It has no values of the recording: those are where its session and time are. */
export interface DivergenceExample {
  /** When its transaction began in the recording, in seconds. */
  at_s: number;
  /** The kind. */
  kind: Divergence;
  /** What was recorded. */
  recorded: string;
  /** What the replay met. */
  replayed: string;
  /** The recorded session, from 1. */
  session: number;
}

/** A request to examine a set-up. */
export interface DoctorForm {
  /** Name of a saved target; when absent, only the host of this server is examined. */
  target?: string | null | undefined;
}

/** What `triphammer doctor --json` prints: what host, network and database are set up like. */
export interface DoctorResult {
  /** Speed of one thread of the database; `null` without `--cpu-test`, and if it failed. */
  cpu_test: CpuTest | null;
  /** Version of the document's format. */
  format: 1;
  /** The only goal that the host is judged by; `null` for both. */
  goal: SetupGoal | null;
  /** Checks that need a privilege that the user lacks, by the statement that grants it. */
  hidden: Hidden[];
  /** Whether the lines of the group `host` are also about the database: it runs on the same host. */
  host_of_database: boolean;
  /** What the host of this program can do; `null` without `--host-test`, and if it failed. */
  host_test: HostTest | null;
  /** Kind of document, by the name of its command. */
  kind: "doctor";
  /** What was found, by group, in the order of the declarations. */
  lines: SetupLine[];
  /** Product, version and transport of the server; `null` likewise. */
  server: ServerInfo | null;
  /** URL of the target, without secrets; `null` if only the host was examined. */
  target: Redacted | null;
  /** The program that wrote the document. */
  tool: Tool;
  /** Checks that could not be made. */
  unread: Unread[];
  /** The worst verdict of all lines; `fine` if there are none. */
  verdict: SetupVerdict;
  /** Latency of commits; `null` without `--write-test`, and if it failed. */
  write_test: WriteTest | null;
}

/** The result of a drill, as printed by `triphammer drill --json` and `triphammer report JOB --format json`. Times have the unit that the field's name ends with; seconds count from the start of the load. */
export interface DrillResult {
  /** What the database did with the commits. */
  commits: Commits;
  /** Whether the drill is good, and what is wrong with it. */
  ending: Ending;
  /** Moves of the writes from one node to another during the load. */
  failovers: FailoverFigure[];
  /** The faults, in the order of their times. */
  faults: FaultReport[];
  /** Findings in words, the most important first. */
  findings: string[];
  /** Version of the document's format. */
  format: 1;
  /** The host of the client. */
  host: Host;
  /** Job number; `null` if it was not stored. */
  job: number | null;
  /** Kind of document, by the name of its command. */
  kind: "drill";
  /** Label given by the user; `null` without one. */
  label: string | null;
  /** Length of the load, in seconds. */
  load_s: number;
  /** Lost commits of one user without a gap, at most 100 of them. */
  lost: LostRange[];
  /** What the nodes of the target did during the load; empty for a single server. */
  nodes: NodeFigures[];
  /** Job number of the run that drove the load; `null` if it was not stored. */
  run: number | null;
  /** The server that the drill connected to first. */
  server: ServerInfo;
  /** How long the database was away. */
  service: Service;
  /** Every setting with its value and the source of the value. */
  settings: Setting[];
  /** Start of the load (second 0), RFC 3339, UTC. */
  started_at: string;
  /** `complete`, or how the load ended before its time. */
  status: Status;
  /** URL of the target, without secrets. */
  target: Redacted;
  /** The program that wrote the document. */
  tool: Tool;
  /** Virtual users, each with its own chain of rows. */
  users: number;
  /** How the table was read back. */
  verification: TableRead;
  /** Workload and its data. */
  workload: WorkloadFacts;
}

/** Lengths of a run and its parts, in seconds. */
export interface Durations {
  /** Actual length of the ramp-up, before the timed window. */
  rampup_s: number;
  /** From the start of the run to the end of the last transaction. */
  whole_s: number;
  /** Requested length of the timed window; `null` if the length was a number of transactions or was determined by the interval of the mean. */
  window_asked_s: number | null;
  /** Actual length of the timed window. */
  window_s: number;
  /** Time of the window in which the run worked, if it took turns with another one; rates are those of this time. `null` if it worked all the time. */
  worked_s: number | null;
}

/** The primary metric relative to the maximum that keying and thinking times allow. */
export interface Efficiency {
  /** Maximum for this number of terminals. */
  maximum: number;
  /** Share of that maximum, from 0 to 1. */
  share: number;
}

/** Reactions to the steps of a load and to changes of the nodes, in order. Steps whose part is shorter than six seconds are omitted. */
export interface Elasticity {
  /** The steps. */
  steps: StepReaction[];
}

/** How a job ended. */
export interface Ending {
  /** How a run ended that is not complete, in a sentence: `interrupted after 5s: these are partial figures`; `null` for other jobs. */
  detail: string | null;
  /** What is wrong with the job, or what to know about it before anything else; `null` for nothing. */
  flaw: Flaw | null;
  /** Whether the job was successful and its findings are good. If not, its command exits with 1, or with 130 if it was interrupted. */
  good: boolean;
  /** The status and the flaw in words: `complete`, `complete, commits lost`. */
  words: string;
}

/** Energy in the timed window of a run. */
export interface Energy {
  /** Figures of the database's host; `null` if its energy is not known. */
  figures: EnergyFigures | null;
  /** What could not be read and why, in words. */
  gaps: string[];
  /** What was read, by source; empty if nothing could be read. */
  sources: EnergySource[];
}

/** Energy per transaction of both sides of a comparison. */
export interface EnergyComparison {
  /** Energy of A per transaction, in joules: mean over its runs. */
  a_joules: number | null;
  /** The same of B. */
  b_joules: number | null;
  /** Rate of B over that of A: energy is comparable at equal rates only. */
  rate_ratio: number | null;
  /** Energy of B per transaction over that of A; `null` if the rates or the kinds of source differ, or if it is not known. */
  ratio: number | null;
  /** The result in words, or why there is no ratio. */
  words: string;
}

/** Energy of a domain in the timed window. */
export interface EnergyDomain {
  /** Share of the timed window in which it was read. */
  coverage: number;
  /** Energy that was read in the timed window, in joules. */
  joules: number;
  /** Name of the domain: `package-0`, `dram`. */
  name: string;
}

/** What the database's host used for the transactions of the timed window. */
export interface EnergyFigures {
  /** The same without the power of the idle host; `null` without `--idle`. */
  above_idle: AboveIdle | null;
  /** The client's share of the CPU time that was used on a host that it shares with the database: as much of the energy may be the client's. `null` on other hosts, and if it is unknown. */
  client_cpu_share: number | null;
  /** What is counted: what the primary metric counts, such as `New-Orders committed`. */
  counted: string;
  /** Energy per transaction that is counted, in joules; `null` if none was. */
  joules_per_transaction: number | null;
  /** What it was read from: only figures of the same kind are comparable. */
  kind: EnergySourceKind;
  /** Whose energy it is: of the server's host, or of one that the client shares. */
  of: EnergyOf;
  /** Rate of these in the timed window, per second. */
  per_second: number;
  /** The primary metric per watt, such as NOPM per watt; `null` for a set of queries. */
  primary_metric_per_watt: number | null;
  /** Mean power in the timed window, in watts. */
  watts: number;
}

/** Whose energy a source reads. */
export type EnergyOf = "client_host" | "server_host" | "shared_host";

/** Energy of a source in the timed window. */
export interface EnergySource {
  /** Its domains, which add up. */
  domains: EnergyDomain[];
  /** Host of the exporter; `null` for the counters of this host. */
  host: string | null;
  /** Mean power of the idle host before the run, in watts; `null` without `--idle`. */
  idle_watts: number | null;
  /** Energy of all domains in the timed window, in joules; `null` if too little of the window was read. */
  joules: number | null;
  /** Kind of the source. */
  kind: EnergySourceKind;
  /** Whose energy it is. */
  of: EnergyOf;
  /** Mean power in the timed window, in watts; `null` likewise. */
  watts: number | null;
}

/** What energy was read from. */
export type EnergySourceKind = "rapl" | "node_exporter" | "scaphandre" | "kepler" | "power_metric";

/** Kind of failure that a database reported. The driver derives it from the SQLSTATE or result code. */
export type ErrorClass = "serialization" | "deadlock" | "lock_timeout" | "disconnected" | "unavailable" | "refused" | "constraint" | "cancelled" | "timeout" | "disk_full" | "read_only" | "schema_changed" | "unsupported" | "other";

/** The first error of a kind. */
export interface ErrorFigure {
  /** Class of the error. */
  class: ErrorClass;
  /** Number of attempts that ended with this kind of error, including retried ones. */
  count: number;
  /** Message of the error, without secrets. */
  message: string;
  /** Key of the transaction type. */
  transaction: string;
}

/** A figure and its uncertainty. */
export interface Estimate {
  /** Its 95 % interval; `null` where the data does not allow one. */
  interval: Interval | null;
  /** Value of the figure. */
  value: number;
}

/** A dependency between transactions of an example. */
export interface ExampleEdge {
  /** Name of the first transaction. */
  from: string;
  /** `ww`, `wr`, `rw`, `rw-predicate`, `session` or `real-time`. */
  kind: string;
  /** Name of the second. */
  to: string;
  /** What the second has to do with the first, in words. */
  why: string;
}

/** A statement of an example. */
export interface ExampleStatement {
  /** When its answer arrived, in milliseconds after the first transaction of the example began. */
  at_ms: number;
  /** What it was about, in words: `list 3`. */
  key: string;
  /** What it returned. */
  result: string;
  /** The SQL with its values. */
  sql: string;
}

/** A transaction of an example. */
export interface ExampleTransaction {
  /** When the client began it, in milliseconds after the first transaction of the example began. */
  began_ms: number;
  /** When the client knew its fate. */
  ended_ms: number;
  /** `committed`, `aborted` or `in doubt`. */
  fate: string;
  /** Name in the example: `T1`. */
  name: string;
  /** Its statements, in order. */
  statements: ExampleStatement[];
  /** The virtual user, from 0. */
  user: number;
}

/** The plan by which a database executes a query. */
export interface ExecutionPlan {
  /** The operations as measured when the query was run for that, with `--analyze`; `null` without it. */
  analyzed: AnalyzedPlan | null;
  /** Fingerprint of the operations, without costs, estimates and literals. */
  fingerprint: string;
  /** The operations, each followed by its inputs. */
  operations: PlanOperation[];
  /** Key of the query: `q9`. */
  query: string;
}

/** A run that failed. */
export interface FailedCell {
  /** Reason in words, for people. */
  reason: string;
  /** The step that was tried. */
  step: number;
  /** Value of the combination on each axis. */
  values: string[];
}

/** A level whose run failed. */
export interface FailedLevel {
  /** Reason in words, for people. */
  reason: string;
  /** The step that was tried. */
  step: number;
  /** Number of virtual users. */
  users: number;
}

/** A rate whose run failed. */
export interface FailedProbe {
  /** Reason in words, for people. */
  reason: string;
  /** Position in the sequence, from 0. */
  step: number;
  /** Title of the run. */
  title: string;
}

/** A run that failed to start or to end. */
export interface FailedRun {
  /** Reason in words, for people. */
  reason: string;
  /** Position in the comparison, from 0. */
  step: number;
}

/** Writes moved from one node to another, which had been promoted or accepted writes anyway. */
export interface FailoverFigure {
  /** End of the first write committed afterwards. */
  first_s: number;
  /** Name of the node that wrote before. */
  from: string;
  /** Time without a committed write, in seconds. */
  gap_s: number;
  /** End of the last write committed before, in seconds since the start of the run. */
  last_s: number;
  /** Name of the node that has written since. */
  to: string;
}

/** Share of failures, compared with the limit. */
export interface FailureShare {
  /** Whether `share` is above `limit`. */
  above_limit: boolean;
  /** Maximum share: `spec.max_failures`. */
  limit: number;
  /** Share of transactions failed, in doubt, or completed with an unreadable answer, among all that ended in the timed window (in the whole run if none ended in the window). */
  share: number;
}

/** A fault, and what became of it. */
export interface FaultReport {
  /** When it was due, in seconds. */
  at_s: number;
  /** When it began, in seconds; `null` if the load ended before. */
  began_s: number | null;
  /** What it did, or why it failed: of a command, the exit code and the end of its output. */
  detail: string;
  /** When it was over, in seconds; `null` if it never began. */
  ended_s: number | null;
  /** The fault, as given. */
  fault: string;
  /** Whether it took place. */
  succeeded: boolean;
}

/** A figure of both sides, and the ratio of B to A. */
export interface Figure {
  /** Mean over A's runs, or over the seconds of its single run. */
  a: number;
  /** Mean over B's runs, or over the seconds of its single run. */
  b: number;
  /** Ratio of B to A; `null` if it cannot be computed. */
  comparison: Comparison | null;
  /** Name of the figure: `nopm`, `tpm`, `new_order.p95`. */
  name: string;
  /** Why there is no ratio; `null` if there is one. */
  reason: string | null;
  /** Title of the figure: `New-Order p95`. */
  title: string;
  /** Unit: microseconds, or a number. */
  unit: FigureUnit;
}

/** Unit of a figure in documents and requirements. */
export type FigureUnit = "number" | "share" | "us";

/** Figures of a part of the run. */
export interface Figures {
  /** Length of the part, in seconds. */
  seconds: number;
  /** Total of all transaction types. */
  total: TypeFigures;
  /** Figures by transaction type, in the workload's order. */
  types: TypeFigures[];
}

/** What distinguishes a state of the data from another. */
export interface Fingerprint {
  /** What was read of each table. */
  depth: FingerprintDepth;
  /** Number of tables that could not be read in time. */
  missing: number;
  /** Time that it took, in seconds. */
  seconds: number;
  /** The tables that were read, by name. */
  tables: TableFingerprint[];
}

/** How closely states are compared. */
export type FingerprintDepth = "rows" | "checksums";

/** When a database answered first after a time in which triphammer had no connection to it. All of this is before the load, and in none of its figures. */
export interface FirstAnswer {
  /** Time from the beginning of the first attempt to log in to the answer, in seconds. */
  answer_s: number;
  /** Time for authentication, in seconds. */
  authentication_s: number | null;
  /** Time to the connection, in seconds; `null` if the driver cannot tell it, and likewise below. */
  connect_s: number | null;
  /** Error of the first of them; `null` if none failed. */
  error: string | null;
  /** Number of attempts that failed before. */
  failed: number;
  /** Time of the login that succeeded, in seconds, and below its phases. */
  login_s: number;
  /** How long there was no connection. */
  pause: string;
  /** Time for setting up the session, in seconds. */
  setup_s: number | null;
  /** Time of the statement, in seconds: the smallest one that the database has, such as SELECT 1. */
  statement_s: number;
  /** Time for TLS, in seconds; `null` without TLS, too. */
  tls_s: number | null;
  /** All of it in words. */
  words: string;
}

/** The divergence that was first in the recording. */
export interface FirstDivergence {
  /** When its transaction began in the recording, in seconds. */
  at_s: number;
  /** The kind. */
  kind: Divergence;
  /** The statement, in one line. */
  text: string;
  /** Its name for people. */
  title: string;
}

/** How much the points at one place of their stretches differ from those after them. */
export interface FirstPoint {
  /** Probability of a difference at least as great where there is none. */
  p_value: number;
  /** Mean difference from the rest of the stretch: -0.05 is 5 % less. */
  share: number;
}

/** What is wrong with a job, the worst first. */
export type Flaw = "host_lost" | "requirements_failed" | "unanswered" | "answers_differ" | "too_many_failures" | "nothing_completed" | "count_violated" | "audit_violated" | "conditions_violated" | "not_verified" | "commits_lost" | "commits_wrong" | "isolation_violated" | "not_as_expected" | "nothing_proven" | "blind" | "fault_missing" | "no_capacity" | "runs_failed" | "slower" | "inconclusive" | "outage";

/** A request to start an activity. */
export interface Form {
  /** The command to run. */
  command: JobKind;
  /** Name of the saved target for the runs of B in a comparison; when absent, the same as for A. */
  other?: string | null | undefined;
  /** Settings and options by name, with values as typed on the command line: `{"vus": "8"}`. The workload is one of them. Settings that are absent have their defaults. */
  settings?: Record<string, string> | undefined;
  /** Name of a saved target; when absent, the default SQLite file in the server's data directory. */
  target?: string | null | undefined;
}

/** The server is shutting down. */
export interface Goodbye {
  /** Sentence for people to read. */
  text: string;
}

/** Group of settings in a form. */
export type Group = "question" | "data" | "load" | "length" | "statements" | "failures" | "observe" | "connection" | "workload" | "other";

/** Number of committed transactions by time and response time. */
export interface Heatmap {
  /** Number of transactions, by column, then by row. */
  counts: number[][];
  /** First second of each column. */
  first: number[];
  /** The largest number in `counts`. */
  most: number;
  /** Seconds per column. */
  step: number;
  /** Upper edge of each row in µs, ascending; each is a constant factor above the previous one. */
  upper_us: number[];
}

/** State at the start of a connection. */
export interface Hello {
  /** Identifier of the server process; activities of another instance no longer exist. */
  instance: string;
  /** Whether the stream continues after the last event that the client received. If not, the client should discard its state. */
  resumed: boolean;
  /** Version of the server program. */
  version: string;
}

/** Checks that need a privilege. */
export interface Hidden {
  /** Names of the checks. */
  checks: string[];
  /** Statement that grants the privilege. */
  grant: string;
}

/** The result of a history, as printed by `triphammer history --json`: runs in chronological order, and the changes of their primary metric. */
export interface HistoryResult {
  /** Changes of the primary metric, in the same order. */
  changes: Change[];
  /** Label of the control: changes are then those of the ratios to its runs; `null` without one. */
  control: string | null;
  /** By how much the primary metric drifts steadily from run to run; changes are those beside it. `null` if it does not. */
  drift: number | null;
  /** Version of the document's format. */
  format: 1;
  /** Kind of document, by the name of its command. */
  kind: "history";
  /** The requested label; `null` if none was given. */
  label: string | null;
  /** The price list of `per_million`; `null` without `--price`. */
  price: PriceList | null;
  /** The primary metric of the runs. */
  primary_metric: PrimaryMetricName;
  /** The runs, the oldest first. */
  runs: HistoryRun[];
  /** The program that wrote the document. */
  tool: Tool;
  /** Warnings to read before using the result. */
  warnings: Warning[];
  /** Findings in words. */
  words: string;
  /** Workload and its data, from the newest run. */
  workload: WorkloadFacts;
}

/** A run of a history. */
export interface HistoryRun {
  /** The adjacent run of the control; `null` without a control. */
  control: ControlRun | null;
  /** Whether the run was successful. */
  good: boolean;
  /** 95 % confidence interval of the value, from the run's own seconds; `null` if there is none. */
  interval: Interval | null;
  /** Number in the job store. */
  job: number;
  /** Energy of the database's host per transaction that the primary metric counts, in joules; `null` if it was not measured. */
  joules_per_transaction: number | null;
  /** Costs per million of what the primary metric counts, by the price list; `null` without one. */
  per_million: Estimate | null;
  /** Fingerprint of the execution plans of all its queries; `null` if none are stored. */
  plans: string | null;
  /** Product and version of the server. */
  server: string;
  /** Start of the run (its second 0), RFC 3339, UTC. */
  started_at: string;
  /** URL of the target, without secrets. */
  target: Redacted;
  /** Version of the program that ran it. */
  tool_version: string;
  /** Value of the primary metric. */
  value: number;
}

/** Facts about a host. */
export interface Host {
  /** CPU architecture: `x86_64`, `aarch64`. */
  architecture: string;
  /** Number of logical cores that this process may use. */
  cores: number | null;
  /** CPU model, as named by the system. */
  cpu: string | null;
  /** CPU frequency governor: `performance`, `schedutil`. */
  governor: string | null;
  /** Release of the kernel, as `uname -r`. */
  kernel: string | null;
  /** Total memory, in bytes. */
  memory_bytes: number | null;
  /** Operating system: `Debian GNU/Linux 12 (bookworm)`, or at least `linux`, `macos` or `windows`. */
  os: string;
  /** How its CPUs and memory are arranged. */
  topology: Topology | null;
}

/** A figure that was measured. */
export interface HostFigure {
  /** Name of the figure. */
  name: string;
  /** Unit of the value. */
  unit: string;
  /** The value. */
  value: number;
}

/** Load of the server's host since the last event of this type. Shares are from 0 to 1. */
export interface HostLoad {
  /** Busy share of all CPUs, from 0 to 1. */
  busy: number;
  /** Busy share of each CPU, from 0 to 1. */
  cores: number[];
  /** Total memory, in bytes; `null` if unknown. */
  memory_bytes: number | null;
  /** Used memory, in bytes. */
  memory_used_bytes: number | null;
}

/** A test of another machine, to compare with. */
export interface HostReference {
  /** What was measured. */
  figures: HostFigure[];
  /** The machine, its disk, and when it was tested. */
  machine: string;
}

/** What a setting of the host is worth: A and B are the same load on the same database, with another value of the setting. */
export interface HostSetting {
  /** Name of the check of `doctor`. */
  check: string;
  /** Standard deviation of the primary metric between the runs of A and of B, relative to its mean; `null` of a single run. */
  spread: (number | null)[];
  /** Values of A and of B, as the check names them. */
  values: string[];
  /** What the setting is worth on this host, in words. */
  words: string;
}

/** One of several hosts that drove a run. */
export interface HostShare {
  /** What limited its share; `null` if it was lost. */
  bottleneck: BottleneckVerdict | null;
  /** CPU cores that its process used in the timed window; `null` if it was lost. */
  client_cpus: number | null;
  /** Largest possible error of that, in milliseconds. */
  clock_error_ms: number;
  /** How far its clock was ahead of the coordinator's before the start, in milliseconds. An offset within its error is not taken into account. */
  clock_offset_ms: number;
  /** Number of transactions that it completed in the timed window. */
  completed: number;
  /** Number of CPUs that its process may use. */
  cpus: number;
  /** 99th percentile of its event-loop lag, in microseconds. */
  lag_p99_us: number | null;
  /** How it was lost; `null` if it was not. */
  loss: LostHost | null;
  /** Name of the host; processes of one host are numbered. */
  name: string;
  /** Time of a round trip on its sessions, 10th percentile, in microseconds. */
  round_trip_us: number | null;
  /** Number of sessions of its share. */
  sessions: number;
  /** How long after the agreed instant its load began, in milliseconds; `null` if unknown. */
  start_late_ms: number | null;
}

/** What the host can do, beside earlier tests and other hosts. */
export interface HostTest {
  /** Length of each of the three arrays of the triad, in bytes, all threads together. */
  array_bytes: number;
  /** Length of the processors' largest caches together, in bytes; `null` if unknown. */
  cache_bytes: number | null;
  /** Where the file was; `null` if the disk was not tested. */
  disk: HostTestDisk | null;
  /** Earlier tests of the same machine in the job store, the newest first. */
  earlier: StoredHostTest[];
  /** What was measured, in the order of the declarations. */
  figures: HostFigure[];
  /** The machine. */
  machine: HostTestMachine;
  /** Tests of other machines by the authors of this program. */
  references: HostReference[];
  /** Length of the test, in seconds. */
  seconds: number;
  /** Number of threads that worked at once in the tests of all threads. */
  threads: number;
}

/** Where the test of the disk wrote. */
export interface HostTestDisk {
  /** Whether the kernel's cache was passed by; if not, reads come from memory. */
  direct: boolean;
  /** Length of the file, in bytes. */
  file_bytes: number;
  /** Type of the file system and its mount point. */
  file_system: string;
  /** Folder of its file. */
  folder: string;
}

/** A machine that was tested. */
export interface HostTestMachine {
  /** Model of the processors; `null` if unknown. */
  cpu: string | null;
  /** Number of logical CPUs; `null` if unknown. */
  cpus: number | null;
  /** Name of the host. */
  host: string;
}

/** A 95 % interval, in the unit of its value. */
export interface Interval {
  /** Upper end of the interval. */
  high: number;
  /** Lower end of the interval. */
  low: number;
}

/** How worker threads wait for their sessions. */
export type Io = "auto" | "epoll" | "uring";

/** Isolation levels by the names of the SQL standard, plus snapshot isolation. */
export type Isolation = "read-uncommitted" | "read-committed" | "repeatable-read" | "snapshot" | "serializable";

/** The result of a test of isolation, as printed by `triphammer isolation --json`. Times have the unit that the field's name ends with; seconds count from the start of a level's load. */
export interface IsolationResult {
  /** The load at a weaker level that shows what this load can show; `null` without one. */
  control: ControlResult | null;
  /** Whether every level kept what it promises, and what is wrong. */
  ending: Ending;
  /** The anomaly that was expected (`--expect`); `null` without one. */
  expected: string | null;
  /** Whether kinds without a control count as a failure (`--fail-if-undecided`). */
  fails_if_undecided: boolean;
  /** The faults, in the order of their times. */
  faults: FaultReport[];
  /** Findings in words, the most important first. */
  findings: string[];
  /** Version of the document's format. */
  format: 1;
  /** The host of the client. */
  host: Host;
  /** Job number; `null` if it was not stored. */
  job: number | null;
  /** Kind of document, by the name of its command. */
  kind: "isolation";
  /** Label given by the user; `null` without one. */
  label: string | null;
  /** What was found at each level, in the order in which they ran. */
  levels: LevelResult[];
  /** Length of each level's load, in seconds. */
  load_s: number;
  /** The server. */
  server: ServerInfo;
  /** Every setting with its value and the source of the value. */
  settings: Setting[];
  /** Start of the first load (second 0), RFC 3339, UTC. */
  started_at: string;
  /** `complete`, or how the load ended before its time. */
  status: Status;
  /** URL of the target, without secrets. */
  target: Redacted;
  /** The program that wrote the document. */
  tool: Tool;
  /** Virtual users. */
  users: number;
  /** Workload and its data. */
  workload: WorkloadFacts;
}

/** The verdict on a kind of anomaly. */
export type IsolationVerdict = "kept" | "violated" | "undecided" | "allowed" | "not_seen";

/** Changes to a job. */
export interface JobChange {
  /** The new label; `null` removes it. */
  label?: string | null | undefined;
}

/** A checked condition. */
export interface JobCheck {
  /** Key of the first violation; `null` if there is none. */
  first_key: string | null;
  /** Identifier of the condition: `3.3.2.1`. */
  id: string;
  /** Whether the condition holds. */
  ok: boolean;
  /** The condition: `w_ytd = Σ d_ytd`. */
  title: string;
  /** Number of violations; 0 if it holds. */
  violations: number;
}

/** A job with its details and result. */
export interface JobDetail {
  /** Conditions of a check, in order. */
  checks: JobCheck[];
  /** The command that does the same again, without secrets. */
  command_line: string;
  /** The result document, or the reason for the failure as text; `null` while the job runs, and for lost jobs. */
  document: JobDocument | string | null;
  /** Facts from the build record, and options. */
  facts: Record<string, string>;
  /** First second of the series; `null` without a series. */
  first_second: number | null;
  /** Available report formats. */
  formats: string[];
  /** Settings that a campaign was given, to start another like it, without its targets and secrets; `null` for other jobs. */
  given: Record<string, string> | null;
  host: Host;
  /** The fields shown in lists. */
  job: JobSummary;
  /** Last second of the series; `null` without a series. */
  last_second: number | null;
  /** Notes, in chronological order. */
  notes: JobNote[];
  /** Whether only the command line does it again: a server would have to read files or run scripts of its host. */
  only_command_line: boolean;
  spec: RunSpec | null;
  /** Keys of the transaction types, in the order of the series. */
  transactions: string[];
}

/** The result of a job, according to `kind`: the document of a run, a profile, a capacity search or a comparison; the report of a build or a check; the tables removed by a drop. */
export type JobDocument = BuildReport | RunResult | ProfileResult | CapacityResult | ComparisonResult | MatrixResult | DrillResult | IsolationResult | CheckReport | Removal;

/** What a job does. */
export type JobKind = "build" | "run" | "profile" | "capacity" | "compare" | "matrix" | "drill" | "isolation" | "check" | "drop";

/** A page of jobs. */
export interface JobList {
  /** Entries of the list, newest first. */
  jobs: JobSummary[];
  /** `before` of the next page; `null` on the last one. */
  next_before: number | null;
  /** Total number of matches on all pages. */
  total: number;
}

/** A note on the run. */
export interface JobNote {
  /** Seconds since the start of the run; `null` before and after the run. */
  at_s: number | null;
  /** Machine-readable kind, one word. */
  kind: string;
  /** Sentence for people to read. */
  text: string;
}

/** Sampled metrics of a job on a common time axis: every list in a series has one value for each entry of `first`. */
export interface JobSamples {
  /** First second of each point, counted from the start of the run. */
  first: number[];
  /** Number of matching series omitted because a response has at most 500. */
  left_out: number;
  /** The series, sorted by name, then by labels. */
  series: SampledSeries[];
  /** Seconds per point; 1 when nothing is merged. */
  step: number;
}

/** Series of a run. Every list has one value for each entry of `first`. */
export interface JobSeries {
  /** CPU use of the busiest worker thread. */
  busiest_thread: Spread;
  /** Bytes that the worker threads' sockets received. `null` if it was not measured. */
  bytes_received: number[];
  /** Bytes that the worker threads' sockets sent. `null` if it was not measured. */
  bytes_sent: number[];
  /** Mean CPU use of the worker threads. */
  client_busy: Spread;
  /** Sessions connected. */
  connected: number[];
  /** First second of each point, counted from the start of the run. */
  first: number[];
  /** CPU use of the client's host. `null` if it was not measured. */
  host_busy: Spread | null;
  /** Event-loop lag of the worker threads, 99th percentile: the delay before they handled what was ready. In µs. `null` if it was not measured. */
  lag_p99_us: Spread | null;
  /** Last second of each point, inclusive. */
  last: number[];
  /** Median time of logins. In µs. `null` if it was not measured. */
  login_p50_us: Spread | null;
  /** 99th percentile of the times of logins. In µs. `null` if it was not measured. */
  login_p99_us: Spread | null;
  /** Sessions that logged in again, also after they were lost. `null` if it was not measured. */
  logins: number[];
  /** Attempts to log in that failed. `null` if it was not measured. */
  logins_failed: number[];
  /** Sessions lost. */
  lost: number[];
  /** TCP segments that the worker threads' sockets received. `null` if it was not measured. */
  packets_received: number[];
  /** TCP segments that the worker threads' sockets sent. `null` if it was not measured. */
  packets_sent: number[];
  primary_metric: Spread | null;
  /** Sessions reconnected. */
  reconnected: number[];
  /** Fastest round trip measured. In µs. `null` if it was not measured. */
  round_trip_us: Spread | null;
  /** Seconds per point; 1 when nothing is merged. */
  step: number;
  /** Transactions of all types completed per second. */
  total_per_second: Spread;
  /** Series by transaction type, in the workload's order. */
  types: TypeSeries[];
}

/** Status of a job. */
export type JobStatus = "running" | "complete" | "interrupted" | "aborted" | "failed" | "lost";

/** A job in a list. */
export interface JobSummary {
  /** End time, RFC 3339, UTC; `null` while it runs, and for lost jobs. */
  ended_at: string | null;
  ending: Ending | null;
  /** Number in the job store. */
  id: number;
  /** The command of the job. */
  kind: JobKind;
  /** Label given by the user; `null` without one. */
  label: string | null;
  /** The profile, capacity, compare or matrix job that a run belongs to; `null` if none. */
  parent: number | null;
  /** Name of the primary metric: `NOPM`; `null` if there is none. */
  primary_metric_name: string | null;
  /** Value of the primary metric; `null` if there is none. */
  primary_metric_value: number | null;
  /** Number of its runs that are complete. */
  runs: number;
  /** Scale of the data, in `scale_unit`; 0 for a check. */
  scale: number;
  /** Unit of the scale, in the plural: `warehouses`. */
  scale_unit: string;
  /** Product name of the server: `PostgreSQL`; `null` before the first connection. */
  server_product: string | null;
  /** Version reported by the server; `null` before the first connection. */
  server_version: string | null;
  /** Transactions completed per second, in intervals of equal length; empty without a series. */
  sparkline: number[];
  /** Start time, RFC 3339, UTC. */
  started_at: string;
  /** Current status of the job. */
  status: JobStatus;
  /** Position in that job's sequence, from 0. */
  step: number | null;
  /** URL of the target, without secrets. */
  target: string;
  /** Version of the program that ran the job. */
  tool_version: string;
  /** Number of virtual users, or of loaders in a build. */
  users: number | null;
  /** Name of the workload: `tproc-c`. */
  workload: string;
  /** Version of the workload; results of different versions cannot be compared. */
  workload_version: number;
}

/** The outcome of a requirement, part of the result document. */
export interface Judgement {
  /** `value - limit`, in `unit`. */
  difference: number | null;
  /** The limit, in `unit`. */
  limit: number;
  /** Name of the metric: `new_order.p95`. */
  metric: string;
  /** The comparison operator. */
  operator: Operator;
  /** Whether the requirement is met. */
  passed: boolean;
  /** The requirement as written: `new_order.p95 < 10ms`. */
  requirement: string;
  /** Unit of limit and value. */
  unit: FigureUnit;
  /** Measured value, in `unit`; `null` if the run has none, and then the requirement fails. */
  value: number | null;
}

/** What was found of a kind of anomaly. */
export interface KindResult {
  /** What shows that it would have been found. */
  control: Control;
  /** Times found: commits overwritten unseen, wrong reads, or distinct smallest cycles. */
  count: number;
  /** The smallest one; `null` if none was found. */
  example: AnomalyExample | null;
  /** Second in which the earliest one began; `null` if none was found. */
  first_s: number | null;
  /** Name of the kind: `G-single`, `lost-update`. */
  kind: string;
  /** Whether the product promises that it does not happen at this level. */
  promised: boolean;
  /** Whether the level's name promises it by the standard. */
  promised_by_name: boolean;
  /** `count` divided by the transactions that committed. */
  share: number;
  /** What happened, in words. */
  title: string;
  /** The verdict. */
  verdict: IsolationVerdict;
  /** The verdict in words. */
  words: string;
}

/** What happens to late arrivals: `issue`, or `skip:` and the delay from which they are skipped. */
export type Late = string;

/** Number of commits of about the same latency. */
export interface LatencyClass {
  /** Number of commits. */
  commits: number;
  /** Longest time of the class, in microseconds; the shortest is that of the class before. */
  up_to_us: number;
}

/** Length of a run. */
export type Length = {
  time: string;
} | {
  transactions: number;
};

/** A level: a number of virtual users, or streams, and its runs. */
export interface Level {
  /** Most frequent bottleneck of its runs. */
  bottleneck: Bottleneck;
  /** Highest share of failures among its runs, from 0 to 1. */
  failure_share: number;
  /** Primary metric predicted by the curve; `null` without a curve. */
  fitted: number | null;
  /** 95 % confidence interval of the mean, by Student's t from the variation of the level's runs on a logarithmic scale; for a single run, that run's own interval from its seconds, which does not include the variation between runs. */
  interval: Interval | null;
  /** Energy of the database's host per transaction that the primary metric counts, in joules: mean over the runs; `null` if a run did not measure it. */
  joules_per_transaction: number | null;
  /** Mean of the primary metric over its runs. */
  mean: number;
  /** Median of the runs' 95th percentiles of response time, in microseconds. */
  p95_us: number;
  /** Median of the runs' 99th percentiles of response time, in microseconds. */
  p99_us: number;
  /** Costs per million of what the primary metric counts, at the mean rate of the level; `null` without a price list. */
  per_million: Estimate | null;
  /** Relative deviation of `mean` from `fitted`. */
  residual: number | null;
  /** Runs of this level, in the order of execution. */
  runs: LevelRun[];
  /** Number of virtual users, or streams. */
  users: number;
}

/** The primary metric at a level. */
export interface LevelFigure {
  /** Figures of both sides, and the ratio. */
  figure: Figure;
  /** Number of virtual users, or streams. */
  users: number;
}

/** What was found at a level. */
export interface LevelResult {
  /** The model that the level's name promises by the standard. */
  by_name: string;
  /** Those that committed. */
  committed: number;
  /** Those in doubt that were seen, so that they count as committed. */
  in_doubt_seen: number;
  /** Those in doubt that nobody saw. */
  in_doubt_unseen: number;
  /** Whether a control ran at a weaker level and showed none of the kinds that this level prevents and a weaker one allows: it proves little. */
  is_blind: boolean;
  /** Every kind of anomaly, from what corrupts data to what is only late. */
  kinds: KindResult[];
  /** The isolation level: `repeatable-read`. */
  level: string;
  /** What to know about the level, in a sentence; `null` for nothing. */
  note: string | null;
  /** Operations of all of them. */
  operations: number;
  /** The order that transactions respect by that promise: `none`, `session` or `real-time`. */
  order: string;
  /** What the level costs. */
  price: Price;
  /** The consistency model that the product promises at it: `snapshot-isolation`. */
  promise: string;
  /** Job number of the run that drove the load; `null` if it was not stored. */
  run: number | null;
  /** Where the product's promise is written. */
  source: string;
  /** How old the state was that reads showed. */
  staleness: Staleness;
  /** Attempts at transactions that were recorded and examined, whatever became of them. */
  transactions: number;
  /** What could not be checked or counted, in a sentence; `null` for nothing. */
  unchecked: string | null;
}

/** A run of a level, or of a combination. */
export interface LevelRun {
  /** The bottleneck of the run. */
  bottleneck: Bottleneck;
  /** Share of transactions that failed or are in doubt. */
  failure_share: number;
  /** Whether the run was successful: failures within the limit and no count contradicted. */
  good: boolean;
  /** 95 % interval of that, from its own seconds. */
  interval: Interval | null;
  /** Number of its job; `null` if it was not stored. */
  job: number | null;
  /** Energy of the database's host per such transaction, in joules; `null` if it was not measured. */
  joules_per_transaction: number | null;
  /** 95th percentile of response time, in microseconds. */
  p95_us: number;
  /** 99th percentile of response time, in microseconds. */
  p99_us: number;
  /** Number of transactions that the primary metric counts, per second of the timed window; 0 in older results. */
  per_second: number;
  /** Whether it kept all requirements (`--require`); `null` without any. */
  requirements_kept: boolean | null;
  /** Start of the run (its second 0), RFC 3339, UTC. */
  started_at: string;
  /** Whether its window was steady; `null` where that does not apply. */
  steady: Steady | null;
  /** Position in the order, from 0. */
  step: number;
  /** Number of virtual users, or streams. */
  users: number;
  /** Value of the primary metric. */
  value: number;
}

/** Inputs of the decision, from the timed window (round trips: from the whole run). `null` if not measured or not measurable. */
export interface LimitFigures {
  /** Share of a core used by the busiest worker thread, from 0 to 1. */
  busiest_thread_share: number;
  /** Share of time in which that thread was ready but waited for a CPU, from 0 to 1. */
  busiest_thread_wait_share: number | null;
  /** CPU cores used by this whole process; `null` if it also did other work. */
  client_cpus: number | null;
  /** Number of CPUs that this process may use. */
  client_cpus_allowed: number | null;
  /** Niceness of this process: 0 is normal, 19 the lowest priority. */
  client_niceness: number;
  /** Number of committed transactions. */
  committed: number;
  /** Whether the database runs on the worker threads, so that their CPU time and their lag are the database's. */
  database_on_threads: boolean;
  /** CPU use of the client's host, from 0 to 1. */
  host_cpu_share: number | null;
  /** Number of CPUs of the client's host; 0 if unknown. */
  host_cpus: number;
  /** Share of time in which some task on the client's host waited for a CPU, from 0 to 1. */
  host_pressure_share: number | null;
  /** Whether the database is part of this process. */
  in_process: boolean;
  /** Whether practically all arrivals of an open load were served; `null` for other loads. */
  kept_up: boolean | null;
  /** Mean of the same. */
  lag_mean_us: number | null;
  /** Median event-loop lag, the delay before worker threads handled what was ready, in microseconds. */
  lag_p50_us: number | null;
  /** 99th percentile of the event-loop lag, in microseconds. */
  lag_p99_us: number | null;
  /** Number of measurements of the event-loop lag. */
  lag_samples: number;
  /** Number of wake-ups later than 10 ms. */
  late_wakeups: number | null;
  /** Mean service time of committed transactions, in microseconds. */
  mean_service_us: number;
  /** Median service time of committed transactions, in microseconds. */
  median_service_us: number;
  /** Round trip time × round trips, as a share of the mean service time. */
  network_share: number | null;
  /** CPU cores used by neither client nor server: by other processes, or by other guests of a virtual host. */
  other_cpus: number | null;
  /** The same, among the CPUs that the client may use. */
  other_cpus_of_client: number | null;
  /** The same, among the CPUs that the server may use. */
  other_cpus_of_server: number | null;
  /** Whether the load model determined when transactions are due. */
  paced: boolean;
  /** Mean time of a round trip, including waits for a CPU at both ends, in microseconds. */
  round_trip_mean_us: number | null;
  /** Number of measurements of the round trip. */
  round_trip_samples: number;
  /** Time of a round trip on the run's own sessions, 10th percentile, in microseconds. */
  round_trip_us: number | null;
  /** Mean number of round trips per transaction. */
  round_trips_per_transaction: number;
  /** Whether client and server run on the same host; `null` if unknown. */
  same_host: boolean | null;
  /** CPU cores used by the server's processes on this host; `null` if they are remote or cannot be observed. */
  server_cpus: number | null;
  /** Number of CPUs that the server may use. */
  server_cpus_allowed: number | null;
  /** Mean number of server processes or threads that were ready but waited for a CPU. */
  server_waiting: number | null;
  /** Number of sessions of the run. */
  sessions: number;
  /** Share of time in which a session was in a transaction, from 0 to 1. */
  sessions_busy_share: number;
  /** Number of worker threads. */
  threads: number;
  /** CPU cores used by all worker threads together. */
  threads_cpus: number;
  /** Mean number of worker threads that were ready but waited for a CPU. */
  threads_waiting: number | null;
  /** Breakdown of a transaction's time; `null` without transactions. */
  time: TimeShares | null;
  /** Length of the window, in seconds. */
  window_s: number;
}

/** What the checker of a test of isolation has found so far in one of its loads. */
export interface LiveCheck {
  /** The kinds of anomalies that were found. */
  found: LiveFinding[];
  /** Whether the load is the control, which shows what the load can show. */
  is_control: boolean;
  /** Isolation level of the load: `read-committed`. */
  level: string;
  /** Number of transactions that were examined. */
  transactions: number;
}

/** An event of `GET /api/v1/events`. */
export type LiveEvent = Hello & {
  type: "hello";
} | Activity & {
  type: "activity";
} | ActivityPhase & {
  type: "phase";
} | LiveSecond & {
  type: "second";
} | ActivityStep & {
  type: "step";
} | ActivityProgress & {
  type: "progress";
} | ActivityRequirements & {
  type: "requirements";
} | ActivityCheck & {
  type: "checked";
} | ActivityNote & {
  type: "note";
} | HostLoad & {
  type: "host";
} | Goodbye & {
  type: "goodbye";
};

/** A kind of anomaly that was found. */
export interface LiveFinding {
  /** How often it was found. */
  count: number;
  /** Name of the kind: `lost-update`. */
  kind: string;
  /** What happened, in words. */
  title: string;
}

/** A note on a job. */
export interface LiveNote {
  /** Seconds since the start of the run; `null` before and after it, and without a run. */
  at_s: number | null;
  /** Machine-readable kind: `outage`, `interrupted`, `warning`, `progress`. */
  kind: string;
  /** Sentence for people to read. */
  text: string;
}

/** A run has entered another phase. */
export interface LivePhase {
  /** Seconds since the start of the run; `null` before it. */
  at_s: number | null;
  /** While connecting: number of connected sessions. */
  connected: number | null;
  /** While connecting: number of sessions to connect. */
  of: number | null;
  /** `connecting`, `ramp_up`, `window`, `drain`, `abort`. */
  phase: string;
}

/** Progress of a build, a check, a run of queries, or streams of queries beside transactions. */
export interface LiveProgress {
  /** Number of units done. */
  done: number;
  /** Elapsed time in ms. */
  elapsed_ms: number;
  /** Beside transactions: geometric mean of the median times of the queries that were answered in the timed window so far, in ms; `null` before the first one, and for others. */
  geomean_ms: number | null;
  /** Current part: `loading`, `keys and indexes`. */
  phase: string;
  /** During a run of queries, or beside transactions: those that are running, by stream. */
  running: LiveQuery[];
  /** During a load: rows loaded so far per table, in the order of their start. */
  tables: TableRows[];
  /** Total number of units, possibly an estimate; 0 for streams of queries beside transactions, which have no end of their own. */
  total: number;
  /** Unit of the counts: `rows`, `steps`. */
  unit: string;
}

/** A query or refresh function that is running. */
export interface LiveQuery {
  /** How long it has been running, in ms. */
  lasts_ms: number;
  /** Key of the query, `q7`; or of the refresh function, `rf1`. */
  name: string;
  /** Number of its stream; `null` for the stream of refresh functions. */
  stream: number | null;
}

/** The requirements of a run, judged by its timed window so far; sent after each second of the window. */
export interface LiveRequirements {
  /** The requirements. A value of `null` is known only at the end of the run. */
  requirements: Judgement[];
}

/** A second of a run. If `last` is after `first`, several seconds are merged: counts are sums, times and shares are those of the worst second. */
export interface LiveSecond {
  /** Number of the activity. */
  activity: number;
  /** CPU use of the busiest worker thread. */
  busiest_thread: number;
  /** Bytes that the worker threads' sockets received. `null` if it was not measured. */
  bytes_received: number | null;
  /** Bytes that the worker threads' sockets sent. `null` if it was not measured. */
  bytes_sent: number | null;
  /** CPU time of all worker threads, in cores (1.5 means one and a half cores). */
  client_cores: number;
  /** Sessions connected. */
  connected: number;
  /** First second, counted from the start of the run. */
  first: number;
  /** CPU use of the client's host. `null` if it was not measured. */
  host_busy: number | null;
  /** Event-loop lag of the worker threads, 99th percentile: the delay before they handled what was ready. In µs. `null` if it was not measured. */
  lag_p99_us: number | null;
  /** Last second, inclusive, counted from the start of the run. */
  last: number;
  /** Median time of logins. In µs. `null` if it was not measured. */
  login_p50_us: number | null;
  /** 99th percentile of the times of logins. In µs. `null` if it was not measured. */
  login_p99_us: number | null;
  /** Sessions that logged in again, also after they were lost. `null` if it was not measured. */
  logins: number | null;
  /** Attempts to log in that failed. `null` if it was not measured. */
  logins_failed: number | null;
  /** Sessions lost. */
  lost: number;
  /** The second since which no transaction has completed; `null` unless an outage went on at the end of this second. */
  outage_since: number | null;
  /** TCP segments that the worker threads' sockets received. `null` if it was not measured. */
  packets_received: number | null;
  /** TCP segments that the worker threads' sockets sent. `null` if it was not measured. */
  packets_sent: number | null;
  /** The workload's primary metric in these seconds, in its own unit, such as per minute. */
  primary_metric: number;
  /** Sessions reconnected. */
  reconnected: number;
  /** Fastest round trip measured. In µs. `null` if it was not measured. */
  round_trip_us: number | null;
  /** Total of all transaction types. */
  total: LiveType;
  /** By transaction type, in the workload's order. */
  types: LiveType[];
}

/** Response of `GET /api/v1/activities/{id}/seconds`. */
export interface LiveSeconds {
  /** Seconds of the current run, in order; older ones are merged. */
  seconds: LiveSecond[];
}

/** A run of a profile, capacity search or comparison. The following phases and seconds belong to it. */
export interface LiveStep {
  /** Job number of the run, once it has one. */
  job: number | null;
  /** Total number of runs; `null` if it depends on their results. */
  of: number | null;
  /** What the run showed in terms of the sequence's question: `p95 41 ms: ok`; `null` before its end, and where the primary metric is the answer. */
  outcome: string | null;
  /** Value of the workload's primary metric at the end of the run; `null` before. */
  primary_metric: number | null;
  /** Number of the run in the sequence, from 1. */
  step: number;
  /** Description of the run: `8 virtual users, repeat 2`. */
  what: string;
}

/** Figures of a transaction type in a second. */
export interface LiveType {
  /** Transactions committed. */
  committed: number;
  /** Transactions failed, or with unknown commit status. */
  failed: number;
  /** Longest response time of committed transactions. In µs. */
  max_us: number;
  /** Key of the transaction type: `new_order`; `all` for the total. */
  name: string;
  /** Median response time of committed transactions. In µs. */
  p50_us: number;
  /** 95th percentile of the response time of committed transactions. In µs. */
  p95_us: number;
  /** 99th percentile of the response time of committed transactions. In µs. */
  p99_us: number;
  /** Transactions completed (committed, or rolled back as the workload requires) per second. */
  per_second: number;
  /** Repeated attempts. */
  retries: number;
  /** Transactions rolled back as the workload requires. */
  rolled_back: number;
}

/** A load model, as `--load` names it. */
export type Load = string;

/** A change of the load that was made. */
export interface LoadAnswer {
  /** When it begins, in seconds since the start of the run. */
  at_s: number;
  from: LoadValue;
  to: LoadValue;
}

/** A change that is asked for. */
export type LoadChange = {
  rate: number;
} | {
  users: number;
} | {
  mix: string;
};

/** A change of the load of a run: one of a rate, a number of users and a mix. */
export interface LoadRequest {
  /** Weights of the transaction types from now on: `10,10,1,1,1`, or `new_order=10,payment=10` with 0 for the others. Types that had a weight of 0 at the start cannot be added. */
  mix: string | null;
  /** Arrivals per second of an open load, from the next whole second on; 0 for a pause. */
  rate: number | null;
  /** Users of a closed load that work from now on, up to those that the run has opened sessions for; the others wait. */
  users: number | null;
}

/** The load of an activity, and whether it can change. */
export interface LoadState {
  /** Why it cannot change, otherwise. */
  fixed: string | null;
  load: ChangeableLoad | null;
}

/** A load before or after a change. */
export type LoadValue = number | string;

/** What a counter is of the server's log writes. */
export type LogFigure = "writes" | "write_time" | "write_mean" | "syncs" | "sync_time" | "sync_mean" | "bytes";

/** What the server did with the file of its log. */
export type LogOperation = "write" | "sync";

/** The writes, or the syncs, of a log in the window, as the server counted them. */
export interface LogWrites {
  /** Share of the window in which the operation was in progress; above 1 if several were at a time. `null` if the server does not measure it. */
  busy: number | null;
  /** Bytes per second; `null` of syncs, and if the server does not count them. */
  bytes_per_second: number | null;
  /** The log: `WAL`, `redo`, `binlog`. */
  file: string;
  /** Longest mean time of a second, in milliseconds; `null` as above. */
  max_ms: number | null;
  /** Mean time, in milliseconds; `null` if the server does not measure it, or did nothing. */
  mean_ms: number | null;
  /** What was done with it. */
  operation: LogOperation;
  /** Number per second. */
  per_second: number;
  /** Number per completed transaction; `null` without transactions. */
  per_transaction: number | null;
}

/** Logins of a part of a run, and how long they took. A login lasts until the session is ready for its first transaction. */
export interface LoginFigures {
  /** Time for authentication. */
  authentication: Times | null;
  /** When sessions were back that had been lost; of the start: when sessions were there. `null` if there was none. */
  back: SessionsBack | null;
  /** Time to the connection; `null` if the driver cannot tell it, and likewise below. */
  connect: Times | null;
  /** Number of logins. */
  count: number;
  /** Number of attempts that failed. */
  failed: number;
  /** Logins per second. */
  per_second: number;
  /** Time for setting up the session and preparing its statements. */
  setup: Times | null;
  /** Time for TLS; `null` without TLS, too. */
  tls: Times | null;
  /** Whole times of the logins. */
  whole: Times;
}

/** When sessions log in; by default once, at the start, as fast as they can. */
export interface LoginPolicy {
  /** Number of transactions after which a session logs out, to log in again for its next one; `null` if it remains. */
  every: number | null;
  /** Number of sessions per second that begin to log in at the start, if the server keeps up; `null` for no limit. */
  per_second: number | null;
}

/** Logins of a run, by its parts. */
export interface Logins {
  /** Those in the whole run. */
  run: LoginFigures;
  /** Those before the start of the run: one of each session. */
  start: LoginFigures;
  /** Those in the timed window. */
  window: LoginFigures;
}

/** How a host was lost. */
export interface LostHost {
  /** When that was noticed, in seconds since the start of the run. */
  at_s: number;
  /** Number of transactions that were in flight when it last reported: they count as in doubt. */
  in_doubt: number;
  /** Why. */
  reason: string;
}

/** Lost commits of one user without a gap. */
export interface LostRange {
  /** Number of the first: column `seq`. */
  first: number;
  /** Second in which the first began. */
  from_s: number;
  /** Number of the last. */
  last: number;
  /** Second in which the last began. */
  to_s: number;
  /** The user: column `usr`. */
  user: number;
}

/** What became of values that the server makes, such as ids. */
export interface MadeValues {
  /** Number of arguments that should have been replaced, and whose value the replayed server did not make, because the statement that makes it failed or was not reached. */
  missing: number;
  /** Number of values that the recorded server made. */
  recorded: number;
  /** Number of arguments in whose place the value of the replayed server was sent. */
  replaced: number;
}

/** The scalability law over the virtual users, or streams, at a combination of the other settings. */
export interface MatrixCurve {
  /** Name of the axis that has the levels: `vus` or `streams`. */
  axis: string;
  /** The fitted law. */
  usl: Usl;
  /** Values of the other axes, in their order. */
  values: string[];
}

/** The order of the runs. */
export interface MatrixOrder {
  /** Number of runs per combination. */
  repeats: number;
  /** The command that ran before each run; `null` for none. */
  restore: string | null;
  /** Random seed of the order. */
  seed: number;
  /** Combination of each run, from 0, the value of the last axis varying fastest. */
  steps: number[];
}

/** The result of a matrix, as printed by `triphammer matrix --json` and `triphammer report JOB --format json`. Times have the unit that the field's name ends with; shares are from 0 to 1; values have the unit of `primary_metric`. */
export interface MatrixResult {
  /** The settings that vary, with their values. */
  axes: Axis[];
  /** Combinations with at least one run, the value of the last axis varying fastest. */
  cells: Cell[];
  /** Where the virtual users, or streams, vary: the scalability law at each combination of the other settings that has enough levels. */
  curves: MatrixCurve[];
  /** Relative change of the primary metric from the first to the last block of runs, at the same combinations; `null` with fewer than two blocks. */
  drift: number | null;
  /** Whether all runs were made and are good. */
  ending: Ending;
  /** Runs that failed. */
  failed_runs: FailedCell[];
  /** Findings in words, the most important first. */
  findings: string[];
  /** Version of the document's format. */
  format: 1;
  /** The host of the client. */
  host: Host;
  /** Job number; `null` if it was not stored. */
  job: number | null;
  /** Kind of document, by the name of its command. */
  kind: "matrix";
  /** Label given by the user; `null` without one. */
  label: string | null;
  /** Order of the runs. */
  order: MatrixOrder;
  /** The primary metric of the runs. */
  primary_metric: PrimaryMetricName;
  /** The server that the first run connected to. */
  server: ServerInfo;
  /** Every setting of the first run with its value and the source of the value. */
  settings: Setting[];
  /** Spec of the first run; the others differ in the axes and what depends on them. */
  spec: RunSpec;
  /** Start of the first run (its second 0), RFC 3339, UTC. */
  started_at: string;
  /** `complete`, or how the matrix ended if runs are missing. */
  status: Status;
  /** URL of the first run's target, without secrets. */
  target: Redacted;
  /** Transaction type whose response times are reported; `all` for all types. */
  times_of: string;
  /** The program that wrote the document. */
  tool: Tool;
  /** Workload and its data, of the first run. */
  workload: WorkloadFacts;
}

/** A mean over seconds. */
export interface MeanOfSamples {
  /** The highest value. */
  max: number;
  /** Mean over these seconds. */
  mean: number;
  /** Number of seconds in which it was measured. */
  seconds: number;
}

/** A memory node: memory that its CPUs reach faster than that of other nodes. */
export interface MemoryNode {
  /** Its CPUs, as Linux lists them: `0-7,16-23`. */
  cpus: string;
  /** Its distance from each node by number: 10 is its own memory, 20 is twice as far. */
  distances: number[];
  /** Its reserved huge pages, in bytes. */
  huge_pages_bytes: number;
  /** Its memory, in bytes. */
  memory_bytes: number | null;
  /** Its number. */
  number: number;
}

/** A judgement of one aspect of the method. */
export interface MethodLine {
  /** The aspect: `length`, `ramp-up`, `settings`. */
  aspect: string;
  /** The run that it is about; `null` for an aspect of the whole job. */
  job: number | null;
  /** Judgement of it. */
  verdict: SetupVerdict;
  /** The judgement in words. */
  words: string;
}

/** Where the logic of a transaction runs. */
export type Mode = "procedures" | "statements";

/** Amount of further measurement. */
export type More = {
  kind: "pairs";
  /** Number of pairs, at least 1. */
  pairs: number;
} | {
  kind: "runs";
  /** Number of runs, at least 1. */
  runs: number;
} | {
  kind: "points";
  /** Number of points, at least 1. */
  points: number;
} | {
  /** Number of blocks, at least 1. */
  blocks: number;
  kind: "blocks";
};

/** Something that happened to a node. */
export interface NodeChangeFigure {
  /** When it was noticed, in seconds since the start of the run. */
  at_s: number;
  /** `lost`, `back`, `promoted` or `demoted`. */
  change: string;
}

/** What a node did: its transactions, sessions and state. Counts are those of the timed window. */
export interface NodeFigures {
  /** Losses, returns and promotions, in order. */
  changes: NodeChangeFigure[];
  /** Number of transactions completed on the node. */
  completed: number;
  /** Sessions of all clients, when the node last answered; `null` if it does not report them. */
  connections: number | null;
  /** Number of transactions failed. */
  failed: number;
  /** `failed` by error class; only classes that occurred. */
  failed_by_class: ClassCount[];
  /** Number of transactions in doubt: the connection was lost after a commit had been sent. */
  indeterminate: number;
  /** Longest replication lag, in seconds. */
  lag_max_s: number | null;
  /** Mean replication lag, in seconds; `null` if the node does not report it, as on a primary. */
  lag_mean_s: number | null;
  /** Name in rules and reports. */
  name: string;
  /** The same per minute. */
  per_minute: number;
  /** Response times of committed transactions. */
  response: Times;
  /** Role at the start of the run; `null` if the node does not report it. */
  role: NodeRole | null;
  /** Role when the node last answered. */
  role_at_end: NodeRole | null;
  /** Transactions per minute that the node's server counted, of all clients; `null` if it counts none. */
  server_per_minute: number | null;
  /** Sessions of the run that were open on the node at the end of the timed window. */
  sessions: number;
  /** Sessions of the run lost on the node, in the whole run. */
  sessions_lost: number;
  /** Share of the transactions completed on all nodes, from 0 to 1. */
  share: number;
  /** URL of the node, without secrets. */
  target: Redacted;
  /** Number of transactions completed on the node, by transaction type. */
  types: NodeTypeCount[];
  /** The server's version, as it reports it. */
  version: string;
}

/** Whether a node accepts writes. */
export type NodeRole = "primary" | "replica";

/** Transactions of one type on a node. */
export interface NodeTypeCount {
  /** Number completed in the timed window. */
  completed: number;
  /** Key of the transaction type: `new_order`. */
  name: string;
}

/** What was observed beside the run in its timed window. */
export interface Observed {
  /** Sessions that others waited for, the worst first. */
  blockers: Blocker[];
  /** Full detail around the moments in which a condition of `--capture-on` became true. */
  captures: Capture[];
  /** What each CPU did, by host. */
  cores: CoreMap[];
  /** What the observers cost. */
  cost: ObserverCost;
  /** Where the CPUs of this host were; `null` without `--cpu-profile`. */
  cpu_profile: CpuProfile | null;
  /** What a missing privilege or setting hid, or could not be read. */
  gaps: ObserverGap[];
  /** Figures of hosts, in the order of their names: of the client's, and of that of a node exporter, which has the label `host.name`. */
  hosts: ProfileFigure[];
  /** Time between two samples of the sessions, in seconds. */
  interval_s: number;
  /** Commits of the log probe; `null` without `--log-probe`. */
  log_probe: CommitProbe | null;
  /** The server's own writes and syncs of its log, by file; empty if it does not count them. */
  log_writes: LogWrites[];
  /** Share of the pages read that were in the database's memory; `null` if it does not count them. */
  memory_hits: number | null;
  /** Counters and states of the server, in the order of their names. */
  profile: ProfileFigure[];
  /** What the sessions did and waited for; `null` if they could not be sampled. */
  sessions: ActiveSessions | null;
  /** Statements by the server's own statistics, by total time. */
  statements: TopStatement[];
}

/** What the observers cost, in the whole run. */
export interface ObserverCost {
  /** CPU time of the observers' threads, in seconds. */
  cpu_s: number;
  /** The same as a share of one core. */
  cpu_share: number;
  /** Number of times that the observers' session was lost. */
  lost: number;
  /** Number of queries sent to the database. */
  queries: number;
  /** Time in which the database answered them, in seconds. */
  query_s: number;
  /** Values that could not be stored. */
  values_lost: number;
}

/** Something that was hidden, or could not be read. */
export interface ObserverGap {
  /** Statement or setting that shows it; empty if none does. */
  change: string;
  /** What is missing. */
  hides: string;
  /** Name of the privilege, setting or query. */
  name: string;
  /** Part of a transaction's time that it hides, and nothing else; `null` if it hides more. */
  part: ServerTime | null;
}

/** A comparison operator. */
export type Operator = "<" | "<=" | ">" | ">=" | "==" | "!=";

/** The order of the runs. */
export interface Order {
  /** Requested levels: `1,2,4` or `auto`. */
  asked: string;
  /** Number of runs per level. */
  repeats: number;
  /** Random seed of the order. */
  seed: number;
  /** Number of virtual users, or streams, of each run, in the order known so far. */
  steps: number[];
}

/** Waits for other sessions, by which a replay keeps the recorded order. */
export interface OrderWaits {
  /** Number of waits that ended early, because what they waited for waited for them: in the replay, or in the database for a lock of their transaction. */
  in_vain: number;
  /** Number of waits that ended after the longest time that is waited, not with what they waited for. */
  timed_out: number;
  /** Time of these waits, in seconds. */
  waited_s: number;
  /** Number of times that a statement waited for a transaction of another session. */
  waits: number;
}

/** Origin of a transaction's input. With the seed of the run, it determines the input. */
export type Origin = {
  user: {
    /** Number of the transaction among those of the user, from 1. */
    nth: number;
    /** Number of the user, from 0. */
    user: number;
  };
} | {
  arrival: number;
};

/** An outage, in seconds since the start of the run. */
export interface Outage {
  /** First second of the outage. */
  from_s: number;
  /** End of the outage, exclusive. */
  until_s: number;
}

/** How a transaction ended: exactly one of these. */
export type Outcome = "committed" | "rolled_back" | {
  failed: ErrorClass;
} | "indeterminate";

/** Further settings of a load that waits. */
export interface Pacing {
  /** Maximum number of arrivals that may wait for a session; 0 where the load is not open. When one more is due, the longest waiting one is dropped. */
  backlog: number;
  /** Changes of the load that the run makes itself, in the order of their times. */
  changes: PlannedChange[];
  /** When the run works, if it takes place at once with another one; `null` if it is alone. */
  half: PairHalf | null;
  /** What happens to late arrivals; open loads only. */
  late: Late;
  /** Time between the log-ins of two consecutive terminals; keyed loads only. */
  login_delay: string;
  /** Sessions that keyed terminals use: one each, or a pool. */
  sessions: Sessions;
  /** Contents of the file of a load in steps. */
  steps: RateStep[];
}

/** One half of a pair of runs that take place at once. */
export interface PairHalf {
  /** Whether it is that of B. */
  is_b: boolean;
  /** Number of blocks after which the pair ends, if it ends earlier as soon as it is decided; `null` if it ends by the clock. */
  looks_most: number | null;
  /** Whether both halves drive the same database, so that its own counts are those of both. */
  same_target: boolean;
  /** Seed of the order of the sides. */
  seed: number;
  /** How the halves share the time. */
  sharing: Sharing;
}

/** Pairs of runs: adjacent ones, each in a random order, or two at once. */
export interface Pairing {
  /** Requested number of pairs, of all levels together. */
  asked: number;
  /** The blocks of pairs whose runs took place at once; `null` of adjacent runs. */
  at_once: AtOnce | null;
  /** Pause between two runs, in seconds. */
  cool_down_s: number;
  /** Runs that failed to start or to end. */
  failed_runs: FailedRun[];
  /** Number of pairs whose runs are both complete. */
  made: number;
}

/** A password. It is kept in memory until the server stops and is never returned. */
export interface PasswordForm {
  /** The password, write-only. */
  password: string;
}

/** When a component is paid. */
export type Payment = {
  every: "hour";
} | {
  every: "month";
} | {
  every: "once";
  /** Years of use, more than 0: each carries the same share of the price. */
  years: number;
};

/** Where throughput is greatest. */
export type Peak = {
  kind: "reached";
  /** Throughput at the peak: X(N*). */
  throughput: Estimate;
  /** Virtual users at the peak: N* = √((1 - σ) / κ), at least 1. */
  users: Estimate;
} | {
  /** Highest level measured, at least twice `users`. */
  highest: number;
  kind: "saturated";
  /** Mean throughput of the levels from there on. */
  throughput: number;
  /** Lowest level with at least 95 % of the greatest throughput. */
  users: number;
} | {
  /** The level with the greatest mean throughput. */
  best: number;
  /** Highest such level, below the highest measured. */
  highest: number;
  kind: "best_levels";
  /** Lowest level whose throughput cannot be distinguished from the greatest. */
  lowest: number;
  /** Its mean throughput. */
  throughput: number;
} | {
  /** Highest level that was measured. */
  highest: number;
  kind: "not_reached";
  /** Where the curve places the peak, as a guess; `null` if it has none (κ = 0). */
  predicted_users: number | null;
};

/** The percentiles contained in results. */
export type Percentile = "p50" | "p90" | "p95" | "p99" | "p99.9";

/** Distribution of the response times of committed transactions of a type. */
export interface PercentileCurve {
  /** Number of committed transactions. */
  count: number;
  /** Key of the transaction type; `all` for all types together. */
  name: string;
  /** Points of the curve, ascending; finer towards 1. */
  points: PercentilePoint[];
}

/** 95 % confidence intervals of percentiles, in microseconds; `null` if the window has too few slices or transactions, or if the response times wander. */
export interface PercentileIntervals {
  /** Interval of the median, in microseconds. */
  p50_us: Interval | null;
  /** Interval of the 90th percentile, in microseconds. */
  p90_us: Interval | null;
  /** Interval of the 95th percentile, in microseconds. */
  p95_us: Interval | null;
  /** Interval of the 99.9th percentile, in microseconds. */
  p99_9_us: Interval | null;
  /** Interval of the 99th percentile, in microseconds. */
  p99_us: Interval | null;
  /** Whether there are none because the level of the response times drifts or wanders so slowly that the window does not show how far. */
  wanders: boolean;
}

/** A point of a percentile curve: this share of the transactions took no longer than the time. */
export interface PercentilePoint {
  /** Share of the transactions, from 0 to 1. */
  quantile: number;
  /** Response time in µs. */
  us: number;
}

/** Percentile curves of a run. */
export interface Percentiles {
  /** The curve of all transaction types together, then one per type; types without transactions are omitted. */
  curves: PercentileCurve[];
}

/** What a phase of a run of queries used. */
export interface PhaseUsage {
  /** Number of the repeat, from 1. */
  repeat: number;
  /** How long it took with the opening of its sessions, in seconds. */
  seconds: number;
  /** Number of its streams, that of refresh functions included. */
  streams: number;
  /** The test; never `both`. */
  test: QueryTest;
  /** What was used meanwhile. */
  usage: Usage;
}

/** Which messages of a transaction share a round trip. Statements, their order and what a failed one does to its transaction are the same in all cases; round trips, and so figures, are not. */
export type Pipelining = "off" | "begin" | "on";

/** A query or a statement whose execution plan changed from A to B. */
export interface PlanChange {
  /** Its plan in the first run of A that has one; no run of B has it. */
  a: ExecutionPlan;
  /** Its plan in B, likewise. */
  b: ExecutionPlan;
  /** Key of the query: `q9`; the statement of a replay, in one line. */
  query: string;
  /** Title of the query; empty for a statement. */
  title: string;
}

/** An operation of a plan. */
export interface PlanOperation {
  /** Number of operations above it. */
  depth: number;
  /** Estimates or measurements, in the database's words; empty without any. */
  figures: string;
  /** What is done, in the database's words; literals are replaced by `?`. */
  operation: string;
}

/** A change that the run makes itself, at a time after the start of the timed window. */
export interface PlannedChange {
  /** Time since the start of the timed window, in whole seconds. */
  at: string;
  /** What changes. */
  change: LoadChange;
}

/** The resolved form. */
export interface Preview {
  /** The equivalent command line to copy, without secrets. */
  command_line: string;
  /** Number of runs of a campaign; `null` if it depends on their results, and for other commands. */
  runs: number | null;
  /** Every setting with its value and the source of the value. */
  settings: ResolvedSetting[];
  spec: RunSpec | null;
  /** URL of the target, without secrets. */
  url: string;
  /** Warnings to read before the start. */
  warnings: string[];
  /** Seconds that a campaign takes with its pauses: about so many if the number of its runs is known, otherwise at most; `null` for other commands. */
  whole_s: number | null;
}

/** What a level costs. */
export interface Price {
  /** Transactions that failed after all attempts. */
  failed: number;
  /** Median response time, in milliseconds; `null` if nothing committed. */
  p50_ms: number | null;
  /** 95th percentile. */
  p95_ms: number | null;
  /** 99th percentile. */
  p99_ms: number | null;
  /** Repeated attempts per committed transaction. */
  retries_per_commit: number;
  /** Transactions committed per second. */
  tps: number;
  /** 95 % confidence interval of it; `null` if the run was too short for one. */
  tps_interval: number[] | null;
}

/** What B costs relative to A, per transaction. */
export interface PriceComparison {
  /** Price list of A. */
  a: PriceList;
  /** Costs of A per million of what the primary metric counts, at its mean rate. */
  a_per_million: number | null;
  /** Price list of B, which may be the same. */
  b: PriceList;
  /** The same of B. */
  b_per_million: number | null;
  /** Costs of B per transaction over those of A, with the interval that follows from that of the rates' ratio; `null` if there is no ratio. */
  ratio: Estimate | null;
  /** The result in words, or why there is no ratio. */
  words: string;
}

/** A component of a price list. */
export interface PriceComponent {
  /** Name for people: `server, 8 vCPU`. */
  name: string;
  /** When it is paid. */
  paid: Payment;
  /** Price of one component per payment, in the list's currency. */
  price: number;
  /** Number of such components. */
  quantity: number;
  /** Where the price is from: a URL with a date, or the number of an offer. */
  source: string;
}

/** What the measured system costs: the components of a price file, all in one currency. One that is read from a document is checked like a price file. */
export interface PriceList {
  /** The components, in the order of the file; at least one. */
  components: PriceComponent[];
  /** Code of the currency by ISO 4217: `EUR`. */
  currency: string;
}

/** The workload's primary metric. */
export interface PrimaryMetricFigure {
  /** Direction in which values improve. */
  better: Better;
  /** Number of committed transactions in the timed window that the metric counts; of queries answered. */
  count: number;
  /** `New-Orders committed per minute`. */
  meaning: string;
  /** Name of the metric: `NOPM`. */
  name: string;
  /** The unit of time: `second`, `minute`, `hour`; `set` for a set of queries. */
  per: string;
  /** Why the value is not available; `null` if it is. */
  unavailable: string | null;
  /** Value: `count` per unit of time, or computed from a set of queries; 0 if it is not available. */
  value: number;
  /** Comparison with the database's own count, over the whole run. */
  verification: Verification;
}

/** A primary metric without a value. */
export interface PrimaryMetricName {
  /** Direction of improvement. */
  better: Better;
  /** Description: `New-Orders committed per minute`. */
  meaning: string;
  /** Name of the primary metric: `NOPM`. */
  name: string;
  /** Unit of time: `second`, `minute`, `hour`. */
  per: string;
}

/** A probe: a run at one rate. */
export interface Probe {
  /** The bottleneck of the run. */
  bottleneck: Bottleneck;
  /** Transactions of all types completed in the window, per second. */
  completed: number;
  /** Share of transactions that failed or are in doubt, from 0 to 1. */
  failure_share: number;
  /** 95 % confidence interval of the percentile, in microseconds; `null` if there is too little data, or if the response times wander so slowly that the window does not show how far. */
  interval_us: Interval | null;
  /** Number of its job; `null` if it was not stored. */
  job: number | null;
  /** Share of arrivals that found no free session in time, from 0 to 1. */
  missed_share: number;
  /** The workload's primary metric. */
  primary_metric: number;
  /** Requested arrivals per second. */
  rate: number;
  /** Why the limit was exceeded; `null` if it was kept. */
  reason: Reason | null;
  /** Transactions per second that the target served, if it clearly fell behind; `null` otherwise. */
  served: Estimate | null;
  /** Position in the sequence, from 0. */
  step: number;
  /** The limited percentile, in microseconds; `null` if no transaction of that type committed. */
  value_us: number | null;
}

/** A counter or state over the timed window. */
export interface ProfileFigure {
  /** Labels of the metric. */
  labels: Record<string, string>;
  /** Last value. */
  last: number;
  /** What it is of the server's log writes; `null` for others. */
  log: LogFigure | null;
  /** Highest value of a second. */
  max: number;
  /** Mean over the seconds in which it was read. */
  mean: number;
  /** Name of the metric. */
  metric: string;
  /** Part of a transaction's time that it is, in milliseconds per second; `null` for others. */
  part: ServerTime | null;
  /** Increase per completed transaction; `null` for states. */
  per_transaction: number | null;
  /** Title of the metric. */
  title: string;
  /** Unit of the values. */
  unit: string;
}

/** What the levels of a profile cost. */
export interface ProfilePrice {
  /** The level with the lowest costs per million among those whose runs all kept the requirements; `null` if no level did. */
  cheapest: CheapestLevel | null;
  /** What is counted: what the primary metric counts, such as `New-Orders committed`. */
  counted: string;
  /** The list, the same for all levels. */
  list: PriceList;
  /** Costs per year of 365 days, in the list's currency. */
  per_year: number;
}

/** The result of a profile, as printed by `triphammer profile --json` and `triphammer report JOB --format json`. Times have the unit that the field's name ends with; shares are from 0 to 1; throughput has the unit of `primary_metric`. */
export interface ProfileResult {
  /** Relative change of throughput from the first to the last block of runs, at the same levels; `null` with fewer than two blocks. */
  drift: number | null;
  /** Whether all runs were made and are good. */
  ending: Ending;
  /** Levels whose runs failed. */
  failed_runs: FailedLevel[];
  /** Findings in words, the most important first. */
  findings: string[];
  /** Version of the document's format. */
  format: 1;
  /** The host of the client. */
  host: Host;
  /** Job number; `null` if it was not stored. */
  job: number | null;
  /** Kind of document, by the name of its command. */
  kind: "profile";
  /** Label given by the user; `null` without one. */
  label: string | null;
  /** What the levels count: `virtual users`, or `streams` of queries, which have no response times. */
  level_unit: string;
  /** Levels with their runs, ascending. */
  levels: Level[];
  /** Why there is no curve; `null` if there is one. */
  no_curve: string | null;
  /** Order of the runs. */
  order: Order;
  /** What the levels cost; `null` without `--price`. */
  price: ProfilePrice | null;
  /** The primary metric of the runs. */
  primary_metric: PrimaryMetricName;
  /** The server that the first run connected to. */
  server: ServerInfo;
  /** Every setting of the first run with its value and the source of the value. */
  settings: Setting[];
  /** Spec of the first run; the others differ in `users` and what depends on it. */
  spec: RunSpec;
  /** Start of the first run (its second 0), RFC 3339, UTC. */
  started_at: string;
  /** `complete`, or how the profile ended if runs are missing. */
  status: Status;
  /** URL of the target, without secrets. */
  target: Redacted;
  /** Transaction type whose response times are reported; `all` for all types. */
  times_of: string;
  /** The program that wrote the document. */
  tool: Tool;
  /** The fitted curve; `null` if there is none. */
  usl: Usl | null;
  /** Workload and its data. */
  workload: WorkloadFacts;
}

/** A function with its own samples. */
export interface ProfiledFunction {
  /** File name of the program or library; `kernel` for the kernel. */
  module: string;
  /** Name; that of the module in brackets if the module has no symbols. */
  name: string;
  /** Samples in the function itself. */
  samples: number;
}

/** What the CPUs did for a side. */
export interface ProfiledSide {
  /** CPUs that it used on average. */
  cpus: number;
  /** The tree of calls in pre-order: each frame is followed by what it calls, which is one deeper. Frames with less than 0.2 % of the side's samples are left out. */
  frames: StackFrame[];
  /** Functions by samples of their own, without what they call; at most 20. */
  functions: ProfiledFunction[];
  /** Number of samples. */
  samples: number;
  /** Whose samples they are. */
  side: CpuSide;
}

/** Levels and curves of two profiles. */
export interface Profiles {
  /** Parameters and peaks of the curves; empty if neither has a curve. */
  curves: CurveFigure[];
  /** Levels that only one profile has. */
  left_out: number[];
  /** What the levels count: `virtual users`, or `streams` of queries. */
  level_unit: string;
  /** Common levels, ascending. */
  levels: LevelFigure[];
}

/** How statements are sent, so that poolers and proxies can be tested. */
export type Protocol = "prepared" | "extended" | "simple";

/** A finite set of queries with a time for each. */
export interface QueriesResult {
  /** Whether equal queries had equal answers. */
  answers: AnswerComparison;
  /** Highest memory of an engine in this process during the timed part, in bytes, as it reports it five times per second; `null` for a server. */
  engine_memory_bytes: number | null;
  /** Figures of the whole run: the mean of each over the repeats. The primary figure is among them. */
  figures: QueryFigure[];
  /** What each phase used: the power test or the throughput test of a repeat. */
  phases: PhaseUsage[];
  /** The execution plan of each query, read once after the timed part; those that could not be read are missing. */
  plans: ExecutionPlan[];
  /** Each query over all streams and repeats, in the order of their numbers; those that were to run. */
  queries: QuerySummary[];
  /** Maximum time of a query, in seconds; `null` without one. */
  query_timeout_s: number | null;
  /** The same figures of each repeat, in order. */
  repeat_figures: QueryFigure[][];
  /** Number of times that the whole test was to run. */
  repeats: number;
  /** Every query and refresh function, in the order in which they were to run, by repeat, test and stream. */
  steps: StepTime[];
  /** Number of query streams that ran side by side. */
  streams: number;
  /** What was measured. */
  test: QueryTest;
  /** Whose CPU time that of steps and phases is; `null` if neither the server's processes nor the database are on the host of triphammer. */
  usage_of: UsageOf | null;
}

/** A figure of a set of queries. */
export interface QueryFigure {
  /** Which way is better. */
  better: Better;
  /** What it is, in words. */
  meaning: string;
  /** Name of the figure: `geomean_ms`, `power`. */
  name: string;
  /** Why it is not available; `null` if it is. */
  reason: string | null;
  /** Title of the figure: `Power@0.01`. */
  title: string;
  /** Its value; `null` if it is not available. */
  value: number | null;
}

/** Streams of queries that ran beside the transactions. */
export interface QueryStreams {
  /** Streams that ended without a connection. */
  away: number;
  /** What queries and transactions did alone; `null` without `--baseline`. */
  baseline: Baseline | null;
  /** CPU time of the streams' threads, in seconds. */
  cpu_s: number;
  /** Figures of all streams in the timed window. */
  figures: QueryFigure[];
  /** Each query over all streams, in the order of their numbers; those that were to run. */
  queries: StreamedQuery[];
  /** Maximum time of a query, in seconds; `null` without one. */
  query_timeout_s: number | null;
  /** Numbers of the streams' connections lost and reconnected. */
  sessions: SessionCounts;
  /** The first queries of the whole run, one by one in the order of their ends. */
  steps: StepTime[];
  /** Number of further queries, of which only `queries` has the counts and times. */
  steps_omitted: number;
  /** Number of streams. */
  streams: number;
}

/** A query over all streams and repeats. */
export interface QuerySummary {
  /** Number of times that it was answered; the times below are of these. */
  answered: number;
  /** Number of times that it was to run. */
  asked: number;
  /** How many CPUs these used on average; `null` if that is unknown. */
  cpus: number | null;
  /** Longest time, in seconds. */
  max_s: number | null;
  /** Mean time, in seconds; `null` if it was never answered. */
  mean_s: number | null;
  /** Shortest time, in seconds. */
  min_s: number | null;
  /** Key of the query: `q7`. */
  name: string;
  /** Largest number of rows of an answer. */
  rows: number;
  /** Title of the query. */
  title: string;
  /** Mean of what was used by those that ran while no other stream did; `null` if none did. */
  usage: Usage | null;
  /** Number of parallel workers in its plan: as launched with `--analyze`, and else as planned; `null` without any. */
  workers: number | null;
}

/** What is measured with the queries. */
export type QueryTest = "queries" | "power" | "throughput" | "both";

/** How long a run waited for the server's work in the background. */
export interface QuietWait {
  /** Whether the server was quiet then. */
  is_quiet: boolean;
  /** Longest time that it would have waited, in seconds. */
  limit_s: number;
  /** Time that it waited, in seconds. */
  seconds: number;
  /** Work that this user cannot see. */
  unknown: string[];
  /** What it waited for. */
  waited_for: BackgroundWork[];
}

/** A rate of arrivals that holds for a time. */
export interface RateStep {
  /** How long the rate holds. */
  lasts: string;
  /** Arrivals per second; 0 for a pause. */
  per_second: number;
}

/** Why a probe exceeds the limit. */
export type Reason = "too_slow" | "cannot_follow" | "failures" | "nothing";

/** A target without secrets: the only form in which it is stored, printed or sent. */
export type Redacted = string;

/** A note made during a run. */
export interface Remark {
  /** Seconds since the start of the run; `null` before and after it. */
  at_s: number | null;
  /** Machine-readable kind, one word. */
  kind: string;
  /** Sentence for people to read. */
  text: string;
}

/** Tables that a drop removed, as a list in JSON. */
export type Removal = string[];

/** What `triphammer repeat --json` prints: whether runs of another day or place give the figures of a bundle. */
export interface RepetitionResult {
  /** The runs of the bundle (A) and those that repeat them (B), compared. */
  comparison: ComparisonResult;
  /** Version of the document's format. */
  format: 1;
  /** Kind of document, by the name of its command. */
  kind: "repeat";
  /** Whether it is a repetition. */
  verdict: RepetitionVerdict;
  /** The verdict in words, with the ratio. */
  words: string;
}

/** Verdict on a repetition. */
export type RepetitionVerdict = "repeated" | "differs" | "unknown" | "not_comparable";

/** What the statements of a replay answered. */
export interface ReplayAnswers {
  /** Number of answers that were compared. */
  compared: number;
  /** Number of these that differ. */
  differing: number;
  /** Number of statements that fail now, and did not, because a row with their key exists: a sign of data that is newer than at the beginning of the recording, as after an earlier replay. */
  duplicates: number;
  /** The divergence that was first in the recording; those that follow may be its consequence. */
  first: FirstDivergence | null;
  /** Number of answers without a row, read or changed, where the recorded one had some: many of them are a sign of data that is older than at the beginning of the recording, or of rows that were deleted since. */
  found_nothing: number;
  /** Values that the server makes. */
  made: MadeValues;
  /** Waits that keep the recorded order. */
  order: OrderWaits;
  /** Number of statements that were sent. */
  sent: number;
  /** The statements whose answers differ, and those that cannot be equal; in the order in which they first differ in the recording. */
  statements: StatementAnswers[];
  /** Number of these that succeeded, or failed as they did when they were recorded. */
  succeeded: number;
  /** Number of statements that were not sent, because one before them in their transaction failed. */
  unreached: number;
  /** Number of answers whose rows could not be compared, because the driver does not read them as texts. */
  unread: number;
  /** Number of those that were compared by less than their rows, because these cannot be the same twice. */
  unstable: number;
  /** Number of statements without a recorded answer. */
  without_answer: number;
}

/** How well the data of a side fits the recording, by its last replay. */
export interface ReplayFit {
  /** Number of statements that failed because a row with their key exists: the data may be newer. */
  duplicates: number;
  /** Number of these that found no row where the recording found some: the data may be older. */
  found_nothing: number;
  /** Number of statements of the recording. */
  statements: number;
  /** Number of these that succeeded, or failed as they did when they were recorded. */
  succeeded: number;
}

/** A resolved setting. */
export interface ResolvedSetting {
  /** Name of the setting. */
  name: string;
  /** Source of the value: `request` or `default`. */
  source: string;
  /** The value as typed on the command line. */
  value: string;
}

/** How a state was restored before a run. */
export interface Restored {
  /** Tables that differ from the snapshot. */
  different: string[];
  /** Fingerprint of the snapshot; `null` if it has none, and for a command. */
  fingerprint: Fingerprint | null;
  /** From what: ``snapshot `clean` ``, or the command. */
  from: string;
  /** Whether the state at the start of the run equals that of the snapshot; `null` if that is not known. */
  is_equal: boolean | null;
  /** Time that it took, in seconds. */
  seconds: number;
}

/** Retries of serialization failures and deadlocks, with the same input. */
export interface RetryPolicy {
  /** Maximum number of attempts, including the first. */
  attempts: number;
  /** Upper limit of the first wait, which is drawn from 0 to this; it doubles with each attempt (full jitter). */
  backoff_first: string;
  /** Upper limit of all later waits. */
  backoff_max: string;
}

/** Round trips to the database. */
export interface RoundTrips {
  /** Mean number per completed transaction, without lost hosts; 0 if none completed. */
  per_transaction: number;
  /** Number of statements and calls sent by completed transactions; without those of lost hosts. */
  total: number;
}

/** What a run costs by its price list, at the rate of its timed window. */
export interface RunPrice {
  /** What is counted: what the primary metric counts, such as `New-Orders committed`. */
  counted: string;
  /** The list. */
  list: PriceList;
  /** How many are counted in a year at the measured rate, in millions; `null` likewise. */
  millions_per_year: Estimate | null;
  /** Costs per million of what is counted, in the list's currency, with the interval that follows from that of the rate; `null` if nothing was counted. */
  per_million: Estimate | null;
  /** Costs per year of 365 days, in the list's currency. */
  per_year: number;
}

/** The result of a run, as printed by `triphammer run --json` and `triphammer report JOB --format json`. Durations and times have the unit that the field's name ends with; shares range from 0 to 1. `window` contains what ended in the timed window, `run` what happened in the whole run, each by transaction type and outcome. */
export interface RunResult {
  /** How much another run would differ; `null` for a run of a campaign, and for one that is not stored. */
  another: AnotherRun | null;
  /** Arrivals of an open load; `null` for other loads. */
  arrivals: Arrivals | null;
  /** The primary metric in each second, if the run took place at once with another one. */
  at_once: SecondsAtOnce | null;
  /** Audits: sums over the data compared with the changes reported by the run's transactions. */
  audits: Audit[];
  /** Availability of the database during the run and at its end. */
  availability: Availability;
  /** Maximum number of arrivals, or terminals, that waited for a session at the end of a second of the timed window. `null` for a closed load. */
  backlog_max: number | null;
  /** The bottleneck of the run. */
  bottleneck: BottleneckVerdict;
  /** CPU use of the client. */
  client: ClientCost;
  /** Lengths of the run and its parts. */
  durations: Durations;
  /** The primary metric relative to the maximum that keying and thinking times allow; `null` without them. */
  efficiency: Efficiency | null;
  /** How the database reacted to the steps of the load; `null` for a load without steps. */
  elasticity: Elasticity | null;
  /** Whether the run is good, and what is wrong with it. */
  ending: Ending;
  /** Energy that was used in the timed window, or why it is not known; `null` with `--no-observe`. */
  energy: Energy | null;
  /** The first error of each transaction type and error class. */
  errors: ErrorFigure[];
  /** The slowest transactions that ended in the timed window, slowest first. */
  exemplars: SlowTransaction[];
  /** Moves of the writes from one node to another, in order. */
  failovers: FailoverFigure[];
  /** Share of failures, compared with the limit. */
  failures: FailureShare;
  /** Declared figures without separate fields, in display order. */
  figures: DeclaredFigure[];
  /** The first answer after a pause without connections; `null` without `--pause`. */
  first_answer: FirstAnswer | null;
  /** Version of the document's format. */
  format: 1;
  /** The host of the client. */
  host: Host;
  /** What each host did, if several drove the load; otherwise empty. */
  hosts: HostShare[];
  /** Job number; `null` if it was not stored. */
  job: number | null;
  /** Kind of document, by the name of its command. */
  kind: "run";
  /** Label given by the user; `null` without one. */
  label: string | null;
  /** Logins of sessions, by phase; `null` for a run of queries, and in results of versions that did not measure them. */
  logins: Logins | null;
  /** What each node of the target did; empty for a single server. */
  nodes: NodeFigures[];
  /** Notes made during the run. */
  notes: Remark[];
  /** What was observed at the database beside the run; `null` with `--no-observe`, and where the database shows nothing. */
  observed: Observed | null;
  /** Wait for a session: from when a transaction was due to the start of its first attempt, for all that ended in the timed window. `null` for a closed load. */
  pool_wait: Times | null;
  /** What the run costs by its price list; `null` without `--price`. */
  price: RunPrice | null;
  /** The workload's primary metric over the timed window. */
  primary_metric: PrimaryMetricFigure;
  /** Times and figures of a finite set of queries; `null` for a run of transactions. The parts of the document about transactions are empty then. */
  queries: QueriesResult | null;
  /** Streams of queries that ran beside the transactions; `null` without streams. */
  query_streams: QueryStreams | null;
  /** What the statements of a replay answered, beside the recorded answers; `null` for other loads. */
  replay: ReplayAnswers | null;
  /** Requirements of the run (`--require`) and their outcomes. */
  requirements: Judgement[];
  /** Round trips of the whole run. */
  round_trips: RoundTrips;
  /** Transactions of the whole run, including ramp-up and drain. */
  run: Figures;
  /** Schema facts that the query planner depends on, at the start of the run; empty if unknown. */
  schema: SchemaFact[];
  /** Product, version and transport of the database server. */
  server: ServerInfo;
  /** The counter from which `tpm_server` was computed. */
  server_transactions: ServerTransactions | null;
  /** Numbers of sessions lost and reconnected, in the whole run. */
  sessions: SessionCounts;
  /** Every setting with its value and the source of the value. */
  settings: Setting[];
  /** Server settings that changed between the start and the end of the run. */
  settings_changed: SettingChange[];
  /** Names of the server settings that somebody set, at the start of the run, to another value than the default of the server's version; `null` if the server does not say. MySQL's are all that were set. */
  settings_set: string[] | null;
  /** How host and database were set up at the start of the run, as `doctor` reports it: what does not change by itself. */
  setup: SetupFact[];
  /** The timed window in slices of equal length, in order, which show drifts; the last one may be shorter, and slices in which no second ended are omitted. */
  slices: Slice[];
  /** Spec of the run: how the workload was driven. */
  spec: RunSpec;
  /** Start of the run (its second 0), RFC 3339, UTC. */
  started_at: string;
  /** State of the data at the start of the run, and how it was brought about; `null` for a database that stores nothing. */
  state: DatabaseState | null;
  /** Execution plans of the costliest statements of a replay, read after it; `query` is the statement. */
  statement_plans: ExecutionPlan[];
  /** Times of the statements of scripts, in the order of the scripts; empty for other workloads. */
  statements: StatementFigures[];
  /** How the run ended. */
  status: Status;
  /** Whether the window was steady, and when the warm-up ended; `null` if seconds are not samples of the primary metric, and if the load itself changes. */
  steadiness: Steadiness | null;
  /** URL of the target, without secrets. */
  target: Redacted;
  /** The program that wrote the document. */
  tool: Tool;
  /** Transactions completed per minute in the timed window: committed, or rolled back as the workload requires. */
  tpm_client: number;
  /** Transactions per minute of all types for each of the primary metric, such as TPM : NOPM: as the database counted them if it does, else the client; `null` unless both are rates per minute. */
  tpm_ratio: number | null;
  /** Transactions per minute counted by the database itself in the timed window; `null` if it has no counter. */
  tpm_server: number | null;
  /** Where the time of a transaction goes, and what it exchanges with the server; `null` of a set of queries, and if no transaction committed in the window. */
  transaction_time: TransactionTime | null;
  /** Violated counting identities; empty unless the client has a defect. */
  violated_identities: ViolatedIdentity[];
  /** Warnings to read before using the figures. */
  warnings: Warning[];
  /** Transactions that ended in the timed window. */
  window: Figures;
  /** Workload and its data. */
  workload: WorkloadFacts;
}

/** How a workload is driven. */
export interface RunSpec {
  /** How worker threads wait for their sessions. */
  io: Io;
  /** Isolation level; `null` for the database's own. */
  isolation: Isolation | null;
  /** Length of the run, as a time or a number of transactions. */
  length: Length;
  /** Limits of all waits. */
  limits: TimeLimits;
  /** When transactions are due. */
  load: Load;
  /** When sessions log in. */
  logins: LoginPolicy;
  /** Share of transactions that may fail before the run counts as failed. */
  max_failures: number;
  /** Where the transaction logic runs. */
  mode: Mode;
  /** Further settings of a load that waits. */
  pacing: Pacing;
  /** Which messages of a transaction share a round trip. */
  pipelining: Pipelining;
  /** How statements are sent. */
  protocol: Protocol;
  /** Load before the timed window, which is not measured. Zero when the length is a number of transactions. */
  rampup: string;
  /** When a failed attempt is retried. */
  retry: RetryPolicy;
  /** Random seed of the inputs. */
  seed: number;
  /** Number of worker threads. */
  threads: number;
  /** Number of virtual users; of terminals where the load is keyed, of sessions where it is open. */
  users: number;
}

/** Means of all sampled metrics of a job in a part of the run, and in the rest of a window. */
export interface SampleMeans {
  /** Number of series omitted because a response has at most 2000. */
  left_out: number;
  /** The series that were measured in the part or in the rest, sorted by name, then by labels. */
  series: SeriesMeans[];
}

/** Spread of a metric over the seconds of each point; `null` if it was not measured. */
export interface SampleSpread {
  /** Maximum over the seconds of each point. */
  max: (number | null)[];
  /** Mean over the seconds of each point. */
  mean: (number | null)[];
  /** Minimum over the seconds of each point. */
  min: (number | null)[];
}

/** A sampled metric with its labels. */
export interface SampledSeries {
  /** Labels that identify the measured object. */
  labels: Record<string, string>;
  /** Rule for merging seconds: `sum`, `last`, `min`, `max` or `mean`. */
  merge: string;
  /** Name of the metric. */
  metric: string;
  spread: SampleSpread | null;
  /** Title in charts. */
  title: string;
  /** Unit of the values. */
  unit: string;
  /** The value of each point, merged by that rule; `null` if it was not measured. */
  value: (number | null)[];
}

/** A target without its secrets. */
export interface SavedTarget {
  /** Whether the server was started with it; then it can be neither changed nor deleted. */
  fixed: boolean;
  /** Whether the server has a password for it, kept in memory or given at the start. */
  has_password: boolean;
  /** Name of the target. */
  name: string;
  /** Database schema to use; the user's default schema when absent. */
  schema: string | null;
  /** URL of the database, without secrets. */
  url: string;
}

/** Periodic work of a server. */
export type Schedule = {
  kind: "nothing";
} | {
  kind: "every";
  /** Value of the setting, in seconds. */
  seconds: number;
  /** Setting that defines the period: `checkpoint_timeout`. */
  setting: string;
} | {
  kind: "unknown";
  /** Reason in words. */
  why: string;
};

/** A fact about a table. */
export interface SchemaFact {
  /** Kind of the fact. */
  kind: SchemaKind;
  /** Name of the index or constraint; empty for other kinds. */
  name: string;
  /** Name of the table, or of a fact about the whole database. */
  table: string;
  /** Definition as given by the database, number of rows, bytes, or age of statistics in seconds (`never`, or `gathered` if the database does not report the time). */
  value: string;
}

/** Kind of a schema fact. */
export type SchemaKind = "table" | "engine" | "index" | "constraint" | "rows" | "bytes" | "index_bytes" | "statistics";

/** A script that was run. */
export interface ScriptFacts {
  /** Whether it is a built-in script. */
  builtin: boolean;
  /** Name of its file, or of the built-in script. */
  name: string;
  /** SHA-256 of its text, in hexadecimal digits. */
  sha256: string;
  /** The script itself. */
  text: string;
  /** Weight in the mix. */
  weight: number;
}

/** The seconds of a run that took place at once with another one, which are compared with the same seconds of that run. */
export interface SecondsAtOnce {
  /** Number of transactions that the primary metric counts in each second, from the start of the run to the end of the timed window. */
  counts: number[];
}

/** Means of a sampled metric. */
export interface SeriesMeans {
  here: MeanOfSamples | null;
  /** Labels that identify the measured object. */
  labels: Record<string, string>;
  /** Name of the metric. */
  metric: string;
  rest: MeanOfSamples | null;
  /** Title in charts. */
  title: string;
  /** Unit of the values. */
  unit: string;
}

/** How a server changed during a search. An early rate is measured again at its end, so that there are runs near the same rates before and after a change. */
export interface ServerChange {
  /** By how much the capacity changed, as a share. */
  change: Estimate;
  /** The early rate that was measured again, in transactions per second. */
  rate: number;
}

/** The server at the other end of a session. */
export interface ServerInfo {
  /** TLS version and cipher; `null` without TLS. */
  cipher: string | null;
  /** Name of the product: `PostgreSQL`, `SQLite`. */
  product: string;
  /** Whether the server runs on this host, and so shares its CPUs with the client; `null` if unknown. */
  same_host: boolean | null;
  /** How it is reached: `tcp`, `unix socket`, `in process`; with `, io_uring` if that is what the worker threads of the run use. */
  transport: string;
  /** The server's version, as it reports it. */
  version: string;
}

/** A setting of the server. */
export interface ServerSetting {
  /** Value at the end; `null` if it was absent or could not be read. */
  end: string | null;
  /** Name of the setting. */
  name: string;
  /** Value at the start; `null` if it was absent. */
  start: string | null;
}

/** The server's settings during a run. */
export interface ServerSettings {
  /** Entries in the order of their names. */
  settings: ServerSetting[];
}

/** A part of a transaction's time that some servers count themselves. */
export type ServerTime = "parsing" | "planning" | "row_locks";

/** The database's own transaction counter over the timed window. */
export interface ServerTransactions {
  /** Increase of the counter. */
  count: number;
  /** Seconds between the two readings. */
  seconds: number;
}

/** How long the database was away. */
export interface Service {
  /** Stretches without an acknowledged commit of any user, to the millisecond: of at least 100 ms, and of at least ten times the mean time between two commits. The longest, at most 100. */
  outages: Outage[];
  /** Sessions that were lost and had not reconnected when the load ended. */
  sessions_away: number;
  /** Seconds without an acknowledged commit: those of all outages. */
  without_service_s: number;
}

/** Numbers of sessions lost and reconnected. */
export interface SessionCounts {
  /** Number of sessions lost. */
  lost: number;
  /** Number of sessions reconnected. */
  reconnected: number;
}

/** Login state of a client. */
export interface SessionInfo {
  /** Whether this client is authenticated. */
  authorized: boolean;
  /** Whether the server needs a token; always true. */
  needed: boolean;
}

/** The sessions that terminals use. */
export type Sessions = "own" | {
  pool: number;
};

/** When sessions were back, each since it was lost; or were there at the start, since the first of them began to log in. */
export interface SessionsBack {
  /** Time until all of them were back, in seconds. */
  all_s: number;
  /** Time until half of them were back, in seconds. */
  half_s: number;
  /** Time until 95 % of them were back, in seconds. */
  most_s: number;
  /** Number of sessions. */
  sessions: number;
}

/** A setting of the run with its value and the source of the value. */
export interface Setting {
  /** Name on the command line and in job files, without dashes. */
  name: string;
  /** Source of the value: `flag`, `environment`, `job file` or `default`. */
  source: string;
  /** The value as typed on the command line. */
  value: string;
}

/** A server setting that changed during the run. */
export interface SettingChange {
  /** Value at the end; `null` if it was absent. */
  end: string | null;
  /** Name of the setting. */
  name: string;
  /** Value at the start; `null` if it was absent. */
  start: string | null;
}

/** A setting of a command. */
export interface SettingInfo {
  /** The accepted words; empty if any value of the kind is accepted. */
  choices: ChoiceInfo[];
  /** Description of the default; `null` if there is none. A preview shows its value. */
  default: string | null;
  /** Group in the form. */
  group: Group;
  /** Help text in one line. */
  help: string;
  /** Kind of values that it accepts. */
  kind: SettingKind;
  /** Name in forms and on the command line. */
  name: string;
  /** Whether it is about transactions: a run of a set of queries rejects it. */
  of_transactions: boolean;
  /** Title for people to read. */
  title: string;
}

/** Kind of values of a setting. All are sent as text. */
export type SettingKind = "switch" | "integer" | "duration" | "share" | "range" | "choice" | "text";

/** What a setting was measured to be worth, by whoever published it. */
export interface SetupCost {
  /** The figure, with what it was measured on. */
  figure: string;
  /** Author and title of the source. */
  source: string;
  /** Address of the source. */
  url: string;
}

/** A fact about the set-up of a run's host or database, as `doctor` reports it. */
export interface SetupFact {
  /** The goals that the judgement is about; empty for the database, and in older results. */
  goals: SetupGoal[];
  /** What it is about. */
  group: SetupGroup;
  /** Name of the check; of a database's setting, its name there. */
  name: string;
  /** The value, for people. */
  value: string;
  /** Judgement of the value. */
  verdict: SetupVerdict;
}

/** What a set-up may be for. A setting may serve one goal at the cost of the other: without turbo runs are more alike, and slower. */
export type SetupGoal = "speed" | "comparable";

/** What a check is about. */
export type SetupGroup = "host" | "network" | "database";

/** A line of the report: one check with its value. */
export interface SetupLine {
  /** Command or setting that changes it, for the goals that the judgement is about. */
  change: string;
  /** What the setting was measured to be worth; `null` if no published measurement is known. */
  cost: SetupCost | null;
  /** The goals that the judgement is about; empty for checks of network and database. */
  goals: SetupGoal[];
  /** What it is about. */
  group: SetupGroup;
  /** Name of the check; of a database's setting, its name there. */
  name: string;
  /** The value, for people. */
  value: string;
  /** Judgement of the value. */
  verdict: SetupVerdict;
  /** Why it matters. */
  why: string;
}

/** Judgement of a line, from good to bad. */
export type SetupVerdict = "fine" | "look" | "wrong";

/** How the halves of a pair share the time. */
export type Sharing = {
  kind: "slices";
  /** Length of a slice in seconds, at least 1. */
  slice_s: number;
} | {
  /** The second from which each works alone, in pairs of slices. */
  alone_from_s: number;
  /** Length of such a slice in seconds; 0 if there are none. */
  alone_s: number;
  /** Mean length of a block in seconds, at least 1. At its end, the halves swap their CPUs. */
  block_s: number;
  kind: "duet";
};

/** Names in a bundle that identify machines, people or purposes. */
export interface ShownNames {
  /** Whether names were replaced when the bundle was made. */
  anonymous: boolean;
  /** Hosts of targets, nodes and exporters, without those of the machine itself. */
  hosts: string[];
  /** Labels of the job and of its runs. */
  labels: string[];
  /** Folders and files of databases and jobs. */
  paths: string[];
}

/** One side of a comparison: A or B. */
export interface Side {
  /** The requested side: `job 12`, a label, or a target and settings. */
  name: string;
  /** Its runs, in chronological order. */
  runs: SideRun[];
  /** The server that the first run connected to. */
  server: ServerInfo;
  /** URL of the first run's target, without secrets. */
  target: Redacted;
  /** Workload and its data, from the first run. */
  workload: WorkloadFacts;
}

/** A run of one side. */
export interface SideRun {
  /** The bottleneck of the run. */
  bottleneck: Bottleneck;
  /** Share of transactions that failed or are in doubt. */
  failure_share: number;
  /** Whether the run was successful. */
  good: boolean;
  /** Number of its job; `null` if it was not stored. */
  job: number | null;
  /** Start of the run (its second 0), RFC 3339, UTC. */
  started_at: string;
  /** Steadiness of its window; `null` if that does not apply. */
  steady: Steady | null;
  /** Position in the comparison or profile, from 0; `null` if it belongs to neither. */
  step: number | null;
  /** Number of virtual users. */
  users: number;
  /** Value of the primary metric. */
  value: number;
}

/** The signature of a manifest. */
export type Signature = {
  state: "none";
} | {
  /** Type and fingerprint of the key, as `ssh-keygen` names them. */
  key: string;
  state: "by_key";
} | {
  /** Type and fingerprint of the key, as `ssh-keygen` names them. */
  key: string;
  state: "by_asked";
};

/** A slice of the timed window. */
export interface Slice {
  /** Number of arrivals that became due; `null` unless the load is open, and in old results. */
  arrived: number | null;
  /** Length of the part, in seconds. */
  seconds: number;
  /** Start of the slice, in seconds since the start of the run. */
  start_s: number;
  /** Total of all transaction types. */
  total: SliceFigures;
  /** Figures by transaction type, in the workload's order. */
  types: SliceFigures[];
}

/** Figures of a transaction type in a slice. */
export interface SliceFigures {
  /** Number of transactions completed: committed, or rolled back as the workload requires. */
  completed: number;
  /** Number of transactions failed or in doubt. */
  failed: number;
  /** Key of the transaction type: `new_order`; `all` for the total. */
  name: string;
  /** Transactions completed per minute. */
  per_minute: number;
  /** Response times of committed transactions, from when they were due to their end. */
  response: Times;
}

/** One of the slowest transactions of the timed window, with the origin of its input: `triphammer run TARGET --replay-exemplar JOB:N` runs it again. */
export interface SlowTransaction {
  /** Number of attempts, including the first. */
  attempts: number;
  /** When it was due, in seconds since the start of the run. */
  due_s: number;
  /** When it ended, in seconds since the start of the run. */
  finished_s: number;
  /** Origin of the transaction: user or arrival. */
  origin: Origin;
  /** How the run ended. */
  outcome: Outcome;
  /** Response time from when it was due to its end, in microseconds. */
  response_us: number;
  /** Service time from the start of the first attempt to its end, in microseconds. */
  service_us: number;
  /** When its first attempt started, in seconds since the start of the run. */
  started_s: number;
  /** Key of the transaction type: `new_order`. */
  transaction: string;
}

/** The sessions of a database at one time, without those that are idle outside transactions. */
export interface Snapshot {
  /** Number of further sessions. */
  more: number;
  /** The second at whose end they were read, counted from the start of the run. */
  second: number;
  /** The sessions, those with the oldest transactions first. */
  sessions: CapturedSession[];
}

/** Spread of a metric over the seconds of each point; 0 if it was not measured. */
export interface Spread {
  /** Maximum over the seconds of each point. */
  max: number[];
  /** Mean over the seconds of each point. */
  mean: number[];
  /** Minimum over the seconds of each point. */
  min: number[];
}

/** A frame of the tree of calls. */
export interface StackFrame {
  /** 0 for those that nothing calls. */
  depth: number;
  /** File name of the program or library; `kernel` for the kernel. */
  module: string;
  /** Name of the function; that of the module in brackets if the module has no symbols. */
  name: string;
  /** Samples in the function and in what it calls. */
  samples: number;
}

/** How old the state was that reads showed. */
export interface Staleness {
  /** Maximum of it. */
  max_ms: number | null;
  /** Median of the time since the commit that they should have shown; `null` without stale reads. */
  p50_ms: number | null;
  /** 99th percentile of it. */
  p99_ms: number | null;
  /** Reads that were judged. */
  reads: number;
  /** Reads that did not show a commit acknowledged before their transaction began. */
  stale: number;
}

/** A statement of the recording, and how its answers compare. */
export interface StatementAnswers {
  /** Number of answers that were compared. */
  compared: number;
  /** Number of these that differ in at least one way. */
  differing: number;
  /** The differences, the gravest first; without those that did not occur. */
  divergences: DivergenceCount[];
  /** The first divergences. */
  examples: DivergenceExample[];
  /** The statement, in one line. */
  text: string;
  /** Why answers to it cannot be expected to be equal, such as `now()`; `null` if they can. */
  unstable: string | null;
}

/** Times of one statement of a script over the whole run, including ramp-up. */
export interface StatementFigures {
  /** How many times it failed. */
  failures: number;
  /** Line of the script, from 1. */
  line: number;
  /** Time of the longest of them, in microseconds. */
  max_us: number;
  /** Mean time of the successful runs, in microseconds. */
  mean_us: number;
  /** How many times it succeeded. */
  runs: number;
  /** The statement, in one line. */
  text: string;
  /** Its transaction type: the script. */
  transaction: string;
}

/** The time of a statement on both sides. */
export interface StatementSpeed {
  /** Mean time over the runs of A, in microseconds. */
  a_us: number;
  /** Mean time over the runs of B, in microseconds. */
  b_us: number;
  /** Ratio of B to A, with an interval that holds for all statements together; `null` if it cannot be computed. */
  comparison: Comparison | null;
  /** Its share of the time of all statements of A. */
  share: number;
  /** The statement, in one line. */
  text: string;
}

/** The active sessions of a statement. */
export interface StatementWaits {
  /** Average number of active sessions. */
  average: number;
  /** Share of all active sessions of this run. */
  share: number;
  /** Name of the workload's statement, such as `new_order.call`, or the text of another. */
  statement: string;
  /** The class in which its sessions were most often. */
  top_class: WaitClass;
  /** Transaction type that it belongs to; `null` if it belongs to none or several. */
  transaction: string | null;
}

/** How a run ended. */
export type Status = "complete" | "interrupted" | "aborted" | "failed";

/** Statistics on a run's primary metric, from its seconds. All refer to the timed window, except the end of the warm-up, which is searched from the start of the run. */
export interface Steadiness {
  /** Correlation of neighbouring seconds, from -1 to 1. */
  autocorrelation: number;
  /** Standard deviation of the seconds relative to their mean; `null` if the mean is 0. */
  coefficient_of_variation: number | null;
  /** Effective sample size: number of independent seconds with the same information about the mean. */
  effective_seconds: number;
  /** 95 % confidence interval of the mean, adjusted for autocorrelation and for rare, large values; `null` if the window is too short. It is that of the level only if the verdict is `steady`, and otherwise that of this window. For a window that ended by its interval, it is at least as wide as requested. */
  interval: Interval | null;
  /** Mean of the seconds, in the unit of the primary metric. */
  mean: number;
  /** Power of the slowest fluctuations (periods of half the window and longer) relative to what the correlation of neighbours explains: about 1 without long memory, above 2.5 with it. */
  memory: number;
  /** What to do next; `null` when there is nothing to do. */
  next: string | null;
  /** Number of periods of that work in the window; `null` if no period is known. */
  periods: number | null;
  /** Half-width of the interval relative to the mean; `null` without an interval. */
  relative_half_width: number | null;
  /** Periodic work of the server, of which a window has to contain two periods so that its mean is claimed for the level. */
  schedule: Schedule;
  /** Number of complete seconds analysed. */
  seconds: number;
  /** Seconds after the start of the run from which the level is known to be within 1 % of the following level; `null` if noise or a drift hides that. */
  settled_s: number | null;
  /** Minimum length of a window whose mean is claimed for the level, in seconds. */
  shortest_s: number;
  /** Change of level at `step_at_s`, relative to the level before. */
  step: number | null;
  /** Second of the run at which the level changed most. */
  step_at_s: number;
  /** Change along a linear trend through the window, relative to the mean. */
  trend: number | null;
  /** Target of `--until-ci`; `null` if the length was a time or a number. */
  until: Until | null;
  /** Whether the mean is representative of the window. */
  verdict: Steady;
  /** End of the warm-up. */
  warm_up: WarmUp;
  /** Reason in words, with figures. */
  words: string;
}

/** Whether a run's mean represents the level of its primary metric. */
export type Steady = "steady" | "within_window" | "drifting" | "too_short";

/** What a step changed. */
export type StepCause = "rate" | "users" | "mix" | "nodes";

/** How a query or refresh function ended. */
export type StepOutcome = "answered" | "timed_out" | "failed" | "cancelled" | "not_run" | "unsupported";

/** The reaction to a step of the load. Times are in seconds after the step, rounded down; `null` if what they wait for did not happen before the next step. */
export interface StepReaction {
  /** When the load changed, or when the run noticed that a node was lost or had returned, in seconds since the start of the run. */
  at_s: number;
  /** Arrivals per second, users, weights, or nodes, before. */
  from: LoadValue;
  /** Time until it was at the new level, within the level's own spread. */
  full_s: number | null;
  /** Time until throughput reached 50 % of the new level: at least half of it after a step up, at most one and a half after a step down. */
  half_s: number | null;
  /** How long the new load lasted, in seconds. */
  lasted_s: number;
  /** The most transactions that waited at the end of a second, beyond those that wait at the new level. */
  late: number;
  /** Sum over the seconds of what waited beyond that: transactions times seconds. */
  late_s: number;
  /** Time until it reached 95 % of the new level: at least 0.95 or at most 1.05 times that. */
  most_s: number | null;
  /** How far throughput went beyond the new level, as a share of it; 0 within its spread. */
  overshoot: number;
  /** Mean throughput of the part after the step, in transactions per second. */
  per_second: number;
  /** Time until response times (95th percentile) were within their own spread at the new level. */
  response_s: number | null;
  /** Median over its second half of the response times (95th percentile of a second), in microseconds; `null` if nothing was completed. */
  response_us: number | null;
  /** The same after. A rate is the new level; of all else, the new level is the throughput that was reached. */
  to: LoadValue;
  /** What changed. */
  what: StepCause;
}

/** A query or refresh function of a stream. */
export interface StepTime {
  /** The error; `null` if it was answered. */
  error: string | null;
  /** Fingerprint of the answer, whatever the order of its rows; `null` without an answer. */
  fingerprint: string | null;
  /** Key of the query, `q7`; or of the refresh function, `rf1`. */
  name: string;
  /** How it ended. */
  outcome: StepOutcome;
  /** Arguments of the query; the number of the set of a refresh function. */
  parameters: string[];
  /** Position in its stream, from 1. */
  position: number;
  /** Number of the repeat, from 1. */
  repeat: number;
  /** Number of rows of the answer; rows changed by a refresh function. */
  rows: number;
  /** Time from its start until its last row was read, or it failed, in seconds. */
  seconds: number | null;
  /** Seconds from the start of the run to its start; `null` if it was not started. */
  start_s: number | null;
  /** Number of the stream; `null` for the stream of refresh functions. */
  stream: number | null;
  /** The test that it belongs to; never `both`. */
  test: QueryTest;
  /** What was used from its start to its end; `null` if another stream ran beside it, or it is unknown. */
  usage: Usage | null;
}

/** The time of an earlier test. */
export interface StoredCpuTest {
  /** When it was made, RFC 3339, UTC. */
  at: string;
  /** CPU model of the server's host; `null` if the server ran on another host than the client. */
  cpu: string | null;
  /** Product of the server. */
  product: string;
  /** Time of the test, in seconds. */
  seconds: number;
  /** Version of the server. */
  version: string;
}

/** An earlier test. */
export interface StoredHostTest {
  /** When it was made, RFC 3339, UTC. */
  at: string;
  /** What was measured. */
  figures: HostFigure[];
  /** Type of the file system and its mount point; `null` if the disk was not tested. */
  file_system: string | null;
  /** The machine. */
  machine: HostTestMachine;
}

/** A query over all streams. */
export interface StreamedQuery {
  /** Number of answers in the whole run. */
  answered: number;
  /** Number of times that it was cancelled because the timed window ended. */
  cancelled: number;
  /** Number of times that it failed, in the whole run. */
  failed: number;
  /** Number of answers in the timed window; the times below are of these. */
  in_window: number;
  /** Longest time, in seconds. */
  max_s: number | null;
  /** Mean time, in seconds. */
  mean_s: number | null;
  /** Median time in seconds, to three digits; `null` if it was never answered in the window. */
  median_s: number | null;
  /** Shortest time, in seconds. */
  min_s: number | null;
  /** Key of the query: `q7`. */
  name: string;
  /** Largest number of rows of an answer in the whole run. */
  rows: number;
  /** Number of times that it exceeded the maximum time of a query, in the whole run. */
  timed_out: number;
  /** Title of the query. */
  title: string;
}

/** Subject of a fact. */
export type Subject = "workload" | "state" | "setting" | "target" | "server" | "schema" | "size" | "statistics" | "plan" | "server_setting" | "server_default" | "tool" | "host";

/** What was read of a table. */
export interface TableFingerprint {
  /** Name of the table. */
  table: string;
  /** Number of rows, or a text that depends on all of them. */
  value: string;
}

/** How the table was read back. */
export interface TableRead {
  /** Why the table could not be read; `null` if it was. */
  error: string | null;
  /** Rows of the table. */
  rows: number;
  /** The server; `null` if it was not reached. */
  server: ServerInfo | null;
  /** URL of the database, without secrets. */
  target: Redacted;
  /** Seconds from the end of the run until it answered and accepted writes. */
  waited_s: number;
}

/** Rows of a table loaded so far. */
export interface TableRows {
  /** Number of rows loaded. */
  rows: number;
  /** Name of the table. */
  table: string;
}

/** A target in the file of saved targets. */
export interface TargetForm {
  /** Database schema to use; the user's default schema when absent. */
  schema?: string | null | undefined;
  /** URL of the database. A password in it is removed and kept in memory only. It must not name a path of the server's host, except an SQLite file in the server's data directory. */
  url: string;
}

/** List of saved targets. */
export interface TargetList {
  /** Entries in the order of their names. */
  targets: SavedTarget[];
}

/** Properties of a target's server. */
export interface TargetTest {
  /** TLS version and cipher; `null` without TLS. */
  cipher: string | null;
  /** Time to connect, in milliseconds. */
  connect_ms: number;
  /** Notices of the driver, such as a missing TLS encryption. */
  notes: string[];
  /** Product name of the server: `PostgreSQL`, `SQLite`. */
  product: string;
  /** Whether it runs on the host of this server and shares its CPUs; `null` if that is unknown. */
  same_host: boolean | null;
  /** Transport: `tcp`, `unix socket` or `in process`. */
  transport: string;
  /** Version as reported by the server. */
  version: string;
}

/** CPU use of a worker thread. */
export interface ThreadCpu {
  /** CPU time, in seconds. */
  cpu_s: number;
  /** CPU time relative to the length of the run: 1 means a full core. */
  share: number;
  /** Number of the thread, from 0. */
  thread: number;
}

/** Where the time of a transaction goes in A and in B. */
export interface TimeComparison {
  /** The parts in display order: a part is followed by the parts that it consists of. */
  parts: ComparedPart[];
}

/** A named limit for every wait. */
export interface TimeLimits {
  /** Limit for opening a session. */
  connect: string;
  /** Limit for transactions in flight after the stop; then they are aborted. */
  drain: string;
  /** Wait before a lost session first reconnects; doubles up to `reconnect_max`. */
  reconnect_first: string;
  /** Longest wait between two attempts to reconnect. */
  reconnect_max: string;
  /** Limit for an attempt at a transaction; zero for none. A watchdog cancels it and counts a timeout. */
  transaction: string;
}

/** Breakdown of the transactions' time, as shares that add up to 1. */
export interface TimeShares {
  /** The client's threads were working. */
  client_cpu: number;
  /** The client's threads were ready but waited for a CPU. */
  client_wait: number;
  /** In transit between client and server. */
  network: number;
  /** The remainder: the server waited for locks, disks and so on; if it cannot be observed, all its time. */
  rest: number;
  /** The server was working; `null` if it cannot be observed. */
  server_cpu: number | null;
  /** The server was ready but waited for a CPU; `null` if it cannot be observed. */
  server_wait: number | null;
}

/** A summary of times in microseconds. Percentiles are exact to three significant digits; the mean is exact where the sum is known. */
export interface Times {
  /** Number of times summarised; if it is 0, all other values are 0. */
  count: number;
  /** Longest time, in microseconds. */
  max_us: number;
  /** Mean, in microseconds; exact for committed transactions. */
  mean_us: number;
  /** Shortest time, in microseconds. */
  min_us: number;
  /** Median (50th percentile), in microseconds. */
  p50_us: number;
  /** 90th percentile, in microseconds. */
  p90_us: number;
  /** 95th percentile, in microseconds. */
  p95_us: number;
  /** 99.99th percentile, in microseconds. */
  p99_99_us: number;
  /** 99.9th percentile, in microseconds. */
  p99_9_us: number;
  /** 99th percentile, in microseconds. */
  p99_us: number;
  /** Standard deviation, in microseconds, of times to three significant digits; `null` without times, and in old results. */
  stdev_us: number | null;
}

/** A login request. */
export interface TokenForm {
  /** The token that the server was started with or has printed. */
  token: string;
}

/** The program that wrote a document. */
export interface Tool {
  /** Whether the program is a debug build, which uses many times the CPU time of a release build. */
  debug_build: boolean;
  /** Name of the program: `triphammer`. */
  name: string;
  /** Version of the program. */
  version: string;
}

/** A statement, by the server's own statistics over the timed window. */
export interface TopStatement {
  /** Blocks found in memory. */
  blocks_hit: number;
  /** Blocks read. */
  blocks_read: number;
  /** Number of calls. */
  calls: number;
  /** Mean time at the server, in milliseconds. */
  mean_ms: number;
  /** Rows returned or changed. */
  rows: number;
  /** Its text, shortened. */
  text: string;
  /** Total time at the server, in seconds. */
  total_s: number;
}

/** How the CPUs and the memory of a host are arranged, as far as the system says. */
export interface Topology {
  /** Caches of the processors, the nearest to the cores first. */
  caches: CpuCache[];
  /** Number of cores of all packages. */
  cores: number;
  /** Memory nodes, by number. */
  nodes: MemoryNode[];
  /** Number of packages (sockets). */
  packages: number;
  /** Number of logical CPUs that are online. */
  threads: number;
}

/** A transaction type of a workload. */
export interface TransactionInfo {
  /** Key of the transaction type: `new_order`. */
  name: string;
  /** Share of all transactions in the default mix, from 0 to 1. */
  share: number;
  /** Title of the transaction type: `New-Order`. */
  title: string;
}

/** A part of a transaction's time, or an amount that it needs. */
export interface TransactionPart {
  /** Depth in the tree of parts: 0 for the response time and for amounts. */
  depth: number;
  /** How it was measured, or what would make it known; may be empty. */
  how: string;
  /** Name of the part: `network`; `lock_table` for each table of a lock. */
  name: string;
  /** Share of the response time, from 0 to 1; `null` for amounts and unknown parts. */
  share: number | null;
  /** Title in reports and on the page. */
  title: string;
  /** Unit of the value: `us`, `bytes` or `average`. */
  unit: string;
  /** Value per transaction; `null` if it is not known. */
  value: number | null;
}

/** Where the time of a transaction goes, and what it exchanges with the server: means per transaction, from the timed window. */
export interface TransactionTime {
  /** The parts in display order: a part is followed by the parts that it consists of. */
  parts: TransactionPart[];
  /** Number of committed transactions over which the times are means. */
  transactions: number;
}

/** Figures of a transaction type. `ended = completed + failed + indeterminate`, and in the whole run `started = ended + in_flight`. */
export interface TypeFigures {
  /** Number of transactions committed. */
  committed: number;
  /** Number of transactions completed: committed, or rolled back as the workload requires. */
  completed: number;
  /** Events that the transaction type itself counts; `null` if it counts none. */
  counter: CounterFigure | null;
  /** Number of transactions ended, with any outcome. */
  ended: number;
  /** Number of transactions failed. */
  failed: number;
  /** `failed` by error class; only classes that occurred. */
  failed_by_class: ClassCount[];
  /** Response times of transactions failed or in doubt. */
  failed_times: Times;
  /** Number of transactions in flight when the run was aborted; whole run only. */
  in_flight: number | null;
  /** Number of transactions in doubt: the connection was lost after a commit had been sent. */
  indeterminate: number;
  /** Key of the transaction type: `new_order`; `all` for the total. */
  name: string;
  /** Transactions completed per minute. */
  per_minute: number;
  /** Response times of committed transactions, from when they were due to their end. */
  response: Times;
  /** Confidence intervals of the percentiles of `response`; timed window only. */
  response_intervals: PercentileIntervals;
  /** Number of transactions that needed more than one attempt, with any outcome. */
  retried: number;
  /** Number of repeated attempts, by class of the preceding error; only classes that occurred. */
  retries_by_class: ClassCount[];
  /** Number of transactions rolled back as the workload requires. */
  rolled_back: number;
  /** Response times of transactions rolled back as the workload requires. */
  rolled_back_times: Times;
  /** Number of times longer than a year (an hour in older results), which are counted as that. */
  saturated: number;
  /** Service times of committed transactions, from the start of the first attempt to their end. The same as `response` for a closed load. */
  service: Times;
  /** Share of the completed transactions of all types, from 0 to 1. */
  share: number;
  /** Number of transactions started; whole run only. */
  started: number | null;
  /** Title of the transaction type: `New-Order`. */
  title: string;
  /** Number of committed transactions that no standby has confirmed, although the server was to wait for one: its warning is in the notes. */
  unconfirmed: number;
  /** Number of completed transactions whose answer could not be read. */
  unread: number;
}

/** The series of a transaction type. */
export interface TypeSeries {
  /** Transactions failed, or with unknown commit status. */
  failed: number[];
  /** Longest response time of committed transactions. In µs. */
  max_us: number[];
  /** Mean response time of committed transactions. In µs. */
  mean_us: number[];
  /** Key of the transaction type: `new_order`. */
  name: string;
  /** Median response time of committed transactions. In µs. */
  p50_us: Spread;
  /** 95th percentile of the response time of committed transactions. In µs. */
  p95_us: Spread;
  /** 99th percentile of the response time of committed transactions. In µs. */
  p99_us: Spread;
  /** Transactions completed (committed, or rolled back as the workload requires) per second. */
  per_second: Spread;
  /** Repeated attempts. */
  retries: number[];
}

/** Why the work was not spread evenly. */
export type UnevenCause = "interrupts" | "sessions" | "saturated";

/** Checks that could not be made, for one reason. */
export interface Unread {
  /** Names of the checks. */
  checks: string[];
  /** Why they could not be made. */
  reason: string;
}

/** A statement whose answers differ among the replays of one side. */
export interface UnstableStatement {
  /** Number of its answers that are not compared. */
  answers: number;
  /** The statement, in one line. */
  text: string;
}

/** A window whose length was determined by its own interval. */
export interface Until {
  /** Whether it was reached within the maximum time. */
  reached: boolean;
  /** Requested half-width of the interval, relative to the mean. */
  relative_half_width: number;
}

/** What was used of this host between two moments. */
export interface Usage {
  /** CPU time of triphammer, in seconds; `null` if it is part of `cpu_s`. */
  client_cpu_s: number | null;
  /** CPU time, in seconds. */
  cpu_s: number;
  /** Bytes read from the disks of the host, by all its programs; `null` if it does not show them. */
  read_bytes: number | null;
  /** Bytes written to the disks of the host, by all its programs. */
  written_bytes: number | null;
}

/** Whose CPU time a `Usage` is. */
export type UsageOf = "server" | "process";

/** The Universal Scalability Law fitted to all runs: X(N) = λ N / (1 + σ (N - 1) + κ N (N - 1)). */
export interface Usl {
  /** Amdahl's law for comparison: κ = 0. */
  amdahl: Curve;
  /** κ N (N - 1) at `judged_at`. */
  coherency_loss: number;
  /** σ (N - 1) at `judged_at`: time lost to contention, in units of the work itself. */
  contention_loss: number;
  /** The law with all three parameters. */
  curve: Curve;
  /** Share of linear scaling that remains at `judged_at`, from 0 to 1. */
  efficiency: number;
  /** The level at which losses are computed: the peak or the best level if throughput declines beyond it, otherwise the highest level. */
  judged_at: number;
  /** P value of the hypothesis κ = 0; `null` if it cannot be computed. */
  kappa_p_value: number | null;
  /** What limits scaling at `judged_at`. */
  limit: UslLimit;
  /** P value of the levels' deviation from the curve; `null` if it cannot be computed. */
  misfit_p_value: number | null;
  /** The peak of the throughput. */
  peak: Peak;
}

/** What limits throughput at the judged level. */
export type UslLimit = "contention" | "coherency" | "neither_yet";

/** Whether the database's count agrees with the client's. */
export type Verdict = "verified" | "within_bounds" | "violated" | "not_counted";

/** Verification of the primary metric's count with the database, over the whole run. */
export interface Verification {
  /** Number of committed transactions counted by the client. */
  committed: number;
  /** Increase of the counter. */
  database: number | null;
  /** The database's count after the run; `null` likewise. */
  database_after: number | null;
  /** The database's count before the run; `null` if it could not be queried. */
  database_before: number | null;
  /** Number of transactions in flight when the run was aborted, which may have committed. */
  in_flight: number;
  /** Number of transactions in doubt, which may have committed. */
  indeterminate: number;
  /** Whether client and database agree. */
  verdict: Verdict;
  /** The verdict in words. */
  words: string;
}

/** A violated counting identity: a defect of the engine. */
export interface ViolatedIdentity {
  /** The violated equation. */
  identity: string;
  /** Value of its left side. */
  left: number;
  /** Value of its right side. */
  right: number;
  /** Key of the transaction type; `null` for all types together. */
  transaction: string | null;
}

/** A class of wait, and how its active-session time changed. */
export interface WaitCause {
  /** What to try next. */
  advice: string;
  /** Class of the wait. */
  class: WaitClass;
  /** The events of the class, likewise. */
  events: CauseEvent[];
  /** Its figures. */
  figures: CauseFigures;
}

/** What active-session time per committed transaction was spent on, compared with the rest, or with the baseline of a comparison. Causes whose interval includes 0, or that were seen in fewer than 10 samples, are not named. */
export interface WaitChanges {
  /** The causes: increases, the largest first, then decreases. */
  causes: WaitCause[];
  /** Number of resamples behind each interval. */
  resamples: number;
  /** Statements, likewise. */
  statements: CauseStatement[];
}

/** Class of what an active session waits for, the same for all databases. */
export type WaitClass = "cpu" | "row_lock" | "lock" | "log" | "replica" | "io" | "latch" | "client" | "sleep" | "other";

/** A class of wait of active sessions, or a wait. */
export interface WaitShare {
  /** Average number of active sessions. */
  average: number;
  /** Class of the wait. */
  class: WaitClass;
  /** Share of all active sessions of this run. */
  share: number;
  /** Name of the wait at the server, such as `Lock:transactionid`; empty for a whole class, and for sessions that do not wait. */
  wait: string;
}

/** End of the warm-up (MSER-5 over ramp-up and window): the truncation point that gives the best mean. The level may still be slightly lower there: see `settled_s`. */
export type WarmUp = {
  /** Seconds, a multiple of 5. */
  after_s: number;
  kind: "ended";
} | {
  kind: "not_found";
} | {
  kind: "too_short";
};

/** What was read into caches before a run. */
export interface WarmedUp {
  /** What could not be read, or is to be known of it. */
  notes: string[];
  /** Number of tables and indexes that were read. */
  relations: number;
  /** Time that it took, in seconds. */
  seconds: number;
  /** How: `pg_prewarm of tables`. */
  ways: string[];
}

/** Warnings to read before using the figures. */
export interface Warning {
  /** Machine-readable kind: `counter`, `failures`, `debug_build`, `window_short`. */
  kind: string;
  /** What to do next, as advice to the user; `null` when there is nothing to do. */
  next: string | null;
  /** Sentence for people to read. */
  text: string;
}

/** How the stretch was chosen. */
export type WhyBasis = "given" | "lowest" | "window";

/** A figure of the server or of a host, as the mean of the seconds. */
export interface WhyEvidence {
  /** Mean in the stretch. */
  here: number;
  /** Name for programs, such as `checkpoints`. */
  name: string;
  /** Mean in the rest; `null` without a rest. */
  rest: number | null;
  /** Title for people. */
  title: string;
  /** Unit of the values. */
  unit: string;
}

/** A session, or the sessions of the run, that blocked sessions of the run. */
export interface WhyLock {
  /** Average number of blocked sessions in the stretch. */
  blocked: number;
  /** The same in the rest; `null` without a rest. */
  blocked_rest: number | null;
  /** Number at the server, user, program and state of the session; or that they are the run's. */
  blocker: string;
  /** Whether another program's session blocked them. */
  is_foreign: boolean;
  /** The table; empty if unknown. */
  object: string;
  /** Last statement of the session; empty if unknown. */
  statement: string;
}

/** A part of a run. */
export interface WhyPart {
  /** Committed transactions per second. */
  committed_per_second: number;
  /** First observed second, counted from the start of the run. */
  from_s: number;
  /** Average number of sessions of the run that were idle in a transaction. */
  idle_in_transaction: number;
  /** Number of observed seconds. */
  seconds: number;
  /** Average number of active sessions of the run. */
  sessions: number;
  /** End of the last observed second. */
  to_s: number;
}

/** Why a run, or a stretch of it, was as slow as it was, as printed by `triphammer why --json`. Its causes are the changes between the stretch and the rest of the timed window, or, without a rest, what the sessions did in the whole window. */
export interface WhyResult {
  /** How the stretch was chosen. */
  basis: WhyBasis;
  /** Whether commits wait until the log is on the disk, by the server's settings; `null` if unknown. */
  commits_wait: boolean | null;
  /** What else is known of server and hosts, if it differs from the rest. */
  evidence: WhyEvidence[];
  /** Version of the document's format. */
  format: 1;
  /** Job number of the run. */
  job: number;
  /** Kind of document, by the name of its command. */
  kind: "why";
  /** What limited the whole run, in words. */
  limited_by: string;
  /** Who blocked sessions of the run, and at which table, the most sessions first. */
  locks: WhyLock[];
  /** What to try next, the most promising first. */
  next: string[];
  /** Notes on the run in the stretch, such as outages. */
  notes: Remark[];
  /** The rest of the timed window; `null` if the whole window is explained. */
  rest: WhyPart | null;
  /** The server that the run connected to. */
  server: ServerInfo;
  /** Start of the run (its second 0), RFC 3339, UTC. */
  started_at: string;
  /** The explained part of the run. */
  stretch: WhyPart;
  /** URL of the target, without secrets. */
  target: Redacted;
  /** The program that wrote the document. */
  tool: Tool;
  /** The causes. */
  waits: WaitChanges;
  /** Warnings to read before using the result. */
  warnings: Warning[];
  /** The main cause in one sentence, with its evidence. */
  words: string;
  /** Workload and its data. */
  workload: WorkloadFacts;
}

/** Workload and its data. */
export interface WorkloadFacts {
  /** Facts from the build record, and options of the run: `seed`, `c_load`, `all-warehouses`. */
  facts: Record<string, string>;
  /** Name on the command line: `tproc-c`. */
  name: string;
  /** Scale of the data, in `scale_unit`. */
  scale: number;
  /** Unit of the scale, in the plural: `warehouses`. */
  scale_unit: string;
  /** The user's scripts; empty for other workloads. */
  scripts: ScriptFacts[];
  /** Title of the workload: `TPROC-C`. */
  title: string;
  /** Version of the workload; results of different versions cannot be compared. */
  version: number;
}

/** Description of a workload. */
export interface WorkloadInfo {
  /** Options of `build`, in addition to the settings. */
  build_options: SettingInfo[];
  /** Supported modes, the preferred one first. */
  modes: string[];
  /** Name in forms: `tproc-c`. */
  name: string;
  /** Whether a run times a set of queries: settings about transactions are then rejected. */
  of_queries: boolean;
  /** Whether only the command line runs it: a server would have to read files or run scripts of its host. */
  only_command_line: boolean;
  /** Name of the primary metric: `NOPM`. */
  primary_metric: string;
  /** Description of the primary metric. */
  primary_metric_meaning: string;
  /** Options of `run`, in addition to the settings. */
  run_options: SettingInfo[];
  /** Unit of `scale`: `warehouses`. */
  scale_unit: string;
  /** Title of the workload: `TPROC-C`. */
  title: string;
  /** Transaction types, in the order of every series and report. */
  transactions: TransactionInfo[];
  /** Version of the workload; results of different versions cannot be compared. */
  version: number;
}

/** List of workloads. */
export interface WorkloadList {
  /** The workloads; the first is the default. */
  workloads: WorkloadInfo[];
}

/** Latency of commits, as one session sees it, with its round trip. */
export interface WriteTest {
  /** How many commits took how long, the shortest first; each class is twice as wide as the one before. */
  histogram: LatencyClass[];
  /** Length of the test, in seconds. */
  seconds: number;
  /** Times of the commits. */
  times: Times;
}

/** Every operation: its query, its body, and what it answers. */
export interface Operations {
  /** Returns facts about the server and its host. The load of the host is sent as `host` events. */
  "GET /api/v1/about": {
    query: undefined;
    body: undefined;
    answer: About;
  };
  /** Lists running, queued and recently ended activities, newest first. */
  "GET /api/v1/activities": {
    query: undefined;
    body: undefined;
    answer: ActivityList;
  };
  /** Starts a build, run, check or drop, or queues it behind another on the same target. A drop needs no confirmation. */
  "POST /api/v1/activities": {
    query: undefined;
    body: Form;
    answer: Activity;
  };
  /** Returns an activity with its form, its resolved spec and its result document. */
  "GET /api/v1/activities/{id}": {
    query: undefined;
    body: undefined;
    answer: ActivityDetail;
  };
  /** Aborts an activity: a run abandons transactions in flight. It is stored anyway. */
  "POST /api/v1/activities/{id}/abort": {
    query: undefined;
    body: undefined;
    answer: Activity;
  };
  /** Streams the events of one activity: all stored ones, or those after `Last-Event-ID`, and then new ones. See `LiveEvent`. */
  "GET /api/v1/activities/{id}/events": {
    query: undefined;
    body: undefined;
    answer: LiveEvent;
  };
  /** Returns the load of an activity, and whether it can change. */
  "GET /api/v1/activities/{id}/load": {
    query: undefined;
    body: undefined;
    answer: LoadState;
  };
  /** Changes the load of a run during the run: the rate of an open load, the users of a closed one, or the mix. The change is a note of the run, and the result has the reaction to it (`elasticity`). */
  "POST /api/v1/activities/{id}/load": {
    query: undefined;
    body: LoadRequest;
    answer: LoadAnswer;
  };
  /** Returns the seconds of the current run, at most 600: older ones are merged. A page that has too many points replaces them with these. */
  "GET /api/v1/activities/{id}/seconds": {
    query: undefined;
    body: undefined;
    answer: LiveSeconds;
  };
  /** Stops an activity: removes it from the queue, drains and stores a run, or cancels a build or check. The second request aborts it. */
  "POST /api/v1/activities/{id}/stop": {
    query: undefined;
    body: undefined;
    answer: Activity;
  };
  /** Lists the commands available in forms, with their settings. */
  "GET /api/v1/commands": {
    query: undefined;
    body: undefined;
    answer: CommandList;
  };
  /** Compares B with A, as `triphammer compare A B` does: runs, profiles, or labels of runs. */
  "GET /api/v1/comparisons": {
    query: {
      /** Baseline: a job number, `last`, or a label (all complete runs with that label). */
      a?: string | undefined;
      /** Compared with A: a job number, `last`, or a label. */
      b?: string | undefined;
      /** Smallest difference that matters, such as `2%` or `0.02`; 2 % when absent. */
      margin?: string | undefined;
    };
    body: undefined;
    answer: ComparisonResult;
  };
  /** Examines the host of this server, the network and the database of a target, and changes nothing. It ends within 30 s, and earlier when the client disconnects. A target in use by an activity is rejected, because the measurements would slow it down. */
  "POST /api/v1/doctor": {
    query: undefined;
    body: DoctorForm;
    answer: DoctorResult;
  };
  /** Streams the events of all activities: all stored ones, or those after `Last-Event-ID`, and then new ones. Each has its type as `event:` and a `LiveEvent` as `data:`. The first is always `hello`. A client that reconnects gets the events it missed, with long stretches thinned; a client that does not keep up is disconnected and should reconnect. */
  "GET /api/v1/events": {
    query: undefined;
    body: undefined;
    answer: LiveEvent;
  };
  /** Returns runs in chronological order and the changes of their primary metric, as `triphammer history` does. */
  "GET /api/v1/history": {
    query: {
      /** Only runs with this label. */
      label?: string | undefined;
      /** Only runs of this workload; the workload of the newest run when absent. */
      workload?: string | undefined;
      /** Only runs whose target contains this text. */
      on?: string | undefined;
      /** Label of the runs of a fixed build: changes are those of the ratios to them. */
      control?: string | undefined;
    };
    body: undefined;
    answer: HistoryResult;
  };
  /** Lists stored jobs, newest first. */
  "GET /api/v1/jobs": {
    query: {
      /** Only jobs of this command; all when absent. */
      kind?: "build" | "run" | "profile" | "capacity" | "compare" | "matrix" | "drill" | "isolation" | "check" | "drop" | undefined;
      /** Only jobs with this status; all when absent. */
      status?: "running" | "complete" | "interrupted" | "aborted" | "failed" | "lost" | undefined;
      /** Only jobs of this workload; all when absent. */
      workload?: string | undefined;
      /** Only the runs of this profile, capacity, compare or matrix job; when absent, jobs that are not part of another job. */
      parent?: number | undefined;
      /** Text to find in label, target, workload, server or number, ignoring case. */
      search?: string | undefined;
      /** Only jobs older than this one, which is the last of the previous page. */
      before?: number | undefined;
      /** Maximum number of jobs, 1 to 200; 50 when absent. */
      limit?: number | undefined;
      /** Points of each job's sparkline, 0 to 200; 0 when absent. */
      sparkline?: number | undefined;
    };
    body: undefined;
    answer: JobList;
  };
  /** Deletes a job with all its measurements. */
  "DELETE /api/v1/jobs/{id}": {
    query: undefined;
    body: undefined;
    answer: undefined;
  };
  /** A job with its details and result. */
  "GET /api/v1/jobs/{id}": {
    query: undefined;
    body: undefined;
    answer: JobDetail;
  };
  /** Changes the label of a job. */
  "PATCH /api/v1/jobs/{id}": {
    query: undefined;
    body: JobChange;
    answer: undefined;
  };
  /** Returns the heat map of response times over the time of a run, from its stored histograms. */
  "GET /api/v1/jobs/{id}/heatmap": {
    query: {
      /** First second, counted from the start of the run; the run's first when absent. */
      from?: number | undefined;
      /** End second, exclusive; the run's end when absent. */
      to?: number | undefined;
      /** Maximum number of columns (time intervals), 1 to 400; 120 when absent. */
      columns?: number | undefined;
      /** Maximum number of rows (response time intervals), 2 to 400; 48 when absent. */
      rows?: number | undefined;
      /** Key of a transaction type; all types together when absent. */
      transaction?: string | undefined;
    };
    body: undefined;
    answer: Heatmap;
  };
  /** Returns percentile curves of the response times of a run. */
  "GET /api/v1/jobs/{id}/percentiles": {
    query: {
      /** `window` (the timed window, the default) or `run` (the whole run). */
      scope?: "window" | "run" | undefined;
    };
    body: undefined;
    answer: Percentiles;
  };
  /** Returns the report of a job, as `triphammer report` prints it. */
  "GET /api/v1/jobs/{id}/report": {
    query: {
      /** One of the job's `formats`; `text` when absent. */
      format?: string | undefined;
      /** Whether to send it as a file to save. */
      download?: boolean | undefined;
    };
    body: undefined;
    answer: Record<string, unknown>;
  };
  /** Returns sampled metrics of a job, merged to at most `points` points of equal length. */
  "GET /api/v1/jobs/{id}/samples": {
    query: {
      /** Comma-separated names of metrics. When absent, the response lists all series of the job, without points. */
      metric?: string | undefined;
      /** Only series with these labels: a JSON object, such as `{"database":"tpcc"}`. */
      labels?: string | undefined;
      /** Omits series with this label, such as the many of single CPUs with `cpu.logical_number`. */
      without?: string | undefined;
      /** Whether merged points have minimum, mean and maximum, too; `true` when absent. */
      spread?: boolean | undefined;
      /** First second, counted from the start of the run; the run's first when absent. */
      from?: number | undefined;
      /** End second, exclusive; the run's end when absent. */
      to?: number | undefined;
      /** Maximum number of points per series, 1 to 2000; 300 when absent. With more than 50 series, at most 100,000 in the whole response. */
      points?: number | undefined;
    };
    body: undefined;
    answer: JobSamples;
  };
  /** Returns the means of all sampled metrics in a part of a run, and in the rest of the window. */
  "GET /api/v1/jobs/{id}/samples/means": {
    query: {
      /** First second of the part, counted from the start of the run. */
      from?: number | undefined;
      /** End second of the part, exclusive. */
      to?: number | undefined;
      /** First second of the window whose rest is compared; the run's first when absent. */
      window_from?: number | undefined;
      /** End second of that window, exclusive; the run's end when absent. */
      window_to?: number | undefined;
      /** Omits series with this label, such as the many of single CPUs with `cpu.logical_number`. */
      without?: string | undefined;
    };
    body: undefined;
    answer: SampleMeans;
  };
  /** Returns the series of a run, merged to at most `points` points of equal length. */
  "GET /api/v1/jobs/{id}/series": {
    query: {
      /** First second, counted from the start of the run; the run's first when absent. */
      from?: number | undefined;
      /** End second, exclusive; the run's end when absent. */
      to?: number | undefined;
      /** Maximum number of points, 1 to 2000; 300 when absent. */
      points?: number | undefined;
    };
    body: undefined;
    answer: JobSeries;
  };
  /** Returns the settings of the database server at the start and the end of a run. Secrets are masked. */
  "GET /api/v1/jobs/{id}/server-settings": {
    query: undefined;
    body: undefined;
    answer: ServerSettings;
  };
  /** Explains a run or a stretch of it by what the sessions at the database waited for, as `triphammer why` does. */
  "GET /api/v1/jobs/{id}/why": {
    query: {
      /** First second, counted from the start of the run. Without `from` and `to`: the stretch whose throughput was notably lower, else the timed window. */
      from?: number | undefined;
      /** End second, exclusive. */
      to?: number | undefined;
    };
    body: undefined;
    answer: WhyResult;
  };
  /** Resolves a form without running it: every setting, the spec of a run, and the equivalent command line. An invalid value is an error with its field. The preview of a run connects to the database. */
  "POST /api/v1/preview": {
    query: undefined;
    body: Form;
    answer: Preview;
  };
  /** Logs this browser out. */
  "DELETE /api/v1/session": {
    query: undefined;
    body: undefined;
    answer: undefined;
  };
  /** Returns the login state of this client. Needs no token. */
  "GET /api/v1/session": {
    query: undefined;
    body: undefined;
    answer: SessionInfo;
  };
  /** Exchanges the token for a cookie. */
  "POST /api/v1/session": {
    query: undefined;
    body: TokenForm;
    answer: undefined;
  };
  /** List of saved targets. */
  "GET /api/v1/targets": {
    query: undefined;
    body: undefined;
    answer: TargetList;
  };
  /** Deletes a target. The database is not changed. */
  "DELETE /api/v1/targets/{name}": {
    query: undefined;
    body: undefined;
    answer: undefined;
  };
  /** Returns one saved target. */
  "GET /api/v1/targets/{name}": {
    query: undefined;
    body: undefined;
    answer: SavedTarget;
  };
  /** Creates or changes a target. Secrets are not saved; a password in the URL is removed from it and kept in memory. */
  "PUT /api/v1/targets/{name}": {
    query: undefined;
    body: TargetForm;
    answer: SavedTarget;
  };
  /** Discards the password kept for a target. */
  "DELETE /api/v1/targets/{name}/password": {
    query: undefined;
    body: undefined;
    answer: SavedTarget;
  };
  /** Keeps a password for a target in memory until the server stops. */
  "PUT /api/v1/targets/{name}/password": {
    query: undefined;
    body: PasswordForm;
    answer: SavedTarget;
  };
  /** Connects to a target, identifies its server, and disconnects. Errors are reported as on the command line. */
  "POST /api/v1/targets/{name}/test": {
    query: undefined;
    body: undefined;
    answer: TargetTest;
  };
  /** Lists the workloads with their options. */
  "GET /api/v1/workloads": {
    query: undefined;
    body: undefined;
    answer: WorkloadList;
  };
}
