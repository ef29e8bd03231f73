//! The result document of a run: printed by `--json`, stored, and rendered by every report. It is
//! computed by a pure function, [`RunResult::new`], from the runner's facts about the run
//! ([`RunFacts`]) and the engine's output, without access to clocks, files or databases.
//!
//! ```text
//! RunFacts ──┐
//!            ├─► RunResult::new ──► RunResult ──► json · text · markdown · job store
//! RunEnd  ───┘
//! ```
//!
//! Its [schema](crate::schemas) is generated from these types. A change that a reader of the old format would misread increments
//! [`FORMAT`].

mod another;
mod at_end;
mod audit;
mod availability;
mod bottleneck;
mod captured;
mod cores;
mod cpu_profile;
mod document;
mod elasticity;
mod facts;
mod figures;
mod first_answer;
mod hosts;
mod load;
mod log_writes;
mod logins;
mod make;
mod nodes;
mod observed;
mod percentiles;
mod queries;
mod query_streams;
mod schema;
mod slices;
mod state;
mod steadiness;
mod time_parts;
mod transaction_time;
mod verification;
mod warnings;

pub use another::{AnotherRun, DAY};
pub use at_end::{AT_END, DeclaredFigure, RunMetric};
pub use audit::Audit;
pub use availability::{Availability, Outage, ViolatedIdentity};
pub use bottleneck::{
    Bottleneck, BottleneckVerdict, BottleneckWait, CHECKPOINTS_FREQUENT, CLEAR, Cause, Certainty,
    HOST_BUSY, HOST_FREE, IN_PROCESS, LAG_MIN_US, LAG_SAMPLES_MIN, LATE_US, LOCAL_ROUND_TRIP_US,
    LimitFigures, MISSED_MAX, MOST, OTHERS_SHARE, ROUND_TRIP_QUANTILE, SESSIONS_BUSY,
    SPACE_CHECKPOINTS, STOP_OTHERS, THREAD_BUSY, TimeShares, WAIT_SHARE_MIN,
};
pub use captured::{Capture, CapturedSession, Snapshot};
pub use cores::{
    CELLS_MAX, COLUMNS_MAX, CPUS_MAX, CoreBalance, CoreMap, CoreMapper, CpuColumns, CpuPlace,
    CpuRow, CpuSecond, UnevenCause, ranges,
};
pub use cpu_profile::{
    CpuProfile, CpuSide, Function, ProfiledFunction, ProfiledSide, StackFrame, StackTree,
};
pub use document::{
    ClientCost, CounterFigure, Durations, ErrorFigure, FORMAT, FailureShare, Figures,
    PrimaryMetricFigure, Remark, RoundTrips, RunResult, SecondsAtOnce, ThreadCpu, TypeFigures,
    Warning,
};
pub(crate) use elasticity::repeated;
pub use elasticity::{Elasticity, StepCause, StepReaction, load_seconds};
pub use facts::{CounterSpan, DatabaseCount, EarlierRun, MeasuredWorkload, NodeFact, RunFacts};
pub use first_answer::{AnswerTimes, FirstAnswer};
pub use hosts::{HostShare, LostHost};
pub use load::{Arrivals, Efficiency, SlowTransaction};
pub use log_writes::{LogFigure, LogOperation, LogWrites};
pub use logins::{LoginFigures, Logins, SessionsBack};
pub use make::rfc3339;
pub use nodes::{FailoverFigure, NodeChangeFigure, NodeFigures, NodeRole, NodeTypeCount};
pub use observed::{
    ActiveSessions, Blocker, CommitProbe, Observed, ObserverCost, ObserverGap, ProfileFigure,
    ServerTime, StatementWaits, TopStatement, WaitClass, WaitShare,
};
pub use percentiles::PercentileIntervals;
pub use queries::{
    AnswerComparison, PhaseUsage, QueriesResult, QueryFigure, QuerySummary, StepOutcome, StepTime,
};
pub use query_streams::{
    Baseline, BaselineTaken, QUERIES_PER_HOUR, QUERY_GEOMEAN, QueryStreams, STEPS_MAX,
    StreamedQuery, StreamsTaken,
};
pub use schema::{SchemaFact, SchemaKind};
pub use slices::{SLICES_MAX, Slice, SliceFigures, SliceTotals, Slicer, TypeTotals};
pub use state::{
    BackgroundWork, DatabaseState, Fingerprint, FingerprintDepth, QuietWait, Restored,
    StateComparison, TableFingerprint, WarmedUp, first_names,
};
#[cfg(test)]
pub(crate) use steadiness::SteadinessInput;
pub use steadiness::{Steadiness, Steady, Until, WarmUp};
pub use time_parts::{TransactionPart, TransactionTime};
pub(crate) use transaction_time::{is_at_server, is_wait};
pub use verification::{Verdict, Verification};
