//! `triphammer doctor --prove`: a comparison in pairs whose sides have another value of a setting of
//! this host.

use std::io::IsTerminal;

use triphammer_core::SpecError;
use triphammer_observe::doctor::{PlannedProof, plan, restore_left};
use triphammer_runner::job::{Job, Remembered};
use triphammer_settings::command::{Command, JobKind};
use triphammer_settings::failure::Failure;
use triphammer_settings::handle::Handle;
use triphammer_settings::{Settings, Source, declared, target};

use super::{Terminal, job};
use crate::{Exit, Result, terminal};

/// Settings of `doctor` that are those of the runs.
const OF_RUNS: [&str; 9] =
    ["workload", "duration", "rampup", "vus", "pairs", "margin", "cool-down", "label", "yes"];
/// Those of them that `doctor` has other defaults for than `compare`.
const OWN_DEFAULTS: [&str; 4] = ["duration", "rampup", "pairs", "margin"];

/// Finds the values of both sides, and makes the comparison.
pub fn command(mut settings: Settings) -> Result<Exit> {
    for test in ["cpu-test", "write-test", "host-test"] {
        if settings.switch(test)? {
            let message = format!("--prove and --{test} are two commands: give one of them");
            return Err(SpecError::new(message).about(test).into());
        }
    }
    if settings.get("target").is_none() {
        let message = "--prove needs the target of a database with a built workload, on this host";
        return Err(SpecError::new(message).about("prove").into());
    }
    restore_left(&settings)?.iter().for_each(|restored| terminal::note(restored));
    let secrets = Remembered::new(&Terminal);
    let planned = planned(&mut settings, &secrets)?;
    terminal::note(&format!("{}; what follows are runs in pairs", planned.words));
    let compare = of_comparison(&mut settings, &planned)?;
    job::command(JobKind::Compare, compare)
}

fn planned(settings: &mut Settings, secrets: &Remembered<'_>) -> Result<PlannedProof> {
    let asked = settings.get("prove").unwrap_or_default().trim().to_owned();
    let opened = target::open(&mut settings.clone(), None, secrets)?;
    plan(settings, &opened, &asked, Handle::default().cancel())
}

/// The settings of the comparison.
fn of_comparison(settings: &mut Settings, planned: &PlannedProof) -> Result<Settings> {
    let by_doctor = Source::Command(Command::Doctor);
    let mut compare = Settings::new(JobKind::Compare);
    compare.set("ab", "true", by_doctor.clone());
    compare.set("prove", planned.proof.to_string(), settings.source("prove"));
    for (name, value, source) in settings.all_given() {
        let is_taken = !["prove", "job-file"].contains(&name);
        if is_taken && declared(JobKind::Compare, name).is_some() {
            compare.set(name, value, source.clone());
        }
    }
    for name in OWN_DEFAULTS {
        let value: String = settings.parse(name)?;
        compare.set(name, value, by_doctor.clone());
    }
    Ok(compare)
}

/// Rejects settings of the runs without `--prove`.
///
/// # Errors
/// With the setting.
pub fn refuse_others(settings: &Settings) -> Result<()> {
    let mut given = settings.all_given().filter(|(.., source)| *source == &Source::Flag);
    match given.find(|(name, ..)| OF_RUNS.contains(name)) {
        None => Ok(()),
        Some((name, ..)) => {
            let message = format!("--{name} is about the runs of --prove CHECK: add that");
            Err(SpecError::new(message).about(name).into())
        }
    }
}

/// Asks before a setting of this host is changed, unless `--yes` is given.
///
/// # Errors
/// When the answer is no, or there is nobody to ask.
pub fn confirm(job: &mut Job) -> Result<()> {
    let Some(proof) = job.settings().get("prove").map(str::to_owned) else { return Ok(()) };
    // What is wrong is named before anybody is asked.
    job.validate()?;
    if job.settings_mut().switch("yes")? {
        return Ok(());
    }
    if std::io::stdin().is_terminal() {
        terminal::note(&format!(
            "This changes a setting of this host between the runs, and restores it: {proof}. Type yes \
             to confirm."
        ));
        let mut answer = String::new();
        if std::io::stdin().read_line(&mut answer).is_ok() && answer.trim() == "yes" {
            job.settings_mut().set("yes", "true", Source::Flag);
            return Ok(());
        }
    }
    Err(Failure::refuse(format!("nothing was changed: use --yes to change {proof} on this host")))
}
