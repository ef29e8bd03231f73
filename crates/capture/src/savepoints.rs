//! Names of savepoints. Drivers and frameworks make a new name for each savepoint, so that every one would be a
//! statement of its own. Within a transaction, a name is replaced by the smallest number that no other open savepoint
//! has: all transactions have the same texts. Two names that are open never have the same number, so that each
//! statement is about the same savepoint as before.

use super::sql::{Rules, Syntax, TokenKind, first_words, tokens};

/// Longest name of PostgreSQL, in bytes; it cuts longer ones.
const NAME_MAX: usize = 63;

/// What a statement does to savepoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    /// SAVEPOINT.
    Set,
    /// RELEASE: it ends the savepoint and those after it.
    Release,
    /// ROLLBACK TO: it ends those after the savepoint, which stays open.
    Back,
}

/// A statement about a savepoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Savepoint {
    action: Action,
    /// Its name, as the database compares it.
    name: String,
    /// The statement, with the number in place of the name.
    pub sql: String,
}

/// A savepoint that is open.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Named {
    name: String,
    number: usize,
}

/// The savepoints of a transaction that are open, the oldest one first.
#[derive(Debug, Default)]
pub struct Savepoints(Vec<Named>);

/// What a statement changed, to undo it if it turns out to have failed.
#[derive(Debug)]
pub struct Change {
    /// Number of savepoints that stayed.
    stayed: usize,
    /// Those that were after them.
    ended: Vec<Named>,
}

impl Savepoints {
    /// The savepoint of a statement that is about one.
    pub fn of(&self, sql: &str, rules: Rules) -> Option<Savepoint> {
        let first = first_words(sql, rules.syntax).next()?;
        let mut action = match first.as_str() {
            "savepoint" => Action::Set,
            "release" => Action::Release,
            "rollback" => Action::Back,
            _ => return None,
        };
        let mut all = tokens(sql, rules);
        all.retain(|token| token.kind != TokenKind::Semicolon);
        let (name, words) = all.split_last()?;
        let words: Vec<String> = words.iter().map(|word| word.text.to_ascii_lowercase()).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        action = match words[..] {
            ["savepoint"] | ["release"] | ["release", "savepoint"] => action,
            ["rollback", "to"]
            | ["rollback", "to", "savepoint"]
            | ["rollback", "work" | "transaction", "to"]
            | ["rollback", "work" | "transaction", "to", "savepoint"] => Action::Back,
            _ => return None,
        };
        let compared = match name.kind {
            TokenKind::Word => bare(name.text, rules.syntax),
            TokenKind::QuotedName => quoted(name.text, rules.syntax)?,
            _ => return None,
        };
        let number = self.number(action, &compared);
        let (before, after) = (&sql[..name.start], &sql[name.start + name.text.len()..]);
        let sql = format!("{before}savepoint_{number}{after}");
        Some(Savepoint { action, name: compared, sql })
    }

    /// The number of a name. No savepoint has 0, so that a statement about one that is not open fails as it did.
    fn number(&self, action: Action, name: &str) -> usize {
        let is_free = |number: &usize| self.0.iter().all(|one| one.number != *number);
        match self.0.iter().rev().find(|one| one.name == name) {
            Some(open) => open.number,
            None if action == Action::Set => (1..).find(is_free).unwrap_or_default(),
            None => 0,
        }
    }

    /// A statement succeeded, as far as it is known.
    pub fn apply(&mut self, savepoint: &Savepoint, syntax: Syntax) -> Change {
        let Savepoint { action, name, .. } = savepoint;
        let place = self.0.iter().rposition(|one| one.name == *name);
        let number = self.number(*action, name);
        let length = self.0.len();
        let (stayed, more) = match (action, place) {
            // A second one of the same name hides the first one in PostgreSQL, and ends it elsewhere.
            (Action::Set, Some(place)) if syntax != Syntax::Postgres => {
                (place, self.0[place + 1..].to_vec())
            }
            (Action::Release, Some(place)) => (place, Vec::new()),
            (Action::Back, Some(place)) => (place + 1, Vec::new()),
            _ => (length, Vec::new()),
        };
        let ended = self.0.split_off(stayed);
        self.0.extend(more);
        if *action == Action::Set {
            self.0.push(Named { name: name.clone(), number });
        }
        Change { stayed, ended }
    }

    /// The statement failed that made a change, and none is after it.
    pub fn undo(&mut self, change: Change) {
        self.0.truncate(change.stayed);
        self.0.extend(change.ended);
    }
}

/// A name without quotes.
fn bare(name: &str, syntax: Syntax) -> String {
    match syntax {
        Syntax::Postgres => cut(&name.to_ascii_lowercase()),
        Syntax::MySql => name.to_lowercase(),
        Syntax::Oracle => name.to_uppercase(),
    }
}

/// A name in quotes; `None` for one with escapes (`U&"…"`).
fn quoted(text: &str, syntax: Syntax) -> Option<String> {
    let mark = text.chars().next().filter(|mark| ['"', '`'].contains(mark))?;
    let name = text[1..text.len() - 1].replace(&format!("{mark}{mark}"), &mark.to_string());
    Some(match syntax {
        Syntax::Postgres => cut(&name),
        Syntax::MySql => name.to_lowercase(),
        Syntax::Oracle => name,
    })
}

fn cut(name: &str) -> String {
    name[..name.floor_char_boundary(NAME_MAX)].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The statements of a transaction, with numbers; `!` is before one that fails.
    fn replaced(syntax: Syntax, all: &[&str]) -> Vec<String> {
        let mut savepoints = Savepoints::default();
        let sql = |text: &&str| {
            let (text, has_failed) = text.strip_prefix('!').map_or((*text, false), |t| (t, true));
            let Some(savepoint) = savepoints.of(text, syntax.into()) else {
                return text.to_owned();
            };
            let change = savepoints.apply(&savepoint, syntax);
            if has_failed {
                savepoints.undo(change);
            }
            savepoint.sql.replace("savepoint_", "")
        };
        all.iter().map(sql).collect()
    }

    #[test]
    fn names_become_numbers_of_the_same_savepoints() {
        let (postgres, mysql) = (Syntax::Postgres, Syntax::MySql);
        for (syntax, all, expected) in [
            (
                postgres,
                &["SAVEPOINT x7", "savepoint y", "ROLLBACK TO x7", "RELEASE SAVEPOINT X7;"]
                    as &[_],
                &["SAVEPOINT 1", "savepoint 2", "ROLLBACK TO 1", "RELEASE SAVEPOINT 1;"] as &[_],
            ),
            // ROLLBACK TO leaves it open, RELEASE does not; one that is not open stays so.
            (
                postgres,
                &["savepoint a", "rollback work to a", "savepoint b", "release a", "release b"],
                &["savepoint 1", "rollback work to 1", "savepoint 2", "release 1", "release 0"],
            ),
            // The second one of a name hides the first one in PostgreSQL, and ends it in MySQL.
            (
                postgres,
                &["savepoint a", "savepoint b", "savepoint a", "release a", "rollback to b"],
                &["savepoint 1", "savepoint 2", "savepoint 1", "release 1", "rollback to 2"],
            ),
            (
                mysql,
                &["savepoint a", "savepoint b", "savepoint A", "release savepoint b", "release a"],
                &["savepoint 1", "savepoint 2", "savepoint 1", "release savepoint 2", "release 0"],
            ),
            // Names in quotes.
            (
                postgres,
                &["savepoint \"A\"", "savepoint a", "release \"a\"", "release \"A\""],
                &["savepoint 1", "savepoint 2", "release 2", "release 1"],
            ),
            (mysql, &["savepoint `A b`", "release `a B`"], &["savepoint 1", "release 1"]),
            // One that fails changes nothing.
            (
                postgres,
                &["savepoint a", "!savepoint b", "!release a", "savepoint c", "release a"],
                &["savepoint 1", "savepoint 2", "release 1", "savepoint 2", "release 1"],
            ),
            (
                postgres,
                &["rollback", "rollback prepared 'x'"],
                &["rollback", "rollback prepared 'x'"],
            ),
        ] {
            assert_eq!(replaced(syntax, all), expected, "{all:?}");
        }
    }
}
