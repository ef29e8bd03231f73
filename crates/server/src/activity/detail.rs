//! An activity with its form and its result.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::form::Form;
use crate::activity_state::Activity;
use crate::schema::{document_schema, run_spec_schema};

/// An activity with its form, spec and result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ActivityDetail {
    /// State of the activity.
    pub activity: Activity,
    /// The form as requested.
    pub form: Form,
    /// The spec of a run, once it is resolved.
    #[schema(schema_with = run_spec_schema)]
    pub spec: Option<serde_json::Value>,
    /// Result document of the job.
    #[schema(schema_with = document_schema)]
    pub document: Option<serde_json::Value>,
}
