//! Formats of logs: each reads lines, and returns events.

mod mysql_general;
mod mysql_slow;
mod oracle_trace;
mod others;
mod postgres;

use std::collections::VecDeque;
use std::io::{self, BufRead};

use super::event::{Event, What};
use super::lines::{Line, Lines};
use super::skipped::Reason;
use super::sql::Syntax;
pub use others::other_source;

/// A format of logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// PostgreSQL, `log_destination = csvlog`.
    PostgresCsv,
    /// PostgreSQL from 15 on, `log_destination = jsonlog`.
    PostgresJson,
    /// MySQL's and MariaDB's general log.
    MySqlGeneral,
    /// MySQL's and MariaDB's slow log.
    MySqlSlow,
    /// Oracle's extended SQL trace, event 10046 at level 4 or 12.
    OracleTrace,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 5] = [
        Self::PostgresCsv,
        Self::PostgresJson,
        Self::MySqlGeneral,
        Self::MySqlSlow,
        Self::OracleTrace,
    ];

    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::PostgresCsv => "csvlog",
            Self::PostgresJson => "jsonlog",
            Self::MySqlGeneral => "general-log",
            Self::MySqlSlow => "slow-log",
            Self::OracleTrace => "10046",
        }
    }

    /// How its SQL is written.
    #[must_use]
    pub const fn syntax(self) -> Syntax {
        match self {
            Self::PostgresCsv | Self::PostgresJson => Syntax::Postgres,
            Self::MySqlGeneral | Self::MySqlSlow => Syntax::MySql,
            Self::OracleTrace => Syntax::Oracle,
        }
    }

    /// Recognises the format by a line of the log.
    #[must_use]
    pub fn of_line(line: &str) -> Option<Self> {
        if postgres::is_json(line) {
            Some(Self::PostgresJson)
        } else if postgres::begins_csv(line) {
            Some(Self::PostgresCsv)
        } else if mysql_slow::is_header(line) {
            Some(Self::MySqlSlow)
        } else if mysql_general::header(line).is_some() {
            Some(Self::MySqlGeneral)
        } else if oracle_trace::is_trace(line) {
            Some(Self::OracleTrace)
        } else {
            None
        }
    }

    /// What a server needs for its log to have every statement, for messages.
    #[must_use]
    pub const fn needs(self) -> &'static str {
        match self {
            Self::PostgresCsv | Self::PostgresJson => {
                "log_min_duration_statement = 0 (or log_statement = all), and lc_messages = 'C'"
            }
            Self::MySqlGeneral => "general_log = ON",
            Self::MySqlSlow => "slow_query_log = ON and long_query_time = 0",
            Self::OracleTrace => "event 10046 at level 4 or 12, or DBMS_MONITOR with binds => TRUE",
        }
    }
}

/// Reads the events of a log.
pub struct Log<R> {
    lines: Lines<R>,
    parser: Parser,
    events: VecDeque<Event>,
    is_over: bool,
}

enum Parser {
    PostgresCsv(postgres::Csv),
    PostgresJson,
    MySqlGeneral(mysql_general::General),
    MySqlSlow(mysql_slow::Slow),
    OracleTrace(Box<oracle_trace::Trace>),
}

impl<R: BufRead> Log<R> {
    /// Reads a log of this format.
    pub fn new(reader: R, format: Format) -> Self {
        let parser = match format {
            Format::PostgresCsv => Parser::PostgresCsv(postgres::Csv::default()),
            Format::PostgresJson => Parser::PostgresJson,
            Format::MySqlGeneral => Parser::MySqlGeneral(mysql_general::General::default()),
            Format::MySqlSlow => Parser::MySqlSlow(mysql_slow::Slow::default()),
            Format::OracleTrace => Parser::OracleTrace(Box::default()),
        };
        Self { lines: Lines::new(reader), parser, events: VecDeque::new(), is_over: false }
    }

    /// Number of bytes read.
    pub const fn read(&self) -> u64 {
        self.lines.read()
    }

    /// The next event; `None` at the end.
    ///
    /// # Errors
    /// As the system reports.
    pub fn next_event(&mut self) -> io::Result<Option<Event>> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(Some(event));
            }
            if self.is_over {
                return Ok(None);
            }
            let events = &mut self.events;
            match self.lines.take()? {
                Some(Line::Text(line)) => match &mut self.parser {
                    Parser::PostgresCsv(csv) => csv.line(&line, events),
                    Parser::PostgresJson => postgres::json(&line, events),
                    Parser::MySqlGeneral(general) => general.line(&line, events),
                    Parser::MySqlSlow(slow) => slow.line(&line, events),
                    Parser::OracleTrace(trace) => trace.line(&line, events),
                },
                Some(Line::TooLong) => {
                    self.parser.broken();
                    events.push_back(skipped(Reason::TooLong));
                }
                Some(Line::Binary) => {
                    self.parser.broken();
                    events.push_back(skipped(Reason::Damaged));
                }
                None => {
                    self.is_over = true;
                    match &mut self.parser {
                        Parser::PostgresCsv(csv) => csv.end(events),
                        Parser::PostgresJson => {}
                        Parser::MySqlGeneral(general) => general.end(events),
                        Parser::MySqlSlow(slow) => slow.end(events),
                        Parser::OracleTrace(trace) => trace.end(events),
                    }
                }
            }
        }
    }
}

impl Parser {
    /// A line could not be read: what it belongs to cannot be replayed.
    fn broken(&mut self) {
        match self {
            Self::PostgresCsv(csv) => *csv = postgres::Csv::default(),
            Self::PostgresJson => {}
            Self::MySqlGeneral(general) => general.broken(),
            Self::MySqlSlow(slow) => slow.broken(),
            Self::OracleTrace(trace) => trace.broken(),
        }
    }
}

/// An event that only counts.
const fn skipped(reason: Reason) -> Event {
    Event { session: String::new(), at_us: 0, database: None, what: What::Skipped(reason) }
}

/// Reads a format's events of a text, for tests.
#[cfg(test)]
fn events(format: Format, text: &str) -> Vec<Event> {
    let mut log = Log::new(text.as_bytes(), format);
    let mut events = Vec::new();
    while let Some(event) = log.next_event().unwrap() {
        events.push(event);
    }
    events
}
