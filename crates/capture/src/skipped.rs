//! What a log has that cannot be replayed, counted by its reason.

use std::fmt::Write as _;

macro_rules! reasons {
    ($($variant:ident $text:literal,)+) => {
        /// Why something of a log is not replayed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Reason {
            $(#[doc = $text] $variant,)+
        }

        impl Reason {
            /// All reasons, in the order of reports.
            pub const ALL: [Self; [$($text),+].len()] = [$(Self::$variant),+];

            /// The reason with what it counts.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }
    };
}

reasons! {
    Damaged "damaged lines",
    Messages "connections of which messages could not be read further",
    TooLong "lines or statements that are too long",
    Secret "statements with a password",
    Definition "schema changes and maintenance (CREATE, ALTER, DROP, GRANT, VACUUM and so on)",
    Setting "session settings (SET, RESET, USE)",
    OtherDatabase "statements of other databases",
    Copy "COPY and LOAD DATA, whose data is not captured",
    NamedStatement "EXECUTE and DEALLOCATE of statements that were prepared in SQL",
    TwoPhase "prepared transactions (two-phase commit) and XA",
    Failed "statements that failed when they were recorded",
    RolledBack "transactions that were rolled back",
    Unfinished "transactions that do not end in the log",
    Anonymous "statements without the number of their connection, as in slow logs before MySQL 5.6",
    Binds "statements whose arguments are not in the log",
    Colon "statements with a colon before a name",
    Bytes "statements with bytes that are not UTF-8 text",
    Variable "statements that read a user variable whose assignment is not replayed",
    Inherited "transactions that read a user variable of an earlier transaction",
    Routine "statements inside functions and triggers, which the general log has like those of clients",
    Truncated "statements that the server truncated",
    Folded "statements from which the server left out values",
    Unprepared "statements that the database cannot prepare",
    Ends "BEGIN, COMMIT and ROLLBACK, which the statistics do not connect with statements",
    Server "statements about the server itself",
    Function "fast-path function calls",
    Cursor "fetches from portals",
    TransactionTooLong "transactions with too many statements",
    Sessions "statements of sessions beyond the limit on sessions",
    Shapes "statements beyond the limit on different statements",
    Kinds "transactions beyond the limit on different transactions",
    Nothing "transactions without a statement",
}

/// Counts by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skipped([u64; Reason::ALL.len()]);

impl Skipped {
    /// Counts one.
    pub fn add(&mut self, reason: Reason) {
        self.more(reason, 1);
    }

    /// Counts several.
    pub fn more(&mut self, reason: Reason, count: u64) {
        self.0[reason as usize] += count;
    }

    /// The count of a reason.
    #[must_use]
    pub fn count(&self, reason: Reason) -> u64 {
        self.0[reason as usize]
    }

    /// The reasons that occurred, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (Reason, u64)> + '_ {
        let all = Reason::ALL.into_iter().map(|reason| (reason, self.count(reason)));
        all.filter(|(_, count)| *count > 0)
    }

    /// One line per reason, each after `indent`.
    #[must_use]
    pub fn lines(&self, indent: &str) -> String {
        let mut text = String::new();
        for (reason, count) in self.iter() {
            let _ = writeln!(text, "{indent}{}: {count}", reason.text());
        }
        text
    }
}
