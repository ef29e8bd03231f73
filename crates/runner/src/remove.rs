//! `drop`, and the dropping half of `build --replace`: removes only what a build created.
//!
//! A build created what its record lists. A schema without a record, or with tables of a workload's
//! names that are in no record, belongs to someone else and is rejected unless force is used.
//!
//! It drops everything or nothing: in one transaction if the database supports that; otherwise it
//! first looks for anything that would stop it halfway, and drops all tables with one statement, if
//! there is one. A database without transactions drops them one by one.

use std::sync::Arc;
use std::time::Duration;

use triphammer_core::session::{Access, Admin, Capabilities, Database, LockMode, Role};
use triphammer_core::sql::StatementCatalogue;
use triphammer_core::workload::{Description, ExternalFindings, ExternalSchema, Statements};
use triphammer_core::{DbError, ErrorClass, Rows, Scale, Session};
use triphammer_dialects::catalogues;
use triphammer_drivers::AnyDatabase;
use triphammer_settings::failure::{Doing, Failure};
use triphammer_settings::worker_pool::{connect, identify, on_this_thread};

use crate::record::{Record, Recording, TABLE};
use crate::workload_lock::lock_workload;

/// The objects in a schema that concern a workload.
#[derive(Debug)]
pub struct FoundObjects {
    /// The build record; `None` if there is none.
    pub record: Option<Record>,
    /// Whether the record table exists, for any workload.
    pub has_table: bool,
    /// Existing tables with the workload's names.
    pub tables: Vec<String>,
    /// Existing tables of the record that a workload has added which extends this one.
    pub added: Vec<String>,
    /// The substitute for a record if another program created the tables.
    pub external: Option<Record>,
    /// The workload that was built with tables of these names; `None` if it is this one, or if they
    /// are in no record.
    pub built_by: Option<String>,
    /// Why tables with the workload's names are not taken for another program's, and what to do.
    pub unusable: Option<String>,
}

impl FoundObjects {
    /// Rejects tables with the workload's names that are in no record.
    ///
    /// # Errors
    /// Lists their names and what to do.
    pub fn refuse_strangers(&self, workload: &Description, target: &str) -> Result<(), Failure> {
        if self.record.is_some() || self.tables.is_empty() {
            return Ok(());
        }
        let tables = self.tables.join(", ");
        if let (Some(external), Some(_)) = (&workload.external, &self.external) {
            return Err(Failure::refuse(format!(
                "{target} contains tables created by {}: {tables}; `run` and `check` use them as \
                 they are, and only --force removes them",
                external.made_by
            )));
        }
        if let Some(other) = &self.built_by {
            return Err(Failure::refuse(format!(
                "{target} contains tables of {other}, which is built there: {tables}; {} needs a \
                 schema or database without them (--schema NAME), or drop {other} first: \
                 triphammer drop {target} -w {other}",
                workload.title
            )));
        }
        let unusable = self.unusable.as_ref().map_or(String::new(), |why| format!(" ({why})"));
        Err(Failure::refuse(format!(
            "{target} contains tables that triphammer did not create: {tables}{unusable}; {} needs \
             a schema or database without them (--schema NAME)",
            workload.title
        )))
    }
}

/// Inspects the schema.
///
/// # Errors
/// When the database reports an error.
pub async fn inspect<S: Admin>(
    workload: &Description,
    catalogue: &StatementCatalogue,
    session: &mut S,
) -> Result<FoundObjects, Failure> {
    let present = session.tables().await.doing("listing tables")?;
    let has_table = present.iter().any(|name| name == TABLE);
    let record = if has_table {
        let read = Recording::only_read(workload, catalogue, session);
        Some(read.await.doing("reading the build record")?).filter(|record| !record.is_empty())
    } else {
        None
    };
    let ours = |name: &&String| workload.tables.iter().any(|table| table.name == name.as_str());
    let tables: Vec<String> = present.iter().filter(ours).cloned().collect();
    let whole = tables.len() == workload.tables.len();
    let found = if whole { external_scale(workload, catalogue, session).await? } else { Ok(None) };
    let (scale, unusable) = (*found.as_ref().unwrap_or(&None), found.err());
    // If the scale of a complete build differs from that of the tables, the other program has
    // rebuilt them.
    let is_stale = |record: &Record| {
        let built = record.get("scale").and_then(|text| text.parse::<Scale>().ok());
        record.is_complete() && scale.is_some() && scale != built
    };
    let record = record.filter(|record| !is_stale(record));
    let external = match (&record, &workload.external, scale) {
        (None, Some(external), Some(scale)) => {
            let judged = judge(catalogue, session, external).await?;
            Some(Record::external(workload, external, scale, judged))
        }
        _ => None,
    };
    let built_by = match has_table && record.is_none() && !tables.is_empty() {
        true => Recording::builder_of(workload, &tables, catalogue, session).await,
        false => Ok(None),
    };
    let built_by = built_by.doing("reading the build record")?;
    let added = record.iter().flat_map(|record| record.beyond(workload));
    let added = added.filter(|name| present.iter().any(|there| there == name));
    let added = added.map(str::to_owned).collect();
    Ok(FoundObjects { record, has_table, tables, added, external, built_by, unusable })
}

/// The scale of tables that another program may have created; `None` if they are not its tables, or
/// why they cannot be used.
async fn external_scale<S: Session>(
    workload: &Description,
    catalogue: &StatementCatalogue,
    session: &mut S,
) -> Result<Result<Option<Scale>, String>, Failure> {
    let external = workload.external.as_ref();
    let Some(external) = external.filter(|external| catalogue.has_statement(&external.scale))
    else {
        return Ok(Ok(None));
    };
    let mut rows = Rows::new();
    let asked = async {
        let id = Statements::new(catalogue).prepare(session, &external.scale).await?;
        session.query(id, &[], &mut rows).await
    };
    match asked.await {
        // An unrelated table of that name lacks the columns.
        Err(error) if !error.class().loses_session() => {
            return Ok(match &external.hint {
                Some(hint) => Err(format!("{error}: {hint}")),
                None => Ok(None),
            });
        }
        asked => asked.doing("determining the scale of the tables")?,
    }
    let keys = rows.iter().next().and_then(|row| row.int(0).ok());
    let keys = keys.and_then(|keys| u32::try_from(keys).ok()).filter(|keys| *keys > 0);
    let thousandths = 1_000 / u64::from(workload.scale_unit.keys);
    Ok(Ok(keys.map(|keys| Scale::from_thousandths(u64::from(keys) * thousandths))))
}

/// Checks what else a run needs besides the tables that another program created.
async fn judge<S: Session>(
    catalogue: &StatementCatalogue,
    session: &mut S,
    external: &ExternalSchema,
) -> Result<ExternalFindings, Failure> {
    let Some(needs) = &external.needs else { return Ok(ExternalFindings::default()) };
    let judged = async {
        let mut rows = Rows::new();
        let id = Statements::new(catalogue).prepare(session, &needs.statement).await?;
        session.query(id, &[], &mut rows).await?;
        (needs.judge)(catalogue, &rows)
    };
    judged
        .await
        .doing(format_args!("looking for what {} created besides the tables", external.made_by))
}

/// How a database drops several tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dropping {
    /// All or none: the caller has started a transaction in which tables can be dropped, and
    /// commits it afterwards.
    InTransaction,
    /// With one statement, which acquires all locks and rights before it drops the first.
    AtOnce,
    /// One after another: it has no transactions, or none for such tables, and no statement for
    /// several.
    OneByOne,
}

impl Dropping {
    /// How a database drops what was found.
    ///
    /// # Errors
    /// When the files of its dialect are malformed.
    pub fn of(database: &AnyDatabase, found: &FoundObjects) -> Result<Self, Failure> {
        for option in catalogues::options(database.dialect())? {
            let built =
                found.record.as_ref().and_then(|r| r.get(&format!("dialect/{}", option.name)));
            if option.layout.ends_transactions && built.is_some_and(|value| value != option.default)
            {
                return Ok(Self::OneByOne);
            }
        }
        let drops_several = catalogues::drops_several(database.dialect())?;
        Ok(match database.capabilities() {
            Capabilities { transactional_ddl: true, .. } => Self::InTransaction,
            Capabilities { transactions: true, .. } if drops_several => Self::AtOnce,
            _ => Self::OneByOne,
        })
    }
}

/// Removes what the record lists, and with `force` every table with the workload's names.
///
/// # Errors
/// When the database reports an error, for instance because a view depends on a table.
pub async fn remove<S: Admin>(
    workload: &Description,
    catalogue: &StatementCatalogue,
    session: &mut S,
    found: &FoundObjects,
    how: Dropping,
    force: bool,
) -> Result<Vec<String>, Failure> {
    let mut removed = to_remove(workload, found, force);
    drop_tables(session, &removed, how).await?;
    let left = relations_of(workload, session, found, force).await?;
    if !left.is_empty() {
        let message = format!("{} is still there after the drop", left.join(", "));
        return Err(DbError::new(ErrorClass::Other, message)).doing("dropping the tables");
    }
    if found.record.is_some() {
        for script in catalogue.scripts("teardown") {
            session.script(&script.sql).await.doing("running the tear-down script")?;
            removed.push(format!("{} (tear-down script)", workload.title));
        }
        let last = ["after_drop", "drop_procedure"].into_iter();
        for script in last.flat_map(|kind| catalogue.scripts(kind)) {
            session.script(&script.sql).await.doing(format_args!("running `{}`", script.name))?;
        }
    }
    if found.has_table {
        let forget = async {
            let recording = Recording::prepare(workload, catalogue, session).await?;
            recording.delete(session).await
        };
        if forget.await.doing("removing the build record")? {
            for script in catalogue.scripts("build_record").filter(|s| s.object() == "drop") {
                session.script(&script.sql).await.doing("removing the table of build records")?;
            }
        }
    }
    Ok(removed)
}

/// The tables to drop, children first: workloads list parents first, as foreign keys require.
fn to_remove(workload: &Description, found: &FoundObjects, force: bool) -> Vec<String> {
    let listed = |name: &str| {
        let item = format!("object/{name}");
        found.record.as_ref().is_some_and(|record| record.has(&item))
    };
    let own = |name: &String| found.tables.contains(name) && (force || listed(name));
    let mut names = tables_of_record(workload);
    names.retain(|name| own(name) || found.added.contains(name));
    names
}

/// Everything with the name of a table that the build made, or with `force` of any table of the workload: kind and
/// name in one phrase.
async fn relations_of<S: Admin>(
    workload: &Description,
    session: &mut S,
    found: &FoundObjects,
    force: bool,
) -> Result<Vec<String>, Failure> {
    let listed = |name: &str| {
        let item = format!("object/{name}");
        found.record.as_ref().is_some_and(|record| record.has(&item))
    };
    let mut names = tables_of_record(workload);
    names.retain(|name| listed(name) || (force && workload.tables.iter().any(|t| t.name == *name)));
    let relations = session.relations().await.doing("listing tables, views and sequences")?;
    let relations = relations.into_iter().filter(|[_, name]| names.contains(name));
    Ok(relations.map(|[kind, name]| format!("{kind} {name}")).collect())
}

/// Rejects the drop if something else stands where the build made a table: it would remain.
async fn refuse_substitutes<S: Admin>(
    workload: &Description,
    session: &mut S,
    found: &FoundObjects,
    force: bool,
) -> Result<(), Failure> {
    let going = to_remove(workload, found, force);
    let mut others = relations_of(workload, session, found, force).await?;
    others
        .retain(|phrase| going.iter().all(|name| phrase.rsplit(' ').next() != Some(name.as_str())));
    if others.is_empty() {
        return Ok(());
    }
    Err(Failure::refuse(format!(
        "nothing was dropped: {} has the name of a table of {}, but is none that the build made; \
         drop or rename it first",
        others.join(", "),
        workload.title
    )))
}

/// The tables that a record of the workload may list, children first: those that extend it add theirs.
fn tables_of_record(workload: &Description) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let others = triphammer_workloads::all();
    let sharing = others.iter().filter(|other| other.record_name() == workload.record_name());
    let tables = workload.tables.iter().chain(sharing.flat_map(|other| other.tables.iter()));
    for table in tables {
        if names.iter().all(|name| *name != table.name) {
            names.push(table.name.to_string());
        }
    }
    names.reverse();
    names
}

/// Drops tables; an error names its table, except where one statement drops them all.
async fn drop_tables<S: Session>(
    session: &mut S,
    tables: &[String],
    how: Dropping,
) -> Result<(), Failure> {
    if how == Dropping::AtOnce {
        if tables.is_empty() {
            return Ok(());
        }
        let all = tables.join(", ");
        let dropped = session.script(&format!("DROP TABLE {all}")).await;
        return dropped.doing(format_args!("dropping {all}"));
    }
    for table in tables {
        let nothing = if how == Dropping::InTransaction { " (nothing was dropped)" } else { "" };
        let dropped = session.script(&format!("DROP TABLE {table}")).await;
        dropped.doing(format_args!("dropping table {table}{nothing}"))?;
    }
    Ok(())
}

/// Rejects the drop if other objects depend on the tables, unless the database checks that itself.
///
/// # Errors
/// Lists the dependent objects.
pub async fn refuse_dependents<S: Admin>(
    workload: &Description,
    session: &mut S,
    found: &FoundObjects,
    force: bool,
) -> Result<(), Failure> {
    refuse_substitutes(workload, session, found, force).await?;
    let removed = to_remove(workload, found, force);
    let removed: Vec<&str> = removed.iter().map(String::as_str).collect();
    let dependents = session.dependents(&removed).await;
    let dependents = dependents.doing("looking for objects that depend on the tables")?;
    if dependents.is_empty() {
        return Ok(());
    }
    Err(Failure::refuse(format!(
        "nothing was dropped: other objects depend on the tables of {}: {}; drop these first",
        workload.title,
        dependents.join(", ")
    )))
}

/// Rejects tables that only share their names with the workload's, which force must not remove: an
/// unrelated table `orders` lacks the workload's columns.
///
/// # Errors
/// Names such a table.
pub async fn refuse_unrelated<S: Session>(
    workload: &Description,
    session: &mut S,
    found: &FoundObjects,
) -> Result<(), Failure> {
    if found.external.is_some() {
        return Ok(());
    }
    let unlisted = |name: &str| {
        let item = format!("object/{name}");
        found.tables.iter().any(|table| table == name)
            && !found.record.as_ref().is_some_and(|record| record.has(&item))
    };
    for table in workload.tables.iter().filter(|table| unlisted(&table.name)) {
        let columns: Vec<&str> = table.columns.iter().map(|column| &*column.name).collect();
        let ask = format!("SELECT {} FROM {} WHERE 1 = 0", columns.join(", "), table.name);
        match session.script(&ask).await {
            Err(error) if !error.class().loses_session() => {
                return Err(Failure::refuse(format!(
                    "table {} does not belong to {} although it has its name: {error}; --force \
                     does not remove it, so drop it manually or use another schema or database",
                    table.name, workload.title
                )));
            }
            asked => asked.doing(format_args!("inspecting table {}", table.name))?,
        }
    }
    Ok(())
}

/// `drop`: removes what a build created. Returns the names of the dropped tables.
///
/// # Errors
/// When there is nothing to drop, the tables are not the workload's own, or the database reports an
/// error.
pub fn drop_build(
    workload: &Description,
    database: &Arc<AnyDatabase>,
    force: bool,
    limit: Duration,
) -> Result<Vec<String>, Failure> {
    identify(workload, database)?;
    let catalogue =
        catalogues::catalogue(workload, database.dialect(), database.capabilities().procedures)?;
    on_this_thread(async {
        let target = database.target();
        let mut session = connect(database, Role::Monitor, limit)
            .await
            .doing(format_args!("connecting to {target}"))?;
        let _lock =
            lock_workload(workload, database, Role::Monitor, LockMode::Exclusive, limit).await?;
        let found = inspect(workload, &catalogue, &mut session).await?;
        if force {
            refuse_unrelated(workload, &mut session, &found).await?;
        } else {
            found.refuse_strangers(workload, &target)?;
        }
        if let Some(record) = &found.record
            && !record.lacks(workload).is_empty()
        {
            return Err(Failure::refuse(record.without_additions(workload, &target)));
        }
        if found.record.is_none() && found.tables.is_empty() {
            return Err(Failure::refuse(format!(
                "there is no {} at {target} to drop",
                workload.title
            )));
        }
        refuse_dependents(workload, &mut session, &found, force).await?;
        let how = Dropping::of(database, &found)?;
        if how == Dropping::InTransaction {
            session.begin(Access::Write).await.doing("starting to drop")?;
        }
        let removed = remove(workload, &catalogue, &mut session, &found, how, force).await?;
        if how == Dropping::InTransaction {
            session.commit().await.doing("committing the drop")?;
        }
        session.close().await;
        Ok(removed)
    })
}
