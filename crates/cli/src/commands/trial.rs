//! `triphammer try`: examines the set-up, builds a small TPROC-C, runs it for some seconds, and drops it. A build that
//! already exists is used and kept. Without a target, and where a file does not exist yet, the database is a file in a
//! temporary folder.

use std::path::Path;

use tempfile::TempDir;
use triphammer_core::Scale;
use triphammer_core::clock::format_duration;
use triphammer_observe::doctor::examine;
use triphammer_report as report;
use triphammer_runner::job::{Job, Order, Remembered};
use triphammer_runner::watch::Silent;
use triphammer_settings::command::{Command, JobKind};
use triphammer_settings::failure::Failure;
use triphammer_settings::handle::Handle;
use triphammer_settings::{Settings, Source, declared};

use super::{Terminal, charset, job, print};
use crate::{Exit, Result, args, signals, terminal};

/// Time before the timed window, in which caches fill and sessions start.
const RAMP_UP: &str = "3s";
/// What Ctrl-C says and does while it builds.
const STOPPING: &str = "stopping: dropping what was built; Ctrl-C again leaves it";

/// Tries a database.
pub fn command(mut settings: Settings) -> Result<Exit> {
    let folder = match settings.get("target").map(str::to_owned) {
        Some(target) if !is_missing_file(&target) => None,
        target => {
            let folder = temporary_folder()?;
            let temporary = target_in(&folder, target.as_deref().unwrap_or("sqlite:"));
            if target.is_some() {
                terminal::note("the file does not exist: a temporary one is used");
            }
            settings.replace("target", temporary.as_str());
            settings.set("target", temporary, Source::Command(Command::Try));
            Some(folder)
        }
    };
    let scale = settings.parse::<Scale>("scale")?.to_string();
    let duration = format_duration(settings.duration("duration")?);
    let trial = Trial {
        scale,
        duration,
        is_example: folder.is_some(),
        given: settings,
        secrets: Remembered::new(&Terminal),
        handle: Handle::default(),
    };
    let (exit, next) = trial.run()?;
    if exit != Exit::Interrupted {
        trial.lead_on(next);
    }
    Ok(exit)
}

struct Trial<'a> {
    /// Settings of the command, with a target.
    given: Settings,
    /// Warehouses of the build.
    scale: String,
    /// Timed window of the run.
    duration: String,
    /// Whether the target is a file of this command.
    is_example: bool,
    secrets: Remembered<'a>,
    handle: Handle,
}

impl Trial<'_> {
    /// Also returns what to suggest next.
    fn run(&self) -> Result<(Exit, Next)> {
        signals::stops(self.handle.clone(), STOPPING);
        self.examine()?;
        let mut run = self.job(JobKind::Run)?;
        match run.preview(&mut Silent) {
            Ok(_) => {
                let what = format!("{} is built there: it is used and kept", run.workload().title);
                terminal::note(&what);
                return Ok((job::shown(&mut run, &mut || {})?, Next::Capacity));
            }
            // An interrupted build, or one that cannot be used: its owner decides.
            Err(failure) if run.settings().source("workload") == Source::Build => {
                return Err(failure);
            }
            Err(_) => {}
        }
        Ok((self.build_run_and_drop()?, if self.is_example { Next::Try } else { Next::Profile }))
    }

    /// Prints what is wrong with host, network and database.
    fn examine(&self) -> Result<()> {
        let mut settings = match self.is_example {
            true => Settings::new(Command::Doctor),
            false => self.settings(Command::Doctor),
        };
        let warn = &mut |warning: &str| terminal::warn(warning);
        let result = examine(&mut settings, &self.secrets, &self.handle, warn)?;
        print(&format!("{}\n", report::doctor_in_short(&result, charset())))
    }

    fn build_run_and_drop(&self) -> Result<Exit> {
        let mut has_begun = false;
        let done = self.build(&mut has_begun).and_then(|exit| match exit {
            Exit::Done => job::shown(&mut self.job(JobKind::Run)?, &mut || {}),
            other => Ok(other),
        });
        let dropped = if has_begun { self.drop() } else { Ok(()) };
        if let Err(failure) = &dropped {
            let program = args::program();
            terminal::warn(&format!(
                "what was built is still there; {program} drop {} --yes removes it",
                self.label()
            ));
            terminal::warn(&failure.to_string());
        }
        match done {
            Err(Failure::Cancelled) => Ok(Exit::Interrupted),
            Ok(Exit::Done) => dropped.map(|()| Exit::Done),
            done => done,
        }
    }

    fn build(&self, has_begun: &mut bool) -> Result<Exit> {
        let exit = job::shown(&mut self.job(JobKind::Build)?, &mut || *has_begun = true)?;
        print("\n")?;
        Ok(exit)
    }

    /// Removes what was built.
    fn drop(&self) -> Result<()> {
        if self.is_example {
            // Its folder is removed.
            return Ok(());
        }
        self.job(JobKind::Drop)?.run(&mut Silent).map(drop)
    }

    fn job(&self, kind: JobKind) -> Result<Job> {
        let mut settings = self.settings(kind.into());
        let mut set = |name: &str, value: &str| {
            settings.set(name, value, Source::Command(Command::Try));
        };
        match kind {
            JobKind::Run => {
                set("rampup", RAMP_UP);
                set("duration", &self.duration);
            }
            JobKind::Build => set("scale", &self.scale),
            _ => {}
        }
        Job::new(Order { handle: self.handle.clone(), ..Order::new(settings, &self.secrets) })
    }

    /// The target without secrets.
    fn label(&self) -> String {
        let job = self.job(JobKind::Drop);
        job.ok().and_then(|job| job.targets().pop()).unwrap_or_else(|| "TARGET".to_owned())
    }

    /// The given settings that a command has, too, but not those that this one determines.
    fn settings(&self, command: Command) -> Settings {
        let mut settings = Settings::new(command);
        for (name, value, source) in self.given.all_given() {
            if declared(command, name).is_some()
                && !["scale", "duration", "job-file"].contains(&name)
            {
                settings.set(name, value, source.clone());
            }
        }
        settings
    }

    /// Suggests three commands that answer more.
    fn lead_on(&self, next: Next) {
        let program = args::program();
        let target = match next {
            Next::Try => "postgres://USER@HOST/DATABASE".to_owned(),
            Next::Profile | Next::Capacity => self.label(),
        };
        let report = ("report".to_owned(), "all that the run measured");
        let build = (
            format!("build {target} --create-database --scale 100"),
            "data of the size that you expect",
        );
        let profile = (format!("profile {target}"), "the throughput by the number of users");
        let commands = match next {
            Next::Try => {
                [report, (format!("try {target}"), "the same on your own database"), build]
            }
            Next::Profile => [report, build, profile],
            Next::Capacity => {
                let capacity = format!("capacity {target} --limit 'all.p95 < 50ms'");
                [report, profile, (capacity, "the highest rate with fast answers")]
            }
        };
        let lines = commands.map(|(command, what)| format!("  {program} {command}\n      {what}"));
        terminal::note(&format!("Next:\n{}", lines.join("\n")));
    }
}

/// What to suggest after a trial.
#[derive(Clone, Copy)]
enum Next {
    /// The same on a database of the user's.
    Try,
    /// More data and more users.
    Profile,
    /// A limit, as the data is there.
    Capacity,
}

/// Whether a target is a file that does not exist in a folder that does.
fn is_missing_file(target: &str) -> bool {
    let Some((scheme, file)) = target.split_once(':') else { return false };
    let file = Path::new(file.split_once('?').map_or(file, |(file, _)| file));
    let has_folder =
        file.parent().is_some_and(|folder| folder.as_os_str().is_empty() || folder.is_dir());
    ["sqlite", "duckdb"].contains(&scheme) && has_folder && !file.exists()
}

/// Creates a folder that is removed when it is dropped.
fn temporary_folder() -> Result<TempDir> {
    let folder = tempfile::Builder::new().prefix("triphammer-try-").tempdir();
    folder.map_err(|error| Failure::System {
        doing: format!("creating a folder in {} for the database", std::env::temp_dir().display()),
        error,
    })
}

/// A target with its file in this folder, and with the scheme and the parameters of another one.
fn target_in(folder: &TempDir, like: &str) -> String {
    let (scheme, rest) = like.split_once(':').unwrap_or((like, ""));
    let parameters = rest.find('?').map_or("", |at| &rest[at..]);
    format!("{scheme}:{}{parameters}", folder.path().join("try.db").display())
}
