//! The general log of MySQL and MariaDB: a time, the number of the connection, a command and its
//! argument, with tabs between them. MySQL writes the time before every entry, MariaDB only when the
//! second has changed. A statement may have several lines.

use std::collections::VecDeque;

use triphammer_core::value::Timestamp;

use super::super::event::{Event, What};
use super::super::lines::LINE_BYTES_MAX;
use super::super::skipped::Reason;
use super::skipped;

/// The commands of the log. Others would be lines of a statement.
const COMMANDS: &[&str] = &[
    "Query",
    "Execute",
    "Prepare",
    "Connect",
    "Quit",
    "Init DB",
    "Close stmt",
    "Reset stmt",
    "Field List",
    "Statistics",
    "Ping",
    "Change user",
    "Fetch",
    "Long Data",
    "Sleep",
    "Daemon",
    "Refresh",
    "Processlist",
    "Kill",
    "Set option",
    "Binlog Dump",
    "Binlog Dump GTID",
    "Debug",
    "Create DB",
    "Drop DB",
    "Shutdown",
    "Table Dump",
    "Connect Out",
    "Register Slave",
    "Register Replica",
    "Delayed insert",
    "Reset Connection",
    "Bulk_execute",
    "Slave_worker",
    "Slave_IO",
    "Slave_SQL",
    "Time",
    "Error",
    "Clone",
    "Subscribe Group Replication Stream",
];

/// The beginning of an entry.
#[derive(Debug, PartialEq)]
pub struct Header<'a> {
    /// Microseconds, if the entry has its time.
    at_us: Option<i64>,
    connection: &'a str,
    command: &'a str,
    argument: &'a str,
}

/// Reads the beginning of an entry; `None` for other lines.
pub fn header(line: &str) -> Option<Header<'_>> {
    let (time, rest) = line.split_once('\t')?;
    let at_us = if time.is_empty() { None } else { Some(instant(time)?) };
    let rest = rest.trim_start_matches(['\t', ' ']);
    let digits = rest.find(|c: char| !c.is_ascii_digit()).filter(|digits| *digits > 0)?;
    let (connection, rest) = rest.split_at(digits);
    let rest = rest.strip_prefix(' ')?;
    let (command, argument) = rest.split_once('\t').unwrap_or((rest, ""));
    let command = command.trim_end();
    COMMANDS.contains(&command).then_some(Header { at_us, connection, command, argument })
}

/// Microseconds of `2026-01-31T12:00:00.123456Z` (MySQL), the same with a zone, or `260131 12:00:00`
/// (MariaDB).
pub fn instant(text: &str) -> Option<i64> {
    let text = text.trim();
    let is_short = text.len() > 7 && text.as_bytes().get(6) == Some(&b' ');
    if is_short {
        let (date, time) = text.split_once(' ')?;
        let digits = date.bytes().all(|byte| byte.is_ascii_digit());
        let date = digits.then(|| format!("20{}-{}-{}", &date[..2], &date[2..4], &date[4..6]))?;
        // The hour has a blank instead of a zero.
        let time = time.trim_start();
        let zero = if time.find(':') == Some(1) { "0" } else { "" };
        return Timestamp::parse(&format!("{date} {zero}{time}")).map(|time| time.0);
    }
    let civil = text.strip_suffix('Z').unwrap_or(text);
    // A zone such as +01:00 is that of the whole log.
    let civil = match civil.get(10..).and_then(|time| time.find(['+', '-'])) {
        Some(zone) => &civil[..10 + zone],
        None => civil,
    };
    if civil.len() < 19 { None } else { Timestamp::parse(civil).map(|time| time.0) }
}

/// Entries of a general log.
#[derive(Debug, Default)]
pub struct General {
    now_us: i64,
    /// The statement that is being read: its connection and text.
    pending: Option<(String, String)>,
    has_begun: bool,
}

impl General {
    pub fn line(&mut self, line: &str, events: &mut VecDeque<Event>) {
        let Some(header) = header(line) else {
            self.other(line, events);
            return;
        };
        self.end(events);
        self.has_begun = true;
        self.now_us = header.at_us.unwrap_or(self.now_us);
        match header.command {
            "Query" | "Execute" => {
                self.pending = Some((header.connection.to_owned(), header.argument.to_owned()));
            }
            // The number may be used again after a restart.
            "Quit" | "Connect" | "Change user" | "Reset Connection" => {
                self.push(header.connection.to_owned(), What::Disconnected, events);
            }
            "Fetch" => events.push_back(skipped(Reason::Cursor)),
            _ => {}
        }
    }

    /// A line of a statement, or of what a server writes when it starts.
    fn other(&mut self, line: &str, events: &mut VecDeque<Event>) {
        match &mut self.pending {
            Some((_, text)) if text.len() + line.len() <= LINE_BYTES_MAX => {
                text.push('\n');
                text.push_str(line);
            }
            Some(_) => {
                self.pending = None;
                events.push_back(skipped(Reason::TooLong));
            }
            None if self.has_begun || line.trim().is_empty() || is_start(line) => {}
            None => events.push_back(skipped(Reason::Damaged)),
        }
    }

    pub fn end(&mut self, events: &mut VecDeque<Event>) {
        if let Some((connection, sql)) = self.pending.take() {
            // Lines that a restarting server wrote are not part of the last statement.
            let sql = match sql.lines().position(is_start) {
                Some(line) => sql.lines().take(line).collect::<Vec<_>>().join("\n"),
                None => sql,
            };
            let what = What::Statement { sql, binds: Vec::new(), took_us: None };
            self.push(connection, what, events);
        }
    }

    pub fn broken(&mut self) {
        self.pending = None;
    }

    fn push(&self, session: String, what: What, events: &mut VecDeque<Event>) {
        events.push_back(Event { session, at_us: self.now_us, what });
    }
}

/// Whether a server writes this line when it starts.
pub fn is_start(line: &str) -> bool {
    line.contains(", Version: ") && line.contains("started with:")
        || line.starts_with("Tcp port: ")
        || (line.starts_with("Time") && line.contains("Id Command"))
}

#[cfg(test)]
mod tests {
    use super::super::{Format, events};
    use super::*;

    fn sql(text: &str) -> What {
        What::Statement { sql: text.to_owned(), binds: Vec::new(), took_us: None }
    }

    #[test]
    fn mysql_writes_the_time_before_every_entry() {
        let log = "/usr/sbin/mysqld, Version: 8.0.40 (Debian). started with:\n\
                   Tcp port: 3306  Unix socket: /tmp/s\n\
                   Time                 Id Command    Argument\n\
                   2026-01-31T12:00:00.000100Z\t    8 Connect\troot@localhost on  using Socket\n\
                   2026-01-31T12:00:00.000200Z\t    8 Query\tSELECT 1,\n 2\n\n\
                   2026-01-31T12:00:00.000300Z\t    9 Prepare\tSELECT ?\n\
                   2026-01-31T12:00:00.000400Z\t    9 Execute\tSELECT 5\n\
                   2026-01-31T12:00:00.000500Z\t    8 Quit\t\n";
        let found = events(Format::MySqlGeneral, log);
        let facts: Vec<_> =
            found.iter().map(|e| (e.session.as_str(), e.at_us % 1000, &e.what)).collect();
        assert_eq!(
            facts,
            [
                ("8", 100, &What::Disconnected),
                ("8", 200, &sql("SELECT 1,\n 2\n")),
                ("9", 400, &sql("SELECT 5")),
                ("8", 500, &What::Disconnected),
            ]
        );
    }

    #[test]
    fn mariadb_writes_the_time_when_the_second_has_changed() {
        let log = "260131 12:00:01\t     8 Query\tSELECT 1\n\t\t     8 Query\tSELECT 2\n\
                   260131  9:00:02\t     8 Query\tSELECT 3\n";
        let found = events(Format::MySqlGeneral, log);
        let times: Vec<_> = found.iter().map(|event| event.at_us - found[0].at_us).collect();
        assert_eq!(times, [0, 0, -3 * 3_600_000_000 + 1_000_000]);
        assert_eq!(found[1].what, sql("SELECT 2"));
    }

    #[test]
    fn other_lines_are_no_entries() {
        for line in ["", "\t", "x\t 8 Query\tSELECT 1", "\t\t 8 Dance\tSELECT 1", "\t\tQuery\tx"] {
            assert_eq!(header(line), None, "{line}");
        }
        let found = events(Format::MySqlGeneral, "what is this\n");
        assert_eq!(found[0].what, What::Skipped(Reason::Damaged));
    }
}
