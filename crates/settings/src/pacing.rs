//! Resolves the load model of a run and its settings.

use std::path::Path;

use triphammer_core::SpecError;
use triphammer_core::pace::{Load, RateStep, read_changes, read_steps};
use triphammer_core::small_file::{SETTINGS_BYTES_MAX, read_text};
use triphammer_core::spec::{BACKLOG_MAX, Pacing, SESSIONS_MAX, Sessions, TERMINALS_MAX};

use crate::changes::changes;
use crate::{RunDefaults, Settings};

/// Default maximum of sessions in a pool: servers allow about a hundred by default.
const POOL_MAX: u32 = 64;

/// Resolves the load model, the number of virtual users, and how they are paced.
///
/// # Errors
/// When a value is invalid, does not apply to the load model, or names a file that is not a list of
/// steps.
pub(crate) fn pacing(
    settings: &mut Settings,
    given: &RunDefaults<'_>,
) -> Result<(Load, u32, Pacing), SpecError> {
    let load: Load = settings.parse("load")?;
    let refuse = |names: &[&str], settings: &Settings, why: &str| {
        let given = names.iter().find(|name| settings.get(name).is_some());
        given.map_or(Ok(()), |name| {
            Err(SpecError::new(format!(
                "--{name} applies only to {why}; this load is {}",
                load.name()
            )))
        })
    };
    let mut pacing = Pacing { changes: changes(settings)?, ..Pacing::default() };
    if load.is_open() {
        pacing.steps = steps(&load, settings)?;
        pacing.late = settings.parse("late")?;
        let backlog = Pacing::default_backlog(&load, &pacing.steps, &pacing.changes);
        pacing.backlog = settings.count_or("backlog", BACKLOG_MAX, || backlog)?;
    } else {
        refuse(&["late", "backlog"], settings, "a load by rate, ramp or steps")?;
    }
    let users = if load == Load::Keyed {
        refuse(
            &["vus"],
            settings,
            "loads without keying and thinking times; use --terminals and --sessions",
        )?;
        let terminals = given.cycle.map_or(1, |cycle| cycle.terminals);
        let users = settings
            .count_or("terminals", TERMINALS_MAX, || given.scale.saturating_mul(terminals))?;
        let few = if given.capabilities.one_writer { 1 } else { users.clamp(1, POOL_MAX) };
        pacing.sessions =
            settings.read_or("sessions", parse_sessions, show_sessions, || Sessions::Pool(few))?;
        pacing.login_delay = settings.duration("login-delay")?;
        users
    } else {
        refuse(&["terminals", "sessions", "login-delay"], settings, "--load keyed")?;
        let few = match (&load, given.recording) {
            // As many as worked at the same time, with the recorded times or without.
            (_, Some(recording)) => recording.sessions,
            (Load::Replay(_), None) => return Err(no_recording()),
            _ if given.capabilities.one_writer => 1,
            _ => given.scale.clamp(1, 10),
        };
        settings.count_or("vus", SESSIONS_MAX, || few)?
    };
    Ok((load, users, pacing))
}

fn no_recording() -> SpecError {
    let message = "--load replay:FILE needs the workload of its recording: omit -w";
    SpecError::new(message).about("load")
}

fn steps(load: &Load, settings: &Settings) -> Result<Vec<RateStep>, SpecError> {
    let file = match load {
        Load::Changes(text) => return read_changes(text).map_err(SpecError::new),
        Load::Steps(file) => file,
        _ => return Ok(Vec::new()),
    };
    if settings.of_client() {
        let message = "the server does not read files of its host for clients, so steps:FILE works \
                       only on the command line; use ramp or rate";
        return Err(SpecError::new(message).about("load"));
    }
    let text = read_text(Path::new(file), SETTINGS_BYTES_MAX)
        .map_err(|error| SpecError::new(format!("cannot read the steps file {file}: {error}")))?;
    read_steps(&text).map_err(|why| SpecError::new(format!("steps file {file}, {why}")))
}

fn parse_sessions(text: &str) -> Result<Sessions, String> {
    match text.trim() {
        "own" => Ok(Sessions::Own),
        number => number.parse().map(Sessions::Pool).map_err(|_| {
            format!("invalid number of sessions `{text}`: expected a number or `own`")
        }),
    }
}

fn show_sessions(sessions: &Sessions) -> String {
    match sessions {
        Sessions::Own => "own".to_owned(),
        Sessions::Pool(sessions) => sessions.to_string(),
    }
}
