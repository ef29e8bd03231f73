//! The map of the CPUs of the simulated job: two packages of 32, of which one CPU is saturated.

use std::collections::BTreeMap;

use triphammer_core::Rng;
use triphammer_document::result::{CoreMap, CoreMapper, CpuPlace, CpuSecond};

/// Number of CPUs.
const CPUS: u32 = 64;
/// Number of CPUs of a package.
const PACKAGE: u32 = 32;
/// The CPU that is saturated.
const SATURATED: u32 = 17;

/// The map of the window from one second to another.
pub fn of(from: u64, until: u64) -> Option<CoreMap> {
    let mut rng = Rng::of(3, &[]);
    let mut mapper = CoreMapper::default();
    for second in from..until {
        let mut of = |cpu: u32| {
            let wave = (second % 3_600).abs_diff(1_800) as f64 / 1_800.0;
            let busy = if cpu == SATURATED { 1.0 } else { 0.2 + 0.3 * wave * rng.unit() };
            let soft = 0.02 * rng.unit() + if cpu.is_multiple_of(PACKAGE) { 0.1 } else { 0.0 };
            let hz = Some(2.4e9 + 1e9 * rng.unit());
            let server_tasks = Some((4.0 * rng.unit()).floor());
            CpuSecond { busy, hard: soft / 10.0, soft, hz, server_tasks }
        };
        mapper.take(second, (0..CPUS).map(|cpu| (cpu, of(cpu))));
    }
    let place = |cpu: u32| {
        let package = Some(cpu / PACKAGE);
        (cpu, CpuPlace { package, node: package, core: Some(cpu % PACKAGE) })
    };
    let places: BTreeMap<u32, CpuPlace> = (0..CPUS).map(place).collect();
    mapper.finish(None, &places)
}
