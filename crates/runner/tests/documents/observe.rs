//! The guide to observing lists every figure that the dialects declare.

use triphammer_observe::declared;
use triphammer_observe::host_metrics::HOST_METRICS;
use triphammer_testbed::assert_generated_lists;

/// The table of a dialect.
fn table(dialect: &str) -> String {
    let mut table = "| metric | from | meaning |\n|---|---|---|\n".to_owned();
    for query in declared(dialect).unwrap().query {
        let versions = match (&query.from, &query.before) {
            (Some(from), Some(before)) => format!("{from}, before {before}"),
            (Some(from), None) => from.clone(),
            (None, Some(before)) => format!("before {before}"),
            (None, None) => "any".to_owned(),
        };
        for metric in &query.metrics {
            let labels: Vec<String> = query
                .labels
                .iter()
                .cloned()
                .chain(metric.labels.iter().map(|(name, value)| format!("{name}={value}")))
                .collect();
            let labels = match labels.is_empty() {
                true => String::new(),
                false => format!("{{{}}}", labels.join(",")),
            };
            let own = if metric.own { " *" } else { "" };
            table.push_str(&format!(
                "| `{}{labels}`{own} | {versions} | {} |\n",
                metric.name, metric.help
            ));
        }
    }
    table
}

/// The table of the figures of hosts.
fn table_of_hosts() -> String {
    let mut table = "| metric | meaning |\n|---|---|\n".to_owned();
    for metric in HOST_METRICS {
        let labels = match metric.labels.is_empty() {
            true => String::new(),
            false => format!("{{{}}}", metric.labels.join(",")),
        };
        table.push_str(&format!("| `{}{labels}` | {} |\n", metric.name, metric.help));
    }
    table
}

#[test]
fn the_guide_to_observing_lists_every_figure() {
    let of_databases = ["postgres", "mysql", "sqlite"].map(|name| (name, table(name)));
    let lists = of_databases.into_iter().chain([("hosts", table_of_hosts())]);
    assert_generated_lists("docs/observe.md", lists);
}
