//! The speed of the memory: the triad of STREAM with one thread per CPU, and reads that wait for each
//! other.

use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::scope;
use std::time::Duration;

use triphammer_core::clock::Clock;
use triphammer_document::doctor::HostTest;
use triphammer_document::host::Host;

use super::{Missed, Part, put};

/// Time of the repetitions of the triad, and of the chase.
const TIME: Duration = Duration::from_millis(1500);
/// How much larger than the caches an array should be, as STREAM asks.
const CACHES: u64 = 4;
/// Shortest and longest array of the triad, all threads together, in bytes.
const ARRAY_MIN: u64 = 64 << 20;
const ARRAY_MAX: u64 = 512 << 20;
/// Longest cycle of the chase, in bytes.
const CYCLE_MAX: u64 = 256 << 20;
/// Share of the free memory that the test may take.
const FREE_PART: u64 = 4;
/// Number of arrays of the triad.
const ARRAYS: u64 = 3;
/// Bytes per element, and per step of the triad: two reads and a write.
const ELEMENT: u64 = 8;
const STEP_BYTES: f64 = 24.0;
/// Bytes of a line of the cache.
const LINE: u64 = 64;
/// Reads between two looks at the clock.
const READS: u32 = 100_000;

/// The largest caches of the host together, in bytes.
pub(super) fn cache_bytes(host: &Host) -> Option<u64> {
    let caches = &host.topology.as_ref()?.caches;
    let level = caches.iter().map(|cache| cache.level).max()?;
    let last = caches.iter().filter(|cache| cache.level == level);
    Some(last.map(|cache| cache.bytes.saturating_mul(u64::from(cache.count))).sum())
}

pub(super) fn measure(part: &Part<'_>, threads: u32, test: &mut HostTest) -> Result<(), Missed> {
    part.go_on()?;
    let free = part.files.memory("MemAvailable").unwrap_or(ARRAY_MIN * ARRAYS * FREE_PART);
    let wanted = test.cache_bytes.unwrap_or(0).saturating_mul(CACHES).max(ARRAY_MIN);
    let allowed = free / FREE_PART / ARRAYS;
    let array = wanted.min(ARRAY_MAX).min(allowed);
    if array < ARRAY_MIN / 8 {
        return Err("too little free memory for the test of the memory".to_owned());
    }
    let elements = usize::try_from(array / ELEMENT / u64::from(threads));
    let elements = elements.map_err(|_| "the arrays are too long".to_owned())?;
    test.array_bytes = elements as u64 * ELEMENT * u64::from(threads);
    put(test, "memory_bandwidth", triad(threads, elements, part.within(TIME)) / 1e9);
    part.go_on()?;
    let lines = usize::try_from(wanted.min(CYCLE_MAX).min(allowed) / LINE);
    let lines = lines.map_err(|_| "the cycle is too long".to_owned())?;
    put(test, "memory_latency", latency(lines, part) * 1e9);
    Ok(())
}

/// Repeats the triad; returns the bytes per second of the best repetition, as STREAM does.
fn triad(threads: u32, elements: usize, time: Duration) -> f64 {
    // The threads and this one, which measures from meeting to meeting.
    let (meeting, stop) = (Barrier::new(threads as usize + 1), AtomicBool::new(false));
    let one = || {
        // The memory is that of the node on which the thread first writes to it.
        let mut a = vec![1.0; elements];
        let (b, c) = (vec![2.0; elements], vec![0.5; elements]);
        loop {
            meeting.wait();
            if stop.load(Ordering::Relaxed) {
                return black_box(a[elements / 2]);
            }
            triphammer_loops::triad(&mut a, &b, &c, 3.0);
            meeting.wait();
        }
    };
    let step = STEP_BYTES * elements as f64 * f64::from(threads);
    scope(|scope| {
        for _ in 0..threads {
            scope.spawn(one);
        }
        let (clock, mut best) = (Clock::start(), 0.0_f64);
        loop {
            let ends = clock.now().duration() >= time && best > 0.0;
            stop.store(ends, Ordering::Relaxed);
            let begun = clock.now();
            meeting.wait();
            if ends {
                return best;
            }
            meeting.wait();
            let took = clock.now().since(begun) as f64 / 1e9;
            best = best.max(step / took.max(1e-9));
        }
    })
}

/// Time of a read that waits for the one before, in seconds, with the translation of its address.
fn latency(lines: usize, part: &Part<'_>) -> f64 {
    let cycle = triphammer_loops::cycle(lines, 0x9E37_79B9_7F4A_7C15);
    let time = part.within(TIME);
    let (clock, mut at, mut reads) = (Clock::start(), 0, 0.0);
    loop {
        at = triphammer_loops::chase(&cycle, black_box(at), READS);
        reads += f64::from(READS);
        let took = clock.now().duration();
        if took >= time || part.cancel.is_cancelled() {
            black_box(at);
            return took.as_secs_f64() / reads;
        }
    }
}
