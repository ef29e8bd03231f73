//! Files with and without errors.

use std::collections::BTreeMap;

use triphammer_core::random::Rng;
use triphammer_core::value::Timestamp;
use triphammer_core::workload::{Workload, WorkloadSettings};

use super::definition::Step;
use super::example;
use super::source::WorkloadText;
use super::workload::Custom;

fn open(text: &str, files: &[(&str, &str)]) -> Result<Custom, String> {
    let files = files.iter().map(|(n, t)| ((*n).to_owned(), (*t).to_owned())).collect();
    let text = WorkloadText { name: "w.toml".into(), text: text.into(), files };
    let options = BTreeMap::from([("workload-file".to_owned(), text.value().unwrap())]);
    let settings = WorkloadSettings { scale: 2.into(), options, ..WorkloadSettings::default() };
    Custom::new(&settings).map_err(|error| error.to_string())
}

/// A file whose only transaction has these statements, after `before`.
fn file(before: &str, statements: &str) -> String {
    format!("{before}\n[[transactions]]\nname = \"t\"\nstatements = [{statements}]\n")
}

fn parameter(generator: &str) -> String {
    file(&format!("[parameters]\na = {{ {generator} }}"), "\"SELECT :a\"")
}

fn example() -> Custom {
    let [(_, text), files @ ..] = example::FILES;
    open(text, &files).unwrap()
}

#[test]
fn the_example_has_no_errors() {
    let custom = example();
    let description = custom.description();
    assert_eq!(description.title, "Bank");
    assert_eq!(&**description.record_name(), "custom/bank");
    assert_eq!(description.transactions.len(), 3);
    assert_eq!(description.primary_metric.transactions, [0, 1]);
    assert_eq!((description.checks.len(), description.audits.len()), (1, 2));
    assert_eq!(*description.audits[0].terms[0].range.end(), 5000);
    assert_eq!(description.cycle.as_ref().unwrap().terminals, 10);
    let setup = description.own_sql.iter().find(|sql| sql.name == "setup.script").unwrap();
    assert!(setup.default.as_ref().unwrap().contains("id <= 1000 * 2;"));
}

#[test]
fn inputs_depend_on_the_seed_and_the_user() {
    let custom = example();
    let inputs = |seed: u64, user: u32| {
        let mut rng = Rng::of(seed, &[]);
        let mut user = custom.user(user, 4, &mut rng);
        let draw = |_| custom.draw(0, &mut user, &mut rng, Timestamp(0)).to_string();
        (0..3).map(draw).collect::<Vec<_>>()
    };
    assert_eq!(inputs(1, 0), inputs(1, 0));
    assert_ne!(inputs(1, 0), inputs(2, 0));
    let first = inputs(1, 3);
    // The numbers of user 3 of 4: 4, 8, 12.
    for (input, payment) in first.iter().zip(["4", "8", "12"]) {
        assert!(input.contains(&format!("payment = {payment}\n")), "{input}");
        assert!(!input.contains("receiver"), "{input}");
    }
    assert!(first[0].contains("details = {\"kind\": \""), "{}", first[0]);
}

#[test]
fn errors_name_their_place_and_what_to_do() {
    let one = "\"SELECT 1\"";
    for (text, message) in [
        ("", "w.toml:1:1: the workload file has no transactions"),
        ("a = \n", ": no valid TOML"),
        (
            "x = 1\n[[transactions]]\nname = \"t\"\nstatements = \"SELECT 1\"",
            "w.toml:1:1: the workload file has no key `x`",
        ),
        (
            &file("nam = \"x\"", one),
            "w.toml:1:1: the workload file has no key `nam`; did you mean `name`?",
        ),
        (&file("", ""), "must have a statement"),
        (&file("", "{ pause = \"1s\" }"), "must have a statement"),
        (&file("", "{ pause = \"1 parsec\" }, \"SELECT 1\""), "`pause`"),
        (&file("", "\"\""), "the statement is empty"),
        (&file("", "\"SELECT 1; SELECT 2\""), "w.toml:4:26: a second statement begins here"),
        (&file("", "\"SELECT 'x\""), "w.toml:4:23: the quotation ' has no end"),
        (&file("", "\"BEGIN\""), "a transaction begins before its first statement"),
        (&file("", "\"SELECT :b\""), "w.toml:4:23: unknown parameter `:b`: declare it"),
        (&file("", "{ sql = \"SELECT 1\", row = 1 }"), "no key `row`; did you mean `rows`?"),
        (&file("", "{ sql = \"SELECT 1\", rows = -1 }"), "must be 0 or more, got -1"),
        (&file("", "{ rows = 1 }"), "needs `sql`"),
        (&file("", "{ sql = \"SELECT 1 AS b\", keep = \"b c\" }"), "`b c` is not a name"),
        (&file("", "{ sql = \"SELECT 1\\u0000\" }"), "contains a NUL character"),
        (&file("primary = \"u\"", one), "no transaction `u`; there are t"),
        (&file("[setup]\nsql = \"x\"", one), "[setup] needs [teardown]"),
        (&file("[teardown]\nsql = \"x\"", one), "[teardown] needs [setup]"),
        (
            &file("[setup]\nsql = { file = \"no.sql\" }\n[teardown]\nsql = \"x\"", one),
            "the file no.sql is missing",
        ),
        (&parameter("max = 1"), "parameter `a` needs `generator`"),
        (&parameter("generator = \"intger\", max = 1"), "did you mean `integer`?"),
        (&parameter("generator = \"integer\""), "needs `max`"),
        (
            &parameter("generator = \"integer\", min = 3, max = 2"),
            "`min` is 3, above `max`, which is 2",
        ),
        (&parameter("generator = \"integer\", max = \"2 * x\""), "such as \"1000 * scale\""),
        (
            &parameter("generator = \"integer\", max = 9, distribution = \"zip\""),
            "did you mean `zipf`?",
        ),
        (
            &parameter(
                "generator = \"integer\", min = -9223372036854775808, max = 9223372036854775807",
            ),
            "too many values",
        ),
        (&parameter("generator = \"decimal\", min = 0, max = 1.234"), "at most 2 digits"),
        (&parameter("generator = \"sequence\", step = 0"), "`step` must not be 0"),
        (&parameter("generator = \"pick\", values = []"), "must not be empty"),
        (
            &parameter("generator = \"csv\", file = \"no.csv\", column = \"a\""),
            "the file no.csv is missing",
        ),
        (
            &parameter("generator = \"date\", min = 2026-02-01, max = 2026-01-01"),
            "`min` is after `max`",
        ),
        (&parameter("generator = \"json\", template = '{'"), "the template is not JSON"),
        (&parameter("generator = \"json\", template = '\":a\"'"), "in a cycle: a"),
        (&parameter("generator = \"json\", template = '\":b\"'"), "unknown parameter `b`"),
        (&file("[parameters]\nb = { generator = \"uuid\" }", one), "parameter `b` is never used"),
        (&file("[parameters]\nscale = { generator = \"uuid\" }", one), "is reserved"),
        (&file("[[checks]]\nname = \"A\"\nsql = \"SELECT 1\"", one), "lower-case letters"),
        (&file("[[audits]]\nname = \"a\"\nsql = \"SELECT 1\"", one), "needs `transactions`"),
    ] {
        let error = open(text, &[]).expect_err(text);
        assert!(error.contains(message), "{text}\n{error}\n{message}");
    }
}

#[test]
fn transactions_with_errors_are_rejected() {
    let transaction = |keys: &str| {
        format!("[[transactions]]\nname = \"t\"\n{keys}\nstatements = [\"UPDATE t SET a = 1\"]\n")
    };
    for (keys, message) in [
        ("weight = 0", "must be from 1 to 1000000, got 0"),
        ("weight = -1", "must be from 1 to 1000000, got -1"),
        ("weight = \"x\"", "must be a whole number, got a text"),
        ("access = \"read\"", "the statement writes, but the transaction has access = \"read\""),
        ("access = \"both\"", "must be read or write"),
        ("isolation = \"total\"", "unknown isolation level `total`"),
        ("think = \"5\"", "`think`"),
        ("counter = \"x\"", "`x` is no integer parameter"),
    ] {
        let error = open(&transaction(keys), &[]).unwrap_err();
        assert!(error.contains(message), "{keys}\n{error}");
    }
    let twice = transaction("").repeat(2);
    let error = open(&twice, &[]).unwrap_err();
    assert!(error.contains("w.toml:6:9: `name` of [[transactions]] is used twice: `t`"), "{error}");
}

#[test]
fn all_problems_are_reported_at_once() {
    let error =
        open("nam = 1\nx = 2\n[[transactions]]\nname = \"T\"\nweight = 0\n", &[]).unwrap_err();
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(lines.len(), 5, "{error}");
    assert!(
        lines[0].starts_with("w.toml:1:1: ") && lines[4].starts_with("w.toml:5:10: "),
        "{error}"
    );
    let many: String = (0..50).map(|n| format!("x{n} = 1\n")).collect();
    let error = open(&many, &[]).unwrap_err();
    assert!(error.lines().count() == 21 && error.ends_with("and 31 more problems"), "{error}");
}

#[test]
fn mysql_reads_comments_and_strings_in_its_own_way() {
    let sql = |statement: &str, chain: &[&str]| {
        let text = file("[parameters]\na = { generator = \"pick\", values = [1] }", statement);
        let custom = open(&text, &[]).unwrap_or_else(|error| panic!("{statement}\n{error}"));
        let chain: Vec<String> = chain.iter().map(ToString::to_string).collect();
        let Some(Step::Statement(first)) = custom.definition.transactions[0].steps.first() else {
            panic!("{statement}: no statement");
        };
        first.sql.of(&chain).map(|part| part.title(&custom.definition.names))
    };
    let (postgres, mariadb) = (&["base", "postgres"] as &[&str], &["base", "mysql", "mariadb"]);
    for (statement, in_postgres, in_mariadb) in [
        ("\"select :a, 5--3\"", Some("select :a, 5"), "select :a, 5--3"),
        ("\"select 5--:a\", \"select :a\"", Some("select 5"), "select 5--:a"),
        ("\"select :a -- of all\"", Some("select :a"), "select :a"),
        // A backslash of PostgreSQL, which does not end the string in MySQL.
        (r"'''select 'a\', :a'''", Some(r"select 'a\', :a"), r"select 'a\', :a"),
        // Only MySQL can read it.
        (r"'''select 'it\'s', :a'''", None, r"select 'it\'s', :a"),
        ("{ sql = \"select :a\", mysql = \"select :a # it's\" }", Some("select :a"), "select :a"),
    ] {
        assert_eq!(sql(statement, postgres).as_deref(), in_postgres, "{statement}");
        assert_eq!(sql(statement, mariadb).as_deref(), Some(in_mariadb), "{statement}");
    }
    let error = open(&file("", "'''select 'a '''"), &[]).map(|_| ()).unwrap_err();
    assert!(error.contains("the quotation ' has no end"), "{error}");
}
