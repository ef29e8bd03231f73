//! Snapshots of MySQL and MariaDB schemas: schemas with copies of their tables, on the same server.
//!
//! `tpcc__clean` is the snapshot `clean` of `tpcc`. Its table `triphammer_snapshot` has its mark and
//! the definitions of the tables. Copies are made by the server, with `INSERT … SELECT` in the order of
//! the primary key: files of tablespaces cannot be copied over a connection, and exchanging them would
//! need the rights of the server's own user. The snapshot has no secondary indexes, which it does not
//! need.
//!
//! A restore empties the tables and fills them again, in place: their definitions, triggers, keys and
//! privileges stay. It is therefore not atomic: the mark says that it has begun, and the next start
//! does it again if it was not finished. The tables' statistics are gathered at its end.
//!
//! MariaDB's sequences have no copies. Their next values are recorded with the mark, and set again:
//! those after the values that the server has cached, as after its restart.

use std::sync::Arc;

use triphammer_core::DbError;
use triphammer_core::session::{Role, Session as _};

use super::database::Mysql;
use super::quote::{quote_identifier, quote_literal};
use super::session::MysqlSession;
use super::shared::Shared;
use crate::snapshot::{
    Consent, Maker, Mark, Purpose, Remarks, SnapshotName, Stop, exists, missing, refuse_loss,
    refused, unmarked,
};

/// Longest name of a schema, in characters.
const NAME_MAX: usize = 64;
/// The table of a snapshot's mark: `name` is empty for the mark itself, else that of a table.
const MARKS: &str = "triphammer_snapshot";
/// Settings of the session: copies are as the rows are, and wait for a lock 10 s at most.
const SET_UP: &str = "SET SESSION foreign_key_checks = 0, unique_checks = 0, sql_mode = \
                      'NO_AUTO_VALUE_ON_ZERO', lock_wait_timeout = 10, innodb_lock_wait_timeout = 10";

/// The snapshots of a schema.
pub(crate) struct MysqlSnapshots<'a> {
    shared: &'a Arc<Shared>,
}

impl Mysql {
    /// The snapshots of the schema.
    pub(crate) fn snapshots(&self) -> MysqlSnapshots<'_> {
        MysqlSnapshots { shared: self.shared() }
    }
}

/// A session whose statements end early if they are to.
struct Server<'s, 'f> {
    session: MysqlSession,
    stop: &'s mut Stop<'f>,
}

/// A table or a sequence of the schema.
struct Table {
    name: String,
    /// Its definition, without the next number of AUTO_INCREMENT.
    definition: String,
    /// The next number of AUTO_INCREMENT, or of the sequence.
    next_number: Option<i128>,
}

impl Table {
    fn is_sequence(&self) -> bool {
        self.definition.starts_with("CREATE SEQUENCE")
    }

    fn kind(&self) -> &'static str {
        if self.is_sequence() { "sequence" } else { "table" }
    }
}

/// Those that have rows.
fn with_rows(tables: &[Table]) -> impl Iterator<Item = &Table> {
    tables.iter().filter(|table| !table.is_sequence())
}

impl<'s, 'f> Server<'s, 'f> {
    async fn connect(shared: &Arc<Shared>, stop: &'s mut Stop<'f>) -> Result<Self, DbError> {
        let connection = shared.open(Some(&shared.options.database)).await?;
        let session = MysqlSession::set_up(connection, Arc::clone(shared), Role::Monitor).await?;
        let mut server = Self { session, stop };
        server.run(SET_UP).await?;
        Ok(server)
    }

    async fn run(&mut self, sql: &str) -> Result<(), DbError> {
        self.ask(sql).await.map(drop)
    }

    async fn ask(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, DbError> {
        let canceller = self.session.canceller();
        self.stop.unless(canceller, self.session.ask(sql)).await
    }

    /// Asks for one column.
    async fn texts(&mut self, sql: &str) -> Result<Vec<String>, DbError> {
        let rows = self.ask(sql).await?.into_iter();
        Ok(rows.filter_map(|mut row| row.pop().flatten()).collect())
    }

    /// The tables and sequences of a schema.
    async fn tables(&mut self, schema: &str) -> Result<Vec<Table>, DbError> {
        let sql = format!(
            "SELECT table_name, table_type, auto_increment FROM information_schema.tables \
             WHERE table_schema = {} AND table_type NOT LIKE '%VIEW' ORDER BY table_name",
            quote_literal(schema)
        );
        let mut tables = Vec::new();
        for row in self.ask(&sql).await? {
            let mut fields = row.into_iter();
            let name = fields.next().flatten().unwrap_or_default();
            let kind = fields.next().flatten().unwrap_or_default();
            if kind == "SEQUENCE" {
                tables.push(self.sequence(schema, name).await?);
                continue;
            }
            if kind != "BASE TABLE" {
                return Err(refused(format!(
                    "`{name}` is a {}, which INSERT … SELECT does not copy: use --restore \
                     'cmd=COMMAND'",
                    kind.to_lowercase()
                )));
            }
            let definition = self.definition("TABLE", schema, &name).await?;
            // The schema of statistics may have a number that is a day old.
            let next_number = number_in(&definition);
            let definition = without_number(&definition);
            tables.push(Table { name, definition, next_number });
        }
        Ok(tables)
    }

    async fn sequence(&mut self, schema: &str, name: String) -> Result<Table, DbError> {
        let definition = self.definition("SEQUENCE", schema, &name).await?;
        let sql = format!("SELECT next_not_cached_value FROM {}", of(schema, &name));
        let next_number = self.texts(&sql).await?.first().and_then(|text| text.parse().ok());
        Ok(Table { name, definition, next_number })
    }

    async fn definition(
        &mut self,
        kind: &str,
        schema: &str,
        name: &str,
    ) -> Result<String, DbError> {
        let sql = format!("SHOW CREATE {kind} {}", of(schema, name));
        let row = self.ask(&sql).await?.pop().unwrap_or_default();
        Ok(row.into_iter().nth(1).flatten().unwrap_or_default())
    }

    /// The columns that a table stores, quoted.
    async fn columns(&mut self, schema: &str, table: &str) -> Result<String, DbError> {
        let sql = format!(
            "SELECT column_name FROM information_schema.columns WHERE table_schema = {} AND table_name \
             = {} AND COALESCE(generation_expression, '') = '' ORDER BY ordinal_position",
            quote_literal(schema),
            quote_literal(table)
        );
        let names = self.texts(&sql).await?;
        Ok(names.iter().map(|name| quote_identifier(name)).collect::<Vec<_>>().join(", "))
    }

    async fn fill(&mut self, from: &str, to: &str, table: &str) -> Result<(), DbError> {
        let columns = self.columns(from, table).await?;
        let (from, to) = (of(from, table), of(to, table));
        let sql = format!("INSERT INTO {to} ({columns}) SELECT {columns} FROM {from}");
        self.run(&sql).await.map_err(|error| error.context(format_args!("copying {table}")))
    }

    /// Makes an empty copy of a table, without indexes besides its primary key.
    async fn prepare_copy(&mut self, from: &str, to: &str, table: &str) -> Result<(), DbError> {
        let copy = of(to, table);
        self.run(&format!("CREATE TABLE {copy} LIKE {}", of(from, table))).await?;
        let sql = format!(
            "SELECT DISTINCT index_name FROM information_schema.statistics WHERE table_schema = {} AND \
             table_name = {} AND index_name <> 'PRIMARY'",
            quote_literal(to),
            quote_literal(table)
        );
        let indexes = self.texts(&sql).await?;
        let drops: Vec<_> =
            indexes.iter().map(|name| format!("DROP INDEX {}", quote_identifier(name))).collect();
        if !drops.is_empty() {
            // One that AUTO_INCREMENT or the engine needs stays.
            match self.run(&format!("ALTER TABLE {copy} {}", drops.join(", "))).await {
                Err(error) if error.class().loses_session() => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// Keeps others from changing the tables of a schema while `copies` are filled.
    async fn lock(
        &mut self,
        schema: &str,
        tables: &[Table],
        copies: Option<&str>,
    ) -> Result<(), DbError> {
        let way = |table: &Table| match copies {
            Some(_) if !table.is_sequence() => "READ",
            _ => "WRITE",
        };
        let lock = |table: &Table| format!("{} {}", of(schema, &table.name), way(table));
        let mut locks: Vec<_> = tables.iter().map(lock).collect();
        if let Some(copies) = copies {
            let copies = with_rows(tables).map(|table| of(copies, &table.name));
            locks.extend(copies.map(|copy| format!("{copy} WRITE")));
        }
        if locks.is_empty() {
            return Ok(());
        }
        let locked = self.run(&format!("LOCK TABLES {}", locks.join(", "))).await;
        locked.map_err(|error| match error.class() {
            triphammer_core::ErrorClass::LockTimeout => {
                error.with_advice("; another session uses the tables: end it")
            }
            _ => error,
        })
    }

    async fn write_mark(&mut self, schema: &str, mark: &Mark) -> Result<(), DbError> {
        let marks = of(schema, MARKS);
        self.run(&format!(
            "REPLACE INTO {marks} VALUES ('', {}, NULL)",
            quote_literal(&mark.text())
        ))
        .await
    }
}

/// A table, with its schema, quoted.
fn of(schema: &str, table: &str) -> String {
    format!("{}.{}", quote_identifier(schema), quote_identifier(table))
}

/// The error about a snapshot from which a restore has not finished.
fn unfinished(schema: &str, name: &SnapshotName, maker: &Maker) -> DbError {
    refused(format!(
        "{maker} is restoring the database from snapshot `{name}`, or ended while it did, so that its rows may be nowhere \
         else; if nothing is, and nobody needs them: DROP DATABASE {}, and build the data again",
        quote_identifier(schema)
    ))
}

/// Where a definition has the next number of AUTO_INCREMENT: after the columns.
fn number_place(definition: &str) -> Option<std::ops::Range<usize>> {
    const NAME: &str = " AUTO_INCREMENT=";
    let start = definition.rfind("\n)")?;
    let start = start + definition[start..].find(NAME)?;
    let digits = definition[start + NAME.len()..].find(|c: char| !c.is_ascii_digit());
    Some(start..digits.map_or(definition.len(), |end| start + NAME.len() + end))
}

fn number_in(definition: &str) -> Option<i128> {
    let found = &definition[number_place(definition)?];
    found.rsplit_once('=')?.1.parse().ok()
}

fn without_number(definition: &str) -> String {
    match number_place(definition) {
        Some(place) => format!("{}{}", &definition[..place.start], &definition[place.end..]),
        None => definition.to_owned(),
    }
}

impl MysqlSnapshots<'_> {
    fn database(&self) -> &str {
        &self.shared.options.database
    }

    /// The schema of a snapshot.
    fn named(&self, name: &str) -> Result<String, DbError> {
        let full = format!("{}__{name}", self.database());
        if full.chars().count() > NAME_MAX {
            return Err(refused(format!(
                "the name `{full}` is longer than the {NAME_MAX} characters that the server allows: use a \
                 shorter one"
            )));
        }
        Ok(full)
    }

    /// Schemas that may be of this one's snapshots, with their marks.
    async fn all(
        &self,
        server: &mut Server<'_, '_>,
    ) -> Result<Vec<(String, Option<Mark>)>, DbError> {
        let start = format!("{}__", self.database());
        let sql = format!(
            "SELECT schema_name FROM information_schema.schemata WHERE LEFT(schema_name, {}) = {}",
            start.chars().count(),
            quote_literal(&start)
        );
        let mut all = Vec::new();
        for schema in server.texts(&sql).await? {
            let marks = of(&schema, MARKS);
            let read = server.texts(&format!("SELECT mark FROM {marks} WHERE name = ''")).await;
            let mark = match read {
                Ok(texts) => texts.first().and_then(|text| Mark::read(text)),
                Err(error) if error.class().loses_session() => return Err(error),
                Err(_) => None,
            };
            all.push((schema, mark.filter(|mark| mark.of == self.database())));
        }
        Ok(all)
    }

    async fn found(
        &self,
        server: &mut Server<'_, '_>,
        name: &SnapshotName,
    ) -> Result<(String, Mark), DbError> {
        let schema = self.named(name.as_str())?;
        let all = self.all(server).await?;
        match all.into_iter().find(|(found, _)| *found == schema) {
            None => Err(missing(name)),
            Some((_, Some(mark))) if mark.purpose == Purpose::Snapshot => Ok((schema, mark)),
            Some((_, Some(_))) => Err(refused(format!(
                "snapshot `{name}` was never finished: drop it, and make it again"
            ))),
            Some((_, None)) => Err(unmarked(&format!("schema {}", quote_identifier(&schema)))),
        }
    }

    pub async fn list(&self, stop: &mut Stop<'_>) -> Result<Vec<Mark>, DbError> {
        let mut server = Server::connect(self.shared, stop).await?;
        let mut marks: Vec<Mark> =
            self.all(&mut server).await?.into_iter().filter_map(|(_, mark)| mark).collect();
        marks.sort_by(|a, b| a.made_at.cmp(&b.made_at));
        Ok(marks)
    }

    /// Finishes restores that were interrupted, and then drops what nobody needs any more.
    pub async fn repair(&self, stop: &mut Stop<'_>) -> Result<Remarks, DbError> {
        let mut server = Server::connect(self.shared, stop).await?;
        let mut done = Remarks::new();
        for (schema, mark) in self.all(&mut server).await? {
            let Some(mark) = mark else { continue };
            if let Some(maker) = &mark.restoring {
                if !maker.is_gone() && *maker != Maker::this() {
                    return Err(unfinished(&schema, &mark.name, maker));
                }
                if self.is_half_restored(&mut server, &schema).await? {
                    self.refill(&mut server, &schema, &mark).await?;
                    done.push(format!(
                        "finished a restore from snapshot `{}` that was interrupted",
                        mark.name
                    ));
                } else {
                    server.write_mark(&schema, &Mark { restoring: None, ..mark.clone() }).await?;
                    done.push(format!(
                        "a restore from snapshot `{}` was interrupted, and all tables have rows again: unless the \
                         data were built since, restore from it once more",
                        mark.name
                    ));
                }
            }
            if mark.is_abandoned() {
                self.drop_schema(&mut server, &schema).await?;
                done.push(format!(
                    "dropped schema {}, which a process that has ended left behind",
                    quote_identifier(&schema)
                ));
            }
        }
        Ok(done)
    }

    pub async fn make(
        &self,
        mark: Mark,
        _: Consent,
        stop: &mut Stop<'_>,
    ) -> Result<(Mark, Remarks), DbError> {
        let schema = self.named(mark.name.as_str())?;
        let mut server = Server::connect(self.shared, stop).await?;
        if self.all(&mut server).await?.iter().any(|(found, _)| *found == schema) {
            return Err(exists(&mark.name));
        }
        let tables = server.tables(self.database()).await?;
        server.run(&format!("CREATE DATABASE {}", quote_identifier(&schema))).await?;
        let made = self.copied(&mut server, &schema, &tables, mark).await;
        drop(server);
        let error = match made {
            Ok(mark) => {
                let remark = "the server copied the rows of the tables (INSERT … SELECT)";
                return Ok((mark, vec![remark.to_owned()]));
            }
            Err(error) => error,
        };
        let mut stop = Stop::of_clean_up();
        let dropped = async {
            let mut server = Server::connect(self.shared, &mut stop).await?;
            self.drop_schema(&mut server, &schema).await
        };
        Err(match dropped.await {
            Ok(()) => error,
            Err(left) => error.with_advice(format!(
                "; schema {} is left, because it could not be dropped: {}",
                quote_identifier(&schema),
                left.message()
            )),
        })
    }

    /// Copies all tables into a new schema.
    async fn copied(
        &self,
        server: &mut Server<'_, '_>,
        schema: &str,
        tables: &[Table],
        mark: Mark,
    ) -> Result<Mark, DbError> {
        server
            .run(&format!(
                "CREATE TABLE {} (name varchar(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL \
                 PRIMARY KEY, mark mediumtext CHARACTER SET utf8mb4 NOT NULL, next_number decimal(20))",
                of(schema, MARKS)
            ))
            .await?;
        let unfinished = Mark::unfinished(self.database(), &mark.name, Purpose::Unfinished);
        server.write_mark(schema, &unfinished).await?;
        for table in tables {
            let next = table.next_number.map_or_else(|| "NULL".to_owned(), |next| next.to_string());
            server
                .run(&format!(
                    "INSERT INTO {} VALUES ({}, {}, {next})",
                    of(schema, MARKS),
                    quote_literal(&table.name),
                    quote_literal(&table.definition)
                ))
                .await?;
            if !table.is_sequence() {
                server.prepare_copy(self.database(), schema, &table.name).await?;
            }
        }
        server.lock(self.database(), tables, Some(schema)).await?;
        for table in with_rows(tables) {
            server.fill(self.database(), schema, &table.name).await?;
        }
        server.run("UNLOCK TABLES").await?;
        let sql = format!(
            "SELECT SUM(data_length + index_length) FROM information_schema.tables WHERE table_schema = {}",
            quote_literal(schema)
        );
        let bytes = server.texts(&sql).await?.first().and_then(|text| text.parse().ok());
        let mark = Mark { of: self.database().to_owned(), bytes, ..mark };
        server.write_mark(schema, &mark).await?;
        Ok(mark)
    }

    pub async fn restore(
        &self,
        name: &SnapshotName,
        _: Consent,
        stop: &mut Stop<'_>,
    ) -> Result<Remarks, DbError> {
        let mut server = Server::connect(self.shared, stop).await?;
        let (schema, mark) = self.found(&mut server, name).await?;
        self.check_tables(&mut server, &schema).await?;
        let done = self.refill(&mut server, &schema, &mark).await;
        done.map_err(|error| {
            error.with_advice(
                "; the database may be half restored: the next start with --restore finishes that",
            )
        })?;
        Ok(vec!["the server copied the rows of the tables (INSERT … SELECT)".to_owned()])
    }

    /// The tables and sequences of a snapshot, with their definitions and next numbers.
    async fn recorded(
        &self,
        server: &mut Server<'_, '_>,
        schema: &str,
    ) -> Result<Vec<Table>, DbError> {
        let sql =
            format!("SELECT name, mark, next_number FROM {} WHERE name <> ''", of(schema, MARKS));
        let rows = server.ask(&sql).await?.into_iter().map(|row| {
            let mut fields = row.into_iter();
            Table {
                name: fields.next().flatten().unwrap_or_default(),
                definition: fields.next().flatten().unwrap_or_default(),
                next_number: fields.next().flatten().and_then(|text| text.parse().ok()),
            }
        });
        Ok(rows.collect())
    }

    /// Rejects a restore into tables that are not those of the snapshot.
    async fn check_tables(&self, server: &mut Server<'_, '_>, schema: &str) -> Result<(), DbError> {
        let now = server.tables(self.database()).await?;
        let recorded = self.recorded(server, schema).await?;
        let names = |tables: &[Table]| -> Vec<String> {
            tables.iter().map(|table| table.name.clone()).collect()
        };
        // New ones would stay, but then the state would not be that of the snapshot.
        refuse_loss(names(&now), names(&recorded))?;
        for table in &recorded {
            let name = &table.name;
            match now.iter().find(|other| other.name == *name) {
                None => {
                    return Err(refused(format!(
                        "{} {name} of the snapshot is missing: create it",
                        table.kind()
                    )));
                }
                Some(other) if other.definition != table.definition => {
                    return Err(refused(format!(
                        "{} {name} has changed since the snapshot was made: make a new one",
                        table.kind()
                    )));
                }
                Some(_) => {}
            }
        }
        let sql = format!(
            "SELECT trigger_name FROM information_schema.triggers WHERE event_object_schema = {} AND \
             event_manipulation = 'INSERT'",
            quote_literal(self.database())
        );
        match server.texts(&sql).await?.first() {
            None => Ok(()),
            Some(trigger) => Err(refused(format!(
                "trigger {trigger} would act on each restored row: use --restore 'cmd=COMMAND'"
            ))),
        }
    }

    /// Whether a table that has rows in a snapshot is empty: the sign of a restore that was interrupted, and that nobody has
    /// built the data since.
    async fn is_half_restored(
        &self,
        server: &mut Server<'_, '_>,
        schema: &str,
    ) -> Result<bool, DbError> {
        for table in with_rows(&self.recorded(server, schema).await?) {
            let [there, here] = [schema, self.database()].map(|schema| of(schema, &table.name));
            let sql = format!(
                "SELECT 1 FROM DUAL WHERE EXISTS (SELECT 1 FROM {there}) AND NOT EXISTS (SELECT 1 FROM {here})"
            );
            if !server.texts(&sql).await?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Empties the tables and fills them from a snapshot.
    async fn refill(
        &self,
        server: &mut Server<'_, '_>,
        schema: &str,
        mark: &Mark,
    ) -> Result<(), DbError> {
        let tables = self.recorded(server, schema).await?;
        // Fails before anything is changed if somebody uses a table.
        server.lock(self.database(), &tables, None).await?;
        server.run("UNLOCK TABLES").await?;
        let begun = Mark { restoring: Some(Maker::this()), ..mark.clone() };
        server.write_mark(schema, &begun).await?;
        for sequence in tables.iter().filter(|table| table.is_sequence()) {
            let Some(next) = sequence.next_number else { continue };
            let target = of(self.database(), &sequence.name);
            server.run(&format!("ALTER SEQUENCE {target} RESTART WITH {next}")).await?;
        }
        for table in with_rows(&tables) {
            let target = of(self.database(), &table.name);
            server.run(&format!("TRUNCATE TABLE {target}")).await?;
            server.fill(schema, self.database(), &table.name).await?;
            if let Some(next) = table.next_number {
                server.run(&format!("ALTER TABLE {target} AUTO_INCREMENT = {next}")).await?;
            }
        }
        let names: Vec<_> =
            with_rows(&tables).map(|table| of(self.database(), &table.name)).collect();
        if !names.is_empty() {
            server.run(&format!("ANALYZE TABLE {}", names.join(", "))).await?;
        }
        server.write_mark(schema, &Mark { restoring: None, ..mark.clone() }).await
    }

    pub async fn drop(&self, name: &SnapshotName, stop: &mut Stop<'_>) -> Result<(), DbError> {
        let mut server = Server::connect(self.shared, stop).await?;
        let schema = self.named(name.as_str())?;
        let all = self.all(&mut server).await?;
        match all.into_iter().find(|(found, _)| *found == schema) {
            None => Err(missing(name)),
            // A job drops its own at its end, also after a restore that failed: its rows may be nowhere else.
            Some((_, Some(Mark { restoring: Some(maker), by, .. })))
                if by.is_some() || !maker.is_gone() =>
            {
                Err(unfinished(&schema, name, &maker))
            }
            Some((_, Some(_))) => self.drop_schema(&mut server, &schema).await,
            Some((_, None)) => Err(unmarked(&format!("schema {}", quote_identifier(&schema)))),
        }
    }

    /// Drops the schema of a snapshot, unless it has tables that are not the snapshot's.
    async fn drop_schema(&self, server: &mut Server<'_, '_>, schema: &str) -> Result<(), DbError> {
        let sql = format!(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = {}",
            quote_literal(schema)
        );
        let tables = server.texts(&sql).await?;
        if tables.iter().any(|table| table == MARKS) {
            let recorded = self.recorded(server, schema).await?;
            let is_own =
                |name: &String| *name == MARKS || recorded.iter().any(|of| of.name == *name);
            if let Some(foreign) = tables.iter().find(|name| !is_own(name)) {
                return Err(refused(format!(
                    "schema {} has a table `{foreign}` that is not of the snapshot: move it away first",
                    quote_identifier(schema)
                )));
            }
        } else if !tables.is_empty() {
            return Err(unmarked(&format!("schema {}", quote_identifier(schema))));
        }
        server.run(&format!("DROP DATABASE {}", quote_identifier(schema))).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_is_compared_without_its_next_number() {
        let with = "CREATE TABLE `t` (\n  `a` int NOT NULL AUTO_INCREMENT,\n  `b` varchar(40) COMMENT ' AUTO_INCREMENT=7'\n) \
                    ENGINE=InnoDB AUTO_INCREMENT=42 DEFAULT CHARSET=utf8mb4";
        assert_eq!(number_in(with), Some(42));
        assert_eq!(without_number(with), with.replace("InnoDB AUTO_INCREMENT=42", "InnoDB"));
        let without = "CREATE TABLE `t` (\n  `a` int\n) ENGINE=InnoDB";
        assert_eq!((number_in(without), without_number(without)), (None, without.to_owned()));
    }
}
