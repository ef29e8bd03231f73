//! Oracle's extended SQL trace (event 10046), from Oracle's documentation of the format (My Oracle
//! Support note 39817.1); no server was available to check it.
//!
//! ```text
//! PARSING IN CURSOR #1 len=35 dep=0 uid=84 oct=3 lid=84 tim=1234 hv=… ad=… sqlid=…
//! SELECT name FROM t WHERE id = :B1
//! END OF STMT
//! BINDS #1:
//!  Bind#0
//!   oacdty=02 mxl=22(22) …
//!   value=5
//! EXEC #1:c=0,e=120,p=0,cr=2,…,dep=0,…,tim=1500      (e: µs that it took, tim: when it ended)
//! XCTEND rlbk=0, rd_only=0, tim=1600
//! ```

use std::collections::{HashMap, VecDeque};

use super::super::event::{Aftermath, Argument, Event, What};
use super::super::lines::LINE_BYTES_MAX;
use super::super::skipped::Reason;
use super::skipped;

/// Most cursors whose text is kept.
const CURSORS_MAX: usize = 10_000;
/// Most arguments of a statement.
const BINDS_MAX: usize = 10_000;

/// Whether a line is of a trace.
pub fn is_trace(line: &str) -> bool {
    let begins = ["Trace file ", "PARSING IN CURSOR #", "*** SESSION ID:(", "EXEC #", "PARSE #"];
    begins.iter().any(|begin| line.starts_with(begin))
}

/// A cursor: its statement, unless the database runs it for itself.
#[derive(Debug, Default)]
struct Cursor {
    sql: String,
    is_recursive: bool,
    binds: Vec<Argument>,
}

/// What the lines belong to.
#[derive(Debug, Default, PartialEq)]
enum Place {
    #[default]
    Between,
    Statement(String),
    Binds(String),
}

/// The lines of a trace.
#[derive(Debug, Default)]
pub struct Trace {
    session: String,
    place: Place,
    cursors: HashMap<String, Cursor>,
    has_begun: bool,
}

impl Trace {
    pub fn line(&mut self, line: &str, events: &mut VecDeque<Event>) {
        if let Place::Statement(cursor) = &self.place {
            let cursor = self.cursors.entry(cursor.clone()).or_default();
            if line == "END OF STMT" {
                self.place = Place::Between;
            } else if cursor.sql.len() + line.len() > LINE_BYTES_MAX {
                cursor.is_recursive = true;
                events.push_back(skipped(Reason::TooLong));
                self.place = Place::Between;
            } else {
                if !cursor.sql.is_empty() {
                    cursor.sql.push('\n');
                }
                cursor.sql.push_str(line);
            }
            return;
        }
        if let Some(session) = line.strip_prefix("*** SESSION ID:(") {
            session.split(')').next().unwrap_or_default().clone_into(&mut self.session);
        } else if let Some(rest) = line.strip_prefix("PARSING IN CURSOR #") {
            self.parsing(rest);
        } else if let Some(cursor) = line.strip_prefix("BINDS #") {
            let cursor = cursor.trim_end_matches(':').to_owned();
            if let Some(known) = self.cursors.get_mut(&cursor) {
                known.binds.clear();
            }
            self.place = Place::Binds(cursor);
        } else if let Some(rest) = line.strip_prefix("EXEC #") {
            self.execute(rest, events);
        } else if let Some(rest) = line.strip_prefix("XCTEND ") {
            self.end_transaction(rest, events);
        } else if let Some(rest) = line.strip_prefix("ERROR #") {
            let cursor = rest.split(':').next().unwrap_or_default();
            if self.cursors.get(cursor).is_some_and(|cursor| !cursor.is_recursive) {
                self.push(0, What::Failed(None, Aftermath::Open), events);
            }
        } else if let Place::Binds(cursor) = &self.place
            && line.starts_with(' ')
        {
            if let Some(cursor) = self.cursors.get_mut(cursor) {
                bind(cursor, line.trim());
            }
            return;
        } else if !self.has_begun && !is_trace(line) && !line.is_empty() {
            // What a trace begins with has no fixed form; without any statement, the caller says so.
            return;
        }
        self.has_begun = true;
        if !line.starts_with("BINDS #") && !matches!(self.place, Place::Statement(_)) {
            self.place = Place::Between;
        }
    }

    fn parsing(&mut self, rest: &str) {
        let cursor = rest.split(' ').next().unwrap_or_default().to_owned();
        if self.cursors.len() >= CURSORS_MAX {
            self.cursors.clear();
        }
        let is_recursive = field(rest, "dep").is_none_or(|dep| dep != 0);
        self.cursors.insert(cursor.clone(), Cursor { is_recursive, ..Cursor::default() });
        self.place = Place::Statement(cursor);
    }

    fn execute(&mut self, rest: &str, events: &mut VecDeque<Event>) {
        let (cursor, facts) = rest.split_once(':').unwrap_or((rest, ""));
        let (Some(end), took) = (field(facts, "tim"), field(facts, "e")) else {
            events.push_back(skipped(Reason::Damaged));
            return;
        };
        let Some(known) = self.cursors.get(cursor) else {
            events.push_back(skipped(Reason::Damaged));
            return;
        };
        if known.is_recursive {
            return;
        }
        let (sql, binds) = (known.sql.clone(), known.binds.clone());
        let took_us = took.map(i64::unsigned_abs);
        let start = end.saturating_sub(took.unwrap_or(0));
        self.push(start, What::Statement { sql, binds, took_us }, events);
    }

    fn end_transaction(&self, rest: &str, events: &mut VecDeque<Event>) {
        let is_rollback = field(rest, "rlbk") == Some(1);
        let sql = if is_rollback { "ROLLBACK" } else { "COMMIT" }.to_owned();
        let what = What::Statement { sql, binds: Vec::new(), took_us: None };
        self.push(field(rest, "tim").unwrap_or_default(), what, events);
    }

    pub fn end(&mut self, events: &mut VecDeque<Event>) {
        if matches!(self.place, Place::Statement(_)) {
            events.push_back(skipped(Reason::Damaged));
        }
    }

    pub fn broken(&mut self) {
        if let Place::Statement(cursor) = std::mem::take(&mut self.place) {
            self.cursors.remove(&cursor);
        }
    }

    fn push(&self, at_us: i64, what: What, events: &mut VecDeque<Event>) {
        events.push_back(Event { session: self.session.clone(), at_us, database: None, what });
    }
}

/// A line of the binds: `Bind#0` begins one, which is NULL without a value.
fn bind(cursor: &mut Cursor, line: &str) {
    if line.starts_with("Bind#") && cursor.binds.len() < BINDS_MAX {
        cursor.binds.push(Argument::Null);
    } else if let Some(value) = line.strip_prefix("value=")
        && let Some(last) = cursor.binds.last_mut()
    {
        *last = match value.strip_prefix('"').and_then(|value| value.strip_suffix('"')) {
            Some(text) => Argument::Text(text.to_owned()),
            None if value.is_empty() || value == "NULL" => Argument::Null,
            None => Argument::of_text(value.to_owned()),
        };
    }
}

/// The number of a fact such as `tim=1234`.
fn field(facts: &str, name: &str) -> Option<i64> {
    let all = facts.split([',', ' ']);
    let value = all.filter_map(|fact| fact.split_once('=')).find(|(known, _)| *known == name)?.1;
    value.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::{Format, events};
    use super::*;

    #[test]
    fn a_trace_has_statements_with_binds_and_ends_of_transactions() {
        let log = "Trace file /u01/app/x.trc\nOracle Database 19c\n\
                   *** SESSION ID:(22.391) 2026-01-31T12:00:00.000000+00:00\n\
                   PARSING IN CURSOR #7 len=35 dep=0 uid=84 oct=3 lid=84 tim=900 hv=1 ad='a' sqlid='b'\n\
                   SELECT name FROM t\nWHERE id = :B1 AND x = :B2\nEND OF STMT\n\
                   PARSE #7:c=0,e=50,p=0,cr=0,cu=0,mis=1,r=0,dep=0,og=1,plh=0,tim=950\n\
                   BINDS #7:\n Bind#0\n  oacdty=02 mxl=22(22) mxlc=00\n  value=5\n \
                   Bind#1\n  oacdty=01 mxl=32(03)\n  value=\"a b\"\n\
                   EXEC #7:c=0,e=120,p=0,cr=2,cu=0,mis=0,r=0,dep=0,og=1,plh=1,tim=1500\n\
                   PARSING IN CURSOR #8 len=9 dep=1 uid=0 oct=3 lid=0 tim=1501 hv=1 ad='a' sqlid='b'\n\
                   SELECT 1\nEND OF STMT\nEXEC #8:c=0,e=1,dep=1,tim=1502\n\
                   WAIT #7: nam='SQL*Net message to client' ela= 1 tim=1510\n\
                   XCTEND rlbk=0, rd_only=1, tim=1600\n";
        let found = events(Format::OracleTrace, log);
        let binds = vec![Argument::Int(5), Argument::Text("a b".into())];
        let sql = "SELECT name FROM t\nWHERE id = :B1 AND x = :B2".to_owned();
        let commit = What::Statement { sql: "COMMIT".into(), binds: Vec::new(), took_us: None };
        let event =
            |at_us, what| Event { session: "22.391".to_owned(), at_us, database: None, what };
        assert_eq!(
            found,
            [event(1380, What::Statement { sql, binds, took_us: Some(120) }), event(1600, commit)]
        );
    }

    #[test]
    fn damaged_lines_are_counted() {
        let log = "EXEC #1:c=0,e=1,tim=5\nEXEC #2\nPARSING IN CURSOR #3 dep=0 tim=1\nSELECT";
        let found = events(Format::OracleTrace, log);
        assert!(found.iter().all(|event| event.what == What::Skipped(Reason::Damaged)));
        assert_eq!(found.len(), 3);
    }
}
