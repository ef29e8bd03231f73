// Made from docs/reference/openapi.json, which is made from the program; do not edit.
// UPDATE_REFERENCE=1 cargo test -p triphammer-server --test it contract rewrites it.

/** The server and its host. */
export interface About {
  /** Built without optimisation: its own cost is many times what it should be. */
  debug_build: boolean;
  /** Folder of the embedded default target, and of all SQLite files that clients may use. */
  folder: string;
  host: Host;
  /** Another one after each start of the server. */
  instance: string;
  /** When the server began, RFC 3339, UTC. */
  started_at: string;
  /** The job store's file. */
  store: string;
  /** The program's version. */
  version: string;
}

/** Something that the server does, or is going to do. */
export interface Activity {
  /** What it does. */
  command: JobKind;
  /** When it was asked for, RFC 3339, UTC. */
  created_at: string;
  /** When it ended. */
  ended_at: string | null;
  error: ApiError | null;
  /** Whether it did what it was to do: a run with too many failures, and a check that does not hold, did not. `null` until the end. */
  good: boolean | null;
  /** Name of the first figure: `NOPM`; of what a search found once it has ended. */
  headline_name: string | null;
  /** Its value, at the end of what runs. */
  headline_value: number | null;
  /** Its number, from 1 after each start of the server. Not a job's number. */
  id: number;
  /** Number of its job in the store, once it has one; drops have none. */
  job: number | null;
  /** What the user called it. */
  label: string | null;
  /** The same of B in a comparison. */
  other_url: string | null;
  /** What came out, in a line. */
  outcome: string | null;
  /** Its place in the queue, from 1; `null` when it does not wait. */
  position: number | null;
  /** Ramp-up of a run, in seconds. */
  rampup_s: number | null;
  /** When it began. */
  started_at: string | null;
  /** Where it is. */
  state: ActivityState;
  /** Name of the saved target; `null` for the embedded default. */
  target: string | null;
  /** URL of the target, without secrets. */
  url: string;
  /** Who comes: virtual users of a run. */
  users: number | null;
  /** Timed window of a run, in seconds; `null` when its length is a number of transactions. */
  window_s: number | null;
  /** The workload. */
  workload: string;
}

/** An activity with all that is known of it. */
export interface ActivityDetail {
  /** The activity. */
  activity: Activity;
  /** The document that it left; `null` while there is none. */
  document: JobDocument | null;
  /** What was asked for. */
  form: Form;
  spec: RunSpec | null;
}

/** What this server does, is going to do, and has lately done. */
export interface ActivityList {
  /** The newest first. */
  activities: Activity[];
}

/** Where an activity is. */
export type ActivityState = "queued" | "running" | "stopping" | "aborting" | "complete" | "interrupted" | "aborted" | "failed" | "cancelled";

/** Why something could not be done. */
export interface ApiError {
  /** One word for programs: `invalid`, `not_found`, `conflict`, `unauthorized`, `database`, `store`. */
  code: string;
  /** The setting or member of the request that it is about. */
  field?: string | null | undefined;
  /** A sentence for people, without any secret; for a bad value the one that the command line prints. */
  message: string;
  /** What to do next. */
  next?: string | null | undefined;
}

/** Arrivals of an open load, in the whole run. `offered = started + skipped + never_started`. */
export interface Arrivals {
  /** Pushed out of the backlog, or still waiting when the load ended. */
  never_started: number;
  /** Due before the load ended. */
  offered: number;
  /** Skipped because they were too late, as `--late` asks. */
  skipped: number;
  /** Started, by any session. */
  started: number;
}

/** A sum over the data before and after the run, and what the client says of the difference. */
export interface Audit {
  /** The client's own sum over committed transactions; `null` when its counts are not whole. */
  expected: number | null;
  /** How much the database's sum moved; `null` when it could not be asked before and after. */
  found: number | null;
  /** The most that can be. */
  high: number | null;
  /** Key: `abalance`. */
  id: string;
  /** The least that can be, with what is in doubt or was in flight. */
  low: number | null;
  /** The equation: `ΔΣ abalance = Σ delta`. */
  title: string;
  /** Whether the two agree. */
  verdict: Verdict;
  /** The verdict for people. */
  words: string;
}

/** What a transaction's input was drawn from, beside the seed of the run. */
export type Author = {
  user: {
    /** Which of its transactions, from 1. */
    nth: number;
    /** Which, from 0. */
    user: number;
  };
} | {
  arrival: number;
};

/** Whether the database was there while the run asked for it. */
export interface Availability {
  /** Whether the database answered after the run, and could give every number that it gave before. False: the status is failed. `null` in results of versions that did not ask. */
  answered_at_end: boolean | null;
  /** Stretches of ramp-up and window in which no transaction completed although some should have. */
  outages: Outage[];
  /** Sessions that were lost and not back when the run ended. Not 0: the status is failed. */
  sessions_away: number;
  /** Seconds of the timed window without service. They are part of the window and of its figures. */
  without_service_s: number;
}

/** What an interval was made from. */
export type Basis = {
  kind: "pairs";
  /** How many. */
  pairs: number;
} | {
  /** Of A. */
  a: number;
  /** Of B. */
  b: number;
  kind: "runs";
} | {
  /** Points of A. */
  a: number;
  /** Points of B. */
  b: number;
  kind: "series";
};

/** Which way is better. */
export type Better = "higher" | "lower";

/** What can limit a run. */
export type Bottleneck = "load_limited" | "client_bound" | "host_bound" | "network_bound" | "database_bound" | "undecided";

/** What a build did. */
export interface BuildReport {
  /** Sessions that loaded side by side. */
  jobs: number;
  /** `built`, `resumed`, `already built`. */
  outcome: string;
  /** Seconds of each phase, in order. */
  phases: unknown[][];
  /** Rows loaded now. */
  rows: number;
  /** Size, in `scale_unit`. */
  scale: number;
  /** `warehouses`. */
  scale_unit: string;
  /** Seed of the data. */
  seed: number;
  /** The target, redacted. */
  target: string;
  /** `TPROC-C`. */
  workload: string;
}

/** What a search found. */
export type CapacityJudgement = {
  /** 95 % interval of it. Where runs were overloaded it ends below what the target served in them. */
  interval: Interval;
  /** The precision was reached; otherwise the runs were used up. */
  precise: boolean;
  /** Highest rate that is ok, transactions per second: as likely too high as too low where the search saw rates on both sides, else the highest that it saw ok. */
  rate: number;
  result: "found";
} | {
  /** The lowest rate. */
  lowest: number;
  result: "never_ok";
} | {
  /** The highest rate. */
  highest: number;
  result: "always_ok";
};

/** What must hold: `new_order.p95 < 50ms`. */
export interface CapacityLimit {
  /** Which percentile of response time, from due to finish. */
  percentile: Percentile;
  /** The transaction type's key; `all` for all together. */
  transaction: string;
  /** What it must stay below: `50ms`. */
  under: string;
}

/** What `triphammer capacity --json` and `triphammer report JOB --format json` print: what a search was and what it found. Times are in the unit that a name ends with; shares are from 0 to 1; rates are of transactions of all types, per second. */
export interface CapacityResult {
  /** What was found, in words; the most important first. */
  findings: string[];
  /** Version of this shape. */
  format: 1;
  /** The workload's first figure, which probes tell beside their rate. */
  headline: HeadlineName;
  /** The host that the client ran on. */
  host: Host;
  /** Number in the job store; `null` when it was not stored. */
  job: number | null;
  /** What was found; `null` while the search goes on. */
  judgement: CapacityJudgement | null;
  /** Tells this document from those of other commands. */
  kind: "capacity";
  /** What the user called it. */
  label: string | null;
  /** What must hold. */
  limit: CapacityLimit;
  /** The runs, in the order in which they were made. */
  probes: Probe[];
  /** Rates that could not be run. */
  refused: RefusedProbe[];
  /** What was at the other end of the first run. */
  server: ServerInfo;
  /** Every setting of the first run, and where its value came from. */
  settings: Setting[];
  /** How the first run was driven; the others differ in `load`. */
  spec: RunSpec;
  /** Date and time of the first run's zero, RFC 3339, UTC. */
  started_at: string;
  /** Complete; or interrupted, before the search had ended. */
  status: Status;
  /** The target, without secrets. */
  target: Redacted;
  /** The program that made it. */
  tool: Tool;
  /** The workload and its data. */
  workload: WorkloadFacts;
}

/** In which way it limited the run. */
export type Cause = "too_little" | "unseen" | "offered" | "few_users" | "threads" | "lag" | "starved" | "shared" | "other_processes" | "round_trips" | "waits" | "own_cpus";

/** How sure a verdict is. */
export type Certainty = "sure" | "probable";

/** A change of the first figure. */
export interface Change {
  /** Mean up to the next change, or to the end. */
  after: number;
  /** Place in `runs` of the first run after it. */
  at: number;
  /** Mean from the change before, or from the start. */
  before: number;
  /** 1 less the greatest chance of it in runs without a change, from noise or from a host that switches. */
  confidence: number;
  /** What differs between the last run before it (A) and the first run after it (B). */
  differences: Difference[];
  /** 95 % interval of that; somewhat narrow, as the place was chosen from the same runs. */
  interval: Interval | null;
  /** That run's job. */
  job: number;
  /** `after` over `before`; `null` when `before` is 0. */
  ratio: number | null;
  /** Whether it became slower. */
  slower: boolean;
}

/** What came out. */
export interface CheckReport {
  /** By condition, in order. */
  checks: CheckResult[];
  /** The other program that made the tables; the rules of the population are not its own. */
  made_by?: string | null | undefined;
  /** Why answers that the workload knows at other scales were not compared. */
  not_compared?: string | null | undefined;
  /** First and last part that was checked. */
  range: unknown[];
  /** What the range counts: `warehouses`. */
  scale_unit: string;
  /** How much data that is, `0.01 SF`, where the unit has fractions and the range counts thousandths. */
  size?: string | null | undefined;
  /** The target, redacted. */
  target: string;
  /** Whether no run had touched the data, so that the rules of the population were checked too. */
  untouched: boolean;
  /** `TPROC-C`. */
  workload: string;
}

/** One condition. */
export interface CheckResult {
  /** The program that made the tables and whose own rules do not keep the condition: then its violations are reported and are no failure. */
  by_rules_of?: string | null | undefined;
  /** Where first. */
  first_key?: string | null | undefined;
  /** `3.3.2.1`, `13`. */
  id: string;
  /** The condition. */
  title: string;
  /** How many times it is violated. */
  violations: number;
}

/** A word and what it means. */
export interface ChoiceInfo {
  /** What it means, in a line. */
  meaning: string;
  /** As it is sent. */
  value: string;
}

/** How often an error class occurred. */
export interface ClassCount {
  /** The class. */
  class: ErrorClass;
  /** How often. */
  count: number;
}

/** What the client itself cost: its threads over the whole run, its process in the timed window. */
export interface ClientCost {
  /** CPU time of the busiest worker thread, of the run's length: 1 is a whole core. */
  busiest_share: number;
  /** CPU time of all worker threads, in seconds. */
  cpu_s: number;
  /** CPU time for a completed transaction, in microseconds; 0 when none completed. Of the whole process in the timed window, where `process_cpus` is known; else of the worker threads in the whole run. */
  cpu_us_per_transaction: number;
  /** CPUs that the whole process used in the timed window: the worker threads, the control thread, and the one that stores and shows the seconds. `null` when nothing completed in it, and when other runs were under way in this process, as in a server. */
  process_cpus: number | null;
  /** By worker thread. */
  threads: ThreadCpu[];
  /** The same of the worker threads in the whole run. */
  threads_cpu_us_per_transaction: number;
}

/** A command and its settings. The options of the workload come beside them: see `WorkloadInfo`. */
export interface CommandInfo {
  /** The command. */
  command: JobKind;
  /** Its settings, in the order of the reference. */
  settings: SettingInfo[];
}

/** The commands that a form can be of. */
export interface CommandList {
  /** In the order in which they are used. */
  commands: CommandInfo[];
}

/** B against A. */
export interface Comparison {
  /** What the interval was made from. */
  basis: Basis;
  /** Which way is better. */
  better: Better;
  /** 95 % interval of the ratio. */
  interval: Interval;
  /** Difference that does not matter, as a share. */
  margin: number;
  /** B over A: the geometric mean ratio. 1.05 is 5 % more. */
  ratio: number;
  /** What it says of B. */
  verdict: ComparisonVerdict;
}

/** What `triphammer compare --json` and `triphammer report JOB --json` of a comparison print: B against A. Ratios are B over A; shares are from 0 to 1. The verdict is that of the first figure. */
export interface ComparisonResult {
  /** The side that is the measure. */
  a: Side;
  /** The side that is judged. */
  b: Side;
  /** What is not the same on both sides. */
  differences: Difference[];
  /** Figures of both, the headline first. */
  figures: Figure[];
  /** Version of this shape. */
  format: 1;
  /** What decides. */
  headline: HeadlineName;
  /** Number in the job store; `null` for a comparison of stored jobs, which leaves no job. */
  job: number | null;
  /** Tells this document from those of other commands. */
  kind: "compare";
  /** What the user called it. */
  label: string | null;
  /** Difference that does not matter, as a share. */
  margin: number;
  /** About how many more minutes of measuring would settle it; `null` when it is settled, and when nothing reasonable would. */
  more_minutes: number | null;
  /** How the pairs were made; `null` for a comparison of stored jobs. */
  pairs: Pairing | null;
  /** Level by level, and the curves; `null` where no profiles are compared. */
  profiles: Profiles | null;
  /** Date and time of the first run's zero, RFC 3339, UTC. */
  started_at: string;
  /** Complete; or interrupted or failed, when pairs are missing. */
  status: Status;
  /** The program that made it. */
  tool: Tool;
  /** What the headline says of B. */
  verdict: ComparisonVerdict;
  /** What should be known before the verdict is used. */
  warnings: Warning[];
  /** The verdict in words with figures. */
  words: string;
}

/** What a comparison says of B, decided in this order. */
export type ComparisonVerdict = {
  kind: "equivalent";
} | {
  kind: "slower";
} | {
  kind: "faster";
} | {
  kind: "inconclusive";
  /** What would settle it if ratio and noise stay as they are; `null` when nothing reasonable would. */
  more: More | null;
};

/** A fitted law. */
export interface Curve {
  /** κ: coherency. */
  kappa: Estimate;
  /** λ: the first figure of one virtual user. */
  lambda: Estimate;
  /** Share of the variance that the curve explains; `null` where there is none. */
  r_squared: number | null;
  /** Root mean square of the residuals, as a share of the fitted figure. */
  residual: number;
  /** σ: contention. */
  sigma: Estimate;
}

/** A parameter of both curves. */
export interface CurveFigure {
  /** Of A's curve; `null` without one, and where the peak is not reached. */
  a: Estimate | null;
  /** Of B's. */
  b: Estimate | null;
  /** `lambda`, `sigma`, `kappa`, `peak_users`, `peak_throughput`. */
  name: string;
}

/** A declared figure with its value: part of the result document. */
export interface DeclaredFigure {
  /** Its name in requirements. */
  name: string;
  /** What reports call it. */
  title: string;
  /** The unit of the value. */
  unit: Unit;
  /** The figure, in `unit`; `null` when the run did not measure it. */
  value: number | null;
}

/** Something that is not the same on both sides. */
export interface Difference {
  /** With A, without secrets; `null` where there is none. Several values are joined by slashes. */
  a: string | null;
  /** With B. */
  b: string | null;
  /** Figures compare only when it is equal. */
  must_be_equal: boolean;
  /** Its name. */
  name: string;
  /** What it is about. */
  subject: Subject;
}

/** How long a run was, in seconds. */
export interface Durations {
  /** Load without timing, as it really was. */
  rampup_s: number;
  /** From zero to the end of the last transaction. */
  whole_s: number;
  /** The timed window that was asked for; `null` when the length was a number of transactions, or whatever the interval of the mean needed. */
  window_asked_s: number | null;
  /** The timed window, as it really was. */
  window_s: number;
}

/** The headline figure against the most that keying and thinking times allow. */
export interface Efficiency {
  /** The most for so many terminals. */
  maximum: number;
  /** The headline figure, of that. */
  share: number;
}

/** What kind of failure a database reported. The driver sets it from SQLSTATE or result code. */
export type ErrorClass = "serialization" | "deadlock" | "lock_timeout" | "disconnected" | "unavailable" | "refused" | "constraint" | "cancelled" | "timeout" | "disk_full" | "read_only" | "unsupported" | "other";

/** The first error of its kind. */
export interface ErrorFigure {
  /** Its class. */
  class: ErrorClass;
  /** Attempts that ended with it, retried ones included. */
  count: number;
  /** In words, without secrets. */
  message: string;
  /** Transaction type: its key. */
  transaction: string;
}

/** A figure and how sure it is. */
export interface Estimate {
  /** Its 95 % interval; `null` where the data cannot give one. */
  interval: Interval | null;
  /** The figure. */
  value: number;
}

/** Failures against the limit. */
export interface FailureShare {
  /** Whether `share` is above `limit`. */
  above_limit: boolean;
  /** The limit: `spec.max_failures`. */
  limit: number;
  /** Failed, in doubt, or completed with an answer that could not be read, of all that ended in the timed window; of the whole run when nothing ended in the window. */
  share: number;
}

/** A figure of both sides, and the ratio of B to A. */
export interface Figure {
  /** Mean of A's runs, or of its seconds. */
  a: number;
  /** Mean of B's. */
  b: number;
  /** B over A; `null` where it cannot be said. */
  comparison: Comparison | null;
  /** `nopm`, `tpm`, `new_order.p95`. */
  name: string;
  /** Why it cannot. */
  reason: string | null;
  /** For people: `New-Order p95`. */
  title: string;
  /** Microseconds, or a number. */
  unit: Unit;
}

/** What happened in a stretch of the run. */
export interface Figures {
  /** Its length, in seconds. */
  seconds: number;
  /** All types together. */
  total: TypeFigures;
  /** By transaction type, in the workload's order. */
  types: TypeFigures[];
}

/** What somebody asks for. */
export interface Form {
  /** What to do. */
  command: JobKind;
  /** Name of the saved target that B's runs of a comparison are on; without one, the same as A's. */
  other?: string | null | undefined;
  /** Settings and options by name, as they would be typed on the command line: `{"vus": "8"}`. The workload is one of them. What is left out has its default. */
  settings?: Record<string, string> | undefined;
  /** Name of a saved target; without one, the embedded default: an SQLite file in the server's folder. */
  target?: string | null | undefined;
}

/** The server ends. */
export interface Goodbye {
  /** A sentence for people. */
  text: string;
}

/** What settings of a form belong together for. */
export type Group = "question" | "data" | "load" | "length" | "statements" | "failures" | "connection" | "workload" | "other";

/** The workload's first figure. */
export interface HeadlineFigure {
  /** Which way is better. Documents of older versions do not say: they have rates only. */
  better: Better;
  /** Transactions committed in the timed window that the figure counts. */
  count: number;
  /** `New-Orders committed per minute`. */
  meaning: string;
  /** `NOPM`. */
  name: string;
  /** The unit of time: `second`, `minute`, `hour`. */
  per: string;
  /** `count` brought to the unit of time. */
  value: number;
  /** What the database itself says, over the whole run. */
  verification: Verification;
}

/** A first figure without a value. */
export interface HeadlineName {
  /** Which way is better. Documents of older versions do not say: they have rates only. */
  better: Better;
  /** `New-Orders committed per minute`. */
  meaning: string;
  /** `NOPM`. */
  name: string;
  /** The unit of time: `second`, `minute`, `hour`. */
  per: string;
}

/** How many committed transactions took how long when. */
export interface Heatmap {
  /** By column, then by row: transactions. */
  counts: number[][];
  /** First second of each column. */
  first: number[];
  /** The largest of them. */
  most: number;
  /** Seconds of a column. */
  step: number;
  /** Upper edge of each row, µs, rising, each so many times the one before. */
  upper_us: number[];
}

/** How things stand when a connection begins. */
export interface Hello {
  /** Another one after each start of the server; activities of another instance are gone. */
  instance: string;
  /** Whether what follows goes on after the last event that the page has seen. If not, it should forget what it has. */
  resumed: boolean;
  /** The server's version. */
  version: string;
}

/** What `triphammer history --json` prints: runs in the order of time, and when their first figure changed. */
export interface HistoryResult {
  /** Where the first figure changed, in the same order. */
  changes: Change[];
  /** Version of this shape. */
  format: 1;
  /** What is followed. */
  headline: HeadlineName;
  /** Tells this document from those of other commands. */
  kind: "history";
  /** The label that was asked for. */
  label: string | null;
  /** The runs, the oldest first. */
  runs: HistoryRun[];
  /** The program that made it. */
  tool: Tool;
  /** What should be known before it is used. */
  warnings: Warning[];
  /** What was found, in words. */
  words: string;
  /** The workload and its data, of the newest run. */
  workload: WorkloadFacts;
}

/** A run of a history. */
export interface HistoryRun {
  /** Whether it did what it was to do. */
  good: boolean;
  /** 95 % interval of that, from its own seconds. */
  interval: Interval | null;
  /** Its job. */
  job: number;
  /** The server's product and version. */
  server: string;
  /** Date and time of its zero, RFC 3339, UTC. */
  started_at: string;
  /** The target, without secrets. */
  target: Redacted;
  /** Version of the program that measured. */
  tool_version: string;
  /** Its first figure. */
  value: number;
}

/** A host. */
export interface Host {
  /** `x86_64`, `aarch64`. */
  architecture: string;
  /** Logical cores that this process may use. */
  cores: number | null;
  /** Model of its CPU. */
  cpu: string | null;
  /** How the kernel chooses the CPU's clock rate: `performance`, `schedutil`. */
  governor: string | null;
  /** The kernel's release. */
  kernel: string | null;
  /** Memory, in bytes. */
  memory_bytes: number | null;
  /** `Debian GNU/Linux 12 (bookworm)`, or else `linux`, `macos`, `windows`. */
  os: string;
}

/** How busy the server's host is. Shares are from 0 to 1, since the last such event. */
export interface HostLoad {
  /** Of all CPUs. */
  busy: number;
  /** Of each CPU. */
  cores: number[];
  /** Memory, in bytes. */
  memory_bytes: number | null;
  /** Memory that is not to be had, in bytes. */
  memory_used_bytes: number | null;
}

/** A 95 % interval, in the unit of what it is of. */
export interface Interval {
  /** Upper end. */
  high: number;
  /** Lower end. */
  low: number;
}

/** Isolation levels by the names of the SQL standard, and snapshot isolation beside them. */
export type Isolation = "read-uncommitted" | "read-committed" | "repeatable-read" | "snapshot" | "serializable";

/** What may be changed of a job. */
export interface JobChange {
  /** Its label; `null` for none. */
  label?: string | null | undefined;
}

/** A condition that was checked. */
export interface JobCheck {
  /** Key of the first place where it does not. */
  first_key: string | null;
  /** `3.3.2.1`. */
  id: string;
  /** Whether it holds. */
  ok: boolean;
  /** `w_ytd = Σ d_ytd`. */
  title: string;
  /** How often it does not. */
  violations: number;
}

/** A job with what it left. */
export interface JobDetail {
  /** What a check found, in order. */
  checks: JobCheck[];
  /** The document that it left; or why it could not be done, as text; `null` while it runs, and for lost ones. */
  document: JobDocument | string | null;
  /** What the build remembers, and options. */
  facts: Record<string, string>;
  /** First second of its series; `null` without one. */
  first_second: number | null;
  /** The formats of its report, for downloads. */
  formats: string[];
  host: Host;
  /** What lists show. */
  job: JobSummary;
  /** Last second of its series. */
  last_second: number | null;
  /** Remarks, in order. */
  notes: JobNote[];
  spec: RunSpec | null;
  /** Keys of the transaction types, in the order of series. */
  transactions: string[];
}

/** What a job left: by `kind` the document of a run, a profile, a search for the capacity or a comparison; the report of a build or a check; the tables that a drop removed. */
export type JobDocument = RunResult | ProfileResult | CapacityResult | ComparisonResult | BuildReport | CheckReport | string[];

/** What a job does. */
export type JobKind = "build" | "run" | "profile" | "capacity" | "compare" | "check" | "drop";

/** A page of jobs. */
export interface JobList {
  /** The newest first. */
  jobs: JobSummary[];
  /** `before` of the next page; `null` on the last one. */
  next_before: number | null;
  /** How many match on all pages. */
  total: number;
}

/** A remark. */
export interface JobNote {
  /** Seconds since the run's zero; `null` before and after it. */
  at_s: number | null;
  /** One word for programs. */
  kind: string;
  /** A sentence for people. */
  text: string;
}

/** Sampled metrics of a job on one time axis: every list of a series has one value for each of `first`. */
export interface JobSamples {
  /** First second of each point, from the run's zero. */
  first: number[];
  /** Series that match and have no room in the answer, which has at most 500. */
  left_out: number;
  /** The series, in the order of names, then of labels. */
  series: SampledSeries[];
  /** Seconds of a point: 1 when nothing is merged. */
  step: number;
}

/** A run's series. Every list has one value for each of `first`. */
export interface JobSeries {
  /** CPU use of the busiest worker thread. */
  busiest_thread: Spread;
  /** CPU use of the worker threads, mean. */
  client_busy: Spread;
  /** Sessions connected. */
  connected: number[];
  /** First second of each point, from the run's zero. */
  first: number[];
  headline: Spread | null;
  /** How busy the CPUs of the client's host were. `null` where it is not measured. */
  host_busy: Spread | null;
  /** How late worker threads took up what was ready, 99th percentile. In µs. `null` where it is not measured. */
  lag_p99_us: Spread | null;
  /** Last second of each point. */
  last: number[];
  /** Sessions lost. */
  lost: number[];
  /** Sessions reconnected. */
  reconnected: number[];
  /** The fastest round trip measured. In µs. `null` where it is not measured. */
  round_trip_us: Spread | null;
  /** Seconds of a point: 1 when nothing is merged. */
  step: number;
  /** All types together: completed per second. */
  total_per_second: Spread;
  /** By transaction type, in the workload's order. */
  types: TypeSeries[];
}

/** Where a job is. */
export type JobStatus = "running" | "complete" | "interrupted" | "aborted" | "failed" | "lost";

/** A job in a list. */
export interface JobSummary {
  /** Date and time; `null` while it runs, and for lost ones. */
  ended_at: string | null;
  /** `NOPM`. */
  headline_name: string | null;
  /** The first figure. */
  headline_value: number | null;
  /** Its number. */
  id: number;
  /** The command. */
  kind: JobKind;
  /** What the user called it. */
  label: string | null;
  /** The profile or capacity job that a run belongs to. */
  parent: number | null;
  /** Whether a requirement of a run was not met: it is complete, and no success. */
  requirements_failed: boolean;
  /** Runs that belong to it and came to their end. */
  runs: number;
  /** Size, in `scale_unit`; 0 for a check. */
  scale: number;
  /** `warehouses`. */
  scale_unit: string;
  /** `PostgreSQL`. */
  server_product: string | null;
  /** The server's version. */
  server_version: string | null;
  /** Transactions completed per second, in stretches of equal length; empty without a series. */
  sparkline: number[];
  /** Date and time, RFC 3339, UTC. */
  started_at: string;
  /** Where it is. */
  status: JobStatus;
  /** Its place in that job's sequence, from 0. */
  step: number | null;
  /** URL of the target, without secrets. */
  target: string;
  /** Version of the program that did it. */
  tool_version: string;
  /** Virtual users, or loaders. */
  users: number | null;
  /** The workload's name. */
  workload: string;
  /** Results of two versions do not compare. */
  workload_version: number;
}

/** A requirement after the run: part of the result document. */
export interface Judgement {
  /** `value - limit`, in `unit`. */
  difference: number | null;
  /** The limit, in `unit`. */
  limit: number;
  /** The figure's name: `new_order.p95`. */
  metric: string;
  /** The comparison. */
  operator: Operator;
  /** Whether the requirement holds. */
  passed: boolean;
  /** The requirement as it was written: `new_order.p95 < 10ms`. */
  requirement: string;
  /** The unit of limit and value. */
  unit: Unit;
  /** The figure, in `unit`; `null` when the run has none, and then the requirement fails. */
  value: number | null;
}

/** What becomes of late arrivals: `issue`, or `skip:` and the lateness from which they are skipped. */
export type Late = string;

/** How long a run is. */
export type Length = {
  time: string;
} | {
  transactions: number;
};

/** A number of virtual users and its runs. */
export interface Level {
  /** Greatest share of failures of its runs. */
  failure_share: number;
  /** The first figure that the curve gives; `null` without one. */
  fitted: number | null;
  /** 95 % interval of that mean, by Student's t from the scatter of the level's own runs on a logarithmic scale; of a single run, that run's own interval, from its seconds, which leaves out what differs from run to run. */
  interval: Interval | null;
  /** What limited most of its runs. */
  limited_by: Bottleneck;
  /** Mean of its runs' first figures. */
  mean: number;
  /** Median of the runs' 95th percentiles of response time, in microseconds. */
  p95_us: number;
  /** Median of the runs' 99th percentiles. */
  p99_us: number;
  /** `mean` over `fitted`, less 1. */
  residual: number | null;
  /** Its runs, in the order in which they were made. */
  runs: LevelRun[];
  /** Virtual users. */
  users: number;
}

/** The first figure at a number of virtual users. */
export interface LevelFigure {
  /** Both sides, and the ratio. */
  figure: Figure;
  /** Virtual users. */
  users: number;
}

/** A run of a level. */
export interface LevelRun {
  /** Share of transactions that failed or are in doubt. */
  failure_share: number;
  /** Whether it did what it was to do: failures within the limit, nothing contradicted. */
  good: boolean;
  /** 95 % interval of that, from its own seconds. */
  interval: Interval | null;
  /** Its job; `null` when it was not stored. */
  job: number | null;
  /** What limited it. */
  limited_by: Bottleneck;
  /** 95th percentile of response time, in microseconds. */
  p95_us: number;
  /** 99th percentile. */
  p99_us: number;
  /** Date and time of its zero. */
  started_at: string;
  /** Whether its window was steady; `null` where that does not apply. */
  steady: Steady | null;
  /** Its place in the order, from 0. */
  step: number;
  /** Virtual users. */
  users: number;
  /** Its first figure. */
  value: number;
}

/** What the decision is made from, of the timed window (round trips: of the whole run). `null` where it was not or cannot be measured. */
export interface LimitFigures {
  /** Share of a core that the busiest worker thread used. */
  busiest_thread_share: number;
  /** Share of the time in which that thread was ready and waited for a CPU. */
  busiest_thread_wait_share: number | null;
  /** CPUs that this whole process used; `null` when it did something else besides. */
  client_cpus: number | null;
  /** CPUs that this process may use. */
  client_cpus_allowed: number | null;
  /** How nice this process is: 0 is usual, 19 is served last. */
  client_niceness: number;
  /** Transactions committed. */
  committed: number;
  /** Whether the database works on the worker threads, so that their CPU time and their lateness are the database's. */
  database_on_threads: boolean;
  /** How busy the CPUs of the client's host were. */
  host_cpu_share: number | null;
  /** CPUs of the client's host; 0 where they cannot be read. */
  host_cpus: number;
  /** Share of the time in which some task of the client's host waited for a CPU. */
  host_pressure_share: number | null;
  /** Whether the database is a part of this process. */
  in_process: boolean;
  /** Whether as good as all arrivals of an open load were served; `null` where nothing arrives. */
  kept_up: boolean | null;
  /** The same, mean. */
  lag_mean_us: number | null;
  /** Scheduling lag: how late worker threads took up what was ready. */
  lag_p50_us: number | null;
  /** The same, 99th percentile. */
  lag_p99_us: number | null;
  /** Times that the scheduling lag was measured. */
  lag_samples: number;
  /** Wake-ups later than 10 ms. */
  late_wakeups: number | null;
  /** Mean service time of committed transactions. */
  mean_service_us: number;
  /** Median service time of committed transactions. */
  median_service_us: number;
  /** Round trip time × round trips, of the mean service time. */
  network_share: number | null;
  /** CPUs that neither client nor server used, and that were busy: other processes, or other guests of a virtual host. */
  other_cpus: number | null;
  /** The same, of the CPUs that the client may use. */
  other_cpus_of_client: number | null;
  /** The same, of the CPUs that the server may use. */
  other_cpus_of_server: number | null;
  /** Whether the load model said when transactions are due. */
  paced: boolean;
  /** The same, mean: with what the ends of it waited for a CPU. */
  round_trip_mean_us: number | null;
  /** Times that a round trip was measured. */
  round_trip_samples: number;
  /** Time of a round trip on the run's own sessions, 10th percentile. */
  round_trip_us: number | null;
  /** Round trips of a transaction. */
  round_trips_per_transaction: number;
  /** Whether client and server share a host. */
  same_host: boolean | null;
  /** CPUs that the server's processes on this host used; `null` where they are elsewhere or out of sight. */
  server_cpus: number | null;
  /** CPUs that the server may use. */
  server_cpus_allowed: number | null;
  /** Server processes, or threads, that were ready and waited for a CPU, on average. */
  server_waiting: number | null;
  /** Sessions of the run. */
  sessions: number;
  /** Share of the time in which a session was in a transaction. */
  sessions_busy_share: number;
  /** Worker threads. */
  threads: number;
  /** CPUs that the worker threads used, together. */
  threads_cpus: number;
  /** Worker threads that were ready and waited for a CPU, on average. */
  threads_waiting: number | null;
  /** Where the time of a transaction went; `null` without transactions. */
  time: TimeShares | null;
  /** Length of the window, in seconds. */
  window_s: number;
}

/** What limited a run, why, and what to do. */
export interface LimitedBy {
  /** What to do next. */
  advice: string;
  /** Which of its ways; `null` in documents of older versions. */
  cause: Cause | null;
  /** How sure that is. */
  certainty: Certainty;
  /** What it was decided from. */
  figures: LimitFigures;
  /** What it was. */
  kind: Bottleneck;
  /** What else it may be, where it is not sure. */
  second: Bottleneck | null;
  /** Why, in words with figures. */
  words: string;
}

/** An event of `GET /api/v1/events`. */
export type LiveEvent = Hello & {
  type: "hello";
} | Activity & {
  type: "activity";
} | LivePhase & {
  type: "phase";
} | LiveSecond & {
  type: "second";
} | LiveStep & {
  type: "step";
} | LiveProgress & {
  type: "progress";
} | LiveNote & {
  type: "note";
} | HostLoad & {
  type: "host";
} | Goodbye & {
  type: "goodbye";
};

/** A remark on an activity. */
export interface LiveNote {
  /** The activity. */
  activity: number;
  /** Seconds since the run's zero; `null` before and after it, and where there is none. */
  at_s: number | null;
  /** One word for programs: `outage`, `interrupted`, `warning`, `progress`. */
  kind: string;
  /** A sentence for people. */
  text: string;
}

/** A run is in another phase. */
export interface LivePhase {
  /** The activity. */
  activity: number;
  /** Seconds since the run's zero; `null` before it. */
  at_s: number | null;
  /** While connecting: sessions open so far. */
  connected: number | null;
  /** While connecting: sessions to be opened. */
  of: number | null;
  /** `connecting`, `ramp_up`, `window`, `drain`, `abort`. */
  phase: string;
}

/** How far a build or a check is. */
export interface LiveProgress {
  /** The activity. */
  activity: number;
  /** Units done. */
  done: number;
  /** Since it began, ms. */
  elapsed_ms: number;
  /** What is being done: `loading`, `keys and indexes`. */
  phase: string;
  /** Where rows are loaded: how many of each table so far, in the order in which they began. */
  tables: TableRows[];
  /** Units to do. */
  total: number;
  /** `rows`, `steps`. */
  unit: string;
}

/** A second of a run. When `last` is after `first`, several seconds are merged: counts are sums, times and shares are those of the worst second. */
export interface LiveSecond {
  /** The activity. */
  activity: number;
  /** CPU use of the busiest worker thread. */
  busiest_thread: number;
  /** CPU time of all worker threads, in cores: 1.5 is one and a half. */
  client_cores: number;
  /** Sessions connected. */
  connected: number;
  /** First second, from the run's zero. */
  first: number;
  /** The workload's first figure, from these seconds: in its own unit, such as a minute. */
  headline: number;
  /** How busy the CPUs of the client's host were. `null` where it is not measured. */
  host_busy: number | null;
  /** How late worker threads took up what was ready, 99th percentile. In µs. `null` where it is not measured. */
  lag_p99_us: number | null;
  /** Last second. */
  last: number;
  /** Sessions lost. */
  lost: number;
  /** Sessions reconnected. */
  reconnected: number;
  /** The fastest round trip measured. In µs. `null` where it is not measured. */
  round_trip_us: number | null;
  /** All types together. */
  total: LiveType;
  /** By transaction type, in the workload's order. */
  types: LiveType[];
}

/** What `GET /api/v1/activities/{id}/seconds` answers. */
export interface LiveSeconds {
  /** The seconds of the run that goes on, in order; older ones are merged. */
  seconds: LiveSecond[];
}

/** A run of a profile or of a search for the capacity. Phases and seconds after it are those of this run. */
export interface LiveStep {
  /** The activity. */
  activity: number;
  /** The workload's first figure, at the end of the run; `null` before. */
  headline: number | null;
  /** Number of the run's job, once it has one. */
  job: number | null;
  /** Runs in all; `null` where it depends on what they find. */
  of: number | null;
  /** Which run it is, from 1. */
  step: number;
  /** What is run: `8 virtual users, repeat 2`. */
  what: string;
}

/** What a transaction type did in a second. */
export interface LiveType {
  /** Ended committed. */
  committed: number;
  /** Ended failed or in doubt. */
  failed: number;
  /** The longest response time of committed ones. In µs. */
  max_us: number;
  /** Key: `new_order`; `all` in a total. */
  name: string;
  /** Median response time of committed ones. In µs. */
  p50_us: number;
  /** 95th percentile of the response time of committed ones. In µs. */
  p95_us: number;
  /** 99th percentile of the response time of committed ones. In µs. */
  p99_us: number;
  /** Completed (committed or rolled back by rule) per second. */
  per_second: number;
  /** Attempts after the first. */
  retries: number;
  /** Ended rolled back by rule. */
  rolled_back: number;
}

/** A load model, as `--load` names it. */
export type Load = string;

/** Where the logic of a transaction runs. */
export type Mode = "procedures" | "statements";

/** How much more to measure. */
export type More = {
  kind: "pairs";
  /** How many; at least 1. */
  pairs: number;
} | {
  kind: "runs";
  /** How many; at least 1. */
  runs: number;
} | {
  kind: "points";
  /** How many; at least 1. */
  points: number;
};

/** A comparison. */
export type Operator = "<" | "<=" | ">" | ">=" | "==" | "!=";

/** The order of the runs. */
export interface Order {
  /** The levels as they were asked for: `1,2,4` or `auto`. */
  asked: string;
  /** Runs of each level. */
  repeats: number;
  /** Seed of the order. */
  seed: number;
  /** Virtual users by step, as far as it is known. */
  steps: number[];
}

/** A stretch without service, in seconds since the run's zero. */
export interface Outage {
  /** Its first second. */
  from_s: number;
  /** The second before which it ended. */
  until_s: number;
}

/** The one outcome of a transaction. */
export type Outcome = "committed" | "rolled_back" | {
  failed: ErrorClass;
} | "in_doubt";

/** What a load that waits needs beside its model. */
export interface Pacing {
  /** Arrivals that may wait for a session; 0 where the load is not open. When one more is due, the one that has waited longest is dropped. */
  backlog: number;
  /** What becomes of late arrivals; open loads only. */
  late: Late;
  /** From one terminal's log-in to the next one's; keyed loads only. */
  login_delay: string;
  /** The sessions that keyed terminals work on: one each, or a pool of so many. */
  sessions: Sessions;
  /** What the file of a load in steps says. */
  steps: RateStep[];
}

/** How pairs of runs were made: A B B A A B … */
export interface Pairing {
  /** Pairs that were asked for. */
  asked: number;
  /** Pairs of which both runs came to their end. */
  made: number;
  /** Runs that could not be made. */
  refused: RefusedRun[];
  /** The rest between two runs, in seconds. */
  settle_s: number;
}

/** A password. It is held in memory as long as the server lives, and never given back. */
export interface PasswordForm {
  /** The password. */
  password: string;
}

/** Where throughput is greatest. */
export type Peak = {
  kind: "reached";
  /** Throughput there: X(N*). */
  throughput: Estimate;
  /** Virtual users there: N* = √((1 - σ) / κ), at least 1. */
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
  /** Highest level measured. */
  highest: number;
  kind: "not_reached";
  /** Where the curve puts it, as a guess; `null` when it has none (κ = 0). */
  predicted_users: number | null;
};

/** The percentiles that results hold. */
export type Percentile = "p50" | "p90" | "p95" | "p99" | "p99.9";

/** The response times of committed transactions of a type, ordered. */
export interface PercentileCurve {
  /** How many. */
  count: number;
  /** Key of the type; `all` for all together. */
  name: string;
  /** Points of the curve, rising; finer towards 1. */
  points: PercentilePoint[];
}

/** 95 % intervals of percentiles, in microseconds; `null` where the window has too few slices, or too few transactions, to say. */
export interface PercentileIntervals {
  /** Of the median. */
  p50_us: Interval | null;
  /** Of the 90th percentile. */
  p90_us: Interval | null;
  /** Of the 95th percentile. */
  p95_us: Interval | null;
  /** Of the 99.9th percentile. */
  p99_9_us: Interval | null;
  /** Of the 99th percentile. */
  p99_us: Interval | null;
}

/** So large a share of the transactions took no longer than this. */
export interface PercentilePoint {
  /** From 0 to 1. */
  quantile: number;
  /** µs. */
  us: number;
}

/** Curves of percentiles. */
export interface Percentiles {
  /** All transaction types together, then by type; those without any are left out. */
  curves: PercentileCurve[];
}

/** What a form comes to. */
export interface Preview {
  /** The same as a command to copy. Secrets are not in it. */
  command_line: string;
  /** Every setting, and where its value came from. */
  settings: ResolvedSetting[];
  spec: RunSpec | null;
  /** URL of the target, without secrets. */
  url: string;
  /** What should be known before. */
  warnings: string[];
}

/** A run at a rate. */
export interface Probe {
  /** Transactions of all types that completed in the window, a second. */
  completed: number;
  /** Share of transactions that failed or are in doubt. */
  failure_share: number;
  /** The workload's first figure. */
  headline: number;
  /** The percentile's 95 % interval, in microseconds; `null` where there was too little to say. */
  interval_us: Interval | null;
  /** Its job; `null` when it was not stored. */
  job: number | null;
  /** What limited the run. */
  limited_by: Bottleneck;
  /** Share of arrivals that no session was free for in time. */
  missed_share: number;
  /** Arrivals per second that were asked for. */
  rate: number;
  /** Why the limit is not kept; `null` when it is. */
  reason: Reason | null;
  /** Transactions per second that the target served, where it surely fell behind; `null` elsewhere. */
  served: Estimate | null;
  /** Its place in the sequence, from 0. */
  step: number;
  /** The limited percentile, in microseconds; `null` when none of that type committed. */
  value_us: number | null;
}

/** What `triphammer profile --json` and `triphammer report JOB --format json` print: what a profile was and what it measured. Times are in the unit that a name ends with; shares are from 0 to 1; throughput is in the unit of `headline`. */
export interface ProfileResult {
  /** Throughput of the last block of runs over that of the first, less 1, level by level; `null` with fewer than two blocks. */
  drift: number | null;
  /** What the levels and the curve say, in words; the most important first. */
  findings: string[];
  /** Version of this shape. */
  format: 1;
  /** What is measured. */
  headline: HeadlineName;
  /** The host that the client ran on. */
  host: Host;
  /** Number in the job store; `null` when it was not stored. */
  job: number | null;
  /** Tells this document from those of other commands. */
  kind: "profile";
  /** What the user called it. */
  label: string | null;
  /** The levels, ascending, with their runs. */
  levels: Level[];
  /** Why there is no curve. */
  no_curve: string | null;
  /** In which order the runs were made. */
  order: Order;
  /** Levels that could not be run. */
  refused: RefusedLevel[];
  /** What was at the other end of the first run. */
  server: ServerInfo;
  /** Every setting of the first run, and where its value came from. */
  settings: Setting[];
  /** How the first run was driven; the others differ in `users` and what follows from it. */
  spec: RunSpec;
  /** Date and time of the first run's zero, RFC 3339, UTC. */
  started_at: string;
  /** Complete; or interrupted, when steps are missing. */
  status: Status;
  /** The target, without secrets. */
  target: Redacted;
  /** The transaction type whose response times are reported; `all` for all of them. */
  times_of: string;
  /** The program that made it. */
  tool: Tool;
  /** The curve through them; `null` where there is none. */
  usl: Usl | null;
  /** The workload and its data. */
  workload: WorkloadFacts;
}

/** Two profiles beside the ratio of their throughputs. */
export interface Profiles {
  /** Parameters and peaks of the curves; none where neither has a curve. */
  curves: CurveFigure[];
  /** Virtual users of levels that only one of them has. */
  left_out: number[];
  /** The levels that both have, ascending. */
  levels: LevelFigure[];
}

/** How statements travel, so that poolers and proxies can be tested. */
export type Protocol = "prepared" | "extended" | "simple";

/** Arrivals at a rate for a time. */
export interface RateStep {
  /** How long. */
  lasts: string;
  /** Arrivals per second; 0 for a pause. */
  per_second: number;
}

/** Why a probe does not keep the limit. */
export type Reason = "too_slow" | "cannot_follow" | "failures" | "nothing";

/** A target without secrets: the only form in which it is stored, printed or sent. */
export type Redacted = string;

/** A level that could not be run. */
export interface RefusedLevel {
  /** Why. */
  reason: string;
  /** The step that was tried. */
  step: number;
  /** Virtual users. */
  users: number;
}

/** A rate that could not be run. */
export interface RefusedProbe {
  /** Why. */
  reason: string;
  /** The step that was tried. */
  step: number;
  /** What it was. */
  title: string;
}

/** A run that could not be made. */
export interface RefusedRun {
  /** Why. */
  reason: string;
  /** Its place in the comparison, from 0. */
  step: number;
}

/** A remark made during a run. */
export interface Remark {
  /** Seconds since the run's zero; `null` before and after it. */
  at_s: number | null;
  /** One word for programs. */
  kind: string;
  /** A sentence for people. */
  text: string;
}

/** A setting as it was resolved. */
export interface ResolvedSetting {
  /** Its name. */
  name: string;
  /** `request` or `default`. */
  source: string;
  /** As it would be typed. */
  value: string;
}

/** Retries of serialization failures and deadlocks, with the same input. */
export interface RetryPolicy {
  /** Attempts in all, the first included. */
  attempts: number;
  /** The first wait is drawn from 0 to this; it doubles with each attempt (full jitter). */
  backoff_first: string;
  /** Longest wait. */
  backoff_max: string;
}

/** Round trips. */
export interface RoundTrips {
  /** For a completed transaction; 0 when none completed. */
  per_transaction: number;
  /** Statements and calls sent by completed transactions. */
  total: number;
}

/** What `triphammer run --json` and `triphammer report JOB --format json` print: what a run was and what it measured. Durations and times are in the unit that a name ends with; shares are from 0 to 1. `window` has what ended in the timed window, `run` what happened in the whole run, each by transaction type and outcome. */
export interface RunResult {
  /** What arrived; `null` where the load is not open. */
  arrivals: Arrivals | null;
  /** Sums over the data that the run should have moved by what its transactions say. */
  audits: Audit[];
  /** Whether the database was there while the run asked for it, and at its end. */
  availability: Availability;
  /** Most arrivals, or terminals, that waited for a session at the end of a second of the timed window. `null` where the load is closed. */
  backlog_max: number | null;
  /** What the client itself cost. */
  client: ClientCost;
  /** How long it was. */
  durations: Durations;
  /** The headline against the most that keying and thinking times allow; `null` where there are none. */
  efficiency: Efficiency | null;
  /** The first error of each transaction type and class. */
  errors: ErrorFigure[];
  /** The slowest transactions that ended in the timed window, the slowest first. */
  exemplars: SlowTransaction[];
  /** Failures against the limit. */
  failures: FailureShare;
  /** Figures that have no place of their own, in the order in which reports show them. */
  figures: DeclaredFigure[];
  /** Version of this shape. */
  format: 1;
  /** The workload's first figure, from the timed window. */
  headline: HeadlineFigure;
  /** The host that the client ran on. */
  host: Host;
  /** Number in the job store; `null` when it was not stored. */
  job: number | null;
  /** Tells this document from those of other commands. */
  kind: "run";
  /** What the user called the run. */
  label: string | null;
  /** What limited the run. */
  limited_by: LimitedBy;
  /** What was remarked during the run. */
  notes: Remark[];
  /** From due to the start of the first attempt, of all that ended in the timed window: the wait for a session. `null` where the load is closed. */
  pool_wait: Times | null;
  /** What the run had to reach (`--require`), and whether it did. */
  requirements: Judgement[];
  /** Round trips of the whole run. */
  round_trips: RoundTrips;
  /** What happened in the whole run, ramp-up and drain included. */
  run: Figures;
  /** What the planner had to work with when the run began; empty where it is not known. */
  schema: SchemaFact[];
  /** What was at the other end. */
  server: ServerInfo;
  /** What `tpm_server` was made from. */
  server_transactions: ServerTransactions | null;
  /** Sessions lost and reconnected, in the whole run. */
  sessions: SessionCounts;
  /** Every setting, and where its value came from. */
  settings: Setting[];
  /** Server settings that changed between the start and the end of the run. */
  settings_changed: SettingChange[];
  /** The timed window in slices of equal length, in order, to see a drift; the last one may be shorter, and those in which no second came to its end are left out. */
  slices: Slice[];
  /** How the workload was driven. */
  spec: RunSpec;
  /** Date and time of the run's zero, RFC 3339, UTC. */
  started_at: string;
  /** How it ended. */
  status: Status;
  /** Whether the primary metric represents the window, and until when a warm-up is seen; `null` where seconds are no samples of it. */
  steadiness: Steadiness | null;
  /** The target, without secrets. */
  target: Redacted;
  /** The program that made it. */
  tool: Tool;
  /** Transactions completed in the timed window, a minute: committed and rolled back by rule. */
  tpm_client: number;
  /** Transactions that the database itself counted in the timed window, a minute. */
  tpm_server: number | null;
  /** Counting identities that do not hold; empty as long as the client counts right. */
  violated_identities: ViolatedIdentity[];
  /** What should be known before the figures are used. */
  warnings: Warning[];
  /** What ended in the timed window. */
  window: Figures;
  /** The workload and its data. */
  workload: WorkloadFacts;
}

/** How a workload is driven. */
export interface RunSpec {
  /** Isolation level; `null` for the database's own. */
  isolation: Isolation | null;
  /** How long or how much. */
  length: Length;
  /** Limits of every wait. */
  limits: TimeLimits;
  /** Load model. */
  load: Load;
  /** Share of transactions that may fail before the run counts as failed. */
  max_failures: number;
  /** Where the logic runs. */
  mode: Mode;
  /** What a load that waits needs beside its model. */
  pacing: Pacing;
  /** How statements travel. */
  protocol: Protocol;
  /** Load without timing, before the window. Zero when the length is a number of transactions. */
  rampup: string;
  /** When a failed attempt is tried again. */
  retry: RetryPolicy;
  /** Seed of the inputs. */
  seed: number;
  /** Worker threads. */
  threads: number;
  /** Virtual users; terminals where the load is keyed, sessions where it is open. */
  users: number;
}

/** What a metric was in the seconds of each point; `null` where it was not measured. */
export interface SampleSpread {
  /** The most of them. */
  max: (number | null)[];
  /** Their mean. */
  mean: (number | null)[];
  /** The least of its seconds. */
  min: (number | null)[];
}

/** A sampled metric with its labels. */
export interface SampledSeries {
  /** What it is measured of, by name of the label. */
  labels: Record<string, string>;
  /** How several seconds become one value: `sum`, `last`, `min`, `max` or `mean`. */
  merge: string;
  /** What is measured. */
  metric: string;
  spread: SampleSpread | null;
  /** What charts call it. */
  title: string;
  /** What it counts in. */
  unit: string;
  /** The value of each point, by that rule; `null` where it was not measured. */
  value: (number | null)[];
}

/** A saved target. */
export interface SavedTarget {
  /** Whether the server was started with it, so that it can be neither changed nor deleted. */
  fixed: boolean;
  /** Whether the server has a password for it: held in memory, or given at its start. */
  has_password: boolean;
  /** Its name. */
  name: string;
  /** Schema to work in; the user's own when absent. */
  schema: string | null;
  /** URL without secrets. */
  url: string;
}

/** What a server does by the clock. */
export type Schedule = {
  kind: "nothing";
} | {
  kind: "every";
  /** Its value, in seconds. */
  seconds: number;
  /** The setting that says so: `checkpoint_timeout`. */
  setting: string;
} | {
  kind: "unknown";
  /** Why, in words. */
  why: string;
};

/** One thing that is known of a table. */
export interface SchemaFact {
  /** What it is about. */
  kind: SchemaKind;
  /** Name of the index or constraint; empty for the others. */
  name: string;
  /** The table, or what the database tells as a whole. */
  table: string;
  /** Its definition in the database's words, rows, bytes, or the age of statistics in seconds (`never`, or `gathered` where the database does not tell when). */
  value: string;
}

/** What a fact of a schema is about. */
export type SchemaKind = "table" | "engine" | "index" | "constraint" | "rows" | "bytes" | "index_bytes" | "statistics";

/** What is at the other end of a session. */
export interface ServerInfo {
  /** TLS version and cipher; `null` without TLS. */
  cipher: string | null;
  /** `PostgreSQL`, `SQLite`. */
  product: string;
  /** Whether the server runs on this host, when that can be told: then it shares our CPUs. */
  same_host: boolean | null;
  /** `tcp`, `unix socket`, `in process`. */
  transport: string;
  /** The server's version as it says it. */
  version: string;
}

/** A setting of the server. */
export interface ServerSetting {
  /** Its value at the end; `null` where it was absent or could not be read. */
  end: string | null;
  /** Its name. */
  name: string;
  /** Its value at the start; `null` where it was absent. */
  start: string | null;
}

/** The server's settings during a run. */
export interface ServerSettings {
  /** By name. */
  settings: ServerSetting[];
}

/** The database's own transaction counter over the timed window. */
export interface ServerTransactions {
  /** How much it grew. */
  count: number;
  /** Seconds between the two readings. */
  seconds: number;
}

/** Sessions lost and reconnected. */
export interface SessionCounts {
  /** Sessions lost. */
  lost: number;
  /** Sessions reconnected. */
  reconnected: number;
}

/** Whether this client is known. */
export interface SessionInfo {
  /** Whether this client may ask: it has shown the token. */
  authorized: boolean;
  /** Whether the server needs a token; it always does. */
  needed: boolean;
}

/** The sessions that terminals work on. */
export type Sessions = "own" | {
  pool: number;
};

/** A setting of the run and where its value came from. */
export interface Setting {
  /** As flag and job file call it, without dashes. */
  name: string;
  /** `flag`, `environment`, `job file`, `default`. */
  source: string;
  /** As it would be typed. */
  value: string;
}

/** A server setting that changed during the run. */
export interface SettingChange {
  /** Its value at the end; `null` where it was absent. */
  end: string | null;
  /** The setting. */
  name: string;
  /** Its value at the start; `null` where it was absent. */
  start: string | null;
}

/** Something that can be set. */
export interface SettingInfo {
  /** The words that it takes; empty where its value is free. */
  choices: ChoiceInfo[];
  /** The default in words; `null` where there is none. A preview says what it comes to. */
  default: string | null;
  /** What it belongs to in a form. */
  group: Group;
  /** Help in a line. */
  help: string;
  /** What values look like. */
  kind: SettingKind;
  /** Its name, as forms and the command line have it. */
  name: string;
  /** What people call it. */
  title: string;
}

/** What the values of a setting look like. All are sent as text. */
export type SettingKind = "switch" | "integer" | "duration" | "share" | "range" | "choice" | "text";

/** A or B. */
export interface Side {
  /** What was asked for: `job 12`, a label, a target and settings. */
  name: string;
  /** Its runs, in the order in which they were made. */
  runs: SideRun[];
  /** What was at the other end of it. */
  server: ServerInfo;
  /** The target of the first run. */
  target: Redacted;
  /** The workload and its data, of the first run. */
  workload: WorkloadFacts;
}

/** A run of a side. */
export interface SideRun {
  /** Share of transactions that failed or are in doubt. */
  failure_share: number;
  /** Whether it did what it was to do. */
  good: boolean;
  /** Its job; `null` when it was not stored. */
  job: number | null;
  /** What limited it. */
  limited_by: Bottleneck;
  /** Date and time of its zero. */
  started_at: string;
  /** Whether its window was steady; `null` where that does not apply. */
  steady: Steady | null;
  /** Its place in the comparison or profile, from 0; `null` where it belongs to neither. */
  step: number | null;
  /** Virtual users. */
  users: number;
  /** Its first figure. */
  value: number;
}

/** A slice of the timed window. */
export interface Slice {
  /** Transactions that fell due; `null` where the load is not open, and in old results. */
  arrived: number | null;
  /** Its length, in seconds. */
  seconds: number;
  /** Its begin, in seconds since the run's zero. */
  start_s: number;
  /** All types together. */
  total: SliceFigures;
  /** By transaction type, in the workload's order. */
  types: SliceFigures[];
}

/** What a transaction type did in a slice. */
export interface SliceFigures {
  /** Committed or rolled back by rule. */
  completed: number;
  /** Ended failed or in doubt. */
  failed: number;
  /** Key: `new_order`; `all` in a total. */
  name: string;
  /** Completed, a minute. */
  per_minute: number;
  /** From due to finish, of committed ones. */
  response: Times;
}

/** One of the slowest transactions of the timed window, with what its input was drawn from: `triphammer run TARGET --replay-exemplar JOB:N` runs it again. */
export interface SlowTransaction {
  /** Attempts, the first included. */
  attempts: number;
  /** Whose it was. */
  author: Author;
  /** When it was due, in seconds since the run's zero. */
  due_s: number;
  /** When it ended. */
  finished_s: number;
  /** How it ended. */
  outcome: Outcome;
  /** From due to finish, in microseconds. */
  response_us: number;
  /** From the start of the first attempt to finish, in microseconds. */
  service_us: number;
  /** When its first attempt started. */
  started_s: number;
  /** Its type's key: `new_order`. */
  transaction: string;
}

/** What a figure was in the seconds of each point: 0 where there was none. */
export interface Spread {
  /** The most of them. */
  max: number[];
  /** Their mean. */
  mean: number[];
  /** The least of its seconds. */
  min: number[];
}

/** How a run ended. */
export type Status = "complete" | "interrupted" | "aborted" | "failed";

/** What the seconds of a run say about its first figure. Everything is of the timed window, but for the end of the warm-up, which is looked for from the run's zero. */
export interface Steadiness {
  /** Correlation of neighbouring seconds, from -1 to 1. */
  autocorrelation: number;
  /** Standard deviation of the seconds over their mean; `null` when the mean is 0. */
  coefficient_of_variation: number | null;
  /** Independent seconds that would say as much about the mean. */
  effective_seconds: number;
  /** 95 % interval of the mean, with allowance for autocorrelation; `null` when the window is too short. Of a window that its interval ended it is as wide as was asked for, or wider. */
  interval: Interval | null;
  /** Mean of the seconds, in the unit of the headline. */
  mean: number;
  /** Power of the slowest swings, those that last half the window and longer, over what the correlation of neighbours explains: about 1 without a long memory, above 2.5 with one. */
  memory: number;
  /** What to do next; `null` when there is nothing to do. */
  next: string | null;
  /** Half the interval over the mean; `null` without an interval. */
  relative_half_width: number | null;
  /** Whole seconds that were looked at. */
  seconds: number;
  /** Seconds after the run's zero from which the level is known to lie within 1 % of what followed; `null` where noise or a drift hides that. */
  settled_s: number | null;
  /** Change of level at `step_at_s`, as a share of the level before it. */
  step: number | null;
  /** Second of the run at which the level changed most. */
  step_at_s: number;
  /** Change along a straight line through the window, as a share of the mean. */
  trend: number | null;
  /** What `--until-ci` asked for; `null` when the length was by time or number. */
  until: Until | null;
  /** Whether the mean represents the window. */
  verdict: Steady;
  /** Until when a warm-up is seen. */
  warm_up: WarmUp;
  /** Why, in words with figures. */
  words: string;
}

/** Whether the mean represents the series. */
export type Steady = "steady" | "drifting" | "too_short";

/** What a fact is about. */
export type Subject = "workload" | "setting" | "target" | "server" | "schema" | "size" | "statistics" | "server_setting" | "tool" | "host";

/** Rows of a table that are loaded so far. */
export interface TableRows {
  /** Its rows. */
  rows: number;
  /** The table. */
  table: string;
}

/** Something that a transaction counts of itself, over committed ones. */
export interface TallyFigure {
  /** How many. */
  count: number;
  /** Key: `districts_skipped`. */
  name: string;
  /** Of how many that there could have been. */
  possible: number;
  /** `count` of `possible`. */
  share: number;
  /** For people: `districts skipped`. */
  title: string;
  /** The share above which the result warns. */
  warn_above: number;
}

/** A target as it is saved. */
export interface TargetForm {
  /** Schema in the database to work in; the user's own when absent. */
  schema?: string | null | undefined;
  /** URL of the database. A password in it is taken out, and held in memory only. It names no path of the server's host, but for an SQLite file in the server's data folder. */
  url: string;
}

/** The saved targets. */
export interface TargetList {
  /** By name. */
  targets: SavedTarget[];
}

/** What is at a target. */
export interface TargetTest {
  /** TLS version and cipher; `null` without TLS. */
  cipher: string | null;
  /** How long connecting took, in milliseconds. */
  connect_ms: number;
  /** What the driver has to tell, such as that TLS was not to be had. */
  notes: string[];
  /** `PostgreSQL`, `SQLite`. */
  product: string;
  /** Whether it runs on this server's host, and so shares its CPUs; `null` where that cannot be determined. */
  same_host: boolean | null;
  /** `tcp`, `unix socket`, `in process`. */
  transport: string;
  /** The server's version as it says it. */
  version: string;
}

/** What a worker thread cost. */
export interface ThreadCpu {
  /** CPU time, in seconds. */
  cpu_s: number;
  /** CPU time, of the run's length: 1 is a whole core. */
  share: number;
  /** The thread, from 0. */
  thread: number;
}

/** Every wait has a limit with a name. */
export interface TimeLimits {
  /** Opening a session. */
  connect: string;
  /** Waiting for transactions in flight after the stop; then they are aborted. */
  drain: string;
  /** First wait before a lost session is reconnected; doubles up to `reconnect_max`. */
  reconnect_first: string;
  /** Longest wait between two attempts to reconnect. */
  reconnect_max: string;
  /** A transaction's attempt; zero for no limit. A watchdog cancels it and counts a timeout. */
  transaction: string;
}

/** Where the time of the transactions went, as shares of it that add up to 1. */
export interface TimeShares {
  /** The client's threads worked. */
  client_cpu: number;
  /** The client's threads were ready and waited for a CPU. */
  client_wait: number;
  /** On the way between client and server. */
  network: number;
  /** What is left: the server waited for locks, disks and such; where nobody sees it, all that it did. */
  rest: number;
  /** The server worked; `null` where nobody sees it. */
  server_cpu: number | null;
  /** The server was ready and waited for a CPU; `null` where nobody sees it. */
  server_wait: number | null;
}

/** A summary of times, in microseconds. Percentiles are exact to three significant digits; the mean is exact where the sum is known. */
export interface Times {
  /** How many times this sums up; the others are 0 when it is 0. */
  count: number;
  /** Longest, in microseconds. */
  max_us: number;
  /** Mean, in microseconds; exact for committed ones. */
  mean_us: number;
  /** Shortest, in microseconds. */
  min_us: number;
  /** Median, in microseconds. */
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
}

/** The token. */
export interface TokenForm {
  /** The token that the server was started with, or has printed. */
  token: string;
}

/** The program that made a document. */
export interface Tool {
  /** Built without optimisation: its own cost is many times what it should be. */
  debug_build: boolean;
  /** `triphammer`. */
  name: string;
  /** Its version. */
  version: string;
}

/** A type of transaction. */
export interface TransactionInfo {
  /** Key: `new_order`. */
  name: string;
  /** Of all transactions in the default mix. */
  share: number;
  /** For people: `New-Order`. */
  title: string;
}

/** What a transaction type did. `ended = completed + failed + in_doubt`, and in the whole run `started = ended + in_flight`. */
export interface TypeFigures {
  /** Ended committed. */
  committed: number;
  /** Committed or rolled back by rule. */
  completed: number;
  /** Ended, whatever the outcome. */
  ended: number;
  /** Ended failed. */
  failed: number;
  /** `failed` by class; only classes that occurred. */
  failed_by_class: ClassCount[];
  /** Response times of those failed or in doubt. */
  failed_times: Times;
  /** Ended in doubt: the connection was lost when a commit had been sent. */
  in_doubt: number;
  /** Not ended when the run was aborted; whole run only. */
  in_flight: number | null;
  /** Key: `new_order`; `all` in a total. */
  name: string;
  /** Completed, a minute. */
  per_minute: number;
  /** From due to finish, of committed ones. */
  response: Times;
  /** How sure the percentiles of `response` are; timed window only. */
  response_intervals: PercentileIntervals;
  /** Transactions that needed more than one attempt, whatever their outcome. */
  retried: number;
  /** Attempts after the first, by the class of the error before; only classes that occurred. */
  retries_by_class: ClassCount[];
  /** Ended rolled back by the workload's rule. */
  rolled_back: number;
  /** Response times of those rolled back by rule. */
  rolled_back_times: Times;
  /** Times longer than a year, or than an hour in older results, which count as that. */
  saturated: number;
  /** From the start of the first attempt to finish, of committed ones. The same as `response` where the load is closed. */
  service: Times;
  /** Of all types' completed ones. */
  share: number;
  /** Transactions started; whole run only. */
  started: number | null;
  /** What the type counts of itself. */
  tally: TallyFigure | null;
  /** For people: `New-Order`. */
  title: string;
  /** Of the completed ones, those whose answer could not be read. */
  unread: number;
}

/** The series of a transaction type. */
export interface TypeSeries {
  /** Ended failed or in doubt. */
  failed: number[];
  /** The longest response time of committed ones. In µs. */
  max_us: number[];
  /** Mean response time of committed ones. In µs. */
  mean_us: number[];
  /** Key: `new_order`. */
  name: string;
  /** Median response time of committed ones. In µs. */
  p50_us: Spread;
  /** 95th percentile of the response time of committed ones. In µs. */
  p95_us: Spread;
  /** 99th percentile of the response time of committed ones. In µs. */
  p99_us: Spread;
  /** Completed (committed or rolled back by rule) per second. */
  per_second: Spread;
  /** Attempts after the first. */
  retries: number[];
}

/** What a figure counts in. */
export type Unit = "number" | "share" | "us";

/** A window whose length its own interval decided. */
export interface Until {
  /** Whether it was reached before the longest time. */
  reached: boolean;
  /** Half the interval over the mean that was asked for. */
  relative_half_width: number;
  /** What the server does by the clock, of which the window has to hold two rounds. */
  schedule: Schedule;
  /** Shortest window that may end by its interval, in seconds. */
  shortest_s: number;
}

/** The Universal Scalability Law through all runs: X(N) = λ N / (1 + σ (N - 1) + κ N (N - 1)). */
export interface Usl {
  /** Amdahl's law beside it: κ = 0. */
  amdahl: Curve;
  /** κ N (N - 1) at `judged_at`. */
  coherency_loss: number;
  /** σ (N - 1) at `judged_at`: time lost to contention, in units of the work itself. */
  contention_loss: number;
  /** The law with all three parameters. */
  curve: Curve;
  /** Share of linear scaling that is kept at `judged_at`. */
  efficiency: number;
  /** The level that losses are judged at: the peak where it is reached, else the highest level. */
  judged_at: number;
  /** Chance that κ = 0 explains the runs as well; `null` where it cannot be said. */
  kappa_p_value: number | null;
  /** What limits there. */
  limit: UslLimit;
  /** Chance of levels as far from the curve if it were the law; `null` where it cannot be said. */
  misfit_p_value: number | null;
  /** Where throughput is greatest. */
  peak: Peak;
}

/** What limits throughput at the judged level. */
export type UslLimit = "contention" | "coherency" | "neither_yet";

/** Whether the database's count agrees with the client's. */
export type Verdict = "verified" | "within_bounds" | "violated" | "not_counted";

/** What the database says about the headline's transactions, over the whole run. */
export interface Verification {
  /** Committed, as the client saw. */
  committed: number;
  /** How much it grew. */
  database: number | null;
  /** What it was after. */
  database_after: number | null;
  /** What the database's count was before the run. */
  database_before: number | null;
  /** In doubt: they may have committed. */
  in_doubt: number;
  /** In flight when the run was aborted: they may have committed. */
  in_flight: number;
  /** Whether the two agree. */
  verdict: Verdict;
  /** The verdict for people. */
  words: string;
}

/** A counting identity that does not hold: a defect of the engine. */
export interface ViolatedIdentity {
  /** The equation. */
  identity: string;
  /** What its left side came to. */
  left: number;
  /** What its right side came to. */
  right: number;
  /** Key of the transaction type; `null` for all together. */
  transaction: string | null;
}

/** Until when a warm-up is seen (MSER-5 over ramp-up and window): where a cut serves the mean best. The level may still be lower there, by less than shows: see `settled_s`. */
export type WarmUp = {
  /** Seconds, a multiple of five. */
  after_s: number;
  kind: "ended";
} | {
  kind: "not_found";
} | {
  kind: "too_short";
};

/** What should be known before the figures are used. */
export interface Warning {
  /** One word for programs: `tally`, `failures`, `debug_build`, `window_short`. */
  kind: string;
  /** What to do next. */
  next: string | null;
  /** A sentence for people. */
  text: string;
}

/** The workload and its data. */
export interface WorkloadFacts {
  /** What the build remembers, and the run's own options: `seed`, `c_load`, `all-warehouses`. */
  facts: Record<string, string>;
  /** The word the command line takes: `tproc-c`. */
  name: string;
  /** Size, in `scale_unit`. */
  scale: number;
  /** `warehouses`. */
  scale_unit: string;
  /** For people: `TPROC-C`. */
  title: string;
  /** Results of two versions do not compare. */
  version: number;
}

/** A workload. */
export interface WorkloadInfo {
  /** Options of `build` beside the settings. */
  build_options: SettingInfo[];
  /** The first figure: `NOPM`. */
  headline: string;
  /** What that counts. */
  headline_meaning: string;
  /** Where its logic can run, the preferred place first. */
  modes: string[];
  /** The word that forms take. */
  name: string;
  /** Options of `run` beside the settings. */
  run_options: SettingInfo[];
  /** What `scale` counts: `warehouses`. */
  scale_unit: string;
  /** For people: `TPROC-C`. */
  title: string;
  /** Its transaction types, in the order of every series and report. */
  transactions: TransactionInfo[];
  /** Results of two versions do not compare. */
  version: number;
}

/** The workloads. */
export interface WorkloadList {
  /** In the order of the program's list; the first is the default. */
  workloads: WorkloadInfo[];
}

/** Every operation: its query, its body, and what it answers. */
export interface Operations {
  /** The server and its host. How busy that is comes as `host` events. */
  "GET /api/v1/about": {
    query: undefined;
    body: undefined;
    answer: About;
  };
  /** What this server does, is going to do, and has lately done; the newest first. */
  "GET /api/v1/activities": {
    query: undefined;
    body: undefined;
    answer: ActivityList;
  };
  /** Starts a build, run, check or drop, or puts it in line behind another on the same target. A drop is done without asking again. */
  "POST /api/v1/activities": {
    query: undefined;
    body: Form;
    answer: Activity;
  };
  /** One activity with its form, its resolved spec, and the document that it left. */
  "GET /api/v1/activities/{id}": {
    query: undefined;
    body: undefined;
    answer: ActivityDetail;
  };
  /** Ends an activity at once: a run gives up what is in flight. It is stored all the same. */
  "POST /api/v1/activities/{id}/abort": {
    query: undefined;
    body: undefined;
    answer: Activity;
  };
  /** The events of one activity: all that is kept of it, or what came after `Last-Event-ID`, and then what happens. See `LiveEvent`. */
  "GET /api/v1/activities/{id}/events": {
    query: undefined;
    body: undefined;
    answer: LiveEvent;
  };
  /** The seconds of the run that goes on, at most 600: older ones are merged. A page that has too many takes these instead. */
  "GET /api/v1/activities/{id}/seconds": {
    query: undefined;
    body: undefined;
    answer: LiveSeconds;
  };
  /** Stops an activity: takes it out of the queue, lets a run's transactions in flight end and stores it, cancels a build or check. The second time it aborts. */
  "POST /api/v1/activities/{id}/stop": {
    query: undefined;
    body: undefined;
    answer: Activity;
  };
  /** The commands that a form can be of, with everything that can be set. */
  "GET /api/v1/commands": {
    query: undefined;
    body: undefined;
    answer: CommandList;
  };
  /** B against A, as `triphammer compare A B` judges them: runs, profiles, or labels of runs. */
  "GET /api/v1/comparisons": {
    query: {
      /** The measure: a job's number, `last`, or a label, which means all complete runs that have it. */
      a?: string | undefined;
      /** What is judged, likewise. */
      b?: string | undefined;
      /** The difference that does not matter, as `2%` or `0.02`; 2 % when absent. */
      margin?: string | undefined;
    };
    body: undefined;
    answer: ComparisonResult;
  };
  /** The events of all activities: all that is kept, or what came after `Last-Event-ID`, and then what happens. Each has its type as `event:` and a `LiveEvent` as `data:`. The first is always `hello`. A page that comes back gets what it missed, long stretches thinned; a page that does not keep up is cut off and comes back. */
  "GET /api/v1/events": {
    query: undefined;
    body: undefined;
    answer: LiveEvent;
  };
  /** Runs of one kind in the order of time, and when their first figure changed, as `triphammer history`. */
  "GET /api/v1/history": {
    query: {
      /** Only runs with this label. */
      label?: string | undefined;
      /** Only of this workload; else that of the newest run. */
      workload?: string | undefined;
      /** Only on targets that have this text in them. */
      on?: string | undefined;
    };
    body: undefined;
    answer: HistoryResult;
  };
  /** Stored jobs, newest first. */
  "GET /api/v1/jobs": {
    query: {
      /** Only this command. */
      kind?: "build" | "run" | "profile" | "capacity" | "compare" | "check" | "drop" | undefined;
      /** Only jobs in this state. */
      status?: "running" | "complete" | "interrupted" | "aborted" | "failed" | "lost" | undefined;
      /** Only this workload. */
      workload?: string | undefined;
      /** Only the runs of this profile or capacity job; jobs that belong to no other when absent. */
      parent?: number | undefined;
      /** A part of label, target, workload, server or number, whatever the case. */
      search?: string | undefined;
      /** Only jobs older than this one: the last of the page before. */
      before?: number | undefined;
      /** At most so many, 1 to 200; 50 when absent. */
      limit?: number | undefined;
      /** Points of each job's sparkline, 0 to 200; 0 when absent. */
      sparkline?: number | undefined;
    };
    body: undefined;
    answer: JobList;
  };
  /** Removes a job with all that it measured. */
  "DELETE /api/v1/jobs/{id}": {
    query: undefined;
    body: undefined;
    answer: undefined;
  };
  /** A job with what it left. */
  "GET /api/v1/jobs/{id}": {
    query: undefined;
    body: undefined;
    answer: JobDetail;
  };
  /** Gives a job another label. */
  "PATCH /api/v1/jobs/{id}": {
    query: undefined;
    body: JobChange;
    answer: undefined;
  };
  /** How response times were spread over the time of a run, from its stored histograms. */
  "GET /api/v1/jobs/{id}/heatmap": {
    query: {
      /** First second, from the run's zero; its first when absent. */
      from?: number | undefined;
      /** The second after the last; the run's end when absent. */
      to?: number | undefined;
      /** At most so many stretches of time, 1 to 400; 120 when absent. */
      columns?: number | undefined;
      /** At most so many stretches of response time, 2 to 400; 48 when absent. */
      rows?: number | undefined;
      /** Key of a transaction type; all together when absent. */
      transaction?: string | undefined;
    };
    body: undefined;
    answer: Heatmap;
  };
  /** The response times of a run, ordered. */
  "GET /api/v1/jobs/{id}/percentiles": {
    query: {
      /** `window` (the timed window, when absent) or `run` (all of it). */
      scope?: "window" | "run" | undefined;
    };
    body: undefined;
    answer: Percentiles;
  };
  /** A job's report, as `triphammer report` prints it. */
  "GET /api/v1/jobs/{id}/report": {
    query: {
      /** One of the job's `formats`; `text` when absent. */
      format?: string | undefined;
      /** Whether the browser is to save it as a file. */
      download?: boolean | undefined;
    };
    body: undefined;
    answer: Record<string, unknown>;
  };
  /** A job's sampled metrics, merged to at most `points` points of equal length. */
  "GET /api/v1/jobs/{id}/samples": {
    query: {
      /** Names of metrics with commas between them. When absent, the answer lists every series of the job without points. */
      metric?: string | undefined;
      /** Only series that have these labels: a JSON object, such as `{"database":"tpcc"}`. */
      labels?: string | undefined;
      /** First second, from the run's zero; its first when absent. */
      from?: number | undefined;
      /** The second after the last; the run's end when absent. */
      to?: number | undefined;
      /** At most so many points of a series, 1 to 2000; 300 when absent. With more than 50 series, at most 100,000 in the whole answer. */
      points?: number | undefined;
    };
    body: undefined;
    answer: JobSamples;
  };
  /** A run's series, merged to at most `points` points of equal length. */
  "GET /api/v1/jobs/{id}/series": {
    query: {
      /** First second, from the run's zero; its first when absent. */
      from?: number | undefined;
      /** The second after the last; the run's end when absent. */
      to?: number | undefined;
      /** At most so many points, 1 to 2000; 300 when absent. */
      points?: number | undefined;
    };
    body: undefined;
    answer: JobSeries;
  };
  /** The database server's settings at the start and the end of a run. Secrets are masked. */
  "GET /api/v1/jobs/{id}/server-settings": {
    query: undefined;
    body: undefined;
    answer: ServerSettings;
  };
  /** What a form comes to, without doing it: every setting, how a run would be driven, and the command line that does the same. What cannot be is an error with its field. The preview of a run looks at the database. */
  "POST /api/v1/preview": {
    query: undefined;
    body: Form;
    answer: Preview;
  };
  /** Forgets this browser. */
  "DELETE /api/v1/session": {
    query: undefined;
    body: undefined;
    answer: undefined;
  };
  /** Whether this client is known. Everyone may ask. */
  "GET /api/v1/session": {
    query: undefined;
    body: undefined;
    answer: SessionInfo;
  };
  /** Shows the token, for a cookie. */
  "POST /api/v1/session": {
    query: undefined;
    body: TokenForm;
    answer: undefined;
  };
  /** The saved targets. */
  "GET /api/v1/targets": {
    query: undefined;
    body: undefined;
    answer: TargetList;
  };
  /** Forgets a target. Nothing is done to the database. */
  "DELETE /api/v1/targets/{name}": {
    query: undefined;
    body: undefined;
    answer: undefined;
  };
  /** One saved target. */
  "GET /api/v1/targets/{name}": {
    query: undefined;
    body: undefined;
    answer: SavedTarget;
  };
  /** Saves a target, new or changed. Secrets are not saved; a password in the URL is taken out and held in memory. */
  "PUT /api/v1/targets/{name}": {
    query: undefined;
    body: TargetForm;
    answer: SavedTarget;
  };
  /** Forgets the password that is held for a target. */
  "DELETE /api/v1/targets/{name}/password": {
    query: undefined;
    body: undefined;
    answer: SavedTarget;
  };
  /** Holds a password for a target, in memory, as long as the server lives. */
  "PUT /api/v1/targets/{name}/password": {
    query: undefined;
    body: PasswordForm;
    answer: SavedTarget;
  };
  /** Connects to a target, asks what it is, and disconnects. What goes wrong is reported in the command line's words. */
  "POST /api/v1/targets/{name}/test": {
    query: undefined;
    body: undefined;
    answer: TargetTest;
  };
  /** The workloads, with their options. */
  "GET /api/v1/workloads": {
    query: undefined;
    body: undefined;
    answer: WorkloadList;
  };
}
