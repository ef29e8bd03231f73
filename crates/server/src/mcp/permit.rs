//! What an assistant may start.

use std::sync::Arc;
use std::time::Duration;

use triphammer_settings::command::{Command, JobKind};
use triphammer_settings::{format, parse_time};

use super::Assistant;
use super::arguments::Work;
use crate::activity::{Activities, ActivityState, Form, Preview};
use crate::error::ApiError;

/// Settings with which a command removes what is there.
const DESTROY: [&str; 2] = ["replace", "force"];
/// Time between two looks at an activity.
const LOOK: Duration = Duration::from_secs(1);
/// Time in which a job that was stopped has to end before it is aborted.
const DRAIN: Duration = Duration::from_secs(60);

/// The form of what an assistant asks for.
///
/// # Errors
/// When the command is unknown, or the target is none of the owner's.
pub(super) fn form(assistant: &Assistant, work: Work) -> Result<Form, ApiError> {
    let command = command(&work.command)?;
    for name in std::iter::once(&work.target).chain(&work.other) {
        known(assistant, name)?;
    }
    let Work { target, other, settings, .. } = work;
    Ok(Form { command, target: Some(target), other, settings })
}

/// The command with this name.
///
/// # Errors
/// When none that runs a job has it.
pub(super) fn command(name: &str) -> Result<JobKind, ApiError> {
    Command::of(name).and_then(Command::job).ok_or_else(|| {
        let all = JobKind::ALL.map(JobKind::name).join(", ");
        let message = format!("unknown command `{name}`: expected one of {all}");
        ApiError::invalid(message).about("command")
    })
}

/// Rejects a target that the owner has not configured.
pub(super) fn known(assistant: &Assistant, name: &str) -> Result<(), ApiError> {
    let targets = assistant.app.targets().list();
    if targets.iter().any(|target| target.name == name) {
        return Ok(());
    }
    let error = if targets.is_empty() {
        ApiError::invalid("no target is configured").next(
            "its owner starts `triphammer mcp --targets FILE` with a file as docs/mcp.md describes",
        )
    } else {
        let all: Vec<_> = targets.iter().map(|target| &*target.name).collect();
        let message = format!("there is no target `{name}`: expected one of {}", all.join(", "));
        ApiError::not_found(message)
    };
    Err(error.about("target"))
}

/// Rejects what removes something, unless the owner allows it.
pub(super) fn refuse_destruction(assistant: &Assistant, form: &Form) -> Result<(), ApiError> {
    let is_set = |name: &&str| form.settings.get(*name).is_some_and(|value| value != "false");
    let setting = DESTROY.into_iter().find(is_set);
    let what = match setting {
        _ if assistant.allow_destructive => return Ok(()),
        Some(setting) => format!("`{setting}` removes what is there"),
        None if form.command == JobKind::Drop => "`drop` removes tables".to_owned(),
        None => return Ok(()),
    };
    Err(ApiError::invalid(what)
        .next("only its owner allows that: triphammer mcp --allow-destructive"))
}

/// Rejects a job that is to take longer than the owner allows.
pub(super) fn refuse_long(
    assistant: &Assistant,
    form: &Form,
    preview: &Preview,
) -> Result<(), ApiError> {
    let planned = preview.whole_s.unwrap_or_else(|| {
        let timed = preview.settings.iter().filter(|setting| {
            form.command.drains() && ["rampup", "duration"].contains(&&*setting.name)
        });
        timed
            .filter_map(|setting| parse_time(&setting.value).ok())
            .map(|time| time.as_secs_f64())
            .sum()
    });
    let most = assistant.max_time.as_secs_f64();
    if planned <= most {
        return Ok(());
    }
    let message = format!(
        "it takes up to {}, and the longest time of a job is {} here",
        format::duration(planned),
        format::duration(most)
    );
    Err(ApiError::invalid(message)
        .next("choose a shorter duration, or fewer runs; its owner sets the limit with --max-time"))
}

/// Stops an activity that has run for too long, and aborts it if it does not end.
pub(super) async fn limit(activities: Arc<Activities>, id: u64, most: Duration) {
    let is = |id, wanted: fn(ActivityState) -> bool| {
        activities.activity(id).is_ok_and(|activity| wanted(activity.state))
    };
    while is(id, |state| state == ActivityState::Queued) {
        tokio::time::sleep(LOOK).await;
    }
    for patience in [most, DRAIN] {
        let begun = tokio::time::Instant::now();
        while begun.elapsed() < patience {
            if !is(id, |state| !state.is_over()) {
                return;
            }
            tokio::time::sleep(LOOK).await;
        }
        // The activity may have ended since the last look.
        let _ = activities.stop(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_destroys_is_a_setting() {
        for name in DESTROY {
            let of = |kind: JobKind| triphammer_settings::declared(kind, name).is_some();
            assert!(JobKind::ALL.into_iter().any(of), "{name}");
        }
    }
}
