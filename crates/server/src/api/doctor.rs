//! The examination of a target's set-up before a run, as the command `doctor` makes it.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use triphammer_document::doctor::DoctorResult;
use triphammer_document::redacted::mask_secrets;
use triphammer_observe::doctor::examine;
use triphammer_settings::Settings;
use triphammer_settings::command::Command;
use triphammer_settings::handle::Handle;
use utoipa::ToSchema;

use super::Answer;
use crate::app::{App, blocking};
use crate::error::ApiError;
use crate::extract::Body;
use crate::targets::Targets;

/// A request to examine a set-up.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DoctorForm {
    /// Name of a saved target; when absent, only the host of this server is examined.
    #[serde(default)]
    pub target: Option<String>,
}

/// Ends the examination when its request ends, such as when the client disconnects.
struct EndWithRequest(Handle);

impl Drop for EndWithRequest {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Examines the host of this server, the network and the database of a target, and changes nothing.
/// It ends within 30 s, and earlier when the client disconnects. A target in use by an activity is
/// rejected, because the measurements would slow it down.
#[utoipa::path(post, path = "/api/v1/doctor", tag = "forms", request_body = DoctorForm,
    responses((status = 200, body = ref("#/components/schemas/DoctorResult")),
        (status = 404, body = ApiError), (status = 409, body = ApiError),
        (status = 502, body = ApiError)))]
pub async fn doctor(State(app): State<App>, Body(form): Body<DoctorForm>) -> Answer<DoctorResult> {
    if let Some(id) = form.target.as_deref().and_then(|name| app.activities().using(name)) {
        let error = ApiError::conflict(format!("activity {id} is using this target"));
        return Err(error.about("target").next("check the set-up when it has ended"));
    }
    let handle = Handle::default();
    let request = EndWithRequest(handle.clone());
    let found = blocking(move || find(&form, app.targets(), &handle)).await;
    drop(request);
    found.map(Json)
}

fn find(form: &DoctorForm, targets: &Targets, handle: &Handle) -> Result<DoctorResult, ApiError> {
    let mut settings = Settings::new(Command::Doctor);
    let keys = match &form.target {
        Some(name) => targets.apply(name, &mut settings)?,
        None => targets.no_keys(),
    };
    // Warnings of opening a target are shown where it is tested.
    let mut found = examine(&mut settings, &keys, handle, &mut |_| {})?;
    for line in &mut found.lines {
        line.value = mask_secrets(&line.value);
    }
    for unread in &mut found.unread {
        unread.reason = mask_secrets(&unread.reason);
    }
    Ok(found)
}
