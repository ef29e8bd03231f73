//! The host of the client: facts that are needed to judge its measurements. Nothing identifies the
//! machine or its owner. Facts that cannot be read are `None`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Facts about a host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Host {
    /// CPU model, as named by the system.
    pub cpu: Option<String>,
    /// Number of logical cores that this process may use.
    pub cores: Option<u32>,
    /// Total memory, in bytes.
    pub memory_bytes: Option<u64>,
    /// CPU architecture: `x86_64`, `aarch64`.
    pub architecture: String,
    /// Operating system: `Debian GNU/Linux 12 (bookworm)`, or at least `linux`, `macos` or
    /// `windows`.
    pub os: String,
    /// Release of the kernel, as `uname -r`.
    pub kernel: Option<String>,
    /// CPU frequency governor: `performance`, `schedutil`.
    pub governor: Option<String>,
}
