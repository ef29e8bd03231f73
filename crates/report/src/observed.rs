//! The parts of reports about what was observed beside the run: what the sessions waited for, who
//! blocked them, the load profile, the top statements, the observers' cost, and what was hidden.

use triphammer_core::text::one_line;
use triphammer_document::metrics::Unit;
use triphammer_document::result::{
    ActiveSessions, Blocker, Capture, CapturedSession, CommitProbe, CpuProfile, LogOperation,
    LogWrites, Observed, ObserverGap, ProfileFigure, WaitClass,
};
use triphammer_document::unit::FigureUnit;
use triphammer_settings::format::{
    bytes, counted, duration, figure, integer, milliseconds, percent,
};

use super::table::{Table, paragraph};

/// Headings of the parts.
pub(super) const SESSIONS: &str =
    "Active sessions of the run at the database, by what they waited for";
pub(super) const STATEMENTS: &str = "Active sessions of the run, by statement";
pub(super) const BLOCKERS: &str = "Sessions that blocked others";
pub(super) const PROFILE: &str = "Load profile of the database in the window";
pub(super) const HOSTS: &str = "Hosts in the window";
pub(super) const TOP: &str = "Top statements by the database's own statistics";
pub(super) const PROBE: &str = "Commits of the log probe, triphammer's own small transaction";
pub(super) const LOG: &str = "The server's own log writes in the window";
pub(super) const LOG_WAITS: &str = "Active sessions of the run that waited for the log";
pub(super) const CAPTURES: &str = "Captures";
pub(super) const CPUS: &str = "Functions in which the CPUs were, by samples of perf";
/// Heading of what follows the tables.
pub(super) const OBSERVERS: &str = "Observers";
/// Name of the entry of a summary.
pub(super) const NOT_OBSERVED: &str = "Not observed";

/// Maximum rows of a table in a text report; `--json` prints more.
const ROWS_MAX: usize = 8;
/// Maximum rows of the load profile in a text report.
const PROFILE_MAX: usize = 40;
/// Maximum rows of the figures of hosts in a text report.
const HOSTS_MAX: usize = 40;
/// Maximum length of a name or text in a table, in characters.
const NAME_LENGTH: usize = 40;
/// Maximum rows of the sessions of all captures.
const CAPTURED_MAX: usize = 24;
/// Maximum rows of one capture.
const OF_CAPTURE_MAX: usize = 8;
/// Maximum length of a wait there.
const WAIT_LENGTH: usize = 24;
/// Label of figures of single tables.
const RELATION: &str = "relation";
/// Smallest share of sessions that a table shows.
const SHARE_MIN: f64 = 0.005;

/// How much of the tables a report has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// The first rows, for a terminal.
    First,
    /// All rows.
    All,
}

impl Extent {
    const fn rows(self, first: usize) -> usize {
        match self {
            Self::First => first,
            Self::All => usize::MAX,
        }
    }
}

/// All tables with their headings; empty ones are omitted.
pub(super) fn tables(observed: &Observed, extent: Extent) -> Vec<(&'static str, Table)> {
    let mut all = Vec::new();
    let rows = extent.rows(ROWS_MAX);
    let was_active =
        |of: &&ActiveSessions| of.average + of.idle_in_transaction + of.other + of.background > 0.0;
    if let Some(sessions) = observed.sessions.as_ref().filter(was_active) {
        all.push((SESSIONS, waits(sessions, rows)));
        if !sessions.statements.is_empty() {
            all.push((STATEMENTS, statements(sessions, rows)));
        }
    }
    if !observed.blockers.is_empty() {
        all.push((BLOCKERS, blockers(&observed.blockers, rows)));
    }
    if !observed.log_writes.is_empty() {
        all.push((LOG, log_writes(&observed.log_writes)));
        let waits = observed.sessions.as_ref().map(log_waits);
        all.extend(waits.filter(|table| table.rows.len() > 1).map(|table| (LOG_WAITS, table)));
    }
    let profile = profile(&observed.profile, extent.rows(PROFILE_MAX));
    let hosts = hosts(&observed.hosts, extent.rows(HOSTS_MAX));
    for (heading, table) in [(PROFILE, profile), (HOSTS, hosts)] {
        if table.rows.len() > 1 {
            all.push((heading, table));
        }
    }
    if !observed.statements.is_empty() {
        all.push((TOP, top(observed, rows)));
    }
    if let Some(profile) = &observed.cpu_profile {
        all.push((CPUS, functions(profile, rows)));
    }
    if let Some(probe) = observed.log_probe.as_ref().filter(|probe| probe.times.count > 0) {
        all.push((PROBE, commits(probe)));
    }
    if !observed.captures.is_empty() {
        all.push((CAPTURES, captures(&observed.captures)));
    }
    all
}

fn short(text: &str) -> String {
    cut(text, NAME_LENGTH)
}

/// A text in one line of at most so many characters, before its ellipsis.
fn cut(text: &str, length: usize) -> String {
    let text = one_line(text);
    match text.char_indices().nth(length) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}

/// Counts the rows that a table does not have.
fn and_more(table: &mut Table, all: usize, rows: usize) {
    if let Some(more) = all.checked_sub(rows).filter(|more| *more > 0) {
        let mut row = vec![String::new(); table.rows[0].len()];
        row[0] = format!("and {more} more: --format markdown");
        table.row(row);
    }
}

fn waits(sessions: &ActiveSessions, rows: usize) -> Table {
    let mut table = Table::new(2, &["", "mostly", "sessions", "share"]);
    for of in sessions.classes.iter().filter(|of| of.share >= SHARE_MIN).take(rows) {
        let mostly = sessions.waits.iter().find(|wait| wait.class == of.class);
        let mostly = mostly.map_or("", |wait| wait.wait.as_str());
        let title = of.class.title().to_owned();
        table.row(vec![title, short(mostly), figure(of.average), percent(of.share)]);
    }
    table.row(vec!["all".into(), String::new(), figure(sessions.average), String::new()]);
    let more = [
        ("idle in transaction", sessions.idle_in_transaction),
        ("other programs", sessions.other),
        ("background", sessions.background),
    ];
    for (name, average) in more.into_iter().filter(|(_, average)| *average >= SHARE_MIN) {
        table.row(vec![name.into(), String::new(), figure(average), String::new()]);
    }
    table
}

fn statements(sessions: &ActiveSessions, rows: usize) -> Table {
    let mut table = Table::new(2, &["", "mostly", "sessions", "share"]);
    let shown = sessions.statements.iter().filter(|of| of.share >= SHARE_MIN);
    for of in shown.clone().take(rows) {
        let mostly = of.top_class.title().to_owned();
        table.row(vec![short(&of.statement), mostly, figure(of.average), percent(of.share)]);
    }
    and_more(&mut table, shown.count(), rows);
    table
}

fn blockers(blockers: &[Blocker], rows: usize) -> Table {
    let mut table = Table::new(2, &["", "object", "blocked", "most at once"]);
    for of in blockers.iter().take(rows) {
        let who = match &of.session {
            Some(session) => format!("{session}: {}", of.description),
            None => of.description.clone(),
        };
        let most = integer(of.blocked_max);
        table.row(vec![short(&who), short(&of.object), figure(of.blocked), most]);
    }
    and_more(&mut table, blockers.len(), rows);
    table
}

/// What the server did with its log.
fn log_writes(all: &[LogWrites]) -> Table {
    let head = ["", "per s", "per transaction", "bytes each", "mean ms", "max ms", "of the time"];
    let mut table = Table::new(1, &head);
    let shown = |value: Option<f64>, words: fn(f64) -> String| value.map_or("-".to_owned(), words);
    for of in all {
        let operation = match of.operation {
            LogOperation::Write => "writes",
            LogOperation::Sync => "syncs",
        };
        table.row(vec![
            format!("{} {operation}", of.file),
            figure(of.per_second),
            shown(of.per_transaction, figure),
            shown(of.bytes_each(), |each| value(Unit::Bytes, each)),
            shown(of.mean_ms, figure),
            shown(of.max_ms, figure),
            shown(of.busy, percent),
        ]);
    }
    table
}

/// The functions with the most samples of their own, by side.
#[expect(clippy::cast_precision_loss, reason = "numbers of samples")]
fn functions(profile: &CpuProfile, rows: usize) -> Table {
    let mut table = Table::new(3, &["", "function", "module", "share", "CPUs"]);
    for of in &profile.sides {
        let side = of.side.title().to_owned();
        table.row(vec![side, "all".into(), String::new(), String::new(), figure(of.cpus)]);
        for function in of.functions.iter().take(rows) {
            let share = function.samples as f64 / of.samples as f64;
            table.row(vec![
                String::new(),
                short(&function.name),
                short(&function.module),
                percent(share),
                figure(of.cpus * share),
            ]);
        }
    }
    table
}

/// The waits of the class of the log, by name.
fn log_waits(sessions: &ActiveSessions) -> Table {
    let mut table = Table::new(1, &["", "sessions", "share"]);
    let of_log = sessions.waits.iter().filter(|of| of.class == WaitClass::Log);
    for of in of_log.filter(|of| of.share >= SHARE_MIN) {
        table.row(vec![short(&of.wait), figure(of.average), percent(of.share)]);
    }
    table
}

/// What was not zero: by title, with the labels. Figures of single tables come last.
fn profile(figures: &[ProfileFigure], rows: usize) -> Table {
    let mut table = Table::new(1, &["", "mean", "per transaction", "maximum"]);
    let mut shown: Vec<_> = figures.iter().filter(|of| of.max > 0.0).collect();
    shown.sort_by_key(|of| of.labels.contains_key(RELATION));
    for of in shown.iter().take(rows) {
        let title = of.title.to_lowercase();
        let labels = of.labels.values().map(String::as_str);
        let labels: Vec<&str> = labels.filter(|label| !title.contains(label)).collect();
        let name = match labels.is_empty() || of.title.len() > NAME_LENGTH / 2 {
            true => of.title.clone(),
            false => format!("{}, {}", of.title, labels.join(", ")),
        };
        let each = match (of.per_transaction, of.unit) {
            (Some(each), Unit::BytesPerSecond) => value(Unit::Bytes, each),
            (Some(each), Unit::Ms) => value(Unit::Ms, each),
            (Some(each), _) => figure(each),
            (None, _) => "-".to_owned(),
        };
        table.row(vec![short(&name), value(of.unit, of.mean), each, value(of.unit, of.max)]);
    }
    and_more(&mut table, shown.len(), rows);
    table
}

/// What was not zero.
fn hosts(figures: &[ProfileFigure], rows: usize) -> Table {
    let mut table = Table::new(1, &["", "mean", "maximum"]);
    let shown = figures.iter().filter(|of| of.max > 0.0);
    for of in shown.clone().take(rows) {
        let mut words = vec![of.title.as_str()];
        words.extend(of.labels.values().map(String::as_str));
        table.row(vec![short(&words.join(", ")), value(of.unit, of.mean), value(of.unit, of.max)]);
    }
    and_more(&mut table, shown.count(), rows);
    table
}

/// A value with its unit.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "shown, not stored")]
pub(super) fn value(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Bytes => bytes(value as u64),
        Unit::BytesPerSecond => format!("{}/s", bytes(value as u64)),
        Unit::PerSecond => format!("{}/s", figure(value)),
        Unit::PerMinute => format!("{}/min", figure(value)),
        Unit::Share => percent(value),
        Unit::Ms => format!("{} ms", figure(value)),
        Unit::Us => format!("{} ms", milliseconds(value)),
        Unit::S => format!("{} s", figure(value)),
        Unit::Ns => format!("{} s", figure(value / 1e9)),
        Unit::Hz => format!("{} GHz", figure(value / 1e9)),
        Unit::Watts => format!("{} W", figure(value)),
        Unit::Count | Unit::Cores | Unit::Average => figure(value),
    }
}

/// The top statements, with the rows and blocks that the server counts: not every one does.
fn top(observed: &Observed, rows: usize) -> Table {
    let statements = &observed.statements;
    let mut head = vec!["", "calls", "total s", "mean ms"];
    let has_rows = statements.iter().any(|of| of.rows > 0);
    let has_blocks = statements.iter().any(|of| of.blocks_read + of.blocks_hit > 0);
    head.extend(has_rows.then_some("rows"));
    head.extend(has_blocks.then_some(["read", "hit"]).into_iter().flatten());
    let mut table = Table::new(1, &head);
    for of in statements.iter().take(rows) {
        let text = cut(&of.text, NAME_LENGTH - 8);
        let mut row = vec![text, integer(of.calls), figure(of.total_s), figure(of.mean_ms)];
        row.extend(has_rows.then(|| integer(of.rows)));
        let blocks = has_blocks.then(|| [of.blocks_read, of.blocks_hit].map(integer));
        row.extend(blocks.into_iter().flatten());
        table.row(row);
    }
    and_more(&mut table, statements.len(), rows);
    table
}

/// How many commits of the log probe took how long.
fn commits(probe: &CommitProbe) -> Table {
    let mut table = Table::new(1, &["up to", "commits", "share"]);
    for class in &probe.histogram {
        let share = class.commits as f64 / probe.times.count as f64;
        let up_to = format!("{} ms", milliseconds(class.up_to_us as f64));
        table.row(vec![up_to, integer(class.commits), percent(share)]);
    }
    table
}

/// The sessions of each capture at its moment: those in the lock tree and then those with the oldest
/// transactions.
fn captures(captures: &[Capture]) -> Table {
    let mut table = Table::new(5, &["at", "session", "state", "waits for", "blocked by", "age s"]);
    for capture in captures {
        let moment = capture.snapshots.iter().min_by_key(|of| of.second.abs_diff(capture.at_s));
        let Some(moment) = moment else { continue };
        let roots = moment.roots();
        let is_root = |of: &CapturedSession| roots.iter().any(|(root, _)| *root == of.session);
        let mut sessions: Vec<_> = moment.sessions.iter().collect();
        sessions.sort_by_key(|of| (!is_root(of), of.blocked_by.is_none()));
        for of in sessions.into_iter().take(OF_CAPTURE_MAX) {
            if table.rows.len() > CAPTURED_MAX {
                return table;
            }
            let waits = if of.wait.is_empty() { of.class.title() } else { of.wait.as_str() };
            table.row(vec![
                duration(moment.second as f64),
                format!("{} {}", of.session, of.who),
                of.state.split('_').next().unwrap_or_default().to_owned(),
                short(waits).chars().take(WAIT_LENGTH).collect(),
                of.blocked_by.clone().unwrap_or_default(),
                of.transaction_s.map(figure).unwrap_or_default(),
            ]);
        }
    }
    table
}

/// A capture in one sentence.
fn captured(capture: &Capture) -> String {
    let value = match capture.unit {
        FigureUnit::Us => format!("{} ms", milliseconds(capture.value)),
        FigureUnit::Share => percent(capture.value),
        FigureUnit::Number => figure(capture.value),
    };
    let seconds = counted(capture.snapshots.len() as u64, "snapshots");
    format!(
        "capture at {}: {} was true with {value}; {seconds} of the sessions are in --json and on the \
         page",
        duration(capture.at_s as f64),
        capture.condition
    )
}

/// The log probe in one sentence.
fn probed(probe: &CommitProbe) -> String {
    let ms = |us: u64| milliseconds(us as f64);
    let of = &probe.times;
    let mut parts = vec![
        format!("log probe: {}", counted(of.count, "commits")),
        format!("p50 {} ms", ms(of.p50_us)),
        format!("p95 {} ms", ms(of.p95_us)),
        format!("p99 {} ms", ms(of.p99_us)),
        format!("longest {} ms", ms(of.max_us)),
    ];
    for (count, what) in [(probe.failed, "failed"), (probe.missed, "left out, too late")] {
        if count > 0 {
            parts.push(format!("{} {what}", integer(count)));
        }
    }
    parts.join(" · ")
}

/// What the observers cost, and what they did not see, one sentence each.
pub(super) fn remarks(observed: &Observed) -> Vec<String> {
    let cost = &observed.cost;
    let mut parts = vec![format!("{} of a core in the client", percent(cost.cpu_share))];
    // Beside a database that cannot be observed, only hosts are.
    if cost.queries > 0 {
        parts.push(format!("{} in {} s", counted(cost.queries, "queries"), figure(cost.query_s)));
    }
    if let Some(sessions) = &observed.sessions {
        parts.insert(0, counted(sessions.samples, "samples"));
        if sessions.missed > 0 {
            parts.push(format!("{} came late", counted(sessions.missed, "samples")));
        }
    }
    if cost.lost > 0 {
        parts.push(format!("session lost {}", counted(cost.lost, "times")));
    }
    if cost.values_lost > 0 {
        parts.push(format!("{} not stored", counted(cost.values_lost, "values")));
    }
    let mut all = vec![parts.join(" · ")];
    if let Some(share) = observed.memory_hits {
        all.insert(
            0,
            format!("{} of the pages read were in the database's memory", percent(share)),
        );
    }
    all.extend(observed.log_probe.iter().map(probed));
    all.extend(observed.captures.iter().map(captured));
    all.extend(gaps(observed).map(gap));
    all
}

/// What was hidden, without what is named where the time of a transaction is shown.
fn gaps(observed: &Observed) -> impl Iterator<Item = &ObserverGap> {
    observed.gaps.iter().filter(|gap| gap.part.is_none())
}

fn gap(gap: &ObserverGap) -> String {
    match gap.change.is_empty() {
        true => format!("{}: {}", gap.name, gap.hides),
        false => format!("not observed: {} → {}", gap.hides, gap.change),
    }
}

/// One line of a summary about what was hidden; `None` if nothing was.
pub(super) fn hidden(observed: &Observed) -> Option<String> {
    let names: Vec<&str> = gaps(observed).map(|gap| gap.name.as_str()).collect();
    let more = "the report says what each hides";
    (!names.is_empty()).then(|| format!("needs {}; {more}", names.join(", ")))
}

/// The remarks as lines of a text report.
pub(super) fn lines(observed: &Observed) -> Vec<String> {
    remarks(observed).iter().flat_map(|remark| paragraph("  ", remark)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use triphammer_document::result::TopStatement;

    fn figure_of(title: &str, relation: Option<&str>) -> ProfileFigure {
        let label = relation.map(|name| (RELATION.to_owned(), name.to_owned()));
        ProfileFigure {
            metric: title.to_owned(),
            labels: BTreeMap::from_iter(label),
            title: title.to_owned(),
            unit: Unit::PerSecond,
            mean: 1.0,
            max: 2.0,
            last: 1.0,
            per_transaction: None,
            part: None,
            log: None,
        }
    }

    #[test]
    fn figures_of_the_server_come_before_those_of_its_tables_and_the_rest_is_counted() {
        let mut figures =
            vec![figure_of("Growth", Some("stock")), figure_of("Growth", Some("item"))];
        figures.push(figure_of("WAL generated", None));
        let first: Vec<_> =
            profile(&figures, 2).rows.into_iter().map(|row| row[0].clone()).collect();
        assert_eq!(first, ["", "WAL generated", "Growth, stock", "and 1 more: --format markdown"]);
        assert_eq!(profile(&figures, usize::MAX).rows.len(), 4);
    }

    #[test]
    fn rows_and_blocks_of_statements_are_shown_where_the_server_counts_them() {
        let head = |rows: u64, blocks_hit: u64| {
            let text = "CALL a_procedure_with_a_very_long_name".to_owned();
            let of = TopStatement {
                text,
                calls: 2,
                total_s: 1.0,
                mean_ms: 500.0,
                rows,
                blocks_read: 0,
                blocks_hit,
            };
            let table = top(&Observed { statements: vec![of], ..Observed::default() }, 8);
            assert!(table.rows[1][0].ends_with('…') && table.rows[1].len() == table.rows[0].len());
            table.rows[0].len()
        };
        assert_eq!([head(0, 0), head(3, 0), head(3, 9)], [4, 5, 7]);
    }
}
