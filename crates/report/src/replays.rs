//! Replays of one recording on two databases, in a comparison: whether the answers are equal, and the times of statements.

use triphammer_core::answers::DivergenceCount;
use triphammer_document::compare::{
    AnswersCompared, ComparisonResult, DifferingStatement, ReplayFit, StatementSpeed, ratio, word,
};
use triphammer_settings::format::{counted, integer, milliseconds, percent};

use crate::table::Table;
use crate::words::{share, shortened, unread};

/// Heading of whether the answers are equal.
pub(crate) const ANSWERS: &str = "Are the answers equal?";
/// Heading of the times of statements.
pub(crate) const SPEEDS: &str = "Statements, mean times in ms; the intervals hold for all together";
/// Most rows of a table.
const ROWS_MAX: usize = 30;
/// One in so many answers that are not compared is much: a verdict of equality means less then.
const MUCH: u64 = 20;

/// Whether the answers are equal.
pub(crate) fn answers(of: &AnswersCompared) -> Vec<String> {
    let differ =
        || format!("{} of {} differ", integer(of.differing), counted(of.compared, "answers"));
    let mut lines = vec![match (of.differing, of.inconclusive, of.replays_needed) {
        (0, ..) if of.unfit => format!(
            "inconclusive: {} of A and of B are equal, but the data does not fit the recording",
            counted(of.compared, "answers")
        ),
        (0, ..) => format!("yes: {} of A and of B are equal", counted(of.compared, "answers")),
        (_, false, _) => format!("no: {}", differ()),
        (_, true, Some(pairs)) => {
            format!("inconclusive: {}, which may be chance; --pairs {pairs} can tell", differ())
        }
        (_, true, None) => format!("inconclusive: {}, as many as by chance", differ()),
    }];
    let by_chance = of.statements.iter().filter(|one| one.by_chance).map(|one| one.differing);
    match by_chance.sum::<u64>() {
        chance if chance > 0 && !of.inconclusive => {
            lines.push(format!("{} of them may be chance", integer(chance)));
        }
        _ => {}
    }
    lines.extend(unfit_sides(of));
    if of.limited > 0 {
        lines.push(format!(
            "{} of them compared by numbers of rows or by errors only: their rows cannot be the same twice",
            integer(of.limited)
        ));
    }
    if of.unread > 0 {
        lines.push(unread(of.unread));
    }
    if of.unreached > 0 {
        let statements = counted(of.unreached, "statements");
        lines.push(format!("{statements} not compared: a side did not reach them"));
    }
    if of.unstable > 0 {
        let [a, b] = of.replays;
        lines.push(format!(
            "{} ({}) not compared: they differ among the {a} replays of A or the {b} of B",
            counted(of.unstable, "answers"),
            share(of.unstable, of.compared + of.unstable)
        ));
        let most = of.unstable_statements.iter();
        lines.extend(
            most.map(|one| format!("  {}: {}", integer(one.answers), shortened(&one.text))),
        );
    }
    if of.replays.contains(&1) {
        lines.push("one replay of a side cannot show which of its answers depend on chance".into());
    }
    lines
}

/// How the data of the sides does not fit the recording, if it does not.
fn unfit_sides(of: &AnswersCompared) -> impl Iterator<Item = String> {
    ["A", "B"].into_iter().zip(&of.fit).filter_map(|(side, fit)| unfit(side, fit))
}

/// How the data of a side does not fit the recording; `None` if it does.
fn unfit(side: &str, fit: &ReplayFit) -> Option<String> {
    let share = |part| share(part, fit.statements);
    let signs = [
        (
            fit.duplicates,
            "the data may be newer than the beginning of the recording, as after an earlier replay",
        ),
        (fit.found_nothing, "the data may be older than the beginning of the recording"),
    ];
    let sign = signs.into_iter().filter(|(count, _)| *count > 0).max_by_key(|(count, _)| *count);
    let sign = sign.map_or("see the report of a run", |(_, sign)| sign);
    fit.is_poor().then(|| {
        format!(
            "{} of the statements on {side} did as recorded ({} found no row, {} had a key that exists): {sign}",
            share(fit.worked()),
            share(fit.found_nothing),
            share(fit.duplicates)
        )
    })
}

/// Whether the answers are equal, with the first statement whose answers differ, and how many were not compared if that is much.
pub(crate) fn in_short(of: &AnswersCompared) -> Vec<String> {
    let lines = answers(of);
    let mut verdict = format!("{ANSWERS} {}", lines[0]);
    if let Some(first) = of.statements.first() {
        verdict.push_str(&format!(", the first ones of: {}", shortened(&first.text)));
        example(first).into_iter().for_each(|found| verdict.push_str(&format!(" ({found})")));
    }
    let is_much = of.unstable * MUCH > of.compared + of.unstable;
    let not_compared = lines.iter().find(|line| is_much && line.contains("differ among"));
    [verdict].into_iter().chain(unfit_sides(of)).chain(not_compared.cloned()).collect()
}

/// The statements whose answers differ; `None` if none do.
pub(crate) fn differing(of: &AnswersCompared) -> Option<Table> {
    if of.statements.is_empty() {
        return None;
    }
    let head = ["statement", "A, beside the recording", "B", "answers", "differing"];
    let mut table = Table::new(3, &head);
    for one in of.statements.iter().take(ROWS_MAX) {
        table.row(vec![
            shortened(&one.text),
            kinds(&one.a),
            kinds(&one.b),
            integer(one.compared),
            format!("{}{}", integer(one.differing), if one.by_chance { ", chance?" } else { "" }),
        ]);
    }
    Some(table)
}

/// What a side answered in place of what was recorded: B, unless it answers as recorded.
fn example(of: &DifferingStatement) -> Option<String> {
    let [a, b] = &of.examples;
    let (side, found) = b.as_ref().map(|b| ("B", b)).or(a.as_ref().map(|a| ("A", a)))?;
    Some(format!("recorded {}, {side} {}", found.recorded, found.replayed))
}

/// For each statement whose answers differ, an example.
pub(crate) fn examples(of: &AnswersCompared) -> Vec<String> {
    let statements = of.statements.iter().take(ROWS_MAX);
    let shown = |one: &DifferingStatement| {
        example(one).map(|found| format!("{}: {found}", shortened(&one.text)))
    };
    statements.filter_map(shown).collect()
}

fn kinds(of: &[DivergenceCount]) -> String {
    if of.is_empty() {
        return "as recorded".to_owned();
    }
    let kind = |of: &DivergenceCount| format!("{} {}", integer(of.count), of.title);
    of.iter().map(kind).collect::<Vec<_>>().join(", ")
}

/// The times of statements; `None` without any.
pub(crate) fn speeds(result: &ComparisonResult) -> Option<Table> {
    if result.speeds.is_empty() {
        return None;
    }
    let mut table = Table::new(1, &["statement", "share", "A", "B", "B/A (95 %)", "B is"]);
    for one in result.speeds.iter().take(ROWS_MAX) {
        table.row(row(one));
    }
    Some(table)
}

fn row(one: &StatementSpeed) -> Vec<String> {
    let (of_ratio, verdict) = match one.comparison {
        Some(found) => (ratio(found.ratio, found.interval), word(found.verdict).to_owned()),
        None => ("-".to_owned(), String::new()),
    };
    vec![
        shortened(&one.text),
        percent(one.share),
        milliseconds(one.a_us),
        milliseconds(one.b_us),
        of_ratio,
        verdict,
    ]
}
