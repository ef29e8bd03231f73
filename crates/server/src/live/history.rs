//! What a late client receives of an activity: its state, its phases and notes, and its seconds,
//! downsampled so that a run of a day takes no more space than one of ten minutes.

use std::collections::VecDeque;

use bytes::Bytes;

use super::event::LiveEvent;
use super::hub::frame;
use super::second::LiveSecond;

/// Maximum number of seconds kept; beyond it, the older half is merged in pairs.
pub const SECONDS_MAX: usize = 600;
/// Maximum number of phases and notes kept; the newest are kept.
pub const NOTES_MAX: usize = 300;

/// The history of one activity.
#[derive(Debug, Default)]
pub struct History {
    state: Option<NumberedEvent>,
    progress: Option<NumberedEvent>,
    requirements: Option<NumberedEvent>,
    checked: Option<NumberedEvent>,
    /// The run of a campaign that the seconds belong to.
    step: Option<u32>,
    notes: VecDeque<NumberedEvent>,
    seconds: Vec<(LiveSecond, NumberedEvent)>,
}

/// An event and its number.
#[derive(Clone, Debug)]
pub struct NumberedEvent {
    /// Number of the event.
    pub number: u64,
    /// The serialised event.
    pub frame: Bytes,
}

impl History {
    /// Stores an event of this activity.
    pub fn keep(&mut self, event: &LiveEvent, kept: &NumberedEvent, instance: &str) {
        match event {
            LiveEvent::Activity(_) => self.state = Some(kept.clone()),
            LiveEvent::Progress(_) => self.progress = Some(kept.clone()),
            LiveEvent::Requirements(_) => self.requirements = Some(kept.clone()),
            LiveEvent::Checked(_) => self.checked = Some(kept.clone()),
            LiveEvent::Step(step) if self.step != Some(step.report.step) => {
                // Another run starts: clients discard the seconds of the previous one.
                self.step = Some(step.report.step);
                self.seconds.clear();
                self.requirements = None;
                self.note(kept);
            }
            LiveEvent::Phase(_) | LiveEvent::Step(_) | LiveEvent::Note(_) => self.note(kept),
            LiveEvent::Second(second) => {
                self.seconds.push((second.clone(), kept.clone()));
                if self.seconds.len() > SECONDS_MAX {
                    self.thin(instance);
                }
            }
            LiveEvent::Hello(_) | LiveEvent::Host(_) | LiveEvent::Goodbye(_) => {}
        }
    }

    fn note(&mut self, kept: &NumberedEvent) {
        if self.notes.len() == NOTES_MAX {
            self.notes.pop_front();
        }
        self.notes.push_back(kept.clone());
    }

    /// Seconds of the current run; older ones are merged.
    pub fn seconds(&self) -> Vec<LiveSecond> {
        self.seconds.iter().map(|(second, _)| second.clone()).collect()
    }

    /// All events after event `number`, in chronological order.
    pub fn after(&self, number: u64) -> Vec<NumberedEvent> {
        let mut all: Vec<NumberedEvent> = self
            .seconds
            .iter()
            .map(|(_, kept)| kept)
            .chain(&self.notes)
            .chain(&self.state)
            .chain(&self.progress)
            .chain(&self.requirements)
            .chain(&self.checked)
            .filter(|kept| kept.number > number)
            .cloned()
            .collect();
        all.sort_by_key(|kept| kept.number);
        all
    }

    /// Merges the older half in pairs; a pair has the number of its later event.
    fn thin(&mut self, instance: &str) {
        let newer = self.seconds.split_off(SECONDS_MAX / 2);
        let older = std::mem::take(&mut self.seconds);
        let mut older = older.into_iter();
        while let Some((mut second, mut kept)) = older.next() {
            if let Some((later, later_kept)) = older.next() {
                second.merge(&later);
                let event = LiveEvent::Second(second.clone());
                kept = NumberedEvent {
                    frame: frame(instance, later_kept.number, &event),
                    ..later_kept
                };
            }
            self.seconds.push((second, kept));
        }
        self.seconds.extend(newer);
    }
}

#[cfg(test)]
mod tests {
    use triphammer_document::metrics::Values;
    use triphammer_runner::live::LiveStep;

    use super::super::figures::Figures;
    use super::super::{ActivityStep, LiveType};
    use super::*;

    fn second(n: u64) -> LiveEvent {
        let mut of_all = Values::of_no_type();
        of_all.set("committed", Some(1.0));
        of_all.set("p99_us", Some(f64::from(u32::try_from(n).unwrap())));
        let mut of_threads = Values::of_nothing();
        // Measured only occasionally, so the minimum is closest to the round trip.
        of_threads.set(
            "round_trip_us",
            n.is_multiple_of(5).then_some(if n == 500 { 30.0 } else { 90.0 }),
        );
        LiveEvent::Second(LiveSecond {
            activity: 1,
            first: n,
            last: n,
            primary_metric: 60.0,
            outage_since: None,
            total: LiveType { name: "all".into(), figures: Figures(of_all) },
            types: Vec::new(),
            figures: Figures(of_threads),
        })
    }

    fn keep(history: &mut History, event: &LiveEvent, number: u64) {
        history.keep(event, &NumberedEvent { number, frame: Bytes::new() }, "i");
    }

    #[test]
    fn a_day_takes_no_more_room_than_ten_minutes_and_loses_nothing() {
        let mut history = History::default();
        for n in 0..86_400 {
            keep(&mut history, &second(n), n + 1);
        }
        assert!(history.seconds.len() <= SECONDS_MAX);
        let mut next = 0;
        for second in history.seconds() {
            assert_eq!(second.first, next);
            let all = &second.total.figures.0;
            assert_eq!(all.count("committed"), second.last + 1 - second.first);
            assert_eq!(all.count("p99_us"), second.last, "the worst second's");
            assert_eq!(second.primary_metric, 60.0, "a rate stays one");
            next = second.last + 1;
        }
        assert_eq!(next, 86_400);
        let trips = history.seconds().into_iter().map(|s| s.figures.0.get("round_trip_us"));
        let trips: Vec<f64> = trips.flatten().collect();
        assert_eq!(trips.iter().filter(|us| **us == 30.0).count(), 1, "the fastest, not the last");
        assert!(history.seconds[0].0.last > 0 && history.seconds.last().unwrap().0.first == 86_399);
    }

    #[test]
    fn who_saw_some_gets_the_rest_in_order() {
        let mut history = History::default();
        for n in 0..10 {
            keep(&mut history, &second(n), n);
        }
        let numbers: Vec<_> = history.after(6).iter().map(|kept| kept.number).collect();
        assert_eq!(numbers, [7, 8, 9]);
    }

    #[test]
    fn seconds_are_those_of_the_run_that_goes_on() {
        let mut history = History::default();
        let step = |step| {
            let report = LiveStep { step, ..LiveStep::default() };
            LiveEvent::Step(ActivityStep { activity: 1, report })
        };
        keep(&mut history, &step(1), 1);
        keep(&mut history, &second(0), 2);
        keep(&mut history, &second(1), 3);
        keep(&mut history, &step(1), 4);
        assert_eq!(history.seconds().len(), 2, "the end of a run takes nothing");
        keep(&mut history, &step(2), 5);
        keep(&mut history, &second(0), 6);
        let firsts: Vec<u64> = history.seconds().iter().map(|second| second.first).collect();
        assert_eq!(firsts, [0]);
    }
}
