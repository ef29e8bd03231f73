//! The conditions that `check` verifies: counts and keys of clause 4.2, and what the columns of rows that belong
//! together say of each other. They take thousandths of the scale factor, of which each has the same number of rows.

use triphammer_core::workload::CheckWhen::{Always, Once, Whole};
use triphammer_core::workload::{CheckDef, check};

/// All checks.
pub static CHECKS: &[CheckDef] = &[
    check("fixed", "check.fixed", "5 regions and 25 nations", Once),
    check("suppliers", "check.suppliers", "10,000 suppliers per SF, numbered from 1", Always),
    check("parts", "check.parts", "200,000 parts per SF, numbered from 1", Always),
    check("partsupps", "check.partsupps", "4 suppliers per part", Always),
    check("customers", "check.customers", "150,000 customers per SF, numbered from 1", Always),
    check("orders", "check.orders", "1,500,000 orders per SF, 8 of each 32 keys", Always),
    check("lines", "check.lines", "1 to 7 lines per order, numbered from 1", Always),
    check("totals", "check.totals", "price, status and date of an order fit its lines", Always),
    check("prices", "check.prices", "price of a line = quantity × price of the part", Always),
    check("references", "check.references", "every row that another one refers to exists", Always),
    check(
        "refresh",
        "check.refresh",
        "no orders of refresh sets, which an interrupted run leaves and the next run with the same test and streams \
         deletes",
        Whole,
    ),
    check("beyond", "check.beyond", "no other row", Whole),
];
