//! Guarantees of every driver. A case is written once, against the traits, and runs for every
//! driver through [`triphammer_drivers::AnyDatabase`], as the program does. A driver is exempt from
//! a case only through its capabilities, with a reason; `exemptions` pins the exempt drivers.
//!
//! To add a driver, add a function in `bed.rs` that gives it an empty database, its SQL there, and
//! its name in the list below.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends")]

mod bed;
mod connecting;
mod exemptions;
mod loading;
mod locking;
mod statements;
mod threaded;
mod transactions;
mod values;

/// Generates a module of tests for each driver, and the list of cases. Drivers whose servers are
/// elsewhere than in the suite are ignored, with what runs them.
macro_rules! conformance {
    ([$($driver:ident)*] elsewhere [$($other:ident = $why:literal)*] $cases:tt) => {
        $(conformance!(@driver $driver [] $cases);)*
        $(conformance!(@driver $other [#[ignore = $why]] $cases);)*
        conformance!(@list $cases);
    };
    (@driver $driver:ident $marks:tt { $($group:ident: $($case:ident)*;)* }) => {
        mod $driver {
            $($(conformance!(@case $driver $marks $group $case);)*)*
        }
    };
    (@case $driver:ident [$($mark:tt)*] $group:ident $case:ident) => {
        #[test]
        $($mark)*
        fn $case() {
            crate::bed::run(crate::bed::$driver, stringify!($case), crate::$group::$case);
        }
    };
    (@list { $($group:ident: $($case:ident)*;)* }) => {
        /// Names of all cases.
        const CASES: &[&str] = &[$($(stringify!($case)),*),*];
    };
}

conformance! {
    [
        duckdb mariadb null odbc_freetds odbc_mariadb odbc_postgres odbc_sqlite postgres
        postgres_pipelined sqlite sqlserver
    ]
    elsewhere [
        trino = "needs a Trino server: tools/test-matrix.py trino476"
    ]
    {
        connecting:
            connect
            server_and_settings
            wrong_password
            password_with_quotes_and_unicode
            unknown_host
            server_that_never_answers
            missing_database
            server_killed;
        values:
            types_through_arguments
            types_through_load
            lists_as_arguments
            integer_that_does_not_fit;
        statements:
            statements_reused_and_interleaved
            execute_gives_the_row_count
            columns_have_names
            a_ping_leaves_no_trace
            failed_statement
            columns_that_change_between_transactions
            columns_that_change_within_a_transaction
            unique_violation
            script_of_several_statements
            call_commits_by_itself
            procedure_with_results
            tables
            large_results_are_streamed
            cancel;
        transactions:
            transactions
            last_statement_commits
            last_statement_that_fails
            abandoned_transaction
            read_only_access
            snapshot
            shared_snapshot
            write_skew;
        locking:
            lock_timeout
            deadlock
            claims;
        loading:
            bulk_load
            load_that_fails_midway
            load_with_a_value_that_does_not_fit;
    }
}
