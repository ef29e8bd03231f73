//! The checks of the memory: nodes, huge pages, swap.

use triphammer_document::doctor::Goal::{self, Speed};
use triphammer_document::doctor::SetupVerdict::Fine;
use triphammer_settings::files::Files;
use triphammer_settings::format::bytes;

use super::{Check, GIB, HostFacts, KnobPlace, Reading, check};
use crate::host_metrics::memory_of;

/// The checks, in the order of the report.
pub(super) const CHECKS: &[Check<HostFacts>] = &[
    check(
        "numa",
        Goal::BOTH,
        numa,
        "Memory of another node is slower, and automatic balancing moves pages during the run.",
        "sysctl -w kernel.numa_balancing=0, and start the server with numactl --interleave=all",
    )
    .costs(
        "4.5 % of NOPM with all memory on the other node (PostgreSQL in a VM, HammerDB)",
        "n0derunner, Notes on tuning Postgres for memory benchmarks",
        "https://www.n0derunner.com/notes-on-tuning-postgres-for-memory-benchmarks",
    )
    .set_in(
        "off",
        Some("on"),
        &[KnobPlace::named("proc/sys/kernel/numa_balancing", &[("off", "0"), ("on", "1")])],
    ),
    check(
        "transparent_huge_pages",
        &[Goal::Comparable],
        transparent_huge_pages,
        "With always, the kernel assembles huge pages at any time, and processes wait for it.",
        "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
    )
    .set_in(
        "madvise",
        Some("always"),
        &[KnobPlace::of("sys/kernel/mm/transparent_hugepage/enabled")],
    ),
    check(
        "huge_pages",
        &[Speed],
        huge_pages,
        "Reserved huge pages that no server uses are lost memory; large buffers without them cost \
         CPU time.",
        "sysctl -w vm.nr_hugepages=N",
    )
    .costs(HUGE_PAGES_FIGURE, HUGE_PAGES_SOURCE, HUGE_PAGES_URL)
    .momentary(),
    check(
        "swappiness",
        Goal::BOTH,
        swappiness,
        "The kernel may swap out the server's memory to keep more files cached.",
        "sysctl -w vm.swappiness=1",
    )
    .costs(SWAP_FIGURE, SWAP_SOURCE, SWAP_URL)
    .set_in("1", Some("60"), &[KnobPlace::of("proc/sys/vm/swappiness")]),
    check(
        "dirty_pages",
        Goal::BOTH,
        dirty_pages,
        "Only beyond this much changed memory does the kernel begin to write files in the background. \
         Much of it is then written at once, and commits wait behind it.",
        "sysctl -w vm.dirty_background_ratio=1, or vm.dirty_background_bytes=268435456",
    )
    .set_in(
        "1",
        Some("10"),
        &[KnobPlace::of("proc/sys/vm/dirty_background_ratio").only(counts_by_ratio)],
    ),
    check(
        "memory_available",
        Goal::BOTH,
        memory_available,
        "Without free memory the kernel swaps, or kills the server or this program.",
        "stop other programs, or give the server less memory",
    )
    .costs(SWAP_FIGURE, SWAP_SOURCE, SWAP_URL)
    .momentary(),
];

const HUGE_PAGES_FIGURE: &str =
    "3.7 % of NOPM without them (PostgreSQL in a VM, 32 GB of data, HammerDB)";
const HUGE_PAGES_SOURCE: &str = "n0derunner, Notes on tuning Postgres for memory benchmarks";
const HUGE_PAGES_URL: &str =
    "https://www.n0derunner.com/notes-on-tuning-postgres-for-memory-benchmarks";
const SWAP_FIGURE: &str = "20,000 instead of 44,000 queries per second while a buffer pool as large as the memory swapped";
const SWAP_SOURCE: &str = "Percona, The impact of swapping on MySQL performance (2017)";
const SWAP_URL: &str =
    "https://www.percona.com/blog/2017/01/13/impact-of-swapping-on-mysql-performance/";

/// The checks of the server's processes, for a server on this host that says which they are.
pub(super) const SERVER_CHECKS: &[Check<HostFacts>] = &[check(
    "server_huge_pages",
    &[Speed],
    server_huge_pages,
    "What the server's processes in fact have in huge pages. Large buffers in pages of 4 KB cost CPU \
     time for address translation.",
    "reserve them (sysctl -w vm.nr_hugepages=N), set huge_pages or large-pages, and restart the \
     server",
)
.costs(HUGE_PAGES_FIGURE, HUGE_PAGES_SOURCE, HUGE_PAGES_URL)
.momentary()];

fn numa(host: &HostFacts) -> Option<Reading> {
    let nodes = host.files.numbered("sys/devices/system/node", "node").len();
    let balances = host.files.number("proc/sys/kernel/numa_balancing").is_some_and(|on| on != 0);
    match nodes {
        0 => None,
        1 => Some(Reading::of(Fine, "1 node")),
        _ => {
            let balancing = if balances { "automatic balancing" } else { "no automatic balancing" };
            Some(Reading::look_unless(!balances, format!("{nodes} nodes, {balancing}")))
        }
    }
}

fn transparent_huge_pages(host: &HostFacts) -> Option<Reading> {
    let text = host.files.text("sys/kernel/mm/transparent_hugepage/enabled")?;
    let chosen = text.split_once('[')?.1.split_once(']')?.0;
    Some(Reading::look_unless(chosen != "always", chosen))
}

fn huge_pages(host: &HostFacts) -> Option<Reading> {
    let total = host.files.memory("HugePages_Total")?;
    let free = host.files.memory("HugePages_Free")?;
    let size = host.files.memory("Hugepagesize")?;
    if total == 0 {
        return Some(Reading::of(Fine, "none reserved"));
    }
    let gib = |pages: u64| pages.saturating_mul(size) as f64 / GIB as f64;
    let value = format!("{:.1} GiB reserved, {:.1} GiB free", gib(total), gib(free));
    Some(Reading::look_unless(free < total, value))
}

/// Memory of a server from which on huge pages matter, in bytes.
const LARGE_MEMORY: u64 = 8 * GIB;

fn server_huge_pages(host: &HostFacts) -> Option<Reading> {
    let memory = memory_of(&host.files, host.server.as_ref()?)?;
    let gib = |size: f64| size / GIB as f64;
    if memory.huge > 0.0 {
        return Some(Reading::of(Fine, format!("{:.1} GiB", gib(memory.huge))));
    }
    let value = format!("none, and {:.1} GiB in other pages", gib(memory.resident));
    Some(Reading::look_unless(memory.resident < LARGE_MEMORY as f64, value))
}

fn swappiness(host: &HostFacts) -> Option<Reading> {
    let swappiness = host.files.number("proc/sys/vm/swappiness")?;
    let swap = host.files.memory("SwapTotal")?;
    if swap == 0 {
        return Some(Reading::of(Fine, format!("{swappiness}, no swap")));
    }
    Some(Reading::look_unless(swappiness <= 10, swappiness.to_string()))
}

/// Changed memory that is written at once without harm, in bytes.
const DIRTY_MAX: u64 = GIB;
/// The limit in bytes; 0 if that in per cent counts.
const DIRTY_BYTES: &str = "proc/sys/vm/dirty_background_bytes";

/// Whether the limit is the one in per cent: writing to it makes that in bytes 0.
fn counts_by_ratio(files: &Files, _: &str) -> bool {
    files.number(DIRTY_BYTES).unwrap_or(0) == 0
}

fn dirty_pages(host: &HostFacts) -> Option<Reading> {
    let files = &host.files;
    let (limit, words) = match files.number(DIRTY_BYTES).filter(|bytes| *bytes > 0) {
        Some(limit) => (limit, String::new()),
        None => {
            let ratio = files.number("proc/sys/vm/dirty_background_ratio")?;
            let limit = files.memory("MemAvailable")? / 100 * ratio.min(100);
            (limit, format!(", {ratio} % of the memory"))
        }
    };
    let value = format!("from {}{words}", bytes(limit));
    Some(Reading::look_unless(limit <= DIRTY_MAX, value))
}

fn memory_available(host: &HostFacts) -> Option<Reading> {
    let total = host.files.memory("MemTotal").filter(|total| *total > 0)?;
    let available = host.files.memory("MemAvailable")?;
    let share = available as f64 / total as f64;
    let gib = |size: u64| size as f64 / GIB as f64;
    let value = format!("{:.1} of {:.1} GiB", gib(available), gib(total));
    Some(Reading::look_unless(share >= 0.1, value))
}
