//! The slow log of MySQL and MariaDB: lines of facts that begin with `#`, then `use`, `SET timestamp`
//! and the statement. The time is that of the statement's end, in whole seconds on MariaDB, which
//! writes it only when it has changed.

use std::collections::VecDeque;

use super::super::event::{Event, What};
use super::super::lines::LINE_BYTES_MAX;
use super::super::skipped::Reason;
use super::mysql_general::{instant, is_start};
use super::skipped;

/// Whether a line begins the facts of a statement.
pub fn is_header(line: &str) -> bool {
    line.starts_with("# Time: ") || line.starts_with("# User@Host: ")
}

/// Statements of a slow log.
#[derive(Debug, Default)]
pub struct Slow {
    now_us: i64,
    session: Option<String>,
    took_us: Option<u64>,
    sql: String,
    /// Whether the facts are complete, so that statements follow.
    in_sql: bool,
    has_begun: bool,
}

impl Slow {
    pub fn line(&mut self, line: &str, events: &mut VecDeque<Event>) {
        if let Some(facts) = line.strip_prefix("# ").filter(|_| self.is_fact(line)) {
            if self.in_sql {
                self.end(events);
            }
            self.has_begun = true;
            self.facts(facts);
            return;
        }
        if is_start(line) {
            self.end(events);
            return;
        }
        if !self.has_begun {
            if !line.trim().is_empty() {
                events.push_back(skipped(Reason::Damaged));
            }
            return;
        }
        self.in_sql = true;
        self.text(line, events);
    }

    /// Whether a line with `#` is one of facts, rather than a comment in a statement.
    fn is_fact(&self, line: &str) -> bool {
        !self.in_sql || is_header(line) || line.starts_with("# administrator command: ")
    }

    fn facts(&mut self, facts: &str) {
        if let Some(time) = facts.strip_prefix("Time: ") {
            self.now_us = instant(time).unwrap_or(self.now_us);
            return;
        }
        if let Some(command) = facts.strip_prefix("administrator command: ") {
            if command.starts_with("Quit") {
                self.in_sql = true;
                self.sql.clear();
                self.sql.push_str("\0quit");
            }
            return;
        }
        let after = |name: &str| {
            let at = facts.find(name)? + name.len();
            facts[at..].split_whitespace().next()
        };
        if let Some(id) = after("Thread_id:").or_else(|| after(" Id:")) {
            self.session = Some(id.to_owned());
        }
        if let Some(seconds) = after("Query_time:").and_then(|text| text.parse::<f64>().ok()) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded")]
            let us = (seconds.clamp(0.0, 1e9) * 1e6).round() as u64;
            self.took_us = Some(us);
        }
    }

    fn text(&mut self, line: &str, events: &mut VecDeque<Event>) {
        let lower = line.get(..14).unwrap_or(line).to_ascii_lowercase();
        if self.sql.is_empty() && lower.starts_with("set timestamp=") {
            let seconds = line[14..].trim_end_matches(';').parse::<f64>().ok();
            // A fraction, which newer versions write, is more precise than the line `# Time`.
            if let Some(seconds) = seconds.filter(|s| s.fract() > 0.0 && *s < 1e10) {
                #[expect(clippy::cast_possible_truncation, reason = "bounded")]
                let start_us = (seconds * 1e6).round() as i64;
                self.now_us = start_us.saturating_add_unsigned(self.took_us.unwrap_or(0));
            }
            return;
        }
        let is_use = self.sql.is_empty() && lower.starts_with("use ") && line.ends_with(';');
        if is_use || (self.sql.is_empty() && line.trim().is_empty()) {
            return;
        }
        if self.sql.len() + line.len() > LINE_BYTES_MAX {
            events.push_back(skipped(Reason::TooLong));
            self.broken();
            return;
        }
        if !self.sql.is_empty() {
            self.sql.push('\n');
        }
        self.sql.push_str(line);
    }

    /// Ends the statement that is being read.
    pub fn end(&mut self, events: &mut VecDeque<Event>) {
        let sql = std::mem::take(&mut self.sql);
        let took_us = self.took_us.take();
        self.in_sql = false;
        if sql.is_empty() {
            return;
        }
        let Some(session) = self.session.clone() else {
            events.push_back(skipped(Reason::Damaged));
            return;
        };
        if sql == "\0quit" {
            events.push_back(Event { session, at_us: self.now_us, what: What::Disconnected });
            return;
        }
        let at_us = self.now_us.saturating_sub_unsigned(took_us.unwrap_or(0));
        let sql = sql.trim_end().trim_end_matches(';').to_owned();
        let what = What::Statement { sql, binds: Vec::new(), took_us };
        events.push_back(Event { session, at_us, what });
    }

    pub fn broken(&mut self) {
        self.sql.clear();
        self.took_us = None;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Format, events};
    use super::*;

    fn facts(found: &[Event]) -> Vec<(&str, i64, &What)> {
        let start = found[0].at_us;
        found.iter().map(|e| (e.session.as_str(), e.at_us - start, &e.what)).collect()
    }

    fn sql(text: &str, took_us: u64) -> What {
        let took_us = Some(took_us);
        What::Statement { sql: text.to_owned(), binds: Vec::new(), took_us }
    }

    #[test]
    fn mysql_has_the_end_of_each_statement() {
        let log = "# Time: 2026-01-31T12:00:00.001000Z\n\
                   # User@Host: root[root] @ localhost []  Id:     8\n\
                   # Query_time: 0.000500  Lock_time: 0.000001 Rows_sent: 1  Rows_examined: 0\n\
                   use shop;\nSET timestamp=1769860800;\nSELECT 1,\n# 5\n 2;\n\
                   # Time: 2026-01-31T12:00:00.003000Z\n\
                   # User@Host: root[root] @ localhost []  Id:     9\n\
                   # Query_time: 0.001000  Lock_time: 0.000001 Rows_sent: 1  Rows_examined: 0\n\
                   SET timestamp=1769860800;\nCOMMIT;\n\
                   # Time: 2026-01-31T12:00:00.004000Z\n\
                   # User@Host: root[root] @ localhost []  Id:     9\n\
                   # Query_time: 0.000000  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0\n\
                   SET timestamp=1769860800;\n# administrator command: Quit;\n";
        let found = events(Format::MySqlSlow, log);
        assert_eq!(
            facts(&found),
            [
                ("8", 0, &sql("SELECT 1,\n# 5\n 2", 500)),
                ("9", 1500, &sql("COMMIT", 1000)),
                ("9", 3500, &What::Disconnected),
            ]
        );
    }

    #[test]
    fn mariadb_names_the_thread_on_its_own_line() {
        let log = "/usr/sbin/mariadbd, Version: 10.11.6-MariaDB (Debian 12). started with:\n\
                   Tcp port: 0  Unix socket: /tmp/s\nTime\t\t    Id Command\tArgument\n\
                   # Time: 260131 12:00:00\n# User@Host: root[root] @ localhost []\n\
                   # Thread_id: 8  Schema: shop  QC_hit: No\n\
                   # Query_time: 0.000500  Lock_time: 0.000001  Rows_sent: 1  Rows_examined: 0\n\
                   # Rows_affected: 0  Bytes_sent: 60\nSET timestamp=1769860800;\nSELECT 1;\n\
                   # User@Host: root[root] @ localhost []\n# Thread_id: 8  Schema: shop  QC_hit: No\n\
                   # Query_time: 0.000100  Lock_time: 0.000001  Rows_sent: 1  Rows_examined: 0\n\
                   SET timestamp=1769860800.25;\nSELECT 2;\n";
        let found = events(Format::MySqlSlow, log);
        assert_eq!(
            facts(&found),
            [("8", 0, &sql("SELECT 1", 500)), ("8", 250_500, &sql("SELECT 2", 100))]
        );
    }

    #[test]
    fn what_is_no_slow_log_is_counted() {
        let found = events(Format::MySqlSlow, "hello\n# Query_time: x\nSELECT 1;\n");
        let reasons: Vec<_> = found.iter().map(|event| &event.what).collect();
        assert_eq!(reasons, [&What::Skipped(Reason::Damaged), &What::Skipped(Reason::Damaged)]);
    }
}
