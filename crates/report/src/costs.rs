//! The part of reports about price and energy: what a run costs by its price list, and the energy
//! that was used in its timed window.

use triphammer_document::energy::{AboveIdle, Energy, EnergyFigures, EnergyOf, EnergySource};
use triphammer_document::price::Price;
use triphammer_document::profile::ProfileResult;
use triphammer_document::result::RunResult;
use triphammer_settings::format::{duration, figure, money, percent};
use triphammer_statistics::Interval;

use super::table::Table;
use crate::lines::DOT;

/// Heading of the price.
pub(super) const PRICE: &str = "Price";
/// Heading of the energy.
pub(super) const ENERGY: &str = "Energy in the timed window";

/// What a run costs, in sentences.
pub(super) fn price(price: &Price) -> Vec<String> {
    let list = &price.list;
    let mut lines = Vec::new();
    match &price.per_million {
        Some(per_million) => {
            lines.push(format!(
                "{} per million {}",
                list.show_estimate(per_million),
                price.counted
            ));
        }
        None => lines.push(format!("no {}, so no price of them", price.counted)),
    }
    let year = format!("{} per year", list.show(price.per_year));
    lines.push(match &price.millions_per_year {
        Some(millions) => {
            let all = figure(millions.value);
            format!("{year}, in which the measured rate gives {all} million")
        }
        None => year,
    });
    lines
}

/// The components of a price list.
pub(super) fn components(price: &Price) -> Table {
    let mut table = Table::new(2, &["component", "paid", "per year"]);
    for component in &price.list.components {
        table.row(vec![
            component.name.clone(),
            component.payment(),
            price.list.show(component.per_year()),
        ]);
    }
    table
}

/// Where the prices of the components are from: addresses are too long for a table.
pub(super) fn sources(price: &Price) -> Vec<String> {
    let components = price.list.components.iter();
    components.map(|of| format!("source of {}: {}", of.name, of.source)).collect()
}

/// The energy of a run, in sentences.
pub(super) fn energy(energy: &Energy, metric: &str) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(figures) = &energy.figures {
        lines.extend(of_figures(figures, metric));
    }
    lines.extend(energy.sources.iter().map(of_source));
    if energy.figures.is_none() {
        let none = "energy per transaction is not known";
        lines.push(match energy.gaps.as_slice() {
            [] => none.to_owned(),
            gaps => format!("{none}: {}", gaps.join("; ")),
        });
    } else {
        lines.extend(energy.gaps.iter().cloned());
    }
    lines
}

fn of_figures(figures: &EnergyFigures, metric: &str) -> Vec<String> {
    let mut lines = vec![in_short(figures, metric)];
    lines.extend(figures.above_idle.as_ref().map(above_idle));
    if figures.of == EnergyOf::SharedHost {
        lines.push(match figures.client_cpu_share {
            Some(share) => format!(
                "client and database share the host: {} of the CPU time that was used is the \
                 client's, and as much of the energy may be",
                percent(share)
            ),
            None => {
                "client and database share the host: the client's share is not known".to_owned()
            }
        });
    }
    lines
}

/// What the run used beyond the idle host.
fn above_idle(above: &AboveIdle) -> String {
    let before = format!(
        "used {} W in the {} before the run",
        figure(above.idle_watts),
        duration(above.idle_s)
    );
    if above.watts < 0.0 {
        let less = figure(-above.watts);
        return format!(
            "{less} W less than the idle host, which {before}: it was not idle then, or the load is \
             too small to show"
        );
    }
    let each = above.joules_per_transaction.map(|joules| format!(", {} J each", figure(joules)));
    format!(
        "{} W above the idle host{}; that {before}",
        figure(above.watts),
        each.unwrap_or_default()
    )
}

/// Power, energy per transaction and figures per watt, in one line.
fn in_short(figures: &EnergyFigures, metric: &str) -> String {
    let each = figures
        .joules_per_transaction
        .map(|joules| format!("{} J each of the {}", figure(joules), figures.counted));
    let per_watt =
        figures.primary_metric_per_watt.map(|value| format!("{} {metric} per W", figure(value)));
    let watts = Some(format!("{} W", figure(figures.watts)));
    let parts: Vec<String> = [each, watts, per_watt].into_iter().flatten().collect();
    parts.join(DOT)
}

fn of_source(source: &EnergySource) -> String {
    let domains =
        source.domains.iter().map(|domain| format!("{} {} J", domain.name, figure(domain.joules)));
    let domains: Vec<String> = domains.collect();
    let of = format!("{} ({}): {}", source.title(), source.of.title(), domains.join(", "));
    match source.joules {
        Some(_) => of,
        None => format!("{of}; incomplete"),
    }
}

/// Price and energy for a summary.
pub(super) fn rows(result: &RunResult) -> impl Iterator<Item = (&'static str, String, bool)> {
    let price = result.price.as_ref().and_then(|of| price(of).into_iter().next());
    let figures = result.energy.as_ref().and_then(|energy| energy.figures.as_ref());
    let energy = figures.map(|figures| in_short(figures, &result.primary_metric.name));
    let price = price.map(|text| ("Price", text, false));
    price.into_iter().chain(energy.map(|text| ("Energy", text, false)))
}

/// What the levels of a profile cost, the energy that they used, and whether they keep the
/// requirements; `None` if nothing of that is known.
pub(super) fn levels(result: &ProfileResult) -> Option<Table> {
    let runs = || result.levels.iter().flat_map(|level| &level.runs);
    let has_requirements = runs().any(|run| run.requirements_kept.is_some());
    let has_energy = result.levels.iter().any(|level| level.joules_per_transaction.is_some());
    let mut head = vec![if result.is_of_streams() { "streams" } else { "vus" }.to_owned()];
    head.extend(result.price.as_ref().map(|of| format!("{} per million", of.list.currency)));
    head.extend(has_energy.then(|| "J each".to_owned()));
    head.extend(has_requirements.then(|| "requirements".to_owned()));
    if head.len() == 1 {
        return None;
    }
    let mut table = Table::new(0, &head.iter().map(String::as_str).collect::<Vec<_>>());
    for level in &result.levels {
        let mut row = vec![level.users.to_string()];
        row.extend(result.price.as_ref().map(|_| {
            let costs = level.per_million.map(|costs| match costs.interval {
                Some(Interval { low, high }) => {
                    format!("{} ({} to {})", money(costs.value), money(low), money(high))
                }
                None => money(costs.value),
            });
            costs.unwrap_or_else(|| "-".to_owned())
        }));
        row.extend(has_energy.then(|| level.joules_per_transaction.map_or("-".to_owned(), figure)));
        row.extend(has_requirements.then(|| {
            let is_missed = level.runs.iter().any(|run| run.requirements_kept == Some(false));
            if is_missed { "not kept" } else { "kept" }.to_owned()
        }));
        table.row(row);
    }
    Some(table)
}
