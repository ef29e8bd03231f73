//! The host of the client: facts that are needed to judge its measurements. Nothing identifies the
//! machine or its owner. Facts that cannot be read are `None`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_settings::format::{bytes, counted};

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
    /// How its CPUs and memory are arranged.
    #[serde(default)]
    pub topology: Option<Topology>,
}

/// How the CPUs and the memory of a host are arranged, as far as the system says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Topology {
    /// Number of packages (sockets).
    pub packages: u32,
    /// Number of cores of all packages.
    pub cores: u32,
    /// Number of logical CPUs that are online.
    pub threads: u32,
    /// Caches of the processors, the nearest to the cores first.
    pub caches: Vec<CpuCache>,
    /// Memory nodes, by number.
    pub nodes: Vec<MemoryNode>,
}

/// The caches of a kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CpuCache {
    /// Level: 1 is nearest to the core.
    pub level: u32,
    /// `data`, `instruction` or `unified`.
    pub kind: String,
    /// Size of one, in bytes.
    pub bytes: u64,
    /// Number of them in the host.
    pub count: u32,
    /// Number of logical CPUs that share one.
    pub shared_by: u32,
}

/// A memory node: memory that its CPUs reach faster than that of other nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryNode {
    /// Its number.
    pub number: u32,
    /// Its CPUs, as Linux lists them: `0-7,16-23`.
    pub cpus: String,
    /// Its memory, in bytes.
    pub memory_bytes: Option<u64>,
    /// Its reserved huge pages, in bytes.
    pub huge_pages_bytes: u64,
    /// Its distance from each node by number: 10 is its own memory, 20 is twice as far.
    pub distances: Vec<u32>,
}

impl Topology {
    /// Formats `2 packages, 16 cores, 32 threads, 2 memory nodes`.
    #[must_use]
    pub fn words(&self) -> String {
        let mut parts = vec![
            counted(self.packages.into(), "packages"),
            counted(self.cores.into(), "cores"),
            counted(self.threads.into(), "threads"),
        ];
        if self.nodes.len() > 1 {
            parts.push(counted(self.nodes.len() as u64, "memory nodes"));
        }
        parts.join(", ")
    }

    /// Formats `L1 data 32 KiB × 16, L3 32 MiB × 2`; empty if nothing is known.
    #[must_use]
    pub fn cache_words(&self) -> String {
        let words = |cache: &CpuCache| {
            let kind = match &*cache.kind {
                "unified" => String::new(),
                kind => format!(" {kind}"),
            };
            format!("L{}{kind} {} × {}", cache.level, bytes(cache.bytes), cache.count)
        };
        self.caches.iter().map(words).collect::<Vec<_>>().join(", ")
    }

    /// A sentence on each memory node; none on a host with one node that has no huge pages.
    #[must_use]
    pub fn node_words(&self) -> Vec<String> {
        let is_plain = |node: &MemoryNode| node.huge_pages_bytes == 0;
        if self.nodes.len() < 2 && self.nodes.iter().all(is_plain) {
            return Vec::new();
        }
        let words = |node: &MemoryNode| {
            let mut parts = vec![format!("node {}: CPUs {}", node.number, node.cpus)];
            parts.extend(node.memory_bytes.map(bytes));
            if !is_plain(node) {
                parts.push(format!("huge pages {}", bytes(node.huge_pages_bytes)));
            }
            if self.nodes.len() > 1 && !node.distances.is_empty() {
                let all: Vec<_> = node.distances.iter().map(u32::to_string).collect();
                parts.push(format!("distances {}", all.join(" ")));
            }
            parts.join(", ")
        };
        self.nodes.iter().map(words).collect()
    }
}
