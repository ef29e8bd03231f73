//! sysbench's scripts, run by the program on MariaDB and PostgreSQL. The tests that come with sysbench are used where they
//! are installed, and skipped with a message elsewhere.

use std::path::Path;

use serde_json::Value;
use triphammer_testbed::{MariadbServer, PostgresServer};

use crate::program::{Done, Program};

/// Folder of the tests that come with sysbench.
const BUNDLED: &str = "/usr/share/sysbench";

/// Whether the tests that come with sysbench are installed; says so if they are not.
fn has_bundled() -> bool {
    let is_there = Path::new(BUNDLED).is_dir();
    if !is_there {
        eprintln!("skipped: {BUNDLED} is missing; install sysbench (`make deps` does)");
    }
    is_there
}

/// A database, as sysbench's options name it.
struct Site {
    url: String,
    options: Vec<String>,
}

impl Site {
    fn mariadb() -> Self {
        let server = MariadbServer::shared();
        let url = server.fresh_database("sysbench").unwrap();
        Self::of(url, "mysql", server.port(), server.user(), server.password())
    }

    fn postgres() -> Self {
        let server = PostgresServer::shared();
        let url = server.fresh_database("sysbench").unwrap();
        Self::of(url, "pgsql", server.port(), server.user(), server.password())
    }

    /// A database that sysbench reaches with this driver, whose name begins its options.
    fn of(url: String, driver: &str, port: u16, user: &str, password: &str) -> Self {
        let name = name_of(&url);
        let options = vec![
            format!("--db-driver={driver}"),
            format!("--{driver}-host=127.0.0.1"),
            format!("--{driver}-port={port}"),
            format!("--{driver}-user={user}"),
            format!("--{driver}-password={password}"),
            format!("--{driver}-db={name}"),
        ];
        Self { url, options }
    }

    fn all() -> [Self; 2] {
        [Self::mariadb(), Self::postgres()]
    }

    fn is_mariadb(&self) -> bool {
        self.options[0].ends_with("mysql")
    }

    fn sql(&self, sql: &str) -> Vec<Vec<Option<String>>> {
        let name = name_of(&self.url);
        match self.is_mariadb() {
            true => MariadbServer::shared().run(name, sql).unwrap(),
            false => PostgresServer::shared().run(name, sql).unwrap(),
        }
    }

    fn number(&self, sql: &str) -> i64 {
        self.sql(sql)[0][0].as_deref().unwrap().parse().unwrap()
    }

    /// Runs `triphammer sysbench SCRIPT … COMMAND`.
    fn call(&self, program: &Program, script: &str, more: &[&str], command: &str) -> Done {
        let mut args = vec!["sysbench", script];
        args.extend(self.options.iter().map(String::as_str));
        args.extend(more);
        args.push(command);
        program.run(&args)
    }

    fn ok(&self, program: &Program, script: &str, more: &[&str], command: &str) -> String {
        let done = self.call(program, script, more, command);
        assert_eq!(done.code, 0, "{script} {command}\n{}\n{}", done.out, done.err);
        done.out
    }
}

fn name_of(url: &str) -> &str {
    let (_, name) = url.rsplit_once('/').unwrap();
    name.split('?').next().unwrap()
}

fn write(program: &Program, name: &str, text: &str) {
    std::fs::write(program.path(name), text).unwrap();
}

/// The document of the last run.
fn last_run(program: &Program) -> Value {
    serde_json::from_str(&program.ok(&["report", "last", "--format", "json"])).unwrap()
}

#[test]
fn the_tests_that_sysbench_brings_run_unmodified() {
    if !has_bundled() {
        return;
    }
    let size = ["--tables=2", "--table-size=200", "--threads=2"];
    let one = ["--tables=1", "--table-size=200", "--threads=2"];
    for site in Site::all() {
        let program = Program::new();
        let limit = ["--events=60", "--time=60"];
        let out = site.ok(&program, "oltp_read_write", &size, "prepare");
        assert!(out.contains("Creating table 'sbtest2'"), "{out}");
        assert_eq!(site.number("SELECT count(*) FROM sbtest2"), 200);
        for script in [
            "oltp_read_write",
            "oltp_read_only",
            "oltp_write_only",
            "oltp_point_select",
            "oltp_update_index",
            "oltp_update_non_index",
            "oltp_delete",
            "oltp_insert",
        ] {
            site.ok(&program, script, &[&size[..], &limit].concat(), "run");
            let result = last_run(&program);
            assert_eq!(result["run"]["total"]["completed"], 60, "{script} on {}", site.url);
            assert_eq!(result["run"]["total"]["failed"], 0, "{script} on {}", site.url);
        }
        site.ok(&program, "oltp_read_write", &size, "cleanup");
        for script in ["select_random_points", "select_random_ranges"] {
            site.ok(&program, script, &one, "prepare");
            site.ok(&program, script, &[&one[..], &limit].concat(), "run");
            site.ok(&program, script, &one, "cleanup");
        }
        site.ok(&program, "bulk_insert", &["--threads=2"], "prepare");
        site.ok(&program, "bulk_insert", &["--threads=2", "--events=500"], "run");
        // Rows are sent when a thread ends, too.
        let rows = "SELECT (SELECT count(*) FROM sbtest1) + (SELECT count(*) FROM sbtest2)";
        assert_eq!(site.number(rows), 500);
        site.ok(&program, "bulk_insert", &["--threads=2"], "cleanup");
    }
}

#[test]
fn the_workload_is_one_like_all_others() {
    if !has_bundled() {
        return;
    }
    let site = Site::mariadb();
    let program = Program::new();
    site.ok(&program, "oltp_read_write", &["--table-size=500"], "prepare");
    let args = [
        "run",
        &site.url,
        "-w",
        "sysbench",
        "--script",
        "oltp_read_write",
        "-D",
        "table-size=500",
        "--vus=3",
        "--transactions=40",
    ];
    let result = program.json(&args);
    assert_eq!(result["workload"]["name"], "sysbench");
    assert_eq!(result["run"]["total"]["committed"], 120);
    let figure = |name: &str| {
        let figures = result["figures"].as_array().unwrap();
        figures.iter().find(|figure| figure["name"] == name).unwrap()["value"].as_f64().unwrap()
    };
    // More where a deadlock made the engine repeat an event.
    assert!(figure("script.reads") >= 14.0 * 120.0);
    assert!(figure("script.writes") >= 4.0 * 120.0);
    assert!(figure("script.other") >= 2.0 * 120.0);
    let share = figure("client.script_cpu");
    assert!(share > 0.0 && share < 1.0, "{share}");
    let text = &result["workload"]["scripts"][0]["text"];
    assert!(text.as_str().unwrap().contains("oltp_common"), "{text}");
    let replayed = program.run(&["run", &site.url, "--replay-exemplar", "last:1"]);
    assert_eq!(replayed.code, 0, "{}{}", replayed.out, replayed.err);
    assert!(replayed.out.contains("FROM sbtest1"), "{}", replayed.out);
    let args = [
        "compare",
        "--ab",
        &site.url,
        &site.url,
        "-w",
        "sysbench",
        "--script",
        "oltp_read_write",
        "-D",
        "table_size=500",
        "--pairs=2",
        "--cool-down=0s",
        "--vus=1",
        "--rampup=0s",
        "--duration=1s",
    ];
    let compared = program.run(&args);
    assert!([0, 1].contains(&compared.code), "{}{}", compared.out, compared.err);
    // Without a database that stores anything.
    program.json(&[
        "run",
        "null:",
        "-w",
        "sysbench",
        "--script",
        "oltp_point_select",
        "--transactions=5",
    ]);
}

#[test]
fn events_at_a_rate_end_the_run() {
    let site = Site::postgres();
    let program = Program::new();
    write(
        &program,
        "a.lua",
        "function thread_init() con = sysbench.sql.driver():connect() end
         function event() con:query('SELECT 1') end",
    );
    let ends_by_events = ["--events=100", "--rate=400", "--time=0", "--threads=8"];
    site.ok(&program, "a.lua", &ends_by_events, "run");
    let result = last_run(&program);
    assert_eq!(result["run"]["total"]["completed"], 100);
    assert_eq!(result["window"]["total"]["completed"], 100);
    assert_eq!(result["spec"]["load"], "rate:400/s");
    // One more may be due before the end of the last event is known: it is never started.
    assert_eq!(result["arrivals"]["started"], 100, "{}", result["arrivals"]);
    let offered = result["arrivals"]["offered"].as_u64().unwrap();
    assert!((100..108).contains(&offered), "{}", result["arrivals"]);
    let ends_by_time = ["--events=1000000", "--rate=400", "--time=1", "--threads=8"];
    site.ok(&program, "a.lua", &ends_by_time, "run");
    let completed = last_run(&program)["run"]["total"]["completed"].as_u64().unwrap();
    assert!((1..800).contains(&completed), "{completed}");
}

#[test]
fn campaigns_run_scripts() {
    let site = Site::mariadb();
    let program = Program::new();
    write(
        &program,
        "a.lua",
        "sysbench.cmdline.options = {rows = {'Rows', 3}}
         function thread_init() con = sysbench.sql.driver():connect() end
         function event() con:query('SELECT ' .. sysbench.opt.rows) end",
    );
    let shared = [
        &site.url,
        "-w",
        "sysbench",
        "--script",
        "a.lua",
        "-D",
        "rows=5",
        "--rampup=0s",
        "--duration=1s",
        "--cool-down=0s",
    ];
    let profile = [&["profile"], &shared[..], &["--vus=1,2", "--repeats=1"]].concat();
    let result = program.json(&profile);
    let levels = result["levels"].as_array().unwrap();
    assert_eq!(levels.len(), 2, "{result}");
    assert_eq!(result["workload"]["name"], "sysbench");
    let limit = ["--vus=4", "--limit=all.p50 < 10s", "--max-rate=50/s"];
    let done = program.run(&[&["capacity"], &shared[..], &limit].concat());
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
    assert!(done.out.contains("still holds at 50.0/s"), "{}", done.out);
}

#[test]
fn the_report_has_the_figures_of_sysbench() {
    let site = Site::postgres();
    let program = Program::new();
    write(
        &program,
        "a.lua",
        "sysbench.cmdline.options = {rows = {'Rows', 3}}
         function prepare()
            local con = sysbench.sql.driver():connect()
            con:query('CREATE TABLE t (id int)')
            con:query('INSERT INTO t SELECT * FROM generate_series(1, ' .. sysbench.opt.rows .. ')')
         end
         function thread_init() con = sysbench.sql.driver():connect() end
         function event()
            con:query('BEGIN')
            local rs = con:query('SELECT id FROM t ORDER BY id')
            for i = 1, rs.nrows do assert(tonumber(rs:fetch_row()[1]) == i) end
            assert(con:query_row('SELECT NULL, 7') == nil)
            con:query('UPDATE t SET id = id')
            con:query('COMMIT')
         end",
    );
    let help = site.ok(&program, "a.lua", &[], "help");
    assert!(help.contains("--rows  Rows [3]"), "{help}");
    site.ok(&program, "a.lua", &["--rows=5"], "prepare");
    assert_eq!(site.number("SELECT count(*) FROM t"), 5);
    let more = ["--rows=5", "--events=20", "--percentile=90", "--histogram", "--rand-seed=7"];
    let out = site.ok(&program, "a.lua", &more, "run");
    for line in ["reads", "completed", "90th percentile", "Latency histogram", "CPU time in Lua"] {
        assert!(out.contains(line), "{line}: {out}");
    }
    let result = last_run(&program);
    assert_eq!(result["spec"]["seed"], 7);
    let missing = site.call(&program, "a.lua", &[], "cleanup");
    assert_eq!(missing.code, 2);
    assert!(missing.err.contains("has no command `cleanup`"), "{}", missing.err);
    let unknown = site.call(&program, "a.lua", &["--row=5"], "run");
    assert_eq!(unknown.code, 2);
    assert!(unknown.err.contains("has no option --row: it declares rows"), "{}", unknown.err);
    let refused = site.call(&program, "a.lua", &["--forced-shutdown=5"], "run");
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("--forced-shutdown has no meaning"), "{}", refused.err);
}

#[test]
fn errors_are_caught_restarted_or_end_the_run() {
    for site in Site::all() {
        let program = Program::new();
        site.sql("CREATE TABLE t (id int PRIMARY KEY)");
        // A duplicate key is caught, so that the event succeeds.
        write(
            &program,
            "caught.lua",
            "function thread_init() con = sysbench.sql.driver():connect() end
             function event()
                pcall(function() con:query('INSERT INTO t VALUES (1)') end)
                con:query('SELECT 1')
             end",
        );
        site.ok(&program, "caught.lua", &["--events=10", "--threads=3"], "run");
        // One that is not caught is counted in `run`, and ends a run of `sysbench`.
        write(
            &program,
            "late.lua",
            "function thread_init() con = sysbench.sql.driver():connect() end
             local n = 0
             function event()
                n = n + 1
                if n > 5 then con:query('SELECT * FROM nowhere') end
             end",
        );
        let done = site.call(&program, "late.lua", &["--events=100"], "run");
        assert_eq!(done.code, 1, "{}{}", done.out, done.err);
        assert!(done.err.contains("late.lua:5: "), "{}", done.err);
        let result = last_run(&program);
        assert_eq!(result["status"], "failed");
        assert_eq!(counts_of_failure(&result), (5, 1, 0), "{}", site.url);
        let args = [
            "run",
            &site.url,
            "-w",
            "sysbench",
            "--script",
            "late.lua",
            "--vus=1",
            "--transactions=20",
            "--max-failures=100%",
        ];
        let counted = program.json(&args);
        assert_eq!(counted["run"]["total"]["failed"], 15);
        // Errors that are ignored only count.
        let code = if site.is_mariadb() { "1146" } else { "42P01" };
        let ignore = format!("--mysql-ignore-errors={code}");
        site.ok(&program, "late.lua", &["--events=20", &ignore], "run");
        // What fails at the very end fails the run.
        write(
            &program,
            "end.lua",
            "function event() end\nfunction thread_done()\n error('too late')\nend",
        );
        let done = site.call(&program, "end.lua", &["--events=5"], "run");
        assert_eq!(done.code, 1, "{}{}", done.out, done.err);
        assert!(done.err.contains("end.lua:3: too late"), "{}", done.err);
    }
}

/// Events completed and failed, and sessions lost.
fn counts_of_failure(result: &Value) -> (u64, u64, u64) {
    let total = &result["run"]["total"];
    let number = |value: &Value| value.as_u64().unwrap();
    (number(&total["completed"]), number(&total["failed"]), number(&result["sessions"]["lost"]))
}

#[test]
fn an_error_that_ends_the_run_fails_one_event() {
    let site = Site::postgres();
    let program = Program::new();
    let connect = "function thread_init() con = sysbench.sql.driver():connect() end\n";
    // With two threads, the second one continues until there are no more events.
    for (failing, threads) in [
        ("con:query('SELECT * FROM nowhere')", 1),
        ("con:query('SELECT * FROM nowhere')", 2),
        ("error('boom')", 1),
        ("error('boom')", 2),
    ] {
        let event = format!(
            "function event() if sysbench.tid == 0 then {failing} end con:query('SELECT 1') end"
        );
        write(&program, "fails.lua", &format!("{connect}{event}"));
        for limit in ["--events=100000", "--time=60", "--rate=200"] {
            let more = [&*format!("--threads={threads}"), limit];
            let done = site.call(&program, "./fails.lua", &more, "run");
            assert_eq!(done.code, 1, "{failing} {limit}: {}{}", done.out, done.err);
            let (_, failed, lost) = counts_of_failure(&last_run(&program));
            assert_eq!((failed, lost), (1, 0), "{failing} {limit}: {}", done.err);
            assert!(!done.err.contains("sessions were lost"), "{}", done.err);
        }
    }
}

/// As sysbench 1.0.20 counts them.
#[test]
fn statements_count_as_what_they_did() {
    for site in Site::all() {
        let program = Program::new();
        site.sql("CREATE TABLE t (id int PRIMARY KEY, v int)");
        site.sql("INSERT INTO t VALUES (1, 1)");
        write(
            &program,
            "kinds.lua",
            "function thread_init()
                con = sysbench.sql.driver():connect()
                delete = con:prepare('DELETE FROM t WHERE id = ?')
                update = con:prepare('UPDATE t SET v = v * ? WHERE id = 1')
                id, factor = delete:bind_create(sysbench.sql.type.INT), update:bind_create(3)
                delete:bind_param(id)
                update:bind_param(factor)
             end
             function event()
                con:query('SELECT v FROM t WHERE id = 99')
                con:query('DELETE FROM t WHERE id = 99')
                id:set(99) delete:execute()
                con:query('UPDATE t SET v = 1')
                factor:set(1) update:execute()
                factor:set(2) update:execute()
                con:query('INSERT INTO t VALUES (2, 2)')
                pcall(con.query, con, 'SELECT * FROM nowhere')
             end",
        );
        for mode in ["auto", "disable"] {
            site.ok(&program, "kinds.lua", &["--events=1", &format!("--db-ps-mode={mode}")], "run");
            let result = last_run(&program);
            let figures = result["figures"].as_array().unwrap();
            let counts = ["reads", "writes", "other", "errors"].map(|kind| {
                let name = format!("script.{kind}");
                let figure = figures.iter().find(|figure| figure["name"] == *name).unwrap();
                figure["value"].as_f64().unwrap()
            });
            // An UPDATE to the values that are there changes nothing in MariaDB.
            let expected =
                if site.is_mariadb() { [1.0, 2.0, 4.0, 1.0] } else { [1.0, 4.0, 2.0, 1.0] };
            assert_eq!(counts, expected, "{} {mode}", site.url);
            site.sql("DELETE FROM t WHERE id = 2");
            site.sql("UPDATE t SET v = 1");
        }
    }
}

#[test]
fn lines_of_two_threads_do_not_mix() {
    let program = Program::new();
    write(
        &program,
        "prints.lua",
        "function event() for _ = 1, 100 do print('a line of thread', sysbench.tid) end end",
    );
    let site = Site::postgres();
    let done = site.call(&program, "./prints.lua", &["--events=200", "--threads=8"], "run");
    assert_eq!(done.code, 0, "{}", done.err);
    let is_whole = |line: &&str| {
        let tid = line.strip_prefix("a line of thread\t");
        tid.is_some_and(|tid| tid.len() == 1 && tid < "8")
    };
    assert_eq!(done.err.lines().filter(is_whole).count(), 20_000);
}

#[test]
fn hostile_scripts_end_with_an_error_and_leave_the_result() {
    let site = Site::mariadb();
    let program = Program::new();
    for (text, message) in [
        ("function event() while true do end end", "used 10 s of CPU time without a statement"),
        (
            "function event() local t = {} while true do t[#t + 1] = ('x'):rep(1e6) .. #t end end",
            "not enough memory",
        ),
        ("function f() return 1 + f() end  function event() f() end", "stack overflow"),
        ("function event()\n  nothing()\nend", "hostile.lua:2: attempt to call global 'nothing'"),
    ] {
        write(&program, "hostile.lua", text);
        let done = site.call(&program, "hostile.lua", &["--threads=1", "--time=600"], "run");
        assert_eq!(done.code, 1, "{text}\n{}{}", done.out, done.err);
        assert!(done.err.contains(message), "{text}\n{}", done.err);
        assert_eq!(last_run(&program)["status"], "failed", "{text}");
    }
    for (text, message) in [
        ("\n\nfunction event(", "hostile.lua:3: "),
        ("function event()\0 end", "hostile.lua:1: "),
        ("x = 1", "has no function event()"),
        ("error('not today')", "not today"),
    ] {
        write(&program, "hostile.lua", text);
        let done = site.call(&program, "hostile.lua", &[], "run");
        assert_eq!(done.code, 2, "{text}\n{}{}", done.out, done.err);
        assert!(done.err.contains(message), "{text}\n{}", done.err);
    }
}

#[test]
fn statements_can_be_sent_as_text() {
    if !has_bundled() {
        return;
    }
    for site in Site::all() {
        let program = Program::new();
        site.ok(&program, "oltp_read_write", &["--table-size=100"], "prepare");
        let more = ["--table-size=100", "--db-ps-mode=disable", "--events=30"];
        site.ok(&program, "oltp_read_write", &more, "run");
        assert_eq!(last_run(&program)["run"]["total"]["failed"], 0);
    }
}

#[test]
fn report_hooks_of_a_script_get_the_figures_of_the_run() {
    let program = Program::new();
    let script = "function thread_init() con = sysbench.sql.driver():connect() end\n\
        function event() con:query('SELECT 1') end\n\
        local total = 0\n\
        function sysbench.hooks.report_intermediate(stat)\n\
        \ttotal = total + stat.events\n\
        \tprint('part', stat.time_interval, stat.time_total, stat.reads > 0, stat.latency_pct > 0)\n\
        \tsysbench.report_default(stat) sysbench.report_csv(stat)\n\
        end\n\
        function sysbench.hooks.report_cumulative(stat)\n\
        \tprint('whole', stat.events, stat.reads, total <= stat.events, stat.errors)\n\
        end\n";
    write(&program, "hooks.lua", script);
    let site = Site::postgres();
    let options =
        ["--threads=2", "--time=3", "--rate=50", "--report-interval=1", "--percentile=99"];
    let out = site.ok(&program, "./hooks.lua", &options, "run");
    let lines: Vec<&str> = out.lines().collect();
    // A second in which the host stood still may have no event.
    let is_part = |line: &&str| line.starts_with("part\t1\t") && line.ends_with("\ttrue\ttrue");
    assert!(lines.iter().any(is_part), "{out}");
    assert!(lines.iter().any(|line| line.starts_with("part\t1\t1\t")), "{out}");
    assert!(lines.iter().any(|line| line.starts_with("[ 2s ] thds: 2 tps: ")), "{out}");
    assert!(lines.iter().any(|line| line.starts_with("2,2,") && line.split(',').count() == 10));
    let completed = last_run(&program)["run"]["total"]["committed"].to_string();
    let whole = format!("whole\t{completed}\t{completed}\ttrue\t0");
    assert_eq!(lines.last(), Some(&whole.as_str()), "{out}");
    // A hook that fails costs its report, not the run.
    write(&program, "broken.lua", &script.replace("print('part'", "error('nothing'"));
    let done = site.call(&program, "./broken.lua", &["--time=2", "--report-interval=1"], "run");
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.err.contains("a report hook of the script failed, and is not called again: "));
    assert!(done.err.contains("broken.lua:6: nothing"), "{}", done.err);
}

/// No line is about the time after the last event has begun, and the length of the whole run is exact.
#[test]
fn reports_of_parts_end_with_the_run() {
    let program = Program::new();
    let script = "function thread_init() con = sysbench.sql.driver():connect() end\n\
        function event() con:query('SELECT pg_sleep(0.75)') end\n\
        function sysbench.hooks.report_intermediate(stat) print('part', stat.time_total) end\n\
        function sysbench.hooks.report_cumulative(stat)\n\
        \tprint('whole', stat.time_total, stat.time_interval)\n\
        end\n";
    write(&program, "ends.lua", script);
    let site = Site::postgres();
    for (limit, parts, lengths) in [("--time=2", 2, 2.2..2.95), ("--events=2", 1, 1.5..1.95)] {
        let out = site.ok(&program, "./ends.lua", &[limit, "--report-interval=1"], "run");
        let found = out.lines().filter(|line| line.starts_with("part\t")).count();
        assert_eq!(found, parts, "{limit}: {out}");
        let whole: Vec<&str> = out.lines().last().unwrap().split('\t').collect();
        assert_eq!(whole[1], whole[2], "{out}");
        assert!(lengths.contains(&whole[1].parse().unwrap()), "{limit}: {out}");
    }
}

/// The shape is that of sysbench 1.0.20: an array of the parts, and one of the whole run.
#[test]
fn json_of_report_hooks_has_the_shape_of_sysbench() {
    let program = Program::new();
    let script = "sysbench.hooks.report_intermediate = sysbench.report_json\n\
        sysbench.hooks.report_cumulative = sysbench.report_json\n\
        function thread_init() con = sysbench.sql.driver():connect() end\n\
        function event() con:query('SELECT 1') end\n";
    write(&program, "json.lua", script);
    let options = ["--threads=2", "--time=2", "--rate=50", "--report-interval=1"];
    let out = Site::postgres().ok(&program, "./json.lua", &options, "run");
    let arrays = serde_json::Deserializer::from_str(&out).into_iter::<Value>();
    let arrays: Vec<Value> = arrays.map(|array| array.expect(&out)).collect();
    let keys = |of: &Value| of.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
    assert_eq!(arrays.len(), 2, "{out}");
    assert!(arrays[0].as_array().unwrap().len() >= 2, "{out}");
    for part in arrays.iter().flat_map(|array| array.as_array().unwrap()) {
        let mut found: Vec<String> = keys(part).split(' ').map(str::to_owned).collect();
        found.sort();
        let all = ["errors", "latency", "qps", "reconnects", "threads", "time", "tps"];
        assert_eq!(found, all, "{out}");
        assert!(part["qps"]["total"].is_f64() && part["qps"]["other"].is_f64(), "{out}");
    }
}

/// Each behaviour was seen with sysbench 1.0.20.
#[test]
fn scripts_for_sysbench_0_5_and_errors_are_as_in_sysbench() {
    let site = Site::mariadb();
    let program = Program::new();
    write(
        &program,
        "old.lua",
        "function prepare()
            db_connect() db_query('CREATE TABLE t (id INT PRIMARY KEY)')
            for i = 1, tonumber(my_rows) do db_query('INSERT INTO t VALUES (' .. i .. ')') end
         end
         function event(id)
            db_query('SELECT id FROM t WHERE id = ' .. sb_rand_uniform(1, my_rows))
         end",
    );
    site.ok(&program, "old.lua", &["--my-rows=33"], "prepare");
    assert_eq!(site.number("SELECT count(*) FROM t"), 33);
    let mut args = vec!["sysbench", "--test=old.lua", "--my-rows=33", "--events=5", "run"];
    args.splice(2..2, site.options.iter().map(String::as_str));
    program.ok(&args);
    assert_eq!(last_run(&program)["run"]["total"]["completed"], 5);
    write(
        &program,
        "errors.lua",
        "local n = 0
         function thread_init() con = sysbench.sql.driver():connect() end
         function sysbench.hooks.sql_error_ignorable(e)
            assert(e.sql_errno == 1062 and e.sql_state == '23000' and not e.sql_errmsg:find('1062'))
         end
         function event()
            n = n + 1
            if n == 2 then error({ errcode = sysbench.error.RESTART_EVENT }) end
            local ok, e = pcall(con.query, con, 'INSERT INTO t VALUES (1)')
            local text = 'SQL error, errno = 1062, state = .23000.: Duplicate entry'
            assert(not ok and e:find(text), e)
         end",
    );
    site.ok(&program, "errors.lua", &["--events=3"], "run");
    let total = &last_run(&program)["run"]["total"];
    assert_eq!((&total["completed"], &total["retried"]), (&Value::from(3), &Value::from(1)));
}
