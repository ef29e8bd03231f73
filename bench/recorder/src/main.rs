//! The cost of recording an event, without reading clocks: `recorder EVENTS` prints nanoseconds per
//! event. Under `valgrind --tool=callgrind` the same program gives reproducible instruction counts.

use std::hint::black_box;
use std::io::Write;

use triphammer_core::clock::thread_cpu_ns;
use triphammer_core::recorder::{Recorder, TransactionEnd};
use triphammer_core::{Elapsed, Outcome, Rng, Timing};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let events: u64 = std::env::args().nth(1).unwrap_or_else(|| "20000000".to_owned()).parse()?;
    let mut rng = Rng::of(1, &[]);
    // Typical times: around a millisecond, some much longer; drawn before the clock runs.
    let times: Vec<u64> = (0..4096)
        .map(|_| 200_000 + rng.below(1_500_000) + if rng.percent(1) { 20_000_000 } else { 0 })
        .collect();
    let mut recorder = Recorder::new(5, true);
    let ended = TransactionEnd {
        outcome: Outcome::Committed,
        counter: 0,
        unread: false,
        unconfirmed: false,
    };
    let begun = thread_cpu_ns();
    for event in 0..events {
        let place = usize::try_from(event % 4096)?;
        let timing = Timing {
            due: Elapsed(0),
            started: Elapsed(0),
            finished: Elapsed(black_box(times[place])),
        };
        recorder.record(black_box(place % 5), timing, ended);
    }
    let spent = thread_cpu_ns() - begun;
    black_box(recorder.totals());
    #[expect(clippy::cast_precision_loss, reason = "a figure")]
    let each = spent as f64 / events as f64;
    writeln!(std::io::stdout(), "{each:.1} ns per event")?;
    Ok(())
}
