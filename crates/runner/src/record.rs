//! The build record: the rows of `triphammer_build` that belong to a workload.
//!
//! | item | value |
//! |---|---|
//! | `version`, `scale`, `seed`, `option/NAME`, `dialect/NAME`, `fact/NAME` | what was built |
//! | `object/NAME` | a table that the build made, and that `drop` may remove |
//! | `part/NAME`, `step/NAME` | a loaded chunk of the data; a created key, index or procedure |
//! | `state` | `building`, `complete` |
//! | `first_run` | when a run first touched the data; absent while it is as built |
//!
//! A workload and those that extend it share one record: its `object/` items show which of their tables exist.
//!
//! The row of a chunk is written in the transaction that loads the chunk, so the record never
//! claims more than exists: an interrupted build is resumed from it.

use std::collections::BTreeMap;

use triphammer_core::sql::StatementCatalogue;
use triphammer_core::workload::{
    Description, ExternalFindings, ExternalSchema, Name, Statements, WorkloadSettings,
};
use triphammer_core::{DbError, Rows, Scale, Session, StatementId, Value};

/// Name of the table.
pub const TABLE: &str = "triphammer_build";

/// Statements on the table, prepared on a session.
#[derive(Debug)]
pub struct Recording {
    workload: Name,
    all: StatementId,
    insert: StatementId,
    update: StatementId,
    delete_all: StatementId,
    others: StatementId,
}

/// The items recorded for a workload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    items: BTreeMap<String, String>,
    /// The program that created the tables, if not triphammer; the record table does not contain
    /// them then.
    made_by: Option<Name>,
    /// Findings besides the tables.
    judged: ExternalFindings,
}

impl Recording {
    /// Prepares the statements; the table must exist.
    ///
    /// # Errors
    /// When the database reports an error.
    pub async fn prepare<S: Session>(
        workload: &Description,
        catalogue: &StatementCatalogue,
        session: &mut S,
    ) -> Result<Self, DbError> {
        let mut statements = Statements::new(catalogue);
        Ok(Self {
            workload: workload.record_name().clone(),
            all: statements.prepare(session, "build_record.all").await?,
            insert: statements.prepare(session, "build_record.insert").await?,
            update: statements.prepare(session, "build_record.update").await?,
            delete_all: statements.prepare(session, "build_record.delete_all").await?,
            others: statements.prepare(session, "build_record.others").await?,
        })
    }

    fn text(&self) -> Value<'_> {
        Value::Text(&self.workload)
    }

    /// Reads the record; needs only the right to select.
    ///
    /// # Errors
    /// When the database reports an error.
    pub async fn only_read<S: Session>(
        workload: &Description,
        catalogue: &StatementCatalogue,
        session: &mut S,
    ) -> Result<Record, DbError> {
        let all = Statements::new(catalogue).prepare(session, "build_record.all").await?;
        read(session, all, workload.record_name()).await
    }

    /// The names of the workloads that have a record, in order.
    ///
    /// # Errors
    /// When the database reports an error.
    pub async fn workloads<S: Session>(
        catalogue: &StatementCatalogue,
        session: &mut S,
    ) -> Result<Vec<String>, DbError> {
        let all = Statements::new(catalogue).prepare(session, "build_record.workloads").await?;
        let mut rows = Rows::new();
        session.query(all, &[], &mut rows).await?;
        rows.iter().map(|row| row.text(0).map(str::to_owned)).collect()
    }

    /// Another workload in whose record one of these tables is; `None` if it is in none.
    ///
    /// # Errors
    /// When the database reports an error.
    pub async fn builder_of<S: Session>(
        workload: &Description,
        tables: &[String],
        catalogue: &StatementCatalogue,
        session: &mut S,
    ) -> Result<Option<String>, DbError> {
        for name in Self::workloads(catalogue, session).await? {
            if name == **workload.record_name() {
                continue;
            }
            let all = Statements::new(catalogue).prepare(session, "build_record.all").await?;
            let record = read(session, all, &name).await?;
            if tables.iter().any(|table| record.has(&format!("object/{table}"))) {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    /// Reads the record.
    ///
    /// # Errors
    /// When the database reports an error.
    pub async fn read<S: Session>(&self, session: &mut S) -> Result<Record, DbError> {
        read(session, self.all, &self.workload).await
    }

    /// Adds an item.
    ///
    /// # Errors
    /// When the database reports an error; a constraint violation if the item already exists.
    pub async fn insert<S: Session>(
        &self,
        session: &mut S,
        item: &str,
        value: &str,
    ) -> Result<(), DbError> {
        let args = [self.text(), item.into(), Value::Text(value)];
        session.execute(self.insert, &args).await.map(drop)
    }

    /// Changes an item.
    ///
    /// # Errors
    /// When the database reports an error.
    pub async fn update<S: Session>(
        &self,
        session: &mut S,
        item: &str,
        value: &str,
    ) -> Result<(), DbError> {
        let args = [self.text(), item.into(), Value::Text(value)];
        session.execute(self.update, &args).await.map(drop)
    }

    /// Removes the workload's record; returns whether no other workload has one.
    ///
    /// # Errors
    /// When the database reports an error.
    pub async fn delete<S: Session>(&self, session: &mut S) -> Result<bool, DbError> {
        session.execute(self.delete_all, &[self.text()]).await?;
        let mut rows = Rows::new();
        session.query(self.others, &[self.text()], &mut rows).await?;
        Ok(rows.first("the count of other workloads")?.int(0)? == 0)
    }
}

async fn read<S: Session>(
    session: &mut S,
    all: StatementId,
    workload: &str,
) -> Result<Record, DbError> {
    let mut rows = Rows::new();
    session.query(all, &[workload.into()], &mut rows).await?;
    let mut items = BTreeMap::new();
    for row in rows.iter() {
        items.insert(row.text(0)?.to_owned(), row.text(1)?.to_owned());
    }
    Ok(Record { items, ..Record::default() })
}

impl Record {
    /// The record that a build would write, before it exists.
    #[must_use]
    pub fn planned(
        workload: &Description,
        scale: Scale,
        seed: u64,
        options: &BTreeMap<String, String>,
    ) -> Self {
        let mut items = BTreeMap::from([
            ("version".to_owned(), workload.version.to_string()),
            ("scale".to_owned(), scale.to_string()),
            ("seed".to_owned(), seed.to_string()),
        ]);
        items.extend(options.iter().map(|(name, value)| (format!("option/{name}"), value.clone())));
        Self { items, ..Self::default() }
    }

    /// Substitutes a record for tables created by another program.
    #[must_use]
    pub fn external(
        workload: &Description,
        external: &ExternalSchema,
        scale: Scale,
        judged: ExternalFindings,
    ) -> Self {
        let options = external.options.iter().map(|(name, v)| (name.to_string(), v.to_string()));
        let mut record = Self::planned(workload, scale, 1, &options.collect());
        record.items.insert("fact/made_by".to_owned(), external.made_by.to_string());
        Self { made_by: Some(external.made_by.clone()), judged, ..record }
    }

    /// The program that created the tables; `None` for triphammer.
    #[must_use]
    pub fn made_by(&self) -> Option<&str> {
        self.made_by.as_deref()
    }

    /// Why runs are impossible on the tables of another program; `None` if they are possible.
    #[must_use]
    pub fn lack(&self) -> Option<&str> {
        self.judged.lack.as_deref()
    }

    /// Whether the program that created the tables violates this condition, always or in the
    /// version found.
    #[must_use]
    pub fn is_violated_by_rule(&self, external: &ExternalSchema, condition: &str) -> bool {
        external.violates.iter().chain(&self.judged.violates).any(|id| id == condition)
    }

    /// Whether another program created the tables; nothing is recorded about them then.
    #[must_use]
    pub const fn is_external(&self) -> bool {
        self.made_by.is_some()
    }

    /// Whether nothing was ever built.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Value of an item; `None` if it is missing.
    #[must_use]
    pub fn get(&self, item: &str) -> Option<&str> {
        self.items.get(item).map(String::as_str)
    }

    /// Whether an item exists.
    #[must_use]
    pub fn has(&self, item: &str) -> bool {
        self.items.contains_key(item)
    }

    /// Whether the build is complete.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.is_external() || self.get("state") == Some("complete")
    }

    /// Tables of a workload that the build has not made: what the workload adds to the one that it extends.
    #[must_use]
    pub fn lacks<'a>(&self, workload: &'a Description) -> Vec<&'a str> {
        let adds = workload.extends.is_some() && !self.is_external();
        let tables = workload.tables.iter().map(|table| &*table.name).filter(|_| adds);
        tables.filter(|name| !self.has(&format!("object/{name}"))).collect()
    }

    /// Says that the workload is there that another one extends, without what that one adds.
    #[must_use]
    pub fn without_additions(&self, workload: &Description, target: &str) -> String {
        let (base, tables) = (workload.record_name(), self.lacks(workload).join(", "));
        format!(
            "there is no {} at {target}, but {base} is built there without the tables {tables}: \
             `triphammer build {target} -w {} --add` adds them, and -w {base} uses it as it is",
            workload.title, workload.name
        )
    }

    /// Tables that the build has made and a workload does not have: what was added to it.
    #[must_use]
    pub fn beyond(&self, workload: &Description) -> Vec<&str> {
        let has = |name: &str| workload.tables.iter().any(|table| table.name == name);
        self.below("object").map(|(name, _)| name).filter(|name| !has(name)).collect()
    }

    /// Whether no run is known to have changed the data.
    #[must_use]
    pub fn is_untouched(&self) -> bool {
        !self.is_external() && !self.has("first_run")
    }

    /// Items below `prefix/`, without the prefix.
    pub fn below<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.items.iter().filter_map(move |(item, value)| {
            let name = item.strip_prefix(prefix)?.strip_prefix('/')?;
            Some((name, value.as_str()))
        })
    }

    /// Scale, seed and options of the build, for creating the workload.
    ///
    /// # Errors
    /// When the record is damaged.
    pub fn workload_settings(&self) -> Result<WorkloadSettings, DbError> {
        Ok(WorkloadSettings {
            scale: self.number("scale")?,
            data_seed: self.number("seed")?,
            run_seed: 0,
            without_waits: false,
            options: self.below("option").map(|(k, v)| (k.to_owned(), v.to_owned())).collect(),
        })
    }

    fn number<T: std::str::FromStr>(&self, item: &str) -> Result<T, DbError> {
        self.get(item).and_then(|text| text.parse().ok()).ok_or_else(|| {
            let message = format!("{TABLE} has no valid `{item}`");
            DbError::new(triphammer_core::ErrorClass::Other, message)
        })
    }

    /// Says that the data was made by another set-up script than the workload has now, as the beginning of a sentence;
    /// `None` if not. `facts` are those of the workload.
    #[must_use]
    pub fn setup_difference(&self, facts: &[(&str, String)]) -> Option<String> {
        let (_, wanted) = facts.iter().find(|(name, _)| *name == "setup")?;
        let built = self.get("fact/setup")?;
        let short = |hash: &str| hash.get(..12).unwrap_or(hash).to_owned();
        (built != wanted).then(|| {
            let (built, wanted) = (short(built), short(wanted));
            format!("the data was built by another set-up script (sha256 {built}, not {wanted})")
        })
    }

    /// Describes the first difference between the build and the request; `None` if there is none.
    #[must_use]
    pub fn difference(
        &self,
        workload: &Description,
        wanted: &WorkloadSettings,
        dialect_options: &BTreeMap<String, String>,
    ) -> Option<String> {
        let mut pairs = vec![
            ("version".to_owned(), workload.version.to_string()),
            ("scale".to_owned(), wanted.scale.to_string()),
            ("seed".to_owned(), wanted.data_seed.to_string()),
        ];
        pairs.extend(wanted.options.iter().map(|(k, v)| (format!("option/{k}"), v.clone())));
        pairs.extend(dialect_options.iter().map(|(k, v)| (format!("dialect/{k}"), v.clone())));
        pairs.into_iter().find_map(|(item, asked)| {
            let name = item.trim_start_matches("option/").trim_start_matches("dialect/");
            // A build by a version without the option did as its default says.
            let default = workload.options.iter().find(|option| *option.name == *name);
            let default = default.map_or("nothing", |option| &option.default);
            let built = self.get(&item).unwrap_or(default);
            (built != asked).then(|| format!("{name} is {built} there, but {asked} was requested"))
        })
    }
}
