//! Outages: stretches in which nothing completed although users were at work, and how soon after a session
//! was back the first transaction committed. They stay in the timed window; here they are only noticed.

use std::ops::Range;

use crate::clock::Elapsed;
use crate::event::Note;

/// Transactions per second, on average so far, from which a second without any is an outage: below it such
/// a second may be chance.
const USUAL_PER_SECOND: u64 = 10;

/// The outages of a run.
#[derive(Debug, Default)]
pub(super) struct Outages {
    quiet: Quiet,
    recoveries: Vec<Recovery>,
}

impl Outages {
    /// Hears of the next second; gives a note when a quiet stretch has ended with it.
    pub fn second(&mut self, index: u64, completed: u64) -> Option<Note> {
        self.quiet.second(index, completed)
    }

    /// A thread's users are back at work.
    pub fn recovered(&mut self, recovery: Recovery) {
        self.recoveries.push(recovery);
    }

    /// The run ends with second `last`; gives the quiet stretches, and what there is to note.
    pub fn end(mut self, last: u64) -> (Vec<Range<u64>>, Vec<Note>) {
        let unended = self.quiet.end(last.max(1));
        let notes = unended.into_iter().chain(notes(self.recoveries)).collect();
        (self.quiet.stretches, notes)
    }
}

/// Notices quiet stretches in the seconds of a run.
#[derive(Debug, Default)]
struct Quiet {
    seconds: u64,
    completed: u64,
    since: Option<u64>,
    /// Those that are over.
    stretches: Vec<Range<u64>>,
}

impl Quiet {
    /// Hears of the next second; gives a note when a quiet stretch has ended with it.
    fn second(&mut self, index: u64, completed: u64) -> Option<Note> {
        if completed == 0 {
            if self.completed >= USUAL_PER_SECOND * self.seconds && self.seconds > 0 {
                self.since.get_or_insert(index);
            }
            return None;
        }
        self.seconds += 1;
        self.completed += completed;
        self.end(index)
    }

    /// The run ends; gives a note when that was in a quiet stretch.
    fn end(&mut self, index: u64) -> Option<Note> {
        let since = self.since.take()?;
        self.stretches.push(since..index);
        Some(note(since, index))
    }
}

fn note(since: u64, until: u64) -> Note {
    let text = format!(
        "no transaction completed for {} s, from second {since} to second {until} of the run",
        until - since
    );
    Note::new("outage", Some(Elapsed::at_second(since)), text)
}

/// The way of a thread's users back to work after they had lost sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Recovery {
    /// The first session was lost.
    pub lost: Elapsed,
    /// The first session reconnected.
    pub back: Elapsed,
    /// The first transaction committed after that.
    pub committed: Elapsed,
}

/// Where a thread is on that way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Watch {
    #[default]
    Calm,
    Lost(Elapsed),
    Back(Elapsed, Elapsed),
}

impl Watch {
    /// A session was lost.
    pub fn lost(&mut self, now: Elapsed) {
        if matches!(self, Self::Calm) {
            *self = Self::Lost(now);
        }
    }

    /// A session reconnected.
    pub fn back(&mut self, now: Elapsed) {
        if let Self::Lost(lost) = *self {
            *self = Self::Back(lost, now);
        }
    }

    /// A transaction committed: the way is over when a session is back.
    pub fn committed(&mut self, now: Elapsed) -> Option<Recovery> {
        let Self::Back(lost, back) = *self else { return None };
        *self = Self::Calm;
        Some(Recovery { lost, back, committed: now })
    }
}

/// Joins the ways of all threads: those that overlap in time are of one outage.
fn notes(mut recoveries: Vec<Recovery>) -> Vec<Note> {
    recoveries.sort_by_key(|r| r.lost);
    let mut joined: Vec<Recovery> = Vec::new();
    for r in recoveries {
        match joined.last_mut() {
            Some(last) if r.lost <= last.committed => {
                last.back = last.back.min(r.back);
                last.committed = last.committed.min(r.committed).max(last.back);
            }
            _ => joined.push(r),
        }
    }
    let seconds =
        |from: Elapsed, to: Elapsed| to.duration().saturating_sub(from.duration()).as_secs_f64();
    joined
        .into_iter()
        .map(|r| {
            let text = format!(
                "sessions were lost; the first was back after {:.3} s, and the first transaction \
                 committed {:.3} s after that",
                seconds(r.lost, r.back),
                seconds(r.back, r.committed)
            );
            Note::new("recovery", Some(r.lost), text)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quiet_stretch_is_noticed_only_where_work_is_usual() {
        let mut quiet = Quiet::default();
        let seconds = [100, 90, 0, 0, 80];
        let notes: Vec<_> =
            (0..).zip(seconds).filter_map(|(index, ended)| quiet.second(index, ended)).collect();
        assert_eq!(notes.len(), 1);
        assert!(notes[0].text.contains("for 2 s, from second 2 to second 4"), "{:?}", notes[0]);
        let mut slow = Quiet::default();
        assert!([1, 0, 2, 0, 1].into_iter().all(|ended| slow.second(0, ended).is_none()));
    }

    #[test]
    fn the_threads_ways_back_are_joined_by_outage() {
        let at = |lost, back, committed| Recovery {
            lost: Elapsed::at_second(lost),
            back: Elapsed::at_second(back),
            committed: Elapsed::at_second(committed),
        };
        let notes = notes(vec![at(10, 14, 16), at(11, 13, 15), at(40, 41, 42)]);
        assert_eq!(notes.len(), 2);
        assert!(notes[0].text.contains("back after 3.000 s"), "{:?}", notes[0]);
        assert!(notes[0].text.contains("committed 2.000 s after that"), "{:?}", notes[0]);
    }
}
