//! The report of an examination: what is wrong, what to look at, and every line by group.

use triphammer_document::doctor::{
    CpuTest, DoctorResult, Goal, Group, HOST_FIGURES, HostFigure, HostTest, Line, SetupVerdict,
    StoredCpuTest, WriteTest, value_of,
};
use triphammer_settings::format::{
    bytes, counted, duration, figure, integer, milliseconds, seconds,
};

use super::chart::Charset;
use super::profile::{WIDTH, fill};
use super::table::{Table, width, wrapped};
use crate::lines::{DOT, ascii};

/// Columns of a verdict, and of goals, with the space after it.
const VERDICT: usize = 7;
const GOALS: usize = 12;
/// Sign of a bar, and columns of the longest.
const BAR: &str = "█";
const BAR_COLUMNS: usize = 40;

/// Renders an examination as text, with a final line break.
#[must_use]
pub fn doctor(result: &DoctorResult, charset: Charset) -> String {
    let mut lines = fill("", &title(result), DOT);
    lines.push(counts(result));
    if let Some(goal) = result.goal {
        lines.push(format!("The host is judged for {} only.", goal.words()));
    }
    for verdict in [SetupVerdict::Wrong, SetupVerdict::Look] {
        for line in result.lines.iter().filter(|line| line.verdict == verdict) {
            lines.push(String::new());
            lines.extend(finding(line));
        }
    }
    for group in Group::ALL {
        let of_group: Vec<&Line> = result.lines.iter().filter(|line| line.group == group).collect();
        if !of_group.is_empty() {
            lines.extend([String::new(), heading(group, result)]);
            lines.extend(table(&of_group));
        }
    }
    lines.extend(result.write_test.iter().flat_map(commits));
    lines.extend(result.cpu_test.iter().flat_map(earlier));
    lines.extend(result.host_test.iter().flat_map(|test| host_test(test, result)));
    lines.extend(missing(result));
    joined(&lines, charset)
}

/// Renders in a few lines what is wrong, with a final line break.
#[must_use]
pub fn doctor_in_short(result: &DoctorResult, charset: Charset) -> String {
    let mut lines = fill("", &title(result), DOT);
    lines.push(counts(result));
    let wrong = result.lines.iter().filter(|line| line.verdict == SetupVerdict::Wrong);
    lines.extend(wrong.flat_map(finding));
    joined(&lines, charset)
}

/// Joins lines to a text.
fn joined(lines: &[String], charset: Charset) -> String {
    let text: String = lines.iter().map(|line| format!("{}\n", line.trim_end())).collect();
    match charset {
        Charset::Unicode => text,
        Charset::Ascii => ascii(&text.replace('µ', "u").replace(BAR, "#")),
    }
}

fn title(result: &DoctorResult) -> String {
    let Some(target) = &result.target else { return "Examination of this host".to_owned() };
    let server = result.server.as_ref().map(|server| {
        format!("{DOT}{} {}{DOT}{}", server.product, server.version, server.transport)
    });
    format!("Examination of {target}{}", server.unwrap_or_default())
}

/// `2 wrong · 5 to look at · 31 fine`.
fn counts(result: &DoctorResult) -> String {
    let [wrong, look, fine] = [SetupVerdict::Wrong, SetupVerdict::Look, SetupVerdict::Fine]
        .map(|verdict| result.count(verdict));
    format!("{wrong} wrong{DOT}{look} to look at{DOT}{fine} fine")
}

/// A line that is not fine: its value, which goal that concerns, why it matters, what it is worth, and
/// how to change it.
fn finding(line: &Line) -> Vec<String> {
    let indent = " ".repeat(VERDICT);
    let lead = format!("{:VERDICT$}", line.verdict.name());
    let mut lines = wrapped(&lead, &format!("{}: {}", line.name, line.value), WIDTH);
    lines.extend(wrapped(&indent, &line.why, WIDTH));
    if !line.goals.is_empty() {
        let goals: Vec<&str> = line.goals.iter().map(|goal| goal.words()).collect();
        lines.extend(wrapped(&format!("{indent}For: "), &goals.join(" and "), WIDTH));
    }
    if let Some(cost) = line.cost_words() {
        lines.extend(wrapped(&format!("{indent}Worth: "), &cost, WIDTH));
    }
    lines.extend(wrapped(&format!("{indent}→ "), &line.change, WIDTH));
    lines
}

fn heading(group: Group, result: &DoctorResult) -> String {
    let text = match group {
        Group::Host if result.target.is_none() => "Host",
        Group::Host if result.host_of_database => "Host of client and database",
        Group::Host => "Host of the client only: the database is elsewhere, or it is unknown where",
        Group::Network => "Network",
        Group::Database => "Database",
    };
    text.to_owned()
}

fn table(of_group: &[&Line]) -> Vec<String> {
    let names = of_group.iter().map(|line| width(&line.name)).max().unwrap_or_default();
    let goals = if of_group.iter().any(|line| !line.goals.is_empty()) { GOALS } else { 0 };
    let rows = of_group.iter().flat_map(|line| {
        let (verdict, goal) = (line.verdict.name(), Goal::short(&line.goals));
        let lead = format!("  {verdict:VERDICT$}{:names$}  {goal:goals$}", line.name);
        wrapped(&lead, &line.value, WIDTH)
    });
    rows.collect()
}

/// The latencies of the write test.
fn commits(test: &WriteTest) -> Vec<String> {
    let commits = counted(test.times.count, "commits");
    let mut lines =
        vec![String::new(), format!("Commit latency of {commits} in {}", duration(test.seconds))];
    let most = test.histogram.iter().map(|class| class.commits).max().unwrap_or_default();
    for class in &test.histogram {
        let share = class.commits as f64 / most.max(1) as f64;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of a few columns"
        )]
        let columns = (share * BAR_COLUMNS as f64).ceil() as usize;
        let up_to = milliseconds(class.up_to_us as f64);
        let (bar, commits) = (BAR.repeat(columns), integer(class.commits));
        lines.push(format!("  up to {up_to:>6} ms  {commits:>6}  {bar}"));
    }
    lines
}

/// Earlier times of the CPU test.
fn earlier(test: &CpuTest) -> Vec<String> {
    if test.earlier.is_empty() {
        return Vec::new();
    }
    let now = seconds(test.seconds);
    let mut lines = vec![
        String::new(),
        format!("Single-thread speed: {now} now, and earlier, from the job store"),
    ];
    for StoredCpuTest { at, product, version, cpu, seconds: time } in &test.earlier {
        let at: String = at.chars().take("2026-05-09".len()).collect();
        let cpu = cpu.as_ref().map(|cpu| format!("{DOT}{cpu}")).unwrap_or_default();
        let lead = format!("  {at}  {:>9}  ", seconds(*time));
        lines.extend(wrapped(&lead, &format!("{product} {version}{cpu}"), WIDTH));
    }
    lines
}

/// Number of earlier tests that have a column.
const EARLIER_COLUMNS: usize = 3;

/// What the host can do, beside earlier tests and other machines.
fn host_test(test: &HostTest, result: &DoctorResult) -> Vec<String> {
    let earlier = &test.earlier[..test.earlier.len().min(EARLIER_COLUMNS)];
    let dates = earlier.iter().map(|test| test.at.chars().take("2026-05-09".len()).collect());
    let letters = ('A'..).take(test.references.len()).map(|letter| format!("({letter})"));
    let head: Vec<String> = [String::new(), "now".to_owned()].into_iter().chain(dates).collect();
    let head: Vec<String> = head.into_iter().chain(letters).chain([String::new()]).collect();
    let mut table = Table::new(1, &head.iter().map(String::as_str).collect::<Vec<_>>());
    let of = |figures: &[HostFigure], name| value_of(figures, name).map_or("-".to_owned(), figure);
    for def in HOST_FIGURES.iter().filter(|def| value_of(&test.figures, def.name).is_some()) {
        let mut cells = vec![def.title.to_owned(), of(&test.figures, def.name)];
        cells.extend(earlier.iter().map(|test| of(&test.figures, def.name)));
        cells.extend(test.references.iter().map(|machine| of(&machine.figures, def.name)));
        cells.push(def.unit.to_owned());
        table.row(cells);
    }
    let machine = &test.machine;
    let cpu = machine.cpu.as_ref().map(|cpu| format!("{DOT}{cpu}")).unwrap_or_default();
    let title = format!("Test of {}{cpu}, in {}", machine.host, duration(test.seconds));
    let mut lines = vec![String::new()];
    lines.extend(wrapped("", &title, WIDTH));
    lines.extend(table.lines(2).into_iter().map(|line| format!("  {line}")));
    for (letter, reference) in ('A'..).zip(&test.references) {
        lines.extend(wrapped(&format!("  ({letter}) "), &reference.machine, WIDTH));
    }
    lines.extend(host_notes(test, result).iter().flat_map(|note| wrapped("  ", note, WIDTH)));
    lines
}

/// What to know about the figures of a host.
fn host_notes(test: &HostTest, result: &DoctorResult) -> Vec<String> {
    let arrays = format!("The arrays of the triad have {} each", bytes(test.array_bytes));
    let caches = test.cache_bytes.map(|caches| format!(", the caches {}", bytes(caches)));
    let threads = counted(u64::from(test.threads), "threads");
    let mut notes = vec![format!("{arrays}{}; {threads}.", caches.unwrap_or_default())];
    if let Some(disk) = &test.disk {
        let how = match disk.direct {
            true => "past the kernel's cache",
            false => "through the kernel's cache: reads are those of memory",
        };
        let (file, folder) = (bytes(disk.file_bytes), &disk.folder);
        notes.push(format!("A file of {file} in {folder} ({}), {how}.", disk.file_system));
    }
    if result.tool.debug_build {
        notes.push("This is a debug build of triphammer.".to_owned());
    }
    notes
}

/// What could not be read, and the privileges that are missing.
fn missing(result: &DoctorResult) -> Vec<String> {
    let mut lines = Vec::new();
    for hidden in &result.hidden {
        let text = format!("Missing privilege for {}:", hidden.checks.join(", "));
        lines.push(String::new());
        lines.extend(wrapped("", &text, WIDTH));
        lines.extend(wrapped("  ", &hidden.grant, WIDTH));
    }
    for unread in &result.unread {
        let checks = counted(unread.checks.len() as u64, "checks");
        let text =
            format!("{checks} not completed ({}): {}", unread.reason, unread.checks.join(", "));
        lines.push(String::new());
        lines.extend(wrapped("", &text, WIDTH));
    }
    lines
}
