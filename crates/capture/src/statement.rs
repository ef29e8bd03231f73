//! What a statement does to a session, by its first words.

use triphammer_core::session::{Access, Isolation};

use super::skipped::Reason;
use super::sql::{Rules, Syntax, TokenKind, contains_ignoring_case, first_words, tokens};
use super::variables::Variables;

/// What a statement does to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Begins a transaction.
    Begin(Characteristics),
    /// Sets how the current transaction, or on MySQL the next one, runs.
    Characteristics(Characteristics),
    /// Commits; whether another transaction begins at once.
    Commit(bool),
    /// Rolls back; whether another transaction begins at once.
    Rollback(bool),
    /// Rolls back to a savepoint: it is replayed.
    RollbackTo,
    /// Switches whether each statement is a transaction.
    Autocommit(bool),
    /// Anything that is replayed as it is.
    Runs,
    /// It is not replayed.
    Skip(Reason),
}

/// How a transaction runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Characteristics {
    /// Its isolation level, if it sets one.
    pub isolation: Option<Isolation>,
    /// Whether it declares that it only reads.
    pub reads: bool,
}

impl Characteristics {
    fn of(words: &str) -> Self {
        let level = ["serializable", "repeatable read", "read committed", "read uncommitted"];
        let level = level.into_iter().find(|level| words.contains(level));
        let isolation = level.and_then(|level| level.replace(' ', "-").parse().ok());
        Self { isolation, reads: words.contains("read only") }
    }

    /// Whether the transaction may write.
    #[must_use]
    pub const fn access(self) -> Access {
        if self.reads { Access::Read } else { Access::Write }
    }
}

/// Finds what a statement does. Statements with a password are recognised first, whatever they do.
#[must_use]
pub fn effect(sql: &str, rules: impl Into<Rules>) -> Effect {
    let rules = rules.into();
    let syntax = rules.syntax;
    if has_secret(sql, syntax) {
        return Effect::Skip(Reason::Secret);
    }
    let words: Vec<String> = first_words(sql, syntax).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let line = || sql.split_whitespace().collect::<Vec<_>>().join(" ").to_ascii_lowercase();
    let chains = || words.contains(&"chain") && !words.contains(&"no");
    let is_block = syntax == Syntax::Oracle;
    match words[..] {
        ["begin" | "declare", ..] if is_block => Effect::Runs,
        ["begin", ..] | ["start", "transaction", ..] => Effect::Begin(Characteristics::of(&line())),
        ["commit" | "rollback", "prepared", ..] | ["prepare", "transaction", ..] | ["xa", ..] => {
            Effect::Skip(Reason::TwoPhase)
        }
        ["rollback", "to", ..] | ["rollback", "work" | "transaction", "to", ..] => {
            Effect::RollbackTo
        }
        ["commit" | "end", ..] => Effect::Commit(chains()),
        ["rollback" | "abort", ..] => Effect::Rollback(chains()),
        ["set", ..] if Variables::of(sql, rules).is_set => Effect::Runs,
        // They check what was put off, and may fail.
        ["set", "constraints", ..] if syntax == Syntax::Postgres => Effect::Runs,
        ["truncate", ..] if syntax == Syntax::Postgres => Effect::Runs,
        ["set", "autocommit", value, ..]
        | ["set", "session" | "local", "autocommit", value, ..] => {
            Effect::Autocommit(matches!(value, "1" | "on" | "true"))
        }
        ["set", "transaction", ..] | ["set", "session", "transaction", ..] => {
            Effect::Characteristics(Characteristics::of(&line()))
        }
        ["set" | "reset" | "use" | "show" | "discard" | "listen" | "unlisten", ..] => {
            Effect::Skip(Reason::Setting)
        }
        ["copy", ..] | ["load", "data" | "xml", ..] => Effect::Skip(Reason::Copy),
        ["prepare" | "execute" | "deallocate", ..] => Effect::Skip(Reason::NamedStatement),
        [] => Effect::Skip(Reason::Nothing),
        ["create" | "drop", ..] if syntax == Syntax::Postgres && is_of_session(&words) => {
            Effect::Runs
        }
        [first, ..] if DEFINES.contains(&first) => Effect::Skip(Reason::Definition),
        _ => Effect::Runs,
    }
}

/// Whether a definition of PostgreSQL is of a routine of the session, `pg_temp.name`: nobody else sees it, and later statements of
/// the session call it.
fn is_of_session(words: &[&str]) -> bool {
    let routine = words.iter().position(|word| ["function", "procedure"].contains(word));
    let named =
        routine.and_then(|at| words[at + 1..].iter().find(|word| !["if", "exists"].contains(word)));
    named == Some(&"pg_temp")
}

/// First words of statements that define or administrate.
const DEFINES: &[&str] = &[
    "create",
    "alter",
    "drop",
    "grant",
    "revoke",
    "truncate",
    "vacuum",
    "analyze",
    "analyse",
    "reindex",
    "cluster",
    "comment",
    "refresh",
    "optimize",
    "repair",
    "check",
    "flush",
    "kill",
    "rename",
    "checkpoint",
    "security",
    "import",
    "reassign",
    "install",
    "uninstall",
    "purge",
    "change",
    "reset",
    "shutdown",
    "do",
    "audit",
    "noaudit",
    "explain",
];

/// First words of statements that commit implicitly on MySQL (manual, chapter "Statements That Cause
/// an Implicit Commit").
const COMMITS: &[&str] = &[
    "create",
    "alter",
    "drop",
    "grant",
    "revoke",
    "truncate",
    "analyze",
    "optimize",
    "repair",
    "check",
    "rename",
    "flush",
    "install",
    "uninstall",
    "change",
    "reset",
    "lock",
];

/// Whether a statement commits the transaction that it is in.
#[must_use]
pub fn commits_implicitly(sql: &str, syntax: Syntax) -> bool {
    if syntax != Syntax::MySql {
        return false;
    }
    let words: Vec<String> = first_words(sql, syntax).take(2).collect();
    let is_temporary = words.get(1).is_some_and(|word| word == "temporary");
    let commits = words.first().is_some_and(|word| COMMITS.contains(&word.as_str()));
    commits && !is_temporary
}

/// Whether a statement defines a routine, so that the semicolons after its beginning are those of its body. Bodies of PostgreSQL
/// have an end of their own ([`split`](super::sql::split)).
#[must_use]
pub fn defines_routine(sql: &str, syntax: Syntax) -> bool {
    if syntax == Syntax::Postgres {
        return false;
    }
    let words: Vec<String> = first_words(sql, syntax).collect();
    let routines = ["procedure", "function", "trigger", "event", "package"];
    words.first().is_some_and(|word| word == "create")
        && words.iter().any(|word| routines.contains(&word.as_str()))
}

/// The rules after a statement that changes settings, which no others do: `sql_mode` of MySQL,
/// `standard_conforming_strings` of PostgreSQL.
#[must_use]
pub fn changed_rules(sql: &str, rules: Rules) -> Rules {
    let lower = sql.to_ascii_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    let has = |word: &str| words.contains(&word);
    let default = Rules::from(rules.syntax);
    match rules.syntax {
        Syntax::MySql if has("sql_mode") && !has("global") && !has("persist") => {
            // One that is built from the one before.
            let keeps = lower.contains("@@") && !has("replace");
            let (backslashes, names) =
                (has("no_backslash_escapes"), has("ansi_quotes") || has("ansi"));
            Rules {
                backslashes: !backslashes && (rules.backslashes || !keeps),
                quoted_names: names || keeps && rules.quoted_names,
                ..rules
            }
        }
        Syntax::Postgres if has("standard_conforming_strings") && has("set") => {
            let is_off = ["off", "false", "no", "0"].into_iter().any(has);
            Rules { backslashes: is_off, ..rules }
        }
        Syntax::Postgres if has("reset") || has("discard") => {
            let is_all = has("all") || has("standard_conforming_strings");
            if is_all { default } else { rules }
        }
        _ => rules,
    }
}

/// The database of `USE shop`.
#[must_use]
pub fn used_database(sql: &str) -> Option<String> {
    let (word, name) = sql.trim().split_once(char::is_whitespace)?;
    let name = name.trim_end_matches(|c: char| c == ';' || c.is_whitespace()).trim_start();
    let bare = match name.strip_prefix('`').and_then(|name| name.strip_suffix('`')) {
        Some(quoted) => quoted.replace("``", "`"),
        None => name.to_owned(),
    };
    let is_one = word.eq_ignore_ascii_case("use") && !name.contains(['\n', ';']);
    (is_one && !bare.is_empty()).then_some(bare)
}

/// Whether a statement can only be one of a stored function or a trigger: those of functions have
/// NAME_CONST for their variables, those of triggers the rows NEW and OLD.
#[must_use]
pub fn is_of_routine(sql: &str, rules: Rules) -> bool {
    if !["name_const", "new.", "old."].into_iter().any(|text| contains_ignoring_case(sql, text)) {
        return false;
    }
    let all = tokens(sql, rules);
    let is = |at: usize, words: &[&str]| {
        all.get(at).is_some_and(|token| words.iter().any(|word| token.is(word)))
    };
    let places = |name: &'static str| {
        let named = all.iter().enumerate().filter(move |(_, token)| token.is(name));
        named.filter(|(_, token)| token.kind == TokenKind::Word).map(|(at, _)| at)
    };
    let is_row = |name| {
        // A table or its alias is named without a column, a database before a table.
        let tables = ["from", "join", "into", "update", "table", "."];
        let is_column = |at: usize| {
            let is_table = at.checked_sub(1).is_some_and(|before| is(before, &tables));
            is(at + 1, &["."]) && !is_table
        };
        places(name).next().is_some() && places(name).all(is_column)
    };
    places("name_const").any(|at| is(at + 1, &["("])) || is_row("new") || is_row("old")
}

/// Whether a statement may contain a password: the words of any database that has one.
#[must_use]
pub fn has_secret(sql: &str, syntax: Syntax) -> bool {
    // Without allocating: almost no statement has one.
    let has = |word: &str| contains_ignoring_case(sql, word);
    if !has("password") && !has("identified") && !has("secret") {
        return false;
    }
    let lower = sql.to_ascii_lowercase();
    let words: Vec<String> = first_words(sql, syntax).collect();
    let first = words.first().map_or("", String::as_str);
    let administrates = ["create", "alter", "set", "grant", "change", "copy", "backup", "restore"];
    administrates.contains(&first)
        || lower.contains("identified by")
        || lower.contains("identified with")
        || lower.contains("password(")
        || lower.replace(' ', "").contains("password=")
            && (lower.contains("dblink") || lower.contains("host="))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_recognised_by_their_first_words() {
        let plain = Characteristics::default();
        let serializable =
            Characteristics { isolation: Some(Isolation::Serializable), reads: true };
        for (sql, expected) in [
            ("BEGIN", Effect::Begin(plain)),
            (
                "START TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY",
                Effect::Begin(serializable),
            ),
            (
                "SET TRANSACTION ISOLATION LEVEL  SERIALIZABLE READ ONLY",
                Effect::Characteristics(serializable),
            ),
            ("END", Effect::Commit(false)),
            ("commit and chain", Effect::Commit(true)),
            ("COMMIT AND NO CHAIN", Effect::Commit(false)),
            ("ROLLBACK TO SAVEPOINT a", Effect::RollbackTo),
            ("ABORT", Effect::Rollback(false)),
            ("SET autocommit=0", Effect::Autocommit(false)),
            ("SET NAMES utf8", Effect::Skip(Reason::Setting)),
            ("/* x */ create table t (a int)", Effect::Skip(Reason::Definition)),
            ("COPY t FROM STDIN", Effect::Skip(Reason::Copy)),
            ("TRUNCATE a, b RESTART IDENTITY", Effect::Runs),
            ("SET CONSTRAINTS ALL IMMEDIATE", Effect::Runs),
            ("EXECUTE p(1)", Effect::Skip(Reason::NamedStatement)),
            ("PREPARE TRANSACTION 'x'", Effect::Skip(Reason::TwoPhase)),
            ("(SELECT 1)", Effect::Runs),
            ("WITH a AS (SELECT 1) SELECT * FROM a", Effect::Runs),
            (" -- nothing", Effect::Skip(Reason::Nothing)),
            ("CREATE OR REPLACE FUNCTION pg_temp.f() RETURNS int AS $$SELECT 1$$", Effect::Runs),
            ("DROP FUNCTION IF EXISTS pg_temp.f()", Effect::Runs),
            ("CREATE FUNCTION f(a pg_temp.t) RETURNS int", Effect::Skip(Reason::Definition)),
        ] {
            assert_eq!(effect(sql, Syntax::Postgres), expected, "{sql}");
        }
        assert_eq!(effect("BEGIN p(1); END;", Syntax::Oracle), Effect::Runs);
        for (sql, expected) in [
            ("/*!50000 insert into y values (2) */", Effect::Runs),
            ("/*!40101 SET NAMES utf8 */", Effect::Skip(Reason::Setting)),
            ("/*M!100100 COMMIT */", Effect::Commit(false)),
            ("/*!999999\\- enable the sandbox mode */", Effect::Skip(Reason::Nothing)),
            ("# create\nCOMMIT", Effect::Commit(false)),
            ("/* a /* b */ COMMIT", Effect::Commit(false)),
            ("SET @v = 1", Effect::Runs),
            ("SET @autocommit = 1", Effect::Runs),
            ("SET @v = 1, autocommit = 0", Effect::Skip(Reason::Setting)),
            ("SET @@session.autocommit = 0", Effect::Autocommit(false)),
        ] {
            assert_eq!(effect(sql, Syntax::MySql), expected, "{sql}");
        }
        assert_eq!(effect("/* a /* b */ c */ COMMIT", Syntax::Postgres), Effect::Commit(false));
    }

    #[test]
    fn settings_that_change_how_strings_are_read_are_followed() {
        let mysql = Rules::from(Syntax::MySql);
        let ansi = Rules { quoted_names: true, ..mysql };
        let plain = Rules { backslashes: false, ..mysql };
        for (sql, before, expected) in [
            ("SET sql_mode = 'ANSI_QUOTES,STRICT_TRANS_TABLES'", mysql, ansi),
            ("SET SESSION sql_mode = CONCAT(@@sql_mode, ',ANSI')", mysql, ansi),
            ("SET sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES')", ansi, ansi),
            ("SET @@sql_mode = 'STRICT_ALL_TABLES'", mysql, mysql),
            ("SET sql_mode = ''", ansi, mysql),
            ("SET GLOBAL sql_mode = 'ANSI'", mysql, mysql),
            ("SET sql_mode = 'NO_BACKSLASH_ESCAPES'", mysql, plain),
            ("SET NAMES utf8", plain, plain),
        ] {
            assert_eq!(changed_rules(sql, before), expected, "{sql}");
        }
        let standard = Rules::from(Syntax::Postgres);
        let old = Rules { backslashes: true, ..standard };
        for (sql, before, expected) in [
            ("SET standard_conforming_strings = off", standard, old),
            ("set standard_conforming_strings to on", old, standard),
            ("RESET ALL", old, standard),
            ("RESET work_mem", old, old),
        ] {
            assert_eq!(changed_rules(sql, before), expected, "{sql}");
        }
    }

    #[test]
    fn statements_of_functions_and_triggers_are_recognised() {
        for (sql, expected) in [
            ("insert into y values( NAME_CONST('p',5),'fn')", true),
            ("insert into y values(old.i,'tg')", true),
            ("update t set a = NEW.a where b = OLD.b", true),
            ("insert into y values('NAME_CONST(', 'old.i')", false),
            ("select old.i from y old join z new on new.i = old.i", false),
            ("insert into y values (1) as new on duplicate key update i = new.i", false),
            ("select * from old.y where renew.a = 1", false),
        ] {
            assert_eq!(is_of_routine(sql, Syntax::MySql.into()), expected, "{sql}");
        }
    }

    #[test]
    fn definitions_of_routines_are_recognised() {
        for (sql, expected) in [
            ("CREATE OR REPLACE DEFINER=root@localhost PROCEDURE p() BEGIN SELECT 1", true),
            ("create trigger t before insert on a for each row begin", true),
            ("CREATE TABLE t (a int)", false),
            ("SELECT 1 AS function", false),
        ] {
            assert!(!defines_routine(sql, Syntax::Postgres), "{sql}: its body has an end");
            assert_eq!(defines_routine(sql, Syntax::MySql), expected, "{sql}");
        }
    }

    #[test]
    fn definitions_commit_on_mysql() {
        for (sql, expected) in [
            ("CREATE TABLE t (a int)", true),
            ("/* x */ truncate t", true),
            ("CREATE TEMPORARY TABLE t (a int)", false),
            ("INSERT INTO t VALUES (1)", false),
        ] {
            assert_eq!(commits_implicitly(sql, Syntax::MySql), expected, "{sql}");
            assert!(!commits_implicitly(sql, Syntax::Postgres), "{sql}");
        }
        assert_eq!(used_database(" USE `a``b` ;"), Some("a`b".to_owned()));
        assert_eq!(used_database("useless x"), None);
    }

    #[test]
    fn passwords_are_found_whatever_the_statement() {
        for sql in [
            "CREATE USER a WITH ENCRYPTED PASSWORD 'x'",
            "alter role a password 'x'",
            "CREATE USER a IDENTIFIED BY 'x'",
            "SET PASSWORD FOR a = 'x'",
            "SELECT dblink_connect('host=a password = x')",
            "UPDATE mysql.user SET authentication_string = PASSWORD('x')",
            "CREATE USER MAPPING FOR a SERVER s OPTIONS (password 'x')",
            "CHANGE MASTER TO MASTER_PASSWORD='x'",
            "CREATE SECRET s (KEY_ID 'a')",
        ] {
            assert!(has_secret(sql, Syntax::MySql), "{sql}");
        }
        let harmless = "SELECT id FROM users WHERE password_hash = 'x'";
        assert!(!has_secret(harmless, Syntax::MySql));
        assert!(!has_secret("SELECT 1", Syntax::MySql));
    }
}
