//! The workload of a job that names none: the one that was built at its target.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use triphammer_core::session::{Admin as _, Database as _, Role, Session as _};
use triphammer_core::workload::Author;
use triphammer_core::{DbError, SpecError};
use triphammer_dialects::catalogues;
use triphammer_drivers::target::Reach;
use triphammer_settings::command::JobKind;
use triphammer_settings::failure::Failure;
use triphammer_settings::target::{self, Secrets, Target};
use triphammer_settings::worker_pool::{connect, identify, on_this_thread};
use triphammer_settings::{Settings, Source};
use triphammer_workloads::{DEFAULT, all, describe};

use crate::record::{Recording, TABLE};

/// Secrets that ask each question once, where a target is opened several times.
pub struct Remembered<'a> {
    secrets: &'a dyn Secrets,
    answers: RefCell<BTreeMap<String, String>>,
}

impl<'a> Remembered<'a> {
    /// Creates secrets that ask these.
    #[must_use]
    pub fn new(secrets: &'a dyn Secrets) -> Self {
        Self { secrets, answers: RefCell::default() }
    }
}

impl Secrets for Remembered<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        self.secrets.variable(name)
    }

    fn prompt(&self, question: &str) -> Result<String, SpecError> {
        if let Some(answer) = self.answers.borrow().get(question) {
            return Ok(answer.clone());
        }
        let answer = self.secrets.prompt(question)?;
        self.answers.borrow_mut().insert(question.to_owned(), answer.clone());
        Ok(answer)
    }

    fn reach(&self) -> Reach {
        self.secrets.reach()
    }

    fn is_of_client(&self) -> bool {
        self.secrets.is_of_client()
    }
}

/// Sets the workload to the one that the build record of the target names, if the settings name
/// none. Where nothing is recorded, or the target does not answer, the default applies, and the job
/// says what is wrong.
///
/// # Errors
/// When several workloads were built there, and it is not clear which one is meant.
pub(super) fn set_workload(settings: &mut Settings, secrets: &dyn Secrets) -> Result<(), Failure> {
    let command = settings.command();
    let kind = command
        .job()
        .filter(|kind| kind.drives() || [JobKind::Check, JobKind::Drop].contains(kind));
    let is_replay = settings.get("load").is_some_and(|load| load.starts_with("replay:"));
    let is_named = is_replay || names_workload(settings) || settings.of_client();
    if kind.is_none() || is_named || settings.get("target").is_none() {
        return Ok(());
    }
    let default = describe(DEFAULT)?;
    let Ok(target) = target::open(&mut settings.clone(), Some(&default), secrets) else {
        return Ok(());
    };
    // Data made by a file needs that file, and a drill is a command of its own.
    let can_be_named = |name: &String| {
        let is_of_command = |author: &Author| matches!(author, Author::Command(_));
        let drops = command == JobKind::Drop.into();
        describe(name).is_ok_and(|of| drops || !is_of_command(&of.author))
    };
    let mut built = recorded(&target).unwrap_or_default();
    built.retain(can_be_named);
    let has_default = built.iter().any(|name| name == DEFAULT);
    match built.as_slice() {
        [] => {}
        [one] => settings.set("workload", one.as_str(), Source::Build),
        _ if has_default && command != JobKind::Drop.into() => {}
        several => {
            let message = format!(
                "several workloads are built at {}: {}; choose one of them with -w",
                target.database.target(),
                several.join(", ")
            );
            return Err(SpecError::new(message).about("workload").into());
        }
    }
    Ok(())
}

/// Whether settings choose a workload: by its name, or by the user's files.
fn names_workload(settings: &Settings) -> bool {
    let is_given = |name: &str| settings.get(name).is_some();
    let workloads = all();
    let mut works = workloads.iter().filter_map(|of| of.own_work());
    is_given("workload") || works.any(|work| is_given(work.setting))
}

/// The names of the workloads in the build record; `None` if it cannot be read.
fn recorded(target: &Target) -> Option<Vec<String>> {
    let database = &target.database;
    let of_file = database.target();
    let file = of_file.split_once(':').map_or("", |(_, file)| file);
    let is_missing = target.is_file() && !Path::new(file).is_file();
    if !database.capabilities().stores || is_missing {
        return None;
    }
    let workload = describe(DEFAULT).ok()?;
    identify(&workload, database).ok()?;
    let catalogue = catalogues::catalogue(&workload, database.dialect(), false).ok()?;
    let names = on_this_thread(async {
        let mut session = connect(database, Role::Monitor, target.connect_limit).await?;
        let has_table = session.tables().await?.iter().any(|name| name == TABLE);
        let names = match has_table {
            true => Recording::workloads(&catalogue, &mut session).await?,
            false => Vec::new(),
        };
        session.close().await;
        Ok::<_, DbError>(names)
    });
    names.ok()
}
