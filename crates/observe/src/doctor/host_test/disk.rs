//! The speed of the disk: a file of at most 256 MiB on the file system of the data, never a device.
//! The file loses its name as soon as it is open, so that nothing remains of it even if the program
//! is killed.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::thread::scope;
use std::time::Duration;

use hdrhistogram::Histogram;
use triphammer_core::clock::Clock;
use triphammer_core::recorder::{HIGHEST_US, histogram};
use triphammer_document::doctor::{HostTest, HostTestDisk};
use triphammer_settings::format::bytes;

use super::{Missed, Part, put};
use crate::doctor::host::HostFacts;
use crate::doctor::own::unique_name;

/// Length of the file, in bytes.
const FILE: u64 = 256 << 20;
/// Free space that remains at least, in bytes.
const FREE_MIN: u64 = 1 << 30;
/// Unit of reading and writing in order, in bytes.
const LONG: usize = 1 << 20;
/// Unit of random reads and writes, in bytes: a page of PostgreSQL.
const SHORT: usize = 8192;
/// Memory and places in the file are multiples of this for transfers without the kernel's cache.
const ALIGNED: usize = 4096;
/// Number of reads at once in the second test of random reads.
const READERS: u64 = 16;
/// Maximum times: of writing the file, reading it, and of each test of random access.
const WRITE_TIME: Duration = Duration::from_secs(4);
const READ_TIME: Duration = Duration::from_secs(2);
const RANDOM_TIME: Duration = Duration::from_millis(1500);
const SYNC_TIME: Duration = Duration::from_secs(2);

/// A folder on the file system to test.
pub(super) struct Place {
    folder: PathBuf,
    file_system: String,
}

/// Chooses the folder: the one that the user names, else one on the file system of the data where
/// this user may write, else the current one.
///
/// # Errors
/// When there is none.
pub(super) fn place(host: &HostFacts, named: Option<PathBuf>) -> Result<Place, Missed> {
    let data = host.mount();
    let of = |folder: PathBuf| {
        let folder = folder.canonicalize().ok()?;
        let mount = host.mount_of(&folder)?;
        (data.is_none() || named.is_some() || Some(&mount) == data.as_ref())
            .then(|| Place { file_system: mount.words(), folder })
    };
    if let Some(folder) = &named {
        let missing = || format!("--test-dir {}: no such directory", folder.display());
        return of(folder.clone()).filter(|place| place.folder.is_dir()).ok_or_else(missing);
    }
    let point = data.as_ref().map(|mount| mount.point.clone());
    let folders = [std::env::current_dir().ok(), Some(std::env::temp_dir()), point];
    let places = folders.into_iter().flatten().filter_map(of);
    places.into_iter().find(|place| may_write(&place.folder)).ok_or_else(|| {
        "no directory on the file system of the data is writable here: name one with --test-dir"
            .to_owned()
    })
}

fn may_write(folder: &Path) -> bool {
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_ok()
}

/// Measures the disk.
///
/// # Errors
/// When the file cannot be written or read, or the test is interrupted.
pub(super) fn measure(part: &Part<'_>, place: &Place, test: &mut HostTest) -> Result<(), Missed> {
    let doing = |error: io::Error| format!("{}: {error}", place.folder.display());
    let free = free_bytes(&place.folder).map_err(doing)?;
    if free < FILE + FREE_MIN {
        return Err(format!("{}: only {} are free", place.folder.display(), bytes(free)));
    }
    let (file, direct) = open(&place.folder).map_err(doing)?;
    let length = write(part, &file, test).map_err(doing)?;
    read(part, &file, length, test).map_err(doing)?;
    random(part, &file, length, test).map_err(doing)?;
    sync(part, &file, length, test).map_err(doing)?;
    part.go_on()?;
    test.disk = Some(HostTestDisk {
        folder: place.folder.display().to_string(),
        file_system: place.file_system.clone(),
        file_bytes: length,
        direct,
    });
    Ok(())
}

fn free_bytes(folder: &Path) -> io::Result<u64> {
    let found = rustix::fs::statvfs(folder)?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

/// Creates the file and removes its name; and whether the kernel's cache is passed by, which not every
/// file system allows.
fn open(folder: &Path) -> io::Result<(File, bool)> {
    let path = folder.join(unique_name());
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).mode(0o600);
    let direct = options.custom_flags(direct_flag()).open(&path);
    let opened = match direct {
        Ok(file) => Ok((file, direct_flag() != 0)),
        // Some file systems create the file before they refuse the flag.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
            let _ = std::fs::remove_file(&path);
            options.custom_flags(0).open(&path).map(|file| (file, false))
        }
        Err(error) => return Err(error),
    };
    std::fs::remove_file(&path)?;
    opened
}

/// The flag that passes the kernel's cache by; 0 where there is none.
const fn direct_flag() -> i32 {
    #[cfg(target_os = "linux")]
    let flag = rustix::fs::OFlags::DIRECT.bits().cast_signed();
    #[cfg(not(target_os = "linux"))]
    let flag = 0;
    flag
}

/// Memory whose address is a multiple of [`ALIGNED`].
struct Buffer {
    memory: Vec<u8>,
    from: usize,
    length: usize,
}

impl Buffer {
    fn new(length: usize) -> Self {
        // Random bytes would be fairer to disks that compress; these at least differ from each other.
        let memory: Vec<u8> = (0..length + ALIGNED)
            .map(|at| (at.wrapping_mul(0x9E37_79B9) >> 13).to_le_bytes()[0])
            .collect();
        let from = memory.as_ptr().align_offset(ALIGNED);
        Self { memory, from, length }
    }

    fn bytes(&self) -> &[u8] {
        &self.memory[self.from..self.from + self.length]
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.from..self.from + self.length]
    }
}

/// Whether a measurement goes on: its time is not over, and the user has not interrupted it.
fn goes_on(part: &Part<'_>, clock: &Clock, time: Duration) -> bool {
    clock.now().duration() < time && !part.cancel.is_cancelled()
}

/// Writes the file in order and forces it to the disk; returns its length.
fn write(part: &Part<'_>, file: &File, test: &mut HostTest) -> io::Result<u64> {
    let (buffer, time) = (Buffer::new(LONG), part.within(WRITE_TIME));
    let (clock, mut length) = (Clock::start(), 0);
    while length < FILE && (length == 0 || goes_on(part, &clock, time)) {
        file.write_all_at(buffer.bytes(), length)?;
        length += LONG as u64;
    }
    file.sync_data()?;
    put(test, "disk_write", length as f64 / 1e6 / seconds(&clock));
    Ok(length)
}

fn seconds(clock: &Clock) -> f64 {
    clock.now().duration().as_secs_f64().max(1e-9)
}

fn read(part: &Part<'_>, file: &File, length: u64, test: &mut HostTest) -> io::Result<()> {
    let (mut buffer, time) = (Buffer::new(LONG), part.within(READ_TIME));
    let (clock, mut at) = (Clock::start(), 0);
    while at < length && goes_on(part, &clock, time) {
        file.read_exact_at(buffer.bytes_mut(), at)?;
        at += LONG as u64;
    }
    put(test, "disk_read", at as f64 / 1e6 / seconds(&clock));
    Ok(())
}

/// Random places in the file.
struct Places {
    state: u64,
    count: u64,
}

impl Places {
    fn new(seed: u64, length: u64) -> Self {
        Self { state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1, count: length / SHORT as u64 }
    }

    fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state % self.count.max(1) * SHORT as u64
    }
}

fn random(part: &Part<'_>, file: &File, length: u64, test: &mut HostTest) -> io::Result<()> {
    let reads = |seed| {
        let (mut buffer, mut places) = (Buffer::new(SHORT), Places::new(seed, length));
        let (clock, time, mut done) = (Clock::start(), part.within(RANDOM_TIME), 0.0);
        while goes_on(part, &clock, time) {
            file.read_exact_at(buffer.bytes_mut(), places.next())?;
            done += 1.0;
        }
        Ok::<f64, io::Error>(done / seconds(&clock))
    };
    put(test, "disk_random_read", reads(1)?);
    let all = scope(|scope| {
        let readers: Vec<_> = (0..READERS).map(|n| scope.spawn(move || reads(n + 2))).collect();
        let rates = readers.into_iter().map(|reader| {
            reader.join().unwrap_or_else(|_| Err(io::Error::other("a reader panicked")))
        });
        rates.sum::<io::Result<f64>>()
    });
    put(test, "disk_random_reads", all?);
    let (buffer, mut places) = (Buffer::new(SHORT), Places::new(99, length));
    let (clock, time, mut done) = (Clock::start(), part.within(RANDOM_TIME), 0.0);
    while goes_on(part, &clock, time) {
        file.write_all_at(buffer.bytes(), places.next())?;
        done += 1.0;
    }
    // What is only in a cache of the kernel is not written.
    file.sync_data()?;
    put(test, "disk_random_write", done / seconds(&clock));
    Ok(())
}

/// Measures how long it takes to force one page to the disk, as a commit does.
fn sync(part: &Part<'_>, file: &File, length: u64, test: &mut HostTest) -> io::Result<()> {
    let (buffer, mut places) = (Buffer::new(SHORT), Places::new(7, length));
    let (clock, time) = (Clock::start(), part.within(SYNC_TIME));
    let mut times: Histogram<u64> = histogram();
    while goes_on(part, &clock, time) || times.is_empty() {
        let begun = clock.now();
        file.write_all_at(buffer.bytes(), places.next())?;
        file.sync_data()?;
        let us = clock.now().since(begun) / 1000;
        times.record(us.min(HIGHEST_US)).expect("it grows up to HIGHEST_US");
    }
    put(test, "disk_sync_p50", times.value_at_quantile(0.5) as f64 / 1e3);
    put(test, "disk_sync_p99", times.value_at_quantile(0.99) as f64 / 1e3);
    Ok(())
}
