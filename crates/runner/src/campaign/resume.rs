//! What a campaign leaves in the store to go on with: everything that was said, so that the same settings
//! come out of it. No secret is among it: the target is stored without its password, which is asked for
//! or read again.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::result::{JobKind, RunResult, mask_secrets};
use crate::settings::{Command, Settings, Source};
use crate::store::{JobFilter, JobId, JobStatus, Store, StoreError};

/// Settings that may be said anew when a campaign goes on.
const SAID_ANEW: [&str; 12] = [
    "target",
    "other",
    "ask-password",
    "password-file",
    "connect-timeout",
    "store",
    "json",
    "show-spec",
    "resume",
    "format",
    "fail-if-slower",
    "fail-if-inconclusive",
];
/// Those of them that are stored with it nevertheless, and hold when nothing is said.
const STORED_TOO: [&str; 4] =
    ["connect-timeout", "format", "fail-if-slower", "fail-if-inconclusive"];

/// What is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// Version of this shape.
    format: u32,
    /// The folder in which it began: files are named from there.
    folder: String,
    /// The target, without its password; `None` for the embedded default.
    target: Option<String>,
    /// The second target of a comparison.
    #[serde(default)]
    other: Option<String>,
    /// Everything else that was said.
    said: Vec<Said>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Said {
    name: String,
    value: String,
    source: String,
}

impl Plan {
    /// Of what was said.
    pub fn of(settings: &Settings) -> Self {
        let said = settings
            .all_said()
            .filter(|(name, ..)| !SAID_ANEW.contains(name) || STORED_TOO.contains(name))
            .filter(|(name, ..)| *name != "job-file")
            .map(|(name, value, source)| Said {
                name: name.to_owned(),
                value: mask_secrets(value),
                source: source.to_string(),
            })
            .collect();
        let [target, other] = TARGETS.map(|name| settings.said(name).map(bare));
        Self { format: 1, folder: folder(), target, other, said }
    }

    /// The target that was said under this name.
    fn target(&self, name: &str) -> Option<&String> {
        if name == "other" { self.other.as_ref() } else { self.target.as_ref() }
    }
}

/// The settings that name a database.
const TARGETS: [&str; 2] = ["target", "other"];

/// A target without its password.
fn bare(url: &str) -> String {
    mask_secrets(url).replace(":***@", "@")
}

fn folder() -> String {
    std::env::current_dir().map_or_else(|_| String::new(), |folder| folder.display().to_string())
}

/// A job to go on with.
#[derive(Clone, Debug)]
pub struct Resumed {
    /// Its number.
    pub job: JobId,
    /// What was said when it began, and what is said now about the way to the target.
    pub settings: Settings,
}

/// Finds the job that `--resume` names (a number, or `last`), and lays what was said then under what is
/// said now.
///
/// # Errors
/// When there is none of this command, it is complete or goes on, or something is said now that
/// would change it.
pub fn resume(store: &Store, now: &Settings) -> Result<Option<Resumed>, Failure> {
    let Some(name) = now.said("resume") else { return Ok(None) };
    let kind = kind(now.command());
    let job = find_job(store, name, kind)?;
    let stored = store.load(job).map_err(refuse)?;
    let command = kind.name();
    if stored.row.kind != kind {
        let is = stored.row.kind.name();
        return Err(Failure::refuse(format!("job {job} is a {is}, no {command}")));
    }
    match stored.row.status {
        JobStatus::Complete => {
            let message = format!("job {job} is complete; `triphammer report {job}` shows it");
            return Err(Failure::refuse(message));
        }
        JobStatus::Running => return Err(refuse(StoreError::Running { job: job.0 })),
        JobStatus::Interrupted | JobStatus::Aborted | JobStatus::Failed | JobStatus::Lost => {}
    }
    let plan: Plan = stored
        .plan
        .and_then(|plan| serde_json::from_value(plan).ok())
        .ok_or_else(|| Failure::refuse(format!("job {job} holds no plan to go on with")))?;
    let settings = lay(now, &plan, job)?;
    Ok(Some(Resumed { job, settings }))
}

fn kind(command: Command) -> JobKind {
    match command {
        Command::Capacity => JobKind::Capacity,
        Command::Compare => JobKind::Compare,
        _ => JobKind::Profile,
    }
}

/// The job of that number, or the `last` of a kind.
///
/// # Errors
/// When the name is neither, or there is none.
pub(crate) fn find_job(store: &Store, name: &str, kind: JobKind) -> Result<JobId, Failure> {
    if name != "last" {
        return name.parse().map(JobId).map_err(|_| {
            Failure::refuse(format!("`{name}` is no job number; `triphammer jobs` lists them"))
        });
    }
    let newest = JobFilter { kind: Some(kind), limit: Some(1), ..JobFilter::default() };
    let jobs = store.jobs(&newest).map_err(refuse)?;
    let none = || Failure::refuse(format!("no {} is stored yet", kind.name()));
    jobs.first().map(|job| job.id).ok_or_else(none)
}

/// The settings to go on with.
fn lay(now: &Settings, plan: &Plan, job: JobId) -> Result<Settings, Failure> {
    let mut settings = Settings::new(now.command());
    for (name, value, source) in now.all_said() {
        if SAID_ANEW.contains(&name) {
            settings.say(name, value, source.clone());
        } else if *source == Source::Flag
            && !plan.said.iter().any(|said| said.name == name && said.value == value)
        {
            return Err(Failure::refuse(format!(
                "--{name} cannot be changed: job {job} goes on as it began; leave it out, or begin \
                 another"
            )));
        }
    }
    in_the_same_place(now, plan, job)?;
    for name in TARGETS {
        if let Some(target) = plan.target(name) {
            settings.say(name, target, Source::Flag);
        }
    }
    for said in &plan.said {
        settings.say(&said.name, &said.value, source(&said.source));
    }
    Ok(settings)
}

/// A target said anew must be the one of the job, and a file must be named from the same folder.
fn in_the_same_place(now: &Settings, plan: &Plan, job: JobId) -> Result<(), Failure> {
    for name in TARGETS {
        let planned = plan.target(name);
        if let Some(said) = now.said(name).map(bare)
            && planned != Some(&said)
        {
            let was = planned.map_or("the embedded default", String::as_str);
            return Err(Failure::refuse(format!("job {job} is of {was}, not of {said}")));
        }
        let relative = match planned.map(|url| url.strip_prefix("sqlite:")) {
            None => name == "target",
            Some(file) => file.is_some_and(|file| Path::new(file).is_relative()),
        };
        if relative && plan.folder != folder() {
            let folder = &plan.folder;
            return Err(Failure::refuse(format!(
                "job {job} is of a file in {folder}: give the command in that folder"
            )));
        }
    }
    Ok(())
}

/// The source that a text was made from.
fn source(text: &str) -> Source {
    match text {
        "command line" => Source::Flag,
        "environment" => Source::Environment,
        _ => Source::JobFile(text.strip_prefix("job file ").unwrap_or(text).to_owned()),
    }
}

/// The complete runs of a job, by step.
pub(super) fn complete_runs(
    store: &Store,
    job: JobId,
) -> Result<BTreeMap<u32, RunResult>, Failure> {
    let children = JobFilter { parent: Some(job), ..JobFilter::default() };
    let mut runs = BTreeMap::new();
    for row in store.jobs(&children).map_err(refuse)? {
        let (JobStatus::Complete, Some(step)) = (row.status, row.step) else { continue };
        if let Some(result) = store.load(row.id).and_then(|run| run.result()).map_err(refuse)? {
            runs.entry(step).or_insert(result);
        }
    }
    Ok(runs)
}

fn refuse(error: StoreError) -> Failure {
    Failure::refuse(error.to_string())
}
