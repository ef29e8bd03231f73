//! What a dialect declares for databases that are reached by ODBC: the section `[odbc]` of its
//! `dialect.toml`. The driver knows only ODBC; everything about a product is here.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::error::ErrorClass;
use crate::isolation::Isolation;

/// How a dialect's database is used by ODBC. What is absent is inherited from the parent.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OdbcDef {
    /// Names of the product as drivers report them (`SQL_DBMS_NAME`). Never inherited.
    pub dbms: Vec<String>,
    /// Why it is unknown whether the dialect works: for one that was never run against a server.
    /// Never inherited.
    pub untested: Option<String>,
    /// Key of the connection string that names a file, for a database in this process.
    pub file: Option<String>,
    /// Keys and values that connection strings have unless they give others.
    pub connection: BTreeMap<String, String>,
    /// Whether several statements can be a transaction. Absent: as the driver says.
    pub transactions: Option<bool>,
    /// Whether schema changes can be rolled back.
    pub transactional_ddl: Option<bool>,
    /// Whether the dialect has stored procedures.
    pub procedures: Option<bool>,
    /// Whether only one session can write at a time.
    pub one_writer: Option<bool>,
    /// Whether foreign keys can be added after the load.
    pub foreign_keys: Option<bool>,
    /// Isolation levels that can be requested.
    pub isolations: Option<Vec<Isolation>>,
    /// Statements that begin a transaction, by what it does. Absent: none, by ODBC's manual commit.
    pub begin: Option<BeginDef>,
    /// Statements that each new session runs.
    pub connect: Option<Vec<String>>,
    /// Those that each session of a user's own SQL runs instead: it keeps the server's defaults.
    /// Absent: the same.
    pub connect_own: Option<Vec<String>>,
    /// Statement that limits waits for locks; `{ms}` and `{s}` are the limit.
    pub lock_timeout: Option<String>,
    /// Key of the connection string that is the limit in milliseconds, where no statement sets it.
    pub lock_timeout_key: Option<String>,
    /// Statement that makes `{schema}` the one to work in.
    pub schema: Option<String>,
    /// Query for the names of the session's tables. Absent: ODBC's catalog.
    pub tables: Option<String>,
    /// Query for names and values of settings.
    pub settings: Option<String>,
    /// Query for the number of ended transactions.
    pub transaction_count: Option<String>,
    /// Which transactions that number lacks, as a clause for people.
    pub count_lacks: Option<String>,
    /// What that number has that no client did, as a clause for people.
    pub count_adds: Option<String>,
    /// The cheapest query. Absent: round trips are not measured.
    pub ping: Option<String>,
    /// Advisory locks of the server. Absent: files on this host.
    pub lock: Option<LockDef>,
    /// How a database is created.
    pub create: Option<CreateDef>,
    /// How lists of integers are passed: `json` as `[1,2]`, `braces` as `{1,2}`.
    pub lists: Option<ListForm>,
    /// How decimals are passed.
    pub decimals: Option<NumberForm>,
    /// Whether the driver passes integers of 64 bits. Absent: it does; else they are decimals.
    pub big_integers: Option<bool>,
    /// Whether dates and times are passed as text.
    pub text_dates: Option<bool>,
    /// Whether texts are passed as national characters, where the others are those of a code page.
    pub wide_text: Option<bool>,
    /// Whether values are read as text, because a column has values of any type.
    pub untyped: Option<bool>,
    /// Whether a statement is described, and so verified, when it is prepared. Absent: it is.
    pub describe: Option<bool>,
    /// Rows that one INSERT of a load has; several of them are bound as an array.
    pub insert_rows: Option<usize>,
    /// Whether a load binds arrays of parameters. Absent: it does, if the driver can.
    pub arrays: Option<bool>,
    /// Error classes: SQLSTATEs, their first two characters, `/` and a native number, each with a
    /// part of the message after a colon if that decides. Added to the parent's.
    pub errors: BTreeMap<ErrorName, Vec<String>>,
    /// Whether errors are known by their native number rather than their SQLSTATE.
    pub native_codes: Option<bool>,
    /// Cases of the conformance suite that the database cannot pass, each with the reason.
    pub exempt: BTreeMap<String, String>,
}

/// Statements that begin transactions. `{isolation}` is the requested level, or [`Self::isolation`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BeginDef {
    /// Whether they stand at the begin of a transaction of ODBC's manual commit, which ODBC ends,
    /// rather than begin one that `COMMIT` and `ROLLBACK` end.
    #[serde(default)]
    pub manual_commit: bool,
    /// `{isolation}` if no level was requested.
    #[serde(default)]
    pub isolation: String,
    /// Statement that undoes a transaction, also one that the database has ended. Absent: `ROLLBACK`.
    #[serde(default)]
    pub rollback: Option<String>,
    /// For a transaction that writes.
    pub write: Vec<String>,
    /// For one that only reads.
    pub read: Vec<String>,
    /// For one that reads a snapshot.
    pub snapshot: Vec<String>,
}

/// Advisory locks of a server. `{name}` is the quoted name of the lock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockDef {
    /// Statements before both.
    #[serde(default)]
    pub before: Vec<String>,
    /// Query that takes the lock to share it, and returns 1 if it was taken.
    pub shared: String,
    /// Query that takes the lock alone, and returns 1 if it was taken.
    pub exclusive: String,
    /// Statements after a lock that was not taken.
    #[serde(default)]
    pub release: Vec<String>,
    /// Number of the places of a lock, where a server's locks cannot be shared: a shared holder
    /// takes any, an exclusive one all. Then both texts are the condition for `{place}`.
    #[serde(default)]
    pub places: Option<u32>,
}

/// How a database is created.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CreateDef {
    /// Key of the connection string that names the database.
    pub key: String,
    /// The database to connect to meanwhile.
    pub from: String,
    /// Query that returns a row if the database `{name}` exists.
    pub exists: String,
    /// Statement that creates it.
    pub create: String,
    /// How connecting to one that does not exist fails: patterns of errors, in which `{name}` is its
    /// name.
    #[serde(default)]
    pub missing: Vec<String>,
}

impl CreateDef {
    /// Whether an error of connecting says that the database of this name does not exist.
    #[must_use]
    pub fn is_missing(&self, name: &str, state: &str, native: i32, message: &str) -> bool {
        let is_it = |pattern: &String| {
            weight(&pattern.replace("{name}", name), state, native, message).is_some()
        };
        self.missing.iter().any(is_it)
    }

    /// A text of this section for the database of this name, in which the quote that stands before
    /// `{name}` is doubled.
    #[must_use]
    pub fn text_for(text: &str, name: &str) -> String {
        let Some((before, after)) = text.split_once("{name}") else { return text.to_owned() };
        let quoted = match before.chars().last() {
            Some(quote @ ('"' | '\'' | '`')) => name.replace(quote, &format!("{quote}{quote}")),
            _ => name.to_owned(),
        };
        format!("{before}{quoted}{}", Self::text_for(after, name))
    }
}

/// How lists of integers are passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ListForm {
    /// `[1,2]`.
    Json,
    /// `{1,2}`.
    Braces,
}

/// How decimals are passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NumberForm {
    /// As the text of a DECIMAL.
    Exact,
    /// As floating point, for databases without decimals.
    Float,
}

/// An error class as a key of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct ErrorName(pub ErrorClass);

impl PartialOrd for ErrorName {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ErrorName {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.index().cmp(&other.0.index())
    }
}

/// A dialect as the ODBC driver takes it: its name, and what it and its ancestors declare.
#[derive(Clone, Debug)]
pub struct OdbcDialect {
    /// Name of the dialect.
    pub name: String,
    /// Its own and what it inherits.
    pub def: OdbcDef,
    /// The levels of [`OdbcDef::isolations`]; all if it declares none.
    pub isolations: &'static [Isolation],
    /// The cases of [`OdbcDef::exempt`].
    pub exempt: &'static [(&'static str, &'static str)],
}

impl OdbcDialect {
    /// The dialect of this name. What capabilities refer to is never freed: make one once.
    #[must_use]
    pub fn new(name: &str, def: OdbcDef) -> Self {
        let levels = def.isolations.clone();
        let levels = levels.unwrap_or_else(|| Isolation::ALL.map(|(level, _)| level).to_vec());
        let leak = |text: &String| -> &'static str { Box::leak(text.clone().into_boxed_str()) };
        let exempt: Vec<_> = def.exempt.iter().map(|(case, why)| (leak(case), leak(why))).collect();
        let (isolations, exempt) = (Box::leak(levels.into()), Box::leak(exempt.into()));
        Self { name: name.to_owned(), def, isolations, exempt }
    }
}

impl OdbcDef {
    /// Lays a dialect's own section over that of its parent.
    #[must_use]
    pub fn over(self, parent: Self) -> Self {
        let mut errors = parent.errors;
        for (class, mut patterns) in self.errors {
            errors.entry(class).or_default().append(&mut patterns);
        }
        let mut connection = parent.connection;
        connection.extend(self.connection);
        let mut exempt = parent.exempt;
        exempt.extend(self.exempt);
        Self {
            dbms: self.dbms,
            untested: self.untested,
            file: self.file.or(parent.file),
            connection,
            transactions: self.transactions.or(parent.transactions),
            transactional_ddl: self.transactional_ddl.or(parent.transactional_ddl),
            procedures: self.procedures.or(parent.procedures),
            one_writer: self.one_writer.or(parent.one_writer),
            foreign_keys: self.foreign_keys.or(parent.foreign_keys),
            isolations: self.isolations.or(parent.isolations),
            begin: self.begin.or(parent.begin),
            connect: self.connect.or(parent.connect),
            connect_own: self.connect_own.or(parent.connect_own),
            lock_timeout: self.lock_timeout.or(parent.lock_timeout),
            lock_timeout_key: self.lock_timeout_key.or(parent.lock_timeout_key),
            schema: self.schema.or(parent.schema),
            tables: self.tables.or(parent.tables),
            settings: self.settings.or(parent.settings),
            transaction_count: self.transaction_count.or(parent.transaction_count),
            count_lacks: self.count_lacks.or(parent.count_lacks),
            count_adds: self.count_adds.or(parent.count_adds),
            ping: self.ping.or(parent.ping),
            lock: self.lock.or(parent.lock),
            create: self.create.or(parent.create),
            lists: self.lists.or(parent.lists),
            decimals: self.decimals.or(parent.decimals),
            big_integers: self.big_integers.or(parent.big_integers),
            text_dates: self.text_dates.or(parent.text_dates),
            wide_text: self.wide_text.or(parent.wide_text),
            untyped: self.untyped.or(parent.untyped),
            describe: self.describe.or(parent.describe),
            insert_rows: self.insert_rows.or(parent.insert_rows),
            arrays: self.arrays.or(parent.arrays),
            errors,
            native_codes: self.native_codes.or(parent.native_codes),
            exempt,
        }
    }

    /// The class of an error, by the pattern that says most: a part of the message first, then the
    /// native number, the SQLSTATE, and its first two characters.
    #[must_use]
    pub fn class_of(&self, state: &str, native: i32, message: &str) -> Option<ErrorClass> {
        let mut best: Option<(u8, ErrorClass)> = None;
        for (class, patterns) in &self.errors {
            for pattern in patterns {
                let Some(weight) = weight(pattern, state, native, message) else { continue };
                if best.is_none_or(|(found, _)| weight > found) {
                    best = Some((weight, class.0));
                }
            }
        }
        best.map(|(_, class)| class)
    }
}

/// How much a pattern says about an error; `None` if it is about others.
fn weight(pattern: &str, state: &str, native: i32, message: &str) -> Option<u8> {
    let (code, part) = match pattern.split_once(':') {
        Some((code, part)) => (code, Some(part)),
        None => (pattern, None),
    };
    if let Some(part) = part
        && !message.to_lowercase().contains(&part.to_lowercase())
    {
        return None;
    }
    let (wanted, number) = match code.split_once('/') {
        Some((wanted, number)) => (wanted, Some(number)),
        None => (code, None),
    };
    if number.is_some_and(|number| number.parse() != Ok(native)) || !state.starts_with(wanted) {
        return None;
    }
    let of_state = match wanted.len() {
        0 => 0,
        1..=4 => 1,
        _ => 2,
    };
    Some(of_state + 4 * u8::from(number.is_some()) + 8 * u8::from(part.is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(list: &[(ErrorClass, &[&str])]) -> BTreeMap<ErrorName, Vec<String>> {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        list.iter().map(|(class, patterns)| (ErrorName(*class), texts(patterns))).collect()
    }

    #[test]
    fn a_database_is_created_by_its_name_and_missed_by_no_other() {
        for (text, name, expected) in [
            ("CREATE DATABASE \"{name}\"", "a\"b`c'd", "CREATE DATABASE \"a\"\"b`c'd\""),
            ("CREATE DATABASE `{name}` x", "a\"b`c", "CREATE DATABASE `a\"b``c` x"),
            ("'{name}' {name}", "it's", "'it''s' it's"),
            ("SELECT 1", "a", "SELECT 1"),
        ] {
            assert_eq!(CreateDef::text_for(text, name), expected);
        }
        let missing = ["08:database \"{name}\" does not exist", "/4060"].map(str::to_owned);
        let create = CreateDef { missing: missing.to_vec(), ..CreateDef::default() };
        for (state, native, message, is_missing) in [
            ("08001", 101, "FATAL: database \"a\" does not exist", true),
            ("08001", 101, "FATAL: database \"b\" does not exist", false),
            ("08001", 101, "FATAL: role \"a\" does not exist", false),
            ("42000", 4060, "Cannot open", true),
        ] {
            assert_eq!(create.is_missing("a", state, native, message), is_missing, "{message}");
        }
    }

    #[test]
    fn the_pattern_that_says_most_decides() {
        let base = OdbcDef {
            errors: errors(&[
                (ErrorClass::Disconnected, &["08"]),
                (ErrorClass::Constraint, &["23"]),
                (ErrorClass::Serialization, &["40001"]),
            ]),
            ..OdbcDef::default()
        };
        let own = OdbcDef {
            errors: errors(&[
                (ErrorClass::Refused, &["08:authentication failed", "08/1045"]),
                (ErrorClass::Deadlock, &["40001/1213"]),
                (ErrorClass::LockTimeout, &["/5"]),
            ]),
            ..OdbcDef::default()
        };
        let def = own.over(base);
        for (state, native, message, class) in [
            ("08S01", 0, "gone", Some(ErrorClass::Disconnected)),
            ("08001", 101, "Password Authentication FAILED", Some(ErrorClass::Refused)),
            ("08004", 1045, "denied", Some(ErrorClass::Refused)),
            ("40001", 1213, "deadlock", Some(ErrorClass::Deadlock)),
            ("40001", 1020, "changed", Some(ErrorClass::Serialization)),
            ("23000", 5, "which", Some(ErrorClass::LockTimeout)),
            ("HY000", 1, "no such table", None),
        ] {
            assert_eq!(def.class_of(state, native, message), class, "{state} {native} {message}");
        }
    }
}
