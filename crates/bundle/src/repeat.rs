//! Repeats the job of a bundle: reads from it what was built and run, and judges whether the runs
//! of another day or place give the same figures. The runs themselves are made by the caller.

use triphammer_document::JobId;
use triphammer_document::compare::{ComparisonResult, Difference, Run};

use triphammer_document::result::RunResult;
use triphammer_settings::command::JobKind;
use triphammer_settings::failure::Failure;
use triphammer_statistics::compare::Verdict;
use triphammer_store::{ReadAt, Store};
use triphammer_workloads::describe;

use crate::container::Container;
use crate::job_file::JobFile;
use crate::verify::{Verified, verify_into_store};

/// Fewest runs of a bundle that show how much runs of its host differ.
pub const RUNS_MIN: usize = 5;

/// What is repeated.
#[derive(Debug)]
pub struct Original {
    /// Settings of the build and of the runs.
    pub file: JobFile,
    /// The complete runs of the bundle, in their order.
    pub runs: Vec<Run>,
}

/// Whether a repetition gives the same figures.
#[derive(Clone, Debug, PartialEq)]
pub enum Repetition {
    /// The ratio of the primary metric is 1 within the margin.
    Repeated,
    /// It is not, and its interval excludes 1.
    Differs,
    /// Neither is known, for this reason.
    Unknown(String),
    /// Figures of the two cannot be compared, because of these differences.
    NotComparable(Vec<Difference>),
}

impl Original {
    /// Reads a bundle, which must agree with itself.
    ///
    /// # Errors
    /// When it is not a bundle, does not agree, or has a job that cannot be repeated.
    pub fn read(container: Container) -> Result<Self, Failure> {
        let Verified { found, store, job, runs, .. } = verify_into_store(container, None)?;
        if !found.agrees {
            return Err(Failure::refuse(format!(
                "the bundle does not agree with itself in {} values, so it is not worth repeating: \
                 see `triphammer verify`",
                found.disagreement_count
            )));
        }
        if found.job_kind != JobKind::Run {
            return Err(Failure::refuse(format!(
                "a bundle of a {} cannot be repeated: its job.toml says how to do it by hand; \
                 `repeat` takes bundles of runs",
                found.job_kind.noun()
            )));
        }
        let Some((stored, _)) = job else {
            return Err(Failure::refuse("the bundle has no job"));
        };
        // Not job.toml, which a stranger may have written by hand.
        let file = JobFile::of(&stored)?;
        check_work(&file)?;
        let runs = runs_of(&store, runs)?;
        let Some(first) = runs.first() else {
            return Err(Failure::refuse("the bundle has no complete run"));
        };
        check_version(&first.result)?;
        Ok(Self { file, runs })
    }
}

/// Rejects a workload that is files of another host, which a bundle does not have.
fn check_work(file: &JobFile) -> Result<(), Failure> {
    let Some(name) = file.job.get("workload") else { return Ok(()) };
    let is_in_bundle =
        describe(name).is_ok_and(|of| of.own_work().is_none_or(|work| work.texts.is_some()));
    match is_in_bundle {
        true => Ok(()),
        false => Err(Failure::refuse(format!(
            "the bundle has a run of the workload `{name}`, whose files it does not have: get them, \
             unpack job.toml, and use `triphammer run -f job.toml -w FILE`"
        ))),
    }
}

/// Rejects a workload whose meaning has changed since: runs of two versions cannot be compared.
pub(crate) fn check_version(run: &RunResult) -> Result<(), Failure> {
    let workload = &run.workload;
    let here = describe(&workload.name)?.version;
    if here == workload.version {
        return Ok(());
    }
    Err(Failure::refuse(format!(
        "a repetition could not be compared: the bundle has runs of version {} of the workload {}, and \
         this program has version {here}: repeat it with triphammer {}",
        workload.version, workload.name, run.tool.version
    )))
}

/// The runs with these results, with the settings of the server that the store has of them, and without their seconds.
///
/// # Errors
/// When the store cannot be read.
pub fn runs_of(store: &Store, results: Vec<RunResult>) -> Result<Vec<Run>, Failure> {
    let of = |result: RunResult| {
        let settings = match result.job {
            Some(job) => store.stored_settings(JobId(job), ReadAt::Start)?,
            None => Vec::new(),
        };
        Ok(run(result, settings))
    };
    results.into_iter().map(of).collect()
}

/// A run to compare, by its whole window.
#[must_use]
pub fn run(result: RunResult, server_settings: Vec<(String, String)>) -> Run {
    Run { result, server_settings, seconds: Some(Default::default()) }
}

/// Compares the runs of a bundle with those that repeat them.
#[must_use]
pub fn judge(
    names: [&str; 2],
    a: &[Run],
    b: &[Run],
    margin: f64,
) -> (Repetition, ComparisonResult) {
    let compared = ComparisonResult::of_runs(names, a, b, margin);
    let differs: Vec<Difference> =
        compared.differences.iter().filter(|of| of.must_be_equal).cloned().collect();
    let verdict = match &compared.verdict {
        _ if !differs.is_empty() => Repetition::NotComparable(differs),
        _ if a.iter().chain(b).any(|run| !run.result.ending.good) => Repetition::Unknown(
            "some of the runs are not good: they failed too much, or their counts contradict each \
             other"
                .to_owned(),
        ),
        _ if a.len() < RUNS_MIN => Repetition::Unknown(format!(
            "the bundle has {} of the {RUNS_MIN} runs that would show how much runs of its host \
             differ",
            a.len()
        )),
        Verdict::Equivalent => Repetition::Repeated,
        Verdict::Slower | Verdict::Faster => Repetition::Differs,
        Verdict::Inconclusive { .. } => Repetition::Unknown(
            "the runs show neither that the ratio lies within the margin nor that it lies beyond it"
                .to_owned(),
        ),
    };
    (verdict, compared)
}
