//! Resolves the sides of `compare A B`: job numbers and labels.

use triphammer_core::session::ServerInfo;
use triphammer_document::compare::{
    Built, ComparisonResult, Profiled, Run, Seconds, price_list_of, seconds,
};
use triphammer_document::parts::{Tool, WorkloadFacts, counted_of_user};
use triphammer_document::price::PriceList;
use triphammer_document::profile::{PrimaryMetricName, ProfileResult};
use triphammer_document::result::RunResult;
use triphammer_document::why::{Observations, Waits};
use triphammer_document::{Document, JobId};
use triphammer_observe::why::of_window;
use triphammer_settings::command::JobKind;
use triphammer_settings::failure::Failure;
use triphammer_store::{JobFilter, JobRow, JobStatus, ReadAt, Store, StoreError, StoredJob};
use triphammer_workloads::describe;

/// One side of a comparison, loaded from the store.
#[derive(Debug)]
enum StoredSide {
    Runs(Vec<Run>),
    Profile(Box<Profiled>),
    Build(Box<Built>),
}

impl StoredSide {
    /// The price list of its runs; `None` if one has none, or another one than the others.
    fn price_list(&self) -> Option<PriceList> {
        match self {
            Self::Runs(runs) => price_list_of(runs),
            Self::Profile(profiled) => Some(profiled.result.price.as_ref()?.list.clone()),
            Self::Build(_) => None,
        }
    }

    const fn what(&self) -> &'static str {
        match self {
            Self::Runs(_) => "a run",
            Self::Profile(_) => "a profile",
            Self::Build(_) => "a build",
        }
    }

    /// Numbers of its jobs.
    fn jobs(&self) -> Vec<i64> {
        match self {
            Self::Runs(runs) => runs.iter().filter_map(|run| run.result.job).collect(),
            Self::Profile(profiled) => profiled.result.job.into_iter().collect(),
            Self::Build(built) => vec![built.job],
        }
    }
}

/// Compares two sides, each given as a job number, `last`, or a label (all complete runs with that
/// label). `prices` are price lists that replace those of the runs.
///
/// # Errors
/// When a side cannot be compared, the sides differ in kind or workload, or only one of them has a
/// price list although one was given.
pub fn stored(
    store: &Store,
    [a, b]: [&str; 2],
    margin: f64,
    prices: [Option<PriceList>; 2],
) -> Result<ComparisonResult, Failure> {
    let (name_a, chosen_a) = choose(store, a)?;
    let (name_b, chosen_b) = choose(store, b)?;
    let names = [name_a.as_str(), name_b.as_str()];
    let jobs_a = chosen_a.jobs();
    if let Some(job) = chosen_b.jobs().into_iter().find(|job| jobs_a.contains(job)) {
        return Err(Failure::refuse(format!(
            "job {job} is on both sides: a comparison with itself shows nothing; to measure the \
             noise, compare a target with itself in pairs (`compare --ab URL URL`)"
        )));
    }
    let lists = lists(prices, [chosen_a.price_list(), chosen_b.price_list()])?;
    let compared = compared(store, names, chosen_a, chosen_b, margin)?;
    Ok(match lists {
        Some(lists) => compared.priced(lists),
        None => compared,
    })
}

/// The price lists of both sides if one was given: that one, or else their own.
fn lists(
    given: [Option<PriceList>; 2],
    own: [Option<PriceList>; 2],
) -> Result<Option<[PriceList; 2]>, Failure> {
    if given.iter().all(Option::is_none) {
        return Ok(None);
    }
    let ([given_a, given_b], [own_a, own_b]) = (given, own);
    match (given_a.or(own_a), given_b.or(own_b)) {
        (Some(a), Some(b)) => Ok(Some([a, b])),
        (a, _) => {
            let (side, flag) = if a.is_none() { ("A", "a") } else { ("B", "b") };
            Err(Failure::refuse(format!(
                "{side} has no price list: add --{flag} price=FILE, or --price FILE for both sides"
            )))
        }
    }
}

fn compared(
    store: &Store,
    names: [&str; 2],
    a: StoredSide,
    b: StoredSide,
    margin: f64,
) -> Result<ComparisonResult, Failure> {
    match (a, b) {
        (StoredSide::Runs(mut a), StoredSide::Runs(mut b)) => {
            of_one_workload(&names, [&a[0].result.workload.name, &b[0].result.workload.name])?;
            of_one_metric(
                &names,
                [&a[0], &b[0]].map(|run| PrimaryMetricName::of(&run.result.primary_metric)),
            )?;
            let mut waits = None;
            if let ([a], [b]) = (a.as_mut_slice(), b.as_mut_slice()) {
                waits = read_waits(store, &a.result, &b.result)?;
                for run in [a, b] {
                    run.seconds = Some(read_seconds(store, &run.result)?);
                }
            }
            Ok(ComparisonResult::of_runs(names, &a, &b, margin).with_waits(waits))
        }
        (StoredSide::Profile(a), StoredSide::Profile(b)) => {
            of_one_workload(&names, [&a.result.workload.name, &b.result.workload.name])?;
            of_one_metric(
                &names,
                [a.result.primary_metric.clone(), b.result.primary_metric.clone()],
            )?;
            Ok(ComparisonResult::of_profiles(names, &a, &b, margin))
        }
        (StoredSide::Build(a), StoredSide::Build(b)) => {
            of_one_workload(&names, [&a.workload.name, &b.workload.name])?;
            Ok(ComparisonResult::of_builds(names, &a, &b, margin))
        }
        (a, b) => Err(mismatch(&names, a.what(), b.what())),
    }
}

fn mismatch(names: &[&str; 2], a: &str, b: &str) -> Failure {
    let [of_a, of_b] = names;
    Failure::refuse(format!("{of_a} is {a} and {of_b} is {b}: they cannot be compared"))
}

fn of_one_workload(names: &[&str; 2], workloads: [&str; 2]) -> Result<(), Failure> {
    if workloads[0] == workloads[1] {
        return Ok(());
    }
    Err(mismatch(names, workloads[0], workloads[1]))
}

/// Runs of one workload can have different primary metrics.
fn of_one_metric(names: &[&str; 2], metrics: [PrimaryMetricName; 2]) -> Result<(), Failure> {
    let [a, b] = &metrics;
    if a.compares_with(b) {
        return Ok(());
    }
    let per = |metric: &PrimaryMetricName| format!("about {} per {}", metric.name, metric.per);
    Err(mismatch(names, &per(a), &per(b)))
}

fn choose(store: &Store, text: &str) -> Result<(String, StoredSide), Failure> {
    let job = match text {
        "last" => {
            let is_complete = |job: &JobRow| job.status == JobStatus::Complete;
            Some(store.find("last", &[JobKind::Run, JobKind::Profile], is_complete)?)
        }
        text => text.parse().ok().map(JobId),
    };
    match job {
        Some(job) => Ok((format!("job {job}"), of_job(store, job)?)),
        None => Ok((format!("“{text}”"), StoredSide::Runs(of_label(store, text)?))),
    }
}

fn of_job(store: &Store, job: JobId) -> Result<StoredSide, Failure> {
    let stored = store.load(job).map_err(refuse)?;
    let row = &stored.row;
    match row.kind {
        JobKind::Run => {
            let result = whole(&stored)?;
            Ok(StoredSide::Runs(vec![run(store, result)?]))
        }
        JobKind::Profile => {
            let document = stored.document.clone().filter(serde_json::Value::is_object);
            let document = document.ok_or_else(|| no_result(&stored))?;
            let result: ProfileResult = serde_json::from_value(document)
                .map_err(|error| Failure::refuse(format!("job {job} cannot be read: {error}")))?;
            let runs = result.levels.iter().flat_map(|level| &level.runs);
            let first = runs.filter_map(|run| run.job).min().map(JobId);
            let server_settings = first.map(|job| settings(store, job)).transpose()?;
            let server_settings = server_settings.unwrap_or_default();
            let run = first.map(|job| store.load(job).and_then(|job| job.result()));
            let run = run.transpose().map_err(refuse)?.flatten();
            let schema = run.map(|run| run.schema).unwrap_or_default();
            Ok(StoredSide::Profile(Box::new(Profiled { result, schema, server_settings })))
        }
        JobKind::Build => Ok(StoredSide::Build(Box::new(build(&stored)?))),
        _ => {
            let kind = row.kind.noun();
            Err(Failure::refuse(format!(
                "job {job} is a {kind}: only runs, profiles, builds and labels of runs can be compared"
            )))
        }
    }
}

/// A complete build that loaded something.
fn build(stored: &StoredJob) -> Result<Built, Failure> {
    let (row, job) = (&stored.row, stored.row.id);
    if row.status != JobStatus::Complete {
        return Err(no_result(stored));
    }
    let document = stored.read_document().map_err(refuse)?;
    let Some(Document::Build(report)) = document else { return Err(no_result(stored)) };
    let report = *report;
    if report.rows == 0 {
        return Err(Failure::refuse(format!(
            "job {job} loaded no rows ({}): there is nothing to compare",
            report.outcome
        )));
    }
    // A build records no server: the scheme of its target names the product.
    let scheme = row.target.as_str().split(':').next().unwrap_or_default().to_owned();
    let server = ServerInfo {
        product: row.server_product.clone().unwrap_or(scheme),
        version: row.server_version.clone().unwrap_or_default(),
        ..ServerInfo::default()
    };
    Ok(Built {
        job: job.0,
        started_at: row.started_at.clone(),
        workload: WorkloadFacts {
            name: row.workload.clone(),
            title: report.workload.clone(),
            version: row.workload_version,
            scale: row.scale,
            scale_unit: row.scale_unit.clone(),
            facts: stored.facts.clone(),
            scripts: Vec::new(),
        },
        target: row.target.clone(),
        server,
        tool: Tool { version: row.tool_version.clone(), ..Tool::this() },
        host: stored.host.clone(),
        report,
    })
}

/// The result of a complete run.
fn whole(stored: &StoredJob) -> Result<RunResult, Failure> {
    if stored.row.status != JobStatus::Complete {
        return Err(no_result(stored));
    }
    stored.result().map_err(refuse)?.ok_or_else(|| no_result(stored))
}

fn no_result(stored: &StoredJob) -> Failure {
    let (job, status) = (stored.row.id, stored.row.status.name());
    Failure::refuse(format!("job {job} is {status}: only complete jobs can be compared"))
}

/// All complete runs with a label, in chronological order.
fn of_label(store: &Store, label: &str) -> Result<Vec<Run>, Failure> {
    let filter = JobFilter {
        kind: Some(JobKind::Run),
        label: Some(label.to_owned()),
        ..JobFilter::default()
    };
    let mut runs = Vec::new();
    for row in store.jobs(&filter).map_err(refuse)?.iter().rev() {
        if row.status == JobStatus::Complete {
            runs.push(run(store, whole(&store.load(row.id).map_err(refuse)?)?)?);
        }
    }
    if runs.is_empty() {
        return Err(Failure::refuse(format!(
            "no complete run has the label “{label}”, and it is not a job number; `triphammer \
             jobs` lists numbers and labels"
        )));
    }
    for run in &runs[1..] {
        of_one_workload(
            &["the first run of it", "another"],
            [&runs[0].result.workload.name, &run.result.workload.name],
        )?;
        of_one_metric(
            &["the first run of it", "another"],
            [&runs[0], run].map(|run| PrimaryMetricName::of(&run.result.primary_metric)),
        )?;
    }
    Ok(runs)
}

fn run(store: &Store, result: RunResult) -> Result<Run, Failure> {
    let server_settings =
        result.job.map(|job| settings(store, JobId(job))).transpose()?.unwrap_or_default();
    Ok(Run { result, server_settings, seconds: None })
}

/// Server settings at the start of a run.
pub(crate) fn settings(store: &Store, job: JobId) -> Result<Vec<(String, String)>, Failure> {
    store.stored_settings(job, ReadAt::Start).map_err(refuse)
}

/// The seconds of the timed window of a stored run; none if it is not stored.
///
/// # Errors
/// When the store cannot be read, or the workload of the run is unknown.
pub fn read_seconds(store: &Store, result: &RunResult) -> Result<Seconds, Failure> {
    let Some(job) = result.job.map(JobId) else { return Ok(Seconds::new()) };
    let rows = store.series(job).map_err(refuse)?;
    let names: Vec<String> = result.window.types.iter().map(|seen| seen.name.clone()).collect();
    let mut metric = describe(&result.workload.name)?.primary_metric.clone();
    if !result.workload.scripts.is_empty() {
        metric.transactions = counted_of_user(&result.workload.facts, &names);
    }
    Ok(seconds(result, &metric, &names, &rows))
}

/// What the sessions of two runs waited for; `None` unless both were observed.
fn read_waits(store: &Store, a: &RunResult, b: &RunResult) -> Result<Option<Waits>, Failure> {
    let of = |result: &RunResult| -> Result<Option<Observations>, Failure> {
        let job = result.job.map(JobId).filter(|_| result.observed.is_some());
        job.map(|job| of_window(store, job, result)).transpose().map_err(refuse)
    };
    let (Some(a), Some(b)) = (of(a)?, of(b)?) else { return Ok(None) };
    Ok(Waits::between(&a, &b))
}

fn refuse(error: StoreError) -> Failure {
    Failure::refuse(error.to_string())
}
