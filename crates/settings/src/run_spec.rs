//! Resolves settings to the spec of a run.

use std::time::Duration;

use triphammer_core::SpecError;
use triphammer_core::io::Io;
use triphammer_core::pace::{Load, RATE_MAX};
use triphammer_core::session::{Isolation, Pipelining, Protocol};
use triphammer_core::spec::{
    Length, LoginPolicy, RETRIES_MAX, RetryPolicy, RunSpec, THREADS_MAX, TRANSACTIONS_MAX,
    TimeLimits,
};
use triphammer_core::workload::Mode;

use super::layers::Settings;
use super::read::{parse_closeness, parse_share};
use super::run_defaults::RunDefaults;
use crate::DATABASE_DEFAULT;

/// Reads the half-width of the primary metric's interval, relative to its value, at which the
/// window ends.
///
/// # Errors
/// When the value is not a share between 0 and 1.
pub fn until_ci(settings: &mut Settings) -> Result<Option<f64>, SpecError> {
    settings.optional("until-ci", parse_closeness, |share| format!("{}%", share * 100.0), "by time")
}

/// Resolves the spec of a run.
///
/// # Errors
/// When a value is invalid.
pub fn run_spec(settings: &mut Settings, given: RunDefaults<'_>) -> Result<RunSpec, SpecError> {
    let RunDefaults { capabilities, modes, cycle, .. } = given;
    if settings.get("duration").is_some() && settings.get("transactions").is_some() {
        return Err(SpecError::new("--duration and --transactions exclude each other; give one"));
    }
    let (load, users, pacing) = crate::pacing::pacing(settings, &given)?;
    let threads = threads(settings, &given, pacing.sessions.count(users))?;
    let changes = load.changes() || !pacing.changes.is_empty();
    let (rampup, length) = length(settings, &given, &load, changes)?;
    let limits = TimeLimits {
        connect: settings.duration("connect-timeout")?,
        transaction: settings.duration("transaction-timeout")?,
        drain: settings.duration("drain-timeout")?,
        ..TimeLimits::default()
    };
    let io: Io = settings.read("io", str::parse, Io::to_string)?;
    io.check()?;
    let logins = logins(settings)?;
    let attempts = settings.count("retries", RETRIES_MAX)?;
    let spec = RunSpec {
        users,
        threads,
        rampup,
        length,
        mode: settings.read_or(
            "mode",
            |text| parse_mode(text, modes),
            |m| m.name().to_owned(),
            || Mode::default_for(modes, capabilities),
        )?,
        protocol: settings.read_or(
            "protocol",
            str::parse,
            |p: &Protocol| p.name().to_owned(),
            || capabilities.protocols[0],
        )?,
        pipelining: pipelining(settings, given.pipelining)?,
        io,
        isolation: settings.optional(
            "isolation",
            str::parse,
            |level: &Isolation| level.name().to_owned(),
            DATABASE_DEFAULT,
        )?,
        load,
        pacing,
        logins,
        seed: settings.parse("seed")?,
        retry: RetryPolicy { attempts, ..RetryPolicy::default() },
        limits,
        max_failures: settings.read("max-failures", parse_share, |s| format!("{}%", s * 100.0))?,
    };
    spec.validate(capabilities, cycle)?;
    Ok(spec)
}

/// Reads the number of threads for so many sessions.
fn threads(
    settings: &mut Settings,
    given: &RunDefaults<'_>,
    sessions: u32,
) -> Result<u32, SpecError> {
    let RunDefaults { capabilities, cores, .. } = *given;
    let threads = settings.count_or("threads", THREADS_MAX, || {
        if capabilities.blocks { sessions } else { cores.min(sessions).max(1) }
    })?;
    match capabilities.blocks && threads != sessions {
        true => Err(SpecError::new(
            "calls to this database block their thread, so each session needs one thread; omit \
             --threads",
        )),
        false => Ok(threads),
    }
}

/// Reads the length of a run by transactions; `None` if it is by time.
fn transactions(settings: &mut Settings) -> Result<Option<u64>, SpecError> {
    let parse = |text: &str| match text.parse() {
        Ok(count) if count > TRANSACTIONS_MAX => {
            Err(format!("must be at most {TRANSACTIONS_MAX}, got {count}"))
        }
        read => read.map_err(|error| format!("`{text}`: {error}")),
    };
    settings.optional("transactions", parse, u64::to_string, "by time")
}

/// Reads the ramp-up and the length of a run.
fn length(
    settings: &mut Settings,
    given: &RunDefaults<'_>,
    load: &Load,
    changes: bool,
) -> Result<(Duration, Length), SpecError> {
    let transactions = transactions(settings)?;
    // Without a length, all of a recording is replayed, with its times or without waiting.
    let is_replay =
        matches!(load, Load::Replay(_)) || given.recording.is_some() && load.is_closed();
    let is_whole = is_replay && settings.get("duration").is_none();
    let whole = given.recording.filter(|_| is_whole).map(|recording| recording.transactions);
    if let Some(count) = transactions.or(whole) {
        if settings.get("until-ci").is_some() {
            return Err(SpecError::new(
                "--transactions and --until-ci exclude each other; give one",
            ));
        }
        if !settings.duration_or("rampup", Duration::ZERO)?.is_zero() {
            return Err(SpecError::new(
                "--rampup and --transactions exclude each other: a run by transactions has no \
                 ramp-up",
            ));
        }
        return Ok((Duration::ZERO, Length::Transactions(count)));
    }
    let seconds = |of_embedded, of_server| {
        Duration::from_secs(if given.embedded { of_embedded } else { of_server })
    };
    let rampup = if is_replay { Duration::ZERO } else { seconds(5, 60) };
    let rampup = settings.duration_or("rampup", rampup)?;
    let window = match until_ci(settings)? {
        Some(_) if changes => {
            let message = "--until-ci needs a load that stays the same, and this one changes: give \
                           --duration instead";
            return Err(SpecError::new(message).about("until-ci"));
        }
        // Half an hour contains six of PostgreSQL's checkpoints: a system that has not settled
        // by then has no steady state to measure.
        Some(_) => settings.duration_or("duration", seconds(300, 1800))?,
        None => settings.duration_or("duration", seconds(30, 300))?,
    };
    Ok((rampup, Length::Time(window)))
}

/// Reads when sessions log in.
fn logins(settings: &mut Settings) -> Result<LoginPolicy, SpecError> {
    let parse_every = |text: &str| {
        let number = text.strip_prefix("every=").and_then(|number| number.parse::<u64>().ok());
        number.filter(|every| (1..=TRANSACTIONS_MAX).contains(every)).ok_or_else(|| {
            format!(
                "invalid value `{text}`: expected every=N with a number from 1, such as every=1"
            )
        })
    };
    let parse_rate = |text: &str| {
        let rate = text.strip_suffix("/s").unwrap_or(text).parse().ok();
        rate.filter(|rate: &f64| *rate > 0.0 && *rate <= RATE_MAX).ok_or_else(|| {
            format!("invalid rate `{text}`: expected logins per second, such as 50/s")
        })
    };
    if settings.get("reconnect").is_some()
        && (settings.get("nodes").is_some() || settings.get("route").is_some())
    {
        let message = "--reconnect is for a target of one server: on several nodes, a session belongs \
                       to none of them; omit --nodes and --route, or --reconnect";
        return Err(SpecError::new(message).about("reconnect"));
    }
    Ok(LoginPolicy {
        every: settings.optional(
            "reconnect",
            parse_every,
            |every| format!("every={every}"),
            "never",
        )?,
        per_second: settings.optional(
            "login-rate",
            parse_rate,
            |rate| format!("{rate}/s"),
            "no limit",
        )?,
    })
}

/// Reads which messages of a transaction share a round trip.
fn pipelining(
    settings: &mut Settings,
    workload: Result<(), &'static str>,
) -> Result<Pipelining, SpecError> {
    let show = |pipelining: &Pipelining| pipelining.name().to_owned();
    let wanted = settings.read("pipeline", str::parse, show)?;
    match workload {
        Err(reason) if wanted != Pipelining::Off => {
            let name = wanted.name();
            let message = format!("--pipeline {name} is not for this workload: {reason}; omit it");
            Err(SpecError::new(message).about("pipeline"))
        }
        _ => Ok(wanted),
    }
}

/// Parses a mode that the workload supports.
fn parse_mode(text: &str, modes: &[Mode]) -> Result<Mode, String> {
    let mode: Mode = text.parse()?;
    if modes.contains(&mode) {
        return Ok(mode);
    }
    let known: Vec<_> = modes.iter().map(|mode| mode.name()).collect();
    Err(format!("this workload does not support mode {text}; use {}", known.join(" and ")))
}
