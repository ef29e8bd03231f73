//! Outages: stretches in which nothing completed although users were active, and how soon after a
//! session reconnected the first transaction committed. They remain in the timed window; here they
//! are only detected, for the live views and for the result.

use std::ops::Range;

use triphammer_core::clock::Elapsed;
use triphammer_core::event::Note;

/// Average rate so far, in transactions per second, from which a second without any transaction is
/// an outage; at lower rates such a second may be chance,
/// unless no session can be opened either.
const USUAL_PER_SECOND: u64 = 10;

/// Detects the outages of a run.
#[derive(Debug, Default)]
pub(super) struct Outages {
    quiet: Quiet,
    /// Whether it has been noted that no session can be opened.
    is_away: bool,
    recoveries: Vec<Recovery>,
}

impl Outages {
    /// Takes the next second; returns a note if it ended a quiet stretch.
    pub fn second(&mut self, index: u64, completed: u64) -> Option<Note> {
        self.quiet.second(index, completed, self.is_away)
    }

    /// The first second of the current outage.
    pub const fn since(&self) -> Option<u64> {
        self.quiet.since
    }

    /// Records that a lost session cannot be re-created; returns a note for the first of an outage.
    pub fn away(&mut self, at: Elapsed, why: &str) -> Option<Note> {
        let is_known = std::mem::replace(&mut self.is_away, true);
        (!is_known).then(|| Note::new("away", Some(at), format!("no new sessions: {why}")))
    }

    /// Records that a thread's users work again.
    pub fn recovered(&mut self, recovery: Recovery) {
        self.is_away = false;
        self.recoveries.push(recovery);
    }

    /// Ends with second `last`; returns the quiet stretches and the remaining notes.
    pub fn end(mut self, last: u64) -> (Vec<Range<u64>>, Vec<Note>) {
        let unended = self.quiet.end(last.max(1));
        let notes = unended.into_iter().chain(notes(self.recoveries)).collect();
        (self.quiet.stretches, notes)
    }
}

/// Detects quiet stretches in the seconds of a run.
#[derive(Debug, Default)]
struct Quiet {
    seconds: u64,
    completed: u64,
    since: Option<u64>,
    /// Stretches that have ended.
    stretches: Vec<Range<u64>>,
}

impl Quiet {
    /// Takes the next second; returns a note if it ended a quiet stretch.
    fn second(&mut self, index: u64, completed: u64, is_away: bool) -> Option<Note> {
        if completed == 0 {
            let is_unusual = self.seconds > 0 && self.completed >= USUAL_PER_SECOND * self.seconds;
            if is_unusual || is_away {
                self.since.get_or_insert(index);
            }
            return None;
        }
        self.seconds += 1;
        self.completed += completed;
        self.end(index)
    }

    /// Ends the stretch before a second; returns a note if there was one. A run whose users have all ended may
    /// be over before the second in which it became quiet.
    fn end(&mut self, index: u64) -> Option<Note> {
        let since = self.since.take().filter(|since| *since < index)?;
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

/// How a thread's users resumed work after sessions were lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Recovery {
    /// Time at which the first session was lost.
    pub lost: Elapsed,
    /// Time at which the first session reconnected.
    pub back: Elapsed,
    /// Time of the first commit after that.
    pub committed: Elapsed,
}

/// State of a thread's recovery.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Watch {
    #[default]
    Calm,
    Lost(Elapsed),
    Back(Elapsed, Elapsed),
}

impl Watch {
    /// Records that a session was lost.
    pub fn lost(&mut self, now: Elapsed) {
        if matches!(self, Self::Calm) {
            *self = Self::Lost(now);
        }
    }

    /// Records that a session reconnected.
    pub fn back(&mut self, now: Elapsed) {
        if let Self::Lost(lost) = *self {
            *self = Self::Back(lost, now);
        }
    }

    /// Records a commit; the recovery is complete if a session has reconnected.
    pub fn committed(&mut self, now: Elapsed) -> Option<Recovery> {
        let Self::Back(lost, back) = *self else { return None };
        *self = Self::Calm;
        Some(Recovery { lost, back, committed: now })
    }
}

/// Joins the recoveries of all threads: those that overlap in time belong to one outage.
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
                "sessions were lost; the first reconnected after {:.3} s, and the first \
                 transaction committed {:.3} s after that",
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
        let notes: Vec<_> = (0..)
            .zip(seconds)
            .filter_map(|(index, ended)| quiet.second(index, ended, false))
            .collect();
        assert_eq!(notes.len(), 1);
        assert!(notes[0].text.contains("for 2 s, from second 2 to second 4"), "{:?}", notes[0]);
        let mut slow = Quiet::default();
        assert!([1, 0, 2, 0, 1].into_iter().all(|ended| slow.second(0, ended, false).is_none()));
    }

    #[test]
    fn an_outage_is_known_while_it_goes_on_however_slow_the_load_is() {
        let mut outages = Outages::default();
        assert_eq!((outages.second(0, 1), outages.since()), (None, None));
        outages.second(1, 0);
        assert_eq!(outages.since(), None, "one per second may be chance");
        outages.away(Elapsed::at_second(2), "connection refused");
        outages.second(2, 0);
        outages.second(3, 0);
        assert_eq!(outages.since(), Some(2));
        assert_eq!(outages.second(4, 1).unwrap().kind, "outage");
        assert_eq!(outages.since(), None);
    }

    #[test]
    fn a_stretch_that_begins_after_the_end_of_the_run_is_none() {
        let mut outages = Outages::default();
        outages.away(Elapsed::at_second(12), "connection refused");
        outages.second(12, 100);
        outages.second(13, 0);
        let (stretches, notes) = outages.end(12);
        assert_eq!((stretches.len(), notes.len()), (0, 0));
    }

    #[test]
    fn why_sessions_are_away_is_noted_once_an_outage() {
        let mut outages = Outages::default();
        let at = Elapsed::at_second(3);
        let note = outages.away(at, "connection refused").unwrap();
        assert_eq!(
            (note.at, note.text.as_str()),
            (Some(at), "no new sessions: connection refused")
        );
        assert!(outages.away(at, "connection refused").is_none());
        outages.recovered(Recovery::default());
        assert!(outages.away(at, "connection refused").is_some());
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
        assert!(notes[0].text.contains("reconnected after 3.000 s"), "{:?}", notes[0]);
        assert!(notes[0].text.contains("committed 2.000 s after that"), "{:?}", notes[0]);
    }
}
