//! A line for each node of a target with several: the last value of each declared metric of a node, as
//! many as fit.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget as _;
use triphammer_document::metrics::Unit;
use triphammer_observe::node_figures::{NODE_METRICS, NodeMetric, NodeNow};

use super::palette::Palette;
use super::units;

/// Minimum width of a column.
const COLUMN_MIN: usize = 8;
/// Longest name that is shown whole.
const NAME_MAX: usize = 20;

/// Rows that the lines of these nodes need at most, with their head: none without nodes, and never more than a
/// third of the screen.
pub fn rows(nodes: &[NodeNow], height: u16) -> u16 {
    let needed = u16::try_from(nodes.len()).unwrap_or(u16::MAX).saturating_add(1);
    if nodes.is_empty() { 0 } else { needed.min(height / 3) }
}

/// Draws the lines; the last one counts the nodes for which there is no room.
pub fn draw(nodes: &[NodeNow], palette: Palette, area: Rect, buffer: &mut Buffer) {
    let mut rows = area.rows();
    let Some(head) = rows.next() else { return };
    let longest = nodes.iter().map(|node| node.name.chars().count()).max().unwrap_or_default();
    let name_width = longest.clamp(4, NAME_MAX);
    let room = usize::from(area.width).saturating_sub(name_width + 1);
    let mut left = room;
    let columns = NODE_METRICS.iter().enumerate().take_while(|(_, metric)| {
        let fits = width(metric) <= left;
        left = left.saturating_sub(width(metric));
        fits
    });
    let columns: Vec<(usize, &NodeMetric)> = columns.collect();
    let heads = columns.iter().map(|(_, metric)| format!("{:>1$}", metric.column, width(metric)));
    let title = format!(" {:name_width$}{}", "node", heads.collect::<String>());
    Line::styled(title, Palette::quiet()).render(head, buffer);
    let shown = usize::from(area.height.saturating_sub(1));
    let all_fit = nodes.len() <= shown;
    let whole = if all_fit { nodes.len() } else { shown.saturating_sub(1) };
    for (node, row) in nodes[..whole].iter().zip(rows.by_ref()) {
        let name: String = node.name.chars().take(name_width).collect();
        let mut line = Line::from(format!(" {name:name_width$}"));
        for (place, metric) in &columns {
            let value = node.values.get(*place).copied().flatten();
            let text = value.map_or("-".to_owned(), |value| shown_as(metric, value));
            let text = format!("{text:>0$}", width(metric));
            let is_bad = matches!(metric.name, "node.failures" | "node.sessions_lost")
                && value.is_some_and(|value| value > 0.0);
            line.push_span(if is_bad { Span::styled(text, palette.bad()) } else { text.into() });
        }
        line.render(row, buffer);
    }
    if let Some(row) = rows.next().filter(|_| !all_fit) {
        let text = format!(" and {} more nodes", nodes.len() - whole);
        Line::styled(text, Palette::quiet()).render(row, buffer);
    }
}

fn width(metric: &NodeMetric) -> usize {
    metric.column.chars().count().max(COLUMN_MIN) + 1
}

fn shown_as(metric: &NodeMetric, value: f64) -> String {
    match (metric.name, metric.unit) {
        ("node.writable", _) => if value > 0.0 { "yes" } else { "no" }.to_owned(),
        (_, Unit::Count) => format!("{value:.0}"),
        (_, unit) => units::number(unit, value),
    }
}
