//! `build`: creates the schema and loads the data as fast as the database accepts it; it can be
//! interrupted at any time and resumed.
//!
//! 1. take the advisory lock of the workload in this schema: two builds, or a build and a run,
//!    never mix;
//! 2. reject a schema that has tables with these names which are in no build record;
//! 3. create the tables; load the chunks of the data with a worker pool, one transaction per chunk
//!    or, where small transactions are slow, for several, which also records the chunks; then keys
//!    and indexes with the worker pool (keys come before the
//!    data where tables are clustered); foreign keys; procedures; statistics;
//! 4. mark the record complete.
//!
//! With `--cluster`, the chunks are loaded by several hosts, and this process does everything else.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::time::Instant;
use triphammer_core::session::{Access, Admin, Database, LockMode, Role, Session};
use triphammer_core::sql::{BoundStatement, Layout, Script, StatementCatalogue};
use triphammer_core::workload::{BuildEffect, Chunk, Description, OptionDef, Workload};
use triphammer_core::{DbError, clock};
use triphammer_dialects::catalogues;
use triphammer_document::JobDocument;
use triphammer_document::build::{BuildHost, BuildReport};
use triphammer_drivers::{AnyDatabase, AnySession};
use triphammer_settings::failure::{Doing, Failure};
use triphammer_settings::limited::Limited;
use triphammer_settings::target::Target;
use triphammer_settings::worker_pool::{
    WorkerPool, connect, create_database, identify, on_this_thread,
};
use triphammer_workloads::{AnyWorkload, describe};

use crate::build_observers::{BuildObservers, ask_exporter};
use crate::build_request::BuildRequest;
use crate::built;
use crate::cluster::SharedBuild;
use crate::journal::Place;
use crate::layout;
use crate::loader::Loader;
use crate::record::{Record, Recording};
use crate::remove::{self, Dropping, FoundObjects};
use crate::watch::Watch;
use crate::workload_lock::lock_workload;

/// Option of dialects that can load tables within the server, from the source that it names.
const LOAD_FROM: &str = "load-from";

/// Outcomes of a build.
const BUILT: &str = "built";
const RESUMED: &str = "resumed";
const ADDED: &str = "added";
const ALREADY_BUILT: &str = "already built";

/// The effects of the enabled options on the build of a workload.
fn effects<'a>(
    workload: &'a Description,
    options: &'a BTreeMap<String, String>,
) -> impl Iterator<Item = BuildEffect> + 'a {
    let is_on = |name: &str| options.get(name).is_some_and(|value| value == "true");
    workload.options.iter().filter(move |option| is_on(&option.name)).filter_map(|o| o.effect)
}

/// The option with an effect on builds; `None` if the workload has none.
pub(crate) fn option_of(workload: &Description, effect: BuildEffect) -> Option<&OptionDef> {
    workload.options.iter().find(|option| option.effect == Some(effect))
}

/// Runs the build; `begins` is called after all checks have passed and before the first change
/// (except the creation of the database).
///
/// # Errors
/// When the target is not suitable, or the database reports an error. Completed work is kept and
/// recorded, and the same command resumes it.
pub fn build(
    database: &Arc<AnyDatabase>,
    request: &BuildRequest,
    watch: &Watch<'_>,
    begins: &mut dyn FnMut() -> Place,
) -> Result<BuildReport, Failure> {
    let workload = &*request.workload;
    let description = workload.description();
    identify(description, database)?;
    let procedures = database.capabilities().procedures;
    let (layouts, mut catalogue) = layouts_and_catalogue(database, request)?;
    let source = request.dialect_options.get(LOAD_FROM).map(|source| format!("load_{source}"));
    let options = &request.settings.options;
    let effects: Vec<BuildEffect> = effects(description, options).collect();
    if effects.contains(&BuildEffect::ForeignKeys) {
        refuse_without_foreign_keys(description, database)?;
    }
    if request.create_database {
        create_database(database)?;
    }
    let report = report(database, request);
    // The advisory lock is held by a separate session on this thread until the end of the build.
    on_this_thread(async {
        ask_exporter(request.host_exporter.as_ref()).await?;
        let limit = request.connect_limit;
        let _lock =
            lock_workload(description, database, Role::Loader, LockMode::Exclusive, limit).await?;
        let mut session = connect(database, Role::Loader, limit)
            .await
            .doing(format_args!("connecting to {}", database.target()))?;
        layout::require(&layouts, &mut session, &database.target()).await?;
        if let Some(row) = layout::demanded_key(database.dialect(), &layouts, &mut session).await? {
            watch.note(
                "the server demands a primary key of every table: keys are created with the tables",
            );
            catalogue = catalogue.with_keys_in_tables(&row);
        }
        let mut place = None;
        let mut begun = || place = begins();
        let (record, outcome) =
            begin(&catalogue, &mut session, request, database, watch, &mut begun).await?;
        if record.is_complete() {
            session.close().await;
            return Ok(BuildReport { outcome: ALREADY_BUILT.into(), ..report });
        }
        let observers =
            BuildObservers::start(database, request, &catalogue, &mut session, place).await;
        session.close().await;
        let builder = Builder {
            description,
            workload,
            catalogue: &catalogue,
            record,
            pool: pool(database, request),
            watch,
            procedures: procedures && !effects.contains(&BuildEffect::NoProcedures),
            effects,
            resumed: outcome == RESUMED,
            source: source.filter(|kind| catalogue.scripts(kind).next().is_some()),
            hosts: request.hosts.as_ref(),
            observers: &observers,
        };
        let mut report =
            builder.build(BuildReport { outcome: outcome.into(), jobs: request.jobs, ..report })?;
        observers.end(&mut report).await;
        Ok(report)
    })
}

/// The requested layouts of the tables, and the statements of a build with them.
fn layouts_and_catalogue(
    database: &AnyDatabase,
    request: &BuildRequest,
) -> Result<(Vec<Layout>, StatementCatalogue), Failure> {
    let description = request.workload.description();
    let layouts = layout::requested(description, database.dialect(), request)?;
    let catalogue = catalogues::catalogue_of_build(
        description,
        database.dialect(),
        database.capabilities().procedures,
        Some(request.settings.scale),
        &request.dialect_options,
        &layouts,
    )?;
    Ok((layouts, catalogue))
}

fn refuse_without_foreign_keys(
    workload: &Description,
    database: &AnyDatabase,
) -> Result<(), Failure> {
    if database.capabilities().foreign_keys {
        return Ok(());
    }
    let option = option_of(workload, BuildEffect::ForeignKeys);
    Err(Failure::refuse(format!(
        "this database cannot add foreign keys to loaded tables; build without --{}",
        option.map_or("", |option| &option.name)
    )))
}

/// The report of a build before it has done anything.
fn report(database: &AnyDatabase, request: &BuildRequest) -> BuildReport {
    let workload = request.workload.description();
    BuildReport {
        workload: workload.title.to_string(),
        scale: request.settings.scale,
        scale_unit: workload.scale_unit.many.to_string(),
        seed: request.settings.data_seed,
        target: database.target(),
        ..BuildReport::default()
    }
    .judged()
}

/// The sessions that load the data and run the scripts.
fn pool(database: &Arc<AnyDatabase>, request: &BuildRequest) -> WorkerPool {
    WorkerPool {
        database: Arc::clone(database),
        size: request.jobs,
        role: Role::Loader,
        connect_limit: request.connect_limit,
        cancel: request.cancel.clone(),
    }
}

/// Inspects the schema, drops existing tables if requested, and returns the record to continue
/// from, and what the build is then.
async fn begin(
    catalogue: &StatementCatalogue,
    session: &mut Limited<AnySession>,
    request: &BuildRequest,
    database: &Arc<AnyDatabase>,
    watch: &Watch<'_>,
    begins: &mut dyn FnMut(),
) -> Result<(Record, &'static str), Failure> {
    let workload = request.workload.description();
    let found = remove::inspect(workload, catalogue, session).await?;
    if let Some(record) = found.record.as_ref().filter(|_| !request.replace) {
        if let Some(refusal) = unfit(request, &found, record, &database.target()) {
            return Err(Failure::refuse(refusal));
        }
        let tables = record.lacks(workload);
        if !tables.is_empty() {
            begins();
            let started = add(workload, catalogue, session, &tables).await;
            return Ok((started.doing("recording the tables to add")?, ADDED));
        }
        let outcome = standing(request, record, database)?;
        begins();
        if outcome == RESUMED {
            watch.note("resuming an interrupted build");
        }
        return Ok((record.clone(), outcome));
    }
    if request.force {
        remove::refuse_unrelated(workload, session, &found).await?;
    }
    let replaces = found.record.is_some() || request.force;
    if !replaces {
        found.refuse_strangers(workload, &database.target())?;
    }
    let capabilities = database.capabilities();
    let how = match catalogue.ends_transactions() {
        true => Dropping::OneByOne,
        false => Dropping::of(database, &found)?,
    };
    let atomic = how == Dropping::InTransaction;
    if replaces {
        remove::refuse_dependents(workload, session, &found, request.force).await?;
        rehearse(catalogue, session, request, capabilities.procedures)
            .await
            .doing("testing whether the tables can be created (nothing was dropped)")?;
    }
    begins();
    if atomic {
        session.begin(Access::Write).await.doing("starting the build")?;
    }
    if replaces {
        remove::remove(workload, catalogue, session, &found, how, request.force).await?;
    }
    let started = start(catalogue, session, request, atomic).await;
    Ok((started.doing("creating the tables and the build record")?, BUILT))
}

/// Whether a build with this record is resumed or already complete.
///
/// # Errors
/// When it has different settings, or cannot be resumed.
fn standing(
    request: &BuildRequest,
    record: &Record,
    database: &AnyDatabase,
) -> Result<&'static str, Failure> {
    let (workload, target) = (request.workload.description(), database.target());
    let difference = record
        .difference(workload, &request.settings, &request.dialect_options)
        .or_else(|| record.setup_difference(&request.workload.build_facts()));
    if let Some(difference) = difference {
        let what =
            if record.is_complete() { "is already built" } else { "has an interrupted build" };
        return Err(Failure::refuse(format!(
            "{} {what} at {target} with different settings: {difference}; --replace rebuilds it, \
             `triphammer drop` removes it",
            workload.title
        )));
    }
    if record.is_complete() {
        return Ok(ALREADY_BUILT);
    }
    if !database.capabilities().transactions {
        return Err(Failure::refuse(format!(
            "an interrupted build of {} at {target} cannot be resumed, because the database cannot \
             undo what was half loaded; --replace starts over",
            workload.title
        )));
    }
    Ok(RESUMED)
}

/// Why a record of a workload and one that extends it does not fit this build; `None` if it fits.
fn unfit(
    request: &BuildRequest,
    found: &FoundObjects,
    record: &Record,
    target: &str,
) -> Option<String> {
    let workload = request.workload.description();
    let (beyond, lacking) = (record.beyond(workload).join(", "), record.lacks(workload));
    if !beyond.is_empty() && !record.is_complete() {
        return Some(format!(
            "the build of a workload with the tables {beyond} at {target} was interrupted: resume \
             it with the same command, or start over with --replace"
        ));
    }
    if lacking.is_empty() {
        return None;
    }
    if !request.add {
        return Some(record.without_additions(workload, target));
    }
    if !record.is_complete() {
        return Some(format!(
            "the build of {} at {target} was interrupted: complete it before you add tables",
            workload.record_name()
        ));
    }
    let strange: Vec<&str> =
        lacking.into_iter().filter(|name| found.tables.iter().any(|t| t == name)).collect();
    (!strange.is_empty()).then(|| {
        format!(
            "{target} contains tables that triphammer did not create: {}; rename or drop them first",
            strange.join(", ")
        )
    })
}

/// Makes a complete record that of an interrupted build which lacks the added tables.
async fn add<S: Session>(
    workload: &Description,
    catalogue: &StatementCatalogue,
    session: &mut S,
    tables: &[&str],
) -> Result<Record, DbError> {
    let recording = Recording::prepare(workload, catalogue, session).await?;
    session.begin(Access::Write).await?;
    recording.update(session, "state", "building").await?;
    for table in tables {
        recording.insert(session, &format!("object/{table}"), "table").await?;
    }
    session.commit().await?;
    recording.read(session).await
}

/// The record of the workload that this one extends, to which `--add` adds tables.
///
/// # Errors
/// When the workload extends no other, or that one is not built at the target.
pub fn base_record(workload: &Description, target: &Target) -> Result<Record, Failure> {
    let Some(base) = &workload.extends else {
        return Err(Failure::refuse(format!(
            "--add adds the tables of a workload to those of the one that it extends, and {} \
             extends none; omit it",
            workload.title
        )));
    };
    let (base, database) = (describe(base)?, &target.database);
    identify(&base, database)?;
    let procedures = database.capabilities().procedures;
    let catalogue = catalogues::catalogue(&base, database.dialect(), procedures)?;
    let record = on_this_thread(async {
        let mut session = connect(database, Role::Loader, target.connect_limit)
            .await
            .doing(format_args!("connecting to {}", database.target()))?;
        let found = remove::inspect(&base, &catalogue, &mut session).await?;
        session.close().await;
        Ok::<_, Failure>(found.record.or(found.external))
    })?;
    match record {
        Some(record) if !record.is_external() => Ok(record),
        Some(record) => Err(Failure::refuse(format!(
            "{} created the tables at {}; tables can only be added to those that triphammer built",
            record.made_by().unwrap_or("another program"),
            database.target()
        ))),
        None => Err(Failure::refuse(format!(
            "there is no {} at {} to add tables to; without --add, everything is built",
            base.title,
            database.target()
        ))),
    }
}

/// Tests the first steps of a build before existing tables are dropped for it.
async fn rehearse<S: Admin>(
    catalogue: &StatementCatalogue,
    session: &mut S,
    request: &BuildRequest,
    procedures: bool,
) -> Result<(), DbError> {
    let tables: Vec<&str> = catalogue.scripts("create").map(|script| script.sql.as_str()).collect();
    let mut effects = effects(request.workload.description(), &request.settings.options);
    let without = effects.any(|effect| effect == BuildEffect::NoProcedures);
    let longest = catalogue.all_scripts().iter().map(|script| script.sql.len()).max();
    session.rehearse(&tables, longest.filter(|_| procedures && !without)).await
}

/// Records what is going to be built before anything is created. If tables can be created in the
/// caller's transaction (`atomic`), creates them in it too: old tables disappear only when the new
/// ones exist.
async fn start<S: Session>(
    catalogue: &StatementCatalogue,
    session: &mut S,
    request: &BuildRequest,
    atomic: bool,
) -> Result<Record, DbError> {
    for script in catalogue.scripts("build_record").filter(|s| s.object() == "create") {
        session.script(&script.sql).await?;
    }
    let workload = request.workload.description();
    let recording = Recording::prepare(workload, catalogue, session).await?;
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
    let facts = request.workload.build_facts();
    items.extend(facts.into_iter().map(|(k, v)| (format!("fact/{k}"), v)));
    items
        .extend(workload.tables.iter().map(|t| (format!("object/{}", t.name), "table".to_owned())));
    if !atomic {
        session.begin(Access::Write).await?;
    }
    for (item, value) in &items {
        recording.insert(session, item, value).await?;
    }
    for script in catalogue.scripts("create").filter(|_| atomic) {
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
    catalogue: &'a StatementCatalogue,
    record: Record,
    pool: WorkerPool,
    watch: &'a Watch<'w>,
    effects: Vec<BuildEffect>,
    procedures: bool,
    resumed: bool,
    /// Kind of the scripts that load the tables within the server; `None` if the client sends rows.
    source: Option<String>,
    /// The hosts that load the data; `None` for this process.
    hosts: Option<&'a SharedBuild>,
    observers: &'a BuildObservers,
}

impl Builder<'_, '_> {
    fn build(&self, mut report: BuildReport) -> Result<BuildReport, Failure> {
        let (mut phases, mut usage) = (Vec::new(), Vec::new());
        let mut timed = |name: &str, work: &mut dyn FnMut() -> Result<u64, Failure>| {
            let (begun, used) = (Instant::now(), self.observers.begin());
            let done = work()?;
            phases.push((name.to_owned(), begun.elapsed().as_secs_f64()));
            usage.extend(self.observers.phase(name, used));
            Ok::<u64, Failure>(done)
        };
        let pool = self.pool.size;
        let own = self.effects.iter().filter_map(|effect| match effect {
            BuildEffect::Keys(kind) => Some(*kind),
            BuildEffect::ForeignKeys | BuildEffect::NoProcedures | BuildEffect::Layout => None,
        });
        let keys: &[&str] = &std::iter::once("key").chain(own).collect::<Vec<_>>();
        let mut meant = [keys, &["create", "index"]].concat();
        timed("tables", &mut || self.scripts("creating tables", &["create"], 1))?;
        if self.catalogue.is_clustered() {
            timed("keys", &mut || self.scripts("keys", keys, 1))?;
        }
        let rows = timed("load", &mut || match &self.source {
            Some(kind) => self.load_in_server(kind),
            None => {
                let (rows, hosts) = self.load()?;
                report.hosts = hosts;
                Ok(rows)
            }
        })?;
        if self.catalogue.is_clustered() {
            timed("indexes", &mut || self.scripts("indexes", &["index"], pool))?;
        } else {
            let kinds = [keys, &["index"]].concat();
            timed("keys and indexes", &mut || self.scripts("keys and indexes", &kinds, pool))?;
        }
        if self.effects.contains(&BuildEffect::ForeignKeys) {
            meant.push("foreign_key");
            timed("foreign keys", &mut || self.scripts("foreign keys", &["foreign_key"], 1))?;
        }
        if self.procedures {
            timed("procedures", &mut || self.scripts("procedures", &["procedure"], 1))?;
        }
        if self.catalogue.scripts("setup").next().is_some() {
            timed("set-up", &mut || self.scripts("set-up", &["setup"], 1))?;
        }
        timed("statistics", &mut || self.scripts("statistics", &["analyze"], pool))?;
        self.compare(&meant)?;
        self.finish()?;
        Ok(BuildReport { rows, phases, usage, ..report })
    }

    /// Runs every script of these kinds that is not recorded as done, each with its record in one
    /// transaction if the database supports that for its tables.
    fn scripts(&self, phase: &str, kinds: &[&str], size: u32) -> Result<u64, Failure> {
        let todo: Vec<&Script> = kinds
            .iter()
            .flat_map(|kind| self.catalogue.scripts(kind))
            .filter(|script| !self.record.has(&step(script)))
            .collect();
        self.watch.task(phase, todo.len() as u64, "steps");
        let pool = WorkerPool {
            database: Arc::clone(&self.pool.database),
            cancel: self.pool.cancel.clone(),
            size,
            ..self.pool
        };
        pool.work(
            &todo,
            |script| format!("running `{}`", script.name),
            async |session| Recording::prepare(self.description, self.catalogue, session).await,
            async |session, recording, script| {
                if !self.catalogue.ends_transactions() {
                    session.begin(Access::Write).await?;
                }
                match session.script(&script.sql).await {
                    // The build was killed just after this step: it is done, but there is no record
                    // of it.
                    Err(error) if self.resumed && self.catalogue.was_done_before(&error) => {}
                    done => done?,
                }
                if self.catalogue.ends_transactions() {
                    session.begin(Access::Write).await?;
                }
                recording.insert(session, &step(script), "done").await?;
                session.commit().await?;
                self.watch.advance(1);
                Ok(())
            },
        )?;
        if self.resumed {
            self.compare(kinds)?;
        }
        Ok(todo.len() as u64)
    }

    /// Compares what exists with what the scripts of these kinds make.
    fn compare(&self, kinds: &[&str]) -> Result<(), Failure> {
        let missing = self.pool.work(
            &[()],
            |()| "comparing what exists with what was to be built".to_owned(),
            async |_| Ok(()),
            async |session, (), ()| {
                built::missing(self.description, self.catalogue, kinds, session).await
            },
        )?;
        let missing = missing.concat();
        if missing.is_empty() {
            return Ok(());
        }
        Err(Failure::refuse(format!(
            "the build lacks {}: something else has the name, or it was dropped meanwhile; start \
             over with --replace",
            missing.join(", ")
        )))
    }

    /// Loads every chunk that is not recorded as loaded; returns the number of rows, and the hosts that
    /// loaded them, if there are any.
    fn load(&self) -> Result<(u64, Vec<BuildHost>), Failure> {
        let mut todo: Vec<(usize, Chunk)> =
            self.workload.chunks().into_iter().enumerate().collect();
        todo.retain(|(_, chunk)| !self.record.has(&format!("part/{}", chunk.name)));
        self.watch.task("loading", todo.iter().map(|(_, chunk)| chunk.rows).sum(), "rows");
        let (positions, chunks): (Vec<usize>, Vec<Chunk>) = todo.into_iter().unzip();
        if let Some(hosts) = &self.hosts {
            let hosts = hosts.load(&positions, &self.pool.cancel, self.watch)?;
            return Ok((hosts.iter().map(|host| host.rows).sum(), hosts));
        }
        let loader = Loader {
            description: self.description,
            workload: self.workload,
            catalogue: self.catalogue,
            pool: &self.pool,
        };
        let rows = loader.load(&chunks, &|table, rows| self.watch.rows(table, rows))?;
        Ok((rows, Vec::new()))
    }

    /// Loads every table by its script that is not recorded as run; returns the number of rows.
    fn load_in_server(&self, kind: &str) -> Result<u64, Failure> {
        let is_open = |script: &&Script| !self.record.has(&step(script));
        let todo: Vec<&Script> = self.catalogue.scripts(kind).filter(is_open).collect();
        self.watch.task("loading", todo.len() as u64, "tables");
        let loaded = self.pool.work(
            &todo,
            |script| format!("running `{}`", script.name),
            async |session| Recording::prepare(self.description, self.catalogue, session).await,
            async |session, recording, script| {
                session.begin(Access::Write).await?;
                let (name, sql) = (script.name.clone(), script.sql.clone());
                let statement = BoundStatement { name, sql, params: Vec::new(), order: Vec::new() };
                let id = session.prepare(&statement).await?;
                let rows = session.execute(id, &[]).await?;
                recording.insert(session, &step(script), &rows.to_string()).await?;
                session.commit().await?;
                self.watch.advance(1);
                Ok(rows)
            },
        )?;
        Ok(loaded.into_iter().sum())
    }

    fn finish(&self) -> Result<(), Failure> {
        self.pool
            .work(
                &[()],
                |()| "completing the build record".to_owned(),
                async |session| Recording::prepare(self.description, self.catalogue, session).await,
                async |session, recording, ()| recording.update(session, "state", "complete").await,
            )
            .map(drop)
    }
}

fn step(script: &Script) -> String {
    format!("step/{}", script.name)
}
