//! The command `doctor`: examines, makes the tests that the user asks for, and keeps the time of one
//! of them in the job store.

use std::path::PathBuf;

use triphammer_core::session::{Database as _, ServerInfo};
use triphammer_core::{DbError, ErrorClass, SpecError, clock};
use triphammer_dialects::doctor::{DoctorDef, doctor};
use triphammer_document::doctor::{
    CpuTest, DoctorResult, Goal, Line, SetupVerdict, StoredCpuTest, StoredHostTest,
};
use triphammer_document::redacted::Redacted;
use triphammer_document::result::rfc3339;
use triphammer_settings::Settings;
use triphammer_settings::cancel::Cancel;
use triphammer_settings::command::JobKind;
use triphammer_settings::failure::Failure;
use triphammer_settings::files::Files;
use triphammer_settings::handle::Handle;
use triphammer_settings::target::{self, Secrets, Target};
use triphammer_settings::worker_pool::on_this_thread;
use triphammer_store::{JobFilter, JobRow, JobStatus, Store, StoreError, store_path};

use super::host::HostFacts;
use super::{cpu_test, database, host_test, names, write_test};

/// Tests that the user asks for. Those of the database change it, and remove what they created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tests {
    /// `--cpu-test`.
    pub cpu: bool,
    /// `--write-test`.
    pub write: bool,
    /// `--host-test`.
    pub host: bool,
}

impl Tests {
    /// Reads the settings.
    ///
    /// # Errors
    /// When a test has no target.
    pub fn from_settings(settings: &mut Settings) -> Result<Self, SpecError> {
        let tests = Self {
            cpu: settings.switch("cpu-test")?,
            write: settings.switch("write-test")?,
            host: settings.switch("host-test")?,
        };
        for (name, is_on) in [("cpu-test", tests.cpu), ("write-test", tests.write)] {
            if is_on && settings.get("target").is_none() {
                let message = format!("--{name} needs the target of a database");
                return Err(SpecError::new(message).about(name));
            }
        }
        Ok(tests)
    }

    /// Whether any is to be made.
    #[must_use]
    pub const fn any(self) -> bool {
        self.cpu || self.write || self.host
    }

    /// Whether any is made in the database.
    const fn any_of_database(self) -> bool {
        self.cpu || self.write
    }

    /// Whether nothing is wrong, and each test that was asked for was made.
    #[must_use]
    pub fn are_good(self, result: &DoctorResult) -> bool {
        result.verdict != SetupVerdict::Wrong
            && result.cpu_test.is_some() >= self.cpu
            && result.write_test.is_some() >= self.write
            && result.host_test.as_ref().is_some_and(|test| test.disk.is_some()) >= self.host
    }
}

/// Examines the host, and the target if the settings name one; `handle` ends it: checks that were not
/// made by then are reported as not made.
///
/// # Errors
/// When a setting is wrong, or the database or the job store cannot be reached.
pub fn examine(
    settings: &mut Settings,
    secrets: &dyn Secrets,
    handle: &Handle,
    warn: &mut dyn FnMut(&str),
) -> Result<DoctorResult, Failure> {
    let tests = Tests::from_settings(settings)?;
    let mut result = DoctorResult::empty();
    let goal = settings.optional("goal", parse_goal, |goal| goal.name().to_owned(), "both")?;
    match super::restore_left(settings) {
        Ok(restored) => restored.iter().for_each(|words| warn(words)),
        // The line of the check says it, too.
        Err(failure) => warn(&failure.to_string()),
    }
    let mut host = HostFacts::begin(Files::of_settings(settings)?);
    let mut target = None;
    if settings.get("target").is_some() {
        let target = target.insert(target::open(settings, None, secrets)?);
        target.warnings.iter().for_each(|warning| warn(warning));
        let write_rate = last_write_rate(settings, target);
        database::examine(target, handle.cancel(), write_rate, &mut host, &mut result)?;
    }
    host.end();
    if let Some(target) = target.filter(|_| tests.any_of_database()) {
        test(&target, tests, handle.cancel(), &mut result)?;
        if let (Some(test), Some(server)) = (&mut result.cpu_test, &result.server) {
            let cpu = crate::host::detect().cpu.filter(|_| result.host_of_database);
            remember(test, server, cpu, settings, warn)?;
        }
    }
    let tested = test_host(tests, &host, settings, handle.cancel(), &mut result, warn)?;
    super::add_host(&mut result, &host, goal);
    if let Some(line) = tested {
        result.lines.insert(0, line);
        result.judge();
    }
    Ok(result)
}

fn parse_goal(text: &str) -> Result<Goal, String> {
    let known = Goal::BOTH.iter().find(|goal| goal.name() == text);
    known.copied().ok_or_else(|| format!("unknown goal `{text}`: name speed or comparable"))
}

/// Number of stored runs in which one at the same target is looked for.
const RUNS_MAX: u32 = 100;

/// What the newest stored run at a target wrote to the WAL or redo log, in bytes per second; `None`
/// without such a run, or if that cannot be read: the examination does not depend on it.
fn last_write_rate(settings: &Settings, target: &Target) -> Option<f64> {
    let metric = doctor(target.database.dialect()).ok()?.write_rate?;
    let store = Store::open_to_read(&store_path(settings, None).ok()?).ok()?;
    let runs =
        JobFilter { kind: Some(JobKind::Run), limit: Some(RUNS_MAX), ..JobFilter::default() };
    let this = Redacted::target_of(&target.database);
    let is_complete = |job: &JobRow| job.status == JobStatus::Complete && job.target == this;
    let newest = store.jobs(&runs).ok()?.into_iter().find(is_complete)?;
    let observed = store.load(newest.id).ok()?.result().ok()??.observed?;
    observed.profile.iter().find(|figure| figure.metric == metric).map(|figure| figure.mean)
}

/// Makes the tests that the user asked for. One that fails is reported as not made.
///
/// # Errors
/// When there is no runtime for it.
fn test(
    target: &Target,
    tests: Tests,
    cancel: &Cancel,
    result: &mut DoctorResult,
) -> Result<(), Failure> {
    on_this_thread(async {
        let mut doctor = doctor(target.database.dialect())?;
        doctor.name_grants(&names::of((&target.database, target.connect_limit), &doctor).await);
        if tests.cpu {
            let (name, def) = (cpu_test::DECLARED.name, doctor.cpu_test.as_ref());
            let grant = def.and_then(|def| def.grant.as_deref());
            let made = match def {
                Some(def) => cpu_test::make(target, def, cancel).await,
                None => Err(untested()),
            };
            result.cpu_test =
                made.map_err(|error| untaken(result, &doctor, name, grant, &error)).ok();
            result.lines.extend(result.cpu_test.iter().map(cpu_test::line));
        }
        if tests.write {
            let (name, def) = (write_test::DECLARED.name, doctor.write_test.as_ref());
            let grant = def.and_then(|def| def.grant.as_deref());
            let made = match def {
                Some(def) => write_test::make(target, def, cancel).await,
                None => Err(untested()),
            };
            result.write_test =
                made.map_err(|error| untaken(result, &doctor, name, grant, &error)).ok();
            result.lines.extend(result.write_test.iter().map(write_test::line));
        }
        Ok(())
    })
}

/// Tests the host if the user asks for it; returns the line of the test.
///
/// # Errors
/// When a setting is wrong, or the store that the user names cannot be used.
fn test_host(
    tests: Tests,
    host: &HostFacts,
    settings: &mut Settings,
    cancel: &Cancel,
    result: &mut DoctorResult,
    warn: &mut dyn FnMut(&str),
) -> Result<Option<Line>, Failure> {
    let folder = settings.get("test-dir").map(PathBuf::from);
    if folder.is_some() && !tests.host {
        let message = "--test-dir is the directory of --host-test: add that";
        return Err(SpecError::new(message).about("test-dir").into());
    }
    if !tests.host {
        return Ok(None);
    }
    if let Some(folder) = folder.as_ref().filter(|folder| !folder.is_dir()) {
        let message = format!("no such directory: {}", folder.display());
        return Err(SpecError::new(message).about("test-dir").into());
    }
    let Some(mut test) = host_test::make(host, folder, cancel, result) else { return Ok(None) };
    let now = StoredHostTest {
        at: rfc3339(clock::wall()),
        machine: test.machine.clone(),
        file_system: test.disk.as_ref().map(|disk| disk.file_system.clone()),
        figures: test.figures.clone(),
    };
    stored(settings, warn, "the test of the host", |store| {
        test.earlier = store.host_tests(&now.machine, EARLIER)?;
        store.add_host_test(&now)
    })?;
    let line = host_test::line(&test);
    result.host_test = Some(test);
    Ok(Some(line))
}

fn untested() -> DbError {
    DbError::new(ErrorClass::Unsupported, "this database has no such test")
}

/// Records why a test was not made.
fn untaken(
    result: &mut DoctorResult,
    doctor: &DoctorDef,
    name: &str,
    grant: Option<&str>,
    error: &DbError,
) {
    match grant {
        Some(grant) if doctor.lacks_privilege(error) => result.hide(name, grant),
        _ => result.fail(name, error.message()),
    }
}

/// Number of earlier times shown.
const EARLIER: u32 = 5;

/// Reads the earlier times of the CPU test from the job store, and adds this one.
fn remember(
    test: &mut CpuTest,
    server: &ServerInfo,
    cpu: Option<String>,
    settings: &Settings,
    warn: &mut dyn FnMut(&str),
) -> Result<(), Failure> {
    let now = StoredCpuTest {
        at: rfc3339(clock::wall()),
        product: server.product.clone(),
        version: server.version.clone(),
        cpu,
        seconds: test.seconds,
    };
    stored(settings, warn, "the time of the CPU test", |store| {
        test.earlier = store.cpu_tests(EARLIER)?;
        store.add_cpu_test(&now)
    })
}

/// Uses the job store for a test. One that cannot be used is an error only if the user names it.
fn stored(
    settings: &Settings,
    warn: &mut dyn FnMut(&str),
    what: &str,
    work: impl FnOnce(&Store) -> Result<(), StoreError>,
) -> Result<(), Failure> {
    let path = store_path(settings, None);
    let done = path.and_then(|path| Ok(work(&Store::open(&path)?)?));
    match done {
        Err(failure) if settings.get("store").is_some() => Err(failure),
        Err(failure) => {
            warn(&format!("{what} is not stored: {failure}"));
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}
