//! The one shape of every error: a word for programs, a sentence for people, the field it belongs to, and
//! what to do next. The sentence is the command line's own.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use triphammer_core::SpecError;
use triphammer_runner::Failure;
use triphammer_runner::result::mask_secrets;
use triphammer_runner::settings::SETTINGS;
use triphammer_runner::store::StoreError;
use utoipa::ToSchema;

/// Why something could not be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ApiError {
    #[serde(skip)]
    status: Status,
    /// One word for programs: `invalid`, `not_found`, `conflict`, `unauthorized`, `database`, `store`.
    pub code: String,
    /// A sentence for people, without any secret; for a bad value the one that the command line prints.
    pub message: String,
    /// The setting or member of the request that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// What to do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A status that can be left out of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Status(StatusCode);

impl Default for Status {
    fn default() -> Self {
        Self(StatusCode::INTERNAL_SERVER_ERROR)
    }
}

impl ApiError {
    /// An error; what looks like a secret in the message is masked.
    pub fn new(status: StatusCode, code: &str, message: impl AsRef<str>) -> Self {
        let message = mask_secrets(message.as_ref());
        Self { status: Status(status), code: code.to_owned(), message, field: None, next: None }
    }

    /// A value that cannot be.
    pub fn invalid(message: impl AsRef<str>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", message)
    }

    /// Something that is not there.
    pub fn not_found(message: impl AsRef<str>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    /// Something that cannot be done as things stand.
    pub fn conflict(message: impl AsRef<str>) -> Self {
        Self::new(StatusCode::CONFLICT, "conflict", message)
    }

    /// A defect of ours, of which no more is told.
    pub fn internal() -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            "internal error; see the server's log on stderr",
        )
    }

    /// Names the field.
    #[must_use]
    pub fn about(mut self, field: &str) -> Self {
        self.field = Some(field.to_owned());
        self
    }

    /// Says what to do next.
    #[must_use]
    pub fn next(mut self, next: &str) -> Self {
        self.next = Some(next.to_owned());
        self
    }

    fn coded(mut self, code: &str) -> Self {
        self.code = code.to_owned();
        self
    }

    /// The HTTP status.
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

/// The first flag that a message names, without dashes: an error that says what to change says where.
fn flag_in(message: &str) -> Option<String> {
    message.split("--").skip(1).find_map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(rest.len());
        let name = rest[..end].trim_end_matches('-');
        let known = SETTINGS.iter().any(|s| s.name == name)
            || triphammer_runner::workload_options().iter().any(|(_, option)| option.name == name);
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
            Failure::Cancelled => Self::conflict(failure.to_string()).coded("cancelled"),
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
