//! How the CPUs and the memory of this host are arranged, from `/sys`. Many virtual machines and containers show a part.

use std::collections::{BTreeMap, BTreeSet};

use triphammer_document::host::{CpuCache, MemoryNode, Topology};
use triphammer_document::result::CpuPlace;
use triphammer_settings::files::Files;

/// Folder of the CPUs.
const CPU: &str = "sys/devices/system/cpu";
/// Folder of the memory nodes.
const NODE: &str = "sys/devices/system/node";

/// The places of the online CPUs, by their numbers; empty where the system does not say.
#[must_use]
pub fn places(files: &Files) -> BTreeMap<u32, CpuPlace> {
    let nodes = nodes_of_cpus(files);
    let place = |cpu: u32| {
        let of = |name: &str| {
            let number = files.number(&format!("{CPU}/cpu{cpu}/topology/{name}"))?;
            u32::try_from(number).ok()
        };
        let node = nodes.get(&cpu).copied();
        // A CPU that is offline has no topology.
        let core = of("core_id")?;
        Some((cpu, CpuPlace { package: of("physical_package_id"), node, core: Some(core) }))
    };
    files.numbered(CPU, "cpu").into_iter().filter_map(place).collect()
}

fn nodes_of_cpus(files: &Files) -> BTreeMap<u32, u32> {
    let of_node = |node: u32| {
        let list = files.text(&format!("{NODE}/node{node}/cpulist")).unwrap_or_default();
        listed(&list).into_iter().map(move |cpu| (cpu, node))
    };
    files.numbered(NODE, "node").into_iter().flat_map(of_node).collect()
}

/// The arrangement; `None` where the system does not show its CPUs.
#[must_use]
pub fn topology(files: &Files) -> Option<Topology> {
    let places = places(files);
    if places.is_empty() {
        return None;
    }
    let packages: BTreeSet<_> = places.values().map(|place| place.package).collect();
    let cores: BTreeSet<_> = places.values().map(|place| (place.package, place.core)).collect();
    Some(Topology {
        packages: count(packages.len()),
        cores: count(cores.len()),
        threads: count(places.len()),
        caches: caches(files, places.keys().copied()),
        nodes: nodes(files),
    })
}

fn count(of: usize) -> u32 {
    u32::try_from(of).unwrap_or(u32::MAX)
}

/// Counts the caches of each kind: those of several CPUs are one if the same CPUs share them.
fn caches(files: &Files, cpus: impl Iterator<Item = u32>) -> Vec<CpuCache> {
    let mut found: BTreeMap<(u32, String, u64), BTreeSet<Vec<u32>>> = BTreeMap::new();
    for cpu in cpus {
        let folder = format!("{CPU}/cpu{cpu}/cache");
        for index in files.numbered(&folder, "index") {
            let text = |name: &str| files.text(&format!("{folder}/index{index}/{name}"));
            let level = text("level").and_then(|level| level.parse().ok());
            let bytes = text("size").and_then(|size| cache_bytes(&size));
            let (Some(level), Some(bytes), Some(kind)) = (level, bytes, text("type")) else {
                continue;
            };
            let shared = text("shared_cpu_list").map_or_else(|| vec![cpu], |list| listed(&list));
            found.entry((level, kind.to_lowercase(), bytes)).or_default().insert(shared);
        }
    }
    let cache = |((level, kind, bytes), sets): (_, BTreeSet<Vec<u32>>)| CpuCache {
        level,
        kind,
        bytes,
        count: count(sets.len()),
        shared_by: sets.iter().map(|set| count(set.len())).max().unwrap_or(1),
    };
    found.into_iter().map(cache).collect()
}

/// Reads `32K` or `1M`.
fn cache_bytes(size: &str) -> Option<u64> {
    let (number, unit) = match size.strip_suffix('K') {
        Some(number) => (number, 1024),
        None => (size.strip_suffix('M')?, 1024 * 1024),
    };
    number.parse::<u64>().ok()?.checked_mul(unit)
}

fn nodes(files: &Files) -> Vec<MemoryNode> {
    let mut numbers = files.numbered(NODE, "node");
    numbers.sort_unstable();
    let node = |number: u32| {
        let folder = format!("{NODE}/node{number}");
        let numbers =
            |text: String| text.split_whitespace().map_while(|word| word.parse().ok()).collect();
        MemoryNode {
            number,
            cpus: files.text(&format!("{folder}/cpulist")).unwrap_or_default(),
            memory_bytes: memory_of(files, &folder),
            huge_pages_bytes: huge_pages(files, &folder),
            distances: files.text(&format!("{folder}/distance")).map(numbers).unwrap_or_default(),
        }
    };
    numbers.into_iter().map(node).collect()
}

/// Reads `Node 0 MemTotal:  32768 kB`.
fn memory_of(files: &Files, folder: &str) -> Option<u64> {
    let text = files.text(&format!("{folder}/meminfo"))?;
    let value = text.lines().find_map(|line| Some(line.split_once("MemTotal:")?.1))?;
    value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Bytes of the reserved huge pages of all sizes.
fn huge_pages(files: &Files, folder: &str) -> u64 {
    let folder = format!("{folder}/hugepages");
    let sizes = files.names(&folder).into_iter().filter_map(|name| {
        let kib: u64 = name.strip_prefix("hugepages-")?.strip_suffix("kB")?.parse().ok()?;
        let pages = files.number(&format!("{folder}/{name}/nr_hugepages"))?;
        kib.checked_mul(1024)?.checked_mul(pages)
    });
    sizes.sum()
}

/// Numbers in the form of Linux: `0-3,8`. A list that is no list has none.
fn listed(list: &str) -> Vec<u32> {
    /// Maximum number of CPUs of Linux.
    const MOST: u32 = 8192;
    let range = |part: &str| {
        let (first, last) = part.trim().split_once('-').unwrap_or((part.trim(), part.trim()));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        (last < MOST).then_some(first..=last)
    };
    list.split(',').filter_map(range).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two packages with two cores of two threads each; the second has huge pages.
    fn two_sockets() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: String, text: String| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        for cpu in 0..8_u32 {
            let (package, core) = (cpu / 2 % 2, cpu % 2);
            let of = format!("{CPU}/cpu{cpu}");
            write(format!("{of}/topology/physical_package_id"), format!("{package}\n"));
            write(format!("{of}/topology/core_id"), format!("{core}\n"));
            let first = cpu % 4;
            let package_cpus = format!(
                "{0}-{1},{2}-{3}",
                2 * package,
                2 * package + 1,
                2 * package + 4,
                2 * package + 5
            );
            for (index, level, kind, size, shared) in [
                (0, 1, "Data", "32K", format!("{first},{}", first + 4)),
                (1, 3, "Unified", "16M", package_cpus),
            ] {
                let cache = format!("{of}/cache/index{index}");
                write(format!("{cache}/level"), format!("{level}\n"));
                write(format!("{cache}/type"), format!("{kind}\n"));
                write(format!("{cache}/size"), format!("{size}\n"));
                write(format!("{cache}/shared_cpu_list"), format!("{shared}\n"));
            }
        }
        // Offline: it has no topology.
        write(format!("{CPU}/cpu8/online"), "0\n".into());
        for (node, cpus, pages) in [(0, "0-1,4-5", 0), (1, "2-3,6-7", 512)] {
            let of = format!("{NODE}/node{node}");
            write(format!("{of}/cpulist"), format!("{cpus}\n"));
            write(format!("{of}/meminfo"), format!("Node {node} MemTotal:       33554432 kB\n"));
            let distance = if node == 0 { "10 21" } else { "21 10" };
            write(format!("{of}/distance"), format!("{distance}\n"));
            write(format!("{of}/hugepages/hugepages-2048kB/nr_hugepages"), format!("{pages}\n"));
        }
        folder
    }

    #[test]
    fn a_host_with_two_packages_is_described() {
        let folder = two_sockets();
        let files = Files::under(folder.path());
        let found = topology(&files).unwrap();
        assert_eq!(found.words(), "2 packages, 4 cores, 8 threads, 2 memory nodes");
        assert_eq!(found.cache_words(), "L1 data 32.0 KiB × 4, L3 16.0 MiB × 2");
        assert_eq!((found.caches[0].shared_by, found.caches[1].shared_by), (2, 4));
        let nodes = found.node_words();
        assert_eq!(nodes[0], "node 0: CPUs 0-1,4-5, 32.0 GiB, distances 10 21");
        assert_eq!(nodes[1], "node 1: CPUs 2-3,6-7, 32.0 GiB, huge pages 1.0 GiB, distances 21 10");
        let places = places(&files);
        let expected = CpuPlace { package: Some(1), node: Some(1), core: Some(0) };
        assert_eq!((places.len(), places[&6]), (8, expected));
    }

    #[test]
    fn a_host_that_shows_nothing_or_nonsense_has_no_topology() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(topology(&Files::under(folder.path())), None);
        assert_eq!(listed("0-3,8"), [0, 1, 2, 3, 8]);
        assert_eq!(listed("x,5-,0-4000000000,"), Vec::<u32>::new(), "no list");
    }
}
