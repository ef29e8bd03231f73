//! Every workload's statement catalogue resolves in every dialect, and contains the statements that
//! the workload declares.

use std::collections::BTreeMap;
use std::path::Path;

use triphammer_core::sql::{Required, StatementCatalogue, StatementDef};
use triphammer_core::workload::{BuildEffect, Description, OptionDef};
use triphammer_dialects::catalogues;
use triphammer_workloads::all;
use triphammer_workloads::tpc_b::TpcB;
use triphammer_workloads::tproc_c::TprocC;
use triphammer_workloads::tproc_h::TprocH;

/// Dialects with stored procedures.
const WITH_PROCEDURES: [&str; 9] = [
    "db2",
    "mariadb",
    "mariadb-odbc",
    "mysql",
    "null",
    "oracle",
    "postgres",
    "postgres-odbc",
    "sqlserver",
];

#[test]
fn every_workload_resolves_in_every_dialect() {
    // A missing statement, an unknown parameter or variable, and an override that equals what it
    // overrides are errors of the catalogue.
    for workload in all() {
        for dialect in catalogues::dialects() {
            let procedures = WITH_PROCEDURES.contains(&dialect.as_str());
            let catalogue = catalogues::catalogue(&workload, &dialect, procedures).unwrap();
            assert_eq!(catalogue.dialect(), dialect);
            // Scripts of users bring no tables.
            let creates = catalogue.scripts("create").count() > 0;
            assert_eq!(creates, !workload.tables.is_empty(), "{}", workload.name);
        }
    }
    assert_eq!(
        catalogues::dialects(),
        [
            "base",
            "db2",
            "duckdb",
            "mariadb",
            "mariadb-odbc",
            "mysql",
            "null",
            "oracle",
            "postgres",
            "postgres-odbc",
            "sqlite",
            "sqlserver",
            "sqlserver-odbc",
            "trino"
        ]
    );
}

#[test]
fn an_unknown_dialect_is_answered_with_the_known_ones() {
    let error =
        catalogues::catalogue(&TprocC::describe(), "informix", false).unwrap_err().to_string();
    assert!(error.contains("unknown SQL dialect `informix`"), "{error}");
    assert!(
        error.contains(
            "base, db2, duckdb, mariadb, mariadb-odbc, mysql, null, oracle, postgres, postgres-odbc, \
             sqlite, sqlserver, sqlserver-odbc, trino"
        ),
        "{error}"
    );
}

#[test]
fn a_dialect_without_procedures_has_no_calls() {
    let error = catalogues::catalogue(&TprocC::describe(), "sqlite", true).unwrap_err().to_string();
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
        "after_drop",
        "drop_procedure",
        "build_record",
    ];
    for dialect in catalogues::dialects() {
        for script in
            catalogues::catalogue(&TprocC::describe(), &dialect, false).unwrap().all_scripts()
        {
            assert!(kinds.contains(&script.kind()), "{dialect}: {}", script.name);
        }
    }
}

#[test]
fn the_schema_has_the_declared_columns_in_their_order() {
    for workload in all() {
        columns_are_those_declared(&workload);
    }
}

fn columns_are_those_declared(workload: &Description) {
    let catalogue = catalogues::catalogue(workload, "postgres", true).unwrap();
    for table in &*workload.tables {
        let name = format!("create.{}", table.name);
        let script = catalogue.all_scripts().iter().find(|s| s.name == name).unwrap();
        let columns: Vec<_> = script
            .sql
            .lines()
            .filter(|line| line.starts_with("    "))
            .map(|line| line.split_whitespace().next().unwrap())
            .collect();
        let declared: Vec<_> = table.columns.iter().map(|column| &*column.name).collect();
        assert_eq!(columns, declared);
    }
}

#[test]
fn checks_have_statements_and_statements_of_checks_are_asked() {
    for workload in all() {
        checks_and_audits_are_asked(&workload);
    }
}

fn checks_and_audits_are_asked(workload: &Description) {
    let checks = workload.checks.iter().map(|check| &check.statement);
    let audits = workload.audits.iter().map(|audit| &audit.statement);
    let mut of_checks: Vec<_> = checks.chain(audits).collect();
    let mut declared: Vec<_> = workload
        .statements
        .iter()
        .map(|statement| &statement.name)
        .filter(|name| name.starts_with("check.") || name.starts_with("audit."))
        .collect();
    of_checks.sort_unstable();
    declared.sort_unstable();
    assert_eq!(of_checks, declared);
}

/// Drivers, results and other people's dialects rely on these names: changing one is a deliberate
/// change of contract.
#[test]
fn the_statements_are_those_that_are_pinned() {
    let names = |required: Required| {
        let of_kind = |s: &&StatementDef| s.required == required && !s.name.starts_with("check.");
        let build = catalogues::build_statements();
        let workload = TprocC::describe();
        let all = workload.statements.iter().chain(&build);
        let mut names: Vec<_> = all.filter(of_kind).map(|s| s.name.to_string()).collect();
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
            "hammerdb.delivery.block",
            "hammerdb.delivery.function",
            "hammerdb.delivery.native",
            "hammerdb.delivery.procedure",
            "hammerdb.delivery.rows",
            "hammerdb.delivery.variables",
            "hammerdb.new_order.block",
            "hammerdb.new_order.committed",
            "hammerdb.new_order.function",
            "hammerdb.new_order.native",
            "hammerdb.new_order.numbered",
            "hammerdb.new_order.procedure",
            "hammerdb.new_order.rows",
            "hammerdb.new_order.variables",
            "hammerdb.no_autocommit",
            "hammerdb.order_status.block",
            "hammerdb.order_status.function",
            "hammerdb.order_status.function_numeric",
            "hammerdb.order_status.native",
            "hammerdb.order_status.procedure",
            "hammerdb.order_status.rows",
            "hammerdb.order_status.variables",
            "hammerdb.patience",
            "hammerdb.payment.block",
            "hammerdb.payment.function",
            "hammerdb.payment.native",
            "hammerdb.payment.procedure",
            "hammerdb.payment.rows",
            "hammerdb.payment.variables",
            "hammerdb.routines",
            "hammerdb.set_customer",
            "hammerdb.stock_level.block",
            "hammerdb.stock_level.function",
            "hammerdb.stock_level.native",
            "hammerdb.stock_level.procedure",
            "hammerdb.stock_level.rows",
            "hammerdb.stock_level.variables"
        ]
    );
    assert_eq!(
        names(Required::Always),
        [
            "audit.new_order",
            "audit.w_ytd",
            "build_record.all",
            "build_record.delete_all",
            "build_record.insert",
            "build_record.others",
            "build_record.update",
            "build_record.workloads",
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
    for name in catalogues::dialects() {
        let dialect = catalogues::dialect(&name).unwrap();
        let Some(parent) = &dialect.parent else { continue };
        for (word, text) in &dialect.variables {
            let mut above = Some(parent.clone());
            while let Some(at) = above.map(|name| catalogues::dialect(&name).unwrap()) {
                let inherited = at.variables.get(word);
                assert_ne!(inherited, Some(text), "{name}: the word {word}");
                above = at.parent.filter(|_| inherited.is_none());
            }
        }
        for workload in all() {
            overrides_differ(&workload, &name, parent);
        }
    }
}

/// Even with the variables replaced, no block equals the parent's.
fn overrides_differ(workload: &Description, dialect: &str, parent: &str) {
    let text_of = |catalogue: &StatementCatalogue, name: &str| {
        let script = catalogue.all_scripts().iter().find(|s| s.name == name).map(|s| s.sql.clone());
        script.or_else(|| catalogue.statement(name).ok().map(|s| s.sql.clone()))
    };
    let own = catalogues::catalogue(workload, dialect, false).unwrap();
    let above = catalogues::catalogue(workload, parent, false).unwrap();
    let sql = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dialects/sql");
    let folder = sql.join(dialect).join(&*workload.name);
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
        let catalogue =
            catalogues::catalogue_with(&TprocC::describe(), "mariadb", true, &options).unwrap();
        let script = catalogue.scripts("create").find(|s| s.object() == "order_line").unwrap();
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
        ("postgres", "partitions", "2", "unknown option `partitions` for postgres"),
        ("mysql", "partitions", "0", "from 1 to 1024, got `0`"),
        ("mysql", "storage-engine", "MyISAM", "got `MyISAM`"),
    ] {
        let error =
            catalogues::catalogue_with(&TprocC::describe(), dialect, true, &options(name, value))
                .unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
}

#[test]
fn only_dialects_that_differ_have_overrides() {
    // Names of what SQLite and the null database override: a longer list needs a reason.
    let base = catalogues::catalogue(&TprocC::describe(), "base", false).unwrap();
    let sqlite = catalogues::catalogue(&TprocC::describe(), "sqlite", false).unwrap();
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

#[test]
fn layouts_belong_to_switches_and_change_what_is_created() {
    let workload = TprocH::describe();
    let none = BTreeMap::new();
    for dialect in catalogues::dialects() {
        for layout in catalogues::layouts(&dialect).unwrap() {
            let options = catalogues::all_options().iter().map(|(_, option)| option);
            let known: Vec<&OptionDef> = workload.options.iter().chain(options).collect();
            let find = |name: &str| known.iter().find(|option| *option.name == *name);
            let switch = find(&layout.switch).unwrap();
            assert_eq!(switch.effect, Some(BuildEffect::Layout), "{dialect}");
            assert!(layout.excludes.keys().all(|name| find(name).is_some()), "{dialect}");
            assert_eq!(layout.needs.is_some(), !layout.lacks.is_empty(), "{dialect}");
            let layouts = std::slice::from_ref(&layout);
            let of = |layouts| {
                catalogues::catalogue_of_build(&workload, &dialect, false, None, &none, layouts)
            };
            let (with, without) = (of(layouts).unwrap(), of(&[]).unwrap());
            let changes = with.all_scripts() != without.all_scripts();
            assert_eq!(changes, layout.rejected.is_none(), "{dialect} {}", layout.switch);
        }
    }
    let mut layouts = catalogues::layouts("mariadb").unwrap();
    layouts.retain(|layout| layout.switch == "columnar");
    let columnar =
        catalogues::catalogue_of_build(&workload, "mariadb", false, None, &none, &layouts).unwrap();
    assert!(columnar.scripts("create").all(|script| script.sql.contains("ENGINE = ColumnStore ")));
    let record = columnar.scripts("build_record").find(|script| script.object() == "create");
    assert!(record.unwrap().sql.contains("ENGINE = InnoDB "));
    assert_eq!(columnar.scripts("key").chain(columnar.scripts("index")).count(), 0);
}

/// The catalogue of TPROC-C or TPROC-H for SQL Server with one option or layout.
fn sqlserver_with(workload: &Description, option: &str, value: &str) -> StatementCatalogue {
    let given = BTreeMap::from([(option.to_owned(), value.to_owned())]);
    let options = catalogues::options("sqlserver").unwrap();
    let layout = options.into_iter().find(|of| of.name == option).unwrap().layout;
    catalogues::catalogue_of_build(workload, "sqlserver", true, None, &given, &[layout]).unwrap()
}

#[test]
fn build_options_of_sql_server_change_what_is_created() {
    let tproc_c = TprocC::describe();
    let texts = |catalogue: &StatementCatalogue, kind: &str| -> Vec<String> {
        catalogue.scripts(kind).map(|script| script.sql.clone()).collect()
    };
    let memory = sqlserver_with(&tproc_c, "memory-optimized", "on");
    let created = texts(&memory, "create");
    assert_eq!(created.len(), 9);
    for sql in &created {
        assert_eq!(sql.matches("PRIMARY KEY NONCLUSTERED").count(), 1, "{sql}");
        assert!(sql.trim_end().ends_with("DURABILITY = SCHEMA_AND_DATA);"), "{sql}");
    }
    assert!(memory.ends_transactions());
    let indexes = created.iter().flat_map(|sql| sql.match_indices("INDEX "));
    assert_eq!(indexes.count(), 2);
    let later = ["key", "history_key", "index"].map(|kind| texts(&memory, kind).len());
    assert_eq!(later, [0; 3]);
    let procedures = texts(&memory, "procedure").concat();
    assert!(!procedures.contains("UPDLOCK"), "memory-optimized tables take no hints about locks");

    let usual = catalogues::catalogue(&tproc_c, "sqlserver", true).unwrap();
    assert!(!usual.ends_transactions());
    assert!(texts(&usual, "procedure").concat().contains("WITH (UPDLOCK)"));
    let delayed =
        texts(&sqlserver_with(&tproc_c, "delayed-durability", "on"), "procedure").concat();
    let commits = delayed.matches("COMMIT TRANSACTION WITH (DELAYED_DURABILITY = ON);").count();
    assert_eq!((commits, delayed.matches("COMMIT TRANSACTION").count()), (3, 3));
    for sql in texts(&sqlserver_with(&tproc_c, "compression", "page"), "create") {
        assert!(sql.trim_end().ends_with(") WITH (DATA_COMPRESSION = page);"), "{sql}");
    }
    let wrong = BTreeMap::from([("memory-optimized".to_owned(), "on".to_owned())]);
    let error = catalogues::catalogue_with(&TpcB::describe(), "sqlserver", true, &wrong);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("--memory-optimized is an option of tproc-c, not of tpc-b"), "{error}");

    let layouts = catalogues::layouts("sqlserver").unwrap();
    let none = BTreeMap::new();
    let tproc_h = TprocH::describe();
    let by_column =
        catalogues::catalogue_of_build(&tproc_h, "sqlserver", false, None, &none, &layouts)
            .unwrap();
    assert!(texts(&by_column, "create").iter().all(|sql| sql.contains("CLUSTERED COLUMNSTORE\n)")));
    assert_eq!((texts(&by_column, "key").len(), texts(&by_column, "index").len()), (8, 0));
}
