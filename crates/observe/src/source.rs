//! Sources of sampled metrics: what is read once per second beside a run, other than the database.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use triphammer_core::Clock;
use triphammer_core::clock::{Elapsed, thread_cpu_ns};
use triphammer_settings::cancel::Cancel;

use super::sink::{Measured, Sink};

/// Longest time after which a source's thread sees that the run has ended.
const STOP_TICK: Duration = Duration::from_millis(50);

/// Something that is read once per second on a thread of its own: it may block for as long as it
/// needs, and a second that it missed is a gap.
pub trait Source: Send {
    /// Name of the source for people and threads, such as `host`.
    fn name(&self) -> &str;

    /// Reads the values of `second`, which has just ended, counted from the start of the run.
    /// Counters are returned as rates since the previous call, so the first call returns none of
    /// them.
    fn sample(&mut self, second: u64) -> Measured;
}

/// What reading a source cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SourceCost {
    /// CPU time of its thread, in nanoseconds.
    pub cpu_ns: u64,
}

/// Reads a source after every second of `clock` until `stop`, and passes the values to `sink`.
///
/// # Errors
/// When the thread cannot be started.
pub fn watch_source(
    mut source: Box<dyn Source>,
    clock: Clock,
    sink: Arc<Sink>,
    stop: Cancel,
) -> std::io::Result<JoinHandle<SourceCost>> {
    let name = format!("observe {}", source.name());
    std::thread::Builder::new().name(name).spawn(move || {
        let mut next = clock.now().second() + 1;
        loop {
            // Before the clock: a second that ended before the run did is still read.
            let is_over = stop.is_cancelled();
            let now = clock.now();
            let due = Elapsed::at_second(next);
            if now < due {
                if is_over {
                    break;
                }
                let rest = due.duration().saturating_sub(now.duration());
                std::thread::sleep(rest.min(STOP_TICK));
                continue;
            }
            sink.put(next - 1, source.sample(next - 1));
            // A late reading skips the seconds that it missed.
            next = clock.now().second() + 1;
        }
        SourceCost { cpu_ns: thread_cpu_ns() }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bounds;
    use triphammer_document::metrics::{Merge, Unit};
    use triphammer_document::samples::SampleSeries;

    /// Counts its readings, and stops the run after the second.
    struct CountingSource(u64, Arc<SampleSeries>, Cancel);

    impl Source for CountingSource {
        fn name(&self) -> &str {
            "test"
        }

        fn sample(&mut self, _second: u64) -> Measured {
            self.0 += 1;
            if self.0 == 2 {
                self.2.cancel();
            }
            #[expect(clippy::cast_precision_loss, reason = "one or two")]
            let value = self.0 as f64;
            vec![(Arc::clone(&self.1), value)]
        }
    }

    #[test]
    fn a_source_is_read_once_per_second_until_it_is_stopped() {
        let series = Arc::new(SampleSeries {
            metric: "system.test".into(),
            labels: std::collections::BTreeMap::new(),
            title: "Test".into(),
            unit: Unit::Count,
            merge: Merge::Mean,
        });
        let stop = Cancel::default();
        let sink = Arc::new(Sink::new(None, Arc::new(Bounds::whole())));
        let source = CountingSource(0, series, stop.clone());
        let thread =
            watch_source(Box::new(source), Clock::start(), Arc::clone(&sink), stop).unwrap();
        thread.join().unwrap();
        let (figures, _, dropped) = sink.finish(&std::collections::BTreeMap::new());
        assert_eq!((figures.len(), dropped.unwrap()), (1, 0));
        assert_eq!((figures[0].mean, figures[0].max), (1.5, 2.0));
    }
}
