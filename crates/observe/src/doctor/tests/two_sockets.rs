//! A server with two packages of two cores, whose packages are not set alike, with the data on an
//! array of four disks.

use super::*;

const CPU: &str = "sys/devices/system/cpu";

/// The files of the host: the first package is set for speed, the second one as it came.
fn files() -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut put = |path: String, text: &str| files.push((path, format!("{text}\n")));
    for cpu in 0..8 {
        let package = cpu / 2 % 2;
        let of = |file: &str| format!("{CPU}/cpu{cpu}/{file}");
        put(of("topology/physical_package_id"), &package.to_string());
        put(of("topology/core_id"), &(cpu % 2).to_string());
        put(of("cpufreq/scaling_driver"), "intel_pstate");
        let governor = ["performance", "powersave"][package];
        put(of("cpufreq/scaling_governor"), governor);
        let preference = ["performance", "balance_performance"][package];
        put(of("cpufreq/energy_performance_preference"), preference);
        put(of("cpufreq/cpuinfo_max_freq"), "3900000");
        put(of("cpufreq/scaling_max_freq"), ["3900000", "2700000"][package]);
        put(of("power/energy_perf_bias"), ["0", "6"][package]);
        for (state, (name, latency)) in
            [("POLL", "0"), ("C1", "2"), ("C1E", "10"), ("C6", "133")].iter().enumerate()
        {
            put(of(&format!("cpuidle/state{state}/name")), name);
            put(of(&format!("cpuidle/state{state}/latency")), latency);
            let is_disabled = package == 0 && *name == "C6";
            put(of(&format!("cpuidle/state{state}/disable")), if is_disabled { "1" } else { "0" });
        }
    }
    put(format!("{CPU}/intel_pstate/status"), "active");
    put(format!("{CPU}/intel_pstate/no_turbo"), "0");
    put(format!("{CPU}/cpuidle/current_driver"), "intel_idle");
    put(format!("{CPU}/cpuidle/current_governor"), "menu");
    put(format!("{CPU}/smt/active"), "1");
    for (node, cpus) in [(0, "0-1,4-5"), (1, "2-3,6-7")] {
        put(format!("sys/devices/system/node/node{node}/cpulist"), cpus);
    }
    put("proc/sys/kernel/numa_balancing".into(), "1");
    put("proc/self/mountinfo".into(), MOUNTS);
    array(&mut put);
    files
}

/// XFS on an array; `sunit` counts blocks of 512 bytes.
const MOUNTS: &str = "1 0 9:0 / / rw - ext4 /dev/sda1 rw\n\
     2 1 9:127 / /data rw,noatime - xfs /dev/md127 rw,attr2,sunit=1024,swidth=2048,noquota";

/// An array of level 10 on the first partitions of four disks.
fn array(put: &mut impl FnMut(String, &str)) {
    let md = "sys/dev/block/9:127";
    for (file, text) in [
        ("md/level", "raid10"),
        ("md/raid_disks", "4"),
        ("md/chunk_size", "524288"),
        ("md/degraded", "0"),
        ("md/sync_action", "idle"),
    ] {
        put(format!("{md}/{file}"), text);
    }
    for disk in 0..4 {
        // The disk's folder has the partition's beside its queue.
        let partition = format!("{md}/slaves/nvme{disk}n1p1");
        put(format!("{partition}/start"), "2048");
        put(format!("{partition}/alignment_offset"), "0");
        for (file, text) in [
            ("scheduler", "[none] mq-deadline bfq"),
            ("rotational", "0"),
            ("write_cache", "write back"),
            ("logical_block_size", "512"),
            ("physical_block_size", "4096"),
            ("optimal_io_size", "0"),
        ] {
            put(format!("{partition}/queue/{file}"), text);
        }
    }
}

/// The host with some files replaced.
fn with(changes: &[(&str, &str)]) -> DoctorResult {
    let mut files = files();
    for (path, text) in changes {
        let known = files.iter_mut().find(|(known, _)| known == path);
        known.unwrap_or_else(|| panic!("no file {path}")).1 = format!("{text}\n");
    }
    let folder = written(&files);
    examined(folder.path(), None)
}

#[test]
fn packages_that_are_not_set_alike_show_the_worse_one() {
    use SetupVerdict::{Fine, Look};
    let result = with(&[]);
    for (name, verdict, value) in [
        ("scaling_driver", Fine, "intel_pstate, active"),
        // Its powersave follows the load; how eagerly, the next lines say.
        ("governor", Fine, "performance, powersave"),
        ("frequency_limit", Look, "2.70 of 3.90 GHz"),
        ("energy_preference", Look, "balance_performance, performance"),
        ("energy_bias", Look, "6, normal"),
        ("turbo", Look, "on"),
        ("idle_driver", Fine, "intel_idle, menu: POLL 0, C1 2, C1E 10, C6 133 µs"),
        // Only one package may not sleep deeply.
        ("c_states", Look, "down to C6, 133 µs"),
        ("smt", Fine, "on"),
        ("numa", Look, "2 nodes, automatic balancing"),
        ("data_file_system", Fine, "xfs on /data"),
        ("data_mount_options", Fine, "noatime"),
        ("data_disk_sectors", Fine, "512 B logical, 4.0 KiB physical, partition at 1.0 MiB"),
        ("data_raid", Fine, "raid10 of 4 disks, chunks of 512 KiB; XFS writes stripes of 512 KiB"),
        ("data_disk_scheduler", Fine, "none"),
        ("data_disk_write_cache", Fine, "write back"),
    ] {
        assert_eq!(found(&result, name), (verdict, value), "{name}");
    }
}

#[test]
fn arrays_and_partitions_that_cost_speed_are_to_look_at() {
    let raid = |changes: &[(&str, &str)]| {
        let result = with(changes);
        let line = result.lines.into_iter().find(|line| line.name == "data_raid").unwrap();
        (line.verdict, line.goals.len(), line.value)
    };
    let md = |file: &str| format!("sys/dev/block/9:127/md/{file}");
    let look = SetupVerdict::Look;
    let stripes = "; XFS writes stripes of 512 KiB";
    let five = raid(&[(&md("level"), "raid5")]);
    assert_eq!(five, (look, 1, format!("raid5 of 4 disks, chunks of 512 KiB{stripes}")));
    let lost = raid(&[(&md("degraded"), "1"), (&md("sync_action"), "recover")]);
    let words = "raid10 of 4 disks, chunks of 512 KiB, 1 disk missing, recover runs";
    assert_eq!(lost, (look, 2, format!("{words}{stripes}")));
    let other = raid(&[(&md("chunk_size"), "65536")]);
    assert_eq!(other.0, look, "the file system writes other stripes: {}", other.2);
    // One of four partitions begins where old versions of fdisk put it.
    let start = "sys/dev/block/9:127/slaves/nvme2n1p1/start";
    let result = with(&[(start, "63")]);
    let (verdict, value) = found(&result, "data_disk_sectors");
    assert_eq!(verdict, look);
    assert!(
        value.ends_with("; 512 B logical, 4.0 KiB physical, partition at byte 32256, not aligned")
    );
}
