//! Commands of sysbench's scripts that are not runs, such as `prepare` and `cleanup`: nothing is measured or stored.

use triphammer_core::session::{Database as _, Role};
use triphammer_core::workload::{OptionCommand, Statements, Workload as _, WorkloadSettings};
use triphammer_dialects::catalogues;
use triphammer_lua::{Commands, ScriptOption, State};
use triphammer_settings::Settings;
use triphammer_settings::cancel::Cancel;
use triphammer_settings::failure::Failure;
use triphammer_settings::target::{self, Secrets};
use triphammer_settings::worker_pool::{WorkerPool, identify};
use triphammer_workloads::sysbench::{Sysbench, load};

/// A script with the settings of a command.
#[derive(Debug)]
pub struct ScriptCommand {
    script: Sysbench,
    how: Option<Commands>,
    threads: u32,
}

impl ScriptCommand {
    /// Loads the script that the settings name, for a command.
    ///
    /// # Errors
    /// When it cannot be loaded, or a setting is invalid.
    pub fn new(settings: &mut Settings, command: &str) -> Result<Self, Failure> {
        let loaded = load(settings.get("script").unwrap_or_default(), true)?;
        settings.replace("script", loaded);
        let options = settings.workload_options(&Sysbench::describe().options, OptionCommand::Run);
        let run_seed = settings.parse("seed")?;
        let threads = settings.parse_or("vus", || 1)?;
        let given = WorkloadSettings { options, run_seed, ..WorkloadSettings::default() };
        let (script, how) = Sysbench::of_command(&given, command)?;
        Ok(Self { script, how, threads })
    }

    /// The script in a state of its own for its report hooks; `None` if it sets none.
    ///
    /// # Errors
    /// When it cannot be loaded.
    pub fn reports(&self) -> Result<Option<State>, Failure> {
        Ok(self.script.reports(self.threads)?)
    }

    /// The script's file.
    #[must_use]
    pub fn script(&self) -> &str {
        self.script.script_name()
    }

    /// How the script runs the command; `None` if it has no such command.
    #[must_use]
    pub const fn how(&self) -> Option<Commands> {
        self.how
    }

    /// Options that the script declares.
    #[must_use]
    pub fn options(&self) -> &[ScriptOption] {
        self.script.declared()
    }

    /// Runs the command: once, or in each thread at the same time if the script says so.
    ///
    /// # Errors
    /// When the script has no such command or fails, or the database does.
    pub fn run(&self, settings: &mut Settings, secrets: &dyn Secrets) -> Result<(), Failure> {
        let command = self.script.command_name();
        let Some(how) = self.how else {
            return Err(Failure::refuse(format!(
                "the script {} has no command `{command}`",
                self.script.script_name()
            )));
        };
        let target = target::open(settings, Some(self.script.description()), secrets)?;
        let workload = self.script.description();
        let database = &target.database;
        identify(workload, database)?;
        let procedures = database.capabilities().procedures;
        let catalogue = catalogues::catalogue(workload, database.dialect(), procedures)?;
        let threads = if how == Commands::Parallel { self.threads.max(1) } else { 1 };
        let pool = WorkerPool {
            database: database.clone(),
            size: threads,
            role: Role::User,
            connect_limit: target.connect_limit,
            cancel: Cancel::default(),
        };
        let tasks: Vec<u32> = (0..threads).collect();
        pool.work(
            &tasks,
            |_| format!("running `{command}`"),
            async |_| Ok(()),
            async |session, (), thread| {
                let statements = Statements::new(&catalogue).on(*thread, self.threads.max(1));
                self.script.command(&statements, session).await
            },
        )?;
        Ok(())
    }
}
