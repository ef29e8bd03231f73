//! tproc-h: built, run, checked and dropped on every kind of database; more about runs is in `tproc_h_runs`.

use triphammer_core::Scale;
use triphammer_core::session::{Database as _, Role, Session as _};
use triphammer_core::workload::Statements;
use triphammer_dialects::catalogues;
use triphammer_drivers::AnyDatabase;
use triphammer_drivers::target::ConnectSettings;
use triphammer_duckdb::Library;
use triphammer_testbed::{MariadbServer, PostgresServer};
use triphammer_workloads::tproc_h::{Refresh, RefreshSet, TprocH, rf1, rf2};

use crate::program::Program;

const SMALL: [&str; 4] = ["-w", "tproc-h", "--scale", "0.01"];

/// Builds, checks, looks for what `broken` breaks, and drops; gives what the check wrote about the broken data.
fn life(program: &Program, target: &str, options: &[&str], breaks: impl FnOnce()) -> String {
    let built = program.ok(&[&["build", target], &SMALL[..], options].concat());
    assert!(built.contains("TPROC-H with 0.01 SF"), "{built}");
    let ran = program.ok(&["run", target, "-w", "tproc-h", "--test", "queries"]);
    assert!(ran.contains("22 of 22 queries answered"), "{ran}");
    let checked = program.ok(&["check", target, "-w", "tproc-h"]);
    assert!(checked.contains("all 34 conditions of TPROC-H at 0.01 SF hold"), "{checked}");
    breaks();
    let checked = program.run(&["check", target, "-w", "tproc-h"]);
    assert_eq!(checked.code, 1, "{}", checked.err);
    let other = program.run(&["build", target, "-w", "tproc-h", "--scale", "0.02"]);
    assert!(
        other.code == 2 && other.err.contains("scale is 0.01 there, but 0.02 was requested"),
        "{other:?}"
    );
    let dropped = program.ok(&["drop", target, "-w", "tproc-h", "--yes"]);
    assert!(dropped.contains("lineitem"), "{dropped}");
    checked.out
}

/// Order 7 becomes one that no customer has, its total a wrong one, and a line is lost.
const BREAK: [&str; 3] = [
    "UPDATE orders SET o_custkey = 3 WHERE o_orderkey = 7",
    "UPDATE orders SET o_totalprice = o_totalprice + 1 WHERE o_orderkey = 32",
    "DELETE FROM lineitem WHERE l_orderkey = 33 AND l_linenumber = 1",
];

fn finds_all(checked: &str) {
    for violated in ["references", "totals", "lines"] {
        assert!(checked.contains(&format!("VIOLATED  {violated}")), "{checked}");
    }
    assert!(checked.contains("VIOLATED  Q1 "), "{checked}");
    let wrong =
        "4 times, first at row 1, column sum_base_price: expected 532348211.65, got 532301258.74";
    assert!(checked.contains(wrong), "{checked}");
    assert!(checked.contains("first at o_orderkey=7\n"), "{checked}");
    assert!(checked.contains("first at o_orderkey=32\n"), "{checked}");
    assert!(checked.contains("first at o_orderkey=33 lines="), "{checked}");
}

#[test]
fn postgresql_has_it_with_foreign_keys() {
    let (program, server) = (Program::new(), PostgresServer::shared());
    let target = server.fresh_database("tproc_h").unwrap();
    let name = target.rsplit('/').next().unwrap().split('?').next().unwrap().to_owned();
    let checked = life(&program, &target, &["--foreign-keys", "--jobs", "2"], || {
        let keys = "SELECT count(*) FROM pg_constraint WHERE contype = 'f'";
        assert_eq!(server.run(&name, keys).unwrap(), [[Some("8".to_owned())]]);
        for sql in BREAK {
            server.run(&name, sql).unwrap();
        }
    });
    finds_all(&checked);
}

#[test]
fn mariadb_has_it() {
    let (program, server) = (Program::new(), MariadbServer::shared());
    let target = server.fresh_database("tproc_h").unwrap();
    let name = target.rsplit('/').next().unwrap().split('?').next().unwrap().to_owned();
    let checked = life(&program, &target, &[], || {
        for sql in BREAK {
            server.run(&name, sql).unwrap();
        }
    });
    finds_all(&checked);
}

#[test]
fn sqlite_has_it() {
    let program = Program::new();
    let checked = life(&program, "sqlite:h.sqlite", &[], || {
        let file = rusqlite::Connection::open(program.path("h.sqlite")).unwrap();
        for sql in BREAK {
            file.execute(sql, []).unwrap();
        }
    });
    finds_all(&checked);
}

#[test]
fn duckdb_has_it() {
    let program = Program::with_duckdb();
    let checked = life(&program, "duckdb:h.duckdb", &["--jobs", "2"], || {
        let file = Library::get().unwrap().connect(&program.path("h.duckdb")).unwrap();
        for sql in BREAK {
            file.script(sql).unwrap();
        }
    });
    finds_all(&checked);
}

#[test]
fn at_a_scale_without_known_answers_and_without_duckdb_the_check_says_what_to_do() {
    let program = Program::new();
    program.ok(&["build", "sqlite:h.sqlite", "-w", "tproc-h", "--scale", "0.011"]);
    let checked = program.ok(&["check", "sqlite:h.sqlite", "-w", "tproc-h"]);
    assert!(checked.contains("all 12 conditions of TPROC-H at 0.011 SF hold"), "{checked}");
    let expected = "no answers were compared: they are known at 0.01, 0.1 and 1 SF, and at 0.011 SF \
                    DuckDB computes them, which failed: DuckDB's library is not installed; run: npm";
    assert!(checked.contains(expected), "{checked}");
}

/// DuckDB's answers are computed once, and again if what was kept is broken.
#[test]
fn at_other_scales_answers_are_compared_with_those_of_duckdb() {
    let program = Program::with_duckdb();
    program.ok(&["build", "sqlite:h.sqlite", "-w", "tproc-h", "--scale", "0.011"]);
    let cache = program.path(".cache/triphammer/answers");
    let check = |computes: bool| {
        let done = program.run(&["check", "sqlite:h.sqlite", "-w", "tproc-h"]);
        assert_eq!(done.err.contains("computing the answers at 0.011 SF"), computes, "{done:?}");
        let kept: Vec<_> = std::fs::read_dir(&cache).unwrap().map(|f| f.unwrap().path()).collect();
        assert_eq!(kept.len(), 1, "one file, and nothing temporary: {kept:?}");
        (done, kept[0].clone())
    };
    let (done, kept) = check(true);
    assert_eq!(done.code, 0, "{done:?}");
    let expected = "all 34 conditions of TPROC-H at 0.011 SF hold\n\
                    the answers were compared with those of DuckDB ";
    assert!(done.out.contains(expected), "{}", done.out);
    assert_eq!(check(false).0.out, done.out);

    let whole = std::fs::read_to_string(&kept).unwrap();
    std::fs::write(&kept, &whole[..whole.len() / 2]).unwrap();
    assert_eq!(check(true).0.out, done.out);
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), whole);

    let file = rusqlite::Connection::open(program.path("h.sqlite")).unwrap();
    file.execute("UPDATE lineitem SET l_quantity = 49 WHERE l_orderkey = 1", []).unwrap();
    let (done, _) = check(false);
    assert_eq!(done.code, 1, "{done:?}");
    assert!(done.out.contains("VIOLATED  Q1 "), "{}", done.out);
}

/// All of it at SF 0.1; too slow for the suite: tools/test-matrix.py runs them.
mod at_sf_0_1 {
    use super::*;

    fn life(program: &Program, target: &str) {
        program.ok(&["build", target, "-w", "tproc-h", "--scale", "0.1", "--jobs", "2"]);
        let check = || {
            let checked = program.ok(&["check", target, "-w", "tproc-h"]);
            assert!(checked.contains("all 34 conditions of TPROC-H at 0.1 SF hold"), "{checked}");
        };
        check();
        let ran = program.json(&["run", target, "-w", "tproc-h", "--test", "both"]);
        let steps = ran["queries"]["steps"].as_array().unwrap();
        let answered = steps.iter().filter(|step| step["outcome"] == "answered").count();
        assert_eq!((steps.len(), answered), (24 + 2 * 22 + 4, 72), "{:#}", ran["queries"]);
        assert_eq!(ran["queries"]["answers"]["differing"], 0);
        assert_eq!(ran["primary_metric"]["name"], "composite");
        assert!(ran["primary_metric"]["value"].as_f64().unwrap() > 0.0, "{ran:#}");
        check();
        program.ok(&["drop", target, "-w", "tproc-h", "--yes"]);
    }

    #[test]
    #[ignore = "takes minutes: tools/test-matrix.py"]
    fn postgresql() {
        let target = PostgresServer::shared().fresh_database("tproc_h_sf_0_1").unwrap();
        life(&Program::new(), &target);
    }

    #[test]
    #[ignore = "takes minutes: tools/test-matrix.py"]
    fn mariadb() {
        let target = MariadbServer::shared().fresh_database("tproc_h_sf_0_1").unwrap();
        life(&Program::new(), &target);
    }

    #[test]
    #[ignore = "takes minutes: tools/test-matrix.py"]
    fn sqlite() {
        life(&Program::new(), "sqlite:h.sqlite");
    }

    #[test]
    #[ignore = "takes minutes: tools/test-matrix.py"]
    fn duckdb() {
        life(&Program::with_duckdb(), "duckdb:h.duckdb");
    }
}

#[test]
fn no_rate_is_searched_for_it_and_the_message_names_what_there_is() {
    let program = Program::new();
    let done = program.run(&["capacity", "null:", "-w", "tproc-h"]);
    assert_eq!(done.code, 2, "{}", done.err);
    let expected = "a run of TPROC-H is a set of queries, which `capacity` cannot vary";
    assert!(done.err.contains(expected), "{}", done.err);
    assert!(done.err.contains("build, run, profile, matrix, check, drop"), "{}", done.err);
}

#[test]
fn a_scale_that_cannot_be_is_rejected_before_anything_is_made() {
    let program = Program::new();
    for (scale, why) in
        [("0.001", "from 0.01 to 100000 SF"), ("0.0105", "three fractional"), ("x", "scale")]
    {
        let done = program.run(&["build", "sqlite:h.sqlite", "-w", "tproc-h", "--scale", scale]);
        assert!(done.code == 2 && done.err.contains(why), "{}", done.err);
    }
    let done = program.run(&["check", "sqlite:h.sqlite", "-w", "tproc-h", "--warehouses", "1-2"]);
    assert_eq!(done.code, 2, "{}", done.err);
    assert!(!program.path("h.sqlite").exists());
}

/// Runs RF1 of two sets, then RF2 of them in the same order; `between` is called in the middle. Each inserts and
/// deletes 15 orders with their lines.
fn refresh(target: &str, between: impl FnOnce()) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let database = AnyDatabase::open(target, &ConnectSettings::default()).unwrap();
        database.identify().await.unwrap();
        let catalogue =
            catalogues::catalogue(&TprocH::describe(), database.dialect(), false).unwrap();
        let mut session = database.connect(Role::User, 0).await.unwrap();
        let prepared =
            Refresh::prepare(&mut Statements::new(&catalogue), &mut session).await.unwrap();
        let sets = [1, 1_002].map(|set| RefreshSet::new(Scale::from_thousandths(10), set));
        let mut inserted = Vec::new();
        for set in sets {
            inserted.push(rf1(set, &mut session).await.unwrap());
            assert!((30..=120).contains(inserted.last().unwrap()), "{inserted:?}");
        }
        between();
        for (set, rows) in sets.into_iter().zip(inserted) {
            assert_eq!(rf2(set, &prepared, &mut session).await.unwrap(), rows);
            assert_eq!(rf2(set, &prepared, &mut session).await.unwrap(), 0, "nothing is left");
        }
        session.close().await;
    });
}

/// Builds, refreshes and checks; `contents` gives all rows of the two tables in some form.
fn refreshed<T: PartialEq + std::fmt::Debug>(
    program: &Program,
    target: &str,
    opened: &str,
    contents: impl Fn() -> T,
) {
    program.ok(&[&["build", target], &SMALL[..]].concat());
    let before = contents();
    refresh(opened, || {
        assert_ne!(contents(), before);
        let checked = program.run(&["check", target, "-w", "tproc-h"]);
        assert_eq!(checked.code, 1, "{}", checked.err);
        // Only the orders of the sets are wrong, and the answers: they keep every other condition.
        assert!(checked.out.contains("VIOLATED  refresh"), "{}", checked.out);
        assert!(checked.out.contains("no orders of refresh sets, which an interrupted run leaves"));
        assert!(checked.out.contains("30 times, first at o_orderkey=9\n"), "{}", checked.out);
        for kept in ["orders", "lines", "totals", "prices", "references", "beyond"] {
            assert!(!checked.out.contains(&format!("VIOLATED  {kept} ")), "{}", checked.out);
        }
    });
    assert_eq!(contents(), before);
    let checked = program.ok(&["check", target, "-w", "tproc-h"]);
    assert!(checked.contains("all 34 conditions of TPROC-H at 0.01 SF hold"), "{checked}");
}

/// The number of orders and lines, and sums over what makes them.
const CONTENTS: &str = "SELECT * FROM
    (SELECT count(*) n, sum(o_orderkey) a, sum(o_custkey) b, sum(o_totalprice) c FROM orders) o,
    (SELECT count(*) m, sum(l_orderkey) d, sum(l_partkey) e, sum(l_linenumber * l_tax) f FROM lineitem) l";

#[test]
fn rf1_then_rf2_restore_every_row_on_postgresql() {
    let (program, server) = (Program::new(), PostgresServer::shared());
    let target = server.fresh_database("tproc_h_refresh").unwrap();
    let name = target.rsplit('/').next().unwrap().split('?').next().unwrap().to_owned();
    let all = "SELECT md5(string_agg(t::text, ';' ORDER BY t::text)) FROM orders t UNION ALL
        SELECT md5(string_agg(t::text, ';' ORDER BY t::text)) FROM lineitem t";
    refreshed(&program, &target, &target, || server.run(&name, all).unwrap());
}

#[test]
fn rf1_then_rf2_restore_every_row_on_mariadb() {
    let (program, server) = (Program::new(), MariadbServer::shared());
    let target = server.fresh_database("tproc_h_refresh").unwrap();
    let name = target.rsplit('/').next().unwrap().split('?').next().unwrap().to_owned();
    refreshed(&program, &target, &target, || server.run(&name, CONTENTS).unwrap());
}

#[test]
fn rf1_then_rf2_restore_every_row_on_sqlite() {
    let program = Program::new();
    let path = program.path("h.sqlite");
    let contents = || {
        let file = rusqlite::Connection::open(&path).unwrap();
        let row = |row: &rusqlite::Row<'_>| {
            (0..8).map(|n| row.get::<_, f64>(n)).collect::<Result<Vec<_>, _>>()
        };
        file.query_row(CONTENTS, [], row).unwrap()
    };
    let opened = format!("sqlite:{}", path.display());
    refreshed(&program, "sqlite:h.sqlite", &opened, contents);
}

/// Makes the tables of a build look like those of another program, runs on them, and shows that rows of others are not
/// touched. `types` are the changes that program would have made.
fn on_tables_of_others(
    program: &Program,
    target: &str,
    types: &[&str],
    sql: impl Fn(&str) -> String,
) {
    program.ok(&[&["build", target], &SMALL[..]].concat());
    sql("DROP TABLE triphammer_build");
    for change in types {
        sql(change);
    }
    let orders = || sql("SELECT concat(count(*), ' ', sum(o_orderkey)) FROM orders");
    let before = orders();
    let check = ["check", target, "-w", "tproc-h"];
    let checked = program.ok(&check);
    assert!(checked.contains("all 34 conditions of TPROC-H at 0.01 SF hold"), "{checked}");
    let run = ["run", target, "-w", "tproc-h"];
    let ran = program.ok(&run);
    assert!(ran.contains("24 of 24 queries answered"), "{ran}");
    assert_eq!(orders(), before);

    sql(
        "INSERT INTO orders SELECT 9, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, \
         o_shippriority, o_comment FROM orders WHERE o_orderkey = 1",
    );
    let before = orders();
    let ran = program.json(&[&run[..], &["--queries", "6"]].concat());
    let steps = ran["queries"]["steps"].to_string();
    assert!(steps.contains("RF2 would delete a row that RF1 has not inserted"), "{steps}");
    assert_eq!(orders(), before, "the row of others is still there");

    sql("DELETE FROM lineitem");
    let done = program.run(&run);
    assert_eq!(done.code, 2, "{}", done.err);
    assert!(done.err.contains("a run needs rows in all of them: nothing is in lineitem"));
    assert!(program.run(&["drop", target, "-w", "tproc-h", "--yes"]).err.contains("--force"));
}

/// With the types that HammerDB gives the columns.
#[test]
fn postgresql_runs_on_tables_of_others() {
    let (program, server) = (Program::new(), PostgresServer::shared());
    let target = server.fresh_database("tproc_h_others").unwrap();
    let name = target.rsplit('/').next().unwrap().split('?').next().unwrap().to_owned();
    let types = [
        "ALTER TABLE orders ALTER o_orderkey TYPE numeric, ALTER o_custkey TYPE numeric, \
         ALTER o_totalprice TYPE numeric, ALTER o_orderdate TYPE timestamp",
        "ALTER TABLE lineitem ALTER l_orderkey TYPE numeric, ALTER l_linenumber TYPE numeric, \
         ALTER l_shipdate TYPE timestamp, ALTER l_commitdate TYPE timestamp, \
         ALTER l_receiptdate TYPE timestamp",
        "ANALYZE",
    ];
    on_tables_of_others(&program, &target, &types, |sql| {
        let rows = server.run(&name, sql).unwrap();
        rows.first().and_then(|row| row[0].clone()).unwrap_or_default()
    });
}

#[test]
fn mariadb_runs_on_tables_of_others() {
    let (program, server) = (Program::new(), MariadbServer::shared());
    let target = server.fresh_database("tproc_h_others").unwrap();
    let name = target.rsplit('/').next().unwrap().split('?').next().unwrap().to_owned();
    on_tables_of_others(&program, &target, &[], |sql| {
        let rows = server.run(&name, sql).unwrap();
        rows.first().map(|row| format!("{:?}", row[0])).unwrap_or_default()
    });
}
