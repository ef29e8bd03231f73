//! Scripts with an imaginary database: what they ask for, and how they end.

use std::collections::BTreeMap;
use std::sync::Arc;

use triphammer_core::{SpecError, Value};

use crate::{Call, Commands, Environment, Output, Request, ScriptError, State, Unique};

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
                state.fail(Some("1213"), "it failed (1213)".to_owned(), is_ignorable)?;
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
    assert!(first[0].starts_with("execute 7: 33, 2.5, '"), "{first:?}");
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
            assert(not ok and error:find('test.lua:3: it failed %(1213%)'), error)
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
            assert(sysbench.opt.table_size == 5 and sysbench.opt.skip_trx and sysbench.opt.variant == nil)
            assert(threads == 4 and sysbench.opt.rand_type == 'uniform')
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
    assert!(error.starts_with("--table-size many: expected a whole number"), "{error}");
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
            near(share(rand.special, 496, 505), 0.75 + 0.25 * 0.05)
            near(share(rand.pareto, 1, 100), 0.727)
            near(share(rand.zipfian, 1, 1), 0.0655)
            near(share(rand.default, 496, 505), 0.7625)
            assert(rand.string('##@@-x'):find('^%d%d%l%l%-x$'))
            assert(#rand.varstring(3, 3) == 3 and rand.unique() ~= rand.unique())
            assert(sb_rand(1, 1) == 1 and sb_rand_uniform(2.5, 2.9) == 2)
         end",
    );
    run(&mut state, &[11]).unwrap();
}

#[test]
fn errors_name_file_and_line() {
    assert!(refused("\n\nx = = 1").to_string().starts_with("test.lua:3: unexpected symbol"));
    assert!(refused("x = 1\0").to_string().contains("test.lua:1:"));
    let error = refused("\nsysbench.sql.driver():connect()").to_string();
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
