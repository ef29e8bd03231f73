use triphammer_core::random::Rng;

use super::super::variable::Variable;
use super::*;

fn evaluate_with(text: &str, given: &[(&str, &str)]) -> Result<Value, String> {
    let mut names = Names::default();
    let seed = names.slot("default_seed");
    for (name, _) in given {
        names.slot(name);
    }
    let expression = Expression::parse(text, 0..text.len(), &mut names)
        .map_err(|error| format!("{}: {}", error.at, error.message))?;
    let mut variables = vec![Variable::Unset; names.len()];
    variables[seed] = Variable::Value(Value::Int(5432));
    for (name, value) in given {
        variables[names.find(name).unwrap()] = Variable::Text((*value).to_owned());
    }
    let mut rng = Rng::of(1, &[]);
    Machine::default().evaluate(&expression, &variables, &names, &mut rng)
}

fn evaluate(text: &str) -> Result<Value, String> {
    evaluate_with(text, &[])
}

/// The expressions of pgbench's own tests, with the values that they expect.
#[test]
fn expressions_have_the_values_that_pgbench_gives_them() {
    const GIVEN: [(&str, &str); 7] = [
        ("foo", "-10.1"),
        ("bla", "false"),
        ("i", "+3"),
        ("n", "null"),
        ("t", "t"),
        ("f", "of"),
        ("d", "1.0"),
    ];
    for (text, expected) in [
        ("abs(-4)", "int 4"),
        ("greatest(5, 4, 3, 2)", "int 5"),
        ("11 + least(-5, -4, -3, -2)", "int 6"),
        ("int(7.3)", "int 7"),
        ("17 / (4|1) + ( 4 + (7 >> 2))", "int 8"),
        ("- (3 * 4 - (-(~ 1) + -(~ 0))) / -1 + 3 % -1", "int 9"),
        ("10 + (0 + 0 * 0 - 0 / 1)", "int 10"),
        ("64 % (((2 + 1 * 2 + (1 # 2) | 4 * (2 & 11)) - (1 << 2)) + 2)", "int 12"),
        ("sqrt(+1.5 * 2.0) * abs(-0.8E1)", "double 13.8564064605510"),
        ("double(1 + 1) * (-75.0 / :foo)", "double 14.8514851485149"),
        ("pi() * 4.9", "double 15.3938040025900"),
        ("greatest(4, 2, -1.17) * 4.0 * Ln(Exp(1.0))", "double 16"),
        ("least(-5.18, .0E0, 1.0/0) * -3.3", "double 17.094"),
        ("pow(-3,3)", "double -27"),
        ("pow(2.0,10)", "double 1024"),
        ("pow(0,0)", "double 1"),
        ("pow(0.0,0.0)", "double 1"),
        ("pow(-2,-3)", "double -0.125"),
        ("power(-5.0,-5.0)", "double -0.00032"),
        ("pow(9223372036854775807, 2)", "double 8.50705917302346e+37"),
        ("pow(10,30)", "double 1e+30"),
        ("1.0 = 0.0 and 1.0 != 0.0", "boolean false"),
        ("0 = 1 Or 1.0 = 1", "boolean true"),
        ("case when 0 < 1 then 32 else 0 end", "int 32"),
        ("case when false THEN -1 when 1 = 1 then 13 + 19 + 2.0 end", "double 34"),
        (
            "case when (1 > 0) and (1 >= 0) and (0 < 1) and (0 <= 1) and (0 != 1) and (0 = 0) \
             and (0 <> 1) then 35 else 0 end",
            "int 35",
        ),
        ("CASE WHEN NOT FALSE THEN 3 * 12.3333334 END", "double 37.0000002"),
        ("case when false then 0 when 1-1 <> 0 then 1 else 38 end", "int 38"),
        ("10 + mod(13 * 7 + 12, 13) - mod(-19 * 11 - 17, 19)", "int 39"),
        (
            "NOT (0 > 1) AND (1 <= 1) AND NOT (0 >= 1) AND (0 < 1) AND NOT (false and true) AND \
             (false OR TRUE) AND (NOT :f) AND (NOT FALSE) AND NOT (NOT TRUE)",
            "boolean true",
        ),
        ("NULL + NULL * exp(NULL)", "null"),
        ("NOT (:n IS NOT NULL OR :bla IS NULL)", "boolean true"),
        ("CASE WHEN :n IS NULL THEN 46 ELSE NULL END", "int 46"),
        (":n ISNULL AND NOT :n IS TRUE AND :n IS NOT FALSE", "boolean true"),
        (":n IS NULL AND NOT :f AND :t", "boolean true"),
        (
            "CASE WHEN 1 THEN TRUE END AND CASE WHEN 1.0 THEN TRUE END AND CASE WHEN :n THEN NULL \
             ELSE TRUE END",
            "boolean true",
        ),
        ("hash(10, 5432)", "int -5817877081768721676"),
        ("hash(10) = hash(10, :default_seed)", "boolean true"),
        ("hash_fnv1a(10, 5432)", "int -7793829335365542153"),
        ("case when :i = 3 or (1 / 0) < 0 then -1 else (1 / 0) end", "int -1"),
        ("case when :i > 3 and (1 / 0) < 0 then (1 / 0) else 1 end", "int 1"),
        ("-9223372036854775808", "int -9223372036854775808"),
        ("-(-9223372036854775808 + 1)", "int 9223372036854775807"),
        ("permute(0, 4) + permute(1, 4) + permute(2, 4) + permute(3, 4)", "int 6"),
        ("2 + 3 * 4 % 5 - -1", "int 5"),
        ("1 + ~ 0 + 1", "int -1"),
        ("1 | 6 & 5 # 1", "int 4"),
        ("-7 / 2", "int -3"),
        ("-7 % 3", "int -1"),
        ("-9223372036854775808 % -1", "int 0"),
        ("1 << 65", "int 2"),
        ("2.5 % 2", "int 0"),
        ("1.0 / 0", "double Infinity"),
        ("null and false", "null"),
        ("true or 1/0 = 1", "boolean true"),
        ("NOT NULL", "null"),
        ("debug(NULL) is null", "boolean true"),
        ("(1 + \\\n 2)", "int 3"),
        ("4 IS NULL", "boolean false"),
        ("null is null is null", "boolean false"),
        ("null is not null is true", "boolean false"),
        ("1 isnull isnull", "boolean false"),
        ("null notnull notnull", "boolean true"),
        ("1 < 2 is true", "boolean true"),
        ("1 = 1 is true is true", "boolean true"),
    ] {
        let value = evaluate_with(text, &GIVEN).unwrap_or_else(|error| panic!("{text}: {error}"));
        // pgbench's tests compare doubles only to the word boundary, without zeros at the end.
        let wanted = match expected.strip_prefix("double ") {
            Some(number) if number.contains('.') && !number.contains('e') => {
                format!("double {}", number.trim_end_matches('0'))
            }
            _ => expected.to_owned(),
        };
        assert_eq!(value.to_string(), wanted, "{text}");
    }
}

#[test]
fn what_cannot_be_computed_is_an_error() {
    for (text, message) in [
        ("1 / 0", "division by zero"),
        ("1 % 0", "division by zero"),
        ("9223372036854775807 + 1", "bigint add out of range"),
        ("-9223372036854775808 - 1", "bigint sub out of range"),
        ("9223372036854775807 * 2", "bigint mul out of range"),
        ("-9223372036854775808 / -1", "bigint div out of range"),
        ("abs(-9223372036854775808)", "bigint abs out of range"),
        ("int(1e20)", "double to int overflow"),
        ("1 + true", "cannot coerce boolean to int"),
        ("not 1", "cannot coerce int to boolean"),
        ("1 and true", "cannot coerce int to boolean"),
        ("true and 1", "cannot coerce int to boolean"),
        ("abs(true)", "cannot coerce boolean to double"),
        ("random(2, 1)", "empty range given to random"),
        ("random(-9223372036854775808, 9223372036854775807)", "random range is too large"),
        ("random_gaussian(1, 2, 1.9)", "gaussian parameter must be at least 2.000000"),
        ("random_exponential(1, 2, 0)", "exponential parameter must be greater than zero"),
        ("random_zipfian(1, 2, 1.0)", "zipfian parameter must be in range [1.001, 1000]"),
        ("random_zipfian(1, 2, 1000.5)", "zipfian parameter must be in range [1.001, 1000]"),
        ("permute(1, 0)", "permute size parameter must be greater than zero"),
        ("1 + :nowhere", "undefined variable: :nowhere"),
    ] {
        let error = evaluate(text).expect_err(text);
        assert!(error.contains(message), "{text}: {error}");
    }
}

#[test]
fn syntax_errors_have_a_place() {
    for (text, message) in [
        ("", "0: syntax error at the end: expected an expression"),
        ("1 +", "3: syntax error at the end: expected an expression"),
        ("1 2", "2: syntax error at `2`"),
        ("(1", "2: syntax error at the end: expected `)`"),
        ("1 < 2 < 3", "6: syntax error at `<`"),
        ("1 ? 2", "2: unexpected character '?'"),
        ("nope(1)", "0: unexpected function name `nope`"),
        ("1 + nope", "4: unexpected function name `nope`"),
        ("least()", "0: at least one argument expected (least)"),
        ("greatest()", "0: at least one argument expected (greatest)"),
        ("hash()", "0: unexpected number of arguments (hash)"),
        ("hash(1,2,3)", "0: unexpected number of arguments (hash)"),
        ("permute(1)", "0: unexpected number of arguments (permute)"),
        ("permute(1, 2, 3, 4)", "0: unexpected number of arguments (permute)"),
        ("random(1)", "0: unexpected number of arguments (random)"),
        ("least(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17)", "0: too many function arguments"),
        ("100000000000000000000", "0: bigint constant overflow"),
        ("9223372036854775808", "0: bigint constant overflow"),
        ("1.0E309", "0: double constant overflow"),
        (".1E310", "0: double constant overflow"),
        ("case when true end", "15: syntax error at `end`: expected THEN"),
        ("case true end", "5: syntax error at `true`: expected WHEN"),
        ("case when true then 1", "21: syntax error at the end: expected END"),
        ("1 is 2", "5: syntax error at `2`: expected NULL, TRUE or FALSE after IS"),
    ] {
        let error = evaluate(text).expect_err(text);
        assert!(error.starts_with(message), "{text}: {error}");
    }
}

#[test]
fn neither_deep_nor_long_expressions_recurse() {
    let deep = format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000));
    let error = evaluate(&deep).unwrap_err();
    assert!(error.contains("nested at most 200 deep"), "{error}");
    let error = evaluate(&"-".repeat(100_000)).unwrap_err();
    assert!(error.contains("nested at most 200 deep"), "{error}");
    let long = format!("0{}", " + 1".repeat(40_000));
    assert_eq!(evaluate(&long), Ok(Value::Int(40_000)));
    let longer = format!("0{}", " + 1".repeat(1_000_000));
    let error = evaluate(&longer).unwrap_err();
    assert!(error.contains("at most 100000 operations"), "{error}");
}

#[test]
fn draws_are_in_their_range_and_those_of_the_seed() {
    for text in [
        "random(10, 19)",
        "random_exponential(10, 19, 10.0)",
        "random_gaussian(10, 19, 10.0)",
        "random_zipfian(10, 19, 1.3)",
    ] {
        let mut names = Names::default();
        let expression = Expression::parse(text, 0..text.len(), &mut names).unwrap();
        let draws = |seed| {
            let (mut rng, mut machine) = (Rng::of(seed, &[]), Machine::default());
            let mut draw = || machine.evaluate(&expression, &[], &names, &mut rng).unwrap();
            (0..1000).map(|_| draw().int().unwrap()).collect::<Vec<_>>()
        };
        let first = draws(1);
        assert!(first.iter().all(|value| (10..=19).contains(value)), "{text}");
        assert_eq!(first, draws(1), "{text}");
        assert_ne!(first, draws(2), "{text}");
    }
}

/// Makes expressions at random, mostly of fitting types, with and without parentheses.
struct Maker(Rng);

impl Maker {
    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        let last = i64::try_from(words.len()).unwrap() - 1;
        words[usize::try_from(self.0.between(0, last)).unwrap()]
    }

    fn one_in(&mut self, many: i64) -> bool {
        self.0.between(1, many) == 1
    }

    fn joined(&mut self, a: &str, operator: &str, b: &str) -> String {
        if self.one_in(3) { format!("{a} {operator} {b}") } else { format!("({a} {operator} {b})") }
    }

    fn int(&mut self, depth: u32) -> String {
        if depth == 0 {
            let constants =
                ["0", "1", "2", "7", "63", "1000003", "9223372036854775807", ":i", "-3", "(-8)"];
            return self.pick(&constants).to_owned();
        }
        let (a, b) = (self.int(depth - 1), self.int(depth - 1));
        match self.0.between(0, 12) {
            0..=5 => {
                let operator = self.pick(&["+", "-", "*", "/", "%", "&", "|", "#", "<<", ">>"]);
                self.joined(&a, operator, &b)
            }
            6 => format!("-({a})"),
            7 => format!("~ {a}"),
            8 => format!(
                "{}({a}, {b}, {})",
                self.pick(&["greatest", "least"]),
                self.number(depth - 1)
            ),
            9 => format!("{}({a}, {b})", self.pick(&["hash", "hash_fnv1a", "hash_murmur2", "mod"])),
            10 => format!("case when {} then {a} else {b} end", self.boolean(depth - 1)),
            11 => format!("permute({a}, 1 + (({b}) & 1048575), {})", self.int(0)),
            _ => format!("int({})", self.double(depth - 1)),
        }
    }

    fn double(&mut self, depth: u32) -> String {
        if depth == 0 {
            let constants =
                ["0.5", "1e-7", ".25", "3.", "-2.25e3", "1e15", "0.1", ":foo", ":d", "0.0"];
            return self.pick(&constants).to_owned();
        }
        let (a, b) = (self.number(depth - 1), self.double(depth - 1));
        match self.0.between(0, 6) {
            0..=3 => {
                let operator = self.pick(&["+", "-", "*", "/"]);
                self.joined(&a, operator, &b)
            }
            4 => format!("{}({a})", self.pick(&["sqrt", "ln", "exp", "double", "abs"])),
            5 => format!("{}({a}, {b})", self.pick(&["pow", "power", "greatest", "least"])),
            _ => format!("pi() * {b}"),
        }
    }

    fn number(&mut self, depth: u32) -> String {
        if self.one_in(2) { self.int(depth) } else { self.double(depth) }
    }

    fn boolean(&mut self, depth: u32) -> String {
        if depth == 0 {
            return self.pick(&["true", "false", "null", ":t", ":f", ":n"]).to_owned();
        }
        match self.0.between(0, 5) {
            0 | 1 => {
                let (a, b) = (self.number(depth - 1), self.number(depth - 1));
                let operator = self.pick(&["<", "<=", "=", "<>", "!=", ">", ">="]);
                self.joined(&a, operator, &b)
            }
            2 => {
                let (a, b) = (self.boolean(depth - 1), self.boolean(depth - 1));
                let operator = self.pick(&["and", "or"]);
                self.joined(&a, operator, &b)
            }
            3 => format!("not {}", self.boolean(depth - 1)),
            _ => {
                let tests =
                    ["is null", "is not null", "isnull", "notnull", "is true", "is not false"];
                format!("{} {}", self.any(depth - 1), self.pick(&tests))
            }
        }
    }

    fn any(&mut self, depth: u32) -> String {
        match self.0.between(0, 9) {
            0..=4 => self.number(depth),
            5..=8 => self.boolean(depth),
            _ => "null".to_owned(),
        }
    }
}

/// What `debug` prints of expressions in the installed pgbench; `None` if it failed.
fn debugged(expressions: &[String], given: &[(&str, &str)]) -> Option<Vec<String>> {
    use std::io::Write as _;
    let server = triphammer_testbed::PostgresServer::shared();
    let mut script = tempfile::NamedTempFile::new().unwrap();
    for expression in expressions {
        writeln!(script, "\\set x debug({expression})").unwrap();
    }
    let defined = given.iter().map(|(name, value)| format!("-D{name}={value}"));
    let done = std::process::Command::new(triphammer_testbed::PostgresServer::program("pgbench"))
        .env("PGPASSWORD", server.password())
        .args(["-h", "127.0.0.1", "-p", &server.port().to_string(), "-U", server.user()])
        .args(["-n", "-t1", "-Ddefault_seed=5432", "-f"])
        .arg(script.path())
        .args(defined)
        .arg("postgres")
        .output()
        .unwrap();
    let values = String::from_utf8(done.stderr).unwrap();
    let values = values.lines().filter_map(|line| line.strip_prefix("debug("));
    let values = values.map(|line| line.split_once(": ").unwrap().1.to_owned()).collect();
    done.status.success().then_some(values)
}

/// One run of pgbench evaluates all of them, and a few more those that are errors here.
#[test]
fn generated_expressions_have_the_values_that_pgbench_gives_them() {
    const GIVEN: [(&str, &str); 6] =
        [("foo", "-10.1"), ("i", "+3"), ("n", "null"), ("t", "t"), ("f", "of"), ("d", "0x1p-1")];
    let (mut good, mut values, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    for seed in 0..800 {
        let mut maker = Maker(Rng::of(seed, &[7]));
        let depth = u32::try_from(seed % 4).unwrap() + 1;
        let text = maker.any(depth);
        match evaluate_with(&text, &GIVEN) {
            Ok(value) => {
                good.push(text);
                values.push(value.to_string());
            }
            Err(error) => errors.push((text, error)),
        }
    }
    assert!(good.len() > 400 && errors.len() > 40, "{} and {}", good.len(), errors.len());
    let theirs = debugged(&good, &GIVEN).expect("pgbench evaluates them");
    let differs = |((text, ours), theirs): ((&String, &String), &String)| {
        (ours != theirs).then(|| format!("{text}: {ours}, in pgbench {theirs}"))
    };
    let differences: Vec<_> = good.iter().zip(&values).zip(&theirs).filter_map(differs).collect();
    assert!(differences.is_empty(), "{differences:#?}");
    assert_eq!(theirs.len(), good.len());
    for (text, error) in errors.iter().step_by(errors.len() / 8) {
        assert_eq!(debugged(std::slice::from_ref(text), &GIVEN), None, "{text}: {error}");
    }
}
