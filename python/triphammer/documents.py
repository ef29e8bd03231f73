"""The types of result documents: a class for each object, a name for each list of words."""

# Made from the declarations of the program; do not edit.
# `make generate` rewrites it.

from __future__ import annotations

from typing import Any, Literal, Optional, Union

from ._record import Document, Record, RunDocument

#: How two runs took place at once.
AtOnceKind = Literal["interleaved", "duet"]

#: Data that an interval is based on.
Basis = Record

#: Direction in which values improve.
Better = Literal["higher", "lower"]

#: A possible bottleneck of a run.
Bottleneck = Literal["load_limited", "client_bound", "host_bound", "network_bound", "database_bound", "undecided"]

#: Result of a search.
CapacityJudgement = Record

#: The specific cause of a bottleneck.
Cause = Literal["too_little", "unseen", "offered", "few_users", "threads", "lag", "starved", "shared", "other_processes", "round_trips", "waits", "own_cpus", "connections"]

#: Certainty of a verdict.
Certainty = Literal["sure", "probable"]

#: Verdict of a comparison on B, decided in this order.
ComparisonVerdict = Record

#: What shows that an anomaly would have been found.
Control = Literal["load", "planted", "none"]

#: Whose a sample is.
CpuSide = Literal["server", "client", "others"]

#: How the answer of a replayed statement differs from the recorded one.
Divergence = Literal["rows", "changed", "content", "fails", "succeeds", "other_error", "missing"]

#: Whose energy a source reads.
EnergyOf = Literal["client_host", "server_host", "shared_host"]

#: What energy was read from.
EnergySourceKind = Literal["rapl", "node_exporter", "scaphandre", "kepler", "power_metric"]

#: Kind of failure that a database reported. The driver derives it from the SQLSTATE or result code.
ErrorClass = Literal["serialization", "deadlock", "lock_timeout", "disconnected", "unavailable", "refused", "constraint", "cancelled", "timeout", "disk_full", "read_only", "schema_changed", "unsupported", "other"]

#: Unit of a figure in documents and requirements.
FigureUnit = Literal["number", "share", "us"]

#: How closely states are compared.
FingerprintDepth = Literal["rows", "checksums"]

#: What is wrong with a job, the worst first.
Flaw = Literal["host_lost", "requirements_failed", "unanswered", "answers_differ", "too_many_failures", "nothing_completed", "count_violated", "audit_violated", "conditions_violated", "not_verified", "commits_lost", "commits_wrong", "isolation_violated", "not_as_expected", "nothing_proven", "blind", "fault_missing", "no_capacity", "runs_failed", "slower", "inconclusive", "outage"]

#: How worker threads wait for their sessions.
Io = Literal["auto", "epoll", "uring"]

#: Isolation levels by the names of the SQL standard, plus snapshot isolation.
Isolation = Literal["read-uncommitted", "read-committed", "repeatable-read", "snapshot", "serializable"]

#: The verdict on a kind of anomaly.
IsolationVerdict = Literal["kept", "violated", "undecided", "allowed", "not_seen"]

#: What happens to late arrivals: `issue`, or `skip:` and the delay from which they are skipped.
Late = str

#: Length of a run.
Length = Record

#: A load model, as `--load` names it.
Load = str

#: A change that is asked for.
LoadChange = Record

#: A load before or after a change.
LoadValue = Union[float, str]

#: What a counter is of the server's log writes.
LogFigure = Literal["writes", "write_time", "write_mean", "syncs", "sync_time", "sync_mean", "bytes"]

#: What the server did with the file of its log.
LogOperation = Literal["write", "sync"]

#: Where the logic of a transaction runs.
Mode = Literal["procedures", "statements"]

#: Amount of further measurement.
More = Record

#: Whether a node accepts writes.
NodeRole = Literal["primary", "replica"]

#: A comparison operator.
Operator = Literal["<", "<=", ">", ">=", "==", "!="]

#: Origin of a transaction's input. With the seed of the run, it determines the input.
Origin = Record

#: How a transaction ended: exactly one of these.
Outcome = Union[Literal["committed", "rolled_back", "indeterminate"], Record]

#: When a component is paid.
Payment = Record

#: Where throughput is greatest.
Peak = Record

#: The percentiles contained in results.
Percentile = Literal["p50", "p90", "p95", "p99", "p99.9"]

#: Which messages of a transaction share a round trip. Statements, their order and what a failed one does to its transaction are the same in all cases; round trips, and so figures, are not.
Pipelining = Literal["off", "begin", "on"]

#: How statements are sent, so that poolers and proxies can be tested.
Protocol = Literal["prepared", "extended", "simple"]

#: What is measured with the queries.
QueryTest = Literal["queries", "power", "throughput", "both"]

#: Why a probe exceeds the limit.
Reason = Literal["too_slow", "cannot_follow", "failures", "nothing"]

#: A target without secrets: the only form in which it is stored, printed or sent.
Redacted = str

#: Tables that a drop removed, as a list in JSON.
Removal = list[str]

#: Verdict on a repetition.
RepetitionVerdict = Literal["repeated", "differs", "unknown", "not_comparable"]

#: Periodic work of a server.
Schedule = Record

#: Kind of a schema fact.
SchemaKind = Literal["table", "engine", "index", "constraint", "rows", "bytes", "index_bytes", "statistics"]

#: A part of a transaction's time that some servers count themselves.
ServerTime = Literal["parsing", "planning", "row_locks"]

#: The sessions that terminals use.
Sessions = Union[Literal["own"], Record]

#: What a set-up may be for. A setting may serve one goal at the cost of the other: without turbo runs are more alike, and slower.
SetupGoal = Literal["speed", "comparable"]

#: What a check is about.
SetupGroup = Literal["host", "network", "database"]

#: Judgement of a line, from good to bad.
SetupVerdict = Literal["fine", "look", "wrong"]

#: How the halves of a pair share the time.
Sharing = Record

#: The signature of a manifest.
Signature = Record

#: How a run ended.
Status = Literal["complete", "interrupted", "aborted", "failed"]

#: Whether a run's mean represents the level of its primary metric.
Steady = Literal["steady", "within_window", "drifting", "too_short"]

#: What a step changed.
StepCause = Literal["rate", "users", "mix", "nodes"]

#: How a query or refresh function ended.
StepOutcome = Literal["answered", "timed_out", "failed", "cancelled", "not_run", "unsupported"]

#: Subject of a fact.
Subject = Literal["workload", "state", "setting", "target", "server", "schema", "size", "statistics", "plan", "server_setting", "server_default", "tool", "host"]

#: Why the work was not spread evenly.
UnevenCause = Literal["interrupts", "sessions", "saturated"]

#: Whose CPU time a `Usage` is.
UsageOf = Literal["server", "process"]

#: What limits throughput at the judged level.
UslLimit = Literal["contention", "coherency", "neither_yet"]

#: Whether the database's count agrees with the client's.
Verdict = Literal["verified", "within_bounds", "violated", "not_counted"]

#: Class of what an active session waits for, the same for all databases.
WaitClass = Literal["cpu", "row_lock", "lock", "log", "replica", "io", "latch", "client", "sleep", "other"]

#: End of the warm-up (MSER-5 over ramp-up and window): the truncation point that gives the best mean. The level may still be slightly lower there: see `settled_s`.
WarmUp = Record

#: How the stretch was chosen.
WhyBasis = Literal["given", "lowest", "window"]


class AboveIdle(Record):
    """Figures of energy from which the power of the idle host is subtracted."""

    __slots__ = ()
    #: Seconds for which the idle host was read.
    idle_s: float
    #: Mean power of the idle host, in watts.
    idle_watts: float
    #: Energy above idle per transaction that is counted, in joules; `None` if none was.
    joules_per_transaction: Optional[float]
    #: Mean power in the timed window above that, in watts; below 0 if the host used less.
    watts: float


class ActiveSessions(Record):
    """Average numbers of active sessions: how many sessions did something, or waited for it, at a time."""

    __slots__ = ()
    #: Active sessions of this run.
    average: float
    #: Background processes at work.
    background: float
    #: `average` by class of wait, the largest first.
    classes: list[WaitShare]
    #: Sessions of this run that were idle in a transaction: they wait for the client.
    idle_in_transaction: float
    #: Number of samples that were due but not taken, because the server answered late.
    missed: int
    #: Active sessions of others.
    other: float
    #: Number of samples.
    samples: int
    #: `average` by statement, the largest first.
    statements: list[StatementWaits]
    #: `average` by class and name of the wait at the server, the largest first.
    waits: list[WaitShare]


class Agreement(Record):
    """A kind of statements that agree."""

    __slots__ = ()
    #: Number of values that were compared.
    values: int
    #: What agrees, in words.
    what: str


class AnalyzedPlan(Record):
    """A plan with measurements, from a separate execution."""

    __slots__ = ()
    #: The operations, each followed by its inputs.
    operations: list[PlanOperation]
    #: Time of that execution in seconds, slower than a timed one by the cost of measuring.
    seconds: float


class AnomalyExample(Record):
    """A smallest anomaly, as SQL."""

    __slots__ = ()
    #: How they depend on each other.
    edges: list[ExampleEdge]
    #: The transactions; those of a cycle in its order.
    transactions: list[ExampleTransaction]


class AnotherRun(Record):
    """How much another run would differ."""

    __slots__ = ()
    #: Number of their days, UTC. From one day, the interval is that of another run on that day.
    days: int
    #: 95 % prediction interval of the primary metric of another run; `None` if it is unknown, because there is only one run.
    interval: Optional[Interval]
    #: Number of runs that it is based on, with this one.
    runs: int
    #: The interval in words.
    words: str


class AnswerComparison(Record):
    """Whether queries with equal parameters had equal answers on equal data, by their fingerprints."""

    __slots__ = ()
    #: Number of answers that were compared with an earlier one.
    compared: int
    #: The first few of them, in words.
    differences: list[str]
    #: Number of answers that differ from the first one to the same query.
    differing: int


class AnswersCompared(Record):
    """The answers of B beside those of A."""

    __slots__ = ()
    #: Statements of the recording whose answers are the same in all replays of A, and in all of B.
    compared: int
    #: Number of these whose answers differ between A and B.
    differing: int
    #: How well the data of A and of B fits the recording.
    fit: list[ReplayFit]
    #: Whether answers differ, and all of them may do so by chance, as those of sessions that work at the same time.
    inconclusive: bool
    #: Number of those that were compared by less than their rows: by numbers of rows, or by whether they failed.
    limited: int
    #: Number of replays of A and of B.
    replays: list[int]
    #: Replays of each side with which chance could be excluded; `None` if that would not help: as many answers differ by another division of the replays.
    replays_needed: Optional[int]
    #: The statements whose answers differ, those with the most first.
    statements: list[DifferingStatement]
    #: Whether equal answers show little, because the data of A does not fit the recording.
    unfit: bool
    #: Statements that are not compared, because one side did not reach them.
    unreached: int
    #: Answers of the last replays whose rows could not be compared, because the driver does not read them as texts.
    unread: int
    #: Statements that are not compared, because their answers differ among the replays of one side.
    unstable: int
    #: The statements with the most such answers, those with the most first.
    unstable_statements: list[UnstableStatement]


class Arrivals(Record):
    """Arrivals of an open load, in the whole run. `offered = started + skipped + never_started`."""

    __slots__ = ()
    #: Number of arrivals dropped from the backlog, or still waiting when the load ended.
    never_started: int
    #: Number of arrivals due before the load ended.
    offered: int
    #: Number of arrivals skipped because they were too late (`--late`).
    skipped: int
    #: Number of arrivals started.
    started: int


class AtOnce(Record):
    """Pairs whose runs took place at once."""

    __slots__ = ()
    #: The blocks, in order. If the pair ended when it was decided, the last few may have come after that, and are not used.
    blocks: list[Block]
    #: The first seconds of slices beside the rest of their slices; empty for a duet, and if there are too few slices.
    carry_over: list[CarryOver]
    #: Throughput of each side alone and together with the other; `None` if it was not measured.
    contention: Optional[Contention]
    #: How they did.
    kind: AtOnceKind
    #: First seconds of each slice that are left out, because they differ from the rest.
    left_out_s: int
    #: Number of blocks after which it would have ended, if it ends when it is decided; `None` if it ended by the clock.
    looks_most: Optional[int]
    #: Why the sides did not swap their CPUs; `None` if they did, and for slices.
    not_swapped: Optional[str]
    #: Whether both sides drove the same database.
    same_target: bool
    #: Length of a slice in seconds; `None` for a duet.
    slice_s: Optional[int]
    #: What to know about how the pairs were made, in words.
    words: list[str]


class Audit(Record):
    """A sum over the data before and after the run, compared with the client's own sum."""

    __slots__ = ()
    #: The client's own sum over committed transactions; `None` if its counts are incomplete.
    expected: Optional[int]
    #: Change of the database's sum; `None` if it could not be queried both before and after.
    found: Optional[int]
    #: Maximum possible change, likewise.
    high: Optional[int]
    #: Key of the audit: `abalance`.
    id: str
    #: Minimum possible change, given transactions in doubt or in flight; `None` if unknown.
    low: Optional[int]
    #: The equation: `ΔΣ abalance = Σ delta`.
    title: str
    #: Whether client and database agree.
    verdict: Verdict
    #: The verdict in words.
    words: str


class Availability(Record):
    """Availability of the database during the run."""

    __slots__ = ()
    #: Whether the database answered after the run and returned every number that it returned before. If false, the status is `failed`. `None` in results of versions that did not check.
    answered_at_end: Optional[bool]
    #: Outages: intervals of ramp-up and window in which no transaction completed although some should have.
    outages: list[Outage]
    #: Number of sessions that were lost and had not reconnected when the run ended. If not 0, the status is `failed`.
    sessions_away: int
    #: Seconds of the timed window without service. They are included in the window and its figures.
    without_service_s: float


class Axis(Record):
    """A setting that varies."""

    __slots__ = ()
    #: Name of the setting: `vus`.
    name: str
    #: Its values as they are shown, in the given order; URLs without secrets and without what all have in common.
    values: list[str]


class BackgroundWork(Record):
    """Work of a server in the background."""

    __slots__ = ()
    #: How much of it there was at the beginning of the wait.
    first: int
    #: Whether the wait ended because of the limit, and this was not done.
    is_left: bool
    #: How much there was at its end.
    last: int
    #: Name of the work: `autovacuum`.
    name: str


class Baseline(Record):
    """What queries and transactions did alone before the timed window, each for the same time. The ratios are those of single measurements: they have no interval."""

    __slots__ = ()
    #: Primary metric of the transactions alone; `None` if no second of it was measured.
    primary_metric: Optional[float]
    #: Primary metric in the timed window relative to that alone.
    primary_metric_ratio: Optional[float]
    #: Queries per hour alone.
    queries_per_hour: Optional[float]
    #: Queries per hour in the timed window relative to those alone.
    queries_ratio: Optional[float]
    #: Geometric mean of the queries' median times alone, in milliseconds; `None` if one was not answered.
    query_geomean_ms: Optional[float]
    #: Time for which each ran alone, in seconds.
    seconds: float
    #: Number of queries that timed out or failed alone.
    unanswered: int


class Block(Record):
    """A part of a pair of runs in which both sides worked for equally long."""

    __slots__ = ()
    #: The primary metric of A in its seconds of the block.
    a: float
    #: The primary metric of B in its seconds of the block.
    b: float
    #: Number of the pair of runs, from 0.
    pair: int
    #: Ratio of B to A: in a duet the geometric mean of the ratios before and after the swap.
    ratio: float
    #: Length of the block in seconds, with seconds that are left out.
    seconds: int
    #: First second of the block.
    start_s: int


class Blocker(Record):
    """A session, or the sessions of this run, for which others waited."""

    __slots__ = ()
    #: Average number of sessions of this run that waited for it.
    blocked: float
    #: Maximum number of sessions of this run that waited for it at once.
    blocked_max: int
    #: User, program and state of the session.
    description: str
    #: The table, and the row if known, that others waited for; empty if the server does not say.
    object: str
    #: Number of the session at the server; `None` for all sessions of this run together.
    session: Optional[str]
    #: Its last statement.
    statement: str


class BottleneckVerdict(Record):
    """The bottleneck of a run, the reason, and advice."""

    __slots__ = ()
    #: What to do next, as advice to the user; `None` when there is nothing to do.
    advice: str
    #: The specific cause; `None` for a set of queries.
    cause: Optional[Cause]
    #: Certainty of the verdict.
    certainty: Certainty
    #: Figures from which it was decided.
    figures: LimitFigures
    #: What limited the run.
    kind: Bottleneck
    #: The second candidate, if the verdict is not certain.
    second: Optional[Bottleneck]
    #: What the database's sessions waited for most, if the database is the bottleneck and was observed.
    wait: Optional[BottleneckWait]
    #: Reason in words, with figures.
    words: str


class BottleneckWait(Record):
    """What the sessions of a run waited for at the database."""

    __slots__ = ()
    #: Checkpoints per minute, if they are frequent.
    checkpoints_per_minute: Optional[float]
    #: Class of the wait.
    class_: WaitClass
    #: Share of the time of active sessions, from 0 to 1.
    share: float
    #: Which of the class, if it is most of it: the table of a lock, or the name of a latch or another wait at the server; empty otherwise.
    which: str


class BuildHost(Record):
    """A host that loaded a part of the data."""

    __slots__ = ()
    #: CPU time of its process meanwhile, in seconds.
    cpu_s: float
    #: Its name, unique in the build.
    host: str
    #: Number of its parallel loader sessions.
    jobs: int
    #: Number of rows that it loaded.
    rows: int
    #: How long it loaded, in seconds.
    seconds: float


class BuildPhaseUsage(Record):
    """What a phase of a build used."""

    __slots__ = ()
    #: Name of the phase.
    phase: str
    #: What was used meanwhile.
    usage: Usage


class BuildReport(Document):
    """Report of a build."""

    __slots__ = ()
    #: Whether the build is good.
    ending: Ending
    #: The hosts that loaded the data, if it was spread over several.
    hosts: list[BuildHost]
    #: Number of parallel loader sessions.
    jobs: int
    #: What was observed from the first table to the last statistics; `None` with `--no-observe`.
    observed: Optional[Observed]
    #: `built`, `resumed`, `added`, `already built`.
    outcome: str
    #: Name and seconds of each phase, in order.
    phases: list[list[Any]]
    #: Number of rows loaded by this build.
    rows: int
    #: Scale of the data, in `scale_unit`.
    scale: float
    #: Unit of the scale, in the plural: `warehouses`.
    scale_unit: str
    #: Random seed of the data.
    seed: int
    #: URL of the target, without secrets.
    target: str
    #: What each phase used of this host; empty if neither the server nor the database is on it.
    usage: list[BuildPhaseUsage]
    #: Whose CPU time that is; `None` if it is unknown.
    usage_of: Optional[UsageOf]
    #: Title of the workload: `TPROC-C`.
    workload: str


class BundleVerification(Document):
    """What `triphammer verify --json` prints: whether a bundle agrees with itself, and what its method allows."""

    __slots__ = ()
    #: What was computed again, and agrees.
    agreements: list[Agreement]
    #: Whether everything agrees.
    agrees: bool
    #: Number of disagreements in all.
    disagreement_count: int
    #: What does not agree, at most 200 of them.
    disagreements: list[Disagreement]
    #: Version of the document's format.
    format: Literal[1]
    #: Number of the job in the store that it came from.
    job: int
    #: Kind of the job in the bundle.
    job_kind: str
    #: Kind of document, by the name of its command.
    kind: Literal["verify"]
    #: Judgement of the method; empty for jobs without a run.
    method: list[MethodLine]
    #: Names that the bundle shows.
    names: ShownNames
    #: Statements of the bundle that are in it only once: only hashes and a signature protect them.
    not_recomputed: list[str]
    #: What follows if another version wrote the bundle, in words; `None` if this version did.
    other_version: Optional[str]
    #: The primary metric or the verdict of the job, in one line.
    outcome: str
    #: The signature of the manifest.
    signature: Signature
    #: The program that verified.
    tool: Tool
    #: The program that wrote the bundle, and its version.
    written_by: str


class CapacityBelief(Record):
    """A point of the curve that the search is certain of by now."""

    __slots__ = ()
    #: Probability that the capacity is at least this rate, from 0 to 1.
    probability: float
    #: Rate in transactions per second.
    rate: float


class CapacityLimit(Record):
    """A response time limit: `new_order.p95 < 50ms`."""

    __slots__ = ()
    #: Percentile of the response time, measured from when a transaction was due.
    percentile: Percentile
    #: Key of the transaction type; `all` for all types together.
    transaction: str
    #: Exclusive maximum: `50ms`.
    under: str


class CapacityResult(Document):
    """The result of a capacity search, as printed by `triphammer capacity --json` and `triphammer report JOB --format json`. Times have the unit that the field's name ends with; shares are from 0 to 1; rates are transactions of all types per second."""

    __slots__ = ()
    #: The curve behind the result: the probability that the capacity is at least a rate, at increasing rates. Empty until probes showed a rate on either side.
    belief: list[CapacityBelief]
    #: By how much the server changed during the search; `None` before its end, or if too few probes were near the limit.
    change: Optional[ServerChange]
    #: Whether a capacity was found, and what is wrong with the search.
    ending: Ending
    #: Rates whose run failed.
    failed_runs: list[FailedProbe]
    #: Findings in words, the most important first.
    findings: list[str]
    #: Version of the document's format.
    format: Literal[1]
    #: The host of the client.
    host: Host
    #: Job number; `None` if it was not stored.
    job: Optional[int]
    #: The result; `None` until the search has finished.
    judgement: Optional[CapacityJudgement]
    #: Kind of document, by the name of its command.
    kind: Literal["capacity"]
    #: Label given by the user; `None` without one.
    label: Optional[str]
    #: The response time limit.
    limit: CapacityLimit
    #: The workload's primary metric, reported for each probe in addition to its rate.
    primary_metric: PrimaryMetricName
    #: The runs, in chronological order.
    probes: list[Probe]
    #: The server that the first run connected to.
    server: ServerInfo
    #: Every setting of the first run with its value and the source of the value.
    settings: list[Setting]
    #: Spec of the first run; the others differ in `load`.
    spec: RunSpec
    #: Start of the first run (its second 0), RFC 3339, UTC.
    started_at: str
    #: `complete`, or how the search ended before it was finished.
    status: Status
    #: URL of the target, without secrets.
    target: Redacted
    #: The program that wrote the document.
    tool: Tool
    #: Workload and its data.
    workload: WorkloadFacts


class Capture(Record):
    """What the database did around the moment in which a condition became true."""

    __slots__ = ()
    #: That second, counted from the start of the run.
    at_s: int
    #: The condition as written: `new_order.p95 > 100ms`.
    condition: str
    #: The storage engine's own report on its state, read as soon as the condition was true, as MySQL's `SHOW ENGINE INNODB STATUS`, shortened; `None` where there is none.
    engine_status: Optional[str]
    #: The sessions once per second, from some seconds before that moment to some seconds after it.
    snapshots: list[Snapshot]
    #: Statements executed from `statements_from_s` to the end of the capture, by the server's own statistics and by total time; empty where there are none.
    statements: list[TopStatement]
    #: Second at the end of which the statistics of statements were read first; `None` if they were not.
    statements_from_s: Optional[int]
    #: Unit of the value.
    unit: FigureUnit
    #: Value of the metric in the second that made it true, in `unit`.
    value: float


class CapturedSession(Record):
    """A session at one time."""

    __slots__ = ()
    #: Number of the session that it waits for; `None` if it waits for none. These are the edges of the lock tree.
    blocked_by: Optional[str]
    #: Class of its wait.
    class_: WaitClass
    #: Program or host that it was opened by; empty if unknown.
    client: str
    #: The table, and the row if known, that it waits for; empty if the server does not say.
    object: str
    #: Number of the session at the server.
    session: str
    #: `active` or `idle_in_transaction`.
    state: str
    #: Text of its statement, shortened; the last one if it is idle.
    statement: str
    #: Age of its statement, in seconds, also of the last one if it is idle; `None` if unknown.
    statement_s: Optional[float]
    #: Age of its transaction, in seconds; `None` without one.
    transaction_s: Optional[float]
    #: Its user, or kind of background process; empty if hidden.
    user: str
    #: Name of its wait at the server; empty if it does not wait.
    wait: str
    #: `ours` for those of this run, `other` or `background`.
    who: str


class CarryOver(Record):
    """A second of all slices beside the rest of its slice."""

    __slots__ = ()
    #: That of A.
    a: FirstPoint
    #: That of B.
    b: FirstPoint
    #: The second of the slice, from 0.
    second: int


class CauseEvent(Record):
    """An event that sessions waited for."""

    __slots__ = ()
    #: Its figures.
    figures: CauseFigures
    #: Name of the wait at the server, such as `Lock:transactionid`; empty if they did not wait.
    wait: str


class CauseFigures(Record):
    """Figures of a cause in the stretch and in the rest."""

    __slots__ = ()
    #: Change in milliseconds per committed transaction; `None` if none was committed in the stretch. Without a rest, the milliseconds themselves.
    change_ms: Optional[float]
    #: 95 % interval of `change_ms`; `None` if too few transactions were committed in the stretch.
    change_ms_interval: Optional[Interval]
    #: Average number of sessions in the stretch beyond those that its transactions needed in the rest: it exists even if nothing was committed.
    excess_sessions: float
    #: 95 % interval of `excess_sessions`.
    excess_sessions_interval: Interval
    #: Milliseconds of session time per committed transaction in the stretch; `None` if none was committed.
    ms_per_transaction: Optional[float]
    #: The same in the rest; `None` without a rest.
    ms_per_transaction_rest: Optional[float]
    #: Average number of active sessions in the stretch.
    sessions: float
    #: The same in the rest; `None` without a rest.
    sessions_rest: Optional[float]
    #: Share of active-session time in the stretch.
    share: float


class CauseStatement(Record):
    """A statement that sessions executed."""

    __slots__ = ()
    #: Its figures.
    figures: CauseFigures
    #: Name of the workload's statement, or the shortened text of another.
    statement: str


class Cell(Record):
    """A combination of values and its runs."""

    __slots__ = ()
    #: Most frequent bottleneck of its runs.
    bottleneck: Bottleneck
    #: Highest share of failures among its runs, from 0 to 1.
    failure_share: float
    #: 95 % confidence interval of the mean, by Student's t from the variation of its runs on a logarithmic scale; where every combination has a single run, that run's own interval from its seconds, which does not include the variation between runs.
    interval: Optional[Interval]
    #: Mean of the primary metric over its runs.
    mean: float
    #: Median of the runs' 95th percentiles of response time, in microseconds.
    p95_us: int
    #: Median of the runs' 99th percentiles of response time, in microseconds.
    p99_us: int
    #: Median of the runs' times of a round trip, in microseconds; `None` unless the delay of the network varies.
    round_trip_us: Optional[int]
    #: Its runs, in the order of execution.
    runs: list[LevelRun]
    #: Its value on each axis.
    values: list[str]


class Change(Record):
    """A change of the primary metric."""

    __slots__ = ()
    #: Mean until the next change, or until the end, likewise.
    after: float
    #: Index in `runs` of the first run after the change.
    at: int
    #: Mean since the previous change, or since the start; of the ratios if there is a control.
    before: float
    #: 1 minus the probability of such a change by chance: from noise, or from a host that alternates between two speeds.
    confidence: float
    #: Differences between the last run before it (A) and the first run after it (B).
    differences: list[Difference]
    #: 95 % confidence interval of the ratio; somewhat too narrow, because the position was chosen from the same runs.
    interval: Optional[Interval]
    #: Job number of that run.
    job: int
    #: Ratio of `after` to `before`; `None` if `before` is 0.
    ratio: Optional[float]
    #: Whether the change is for the worse.
    slower: bool


class CheapestLevel(Record):
    """The cheapest level of a profile that keeps the requirements."""

    __slots__ = ()
    #: Other levels that keep them, and whose costs do not differ from these: their intervals overlap.
    alike: list[int]
    #: Costs per million of what the primary metric counts, in the list's currency.
    per_million: Estimate
    #: The requirements that it keeps, as `--require` has them; `None` without any.
    required: Optional[str]
    #: Number of virtual users, or streams.
    users: int


class CheckReport(Document):
    """Report of a check."""

    __slots__ = ()
    #: Results by condition, in order.
    checks: list[CheckResult]
    #: Who computed the answers that were compared, from the same queries on the same data: `DuckDB 1.5.5`. `None` if the workload knows the answers, or nothing was compared.
    compared_with: Optional[str]
    #: Whether all conditions hold that are expected to hold.
    ending: Ending
    #: The program that created the tables, if not triphammer; the rules of the initial population do not apply then.
    made_by: Optional[str]
    #: Why answers were not compared, and what to do.
    not_compared: Optional[str]
    #: The program whose texts the tables have, if they are not those of the specification's generator: answers that depend on them were compared with those that belong to these texts.
    own_texts: Optional[str]
    #: First and last warehouse or branch that was checked.
    range: list[Any]
    #: Unit of the range: `warehouses`.
    scale_unit: str
    #: How much data that is, `0.01 SF`, where the unit has fractions and the range counts thousandths.
    size: Optional[str]
    #: URL of the target, without secrets.
    target: str
    #: Whether every condition of the workload was checked: after a run, the rules of the initial population are not.
    untouched: bool
    #: Title of the workload: `TPROC-C`.
    workload: str


class CheckResult(Record):
    """Result of one condition."""

    __slots__ = ()
    #: The program that created the tables, if its rules do not satisfy the condition: violations are reported then, but are not a failure.
    by_rules_of: Optional[str]
    #: Key of the first violation; `None` if the condition holds.
    first_key: Optional[str]
    #: Identifier of the condition: `3.3.2.1`, `13`.
    id: str
    #: The condition in words or as an equation.
    title: str
    #: Number of violations; 0 if it holds.
    violations: int


class ClassCount(Record):
    """Number of occurrences of an error class."""

    __slots__ = ()
    #: Error class of the failures.
    class_: ErrorClass
    #: Number of occurrences.
    count: int


class ClientCost(Record):
    """CPU use of the client: of its threads over the whole run, of its process in the timed window."""

    __slots__ = ()
    #: CPU time of the busiest worker thread relative to the length of the run: 1 means a full core.
    busiest_share: float
    #: CPU time of all worker threads, in seconds.
    cpu_s: float
    #: CPU time per completed transaction, in microseconds; 0 if none completed. Of the whole process in the timed window if `process_cpus` is known, otherwise of the worker threads in the whole run.
    cpu_us_per_transaction: float
    #: CPU cores used by the whole process in the timed window: worker threads, control thread, and the thread that stores and shows the seconds. `None` if no transaction completed in it, or if the process executed other runs at the same time, as a server may.
    process_cpus: Optional[float]
    #: CPU use of each worker thread.
    threads: list[ThreadCpu]
    #: CPU time per completed transaction of the worker threads in the whole run, in microseconds.
    threads_cpu_us_per_transaction: float


class CommitProbe(Record):
    """Commits of the log probe (`--log-probe`): a transaction of triphammer's own that updates one row of a table of its own. No server keeps a histogram of its log writes; this one is the probe's."""

    __slots__ = ()
    #: Number of commits that failed, or had no answer in time.
    failed: int
    #: How many commits took how long, the shortest first; each class is twice as wide as the one before.
    histogram: list[LatencyClass]
    #: Time between two commits, in seconds.
    interval_s: float
    #: Number of commits that were due but left out, because another one was in progress.
    missed: int
    #: Times of the commits, with their round trip.
    times: Times


class Commits(Record):
    """Counts of transactions and rows. All but the first are known only if the table was read back."""

    __slots__ = ()
    #: Commits that the database acknowledged.
    acknowledged: int
    #: Rows without their hash, or that this drill did not write.
    altered: int
    #: Rows beyond the first of a transaction.
    duplicated: int
    #: Transactions that failed.
    failed: int
    #: Commits in doubt: sent, and not answered.
    indeterminate: int
    #: Commits in doubt that have none.
    indeterminate_absent: int
    #: Commits in doubt that have a row.
    indeterminate_committed: int
    #: Acknowledged commits without a row; `None` if the table was not read.
    lost: Optional[int]
    #: First and last second in which lost commits began; `None` without any. May be a second early, and more in drills of over an hour.
    lost_between_s: Optional[list[Any]]
    #: Rows that do not follow the rows before them: the database kept a commit and lost one that it was built on, or did not show it one that had been acknowledged.
    reordered: int
    #: Transactions that were reported as failed and have a row.
    undead: int


class ComparedPart(Record):
    """A part of a transaction's time, or an amount that it needs, on both sides."""

    __slots__ = ()
    #: Value per transaction in A, the mean of its runs; `None` if it is not known of each of them.
    a: Optional[float]
    #: Value per transaction in B, the mean of its runs; `None` if it is not known of each of them.
    b: Optional[float]
    #: Depth in the tree of parts: 0 for the response time and for amounts.
    depth: int
    #: Name of the part: `network`; `lock_table` for each table of a lock.
    name: str
    #: B over A; `None` if one of them is not known, or A is 0.
    ratio: Optional[float]
    #: Title in reports and on the page.
    title: str
    #: Unit of the values: `us`, `bytes` or `average`.
    unit: str


class Comparison(Record):
    """Result of comparing B with A."""

    __slots__ = ()
    #: Data that the interval is based on.
    basis: Basis
    #: Direction in which values improve.
    better: Better
    #: 95 % interval of the ratio; wider if `together` is above 1.
    interval: Interval
    #: Difference that does not matter, as a share.
    margin: float
    #: B over A: the geometric mean ratio. 1.05 is 5 % more.
    ratio: float
    #: Number of comparisons, this one included, whose intervals all contain the true ratios in 95 %: that of a level is one of several.
    together: int
    #: Verdict on B, given interval and margin.
    verdict: ComparisonVerdict


class ComparisonResult(Document):
    """The result of a comparison of B with A, as printed by `triphammer compare --json` and `triphammer report JOB --json`. Ratios are B over A; shares are from 0 to 1. The verdict is that of the primary metric."""

    __slots__ = ()
    #: The baseline.
    a: Side
    #: 95 % prediction interval of the ratio that another comparison of as many runs would find; `None` if it is unknown, because there is one run of each side, or one pair at once.
    another: Optional[Interval]
    #: Whether both sides answer the same to a replay; `None` for other loads.
    answers: Optional[AnswersCompared]
    #: The side that is compared with the baseline.
    b: Side
    #: Conditions that differ between the sides.
    differences: list[Difference]
    #: Whether all runs were made and are good, and the verdict passes.
    ending: Ending
    #: Energy of both sides; `None` unless a run of either side measured it.
    energy: Optional[EnergyComparison]
    #: Figures of both sides, the primary metric first.
    figures: list[Figure]
    #: Version of the document's format.
    format: Literal[1]
    #: The setting of the host that differs between the sides; `None` if no such was changed.
    host_setting: Optional[HostSetting]
    #: Job number; `None` for a comparison of stored jobs, which creates no job.
    job: Optional[int]
    #: Kind of document, by the name of its command.
    kind: Literal["compare"]
    #: Label given by the user; `None` without one.
    label: Optional[str]
    #: Smallest difference that matters, as a share from 0 to 1.
    margin: float
    #: Estimated minutes of further measurements for a decision; `None` if it is decided, or if no practical number would suffice.
    more_minutes: Optional[float]
    #: The pairs of runs; `None` for a comparison of stored jobs.
    pairs: Optional[Pairing]
    #: Execution plans that differ, of queries and of the statements of replays.
    plans: list[PlanChange]
    #: What B costs relative to A; `None` unless both sides have a price list.
    price: Optional[PriceComparison]
    #: The primary metric, which decides the verdict.
    primary_metric: PrimaryMetricName
    #: Levels and curves; `None` unless profiles are compared or pairs were made at several levels.
    profiles: Optional[Profiles]
    #: Times of the statements of a replay on both sides; empty for other loads.
    speeds: list[StatementSpeed]
    #: Start of the first run (its second 0), RFC 3339, UTC.
    started_at: str
    #: `complete`, or `interrupted` or `failed` if pairs are missing.
    status: Status
    #: The program that wrote the document.
    tool: Tool
    #: Where the time of a transaction goes on both sides; `None` unless all runs know it.
    transaction_time: Optional[TimeComparison]
    #: Verdict on B by the primary metric.
    verdict: ComparisonVerdict
    #: What sessions did or waited for more or less per transaction in B than in A, from the seconds of one run each; `None` unless both were observed. Here is B, the rest is A.
    waits: Optional[WaitChanges]
    #: Warnings to read before using the verdict.
    warnings: list[Warning]
    #: The verdict in words, with figures.
    words: str


class Contention(Record):
    """How much the sides of a duet slow each other."""

    __slots__ = ()
    #: The primary metric of A and of B alone.
    alone: list[float]
    #: Whether the duet measures contention instead of a difference: both sides lost more than a quarter.
    is_dominant: bool
    #: What limited each side while both worked, from its run.
    limits: list[str]
    #: Share of its throughput alone that each side lost; negative for a gain.
    lost: list[float]
    #: The same together.
    together: list[float]
    #: The finding in words.
    words: str


class ControlCount(Record):
    """How often a control showed a kind."""

    __slots__ = ()
    #: Times found.
    count: int
    #: Whether the control's own level promises that it does not happen.
    is_broken_promise: bool
    #: Name of the kind.
    kind: str


class ControlResult(Record):
    """The load at a weaker level."""

    __slots__ = ()
    #: The kinds that it showed, with their counts.
    found: list[ControlCount]
    #: The level.
    level: str
    #: Job number of its run; `None` if it was not stored.
    run: Optional[int]
    #: Attempts at transactions that were examined.
    transactions: int


class ControlRun(Record):
    """A run of the control beside a run of a history."""

    __slots__ = ()
    #: Number in the job store.
    job: int
    #: Value of the followed run over this one.
    ratio: float
    #: Value of the primary metric.
    value: float


class CoreBalance(Record):
    """Whether the work of a host was spread evenly over its CPUs."""

    __slots__ = ()
    #: What to do next; `None` if there is nothing to do.
    advice: Optional[str]
    #: The CPUs that are the cause; empty if there is none.
    cpus: list[int]
    #: Why it was not; `None` if it was.
    uneven: Optional[UnevenCause]
    #: Reason in words, with figures.
    words: str


class CoreMap(Record):
    """What each CPU of a host did in the timed window."""

    __slots__ = ()
    #: Whether the work was spread evenly; `None` with one CPU or in a short window.
    balance: Optional[CoreBalance]
    #: Seconds per column: the smallest power of two that limits the number of columns.
    column_s: int
    #: The CPUs, by number.
    cpus: list[CpuRow]
    #: Second of the run at which the first column begins.
    from_s: int
    #: Name of the host of a node exporter; `None` for the host of triphammer.
    host: Optional[str]


class CounterFigure(Record):
    """An event counted by the transactions themselves, over committed ones."""

    __slots__ = ()
    #: Number of events.
    count: int
    #: Key of the counter: `districts_skipped`.
    name: str
    #: Maximum possible number of events.
    possible: int
    #: Share of `count` in `possible`, from 0 to 1.
    share: float
    #: Title of the counter: `districts skipped`.
    title: str
    #: Share above which the result has a warning.
    warn_above: float


class CpuCache(Record):
    """The caches of a kind."""

    __slots__ = ()
    #: Size of one, in bytes.
    bytes: int
    #: Number of them in the host.
    count: int
    #: `data`, `instruction` or `unified`.
    kind: str
    #: Level: 1 is nearest to the core.
    level: int
    #: Number of logical CPUs that share one.
    shared_by: int


class CpuColumns(Record):
    """A CPU over time: a value per column, `None` where there is none. Lists of what a CPU never did are empty."""

    __slots__ = ()
    #: Busy, in percent.
    busy: list[Optional[int]]
    #: Hardware interrupts, in percent.
    hard: list[Optional[int]]
    #: Frequency, in MHz.
    mhz: list[Optional[int]]
    #: Working processes or threads of the server, rounded.
    server_tasks: list[Optional[int]]
    #: Software interrupts, in percent.
    soft: list[Optional[int]]


class CpuProfile(Record):
    """Where the CPUs of this host were in the timed window, by samples of their stacks."""

    __slots__ = ()
    #: Samples per second of each CPU.
    frequency_hz: int
    #: Whether all processes of the host were sampled, not only this one.
    is_of_host: bool
    #: Seconds that were sampled.
    seconds: float
    #: The sides that used a CPU, in the order of `CpuSide`.
    sides: list[ProfiledSide]
    #: What sampled: `perf version 6.1.187`.
    tool: str


class CpuRow(Record):
    """What a CPU did in the timed window."""

    __slots__ = ()
    #: Share of the time in which it was busy.
    busy: float
    #: The figures over time.
    columns: CpuColumns
    #: Number of its core in the package; threads of a core have the same.
    core: Optional[int]
    #: Number of the logical CPU.
    cpu: int
    #: Share of the time in which it handled hardware interrupts.
    hard: float
    #: Mean frequency in MHz, where it is known.
    mhz: Optional[float]
    #: Number of its memory node.
    node: Optional[int]
    #: Number of its package (socket).
    package: Optional[int]
    #: Share of the seconds in which it was at least 90 % busy.
    saturated: float
    #: Mean number of working processes or threads of the server that were last on it, where they are known.
    server_tasks: Optional[float]
    #: Share of the time in which it handled software interrupts.
    soft: float


class CpuTest(Record):
    """The time of the test, beside stored ones."""

    __slots__ = ()
    #: Earlier times in the job store, the newest first.
    earlier: list[StoredCpuTest]
    #: The database's result; 873729.72 if it calculates correctly.
    result: str
    #: Time of the test, in seconds.
    seconds: float


class Curve(Record):
    """Parameters of a fitted law."""

    __slots__ = ()
    #: κ: coherency, 0 or more.
    kappa: Estimate
    #: λ: primary metric of one virtual user.
    lambda_: Estimate
    #: R²: share of the variance explained by the curve; `None` if there is no variance.
    r_squared: Optional[float]
    #: Root mean square of the residuals, relative to the fitted value.
    residual: float
    #: σ: contention, from 0 to 1.
    sigma: Estimate


class CurveFigure(Record):
    """A parameter of both curves."""

    __slots__ = ()
    #: Value of A's curve; `None` without a curve, or if the peak was not reached.
    a: Optional[Estimate]
    #: Value of B's curve, likewise.
    b: Optional[Estimate]
    #: Name: `lambda`, `sigma`, `kappa`, `peak_users` or `peak_throughput`.
    name: str


class DatabaseState(Record):
    """The state of the database at the start of a run; `None` for what the database does not report."""

    __slots__ = ()
    #: Size of all tables and indexes, in bytes.
    bytes: Optional[int]
    #: Number of rows that were deleted or replaced and still take space, as the database counts them.
    dead_rows: Optional[int]
    #: Rows or checksums of the tables; `None` if they were not read.
    fingerprint: Optional[Fingerprint]
    #: Space in the tables that holds nothing, in bytes.
    free_bytes: Optional[int]
    #: How it was brought about, a sentence each.
    preparation_words: list[str]
    #: How long the run waited for the server's work in the background; `None` if it did not.
    quiet: Optional[QuietWait]
    #: How the state was restored before the run; `None` if it was not.
    restored: Optional[Restored]
    #: Number of rows of all tables, as estimated by the planner.
    rows: Optional[int]
    #: Its size in words; `None` if nothing is known.
    size_words: Optional[str]
    #: Age of the oldest statistics of a table, in seconds.
    statistics_age_s: Optional[int]
    #: What was read into caches before the run; `None` if nothing was.
    warmed: Optional[WarmedUp]
    #: Tables whose statistics were never gathered.
    without_statistics: int


class DeclaredFigure(Record):
    """A declared figure with its value, part of the result document."""

    __slots__ = ()
    #: Name in requirements.
    name: str
    #: Title in reports and on the page.
    title: str
    #: Unit of the value.
    unit: FigureUnit
    #: Value in `unit`; `None` if the run did not measure it.
    value: Optional[float]


class Difference(Record):
    """A difference between the two sides."""

    __slots__ = ()
    #: Value of A, without secrets; `None` if A has none. Several values are joined by slashes.
    a: Optional[str]
    #: Value of B, likewise.
    b: Optional[str]
    #: Whether figures can only be compared if it is equal.
    must_be_equal: bool
    #: Name of the fact.
    name: str
    #: Subject of the difference.
    subject: Subject


class DifferingStatement(Record):
    """A statement to which B answers other than A."""

    __slots__ = ()
    #: Differences of A's last replay from the recording; none if it answered as recorded, or if the recording has no answers.
    a: list[DivergenceCount]
    #: Differences of B's last replay from the recording.
    b: list[DivergenceCount]
    #: Whether its answers may differ by chance.
    by_chance: bool
    #: Number of its answers that were compared.
    compared: int
    #: Number of these that differ.
    differing: int
    #: The first answer of the last replay of A, and of B, that differs from the recording; `None` where none does.
    examples: list[Optional[DivergenceExample]]
    #: The statement, in one line.
    text: str


class Disagreement(Record):
    """A statement that does not agree with what it was computed from."""

    __slots__ = ()
    #: What was found instead.
    found: str
    #: Part of the bundle: `document.json`.
    part: str
    #: Place in it: `window.total.completed`.
    place: str
    #: What the part says.
    written: str


class DivergenceCount(Record):
    """The number of divergences of a kind."""

    __slots__ = ()
    #: How many times.
    count: int
    #: The kind.
    kind: Divergence
    #: Its name for people.
    title: str


class DivergenceExample(Record):
    """One divergence. It has no values of the recording: those are where its session and time are."""

    __slots__ = ()
    #: When its transaction began in the recording, in seconds.
    at_s: float
    #: The kind.
    kind: Divergence
    #: What was recorded.
    recorded: str
    #: What the replay met.
    replayed: str
    #: The recorded session, from 1.
    session: int


class DoctorResult(Document):
    """What `triphammer doctor --json` prints: what host, network and database are set up like."""

    __slots__ = ()
    #: Speed of one thread of the database; `None` without `--cpu-test`, and if it failed.
    cpu_test: Optional[CpuTest]
    #: Version of the document's format.
    format: Literal[1]
    #: The only goal that the host is judged by; `None` for both.
    goal: Optional[SetupGoal]
    #: Checks that need a privilege that the user lacks, by the statement that grants it.
    hidden: list[Hidden]
    #: Whether the lines of the group `host` are also about the database: it runs on the same host.
    host_of_database: bool
    #: What the host of this program can do; `None` without `--host-test`, and if it failed.
    host_test: Optional[HostTest]
    #: Kind of document, by the name of its command.
    kind: Literal["doctor"]
    #: What was found, by group, in the order of the declarations.
    lines: list[SetupLine]
    #: Product, version and transport of the server; `None` likewise.
    server: Optional[ServerInfo]
    #: URL of the target, without secrets; `None` if only the host was examined.
    target: Optional[Redacted]
    #: The program that wrote the document.
    tool: Tool
    #: Checks that could not be made.
    unread: list[Unread]
    #: The worst verdict of all lines; `fine` if there are none.
    verdict: SetupVerdict
    #: Latency of commits; `None` without `--write-test`, and if it failed.
    write_test: Optional[WriteTest]


class DrillResult(Document):
    """The result of a drill, as printed by `triphammer drill --json` and `triphammer report JOB --format json`. Times have the unit that the field's name ends with; seconds count from the start of the load."""

    __slots__ = ()
    #: What the database did with the commits.
    commits: Commits
    #: Whether the drill is good, and what is wrong with it.
    ending: Ending
    #: Moves of the writes from one node to another during the load.
    failovers: list[FailoverFigure]
    #: The faults, in the order of their times.
    faults: list[FaultReport]
    #: Findings in words, the most important first.
    findings: list[str]
    #: Version of the document's format.
    format: Literal[1]
    #: The host of the client.
    host: Host
    #: Job number; `None` if it was not stored.
    job: Optional[int]
    #: Kind of document, by the name of its command.
    kind: Literal["drill"]
    #: Label given by the user; `None` without one.
    label: Optional[str]
    #: Length of the load, in seconds.
    load_s: float
    #: Lost commits of one user without a gap, at most 100 of them.
    lost: list[LostRange]
    #: What the nodes of the target did during the load; empty for a single server.
    nodes: list[NodeFigures]
    #: Job number of the run that drove the load; `None` if it was not stored.
    run: Optional[int]
    #: The server that the drill connected to first.
    server: ServerInfo
    #: How long the database was away.
    service: Service
    #: Every setting with its value and the source of the value.
    settings: list[Setting]
    #: Start of the load (second 0), RFC 3339, UTC.
    started_at: str
    #: `complete`, or how the load ended before its time.
    status: Status
    #: URL of the target, without secrets.
    target: Redacted
    #: The program that wrote the document.
    tool: Tool
    #: Virtual users, each with its own chain of rows.
    users: int
    #: How the table was read back.
    verification: TableRead
    #: Workload and its data.
    workload: WorkloadFacts


class Durations(Record):
    """Lengths of a run and its parts, in seconds."""

    __slots__ = ()
    #: Actual length of the ramp-up, before the timed window.
    rampup_s: float
    #: From the start of the run to the end of the last transaction.
    whole_s: float
    #: Requested length of the timed window; `None` if the length was a number of transactions or was determined by the interval of the mean.
    window_asked_s: Optional[float]
    #: Actual length of the timed window.
    window_s: float
    #: Time of the window in which the run worked, if it took turns with another one; rates are those of this time. `None` if it worked all the time.
    worked_s: Optional[float]


class Efficiency(Record):
    """The primary metric relative to the maximum that keying and thinking times allow."""

    __slots__ = ()
    #: Maximum for this number of terminals.
    maximum: float
    #: Share of that maximum, from 0 to 1.
    share: float


class Elasticity(Record):
    """Reactions to the steps of a load and to changes of the nodes, in order. Steps whose part is shorter than six seconds are omitted."""

    __slots__ = ()
    #: The steps.
    steps: list[StepReaction]


class Ending(Record):
    """How a job ended."""

    __slots__ = ()
    #: How a run ended that is not complete, in a sentence: `interrupted after 5s: these are partial figures`; `None` for other jobs.
    detail: Optional[str]
    #: What is wrong with the job, or what to know about it before anything else; `None` for nothing.
    flaw: Optional[Flaw]
    #: Whether the job was successful and its findings are good. If not, its command exits with 1, or with 130 if it was interrupted.
    good: bool
    #: The status and the flaw in words: `complete`, `complete, commits lost`.
    words: str


class Energy(Record):
    """Energy in the timed window of a run."""

    __slots__ = ()
    #: Figures of the database's host; `None` if its energy is not known.
    figures: Optional[EnergyFigures]
    #: What could not be read and why, in words.
    gaps: list[str]
    #: What was read, by source; empty if nothing could be read.
    sources: list[EnergySource]


class EnergyComparison(Record):
    """Energy per transaction of both sides of a comparison."""

    __slots__ = ()
    #: Energy of A per transaction, in joules: mean over its runs.
    a_joules: Optional[float]
    #: The same of B.
    b_joules: Optional[float]
    #: Rate of B over that of A: energy is comparable at equal rates only.
    rate_ratio: Optional[float]
    #: Energy of B per transaction over that of A; `None` if the rates or the kinds of source differ, or if it is not known.
    ratio: Optional[float]
    #: The result in words, or why there is no ratio.
    words: str


class EnergyDomain(Record):
    """Energy of a domain in the timed window."""

    __slots__ = ()
    #: Share of the timed window in which it was read.
    coverage: float
    #: Energy that was read in the timed window, in joules.
    joules: float
    #: Name of the domain: `package-0`, `dram`.
    name: str


class EnergyFigures(Record):
    """What the database's host used for the transactions of the timed window."""

    __slots__ = ()
    #: The same without the power of the idle host; `None` without `--idle`.
    above_idle: Optional[AboveIdle]
    #: The client's share of the CPU time that was used on a host that it shares with the database: as much of the energy may be the client's. `None` on other hosts, and if it is unknown.
    client_cpu_share: Optional[float]
    #: What is counted: what the primary metric counts, such as `New-Orders committed`.
    counted: str
    #: Energy per transaction that is counted, in joules; `None` if none was.
    joules_per_transaction: Optional[float]
    #: What it was read from: only figures of the same kind are comparable.
    kind: EnergySourceKind
    #: Whose energy it is: of the server's host, or of one that the client shares.
    of: EnergyOf
    #: Rate of these in the timed window, per second.
    per_second: float
    #: The primary metric per watt, such as NOPM per watt; `None` for a set of queries.
    primary_metric_per_watt: Optional[float]
    #: Mean power in the timed window, in watts.
    watts: float


class EnergySource(Record):
    """Energy of a source in the timed window."""

    __slots__ = ()
    #: Its domains, which add up.
    domains: list[EnergyDomain]
    #: Host of the exporter; `None` for the counters of this host.
    host: Optional[str]
    #: Mean power of the idle host before the run, in watts; `None` without `--idle`.
    idle_watts: Optional[float]
    #: Energy of all domains in the timed window, in joules; `None` if too little of the window was read.
    joules: Optional[float]
    #: Kind of the source.
    kind: EnergySourceKind
    #: Whose energy it is.
    of: EnergyOf
    #: Mean power in the timed window, in watts; `None` likewise.
    watts: Optional[float]


class ErrorFigure(Record):
    """The first error of a kind."""

    __slots__ = ()
    #: Class of the error.
    class_: ErrorClass
    #: Number of attempts that ended with this kind of error, including retried ones.
    count: int
    #: Message of the error, without secrets.
    message: str
    #: Key of the transaction type.
    transaction: str


class Estimate(Record):
    """A figure and its uncertainty."""

    __slots__ = ()
    #: Its 95 % interval; `None` where the data does not allow one.
    interval: Optional[Interval]
    #: Value of the figure.
    value: float


class ExampleEdge(Record):
    """A dependency between transactions of an example."""

    __slots__ = ()
    #: Name of the first transaction.
    from_: str
    #: `ww`, `wr`, `rw`, `rw-predicate`, `session` or `real-time`.
    kind: str
    #: Name of the second.
    to: str
    #: What the second has to do with the first, in words.
    why: str


class ExampleStatement(Record):
    """A statement of an example."""

    __slots__ = ()
    #: When its answer arrived, in milliseconds after the first transaction of the example began.
    at_ms: float
    #: What it was about, in words: `list 3`.
    key: str
    #: What it returned.
    result: str
    #: The SQL with its values.
    sql: str


class ExampleTransaction(Record):
    """A transaction of an example."""

    __slots__ = ()
    #: When the client began it, in milliseconds after the first transaction of the example began.
    began_ms: float
    #: When the client knew its fate.
    ended_ms: float
    #: `committed`, `aborted` or `in doubt`.
    fate: str
    #: Name in the example: `T1`.
    name: str
    #: Its statements, in order.
    statements: list[ExampleStatement]
    #: The virtual user, from 0.
    user: int


class ExecutionPlan(Record):
    """The plan by which a database executes a query."""

    __slots__ = ()
    #: The operations as measured when the query was run for that, with `--analyze`; `None` without it.
    analyzed: Optional[AnalyzedPlan]
    #: Fingerprint of the operations, without costs, estimates and literals.
    fingerprint: str
    #: The operations, each followed by its inputs.
    operations: list[PlanOperation]
    #: Key of the query: `q9`.
    query: str


class FailedCell(Record):
    """A run that failed."""

    __slots__ = ()
    #: Reason in words, for people.
    reason: str
    #: The step that was tried.
    step: int
    #: Value of the combination on each axis.
    values: list[str]


class FailedLevel(Record):
    """A level whose run failed."""

    __slots__ = ()
    #: Reason in words, for people.
    reason: str
    #: The step that was tried.
    step: int
    #: Number of virtual users.
    users: int


class FailedProbe(Record):
    """A rate whose run failed."""

    __slots__ = ()
    #: Reason in words, for people.
    reason: str
    #: Position in the sequence, from 0.
    step: int
    #: Title of the run.
    title: str


class FailedRun(Record):
    """A run that failed to start or to end."""

    __slots__ = ()
    #: Reason in words, for people.
    reason: str
    #: Position in the comparison, from 0.
    step: int


class FailoverFigure(Record):
    """Writes moved from one node to another, which had been promoted or accepted writes anyway."""

    __slots__ = ()
    #: End of the first write committed afterwards.
    first_s: float
    #: Name of the node that wrote before.
    from_: str
    #: Time without a committed write, in seconds.
    gap_s: float
    #: End of the last write committed before, in seconds since the start of the run.
    last_s: float
    #: Name of the node that has written since.
    to: str


class FailureShare(Record):
    """Share of failures, compared with the limit."""

    __slots__ = ()
    #: Whether `share` is above `limit`.
    above_limit: bool
    #: Maximum share: `spec.max_failures`.
    limit: float
    #: Share of transactions failed, in doubt, or completed with an unreadable answer, among all that ended in the timed window (in the whole run if none ended in the window).
    share: float


class FaultReport(Record):
    """A fault, and what became of it."""

    __slots__ = ()
    #: When it was due, in seconds.
    at_s: float
    #: When it began, in seconds; `None` if the load ended before.
    began_s: Optional[float]
    #: What it did, or why it failed: of a command, the exit code and the end of its output.
    detail: str
    #: When it was over, in seconds; `None` if it never began.
    ended_s: Optional[float]
    #: The fault, as given.
    fault: str
    #: Whether it took place.
    succeeded: bool


class Figure(Record):
    """A figure of both sides, and the ratio of B to A."""

    __slots__ = ()
    #: Mean over A's runs, or over the seconds of its single run.
    a: float
    #: Mean over B's runs, or over the seconds of its single run.
    b: float
    #: Ratio of B to A; `None` if it cannot be computed.
    comparison: Optional[Comparison]
    #: Name of the figure: `nopm`, `tpm`, `new_order.p95`.
    name: str
    #: Why there is no ratio; `None` if there is one.
    reason: Optional[str]
    #: Title of the figure: `New-Order p95`.
    title: str
    #: Unit: microseconds, or a number.
    unit: FigureUnit


class Figures(Record):
    """Figures of a part of the run."""

    __slots__ = ()
    #: Length of the part, in seconds.
    seconds: float
    #: Total of all transaction types.
    total: TypeFigures
    #: Figures by transaction type, in the workload's order.
    types: list[TypeFigures]


class Fingerprint(Record):
    """What distinguishes a state of the data from another."""

    __slots__ = ()
    #: What was read of each table.
    depth: FingerprintDepth
    #: Number of tables that could not be read in time.
    missing: int
    #: Time that it took, in seconds.
    seconds: int
    #: The tables that were read, by name.
    tables: list[TableFingerprint]


class FirstAnswer(Record):
    """When a database answered first after a time in which triphammer had no connection to it. All of this is before the load, and in none of its figures."""

    __slots__ = ()
    #: Time from the beginning of the first attempt to log in to the answer, in seconds.
    answer_s: float
    #: Time for authentication, in seconds.
    authentication_s: Optional[float]
    #: Time to the connection, in seconds; `None` if the driver cannot tell it, and likewise below.
    connect_s: Optional[float]
    #: Error of the first of them; `None` if none failed.
    error: Optional[str]
    #: Number of attempts that failed before.
    failed: int
    #: Time of the login that succeeded, in seconds, and below its phases.
    login_s: float
    #: How long there was no connection.
    pause: str
    #: Time for setting up the session, in seconds.
    setup_s: Optional[float]
    #: Time of the statement, in seconds: the smallest one that the database has, such as SELECT 1.
    statement_s: float
    #: Time for TLS, in seconds; `None` without TLS, too.
    tls_s: Optional[float]
    #: All of it in words.
    words: str


class FirstDivergence(Record):
    """The divergence that was first in the recording."""

    __slots__ = ()
    #: When its transaction began in the recording, in seconds.
    at_s: float
    #: The kind.
    kind: Divergence
    #: The statement, in one line.
    text: str
    #: Its name for people.
    title: str


class FirstPoint(Record):
    """How much the points at one place of their stretches differ from those after them."""

    __slots__ = ()
    #: Probability of a difference at least as great where there is none.
    p_value: float
    #: Mean difference from the rest of the stretch: -0.05 is 5 % less.
    share: float


class Hidden(Record):
    """Checks that need a privilege."""

    __slots__ = ()
    #: Names of the checks.
    checks: list[str]
    #: Statement that grants the privilege.
    grant: str


class HistoryResult(Document):
    """The result of a history, as printed by `triphammer history --json`: runs in chronological order, and the changes of their primary metric."""

    __slots__ = ()
    #: Changes of the primary metric, in the same order.
    changes: list[Change]
    #: Label of the control: changes are then those of the ratios to its runs; `None` without one.
    control: Optional[str]
    #: By how much the primary metric drifts steadily from run to run; changes are those beside it. `None` if it does not.
    drift: Optional[float]
    #: Version of the document's format.
    format: Literal[1]
    #: Kind of document, by the name of its command.
    kind: Literal["history"]
    #: The requested label; `None` if none was given.
    label: Optional[str]
    #: The price list of `per_million`; `None` without `--price`.
    price: Optional[PriceList]
    #: The primary metric of the runs.
    primary_metric: PrimaryMetricName
    #: The runs, the oldest first.
    runs: list[HistoryRun]
    #: The program that wrote the document.
    tool: Tool
    #: Warnings to read before using the result.
    warnings: list[Warning]
    #: Findings in words.
    words: str
    #: Workload and its data, from the newest run.
    workload: WorkloadFacts


class HistoryRun(Record):
    """A run of a history."""

    __slots__ = ()
    #: The adjacent run of the control; `None` without a control.
    control: Optional[ControlRun]
    #: Whether the run was successful.
    good: bool
    #: 95 % confidence interval of the value, from the run's own seconds; `None` if there is none.
    interval: Optional[Interval]
    #: Number in the job store.
    job: int
    #: Energy of the database's host per transaction that the primary metric counts, in joules; `None` if it was not measured.
    joules_per_transaction: Optional[float]
    #: Costs per million of what the primary metric counts, by the price list; `None` without one.
    per_million: Optional[Estimate]
    #: Fingerprint of the execution plans of all its queries; `None` if none are stored.
    plans: Optional[str]
    #: Product and version of the server.
    server: str
    #: Start of the run (its second 0), RFC 3339, UTC.
    started_at: str
    #: URL of the target, without secrets.
    target: Redacted
    #: Version of the program that ran it.
    tool_version: str
    #: Value of the primary metric.
    value: float


class Host(Record):
    """Facts about a host."""

    __slots__ = ()
    #: CPU architecture: `x86_64`, `aarch64`.
    architecture: str
    #: Number of logical cores that this process may use.
    cores: Optional[int]
    #: CPU model, as named by the system.
    cpu: Optional[str]
    #: CPU frequency governor: `performance`, `schedutil`.
    governor: Optional[str]
    #: Release of the kernel, as `uname -r`.
    kernel: Optional[str]
    #: Total memory, in bytes.
    memory_bytes: Optional[int]
    #: Operating system: `Debian GNU/Linux 12 (bookworm)`, or at least `linux`, `macos` or `windows`.
    os: str
    #: How its CPUs and memory are arranged.
    topology: Optional[Topology]


class HostFigure(Record):
    """A figure that was measured."""

    __slots__ = ()
    #: Name of the figure.
    name: str
    #: Unit of the value.
    unit: str
    #: The value.
    value: float


class HostReference(Record):
    """A test of another machine, to compare with."""

    __slots__ = ()
    #: What was measured.
    figures: list[HostFigure]
    #: The machine, its disk, and when it was tested.
    machine: str


class HostSetting(Record):
    """What a setting of the host is worth: A and B are the same load on the same database, with another value of the setting."""

    __slots__ = ()
    #: Name of the check of `doctor`.
    check: str
    #: Standard deviation of the primary metric between the runs of A and of B, relative to its mean; `None` of a single run.
    spread: list[Optional[float]]
    #: Values of A and of B, as the check names them.
    values: list[str]
    #: What the setting is worth on this host, in words.
    words: str


class HostShare(Record):
    """One of several hosts that drove a run."""

    __slots__ = ()
    #: What limited its share; `None` if it was lost.
    bottleneck: Optional[BottleneckVerdict]
    #: CPU cores that its process used in the timed window; `None` if it was lost.
    client_cpus: Optional[float]
    #: Largest possible error of that, in milliseconds.
    clock_error_ms: float
    #: How far its clock was ahead of the coordinator's before the start, in milliseconds. An offset within its error is not taken into account.
    clock_offset_ms: float
    #: Number of transactions that it completed in the timed window.
    completed: int
    #: Number of CPUs that its process may use.
    cpus: int
    #: 99th percentile of its event-loop lag, in microseconds.
    lag_p99_us: Optional[int]
    #: How it was lost; `None` if it was not.
    loss: Optional[LostHost]
    #: Name of the host; processes of one host are numbered.
    name: str
    #: Time of a round trip on its sessions, 10th percentile, in microseconds.
    round_trip_us: Optional[int]
    #: Number of sessions of its share.
    sessions: int
    #: How long after the agreed instant its load began, in milliseconds; `None` if unknown.
    start_late_ms: Optional[float]


class HostTest(Record):
    """What the host can do, beside earlier tests and other hosts."""

    __slots__ = ()
    #: Length of each of the three arrays of the triad, in bytes, all threads together.
    array_bytes: int
    #: Length of the processors' largest caches together, in bytes; `None` if unknown.
    cache_bytes: Optional[int]
    #: Where the file was; `None` if the disk was not tested.
    disk: Optional[HostTestDisk]
    #: Earlier tests of the same machine in the job store, the newest first.
    earlier: list[StoredHostTest]
    #: What was measured, in the order of the declarations.
    figures: list[HostFigure]
    #: The machine.
    machine: HostTestMachine
    #: Tests of other machines by the authors of this program.
    references: list[HostReference]
    #: Length of the test, in seconds.
    seconds: float
    #: Number of threads that worked at once in the tests of all threads.
    threads: int


class HostTestDisk(Record):
    """Where the test of the disk wrote."""

    __slots__ = ()
    #: Whether the kernel's cache was passed by; if not, reads come from memory.
    direct: bool
    #: Length of the file, in bytes.
    file_bytes: int
    #: Type of the file system and its mount point.
    file_system: str
    #: Folder of its file.
    folder: str


class HostTestMachine(Record):
    """A machine that was tested."""

    __slots__ = ()
    #: Model of the processors; `None` if unknown.
    cpu: Optional[str]
    #: Number of logical CPUs; `None` if unknown.
    cpus: Optional[int]
    #: Name of the host.
    host: str


class Interval(Record):
    """A 95 % interval, in the unit of its value."""

    __slots__ = ()
    #: Upper end of the interval.
    high: float
    #: Lower end of the interval.
    low: float


class IsolationResult(Document):
    """The result of a test of isolation, as printed by `triphammer isolation --json`. Times have the unit that the field's name ends with; seconds count from the start of a level's load."""

    __slots__ = ()
    #: The load at a weaker level that shows what this load can show; `None` without one.
    control: Optional[ControlResult]
    #: Whether every level kept what it promises, and what is wrong.
    ending: Ending
    #: The anomaly that was expected (`--expect`); `None` without one.
    expected: Optional[str]
    #: Whether kinds without a control count as a failure (`--fail-if-undecided`).
    fails_if_undecided: bool
    #: The faults, in the order of their times.
    faults: list[FaultReport]
    #: Findings in words, the most important first.
    findings: list[str]
    #: Version of the document's format.
    format: Literal[1]
    #: The host of the client.
    host: Host
    #: Job number; `None` if it was not stored.
    job: Optional[int]
    #: Kind of document, by the name of its command.
    kind: Literal["isolation"]
    #: Label given by the user; `None` without one.
    label: Optional[str]
    #: What was found at each level, in the order in which they ran.
    levels: list[LevelResult]
    #: Length of each level's load, in seconds.
    load_s: float
    #: The server.
    server: ServerInfo
    #: Every setting with its value and the source of the value.
    settings: list[Setting]
    #: Start of the first load (second 0), RFC 3339, UTC.
    started_at: str
    #: `complete`, or how the load ended before its time.
    status: Status
    #: URL of the target, without secrets.
    target: Redacted
    #: The program that wrote the document.
    tool: Tool
    #: Virtual users.
    users: int
    #: Workload and its data.
    workload: WorkloadFacts


class Judgement(Record):
    """The outcome of a requirement, part of the result document."""

    __slots__ = ()
    #: `value - limit`, in `unit`.
    difference: Optional[float]
    #: The limit, in `unit`.
    limit: float
    #: Name of the metric: `new_order.p95`.
    metric: str
    #: The comparison operator.
    operator: Operator
    #: Whether the requirement is met.
    passed: bool
    #: The requirement as written: `new_order.p95 < 10ms`.
    requirement: str
    #: Unit of limit and value.
    unit: FigureUnit
    #: Measured value, in `unit`; `None` if the run has none, and then the requirement fails.
    value: Optional[float]


class KindResult(Record):
    """What was found of a kind of anomaly."""

    __slots__ = ()
    #: What shows that it would have been found.
    control: Control
    #: Times found: commits overwritten unseen, wrong reads, or distinct smallest cycles.
    count: int
    #: The smallest one; `None` if none was found.
    example: Optional[AnomalyExample]
    #: Second in which the earliest one began; `None` if none was found.
    first_s: Optional[float]
    #: Name of the kind: `G-single`, `lost-update`.
    kind: str
    #: Whether the product promises that it does not happen at this level.
    promised: bool
    #: Whether the level's name promises it by the standard.
    promised_by_name: bool
    #: `count` divided by the transactions that committed.
    share: float
    #: What happened, in words.
    title: str
    #: The verdict.
    verdict: IsolationVerdict
    #: The verdict in words.
    words: str


class LatencyClass(Record):
    """Number of commits of about the same latency."""

    __slots__ = ()
    #: Number of commits.
    commits: int
    #: Longest time of the class, in microseconds; the shortest is that of the class before.
    up_to_us: int


class Level(Record):
    """A level: a number of virtual users, or streams, and its runs."""

    __slots__ = ()
    #: Most frequent bottleneck of its runs.
    bottleneck: Bottleneck
    #: Highest share of failures among its runs, from 0 to 1.
    failure_share: float
    #: Primary metric predicted by the curve; `None` without a curve.
    fitted: Optional[float]
    #: 95 % confidence interval of the mean, by Student's t from the variation of the level's runs on a logarithmic scale; for a single run, that run's own interval from its seconds, which does not include the variation between runs.
    interval: Optional[Interval]
    #: Energy of the database's host per transaction that the primary metric counts, in joules: mean over the runs; `None` if a run did not measure it.
    joules_per_transaction: Optional[float]
    #: Mean of the primary metric over its runs.
    mean: float
    #: Median of the runs' 95th percentiles of response time, in microseconds.
    p95_us: int
    #: Median of the runs' 99th percentiles of response time, in microseconds.
    p99_us: int
    #: Costs per million of what the primary metric counts, at the mean rate of the level; `None` without a price list.
    per_million: Optional[Estimate]
    #: Relative deviation of `mean` from `fitted`.
    residual: Optional[float]
    #: Runs of this level, in the order of execution.
    runs: list[LevelRun]
    #: Number of virtual users, or streams.
    users: int


class LevelFigure(Record):
    """The primary metric at a level."""

    __slots__ = ()
    #: Figures of both sides, and the ratio.
    figure: Figure
    #: Number of virtual users, or streams.
    users: int


class LevelResult(Record):
    """What was found at a level."""

    __slots__ = ()
    #: The model that the level's name promises by the standard.
    by_name: str
    #: Those that committed.
    committed: int
    #: Those in doubt that were seen, so that they count as committed.
    in_doubt_seen: int
    #: Those in doubt that nobody saw.
    in_doubt_unseen: int
    #: Whether a control ran at a weaker level and showed none of the kinds that this level prevents and a weaker one allows: it proves little.
    is_blind: bool
    #: Every kind of anomaly, from what corrupts data to what is only late.
    kinds: list[KindResult]
    #: The isolation level: `repeatable-read`.
    level: str
    #: What to know about the level, in a sentence; `None` for nothing.
    note: Optional[str]
    #: Operations of all of them.
    operations: int
    #: The order that transactions respect by that promise: `none`, `session` or `real-time`.
    order: str
    #: What the level costs.
    price: Price
    #: The consistency model that the product promises at it: `snapshot-isolation`.
    promise: str
    #: Job number of the run that drove the load; `None` if it was not stored.
    run: Optional[int]
    #: Where the product's promise is written.
    source: str
    #: How old the state was that reads showed.
    staleness: Staleness
    #: Attempts at transactions that were recorded and examined, whatever became of them.
    transactions: int
    #: What could not be checked or counted, in a sentence; `None` for nothing.
    unchecked: Optional[str]


class LevelRun(Record):
    """A run of a level, or of a combination."""

    __slots__ = ()
    #: The bottleneck of the run.
    bottleneck: Bottleneck
    #: Share of transactions that failed or are in doubt.
    failure_share: float
    #: Whether the run was successful: failures within the limit and no count contradicted.
    good: bool
    #: 95 % interval of that, from its own seconds.
    interval: Optional[Interval]
    #: Number of its job; `None` if it was not stored.
    job: Optional[int]
    #: Energy of the database's host per such transaction, in joules; `None` if it was not measured.
    joules_per_transaction: Optional[float]
    #: 95th percentile of response time, in microseconds.
    p95_us: int
    #: 99th percentile of response time, in microseconds.
    p99_us: int
    #: Number of transactions that the primary metric counts, per second of the timed window; 0 in older results.
    per_second: float
    #: Whether it kept all requirements (`--require`); `None` without any.
    requirements_kept: Optional[bool]
    #: Start of the run (its second 0), RFC 3339, UTC.
    started_at: str
    #: Whether its window was steady; `None` where that does not apply.
    steady: Optional[Steady]
    #: Position in the order, from 0.
    step: int
    #: Number of virtual users, or streams.
    users: int
    #: Value of the primary metric.
    value: float


class LimitFigures(Record):
    """Inputs of the decision, from the timed window (round trips: from the whole run). `None` if not measured or not measurable."""

    __slots__ = ()
    #: Share of a core used by the busiest worker thread, from 0 to 1.
    busiest_thread_share: float
    #: Share of time in which that thread was ready but waited for a CPU, from 0 to 1.
    busiest_thread_wait_share: Optional[float]
    #: CPU cores used by this whole process; `None` if it also did other work.
    client_cpus: Optional[float]
    #: Number of CPUs that this process may use.
    client_cpus_allowed: Optional[int]
    #: Niceness of this process: 0 is normal, 19 the lowest priority.
    client_niceness: int
    #: Number of committed transactions.
    committed: int
    #: Whether the database runs on the worker threads, so that their CPU time and their lag are the database's.
    database_on_threads: bool
    #: CPU use of the client's host, from 0 to 1.
    host_cpu_share: Optional[float]
    #: Number of CPUs of the client's host; 0 if unknown.
    host_cpus: int
    #: Share of time in which some task on the client's host waited for a CPU, from 0 to 1.
    host_pressure_share: Optional[float]
    #: Whether the database is part of this process.
    in_process: bool
    #: Whether practically all arrivals of an open load were served; `None` for other loads.
    kept_up: Optional[bool]
    #: Mean of the same.
    lag_mean_us: Optional[float]
    #: Median event-loop lag, the delay before worker threads handled what was ready, in microseconds.
    lag_p50_us: Optional[int]
    #: 99th percentile of the event-loop lag, in microseconds.
    lag_p99_us: Optional[int]
    #: Number of measurements of the event-loop lag.
    lag_samples: int
    #: Number of wake-ups later than 10 ms.
    late_wakeups: Optional[int]
    #: Mean service time of committed transactions, in microseconds.
    mean_service_us: float
    #: Median service time of committed transactions, in microseconds.
    median_service_us: int
    #: Round trip time × round trips, as a share of the mean service time.
    network_share: Optional[float]
    #: CPU cores used by neither client nor server: by other processes, or by other guests of a virtual host.
    other_cpus: Optional[float]
    #: The same, among the CPUs that the client may use.
    other_cpus_of_client: Optional[float]
    #: The same, among the CPUs that the server may use.
    other_cpus_of_server: Optional[float]
    #: Whether the load model determined when transactions are due.
    paced: bool
    #: Mean time of a round trip, including waits for a CPU at both ends, in microseconds.
    round_trip_mean_us: Optional[float]
    #: Number of measurements of the round trip.
    round_trip_samples: int
    #: Time of a round trip on the run's own sessions, 10th percentile, in microseconds.
    round_trip_us: Optional[int]
    #: Mean number of round trips per transaction.
    round_trips_per_transaction: float
    #: Whether client and server run on the same host; `None` if unknown.
    same_host: Optional[bool]
    #: CPU cores used by the server's processes on this host; `None` if they are remote or cannot be observed.
    server_cpus: Optional[float]
    #: Number of CPUs that the server may use.
    server_cpus_allowed: Optional[int]
    #: Mean number of server processes or threads that were ready but waited for a CPU.
    server_waiting: Optional[float]
    #: Number of sessions of the run.
    sessions: int
    #: Share of time in which a session was in a transaction, from 0 to 1.
    sessions_busy_share: float
    #: Number of worker threads.
    threads: int
    #: CPU cores used by all worker threads together.
    threads_cpus: float
    #: Mean number of worker threads that were ready but waited for a CPU.
    threads_waiting: Optional[float]
    #: Breakdown of a transaction's time; `None` without transactions.
    time: Optional[TimeShares]
    #: Length of the window, in seconds.
    window_s: float


class LogWrites(Record):
    """The writes, or the syncs, of a log in the window, as the server counted them."""

    __slots__ = ()
    #: Share of the window in which the operation was in progress; above 1 if several were at a time. `None` if the server does not measure it.
    busy: Optional[float]
    #: Bytes per second; `None` of syncs, and if the server does not count them.
    bytes_per_second: Optional[float]
    #: The log: `WAL`, `redo`, `binlog`.
    file: str
    #: Longest mean time of a second, in milliseconds; `None` as above.
    max_ms: Optional[float]
    #: Mean time, in milliseconds; `None` if the server does not measure it, or did nothing.
    mean_ms: Optional[float]
    #: What was done with it.
    operation: LogOperation
    #: Number per second.
    per_second: float
    #: Number per completed transaction; `None` without transactions.
    per_transaction: Optional[float]


class LoginFigures(Record):
    """Logins of a part of a run, and how long they took. A login lasts until the session is ready for its first transaction."""

    __slots__ = ()
    #: Time for authentication.
    authentication: Optional[Times]
    #: When sessions were back that had been lost; of the start: when sessions were there. `None` if there was none.
    back: Optional[SessionsBack]
    #: Time to the connection; `None` if the driver cannot tell it, and likewise below.
    connect: Optional[Times]
    #: Number of logins.
    count: int
    #: Number of attempts that failed.
    failed: int
    #: Logins per second.
    per_second: float
    #: Time for setting up the session and preparing its statements.
    setup: Optional[Times]
    #: Time for TLS; `None` without TLS, too.
    tls: Optional[Times]
    #: Whole times of the logins.
    whole: Times


class LoginPolicy(Record):
    """When sessions log in; by default once, at the start, as fast as they can."""

    __slots__ = ()
    #: Number of transactions after which a session logs out, to log in again for its next one; `None` if it remains.
    every: Optional[int]
    #: Number of sessions per second that begin to log in at the start, if the server keeps up; `None` for no limit.
    per_second: Optional[float]


class Logins(Record):
    """Logins of a run, by its parts."""

    __slots__ = ()
    #: Those in the whole run.
    run: LoginFigures
    #: Those before the start of the run: one of each session.
    start: LoginFigures
    #: Those in the timed window.
    window: LoginFigures


class LostHost(Record):
    """How a host was lost."""

    __slots__ = ()
    #: When that was noticed, in seconds since the start of the run.
    at_s: float
    #: Number of transactions that were in flight when it last reported: they count as in doubt.
    in_doubt: int
    #: Why.
    reason: str


class LostRange(Record):
    """Lost commits of one user without a gap."""

    __slots__ = ()
    #: Number of the first: column `seq`.
    first: int
    #: Second in which the first began.
    from_s: int
    #: Number of the last.
    last: int
    #: Second in which the last began.
    to_s: int
    #: The user: column `usr`.
    user: int


class MadeValues(Record):
    """What became of values that the server makes, such as ids."""

    __slots__ = ()
    #: Number of arguments that should have been replaced, and whose value the replayed server did not make, because the statement that makes it failed or was not reached.
    missing: int
    #: Number of values that the recorded server made.
    recorded: int
    #: Number of arguments in whose place the value of the replayed server was sent.
    replaced: int


class MatrixCurve(Record):
    """The scalability law over the virtual users, or streams, at a combination of the other settings."""

    __slots__ = ()
    #: Name of the axis that has the levels: `vus` or `streams`.
    axis: str
    #: The fitted law.
    usl: Usl
    #: Values of the other axes, in their order.
    values: list[str]


class MatrixOrder(Record):
    """The order of the runs."""

    __slots__ = ()
    #: Number of runs per combination.
    repeats: int
    #: The command that ran before each run; `None` for none.
    restore: Optional[str]
    #: Random seed of the order.
    seed: int
    #: Combination of each run, from 0, the value of the last axis varying fastest.
    steps: list[int]


class MatrixResult(Document):
    """The result of a matrix, as printed by `triphammer matrix --json` and `triphammer report JOB --format json`. Times have the unit that the field's name ends with; shares are from 0 to 1; values have the unit of `primary_metric`."""

    __slots__ = ()
    #: The settings that vary, with their values.
    axes: list[Axis]
    #: Combinations with at least one run, the value of the last axis varying fastest.
    cells: list[Cell]
    #: Where the virtual users, or streams, vary: the scalability law at each combination of the other settings that has enough levels.
    curves: list[MatrixCurve]
    #: Relative change of the primary metric from the first to the last block of runs, at the same combinations; `None` with fewer than two blocks.
    drift: Optional[float]
    #: Whether all runs were made and are good.
    ending: Ending
    #: Runs that failed.
    failed_runs: list[FailedCell]
    #: Findings in words, the most important first.
    findings: list[str]
    #: Version of the document's format.
    format: Literal[1]
    #: The host of the client.
    host: Host
    #: Job number; `None` if it was not stored.
    job: Optional[int]
    #: Kind of document, by the name of its command.
    kind: Literal["matrix"]
    #: Label given by the user; `None` without one.
    label: Optional[str]
    #: Order of the runs.
    order: MatrixOrder
    #: The primary metric of the runs.
    primary_metric: PrimaryMetricName
    #: The server that the first run connected to.
    server: ServerInfo
    #: Every setting of the first run with its value and the source of the value.
    settings: list[Setting]
    #: Spec of the first run; the others differ in the axes and what depends on them.
    spec: RunSpec
    #: Start of the first run (its second 0), RFC 3339, UTC.
    started_at: str
    #: `complete`, or how the matrix ended if runs are missing.
    status: Status
    #: URL of the first run's target, without secrets.
    target: Redacted
    #: Transaction type whose response times are reported; `all` for all types.
    times_of: str
    #: The program that wrote the document.
    tool: Tool
    #: Workload and its data, of the first run.
    workload: WorkloadFacts


class MemoryNode(Record):
    """A memory node: memory that its CPUs reach faster than that of other nodes."""

    __slots__ = ()
    #: Its CPUs, as Linux lists them: `0-7,16-23`.
    cpus: str
    #: Its distance from each node by number: 10 is its own memory, 20 is twice as far.
    distances: list[int]
    #: Its reserved huge pages, in bytes.
    huge_pages_bytes: int
    #: Its memory, in bytes.
    memory_bytes: Optional[int]
    #: Its number.
    number: int


class MethodLine(Record):
    """A judgement of one aspect of the method."""

    __slots__ = ()
    #: The aspect: `length`, `ramp-up`, `settings`.
    aspect: str
    #: The run that it is about; `None` for an aspect of the whole job.
    job: Optional[int]
    #: Judgement of it.
    verdict: SetupVerdict
    #: The judgement in words.
    words: str


class NodeChangeFigure(Record):
    """Something that happened to a node."""

    __slots__ = ()
    #: When it was noticed, in seconds since the start of the run.
    at_s: float
    #: `lost`, `back`, `promoted` or `demoted`.
    change: str


class NodeFigures(Record):
    """What a node did: its transactions, sessions and state. Counts are those of the timed window."""

    __slots__ = ()
    #: Losses, returns and promotions, in order.
    changes: list[NodeChangeFigure]
    #: Number of transactions completed on the node.
    completed: int
    #: Sessions of all clients, when the node last answered; `None` if it does not report them.
    connections: Optional[int]
    #: Number of transactions failed.
    failed: int
    #: `failed` by error class; only classes that occurred.
    failed_by_class: list[ClassCount]
    #: Number of transactions in doubt: the connection was lost after a commit had been sent.
    indeterminate: int
    #: Longest replication lag, in seconds.
    lag_max_s: Optional[float]
    #: Mean replication lag, in seconds; `None` if the node does not report it, as on a primary.
    lag_mean_s: Optional[float]
    #: Name in rules and reports.
    name: str
    #: The same per minute.
    per_minute: float
    #: Response times of committed transactions.
    response: Times
    #: Role at the start of the run; `None` if the node does not report it.
    role: Optional[NodeRole]
    #: Role when the node last answered.
    role_at_end: Optional[NodeRole]
    #: Transactions per minute that the node's server counted, of all clients; `None` if it counts none.
    server_per_minute: Optional[float]
    #: Sessions of the run that were open on the node at the end of the timed window.
    sessions: int
    #: Sessions of the run lost on the node, in the whole run.
    sessions_lost: int
    #: Share of the transactions completed on all nodes, from 0 to 1.
    share: float
    #: URL of the node, without secrets.
    target: Redacted
    #: Number of transactions completed on the node, by transaction type.
    types: list[NodeTypeCount]
    #: The server's version, as it reports it.
    version: str


class NodeTypeCount(Record):
    """Transactions of one type on a node."""

    __slots__ = ()
    #: Number completed in the timed window.
    completed: int
    #: Key of the transaction type: `new_order`.
    name: str


class Observed(Record):
    """What was observed beside the run in its timed window."""

    __slots__ = ()
    #: Sessions that others waited for, the worst first.
    blockers: list[Blocker]
    #: Full detail around the moments in which a condition of `--capture-on` became true.
    captures: list[Capture]
    #: What each CPU did, by host.
    cores: list[CoreMap]
    #: What the observers cost.
    cost: ObserverCost
    #: Where the CPUs of this host were; `None` without `--cpu-profile`.
    cpu_profile: Optional[CpuProfile]
    #: What a missing privilege or setting hid, or could not be read.
    gaps: list[ObserverGap]
    #: Figures of hosts, in the order of their names: of the client's, and of that of a node exporter, which has the label `host.name`.
    hosts: list[ProfileFigure]
    #: Time between two samples of the sessions, in seconds.
    interval_s: float
    #: Commits of the log probe; `None` without `--log-probe`.
    log_probe: Optional[CommitProbe]
    #: The server's own writes and syncs of its log, by file; empty if it does not count them.
    log_writes: list[LogWrites]
    #: Share of the pages read that were in the database's memory; `None` if it does not count them.
    memory_hits: Optional[float]
    #: Counters and states of the server, in the order of their names.
    profile: list[ProfileFigure]
    #: What the sessions did and waited for; `None` if they could not be sampled.
    sessions: Optional[ActiveSessions]
    #: Statements by the server's own statistics, by total time.
    statements: list[TopStatement]


class ObserverCost(Record):
    """What the observers cost, in the whole run."""

    __slots__ = ()
    #: CPU time of the observers' threads, in seconds.
    cpu_s: float
    #: The same as a share of one core.
    cpu_share: float
    #: Number of times that the observers' session was lost.
    lost: int
    #: Number of queries sent to the database.
    queries: int
    #: Time in which the database answered them, in seconds.
    query_s: float
    #: Values that could not be stored.
    values_lost: int


class ObserverGap(Record):
    """Something that was hidden, or could not be read."""

    __slots__ = ()
    #: Statement or setting that shows it; empty if none does.
    change: str
    #: What is missing.
    hides: str
    #: Name of the privilege, setting or query.
    name: str
    #: Part of a transaction's time that it hides, and nothing else; `None` if it hides more.
    part: Optional[ServerTime]


class Order(Record):
    """The order of the runs."""

    __slots__ = ()
    #: Requested levels: `1,2,4` or `auto`.
    asked: str
    #: Number of runs per level.
    repeats: int
    #: Random seed of the order.
    seed: int
    #: Number of virtual users, or streams, of each run, in the order known so far.
    steps: list[int]


class OrderWaits(Record):
    """Waits for other sessions, by which a replay keeps the recorded order."""

    __slots__ = ()
    #: Number of waits that ended early, because what they waited for waited for them: in the replay, or in the database for a lock of their transaction.
    in_vain: int
    #: Number of waits that ended after the longest time that is waited, not with what they waited for.
    timed_out: int
    #: Time of these waits, in seconds.
    waited_s: float
    #: Number of times that a statement waited for a transaction of another session.
    waits: int


class Outage(Record):
    """An outage, in seconds since the start of the run."""

    __slots__ = ()
    #: First second of the outage.
    from_s: float
    #: End of the outage, exclusive.
    until_s: float


class Pacing(Record):
    """Further settings of a load that waits."""

    __slots__ = ()
    #: Maximum number of arrivals that may wait for a session; 0 where the load is not open. When one more is due, the longest waiting one is dropped.
    backlog: int
    #: Changes of the load that the run makes itself, in the order of their times.
    changes: list[PlannedChange]
    #: When the run works, if it takes place at once with another one; `None` if it is alone.
    half: Optional[PairHalf]
    #: What happens to late arrivals; open loads only.
    late: Late
    #: Time between the log-ins of two consecutive terminals; keyed loads only.
    login_delay: str
    #: Sessions that keyed terminals use: one each, or a pool.
    sessions: Sessions
    #: Contents of the file of a load in steps.
    steps: list[RateStep]


class PairHalf(Record):
    """One half of a pair of runs that take place at once."""

    __slots__ = ()
    #: Whether it is that of B.
    is_b: bool
    #: Number of blocks after which the pair ends, if it ends earlier as soon as it is decided; `None` if it ends by the clock.
    looks_most: Optional[int]
    #: Whether both halves drive the same database, so that its own counts are those of both.
    same_target: bool
    #: Seed of the order of the sides.
    seed: int
    #: How the halves share the time.
    sharing: Sharing


class Pairing(Record):
    """Pairs of runs: adjacent ones, each in a random order, or two at once."""

    __slots__ = ()
    #: Requested number of pairs, of all levels together.
    asked: int
    #: The blocks of pairs whose runs took place at once; `None` of adjacent runs.
    at_once: Optional[AtOnce]
    #: Pause between two runs, in seconds.
    cool_down_s: float
    #: Runs that failed to start or to end.
    failed_runs: list[FailedRun]
    #: Number of pairs whose runs are both complete.
    made: int


class PercentileIntervals(Record):
    """95 % confidence intervals of percentiles, in microseconds; `None` if the window has too few slices or transactions, or if the response times wander."""

    __slots__ = ()
    #: Interval of the median, in microseconds.
    p50_us: Optional[Interval]
    #: Interval of the 90th percentile, in microseconds.
    p90_us: Optional[Interval]
    #: Interval of the 95th percentile, in microseconds.
    p95_us: Optional[Interval]
    #: Interval of the 99.9th percentile, in microseconds.
    p99_9_us: Optional[Interval]
    #: Interval of the 99th percentile, in microseconds.
    p99_us: Optional[Interval]
    #: Whether there are none because the level of the response times drifts or wanders so slowly that the window does not show how far.
    wanders: bool


class PhaseUsage(Record):
    """What a phase of a run of queries used."""

    __slots__ = ()
    #: Number of the repeat, from 1.
    repeat: int
    #: How long it took with the opening of its sessions, in seconds.
    seconds: float
    #: Number of its streams, that of refresh functions included.
    streams: int
    #: The test; never `both`.
    test: QueryTest
    #: What was used meanwhile.
    usage: Usage


class PlanChange(Record):
    """A query or a statement whose execution plan changed from A to B."""

    __slots__ = ()
    #: Its plan in the first run of A that has one; no run of B has it.
    a: ExecutionPlan
    #: Its plan in B, likewise.
    b: ExecutionPlan
    #: Key of the query: `q9`; the statement of a replay, in one line.
    query: str
    #: Title of the query; empty for a statement.
    title: str


class PlanOperation(Record):
    """An operation of a plan."""

    __slots__ = ()
    #: Number of operations above it.
    depth: int
    #: Estimates or measurements, in the database's words; empty without any.
    figures: str
    #: What is done, in the database's words; literals are replaced by `?`.
    operation: str


class PlannedChange(Record):
    """A change that the run makes itself, at a time after the start of the timed window."""

    __slots__ = ()
    #: Time since the start of the timed window, in whole seconds.
    at: str
    #: What changes.
    change: LoadChange


class Price(Record):
    """What a level costs."""

    __slots__ = ()
    #: Transactions that failed after all attempts.
    failed: int
    #: Median response time, in milliseconds; `None` if nothing committed.
    p50_ms: Optional[float]
    #: 95th percentile.
    p95_ms: Optional[float]
    #: 99th percentile.
    p99_ms: Optional[float]
    #: Repeated attempts per committed transaction.
    retries_per_commit: float
    #: Transactions committed per second.
    tps: float
    #: 95 % confidence interval of it; `None` if the run was too short for one.
    tps_interval: Optional[list[float]]


class PriceComparison(Record):
    """What B costs relative to A, per transaction."""

    __slots__ = ()
    #: Price list of A.
    a: PriceList
    #: Costs of A per million of what the primary metric counts, at its mean rate.
    a_per_million: Optional[float]
    #: Price list of B, which may be the same.
    b: PriceList
    #: The same of B.
    b_per_million: Optional[float]
    #: Costs of B per transaction over those of A, with the interval that follows from that of the rates' ratio; `None` if there is no ratio.
    ratio: Optional[Estimate]
    #: The result in words, or why there is no ratio.
    words: str


class PriceComponent(Record):
    """A component of a price list."""

    __slots__ = ()
    #: Name for people: `server, 8 vCPU`.
    name: str
    #: When it is paid.
    paid: Payment
    #: Price of one component per payment, in the list's currency.
    price: float
    #: Number of such components.
    quantity: float
    #: Where the price is from: a URL with a date, or the number of an offer.
    source: str


class PriceList(Record):
    """What the measured system costs: the components of a price file, all in one currency. One that is read from a document is checked like a price file."""

    __slots__ = ()
    #: The components, in the order of the file; at least one.
    components: list[PriceComponent]
    #: Code of the currency by ISO 4217: `EUR`.
    currency: str


class PrimaryMetricFigure(Record):
    """The workload's primary metric."""

    __slots__ = ()
    #: Direction in which values improve.
    better: Better
    #: Number of committed transactions in the timed window that the metric counts; of queries answered.
    count: int
    #: `New-Orders committed per minute`.
    meaning: str
    #: Name of the metric: `NOPM`.
    name: str
    #: The unit of time: `second`, `minute`, `hour`; `set` for a set of queries.
    per: str
    #: Why the value is not available; `None` if it is.
    unavailable: Optional[str]
    #: Value: `count` per unit of time, or computed from a set of queries; 0 if it is not available.
    value: float
    #: Comparison with the database's own count, over the whole run.
    verification: Verification


class PrimaryMetricName(Record):
    """A primary metric without a value."""

    __slots__ = ()
    #: Direction of improvement.
    better: Better
    #: Description: `New-Orders committed per minute`.
    meaning: str
    #: Name of the primary metric: `NOPM`.
    name: str
    #: Unit of time: `second`, `minute`, `hour`.
    per: str


class Probe(Record):
    """A probe: a run at one rate."""

    __slots__ = ()
    #: The bottleneck of the run.
    bottleneck: Bottleneck
    #: Transactions of all types completed in the window, per second.
    completed: float
    #: Share of transactions that failed or are in doubt, from 0 to 1.
    failure_share: float
    #: 95 % confidence interval of the percentile, in microseconds; `None` if there is too little data, or if the response times wander so slowly that the window does not show how far.
    interval_us: Optional[Interval]
    #: Number of its job; `None` if it was not stored.
    job: Optional[int]
    #: Share of arrivals that found no free session in time, from 0 to 1.
    missed_share: float
    #: The workload's primary metric.
    primary_metric: float
    #: Requested arrivals per second.
    rate: float
    #: Why the limit was exceeded; `None` if it was kept.
    reason: Optional[Reason]
    #: Transactions per second that the target served, if it clearly fell behind; `None` otherwise.
    served: Optional[Estimate]
    #: Position in the sequence, from 0.
    step: int
    #: The limited percentile, in microseconds; `None` if no transaction of that type committed.
    value_us: Optional[float]


class ProfileFigure(Record):
    """A counter or state over the timed window."""

    __slots__ = ()
    #: Labels of the metric.
    labels: dict[str, str]
    #: Last value.
    last: float
    #: What it is of the server's log writes; `None` for others.
    log: Optional[LogFigure]
    #: Highest value of a second.
    max: float
    #: Mean over the seconds in which it was read.
    mean: float
    #: Name of the metric.
    metric: str
    #: Part of a transaction's time that it is, in milliseconds per second; `None` for others.
    part: Optional[ServerTime]
    #: Increase per completed transaction; `None` for states.
    per_transaction: Optional[float]
    #: Title of the metric.
    title: str
    #: Unit of the values.
    unit: str


class ProfilePrice(Record):
    """What the levels of a profile cost."""

    __slots__ = ()
    #: The level with the lowest costs per million among those whose runs all kept the requirements; `None` if no level did.
    cheapest: Optional[CheapestLevel]
    #: What is counted: what the primary metric counts, such as `New-Orders committed`.
    counted: str
    #: The list, the same for all levels.
    list: PriceList
    #: Costs per year of 365 days, in the list's currency.
    per_year: float


class ProfileResult(Document):
    """The result of a profile, as printed by `triphammer profile --json` and `triphammer report JOB --format json`. Times have the unit that the field's name ends with; shares are from 0 to 1; throughput has the unit of `primary_metric`."""

    __slots__ = ()
    #: Relative change of throughput from the first to the last block of runs, at the same levels; `None` with fewer than two blocks.
    drift: Optional[float]
    #: Whether all runs were made and are good.
    ending: Ending
    #: Levels whose runs failed.
    failed_runs: list[FailedLevel]
    #: Findings in words, the most important first.
    findings: list[str]
    #: Version of the document's format.
    format: Literal[1]
    #: The host of the client.
    host: Host
    #: Job number; `None` if it was not stored.
    job: Optional[int]
    #: Kind of document, by the name of its command.
    kind: Literal["profile"]
    #: Label given by the user; `None` without one.
    label: Optional[str]
    #: What the levels count: `virtual users`, or `streams` of queries, which have no response times.
    level_unit: str
    #: Levels with their runs, ascending.
    levels: list[Level]
    #: Why there is no curve; `None` if there is one.
    no_curve: Optional[str]
    #: Order of the runs.
    order: Order
    #: What the levels cost; `None` without `--price`.
    price: Optional[ProfilePrice]
    #: The primary metric of the runs.
    primary_metric: PrimaryMetricName
    #: The server that the first run connected to.
    server: ServerInfo
    #: Every setting of the first run with its value and the source of the value.
    settings: list[Setting]
    #: Spec of the first run; the others differ in `users` and what depends on it.
    spec: RunSpec
    #: Start of the first run (its second 0), RFC 3339, UTC.
    started_at: str
    #: `complete`, or how the profile ended if runs are missing.
    status: Status
    #: URL of the target, without secrets.
    target: Redacted
    #: Transaction type whose response times are reported; `all` for all types.
    times_of: str
    #: The program that wrote the document.
    tool: Tool
    #: The fitted curve; `None` if there is none.
    usl: Optional[Usl]
    #: Workload and its data.
    workload: WorkloadFacts


class ProfiledFunction(Record):
    """A function with its own samples."""

    __slots__ = ()
    #: File name of the program or library; `kernel` for the kernel.
    module: str
    #: Name; that of the module in brackets if the module has no symbols.
    name: str
    #: Samples in the function itself.
    samples: int


class ProfiledSide(Record):
    """What the CPUs did for a side."""

    __slots__ = ()
    #: CPUs that it used on average.
    cpus: float
    #: The tree of calls in pre-order: each frame is followed by what it calls, which is one deeper. Frames with less than 0.2 % of the side's samples are left out.
    frames: list[StackFrame]
    #: Functions by samples of their own, without what they call; at most 20.
    functions: list[ProfiledFunction]
    #: Number of samples.
    samples: int
    #: Whose samples they are.
    side: CpuSide


class Profiles(Record):
    """Levels and curves of two profiles."""

    __slots__ = ()
    #: Parameters and peaks of the curves; empty if neither has a curve.
    curves: list[CurveFigure]
    #: Levels that only one profile has.
    left_out: list[int]
    #: What the levels count: `virtual users`, or `streams` of queries.
    level_unit: str
    #: Common levels, ascending.
    levels: list[LevelFigure]


class QueriesResult(Record):
    """A finite set of queries with a time for each."""

    __slots__ = ()
    #: Whether equal queries had equal answers.
    answers: AnswerComparison
    #: Highest memory of an engine in this process during the timed part, in bytes, as it reports it five times per second; `None` for a server.
    engine_memory_bytes: Optional[int]
    #: Figures of the whole run: the mean of each over the repeats. The primary figure is among them.
    figures: list[QueryFigure]
    #: What each phase used: the power test or the throughput test of a repeat.
    phases: list[PhaseUsage]
    #: The execution plan of each query, read once after the timed part; those that could not be read are missing.
    plans: list[ExecutionPlan]
    #: Each query over all streams and repeats, in the order of their numbers; those that were to run.
    queries: list[QuerySummary]
    #: Maximum time of a query, in seconds; `None` without one.
    query_timeout_s: Optional[float]
    #: The same figures of each repeat, in order.
    repeat_figures: list[list[QueryFigure]]
    #: Number of times that the whole test was to run.
    repeats: int
    #: Every query and refresh function, in the order in which they were to run, by repeat, test and stream.
    steps: list[StepTime]
    #: Number of query streams that ran side by side.
    streams: int
    #: What was measured.
    test: QueryTest
    #: Whose CPU time that of steps and phases is; `None` if neither the server's processes nor the database are on the host of triphammer.
    usage_of: Optional[UsageOf]


class QueryFigure(Record):
    """A figure of a set of queries."""

    __slots__ = ()
    #: Which way is better.
    better: Better
    #: What it is, in words.
    meaning: str
    #: Name of the figure: `geomean_ms`, `power`.
    name: str
    #: Why it is not available; `None` if it is.
    reason: Optional[str]
    #: Title of the figure: `Power@0.01`.
    title: str
    #: Its value; `None` if it is not available.
    value: Optional[float]


class QueryStreams(Record):
    """Streams of queries that ran beside the transactions."""

    __slots__ = ()
    #: Streams that ended without a connection.
    away: int
    #: What queries and transactions did alone; `None` without `--baseline`.
    baseline: Optional[Baseline]
    #: CPU time of the streams' threads, in seconds.
    cpu_s: float
    #: Figures of all streams in the timed window.
    figures: list[QueryFigure]
    #: Each query over all streams, in the order of their numbers; those that were to run.
    queries: list[StreamedQuery]
    #: Maximum time of a query, in seconds; `None` without one.
    query_timeout_s: Optional[float]
    #: Numbers of the streams' connections lost and reconnected.
    sessions: SessionCounts
    #: The first queries of the whole run, one by one in the order of their ends.
    steps: list[StepTime]
    #: Number of further queries, of which only `queries` has the counts and times.
    steps_omitted: int
    #: Number of streams.
    streams: int


class QuerySummary(Record):
    """A query over all streams and repeats."""

    __slots__ = ()
    #: Number of times that it was answered; the times below are of these.
    answered: int
    #: Number of times that it was to run.
    asked: int
    #: How many CPUs these used on average; `None` if that is unknown.
    cpus: Optional[float]
    #: Longest time, in seconds.
    max_s: Optional[float]
    #: Mean time, in seconds; `None` if it was never answered.
    mean_s: Optional[float]
    #: Shortest time, in seconds.
    min_s: Optional[float]
    #: Key of the query: `q7`.
    name: str
    #: Largest number of rows of an answer.
    rows: int
    #: Title of the query.
    title: str
    #: Mean of what was used by those that ran while no other stream did; `None` if none did.
    usage: Optional[Usage]
    #: Number of parallel workers in its plan: as launched with `--analyze`, and else as planned; `None` without any.
    workers: Optional[int]


class QuietWait(Record):
    """How long a run waited for the server's work in the background."""

    __slots__ = ()
    #: Whether the server was quiet then.
    is_quiet: bool
    #: Longest time that it would have waited, in seconds.
    limit_s: float
    #: Time that it waited, in seconds.
    seconds: float
    #: Work that this user cannot see.
    unknown: list[str]
    #: What it waited for.
    waited_for: list[BackgroundWork]


class RateStep(Record):
    """A rate of arrivals that holds for a time."""

    __slots__ = ()
    #: How long the rate holds.
    lasts: str
    #: Arrivals per second; 0 for a pause.
    per_second: float


class Remark(Record):
    """A note made during a run."""

    __slots__ = ()
    #: Seconds since the start of the run; `None` before and after it.
    at_s: Optional[float]
    #: Machine-readable kind, one word.
    kind: str
    #: Sentence for people to read.
    text: str


class RepetitionResult(Document):
    """What `triphammer repeat --json` prints: whether runs of another day or place give the figures of a bundle."""

    __slots__ = ()
    #: The runs of the bundle (A) and those that repeat them (B), compared.
    comparison: ComparisonResult
    #: Version of the document's format.
    format: Literal[1]
    #: Kind of document, by the name of its command.
    kind: Literal["repeat"]
    #: Whether it is a repetition.
    verdict: RepetitionVerdict
    #: The verdict in words, with the ratio.
    words: str


class ReplayAnswers(Record):
    """What the statements of a replay answered."""

    __slots__ = ()
    #: Number of answers that were compared.
    compared: int
    #: Number of these that differ.
    differing: int
    #: Number of statements that fail now, and did not, because a row with their key exists: a sign of data that is newer than at the beginning of the recording, as after an earlier replay.
    duplicates: int
    #: The divergence that was first in the recording; those that follow may be its consequence.
    first: Optional[FirstDivergence]
    #: Number of answers without a row, read or changed, where the recorded one had some: many of them are a sign of data that is older than at the beginning of the recording, or of rows that were deleted since.
    found_nothing: int
    #: Values that the server makes.
    made: MadeValues
    #: Waits that keep the recorded order.
    order: OrderWaits
    #: Number of statements that were sent.
    sent: int
    #: The statements whose answers differ, and those that cannot be equal; in the order in which they first differ in the recording.
    statements: list[StatementAnswers]
    #: Number of these that succeeded, or failed as they did when they were recorded.
    succeeded: int
    #: Number of statements that were not sent, because one before them in their transaction failed.
    unreached: int
    #: Number of answers whose rows could not be compared, because the driver does not read them as texts.
    unread: int
    #: Number of those that were compared by less than their rows, because these cannot be the same twice.
    unstable: int
    #: Number of statements without a recorded answer.
    without_answer: int


class ReplayFit(Record):
    """How well the data of a side fits the recording, by its last replay."""

    __slots__ = ()
    #: Number of statements that failed because a row with their key exists: the data may be newer.
    duplicates: int
    #: Number of these that found no row where the recording found some: the data may be older.
    found_nothing: int
    #: Number of statements of the recording.
    statements: int
    #: Number of these that succeeded, or failed as they did when they were recorded.
    succeeded: int


class Restored(Record):
    """How a state was restored before a run."""

    __slots__ = ()
    #: Tables that differ from the snapshot.
    different: list[str]
    #: Fingerprint of the snapshot; `None` if it has none, and for a command.
    fingerprint: Optional[Fingerprint]
    #: From what: ``snapshot `clean` ``, or the command.
    from_: str
    #: Whether the state at the start of the run equals that of the snapshot; `None` if that is not known.
    is_equal: Optional[bool]
    #: Time that it took, in seconds.
    seconds: float


class RetryPolicy(Record):
    """Retries of serialization failures and deadlocks, with the same input."""

    __slots__ = ()
    #: Maximum number of attempts, including the first.
    attempts: int
    #: Upper limit of the first wait, which is drawn from 0 to this; it doubles with each attempt (full jitter).
    backoff_first: str
    #: Upper limit of all later waits.
    backoff_max: str


class RoundTrips(Record):
    """Round trips to the database."""

    __slots__ = ()
    #: Mean number per completed transaction, without lost hosts; 0 if none completed.
    per_transaction: float
    #: Number of statements and calls sent by completed transactions; without those of lost hosts.
    total: int


class RunPrice(Record):
    """What a run costs by its price list, at the rate of its timed window."""

    __slots__ = ()
    #: What is counted: what the primary metric counts, such as `New-Orders committed`.
    counted: str
    #: The list.
    list: PriceList
    #: How many are counted in a year at the measured rate, in millions; `None` likewise.
    millions_per_year: Optional[Estimate]
    #: Costs per million of what is counted, in the list's currency, with the interval that follows from that of the rate; `None` if nothing was counted.
    per_million: Optional[Estimate]
    #: Costs per year of 365 days, in the list's currency.
    per_year: float


class RunResult(RunDocument):
    """The result of a run, as printed by `triphammer run --json` and `triphammer report JOB --format json`. Durations and times have the unit that the field's name ends with; shares range from 0 to 1. `window` contains what ended in the timed window, `run` what happened in the whole run, each by transaction type and outcome."""

    __slots__ = ()
    #: How much another run would differ; `None` for a run of a campaign, and for one that is not stored.
    another: Optional[AnotherRun]
    #: Arrivals of an open load; `None` for other loads.
    arrivals: Optional[Arrivals]
    #: The primary metric in each second, if the run took place at once with another one.
    at_once: Optional[SecondsAtOnce]
    #: Audits: sums over the data compared with the changes reported by the run's transactions.
    audits: list[Audit]
    #: Availability of the database during the run and at its end.
    availability: Availability
    #: Maximum number of arrivals, or terminals, that waited for a session at the end of a second of the timed window. `None` for a closed load.
    backlog_max: Optional[int]
    #: The bottleneck of the run.
    bottleneck: BottleneckVerdict
    #: CPU use of the client.
    client: ClientCost
    #: Lengths of the run and its parts.
    durations: Durations
    #: The primary metric relative to the maximum that keying and thinking times allow; `None` without them.
    efficiency: Optional[Efficiency]
    #: How the database reacted to the steps of the load; `None` for a load without steps.
    elasticity: Optional[Elasticity]
    #: Whether the run is good, and what is wrong with it.
    ending: Ending
    #: Energy that was used in the timed window, or why it is not known; `None` with `--no-observe`.
    energy: Optional[Energy]
    #: The first error of each transaction type and error class.
    errors: list[ErrorFigure]
    #: The slowest transactions that ended in the timed window, slowest first.
    exemplars: list[SlowTransaction]
    #: Moves of the writes from one node to another, in order.
    failovers: list[FailoverFigure]
    #: Share of failures, compared with the limit.
    failures: FailureShare
    #: Declared figures without separate fields, in display order.
    figures: list[DeclaredFigure]
    #: The first answer after a pause without connections; `None` without `--pause`.
    first_answer: Optional[FirstAnswer]
    #: Version of the document's format.
    format: Literal[1]
    #: The host of the client.
    host: Host
    #: What each host did, if several drove the load; otherwise empty.
    hosts: list[HostShare]
    #: Job number; `None` if it was not stored.
    job: Optional[int]
    #: Kind of document, by the name of its command.
    kind: Literal["run"]
    #: Label given by the user; `None` without one.
    label: Optional[str]
    #: Logins of sessions, by phase; `None` for a run of queries, and in results of versions that did not measure them.
    logins: Optional[Logins]
    #: What each node of the target did; empty for a single server.
    nodes: list[NodeFigures]
    #: Notes made during the run.
    notes: list[Remark]
    #: What was observed at the database beside the run; `None` with `--no-observe`, and where the database shows nothing.
    observed: Optional[Observed]
    #: Wait for a session: from when a transaction was due to the start of its first attempt, for all that ended in the timed window. `None` for a closed load.
    pool_wait: Optional[Times]
    #: What the run costs by its price list; `None` without `--price`.
    price: Optional[RunPrice]
    #: The workload's primary metric over the timed window.
    primary_metric: PrimaryMetricFigure
    #: Times and figures of a finite set of queries; `None` for a run of transactions. The parts of the document about transactions are empty then.
    queries: Optional[QueriesResult]
    #: Streams of queries that ran beside the transactions; `None` without streams.
    query_streams: Optional[QueryStreams]
    #: What the statements of a replay answered, beside the recorded answers; `None` for other loads.
    replay: Optional[ReplayAnswers]
    #: Requirements of the run (`--require`) and their outcomes.
    requirements: list[Judgement]
    #: Round trips of the whole run.
    round_trips: RoundTrips
    #: Transactions of the whole run, including ramp-up and drain.
    run: Figures
    #: Schema facts that the query planner depends on, at the start of the run; empty if unknown.
    schema: list[SchemaFact]
    #: Product, version and transport of the database server.
    server: ServerInfo
    #: The counter from which `tpm_server` was computed.
    server_transactions: Optional[ServerTransactions]
    #: Numbers of sessions lost and reconnected, in the whole run.
    sessions: SessionCounts
    #: Every setting with its value and the source of the value.
    settings: list[Setting]
    #: Server settings that changed between the start and the end of the run.
    settings_changed: list[SettingChange]
    #: Names of the server settings that somebody set, at the start of the run, to another value than the default of the server's version; `None` if the server does not say. MySQL's are all that were set.
    settings_set: Optional[list[str]]
    #: How host and database were set up at the start of the run, as `doctor` reports it: what does not change by itself.
    setup: list[SetupFact]
    #: The timed window in slices of equal length, in order, which show drifts; the last one may be shorter, and slices in which no second ended are omitted.
    slices: list[Slice]
    #: Spec of the run: how the workload was driven.
    spec: RunSpec
    #: Start of the run (its second 0), RFC 3339, UTC.
    started_at: str
    #: State of the data at the start of the run, and how it was brought about; `None` for a database that stores nothing.
    state: Optional[DatabaseState]
    #: Execution plans of the costliest statements of a replay, read after it; `query` is the statement.
    statement_plans: list[ExecutionPlan]
    #: Times of the statements of scripts, in the order of the scripts; empty for other workloads.
    statements: list[StatementFigures]
    #: How the run ended.
    status: Status
    #: Whether the window was steady, and when the warm-up ended; `None` if seconds are not samples of the primary metric, and if the load itself changes.
    steadiness: Optional[Steadiness]
    #: URL of the target, without secrets.
    target: Redacted
    #: The program that wrote the document.
    tool: Tool
    #: Transactions completed per minute in the timed window: committed, or rolled back as the workload requires.
    tpm_client: float
    #: Transactions per minute of all types for each of the primary metric, such as TPM : NOPM: as the database counted them if it does, else the client; `None` unless both are rates per minute.
    tpm_ratio: Optional[float]
    #: Transactions per minute counted by the database itself in the timed window; `None` if it has no counter.
    tpm_server: Optional[float]
    #: Where the time of a transaction goes, and what it exchanges with the server; `None` of a set of queries, and if no transaction committed in the window.
    transaction_time: Optional[TransactionTime]
    #: Violated counting identities; empty unless the client has a defect.
    violated_identities: list[ViolatedIdentity]
    #: Warnings to read before using the figures.
    warnings: list[Warning]
    #: Transactions that ended in the timed window.
    window: Figures
    #: Workload and its data.
    workload: WorkloadFacts


class RunSpec(Record):
    """How a workload is driven."""

    __slots__ = ()
    #: How worker threads wait for their sessions.
    io: Io
    #: Isolation level; `None` for the database's own.
    isolation: Optional[Isolation]
    #: Length of the run, as a time or a number of transactions.
    length: Length
    #: Limits of all waits.
    limits: TimeLimits
    #: When transactions are due.
    load: Load
    #: When sessions log in.
    logins: LoginPolicy
    #: Share of transactions that may fail before the run counts as failed.
    max_failures: float
    #: Where the transaction logic runs.
    mode: Mode
    #: Further settings of a load that waits.
    pacing: Pacing
    #: Which messages of a transaction share a round trip.
    pipelining: Pipelining
    #: How statements are sent.
    protocol: Protocol
    #: Load before the timed window, which is not measured. Zero when the length is a number of transactions.
    rampup: str
    #: When a failed attempt is retried.
    retry: RetryPolicy
    #: Random seed of the inputs.
    seed: int
    #: Number of worker threads.
    threads: int
    #: Number of virtual users; of terminals where the load is keyed, of sessions where it is open.
    users: int


class SchemaFact(Record):
    """A fact about a table."""

    __slots__ = ()
    #: Kind of the fact.
    kind: SchemaKind
    #: Name of the index or constraint; empty for other kinds.
    name: str
    #: Name of the table, or of a fact about the whole database.
    table: str
    #: Definition as given by the database, number of rows, bytes, or age of statistics in seconds (`never`, or `gathered` if the database does not report the time).
    value: str


class ScriptFacts(Record):
    """A script that was run."""

    __slots__ = ()
    #: Whether it is a built-in script.
    builtin: bool
    #: Name of its file, or of the built-in script.
    name: str
    #: SHA-256 of its text, in hexadecimal digits.
    sha256: str
    #: The script itself.
    text: str
    #: Weight in the mix.
    weight: int


class SecondsAtOnce(Record):
    """The seconds of a run that took place at once with another one, which are compared with the same seconds of that run."""

    __slots__ = ()
    #: Number of transactions that the primary metric counts in each second, from the start of the run to the end of the timed window.
    counts: list[float]


class ServerChange(Record):
    """How a server changed during a search. An early rate is measured again at its end, so that there are runs near the same rates before and after a change."""

    __slots__ = ()
    #: By how much the capacity changed, as a share.
    change: Estimate
    #: The early rate that was measured again, in transactions per second.
    rate: float


class ServerInfo(Record):
    """The server at the other end of a session."""

    __slots__ = ()
    #: TLS version and cipher; `None` without TLS.
    cipher: Optional[str]
    #: Name of the product: `PostgreSQL`, `SQLite`.
    product: str
    #: Whether the server runs on this host, and so shares its CPUs with the client; `None` if unknown.
    same_host: Optional[bool]
    #: How it is reached: `tcp`, `unix socket`, `in process`; with `, io_uring` if that is what the worker threads of the run use.
    transport: str
    #: The server's version, as it reports it.
    version: str


class ServerTransactions(Record):
    """The database's own transaction counter over the timed window."""

    __slots__ = ()
    #: Increase of the counter.
    count: int
    #: Seconds between the two readings.
    seconds: float


class Service(Record):
    """How long the database was away."""

    __slots__ = ()
    #: Stretches without an acknowledged commit of any user, to the millisecond: of at least 100 ms, and of at least ten times the mean time between two commits. The longest, at most 100.
    outages: list[Outage]
    #: Sessions that were lost and had not reconnected when the load ended.
    sessions_away: int
    #: Seconds without an acknowledged commit: those of all outages.
    without_service_s: float


class SessionCounts(Record):
    """Numbers of sessions lost and reconnected."""

    __slots__ = ()
    #: Number of sessions lost.
    lost: int
    #: Number of sessions reconnected.
    reconnected: int


class SessionsBack(Record):
    """When sessions were back, each since it was lost; or were there at the start, since the first of them began to log in."""

    __slots__ = ()
    #: Time until all of them were back, in seconds.
    all_s: float
    #: Time until half of them were back, in seconds.
    half_s: float
    #: Time until 95 % of them were back, in seconds.
    most_s: float
    #: Number of sessions.
    sessions: int


class Setting(Record):
    """A setting of the run with its value and the source of the value."""

    __slots__ = ()
    #: Name on the command line and in job files, without dashes.
    name: str
    #: Source of the value: `flag`, `environment`, `job file` or `default`.
    source: str
    #: The value as typed on the command line.
    value: str


class SettingChange(Record):
    """A server setting that changed during the run."""

    __slots__ = ()
    #: Value at the end; `None` if it was absent.
    end: Optional[str]
    #: Name of the setting.
    name: str
    #: Value at the start; `None` if it was absent.
    start: Optional[str]


class SetupCost(Record):
    """What a setting was measured to be worth, by whoever published it."""

    __slots__ = ()
    #: The figure, with what it was measured on.
    figure: str
    #: Author and title of the source.
    source: str
    #: Address of the source.
    url: str


class SetupFact(Record):
    """A fact about the set-up of a run's host or database, as `doctor` reports it."""

    __slots__ = ()
    #: The goals that the judgement is about; empty for the database, and in older results.
    goals: list[SetupGoal]
    #: What it is about.
    group: SetupGroup
    #: Name of the check; of a database's setting, its name there.
    name: str
    #: The value, for people.
    value: str
    #: Judgement of the value.
    verdict: SetupVerdict


class SetupLine(Record):
    """A line of the report: one check with its value."""

    __slots__ = ()
    #: Command or setting that changes it, for the goals that the judgement is about.
    change: str
    #: What the setting was measured to be worth; `None` if no published measurement is known.
    cost: Optional[SetupCost]
    #: The goals that the judgement is about; empty for checks of network and database.
    goals: list[SetupGoal]
    #: What it is about.
    group: SetupGroup
    #: Name of the check; of a database's setting, its name there.
    name: str
    #: The value, for people.
    value: str
    #: Judgement of the value.
    verdict: SetupVerdict
    #: Why it matters.
    why: str


class ShownNames(Record):
    """Names in a bundle that identify machines, people or purposes."""

    __slots__ = ()
    #: Whether names were replaced when the bundle was made.
    anonymous: bool
    #: Hosts of targets, nodes and exporters, without those of the machine itself.
    hosts: list[str]
    #: Labels of the job and of its runs.
    labels: list[str]
    #: Folders and files of databases and jobs.
    paths: list[str]


class Side(Record):
    """One side of a comparison: A or B."""

    __slots__ = ()
    #: The requested side: `job 12`, a label, or a target and settings.
    name: str
    #: Its runs, in chronological order.
    runs: list[SideRun]
    #: The server that the first run connected to.
    server: ServerInfo
    #: URL of the first run's target, without secrets.
    target: Redacted
    #: Workload and its data, from the first run.
    workload: WorkloadFacts


class SideRun(Record):
    """A run of one side."""

    __slots__ = ()
    #: The bottleneck of the run.
    bottleneck: Bottleneck
    #: Share of transactions that failed or are in doubt.
    failure_share: float
    #: Whether the run was successful.
    good: bool
    #: Number of its job; `None` if it was not stored.
    job: Optional[int]
    #: Start of the run (its second 0), RFC 3339, UTC.
    started_at: str
    #: Steadiness of its window; `None` if that does not apply.
    steady: Optional[Steady]
    #: Position in the comparison or profile, from 0; `None` if it belongs to neither.
    step: Optional[int]
    #: Number of virtual users.
    users: int
    #: Value of the primary metric.
    value: float


class Slice(Record):
    """A slice of the timed window."""

    __slots__ = ()
    #: Number of arrivals that became due; `None` unless the load is open, and in old results.
    arrived: Optional[int]
    #: Length of the part, in seconds.
    seconds: float
    #: Start of the slice, in seconds since the start of the run.
    start_s: float
    #: Total of all transaction types.
    total: SliceFigures
    #: Figures by transaction type, in the workload's order.
    types: list[SliceFigures]


class SliceFigures(Record):
    """Figures of a transaction type in a slice."""

    __slots__ = ()
    #: Number of transactions completed: committed, or rolled back as the workload requires.
    completed: int
    #: Number of transactions failed or in doubt.
    failed: int
    #: Key of the transaction type: `new_order`; `all` for the total.
    name: str
    #: Transactions completed per minute.
    per_minute: float
    #: Response times of committed transactions, from when they were due to their end.
    response: Times


class SlowTransaction(Record):
    """One of the slowest transactions of the timed window, with the origin of its input: `triphammer run TARGET --replay-exemplar JOB:N` runs it again."""

    __slots__ = ()
    #: Number of attempts, including the first.
    attempts: int
    #: When it was due, in seconds since the start of the run.
    due_s: float
    #: When it ended, in seconds since the start of the run.
    finished_s: float
    #: Origin of the transaction: user or arrival.
    origin: Origin
    #: How the run ended.
    outcome: Outcome
    #: Response time from when it was due to its end, in microseconds.
    response_us: int
    #: Service time from the start of the first attempt to its end, in microseconds.
    service_us: int
    #: When its first attempt started, in seconds since the start of the run.
    started_s: float
    #: Key of the transaction type: `new_order`.
    transaction: str


class Snapshot(Record):
    """The sessions of a database at one time, without those that are idle outside transactions."""

    __slots__ = ()
    #: Number of further sessions.
    more: int
    #: The second at whose end they were read, counted from the start of the run.
    second: int
    #: The sessions, those with the oldest transactions first.
    sessions: list[CapturedSession]


class StackFrame(Record):
    """A frame of the tree of calls."""

    __slots__ = ()
    #: 0 for those that nothing calls.
    depth: int
    #: File name of the program or library; `kernel` for the kernel.
    module: str
    #: Name of the function; that of the module in brackets if the module has no symbols.
    name: str
    #: Samples in the function and in what it calls.
    samples: int


class Staleness(Record):
    """How old the state was that reads showed."""

    __slots__ = ()
    #: Maximum of it.
    max_ms: Optional[float]
    #: Median of the time since the commit that they should have shown; `None` without stale reads.
    p50_ms: Optional[float]
    #: 99th percentile of it.
    p99_ms: Optional[float]
    #: Reads that were judged.
    reads: int
    #: Reads that did not show a commit acknowledged before their transaction began.
    stale: int


class StatementAnswers(Record):
    """A statement of the recording, and how its answers compare."""

    __slots__ = ()
    #: Number of answers that were compared.
    compared: int
    #: Number of these that differ in at least one way.
    differing: int
    #: The differences, the gravest first; without those that did not occur.
    divergences: list[DivergenceCount]
    #: The first divergences.
    examples: list[DivergenceExample]
    #: The statement, in one line.
    text: str
    #: Why answers to it cannot be expected to be equal, such as `now()`; `None` if they can.
    unstable: Optional[str]


class StatementFigures(Record):
    """Times of one statement of a script over the whole run, including ramp-up."""

    __slots__ = ()
    #: How many times it failed.
    failures: int
    #: Line of the script, from 1.
    line: int
    #: Time of the longest of them, in microseconds.
    max_us: float
    #: Mean time of the successful runs, in microseconds.
    mean_us: float
    #: How many times it succeeded.
    runs: int
    #: The statement, in one line.
    text: str
    #: Its transaction type: the script.
    transaction: str


class StatementSpeed(Record):
    """The time of a statement on both sides."""

    __slots__ = ()
    #: Mean time over the runs of A, in microseconds.
    a_us: float
    #: Mean time over the runs of B, in microseconds.
    b_us: float
    #: Ratio of B to A, with an interval that holds for all statements together; `None` if it cannot be computed.
    comparison: Optional[Comparison]
    #: Its share of the time of all statements of A.
    share: float
    #: The statement, in one line.
    text: str


class StatementWaits(Record):
    """The active sessions of a statement."""

    __slots__ = ()
    #: Average number of active sessions.
    average: float
    #: Share of all active sessions of this run.
    share: float
    #: Name of the workload's statement, such as `new_order.call`, or the text of another.
    statement: str
    #: The class in which its sessions were most often.
    top_class: WaitClass
    #: Transaction type that it belongs to; `None` if it belongs to none or several.
    transaction: Optional[str]


class Steadiness(Record):
    """Statistics on a run's primary metric, from its seconds. All refer to the timed window, except the end of the warm-up, which is searched from the start of the run."""

    __slots__ = ()
    #: Correlation of neighbouring seconds, from -1 to 1.
    autocorrelation: float
    #: Standard deviation of the seconds relative to their mean; `None` if the mean is 0.
    coefficient_of_variation: Optional[float]
    #: Effective sample size: number of independent seconds with the same information about the mean.
    effective_seconds: float
    #: 95 % confidence interval of the mean, adjusted for autocorrelation and for rare, large values; `None` if the window is too short. It is that of the level only if the verdict is `steady`, and otherwise that of this window. For a window that ended by its interval, it is at least as wide as requested.
    interval: Optional[Interval]
    #: Mean of the seconds, in the unit of the primary metric.
    mean: float
    #: Power of the slowest fluctuations (periods of half the window and longer) relative to what the correlation of neighbours explains: about 1 without long memory, above 2.5 with it.
    memory: float
    #: What to do next; `None` when there is nothing to do.
    next: Optional[str]
    #: Number of periods of that work in the window; `None` if no period is known.
    periods: Optional[float]
    #: Half-width of the interval relative to the mean; `None` without an interval.
    relative_half_width: Optional[float]
    #: Periodic work of the server, of which a window has to contain two periods so that its mean is claimed for the level.
    schedule: Schedule
    #: Number of complete seconds analysed.
    seconds: int
    #: Seconds after the start of the run from which the level is known to be within 1 % of the following level; `None` if noise or a drift hides that.
    settled_s: Optional[int]
    #: Minimum length of a window whose mean is claimed for the level, in seconds.
    shortest_s: int
    #: Change of level at `step_at_s`, relative to the level before.
    step: Optional[float]
    #: Second of the run at which the level changed most.
    step_at_s: int
    #: Change along a linear trend through the window, relative to the mean.
    trend: Optional[float]
    #: Target of `--until-ci`; `None` if the length was a time or a number.
    until: Optional[Until]
    #: Whether the mean is representative of the window.
    verdict: Steady
    #: End of the warm-up.
    warm_up: WarmUp
    #: Reason in words, with figures.
    words: str


class StepReaction(Record):
    """The reaction to a step of the load. Times are in seconds after the step, rounded down; `None` if what they wait for did not happen before the next step."""

    __slots__ = ()
    #: When the load changed, or when the run noticed that a node was lost or had returned, in seconds since the start of the run.
    at_s: float
    #: Arrivals per second, users, weights, or nodes, before.
    from_: LoadValue
    #: Time until it was at the new level, within the level's own spread.
    full_s: Optional[float]
    #: Time until throughput reached 50 % of the new level: at least half of it after a step up, at most one and a half after a step down.
    half_s: Optional[float]
    #: How long the new load lasted, in seconds.
    lasted_s: float
    #: The most transactions that waited at the end of a second, beyond those that wait at the new level.
    late: float
    #: Sum over the seconds of what waited beyond that: transactions times seconds.
    late_s: float
    #: Time until it reached 95 % of the new level: at least 0.95 or at most 1.05 times that.
    most_s: Optional[float]
    #: How far throughput went beyond the new level, as a share of it; 0 within its spread.
    overshoot: float
    #: Mean throughput of the part after the step, in transactions per second.
    per_second: float
    #: Time until response times (95th percentile) were within their own spread at the new level.
    response_s: Optional[float]
    #: Median over its second half of the response times (95th percentile of a second), in microseconds; `None` if nothing was completed.
    response_us: Optional[float]
    #: The same after. A rate is the new level; of all else, the new level is the throughput that was reached.
    to: LoadValue
    #: What changed.
    what: StepCause


class StepTime(Record):
    """A query or refresh function of a stream."""

    __slots__ = ()
    #: The error; `None` if it was answered.
    error: Optional[str]
    #: Fingerprint of the answer, whatever the order of its rows; `None` without an answer.
    fingerprint: Optional[str]
    #: Key of the query, `q7`; or of the refresh function, `rf1`.
    name: str
    #: How it ended.
    outcome: StepOutcome
    #: Arguments of the query; the number of the set of a refresh function.
    parameters: list[str]
    #: Position in its stream, from 1.
    position: int
    #: Number of the repeat, from 1.
    repeat: int
    #: Number of rows of the answer; rows changed by a refresh function.
    rows: int
    #: Time from its start until its last row was read, or it failed, in seconds.
    seconds: Optional[float]
    #: Seconds from the start of the run to its start; `None` if it was not started.
    start_s: Optional[float]
    #: Number of the stream; `None` for the stream of refresh functions.
    stream: Optional[int]
    #: The test that it belongs to; never `both`.
    test: QueryTest
    #: What was used from its start to its end; `None` if another stream ran beside it, or it is unknown.
    usage: Optional[Usage]


class StoredCpuTest(Record):
    """The time of an earlier test."""

    __slots__ = ()
    #: When it was made, RFC 3339, UTC.
    at: str
    #: CPU model of the server's host; `None` if the server ran on another host than the client.
    cpu: Optional[str]
    #: Product of the server.
    product: str
    #: Time of the test, in seconds.
    seconds: float
    #: Version of the server.
    version: str


class StoredHostTest(Record):
    """An earlier test."""

    __slots__ = ()
    #: When it was made, RFC 3339, UTC.
    at: str
    #: What was measured.
    figures: list[HostFigure]
    #: Type of the file system and its mount point; `None` if the disk was not tested.
    file_system: Optional[str]
    #: The machine.
    machine: HostTestMachine


class StreamedQuery(Record):
    """A query over all streams."""

    __slots__ = ()
    #: Number of answers in the whole run.
    answered: int
    #: Number of times that it was cancelled because the timed window ended.
    cancelled: int
    #: Number of times that it failed, in the whole run.
    failed: int
    #: Number of answers in the timed window; the times below are of these.
    in_window: int
    #: Longest time, in seconds.
    max_s: Optional[float]
    #: Mean time, in seconds.
    mean_s: Optional[float]
    #: Median time in seconds, to three digits; `None` if it was never answered in the window.
    median_s: Optional[float]
    #: Shortest time, in seconds.
    min_s: Optional[float]
    #: Key of the query: `q7`.
    name: str
    #: Largest number of rows of an answer in the whole run.
    rows: int
    #: Number of times that it exceeded the maximum time of a query, in the whole run.
    timed_out: int
    #: Title of the query.
    title: str


class TableFingerprint(Record):
    """What was read of a table."""

    __slots__ = ()
    #: Name of the table.
    table: str
    #: Number of rows, or a text that depends on all of them.
    value: str


class TableRead(Record):
    """How the table was read back."""

    __slots__ = ()
    #: Why the table could not be read; `None` if it was.
    error: Optional[str]
    #: Rows of the table.
    rows: int
    #: The server; `None` if it was not reached.
    server: Optional[ServerInfo]
    #: URL of the database, without secrets.
    target: Redacted
    #: Seconds from the end of the run until it answered and accepted writes.
    waited_s: float


class ThreadCpu(Record):
    """CPU use of a worker thread."""

    __slots__ = ()
    #: CPU time, in seconds.
    cpu_s: float
    #: CPU time relative to the length of the run: 1 means a full core.
    share: float
    #: Number of the thread, from 0.
    thread: int


class TimeComparison(Record):
    """Where the time of a transaction goes in A and in B."""

    __slots__ = ()
    #: The parts in display order: a part is followed by the parts that it consists of.
    parts: list[ComparedPart]


class TimeLimits(Record):
    """A named limit for every wait."""

    __slots__ = ()
    #: Limit for opening a session.
    connect: str
    #: Limit for transactions in flight after the stop; then they are aborted.
    drain: str
    #: Wait before a lost session first reconnects; doubles up to `reconnect_max`.
    reconnect_first: str
    #: Longest wait between two attempts to reconnect.
    reconnect_max: str
    #: Limit for an attempt at a transaction; zero for none. A watchdog cancels it and counts a timeout.
    transaction: str


class TimeShares(Record):
    """Breakdown of the transactions' time, as shares that add up to 1."""

    __slots__ = ()
    #: The client's threads were working.
    client_cpu: float
    #: The client's threads were ready but waited for a CPU.
    client_wait: float
    #: In transit between client and server.
    network: float
    #: The remainder: the server waited for locks, disks and so on; if it cannot be observed, all its time.
    rest: float
    #: The server was working; `None` if it cannot be observed.
    server_cpu: Optional[float]
    #: The server was ready but waited for a CPU; `None` if it cannot be observed.
    server_wait: Optional[float]


class Times(Record):
    """A summary of times in microseconds. Percentiles are exact to three significant digits; the mean is exact where the sum is known."""

    __slots__ = ()
    #: Number of times summarised; if it is 0, all other values are 0.
    count: int
    #: Longest time, in microseconds.
    max_us: int
    #: Mean, in microseconds; exact for committed transactions.
    mean_us: float
    #: Shortest time, in microseconds.
    min_us: int
    #: Median (50th percentile), in microseconds.
    p50_us: int
    #: 90th percentile, in microseconds.
    p90_us: int
    #: 95th percentile, in microseconds.
    p95_us: int
    #: 99.99th percentile, in microseconds.
    p99_99_us: int
    #: 99.9th percentile, in microseconds.
    p99_9_us: int
    #: 99th percentile, in microseconds.
    p99_us: int
    #: Standard deviation, in microseconds, of times to three significant digits; `None` without times, and in old results.
    stdev_us: Optional[float]


class Tool(Record):
    """The program that wrote a document."""

    __slots__ = ()
    #: Whether the program is a debug build, which uses many times the CPU time of a release build.
    debug_build: bool
    #: Name of the program: `triphammer`.
    name: str
    #: Version of the program.
    version: str


class TopStatement(Record):
    """A statement, by the server's own statistics over the timed window."""

    __slots__ = ()
    #: Blocks found in memory.
    blocks_hit: int
    #: Blocks read.
    blocks_read: int
    #: Number of calls.
    calls: int
    #: Mean time at the server, in milliseconds.
    mean_ms: float
    #: Rows returned or changed.
    rows: int
    #: Its text, shortened.
    text: str
    #: Total time at the server, in seconds.
    total_s: float


class Topology(Record):
    """How the CPUs and the memory of a host are arranged, as far as the system says."""

    __slots__ = ()
    #: Caches of the processors, the nearest to the cores first.
    caches: list[CpuCache]
    #: Number of cores of all packages.
    cores: int
    #: Memory nodes, by number.
    nodes: list[MemoryNode]
    #: Number of packages (sockets).
    packages: int
    #: Number of logical CPUs that are online.
    threads: int


class TransactionPart(Record):
    """A part of a transaction's time, or an amount that it needs."""

    __slots__ = ()
    #: Depth in the tree of parts: 0 for the response time and for amounts.
    depth: int
    #: How it was measured, or what would make it known; may be empty.
    how: str
    #: Name of the part: `network`; `lock_table` for each table of a lock.
    name: str
    #: Share of the response time, from 0 to 1; `None` for amounts and unknown parts.
    share: Optional[float]
    #: Title in reports and on the page.
    title: str
    #: Unit of the value: `us`, `bytes` or `average`.
    unit: str
    #: Value per transaction; `None` if it is not known.
    value: Optional[float]


class TransactionTime(Record):
    """Where the time of a transaction goes, and what it exchanges with the server: means per transaction, from the timed window."""

    __slots__ = ()
    #: The parts in display order: a part is followed by the parts that it consists of.
    parts: list[TransactionPart]
    #: Number of committed transactions over which the times are means.
    transactions: int


class TypeFigures(Record):
    """Figures of a transaction type. `ended = completed + failed + indeterminate`, and in the whole run `started = ended + in_flight`."""

    __slots__ = ()
    #: Number of transactions committed.
    committed: int
    #: Number of transactions completed: committed, or rolled back as the workload requires.
    completed: int
    #: Events that the transaction type itself counts; `None` if it counts none.
    counter: Optional[CounterFigure]
    #: Number of transactions ended, with any outcome.
    ended: int
    #: Number of transactions failed.
    failed: int
    #: `failed` by error class; only classes that occurred.
    failed_by_class: list[ClassCount]
    #: Response times of transactions failed or in doubt.
    failed_times: Times
    #: Number of transactions in flight when the run was aborted; whole run only.
    in_flight: Optional[int]
    #: Number of transactions in doubt: the connection was lost after a commit had been sent.
    indeterminate: int
    #: Key of the transaction type: `new_order`; `all` for the total.
    name: str
    #: Transactions completed per minute.
    per_minute: float
    #: Response times of committed transactions, from when they were due to their end.
    response: Times
    #: Confidence intervals of the percentiles of `response`; timed window only.
    response_intervals: PercentileIntervals
    #: Number of transactions that needed more than one attempt, with any outcome.
    retried: int
    #: Number of repeated attempts, by class of the preceding error; only classes that occurred.
    retries_by_class: list[ClassCount]
    #: Number of transactions rolled back as the workload requires.
    rolled_back: int
    #: Response times of transactions rolled back as the workload requires.
    rolled_back_times: Times
    #: Number of times longer than a year (an hour in older results), which are counted as that.
    saturated: int
    #: Service times of committed transactions, from the start of the first attempt to their end. The same as `response` for a closed load.
    service: Times
    #: Share of the completed transactions of all types, from 0 to 1.
    share: float
    #: Number of transactions started; whole run only.
    started: Optional[int]
    #: Title of the transaction type: `New-Order`.
    title: str
    #: Number of committed transactions that no standby has confirmed, although the server was to wait for one: its warning is in the notes.
    unconfirmed: int
    #: Number of completed transactions whose answer could not be read.
    unread: int


class Unread(Record):
    """Checks that could not be made, for one reason."""

    __slots__ = ()
    #: Names of the checks.
    checks: list[str]
    #: Why they could not be made.
    reason: str


class UnstableStatement(Record):
    """A statement whose answers differ among the replays of one side."""

    __slots__ = ()
    #: Number of its answers that are not compared.
    answers: int
    #: The statement, in one line.
    text: str


class Until(Record):
    """A window whose length was determined by its own interval."""

    __slots__ = ()
    #: Whether it was reached within the maximum time.
    reached: bool
    #: Requested half-width of the interval, relative to the mean.
    relative_half_width: float


class Usage(Record):
    """What was used of this host between two moments."""

    __slots__ = ()
    #: CPU time of triphammer, in seconds; `None` if it is part of `cpu_s`.
    client_cpu_s: Optional[float]
    #: CPU time, in seconds.
    cpu_s: float
    #: Bytes read from the disks of the host, by all its programs; `None` if it does not show them.
    read_bytes: Optional[int]
    #: Bytes written to the disks of the host, by all its programs.
    written_bytes: Optional[int]


class Usl(Record):
    """The Universal Scalability Law fitted to all runs: X(N) = λ N / (1 + σ (N - 1) + κ N (N - 1))."""

    __slots__ = ()
    #: Amdahl's law for comparison: κ = 0.
    amdahl: Curve
    #: κ N (N - 1) at `judged_at`.
    coherency_loss: float
    #: σ (N - 1) at `judged_at`: time lost to contention, in units of the work itself.
    contention_loss: float
    #: The law with all three parameters.
    curve: Curve
    #: Share of linear scaling that remains at `judged_at`, from 0 to 1.
    efficiency: float
    #: The level at which losses are computed: the peak or the best level if throughput declines beyond it, otherwise the highest level.
    judged_at: float
    #: P value of the hypothesis κ = 0; `None` if it cannot be computed.
    kappa_p_value: Optional[float]
    #: What limits scaling at `judged_at`.
    limit: UslLimit
    #: P value of the levels' deviation from the curve; `None` if it cannot be computed.
    misfit_p_value: Optional[float]
    #: The peak of the throughput.
    peak: Peak


class Verification(Record):
    """Verification of the primary metric's count with the database, over the whole run."""

    __slots__ = ()
    #: Number of committed transactions counted by the client.
    committed: int
    #: Increase of the counter.
    database: Optional[int]
    #: The database's count after the run; `None` likewise.
    database_after: Optional[int]
    #: The database's count before the run; `None` if it could not be queried.
    database_before: Optional[int]
    #: Number of transactions in flight when the run was aborted, which may have committed.
    in_flight: int
    #: Number of transactions in doubt, which may have committed.
    indeterminate: int
    #: Whether client and database agree.
    verdict: Verdict
    #: The verdict in words.
    words: str


class ViolatedIdentity(Record):
    """A violated counting identity: a defect of the engine."""

    __slots__ = ()
    #: The violated equation.
    identity: str
    #: Value of its left side.
    left: int
    #: Value of its right side.
    right: int
    #: Key of the transaction type; `None` for all types together.
    transaction: Optional[str]


class WaitCause(Record):
    """A class of wait, and how its active-session time changed."""

    __slots__ = ()
    #: What to try next.
    advice: str
    #: Class of the wait.
    class_: WaitClass
    #: The events of the class, likewise.
    events: list[CauseEvent]
    #: Its figures.
    figures: CauseFigures


class WaitChanges(Record):
    """What active-session time per committed transaction was spent on, compared with the rest, or with the baseline of a comparison. Causes whose interval includes 0, or that were seen in fewer than 10 samples, are not named."""

    __slots__ = ()
    #: The causes: increases, the largest first, then decreases.
    causes: list[WaitCause]
    #: Number of resamples behind each interval.
    resamples: int
    #: Statements, likewise.
    statements: list[CauseStatement]


class WaitShare(Record):
    """A class of wait of active sessions, or a wait."""

    __slots__ = ()
    #: Average number of active sessions.
    average: float
    #: Class of the wait.
    class_: WaitClass
    #: Share of all active sessions of this run.
    share: float
    #: Name of the wait at the server, such as `Lock:transactionid`; empty for a whole class, and for sessions that do not wait.
    wait: str


class WarmedUp(Record):
    """What was read into caches before a run."""

    __slots__ = ()
    #: What could not be read, or is to be known of it.
    notes: list[str]
    #: Number of tables and indexes that were read.
    relations: int
    #: Time that it took, in seconds.
    seconds: float
    #: How: `pg_prewarm of tables`.
    ways: list[str]


class Warning(Record):
    """Warnings to read before using the figures."""

    __slots__ = ()
    #: Machine-readable kind: `counter`, `failures`, `debug_build`, `window_short`.
    kind: str
    #: What to do next, as advice to the user; `None` when there is nothing to do.
    next: Optional[str]
    #: Sentence for people to read.
    text: str


class WhyEvidence(Record):
    """A figure of the server or of a host, as the mean of the seconds."""

    __slots__ = ()
    #: Mean in the stretch.
    here: float
    #: Name for programs, such as `checkpoints`.
    name: str
    #: Mean in the rest; `None` without a rest.
    rest: Optional[float]
    #: Title for people.
    title: str
    #: Unit of the values.
    unit: str


class WhyLock(Record):
    """A session, or the sessions of the run, that blocked sessions of the run."""

    __slots__ = ()
    #: Average number of blocked sessions in the stretch.
    blocked: float
    #: The same in the rest; `None` without a rest.
    blocked_rest: Optional[float]
    #: Number at the server, user, program and state of the session; or that they are the run's.
    blocker: str
    #: Whether another program's session blocked them.
    is_foreign: bool
    #: The table; empty if unknown.
    object: str
    #: Last statement of the session; empty if unknown.
    statement: str


class WhyPart(Record):
    """A part of a run."""

    __slots__ = ()
    #: Committed transactions per second.
    committed_per_second: float
    #: First observed second, counted from the start of the run.
    from_s: int
    #: Average number of sessions of the run that were idle in a transaction.
    idle_in_transaction: float
    #: Number of observed seconds.
    seconds: int
    #: Average number of active sessions of the run.
    sessions: float
    #: End of the last observed second.
    to_s: int


class WhyResult(Document):
    """Why a run, or a stretch of it, was as slow as it was, as printed by `triphammer why --json`. Its causes are the changes between the stretch and the rest of the timed window, or, without a rest, what the sessions did in the whole window."""

    __slots__ = ()
    #: How the stretch was chosen.
    basis: WhyBasis
    #: Whether commits wait until the log is on the disk, by the server's settings; `None` if unknown.
    commits_wait: Optional[bool]
    #: What else is known of server and hosts, if it differs from the rest.
    evidence: list[WhyEvidence]
    #: Version of the document's format.
    format: Literal[1]
    #: Job number of the run.
    job: int
    #: Kind of document, by the name of its command.
    kind: Literal["why"]
    #: What limited the whole run, in words.
    limited_by: str
    #: Who blocked sessions of the run, and at which table, the most sessions first.
    locks: list[WhyLock]
    #: What to try next, the most promising first.
    next: list[str]
    #: Notes on the run in the stretch, such as outages.
    notes: list[Remark]
    #: The rest of the timed window; `None` if the whole window is explained.
    rest: Optional[WhyPart]
    #: The server that the run connected to.
    server: ServerInfo
    #: Start of the run (its second 0), RFC 3339, UTC.
    started_at: str
    #: The explained part of the run.
    stretch: WhyPart
    #: URL of the target, without secrets.
    target: Redacted
    #: The program that wrote the document.
    tool: Tool
    #: The causes.
    waits: WaitChanges
    #: Warnings to read before using the result.
    warnings: list[Warning]
    #: The main cause in one sentence, with its evidence.
    words: str
    #: Workload and its data.
    workload: WorkloadFacts


class WorkloadFacts(Record):
    """Workload and its data."""

    __slots__ = ()
    #: Facts from the build record, and options of the run: `seed`, `c_load`, `all-warehouses`.
    facts: dict[str, str]
    #: Name on the command line: `tproc-c`.
    name: str
    #: Scale of the data, in `scale_unit`.
    scale: float
    #: Unit of the scale, in the plural: `warehouses`.
    scale_unit: str
    #: The user's scripts; empty for other workloads.
    scripts: list[ScriptFacts]
    #: Title of the workload: `TPROC-C`.
    title: str
    #: Version of the workload; results of different versions cannot be compared.
    version: int


class WriteTest(Record):
    """Latency of commits, as one session sees it, with its round trip."""

    __slots__ = ()
    #: How many commits took how long, the shortest first; each class is twice as wide as the one before.
    histogram: list[LatencyClass]
    #: Length of the test, in seconds.
    seconds: float
    #: Times of the commits.
    times: Times


#: The class of the result of each command.
OF_KIND = {
    "build": BuildReport,
    "run": RunResult,
    "profile": ProfileResult,
    "capacity": CapacityResult,
    "compare": ComparisonResult,
    "matrix": MatrixResult,
    "drill": DrillResult,
    "isolation": IsolationResult,
    "check": CheckReport,
    "doctor": DoctorResult,
    "history": HistoryResult,
}
