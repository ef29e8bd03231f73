//! Top statements: the difference of two readings of a server's own statistics of statements.

use std::collections::{HashMap, HashSet};

use triphammer_core::Rows;
use triphammer_core::text::one_line;
use triphammer_document::result::TopStatement;

use super::profile::number;
use super::sessions::whole_key;

/// Maximum number of statements in the document.
const SHOWN_MAX: usize = 10;
/// Maximum length of a text in the document.
const TEXT_LENGTH: usize = 200;

/// Characters that identify a statement of the observers: servers cut texts.
const OWN_LENGTH: usize = 100;

/// What the text of a statement and the server's digest of it have in common: a digest has blanks
/// between all words, quotes around names, and one sign for a list of values.
pub fn own_key(text: &str) -> String {
    let is_kept = |c: &char| !matches!(c, ' ' | '`' | '"');
    let bare: String = whole_key(text).chars().filter(is_kept).collect();
    let mut parts = bare.split("(?");
    let mut key = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.trim_start_matches(",?").strip_prefix(')') {
            Some(rest) => key.extend(["(...)", rest]),
            None => key.extend(["(?", part]),
        }
    }
    key.chars().take(OWN_LENGTH).collect()
}

/// A reading: text and counters by the server's key.
#[derive(Clone, Debug, Default)]
pub struct StatementReading(HashMap<String, (String, [f64; 5])>);

impl StatementReading {
    /// Reads the rows of a dialect's query of statements.
    pub fn of(rows: &Rows) -> Self {
        let read = rows.iter().filter_map(|row| {
            let key = row.text(0).ok()?.to_owned();
            let text = row.text(1).unwrap_or_default().to_owned();
            let counters = [2, 3, 4, 5, 6].map(|column| number(&row, column).unwrap_or(0.0));
            Some((key, (text, counters)))
        });
        Self(read.collect())
    }

    /// What was done since an earlier reading, by total time, without the observers' `own`
    /// statements. One whose counters went back was forgotten meanwhile, and counts from zero.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counters are not negative"
    )]
    pub fn since(&self, before: &Self, own: &HashSet<String>) -> Vec<TopStatement> {
        let all = self.0.iter().filter(|(_, (text, _))| !own.contains(&own_key(text)));
        let all = all.filter_map(|(key, (text, now))| {
            let then = before.0.get(key).map_or([0.0; 5], |(_, then)| *then);
            let is_reset = now[0] < then[0];
            let [calls, ms, rows, read, hit] =
                [0, 1, 2, 3, 4].map(|of| if is_reset { now[of] } else { now[of] - then[of] });
            (calls > 0.0).then(|| TopStatement {
                text: one_line(text).chars().take(TEXT_LENGTH).collect(),
                calls: calls as u64,
                total_s: ms / 1e3,
                mean_ms: ms / calls,
                rows: rows as u64,
                blocks_read: read as u64,
                blocks_hit: hit as u64,
            })
        });
        let mut all: Vec<_> = all.collect();
        all.sort_by(|a, b| b.total_s.total_cmp(&a.total_s).then_with(|| a.text.cmp(&b.text)));
        all.truncate(SHOWN_MAX);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(of: &[(&str, [f64; 5])]) -> StatementReading {
        let mut rows = Rows::new();
        rows.reset(7);
        for (key, counters) in of {
            rows.text(key);
            rows.text(&format!("text of {key}"));
            counters.iter().for_each(|counter| rows.float(*counter));
        }
        StatementReading::of(&rows)
    }

    #[test]
    fn only_what_was_done_in_between_counts() {
        let before = reading(&[("a", [10.0, 100.0, 10.0, 1.0, 5.0]), ("b", [5.0; 5])]);
        let after = reading(&[
            ("a", [30.0, 180.0, 30.0, 1.0, 9.0]),
            ("b", [5.0; 5]),
            ("c", [1.0, 500.0, 0.0, 0.0, 0.0]),
            ("d", [9.0, 900.0, 0.0, 0.0, 0.0]),
        ]);
        let own = HashSet::from([own_key("TEXT of d")]);
        let top = after.since(&before, &own);
        let texts: Vec<_> = top.iter().map(|of| of.text.as_str()).collect();
        assert_eq!(texts, ["text of c", "text of a"], "b was not called");
        let a = &top[1];
        assert_eq!((a.calls, a.mean_ms, a.rows, a.blocks_read, a.blocks_hit), (20, 4.0, 20, 0, 4));
        assert_eq!(before.since(&after, &own).len(), 1, "a was reset");
    }

    #[test]
    fn a_digest_has_the_key_of_its_statement() {
        let digest = "SHOW GLOBAL STATUS WHERE `Variable_name` LIKE ? OR `a` . `b` IN (...) AND `f` ( ? , c )";
        let text = "SHOW GLOBAL STATUS WHERE Variable_name LIKE 'Innodb%'\n    OR a.b IN ('x', 'y',\n 'z') AND f(1, c)";
        assert_eq!(own_key(digest), own_key(text));
        assert_ne!(own_key("SELECT a FROM t"), own_key("SELECT b FROM t"));
        assert!(own_key(&"long ".repeat(1_000)).len() <= OWN_LENGTH);
    }
}
