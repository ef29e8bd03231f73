use super::*;

fn parsed(text: &str) -> Result<(Program, Names), String> {
    let mut names = Names::default();
    parse("a.sql", text, &mut names).map(|program| (program, names))
}

fn error(text: &str) -> String {
    parsed(text).expect_err(text)
}

/// The SQL of a script as it is sent without values: one line per command, its statements joined by
/// bars.
fn statements(text: &str) -> Vec<String> {
    let (program, names) = parsed(text).unwrap();
    let variables = vec![super::super::variable::Variable::Unset; names.len()];
    let write = |sql: &Sql| {
        let texts = sql.parts.iter().map(|part| {
            let mut text = String::new();
            part.write(&variables, &names, &mut text);
            text
        });
        texts.collect::<Vec<_>>().join(" | ")
    };
    program.sql.iter().map(write).collect()
}

#[test]
fn statements_end_at_their_semicolons() {
    for (text, expected) in [
        ("SELECT 1;\n\nSELECT 2 ;", vec!["SELECT 1", "SELECT 2"]),
        ("SELECT 1", vec!["SELECT 1"]),
        (";;SELECT 1;;", vec!["SELECT 1"]),
        ("SELECT ';', \"a;b\", 'it''s;';", vec!["SELECT ';', \"a;b\", 'it''s;'"]),
        ("SELECT E'\\';', 'a\\';", vec!["SELECT E'\\';', 'a\\'"]),
        ("DO $$ a; b; $$; SELECT $x$;$$;$x$;", vec!["DO $$ a; b; $$", "SELECT $x$;$$;$x$"]),
        ("SELECT a$1;b;", vec!["SELECT a$1", "b"]),
        ("-- one; two\nSELECT 1 -- three;\n, 2;", vec!["SELECT 1 \n, 2"]),
        ("SELECT /* ; /* ; */ */ 1;", vec!["SELECT /* ; /* ; */ */ 1"]),
        ("CREATE RULE r AS DO (a; b); SELECT 1;", vec!["CREATE RULE r AS DO (a; b)", "SELECT 1"]),
        (
            "CREATE OR REPLACE FUNCTION f() BEGIN ATOMIC SELECT CASE WHEN 1 THEN 2 END; SELECT 3; \
             END; SELECT 4;",
            vec![
                "CREATE OR REPLACE FUNCTION f() BEGIN ATOMIC SELECT CASE WHEN 1 THEN 2 END; \
                 SELECT 3; END",
                "SELECT 4",
            ],
        ),
        ("BEGIN; SELECT 1; END;", vec!["BEGIN", "SELECT 1", "END"]),
        ("\\; \\; SELECT 0 \\; SELECT 5 \\; ;", vec!["SELECT 0 | SELECT 5"]),
        ("SELECT a\\:\\:int;", vec!["SELECT a::int"]),
        ("SELECT 1\n\\set x 1\nSELECT 2;", vec!["SELECT 1", "SELECT 2"]),
    ] {
        assert_eq!(statements(text), expected, "{text}");
    }
}

#[test]
fn variables_become_placeholders_outside_quotations() {
    use triphammer_core::sql::Placeholder;
    let (program, names) =
        parsed("SELECT :b, :a::int, x[1:2], ':a', \"_:b\", :b /* :a */, '12:30';").unwrap();
    let part = &program.sql[0].parts[0];
    let (bound, slots) = part.bound(Placeholder::Dollar, &names);
    assert_eq!(bound.sql, "SELECT $1, $2::int, x[1:2], ':a', \"_:b\", $1 /* :a */, '12:30'");
    let named: Vec<_> = slots.iter().map(|slot| names.name(*slot)).collect();
    assert_eq!((named, bound.order), (vec!["b", "a"], vec![0, 1]));
    let (bound, _) = part.bound(Placeholder::Question, &names);
    assert_eq!(bound.sql, "SELECT ?, ?::int, x[1:2], ':a', \"_:b\", ? /* :a */, '12:30'");
    assert_eq!(bound.order, [0, 1, 0]);
    let mut variables = vec![super::super::variable::Variable::Unset; names.len()];
    variables[names.find("a").unwrap()] =
        super::super::variable::Variable::Value(super::super::variable::Value::Int(7));
    let mut text = String::new();
    part.write(&variables, &names, &mut text);
    assert_eq!(text, "SELECT :b, 7::int, x[1:2], '7', \"_:b\", :b /* 7 */, '12:30'");
}

#[test]
fn syntax_errors_name_file_line_and_column() {
    for (text, expected) in [
        ("\\if 1", "a.sql:1:1: \\if without matching \\endif"),
        ("\\elif 1", "a.sql:1:1: \\elif without matching \\if"),
        ("\\else", "a.sql:1:1: \\else without matching \\if"),
        ("\\endif", "a.sql:1:1: \\endif without matching \\if"),
        ("\\if 1\n\\else\n\\elif 0\n\\endif", "a.sql:3:1: \\elif after \\else"),
        ("\\if 1\n\\else\n\\else\n\\endif", "a.sql:3:1: \\else after \\else"),
        ("\\if\n\\endif\n", "a.sql:1:4: syntax error at the end: expected an expression"),
        ("\\if 0\n\\elif +\n\\endif\n", "a.sql:2:8: syntax error at the end"),
        ("\\if 0\n\\else BAD\n\\endif\n", "a.sql:2:7: unexpected argument of \\else: `BAD`"),
        ("\\if 0\n\\endif BAD\n", "a.sql:2:8: unexpected argument of \\endif: `BAD`"),
        ("\\set i 1 +\n", "a.sql:1:11: syntax error at the end: expected an expression"),
        ("SELECT 1;\n  \\set i least()\n", "a.sql:2:10: at least one argument expected (least)"),
        ("\\set é \\\n 1 +* 2\n", "a.sql:2:5: syntax error at `*`"),
        ("\\set 1a 2", "a.sql:1:6: invalid variable name `1a`"),
        ("\\set", "a.sql:1:1: \\set needs a variable"),
        ("\\set a", "a.sql:1:7: syntax error at the end"),
        ("\\nope", "a.sql:1:1: invalid command \\nope"),
        ("\\ set a 1", "a.sql:1:1: a backslash without a command"),
        ("\\sleep", "a.sql:1:1: \\sleep needs a time"),
        ("\\sleep x", "a.sql:1:8: \\sleep needs a whole number or a variable, got `x`"),
        ("\\sleep 1 week", "a.sql:1:10: unrecognized time unit `week`: must be us, ms or s"),
        ("\\sleep 1 s now", "a.sql:1:12: unexpected argument of \\sleep: `now`"),
        ("\\gset", "a.sql:1:1: \\gset must follow an SQL command"),
        ("SELECT 1 \\gset\n\\gset", "a.sql:2:1: \\gset must follow an SQL command"),
        ("SELECT 1 \\gset a-b", "a.sql:1:16: invalid prefix `a-b`"),
        ("\\startpipeline\nSELECT 1 \\gset\n", "a.sql:2:10: \\gset is not allowed in pipeline"),
        ("\\startpipeline\n\\startpipeline\n", "a.sql:2:1: \\startpipeline: already in pipeline"),
        ("\\endpipeline\n", "a.sql:1:1: \\endpipeline: not in pipeline mode"),
        (
            "SELECT 1;\n\\startpipeline\nSELECT 2;\n",
            "a.sql:2:1: \\startpipeline: the script ends in its pipeline: \\endpipeline is missing",
        ),
        ("\\sleep - s", "a.sql:1:8: \\sleep needs a whole number or a variable, got `-`"),
        ("\\setrandom a 1 10", "replace it with \\set a random(1, 10)"),
        ("\\setrandom a 1 :n gaussian 2.5", "replace it with \\set a random_gaussian(1, :n, 2.5)"),
        ("SELECT 1;\nSELECT 'a", "a.sql:2:8: the quotation ' has no end"),
        ("SELECT $a$ $b$;", "a.sql:1:8: the dollar quotation has no end"),
        ("SELECT 1 /* x", "a.sql:1:10: the comment has no end"),
        ("SELECT 1;\nSELECT '\0'", "a.sql:2:9: the script contains a NUL character"),
        ("", "a.sql:1:1: the script has no commands"),
        ("-- nothing\n/* */;", "a.sql:1:1: the script has no commands"),
    ] {
        let found = error(text);
        assert!(found.contains(expected), "{text}: {found}");
    }
}

#[test]
fn commands_take_their_arguments() {
    let text =
        "\\sleep 10ms\n\\sleep :x us\n\\SLEEP 2\n\\setshell a echo \\\n :b ::c\n\\sleep -1 s\n";
    let (program, names) = parsed(text).unwrap();
    let actions: Vec<_> = program.steps.into_iter().map(|step| step.action).collect();
    let slot = |name: &str| names.find(name).unwrap();
    let words = vec![
        ShellWord::Text("echo".into()),
        ShellWord::Variable(slot("b")),
        ShellWord::Text(":c".into()),
    ];
    assert_eq!(
        actions,
        [
            Action::Sleep(Amount::Constant(10), Unit::Milliseconds),
            Action::Sleep(Amount::Variable(slot("x")), Unit::Microseconds),
            Action::Sleep(Amount::Constant(2), Unit::Seconds),
            Action::Shell(words, Some(slot("a"))),
            // As in pgbench, it does not wait.
            Action::Sleep(Amount::Constant(-1), Unit::Seconds),
        ]
    );
}

#[test]
fn captures_belong_to_the_statement_before_them() {
    let text = "SELECT 1 AS a \\gset\nSELECT 2 AS b; \\gset p_\nSELECT 3 \\; SELECT 4 \\aset\n\
                SELECT 5;\n";
    let (program, _) = parsed(text).unwrap();
    let captures: Vec<_> = program.sql.iter().map(|sql| sql.capture.clone()).collect();
    assert_eq!(
        captures,
        [
            Capture::One(String::new()),
            Capture::One("p_".into()),
            Capture::All(String::new()),
            Capture::Nothing
        ]
    );
    let lines: Vec<_> = program.sql.iter().map(|sql| sql.line).collect();
    assert_eq!(lines, [1, 2, 3, 4]);
    let commands: Vec<_> = program.steps.iter().map(|step| step.command).collect();
    assert_eq!(commands, [1, 2, 3, 4]);
}

/// The lines that a script with these conditions reaches.
#[test]
fn branches_jump_to_their_ends() {
    let text = "\\if :a\nA;\n\\elif :b\nB;\n\\else\nC;\n\\endif\nD;\n";
    let (program, names) = parsed(text).unwrap();
    for (a, b, expected) in [(1, 0, "A D"), (0, 1, "B D"), (0, 0, "C D"), (1, 1, "A D")] {
        let mut variables = vec![super::super::variable::Variable::Unset; names.len()];
        for (name, value) in [("a", a), ("b", b)] {
            variables[names.find(name).unwrap()] =
                super::super::variable::Variable::Value(super::super::variable::Value::Int(value));
        }
        let mut machine = super::super::expression::Machine::default();
        let mut rng = triphammer_core::random::Rng::of(1, &[]);
        let (mut at, mut reached) = (0, Vec::new());
        while let Some(step) = program.steps.get(at) {
            at += 1;
            match &step.action {
                Action::Sql(index) => {
                    reached.push(program.sql[*index].parts[0].title(&names));
                }
                Action::Jump(to) => at = *to,
                Action::Unless(condition, to) => {
                    let value = machine.evaluate(condition, &variables, &names, &mut rng);
                    if !value.unwrap().is_true() {
                        at = *to;
                    }
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(reached.join(" "), expected);
    }
}

#[test]
fn large_and_deep_scripts_are_parsed_in_time() {
    let deep = "\\if 1\n".repeat(100_000);
    assert!(error(&deep).contains("a.sql:100000:1: \\if without matching \\endif"));
    let balanced = format!("{deep}{}", "\\endif\n".repeat(100_000));
    assert_eq!(parsed(&balanced).unwrap().0.steps.len(), 100_000);
    let long = format!("SELECT '{}';", "x".repeat(10_000_000));
    assert_eq!(parsed(&long).unwrap().0.sql.len(), 1);
    let many = "SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n".repeat(100_000);
    let (program, _) = parsed(&many).unwrap();
    assert_eq!((program.sql.len(), program.sql[99_999].line), (100_000, 100_000));
}
