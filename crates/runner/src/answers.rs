//! Compares what queries answer with what is known, by the rules of TPC-H's clause 2.1.3.5.

use triphammer_core::rows::{Row, Rows};
use triphammer_core::value::parse_decimal128;
use triphammer_core::workload::{Answer, AnswerRule};

/// Most that a sum may differ from what is known.
const SUM_OFF: f64 = 100.0;
/// Most that a figure may differ from what is known, as a share.
const SHARE_OFF: f64 = 0.01;
/// What stands for NULL in an answer.
pub const NULL: &str = "NULL";

/// How many fields are wrong, rows too many or too few included, and which is the first; nothing when the
/// answer is as known.
#[must_use]
pub fn wrong(answer: &Answer, rows: &Rows) -> Option<(u64, String)> {
    let mut all = 0;
    let mut first = None;
    let mut note = |what: String| {
        all += 1;
        first.get_or_insert(what);
    };
    for (place, (row, known)) in rows.iter().zip(&answer.rows).enumerate() {
        for (column, (of, known)) in answer.columns.iter().zip(known).enumerate() {
            if !agrees(of.rule, row, column, known) {
                let found = row.show(column);
                let (place, name) = (place + 1, &of.name);
                note(format!("row {place}, column {name}: expected {known}, got {found}"));
            }
        }
    }
    let (found, known) = (rows.len(), answer.rows.len());
    if found != known {
        let place = found.min(known) + 1;
        note(format!("row {place}: expected {known} rows, got {found}"));
    }
    first.map(|first| (all, first))
}

/// Whether a field is what is known, as exactly as the rule wants.
fn agrees(rule: AnswerRule, row: Row<'_>, column: usize, known: &str) -> bool {
    if known == NULL || row.is_null(column) {
        return known == NULL && row.is_null(column);
    }
    let number = || Some((row.float(column).ok()?, known.parse::<f64>().ok()?));
    match rule {
        AnswerRule::Words => row.text(column).is_ok_and(|found| found.trim() == known),
        AnswerRule::Count => row.int(column).ok().is_some_and(|n| known.parse() == Ok(n)),
        AnswerRule::Cents => {
            row.decimal128(column, 2).ok().is_some_and(|n| parse_decimal128(known, 2) == Some(n))
        }
        AnswerRule::Day => row.date(column).ok().is_some_and(|day| day.to_string() == known),
        AnswerRule::Sum => number().is_some_and(|(found, known)| {
            (found - known).abs() <= SUM_OFF.min(known.abs() * SHARE_OFF)
        }),
        AnswerRule::Ratio => number().is_some_and(|(found, known)| is_near(found, known)),
    }
}

/// Within a hundredth of what is known, or of that when both are rounded to two digits after the point.
fn is_near(found: f64, known: f64) -> bool {
    let near = |found: f64, known: f64| (found - known).abs() <= known.abs() * SHARE_OFF;
    let rounded = |number: f64| (number * 100.0).round() / 100.0;
    near(found, known) || near(rounded(found), rounded(known))
}

#[cfg(test)]
mod tests {
    use triphammer_core::workload::AnswerColumn;

    use super::*;

    fn answer(rule: AnswerRule, rows: &[&'static str]) -> Answer {
        Answer {
            id: "Q1".into(),
            title: "x".into(),
            statement: "q1".into(),
            args: Vec::new(),
            columns: vec![AnswerColumn { name: "n".into(), rule }],
            rows: rows.iter().map(|row| vec![(*row).into()]).collect(),
        }
    }

    fn found(put: impl Fn(&mut Rows)) -> Rows {
        let mut rows = Rows::new();
        rows.reset(1);
        put(&mut rows);
        rows
    }

    fn is_right(rule: AnswerRule, known: &'static str, put: impl Fn(&mut Rows)) -> bool {
        wrong(&answer(rule, &[known]), &found(put)).is_none()
    }

    #[test]
    fn sums_may_be_a_hundred_off_and_no_more_than_a_hundredth() {
        let sum =
            |known, value: i64| is_right(AnswerRule::Sum, known, |rows| rows.decimal(value, 2));
        assert!(sum("1000000.00", 100_010_000) && !sum("1000000.00", 100_010_001));
        assert!(sum("50.00", 5_050) && !sum("50.00", 5_051));
    }

    #[test]
    fn ratios_may_be_a_hundredth_off_after_rounding() {
        let ratio = |known, value| is_right(AnswerRule::Ratio, known, |rows| rows.float(value));
        assert!(ratio("0.05", 0.050_08) && ratio("0.03", 0.0344) && !ratio("0.03", 0.0354));
        assert!(ratio("38273.13", 38_273.129_7) && !ratio("38273.13", 38_700.0));
    }

    #[test]
    fn everything_else_is_exact_but_for_blanks_at_the_ends() {
        assert!(is_right(AnswerRule::Words, "GERMANY", |rows| rows.text("GERMANY      ")));
        assert!(!is_right(AnswerRule::Words, "GERMANY", |rows| rows.text("FRANCE")));
        assert!(is_right(AnswerRule::Count, "7", |rows| rows.decimal(700, 2)));
        assert!(!is_right(AnswerRule::Count, "7", |rows| rows.int(8)));
        assert!(is_right(AnswerRule::Cents, "9.5", |rows| rows.decimal(950, 2)));
        assert!(!is_right(AnswerRule::Cents, "9.5", |rows| rows.decimal(951, 2)));
        let date = triphammer_core::Date::parse("1995-03-11").unwrap();
        assert!(is_right(AnswerRule::Day, "1995-03-11", |rows| rows.date(date)));
        assert!(is_right(AnswerRule::Day, "1995-03-11", |rows| rows.text("1995-03-11")));
        assert!(is_right(AnswerRule::Sum, "NULL", Rows::null));
        assert!(!is_right(AnswerRule::Sum, "1.00", Rows::null));
        assert!(!is_right(AnswerRule::Sum, "NULL", |rows| rows.int(0)));
    }

    #[test]
    fn the_first_difference_is_named() {
        let rows = found(|rows| [1, 2, 4].into_iter().for_each(|n| rows.int(n)));
        let known = answer(AnswerRule::Count, &["1", "3", "5", "6"]);
        let expected = "row 2, column n: expected 3, got 2".to_owned();
        assert_eq!(wrong(&known, &rows), Some((3, expected)));
        let known = answer(AnswerRule::Count, &["1", "2"]);
        let expected = "row 3: expected 2 rows, got 3".to_owned();
        assert_eq!(wrong(&known, &rows), Some((1, expected)));
    }
}
