//! Core maps of the values of single CPUs, by host.

use std::collections::BTreeMap;
use std::sync::Arc;

use triphammer_document::result::{CoreMap, CoreMapper, CpuPlace, CpuSecond};

use crate::window::{Bounds, Measured, OfWindow};

/// The label of one of several CPUs. Figures with it are stored; the document has maps of them, and
/// the figures of all CPUs together.
pub const CPU_NUMBER: &str = "cpu.logical_number";
/// The label of a host that is not this one.
pub const HOST: &str = "host.name";
/// The label of the modes of a CPU.
pub const MODE: &str = "cpu.mode";
/// Name of the metric of the time of CPUs.
pub const UTILIZATION: &str = "system.cpu.utilization";
/// Name of the metric of the frequency of CPUs.
pub const FREQUENCY: &str = "system.cpu.frequency";
/// Name of the metric of the server's tasks by CPU.
pub const SERVER_TASKS: &str = "system.linux.cpu.server_tasks";

/// What the CPUs of a host did in a second, by their numbers.
type Cpus = BTreeMap<u32, CpuSecond>;

/// The core maps of the timed window.
#[derive(Debug)]
pub struct CoreMaps {
    window: OfWindow<(u64, Option<String>, Cpus)>,
    mappers: BTreeMap<Option<String>, CoreMapper>,
}

impl CoreMaps {
    /// Maps without a second.
    pub fn new(bounds: Arc<Bounds>) -> Self {
        Self { window: OfWindow::new(bounds), mappers: BTreeMap::new() }
    }

    /// Takes the values of a second, of which those of single CPUs count.
    pub fn put(&mut self, second: u64, values: &Measured) {
        let Self { window, mappers } = self;
        for (host, cpus) in of_hosts(values) {
            window.put(second, (second, host, cpus), |of| map(mappers, of));
        }
    }

    /// The maps, with the places of the CPUs of this host.
    pub fn finish(&mut self, places: &BTreeMap<u32, CpuPlace>) -> Vec<CoreMap> {
        let Self { window, mappers } = self;
        window.finish(|of| map(mappers, of));
        let unknown = BTreeMap::new();
        let maps = std::mem::take(mappers).into_iter().filter_map(|(host, mapper)| {
            let places = if host.is_none() { places } else { &unknown };
            mapper.finish(host, places)
        });
        maps.collect()
    }
}

fn map(
    mappers: &mut BTreeMap<Option<String>, CoreMapper>,
    (second, host, cpus): (u64, Option<String>, Cpus),
) {
    mappers.entry(host).or_default().take(second, cpus);
}

/// The figures of single CPUs, by host. The first reading of a host has no times yet.
fn of_hosts(values: &Measured) -> BTreeMap<Option<String>, Cpus> {
    let mut hosts: BTreeMap<Option<String>, (bool, Cpus)> = BTreeMap::new();
    for (series, value) in values {
        let Some(Ok(number)) = series.labels.get(CPU_NUMBER).map(|number| number.parse()) else {
            continue;
        };
        let (has_times, cpus) = hosts.entry(series.labels.get(HOST).cloned()).or_default();
        let cpu: &mut CpuSecond = cpus.entry(number).or_default();
        let metric = series.metric.as_str();
        if metric == FREQUENCY {
            cpu.hz = Some(*value);
        } else if metric == SERVER_TASKS {
            cpu.server_tasks = Some(*value);
        } else if metric == UTILIZATION {
            *has_times = true;
            match series.labels.get(MODE).map(String::as_str) {
                Some("idle" | "iowait") | None => continue,
                Some("interrupt") => cpu.hard = *value,
                Some("softirq") => cpu.soft = *value,
                Some(_) => {}
            }
            cpu.busy += value;
        }
    }
    let with_times = hosts.into_iter().filter(|(_, (has_times, _))| *has_times);
    with_times.map(|(host, (_, cpus))| (host, cpus)).collect()
}
