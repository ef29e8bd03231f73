//! What a query, a phase of queries or a phase of a build used of this host: CPU time and disks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_settings::format::{bytes, figure};

/// Whose CPU time a [`Usage`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UsageOf {
    /// Of the server's processes on this host, apart from those of triphammer.
    Server,
    /// Of this process, in which the database works: client and server together.
    Process,
}

impl UsageOf {
    /// In words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Server => {
                "CPU time is that of the server's processes on this host, without triphammer's"
            }
            Self::Process => {
                "CPU time is that of client and database together, which are one process"
            }
        }
    }
}

/// What was used of this host between two moments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// CPU time, in seconds.
    #[schemars(range(min = 0.0))]
    pub cpu_s: f64,
    /// CPU time of triphammer, in seconds; `None` if it is part of `cpu_s`.
    #[schemars(range(min = 0.0))]
    pub client_cpu_s: Option<f64>,
    /// Bytes read from the disks of the host, by all its programs; `None` if it does not show them.
    pub read_bytes: Option<u64>,
    /// Bytes written to the disks of the host, by all its programs.
    pub written_bytes: Option<u64>,
}

impl Usage {
    /// The mean of several; `None` of none.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a number of queries")]
    pub fn mean(all: &[Self]) -> Option<Self> {
        let count = all.len() as f64;
        let number = |read: fn(&Self) -> Option<u64>| {
            let values: Option<Vec<u64>> = all.iter().map(read).collect();
            values?.iter().sum::<u64>().checked_div(all.len() as u64)
        };
        (!all.is_empty()).then(|| Self {
            cpu_s: all.iter().map(|of| of.cpu_s).sum::<f64>() / count,
            client_cpu_s: all
                .iter()
                .map(|of| of.client_cpu_s)
                .sum::<Option<f64>>()
                .map(|sum| sum / count),
            read_bytes: number(|of| of.read_bytes),
            written_bytes: number(|of| of.written_bytes),
        })
    }

    /// Formats `CPU 3.2 s, triphammer 1.1 s, read 12.0 MiB, written 1.0 GiB`, without what was neither read nor written.
    #[must_use]
    pub fn words(&self) -> String {
        let mut parts = vec![format!("CPU {} s", figure(self.cpu_s))];
        parts.extend(self.client_cpu_s.map(|s| format!("triphammer {} s", figure(s))));
        for (what, count) in [("read", self.read_bytes), ("written", self.written_bytes)] {
            let count = count.filter(|count| *count > 0);
            parts.extend(count.map(|count| format!("{what} {}", bytes(count))));
        }
        parts.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_has_what_all_have() {
        let of = |cpu_s, read_bytes| Usage { cpu_s, read_bytes, ..Usage::default() };
        let mean = Usage::mean(&[of(1.0, Some(10)), of(3.0, Some(20))]).unwrap();
        assert_eq!((mean.cpu_s, mean.client_cpu_s, mean.read_bytes), (2.0, None, Some(15)));
        assert_eq!(Usage::mean(&[of(1.0, Some(10)), of(3.0, None)]).unwrap().read_bytes, None);
        assert_eq!(Usage::mean(&[]), None);
        assert_eq!(mean.words(), "CPU 2.00 s, read 15 B");
    }
}
