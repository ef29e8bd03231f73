//! The slow log of MySQL and MariaDB: lines of facts that begin with `#`, then `use`, `SET timestamp`
//! and the statement. The time is that of the statement's end, in whole seconds on MariaDB, which
//! writes it only when it has changed.

use std::collections::VecDeque;

use super::super::event::{Aftermath, Event, What};
use super::super::lines::LINE_BYTES_MAX;
use super::super::skipped::Reason;
use super::super::statement::used_database;
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
    /// The number of the error that it ended with.
    error: Option<u32>,
    /// The database of the last `use`, which is written when it has changed between statements.
    used: Option<String>,
    /// The database of the statement, where the facts name it: none if it is empty.
    schema: Option<String>,
    sql: String,
    /// Whether the facts are complete, so that statements follow.
    in_sql: bool,
    has_begun: bool,
}

impl Slow {
    pub fn line(&mut self, line: &str, events: &mut VecDeque<Event>) {
        if let Some(facts) = line.strip_prefix('#').filter(|_| self.is_fact(line)) {
            if self.in_sql {
                self.end(events);
            }
            self.has_begun = true;
            self.facts(facts.trim_start(), events);
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

    fn facts(&mut self, facts: &str, events: &mut VecDeque<Event>) {
        if let Some(time) = facts.strip_prefix("Time: ") {
            // Some versions write what follows into the same line.
            let (time, more) = time.split_once(" # ").unwrap_or((time, ""));
            self.now_us = instant(time).unwrap_or(self.now_us);
            if !more.is_empty() {
                self.facts(more, events);
            }
            return;
        }
        if let Some(command) = facts.strip_prefix("administrator command: ") {
            if command.starts_with("Quit") {
                self.in_sql = true;
                self.sql.clear();
                self.sql.push_str("\0quit");
            } else if command.starts_with("Execute") {
                events.push_back(skipped(Reason::Binds));
            }
            return;
        }
        if facts.starts_with("User") {
            // Its connection is named in this line or the next one, or nowhere.
            (self.session, self.took_us, self.error, self.schema) = (None, None, None, None);
        }
        let text = |name: &str| facts.find(name).map(|at| &facts[at + name.len()..]);
        let after = |name: &str| text(name)?.split_whitespace().next();
        if let Some(schema) = text("Schema: ") {
            // Two blanks before the next fact.
            let schema = schema.split("  ").next().unwrap_or_default().trim();
            self.schema = Some(schema.to_owned());
        }
        if let Some(id) = after("Thread_id:").or_else(|| after(" Id:")) {
            self.session = Some(id.to_owned());
        }
        if let Some(seconds) = after("Query_time:").and_then(|text| text.parse::<f64>().ok()) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded")]
            let us = (seconds.clamp(0.0, 1e9) * 1e6).round() as u64;
            self.took_us = Some(us);
        }
        // Of MySQL 8 with log_slow_extra. `Last_errno` of others can be that of a warning.
        let error = after(" Errno:").and_then(|code| code.parse().ok());
        self.error = error.filter(|code| *code != 0).or(self.error);
    }

    fn text(&mut self, line: &str, events: &mut VecDeque<Event>) {
        if let Some(seconds) = timestamp(line).filter(|_| self.sql.is_empty()) {
            let seconds = seconds.parse::<f64>().ok();
            // A fraction, which newer versions write, is more precise than the line `# Time`.
            if let Some(seconds) = seconds.filter(|s| s.fract() > 0.0 && *s < 1e10) {
                #[expect(clippy::cast_possible_truncation, reason = "bounded")]
                let start_us = (seconds * 1e6).round() as i64;
                self.now_us = start_us.saturating_add_unsigned(self.took_us.unwrap_or(0));
            }
            return;
        }
        let begins_use = line.get(..4).is_some_and(|word| word.eq_ignore_ascii_case("use "));
        let is_use = self.sql.is_empty() && begins_use && line.ends_with(';');
        if is_use {
            self.used = used_database(line);
            // A `use` that is the statement itself, too.
            self.schema = self.schema.as_ref().and(self.used.clone());
            return;
        }
        if self.sql.is_empty() && line.trim().is_empty() {
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
        let error = self.error.take();
        let database = match &self.schema {
            Some(schema) => Some(schema.clone()).filter(|schema| !schema.is_empty()),
            None => self.used.clone(),
        };
        let Some(session) = self.session.clone() else {
            events.push_back(skipped(Reason::Anonymous));
            return;
        };
        if sql == "\0quit" {
            let what = What::Disconnected;
            events.push_back(Event { session, at_us: self.now_us, database, what });
            return;
        }
        let at_us = self.now_us.saturating_sub_unsigned(took_us.unwrap_or(0));
        let sql = sql.trim_end().trim_end_matches(';').to_owned();
        let failed = error.map(|code| What::Failed(Some(sql.clone()), aftermath(code)));
        let what = What::Statement { sql, binds: Vec::new(), took_us };
        for what in std::iter::once(what).chain(failed) {
            let (session, database) = (session.clone(), database.clone());
            events.push_back(Event { session, at_us, database, what });
        }
    }

    pub fn broken(&mut self) {
        self.sql.clear();
        self.took_us = None;
    }
}

/// Errors for which InnoDB rolls the whole transaction back: a deadlock, and a full table of locks.
/// After others, a timeout of a lock too (unless innodb_rollback_on_timeout is set), it continues.
const ROLLS_BACK: [u32; 2] = [1213, 1206];

fn aftermath(error: u32) -> Aftermath {
    if ROLLS_BACK.contains(&error) { Aftermath::RolledBack } else { Aftermath::Open }
}

/// The seconds of `SET timestamp=…;`, which may have the numbers of generated keys before it.
fn timestamp(line: &str) -> Option<&str> {
    let (set, list) = line.split_at_checked(4)?;
    if !set.eq_ignore_ascii_case("set ") {
        return None;
    }
    let mut seconds = None;
    for assignment in list.trim_end().strip_suffix(';')?.split(',') {
        match assignment.split_once('=')? {
            (name, value) if name.eq_ignore_ascii_case("timestamp") => seconds = Some(value),
            ("insert_id" | "last_insert_id", _) => {}
            _ => return None,
        }
    }
    seconds
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
    fn the_database_is_that_of_the_facts_or_of_the_last_use() {
        let of = |facts: &str, sql: &str| {
            format!("# User@Host: a[a] @ h []  Id: 8\n{facts}# Query_time: 1\n{sql};\n")
        };
        for (log, expected) in [
            // MySQL writes `use` when the database has changed since the statement before.
            (of("", "use shop;\nSELECT 1") + &of("", "SELECT 2"), [Some("shop"), Some("shop")]),
            (of("", "SELECT 1") + &of("", "use `a b`;\nSELECT 2"), [None, Some("a b")]),
            (
                of("# Thread_id: 8  Schema: shop  QC_hit: No\n", "use shop;\nSELECT 1")
                    + &of("# Thread_id: 8  Schema:   QC_hit: No\n", "SELECT 2"),
                [Some("shop"), None],
            ),
            (of("# Schema: a  Last_errno: 0\n", "SELECT 1") + &of("", "S"), [Some("a"), None]),
        ] {
            let found = events(Format::MySqlSlow, &log);
            let found: Vec<_> = found.iter().map(|event| event.database.as_deref()).collect();
            assert_eq!(found, expected, "{log}");
        }
    }

    #[test]
    fn what_is_no_slow_log_is_counted() {
        let found = events(Format::MySqlSlow, "hello\n# Query_time: x\nSELECT 1;\n");
        let reasons: Vec<_> = found.iter().map(|event| &event.what).collect();
        assert_eq!(reasons, [&What::Skipped(Reason::Damaged), &What::Skipped(Reason::Anonymous)]);
    }

    /// What versions and set-ups write differently: the facts are those of Percona Toolkit's
    /// samples and of the manuals.
    #[test]
    fn statements_of_every_version_are_read() {
        const USER: &str = "# User@Host: a[a] @ localhost []";
        for (name, facts, took_us) in [
            (
                "Percona Server 5.0",
                "# Time: 071218 11:48:27 # User@Host: [SQL_SLAVE] @  []\n# Thread_id: 8\n\
                 # Query_time: 0.000012  Lock_time: 0.000000  Rows_sent: 0  Rows_examined: 0\n\
                 # QC_Hit: No  Full_scan: No  Full_join: No  Tmp_table: No  Tmp_table_on_disk: No\n\
                 # Filesort: No  Filesort_on_disk: No  Merge_passes: 0\n\
                 # No InnoDB statistics available for this query\n",
                12,
            ),
            (
                "Percona Server 5.1 with InnoDB's",
                "# User@Host: a[a] @ [10.0.0.1]\n# Thread_id: 8  Schema: shop  \
                 Last_errno: 0  Killed: 0\n\
                 # Query_time: 0.000512  Lock_time: 0.000077  Rows_sent: 0  Rows_examined: 0\n\
                 #   InnoDB_IO_r_ops: 0  InnoDB_IO_r_bytes: 0  InnoDB_IO_r_wait: 0.000000\n\
                 # InnoDB_trx_id: 1B02\nuse `shop`;\n\
                 SET insert_id=34484549,timestamp=1197996507;\n",
                512,
            ),
            (
                "Percona Server 5.6, sampled",
                "# User@Host: a[a] @ localhost []  Id:     8\n\
                 # Schema: shop  Last_errno: 0  Killed: 0\n\
                 # Query_time: 0.000002  Lock_time: 0.0  Rows_sent: 0  Rows_examined: 0  \
                 Rows_affected: 0\n\
                 # Bytes_sent: 9  Tmp_tables: 0  Tmp_disk_tables: 0  Tmp_table_sizes: 0\n\
                 # Log_slow_rate_type: query  Log_slow_rate_limit: 2\nSET timestamp=1197996507;\n",
                2,
            ),
            (
                "MySQL 5.6, whole seconds",
                "# Time: 150131  9:00:01\n# User@Host: a[a] @ localhost [127.0.0.1]  Id:     8\n\
                 # Query_time: 2  Lock_time: 0  Rows_sent: 1  Rows_examined: 0\n\
                 SET last_insert_id=1,insert_id=2,timestamp=1197996507;\n",
                2_000_000,
            ),
            (
                "MySQL 5.7 with log_timestamps = SYSTEM",
                "# Time: 2016-06-07T19:07:02.558338+08:00\n\
                 # User@Host: a[a] @ localhost []  Id:  8\n\
                 # Query_time: 0.000900  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 0\n\
                 SET timestamp=1465297622;\n",
                900,
            ),
            (
                "MySQL 8 with log_slow_extra",
                "# Time: 2026-01-31T12:00:00.000001Z\n# User@Host: a[a] @ localhost []  Id:  8\n\
                 # Query_time: 0.000100  Lock_time: 0.000001 Rows_sent: 1  Rows_examined: 0 \
                 Thread_id: 8 Errno: 0 Killed: 0 Bytes_received: 35 Bytes_sent: 56 \
                 Start: 2026-01-31T12:00:00.000000Z End: 2026-01-31T12:00:00.000001Z\n\
                 SET timestamp=1769860800;\n",
                100,
            ),
            (
                "MariaDB with log_slow_verbosity = query_plan,explain",
                "# User@Host: a[a] @ localhost []\n# Thread_id: 8  Schema: shop  QC_hit: No\n\
                 # Query_time: 0.000119  Lock_time: 0.000083  Rows_sent: 4  Rows_examined: 4\n\
                 # Rows_affected: 0  Bytes_sent: 60\n#\n\
                 # explain: id\tselect_type\ttable\ttype\n# explain: 1\tSIMPLE\tt\tALL\n#\n\
                 SET timestamp=1769860800;\n",
                119,
            ),
            (
                "MariaDB 11.4 with all of its lines",
                "# User@Host: a[a] @ localhost []\n# Thread_id: 8  Schema: shop  QC_hit: No\n\
                 # Query_time: 0.000119  Lock_time: 0.000083  Rows_sent: 4  Rows_examined: 4\n\
                 # Rows_affected: 0  Bytes_sent: 60\n# Pages_accessed: 2  Pages_read: 0\n\
                 # Full_scan: Yes  Full_join: No  Tmp_table: No  Priority_queue: No\n\
                 # Warnings: 1\nSET timestamp=1769860800;\n",
                119,
            ),
        ] {
            let log = format!("{facts}SELECT 1\n# 2\n;\n");
            for log in [log.replace('\n', "\r\n"), log] {
                let found = events(Format::MySqlSlow, &log);
                let found: Vec<_> = found.iter().map(|e| (e.session.as_str(), &e.what)).collect();
                assert_eq!(found, [("8", &sql("SELECT 1\n# 2\n", took_us))], "{name}");
            }
        }
        for (code, aftermath) in [(1146, Aftermath::Open), (1213, Aftermath::RolledBack)] {
            let facts = format!("# Query_time: 0.000001 Errno: {code} Killed: 0");
            let log = format!("{USER}  Id: 8\n{facts}\nSELECT 1;\n");
            let found = events(Format::MySqlSlow, &log);
            assert_eq!(found[1].what, What::Failed(Some("SELECT 1".into()), aftermath));
        }
        // Before MySQL 5.6, the connection is not known: not that of the statement before either.
        let old = format!(
            "{USER}  Id: 8\n# Query_time: 1\nSELECT 1;\n{USER}\n# Query_time: 1\nSELECT 2;\n"
        );
        let found = events(Format::MySqlSlow, &old);
        assert_eq!(found[1].what, What::Skipped(Reason::Anonymous));
        for (command, what) in [
            ("Quit;", Some(What::Disconnected)),
            ("Execute;", Some(What::Skipped(Reason::Binds))),
            ("Ping;", None),
            ("Prepare;", None),
            ("Refresh;", None),
        ] {
            let log =
                format!("{USER}  Id: 8\n# Query_time: 1\n# administrator command: {command}\n");
            let found = events(Format::MySqlSlow, &log).into_iter().next().map(|event| event.what);
            assert_eq!(found, what, "{command}");
        }
    }
}
