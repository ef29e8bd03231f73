//! The answers of a replay beside those of its recording.

use triphammer_core::answers::{DivergenceCount, ReplayAnswers};
use triphammer_settings::format::{clock, counted, duration, integer, percent};

use super::tables::shortened;
use crate::lines::DOT;
use crate::table::Table;

/// Heading of what the answers are in all.
pub(crate) const ANSWERS: &str = "Answers, beside the recorded ones";
/// Heading of the statements whose answers differ.
pub(crate) const DIFFERING: &str = "Statements whose answers differ";
/// Heading of single divergences.
pub(crate) const EXAMPLES: &str = "The first divergences";
/// Most rows of a table.
const ROWS_MAX: usize = 30;

#[expect(clippy::cast_precision_loss, reason = "numbers of statements")]
pub(crate) fn share(part: u64, of: u64) -> String {
    percent(part as f64 / of.max(1) as f64)
}

/// What the answers are in all.
pub(crate) fn answers(of: &ReplayAnswers) -> Vec<String> {
    let all = of.sent + of.unreached;
    let mut lines = vec![format!(
        "{} of {} succeeded, or failed as recorded",
        share(of.succeeded, all),
        counted(all, "statements")
    )];
    if of.unreached > 0 {
        lines.push(format!(
            "{} not sent: one before them in their transaction failed",
            counted(of.unreached, "statements")
        ));
    }
    if of.found_nothing > 0 {
        lines.push(format!(
            "{} ({}) found no row where the recording found some: the data may be older than at the beginning of \
             the recording, or rows were deleted since",
            counted(of.found_nothing, "statements"),
            share(of.found_nothing, all)
        ));
    }
    if of.duplicates > 0 {
        lines.push(format!(
            "{} ({}) failed because a row with the same key exists: the data may be newer than at the beginning of \
             the recording, as after an earlier replay",
            counted(of.duplicates, "statements"),
            share(of.duplicates, all)
        ));
    }
    if of.compared > 0 {
        lines.push(format!(
            "{} of {} differ from the recorded ones",
            match of.differing {
                0 => "none".to_owned(),
                differing => format!("{} ({})", integer(differing), share(differing, of.compared)),
            },
            counted(of.compared, "answers"),
        ));
    }
    if of.unstable > 0 {
        lines.push(format!(
            "{} compared by numbers of rows or by errors only: their rows cannot be the same twice",
            counted(of.unstable, "answers")
        ));
    }
    if of.unread > 0 {
        lines.push(unread(of.unread));
    }
    if of.without_answer > 0 {
        let statements = counted(of.without_answer, "statements");
        lines.push(format!("{statements} without a recorded answer"));
    }
    lines.extend(first(of));
    lines.extend(dependences(of));
    lines
}

/// The first answer that differs.
fn first(of: &ReplayAnswers) -> Option<String> {
    let first = of.first.as_ref()?;
    Some(format!(
        "first at {} of the recording, {}: {}",
        clock(first.at_s),
        first.title,
        shortened(&first.text)
    ))
}

/// How statements depended on others: by values that the server makes, and by the order of commits.
fn dependences(of: &ReplayAnswers) -> Vec<String> {
    let mut lines = Vec::new();
    if of.made.recorded > 0 {
        let missing = match of.made.missing {
            0 => String::new(),
            missing => format!(", {} not made here", counted(missing, "values")),
        };
        lines.push(format!(
            "{} made by the recorded server; replaced in {}{missing}",
            counted(of.made.recorded, "values"),
            counted(of.made.replaced, "arguments")
        ));
    }
    if of.order.waits > 0 {
        let ended = |count: u64, how: &str| match count {
            0 => String::new(),
            count => format!("; {} {how}", counted(count, "waits")),
        };
        let in_vain = "ended early, because the transaction waited for this one, in the replay or for its locks";
        lines.push(format!(
            "{} for transactions of other sessions, {} in all{}{}",
            counted(of.order.waits, "waits"),
            duration(of.order.waited_s),
            ended(of.order.in_vain, in_vain),
            ended(of.order.timed_out, "ended after the longest wait")
        ));
    }
    lines
}

/// Whether the answers are those of the recording, in one sentence, and whether some are not.
pub(crate) fn answers_in_short(of: &ReplayAnswers) -> (String, bool) {
    let all = of.sent + of.unreached;
    let succeeded = format!("{} of {}", share(of.succeeded, all), counted(all, "statements"));
    let differ = match of.differing {
        0 => format!("{} as recorded", counted(of.compared, "answers")),
        differing => {
            let compared = counted(of.compared, "answers");
            format!("{} of {compared} differ from the recorded ones", integer(differing))
        }
    };
    (format!("{succeeded} succeeded, or failed as recorded{DOT}{differ}"), of.differing > 0)
}

/// That rows could not be compared.
pub(crate) fn unread(answers: u64) -> String {
    let answers = counted(answers, "answers");
    format!("the rows of {answers} were not compared: this driver does not read them as texts")
}

/// The statements whose answers differ, and the first divergences; none if no answer does.
pub(crate) fn answer_tables(of: &ReplayAnswers) -> Vec<(&'static str, Table)> {
    let differing = || of.statements.iter().filter(|one| one.differing > 0).take(ROWS_MAX);
    if differing().next().is_none() {
        return Vec::new();
    }
    let mut statements = Table::new(2, &["statement", "how", "answers", "differing"]);
    let mut examples = Table::new(2, &["statement", "recorded → replayed", "at", "session"]);
    for one in differing() {
        let how: Vec<String> = one.divergences.iter().map(|of| kind(of, one.differing)).collect();
        statements.row(vec![
            shortened(&one.text),
            how.join(", "),
            integer(one.compared),
            integer(one.differing),
        ]);
        for example in one.examples.iter().take(1) {
            examples.row(vec![
                shortened(&one.text),
                shortened(&format!("{} → {}", example.recorded, example.replayed)),
                clock(example.at_s),
                integer(example.session as u64),
            ]);
        }
    }
    vec![(DIFFERING, statements), (EXAMPLES, examples)]
}

fn kind(of: &DivergenceCount, differing: u64) -> String {
    match of.count == differing {
        true => of.title.clone(),
        false => format!("{} {}", integer(of.count), of.title),
    }
}
