//! Results as Markdown, for issues, wikis and pull requests.

use triphammer_core::text::lines;
use triphammer_document::doctor::{Goal, SetupFact};
use triphammer_document::result::{RunResult, TypeFigures};
use triphammer_settings::format::clock;

use super::cores;
use super::costs;
use super::elasticity;
use super::first;
use super::hosts;
use super::load;
use super::logins;
use super::nodes;
use super::observed;
use super::queries;
use super::query_streams;
use super::table::Table;
use super::transaction_time;
use super::words;

/// Escapes a whole Markdown report, so that it is shown literally: no HTML, links, images or
/// control characters. Every Markdown report passes through here, because any of its words may come
/// from a server.
pub(super) fn plainly(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len());
    let text = lines(markdown);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let begins_tag = |next: &char| next.is_ascii_alphabetic() || "/!?".contains(*next);
        match c {
            '<' if chars.peek().is_some_and(begins_tag) => out.push_str("&lt;"),
            '[' | ']' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

/// Renders the result of a run as GitHub-flavoured Markdown, with a final line break.
#[must_use]
pub fn markdown(result: &RunResult) -> String {
    let mut out = format!("# {}\n", words::title(result));
    if let Some(label) = &result.label {
        out.push_str(&format!("\n“{label}”\n"));
    }
    for first in first::lines(result) {
        out.push_str(&format!("\n**{first}**\n"));
    }
    primary_metric(result, &mut out);
    if let Some(set) = &result.queries {
        first_answer(result, &mut out);
        requirements(result, &mut out);
        out.push_str(&format!("\n## {}\n\n{}", queries::QUERIES, queries::queries(set).markdown()));
        let used = queries::usage(set);
        if !used.is_empty() {
            out.push_str(&format!(
                "\n{}\n",
                used.iter().map(|text| format!("- {text}\n")).collect::<String>()
            ));
        }
        if let Some(table) = queries::repeats(set) {
            out.push_str(&format!("\n## {}\n\n{}", queries::REPEATS, table.markdown()));
        }
        observed(result, &mut out);
    } else {
        of_transactions(result, &mut out);
    }
    costs(result, &mut out);
    out.push_str("\n## Conditions\n\n");
    let mut table = Table::new(2, &["", ""]);
    for (name, text) in words::conditions(result) {
        table.row(vec![name.to_owned(), text]);
    }
    out.push_str(&table.markdown());
    setup(result, &mut out);
    remarks(result, &mut out);
    if let Some(job) = result.job {
        out.push_str(&format!("\nJob {job} of {} {}.\n", result.tool.name, result.tool.version));
    }
    plainly(&out)
}

/// What a report about transactions says.
fn of_transactions(result: &RunResult, out: &mut String) {
    let advice = &result.bottleneck.advice;
    let bottleneck = words::bottleneck(result);
    out.push_str(&format!("\n**{}** {bottleneck} → {advice}\n", words::LIMITED_BY));
    requirements(result, out);
    if let Some(steadiness) = words::judged_steadiness(result) {
        let next = steadiness.next.as_ref().map_or_else(String::new, |n| format!(" → {n}"));
        let text = words::steadiness(steadiness);
        out.push_str(&format!("\n**{}** {text}{next}\n", words::STEADINESS));
    } else if let Some(why) = words::not_judged(result) {
        out.push_str(&format!("\n**{}** {why}\n", words::STEADINESS));
    }
    if let Some(another) = &result.another {
        out.push_str(&format!("\n**{}** {}\n", words::ANOTHER, another.words));
    }
    first_answer(result, out);
    figures(result, out);
    if let Some(time) = &result.transaction_time {
        let table = transaction_time::whole_table(time).markdown();
        out.push_str(&format!("\n## {}\n\n{table}", transaction_time::heading(time)));
    }
    if let Some(table) = elasticity::table(result) {
        let (heading, meaning) = (elasticity::REACTIONS, elasticity::MEANING);
        out.push_str(&format!("\n## {heading}\n\n{}\n{meaning}\n", table.markdown()));
    }
    logins(result, out);
    if let Some(table) = hosts::hosts(result) {
        out.push_str(&format!("\n## {}\n\n{}", hosts::HOSTS, table.markdown()));
    }
    if let Some(streams) = &result.query_streams {
        let table = query_streams::queries(streams, result.observed.as_ref()).markdown();
        out.push_str(&format!("\n## {}\n\n{table}", query_streams::QUERIES));
    }
    for (heading, table) in nodes::tables(&result.nodes) {
        out.push_str(&format!("\n## {heading}\n\n{}", table.markdown()));
    }
    observed(result, out);
    if let Some(answers) = &result.replay {
        out.push_str(&format!("\n## {}\n\n", words::ANSWERS));
        words::answers(answers).iter().for_each(|line| out.push_str(&format!("- {line}\n")));
        for (heading, table) in words::answer_tables(answers) {
            out.push_str(&format!("\n## {heading}\n\n{}", table.markdown()));
        }
    }
    if let Some(table) = words::statements(result) {
        out.push_str(&format!("\n## {}\n\n{}", words::STATEMENTS, table.markdown()));
    }
    if let Some(table) = words::slices(result) {
        out.push_str(&format!("\n## {}\n\n{}", words::SLICES, table.markdown()));
    }
    audits(result, out);
    errors(result, out);
}

/// When the database answered first after a pause.
fn first_answer(result: &RunResult, out: &mut String) {
    if let Some(first) = &result.first_answer {
        out.push_str(&format!("\n**{}** {}\n", words::PAUSE, first.words));
    }
}

/// What was observed beside the run.
fn observed(result: &RunResult, out: &mut String) {
    let Some(seen) = &result.observed else { return };
    for (heading, table) in observed::tables(seen, observed::Extent::All) {
        out.push_str(&format!("\n## {heading}\n\n{}", table.markdown()));
    }
    for map in cores::maps(seen) {
        out.push_str(&format!("\n## {}\n\n{}\n", map.heading, map.table.markdown()));
        map.sentences.iter().for_each(|text| out.push_str(&format!("- {text}\n")));
    }
    out.push_str(&format!("\n## {}\n\n", observed::OBSERVERS));
    observed::remarks(seen).iter().for_each(|line| out.push_str(&format!("- {line}\n")));
}

fn primary_metric(result: &RunResult, out: &mut String) {
    let mut table = Table::new(1, &["", "", ""]);
    for (index, [name, value, meaning]) in words::primary_metric(result).into_iter().enumerate() {
        let meaning = match index {
            0 if result.queries.is_none() => {
                format!("{meaning}; {}", words::verification(result))
            }
            _ => meaning,
        };
        table.row(vec![name, format!("**{value}**"), meaning]);
    }
    out.push('\n');
    out.push_str(&table.markdown());
}

fn requirements(result: &RunResult, out: &mut String) {
    if result.requirements.is_empty() {
        return;
    }
    let mut table = Table::new(2, &["", "requirement", "value", "by"]);
    for (passed, [requirement, value, distance]) in words::requirements(result) {
        let verdict = format!("**{}**", words::verdict(passed));
        table.row(vec![verdict, format!("`{requirement}`"), value, distance]);
    }
    out.push_str(&format!("\n## {}\n\n{}", words::REQUIREMENTS, table.markdown()));
}

fn figures(result: &RunResult, out: &mut String) {
    let (shown, heading) = words::shown(result);
    out.push_str(&format!("\n## {heading}\n\n{}", words::counts(shown).markdown()));
    out.push_str("\n## Response time of committed transactions, in ms\n\n");
    out.push_str(&words::times(shown, |seen: &TypeFigures| &seen.response).markdown());
    if let Some(intervals) = words::intervals(shown) {
        out.push_str(&format!("\n## {}\n\n{}", words::INTERVALS, intervals.markdown()));
    }
    if !result.spec.load.is_closed() {
        out.push_str("\n## Service time of committed transactions, in ms\n\n");
        out.push_str(&words::times(shown, |seen: &TypeFigures| &seen.service).markdown());
    }
    if let Some(waits) = load::waits(result) {
        out.push_str(&format!("\n## {}\n\n{}", load::WAITS, waits.markdown()));
    }
    out.push_str(&format!("\n{}\n", words::times_note(result)));
    if let Some(slowest) = load::slowest(result) {
        out.push_str(&format!("\n## {}\n\n{}", load::SLOWEST, slowest.markdown()));
    }
}

/// How long the phases of logins took, and when lost sessions were back.
fn logins(result: &RunResult, out: &mut String) {
    let lines = logins::lines(result);
    if lines.is_empty() {
        return;
    }
    out.push_str(&format!("\n## {}\n\n", logins::LOGINS));
    if let Some(table) = logins::table(result) {
        out.push_str(&format!("{}\n", table.markdown()));
    }
    lines.iter().for_each(|line| out.push_str(&format!("- {line}\n")));
}

/// What the run costs, and the energy that it used.
fn costs(result: &RunResult, out: &mut String) {
    if let Some(price) = &result.price {
        out.push_str(&format!("\n## {}\n\n", costs::PRICE));
        costs::price(price).iter().for_each(|line| out.push_str(&format!("- {line}\n")));
        out.push_str(&format!("\n{}\n", costs::components(price).markdown()));
        costs::sources(price).iter().for_each(|line| out.push_str(&format!("- {line}\n")));
    }
    if let Some(energy) = &result.energy {
        out.push_str(&format!("\n## {}\n\n", costs::ENERGY));
        let lines = costs::energy(energy, &result.primary_metric.name);
        lines.iter().for_each(|line| out.push_str(&format!("- {line}\n")));
    }
}

/// How host and database were set up, what needs attention first.
fn setup(result: &RunResult, out: &mut String) {
    if result.setup.is_empty() {
        return;
    }
    let mut facts: Vec<&SetupFact> = result.setup.iter().collect();
    facts.sort_by_key(|fact| std::cmp::Reverse(fact.verdict));
    let mut table = Table::new(4, &["Set-up", "value", "verdict", "for"]);
    for fact in facts {
        let (verdict, goals) =
            (fact.verdict.name().to_owned(), Goal::short(&fact.goals).to_owned());
        table.row(vec![fact.name.clone(), fact.value.clone(), verdict, goals]);
    }
    out.push_str(&format!("\n## Set-up at the start\n\n{}", table.markdown()));
}

fn audits(result: &RunResult, out: &mut String) {
    if result.audits.is_empty() {
        return;
    }
    out.push_str(&format!("\n## {}\n\n", words::AUDITS));
    for (verdict, equation) in words::audits(result) {
        out.push_str(&format!("- **{}** {equation}\n", verdict.label()));
    }
}

fn errors(result: &RunResult, out: &mut String) {
    if result.errors.is_empty() {
        return;
    }
    out.push_str("\n## Errors\n\n");
    let mut table = Table::new(3, &["transaction", "class", "first error", "attempts"]);
    for [transaction, class, count, message] in words::errors(result) {
        table.row(vec![transaction, class, message, count]);
    }
    out.push_str(&table.markdown());
}

fn remarks(result: &RunResult, out: &mut String) {
    if !result.warnings.is_empty() {
        out.push_str("\n## Warnings\n\n");
    }
    for warning in &result.warnings {
        let next = warning.next.as_ref().map_or_else(String::new, |next| format!(" → {next}"));
        out.push_str(&format!("- {}{next}\n", warning.text));
    }
    if !result.notes.is_empty() {
        out.push_str("\n## Notes\n\n");
    }
    for note in &result.notes {
        let at = note.at_s.map_or_else(String::new, |at| format!("{} ", clock(at)));
        out.push_str(&format!("- {at}{}\n", note.text));
    }
}
