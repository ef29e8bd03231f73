//! The document of `why`: printed by `--json`, returned by the API, and rendered by the report.

use std::collections::BTreeMap;
use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::session::ServerInfo;
use triphammer_statistics::Interval;
use triphammer_statistics::causes::{Change, RESAMPLES, SHARE_MIN, Side, changes};

use super::observations::Observations;
use super::{evidence, words};
use crate::doctor::SetupVerdict;
use crate::parts::{Tool, WorkloadFacts};
use crate::redacted::Redacted;
use crate::result::{Remark, RunResult, WaitClass, Warning};
use crate::unit::Unit;

/// Version of the document's format.
pub const WHY_FORMAT: u32 = 1;
/// Minimum number of samples in which a cause must have been seen.
const SIGHTINGS_MIN: f64 = 10.0;
/// Maximum number of events of a cause, and of statements.
const SHOWN_MAX: usize = 10;
/// The doctor's checks of whether commits wait for the log.
const COMMIT_SETTINGS: [&str; 2] = ["synchronous_commit", "flush_log_at_trx_commit"];
/// Minimum average number of sessions that a lock must block to be listed.
const BLOCKED_MIN: f64 = 0.05;

/// Why a run, or a stretch of it, was as slow as it was, as printed by `triphammer why --json`. Its
/// causes are the changes between the stretch and the rest of the timed window, or, without a rest,
/// what the sessions did in the whole window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Why a run was as slow as it was")]
pub struct WhyResult {
    /// Version of the document's format.
    #[schemars(extend("const" = WHY_FORMAT))]
    pub format: u32,
    /// Kind of document, by the name of its command.
    #[schemars(with = "String", extend("const" = "why"))]
    pub kind: String,
    /// The program that wrote the document.
    pub tool: Tool,
    /// Job number of the run.
    pub job: i64,
    /// Start of the run (its second 0), RFC 3339, UTC.
    #[schemars(extend("format" = "date-time"))]
    pub started_at: String,
    /// Workload and its data.
    pub workload: WorkloadFacts,
    /// URL of the target, without secrets.
    pub target: Redacted,
    /// The server that the run connected to.
    pub server: ServerInfo,
    /// What limited the whole run, in words.
    pub limited_by: String,
    /// Whether commits wait until the log is on the disk, by the server's settings; `None` if
    /// unknown.
    pub commits_wait: Option<bool>,
    /// How the stretch was chosen.
    pub basis: Basis,
    /// The main cause in one sentence, with its evidence.
    pub words: String,
    /// The explained part of the run.
    pub stretch: Part,
    /// The rest of the timed window; `None` if the whole window is explained.
    pub rest: Option<Part>,
    /// The causes.
    pub waits: Waits,
    /// Who blocked sessions of the run, and at which table, the most sessions first.
    pub locks: Vec<Lock>,
    /// What else is known of server and hosts, if it differs from the rest.
    pub evidence: Vec<Evidence>,
    /// Notes on the run in the stretch, such as outages.
    pub notes: Vec<Remark>,
    /// What to try next, the most promising first.
    pub next: Vec<String>,
    /// Warnings to read before using the result.
    pub warnings: Vec<Warning>,
    /// CPUs of the client's host, for the words; not in the document, where it is 0.
    #[serde(skip)]
    pub host_cpus: f64,
}

/// How the stretch was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "WhyBasis")]
pub enum Basis {
    /// By the user.
    Given,
    /// The throughput was notably lower than in the rest.
    Lowest,
    /// The whole timed window: no stretch of it was notably slower.
    Window,
}

/// A part of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "WhyPart")]
pub struct Part {
    /// First observed second, counted from the start of the run.
    pub from_s: u64,
    /// End of the last observed second.
    pub to_s: u64,
    /// Number of observed seconds.
    pub seconds: u64,
    /// Committed transactions per second.
    #[schemars(range(min = 0.0))]
    pub committed_per_second: f64,
    /// Average number of active sessions of the run.
    #[schemars(range(min = 0.0))]
    pub sessions: f64,
    /// Average number of sessions of the run that were idle in a transaction.
    #[schemars(range(min = 0.0))]
    pub idle_in_transaction: f64,
}

/// What active-session time per committed transaction was spent on, compared with the rest, or with
/// the baseline of a comparison. Causes whose interval includes 0, or that were seen in fewer than
/// 10 samples, are not named.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "WaitChanges")]
pub struct Waits {
    /// The causes: increases, the largest first, then decreases.
    pub causes: Vec<Cause>,
    /// Statements, likewise.
    pub statements: Vec<CauseStatement>,
    /// Number of resamples behind each interval.
    pub resamples: u64,
}

/// A class of wait, and how its active-session time changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "WaitCause")]
pub struct Cause {
    /// Class of the wait.
    pub class: WaitClass,
    /// Its figures.
    pub figures: CauseFigures,
    /// The events of the class, likewise.
    pub events: Vec<CauseEvent>,
    /// What to try next.
    pub advice: String,
}

/// An event that sessions waited for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CauseEvent {
    /// Name of the wait at the server, such as `Lock:transactionid`; empty if they did not wait.
    pub wait: String,
    /// Its figures.
    pub figures: CauseFigures,
}

/// A statement that sessions executed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CauseStatement {
    /// Name of the workload's statement, or the shortened text of another.
    pub statement: String,
    /// Its figures.
    pub figures: CauseFigures,
}

/// Figures of a cause in the stretch and in the rest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CauseFigures {
    /// Average number of active sessions in the stretch.
    #[schemars(range(min = 0.0))]
    pub sessions: f64,
    /// The same in the rest; `None` without a rest.
    #[schemars(range(min = 0.0))]
    pub sessions_rest: Option<f64>,
    /// Share of active-session time in the stretch.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: f64,
    /// Milliseconds of session time per committed transaction in the stretch; `None` if none was
    /// committed.
    #[schemars(range(min = 0.0))]
    pub ms_per_transaction: Option<f64>,
    /// The same in the rest; `None` without a rest.
    #[schemars(range(min = 0.0))]
    pub ms_per_transaction_rest: Option<f64>,
    /// Change in milliseconds per committed transaction; `None` if none was committed in the
    /// stretch. Without a rest, the milliseconds themselves.
    pub change_ms: Option<f64>,
    /// 95 % interval of `change_ms`; `None` if too few transactions were committed in the stretch.
    pub change_ms_interval: Option<Interval>,
    /// Average number of sessions in the stretch beyond those that its transactions needed in the
    /// rest: it exists even if nothing was committed.
    pub excess_sessions: f64,
    /// 95 % interval of `excess_sessions`.
    pub excess_sessions_interval: Interval,
}

/// A session, or the sessions of the run, that blocked sessions of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "WhyLock")]
pub struct Lock {
    /// Whether another program's session blocked them.
    pub is_foreign: bool,
    /// Number at the server, user, program and state of the session; or that they are the run's.
    pub blocker: String,
    /// Last statement of the session; empty if unknown.
    pub statement: String,
    /// The table; empty if unknown.
    pub object: String,
    /// Average number of blocked sessions in the stretch.
    #[schemars(range(min = 0.0))]
    pub blocked: f64,
    /// The same in the rest; `None` without a rest.
    #[schemars(range(min = 0.0))]
    pub blocked_rest: Option<f64>,
}

/// A figure of the server or of a host, as the mean of the seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "WhyEvidence")]
pub struct Evidence {
    /// Name for programs, such as `checkpoints`.
    pub name: String,
    /// Title for people.
    pub title: String,
    /// Unit of the values.
    #[schemars(with = "String")]
    pub unit: Unit,
    /// Mean in the stretch.
    pub here: f64,
    /// Mean in the rest; `None` without a rest.
    pub rest: Option<f64>,
}

impl WhyResult {
    /// Explains a part of a run: what was observed in it, and in the rest if there is one.
    pub fn new(
        result: &RunResult,
        basis: Basis,
        waits: Waits,
        here: &Observations,
        rest: Option<&Observations>,
        stretch: &Range<u64>,
    ) -> Self {
        let is_in = |note: &&Remark| {
            let at = note.at_s.map(super::stretch::whole);
            rest.is_some() && at.is_some_and(|at| stretch.contains(&at))
        };
        let mut made = Self {
            format: WHY_FORMAT,
            kind: "why".to_owned(),
            tool: Tool::this(),
            job: result.job.unwrap_or_default(),
            started_at: result.started_at.clone(),
            workload: result.workload.clone(),
            target: result.target.clone(),
            server: result.server.clone(),
            limited_by: result.bottleneck.title(),
            commits_wait: commits_wait(result),
            basis,
            words: String::new(),
            stretch: Part::of(here),
            rest: rest.map(Part::of),
            waits,
            locks: locks(here, rest, result),
            evidence: evidence::of(here, rest, result),
            notes: result.notes.iter().filter(is_in).cloned().collect(),
            next: Vec::new(),
            warnings: Vec::new(),
            host_cpus: f64::from(result.bottleneck.figures.host_cpus),
        };
        made.words = words::of(&made, result.bottleneck.kind);
        made.next = words::next(&made);
        made
    }
}

fn commits_wait(result: &RunResult) -> Option<bool> {
    let mut facts = result.setup.iter();
    let fact = facts.find(|fact| COMMIT_SETTINGS.contains(&fact.name.as_str()))?;
    Some(fact.verdict != SetupVerdict::Wrong)
}

impl Part {
    fn of(of: &Observations) -> Self {
        let active = of.waits.values().map(|column| mean(column)).sum();
        Self {
            from_s: of.seconds.first().copied().unwrap_or_default(),
            to_s: of.seconds.last().map_or(0, |last| last + 1),
            seconds: of.seconds.len() as u64,
            committed_per_second: mean(&of.transactions),
            sessions: active,
            idle_in_transaction: mean(&of.idle),
        }
    }
}

impl Waits {
    /// Compares a stretch with the rest; `None` if one of them is too short, or nothing was
    /// committed in the rest.
    pub fn of(here: &Observations, rest: Option<&Observations>) -> Option<Self> {
        let mut classes: BTreeMap<WaitClass, Columns> = BTreeMap::new();
        let mut events: BTreeMap<(WaitClass, String), Columns> = BTreeMap::new();
        for (key, column) in both(|of| &of.waits, here, rest) {
            classes.entry(key.0).or_insert_with(|| Columns::zero(here, rest)).add(&column);
            events.insert(key, column);
        }
        let share = Shares::of(here, rest);
        let events = compared(events, here, rest, &share)?;
        let causes = compared(classes, here, rest, &share)?.into_iter().map(|(class, figures)| {
            let own = events.iter().filter(|((of, _), _)| *of == class);
            let events = own
                .map(|((_, wait), figures)| CauseEvent { wait: wait.clone(), figures: *figures });
            let advice = class.advice().to_owned();
            Cause { class, figures, events: events.take(SHOWN_MAX).collect(), advice }
        });
        let statements = compared(both(|of| &of.statements, here, rest), here, rest, &share)?;
        let statements = statements.into_iter().take(SHOWN_MAX);
        Some(Self {
            causes: causes.collect(),
            statements: statements
                .map(|(statement, figures)| CauseStatement { statement, figures })
                .collect(),
            resamples: RESAMPLES as u64,
        })
    }

    /// Compares run B with run A by the seconds of their timed windows; `None` if one of them was
    /// not observed, or is too short.
    pub fn between(a: &Observations, b: &Observations) -> Option<Self> {
        Self::of(b, Some(a))
    }
}

/// Values of a cause in the seconds of the stretch and of the rest.
struct Columns([Vec<f64>; 2]);

impl Columns {
    fn zero(here: &Observations, rest: Option<&Observations>) -> Self {
        let zeros = |of: &Observations| vec![0.0; of.seconds.len()];
        Self([zeros(here), rest.map(zeros).unwrap_or_default()])
    }

    fn add(&mut self, other: &Self) {
        for (to, of) in self.0.iter_mut().zip(&other.0) {
            to.iter_mut().zip(of).for_each(|(to, of)| *to += of);
        }
    }
}

/// The columns of both parts by key; 0 where only one part has it.
fn both<K: Ord + Clone>(
    read: impl Fn(&Observations) -> &BTreeMap<K, Vec<f64>>,
    here: &Observations,
    rest: Option<&Observations>,
) -> BTreeMap<K, Columns> {
    let mut all: BTreeMap<K, Columns> = BTreeMap::new();
    for (at, of) in [Some(here), rest].into_iter().enumerate() {
        for (key, column) in of.into_iter().flat_map(&read) {
            let columns = all.entry(key.clone()).or_insert_with(|| Columns::zero(here, rest));
            columns.0[at].clone_from(column);
        }
    }
    all
}

/// All active-session time, for shares.
struct Shares {
    here: f64,
    rest: f64,
}

impl Shares {
    fn of(here: &Observations, rest: Option<&Observations>) -> Self {
        let all = |of: &Observations| of.waits.values().map(|column| mean(column)).sum();
        Self { here: all(here), rest: rest.map_or(0.0, all) }
    }
}

/// The causes that are certain and were seen often enough: increases, the largest first, then
/// decreases.
fn compared<K>(
    columns: BTreeMap<K, Columns>,
    here: &Observations,
    rest: Option<&Observations>,
    shares: &Shares,
) -> Option<Vec<(K, CauseFigures)>> {
    let (keys, columns): (Vec<K>, Vec<Columns>) = columns.into_iter().unzip();
    let side = |at: usize, of: &Observations| Side {
        transactions: of.transactions.clone(),
        causes: columns.iter().map(|column| column.0[at].clone()).collect(),
    };
    let found = changes(&side(0, here), rest.map(|rest| side(1, rest)).as_ref())?;
    let mut keys: Vec<Option<K>> = keys.into_iter().map(Some).collect();
    let is_seen = |change: &Change| {
        let [in_here, in_rest] = &columns[change.cause].0;
        let seen = in_here.iter().chain(in_rest).sum::<f64>() * here.samples_per_second;
        let share = share(change.sessions, shares.here).max(share(mean(in_rest), shares.rest));
        change.is_certain() && seen >= SIGHTINGS_MIN && share >= SHARE_MIN
    };
    let named: Vec<_> = found.iter().filter(|change| is_seen(change)).collect();
    let (more, less): (Vec<&Change>, Vec<&Change>) =
        named.into_iter().partition(|change| change.excess > 0.0);
    let figures = |change: &Change| {
        let sessions_rest = rest.map(|_| mean(&columns[change.cause].0[1]));
        figures(change, sessions_rest, share(change.sessions, shares.here))
    };
    let take = |change: &Change| Some((keys[change.cause].take()?, figures(change)));
    Some(more.into_iter().chain(less).filter_map(take).collect())
}

fn figures(change: &Change, sessions_rest: Option<f64>, share: f64) -> CauseFigures {
    let ms = |interval: Interval| Interval { low: interval.low * 1e3, high: interval.high * 1e3 };
    CauseFigures {
        sessions: change.sessions,
        sessions_rest,
        share,
        ms_per_transaction: change.here.map(|s| s * 1e3),
        ms_per_transaction_rest: sessions_rest.map(|_| change.rest * 1e3),
        change_ms: change.change.map(|s| s * 1e3),
        change_ms_interval: change.change_interval.map(ms),
        excess_sessions: change.excess,
        excess_sessions_interval: change.excess_interval,
    }
}

fn share(of: f64, all: f64) -> f64 {
    if all > 0.0 { (of / all).min(1.0) } else { 0.0 }
}

/// Who blocked sessions in the stretch. The result knows the last statements of the worst.
fn locks(here: &Observations, rest: Option<&Observations>, result: &RunResult) -> Vec<Lock> {
    let known = result.observed.iter().flat_map(|observed| &observed.blockers);
    let of = |((blocker, object), column): (&(String, String), &Vec<f64>)| {
        let is_foreign = blocker != OWN;
        let number = blocker.split(' ').next().filter(|_| is_foreign);
        let statement = known.clone().find(|of| of.session.as_deref() == number && is_foreign);
        let key = (blocker.clone(), object.clone());
        let before = rest.map(|rest| rest.blocked.get(&key).map_or(0.0, |of| mean(of)));
        Lock {
            is_foreign,
            blocker: blocker.clone(),
            statement: statement.map(|of| of.statement.clone()).unwrap_or_default(),
            object: object.clone(),
            blocked: mean(column),
            blocked_rest: before,
        }
    };
    let mut all: Vec<Lock> = here.blocked.iter().map(of).collect();
    all.retain(|lock| lock.blocked >= BLOCKED_MIN);
    all.sort_by(|a, b| b.blocked.total_cmp(&a.blocked));
    all.truncate(SHOWN_MAX);
    all
}

/// Mean of the values; 0 without any.
pub(crate) fn mean(values: &[f64]) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "seconds of a run")]
    let count = values.len().max(1) as f64;
    values.iter().sum::<f64>() / count
}

/// What the run's own sessions are called as blockers.
pub const OWN: &str = "sessions of this run";
