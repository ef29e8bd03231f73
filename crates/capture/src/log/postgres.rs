//! PostgreSQL's csvlog and jsonlog (PostgreSQL documentation, chapter 20.8).
//!
//! Statements are in messages of severity LOG: `statement: SQL` (simple protocol), `execute NAME: SQL`
//! (extended protocol) with the arguments in the detail, each with `duration: N ms` before it if it was
//! logged when it had ended, or in a message of its own afterwards.

use std::collections::VecDeque;

use triphammer_core::value::Timestamp;

use super::super::event::{Aftermath, Argument, Event, What};
use super::super::lines::LINE_BYTES_MAX;
use super::super::skipped::Reason;
use super::skipped;

/// Fields of a csvlog record that are read, by their position.
const LOG_TIME: usize = 0;
const DATABASE: usize = 2;
const SESSION: usize = 5;
const SEVERITY: usize = 11;
const MESSAGE: usize = 13;
const DETAIL: usize = 14;
const QUERY: usize = 19;
/// A date and time, with zeros for digits.
const DATE_TIME: &[u8] = b"0000-00-00 00:00:00";
/// Fields of a record: 23 from PostgreSQL 9.0 to 12, 24 in 13, 26 from 14 to 18; later
/// versions may add more.
const FIELDS: std::ops::RangeInclusive<usize> = 23..=40;

/// Records of a csvlog, which may have several lines.
#[derive(Debug, Default)]
pub struct Csv {
    record: String,
    is_open: bool,
}

/// Whether a line begins with a date and time.
fn begins_record(line: &str) -> bool {
    line.len() > DATE_TIME.len()
        && line.bytes().zip(DATE_TIME).all(|(found, wanted)| match wanted {
            b'0' => found.is_ascii_digit(),
            other => found == *other,
        })
}

/// Whether a line is one of a jsonlog, which other exports of logs as JSON are not.
pub fn is_json(line: &str) -> bool {
    line.starts_with('{')
        && ["\"timestamp\"", "\"error_severity\""].iter().all(|key| line.contains(key))
}

/// Whether a line begins a record of a csvlog, up to the number of the session. A line within a
/// quoted field does not, because quotes are doubled there.
pub fn begins_csv(line: &str) -> bool {
    let Some(rest) = line.get(DATE_TIME.len()..).filter(|_| begins_record(line)) else {
        return false;
    };
    let Some((zone, rest)) = rest.split_once(',') else { return false };
    let fraction = |c: char| c == '.' || c.is_ascii_digit();
    let is_zone = |c: char| c.is_ascii_alphanumeric() || "+-:/_".contains(c);
    let zone = zone.trim_start_matches(fraction).strip_prefix(' ');
    if !zone.is_some_and(|zone| !zone.is_empty() && zone.chars().all(is_zone)) {
        return false;
    }
    // The user, the database, the process, the client, and the session: two hexadecimal numbers.
    let mut rest = rest;
    let mut found = [""; 5];
    for place in &mut found {
        let Some((field, after)) = first_field(rest) else { return false };
        (*place, rest) = (field, after);
    }
    let is_hex = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_hexdigit());
    found[2].parse::<u32>().is_ok()
        && found[4].split_once('.').is_some_and(|(start, pid)| is_hex(start) && is_hex(pid))
}

/// The first field of the rest of a record as it is written, and what follows its comma.
fn first_field(rest: &str) -> Option<(&str, &str)> {
    let end = match rest.strip_prefix('"') {
        None => rest.find(',')?,
        Some(quoted) => {
            let mut end = 0;
            loop {
                end += quoted[end..].find('"')?;
                if !quoted[end + 1..].starts_with('"') {
                    break end + 2;
                }
                end += 2;
            }
        }
    };
    rest[end..].strip_prefix(',').map(|after| (&rest[..end], after))
}

impl Csv {
    pub fn line(&mut self, line: &str, events: &mut VecDeque<Event>) {
        if self.is_open && begins_csv(line) {
            // The record before was cut within quotes, by a full disk or a crash.
            events.push_back(skipped(Reason::Damaged));
            *self = Self::default();
        }
        if self.is_open {
            self.record.push('\n');
        } else if !begins_record(line) {
            if !line.is_empty() {
                events.push_back(skipped(Reason::Damaged));
            }
            return;
        }
        self.record.push_str(line);
        // Quotes in a field are doubled: a record is complete when their number is even.
        self.is_open ^= line.bytes().filter(|byte| *byte == b'"').count() % 2 == 1;
        if self.is_open {
            if self.record.len() > LINE_BYTES_MAX {
                events.push_back(skipped(Reason::TooLong));
                *self = Self::default();
            }
            return;
        }
        let record = std::mem::take(&mut self.record);
        match fields(&record).filter(|fields| FIELDS.contains(&fields.len())) {
            Some(fields) => message(
                &Message {
                    time: &fields[LOG_TIME],
                    database: &fields[DATABASE],
                    session: &fields[SESSION],
                    severity: &fields[SEVERITY],
                    text: &fields[MESSAGE],
                    detail: &fields[DETAIL],
                    query: &fields[QUERY],
                },
                events,
            ),
            None => events.push_back(skipped(Reason::Damaged)),
        }
    }

    pub fn end(&mut self, events: &mut VecDeque<Event>) {
        if self.is_open {
            events.push_back(skipped(Reason::Damaged));
        }
    }
}

/// The fields of a complete record; `None` if it is malformed.
fn fields(record: &str) -> Option<Vec<String>> {
    let mut fields = Vec::new();
    let mut rest = record;
    loop {
        if let Some(quoted) = rest.strip_prefix('"') {
            let mut end = 0;
            loop {
                end += quoted[end..].find('"')?;
                if !quoted[end + 1..].starts_with('"') {
                    break;
                }
                end += 2;
            }
            fields.push(quoted[..end].replace("\"\"", "\""));
            rest = &quoted[end + 1..];
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            fields.push(rest[..end].to_owned());
            rest = &rest[end..];
        }
        match rest.strip_prefix(',') {
            Some(after) => rest = after,
            None if rest.is_empty() => return Some(fields),
            None => return None,
        }
    }
}

/// Reads a line of a jsonlog.
pub fn json(line: &str, events: &mut VecDeque<Event>) {
    if line.trim().is_empty() {
        return;
    }
    let Ok(serde_json::Value::Object(object)) = serde_json::from_str(line) else {
        events.push_back(skipped(Reason::Damaged));
        return;
    };
    let field = |name: &str| object.get(name).and_then(serde_json::Value::as_str).unwrap_or("");
    let of_message = Message {
        time: field("timestamp"),
        database: field("dbname"),
        session: field("session_id"),
        severity: field("error_severity"),
        text: field("message"),
        detail: field("detail"),
        query: field("statement"),
    };
    message(&of_message, events);
}

/// What is read of a message.
struct Message<'a> {
    time: &'a str,
    database: &'a str,
    session: &'a str,
    severity: &'a str,
    text: &'a str,
    detail: &'a str,
    query: &'a str,
}

fn message(message: &Message<'_>, events: &mut VecDeque<Event>) {
    let Some(at_us) = time(message.time) else {
        events.push_back(skipped(Reason::Damaged));
        return;
    };
    let mut push = |at_us, what| {
        let database = (!message.database.is_empty()).then(|| message.database.to_owned());
        events.push_back(Event { session: message.session.to_owned(), at_us, database, what });
    };
    match message.severity {
        "ERROR" | "FATAL" | "PANIC" => {
            let query = (!message.query.is_empty()).then(|| message.query.to_owned());
            if query.is_some() {
                push(at_us, What::Failed(query, Aftermath::Aborted));
            }
            return;
        }
        "LOG" => {}
        _ => return,
    }
    let (took_us, text) = duration(message.text);
    let at_us = at_us.saturating_sub_unsigned(took_us.unwrap_or(0));
    if text.is_empty() {
        if let Some(took) = took_us {
            push(at_us, What::Took(took));
        }
        return;
    }
    if let Some(sql) = text.strip_prefix("statement: ") {
        let sql = sql.to_owned();
        push(at_us, What::Statement { sql, binds: Vec::new(), took_us });
    } else if text.starts_with("execute fetch from ") {
        push(at_us, What::Skipped(Reason::Cursor));
    } else if let Some(rest) = text.strip_prefix("execute ") {
        let Some((_, sql)) = rest.split_once(": ") else { return };
        let what = match arguments(message.detail) {
            Some(binds) => What::Statement { sql: sql.to_owned(), binds, took_us },
            None => What::Skipped(Reason::Binds),
        };
        push(at_us, what);
    } else if text.starts_with("fastpath function call") {
        push(at_us, What::Skipped(Reason::Function));
    } else if text.starts_with("disconnection: ") {
        push(at_us, What::Disconnected);
    }
}

/// Splits `duration: 0.123 ms  rest` into microseconds and the rest.
fn duration(text: &str) -> (Option<u64>, &str) {
    let Some(after) = text.strip_prefix("duration: ") else { return (None, text) };
    let Some((number, rest)) = after.split_once(" ms") else { return (None, text) };
    let read = number.parse::<f64>().ok().filter(|ms| (0.0..1e12).contains(ms));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in the range")]
    let us = read.map(|ms| (ms * 1000.0).round() as u64);
    (us, rest.trim_start())
}

/// The arguments of a detail such as `Parameters: $1 = '5', $2 = NULL`, which begins with a lower-case
/// letter before PostgreSQL 16; none if there is no detail. `None` if one is not whole: the server ends
/// those that `log_parameter_max_length` cuts with three dots.
fn arguments(detail: &str) -> Option<Vec<Argument>> {
    let mut arguments = Vec::new();
    let mut rest = detail.trim();
    if rest.is_empty() {
        return Some(arguments);
    }
    rest = rest.strip_prefix("parameters: ").or_else(|| rest.strip_prefix("Parameters: "))?;
    loop {
        let name = format!("${} = ", arguments.len() + 1);
        rest = rest.strip_prefix(name.as_str())?;
        if let Some(after) = rest.strip_prefix("NULL") {
            arguments.push(Argument::Null);
            rest = after;
        } else {
            let quoted = rest.strip_prefix('\'')?;
            let mut end = 0;
            loop {
                end += quoted[end..].find('\'')?;
                if !quoted[end + 1..].starts_with('\'') {
                    break;
                }
                end += 2;
            }
            if quoted[..end].ends_with("...") {
                return None;
            }
            arguments.push(Argument::of_text(quoted[..end].replace("''", "'")));
            rest = &quoted[end + 1..];
        }
        match rest.strip_prefix(", ") {
            Some(after) => rest = after,
            None => return rest.is_empty().then_some(arguments),
        }
    }
}

/// Microseconds of `2026-01-31 12:00:00.123 CET`; the zone is that of the whole log.
fn time(text: &str) -> Option<i64> {
    let end = text.match_indices(' ').nth(1).map_or(text.len(), |(at, _)| at);
    Timestamp::parse(&text[..end]).map(|time| time.0)
}

#[cfg(test)]
mod tests {
    use super::super::{Format, events};
    use super::*;

    fn csv(message: &str, severity: &str, detail: &str, query: &str) -> String {
        let quote = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        format!(
            "2026-01-31 12:00:01.500 UTC,\"u\",\"d\",7,\"[local]\",65ba.7,3,\"SELECT\",\
             2026-01-31 11:00:00 UTC,3/4,0,{severity},00000,{},{},,,,,{},,,\"app\",\
             \"client backend\",,0\n",
            quote(message),
            quote(detail),
            quote(query)
        )
    }

    const AT: i64 = 1_769_860_801_500_000;

    fn statement(sql: &str, binds: &[Argument], took_us: Option<u64>) -> What {
        What::Statement { sql: sql.to_owned(), binds: binds.to_vec(), took_us }
    }

    #[test]
    fn statements_are_read_in_every_spelling() {
        let text = |text: &str| Argument::Text(text.to_owned());
        for (message, detail, at, what) in [
            ("statement: SELECT \"a\",\n 1", "", 0, statement("SELECT \"a\",\n 1", &[], None)),
            (
                "duration: 1.500 ms  statement: SELECT 1",
                "",
                1500,
                statement("SELECT 1", &[], Some(1500)),
            ),
            (
                "execute <unnamed>: SELECT $1, $2, $3",
                "parameters: $1 = '5', $2 = NULL, $3 = 'it''s, $4 = 1'",
                0,
                statement(
                    "SELECT $1, $2, $3",
                    &[Argument::Int(5), Argument::Null, text("it's, $4 = 1")],
                    None,
                ),
            ),
            (
                "duration: 0.021 ms  execute S_1/C_2: SELECT $1",
                "Parameters: $1 = '007'",
                21,
                statement("SELECT $1", &[text("007")], Some(21)),
            ),
            ("duration: 0.2 ms", "", 200, What::Took(200)),
            ("execute fetch from a/b: SELECT 1", "", 0, What::Skipped(Reason::Cursor)),
            ("execute a: SELECT $1", "parameters: $1 = 'cut", 0, What::Skipped(Reason::Binds)),
            ("execute a: SELECT $1", "Parameters: $1 = '...'", 0, What::Skipped(Reason::Binds)),
            (
                "execute a: SELECT $1, $2",
                "parameters: $1 = '12...', $2 = '5'",
                0,
                What::Skipped(Reason::Binds),
            ),
            (
                "execute a: SELECT $1",
                "parameters: $1 = 'a... b'",
                0,
                statement("SELECT $1", &[text("a... b")], None),
            ),
            ("disconnection: session time: 0:00:01", "", 0, What::Disconnected),
        ] {
            let found = events(Format::PostgresCsv, &csv(message, "LOG", detail, ""));
            let (session, database) = ("65ba.7".to_owned(), Some("d".to_owned()));
            let expected = Event { session, at_us: AT - at, database, what };
            assert_eq!(found, [expected], "{message}");
        }
        for silent in ["duration: 0.1 ms  parse a: SELECT 1", "duration: 0.1 ms  bind a: SELECT 1"]
        {
            assert_eq!(events(Format::PostgresCsv, &csv(silent, "LOG", "", "")), []);
        }
        let failed = events(Format::PostgresCsv, &csv("oops", "ERROR", "", "SELECT 1/0"));
        let query = Some("SELECT 1/0".into());
        assert_eq!(failed[0].what, What::Failed(query, Aftermath::Aborted));
    }

    #[test]
    fn json_has_the_same_messages() {
        let line = "{\"timestamp\":\"2026-01-31 12:00:01.500 UTC\",\"user\":\"u\",\"dbname\":\"d\",\"pid\":7,\
                    \"session_id\":\"65ba.7\",\"error_severity\":\"LOG\",\"message\":\"duration: \
                    0.021 ms  execute a: SELECT $1\",\"detail\":\"Parameters: $1 = '5'\"}\n{\"x\n";
        let found = events(Format::PostgresJson, line);
        assert_eq!(found[0].what, statement("SELECT $1", &[Argument::Int(5)], Some(21)));
        assert_eq!((found[0].at_us, found[0].database.as_deref()), (AT - 21, Some("d")));
        assert_eq!(found[1].what, What::Skipped(Reason::Damaged));
    }

    #[test]
    fn damaged_records_are_counted_and_the_others_read() {
        let good = csv("statement: SELECT 1", "LOG", "", "");
        let cut = &good[..100];
        let text = format!("no log\n{cut}\n{good}2026-01-31 12:00:01 UTC,\"x\n");
        let found = events(Format::PostgresCsv, &text);
        let reasons: Vec<_> = found.iter().map(|event| &event.what).collect();
        let damaged = What::Skipped(Reason::Damaged);
        assert_eq!(reasons, [&damaged, &damaged, &statement("SELECT 1", &[], None), &damaged]);
        assert_eq!(time("never"), None);
    }

    #[test]
    fn a_record_that_was_cut_hides_none_of_those_after_it() {
        let good = csv("statement: SELECT \"a\",\n 1", "LOG", "", "");
        let cut = good.find("SELECT \"").unwrap();
        for text in [
            format!("{}\n{good}{good}", &good[..cut]),
            // Without an end of line, with the record that follows in the same line.
            format!("{}{good}{good}{good}", &good[..cut]),
        ] {
            let found = events(Format::PostgresCsv, &text);
            let expected = statement("SELECT \"a\",\n 1", &[], None);
            assert_eq!(found[0].what, What::Skipped(Reason::Damaged));
            assert!(found.len() >= 3, "{found:?}");
            let last_two = &found[found.len() - 2..];
            assert!(last_two.iter().all(|event| event.what == expected), "{found:?}");
        }
        // A record within a statement does not begin one: its quotes are doubled.
        let nested = csv(&format!("statement: SELECT '\n{good}'"), "LOG", "", "");
        let found = events(Format::PostgresCsv, &nested);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].what, statement(&format!("SELECT '\n{good}'"), &[], None));
    }

    #[test]
    fn records_of_every_version_begin_alike() {
        let good = csv("statement: SELECT 1", "LOG", "", "");
        let columns_26 = good.trim_end();
        let columns_24 = columns_26.strip_suffix(",,0").unwrap();
        let columns_23 = columns_24.strip_suffix(",\"client backend\"").unwrap();
        for (version, record) in [("9.6", columns_23), ("13", columns_24), ("14", columns_26)] {
            assert!(begins_csv(record), "{version}");
            let found = events(Format::PostgresCsv, record);
            assert_eq!(found[0].what, statement("SELECT 1", &[], None), "{version}");
        }
        for line in [
            "2026-01-31 12:00:01.500 UTC,,,7,,65ba.7,3,\"\",x",
            "2026-01-31 12:00:01 +03,\"a \"\"b\"\", c\",\"d\",7,\"10.0.0.5:5\",65ba.7,3,",
        ] {
            assert!(begins_csv(line), "{line}");
        }
        for line in [
            "2026-01-31 10:00:01 UTC [20]: [2-1] user=app,db=shop,app=web LOG:  a,b,c,d,e,f",
            "2026-01-31 10:00:01.500 UTC,\"\"u\"\",\"\"d\"\",7,\"\"[local]\"\",65ba.7,3,",
            "2026-01-31 10:00:01,1,2,3,4,5,6,7,8",
            "2026-01-31 10:00:01 UTC",
        ] {
            assert!(!begins_csv(line), "{line}");
        }
    }

    #[test]
    fn a_record_that_never_ends_is_dropped_and_later_ones_are_read() {
        let good = csv("statement: SELECT 1", "LOG", "", "");
        let mut text = String::from("2026-01-31 12:00:01.500 UTC,\"u\",\"");
        for _ in 0..30_000 {
            text.push_str("0123456789012345678901234567890123456789\n");
        }
        text.push_str(&good);
        let found = events(Format::PostgresCsv, &text);
        assert_eq!(found[0].what, What::Skipped(Reason::TooLong));
        assert_eq!(found.last().map(|event| &event.what), Some(&statement("SELECT 1", &[], None)));
    }
}
