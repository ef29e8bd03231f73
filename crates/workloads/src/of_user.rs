//! What workloads of the user's own transactions have in common: they begin with no tables, data or conditions, and a
//! result keeps the texts of their files.

use std::sync::Arc;

use triphammer_core::SpecError;
use triphammer_core::pace::ReplayLoad;
use triphammer_core::workload::{
    Author, Description, MeasureDef, Mode, Name, OptionDef, OwnWork, PrimaryMetric, ScaleUnit,
    TransactionDef,
};

use crate::custom::WorkloadText;
use crate::script::{ScriptText, hashes, scripts};
use crate::{custom, replay, script};

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

/// What a result keeps of the user's files.
#[derive(Debug, Default)]
pub struct KeptFiles {
    /// Their texts.
    pub texts: Vec<ScriptText>,
    /// What stands for them among the options: names with hashes.
    pub shown: String,
}

impl KeptFiles {
    /// The files of a value of the setting that names them.
    ///
    /// # Errors
    /// When the value is malformed, or a file cannot be read.
    pub fn of(work: &OwnWork, value: &str) -> Result<Self, SpecError> {
        let of_texts = |texts: Vec<ScriptText>| Self { shown: hashes(&texts), texts };
        match work.setting {
            replay::SETTING => {
                let file: ReplayLoad = value.parse().map_err(SpecError::new)?;
                let hash = replay::hash(&file.file)?;
                Ok(Self { texts: Vec::new(), shown: format!("{value} (SHA-256 {hash})") })
            }
            custom::SETTING => WorkloadText::parse(value).map(|file| of_texts(file.texts())),
            _ => scripts(value).map(of_texts),
        }
    }

    /// The value of the setting that contains texts that a result kept.
    ///
    /// # Errors
    /// Never, unless memory is exhausted.
    pub fn value(work: &OwnWork, texts: Vec<ScriptText>) -> Result<String, SpecError> {
        match work.setting {
            custom::SETTING => WorkloadText::of_texts(texts).value(),
            _ => script::value(&texts),
        }
    }
}
