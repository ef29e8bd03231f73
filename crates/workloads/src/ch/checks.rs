//! The conditions on what CH-benCHmark adds; those of TPROC-C hold too.

use triphammer_core::workload::CheckWhen::{Always, Once};
use triphammer_core::workload::{CheckDef, check};

/// The added checks. Runs do not change the added tables, so that all hold at any time.
pub static CHECKS: [CheckDef; 7] = [
    check("ch.region", "check.ch.region", "region: 5 rows with keys from 1", Once),
    check(
        "ch.nation",
        "check.ch.nation",
        "nation: 62 rows, one per letter and digit of either case",
        Once,
    ),
    check("ch.supplier", "check.ch.supplier", "supplier: 10,000 rows with keys from 0", Once),
    check("ch.nation_region", "check.ch.nation_region", "every nation has its region", Once),
    check("ch.supplier_nation", "check.ch.supplier_nation", "every supplier has its nation", Once),
    check(
        "ch.stock_supplier",
        "check.ch.stock_supplier",
        "every stock row has the supplier s_w_id × s_i_id modulo 10,000",
        Always,
    ),
    check(
        "ch.customer_nation",
        "check.ch.customer_nation",
        "every customer has the nation of the first character of c_state",
        Always,
    ),
];
