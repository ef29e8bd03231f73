//! The counters of a host from the text of a Prometheus node exporter.

use triphammer_document::result::CPUS_MAX;

use super::linux::{huge_pages, is_no_disk, uses};
use super::prometheus::{Sample, samples};
use super::snapshot::{Disk, Network, Snapshot};

/// Reads the counters; empty if the text has none of a node exporter.
pub(super) fn parse(text: &str) -> Snapshot {
    let mut now = Snapshot::default();
    let (mut memory, mut pages) = ([None; 4], [None; 2]);
    for sample in samples(text) {
        let Some(name) = sample.name.strip_prefix("node_") else { continue };
        match name {
            "cpu_seconds_total" => cpu(sample, &mut now),
            "cpu_scaling_frequency_hertz" => frequency(sample, &mut now),
            "context_switches_total" => now.switches = Some(sample.value),
            "schedstat_waiting_seconds_total" => {
                now.run_queue.get_or_insert_default().seconds += sample.value;
            }
            "schedstat_timeslices_total" => {
                now.run_queue.get_or_insert_default().count += sample.value;
            }
            "vmstat_pgmajfault" => now.paging[0] = Some(sample.value),
            "vmstat_pswpin" => now.paging[1] = Some(sample.value),
            "vmstat_pswpout" => now.paging[2] = Some(sample.value),
            "procs_running" => now.running = Some(sample.value),
            "procs_blocked" => now.blocked = Some(sample.value),
            "memory_MemAvailable_bytes" => now.available = Some(sample.value),
            "memory_MemTotal_bytes" => memory[0] = Some(sample.value),
            "memory_MemFree_bytes" => memory[1] = Some(sample.value),
            "memory_Buffers_bytes" => memory[2] = Some(sample.value),
            "memory_Cached_bytes" => memory[3] = Some(sample.value),
            "memory_HugePages_Total" => pages[0] = Some(sample.value),
            "memory_HugePages_Free" => pages[1] = Some(sample.value),
            _ if name.starts_with("pressure_") => pressure(name, sample.value, &mut now),
            _ if name.starts_with("disk_") => disk(name, sample, &mut now),
            _ if name.starts_with("network_") => network(name, sample, &mut now),
            _ => {}
        }
    }
    let [total, free, buffers, cached] = memory;
    now.memory = uses(total, free, buffers, cached);
    now.huge_pages = huge_pages(pages[0], pages[1]);
    now.disks.retain(|_, disk| disk.operations.iter().sum::<f64>() > 0.0);
    now.networks.retain(|_, network| network.packets.iter().sum::<f64>() > 0.0);
    now
}

fn cpu(sample: Sample<'_>, now: &mut Snapshot) {
    let place = match sample.label("mode") {
        Some("user") => 0,
        Some("nice") => 1,
        Some("system") => 2,
        Some("idle") => 3,
        Some("iowait") => 4,
        Some("irq") => 5,
        Some("softirq") => 6,
        Some("steal") => 7,
        _ => return,
    };
    if let Some(Ok(number)) = sample.label("cpu").map(str::parse) {
        now.cpus.entry(number).or_default()[place] += sample.value;
    }
}

fn frequency(sample: Sample<'_>, now: &mut Snapshot) {
    let Some(Ok(number)) = sample.label("cpu").map(str::parse) else { return };
    if now.frequencies.len() < CPUS_MAX {
        now.frequencies.insert(number, sample.value);
    }
}

fn pressure(name: &str, seconds: f64, now: &mut Snapshot) {
    let key = match name {
        "pressure_cpu_waiting_seconds_total" => ("cpu", "some"),
        "pressure_io_waiting_seconds_total" => ("io", "some"),
        "pressure_io_stalled_seconds_total" => ("io", "full"),
        "pressure_memory_waiting_seconds_total" => ("memory", "some"),
        "pressure_memory_stalled_seconds_total" => ("memory", "full"),
        _ => return,
    };
    now.pressure.insert(key, seconds);
}

fn disk(name: &str, sample: Sample<'_>, now: &mut Snapshot) {
    // Partitions are not reported by the exporter's default.
    let Some(device) = sample.label("device").filter(|name| !is_no_disk(name)) else { return };
    let field: fn(&mut Disk) -> &mut f64 = match name {
        "disk_reads_completed_total" => |disk| &mut disk.operations[0],
        "disk_writes_completed_total" => |disk| &mut disk.operations[1],
        "disk_read_bytes_total" => |disk| &mut disk.bytes[0],
        "disk_written_bytes_total" => |disk| &mut disk.bytes[1],
        "disk_read_time_seconds_total" => |disk| &mut disk.seconds[0],
        "disk_write_time_seconds_total" => |disk| &mut disk.seconds[1],
        "disk_io_time_seconds_total" => |disk| &mut disk.busy,
        "disk_io_time_weighted_seconds_total" => |disk| &mut disk.weighted,
        _ => return,
    };
    *field(now.disks.entry(device.to_owned()).or_default()) = sample.value;
}

fn network(name: &str, sample: Sample<'_>, now: &mut Snapshot) {
    let Some(device) = sample.label("device") else { return };
    let field: fn(&mut Network) -> &mut f64 = match name {
        "network_receive_bytes_total" => |network| &mut network.bytes[0],
        "network_transmit_bytes_total" => |network| &mut network.bytes[1],
        "network_receive_packets_total" => |network| &mut network.packets[0],
        "network_transmit_packets_total" => |network| &mut network.packets[1],
        "network_receive_errs_total" | "network_receive_drop_total" => {
            |network| &mut network.errors[0]
        }
        "network_transmit_errs_total" | "network_transmit_drop_total" => {
            |network| &mut network.errors[1]
        }
        _ => return,
    };
    *field(now.networks.entry(device.to_owned()).or_default()) += sample.value;
}
