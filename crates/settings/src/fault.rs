//! What a drill does to the database, as the user writes it: `at=30s cut=5s`, `at=30s terminate` or
//! `at=30s cmd=COMMAND`.

use std::time::Duration;

use triphammer_core::SpecError;
use triphammer_core::clock::{format_duration, parse_duration};
use triphammer_core::session::Database as _;
use triphammer_core::sql::StatementCatalogue;
use triphammer_drivers::AnyDatabase;
use triphammer_proxy::Relay;
use triphammer_workloads::drill::SESSION_TERMINATE;

use crate::failure::Failure;
use crate::{REPEATED, Settings, timed};

/// Name of the setting.
const FAULT: &str = "fault";
/// Most faults of a drill.
const FAULTS_MAX: usize = 100;
/// The forms of a fault, for messages.
const FORMS: &str = "at=TIME cut=TIME, at=TIME terminate, or at=TIME cmd=COMMAND";

/// A fault and its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Time since the start of the load.
    pub at: Duration,
    /// What happens.
    pub kind: FaultKind,
}

/// What happens in a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Nothing passes the network for this time, then all connections are closed.
    Cut(Duration),
    /// The server ends the sessions of the drill.
    Terminate,
    /// A command of the host's shell.
    Command(String),
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "at={} ", format_duration(self.at))?;
        match &self.kind {
            FaultKind::Cut(time) => write!(f, "cut={}", format_duration(*time)),
            FaultKind::Terminate => f.write_str("terminate"),
            FaultKind::Command(command) => write!(f, "cmd={command}"),
        }
    }
}

impl Fault {
    fn parse(text: &str) -> Result<Self, String> {
        let (at, what) = timed::parse(text, "fault", FORMS)?;
        let wrong = |why: &str| format!("`{text}` {why}: expected {FORMS}");
        let kind = match what.split_once('=') {
            None if what == "terminate" => FaultKind::Terminate,
            Some(("cmd", "")) => return Err(wrong("has an empty command")),
            Some(("cmd", command)) => FaultKind::Command(command.to_owned()),
            Some(("cut", time)) => match parse_duration(time)? {
                Duration::ZERO => return Err(wrong("cuts for no time")),
                time => FaultKind::Cut(time),
            },
            _ => return Err(wrong("has an unknown fault")),
        };
        Ok(Self { at, kind })
    }

    /// Time since the start of the load at which it is over, as far as that is known before.
    fn end(&self) -> Duration {
        match self.kind {
            FaultKind::Cut(time) => self.at.saturating_add(time),
            FaultKind::Terminate | FaultKind::Command(_) => self.at,
        }
    }
}

/// Reads the faults of a drill of this length, in the order of their times.
///
/// # Errors
/// When one is invalid, is not over when the load ends, or is a command given by a client of the
/// server.
pub fn faults(settings: &mut Settings, duration: Duration) -> Result<Vec<Fault>, SpecError> {
    let show = |faults: &Vec<Fault>| match faults.as_slice() {
        [] => "none".to_owned(),
        faults => faults.iter().map(Fault::to_string).collect::<Vec<_>>().join(REPEATED),
    };
    let mut faults = settings.read_or(FAULT, parse_all, show, Vec::new)?;
    faults.sort_by_key(|fault| fault.at);
    let refuse = |message: String| Err(SpecError::new(message).about(FAULT));
    if let Some(late) = faults.iter().find(|fault| fault.end() >= duration) {
        return refuse(format!(
            "--{FAULT} `{late}` is not over when the load ends after {}: give it earlier, or a longer \
             --duration",
            format_duration(duration)
        ));
    }
    let cuts: Vec<_> =
        faults.iter().filter(|fault| matches!(fault.kind, FaultKind::Cut(_))).collect();
    if let Some([first, next]) = cuts.windows(2).find(|pair| pair[1].at < pair[0].end()) {
        return refuse(format!(
            "--{FAULT} `{next}` begins before `{first}` is over: there is one network to cut"
        ));
    }
    let is_command = |fault: &&Fault| matches!(fault.kind, FaultKind::Command(_));
    if settings.of_client() && faults.iter().any(|fault| is_command(&fault)) {
        return refuse(
            "the server does not run commands of its host for clients: use cut or terminate, or \
             the command line"
                .to_owned(),
        );
    }
    Ok(faults)
}

/// Reads faults that are separated by commas: each begins with `at=`.
fn parse_all(text: &str) -> Result<Vec<Fault>, String> {
    let each = timed::each(text).into_iter();
    let faults: Vec<_> = each.map(Fault::parse).collect::<Result<_, _>>()?;
    if faults.len() > FAULTS_MAX {
        return Err(format!("at most {FAULTS_MAX} faults, got {}", faults.len()));
    }
    Ok(faults)
}

/// Starts the relay that the connections of a drill go through; `None` if no fault cuts the network.
///
/// # Errors
/// When a fault is invalid, or the system has no thread left.
pub fn relay(settings: &Settings) -> Result<Option<Relay>, SpecError> {
    let faults = parse_all(settings.get(FAULT).unwrap_or_default()).unwrap_or_default();
    if !faults.iter().any(|fault| matches!(fault.kind, FaultKind::Cut(_))) {
        return Ok(None);
    }
    Relay::start().map(Some).map_err(|error| {
        SpecError::new(format!("cannot start the relay for --{FAULT}: {error}")).about(FAULT)
    })
}

/// Rejects faults that are impossible at this database.
///
/// # Errors
/// With the fault, and what to use instead.
pub fn refuse_impossible(
    faults: &[Fault],
    database: &AnyDatabase,
    catalogue: &StatementCatalogue,
) -> Result<(), Failure> {
    for fault in faults {
        let why = match fault.kind {
            FaultKind::Cut(_) if database.capabilities().blocks => {
                "its sessions have no connection that triphammer opens itself"
            }
            FaultKind::Terminate if !catalogue.has_statement(SESSION_TERMINATE) => {
                "it has no statement that ends the sessions of others"
            }
            _ => continue,
        };
        let message =
            format!("--{FAULT} `{fault}` is impossible at {}: {why}; use cmd=", database.target());
        return Err(SpecError::new(message).about(FAULT).into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;
    use crate::command::JobKind;

    fn read(text: &str) -> Result<Vec<Fault>, String> {
        let mut settings = Settings::new(JobKind::Drill);
        settings.set(FAULT, text, Source::Flag);
        faults(&mut settings, Duration::from_secs(60)).map_err(|error| error.to_string())
    }

    #[test]
    fn a_list_of_faults_is_read_in_the_order_of_its_times() {
        let found = read("at=30s cmd=echo a, b; sync, at=10s cut=5s, at=1m terminate").unwrap_err();
        assert!(found.contains("`at=1m terminate` is not over when the load ends after 1m"));
        let found = read("at=30s cmd=echo a, b; sync, at=10s cut=5s, at=45s terminate").unwrap();
        let fault = |at, kind| Fault { at: Duration::from_secs(at), kind };
        assert_eq!(
            found,
            [
                fault(10, FaultKind::Cut(Duration::from_secs(5))),
                fault(30, FaultKind::Command("echo a, b; sync".to_owned())),
                fault(45, FaultKind::Terminate),
            ]
        );
        assert_eq!(found[1].to_string(), "at=30s cmd=echo a, b; sync");
        assert_eq!(read("").unwrap(), []);
        let found = read("at=2s cut=500ms, at=1s cut=4s").unwrap_err();
        let expected = "`at=2s cut=500ms` begins before `at=1s cut=4s` is over";
        assert!(found.contains(expected), "{found}");
        assert_eq!(read("at=2s cut=1s, at=3s cut=1s").unwrap().len(), 2);
    }

    #[test]
    fn what_is_no_fault_is_refused_with_the_forms() {
        for (text, why) in [
            ("cut=5s", "does not begin with at="),
            ("at=5s", "has no fault"),
            ("at=5s cut=0s", "cuts for no time"),
            ("at=5s cmd=", "has an empty command"),
            ("at=5s kill", "has an unknown fault"),
            ("at=5 terminate", "a number with a unit"),
            ("at=50s cut=10s", "is not over when the load ends"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn a_client_of_the_server_runs_no_commands() {
        let mut settings = Settings::new(JobKind::Drill);
        let given = [(FAULT.to_owned(), "at=5s cmd=reboot".to_owned())].into();
        settings.add_request(&given, &[]).unwrap();
        let error = faults(&mut settings, Duration::from_secs(60)).unwrap_err().to_string();
        assert!(error.contains("does not run commands"), "{error}");
    }
}
