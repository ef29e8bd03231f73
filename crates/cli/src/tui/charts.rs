//! Charts over the time of the run: the primary metric and p95, then every metric that declares a
//! chart, as many as fit. Each has axes with units.

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style};
use ratatui::symbols::Marker;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Axis, Chart as Graph, Dataset, GraphType, Widget};
use triphammer_document::measure::Measure;
use triphammer_document::metrics::{Chart, Metric, MetricKind, OF_SECOND, OF_TYPE, Unit};
use triphammer_settings::format::{clock, figure};

use super::model::{Model, Point};
use super::palette::Palette;
use super::units;

/// Minimum rows of a chart: its title, three of the graph, and the time axis.
pub const ROWS_MIN: u16 = 5;
/// Number of rows from which on charts are stacked.
const ROWS: u16 = 9;
/// Minimum columns of charts in the same row.
const COLUMNS: u16 = 36;
/// Maximum number of charts in a row.
const BESIDE_MAX: u16 = 4;
/// Colours of the lines of a chart.
const COLOURS: [Color; 4] = [Color::Cyan, Color::Yellow, Color::Magenta, Color::Blue];
/// The percentile that is always drawn.
const RESPONSE: &str = "p95_us";

/// A chart to draw.
#[derive(Debug)]
struct Drawing {
    /// Unit of the y axis.
    unit: String,
    lines: Vec<Curve>,
}

/// A line of a chart.
#[derive(Debug)]
struct Curve {
    title: String,
    /// Time in seconds, and value in the displayed unit.
    points: Vec<(f64, f64)>,
    /// The last value, as text.
    last: String,
}

/// Draws as many charts as fit; in a campaign, the completed runs come first.
pub fn draw(model: &Model, palette: Palette, area: Rect, buffer: &mut Buffer) {
    let drawings = drawings(model);
    let first = usize::from(model.campaign.is_some());
    for (place, cell) in cells(area, drawings.len() + first).into_iter().enumerate() {
        match (&model.campaign, place.checked_sub(first)) {
            (Some(campaign), None) => campaign.draw(&model.primary_metric.name, cell, buffer),
            (_, place) => {
                let drawing = &drawings[place.unwrap_or_default()];
                draw_chart(drawing, model, palette, cell, buffer);
            }
        }
    }
}

/// Areas of at most `charts` charts, row by row over the whole width.
fn cells(area: Rect, charts: usize) -> Vec<Rect> {
    let charts = u16::try_from(charts).unwrap_or(u16::MAX);
    let beside = (area.width / COLUMNS).clamp(1, BESIDE_MAX).max(2.min(area.width / 20)).max(1);
    let rows = (area.height / ROWS).clamp(1, charts.div_ceil(beside).max(1));
    let columns = beside.min(charts.div_ceil(rows)).max(1);
    let fill = |count: u16| vec![Constraint::Fill(1); count.into()];
    let rows = Layout::vertical(fill(rows)).spacing(u16::from(rows > 1)).split(area);
    let cells = rows
        .iter()
        .flat_map(|row| Layout::horizontal(fill(columns)).spacing(1).split(*row).to_vec());
    cells.take(charts.into()).collect()
}

/// All available charts, the most important first.
fn drawings(model: &Model) -> Vec<Drawing> {
    let declared = || OF_SECOND.iter().chain(OF_TYPE);
    let mut all = vec![primary(model)];
    all.extend(declared().filter(|metric| metric.name == RESPONSE).map(|metric| Drawing {
        unit: units::of_chart(metric).to_owned(),
        lines: vec![curve(model, metric)],
    }));
    let mut groups: Vec<(Chart, Drawing)> = Vec::new();
    for metric in declared() {
        let Some(chart) = metric.chart else { continue };
        let curve = curve(model, metric);
        if curve.points.is_empty() {
            continue;
        }
        let unit = units::of_chart(metric);
        let same = |(of, drawing): &(Chart, Drawing)| {
            chart != Chart::Own && *of == chart && drawing.unit == unit
        };
        match groups.iter().position(same) {
            Some(place) => groups[place].1.lines.push(curve),
            None => groups.push((chart, Drawing { unit: unit.to_owned(), lines: vec![curve] })),
        }
    }
    // Possible bottlenecks come before what is mostly constant or 0.
    groups.sort_by_key(|(chart, _)| matches!(chart, Chart::Sessions | Chart::Trouble));
    all.extend(groups.into_iter().map(|(_, drawing)| drawing));
    all
}

/// The primary metric's chart.
fn primary(model: &Model) -> Drawing {
    let primary_metric = &model.primary_metric;
    let value = |point: &Point| Some(model.of_primary_metric(point.primary_metric, point.seconds));
    let points = over_time(model, value);
    let last = points.last().map_or_else(String::new, |(_, value)| figure(*value));
    let unit = format!("per {}", Measure::from(primary_metric.measure).per());
    Drawing { unit, lines: vec![Curve { title: primary_metric.name.to_string(), points, last }] }
}

fn curve(model: &Model, metric: &'static Metric) -> Curve {
    let is_rate = metric.kind == MetricKind::Counter && metric.unit == Unit::Count;
    let factor = units::factor(metric.unit);
    let points = over_time(model, |point| {
        let per = if is_rate { seconds(point.seconds) } else { 1.0 };
        Some(point.value(metric)? * factor / per)
    });
    let last = points.last().map_or_else(String::new, |(_, value)| match metric.unit {
        Unit::Count if !is_rate => format!("{value:.0}"),
        unit => units::number(unit, value / factor),
    });
    Curve { title: metric.title.to_owned(), points, last }
}

/// The value of each point that has one, at the end of the point.
fn over_time(model: &Model, value: impl Fn(&Point) -> Option<f64>) -> Vec<(f64, f64)> {
    let mut at = 0.0;
    let points = model.course.iter().filter_map(|point| {
        at += seconds(point.seconds);
        Some((at, value(point)?))
    });
    points.collect()
}

/// Draws a chart: a title with units and last values, the graph between its axes, the time.
fn draw_chart(drawing: &Drawing, model: &Model, palette: Palette, area: Rect, buffer: &mut Buffer) {
    let rows = [Constraint::Length(1), Constraint::Min(0), Constraint::Length(1)];
    let [title, graph, time] = Layout::vertical(rows).areas(area);
    draw_title(drawing, palette, title, buffer);
    let values = drawing.lines.iter().flat_map(|line| &line.points);
    let top = units::round_up(values.fold(0.0, |highest: f64, (_, y)| highest.max(*y)));
    let labels = [axis_label(top), "0".to_owned()];
    let width = labels.iter().map(String::len).max().unwrap_or_default();
    let gutter = u16::try_from(width + 2).unwrap_or(u16::MAX);
    let sides = [Constraint::Length(gutter), Constraint::Min(0)];
    let [axis, graph] = Layout::horizontal(sides).areas(graph);
    let [_, time] = Layout::horizontal(sides).areas(time);
    let last = axis.height.saturating_sub(1);
    for (place, row) in (0..).zip(axis.rows()) {
        let (label, mark) = match place {
            0 => (&*labels[0], '┤'),
            place if place == last => (&*labels[1], '┼'),
            _ => ("", '│'),
        };
        let text = format!(" {label:>width$}{mark}");
        Line::styled(text, Palette::quiet()).render(row, buffer);
    }
    let end = model.course.iter().map(|point| seconds(point.seconds)).sum::<f64>();
    draw_time(end, time, buffer);
    let lines = drawing.lines.iter().enumerate().map(|(place, line)| {
        Dataset::default()
            .marker(Marker::Braille)
            .graph_type(GraphType::Line)
            .style(colour(palette, place))
            .data(&line.points)
    });
    Graph::new(lines.collect())
        .x_axis(Axis::default().bounds([0.0, end.max(1.0)]))
        .y_axis(Axis::default().bounds([0.0, top]))
        .render(graph, buffer);
}

fn colour(palette: Palette, place: usize) -> Style {
    palette.of(COLOURS[place % COLOURS.len()])
}

/// The title: names, last values and the unit.
fn draw_title(drawing: &Drawing, palette: Palette, area: Rect, buffer: &mut Buffer) {
    let mut spans = Vec::new();
    for (place, line) in drawing.lines.iter().enumerate() {
        let style = colour(palette, place).patch(Palette::strong());
        spans.push(Span::styled(format!(" {}", line.title), style));
        spans.push(Span::raw(format!(" {} ", line.last)));
    }
    spans.push(Span::styled(drawing.unit.as_str(), Palette::quiet()));
    Line::from_iter(spans).render(area, buffer);
}

/// The time axis: hours, minutes and seconds since the start of the run.
fn draw_time(end: f64, area: Rect, buffer: &mut Buffer) {
    let labels = [0.0, end / 2.0, end].map(clock);
    let [from, middle, to] = labels.map(|label| Line::styled(label, Palette::quiet()));
    from.render(area, buffer);
    if area.width >= 30 {
        middle.centered().render(area, buffer);
    }
    if area.width >= 16 {
        to.right_aligned().render(area, buffer);
    }
}

/// Formats a round number briefly.
fn axis_label(value: f64) -> String {
    match value {
        value if value >= 1e6 => format!("{}M", value / 1e6),
        value if value >= 1e4 => format!("{}k", value / 1e3),
        value => format!("{}", (value * 1e6).round() / 1e6),
    }
}

#[expect(clippy::cast_precision_loss, reason = "shown to a few digits")]
const fn seconds(number: u64) -> f64 {
    number as f64
}
