//! Protocols for statements.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How statements are sent, so that poolers and proxies can be tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// Prepared once per session, then bound and executed each time.
    Prepared,
    /// Parsed, bound and executed each time, with nothing kept on the server.
    Extended,
    /// Sent as one text that contains the values.
    Simple,
}

impl Protocol {
    /// All protocols, each with its name on the command line.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Prepared, "prepared"), (Self::Extended, "extended"), (Self::Simple, "simple")];

    /// Name of the protocol on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(protocol, _)| *protocol == self).expect("ALL has every protocol").1
    }
}

impl std::str::FromStr for Protocol {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.iter().find(|(_, name)| *name == text).map(|(protocol, _)| *protocol).ok_or_else(
            || format!("unknown protocol `{text}`: expected prepared, extended or simple"),
        )
    }
}
