//! An activity with its form and what it left.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::form::Form;
use super::state::Activity;
use crate::schema::{document_schema, run_spec_schema};

/// An activity with all that is known of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ActivityDetail {
    /// The activity.
    pub activity: Activity,
    /// What was asked for.
    pub form: Form,
    /// How a run is driven, once that is resolved.
    #[schema(schema_with = run_spec_schema)]
    pub spec: Option<serde_json::Value>,
    /// The document that it left.
    #[schema(schema_with = document_schema)]
    pub document: Option<serde_json::Value>,
}
