//! What a result keeps of the files of a user's own workload, so that the run can be repeated.

use triphammer_core::SpecError;
use triphammer_core::pace::ReplayLoad;
use triphammer_core::workload::OwnWork;

use crate::custom::{self, WorkloadText};
use crate::replay;
use crate::script::{self, ScriptText, hashes, scripts};

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
