//! The general log of MySQL and MariaDB: a time, the number of the connection, a command and its
//! argument, with tabs between them. MySQL writes the time before every entry, MariaDB only when the
//! second has changed. A statement may have several lines.

use std::collections::{HashMap, VecDeque};

use triphammer_core::value::Timestamp;

use super::super::event::{Event, What};
use super::super::lines::LINE_BYTES_MAX;
use super::super::sessions::SESSIONS_MAX;
use super::super::skipped::Reason;
use super::super::sql::Syntax;
use super::super::statement::{is_of_routine, used_database};
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

/// Width of a command that blanks separate from its argument.
const COMMAND_WIDTH: usize = 11;
/// Blanks before an entry without a time, where a copy of the log has blanks for its tabs.
const UNTIMED_BLANKS: usize = 15;

/// The beginning of an entry.
#[derive(Debug, PartialEq)]
pub struct Header<'a> {
    /// Microseconds, if the entry has its time.
    at_us: Option<i64>,
    connection: &'a str,
    command: &'static str,
    argument: &'a str,
}

/// Reads the beginning of an entry; `None` for other lines.
pub fn header(line: &str) -> Option<Header<'_>> {
    let is_timed = line.starts_with(|c: char| c.is_ascii_digit());
    // A time of two words has a blank after its sixth digit.
    let word = |from: usize| line[from..].find([' ', '\t']).map(|end| from + end);
    let end = match word(0) {
        Some(6) if is_timed => word(6 + line[6..].find(|c| c != ' ')?)?,
        end => end?,
    };
    let (time, rest) = if is_timed { line.split_at(end) } else { ("", line) };
    let at_us = if is_timed { Some(instant(time)?) } else { None };
    let start = rest.trim_start_matches(['\t', ' ']);
    let blanks = &rest[..rest.len() - start.len()];
    // What begins with a few blanks is a line of a statement.
    if blanks.is_empty() || !(is_timed || blanks.contains('\t') || blanks.len() >= UNTIMED_BLANKS) {
        return None;
    }
    let digits = start.find(|c: char| !c.is_ascii_digit()).filter(|digits| *digits > 0)?;
    let (connection, rest) = start.split_at(digits);
    let (command, argument) = command(rest.strip_prefix(' ')?)?;
    Some(Header { at_us, connection, command, argument })
}

/// The command and its argument, after a tab; until MySQL 5.1, after blanks that make the command
/// as long as the longest.
fn command(rest: &str) -> Option<(&'static str, &str)> {
    COMMANDS.iter().find_map(|command| {
        let after = rest.strip_prefix(command)?;
        let argument = after.trim_start_matches(' ');
        let blanks = after.len() - argument.len();
        match argument.strip_prefix('\t') {
            Some(argument) => Some((*command, argument)),
            None if argument.is_empty() || command.len() + blanks >= COMMAND_WIDTH => {
                Some((*command, argument))
            }
            None => None,
        }
    })
}

/// The statement of `[3] SELECT 1`: before MySQL 5.6 executions name their prepared statement.
fn without_number(argument: &str) -> &str {
    let numbered = argument.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    match numbered {
        Some((number, sql)) if number.bytes().all(|byte| byte.is_ascii_digit()) => sql,
        _ => argument,
    }
}

/// Microseconds of `2026-01-31T12:00:00.123456Z` (MySQL), the same with a zone, or `260131 12:00:00`
/// (MariaDB).
pub fn instant(text: &str) -> Option<i64> {
    let text = text.trim();
    if !text.is_ascii() {
        return None;
    }
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
    /// The database of each connection.
    databases: HashMap<String, String>,
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
                let sql = match header.command {
                    "Execute" => without_number(header.argument),
                    _ => header.argument,
                };
                self.pending = Some((header.connection.to_owned(), sql.to_owned()));
            }
            // The number may be used again after a restart.
            "Quit" | "Connect" | "Change user" | "Reset Connection" => {
                self.push(header.connection.to_owned(), What::Disconnected, events);
                if header.command != "Reset Connection" {
                    self.uses(header.connection, connected_database(header.argument));
                }
            }
            "Init DB" => self.uses(header.connection, Some(header.argument.trim_end().to_owned())),
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
            let database = used_database(&sql);
            let what = match is_of_routine(&sql, Syntax::MySql.into()) {
                true => What::Skipped(Reason::Routine),
                false => What::Statement { sql, binds: Vec::new(), took_us: None },
            };
            if database.is_some() {
                self.uses(&connection, database);
            }
            self.push(connection, what, events);
        }
    }

    /// The database of a connection is another one from here on.
    fn uses(&mut self, connection: &str, database: Option<String>) {
        match database.filter(|database| !database.is_empty()) {
            Some(database) if self.databases.len() < SESSIONS_MAX => {
                self.databases.insert(connection.to_owned(), database);
            }
            _ => {
                self.databases.remove(connection);
            }
        }
    }

    pub fn broken(&mut self) {
        self.pending = None;
    }

    fn push(&self, session: String, what: What, events: &mut VecDeque<Event>) {
        let database = self.databases.get(&session).cloned();
        events.push_back(Event { session, at_us: self.now_us, database, what });
    }
}

/// The database of `user@host on shop using Socket`, which older versions write without the
/// transport.
fn connected_database(argument: &str) -> Option<String> {
    let (_, database) = argument.split_once(" on ")?;
    database.split(" using ").next().map(|database| database.trim().to_owned())
}

/// Whether a server writes this line when it starts.
pub fn is_start(line: &str) -> bool {
    line.contains(", Version: ") && line.contains("started with:")
        || line.get(..10).is_some_and(|start| start.eq_ignore_ascii_case("tcp port: "))
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
    fn the_database_of_a_connection_is_known() {
        let log = "260131 12:00:01\t     8 Connect\tu@localhost on shop using Socket\n\
                   \t\t     8 Query\tSELECT 1\n\t\t     9 Connect\tu@localhost on  using Socket\n\
                   \t\t     9 Query\tSELECT 2\n\t\t     9 Init DB\tstock\n\
                   \t\t     9 Query\tSELECT 3\n\t\t     8 Query\tuse `big shop`;\n\
                   \t\t     8 Query\tSELECT 4\n\t\t     8 Change user\tv@h on stock\n\
                   \t\t     8 Query\tSELECT 5\n\t\t     8 Quit\t\n\
                   \t\t     8 Connect\tu@h as  on \n\t\t     8 Query\tSELECT 6\n";
        let found = events(Format::MySqlGeneral, log);
        let statements = found.iter().filter(|event| matches!(event.what, What::Statement { .. }));
        let databases: Vec<_> = statements.map(|event| event.database.as_deref()).collect();
        let big = Some("big shop");
        let expected = [Some("shop"), None, Some("stock"), big, big, Some("stock"), None];
        assert_eq!(databases, expected);
    }

    #[test]
    fn statements_of_functions_and_triggers_are_no_clients() {
        let log = "260131 12:00:01\t     8 Query\tSELECT fn(5)\n\
                   \t\t     8 Query\tinsert into y values( NAME_CONST('p',5),'fn')\n\
                   \t\t     8 Query\tinsert into y values(old.i,'tg')\n";
        let found = events(Format::MySqlGeneral, log);
        let whats: Vec<_> = found.iter().map(|event| &event.what).collect();
        let routine = What::Skipped(Reason::Routine);
        assert_eq!(whats, [&sql("SELECT fn(5)"), &routine, &routine]);
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

    /// What versions and set-ups write differently: the facts are those of Percona Toolkit's
    /// samples.
    #[test]
    fn entries_of_every_version_are_read() {
        for (line, connection, command, argument) in [
            // MySQL 5.0: blanks after the command.
            (
                "051007 21:55:24\t     42 Connect     u@localhost on d",
                "42",
                "Connect",
                "u@localhost on d",
            ),
            ("\t\t     42 Query       SELECT 1", "42", "Query", "SELECT 1"),
            ("\t\t     42 Init DB     shop", "42", "Init DB", "shop"),
            ("\t\t     42 Quit", "42", "Quit", ""),
            ("               \t     11 Quit       ", "11", "Quit", ""),
            ("061226 16:44:48\t     11 Quit       ", "11", "Quit", ""),
            ("\t\t      3 Execute     [1] SELECT 7", "3", "Execute", "[1] SELECT 7"),
            // A copy with blanks for tabs.
            ("100211  0:55:24      51 Query       SELECT 1", "51", "Query", "SELECT 1"),
            ("                     51 Query       SELECT 2", "51", "Query", "SELECT 2"),
            // MySQL 5.5 and MariaDB.
            ("\t\t12345 Connect\tu@h as  on ", "12345", "Connect", "u@h as  on "),
            ("260131  9:00:02\t     8 Query\tSELECT 1", "8", "Query", "SELECT 1"),
            // MySQL 5.7 and later, with zones, and numbers that fill their column.
            ("2016-06-07T19:07:02.558338Z    3 Connect\tu@h on", "3", "Connect", "u@h on"),
            (
                "2018-09-07T18:45:40.098511+08:00\t257426 Query\tset a=1",
                "257426",
                "Query",
                "set a=1",
            ),
            ("2026-01-31T12:00:00.000500Z\t    8 Reset stmt\t", "8", "Reset stmt", ""),
        ] {
            let found = header(line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(
                (found.connection, found.command, found.argument),
                (connection, command, argument)
            );
        }
        let log = "TCP Port: 3306, Named Pipe: MySQL\r\n\t\t 3 Prepare     [1] SELECT ?\r\n\
                   \t\t 3 Execute     [1] SELECT 7\r\n      5 Query       of a text\r\n";
        let found = events(Format::MySqlGeneral, log);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].what, sql("SELECT 7\n      5 Query       of a text"));
    }

    #[test]
    fn other_lines_are_no_entries() {
        for line in [
            "",
            "\t",
            "x\t 8 Query\tSELECT 1",
            "\t\t 8 Dance\tSELECT 1",
            "\t\tQuery\tx",
            "é 8 Query\tx",
            "2é 8 Query\tx",
            "12 34 Query\tx",
            "123456 é",
            "123456 ",
            "\t\t8 Query x",
        ] {
            assert_eq!(header(line), None, "{line}");
        }
        let found = events(Format::MySqlGeneral, "what is this\n");
        assert_eq!(found[0].what, What::Skipped(Reason::Damaged));
    }
}
