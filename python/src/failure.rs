//! Failures as Python's exceptions. Their classes are defined in Python, because they have two bases.

use pyo3::prelude::*;
use triphammer_core::SpecError;
use triphammer_settings::failure::Failure;
use triphammer_store::StoreError;

/// A failure, ready to be raised in any thread.
#[derive(Clone, Debug)]
pub struct Raised {
    /// Name of the class in `triphammer._errors`.
    class: &'static str,
    text: String,
}

impl From<Failure> for Raised {
    fn from(failure: Failure) -> Self {
        let class = match &failure {
            failure if failure.is_interruption() => "Cancelled",
            Failure::Spec(_) => "SettingError",
            Failure::Database { .. } | Failure::Start(_) => "DatabaseError",
            Failure::System { .. } => "HostError",
            Failure::Cancelled | Failure::Interrupted(_) => "Cancelled",
        };
        Self { class, text: failure.to_string() }
    }
}

impl From<SpecError> for Raised {
    fn from(error: SpecError) -> Self {
        Failure::from(error).into()
    }
}

impl From<StoreError> for Raised {
    fn from(error: StoreError) -> Self {
        Failure::refuse(error.to_string()).into()
    }
}

impl Raised {
    /// An invalid argument.
    pub fn argument(text: impl Into<String>) -> Self {
        Failure::refuse(text).into()
    }

    /// A panic of the job's thread.
    pub fn defect() -> Self {
        let text =
            "the job ended by a defect of triphammer, which is described on stderr".to_owned();
        Self { class: "Error", text }
    }
}

impl From<Raised> for PyErr {
    fn from(raised: Raised) -> Self {
        Python::attach(|py| {
            let class = py.import("triphammer._errors").and_then(|m| m.getattr(raised.class));
            match class.and_then(|class| class.call1((raised.text,))) {
                Ok(exception) => Self::from_value(exception),
                Err(error) => error,
            }
        })
    }
}
