//! Files that are taken for logs, but cannot be read: what they are, and what is needed instead.

/// Lines that are looked at.
const LINES_MAX: usize = 2_000;

/// What needs to be done for a log of MySQL and MariaDB.
const MYSQL: &str = "the general log (general_log = ON) or the slow log (slow_query_log = ON, \
                     long_query_time = 0) is needed, with log_output = FILE";
/// What needs to be done for a log of PostgreSQL.
const POSTGRES: &str = "a csvlog or a jsonlog is needed: set log_destination = 'csvlog' and \
                        logging_collector = on";

/// Whether a line is one of a kind, what the kind is, and what is needed instead.
type TokenKind = (fn(&str) -> bool, &'static str, &'static str);

const KINDS: [TokenKind; 9] = [
    (is_cloud_sql, "an export of Cloud SQL, with lines of PostgreSQL's text log in it", POSTGRES),
    (is_text_log, "PostgreSQL's text log (log_destination = stderr or syslog)", POSTGRES),
    (is_binlog, "the output of mysqlbinlog, which has changes of data only", MYSQL),
    (is_summary, "a summary of a slow log; the log itself is needed", MYSQL),
    (is_audit, "a log of MariaDB's audit plugin, whose statements can be cut", MYSQL),
    (is_table, "a table of the schema mysql (log_output = TABLE)", MYSQL),
    (is_mysql_error, "the error log of MySQL or MariaDB", MYSQL),
    (is_pgbouncer, "the log of PgBouncer, which has no statements", POSTGRES),
    (is_cloud_event, "an export of CloudWatch or of another collector", "save the log itself"),
];

/// The beginnings of packed or recoded files, and what to do with them.
const MAGIC: [(&[u8], &str); 6] = [
    (b"\x1f\x8b", "packed by gzip: unpack it first"),
    (b"\x28\xb5\x2f\xfd", "packed by zstd: unpack it first"),
    (b"\xfd7zXZ", "packed by xz: unpack it first"),
    (b"BZh", "packed by bzip2: unpack it first"),
    (b"\xff\xfe", "UTF-16 text: convert it to UTF-8 first"),
    (b"\xfebin", "a binary log of MySQL, which has changes of data only"),
];

/// What the beginning of a file shows it to be, if it is known and cannot be read; reads after `is`.
#[must_use]
pub fn other_source(head: &[u8]) -> Option<String> {
    if let Some((_, what)) = MAGIC.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Some((*what).to_owned());
    }
    let text = String::from_utf8_lossy(head);
    text.lines().take(LINES_MAX).find_map(|line| {
        let (_, what, needed) = KINDS.iter().find(|(is, ..)| is(line))?;
        Some(format!("{what}: {needed}"))
    })
}

fn is_cloud_sql(line: &str) -> bool {
    line.contains("\"textPayload\"")
}

/// After any prefix, a severity with its colon and two blanks. A line that begins with a blank
/// belongs to a statement, and may have anything in it.
fn is_text_log(line: &str) -> bool {
    const SEVERITIES: [&str; 8] = [
        "LOG:  ",
        "ERROR:  ",
        "FATAL:  ",
        "PANIC:  ",
        "WARNING:  ",
        "STATEMENT:  ",
        "DETAIL:  ",
        "HINT:  ",
    ];
    !line.starts_with(char::is_whitespace) && SEVERITIES.iter().any(|known| line.contains(known))
}

fn is_binlog(line: &str) -> bool {
    line.starts_with("/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE")
        || line.starts_with('#') && line.contains(" server id ") && line.contains("end_log_pos")
}

/// Of mysqldumpslow or pt-query-digest.
fn is_summary(line: &str) -> bool {
    line.starts_with("Count: ") && line.contains("  Time=") || line.starts_with("# Rank Query ID")
}

/// `20260131 12:00:00,host,user,client,8,20,QUERY,shop,'SELECT 1',0`.
fn is_audit(line: &str) -> bool {
    const OPERATIONS: [&str; 6] = ["QUERY", "CONNECT", "DISCONNECT", "READ", "WRITE", "CREATE"];
    let fields: Vec<&str> = line.splitn(9, ',').collect();
    fields.len() == 9
        && fields[0].len() == 17
        && fields[0].bytes().all(|byte| byte.is_ascii_digit() || b" :".contains(&byte))
        && OPERATIONS.contains(&fields[6])
}

/// A row of general_log.CSV or slow_log.CSV.
fn is_table(line: &str) -> bool {
    let digits = line.get(1..5).is_some_and(|year| year.bytes().all(|b| b.is_ascii_digit()));
    line.starts_with('"') && digits && line.contains("] @ ")
}

fn is_mysql_error(line: &str) -> bool {
    ["[Note]", "[Warning]", "[ERROR]", "[System] [MY-"].iter().any(|level| line.contains(level))
        && line.starts_with(|c: char| c.is_ascii_digit())
}

fn is_pgbouncer(line: &str) -> bool {
    line.contains(" LOG C-0x") || line.contains(" LOG S-0x")
}

fn is_cloud_event(line: &str) -> bool {
    line.starts_with('{') && ["\"logEvents\"", "\"@message\""].iter().any(|key| line.contains(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_log_of_statements_is_named() {
        for (head, what) in [
            (
                "2026-01-31 10:00:00 UTC [20]: [1-1] user=a,db=b,app=c,client=d LOG:  x: END;",
                "PostgreSQL's text log",
            ),
            ("Jan 31 10:00:00 db postgres[7]: [1-1] LOG:  checkpoint starting", "text log"),
            (
                "{\"textPayload\":\"2026 [1] LOG: x\",\"timestamp\":\"2026\"}",
                "an export of Cloud SQL",
            ),
            ("#260131 12:00:00 server id 1  end_log_pos 126 CRC32", "the output of mysqlbinlog"),
            ("Count: 2  Time=1.00s (2s)  Lock=0.00s (0s)  Rows=1.0 (2), a[a]@b", "a summary"),
            ("20260131 12:00:00,h,u,localhost,8,20,QUERY,shop,'SELECT 1',0", "audit plugin"),
            ("\"2026-01-31 12:00:00.000001\",\"u[u] @ localhost []\",8,1,\"Query\",\"x\"", "TABLE"),
            ("2026-01-31T12:00:00.1Z 0 [System] [MY-010116] [Server] ready", "the error log"),
            ("2026-01-31 12:00:00.1 UTC [9] LOG C-0x55d: a/b@c:1 login attempt", "PgBouncer"),
            ("\u{1f}\u{8b}", "packed by gzip"),
        ] {
            let bytes: Vec<u8> = match head.starts_with('\u{1f}') {
                true => vec![0x1f, 0x8b, 8],
                false => head.bytes().collect(),
            };
            let found = other_source(&bytes).unwrap_or_default();
            assert!(found.contains(what), "{head}: {found}");
        }
        for log in [
            "# Time: 071015 21:43:52\n# User@Host: root[root] @ localhost []\nSELECT 1;\n",
            "hello\n  LOG:  no severity of a server\n",
        ] {
            assert_eq!(other_source(log.as_bytes()), None, "{log}");
        }
    }
}
