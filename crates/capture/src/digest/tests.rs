//! Statements of statistics become a workload file.

use super::*;

fn tables() -> Tables {
    let mut tables = Tables::default();
    for (table, name, kind, is_unique) in [
        ("acc", "aid", ColumnKind::Integer, true),
        ("acc", "bal", ColumnKind::Decimal(2), false),
        ("acc", "note", ColumnKind::Text(5), false),
        ("hist", "id", ColumnKind::Integer, true),
        ("hist", "at", ColumnKind::Timestamp, false),
    ] {
        let column = Column {
            name: name.to_owned(),
            sql: name.to_owned(),
            table: format!("s.{table}"),
            kind,
            is_unique,
        };
        tables.add(table, column);
    }
    tables
}

/// The names of the origins of a statement's arguments.
fn names(sql: &str, syntax: Syntax) -> Vec<String> {
    let tables = tables();
    let mut digests = Digests::new(&tables, syntax);
    digests.add(sql, 1);
    let (counted, skipped) = digests.counted();
    assert_eq!(counted.len(), 1, "{sql}: {}", skipped.lines(""));
    counted[0].origins.iter().map(Origin::name).collect()
}

#[test]
fn parameters_belong_to_the_columns_beside_them() {
    for (syntax, sql, expected) in [
        (Syntax::Postgres, "SELECT bal FROM acc WHERE aid = $1", &["aid"] as &[&str]),
        (Syntax::Postgres, "UPDATE acc SET bal = bal + $1 WHERE aid = $2", &["amount", "aid"]),
        (
            Syntax::Postgres,
            "SELECT 1 FROM acc a JOIN hist h ON h.id = a.aid WHERE h.id > $1",
            &["value", "id"],
        ),
        (
            Syntax::Postgres,
            "SELECT * FROM acc WHERE aid IN ($1, $2) AND note LIKE $3",
            &["aid", "aid", "note"],
        ),
        (
            Syntax::Postgres,
            "SELECT * FROM acc WHERE aid BETWEEN $1 AND $2 LIMIT $3 OFFSET $4",
            &["aid", "aid", "rows", "skipped_rows"],
        ),
        (
            Syntax::Postgres,
            "SELECT * FROM \"acc\" WHERE $1 < \"acc\".\"aid\" AND aid = ANY($2)",
            &["aid", "aid_list"],
        ),
        (
            Syntax::Postgres,
            "INSERT INTO hist (at, id) VALUES ($1, $2), ($3, $4)",
            &["new_at", "new_id", "new_at", "new_id"],
        ),
        (Syntax::Postgres, "INSERT INTO s.hist VALUES ($1, now())", &["new_id"]),
        (Syntax::Postgres, "SELECT lower($1)", &["value"]),
        (
            Syntax::MySql,
            "SELECT `bal` FROM `s` . `acc` AS `x` WHERE `x` . `aid` = ? LIMIT ?, ... FOR UPDATE",
            &["aid", "skipped_rows", "rows"],
        ),
        (Syntax::MySql, "INSERT INTO `hist` VALUES (...) /* , ... */", &["new_id", "new_at"]),
    ] {
        let sql_names = names(sql, syntax);
        // What is constant in the select list is a parameter, too.
        assert!(
            sql_names.ends_with(&expected.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>()),
            "{sql}: {sql_names:?}"
        );
    }
}

#[test]
fn a_workload_file_has_a_transaction_per_statement_and_says_what_is_guessed() {
    let tables = tables();
    let mut digests = Digests::new(&tables, Syntax::Postgres);
    digests.add("UPDATE acc SET bal = bal + $1 WHERE aid = $2", 3_000_000);
    digests.add("SELECT note FROM acc WHERE aid BETWEEN $1 AND $2", 30);
    digests.add("BEGIN", 9);
    digests.add("SELECT count(*) FROM pg_stat_activity", 2);
    digests.add("CREATE USER a PASSWORD 'geheim'", 1);
    let (counted, skipped) = digests.counted();
    assert_eq!(
        skipped.lines(""),
        format!(
            "{}: 1\n{}: 9\n{}: 2\n",
            Reason::Secret.text(),
            Reason::Ends.text(),
            Reason::Server.text()
        )
    );
    let span = Some(("1".to_owned(), "500".to_owned()));
    let file = write("Captured.\nEach line with # guessed …", &counted, |origin| {
        (Guess::of(origin, &span, "SELECT 1", "SELECT 2"), "a test".to_owned())
    });
    let expected = "# Captured.\n# Each line with # guessed …\n\n[parameters]\n\
        amount = { generator = \"integer\", min = 1, max = 100 } # guessed: a test\n\
        aid = { generator = \"integer\", min = 1, max = 500 } # guessed: a test\n\n\
        [[transactions]]\nname = \"update_acc\"\nweight = 1000000\nstatements = [\n    \
        'UPDATE acc SET bal = bal + :amount WHERE aid = :aid',\n]\n\n\
        [[transactions]]\nname = \"select_acc\"\nweight = 10\nstatements = [\n    \
        'SELECT note FROM acc WHERE aid BETWEEN :aid AND :aid + 99',\n]\n";
    assert_eq!(file.text, expected);
    assert_eq!((file.kinds, file.parameters, guesses(&file.text)), (2, 2, 2));
}

#[test]
fn a_list_whose_length_is_unknown_has_several_values_and_says_so() {
    let tables = tables();
    for (syntax, sql) in [
        (Syntax::Postgres, "SELECT bal FROM acc WHERE aid IN ($1 /*, ... */)"),
        (Syntax::MySql, "SELECT `bal` FROM `acc` WHERE `aid` IN (...)"),
    ] {
        let mut digests = Digests::new(&tables, syntax);
        digests.add(sql, 5);
        let (counted, _) = digests.counted();
        let file = write("", &counted, |origin| {
            (Guess::of(origin, &None, "SELECT 1", "SELECT 2"), "a test".to_owned())
        });
        assert_eq!((file.parameters, guesses(&file.text)), (10, 11), "{}", file.text);
        let mark = "# guessed: 10 values per list, because the server does not keep how many\n";
        assert!(file.text.contains(mark), "{}", file.text);
        assert!(file.text.contains(":aid, :aid_2, :aid_3"), "{}", file.text);
    }
}

#[test]
fn the_rows_of_an_insert_get_different_keys() {
    let tables = tables();
    let mut digests = Digests::new(&tables, Syntax::Postgres);
    digests.add("INSERT INTO acc (aid, bal) VALUES ($1, $2)", 20);
    digests.add("INSERT INTO acc (aid, bal) VALUES ($1, $2), ($3, $4)", 1);
    let (counted, _) = digests.counted();
    let file = write("", &counted, |origin| {
        (Guess::of(origin, &None, "SELECT 1", "SELECT 2"), "a test".to_owned())
    });
    for line in [
        "new_aid = { generator = \"sequence\", after = 'SELECT 2', start = 1, step = 2 }",
        "new_aid_2 = { generator = \"sequence\", after = 'SELECT 2', start = 2, step = 2 }",
    ] {
        assert!(file.text.contains(line), "{line}\n{}", file.text);
    }
}

#[test]
fn guesses_follow_the_type_and_the_values_of_a_column() {
    let of = |kind, is_unique| Column {
        name: "c".to_owned(),
        sql: "c".to_owned(),
        table: "t".to_owned(),
        kind,
        is_unique,
    };
    let guess = |origin: Origin, span: Option<(&str, &str)>| {
        let span = span.map(|(low, high)| (low.to_owned(), high.to_owned()));
        Guess::of(&origin, &span, "V", "L").definition((0, 1))
    };
    for (origin, span, expected) in [
        (
            Origin::Column(of(ColumnKind::Decimal(2), false)),
            Some(("0.5", "7")),
            "{ generator = \"decimal\", min = \"0.50\", max = \"7.00\", digits = 2 }",
        ),
        (
            Origin::Column(of(ColumnKind::Float, false)),
            Some(("NaN", "7")),
            "{ generator = \"query\", sql = 'V' }",
        ),
        (
            Origin::Column(of(ColumnKind::Timestamp, false)),
            Some(("2020-01-01 00:00:00.5+00", "2021-01-01 00:00:00+00")),
            "{ generator = \"timestamp\", min = \"2020-01-01 00:00:00\", max = \"2021-01-01 00:00:00\" }",
        ),
        (
            Origin::Column(of(ColumnKind::Timestamp, false)),
            Some(("-infinity", "infinity")),
            "{ generator = \"query\", sql = 'V' }",
        ),
        (
            Origin::Column(of(ColumnKind::Text(40), false)),
            Some(("a", "b")),
            "{ generator = \"query\", sql = 'V' }",
        ),
        (
            Origin::Column(of(ColumnKind::Text(5), false)),
            None,
            "{ generator = \"text\", length = 5 }",
        ),
        (
            Origin::Inserted(of(ColumnKind::Integer, true)),
            Some(("1", "2")),
            "{ generator = \"sequence\", after = 'L' }",
        ),
        (Origin::Unknown, None, "{ generator = \"text\", length = 1, alphabet = \"123456789\" }"),
    ] {
        assert_eq!(guess(origin, span), expected);
    }
}
