//! Every workload's SQL book resolves in every dialect, and holds what the workload declares.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do: with a panic")]

use std::path::Path;

use triphammer_core::sql::{Required, SqlBook, StatementDef};
use triphammer_core::workload::Workload;
use triphammer_workloads::tproc_c::TprocC;
use triphammer_workloads::{books, names, with_workload};

/// Dialects with stored procedures.
const WITH_PROCEDURES: [&str; 4] = ["mariadb", "mysql", "null", "postgres"];

#[test]
fn every_workload_resolves_in_every_dialect() {
    // A missing statement, an unknown parameter or word, and an override that equals what it
    // overrides are errors of the book.
    for name in names() {
        for dialect in books::dialects() {
            let procedures = WITH_PROCEDURES.contains(&dialect.as_str());
            let book = with_workload!(*name, W => books::book::<W>(&dialect, procedures).unwrap());
            let book = book.unwrap();
            assert_eq!(book.dialect(), dialect);
            assert!(book.scripts("create").count() > 0);
        }
    }
    assert_eq!(books::dialects(), ["base", "mariadb", "mysql", "null", "postgres", "sqlite"]);
}

#[test]
fn an_unknown_dialect_is_answered_with_the_known_ones() {
    let error = books::book::<TprocC>("oracle", false).unwrap_err().to_string();
    assert!(error.contains("no SQL dialect is called `oracle`"), "{error}");
    assert!(error.contains("base, mariadb, mysql, null, postgres, sqlite"), "{error}");
}

#[test]
fn a_dialect_without_procedures_has_no_calls() {
    let error = books::book::<TprocC>("sqlite", true).unwrap_err().to_string();
    assert!(error.contains("has no statement `new_order.call`"), "{error}");
}

#[test]
fn every_script_is_of_a_kind_that_a_build_knows() {
    let kinds = [
        "create",
        "key",
        "history_key",
        "index",
        "foreign_key",
        "procedure",
        "analyze",
        "drop_procedure",
        "build_record",
    ];
    for dialect in books::dialects() {
        for script in books::book::<TprocC>(&dialect, false).unwrap().all_scripts() {
            assert!(kinds.contains(&script.kind()), "{dialect}: {}", script.name);
        }
    }
}

#[test]
fn the_schema_has_the_declared_columns_in_their_order() {
    for name in names() {
        with_workload!(*name, W => columns_are_those_declared::<W>()).unwrap();
    }
}

fn columns_are_those_declared<W: Workload>() {
    let book = books::book::<W>("postgres", true).unwrap();
    for table in W::tables() {
        let name = format!("create.{}", table.name);
        let script = book.all_scripts().iter().find(|s| s.name == name).unwrap();
        let columns: Vec<_> = script
            .sql
            .lines()
            .filter(|line| line.starts_with("    "))
            .map(|line| line.split_whitespace().next().unwrap())
            .collect();
        let declared: Vec<_> = table.columns.iter().map(|column| column.name).collect();
        assert_eq!(columns, declared);
    }
}

#[test]
fn checks_have_statements_and_statements_of_checks_are_asked() {
    for name in names() {
        with_workload!(*name, W => checks_and_audits_are_asked::<W>()).unwrap();
    }
}

fn checks_and_audits_are_asked<W: Workload>() {
    let checks = W::checks().iter().map(|check| check.statement);
    let audits = W::audits().iter().map(|audit| audit.statement);
    let mut of_checks: Vec<_> = checks.chain(audits).collect();
    let mut declared: Vec<_> = W::statements()
        .iter()
        .map(|statement| statement.name)
        .filter(|name| name.starts_with("check.") || name.starts_with("audit."))
        .collect();
    of_checks.sort_unstable();
    declared.sort_unstable();
    assert_eq!(of_checks, declared);
}

/// Drivers, results and other people's dialects go by these names: changing one is a change of
/// contract, to be made on purpose.
#[test]
fn the_statements_are_those_that_are_pinned() {
    let names = |required: Required| {
        let of_kind = |s: &&StatementDef| s.required == required && !s.name.starts_with("check.");
        let all = TprocC::statements().iter().chain(books::BUILD_STATEMENTS);
        let mut names: Vec<_> = all.filter(of_kind).map(|s| s.name).collect();
        names.sort_unstable();
        names
    };
    assert_eq!(
        names(Required::WithProcedures),
        [
            "delivery.call",
            "new_order.call",
            "order_status.call",
            "payment.call",
            "stock_level.call"
        ]
    );
    assert_eq!(
        names(Required::Optional),
        [
            "fingerprint.objects",
            "fingerprint.statistics",
            "foreign.scale",
            "hammerdb.delivery.function",
            "hammerdb.delivery.procedure",
            "hammerdb.kind",
            "hammerdb.new_order.committed",
            "hammerdb.new_order.function",
            "hammerdb.new_order.procedure",
            "hammerdb.order_status.function",
            "hammerdb.order_status.procedure",
            "hammerdb.payment.function",
            "hammerdb.payment.procedure",
            "hammerdb.stock_level.function",
            "hammerdb.stock_level.procedure"
        ]
    );
    assert_eq!(
        names(Required::Always),
        [
            "build_record.all",
            "build_record.delete_all",
            "build_record.insert",
            "build_record.others",
            "build_record.update",
            "count.new_orders",
            "customer.by_last_name",
            "delivery.amount",
            "delivery.delete_new_order",
            "delivery.oldest",
            "delivery.order",
            "delivery.update_customer",
            "delivery.update_lines",
            "delivery.update_order",
            "new_order.advance_district",
            "new_order.customer",
            "new_order.district",
            "new_order.insert_line",
            "new_order.insert_new_order",
            "new_order.insert_order",
            "new_order.item",
            "new_order.stock",
            "new_order.update_stock",
            "order_status.customer",
            "order_status.lines",
            "order_status.order",
            "payment.customer",
            "payment.district",
            "payment.insert_history",
            "payment.update_customer",
            "payment.update_customer_data",
            "payment.update_district",
            "payment.update_warehouse",
            "payment.warehouse",
            "stock_level.count",
            "stock_level.district",
        ]
    );
}

#[test]
fn dialects_hold_only_what_differs_from_their_parents() {
    for name in books::dialects() {
        let dialect = books::dialect(&name).unwrap();
        let Some(parent) = &dialect.parent else { continue };
        for (word, text) in &dialect.words {
            let mut above = Some(parent.clone());
            while let Some(at) = above.map(|name| books::dialect(&name).unwrap()) {
                let inherited = at.words.get(word);
                assert_ne!(inherited, Some(text), "{name}: the word {word}");
                above = at.parent.filter(|_| inherited.is_none());
            }
        }
        for workload in names() {
            with_workload!(*workload, W => overrides_differ::<W>(&name, parent)).unwrap();
        }
    }
}

/// With the words replaced, too, no block says what the parent's says.
fn overrides_differ<W: Workload>(dialect: &str, parent: &str) {
    let text_of = |book: &SqlBook, name: &str| {
        let script = book.all_scripts().iter().find(|s| s.name == name).map(|s| s.sql.clone());
        script.or_else(|| book.statement(name).ok().map(|s| s.sql.clone()))
    };
    let own = books::book::<W>(dialect, false).unwrap();
    let above = books::book::<W>(parent, false).unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("sql").join(dialect).join(W::NAME);
    for file in folder.read_dir().into_iter().flatten() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        for name in text.lines().filter_map(|line| line.strip_prefix("-- name: ")) {
            assert_ne!(text_of(&own, name), text_of(&above, name), "{dialect}: {name}");
        }
    }
}

#[test]
fn options_of_a_dialect_change_its_scripts_and_no_others() {
    let options = |name: &str, value: &str| [(name.to_owned(), value.to_owned())].into();
    let create = |options| {
        let book = books::book_with::<TprocC>("mariadb", true, &options).unwrap();
        let script = book.scripts("create").find(|s| s.object() == "order_line").unwrap();
        script.sql.trim_end().lines().last().unwrap().to_owned()
    };
    let plain = ") ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin";
    assert_eq!(create(options("partitions", "1")), format!("{plain};"));
    assert_eq!(
        create(options("partitions", "8")),
        format!("{plain} PARTITION BY HASH (ol_w_id) PARTITIONS 8;")
    );
    assert!(create(options("storage-engine", "rocksdb")).contains("ENGINE = RocksDB"));
    for (dialect, name, value, message) in [
        ("postgres", "partitions", "2", "postgres has no option `partitions`"),
        ("mysql", "partitions", "0", "from 1 to 1024, not `0`"),
        ("mysql", "storage-engine", "MyISAM", "not `MyISAM`"),
    ] {
        let error = books::book_with::<TprocC>(dialect, true, &options(name, value)).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
}

#[test]
fn only_dialects_that_differ_have_overrides() {
    // What SQLite and the null database spell differently, by name: a longer list needs a reason.
    let base = books::book::<TprocC>("base", false).unwrap();
    let sqlite = books::book::<TprocC>("sqlite", false).unwrap();
    let differing: Vec<_> = sqlite
        .all_scripts()
        .iter()
        .filter(|script| {
            base.all_scripts().iter().all(|b| b.name != script.name || b.sql != script.sql)
        })
        .map(|script| script.name.as_str())
        .collect();
    assert!(
        differing.iter().all(|name| name.starts_with("key.") || *name == "history_key.history"),
        "{differing:?}"
    );
}
