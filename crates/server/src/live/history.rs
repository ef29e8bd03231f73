//! What a page that comes late gets of an activity: how it stands, its phases and remarks, and all its
//! seconds, thinned so that a run of a day takes no more room than one of ten minutes.

use std::collections::VecDeque;

use bytes::Bytes;

use super::event::LiveEvent;
use super::hub::frame;
use super::second::LiveSecond;

/// Seconds kept; when there are more, the older half is merged in pairs.
pub const SECONDS_MAX: usize = 600;
/// Phases and remarks kept, the newest.
pub const NOTES_MAX: usize = 300;

/// The history of one activity.
#[derive(Debug, Default)]
pub struct History {
    state: Option<Kept>,
    progress: Option<Kept>,
    notes: VecDeque<Kept>,
    seconds: Vec<(LiveSecond, Kept)>,
}

/// A frame and its number.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Number of the event.
    pub number: u64,
    /// The event as it is sent.
    pub frame: Bytes,
}

impl History {
    /// Keeps an event of this activity.
    pub fn keep(&mut self, event: &LiveEvent, kept: &Kept, instance: &str) {
        match event {
            LiveEvent::Activity(_) => self.state = Some(kept.clone()),
            LiveEvent::Progress(_) => self.progress = Some(kept.clone()),
            LiveEvent::Phase(_) | LiveEvent::Note(_) => {
                if self.notes.len() == NOTES_MAX {
                    self.notes.pop_front();
                }
                self.notes.push_back(kept.clone());
            }
            LiveEvent::Second(second) => {
                self.seconds.push((second.clone(), kept.clone()));
                if self.seconds.len() > SECONDS_MAX {
                    self.thin(instance);
                }
            }
            LiveEvent::Hello(_) | LiveEvent::Host(_) | LiveEvent::Goodbye(_) => {}
        }
    }

    /// Everything after event `number`, in the order in which it happened.
    pub fn after(&self, number: u64) -> Vec<Kept> {
        let mut all: Vec<Kept> = self
            .seconds
            .iter()
            .map(|(_, kept)| kept)
            .chain(&self.notes)
            .chain(&self.state)
            .chain(&self.progress)
            .filter(|kept| kept.number > number)
            .cloned()
            .collect();
        all.sort_by_key(|kept| kept.number);
        all
    }

    /// Merges the older half in pairs; a pair has the number of its later one.
    fn thin(&mut self, instance: &str) {
        let newer = self.seconds.split_off(SECONDS_MAX / 2);
        let older = std::mem::take(&mut self.seconds);
        let mut older = older.into_iter();
        while let Some((mut second, mut kept)) = older.next() {
            if let Some((later, later_kept)) = older.next() {
                second.merge(&later);
                let event = LiveEvent::Second(second.clone());
                kept = Kept { frame: frame(instance, later_kept.number, &event), ..later_kept };
            }
            self.seconds.push((second, kept));
        }
        self.seconds.extend(newer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(n: u64) -> LiveEvent {
        let mut second = LiveSecond { activity: 1, first: n, last: n, ..LiveSecond::default() };
        second.total.committed = 1;
        second.total.p99_us = n;
        LiveEvent::Second(second)
    }

    #[test]
    fn a_day_takes_no_more_room_than_ten_minutes_and_loses_nothing() {
        let mut history = History::default();
        for n in 0..86_400 {
            let event = second(n);
            let kept = Kept { number: n + 1, frame: Bytes::new() };
            history.keep(&event, &kept, "i");
        }
        assert!(history.seconds.len() <= SECONDS_MAX);
        let mut next = 0;
        for (second, _) in &history.seconds {
            assert_eq!(second.first, next);
            assert_eq!(second.total.committed, second.last + 1 - second.first);
            assert_eq!(second.total.p99_us, second.last, "the worst second's");
            next = second.last + 1;
        }
        assert_eq!(next, 86_400);
        assert!(history.seconds[0].0.last > 0 && history.seconds.last().unwrap().0.first == 86_399);
    }

    #[test]
    fn who_saw_some_gets_the_rest_in_order() {
        let mut history = History::default();
        for n in 0..10 {
            history.keep(&second(n), &Kept { number: n, frame: Bytes::new() }, "i");
        }
        let numbers: Vec<_> = history.after(6).iter().map(|kept| kept.number).collect();
        assert_eq!(numbers, [7, 8, 9]);
    }
}
