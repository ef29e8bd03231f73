//! The classes of what sessions wait for, from `[[waits]]` in the dialects' `observe.toml`: the only
//! place that says which wait of a server is a lock, the log or data I/O. The queries of sessions
//! return what the server shows.

use serde::Deserialize;

/// The waits of a class. Patterns ignore case, and `*` stands for any text.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WaitRule {
    /// Name of the class: `log`, `row_lock`.
    pub class: String,
    /// Patterns of the wait, one of which it has; empty for any wait.
    #[serde(default)]
    pub wait: Vec<String>,
    /// Likewise of its context.
    #[serde(default)]
    pub context: Vec<String>,
}

impl WaitRule {
    fn has(&self, wait: &str, context: &str) -> bool {
        let any = |patterns: &[String], text: &str| {
            patterns.is_empty() || patterns.iter().any(|pattern| is_like(text, pattern))
        };
        any(&self.wait, wait) && any(&self.context, context)
    }
}

/// The class of a wait: that of the first rule that has it; `None` if no rule does.
#[must_use]
pub fn class_of<'a>(rules: &'a [WaitRule], wait: &str, context: &str) -> Option<&'a str> {
    rules.iter().find(|rule| rule.has(wait, context)).map(|rule| rule.class.as_str())
}

/// Whether a rule names a wait in full, so that somebody has chosen its class.
#[must_use]
pub fn is_listed(rules: &[WaitRule], wait: &str) -> bool {
    rules.iter().flat_map(|rule| &rule.wait).any(|name| name.eq_ignore_ascii_case(wait))
}

/// Whether a text is what a pattern describes.
fn is_like(text: &str, pattern: &str) -> bool {
    let Some((beginning, rest)) = pattern.split_once('*') else {
        return text.eq_ignore_ascii_case(pattern);
    };
    let (text, rest) = (text.to_ascii_lowercase(), rest.to_ascii_lowercase());
    let Some(mut left) = text.strip_prefix(&beginning.to_ascii_lowercase()) else { return false };
    let (middle, end) = rest.rsplit_once('*').unwrap_or(("", &rest));
    for part in middle.split('*') {
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    left.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogues;
    use crate::observe::observe;

    fn class(dialect: &str, wait: &str, context: &str) -> String {
        let rules = observe(dialect).unwrap().waits;
        class_of(&rules, wait, context).unwrap_or("other").to_owned()
    }

    #[test]
    fn a_star_stands_for_any_text_and_case_does_not_matter() {
        for (pattern, text, is) in [
            ("WAITFOR", "waitfor", true),
            ("WAITFOR", "WAITFOR2", false),
            ("", "", true),
            ("", "x", false),
            ("*", "", true),
            ("LCK_*", "LCK_M_X", true),
            ("LCK_*", "LCKM", false),
            ("*binlog*", "Master has sent all Binlog to slave", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("ab*ba", "aba", false),
        ] {
            assert_eq!(is_like(text, pattern), is, "{text} like {pattern}");
        }
    }

    /// The names that are spelled in another way before PostgreSQL 17, and those whose class is not
    /// that of their type.
    #[test]
    fn an_event_of_postgresql_has_the_same_class_in_every_version() {
        let log = [
            "IO:WALBootstrapSync",
            "IO:WALBootstrapWrite",
            "IO:WALCopyRead",
            "IO:WALCopySync",
            "IO:WALCopyWrite",
            "IO:WALInitSync",
            "IO:WALInitWrite",
            "IO:WALRead",
            "IO:WALSync",
            "IO:WALSyncMethodAssign",
            "IO:WALWrite",
            "LWLock:WALBufMapping",
            "LWLock:WALInsert",
            "LWLock:WALWrite",
            "IO:WalSync",
            "IO:WalWrite",
        ];
        let latch =
            ["IPC:ProcArrayGroupUpdate", "IPC:XactGroupUpdate", "Lock:extend", "Timeout:SpinDelay"];
        let rows = ["Lock:spectoken", "Lock:transactionid", "Lock:tuple"];
        let io = ["IPC:BufferIO", "IPC:BufferIo", "Timeout:RegisterSyncRequest"];
        for (expected, events) in [
            ("log", &log[..]),
            ("replica", &["IPC:SyncRep"]),
            ("io", &io),
            ("latch", &latch),
            ("lock", &["Timeout:VacuumTruncate", "Lock:relation"]),
            ("row_lock", &rows),
        ] {
            for event in events {
                assert_eq!(class("postgres", event, ""), expected, "{event}");
                assert!(is_listed(&observe("postgres").unwrap().waits, event), "{event}");
            }
        }
    }

    #[test]
    fn an_event_that_nobody_has_listed_has_the_class_of_its_type() {
        for (event, expected) in [
            ("", "cpu"),
            ("IO:New", "io"),
            ("LWLock:of_an_extension", "latch"),
            ("Lock:New", "lock"),
            ("Timeout:New", "sleep"),
            ("Client:New", "client"),
            ("Buffer:New", "latch"),
            ("IPC:New", "other"),
            ("Extension:New", "other"),
            ("Activity:New", "other"),
        ] {
            assert_eq!(class("postgres", event, ""), expected, "{event}");
            assert!(event.is_empty() || !is_listed(&observe("postgres").unwrap().waits, event));
        }
    }

    #[test]
    fn a_wait_of_mysql_is_an_event_or_a_state() {
        for (wait, context, expected) in [
            ("InnoDB:LOCK WAIT", "Updating", "row_lock"),
            ("wait/lock/metadata/sql/mdl", "Opening tables", "lock"),
            ("wait/synch/cond/sql/x", "Waiting for table metadata lock", "lock"),
            ("User sleep", "User sleep", "sleep"),
            (
                "Waiting for semi-sync ACK from slave",
                "Waiting for semi-sync ACK from slave",
                "replica",
            ),
            ("wait/io/file/sql/binlog", "Opening tables", "log"),
            ("wait/synch/mutex/sql/MYSQL_BIN_LOG::LOCK_log", "", "log"),
            ("wait/synch/mutex/innodb/log_sys_mutex", "", "log"),
            ("wait/synch/mutex/innodb/logger", "", "latch"),
            ("wait/io/file/innodb/innodb_data_file", "Sending data", "io"),
            ("wait/io/file/innodb/innodb_data_file", "Commit", "log"),
            ("wait/io/socket/sql/client_connection", "", "client"),
            ("Writing to net", "Writing to net", "client"),
            ("Sorting result", "Sorting result", "cpu"),
            ("", "", "cpu"),
        ] {
            for dialect in ["mysql", "mariadb", "mariadb-odbc"] {
                assert_eq!(class(dialect, wait, context), expected, "{dialect}: {wait}, {context}");
            }
        }
        let states =
            ["mysql", "mariadb"].map(|of| class(of, "Starting cleanup", "Starting cleanup"));
        assert_eq!(states, ["cpu", "log"], "only MariaDB commits in it");
    }

    #[test]
    fn a_lock_of_sql_server_is_one_on_a_row_by_its_resource() {
        for (wait, context, expected) in [
            ("LCK_M_X", "KEY: 5:72057594043170816 (8194443284a0)", "row_lock"),
            ("LCK_M_IX", "OBJECT: 5:245575913:0", "lock"),
            ("PAGELATCH_EX", "5:1:104", "latch"),
            ("PAGEIOLATCH_SH", "5:1:104", "io"),
            ("WRITELOG", "", "log"),
            ("HADR_SYNC_COMMIT", "", "replica"),
            ("HADR_WORK_QUEUE", "", "other"),
            ("SOS_SCHEDULER_YIELD", "", "cpu"),
            ("", "", "cpu"),
        ] {
            assert_eq!(class("sqlserver", wait, context), expected, "{wait}");
        }
    }

    #[test]
    fn every_dialect_that_shows_sessions_says_what_their_waits_are() {
        for dialect in catalogues::dialects() {
            let def = observe(&dialect).unwrap();
            assert_eq!(def.waits.is_empty(), def.sessions.is_empty(), "{dialect}");
            for rule in &def.waits {
                let patterns = rule.wait.len() + rule.context.len();
                assert!(patterns > 0, "{dialect}: {} has every wait", rule.class);
            }
            let mut names: Vec<_> = def.waits.iter().flat_map(|rule| &rule.wait).collect();
            names.retain(|name| !name.contains('*') && class_of(&def.waits, name, "").is_some());
            let classes = |name: &String| {
                let has = |rule: &&WaitRule| rule.wait.iter().any(|n| n.eq_ignore_ascii_case(name));
                def.waits.iter().filter(has).count()
            };
            assert!(names.iter().all(|name| classes(name) == 1), "{dialect}: a wait twice");
        }
    }
}
