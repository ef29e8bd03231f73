//! The stored plan of a job: all settings that it was given, from which it is repeated or resumed. It
//! contains no secrets: the target is stored without its password, which is prompted for or read again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use triphammer_document::redacted::mask_secrets;
use triphammer_settings::{Mark, Settings, Source, is};

/// The stored plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CampaignPlan {
    /// Version of the plan's format.
    format: u32,
    /// Working directory at the start; relative file names refer to it.
    pub folder: String,
    /// The target, without its password; `None` for the embedded default.
    target: Option<String>,
    /// The second target of a comparison.
    other: Option<String>,
    /// Every other setting that was given.
    pub given: Vec<GivenSetting>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GivenSetting {
    pub name: String,
    pub value: String,
    pub source: Source,
}

impl CampaignPlan {
    /// Creates the plan from the settings that were given.
    pub fn of(settings: &Settings) -> Self {
        let given = settings
            .all_given()
            .filter(|(name, ..)| {
                let marked = |mark| is(settings.command(), name, mark);
                !marked(Mark::OnResume) && !marked(Mark::OnlyAtStart)
            })
            .map(|(name, value, source)| GivenSetting {
                name: name.to_owned(),
                // The values of a matrix may be targets.
                value: if name == "over" { bare(value) } else { mask_secrets(value) },
                source: source.clone(),
            })
            .collect();
        let [target, other] = TARGETS.map(|name| settings.get(name).map(bare));
        Self { format: 1, folder: folder(), target, other, given }
    }

    /// The given target with this name (`target` or `other`).
    pub fn target(&self, name: &str) -> Option<&String> {
        if name == "other" { self.other.as_ref() } else { self.target.as_ref() }
    }
}

/// The settings that a job with this stored plan was given, without its targets and secrets; `None`
/// if it cannot be read.
#[must_use]
pub fn given_settings(plan: &serde_json::Value) -> Option<BTreeMap<String, String>> {
    let plan: CampaignPlan = serde_json::from_value(plan.clone()).ok()?;
    Some(plan.given.into_iter().map(|given| (given.name, given.value)).collect())
}

/// The settings that name a database.
pub(crate) const TARGETS: [&str; 2] = ["target", "other"];

/// Removes the password of a target.
pub(crate) fn bare(url: &str) -> String {
    mask_secrets(url).replace(":***@", "@")
}

pub(crate) fn folder() -> String {
    std::env::current_dir().map_or_else(|_| String::new(), |folder| folder.display().to_string())
}
