//! A setting of this host in which A and B differ (`--prove`): the campaign changes it before each
//! run, and restores it at the end.

use triphammer_core::SpecError;
use triphammer_observe::doctor::{HostChange, Proof};
use triphammer_settings::Settings;
use triphammer_settings::failure::Failure;
use triphammer_settings::handle::Handle;
use triphammer_settings::target::Target;

use crate::run::AtOnceWay;

/// Name of the setting.
const PROVE: &str = "prove";

/// Reads the setting of the host that differs; `None` if none is to be changed.
///
/// # Errors
/// When it is invalid, or the sides differ in something else.
pub(super) fn read(
    settings: &mut Settings,
    at_once: Option<AtOnceWay>,
) -> Result<Option<Proof>, SpecError> {
    let proof =
        settings.optional(PROVE, Proof::parse, Proof::to_string, "no setting of the host")?;
    if proof.is_none() {
        return Ok(None);
    }
    let refused = |message: String| Err(SpecError::new(message).about(PROVE));
    if let Some(way) = at_once {
        let name = way.setting();
        return refused(format!(
            "--prove and --{name} exclude each other: a host has one value of a setting at a time"
        ));
    }
    if let Some(name) = ["other", "a", "b"].iter().find(|name| settings.get(name).is_some()) {
        let name = if *name == "other" { "a second target" } else { &format!("--{name}") };
        return refused(format!(
            "--prove and {name}: A and B differ in the setting of the host only; omit one of them"
        ));
    }
    if !settings.may_name_targets() {
        return refused("the server does not change settings of its host for clients".to_owned());
    }
    Ok(proof)
}

/// Prepares to change the setting; `None` if none is to be changed.
///
/// # Errors
/// When it cannot be changed here, or the user did not allow it.
pub(crate) fn begin(
    settings: &mut Settings,
    target: &Target,
    handle: &Handle,
) -> Result<Option<HostChange>, Failure> {
    let Some(text) = settings.get(PROVE).map(str::to_owned) else { return Ok(None) };
    let proof = Proof::parse(&text).map_err(|why| SpecError::new(why).about(PROVE))?;
    if !settings.switch("yes")? {
        let message = format!("--prove {proof} changes a setting of this host: --yes allows it");
        return Err(SpecError::new(message).about(PROVE).into());
    }
    HostChange::begin(settings, target, &proof, handle.cancel()).map(Some)
}
