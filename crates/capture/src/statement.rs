//! What a statement does to a session, by its first words.

use triphammer_core::session::{Access, Isolation};

use super::skipped::Reason;
use super::sql::{Syntax, first_words};

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
pub fn effect(sql: &str, syntax: Syntax) -> Effect {
    if has_secret(sql) {
        return Effect::Skip(Reason::Secret);
    }
    let words: Vec<String> = first_words(sql).collect();
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
        ["rollback", "to", ..] | ["rollback", "work" | "transaction", "to", ..] => Effect::Runs,
        ["commit" | "end", ..] => Effect::Commit(chains()),
        ["rollback" | "abort", ..] => Effect::Rollback(chains()),
        ["set", "autocommit", value, ..] => {
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
        [first, ..] if DEFINES.contains(&first) => Effect::Skip(Reason::Definition),
        _ => Effect::Runs,
    }
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

/// Whether a statement may contain a password: the words of any database that has one.
#[must_use]
pub fn has_secret(sql: &str) -> bool {
    // Without allocating: almost no statement has one.
    let has = |word: &str| contains_ignoring_case(sql, word);
    if !has("password") && !has("identified") && !has("secret") {
        return false;
    }
    let lower = sql.to_ascii_lowercase();
    let words: Vec<String> = first_words(sql).collect();
    let first = words.first().map_or("", String::as_str);
    let administrates = ["create", "alter", "set", "grant", "change", "copy", "backup", "restore"];
    administrates.contains(&first)
        || lower.contains("identified by")
        || lower.contains("identified with")
        || lower.contains("password(")
        || lower.replace(' ', "").contains("password=")
            && (lower.contains("dblink") || lower.contains("host="))
}

/// Whether a text contains a word in lower case, in any case.
fn contains_ignoring_case(text: &str, word: &str) -> bool {
    text.as_bytes().windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes()))
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
            ("ROLLBACK TO SAVEPOINT a", Effect::Runs),
            ("ABORT", Effect::Rollback(false)),
            ("SET autocommit=0", Effect::Autocommit(false)),
            ("SET NAMES utf8", Effect::Skip(Reason::Setting)),
            ("/* x */ create table t (a int)", Effect::Skip(Reason::Definition)),
            ("COPY t FROM STDIN", Effect::Skip(Reason::Copy)),
            ("EXECUTE p(1)", Effect::Skip(Reason::NamedStatement)),
            ("PREPARE TRANSACTION 'x'", Effect::Skip(Reason::TwoPhase)),
            ("(SELECT 1)", Effect::Runs),
            ("WITH a AS (SELECT 1) SELECT * FROM a", Effect::Runs),
            (" -- nothing", Effect::Skip(Reason::Nothing)),
        ] {
            assert_eq!(effect(sql, Syntax::Postgres), expected, "{sql}");
        }
        assert_eq!(effect("BEGIN p(1); END;", Syntax::Oracle), Effect::Runs);
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
            assert!(has_secret(sql), "{sql}");
        }
        assert!(!has_secret("SELECT id FROM users WHERE password_hash = 'x'"));
        assert!(!has_secret("SELECT 1"));
    }
}
