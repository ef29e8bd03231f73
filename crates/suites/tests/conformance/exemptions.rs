//! Which driver is exempt from which cases. A change to a driver's list must change this one too,
//! with the reason.

use triphammer_core::session::Database;
use triphammer_drivers::{ConnectSettings, SCHEMES};

use crate::CASES;
use crate::bed::open;

const EXPECTED: [(&str, &[&str]); 7] = [
    ("postgres://h/d", &[]),
    ("mariadb://h/d", &[]),
    ("sqlserver://u@localhost/d", &["read_only_access", "cancel"]),
    (
        "sqlite:a.db",
        &[
            "wrong_password",
            "password_with_quotes_and_unicode",
            "unknown_host",
            "server_that_never_answers",
            "server_killed",
            "procedure_with_results",
            "columns_that_change_within_a_transaction",
            "read_only_access",
            "write_skew",
            "deadlock",
        ],
    ),
    (
        "duckdb:a.duckdb",
        &[
            "wrong_password",
            "password_with_quotes_and_unicode",
            "unknown_host",
            "server_that_never_answers",
            "server_killed",
            "procedure_with_results",
            "write_skew",
            "lock_timeout",
            "deadlock",
        ],
    ),
    (
        "trino://h/c/s",
        &[
            "password_with_quotes_and_unicode",
            "types_through_arguments",
            "execute_gives_the_row_count",
            "failed_statement",
            "unique_violation",
            "call_commits_by_itself",
            "procedure_with_results",
            "columns_that_change_between_transactions",
            "columns_that_change_within_a_transaction",
            "transactions",
            "last_statement_commits",
            "last_statement_that_fails",
            "abandoned_transaction",
            "read_only_access",
            "snapshot",
            "write_skew",
            "lock_timeout",
            "deadlock",
            "load_that_fails_midway",
            "load_with_a_value_that_does_not_fit",
        ],
    ),
    (
        "null:",
        &[
            "wrong_password",
            "password_with_quotes_and_unicode",
            "unknown_host",
            "server_that_never_answers",
            "missing_database",
            "server_killed",
            "types_through_arguments",
            "types_through_load",
            "lists_as_arguments",
            "integer_that_does_not_fit",
            "execute_gives_the_row_count",
            "columns_have_names",
            "failed_statement",
            "unique_violation",
            "script_of_several_statements",
            "call_commits_by_itself",
            "procedure_with_results",
            "tables",
            "columns_that_change_between_transactions",
            "columns_that_change_within_a_transaction",
            "transactions",
            "last_statement_commits",
            "last_statement_that_fails",
            "abandoned_transaction",
            "read_only_access",
            "snapshot",
            "shared_snapshot",
            "write_skew",
            "lock_timeout",
            "deadlock",
            "bulk_load",
            "load_that_fails_midway",
            "load_with_a_value_that_does_not_fit",
        ],
    ),
];

/// Of the ODBC driver what each dialect declares.
const ODBC: [(&str, &[&str]); 4] = [
    (
        "odbc:Driver={FreeTDS}",
        &[
            "password_with_quotes_and_unicode",
            "failed_statement",
            "columns_that_change_between_transactions",
            "columns_that_change_within_a_transaction",
            "read_only_access",
            "cancel",
        ],
    ),
    ("odbc:Driver={PostgreSQL Unicode}", &[]),
    ("odbc:Driver={MariaDB Unicode}", &[]),
    (
        "odbc:Driver={SQLite3};Database=a.db",
        &[
            "wrong_password",
            "password_with_quotes_and_unicode",
            "unknown_host",
            "server_that_never_answers",
            "server_killed",
            "procedure_with_results",
            "columns_that_change_between_transactions",
            "columns_that_change_within_a_transaction",
            "read_only_access",
            "write_skew",
            "deadlock",
        ],
    ),
];

#[test]
fn drivers_are_let_off_these_cases_and_no_others() {
    let odbc = ODBC.iter().copied();
    assert_eq!(EXPECTED.len() + 1, SCHEMES.len(), "every driver is listed");
    for (target, expected) in EXPECTED.into_iter().chain(odbc) {
        let database = open(target, &ConnectSettings::default());
        let exempt = database.capabilities().exempt;
        let mut names: Vec<_> = exempt.iter().map(|(name, _)| *name).collect();
        let mut expected = expected.to_vec();
        names.sort_unstable();
        expected.sort_unstable();
        assert_eq!(names, expected, "{target}");
        for (name, reason) in exempt {
            assert!(CASES.contains(name), "{target}: no case is called {name}");
            assert!(reason.len() > 8, "{target}, {name}: `{reason}` is no reason");
        }
    }
}
