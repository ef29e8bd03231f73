//! Draws the view of a run: a pure function of the model and the available area.

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Padding, Paragraph, Widget, Wrap};
use triphammer_core::event::Phase;
use triphammer_document::metrics::{Chart, Metric, OF_SECOND, Unit};
use triphammer_settings::format::{clock, counted, duration, figure, percent, precise};
use triphammer_statistics::series::Verdict;

use super::keys::Keys;
use super::model::Model;
use super::palette::Palette;
use super::{charts, digits, nodes, table, units};

/// Rows of the primary metrics: with large figures, and without if there is too little room.
const FIGURES: u16 = 2 + digits::HEIGHT;
const FIGURES_SMALL: u16 = 3;
/// Minimum seconds of a window before its mean has an interval.
const INTERVAL_FROM_S: u64 = 45;
/// CPU share above which the processor is considered the bottleneck.
const BUSY: f64 = 0.9;
const HELP: &str = "s        stop: wait for transactions in flight, then report
Ctrl-C   the same; twice abandons them, three times quits at once
a a      abort: abandon transactions in flight
+ -      10 % more or less of the rate of an open load; one user more
         or less of a closed one, up to as many as the run began with
q        leave this view; the job continues with one live line
?        show or hide this help

Large figures are means: of the ramp-up, then of the timed window
only. ± is the 95 % interval of the mean, `now` the last 5 s.";

/// Everything that the view shows.
#[derive(Clone, Copy, Debug)]
pub struct ViewState<'a> {
    /// State of the run.
    pub model: &'a Model,
    /// Messages, the newest last.
    pub messages: &'a [String],
    /// State of the keys.
    pub keys: Keys,
    /// Colour palette.
    pub palette: Palette,
}

/// Draws the whole view into `buffer`.
pub fn draw(seen: &ViewState<'_>, area: Rect, buffer: &mut Buffer) {
    let types = u16::try_from(seen.model.transactions.len()).unwrap_or(u16::MAX);
    let table = types.saturating_add(2);
    let of_nodes = nodes::rows(&seen.model.nodes, area.height);
    let fixed = table.saturating_add(of_nodes).saturating_add(2 + 1 + 1);
    let is_low = area.height < fixed.saturating_add(FIGURES);
    let figures = if is_low { FIGURES_SMALL } else { FIGURES };
    let rest = area.height.saturating_sub(fixed).saturating_sub(figures);
    // The remaining rows go to the charts, a fifth of them to messages.
    let notes = rest.min(2.max(rest / 5));
    let charts = if rest - notes < charts::ROWS_MIN { 0 } else { rest - notes };
    let rows = [2, figures, charts, table, of_nodes, 1].map(Constraint::Length);
    let rows = [&rows[..], &[Constraint::Min(0), Constraint::Length(1)]].concat();
    let [head, figures, graphs, types, of_nodes, gauges, notes, foot] =
        Layout::vertical(rows).areas(area);
    draw_head(seen, head, buffer);
    draw_figures(seen, figures, buffer);
    if graphs.height > 0 {
        charts::draw(seen.model, seen.palette, graphs, buffer);
    }
    table::draw(seen.model, seen.palette, types, buffer);
    nodes::draw(&seen.model.nodes, seen.palette, of_nodes, buffer);
    draw_gauges(seen, gauges, buffer);
    draw_notes(seen, notes, buffer);
    draw_foot(seen, foot, buffer);
    if seen.keys.help {
        draw_help(area, buffer);
    }
}

/// Draws the title: workload, target and progress.
fn draw_head(seen: &ViewState<'_>, area: Rect, buffer: &mut Buffer) {
    let model = seen.model;
    let users = match (&model.campaign, model.users) {
        (Some(campaign), _) => campaign.current(),
        (None, Some(users)) => counted(users.into(), "virtual users"),
        (None, None) => String::new(),
    };
    let right = format!("  {} ", state(model));
    let [title, bar] = Layout::vertical([Constraint::Length(1); 2]).areas(area);
    buffer.set_style(title, Palette::bar());
    let room = Line::from(right.as_str()).width();
    let sides = [Constraint::Min(0), Constraint::Length(u16::try_from(room).unwrap_or(0))];
    let [from, to] = Layout::horizontal(sides).areas(title);
    // A long target is truncated, not the number of users.
    let room = usize::from(from.width).saturating_sub(users.chars().count() + 3);
    Line::from(format!(" {}  {users}", shortened(&model.title, room))).render(from, buffer);
    Line::from(right).style(Palette::strong()).render(to, buffer);
    if let Some((done, all)) = model.progress() {
        let width = u64::from(bar.width);
        let filled = usize::try_from(width * done / all.max(1)).unwrap_or(0);
        let rest = usize::from(bar.width).saturating_sub(filled);
        let line = [
            Span::styled("━".repeat(filled), seen.palette.figure()),
            Span::styled("─".repeat(rest), Palette::quiet()),
        ];
        Line::from_iter(line).render(bar, buffer);
    }
}

/// Truncates a text to the available width.
fn shortened(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    text.chars().take(room.saturating_sub(1)).chain(['…']).collect()
}

/// Formats the phase, the elapsed time and the time left.
fn state(model: &Model) -> String {
    let Some((phase, _)) = model.phase else {
        return match (model.connecting, &model.campaign) {
            (Some((connected, of)), _) => format!("connecting {connected}/{of}"),
            (None, Some(campaign)) => campaign.between(),
            (None, None) => "connecting".to_owned(),
        };
    };
    let time = clock(seconds(model.elapsed_s));
    let name = phase.title();
    match model.progress() {
        Some((done, all)) => {
            let left = duration(seconds(all.saturating_sub(done)));
            format!("{name}  {time}  {left} left")
        }
        None => format!("{name}  {time}"),
    }
}

/// The primary metric and TPM, large.
fn draw_figures(seen: &ViewState<'_>, area: Rect, buffer: &mut Buffer) {
    let model = seen.model;
    let sides = Layout::horizontal([Constraint::Fill(1); 2]).spacing(1);
    let [first, second] = sides.areas(area);
    let (now, tpm_now) = model.now();
    let below = [mean_of(model), format!("now {}", figure(now))];
    draw_figure(
        seen,
        first,
        [&*model.primary_metric.name, &*model.primary_metric.meaning],
        model.first(),
        &below,
        buffer,
    );
    let server = model.tpm_server().map(|server| format!("server counted {}", figure(server)));
    let below: Vec<_> = server.into_iter().chain([format!("now {}", figure(tpm_now))]).collect();
    let title = ["TPM", "transactions completed per minute"];
    draw_figure(seen, second, title, model.tpm(), &below, buffer);
}

fn draw_figure(
    seen: &ViewState<'_>,
    area: Rect,
    [name, meaning]: [&str; 2],
    value: f64,
    below: &[String],
    buffer: &mut Buffer,
) {
    let rows = [Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1)];
    let [title, large, under] = Layout::vertical(rows).areas(area);
    let title_line = [
        Span::styled(format!(" {name}  "), Palette::strong()),
        Span::styled(meaning, Palette::quiet()),
    ];
    Line::from_iter(title_line).render(title, buffer);
    let text = figure(value);
    let lines = digits::lines(&text);
    let style = seen.palette.figure().add_modifier(Modifier::BOLD);
    let fits = lines[0].chars().count() < large.width.into() && large.height >= digits::HEIGHT;
    let shown = if fits { lines.to_vec() } else { vec![text] };
    for (row, line) in large.rows().zip(shown) {
        Line::styled(format!(" {line}"), style).render(row, buffer);
    }
    Line::from(format!(" {}", joined(below, usize::from(under.width)))).render(under, buffer);
}

/// Joins the parts that fit after a leading space: half a number would be a wrong one.
fn joined(parts: &[String], room: usize) -> String {
    let mut line = String::new();
    for part in parts {
        let gap = if line.is_empty() { "" } else { "   " };
        if 1 + line.chars().count() + gap.len() + part.chars().count() <= room {
            line.push_str(gap);
            line.push_str(part);
        }
    }
    line
}

/// Describes what the large figure is the mean of, and its interval.
fn mean_of(model: &Model) -> String {
    let Some((phase, _)) = model.phase else {
        let is_over = model.figures.seconds > 0;
        return if is_over { "the last run" } else { "not started" }.to_owned();
    };
    let in_window = model.plan.is_none() || phase != Phase::RampUp;
    let Some(summary) = model.figures.summary.as_ref().filter(|_| in_window) else {
        return "ramp-up".to_owned();
    };
    let of = "window";
    match summary.relative_half_width() {
        Some(half) if summary.verdict == Verdict::Drifting => {
            format!("{of} ± {}, drifting", precise(half))
        }
        Some(half) => format!("{of} ± {}", precise(half)),
        None if model.figures.seconds < INTERVAL_FROM_S => {
            format!("{of}, ± from {INTERVAL_FROM_S} s")
        }
        None => format!("{of}, ± not known yet"),
    }
}

/// Draws outages and possible bottlenecks: the last value of every metric of all threads that
/// declares a chart, and counters above 0, as many as fit.
fn draw_gauges(seen: &ViewState<'_>, area: Rect, buffer: &mut Buffer) {
    let model = seen.model;
    let failures = model.failures();
    let style = |is_bad: bool| if is_bad { seen.palette.bad() } else { Style::new() };
    let mut line = Line::default();
    if let Some(since) = model.outage_since {
        let text = format!(" no service since {} ", clock(seconds(since)));
        line.push_span(Span::styled(text, seen.palette.bad().add_modifier(Modifier::BOLD)));
    }
    line.push_span(Span::styled(format!(" failed {}", percent(failures)), style(failures > 0.0)));
    if let Some((all, class, most)) = model.sessions {
        let (class, most, all) = (class.title(), figure(most), figure(all));
        line.push_span(format!("  at the database {all}: {class} {most}"));
    }
    for metric in OF_SECOND.iter().filter(|metric| metric.chart.is_some()) {
        let value = model.latest(metric).filter(|value| !metric.is_counter() || *value > 0.0);
        let Some(value) = value else { continue };
        let text = format!("  {} {}", metric.title, units::with_unit(metric.unit, value));
        let span = Span::styled(text, style(is_bad(metric, value)));
        if line.width() + span.width() <= usize::from(area.width) {
            line.push_span(span);
        }
    }
    line.render(area, buffer);
}

/// Whether a value invalidates the result.
fn is_bad(metric: &Metric, value: f64) -> bool {
    match metric.chart {
        Some(Chart::Sessions) => value <= 0.0,
        Some(Chart::Trouble) => value > 0.0,
        Some(Chart::Cpu) => metric.unit == Unit::Share && value > BUSY,
        _ => false,
    }
}

/// Breaks a text between words into at most `rows` lines of at most `room` characters; an ellipsis
/// marks what is left out.
fn broken(text: &str, room: usize, rows: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let is_full = lines.len() == rows;
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= room => {
                line.push(' ');
                line.push_str(word);
            }
            Some(line) if is_full => {
                *line = shortened(&format!("{line} {word}"), room);
                break;
            }
            None if is_full => break,
            _ => lines.push(shortened(word, room)),
        }
    }
    lines
}

/// Draws what streams of queries run, and the last messages, the newest at the bottom.
fn draw_notes(seen: &ViewState<'_>, area: Rect, buffer: &mut Buffer) {
    let beside = &seen.model.beside;
    let mut rows = area.rows();
    if !beside.is_empty()
        && let Some(row) = rows.next()
    {
        Line::from(format!(" {beside}")).render(row, buffer);
    }
    let left = area.height.saturating_sub(u16::from(!beside.is_empty()));
    let mut free = usize::from(left);
    let mut messages = Vec::new();
    for text in seen.messages.iter().rev() {
        let style = if text.starts_with("warning") { seen.palette.bad() } else { Palette::quiet() };
        let lines = broken(text, usize::from(area.width).saturating_sub(1), free);
        free -= lines.len();
        messages.push(lines.into_iter().map(move |line| (line, style)));
    }
    for (row, (line, style)) in rows.zip(messages.into_iter().rev().flatten()) {
        Line::styled(format!(" {line}"), style).render(row, buffer);
    }
}

/// Draws the key help, or the confirmation prompt.
fn draw_foot(seen: &ViewState<'_>, area: Rect, buffer: &mut Buffer) {
    if seen.keys.asks_to_abort {
        let ask = " abort and abandon transactions in flight? press a again, any other key cancels";
        return Line::styled(ask, seen.palette.bad()).render(area, buffer);
    }
    Line::styled(" s stop   a abort   q leave the view   ? help   + - load", Palette::quiet())
        .render(area, buffer);
}

fn draw_help(area: Rect, buffer: &mut Buffer) {
    let height = u16::try_from(HELP.lines().count()).unwrap_or(0) + 2;
    let box_area = area.centered(Constraint::Max(70), Constraint::Max(height));
    Clear.render(box_area, buffer);
    let frame = Block::bordered().title(" Keys ").padding(Padding::horizontal(1));
    Paragraph::new(HELP).wrap(Wrap { trim: false }).block(frame).render(box_area, buffer);
}

#[expect(clippy::cast_precision_loss, reason = "shown to a few digits")]
const fn seconds(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use ratatui::style::Color;

    use triphammer_observe::node_figures::NodeNow;

    use super::super::model::tests::{model, pass};
    use super::*;

    fn screen(width: u16, height: u16, keys: Keys, after_s: u64) -> Buffer {
        let mut model = model();
        pass(&mut model, after_s);
        let messages = ["warning: fsync is off".to_owned(), "a session was lost".to_owned()];
        let seen =
            ViewState { model: &model, messages: &messages, keys, palette: Palette::new(true) };
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw(&seen, frame.area(), frame.buffer_mut())).unwrap();
        terminal.backend().buffer().clone()
    }

    fn text(buffer: &Buffer) -> String {
        let width = usize::from(buffer.area.width);
        let row = |row: &[ratatui::buffer::Cell]| {
            let row: String = row.iter().map(ratatui::buffer::Cell::symbol).collect();
            format!("{}\n", row.trim_end())
        };
        buffer.content.chunks(width).map(row).collect()
    }

    /// Compares with a stored screen, or stores it if `TRIPHAMMER_BLESS` is set.
    fn golden(name: &str, text: &str) {
        let path = format!("{}/src/tui/golden/{name}.txt", env!("CARGO_MANIFEST_DIR"));
        if std::env::var_os("TRIPHAMMER_BLESS").is_some() {
            std::fs::write(&path, text).unwrap();
        }
        assert_eq!(text, std::fs::read_to_string(&path).unwrap(), "{path}");
    }

    #[test]
    fn all_of_it_is_seen_at_80_by_24() {
        golden("80x24", &text(&screen(80, 24, Keys::default(), 130)));
    }

    #[test]
    fn more_room_goes_to_the_charts_and_to_messages() {
        golden("120x40", &text(&screen(120, 40, Keys::default(), 130)));
    }

    #[test]
    fn a_wide_terminal_shows_every_metric_that_declares_a_chart() {
        let text = text(&screen(160, 50, Keys::default(), 130));
        golden("160x50", &text);
        let declared = OF_SECOND.iter().filter(|metric| metric.chart.is_some());
        // Metrics without a value in the model's seconds are not drawn.
        let is_without = |title: &str| ["lag", "host"].contains(&title) || title.contains("login");
        for metric in declared.filter(|metric| !is_without(metric.title)) {
            assert!(text.contains(metric.title), "{} in {text}", metric.title);
        }
    }

    #[test]
    fn with_less_room_what_matters_most_is_left() {
        golden("40x14", &text(&screen(40, 14, Keys::default(), 130)));
    }

    #[test]
    fn a_run_that_has_not_begun_and_the_help_are_seen() {
        let keys = Keys { help: true, ..Keys::default() };
        golden("help", &text(&screen(80, 24, keys, 0)));
    }

    #[test]
    fn the_question_takes_the_place_of_the_keys() {
        let keys = Keys { asks_to_abort: true, ..Keys::default() };
        let text = text(&screen(100, 24, keys, 30));
        assert!(text.lines().last().unwrap().contains("press a again"), "{text}");
        assert!(text.contains("± from 45 s"), "{text}");
    }

    #[test]
    fn an_outage_is_seen_while_it_lasts() {
        let mut model = model();
        pass(&mut model, 30);
        model.outage_since = Some(27);
        let (messages, keys, palette) = (&[][..], Keys::default(), Palette::new(true));
        let mut buffer = Buffer::empty(Rect::new(0, 0, 80, 24));
        draw(&ViewState { model: &model, messages, keys, palette }, buffer.area, &mut buffer);
        let text = text(&buffer);
        assert!(text.contains(" no service since 0:00:27  failed "), "{text}");
    }

    #[test]
    fn what_streams_of_queries_run_is_seen_above_the_messages() {
        let mut model = model();
        pass(&mut model, 30);
        model.beside = "stream 1: Q4 for 12s · stream 2: Q9 for 3s".to_owned();
        let messages = ["first".to_owned(), "second".to_owned(), "third".to_owned()];
        let seen = ViewState {
            model: &model,
            messages: &messages,
            keys: Keys::default(),
            palette: Palette::new(true),
        };
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        terminal.draw(|frame| draw(&seen, frame.area(), frame.buffer_mut())).unwrap();
        let screen = text(terminal.backend().buffer());
        assert!(screen.contains(" stream 1: Q4 for 12s · stream 2: Q9 for 3s\n"), "{screen}");
        assert!(screen.contains(" third\n"), "{screen}");
    }

    #[test]
    fn each_node_has_a_line_below_the_table() {
        let mut model = model();
        pass(&mut model, 30);
        let node = |name: &str, failed: f64, writable: f64| NodeNow {
            name: name.to_owned(),
            values: [100.0, failed, 1_460.0, 8.0, 0.0]
                .map(Some)
                .into_iter()
                .chain([None, None, None, Some(writable)])
                .collect(),
        };
        model.nodes = vec![node("db1", 0.0, 1.0), node("db2.example", 2.0, 0.0)];
        let messages = ["first".to_owned()];
        let seen = ViewState {
            model: &model,
            messages: &messages,
            keys: Keys::default(),
            palette: Palette::new(true),
        };
        let draw_at = |width, height| {
            let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
            draw(&seen, buffer.area, &mut buffer);
            text(&buffer)
        };
        let large = draw_at(120, 30);
        for line in [
            " node           per s   failed   p95 ms sessions     lost  clients   lag ms   server   writes",
            " db2.example      100     2.00     1.46        8        0        -        -        -       no",
        ] {
            assert!(large.contains(line), "{large}");
        }
        let small = draw_at(80, 24);
        assert!(small.contains(" node           per s   failed   p95 ms"), "{small}");
        assert!(small.contains(" db1              100        0     1.46"), "{small}");
        model.nodes = (0..20).map(|number| node(&format!("db{number}"), 0.0, 1.0)).collect();
        let seen = ViewState {
            model: &model,
            messages: &messages,
            keys: Keys::default(),
            palette: Palette::new(true),
        };
        let mut buffer = Buffer::empty(Rect::new(0, 0, 80, 24));
        draw(&seen, buffer.area, &mut buffer);
        assert!(text(&buffer).contains(" and 14 more nodes\n"), "{}", text(&buffer));
    }

    #[test]
    fn a_figure_is_left_out_rather_than_cut() {
        let parts = ["server counted 185,788".to_owned(), "now 82,960".to_owned()];
        assert_eq!(joined(&parts, 40), "server counted 185,788   now 82,960");
        assert_eq!(joined(&parts, 24), "server counted 185,788");
        assert_eq!(joined(&parts, 12), "now 82,960");
    }

    #[test]
    fn a_long_message_is_broken_between_words_and_marked_where_it_is_cut() {
        assert_eq!(broken("fsync is off", 20, 2), ["fsync is off"]);
        assert_eq!(
            broken("fsync is off at this server", 12, 3),
            ["fsync is off", "at this", "server"]
        );
        assert_eq!(broken("fsync is off at this server", 12, 2), ["fsync is off", "at this ser…"]);
        assert_eq!(broken("fsync", 3, 1), ["fs…"]);
        assert!(broken("fsync", 3, 0).is_empty());
    }

    #[test]
    fn no_room_is_too_small_to_draw_in() {
        for (width, height) in [(1, 1), (5, 3), (20, 8), (40, 12), (79, 23), (300, 90)] {
            screen(width, height, Keys { help: true, ..Keys::default() }, 20);
        }
    }

    #[test]
    fn without_colours_there_are_none() {
        let mut model = model();
        pass(&mut model, 60);
        let seen = ViewState {
            model: &model,
            messages: &["warning: x".to_owned()],
            keys: Keys::default(),
            palette: Palette::new(false),
        };
        let mut buffer = Buffer::empty(Rect::new(0, 0, 80, 24));
        draw(&seen, buffer.area, &mut buffer);
        let plain =
            |cell: &ratatui::buffer::Cell| cell.fg == Color::Reset && cell.bg == Color::Reset;
        assert!(buffer.content.iter().all(plain));
    }
}
