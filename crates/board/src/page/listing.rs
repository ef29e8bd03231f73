//! The board for other programs: `board.json`.

use serde::Serialize;
use triphammer_bundle::this_program;
use triphammer_document::energy::EnergySourceKind;

use crate::entry::Entry;
use crate::rank::{Board, key};

/// Version of the format.
const FORMAT: u32 = 1;

#[derive(Serialize)]
struct Listing<'a> {
    format: u32,
    title: &'a str,
    made_by: String,
    results: Vec<Listed<'a>>,
}

/// A result. Its bundle, verification and page are in `folder`.
#[derive(Serialize)]
struct Listed<'a> {
    folder: String,
    bundle: &'a str,
    kind: &'a str,
    agrees: bool,
    signed_by: Option<&'a str>,
    submitter: Option<&'a str>,
    relation: Option<&'a str>,
    funded_by: Option<&'a str>,
    workload: &'a str,
    database: String,
    host: &'a str,
    started_at: &'a str,
    metric: Option<String>,
    value: Option<f64>,
    runs: usize,
    price_per_million: Option<f64>,
    currency: Option<String>,
    joules_per_transaction: Option<f64>,
    energy_source: Option<EnergySourceKind>,
    /// What comparable results have in common; `None` without a rank.
    class: Option<std::collections::BTreeMap<String, String>>,
    rank: Option<usize>,
    no_rank_because: Vec<String>,
}

/// The document.
pub(super) fn json(title: &str, entries: &[Entry], board: &Board) -> String {
    let results = entries.iter().enumerate().map(|(place, entry)| {
        let rank = board.place(place).map(|(_, position)| position + 1);
        let label = entry.label.as_ref();
        let (price, joules) = (entry.price(), entry.joules());
        Listed {
            folder: format!("results/{}", entry.slug),
            bundle: &entry.name,
            kind: entry.found.job_kind.name(),
            agrees: entry.found.agrees,
            signed_by: entry.key(),
            submitter: label.map(|label| &*label.submitter),
            relation: label.map(|label| label.kind.name()),
            funded_by: label.and_then(|label| label.funded_by.as_deref()),
            workload: &entry.head.workload,
            database: entry.head.database(),
            host: &entry.head.cpu,
            started_at: &entry.head.started_at,
            metric: entry.metric().map(|metric| metric.name),
            value: entry.value(),
            runs: entry.runs.len(),
            price_per_million: price.as_ref().map(|(value, _)| *value),
            currency: price.map(|(_, currency)| currency),
            joules_per_transaction: joules.map(|(value, _)| value),
            energy_source: joules.map(|(_, kind)| kind),
            class: rank.map(|_| key(entry)),
            rank,
            no_rank_because: board.no_rank_because(place),
        }
    });
    let listing =
        Listing { format: FORMAT, title, made_by: this_program(), results: results.collect() };
    serde_json::to_string_pretty(&listing).expect("a listing is plain data") + "\n"
}
