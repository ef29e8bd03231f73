//! Checks hold on a fresh build, and each finds what is planted for it.

use triphammer_core::session::{Access, Session};
use triphammer_workloads::tproc_c::TprocC;

use super::site::{Site, violation, violations};

/// (check that must find it, key it must report, what is planted). Other checks may find it too.
const PLANTED: &[(&str, &str, &str)] = &[
    ("3.3.2.1", "w_id=2", "UPDATE warehouse SET w_ytd = w_ytd + 0.01 WHERE w_id = 2"),
    ("3.3.2.1", "w_id=1", "DELETE FROM warehouse WHERE w_id = 1"),
    (
        "3.3.2.2",
        "w_id=1 d_id=10",
        "UPDATE district SET d_next_o_id = 3000 WHERE d_w_id = 1 AND d_id = 10",
    ),
    (
        "3.3.2.2",
        "w_id=1 d_id=9",
        "DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id >= 9 AND no_o_id = 3000",
    ),
    (
        "3.3.2.2",
        "w_id=2 d_id=3",
        "DELETE FROM orders WHERE o_w_id = 2 AND o_d_id = 3 AND o_id = 3000",
    ),
    ("3.3.2.2", "w_id=2 d_id=3", "DELETE FROM district WHERE d_w_id = 2 AND d_id = 3"),
    (
        "3.3.2.3",
        "w_id=1 d_id=2",
        "DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 2 AND no_o_id = 2500",
    ),
    (
        "3.3.2.4",
        "w_id=2 d_id=4",
        "UPDATE orders SET o_ol_cnt = o_ol_cnt + 1 WHERE o_w_id = 2 AND o_d_id = 4 AND o_id = 7",
    ),
    (
        "3.3.2.5",
        "w_id=1 d_id=5 o_id=2300",
        "UPDATE orders SET o_carrier_id = 3 WHERE o_w_id = 1 AND o_d_id = 5 AND o_id = 2300",
    ),
    (
        "3.3.2.5",
        "w_id=1 d_id=5 o_id=9",
        "UPDATE orders SET o_carrier_id = NULL WHERE o_w_id = 1 AND o_d_id = 5 AND o_id IN (9, 10)",
    ),
    (
        "3.3.2.5",
        "w_id=2 d_id=1 o_id=4000",
        "INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (4000, 1, 2)",
    ),
    (
        "3.3.2.6",
        "w_id=1 d_id=6 o_id=77",
        "DELETE FROM order_line WHERE ol_w_id = 1 AND ol_d_id = 6 AND ol_o_id = 77 AND ol_number = 1",
    ),
    (
        "3.3.2.6",
        "w_id=1 d_id=6 o_id=78",
        "DELETE FROM orders WHERE o_w_id = 1 AND o_d_id = 6 AND o_id = 78",
    ),
    (
        "3.3.2.7",
        "w_id=2 d_id=7 o_id=20 number=2",
        "UPDATE order_line SET ol_delivery_d = NULL WHERE ol_w_id = 2 AND ol_d_id = 7 AND ol_o_id = 20 AND ol_number IN (2, 3)",
    ),
    (
        "3.3.2.7",
        "w_id=2 d_id=7 o_id=2999 number=1",
        "UPDATE order_line SET ol_delivery_d = '2026-01-01 00:00:00' WHERE ol_w_id = 2 AND ol_d_id = 7 AND ol_o_id = 2999",
    ),
    (
        "3.3.2.8",
        "w_id=1",
        "UPDATE history SET h_amount = h_amount + 0.01 WHERE h_w_id = 1 AND h_d_id = 3 AND h_c_id = 5",
    ),
    (
        "3.3.2.9",
        "w_id=1 d_id=3",
        "UPDATE history SET h_amount = h_amount - 0.01 WHERE h_w_id = 1 AND h_d_id = 3 AND h_c_id = 5",
    ),
    (
        "3.3.2.9",
        "w_id=2 d_id=8",
        "UPDATE district SET d_ytd = d_ytd + 1 WHERE d_w_id = 2 AND d_id = 8",
    ),
    (
        "3.3.2.10",
        "w_id=1 d_id=1 c_id=17",
        "UPDATE customer SET c_balance = c_balance + 0.01, c_ytd_payment = c_ytd_payment - 0.01 WHERE c_w_id = 1 AND c_d_id = 1 AND c_id = 17",
    ),
    (
        "3.3.2.10",
        "w_id=1 d_id=3 c_id=5",
        "DELETE FROM history WHERE h_c_w_id = 1 AND h_c_d_id = 3 AND h_c_id = 5",
    ),
    (
        "3.3.2.11",
        "w_id=2 d_id=9",
        "UPDATE customer SET c_delivery_cnt = 1 WHERE c_w_id = 2 AND c_d_id = 9 AND c_id = 3",
    ),
    (
        "3.3.2.12",
        "w_id=1 d_id=1 c_id=18",
        "UPDATE customer SET c_ytd_payment = c_ytd_payment + 0.01 WHERE c_w_id = 1 AND c_d_id = 1 AND c_id = 18",
    ),
    ("13", "w_id=1 i_id=500", "UPDATE stock SET s_ytd = 3 WHERE s_w_id = 1 AND s_i_id = 500"),
    ("13", "w_id=1 i_id=501", "UPDATE stock SET s_order_cnt = 1 WHERE s_w_id = 1 AND s_i_id = 501"),
    (
        "13",
        "w_id=2 i_id=502",
        "UPDATE stock SET s_remote_cnt = 1 WHERE s_w_id = 2 AND s_i_id = 502",
    ),
    (
        "13",
        "w_id=2 i_id=503",
        "INSERT INTO order_line VALUES (3001, 1, 1, 1, 503, 2, NULL, 5, 1.00, 'x')",
    ),
    (
        "14",
        "w_id=2 d_id=2 c_id=30",
        "UPDATE customer SET c_payment_cnt = 2 WHERE c_w_id = 2 AND c_d_id = 2 AND c_id = 30",
    ),
    (
        "15",
        "w_id=2 d_id=2 c_id=31",
        "UPDATE customer SET c_delivery_cnt = 1 WHERE c_w_id = 2 AND c_d_id = 2 AND c_id = 31",
    ),
    (
        "16",
        "new_order w_id=2 d_id=1 o_id=4000",
        "INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (4000, 1, 2)",
    ),
    (
        "16",
        "order_line w_id=1 d_id=6 o_id=78",
        "DELETE FROM orders WHERE o_w_id = 1 AND o_d_id = 6 AND o_id = 78",
    ),
    (
        "16",
        "history w_id=1 d_id=6 c_id=79",
        "DELETE FROM customer WHERE c_w_id = 1 AND c_d_id = 6 AND c_id = 79",
    ),
    ("16", "history of w_id=2 d_id=3 c_id=1", "DELETE FROM district WHERE d_w_id = 2 AND d_id = 3"),
    ("17", "w_id=3", "UPDATE warehouse SET w_id = 3 WHERE w_id = 2"),
    ("17", "d_w_id=0", "UPDATE district SET d_w_id = 0 WHERE d_w_id = 1 AND d_id = 2"),
    (
        "17",
        "c_w_id=3",
        "UPDATE customer SET c_w_id = 3 WHERE c_w_id = 2 AND c_d_id = 2 AND c_id = 3",
    ),
    (
        "17",
        "h_w_id=-1",
        "UPDATE history SET h_w_id = -1 WHERE h_w_id = 1 AND h_d_id = 2 AND h_c_id = 3",
    ),
    (
        "17",
        "h_c_w_id=3",
        "UPDATE history SET h_c_w_id = 3 WHERE h_w_id = 1 AND h_d_id = 2 AND h_c_id = 3",
    ),
    ("17", "s_w_id=3", "UPDATE stock SET s_w_id = 3 WHERE s_w_id = 1 AND s_i_id = 7"),
    ("17", "o_w_id=0", "INSERT INTO orders VALUES (1, 1, 0, 1, '2026-01-01 00:00:00', NULL, 5, 1)"),
    ("17", "no_w_id=3", "INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (1, 1, 3)"),
    ("17", "ol_w_id=3", "INSERT INTO order_line VALUES (1, 1, 3, 1, 503, 2, NULL, 5, 1.00, 'x')"),
    (
        "17",
        "ol_supply_w_id=3",
        "INSERT INTO order_line VALUES (3001, 1, 1, 1, 503, 3, NULL, 5, 1.00, 'x')",
    ),
    ("p.item", "i_id=9", "UPDATE item SET i_im_id = 10001 WHERE i_id = 9"),
    ("p.item_rows", "rows=99999 original=10000", "DELETE FROM item WHERE i_id = 1"),
    (
        "p.item_rows",
        "rows=100000 original=9999",
        "UPDATE item SET i_data = replace(i_data, 'ORIGINAL', 'original') WHERE i_id = (SELECT first FROM (SELECT min(i_id) AS first FROM item WHERE replace(i_data, 'ORIGINAL', '') <> i_data) one)",
    ),
    ("p.warehouse", "w_id=2", "UPDATE warehouse SET w_zip = '123411112' WHERE w_id = 2"),
    ("p.warehouse", "w_id=2", "UPDATE warehouse SET w_zip = '123x11111' WHERE w_id = 2"),
    ("p.warehouse", "w_id=1", "UPDATE warehouse SET w_tax = 0.2001 WHERE w_id = 1"),
    ("p.warehouse_rows", "rows=1", "DELETE FROM warehouse WHERE w_id = 1"),
    (
        "p.district",
        "w_id=1 d_id=10",
        "UPDATE district SET d_state = 'X' WHERE d_w_id = 1 AND d_id = 10",
    ),
    ("p.district_rows", "w_id=2 districts=9", "DELETE FROM district WHERE d_w_id = 2 AND d_id = 3"),
    (
        "p.customer",
        "w_id=1 d_id=2 c_id=3",
        "UPDATE customer SET c_data = substr(c_data, 1, 299) WHERE c_w_id = 1 AND c_d_id = 2 AND c_id = 3",
    ),
    (
        "p.customer_name",
        "w_id=1 d_id=2 c_id=3",
        "UPDATE customer SET c_last = 'BARBARBAR' WHERE c_w_id = 1 AND c_d_id = 2 AND c_id = 3",
    ),
    (
        "p.customer_name",
        "w_id=1 d_id=2 c_id=2000",
        "UPDATE customer SET c_last = 'BARBARBART' WHERE c_w_id = 1 AND c_d_id = 2 AND c_id = 2000",
    ),
    (
        "p.customer_rows",
        "w_id=1 d_id=2",
        "UPDATE customer SET c_credit = 'GC' WHERE c_w_id = 1 AND c_d_id = 2 AND c_id = (SELECT first FROM (SELECT min(c_id) AS first FROM customer WHERE c_w_id = 1 AND c_d_id = 2 AND c_credit = 'BC') one)",
    ),
    (
        "p.history",
        "w_id=1 d_id=2 c_id=3",
        "UPDATE history SET h_data = 'short' WHERE h_w_id = 1 AND h_d_id = 2 AND h_c_id = 3",
    ),
    (
        "p.history_rows",
        "w_id=1 d_id=2",
        "DELETE FROM history WHERE h_w_id = 1 AND h_d_id = 2 AND h_c_id = 3",
    ),
    (
        "p.stock",
        "w_id=2 i_id=4",
        "UPDATE stock SET s_quantity = 101 WHERE s_w_id = 2 AND s_i_id = 4",
    ),
    (
        "p.stock",
        "w_id=2 i_id=4",
        "UPDATE stock SET s_dist_07 = 'short' WHERE s_w_id = 2 AND s_i_id = 4",
    ),
    (
        "p.stock_rows",
        "w_id=2",
        "UPDATE stock SET s_data = 'xxxxxxxxxxxxxxxxxxORIGINALxxx' WHERE s_w_id = 2 AND s_i_id = (SELECT first FROM (SELECT min(s_i_id) AS first FROM stock WHERE s_w_id = 2 AND replace(s_data, 'ORIGINAL', '') = s_data) one)",
    ),
    (
        "p.orders",
        "w_id=2 d_id=1 o_id=5",
        "UPDATE orders SET o_carrier_id = 11 WHERE o_w_id = 2 AND o_d_id = 1 AND o_id = 5",
    ),
    (
        "p.orders_rows",
        "w_id=2 d_id=1",
        "UPDATE orders SET o_c_id = (SELECT other FROM (SELECT o_c_id AS other FROM orders WHERE o_w_id = 2 AND o_d_id = 1 AND o_id = 6) one) WHERE o_w_id = 2 AND o_d_id = 1 AND o_id = 5",
    ),
    (
        "p.order_line",
        "w_id=2 d_id=1 o_id=5 number=1",
        "UPDATE order_line SET ol_amount = 0.01 WHERE ol_w_id = 2 AND ol_d_id = 1 AND ol_o_id = 5 AND ol_number = 1",
    ),
    (
        "p.order_line_rows",
        "w_id=2 d_id=1 o_id=5",
        "UPDATE order_line SET ol_number = 99 WHERE ol_w_id = 2 AND ol_d_id = 1 AND ol_o_id = 5 AND ol_number = 1",
    ),
    (
        "p.new_order",
        "w_id=2 d_id=1 o_id=2000",
        "UPDATE new_order SET no_o_id = 2000 WHERE no_w_id = 2 AND no_d_id = 1 AND no_o_id = 2101",
    ),
    (
        "p.new_order_rows",
        "w_id=2 d_id=1",
        "DELETE FROM new_order WHERE no_w_id = 2 AND no_d_id = 1 AND no_o_id = 2101",
    ),
];

#[test]
fn something_is_planted_for_every_check() {
    for check in &TprocC::describe().checks {
        assert!(PLANTED.iter().any(|(id, ..)| *id == check.id), "{}", check.id);
    }
}

#[tokio::test]
async fn postgres_checks_hold_on_a_fresh_build_and_find_what_is_planted() {
    find_what_is_planted(&Site::postgres()).await;
}

#[tokio::test]
#[ignore = "slow: tools/test-matrix.py slow"]
async fn duckdb_checks_hold_on_a_fresh_build_and_find_what_is_planted() {
    find_what_is_planted(&Site::duckdb()).await;
}

#[tokio::test]
async fn sqlite_checks_hold_on_a_fresh_build_and_find_what_is_planted() {
    find_what_is_planted(&Site::sqlite()).await;
}

#[tokio::test]
#[ignore = "slow: tools/test-matrix.py slow"]
async fn mariadb_checks_hold_on_a_fresh_build_and_find_what_is_planted() {
    find_what_is_planted(&Site::mariadb()).await;
}

async fn find_what_is_planted(site: &Site) {
    let mut session = site.session().await;
    assert_eq!(violations(site, &mut session, true).await, []);
    let workload = TprocC::describe();
    for (id, key, sql) in PLANTED {
        let check = workload.checks.iter().find(|check| check.id == *id).unwrap();
        session.begin(Access::Write).await.unwrap();
        session.script(sql).await.unwrap();
        let found = violation(site, &mut session, check).await;
        session.rollback().await.unwrap();
        assert_eq!(found.map(|(_, key)| key).as_deref(), Some(*key), "{id}: {sql}");
    }
}
