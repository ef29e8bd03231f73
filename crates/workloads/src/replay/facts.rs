//! What the text of a recorded statement shows without the database: its table, the columns of its arguments, the rows that
//! it is about, and whether its answer can be the same twice.

use std::borrow::Cow;

use triphammer_capture::Argument;
use triphammer_capture::answer::{MAKERS, MAKING_WORDS};
use triphammer_capture::sql::{Shape, Syntax, is_ordered};
use triphammer_capture::{inserted, table};

/// Most rows of an INSERT whose values are known.
const ROWS_MAX: u64 = 100_000;

/// Why rows of new values cannot be the same twice.
const MADE: &str = "values that the server makes";

/// Functions whose result differs from call to call.
const VOLATILE: &[&str] = &[
    "clock_timestamp",
    "connection_id",
    "curdate",
    "current_date",
    "current_time",
    "current_timestamp",
    "curtime",
    "gen_random_uuid",
    "localtime",
    "localtimestamp",
    "now",
    "pg_backend_pid",
    "pg_current_xact_id",
    "rand",
    "random",
    "statement_timestamp",
    "sysdate",
    "timeofday",
    "transaction_timestamp",
    "txid_current",
    "unix_timestamp",
    "utc_timestamp",
    "uuid",
    "uuid_generate_v4",
];
/// Those of them that SQL calls without parentheses.
const KEYWORDS: &[&str] =
    &["current_date", "current_time", "current_timestamp", "localtime", "localtimestamp"];

/// How far two answers to a statement can be expected to be equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stability {
    /// In all.
    Stable,
    /// But for the content of the rows.
    Counts(String),
    /// Only in whether it fails.
    Outcome(String),
}

impl Stability {
    /// Why not in all.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Stable => None,
            Self::Counts(why) | Self::Outcome(why) => Some(why),
        }
    }
}

/// The column that an argument is compared with or assigned to, in lower case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArgumentColumn {
    /// Its name; `None` if that is not known.
    pub column: Option<String>,
    /// Its table: the one that its qualifier names, or else the first of the statement.
    pub table: String,
    /// Whether it has a qualifier that names its table.
    pub is_qualified: bool,
}

/// Facts of a statement.
#[derive(Clone, Debug)]
pub struct StatementFacts {
    /// Its first table, in lower case; empty if it names none.
    pub table: String,
    /// Its first word, in lower case.
    pub verb: String,
    /// By argument, the column that it is compared with or assigned to.
    pub columns: Vec<ArgumentColumn>,
    /// Its text in lower case.
    lower: String,
    /// Arguments that a column must be equal to, with their columns: all of them, for the rows that are read or changed.
    pub keys: Vec<(String, usize)>,
    /// Whether it locks the rows that it reads.
    pub locks: bool,
    /// Whether rows have an order.
    pub is_ordered: bool,
    /// Whether its rows are values that the server makes.
    pub makes: bool,
    /// The columns that RETURNING names, in lower case.
    pub returned: Vec<String>,
    pub stability: Stability,
    /// The routine of the session that it defines, and the table into which that inserts.
    pub defines: Option<(String, String)>,
}

impl StatementFacts {
    /// Whether it inserts rows, and nothing else.
    pub fn inserts(&self) -> bool {
        is_insert(&self.verb)
    }

    /// Whether the value of a column that it returns is one of its own arguments.
    pub fn gives(&self, place: usize) -> bool {
        let name = self.returned.get(place).filter(|_| self.inserts());
        let is_it = |of: &ArgumentColumn| of.column.as_deref() == name.map(String::as_str);
        name.is_some() && self.columns.iter().any(is_it)
    }

    /// Whether it may return a row that existed before, as with ON CONFLICT.
    pub fn may_find(&self) -> bool {
        ["conflict", "duplicate", "merge"].iter().any(|word| has_word(&self.lower, word))
    }

    /// The routine of the session that it calls.
    pub fn called(&self) -> Option<&str> {
        of_session(&self.lower).filter(|_| self.verb == "select")
    }

    /// Its rows are those that a routine inserts into a table.
    pub fn return_inserted(&mut self, table: &str) {
        self.returned = selected(&self.lower);
        self.stability = Stability::Counts(MADE.to_owned());
        (self.makes, self.table) = (true, table.to_owned());
    }

    /// Whether its text names a table.
    pub fn names_table(&self, table: &str) -> bool {
        has_word(&self.lower, table)
    }

    /// Whether it makes values that no INSERT made.
    pub fn calls_sequence(&self) -> bool {
        calls(&self.lower, "nextval") || self.lower.contains(MAKING_WORDS[0])
    }

    /// Whether it locks all rows of its table, such as that of a sequence that a client keeps in a table.
    pub fn locks_table(&self) -> bool {
        self.locks && !has_word(&self.lower, "where")
    }

    /// All values that an answer says were made. MySQL names only the first of the rows of an INSERT, which it numbers without
    /// gaps if their number is known at its start (`innodb_autoinc_lock_mode`).
    pub fn all_made<'a>(
        &self,
        made: &'a [Vec<Argument>],
        changed: Option<u64>,
    ) -> Cow<'a, [Vec<Argument>]> {
        let numbered = self.returned.is_empty() && self.verb == "insert";
        let others = ["select", "duplicate", "ignore", "returning"];
        let is_simple = numbered && !others.iter().any(|word| has_word(&self.lower, word));
        match (made, changed) {
            ([row], Some(rows @ 2..)) if is_simple => match row.as_slice() {
                [Argument::Int(first)] => {
                    let last = first.saturating_add_unsigned(rows.min(ROWS_MAX) - 1);
                    (*first..=last).map(|id| vec![Argument::Int(id)]).collect()
                }
                _ => Cow::Borrowed(made),
            },
            _ => Cow::Borrowed(made),
        }
    }

    /// Reads a statement.
    pub fn of(shape: &Shape, syntax: Syntax) -> Self {
        let text = shape.to_string();
        let lower = text.to_lowercase();
        let first = table(shape).trim_matches(['"', '`']).to_lowercase();
        let columns = columns(shape, &first, &lower);
        let verb = shape.verb();
        let is_ordered = is_ordered(&text, syntax);
        Self {
            table: first,
            keys: keys(shape, &verb, &lower),
            columns,
            is_ordered,
            locks: locks(&lower),
            makes: makes(&verb, &lower),
            returned: returned(&lower),
            stability: stability(&verb, &lower, is_ordered),
            defines: defines(&verb, &lower),
            verb,
            lower,
        }
    }
}

/// By argument, its column.
fn columns(shape: &Shape, first: &str, lower: &str) -> Vec<ArgumentColumn> {
    let mut columns = vec![ArgumentColumn::default(); shape.literals.len()];
    let mut last = ArgumentColumn::default();
    for (hole, argument) in shape.holes.iter().enumerate() {
        let before = shape.pieces.get(hole).map_or("", |piece| piece.trim_end());
        let of_row = inserted(shape, hole);
        let is_list = before == "," && of_row.is_none();
        let compared = shape.column(hole).filter(|name| !calls_last(before, name));
        let found = match of_row.or(compared) {
            // The next value of a list is that of the same column: `id IN (1, 2)`.
            None if is_list => last.clone(),
            None if limits(before) => {
                ArgumentColumn { column: Some("limit".to_owned()), ..ArgumentColumn::default() }
            }
            column => {
                let qualifier = column.filter(|_| of_row.is_none());
                let named = qualifier.and_then(|name| qualified(before, name, lower));
                ArgumentColumn {
                    column: column.map(str::to_lowercase),
                    is_qualified: named.is_some(),
                    table: named.unwrap_or_else(|| first.to_owned()),
                }
            }
        };
        last = found.clone();
        if let Some(place) = columns.get_mut(*argument) {
            *place = found;
        }
    }
    columns
}

/// Whether a text ends with the call of a function, as `log(`.
fn calls_last(before: &str, name: &str) -> bool {
    before.strip_suffix('(').is_some_and(|function| function.trim_end().ends_with(name))
}

/// Whether a text ends with a word that a number of rows follows.
fn limits(before: &str) -> bool {
    let last = before.rsplit(char::is_whitespace).next().unwrap_or_default().to_lowercase();
    ["limit", "offset", "first", "next"].contains(&last.as_str())
}

/// The table that the qualifier of a column at the end of a text names, as `orders` in `FROM orders o WHERE o.id =`.
fn qualified(before: &str, column: &str, lower: &str) -> Option<String> {
    let before = &before[..before.rfind(column)?];
    let before =
        before.trim_end_matches(['"', '`']).strip_suffix('.')?.trim_end_matches(['"', '`']);
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let qualifier = before.rsplit(|c| !is_name(c)).next().unwrap_or_default().to_lowercase();
    let found: Vec<&str> = words_and_commas(lower).collect();
    let sources = ["from", "join", "update", "into", "using"];
    let begins = |word: &str| word == "," || sources.contains(&word);
    // What stands before the alias, unless that is itself what FROM or JOIN names.
    let table =
        (1..found.len()).filter(|at| found[*at] == qualifier).find_map(|at| match found[at - 1] {
            "as" if at > 1 => Some(found[at - 2]),
            "," => None,
            before if sources.contains(&before) => Some(found[at]),
            before => (at > 1 && begins(found[at - 2])).then_some(before),
        });
    table.map(str::to_owned)
}

/// The words of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The words of a text, and the commas between them.
fn words_and_commas(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(',').flat_map(|part| {
        let comma = part.ends_with(',').then_some(",");
        words(part).chain(comma)
    })
}

/// Whether a text calls a function.
fn calls(text: &str, function: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(function).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + function.len()..]);
        !before.ends_with(is_word) && after.trim_start().starts_with('(')
    })
}

fn is_insert(verb: &str) -> bool {
    matches!(verb, "insert" | "replace")
}

/// Whether the rows of a statement are values that the server makes: those of new rows, and of sequences. The rows that an
/// UPDATE returns are the application's.
fn makes(verb: &str, lower: &str) -> bool {
    let inserts = is_insert(verb) || verb == "with" && has_word(lower, "insert");
    inserts
        || MAKERS.iter().any(|function| calls(lower, function))
        || MAKING_WORDS.iter().any(|words| lower.contains(words))
}

fn has_word(text: &str, word: &str) -> bool {
    words(text).any(|found| found == word)
}

/// The columns that must be equal to an argument, of the rows of a statement.
fn keys(shape: &Shape, verb: &str, lower: &str) -> Vec<(String, usize)> {
    let is_insert = is_insert(verb);
    // Either side of an OR may be false.
    if !is_insert && has_word(lower, "or") {
        return Vec::new();
    }
    let mut is_condition = false;
    let mut keys: Vec<(String, usize)> = Vec::new();
    for (hole, argument) in shape.holes.iter().enumerate() {
        let before = &shape.pieces[hole];
        is_condition |= has_word(&before.to_lowercase(), "where");
        let column = match is_insert {
            true => inserted(shape, hole),
            false if is_condition && compares(before) => shape.column(hole),
            false => None,
        };
        keys.extend(column.map(|column| (column.to_lowercase(), *argument)));
    }
    // Two rows in one INSERT: each has all columns.
    keys.sort();
    keys.dedup_by(|a, b| a.0 == b.0);
    keys
}

/// Whether a text ends with `=`, and not with `<=` or the like.
fn compares(before: &str) -> bool {
    let before = before.trim_end();
    before.ends_with('=') && !["<=", ">=", "!=", ":="].iter().any(|other| before.ends_with(other))
}

/// Whether a query locks what it reads: FOR UPDATE and its kin, LOCK IN SHARE MODE.
fn locks(lower: &str) -> bool {
    let words: Vec<&str> = words(lower).collect();
    let locks = |of: &[&str]| {
        matches!(of, ["for", "update" | "share" | "no" | "key", ..] | ["lock", "in", "share"])
    };
    words.windows(3).any(locks)
        || words.ends_with(&["for", "update"])
        || words.ends_with(&["for", "share"])
}

/// The name of a routine of the session (`pg_temp.name` of PostgreSQL) that a statement has.
fn of_session(lower: &str) -> Option<&str> {
    let (_, name) = lower.split_once("pg_temp.")?;
    words(name).next()
}

/// The routine of the session that a statement defines, and the table into which it inserts.
fn defines(verb: &str, lower: &str) -> Option<(String, String)> {
    let (_, body) = lower.split_once("insert into ").filter(|_| verb == "create")?;
    let table = body.split(|c: char| c.is_whitespace() || c == '(').next()?;
    let table = table.rsplit('.').next()?.trim_matches('"');
    Some((of_session(lower)?.to_owned(), table.to_owned()))
}

/// The columns that a SELECT names.
fn selected(lower: &str) -> Vec<String> {
    let list = lower.split_once("select ").and_then(|(_, rest)| rest.split_once(" from "));
    list.map(|(list, _)| names_of(list)).unwrap_or_default()
}

/// The columns that RETURNING names at the end of a statement.
fn returned(lower: &str) -> Vec<String> {
    lower.rsplit_once("returning ").map(|(_, list)| names_of(list)).unwrap_or_default()
}

/// The columns of a list.
fn names_of(list: &str) -> Vec<String> {
    let bare = |name: &str| {
        let name = name.trim().trim_end_matches(';').trim();
        let name = name.split_once(" as ").map_or(name, |(name, _)| name);
        name.rsplit('.').next().unwrap_or_default().trim_matches(['"', '`']).to_owned()
    };
    list.split(',').map(bare).collect()
}

fn stability(verb: &str, lower: &str, is_ordered: bool) -> Stability {
    let volatile = |text: &str| {
        VOLATILE
            .iter()
            .find(|word| calls(text, word) || KEYWORDS.contains(word) && has_word(text, word))
    };
    // Variables of the server and the session: drivers ask for them when they connect.
    if verb == "select" && lower.contains("@@") {
        return Stability::Outcome("@@".to_owned());
    }
    let conditions = lower.split_once("where").map_or("", |(_, conditions)| conditions);
    if let Some(word) =
        volatile(conditions).or_else(|| volatile(lower).filter(|_| verb == "select"))
    {
        return Stability::Outcome((*word).to_owned());
    }
    let has_rows = verb == "select" || verb == "with" || has_word(lower, "returning");
    if let Some(word) = volatile(lower).filter(|_| has_rows) {
        return Stability::Counts((*word).to_owned());
    }
    if makes(verb, lower) && has_rows {
        return Stability::Counts(MADE.to_owned());
    }
    if !is_ordered && (has_word(lower, "limit") || has_word(lower, "fetch")) {
        return Stability::Counts("limit without order".to_owned());
    }
    Stability::Stable
}

/// The facts of a statement with `?` for its arguments.
#[cfg(test)]
pub fn facts(sql: &str) -> StatementFacts {
    let pieces: Vec<String> = sql.split('?').map(str::to_owned).collect();
    let arguments = pieces.len() - 1;
    let shape = Shape { pieces, holes: (0..arguments).collect(), literals: vec![false; arguments] };
    StatementFacts::of(&shape, Syntax::Postgres)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(sql: &str) -> Vec<(String, usize)> {
        facts(sql).keys
    }

    #[test]
    fn keys_are_the_columns_that_conditions_fix() {
        let key = |column: &str, argument| (column.to_owned(), argument);
        assert_eq!(keys("SELECT * FROM t WHERE id = ? AND b > ?"), [key("id", 0)]);
        assert_eq!(keys("UPDATE t SET a = ?, b = b + ? WHERE id = ?"), [key("id", 2)]);
        assert_eq!(
            keys("SELECT a FROM t x WHERE x.W_ID = ? AND \"d_id\" = ? LIMIT ?"),
            [key("d_id", 1), key("w_id", 0)]
        );
        assert_eq!(keys("INSERT INTO t (id, b) VALUES (?, ?)"), [key("b", 1), key("id", 0)]);
        assert!(facts("SELECT a FROM t WHERE id = ? FOR UPDATE").locks);
        assert!(facts("SELECT a FROM t WHERE id = ? FOR NO KEY UPDATE OF t").locks);
        assert!(!facts("SELECT a FROM t WHERE id = ?").locks);
        assert_eq!(keys("SELECT * FROM t WHERE id = ? OR b = ?"), []);
        assert_eq!(keys("SELECT * FROM t WHERE id <= ? AND b != ?"), []);
    }

    #[test]
    fn what_cannot_be_equal_is_recognised() {
        let of = |sql: &str| facts(sql).stability;
        assert_eq!(of("SELECT a FROM t WHERE id = ?"), Stability::Stable);
        assert_eq!(of("INSERT INTO t (a, at) VALUES (?, now())"), Stability::Stable);
        assert_eq!(of("UPDATE t SET at = now() WHERE id = ?"), Stability::Stable);
        assert_eq!(of("DELETE FROM t WHERE at < now()"), Stability::Outcome("now".to_owned()));
        assert_eq!(of("SELECT random()"), Stability::Outcome("random".to_owned()));
        assert_eq!(
            of("INSERT INTO t (at) VALUES (now()) RETURNING at"),
            Stability::Counts("now".to_owned())
        );
        assert_eq!(of("SELECT a FROM t ORDER BY a LIMIT ?"), Stability::Stable);
        assert!(matches!(of("SELECT a FROM t LIMIT ?"), Stability::Counts(_)));
        assert_eq!(of("SELECT randomness, know FROM t"), Stability::Stable);
        assert_eq!(of("SELECT uuid, now FROM t WHERE id = ?::uuid"), Stability::Stable);
        assert_eq!(of("UPDATE t SET a = ? WHERE id = ? RETURNING a"), Stability::Stable);
        assert!(matches!(of("INSERT INTO t (a) VALUES (?) RETURNING id"), Stability::Counts(_)));
        assert!(matches!(of("SELECT nextval('s')"), Stability::Counts(_)));
        assert_eq!(of("SELECT CURRENT_DATE"), Stability::Outcome("current_date".to_owned()));
    }

    #[test]
    fn routines_of_the_session_insert_into_a_table() {
        let create = facts(
            "CREATE OR REPLACE FUNCTION pg_temp.testfunc(OUT response \"users\") AS $f$ BEGIN INSERT INTO \"users\" (\"a\") \
             VALUES (1) RETURNING * INTO response; END $f$ LANGUAGE plpgsql",
        );
        assert_eq!(create.defines, Some(("testfunc".to_owned(), "users".to_owned())));
        let mut select = facts(
            "SELECT (testfunc.response).\"id\", (testfunc.response).\"a\" FROM pg_temp.testfunc()",
        );
        assert_eq!((select.called(), select.makes), (Some("testfunc"), false));
        select.return_inserted("users");
        assert_eq!(
            (select.returned.as_slice(), select.makes),
            (&["id".into(), "a".into()][..], true)
        );
    }

    #[test]
    fn the_columns_of_returned_values_have_names() {
        assert_eq!(
            facts("INSERT INTO t (a) VALUES (?) RETURNING t.\"id\", b AS c").returned,
            ["id", "b"]
        );
        assert_eq!(facts("SELECT nextval('s')").returned, [] as [&str; 0]);
    }
}
