//! The table of declared metrics: one row per transaction type, and one for the total.

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Rect};
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::{Row, Table, Widget};
use triphammer_document::metrics::{Metric, MetricKind, OF_TYPE, Unit, Values};
use triphammer_settings::format::integer;

use super::model::Model;
use super::palette::Palette;
use super::units;

/// Minimum width of a column.
const COLUMN_MIN: usize = 6;
/// The metric whose values above 0 invalidate a result.
const FAILED: &str = "failures";
/// The width of a rate: `123,456`.
const RATE: usize = 8;

/// Draws the table, with as many columns as fit.
pub fn draw(model: &Model, palette: Palette, area: Rect, buffer: &mut Buffer) {
    let names = model.transactions.iter().map(|def| def.title.chars().count());
    let name_width = names.max().unwrap_or_default().max(COLUMN_MIN) + 1;
    let room = usize::from(area.width).saturating_sub(name_width);
    let columns = columns(room);
    let needed: usize = columns.iter().map(|metric| width(metric) + 1).sum();
    let more = room.saturating_sub(needed) / (columns.len() + 1);
    let types = model.transactions.iter().enumerate();
    let titles = types.map(|(index, def)| (&*def.title, Some(index))).chain([("All", None)]);
    let rows = titles.map(|(title, transaction)| {
        let values = model.row(transaction);
        let cells = columns.iter().map(|metric| cell(palette, metric, &values));
        let row = Row::new(std::iter::once(Line::from(format!(" {title}"))).chain(cells));
        if transaction.is_none() { row.style(Palette::strong()) } else { row }
    });
    let heads = columns.iter().map(|metric| Line::from(head(metric)).right_aligned());
    let head = Row::new(std::iter::once(Line::from(" ")).chain(heads)).style(Palette::quiet());
    let length = |width: usize| Constraint::Length(u16::try_from(width).unwrap_or(u16::MAX));
    let widths = columns.iter().map(|metric| length(width(metric) + more));
    let widths = std::iter::once(length(name_width + more)).chain(widths);
    Widget::render(Table::new(rows, widths).header(head).column_spacing(1), area, buffer);
}

/// The metrics shown in live views, the rate first; with little room, the most important ones.
fn columns(room: usize) -> Vec<&'static Metric> {
    let mut all: Vec<&Metric> = OF_TYPE.iter().filter(|metric| metric.live.is_some()).collect();
    all.sort_by_key(|metric| metric.kind != MetricKind::Rate);
    let mut by_rank = all.clone();
    by_rank.sort_by_key(|metric| rank(metric));
    let mut left = room;
    by_rank.retain(|metric| {
        let needed = width(metric) + 1;
        let fits = needed <= left;
        left = if fits { left - needed } else { 0 };
        fits
    });
    all.retain(|metric| by_rank.iter().any(|kept| kept.name == metric.name));
    all
}

/// Rank of a column; with little room, the highest ranks are dropped.
const fn rank(metric: &Metric) -> u8 {
    match metric.kind {
        MetricKind::Rate => 0,
        MetricKind::Percentile => 1,
        MetricKind::Counter => 2,
        MetricKind::Level | MetricKind::Gauge | MetricKind::Longest | MetricKind::Mean => 3,
    }
}

fn head(metric: &Metric) -> String {
    let unit = units::label(metric.unit);
    if metric.kind == MetricKind::Rate {
        unit.to_owned()
    } else {
        format!("{} {unit}", metric.title)
    }
    .trim_end()
    .to_owned()
}

fn width(metric: &Metric) -> usize {
    let least = if metric.kind == MetricKind::Rate { RATE } else { COLUMN_MIN };
    head(metric).chars().count().max(least)
}

fn cell(palette: Palette, metric: &Metric, values: &Values) -> Line<'static> {
    let value = values.get(metric.name);
    let is_bad = metric.name == FAILED && value.is_some_and(|value| value > 0.0);
    let text = match (metric.unit, value) {
        (_, None) => "-".to_owned(),
        (Unit::Count, Some(_)) => integer(values.count(metric.name)),
        (unit, Some(value)) => units::number(unit, value),
    };
    let style = if is_bad { palette.bad() } else { Style::new() };
    Line::from(text).right_aligned().style(style)
}
