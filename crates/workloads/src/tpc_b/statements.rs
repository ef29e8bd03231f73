//! The statements that every dialect's catalogue must have. Their SQL is in `sql/base/tpc-b/`.

use triphammer_core::sql::{Param, StatementDef, param, statement};
use triphammer_core::value::ColumnType::{BigInt, Int, Timestamp};

const AID: Param = param("aid", Int);
const BID: Param = param("bid", Int);
const TID: Param = param("tid", Int);
const DELTA: Param = param("delta", Int);

/// Statement that returns the number of branches of tables that another program made.
pub const SCALE: &str = "foreign.scale";

/// Parameters of a check: a range of branches.
const RANGE: &[Param] = &[param("first", BigInt), param("last", BigInt)];

fn check(name: &'static str) -> StatementDef {
    statement(name, RANGE)
}

/// Declares all statements of the workload.
pub fn statements() -> Vec<StatementDef> {
    vec![
        statement("account.update", &[DELTA, AID]),
        statement("account.balance", &[AID]),
        statement("teller.update", &[DELTA, TID]),
        statement("branch.update", &[DELTA, BID]),
        statement("history.insert", &[TID, BID, AID, DELTA, param("mtime", Timestamp)]),
        statement("count.history", &[]),
        statement(SCALE, &[]),
        statement("audit.abalance", &[]),
        statement("audit.history", &[]),
        statement("audit.tbalance", &[]),
        statement("audit.bbalance", &[]),
        check("check.branches"),
        check("check.tellers"),
        check("check.accounts"),
        check("check.beyond"),
        check("check.balances"),
        check("check.p.branches"),
        check("check.p.tellers"),
        check("check.p.accounts"),
    ]
}
