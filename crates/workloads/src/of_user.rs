//! What workloads of the user's own transactions have in common: they begin with no tables, data or conditions.

use std::sync::Arc;

use triphammer_core::workload::{
    Author, Description, MeasureDef, Mode, Name, OptionDef, OwnWork, PrimaryMetric, ScaleUnit,
    TransactionDef,
};

/// Why their transactions cannot be pipelined by a setting.
const AS_WRITTEN: &str = "statements of your own are sent one by one, as they are written";

/// The description of such a workload, whose primary metric counts all transactions per second.
pub(crate) fn description(
    name: &'static str,
    title: Name,
    meaning: Name,
    work: OwnWork,
    options: &[OptionDef],
    transactions: Vec<TransactionDef>,
) -> Description {
    Description {
        name: name.into(),
        title,
        author: Author::User(work),
        extends: None,
        record: None,
        own_sql: Vec::new(),
        has_streams: false,
        recording: None,
        version: 1,
        scale_unit: ScaleUnit::new("unit of scale", "units of scale"),
        options: options.to_vec(),
        statements: Vec::new(),
        tables: Arc::new([]),
        primary_metric: PrimaryMetric {
            name: "TPS".into(),
            meaning,
            transactions: (0..transactions.len()).collect(),
            measure: MeasureDef::Rate { per_seconds: 1 },
            database_count: None,
            counted: Vec::new(),
        },
        transactions,
        checks: Vec::new(),
        answers: None,
        audits: Vec::new(),
        modes: vec![Mode::Statements],
        pipelining: Err(AS_WRITTEN),
        external: None,
        borrowed: None,
        cycle: None,
    }
}
