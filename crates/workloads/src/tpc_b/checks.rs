//! The conditions that `check` verifies. Those that always hold do so after any mix of pgbench's
//! built-in scripts, although pgbench empties the history when it starts. Σ abalance is also
//! changed by simple-update alone, so there is no static condition for it. Conditions on the
//! population are skipped if the history shows that pgbench has run, which our build record does
//! not show.

use triphammer_core::workload::CheckWhen::{Always, Once, Untouched, Whole};
use triphammer_core::workload::{CheckDef, check};

/// All checks of the workload.
pub static CHECKS: &[CheckDef] = &[
    check("branches", "check.branches", "branches 1 to scale all exist", Always),
    check(
        "tellers",
        "check.tellers",
        "each branch has its 10 tellers, with consecutive numbers",
        Always,
    ),
    check(
        "accounts",
        "check.accounts",
        "each branch has its 100,000 accounts, with consecutive numbers",
        Always,
    ),
    check("beyond", "check.beyond", "no other branches, tellers or accounts", Whole),
    check("balances", "check.balances", "Σ tbalance = Σ bbalance", Once),
    check("p.branches", "check.p.branches", "branches: balance 0", Untouched),
    check("p.tellers", "check.p.tellers", "tellers: balance 0", Untouched),
    check("p.accounts", "check.p.accounts", "accounts: balance 0, filler of 84 spaces", Untouched),
];
