//! `build`: makes schema and data, as fast as the database takes them, and so that it can be interrupted
//! at any moment and resumed.
//!
//! 1. claim the workload in this schema, so that two builds, or a build and a run, never mix;
//! 2. refuse a schema that holds tables of these names which no record vouches for;
//! 3. tables; then the parts of the data by a crew, one transaction a part, noted in the record in that
//!    same transaction; then keys and indexes by the crew (the keys before the data where tables are
//!    clustered); foreign keys; procedures; statistics;
//! 4. mark the record complete.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use triphammer_core::session::{Access, Admin, Claim, Database, Role, RowSource, Session};
use triphammer_core::sql::{Script, SqlBook};
use triphammer_core::workload::{
    BuildEffect, Description, OptionDef, Part, TableDef, Workload, WorkloadSettings,
};
use triphammer_core::{DbError, ErrorClass, Rows, clock};
use triphammer_drivers::{AnyDatabase, AnySession};
use triphammer_workloads::AnyWorkload;

use crate::cancel::Cancel;
use crate::crew::{Crew, connect, create_database, identify, on_this_thread};
use crate::failure::{Doing, Failure};
use crate::limited::Limited;
use crate::record::{Record, Recording};
use crate::watch::Watch;
use crate::{books, remove};

/// What to build, and how.
#[derive(Clone, Debug)]
pub struct BuildRequest {
    /// Of what.
    pub workload: Arc<Description>,
    /// Scale, seed and options.
    pub settings: WorkloadSettings,
    /// Options of the dialect; those not given have their defaults.
    pub dialect_options: BTreeMap<String, String>,
    /// Sessions that load side by side.
    pub jobs: u32,
    /// Remove what an earlier build made.
    pub replace: bool,
    /// Remove tables of these names even when no record vouches for them.
    pub force: bool,
    /// Make the database first.
    pub create_database: bool,
    /// Longest wait for a session.
    pub connect_limit: Duration,
    /// Ends the build before its time; the same request resumes it.
    pub cancel: Cancel,
}

/// What a build did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct BuildReport {
    /// `built`, `resumed`, `already built`.
    pub outcome: String,
    /// `TPROC-C`.
    pub workload: String,
    /// Size, in `scale_unit`.
    pub scale: u32,
    /// `warehouses`.
    pub scale_unit: String,
    /// Seed of the data.
    pub seed: u64,
    /// The target, redacted.
    pub target: String,
    /// Rows loaded now.
    pub rows: u64,
    /// Seconds of each phase, in order.
    pub phases: Vec<(String, f64)>,
    /// Sessions that loaded side by side.
    pub jobs: u32,
}

/// What the options that are on change in how a workload is built.
fn effects<'a>(
    workload: &'a Description,
    options: &'a BTreeMap<String, String>,
) -> impl Iterator<Item = BuildEffect> + 'a {
    let is_on = |name: &str| options.get(name).is_some_and(|value| value == "true");
    workload.options.iter().filter(move |option| is_on(&option.name)).filter_map(|o| o.effect)
}

/// The switch that has an effect on builds, where the workload has one.
pub(crate) fn option_of(workload: &Description, effect: BuildEffect) -> Option<&OptionDef> {
    workload.options.iter().find(|option| option.effect == Some(effect))
}

/// Builds; `begins` is called when nothing stands against it any more, before the first change but for a new
/// database.
///
/// # Errors
/// When the target is not fit for it, or the database reports an error. What was done stays, recorded, and
/// the same command resumes it.
pub fn build(
    database: &Arc<AnyDatabase>,
    request: &BuildRequest,
    watch: &Watch<'_>,
    begins: &mut dyn FnMut(),
) -> Result<BuildReport, Failure> {
    let description = &*request.workload;
    let workload = AnyWorkload::new(&description.name, &request.settings)?;
    identify(database)?;
    let procedures = database.capabilities().procedures;
    let book =
        books::book_with(description, database.dialect(), procedures, &request.dialect_options)?;
    let options = &request.settings.options;
    let effects: Vec<BuildEffect> = effects(description, options).collect();
    let foreign_keys = effects.contains(&BuildEffect::ForeignKeys);
    if foreign_keys && !database.capabilities().foreign_keys {
        let option = option_of(description, BuildEffect::ForeignKeys);
        return Err(Failure::refuse(format!(
            "this database cannot add foreign keys to loaded tables; build without --{}",
            option.map_or("", |option| &option.name)
        )));
    }
    for option in books::options(database.dialect())? {
        let given = request.dialect_options.get(&option.name);
        if let Some(other) = &option.excludes
            && given.is_some_and(|value| *value != option.default)
            && options.get(other).is_some_and(|value| value == "true")
        {
            let name = option.name;
            return Err(Failure::refuse(format!("--{name} and --{other} exclude each other")));
        }
    }
    if request.create_database {
        create_database(database)?;
    }
    let report = BuildReport {
        workload: description.title.to_string(),
        scale: request.settings.scale,
        scale_unit: description.scale_unit.many.to_string(),
        seed: request.settings.data_seed,
        target: database.target(),
        ..BuildReport::default()
    };
    // The claim is held by a session of its own, on this thread, until the build is over.
    on_this_thread(async {
        let limit = request.connect_limit;
        let _claim = claim(description, database, Role::Loader, Claim::Exclusive, limit).await?;
        let mut session = connect(database, Role::Loader, limit)
            .await
            .doing(format_args!("connecting to {}", database.target()))?;
        let (record, resumed) =
            begin(&book, &mut session, request, database, watch, begins).await?;
        session.close().await;
        if record.is_complete() {
            return Ok(BuildReport { outcome: "already built".into(), ..report });
        }
        let builder = Builder {
            description,
            workload: &workload,
            book: &book,
            record,
            crew: Crew {
                database: Arc::clone(database),
                size: request.jobs,
                role: Role::Loader,
                connect_limit: request.connect_limit,
                cancel: request.cancel.clone(),
            },
            watch,
            procedures: procedures && !effects.contains(&BuildEffect::NoProcedures),
            effects,
            resumed,
        };
        let outcome = if resumed { "resumed" } else { "built" }.into();
        builder.build(BuildReport { outcome, jobs: request.jobs, ..report })
    })
}

/// Claims the workload in the schema; the session that is given back holds the claim.
///
/// # Errors
/// When somebody else's claim stands against it.
pub async fn claim(
    workload: &Description,
    database: &Arc<AnyDatabase>,
    role: Role,
    claim: Claim,
    limit: Duration,
) -> Result<Limited<AnySession>, Failure> {
    let target = database.target();
    let mut session =
        connect(database, role, limit).await.doing(format_args!("connecting to {target}"))?;
    if session.claim(&workload.name, claim).await.doing("claiming the workload")? {
        return Ok(session);
    }
    let what = match claim {
        Claim::Shared => "a build, check or drop",
        Claim::Exclusive => "a run, build, check or drop",
    };
    Err(Failure::refuse(format!(
        "{what} of {} is going on at {target}; wait for its end",
        workload.title
    )))
}

/// Looks at what is there, removes it when asked to, and gives the record to go on from.
async fn begin(
    book: &SqlBook,
    session: &mut Limited<AnySession>,
    request: &BuildRequest,
    database: &Arc<AnyDatabase>,
    watch: &Watch<'_>,
    begins: &mut dyn FnMut(),
) -> Result<(Record, bool), Failure> {
    let workload = &*request.workload;
    let found = remove::look(workload, book, session).await?;
    if let Some(record) = &found.record {
        let difference = record.difference(workload, &request.settings, &request.dialect_options);
        match (request.replace, difference, record.is_complete()) {
            (false, None, true) => {
                begins();
                return Ok((record.clone(), false));
            }
            (false, None, false) => {
                begins();
                watch.note("resuming an interrupted build");
                return Ok((record.clone(), true));
            }
            (false, Some(difference), complete) => {
                let what = if complete { "is built already" } else { "has an interrupted build" };
                return Err(Failure::refuse(format!(
                    "{} {what} at {} that differs: {difference}; --replace builds it anew, \
                     `triphammer drop` removes it",
                    workload.title,
                    database.target()
                )));
            }
            (true, ..) => {}
        }
    }
    if request.force {
        remove::refuse_unrelated(workload, session, &found).await?;
    }
    let replaces = found.record.is_some() || request.force;
    if !replaces {
        found.refuse_strangers(workload, &database.target())?;
    }
    let capabilities = database.capabilities();
    let atomic = capabilities.transactional_ddl;
    if replaces {
        remove::refuse_dependents(workload, session, &found, request.force).await?;
        rehearse(book, session, request, capabilities.procedures)
            .await
            .doing("trying whether the tables can be made (nothing was dropped)")?;
    }
    begins();
    if atomic {
        session.begin(Access::Write).await.doing("beginning to build")?;
    }
    if replaces {
        remove::remove(workload, book, session, &found, atomic, request.force).await?;
    }
    let started = start(book, session, request, atomic).await;
    Ok((started.doing("making the tables and the build record")?, false))
}

/// Tries what a build would do first, before what is there is dropped for it.
async fn rehearse<S: Admin>(
    book: &SqlBook,
    session: &mut S,
    request: &BuildRequest,
    procedures: bool,
) -> Result<(), DbError> {
    let tables: Vec<&str> = book.scripts("create").map(|script| script.sql.as_str()).collect();
    let mut effects = effects(&request.workload, &request.settings.options);
    let without = effects.any(|effect| effect == BuildEffect::NoProcedures);
    let longest = book.all_scripts().iter().map(|script| script.sql.len()).max();
    session.rehearse(&tables, longest.filter(|_| procedures && !without)).await
}

/// Writes what is going to be built, before anything of it is made. Where tables can be made in the caller's
/// transaction, `atomic`, makes them in it too: old tables are gone only when the new ones are there.
async fn start<S: Session>(
    book: &SqlBook,
    session: &mut S,
    request: &BuildRequest,
    atomic: bool,
) -> Result<Record, DbError> {
    for script in book.scripts("build_record").filter(|s| s.object() == "create") {
        session.script(&script.sql).await?;
    }
    let workload = &*request.workload;
    let recording = Recording::prepare(workload, book, session).await?;
    let settings = &request.settings;
    let mut items = vec![
        ("state".to_owned(), "building".to_owned()),
        ("tool".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
        ("version".to_owned(), workload.version.to_string()),
        ("scale".to_owned(), settings.scale.to_string()),
        ("seed".to_owned(), settings.data_seed.to_string()),
        ("begun".to_owned(), clock::wall().to_string()),
    ];
    items.extend(settings.options.iter().map(|(k, v)| (format!("option/{k}"), v.clone())));
    let dialect_options = request.dialect_options.iter();
    items.extend(dialect_options.map(|(k, v)| (format!("dialect/{k}"), v.clone())));
    let made = AnyWorkload::new(&workload.name, settings).expect("made once already");
    items.extend(made.build_facts().into_iter().map(|(k, v)| (format!("fact/{k}"), v)));
    items
        .extend(workload.tables.iter().map(|t| (format!("object/{}", t.name), "table".to_owned())));
    if !atomic {
        session.begin(Access::Write).await?;
    }
    for (item, value) in &items {
        recording.insert(session, item, value).await?;
    }
    for script in book.scripts("create").filter(|_| atomic) {
        let made = session.script(&script.sql).await;
        made.map_err(|error| error.context(format_args!("running `{}`", script.name)))?;
        recording.insert(session, &step(script), "done").await?;
    }
    session.commit().await?;
    recording.read(session).await
}

struct Builder<'a, 'w> {
    description: &'a Description,
    workload: &'a AnyWorkload,
    book: &'a SqlBook,
    record: Record,
    crew: Crew,
    watch: &'a Watch<'w>,
    effects: Vec<BuildEffect>,
    procedures: bool,
    resumed: bool,
}

impl Builder<'_, '_> {
    fn build(&self, mut report: BuildReport) -> Result<BuildReport, Failure> {
        let mut timed = |name: &str, work: &dyn Fn() -> Result<u64, Failure>| {
            let begun = Instant::now();
            let done = work()?;
            report.phases.push((name.to_owned(), begun.elapsed().as_secs_f64()));
            Ok::<u64, Failure>(done)
        };
        let crew = self.crew.size;
        let own = self.effects.iter().filter_map(|effect| match effect {
            BuildEffect::Keys(kind) => Some(*kind),
            BuildEffect::ForeignKeys | BuildEffect::NoProcedures => None,
        });
        let keys: &[&str] = &std::iter::once("key").chain(own).collect::<Vec<_>>();
        timed("tables", &|| self.scripts("creating tables", &["create"], 1))?;
        if self.book.is_clustered() {
            timed("keys", &|| self.scripts("keys", keys, 1))?;
        }
        let rows = timed("load", &|| self.load())?;
        if self.book.is_clustered() {
            timed("indexes", &|| self.scripts("indexes", &["index"], crew))?;
        } else {
            let kinds = [keys, &["index"]].concat();
            timed("keys and indexes", &|| self.scripts("keys and indexes", &kinds, crew))?;
        }
        if self.effects.contains(&BuildEffect::ForeignKeys) {
            timed("foreign keys", &|| self.scripts("foreign keys", &["foreign_key"], 1))?;
        }
        if self.procedures {
            timed("procedures", &|| self.scripts("procedures", &["procedure"], 1))?;
        }
        timed("statistics", &|| self.scripts("statistics", &["analyze"], crew))?;
        self.finish()?;
        report.rows = rows;
        Ok(report)
    }

    /// Runs every script of these kinds that is not recorded as done, each with its record in one
    /// transaction where the database can.
    fn scripts(&self, phase: &str, kinds: &[&str], size: u32) -> Result<u64, Failure> {
        let todo: Vec<&Script> = kinds
            .iter()
            .flat_map(|kind| self.book.scripts(kind))
            .filter(|script| !self.record.has(&step(script)))
            .collect();
        self.watch.task(phase, todo.len() as u64, "steps");
        let crew = Crew {
            database: Arc::clone(&self.crew.database),
            cancel: self.crew.cancel.clone(),
            size,
            ..self.crew
        };
        crew.work(
            &todo,
            |script| format!("running `{}`", script.name),
            async |session| Recording::prepare(self.description, self.book, session).await,
            async |session, recording, script| {
                session.begin(Access::Write).await?;
                match session.script(&script.sql).await {
                    // Done just before the build was killed, which is why there is no record.
                    Err(error) if self.resumed && self.book.was_done_before(&error) => {}
                    done => done?,
                }
                recording.insert(session, &step(script), "done").await?;
                session.commit().await?;
                self.watch.advance(1);
                Ok(())
            },
        )?;
        Ok(todo.len() as u64)
    }

    /// Loads every part that is not recorded as loaded.
    fn load(&self) -> Result<u64, Failure> {
        let todo: Vec<Part> = self
            .workload
            .parts()
            .into_iter()
            .filter(|part| !self.record.has(&format!("part/{}", part.name)))
            .collect();
        self.watch.task("loading", todo.iter().map(|part| part.rows).sum(), "rows");
        let loaded = self.crew.work(
            &todo,
            |part| format!("loading {}", part.name),
            async |session| Recording::prepare(self.description, self.book, session).await,
            async |session, recording, part| {
                session.begin(Access::Write).await?;
                let mut rows = 0;
                for table in &*part.tables {
                    let mut source = self.source(part, table);
                    rows += session
                        .load(table, &mut source)
                        .await
                        .map_err(|error| error.context(format_args!("table {}", table.name)))?;
                }
                // The rows of a cancelled load end early: nothing of it may be committed.
                if self.crew.cancel.is_cancelled() {
                    return Err(DbError::new(ErrorClass::Cancelled, "cancelled"));
                }
                recording
                    .insert(session, &format!("part/{}", part.name), &rows.to_string())
                    .await?;
                session.commit().await?;
                Ok(rows)
            },
        )?;
        Ok(loaded.into_iter().sum())
    }

    /// The rows of a table of a part, telling the progress as they are taken.
    fn source<'a>(&'a self, part: &Part, table: &TableDef) -> impl RowSource + 'a {
        let mut rows = self.workload.rows(part, table);
        let name = table.name.clone();
        move |batch: &mut Rows| {
            let more = rows.fill(batch);
            self.watch.rows(&name, batch.len() as u64);
            more && !self.crew.cancel.is_cancelled()
        }
    }

    fn finish(&self) -> Result<(), Failure> {
        self.crew
            .work(
                &[()],
                |()| "completing the build record".to_owned(),
                async |session| Recording::prepare(self.description, self.book, session).await,
                async |session, recording, ()| recording.update(session, "state", "complete").await,
            )
            .map(drop)
    }
}

fn step(script: &Script) -> String {
    format!("step/{}", script.name)
}
