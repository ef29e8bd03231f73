//! Computes the document from the facts about a run and the engine's output.

use triphammer_core::answers::ReplayAnswers;
use triphammer_core::clock::Elapsed;
use triphammer_core::event::Note;
use triphammer_core::spec::Length;
use triphammer_core::stats::{Times, rate, share};
use triphammer_core::value::Timestamp;
use triphammer_engine::{RunEnd, RunEnding};
use triphammer_settings::Setting;
use triphammer_settings::command::JobKind;
use triphammer_statistics::compare::Better;

use super::another::AnotherRun;
use super::at_end::{AT_END, DeclaredFigure};
use super::audit::{Audit, ClientSum};
use super::availability::{Availability, ViolatedIdentity};
use super::bottleneck::{BottleneckVerdict, LimitFigures};
use super::document::{
    ClientCost, Durations, ErrorFigure, FORMAT, FailureShare, Figures, PrimaryMetricFigure, Remark,
    RoundTrips, RunResult, SecondsAtOnce, ThreadCpu,
};
use super::elasticity::Elasticity;
use super::facts::{DatabaseCount, RunFacts};
use super::figures::Edges;
use super::hosts::HostShare;
use super::load::{Arrivals, Efficiency, SlowTransaction};
use super::logins::Logins;
use super::nodes;
use super::observed::Observed;
use super::queries::{QueriesResult, StepOutcome};
use super::query_streams::QueryStreams;
use super::steadiness::Steadiness;
use super::time_parts::TransactionTime;
use super::transaction_time::SourceFigures;
use super::verification::{ClientCount, OTHER_RUN, Obstacle, Verdict, Verification};
use super::warnings;
use crate::doctor::SetupFact;
use crate::document::JobDocument as _;
use crate::ending::Ending;
use crate::energy::{Energy, EnergyInput, EnergyReadings};
use crate::measure::{self, Measure};
use crate::parts::{ServerTransactions, SessionCounts, StatementFigures, Status};
use crate::price::Price;
use crate::redacted::mask_secrets;

impl RunResult {
    /// Computes the result of a run: a pure function.
    ///
    /// # Panics
    /// When `end` and `facts` differ in the number of transaction types.
    #[must_use]
    pub fn new(facts: &RunFacts, end: &RunEnd) -> Self {
        let mut result = Self::unjudged(facts, end, Computed::new(facts, end));
        result.price = facts.price.as_ref().map(|list| Price::new(list, &result.measured_rate()));
        // The energy of a host is that of both runs that take place on it at once.
        let own = facts.energy.as_ref().filter(|_| facts.spec.pacing.half.is_none());
        result.energy = own.map(|read| energy(read, end, &result));
        result.warnings = warnings::of(&result, facts);
        result.judged()
    }

    /// The result without warnings and judgement.
    fn unjudged(facts: &RunFacts, end: &RunEnd, computed: Computed) -> Self {
        let Computed { durations, window, run, primary_metric, .. } = computed;
        let types = &facts.description.transactions;
        let server_transactions = server_transactions(facts, &durations);
        let query_streams = query_streams(facts, durations.window_s, primary_metric.value);
        let availability = Availability::new(facts, end);
        let is_whole = end.ending == RunEnding::Complete;
        let started_at = rfc3339(end.started_at);
        let tpm_server = server_transactions.as_ref().map(|t| rate(t.count, t.seconds, 60));
        let tpm_ratio = tpm_ratio(tpm_server.unwrap_or(window.total.per_minute), &primary_metric);
        let another = AnotherRun::new(facts, &started_at, primary_metric.value, is_whole);
        Self {
            format: FORMAT,
            job: facts.job,
            kind: JobKind::Run,
            tool: facts.tool.clone(),
            label: facts.label.clone(),
            status: status(end, &availability),
            ending: Ending::default(),
            started_at: rfc3339(end.started_at),
            durations,
            efficiency: Efficiency::of(facts, &primary_metric),
            primary_metric,
            queries: facts.queries.clone(),
            query_streams,
            steadiness: Steadiness::new(facts, end),
            elasticity: Elasticity::of(facts, end),
            another,
            at_once: seconds_at_once(facts, end),
            audits: audits(facts, end),
            tpm_client: window.total.per_minute,
            tpm_server,
            tpm_ratio,
            server_transactions,
            failures: failures(&window, &run, facts.spec.max_failures),
            availability,
            violated_identities: violated_identities(facts, end),
            sessions: SessionCounts { lost: end.sessions.0, reconnected: end.sessions.1 },
            logins: Logins::of(end, &durations),
            first_answer: facts.first_answer.clone(),
            client: computed.client,
            figures: DeclaredFigure::all(AT_END, facts, end),
            round_trips: computed.round_trips,
            transaction_time: computed.transaction_time,
            bottleneck: computed.bottleneck,
            hosts: HostShare::all(facts, end),
            nodes: nodes::nodes(facts, end, durations.window_s),
            failovers: nodes::failovers(facts, end),
            observed: computed.observed,
            price: None,
            energy: None,
            arrivals: Arrivals::of(end),
            pool_wait: end.pool_wait.as_ref().map(|waits| Times::of(Some(waits), None)),
            backlog_max: end.backlog_max,
            exemplars: end.exemplars.iter().map(|e| SlowTransaction::of(facts, e)).collect(),
            window,
            slices: facts.slicer.slices(types, end.window),
            run,
            statements: facts.statements.iter().map(|t| StatementFigures::of(t, types)).collect(),
            replay: facts.replay.clone().map(masked_answers),
            statement_plans: facts.statement_plans.clone(),
            requirements: Vec::new(),
            errors: errors(facts, end),
            warnings: Vec::new(),
            notes: facts.notes.iter().chain(&end.notes).map(Remark::of).collect(),
            workload: facts.workload.clone(),
            spec: facts.spec.clone(),
            settings: facts.settings.iter().map(masked).collect(),
            target: facts.target.clone(),
            server: facts.server.clone(),
            schema: facts.schema.clone(),
            state: facts.state.clone(),
            setup: facts.setup.iter().map(SetupFact::of).collect(),
            settings_changed: facts.settings_changed.clone(),
            settings_set: facts.settings_set.clone(),
            host: facts.host.clone(),
        }
    }
}

/// What the readings of energy say about the timed window.
fn energy(read: &EnergyReadings, end: &RunEnd, result: &RunResult) -> Energy {
    let ms = |at: Elapsed| u64::try_from(at.duration().as_millis()).unwrap_or(u64::MAX);
    let metric = &result.primary_metric;
    let is_rate = Measure::stored(&metric.per) != Measure::Queries;
    let input = EnergyInput {
        window_ms: [ms(end.window.start), ms(end.window.end)],
        rate: &result.measured_rate(),
        metric: (is_rate && metric.better == Better::Higher).then_some(metric.value),
        nodes: result.nodes.len(),
        client_cpu_share: client_share(&result.bottleneck.figures),
    };
    Energy::new(read, &input)
}

/// The client's share of the CPU time that was used on its host. Of a database in its process it is
/// not known.
fn client_share(limits: &LimitFigures) -> Option<f64> {
    let client = limits.client_cpus.filter(|_| !limits.in_process)?;
    let used = limits.host_cpu_share? * f64::from(limits.host_cpus);
    // Ticks of the host are coarser than the time of a process.
    (used > 0.0).then(|| (client / used).min(1.0))
}

/// The parts of a result from which others are computed.
struct Computed {
    durations: Durations,
    window: Figures,
    run: Figures,
    round_trips: RoundTrips,
    transaction_time: Option<TransactionTime>,
    client: ClientCost,
    primary_metric: PrimaryMetricFigure,
    observed: Option<Observed>,
    bottleneck: BottleneckVerdict,
}

impl Computed {
    fn new(facts: &RunFacts, end: &RunEnd) -> Self {
        let durations = durations(facts, end);
        let types = &facts.description.transactions;
        let window = Figures::new(types, &end.timed, durations.rated_s(), None)
            .with_intervals(&facts.slicer);
        let edges = Edges { started: &end.started, in_flight: &end.in_flight };
        let run = Figures::new(types, &end.run, durations.whole_s, Some(edges));
        let completed = measured(end, run.total.completed);
        let per_transaction = share(end.round_trips, completed);
        let round_trips = RoundTrips { total: end.round_trips, per_transaction };
        let primary_metric = match &facts.queries {
            Some(queries) => primary_metric_of_queries(queries),
            None => primary_metric(facts, end, &durations),
        };
        // Observers see the whole window, a run in slices works in a part of it.
        let worked = durations.worked_s.map_or(1.0, |worked| worked / durations.window_s);
        let per_minute = window.total.per_minute * worked;
        let observed = facts.observed.clone().map(|of| of.per_transaction(per_minute));
        let limits = LimitFigures::new(facts, end, durations.rated_s(), per_transaction);
        let evidence = Measure::from(facts.description.primary_metric.measure).evidence();
        let bottleneck = BottleneckVerdict::new(limits, evidence).explained(observed.as_ref());
        let cpus = bottleneck.figures.client_cpus;
        let client = client_cost(end, cpus, &durations, &window, completed);
        let of_time = SourceFigures {
            limits: &bottleneck.figures,
            client: &client,
            observed: observed.as_ref(),
            durations: &durations,
            traffic: end.gauges.traffic,
            transport: &facts.server.transport,
        };
        let transaction_time = match facts.queries {
            Some(_) => None,
            None => TransactionTime::new(&window, of_time),
        };
        Self {
            durations,
            window,
            run,
            round_trips,
            transaction_time,
            client,
            primary_metric,
            observed,
            bottleneck,
        }
    }
}

impl Remark {
    /// Converts a note for the document.
    #[must_use]
    pub fn of(note: &Note) -> Self {
        Self {
            at_s: note.at.map(|at| at.duration().as_secs_f64()),
            kind: note.kind.clone(),
            text: note.text.clone(),
        }
    }
}

/// A setting without secrets in its value.
fn masked(setting: &Setting) -> Setting {
    Setting { value: mask_secrets(&setting.value), ..setting.clone() }
}

/// The answers of a replay without secrets in its statements and errors.
fn masked_answers(mut answers: ReplayAnswers) -> ReplayAnswers {
    for statement in &mut answers.statements {
        statement.text = mask_secrets(&statement.text);
        for example in &mut statement.examples {
            example.replayed = mask_secrets(&example.replayed);
        }
    }
    answers.digests.titles =
        answers.digests.titles.iter().map(|title| mask_secrets(title)).collect();
    if let Some(first) = &mut answers.first {
        first.text = mask_secrets(&first.text);
    }
    answers
}

/// Formats a timestamp: `2026-05-09T07:29:52Z`.
pub fn rfc3339(timestamp: Timestamp) -> String {
    jiff::Timestamp::from_microsecond(timestamp.0)
        .expect("a clock's date is in the years -9999 to 9999")
        .to_string()
}

/// A run whose database is unavailable at the end, or whose counts contradict each other, has
/// failed: it is not a measurement.
fn status(end: &RunEnd, availability: &Availability) -> Status {
    match end.ending {
        _ if !end.violations.is_empty() => Status::Failed,
        RunEnding::Complete if availability.is_gone() => Status::Failed,
        RunEnding::Complete => Status::Complete,
        RunEnding::Stopped => Status::Interrupted,
        RunEnding::Aborted => Status::Aborted,
        RunEnding::UsersEnded => Status::Failed,
    }
}

fn query_streams(facts: &RunFacts, window_s: f64, primary_metric: f64) -> Option<QueryStreams> {
    let measure = Measure::from(facts.description.primary_metric.measure);
    let taken = facts.query_streams.as_ref()?;
    let rate = |count, seconds| measure.value(count, seconds);
    Some(QueryStreams::new(taken, window_s).with_baseline(taken, rate, primary_metric))
}

fn durations(facts: &RunFacts, end: &RunEnd) -> Durations {
    let seconds = |elapsed: Elapsed| elapsed.duration().as_secs_f64();
    Durations {
        rampup_s: seconds(end.window.start.min(end.ended)),
        window_s: end.window.seconds(),
        window_asked_s: match facts.spec.length {
            Length::Time(_) if ends_by_interval(facts) && end.ending == RunEnding::Complete => None,
            Length::Time(asked) => Some(asked.as_secs_f64()),
            Length::Transactions(_) => None,
        },
        worked_s: worked_s(facts, end),
        whole_s: seconds(if end.window.end > end.window.start {
            end.ended.max(end.window.end)
        } else {
            end.ended
        }),
    }
}

/// Whether the window may end before its time: by its interval, or by that of the pair of which the run
/// is half.
fn ends_by_interval(facts: &RunFacts) -> bool {
    let half = facts.spec.pacing.half;
    facts.until_ci.is_some() || half.is_some_and(|half| half.looks_most.is_some())
}

/// The time of the window in which a half of a pair worked; `None` if it worked all the time.
fn worked_s(facts: &RunFacts, end: &RunEnd) -> Option<f64> {
    let half = facts.spec.pacing.half?;
    let nanoseconds = half.worked(end.window.end).since(half.worked(end.window.start));
    let worked = Elapsed(nanoseconds).duration().as_secs_f64();
    (worked < end.window.seconds()).then_some(worked)
}

/// The seconds of a half of a pair, up to the end of its window.
fn seconds_at_once(facts: &RunFacts, end: &RunEnd) -> Option<SecondsAtOnce> {
    facts.spec.pacing.half?;
    let seconds = usize::try_from(end.window.end.second()).unwrap_or(usize::MAX);
    let counts = facts.primary_metric_seconds.iter().take(seconds).copied().collect();
    Some(SecondsAtOnce { counts })
}

/// The primary metric of a finite set of queries, which the database does not count.
fn primary_metric_of_queries(queries: &QueriesResult) -> PrimaryMetricFigure {
    let primary = queries.primary();
    let nothing = ClientCount { committed: 0, indeterminate: 0, in_flight: 0 };
    let answered = queries.steps.iter().filter(|step| step.outcome == StepOutcome::Answered);
    PrimaryMetricFigure {
        name: primary.name.clone(),
        meaning: primary.meaning.clone(),
        value: primary.value.unwrap_or(0.0),
        unavailable: primary.reason.clone(),
        per: Measure::Queries.per(),
        better: primary.better,
        count: answered.filter(|step| step.is_query()).count() as u64,
        verification: Verification::new(
            nothing,
            DatabaseCount::default(),
            Some(Obstacle::NoStatement),
        ),
    }
}

fn primary_metric(facts: &RunFacts, end: &RunEnd, durations: &Durations) -> PrimaryMetricFigure {
    let definition = &facts.description.primary_metric;
    let counted = |read: &dyn Fn(usize) -> u64| definition.counted.iter().map(|t| read(*t)).sum();
    let measure = Measure::from(definition.measure);
    let count = measure::counted(definition, &end.timed);
    let client = ClientCount {
        committed: counted(&|t| end.run[t].counts.committed),
        indeterminate: counted(&|t| end.run[t].counts.indeterminate),
        in_flight: counted(&|t| end.in_flight[t]),
    };
    let obstacle = match definition.database_count {
        None => Some(Obstacle::NoStatement),
        Some(_) if !is_whole(end) => Some(Obstacle::CountsMissing),
        Some(_) if is_shared(facts) => Some(Obstacle::OtherRun),
        Some(_) if end.hosts.iter().any(|host| host.loss.is_some()) => Some(Obstacle::HostLost),
        Some(_) => None,
    };
    let mut verification = Verification::new(client, facts.database_count, obstacle);
    if verification.is_violated() && has_several_primaries(facts) {
        (verification.verdict, verification.words) = (Verdict::NotCounted, ONE_OF_SEVERAL.into());
    }
    PrimaryMetricFigure {
        name: definition.name.to_string(),
        meaning: definition.meaning.to_string(),
        value: measure.value(count, durations.rated_s()),
        unavailable: None,
        per: measure.per(),
        better: measure.better(),
        count,
        verification,
    }
}

/// Why a count that differs proves nothing where each of several nodes may have rows that the others do not have.
const ONE_OF_SEVERAL: &str = "several nodes accept writes, and only one of them was asked";

/// Whether another run changed the same data at the same time.
fn is_shared(facts: &RunFacts) -> bool {
    facts.spec.pacing.half.is_some_and(|half| half.same_target)
}

fn has_several_primaries(facts: &RunFacts) -> bool {
    facts.nodes.iter().filter(|node| node.status.is_writable == Some(true)).count() > 1
}

/// Whether the client's counts are complete: every worker thread returned them.
fn is_whole(end: &RunEnd) -> bool {
    end.notes.iter().all(|note| note.kind != warnings::WORKER_LOST)
}

/// Whether they are, and no host was lost with what it did last.
fn is_known(end: &RunEnd) -> bool {
    is_whole(end) && end.hosts.iter().all(|host| host.loss.is_none())
}

fn audits(facts: &RunFacts, end: &RunEnd) -> Vec<Audit> {
    facts
        .audits
        .iter()
        .map(|(definition, read)| {
            let client = ClientSum::of(definition.terms.iter().map(|term| {
                let index = term.transaction;
                (term, &end.run[index].counts, end.in_flight[index])
            }));
            let mut audit = Audit::new(definition, is_known(end).then_some(client), *read);
            if audit.verdict == Verdict::Violated && has_several_primaries(facts) {
                (audit.verdict, audit.words) = (Verdict::NotCounted, ONE_OF_SEVERAL.into());
            }
            if is_shared(facts) {
                (audit.verdict, audit.words) = (Verdict::NotCounted, OTHER_RUN.into());
            }
            audit
        })
        .collect()
}

fn violated_identities(facts: &RunFacts, end: &RunEnd) -> Vec<ViolatedIdentity> {
    let name = |index: usize| facts.description.transactions[index].name.to_string();
    let violated = end.violations.iter().map(|violation| ViolatedIdentity {
        identity: violation.identity.to_string(),
        transaction: violation.transaction.map(name),
        left: violation.left,
        right: violation.right,
    });
    violated.collect()
}

/// Increase of the counter; `None` if it was not read twice, or decreased because the server
/// restarted.
fn server_transactions(facts: &RunFacts, durations: &Durations) -> Option<ServerTransactions> {
    let span = &facts.server_transactions;
    let count = span.end?.checked_sub(span.start?)?;
    // A run that ends in its ramp-up has a window without length, but the readings take time.
    let has_window = span.seconds > 0.0 && durations.window_s > 0.0;
    // A server that two runs use at once counts those of both, in whichever of its databases.
    let is_own = facts.spec.pacing.half.is_none();
    (has_window && is_own).then_some(ServerTransactions { count, seconds: span.seconds })
}

fn failures(window: &Figures, run: &Figures, limit: f64) -> FailureShare {
    let total = if window.total.ended > 0 { &window.total } else { &run.total };
    let share = share(total.failed + total.indeterminate + total.unread, total.ended);
    FailureShare { share, limit, above_limit: share > limit }
}

#[expect(clippy::cast_precision_loss, reason = "nanoseconds of CPU time of a run")]
fn client_cost(
    end: &RunEnd,
    process_cpus: Option<f64>,
    durations: &Durations,
    window: &Figures,
    completed: u64,
) -> ClientCost {
    let threads: Vec<ThreadCpu> = (0..)
        .zip(&end.worker_cpu_ns)
        .map(|(thread, ns)| {
            let cpu_s = *ns as f64 / 1e9;
            let share = if durations.whole_s > 0.0 { cpu_s / durations.whole_s } else { 0.0 };
            ThreadCpu { thread, cpu_s, share }
        })
        .collect();
    let total_ns: u64 = end.worker_cpu_ns.iter().sum();
    let in_window = window.total.completed;
    let process_cpus = process_cpus.filter(|_| in_window > 0);
    let of_threads_us = share(total_ns, completed) / 1000.0;
    let of_process_us = process_cpus.map(|cpus| cpus * durations.window_s * 1e6 / in_window as f64);
    ClientCost {
        cpu_s: total_ns as f64 / 1e9,
        cpu_us_per_transaction: of_process_us.unwrap_or(of_threads_us),
        threads_cpu_us_per_transaction: of_threads_us,
        process_cpus,
        busiest_share: threads.iter().map(|thread| thread.share).fold(0.0, f64::max),
        threads,
    }
}

/// Of the transactions completed in the run, those whose round trips and CPU time are known: hosts
/// report these only at their end, which a lost one does not reach.
fn measured(end: &RunEnd, completed: u64) -> u64 {
    let lost = end.hosts.iter().filter(|host| host.end.is_none());
    completed.saturating_sub(lost.map(|host| host.completed_in_run).sum())
}

fn errors(facts: &RunFacts, end: &RunEnd) -> Vec<ErrorFigure> {
    end.errors
        .iter()
        .map(|sample| ErrorFigure {
            transaction: facts.description.transactions[sample.transaction].name.to_string(),
            class: sample.class,
            message: mask_secrets(&sample.message),
            count: sample.count,
        })
        .collect()
}

/// Transactions per minute for each of the primary metric; `None` unless that is another rate per minute.
fn tpm_ratio(tpm: f64, primary: &PrimaryMetricFigure) -> Option<f64> {
    let is_rate = primary.per == "minute" && primary.name != "TPM";
    (is_rate && primary.unavailable.is_none() && primary.value > 0.0).then(|| tpm / primary.value)
}
