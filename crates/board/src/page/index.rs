//! The page with all results: those with a rank by class, then those without, then those that do not
//! agree with themselves.

use std::collections::BTreeSet;

use maud::{Markup, html};
use triphammer_settings::format::{counted, figure, integer, milliseconds, money, precise};
use triphammer_statistics::compare::Better;

use super::{badge, layout, link, submitter, verified};
use crate::entry::{Entry, Head};
use crate::rank::{Board, Class, Ranked};

/// Most disagreements of a result in its row.
const REASONS_MAX: usize = 2;

/// Which optional columns a table has: those that a row has a value for.
#[derive(Clone, Copy)]
struct Columns {
    p95: bool,
    price: bool,
    energy: bool,
}

impl Columns {
    fn of<'a>(rows: impl Iterator<Item = &'a Entry> + Clone) -> Self {
        Self {
            p95: rows.clone().any(|entry| p95(entry).is_some()),
            price: rows.clone().any(|entry| entry.price().is_some()),
            energy: rows.clone().any(|entry| entry.joules().is_some()),
        }
    }

    fn count(self) -> usize {
        8 + [self.p95, self.price, self.energy].into_iter().filter(|is_there| *is_there).count()
    }
}

/// The page.
pub(super) fn page(title: &str, entries: &[Entry], board: &Board) -> String {
    let with_rank = board.classes.iter().flat_map(|class| &class.ranked);
    let columns = Columns::of(with_rank.map(|one| &entries[one.entry]));
    // Results without a rank are filtered, too.
    let of_all = Columns::of(entries.iter());
    let body = html! {
        header {
            h1 { (title) }
            p.quiet { (summary(entries, board)) }
        }
        (filters(entries, of_all))
        // The script shows it.
        p #nothing .card hidden { "No result matches: change the filters." }
        @if board.classes.is_empty() {
            section.card {
                h2 { "No result has a rank yet" }
                p.quiet { "Below is why." }
            }
        } @else {
            (ranked(entries, board, columns))
        }
        (others(entries, board))
        section.card {
            h2 { "How to read this" }
            ul {
                li { "Results have a rank only beside results of the same work: the same workload and "
                     "version, scale, mix and load model. Ranks of different classes say nothing "
                     "about each other." }
                li { "≈ before a rank: it is not known that the result above is better. One run does "
                     "not show how much runs differ." }
                li { "Hosts, database versions and settings differ within a class: that is what is "
                     "compared. The page of a result lists the differences." }
                li { "Verified means that every figure follows from the raw parts of the bundle. It "
                     "does not prove that the run took place: a signature says who claims it, and "
                     code { "triphammer repeat" } " shows whether it is true." }
                @if of_all.energy {
                    li { "Energy per transaction is comparable at equal rates only: each result has "
                         "its own rate. Sources measure different parts of a host: joules are sorted and "
                         "filtered within a kind of source only." }
                }
            }
        }
    };
    layout(title, "", body)
}

fn summary(entries: &[Entry], board: &Board) -> String {
    let labels = entries.iter().filter_map(|entry| entry.label.as_ref());
    let submitters: BTreeSet<&str> = labels.map(|label| &*label.submitter).collect();
    let results = counted(entries.len() as u64, "results");
    let by = match submitters.len() {
        0 => String::new(),
        count => format!(" by {}", counted(count as u64, "submitters")),
    };
    let unverified = match board.unverified.len() {
        0 => String::new(),
        1 => "; one does not agree with itself".to_owned(),
        count => format!("; {count} do not agree with themselves"),
    };
    format!("{results}{by}, {} with a rank{unverified}.", integer(board.ranked() as u64))
}

/// The fields that filter: shown by the script, which they need.
fn filters(entries: &[Entry], columns: Columns) -> Markup {
    let of = |value: fn(&Entry) -> &str| -> BTreeSet<&str> {
        entries.iter().map(value).filter(|value| !value.is_empty()).collect()
    };
    let currencies: BTreeSet<String> =
        entries.iter().filter_map(|entry| Some(entry.price()?.1)).collect();
    let sources = entries.iter().filter_map(|entry| Some(entry.joules()?.1.title()));
    let choices = [
        ("workload", "Workload", of(|entry| &entry.head.workload)),
        ("database", "Database", of(|entry| &entry.head.product)),
        ("host", "Host", of(|entry| &entry.head.cpu)),
        (
            "kind",
            "Kind of submitter",
            of(|entry| entry.label.as_ref().map_or("", |l| l.kind.name())),
        ),
        ("currency", "Currency", currencies.iter().map(String::as_str).collect()),
        ("source", "Energy read from", sources.collect()),
    ];
    html! {
        form #filters .filters.card hidden {
            label { span { "Search" } input type="search" name="text" autocomplete="off"; }
            @for (name, title, values) in choices.iter().filter(|(.., values)| values.len() > 1) {
                label {
                    span { (title) }
                    select name=(name) {
                        option value="" { "all" }
                        @for value in values { option value=(value) { (value) } }
                    }
                }
            }
            @if columns.price {
                // Only within a currency, and joules only within a kind of source.
                label {
                    span {
                        "Price at most"
                        @if let Some(one) = currencies.first().filter(|_| currencies.len() == 1) {
                            ", " (one)
                        }
                    }
                    input type="number" name="price" min="0" step="any" data-within="currency";
                }
            }
            @if columns.energy {
                label {
                    span { "Joules at most" }
                    input type="number" name="energy" min="0" step="any" data-within="source";
                }
            }
            div.act {
                label.check {
                    input type="checkbox" name="signed" value="1";
                    span { "signed only" }
                }
                button type="reset" { "Show all" }
                output name="count" aria-live="polite" {}
            }
        }
    }
}

fn ranked(entries: &[Entry], board: &Board, columns: Columns) -> Markup {
    html! {
        section.card {
            h2 { "Results with a rank" }
            div.scroll {
                table.results.stack.pairs data-sorts {
                    thead {
                        tr {
                            th.number scope="col" data-sort="number" { "#" }
                            th scope="col" data-sort="number" data-down { "Result" }
                            th scope="col" data-sort="text" { "Database" }
                            th scope="col" data-sort="text" { "Host" }
                            th.number scope="col" data-sort="number" { "Users" }
                            @if columns.p95 {
                                th.number scope="col" data-sort="number" { "p95 ms" }
                            }
                            @if columns.price {
                                th.number scope="col" data-sort="number" { "Price per million" }
                            }
                            @if columns.energy {
                                th.number scope="col" data-sort="number" { "J per transaction" }
                            }
                            th scope="col" data-sort="text" { "Submitter" }
                            th scope="col" data-sort="text" { "Checked" }
                            th scope="col" data-sort="text" { "Date" }
                        }
                    }
                    @for class in &board.classes { (of_class(entries, class, columns)) }
                }
            }
        }
    }
}

fn of_class(entries: &[Entry], class: &Class, columns: Columns) -> Markup {
    let first = &entries[class.ranked[0].entry].head;
    let hidden = ["workload", "metric", "scale"];
    let rest: Vec<String> = (class.key.iter().filter(|(name, _)| !hidden.contains(&&***name)))
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    let better = match class.metric.better {
        Better::Higher => "more is better",
        Better::Lower => "less is better",
    };
    html! {
        tbody {
            tr.class {
                th colspan=(columns.count()) scope="rowgroup" {
                    span.name { (first.workload) @if !first.scale.is_empty() { ", " (first.scale) } }
                    " " span.quiet { (class.metric.meaning) "; " (better) ". " (rest.join(", ")) }
                }
            }
            @for (place, one) in class.ranked.iter().enumerate() {
                (row(&entries[one.entry], one, place, columns))
            }
        }
    }
}

fn row(entry: &Entry, ranked: &Ranked, place: usize, columns: Columns) -> Markup {
    let head = &entry.head;
    let value = entry.value().unwrap_or_default();
    let users = entry.run().map_or(0, |run| run.spec.users);
    let cells = html! {
            td.number.rank data-value=(place + 1) data-label="Rank" {
                @if ranked.is_apart() { (place + 1) }
                @else {
                    span title="It is not known that the one above is better" { "≈ " (place + 1) }
                }
            }
            th scope="row" data-value=(value) {
                a href=(link(entry)) { (figure(value)) " " (unit(entry)) }
                " " small.quiet { (precision(entry)) }
            }
            td.wide data-label="Database" { (head.database()) }
            td.host.wide data-label="Host" { (host(head)) }
            td.number data-label="Users" data-value=(users) { (integer(users.into())) }
            @if columns.p95 {
                @let us = p95(entry);
                td.number data-label="p95 ms" data-value=[us] {
                    @if let Some(us) = us { (milliseconds(us as f64)) }
                }
            }
            (prices(entry, columns))
            td.wide data-label="Submitter" { (submitter(entry)) }
            td.wide data-label="Checked" { (checked(entry)) }
        td.day data-label="Date" { (head.day()) }
    };
    listed(entry, &cells)
}

/// The 95th percentile of the response times, in microseconds; `None` without any.
fn p95(entry: &Entry) -> Option<u64> {
    let times = &entry.run()?.window.total.response;
    (times.count > 0).then_some(times.p95_us)
}

/// A row of a result, with what rows are filtered by.
fn listed(entry: &Entry, cells: &Markup) -> Markup {
    let head = &entry.head;
    let (price, joules) = (entry.price(), entry.joules());
    html! {
        tr data-workload=(head.workload) data-database=(head.product) data-host=(head.cpu)
           data-kind=(entry.label.as_ref().map_or("", |label| label.kind.name()))
           data-signed=[entry.key().map(|_| "1")]
           data-price=[price.as_ref().map(|(value, _)| value)]
           data-currency=[price.as_ref().map(|(_, currency)| currency)]
           data-energy=[joules.map(|(value, _)| value)]
           data-source=[joules.map(|(_, kind)| kind.title())] { (cells) }
    }
}

/// The cells of price and energy.
fn prices(entry: &Entry, columns: Columns) -> Markup {
    html! {
        @if columns.price {
            @let price = entry.price();
            td.number data-label="Per million" data-value=[price.as_ref().map(|(value, _)| value)]
               data-group=[price.as_ref().map(|(_, currency)| currency)] {
                @if let Some((value, currency)) = &price { (money(*value)) " " (currency) }
            }
        }
        @if columns.energy {
            @let joules = entry.joules();
            td.number data-label="J each" data-value=[joules.map(|(value, _)| value)]
               data-group=[joules.map(|(_, kind)| kind.title())] {
                @if let Some((value, kind)) = joules {
                    (figure(value)) " " small.quiet { (kind.title()) }
                }
            }
        }
    }
}

/// CPU, cores and memory of a host; nothing if nothing is known, which small screens leave out.
fn host(head: &Head) -> Markup {
    html! {
        (head.cpu)
        @if !head.size.is_empty() { " " small.quiet { (head.size) } }
    }
}

fn unit(entry: &Entry) -> String {
    entry.metric().map(|metric| metric.name).unwrap_or_default()
}

/// How well a value is known: the number of runs, or the interval of one.
fn precision(entry: &Entry) -> String {
    let steadiness = entry.run().and_then(|run| run.steadiness.as_ref());
    match (entry.runs.len(), steadiness.and_then(|of| of.relative_half_width)) {
        (1, Some(width)) => format!("± {} within one run", precise(width)),
        (1, None) => "one run".to_owned(),
        (runs, _) => format!("mean of {runs} runs"),
    }
}

fn checked(entry: &Entry) -> Markup {
    html! {
        (verified(entry))
        @if let Some(key) = entry.key() { " " span.badge.plain title=(key) { "signed" } }
    }
}

/// Results without a rank, and those that do not agree with themselves.
fn others(entries: &[Entry], board: &Board) -> Markup {
    let unverified = board.unverified.iter().map(|place| {
        let found = &entries[*place].found;
        let reasons = found.disagreements.iter().take(REASONS_MAX).map(|of| {
            format!("{}, {}: written {}, found {}", of.part, of.place, of.written, of.found)
        });
        (*place, reasons.collect::<Vec<_>>())
    });
    html! {
        @if !board.unranked.is_empty() {
            (list(entries, "Verified, without a rank", "Why it has no rank", board.unranked.clone()))
        }
        @if !board.unverified.is_empty() {
            (list(entries, "Not verified: these do not agree with themselves", "What does not agree",
                  unverified.collect()))
        }
    }
}

fn list(entries: &[Entry], title: &str, why: &str, listed: Vec<(usize, Vec<String>)>) -> Markup {
    html! {
        section.card {
            h2 { (title) }
            div.scroll {
                table.results.others.stack data-sorts {
                    thead {
                        tr {
                            th scope="col" data-sort="text" { "Result" }
                            th scope="col" data-sort="text" { (why) }
                            th scope="col" data-sort="text" { "Database" }
                            th scope="col" data-sort="text" { "Host" }
                            th scope="col" data-sort="text" { "Submitter" }
                            th scope="col" data-sort="text" { "Checked" }
                            th scope="col" data-sort="text" { "Date" }
                        }
                    }
                    tbody {
                        @for (place, reasons) in &listed { (other(&entries[*place], reasons)) }
                    }
                }
            }
        }
    }
}

fn other(entry: &Entry, reasons: &[String]) -> Markup {
    let head = &entry.head;
    let cells = html! {
            th scope="row" {
                a href=(link(entry)) { (entry.answer()) }
                " " small.quiet { (entry.found.job_kind.noun()) ", " (head.workload) }
            }
            td.why data-label="Why" { @for reason in reasons { div { (reason) } } }
            td data-label="Database" { (head.database()) }
            td.host data-label="Host" { (host(head)) }
            td data-label="Submitter" { (submitter(entry)) }
            td data-label="Checked" {
                (verified(entry))
                @if entry.key().is_some() { " " (badge("plain", "signed")) }
            }
        td.day data-label="Date" { (head.day()) }
    };
    listed(entry, &cells)
}
