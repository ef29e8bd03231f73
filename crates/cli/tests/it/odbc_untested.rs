//! The dialects of databases that cannot be had here, Oracle and Db2: the sequence of what builds and runs send, to
//! a driver that records it. Whether the databases accept it is not tested.

use triphammer_testbed::OdbcDriver;

use crate::program::Program;

const ORACLE: Product = Product {
    name: "Oracle",
    title: "Oracle",
    tables: "FROM all_tables",
    lock: "FOR UPDATE",
    call: "{call triphammer.",
    first_of_sessions: "direct ALTER SESSION SET NLS_NUMERIC_CHARACTERS = '.,'",
    procedures: &[
        "CREATE OR REPLACE PACKAGE triphammer",
        "CREATE OR REPLACE PACKAGE BODY triphammer",
    ],
    analyze: "BEGIN dbms_stats.gather_table_stats(sys_context('USERENV', 'CURRENT_SCHEMA'), \
              upper(trim(' pgbench_accounts'))); END;",
};
const DB2: Product = Product {
    name: "DB2/LINUXX8664",
    title: "Db2",
    tables: "FROM syscat.tables",
    lock: "WITH RS USE AND KEEP UPDATE LOCKS",
    call: "{call triphammer_",
    first_of_sessions: "",
    procedures: &[
        "CREATE OR REPLACE FUNCTION triphammer_nth",
        "CREATE OR REPLACE PROCEDURE triphammer_new_order",
        "CREATE OR REPLACE PROCEDURE triphammer_payment",
        "CREATE OR REPLACE PROCEDURE triphammer_order_status",
        "CREATE OR REPLACE PROCEDURE triphammer_delivery",
        "CREATE OR REPLACE PROCEDURE triphammer_stock_level",
    ],
    analyze: "CALL sysproc.admin_cmd('RUNSTATS ON TABLE ' || trim(CURRENT SCHEMA) || '.' || \
              trim(' pgbench_accounts') || ' WITH DISTRIBUTION AND INDEXES ALL')",
};

/// A product, and what differs between the dialects.
struct Product {
    /// As drivers report it.
    name: &'static str,
    title: &'static str,
    /// Part of the query for the tables.
    tables: &'static str,
    /// End of a query that locks.
    lock: &'static str,
    /// Begin of a call.
    call: &'static str,
    /// The first statement of each session.
    first_of_sessions: &'static str,
    /// How the statements begin that create procedures.
    procedures: &'static [&'static str],
    /// How statistics of the accounts are gathered.
    analyze: &'static str,
}

const TABLES: [&str; 10] = [
    "warehouse",
    "district",
    "customer",
    "history",
    "item",
    "stock",
    "orders",
    "order_line",
    "new_order",
    "triphammer_build",
];

/// Lines of the first order of a run with seed 1.
const LINES: usize = 14;

/// What the driver answers to a run of TPROC-C: the record of a build, the tables, and rows such as the tables have.
/// Numbers have no zero before the point, as these databases write them.
/// `CALL` stands for how calls begin.
const ANSWERS: &str = "\
FROM triphammer_build WHERE workload = ?\tt:state\tt:complete
FROM triphammer_build WHERE workload = ?\tt:tool\tt:0.1.0
FROM triphammer_build WHERE workload = ?\tt:version\tt:1
FROM triphammer_build WHERE workload = ?\tt:scale\tt:1
FROM triphammer_build WHERE workload = ?\tt:seed\tt:1
FROM triphammer_build WHERE workload = ?\tt:begun\tt:2026-01-01 00:00:00
FROM triphammer_build WHERE workload = ?\tt:option/population-time\tt:2026-01-01 00:00:00
FROM triphammer_build WHERE workload = ?\tt:fact/c_load\tt:217
SELECT sum(d_next_o_id)\tc:30010:COUNTED
CALLnew_order(\ti:0\ti:3001\tn:.1\tn:.05\tt:BARBARBAR\tt:GC\tn:.25\tn:123.45\tLISTS
CALLpayment(\ti:0\tADDRESS\tADDRESS\ti:7\tt:a\tt:OE\tt:BARBARBAR\tADDRESS\tPERSON\tt:\x20
CALLorder_status(\ti:0\ti:7\tt:a\tt:OE\tt:BARBARBAR\tn:-10\ti:3000\ts:2026-01-01 00:00:00\ti:5\t\
    t:[17]\tt:[1]\tt:[5]\tt:[49.95]\tt:[null]
CALLdelivery(\ti:0\tt:[2101,2101,2101,2101,2101,2101,2101,2101,2101,null]
CALLstock_level(\ti:0\ti:12
SELECT c_id FROM customer\ti:7
SELECT w_tax, c_discount\tn:.1\tn:.25\tt:BARBARBAR\tt:GC
SELECT d_next_o_id, d_tax\ti:3001\tn:.05
SELECT i_price\tn:9.99\tt:a name\tt:data
SELECT s_quantity, s_data\ti:50\tt:data\tt:district
SELECT w_name\tt:warehouse\tADDRESS
SELECT d_name\tt:district\tADDRESS
SELECT c_id, c_first\ti:7\tt:a\tt:OE\tt:BARBARBAR\tADDRESS\tPERSON\tt:\x20
SELECT c_first, c_middle\tt:a\tt:OE\tt:BARBARBAR\tn:-10
SELECT o_id, o_entry_d\ti:3000\ts:2026-01-01 00:00:00\ti:5
SELECT ol_i_id\ti:17\ti:1\ti:5\tn:49.95\ts:2026-01-01 00:00:00
SELECT no_o_id\ti:2101
SELECT o_c_id\ti:7
SELECT round(sum(ol_amount), 2)\tn:499.50
SELECT d_next_o_id FROM\ti:3001
SELECT count(DISTINCT s_i_id)\ti:12
";

/// The answers for a product, in a mode.
fn answers(product: &Product, with_procedures: bool) -> String {
    let counted = match with_procedures {
        true => format!("{}new_order(", product.call),
        false => "UPDATE district SET d_next_o_id".to_owned(),
    };
    let list = |element: &str| format!("t:[{}]", [element; LINES].join(","));
    let lists = [r#""a name""#, "50", "9.99", "49.95", r#""G""#].map(list).join("\t");
    let person = "t:0123456789012345\ts:2026-01-01 00:00:00\tt:GC\tn:50000\tn:.25\tn:-10";
    let mut text = ANSWERS
        .replace("CALL", product.call)
        .replace("COUNTED", &counted)
        .replace("LISTS", &lists)
        .replace("ADDRESS", "t:street\tt:second\tt:city\tt:ST\tt:123411111")
        .replace("PERSON", person);
    for table in TABLES {
        let name = table.to_uppercase();
        text.push_str(&format!("{}\tt:{name}\tu:DROP TABLE {table}\n", product.tables));
    }
    text
}

/// What changes something or belongs to a transaction, without the record of the build; each load once.
fn work(recorded: &[String]) -> Vec<String> {
    let mut work: Vec<String> = Vec::new();
    for call in recorded {
        let (kind, text) = call.split_once(' ').unwrap_or((call, ""));
        let text = if kind == "execute" { text.split_once(' ').unwrap().1 } else { text };
        let is_about_the_session =
            matches!(kind, "connect" | "prepare") || text.starts_with("ALTER SESSION");
        if is_about_the_session
            || matches!(text, "SELECT 1 FROM dual" | "SELECT 1 FROM sysibm.sysdummy1")
            || text.contains("triphammer_build")
            || call.contains("FROM v$version")
            || call.contains("'service_level'")
        {
            continue;
        }
        let shown = if matches!(kind, "direct" | "execute") { text } else { call }.to_owned();
        if work.last() != Some(&shown) {
            work.push(shown);
        }
    }
    work
}

/// Asserts that these beginnings occur in this order, and nothing of the kind between them.
fn assert_begins(work: &[String], expected: &[&str]) {
    let begins = |(call, begin): (&String, &&str)| call.starts_with(*begin);
    let is_it = work.len() == expected.len() && work.iter().zip(expected).all(begins);
    assert!(is_it, "expected {expected:#?}, got {work:#?}");
}

#[test]
fn a_build_sends_its_statements_in_order() {
    let (program, driver) = (Program::new(), OdbcDriver::compile().unwrap());
    for product in [ORACLE, DB2] {
        let target = driver.target(&[("DBMS", product.name)]);
        let built = program.run(&["build", &target, "-w", "tpc-b"]);
        assert_eq!(built.code, 0, "{built:?}");
        let expected = format!("was not run against {}", product.title);
        assert!(built.err.contains(&expected), "{}", built.err);
        let recorded = driver.recorded();
        let arrays = recorded.iter().filter(|call| call.starts_with("execute 1000 INSERT INTO"));
        assert!(arrays.count() > 50, "rows are loaded by arrays");
        let work = work(&recorded);
        let is_change = |call: &&String| {
            call.contains(' ') && !call.starts_with("SELECT") && !call.starts_with("autocommit")
        };
        let changes: Vec<_> = work.iter().filter(is_change).cloned().collect();
        assert_begins(
            &changes,
            &[
                "CREATE TABLE pgbench_branches",
                "CREATE TABLE pgbench_tellers",
                "CREATE TABLE pgbench_accounts",
                "CREATE TABLE pgbench_history",
                "INSERT INTO pgbench_branches (bid,bbalance,filler) VALUES (?,?,?)",
                "INSERT INTO pgbench_tellers",
                "INSERT INTO pgbench_accounts",
                "ALTER TABLE pgbench_branches ADD PRIMARY KEY (bid)",
                "ALTER TABLE pgbench_tellers ADD PRIMARY KEY (tid)",
                "ALTER TABLE pgbench_accounts ADD PRIMARY KEY (aid)",
                &product.analyze.replace("accounts", "branches"),
                &product.analyze.replace("accounts", "tellers"),
                product.analyze,
                &product.analyze.replace("accounts", "history"),
            ],
        );
        // Each session is set up before its first statement.
        let after_connect = recorded.iter().skip_while(|call| *call != "connect").nth(2);
        assert!(after_connect.unwrap().starts_with(product.first_of_sessions), "{after_connect:?}");
    }
}

#[test]
fn a_build_of_tproc_c_has_procedures_and_hash_clusters() {
    let (program, driver) = (Program::new(), OdbcDriver::compile().unwrap());
    for product in [ORACLE, DB2] {
        let target = driver.target(&[("DBMS", product.name)]);
        let options: &[&str] = match product.name {
            "Oracle" => &[
                "--dialect",
                "oracle",
                "--hash-clusters",
                "yes",
                "--partitions",
                "8",
                "--foreign-keys",
            ],
            _ => &[],
        };
        program.ok(&[&["build", &target, "--scale", "1"], options].concat());
        let work = work(&driver.recorded());
        let of = |begin: &str| work.iter().filter(|call| call.starts_with(begin)).count();
        assert_eq!(
            (of("CREATE TABLE"), of("INSERT INTO"), of("CREATE INDEX")),
            (9, 9, 2),
            "{work:#?}"
        );
        let procedures: Vec<_> =
            work.iter().filter(|call| call.starts_with("CREATE OR REPLACE")).cloned().collect();
        assert_begins(&procedures, product.procedures);
        if product.name == "Oracle" {
            let is = |text: &str| work.iter().any(|call| call.contains(text));
            assert_eq!(of("CREATE CLUSTER"), 4);
            assert!(
                is("SINGLE TABLE HASHKEYS 100000") && is("CLUSTER stock_cluster (s_w_id, s_i_id)")
            );
            assert!(is("PARTITION BY HASH (ol_w_id) PARTITIONS 8"));
            assert_eq!(work.iter().filter(|call| call.contains("FOREIGN KEY")).count(), 10);
        }
    }
}

#[test]
fn what_a_column_cannot_hold_is_rejected_before_a_build() {
    let (program, driver) = (Program::new(), OdbcDriver::compile().unwrap());
    for (dialect, most) in [("oracle", 4_000), ("db2", 16_000)] {
        let target = driver.target(&[]);
        let build = |size: u32| {
            let size = size.to_string();
            let options = ["-w", "kv", "--scale", "0.001", "--payload-size", &size];
            program.run(&[&["build", &target, "--dialect", dialect], &options[..]].concat())
        };
        let done = build(most + 1);
        let expected = format!("--payload-size must be at most {most} on {dialect}");
        assert!(done.code == 2 && done.err.contains(&expected), "{done:?}");
        assert!(!driver.recorded().iter().any(|call| call.contains("CREATE TABLE")));
        assert_eq!(build(most).code, 0);
        let _ = driver.recorded();
    }
}

#[test]
fn a_drop_removes_tables_one_by_one_and_then_what_they_were_in() {
    let (program, driver) = (Program::new(), OdbcDriver::compile().unwrap());
    for product in [ORACLE, DB2] {
        let mut answers = answers(&product, true);
        for table in TABLES.iter().filter(|table| **table != "triphammer_build") {
            let of_record = "FROM triphammer_build WHERE workload = ?";
            answers.push_str(&format!("{of_record}\tt:object/{table}\tt:table\n"));
        }
        answers.push_str("FROM triphammer_build WHERE workload <> ?\ti:0\n");
        driver.answer(&answers).unwrap();
        let target = driver.target(&[("DBMS", product.name)]);
        program.ok(&["drop", &target, "-w", "tproc-c", "--yes"]);
        let work = work(&driver.recorded());
        let dropped: Vec<_> = work.iter().filter(|call| call.starts_with("DROP TABLE")).collect();
        assert_eq!(dropped.len(), 9, "{work:#?}");
        assert!(dropped.iter().all(|call| !call.contains(',')), "{dropped:?}");
        let last = work.iter().rposition(|call| call.starts_with("DROP TABLE")).unwrap();
        let clusters = work.iter().position(|call| call.contains("'DROP CLUSTER \"'"));
        assert_eq!(clusters.is_some(), product.name == "Oracle", "{work:#?}");
        assert!(clusters.is_none_or(|at| at > last), "{work:#?}");
    }
}

/// Types of the parameters of HammerDB's procedures, as the catalogues of Oracle and Db2 name them.
fn hammerdb(product: &Product, remark: &str) -> String {
    let is_oracle = product.name == "Oracle";
    let (number, text, of) = match is_oracle {
        true => ("NUMBER", "VARCHAR2", "SELECT lower(r.object_name)"),
        false => ("INTEGER", "VARCHAR", "SELECT lower(r.routinename)"),
    };
    let array = if is_oracle { "" } else { ", DELIVARRAY" };
    let many = |kind: &str, count| vec![kind; count].join(", ");
    let first = if is_oracle { "BINARY_INTEGER" } else { number };
    let lists = [
        (
            "neword",
            [many(first, 5), many(number, 1), many(text, 2), many(number, 3), "DATE".into()],
        ),
        (
            "payment",
            [
                many(number, 7),
                many(text, 19),
                "DATE".into(),
                format!("{text}, {}", many(number, 3)),
                format!("{text}, DATE"),
            ],
        ),
        (
            "ostat",
            [
                many(number, 4),
                many(text, 3),
                many(number, 2),
                if is_oracle { "DATE" } else { "TIMESTAMP" }.into(),
                number.into(),
            ],
        ),
    ];
    let short =
        [("delivery", format!("{number}, {number}, TIMESTAMP{array}")), ("slev", many(number, 4))];
    let long = lists.map(|(name, parts)| (name, parts.join(", ")));
    let mut out = String::new();
    for (name, types) in long.into_iter().chain(short) {
        let remark = if name == "neword" { remark } else { "0:" };
        out.push_str(&format!("{of}\tt:{name}\tt:procedure\tt:{types}\t{remark}\n"));
    }
    out
}

/// The answers of a schema that HammerDB built; `found` orders are found after New-Order.
fn hammerdb_answers(product: &Product, remark: &str, found: u32) -> String {
    let mut text = hammerdb(product, remark);
    text.push_str("SELECT max(w_id)\ti:1\nSELECT sum(d_next_o_id)\tc:30010:neword(\n");
    text.push_str(&format!("sys_context('USERENV', 'CLIENT_INFO')\ti:{found}\n"));
    for table in TABLES.iter().filter(|table| **table != "triphammer_build") {
        text.push_str(&format!("{}\tt:{}\n", product.tables, table.to_uppercase()));
    }
    text
}

#[test]
fn procedures_of_hammerdb_are_called_as_they_are() {
    let (program, driver) = (Program::new(), OdbcDriver::compile().unwrap());
    for product in [ORACLE, DB2] {
        let target = driver.target(&[("DBMS", product.name)]);
        driver.answer(&hammerdb_answers(&product, "0:", 1)).unwrap();
        let is_oracle = product.name == "Oracle";
        for (mix, name) in [
            ("1,0,0,0,0", "neword"),
            ("0,1,0,0,0", "payment"),
            ("0,0,1,0,0", "ostat"),
            ("0,0,0,1,0", "delivery"),
            ("0,0,0,0,1", "slev"),
        ] {
            let _ = driver.recorded();
            let run = ["run", &target, "--vus", "1", "--transactions", "1", "--mix", mix];
            let ran = program.json(&[&run[..], &["--require", "failures == 0"]].concat());
            assert_eq!(ran["workload"]["facts"]["made_by"], "HammerDB", "{ran:#}");
            let work = work(&driver.recorded());
            let of = |part: &str| work.iter().filter(|call| call.contains(part)).count();
            assert_eq!(of(&format!(" {name}(")), 1, "{work:#?}");
            let calls = work.iter().filter(|call| call.contains(&format!(" {name}(")));
            // A block of Oracle's ends with a semicolon.
            assert!(calls.clone().all(|call| !is_oracle || call.ends_with("END;")), "{work:#?}");
            let is_set = matches!(name, "payment" | "ostat") && !is_oracle;
            assert_eq!(of("SET (p_c_id,"), usize::from(is_set), "{work:#?}");
            assert_eq!(of("'CLIENT_INFO'"), usize::from(is_oracle && name == "neword"));
        }
        let done = program.run(&["run", &target, "--mode", "statements"]);
        assert_eq!(done.code, 2, "{done:?}");
        let done = program.run(&["drop", &target, "--yes"]);
        assert!(done.code == 2 && done.err.contains("created by HammerDB"), "{done:?}");
        driver.answer(&hammerdb_answers(&product, "0:", 1).replace("t:slev", "t:other")).unwrap();
        let done = program.run(&["run", &target]);
        assert!(done.code == 2 && done.err.contains("SLEV is missing"), "{done:?}");
    }
}

/// Oracle's procedure catches deadlocks, and in some versions rolls back for an item that does not exist; it reports
/// neither.
#[test]
fn an_order_that_hammerdbs_procedure_rolled_back_on_oracle_is_not_counted() {
    let (program, driver) = (Program::new(), OdbcDriver::compile().unwrap());
    let target = driver.target(&[("DBMS", "Oracle")]);
    let run = [
        "run",
        &target,
        "--vus",
        "1",
        "--transactions",
        "1",
        "--mix",
        "1,0,0,0,0",
        "--retries",
        "3",
    ];
    let answers =
        |remark| hammerdb_answers(&ORACLE, remark, 0).replace("c:30010:neword(", "i:30010");
    driver.answer(&answers("t:rolls back")).unwrap();
    let ran = program.json(&run);
    let new_order = &ran["run"]["types"][0];
    assert_eq!(
        (&new_order["committed"], &new_order["rolled_back"]),
        (&0.into(), &1.into()),
        "{ran:#}"
    );
    driver.answer(&answers("0:")).unwrap();
    let _ = driver.recorded();
    let done = program.run(&run);
    assert!(done.out.contains("deadlock"), "{done:?}");
    let calls = work(&driver.recorded());
    let attempts = calls.iter().filter(|call| call.contains(" neword(")).count();
    assert_eq!(attempts, 3, "{calls:#?}");
}

/// Runs one transaction of a type; returns its statements, from the begin of the transaction on.
fn transaction(product: &Product, driver: &OdbcDriver, mode: &str, mix: &str) -> Vec<String> {
    driver.answer(&answers(product, mode == "procedures")).unwrap();
    let program = Program::new();
    let target = driver.target(&[("DBMS", product.name)]);
    let run = [
        "run",
        &target,
        "--vus",
        "1",
        "--transactions",
        "1",
        "--mode",
        mode,
        "--mix",
        mix,
        "--seed",
        "1",
    ];
    let ran = program.run(&[&run, &["--require", "failures == 0"][..]].concat());
    assert_eq!(ran.code, 0, "{mix}: {ran:?}");
    assert!(ran.out.contains("verified: the database counts the same"), "{mix}: {}", ran.out);
    let work = work(&driver.recorded());
    let counts = |call: &String| call.starts_with("SELECT sum(d_next_o_id)");
    let first = work.iter().position(counts).unwrap() + 1;
    let ended = work[first..].iter().position(counts).unwrap();
    // What audits read before the run.
    let (audits, calls) = work[first..first + ended].split_at(2);
    assert_begins(audits, &["SELECT round(sum(w_ytd) * 100, 0)", "SELECT count(*) FROM new_order"]);
    match calls {
        // A mix that writes records the first run on the data, in a transaction of its own whose text
        // is left out.
        [begin, end, calls @ .., after]
            if [&**begin, &**end, &**after] == ["autocommit 0", "commit", "autocommit 1"] =>
        {
            calls.to_vec()
        }
        _ => calls.to_vec(),
    }
}

#[test]
fn transactions_by_statements_keep_their_order() {
    let driver = OdbcDriver::compile().unwrap();
    for product in [ORACLE, DB2] {
        let of = |mix: &str| transaction(&product, &driver, "statements", mix);
        let new_order = of("1,0,0,0,0");
        assert_begins(
            &new_order[..6],
            &[
                "autocommit 0",
                "SELECT w_tax, c_discount, c_last, c_credit",
                "SELECT d_next_o_id, d_tax FROM district",
                "UPDATE district SET d_next_o_id = d_next_o_id + 1",
                "INSERT INTO orders",
                "INSERT INTO new_order",
            ],
        );
        assert!(new_order[2].ends_with(product.lock), "{}", new_order[2]);
        let (lines, end) = new_order[6..].split_at(new_order.len() - 7);
        for line in lines.chunks(4) {
            let expected =
                ["SELECT i_price", "SELECT s_quantity", "UPDATE stock", "INSERT INTO order_line"];
            assert_begins(line, &expected);
            assert!(line[1].ends_with(product.lock), "{}", line[1]);
        }
        assert_eq!(end, ["commit"]);
        let payment = of("0,1,0,0,0");
        let by_name = payment.iter().filter(|call| !call.starts_with("SELECT c_id FROM")).cloned();
        assert_begins(
            &by_name.collect::<Vec<_>>(),
            &[
                "autocommit 0",
                "UPDATE warehouse",
                "SELECT w_name",
                "UPDATE district",
                "SELECT d_name",
                "SELECT c_id, c_first",
                "UPDATE customer",
                "INSERT INTO history",
                "commit",
            ],
        );
        let status = of("0,0,1,0,0");
        assert!(status.iter().any(|call| call.starts_with("SELECT ol_i_id")), "{status:?}");
        let is_read_only = status.contains(&"SET TRANSACTION READ ONLY".to_owned());
        assert_eq!(is_read_only, product.name == "Oracle", "{status:?}");
        let delivery = of("0,0,0,1,0");
        assert_begins(
            &delivery[1..8],
            &[
                "SELECT no_o_id",
                "DELETE FROM new_order",
                "SELECT o_c_id",
                "UPDATE orders",
                "UPDATE order_line",
                "SELECT round(sum(ol_amount), 2)",
                "UPDATE customer",
            ],
        );
        assert!(delivery[1].ends_with(product.lock), "{}", delivery[1]);
        let level = of("0,0,0,0,1");
        assert!(level.iter().any(|call| call.starts_with("SELECT count(DISTINCT s_i_id)")));
    }
}

#[test]
fn a_transaction_by_procedure_is_one_call() {
    let driver = OdbcDriver::compile().unwrap();
    for product in [ORACLE, DB2] {
        for (mix, name) in [
            ("1,0,0,0,0", "new_order"),
            ("0,1,0,0,0", "payment"),
            ("0,0,1,0,0", "order_status"),
            ("0,0,0,1,0", "delivery"),
            ("0,0,0,0,1", "stock_level"),
        ] {
            let calls = transaction(&product, &driver, "procedures", mix);
            let calls: Vec<_> =
                calls.into_iter().filter(|call| !call.starts_with("SELECT")).collect();
            assert_eq!(calls.len(), 1, "{calls:?}");
            assert!(calls[0].starts_with(&format!("{}{name}(", product.call)), "{calls:?}");
        }
    }
}
