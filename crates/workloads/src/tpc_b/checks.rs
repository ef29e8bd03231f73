//! The conditions that `check` verifies. Those that always hold are true whatever pgbench's built-in
//! scripts did, in whatever mix, and though it empties the history when it starts: Σ abalance is moved by
//! simple-update alone too, so it has no static partner. Those of the population ask nothing where the
//! history says that pgbench has run, which our record of the build does not.

use triphammer_core::workload::CheckWhen::{Always, Once, Untouched, Whole};
use triphammer_core::workload::{CheckDef, check};

/// All checks.
pub static CHECKS: &[CheckDef] = &[
    check("branches", "check.branches", "branches 1 to scale, each is there", Always),
    check(
        "tellers",
        "check.tellers",
        "10 tellers a branch, numbered through, of that branch",
        Always,
    ),
    check(
        "accounts",
        "check.accounts",
        "100,000 accounts a branch, numbered through, of that branch",
        Always,
    ),
    check("beyond", "check.beyond", "no branch, teller or account beside these", Whole),
    check("balances", "check.balances", "Σ tbalance = Σ bbalance", Once),
    check("p.branches", "check.p.branches", "branches: balance 0", Untouched),
    check("p.tellers", "check.p.tellers", "tellers: balance 0", Untouched),
    check("p.accounts", "check.p.accounts", "accounts: balance 0, filler of 84 blanks", Untouched),
];
