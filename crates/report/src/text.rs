//! The text report of a run. It fits 80 columns, and colour carries no extra information.

use std::borrow::Cow;

use triphammer_core::text::lines;
use triphammer_document::result::{
    Bottleneck, Observed, QueriesResult, RunResult, Steady, TypeFigures, Verdict,
};
use triphammer_settings::format::{clock, counted};

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
use super::summary::{ENTRY_LINES, HEIGHT, clipped, shows_all};
use super::table::{Table, WIDTH, listing, paragraph, width};
use super::transaction_time;
use super::words;

/// Whether a text may contain colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Plain text, for files and pipes.
    Plain,
    /// ANSI colours, for terminals.
    Color,
}

/// Maximum number of error kinds shown.
const ERRORS_SHOWN: usize = 10;
/// The part of a run that headings name.
const WINDOW: &str = "the window";
/// Width of the names in a summary.
const SUMMARY_WIDTH: usize = 15;
/// Maximum number of requirements in a summary.
const REQUIRED_SHOWN: usize = 3;
/// Width of the names of the conditions.
const NAME_WIDTH: usize = 11;

#[derive(Clone, Copy)]
enum Ink {
    Bold,
    Dim,
    Green,
    Yellow,
    Red,
}

impl Ink {
    const fn of(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Verified => Self::Green,
            Verdict::WithinBounds | Verdict::NotCounted => Self::Dim,
            Verdict::Violated => Self::Red,
        }
    }
}

/// All sequences that [`Style::paint`] writes.
const PAINT: [&str; 6] = ["\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m"];

/// Sanitises text for a terminal: of all control characters, keeps only line breaks and the colours
/// of reports.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\x1b') {
        out.push_str(&lines(&rest[..at]));
        rest = &rest[at..];
        let own = PAINT.iter().find(|own| rest.starts_with(**own));
        let end = own.map_or(1, |own| own.len());
        out.push_str(&own.map_or_else(|| lines(&rest[..end]), |own| Cow::Borrowed(*own)));
        rest = &rest[end..];
    }
    if out.is_empty() {
        return lines(text);
    }
    out.push_str(&lines(rest));
    Cow::Owned(out)
}

impl Style {
    fn paint(self, ink: Ink, text: &str) -> String {
        let code = match ink {
            _ if self == Self::Plain || text.is_empty() => return text.to_owned(),
            Ink::Bold => "1",
            Ink::Dim => "2",
            Ink::Green => "32",
            Ink::Yellow => "33",
            Ink::Red => "31",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

/// Renders the result of a run as text, with a final line break.
#[must_use]
pub fn text(result: &RunResult, style: Style) -> String {
    let mut page = Page { style, out: String::new() };
    page.title(result, usize::MAX);
    page.primary_metric(result);
    if let Some(set) = &result.queries {
        page.first_answer(result);
        page.requirements(result);
        page.queries(set);
        page.observed(result.observed.as_ref(), "the timed part");
    } else {
        page.bottleneck(result);
        page.steadiness(result);
        page.another(result);
        page.first_answer(result);
        page.requirements(result);
        page.figures(result);
        page.transaction_time(result);
        page.elasticity(result);
        page.logins(result);
        page.hosts(result);
        page.query_streams(result);
        page.nodes(result);
        page.observed(result.observed.as_ref(), WINDOW);
        page.slices(result);
        page.audits(result);
        page.errors(result);
    }
    page.costs(result);
    page.conditions(result);
    page.warnings(result);
    page.notes(result);
    if let Some(job) = result.job {
        page.blank();
        page.line(&format!("Job {job} · triphammer report {job} shows this again"));
    }
    page.out
}

/// Renders the result of a run for a screen of 80 × 24: the figures, their reliability, and the
/// requirements. `text` has the rest.
#[must_use]
pub fn summary(result: &RunResult, style: Style) -> String {
    let full = summary_of(result, style, ENTRY_LINES);
    if full.lines().count() <= HEIGHT { full } else { summary_of(result, style, 1) }
}

/// Renders a summary with a maximum number of lines per entry.
fn summary_of(result: &RunResult, style: Style, lines: usize) -> String {
    let mut page = Page { style, out: String::new() };
    page.title(result, lines);
    match &result.queries {
        Some(set) => page.first_figures(result, &queries::available(set)),
        None => page.primary_metric(result),
    }
    page.blank();
    page.in_short(result, lines);
    if let Some(job) = result.job {
        page.line(&shows_all(job));
    }
    page.out
}

/// Renders what was observed beside a job that is no run.
pub(super) fn observed_text(seen: Option<&Observed>, over: &str, style: Style) -> String {
    let mut page = Page { style, out: String::new() };
    page.observed(seen, over);
    page.out
}

struct Page {
    style: Style,
    out: String,
}

impl Page {
    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn blank(&mut self) {
        self.out.push('\n');
    }

    fn heading(&mut self, text: &str) {
        self.blank();
        let painted = self.style.paint(Ink::Bold, text);
        self.line(&painted);
    }

    fn title(&mut self, result: &RunResult, most: usize) {
        for line in clipped(paragraph("", &words::title(result)), most) {
            let painted = self.style.paint(Ink::Bold, &line);
            self.line(&painted);
        }
        if let Some(label) = &result.label {
            clipped(paragraph("", &format!("“{label}”")), most).iter().for_each(|l| self.line(l));
        }
        let first = if most < usize::MAX { first::in_short(result) } else { first::lines(result) };
        let ending = result.ending.detail.clone();
        for text in first {
            // Why a run ended is never left out.
            let most = if Some(&text) == ending.as_ref() { most.max(ENTRY_LINES) } else { most };
            for line in clipped(paragraph("", &text), most) {
                let painted = self.style.paint(Ink::Red, &line);
                self.line(&painted);
            }
        }
        self.blank();
    }

    fn primary_metric(&mut self, result: &RunResult) {
        self.first_figures(result, &words::primary_metric(result));
    }

    fn first_figures(&mut self, result: &RunResult, rows: &[[String; 3]]) {
        let names = rows.iter().map(|row| width(&row[0])).max().unwrap_or(0);
        let values = rows.iter().map(|row| width(&row[1])).max().unwrap_or(0).max(10);
        for (index, [name, value, meaning]) in rows.iter().enumerate() {
            let gap = " ".repeat(values - width(value));
            let value = self.style.paint(Ink::Bold, value);
            let lead = format!("  {name:names$}  {gap}{value}   ");
            let plain = " ".repeat(2 + names + 2 + values + 3);
            for (line, text) in paragraph(&plain, meaning).iter().enumerate() {
                let text = text.trim_start();
                self.line(&format!("{}{text}", if line == 0 { &lead } else { &plain }));
            }
            if index == 0 && result.queries.is_none() {
                self.verification(result, 2 + names + 2 + values + 3);
            }
        }
    }

    fn verification(&mut self, result: &RunResult, indent: usize) {
        let ink = Ink::of(result.primary_metric.verification.verdict);
        for line in paragraph(&" ".repeat(indent), &words::verification(result)) {
            let text = self.style.paint(ink, line.trim_start());
            self.line(&format!("{}{text}", " ".repeat(indent)));
        }
    }

    fn bottleneck(&mut self, result: &RunResult) {
        let limited = &result.bottleneck;
        self.blank();
        let ink = match limited.kind {
            Bottleneck::Load | Bottleneck::Database => Ink::Green,
            Bottleneck::Client | Bottleneck::Host | Bottleneck::Network => Ink::Yellow,
            Bottleneck::Undecided => Ink::Dim,
        };
        self.verdict(words::LIMITED_BY, ink, &words::bottleneck(result), Some(&limited.advice));
    }

    /// How much another run would differ.
    fn another(&mut self, result: &RunResult) {
        if let Some(another) = &result.another {
            self.verdict(words::ANOTHER, Ink::Dim, &another.words, None);
        }
    }

    /// When the database answered first after a pause.
    fn first_answer(&mut self, result: &RunResult) {
        if let Some(first) = &result.first_answer {
            self.verdict(words::PAUSE, Ink::Dim, &first.words, None);
        }
    }

    fn steadiness(&mut self, result: &RunResult) {
        if let Some(why) = words::not_judged(result) {
            return self.verdict(words::STEADINESS, Ink::Dim, &why, None);
        }
        let Some(steadiness) = words::judged_steadiness(result) else { return };
        let ink = match steadiness.verdict {
            Steady::Steady => Ink::Green,
            Steady::Drifting => Ink::Yellow,
            Steady::WithinWindow | Steady::TooShort => Ink::Dim,
        };
        let next = steadiness.next.as_deref();
        self.verdict(words::STEADINESS, ink, &words::steadiness(steadiness), next);
    }

    /// The rest of a summary: one or two lines per entry.
    fn in_short(&mut self, result: &RunResult, most: usize) {
        for (name, text, is_bad) in words::in_short(result) {
            let lead = format!("  {name:SUMMARY_WIDTH$}");
            for line in clipped(paragraph(&lead, &text), most) {
                let line = if is_bad { self.style.paint(Ink::Red, &line) } else { line };
                self.line(&line);
            }
        }
        let rows: Vec<_> = words::requirements(result).collect();
        // Failed requirements come first.
        let (passed, failed): (Vec<_>, Vec<_>) = rows.iter().partition(|(passed, _)| *passed);
        let shown = failed.iter().chain(&passed).take(REQUIRED_SHOWN);
        for (passed, [requirement, value, distance]) in shown {
            let lead = format!("  {}  ", words::verdict(*passed));
            let ink = if *passed { Ink::Green } else { Ink::Red };
            let text = format!("{requirement}: {value}, {distance}");
            for line in clipped(paragraph(&lead, &text), 1) {
                let painted = self.style.paint(ink, &line);
                self.line(&painted);
            }
        }
        if rows.len() > REQUIRED_SHOWN {
            let more = counted((rows.len() - REQUIRED_SHOWN) as u64, "more requirements");
            let failed = failed.len().saturating_sub(REQUIRED_SHOWN);
            self.line(&format!("  and {more}, of which {failed} failed"));
        }
    }

    /// The verdicts, with reasons and advice.
    fn verdict(&mut self, of: &str, ink: Ink, text: &str, next: Option<&str>) {
        let lead = format!("  {of}  ");
        for (index, line) in paragraph(&lead, text).iter().enumerate() {
            let (gap, text) = line.split_at(lead.len());
            let gap = if index == 0 { self.style.paint(Ink::Bold, gap) } else { gap.to_owned() };
            let text = self.style.paint(ink, text);
            self.line(&format!("{gap}{text}"));
        }
        for line in next
            .into_iter()
            .flat_map(|next| paragraph(&format!("{}→ ", " ".repeat(lead.len())), next))
        {
            self.line(&line);
        }
    }

    fn figures(&mut self, result: &RunResult) {
        let (shown, heading) = words::shown(result);
        self.heading(&heading);
        self.table(&words::counts(shown));
        self.heading("Response time of committed transactions, in ms");
        self.table(&words::times(shown, |seen: &TypeFigures| &seen.response));
        if let Some(intervals) = words::intervals(shown) {
            self.heading(words::INTERVALS);
            self.table(&intervals);
        }
        if !result.spec.load.is_closed() {
            self.heading("Service time of committed transactions, in ms");
            self.table(&words::times(shown, |seen: &TypeFigures| &seen.service));
        }
        if let Some(waits) = load::waits(result) {
            self.heading(load::WAITS);
            self.table(&waits);
        }
        for line in paragraph("  ", words::times_note(result)) {
            let painted = self.style.paint(Ink::Dim, &line);
            self.line(&painted);
        }
        if let Some(answers) = &result.replay {
            self.heading(words::ANSWERS);
            for line in words::answers(answers) {
                paragraph("  ", &line).iter().for_each(|line| self.line(line));
            }
            for (heading, table) in words::answer_tables(answers) {
                self.heading(heading);
                self.table(&table);
            }
        }
        if let Some(statements) = words::statements(result) {
            self.heading(words::STATEMENTS);
            self.table(&statements);
        }
        if let Some(slowest) = load::slowest(result) {
            self.heading(load::SLOWEST);
            self.table(&slowest);
        }
    }

    fn transaction_time(&mut self, result: &RunResult) {
        if let Some(time) = &result.transaction_time {
            self.heading(&transaction_time::heading(time));
            self.table(&transaction_time::table(time));
            self.sentences(&transaction_time::sentences(time));
        }
    }

    fn elasticity(&mut self, result: &RunResult) {
        if let Some(table) = elasticity::table(result) {
            self.heading(elasticity::REACTIONS);
            self.table(&table);
            self.sentences(&[elasticity::MEANING.to_owned()]);
        }
    }

    fn logins(&mut self, result: &RunResult) {
        let lines = logins::lines(result);
        if lines.is_empty() {
            return;
        }
        self.heading(logins::LOGINS);
        if let Some(table) = logins::table(result) {
            self.table(&table);
        }
        self.sentences(&lines);
    }

    fn requirements(&mut self, result: &RunResult) {
        let rows: Vec<_> = words::requirements(result).collect();
        if rows.is_empty() {
            return;
        }
        self.heading(words::REQUIREMENTS);
        let columns: [usize; 2] = std::array::from_fn(|column| {
            rows.iter().map(|(_, row)| width(&row[column])).max().unwrap_or(0)
        });
        for (passed, [requirement, value, distance]) in &rows {
            let [names, values] = columns;
            let line = format!(
                "  {}  {requirement:names$}  {value:>values$}  {distance}",
                words::verdict(*passed)
            );
            let ink = if *passed { Ink::Green } else { Ink::Red };
            let painted = self.style.paint(ink, &line);
            self.line(&painted);
        }
    }

    fn queries(&mut self, set: &QueriesResult) {
        self.heading(queries::QUERIES);
        self.table(&queries::queries(set));
        self.sentences(&queries::usage(set));
        if let Some(table) = queries::repeats(set) {
            self.heading(queries::REPEATS);
            self.table(&table);
        }
    }

    fn hosts(&mut self, result: &RunResult) {
        if let Some(table) = hosts::hosts(result) {
            self.heading(hosts::HOSTS);
            self.table(&table);
        }
    }

    fn query_streams(&mut self, result: &RunResult) {
        if let Some(streams) = &result.query_streams {
            self.heading(query_streams::QUERIES);
            self.table(&query_streams::queries(streams, result.observed.as_ref()));
        }
    }

    fn nodes(&mut self, result: &RunResult) {
        for (heading, table) in nodes::tables(&result.nodes) {
            self.heading(heading);
            self.table(&table);
        }
    }

    /// `over` is what was observed: the window of a run, or a whole job.
    fn observed(&mut self, seen: Option<&Observed>, over: &str) {
        let Some(seen) = seen else { return };
        for (heading, table) in observed::tables(seen, observed::Extent::First) {
            self.heading(&heading.replace(WINDOW, over));
            self.table(&table);
        }
        for map in cores::maps(seen) {
            self.heading(&map.heading.replace(WINDOW, over));
            self.table(&map.table);
            self.sentences(&map.sentences);
        }
        self.heading(observed::OBSERVERS);
        observed::lines(seen).iter().for_each(|line| self.line(line));
    }

    fn costs(&mut self, result: &RunResult) {
        if let Some(price) = &result.price {
            self.heading(costs::PRICE);
            self.sentences(&costs::price(price));
            self.table(&costs::components(price));
            self.sentences(&costs::sources(price));
        }
        if let Some(energy) = &result.energy {
            self.heading(costs::ENERGY);
            self.sentences(&costs::energy(energy, &result.primary_metric.name));
        }
    }

    fn sentences(&mut self, texts: &[String]) {
        texts.iter().flat_map(|text| paragraph("  ", text)).for_each(|line| self.line(&line));
    }

    fn slices(&mut self, result: &RunResult) {
        if let Some(table) = words::slices(result) {
            self.heading(words::SLICES);
            self.table(&table);
        }
    }

    /// Renders a table as narrow as possible, at most as wide as a report.
    fn table(&mut self, table: &Table) {
        let gap = [4, 3, 2, 1].into_iter().find(|gap| table.width(*gap) + 2 <= WIDTH);
        let indent = if gap.is_some() { "  " } else { "" };
        let gap = gap.unwrap_or(1);
        for (index, line) in table.narrowed(gap, WIDTH - indent.len()).lines(gap).iter().enumerate()
        {
            let line = if index == 0 { self.style.paint(Ink::Dim, line) } else { line.clone() };
            self.line(&format!("{indent}{line}"));
        }
    }

    fn audits(&mut self, result: &RunResult) {
        if result.audits.is_empty() {
            return;
        }
        self.heading(words::AUDITS);
        for (verdict, equation) in words::audits(result) {
            for line in paragraph(&format!("  {:13}  ", verdict.label()), &equation) {
                let painted = self.style.paint(Ink::of(verdict), &line);
                self.line(&painted);
            }
        }
    }

    fn errors(&mut self, result: &RunResult) {
        let errors = words::errors(result);
        if errors.is_empty() {
            return;
        }
        self.heading("Errors: attempts that ended with one, and the first of each kind");
        let columns: [usize; 3] = std::array::from_fn(|column| {
            errors.iter().map(|error| width(&error[column])).max().unwrap_or(0)
        });
        for [place, class, count, message] in errors.iter().take(ERRORS_SHOWN) {
            let [places, classes, counts] = columns;
            let lead = format!("  {place:places$}  {class:classes$}  {count:>counts$}  ");
            for line in paragraph(&lead, message) {
                self.line(&line);
            }
        }
        if errors.len() > ERRORS_SHOWN {
            let more = counted((errors.len() - ERRORS_SHOWN) as u64, "more kinds");
            self.line(&format!("  and {more}: --json prints all"));
        }
    }

    fn conditions(&mut self, result: &RunResult) {
        self.blank();
        for (name, text) in words::conditions(result) {
            let lead = format!("{name:NAME_WIDTH$}");
            for (index, line) in listing(&lead, &text, crate::lines::DOT).iter().enumerate() {
                let line = match line.strip_prefix(&lead) {
                    Some(rest) if index == 0 => {
                        format!("{}{rest}", self.style.paint(Ink::Dim, &lead))
                    }
                    _ => line.clone(),
                };
                self.line(&line);
            }
        }
    }

    fn warnings(&mut self, result: &RunResult) {
        if result.warnings.is_empty() {
            return;
        }
        self.heading("Warnings");
        for warning in &result.warnings {
            for line in paragraph("  ! ", &warning.text) {
                let painted = self.style.paint(Ink::Yellow, &line);
                self.line(&painted);
            }
            if let Some(next) = &warning.next {
                for line in paragraph("    → ", next) {
                    self.line(&line);
                }
            }
        }
    }

    fn notes(&mut self, result: &RunResult) {
        if result.notes.is_empty() {
            return;
        }
        self.heading("Notes");
        for note in &result.notes {
            let at = note.at_s.map_or_else(String::new, clock);
            for line in paragraph(&format!("  {at:>7}  "), &note.text) {
                self.line(&line);
            }
        }
    }
}
