//! The checks of the file system and the disks with the database's data, for a database on this host
//! that says where its data lies.

use triphammer_document::doctor::Goal::{self, Speed};
use triphammer_document::doctor::SetupVerdict::{Fine, Look, Wrong};
use triphammer_settings::format::bytes;

use super::system::is_guest;
use super::{Check, HostFacts, KnobPlace, Reading, check};

/// The checks, in the order of the report.
pub(super) const CHECKS: &[Check<HostFacts>] = &[
    check(
        "data_file_system",
        Goal::BOTH,
        data_file_system,
        "In memory, or without write barriers, commits do not wait for a disk. In a container's \
         own layer or over the network they wait for more than a disk.",
        "move the data to a local file system, mounted without nobarrier",
    )
    .costs(
        "pgbench: 2,392 transactions/s without barriers, 238 with them (ext4 on three SATA disks)",
        OPTIONS_SOURCE,
        OPTIONS_URL,
    ),
    check(
        "data_mount_options",
        Goal::BOTH,
        data_mount_options,
        "With strictatime each read of a file is also a write. With discard the file system tells the \
         disk of each block that it frees, and commits wait for that; sync and data=journal write \
         more than the database asks for.",
        "mount -o remount,noatime,nodiscard, and fstrim between runs",
    )
    .costs(
        "none by atime: 235 transactions/s with noatime and with strictatime; discard not measured",
        OPTIONS_SOURCE,
        OPTIONS_URL,
    ),
    check(
        "data_disk_sectors",
        &[Speed],
        data_disk_sectors,
        "A partition that does not begin at a multiple of the physical sectors makes the disk read \
         before it writes; one between the stripes of an array makes two disks work for one page.",
        "recreate the partition with fdisk or parted, which begin at 1 MiB",
    )
    .costs(
        "every second page of 16 KB needs two disks instead of one, with stripes of 32 KB",
        "Percona, Aligning IO on a hard disk RAID: the theory (2011)",
        "https://www.percona.com/blog/2011/06/09/aligning-io-on-a-hard-disk-raid-the-theory/",
    ),
    check(
        "data_raid",
        Goal::BOTH,
        data_raid,
        "For each small write, levels 4 and 5 read two blocks and write two, level 6 three and three; \
         level 10 only writes two. A degraded array, or one that synchronizes, is slower. Arrays of a \
         controller are not seen here.",
        "an array of level 10 or 1; mdadm --detail shows its state",
    ),
    check(
        "data_disk_scheduler",
        Goal::BOTH,
        data_disk_scheduler,
        "bfq shares a disk fairly between programs at the cost of its speed; a rotating disk makes \
         about 100 commits per second.",
        "echo none > /sys/block/DISK/queue/scheduler",
    )
    .costs(
        "eight copies of SQLite on NVMe: none is fastest, bfq much slower (in a chart, no number)",
        "Phoronix, Linux 5.6 I/O scheduler benchmarks (2020)",
        "https://www.phoronix.com/review/linux-56-nvme/2",
    )
    .set_in("none", Some("mq-deadline"), &[KnobPlace::of("DISK/scheduler")]),
    check(
        "data_disk_write_cache",
        Goal::BOTH,
        data_disk_write_cache,
        "With write back, a commit flushes the disk's cache. With write through the kernel sends \
         no flush: right only if the disk has no volatile cache, or a protected one.",
        "echo 'write back' > /sys/block/DISK/queue/write_cache",
    ),
];

const OPTIONS_SOURCE: &str = "dryft.net, Effects of file systems and mount options (2011)";
const OPTIONS_URL: &str = "http://blog.dryft.net/2011/04/effects-of-filesystems-and-mount.html";

fn data_file_system(host: &HostFacts) -> Option<Reading> {
    let mount = host.mount()?;
    let unsafe_option = mount.options.iter().find(|o| *o == "nobarrier" || *o == "barrier=0");
    let verdict = match (mount.kind.as_str(), unsafe_option) {
        ("tmpfs" | "ramfs", _) | (_, Some(_)) => Wrong,
        (kind, _) if kind.starts_with("nfs") || kind.starts_with("fuse") => Look,
        ("overlay" | "cifs" | "9p" | "aufs", _) => Look,
        _ => Fine,
    };
    let option = unsafe_option.map(|option| format!(", {option}")).unwrap_or_default();
    Some(Reading::of(verdict, format!("{}{option} on {}", mount.kind, mount.point.display())))
}

/// Options that cost speed, as the kernel writes them. `discard=async` of btrfs waits for nothing.
const SLOW_OPTIONS: [&str; 6] =
    ["discard", "discard=sync", "sync", "dirsync", "data=journal", "wsync"];

fn data_mount_options(host: &HostFacts) -> Option<Reading> {
    let mount = host.mount()?;
    let has = |name: &str| mount.options.iter().any(|option| option == name);
    let atime = ["noatime", "relatime"].into_iter().find(|name| has(name));
    let slow = SLOW_OPTIONS.into_iter().filter(|name| has(name));
    let slow: Vec<&str> = slow.collect();
    let is_fine = atime.is_some() && slow.is_empty();
    let value = [vec![atime.unwrap_or("strictatime")], slow].concat().join(", ");
    Some(Reading::look_unless(is_fine, value))
}

fn data_disk_sectors(host: &HostFacts) -> Option<Reading> {
    let files = &host.files;
    let disks = host.mount()?.disks(files);
    let sectors: Vec<_> = disks.iter().filter_map(|disk| disk.sectors(files)).collect();
    let is_fine = sectors.iter().all(|sectors| sectors.is_aligned());
    let mut words: Vec<String> = sectors.iter().map(|sectors| sectors.words()).collect();
    words.sort_unstable();
    words.dedup();
    (!words.is_empty()).then(|| Reading::look_unless(is_fine, words.join("; ")))
}

fn data_raid(host: &HostFacts) -> Option<Reading> {
    let mount = host.mount()?;
    let arrays = mount.arrays(&host.files);
    if arrays.is_empty() {
        return (!mount.disks(&host.files).is_empty())
            .then(|| Reading::of(Fine, "none of the kernel's"));
    }
    let is_fine = arrays.iter().all(|array| array.is_fast() && array.is_whole());
    let stripe = mount.stripe_bytes();
    let fits = |chunk: u64| stripe.is_none_or(|stripe| chunk == 0 || stripe == chunk);
    let is_fitting = arrays.iter().all(|array| fits(array.chunk_bytes));
    let mut words: Vec<String> = arrays.iter().map(|array| array.words()).collect();
    words.extend(stripe.map(|stripe| format!("XFS writes stripes of {}", bytes(stripe))));
    let reading = Reading::look_unless(is_fine && is_fitting, words.join("; "));
    // A whole array of a slow level is as slow in every run.
    let is_slow_only = arrays.iter().all(|array| array.is_whole());
    Some(Reading { goal: is_slow_only.then_some(Speed), ..reading })
}

fn data_disk_scheduler(host: &HostFacts) -> Option<Reading> {
    let disks = host.mount()?.disks(&host.files);
    let disk = disks.first()?;
    let text = disk.queue(&host.files, "scheduler")?;
    let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    let chosen = chosen.map_or(text.as_str(), |(chosen, _)| chosen);
    // Virtual disks often claim to rotate.
    let rotates = disk.queue(&host.files, "rotational").as_deref() == Some("1")
        && is_guest(&host.files) != Some(true);
    let is_fine = !rotates && !matches!(chosen, "bfq" | "cfq");
    let words = if rotates { ", rotating disk" } else { "" };
    Some(Reading::look_unless(is_fine, format!("{chosen}{words}")))
}

fn data_disk_write_cache(host: &HostFacts) -> Option<Reading> {
    let disks = host.mount()?.disks(&host.files);
    let cache = disks.first()?.queue(&host.files, "write_cache")?;
    Some(Reading::look_unless(cache == "write back", cache))
}
