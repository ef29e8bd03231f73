//! The energy counters of processors that Linux shows in `/sys/class/powercap` (RAPL): one of each
//! package, and of its memory where that has one.
//!
//! A package contains its cores and what is beside them, so these zones are not added to it; `psys`
//! contains everything, and `intel-rapl-mmio` is a second view of the same packages. Since Linux
//! 5.10, only root may read a counter: it tells other programs too much (CVE-2020-8694).

use triphammer_settings::files::Files;

use super::meter::Reading;

/// The first part of the names of zones.
const ZONES: &str = "intel-rapl:";

/// The folder of the counters.
const FOLDER: &str = "sys/class/powercap";

/// The counters below the root of a host's files.
#[derive(Clone, Debug)]
pub(crate) struct Powercap {
    files: Files,
}

/// A zone whose energy adds up with that of the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Zone {
    /// `package-0`; that of a package's memory is `dram-0`.
    pub name: String,
    /// The counter in microjoules; `None` if it may not be read.
    pub microjoules: Option<u64>,
    /// The counter begins at 0 again after this.
    range: Option<u64>,
}

impl Powercap {
    /// The counters below the root of a host's files.
    pub const fn in_root(files: Files) -> Self {
        Self { files }
    }

    /// The zones that add up to the energy of the host; empty if it shows none.
    pub fn zones(&self) -> Vec<Zone> {
        let names = self.files.names(FOLDER);
        let zones = names.iter().filter_map(|zone| {
            let numbers = zone.strip_prefix(ZONES)?;
            let of = |file: &str| format!("{FOLDER}/{zone}/{file}");
            let package = numbers.split(':').next()?;
            let name = match self.files.text(&of("name")).as_deref() {
                Some("dram") => format!("dram-{package}"),
                Some(name) if name.starts_with("package") => name.to_owned(),
                Some(_) => return None,
                // It may be one that counts.
                None => return Some(Zone { name: zone.clone(), microjoules: None, range: None }),
            };
            let microjoules = self.files.number(&of("energy_uj"));
            let range = self.files.number(&of("max_energy_range_uj"));
            Some(Zone { name, microjoules, range })
        });
        zones.collect()
    }

    /// The first reading: of all zones, as a part of a host's energy would be taken for all of it.
    ///
    /// # Errors
    /// When the host shows no zones, or when zones cannot be read: names them.
    pub fn first(&self) -> Result<Vec<(String, Reading)>, String> {
        let zones = self.zones();
        if zones.is_empty() {
            return Err("this host shows no energy counters (RAPL): most virtual machines and \
                        containers have none"
                .to_owned());
        }
        let unread = zones.iter().filter(|zone| zone.microjoules.is_none());
        let unread: Vec<&str> = unread.map(|zone| zone.name.as_str()).collect();
        if !unread.is_empty() {
            return Err(format!(
                "energy counters of this host (RAPL) cannot be read: {}; most systems let root only \
                 read them, and `triphammer doctor` says what they need",
                unread.join(", ")
            ));
        }
        Ok(Self::readings(zones))
    }

    /// The counters that can be read now; one that cannot leaves a gap.
    pub fn read(&self) -> Vec<(String, Reading)> {
        Self::readings(self.zones())
    }

    fn readings(zones: Vec<Zone>) -> Vec<(String, Reading)> {
        let of = |zone: Zone| {
            let microjoules = zone.microjoules?;
            Some((zone.name, Reading::Counter { microjoules, range: zone.range }))
        };
        zones.into_iter().filter_map(of).collect()
    }
}
