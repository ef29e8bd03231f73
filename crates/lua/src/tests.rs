//! Scripts with an imaginary database: what they ask for, and how they end.

use std::collections::BTreeMap;
use std::sync::Arc;

use triphammer_core::{SpecError, Value};

use crate::{Call, Commands, Environment, Failure, Output, Request, ScriptError, State, Unique};

fn environment(text: &str) -> Environment {
    Environment {
        name: "test.lua".into(),
        text: text.into(),
        folders: Vec::new(),
        command: "run".into(),
        driver: "mysql".into(),
        tid: 3,
        threads: 4,
        options: Arc::new(BTreeMap::new()),
        seed: 1,
        unique: Arc::new(Unique::new(1)),
        output: Output::Stderr,
    }
}

fn state(text: &str) -> State {
    State::new(&environment(text)).unwrap()
}

fn refused(text: &str) -> SpecError {
    State::new(&environment(text)).expect_err("the script is refused")
}

fn shown(value: &Value<'_>) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) => value.to_string(),
        Value::Text(text) => format!("'{text}'"),
        other => format!("{other:?}"),
    }
}

/// Plays the database: each query returns the rows (1, NULL), (2, 'x'); texts with `fail` fail. Returns what was asked
/// for, up to where no more can be answered.
fn play(
    state: &mut State,
    mut seeds: impl Iterator<Item = u64>,
) -> Result<Vec<String>, ScriptError> {
    let mut asked = Vec::new();
    loop {
        let request = state.request()?;
        let line = match &request {
            Request::Execute(id, arguments) => {
                let (mut few, mut many) = ([Value::Null; 16], Vec::new());
                let read = arguments.read(&mut few, &mut many)?;
                format!("execute {id}: {}", read.iter().map(shown).collect::<Vec<_>>().join(", "))
            }
            Request::Query(text) => format!("query {text}"),
            Request::Prepare(text) => format!("prepare {text}"),
            other => format!("{other:?}").to_lowercase(),
        };
        let is_event = matches!(request, Request::Idle | Request::Done);
        let fails = line.contains("fail");
        match request {
            Request::Returned => return Ok(asked),
            Request::Idle | Request::Done => match seeds.next() {
                Some(seed) => state.begin(seed)?,
                None => state.end()?,
            },
            Request::Connect | Request::Disconnect => state.done(0)?,
            Request::Prepare(_) => state.done(7)?,
            Request::Query(_) | Request::Execute(..) if fails => {
                let is_ignorable = line.contains("again");
                let (message, state_of) = ("it failed".to_owned(), "40001".to_owned());
                state.fail(Failure { number: 1213, state: state_of, message, is_ignorable })?;
            }
            Request::Query(_) | Request::Execute(..) => {
                let mut rows = state.buffer();
                rows.reset(2);
                rows.int(1);
                rows.null();
                rows.int(2);
                rows.text("x");
                state.rows(rows)?;
            }
        }
        if !is_event {
            asked.push(line);
        }
    }
}

fn run(state: &mut State, seeds: &[u64]) -> Result<Vec<String>, ScriptError> {
    state.call(Call::ThreadRun, None)?;
    play(state, seeds.iter().copied())
}

#[test]
fn an_event_asks_and_reads_answers() {
    let mut state = state(
        "function thread_init()
            con = sysbench.sql.driver():connect()
            stmt = con:prepare('SELECT ?, ?, ?')
            a, b, c = stmt:bind_create(sysbench.sql.type.INT), stmt:bind_create(3), stmt:bind_create(12, 5)
            b:set(2.5)
            stmt:bind_param(a, b, c)
         end
         function event(id)
            a:set(sysbench.tid * 10 + id)
            c:set_rand_str('#@')
            local rs = stmt:execute()
            local one, two = rs:fetch_row(), rs:fetch_row()
            assert(rs.nrows == 2 and rs.nfields == 2 and one[1] == '1' and one[2] == nil)
            assert(two[2] == 'x' and rs:fetch_row() == nil)
            con:query(two[1] .. sysbench.opt.threads)
            assert(select('#', con:query_row('q')) == 2)
         end",
    );
    state.call(Call::Named("thread_init"), None).unwrap();
    assert_eq!(
        play(&mut state, std::iter::empty()).unwrap(),
        ["connect", "prepare SELECT ?, ?, ?"]
    );
    let asked = run(&mut state, &[5 << 40, 5 << 40, 6 << 40]).unwrap();
    let (first, rest) = asked.split_at(3);
    assert!(first[0].starts_with("execute 7: 33, 2, '"), "{first:?}");
    assert_eq!(first[1..], ["query 24", "query q"]);
    // The same seed means the same numbers.
    assert_eq!(first, &rest[..3]);
    assert_ne!(first[0], rest[3]);
}

#[test]
fn a_query_can_fail_in_pcall_and_in_a_coroutine() {
    let mut state = state(
        "function event()
            local con = sysbench.sql.driver():connect()
            local ok, error = pcall(function() con:query('fail') end)
            local text = [[test.lua:3: SQL error, errno = 1213, state = '40001': it failed]]
            assert(not ok and error == text, error)
            assert(con.sql_errno == 1213 and con.sql_state == '40001')
            assert(con.sql_errmsg == 'it failed')
            local co = coroutine.wrap(function()
               con:query('inner')
               coroutine.yield('mine')
               local co = coroutine.create(function() con:query('innermost') end)
               assert(coroutine.resume(co))
               con:query('again and fail')
            end)
            assert(co() == 'mine')
            co()
         end",
    );
    state.call(Call::ThreadRun, None).unwrap();
    let error = play(&mut state, [1].into_iter()).unwrap_err();
    // An error in a coroutine loses its kind only if the script rethrows it as text.
    assert!(error.restarts(), "{error}");
    assert_eq!(state.counts().errors, 2);
}

#[test]
fn an_event_is_restarted_after_its_hook() {
    let mut state = state(
        "local tries = 0
         function thread_init() con = sysbench.sql.driver():connect() end
         function event()
            tries = tries + 1
            con:query(tries < 2 and 'fail again' or 'good')
         end
         function sysbench.hooks.before_restart_event(error)
            con:query('hook ' .. error.sql_errno)
         end",
    );
    state.call(Call::Named("thread_init"), None).unwrap();
    play(&mut state, std::iter::empty()).unwrap();
    let error = run(&mut state, &[1]).unwrap_err();
    assert!(error.restarts());
    state.call(Call::ThreadRun, Some(error)).unwrap();
    assert_eq!(play(&mut state, [1].into_iter()).unwrap(), ["query hook 1213", "query good"]);
}

#[test]
fn an_event_that_returns_true_ends_its_thread() {
    let mut state = state("n = 0  function event() n = n + 1  return n == 2 end");
    state.call(Call::ThreadRun, None).unwrap();
    let mut seeds = 0..10;
    play(&mut state, seeds.by_ref()).unwrap();
    assert_eq!(seeds.next(), Some(2));
}

#[test]
fn rows_are_inserted_in_bulk() {
    let mut state = state(
        "function prepare()
            local con = sysbench.sql.driver():connect()
            con:bulk_insert_init('INSERT INTO t VALUES')
            for i = 1, 3 do con:bulk_insert_next('(' .. i .. ')') end
            con:bulk_insert_done()
            con:disconnect()
         end
         sysbench.cmdline.commands = {warm = {prepare, sysbench.cmdline.PARALLEL_COMMAND}}",
    );
    assert_eq!(state.has("warm"), Some(Commands::Parallel));
    assert_eq!(state.has("prepare"), Some(Commands::Single));
    assert_eq!(state.has("cleanup"), None);
    state.call(Call::Named("prepare"), None).unwrap();
    let asked = play(&mut state, std::iter::empty()).unwrap();
    assert_eq!(asked, ["connect", "query INSERT INTO t VALUES (1),(2),(3)", "disconnect"]);
}

#[test]
fn options_are_declared_given_and_checked() {
    let text = "sysbench.cmdline.options = {
        table_size = {'Rows', 10000}, skip_trx = {'No BEGIN', false}, variant = {'Variant'}}
        function event()
            assert(sysbench.opt.table_size == 5 and sysbench.opt.skip_trx and sysbench.opt.variant == '')
            assert(threads == nil and table_size == nil and sysbench.opt.threads == 4)
            assert(sysbench.opt.rand_type == 'uniform')
        end";
    let given = |pairs: &[(&str, &str)]| {
        let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let options = Arc::new(pairs.collect());
        State::new(&Environment { options, ..environment(text) })
    };
    let mut state =
        given(&[("table_size", "5"), ("skip_trx", ""), ("rand_type", "uniform")]).unwrap();
    run(&mut state, &[1]).unwrap();
    let names: Vec<_> = state.options().iter().map(|option| option.name.as_str()).collect();
    assert_eq!(names, ["skip_trx", "table_size", "variant"]);
    let error = given(&[("table_sise", "5")]).unwrap_err().to_string();
    assert_eq!(
        error,
        "the script test.lua has no option --table-sise: it declares skip-trx, table-size, variant"
    );
    let error = given(&[("table_size", "many")]).unwrap_err().to_string();
    assert!(error.starts_with("--table-size many: expected a number"), "{error}");
    let error = given(&[("table_size", "2K")]).unwrap_err().to_string();
    assert!(error.starts_with("--table-size 2K: expected a number without a unit"), "{error}");
    let error = given(&[("rand_type", "foo")]).unwrap_err().to_string();
    assert!(error.starts_with("--rand-type foo: expected one of uniform, "), "{error}");
}

/// What sysbench 1.0.20 makes of these declarations was seen by running it.
#[test]
fn declared_options_have_their_declared_type() {
    let mut declared = state(
        "local c = sysbench.cmdline
         c.options = {
            off = {'', 'off', c.ARG_BOOL}, zero = {'', 0, c.ARG_BOOL}, bool = {'', nil, c.ARG_BOOL},
            int = {'', '7', c.ARG_INT}, no_int = {'', nil, c.ARG_INT},
            size = {'', '4K', c.ARG_SIZE}, no_size = {'', nil, c.ARG_SIZE},
            double = {'', 5}, no_double = {'', nil, c.ARG_DOUBLE}, wrong = {'', 5, c.ARG_TABLE},
            text = {'', 2, c.ARG_STRING}, yes = {'', true, c.ARG_STRING},
            no_text = {'', nil, c.ARG_STRING}, none = {''},
            list = {'', 'a,b', c.ARG_LIST}, items = {'', {'a', 'b'}}, no_list = {'', nil, c.ARG_LIST},
         }
         function event()
            local o, concat = sysbench.opt, table.concat
            assert(o.off == false and o.zero == false and o.bool == true)
            assert(o.int == 7 and o.no_int == 0 and o.size == 4096 and o.no_size == 0)
            assert(o.double == 5 and o.no_double == 0 and o.wrong == 5)
            assert(o.text == '2' and o.yes == 'on' and o.no_text == '' and o.none == '')
            assert(concat(o.list, '|') == 'a|b' and concat(o.items, '|') == 'a|b' and #o.no_list == 0)
         end",
    );
    run(&mut declared, &[1]).unwrap();
    let shown: Vec<_> = declared.options().iter().map(|option| option.default.clone()).collect();
    assert!(shown.contains(&Some("4K".to_owned())) && shown.contains(&Some("a,b".to_owned())));
    for (declaration, message) in [
        ("{'', 'x', 99}", "unknown type of the option x"),
        ("{'', 'x', 0}", "unknown type of the option x"),
        ("{'', 'x', '5'}", "unknown type of the option x"),
        ("{'', print}", "unknown type of the option x"),
        ("{'', '4K', sysbench.cmdline.ARG_INT}", "the default of --x 4K: expected a whole number"),
    ] {
        let error = refused(&format!("sysbench.cmdline.options = {{x = {declaration}}}"));
        assert!(error.to_string().contains(message), "{declaration}: {error}");
    }
}

#[test]
fn bound_values_are_converted_as_in_sysbench() {
    let mut state = state(
        "function event()
            local con, T = sysbench.sql.driver():connect(), sysbench.sql.type
            local s = con:prepare('s')
            local int, text, double = s:bind_create(T.INT), s:bind_create(T.VARCHAR, 3), s:bind_create(T.DOUBLE)
            s:bind_param(int, text, double)
            s:execute()
            int:set(-2.7) text:set('abcdef') double:set(1.5)
            s:execute()
            int:set(nil) text:set('a\u{e9}\u{e9}') double:set(nil)
            s:execute()
            text:set('ab\u{e9}') int:set(5ULL)
            s:execute()
            text:set_rand_str('wxyz')
            local twice = con:prepare('twice')
            twice:bind_param(text, text)
            twice:execute()
         end",
    );
    let asked = run(&mut state, &[1]).unwrap();
    assert_eq!(
        asked[2..],
        [
            "execute 7: 0, '', 0",
            "execute 7: -2, 'abc', 1.5",
            "execute 7: NULL, 'a\u{e9}', NULL",
            "execute 7: 5, 'ab', NULL",
            "prepare twice",
            "execute 7: 'wxy', 'wxy'",
        ]
    );
}

/// Names and behaviour of sysbench 1.0.20 for scripts that were written for 0.5.
#[test]
fn scripts_for_sysbench_0_5_have_its_names() {
    let mut old = state(
        "assert(mysql_table_engine == 'innodb' and myisam_max_rows == 1000000)
         assert(sysbench.db.query == db_query and DB_ERROR_FAILED == sysbench.db.DB_ERROR_FAILED)
         function event()
            db_connect()
            db_connect()
            assert(db_query('SELECT 1') == nil)
            local values = {1, 'one'}
            local stmt = db_prepare('SELECT ?, ?')
            db_bind_param(stmt, values)
            for i = 1, 2 do
               values[1], values[2] = i + 0.5, ('x'):rep(i)
               local rs = db_execute(stmt)
               db_store_results(rs)
               db_free_results(rs)
            end
            values[2] = nil
            db_execute(stmt)
            db_close(stmt)
            assert(not pcall(db_bind_param, stmt, {}) and not pcall(db_bind_param, stmt, {true}))
            local drawn = sb_rand_uniq(1, 3000000000)
            assert(drawn >= 1 and drawn <= 3000000000 and sb_rand_uniq() and sb_rnd() <= 4294967295)
            db_disconnect()
         end",
    );
    let asked = run(&mut old, &[1]).unwrap();
    assert_eq!(
        asked,
        [
            "connect",
            "query SELECT 1",
            "prepare SELECT ?, ?",
            "execute 7: 1, 'x'",
            "execute 7: 2, 'xx'",
            "execute 7: 2, NULL",
            "disconnect",
        ]
    );
    let text = "function event() assert(mysql_table_engine == 'myisam') end";
    run(&mut with_options(text, &[("mysql_table_engine", "myisam")]).unwrap(), &[1]).unwrap();
}

/// A script with these options.
fn with_options(text: &str, options: &[(&str, &str)]) -> Result<State, SpecError> {
    let options = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    State::new(&Environment { options: Arc::new(options.collect()), ..environment(text) })
}

/// What sysbench 1.0.20 does with such a script was seen by running it.
#[test]
fn a_script_without_declared_options_has_all_of_them_as_globals() {
    let text = "assert(sysbench.opt == nil and my_rows == nil and threads == nil)
        rows, threads = my_rows or 7, 99
        function event()
            assert(rows == 7 and my_rows == '33' and flag == '' and threads == 4 and time == 10)
            assert(debug == false and string == 'x' and num_threads == 1 and test == 'test.lua')
            assert(sysbench.opt.my_rows == '33' and nothing == nil)
            assert(sysbench.rand.string('@'):len() == 1)
            sysbench.sql.driver():connect():query('SELECT ' .. my_rows)
            print('so many rows', my_rows)
        end";
    let mut state =
        with_options(text, &[("my_rows", "33"), ("flag", ""), ("string", "x")]).unwrap();
    assert_eq!(run(&mut state, &[1]).unwrap(), ["connect", "query SELECT 33"]);
    assert_eq!(state.options(), []);
    // A list of options without one is a list, and a general option keeps its kind.
    let error = with_options("sysbench.cmdline.options = {}", &[("my_rows", "3")]).unwrap_err();
    assert!(error.to_string().ends_with("has no option --my-rows: it declares none"), "{error}");
    let text =
        "function event() assert(rand_spec_pct == 3 and sysbench.opt.rand_spec_pct == 3) end";
    run(&mut with_options(text, &[("rand_spec_pct", "3")]).unwrap(), &[1]).unwrap();
    for (name, value, expected) in [
        ("rand_spec_iter", "0", "--rand-spec-iter 0: expected a number of 1 or more"),
        ("rand_spec_res", "101", "--rand-spec-res 101: expected a number from 0 to 100"),
    ] {
        let error = with_options("x = 1", &[(name, value)]).unwrap_err().to_string();
        assert_eq!(error, expected);
    }
}

#[test]
fn a_script_may_connect_and_draw_while_it_is_loaded() {
    let mut state = state(
        "drv = sysbench.sql.driver()
         con = drv:connect()
         first = sysbench.rand.uniform(5, 5)
         function event() con:query('SELECT ' .. first) end",
    );
    assert_eq!(run(&mut state, &[1]).unwrap(), ["query SELECT 5"]);
}

#[test]
fn a_script_can_restart_its_event() {
    let mut state = state(
        "local n = 0
         function thread_init() con = sysbench.sql.driver():connect() end
         function event()
            n = n + 1
            if n == 2 then error({ errcode = sysbench.error.RESTART_EVENT }) end
            con:query('SELECT ' .. n)
         end",
    );
    state.call(Call::Named("thread_init"), None).unwrap();
    play(&mut state, std::iter::empty()).unwrap();
    let error = run(&mut state, &[1, 2]).unwrap_err();
    assert!(error.restarts());
    state.call(Call::ThreadRun, Some(error)).unwrap();
    assert_eq!(play(&mut state, [2].into_iter()).unwrap(), ["query SELECT 3"]);
}

#[test]
fn symbols_of_sysbench_are_found_through_ffi() {
    let mut state = state(
        "local ffi = require('ffi')
         ffi.cdef[[ void sb_counter_inc(int, sb_counter_type); int abs(int); ]]
         function event()
            ffi.C.sb_counter_inc(sysbench.tid, ffi.C.SB_CNT_ERROR)
            assert(ffi.C.abs(-3) == 3)
         end",
    );
    run(&mut state, &[1, 2]).unwrap();
    assert_eq!(state.counts().errors, 2);
}

#[test]
fn distributions_have_their_shapes() {
    let mut state = state(
        "function share(draw, low, high)
            local n = 0
            for _ = 1, 20000 do
               local x = draw(1, 1000)
               assert(x >= 1 and x <= 1000 and x % 1 == 0)
               if x >= low and x <= high then n = n + 1 end
            end
            return n / 20000
         end
         function event()
            local rand = sysbench.rand
            local function near(found, wanted) assert(math.abs(found - wanted) < 0.02, found) end
            near(share(rand.uniform, 1, 500), 0.5)
            near(share(rand.gaussian, 401, 600), 0.77)
            near(share(rand.special, 498, 506), 0.76)
            near(share(rand.pareto, 1, 100), 0.727)
            near(share(rand.zipfian, 1, 1), 0.0655)
            near(share(rand.default, 498, 506), 0.76)
            assert(rand.string('##@@-x'):find('^%d%d%l%l%-x$'))
            assert(#rand.varstring(3, 3) == 3 and rand.unique() ~= rand.unique())
            assert(sb_rand(1, 1) == 1 and sb_rand_uniform(2.5, 2.9) == 2)
         end",
    );
    run(&mut state, &[11]).unwrap();
}

/// How often each value is drawn, in the order of the values.
type Drawn = BTreeMap<i64, u64>;

/// Draws numbers, and shows how often each was drawn.
const DRAWS: &str = "
    sysbench.cmdline.options = {n = {'', 1}, low = {'', 1}, high = {'', 1}, kind = {'', 'special'}}
    function event()
        local opt, counts, shown = sysbench.opt, {}, {}
        local draw = sysbench.rand[opt.kind]
        for _ = 1, opt.n do
            local value = draw(opt.low, opt.high)
            counts[value] = (counts[value] or 0) + 1
        end
        for value, count in pairs(counts) do shown[#shown + 1] = value .. ':' .. count end
        show(table.concat(shown, ' '))
    end\n";

fn drawn(shown: &str) -> Drawn {
    let pairs = shown.split_whitespace().map(|pair| {
        let (value, count) = pair.split_once(':').unwrap();
        (value.parse().unwrap(), count.parse().unwrap())
    });
    pairs.collect()
}

/// What the installed sysbench draws.
fn drawn_by_sysbench(script: &std::path::Path, options: &[(&str, &str)]) -> Drawn {
    let options =
        options.iter().map(|(name, value)| format!("--{}={value}", name.replace('_', "-")));
    let done = std::process::Command::new("sysbench")
        .arg(script)
        .args(options)
        .args(["--events=1", "--time=0", "--rand-seed=7", "run"])
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
    drawn(&String::from_utf8(done.stderr).unwrap())
}

/// The distance of two samples of the same size, Σ (a - b)² / (a + b) over bins of neighbouring
/// values, and its degrees of freedom.
#[expect(clippy::cast_precision_loss, reason = "small counts")]
fn distance(ours: &Drawn, theirs: &Drawn) -> (f64, f64) {
    const BIN_MIN: f64 = 50.0;
    let values: std::collections::BTreeSet<i64> =
        ours.keys().chain(theirs.keys()).copied().collect();
    let (mut sum, mut bins, mut bin) = (0.0, 0.0, (0.0, 0.0));
    for value in values {
        let seen = |drawn: &Drawn| drawn.get(&value).copied().unwrap_or(0) as f64;
        bin = (bin.0 + seen(ours), bin.1 + seen(theirs));
        if bin.0 + bin.1 >= BIN_MIN {
            sum += (bin.0 - bin.1).powi(2) / (bin.0 + bin.1);
            bins += 1.0;
            bin = (0.0, 0.0);
        }
    }
    (sum, f64::max(bins - 1.0, 1.0))
}

#[test]
fn distributions_are_those_of_sysbench() {
    if std::process::Command::new("sysbench").arg("--version").output().is_err() {
        eprintln!("skipped: sysbench is not installed (`make deps` installs it)");
        return;
    }
    let folder = std::env::temp_dir().join(format!("triphammer-draws-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let script = folder.join("draws.lua");
    std::fs::write(&script, format!("{DRAWS}function show(text) io.stderr:write(text) end"))
        .unwrap();
    let ours =
        format!("{DRAWS}function show(text) sysbench.sql.driver():connect():query(text) end");
    for (kind, low, high, more) in [
        ("uniform", "3", "12", [("rand_spec_pct", "1"), ("rand_spec_res", "75")]),
        ("gaussian", "1", "10", [("rand_spec_iter", "12"), ("rand_spec_res", "75")]),
        ("gaussian", "1", "1000", [("rand_spec_iter", "3"), ("rand_spec_res", "75")]),
        ("pareto", "1", "10", [("rand_pareto_h", "0.2"), ("rand_spec_res", "75")]),
        ("pareto", "5", "5000", [("rand_pareto_h", "0.1"), ("rand_spec_res", "75")]),
        ("special", "1", "10000", [("rand_spec_pct", "1"), ("rand_spec_res", "75")]),
        ("special", "1", "100", [("rand_spec_pct", "1"), ("rand_spec_res", "75")]),
        ("special", "7", "12", [("rand_spec_pct", "20"), ("rand_spec_res", "25")]),
        ("special", "1", "100", [("rand_spec_pct", "50"), ("rand_spec_res", "100")]),
        ("special", "1", "2", [("rand_spec_pct", "1"), ("rand_spec_iter", "1")]),
        ("default", "1", "1000", [("rand_spec_pct", "10"), ("rand_spec_res", "50")]),
    ] {
        let mut options = vec![("n", "200000"), ("kind", kind), ("low", low), ("high", high)];
        options.extend(more);
        let theirs = drawn_by_sysbench(&script, &options);
        let mut state = with_options(&ours, &options).unwrap();
        let asked = run(&mut state, &[1 << 40]).unwrap();
        let ours = drawn(asked[1].strip_prefix("query ").unwrap());
        let (distance, freedom) = distance(&ours, &theirs);
        // χ² exceeds its mean by five standard deviations and ten once in millions of times.
        let most = freedom + 5.0 * (2.0 * freedom).sqrt() + 10.0;
        assert!(distance < most, "{options:?}: {distance} with {freedom} degrees of freedom");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn errors_name_file_and_line() {
    assert!(refused("\n\nx = = 1").to_string().starts_with("test.lua:3: unexpected symbol"));
    assert!(refused("x = 1\0").to_string().contains("test.lua:1:"));
    let error = refused("\nsysbench.sql.driver():connect():query('x')").to_string();
    assert!(error.contains("cannot be used while the script is loaded"), "{error}");
    assert!(
        refused("\nnothing.at_all = 1").to_string().starts_with("test.lua:2: attempt to index")
    );
    let error = run(&mut state("function event()\n error('no')\nend"), &[1]).unwrap_err();
    assert_eq!(error.to_string(), "test.lua:2: no");
    let error = run(&mut state("function event() coroutine.yield(99) end"), &[1]).unwrap_err();
    assert!(error.to_string().contains("outside of a coroutine"), "{error}");
    let error = run(&mut state("function event() os.exit(1) end"), &[1]).unwrap_err();
    assert!(error.to_string().contains("os.exit() is not available"), "{error}");
}

#[test]
fn memory_and_recursion_are_limited() {
    let text =
        "function event() local t = {} while true do t[#t + 1] = ('x'):rep(1e5) .. #t end end";
    let error = run(&mut state(text), &[1]).unwrap_err();
    assert_eq!(error.to_string(), "not enough memory: a script may use 64 MiB");
    let text = "function f(n) return 1 + f(n + 1) end  function event() f(1) end";
    let error = run(&mut state(text), &[1]).unwrap_err();
    assert!(error.to_string().contains("stack overflow"), "{error}");
}

#[test]
fn an_endless_loop_ends_compiled_or_not_even_if_it_catches_errors() {
    let loops = [
        "function event() local n = 0 while true do n = n + 1 end end",
        "function event() while true do pcall(function() while true do end end) end end",
        "jit.off() function event() while true do end end",
        "local co = coroutine.wrap(function() while true do end end) function event() co() end",
    ];
    let threads = loops.map(|text| {
        std::thread::spawn(move || run(&mut state(text), &[1]).unwrap_err().to_string())
    });
    for thread in threads {
        let error = thread.join().unwrap();
        let expected = "test.lua:1: the script used 10 s of CPU time without a statement";
        assert!(error.contains(expected), "{error}");
    }
    let error = refused("\nlocal n = 0\nwhile true do n = n + 1 end").to_string();
    assert!(error.contains("test.lua:3: the script used 10 s of CPU time"), "{error}");
}
