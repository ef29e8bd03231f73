//! The parts of reports about the nodes of a target.

use triphammer_document::result::{NodeFigures, NodeRole, RunResult};
use triphammer_settings::format::{counted, figure, integer, milliseconds, percent, seconds};

use super::table::Table;

/// Heading of the tables.
pub(super) const NODES: &str = "Nodes in the timed window";
/// Heading of the second one.
pub(super) const STATES: &str = "Sessions and state of the nodes";

/// The tables with their headings; none for a single server.
pub(super) fn tables(nodes: &[NodeFigures]) -> Vec<(&'static str, Table)> {
    if nodes.is_empty() {
        return Vec::new();
    }
    vec![(NODES, transactions(nodes)), (STATES, states(nodes))]
}

fn transactions(nodes: &[NodeFigures]) -> Table {
    let head = ["node", "role", "completed", "per min", "share", "p50 ms", "p95 ms", "failed"];
    let mut table = Table::new(2, &head);
    for node in nodes {
        let times = &node.response;
        #[expect(clippy::cast_precision_loss, reason = "shown to three digits")]
        let ms = |us: u64| match times.count {
            0 => "-".to_owned(),
            _ => milliseconds(us as f64),
        };
        table.row(vec![
            node.name.clone(),
            role(node),
            integer(node.completed),
            figure(node.per_minute),
            percent(node.share),
            ms(times.p50_us),
            ms(times.p95_us),
            integer(node.failed + node.indeterminate),
        ]);
    }
    table
}

fn states(nodes: &[NodeFigures]) -> Table {
    let head = ["node", "sessions", "lost", "connections", "lag mean", "lag max", "server's tpm"];
    let mut table = Table::new(1, &head);
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    for node in nodes {
        table.row(vec![
            node.name.clone(),
            node.sessions.to_string(),
            integer(node.sessions_lost),
            or_dash(node.connections.map(integer)),
            or_dash(node.lag_mean_s.map(seconds)),
            or_dash(node.lag_max_s.map(seconds)),
            or_dash(node.server_per_minute.map(figure)),
        ]);
    }
    table
}

/// The role at the start, and at the end if it changed.
fn role(node: &NodeFigures) -> String {
    let name = |role: Option<NodeRole>| role.map_or("-", NodeRole::name);
    match (node.role, node.role_at_end) {
        (before, after) if before == after => name(before).to_owned(),
        (before, after) => format!("{} → {}", name(before), name(after)),
    }
}

/// The nodes in one line, for a summary.
pub(super) fn in_short(result: &RunResult) -> Option<String> {
    if result.nodes.is_empty() {
        return None;
    }
    let of = |node: &NodeFigures| format!("{} {}", node.name, percent(node.share));
    let mut text: Vec<_> = result.nodes.iter().map(of).collect();
    if !result.failovers.is_empty() {
        text.push(counted(result.failovers.len() as u64, "failovers"));
    }
    Some(text.join(" · "))
}
