//! The common format of all errors: a machine-readable kind, a message, the field it refers to, and
//! what to do next. The message is the same as on the command line.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use triphammer_core::SpecError;
use triphammer_document::redacted::mask_message;
use triphammer_settings::SETTINGS;
use triphammer_settings::failure::Failure;
use triphammer_store::StoreError;
use utoipa::ToSchema;

/// An error response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ApiError {
    #[serde(skip)]
    status: Status,
    /// Machine-readable kind: `invalid`, `not_found`, `conflict`, `unauthorized`, `database`,
    /// `store`.
    pub code: String,
    /// Human-readable message without secrets; for an invalid value, the same as on the command
    /// line.
    pub message: String,
    /// The setting or field of the request that it refers to; `null` if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// What to do next; `null` if there is no advice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// An HTTP status that is skipped in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Status(StatusCode);

impl Default for Status {
    fn default() -> Self {
        Self(StatusCode::INTERNAL_SERVER_ERROR)
    }
}

impl ApiError {
    /// Creates an error; anything that looks like a secret in the message is masked.
    pub fn new(status: StatusCode, code: &str, message: impl AsRef<str>) -> Self {
        let message = mask_message(message.as_ref());
        Self { status: Status(status), code: code.to_owned(), message, field: None, next: None }
    }

    /// An invalid value.
    pub fn invalid(message: impl AsRef<str>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", message)
    }

    /// Something that does not exist.
    pub fn not_found(message: impl AsRef<str>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    /// A conflict with the current state.
    pub fn conflict(message: impl AsRef<str>) -> Self {
        Self::new(StatusCode::CONFLICT, "conflict", message)
    }

    /// Whether the current state does not allow what was asked for.
    pub fn is_conflict(&self) -> bool {
        self.status.0 == StatusCode::CONFLICT
    }

    /// An internal error, without details.
    pub fn internal() -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            "internal error; see the server's log on stderr",
        )
    }

    /// Sets the field that the error refers to.
    #[must_use]
    pub fn about(mut self, field: &str) -> Self {
        self.field = Some(field.to_owned());
        self
    }

    /// Sets the advice on what to do next.
    #[must_use]
    pub fn next(mut self, next: &str) -> Self {
        self.next = Some(next.to_owned());
        self
    }

    fn coded(mut self, code: &str) -> Self {
        self.code = code.to_owned();
        self
    }

    /// HTTP status of the response.
    #[must_use]
    pub const fn status(&self) -> StatusCode {
        self.status.0
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.status(), Json(self)).into_response()
    }
}

impl From<SpecError> for ApiError {
    fn from(error: SpecError) -> Self {
        let message = error.to_string();
        let field = error.setting().map(str::to_owned).or_else(|| flag_in(&message));
        Self { field, ..Self::invalid(message) }
    }
}

/// The first flag named in a message, without dashes: it becomes the field of the error.
fn flag_in(message: &str) -> Option<String> {
    message.split("--").skip(1).find_map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(rest.len());
        let name = rest[..end].trim_end_matches('-');
        let known = SETTINGS.iter().any(|s| s.name == name)
            || triphammer_settings::workload_options()
                .iter()
                .any(|(_, option)| option.name == name);
        known.then(|| name.to_owned())
    })
}

impl From<Failure> for ApiError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Spec(error) => error.into(),
            Failure::Database { .. } | Failure::Start(_) => {
                Self::new(StatusCode::BAD_GATEWAY, "database", failure.to_string())
            }
            Failure::Cancelled | Failure::Interrupted(_) => {
                Self::conflict(failure.to_string()).coded("cancelled")
            }
            Failure::System { .. } => {
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, "system", failure.to_string())
            }
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match &error {
            StoreError::NoJob { job } => Self::not_found(format!("there is no job {job}")),
            StoreError::Running { .. } => Self::conflict(error.to_string()),
            error if error.may_pass() => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "store", error.to_string())
            }
            _ => Self::new(StatusCode::INTERNAL_SERVER_ERROR, "store", error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_belongs_to_the_setting_it_names() {
        for (error, field) in [
            (SpecError::new("x").about("vus"), Some("vus")),
            (SpecError::new("--duration and --transactions exclude each other"), Some("duration")),
            (SpecError::new("it needs one thread; leave --threads out"), Some("threads")),
            (SpecError::new("say --nonsense or a -- b"), None),
        ] {
            assert_eq!(ApiError::from(error).field.as_deref(), field);
        }
    }

    #[test]
    fn no_error_shows_a_password() {
        let error = ApiError::invalid("cannot open postgres://u:s3cret@h/d");
        assert!(!serde_json::to_string(&error).unwrap().contains("s3cret"));
    }
}
