//! The output of the control thread: events for the sinks, which never block it during a run, and
//! the notes that the run keeps.

use std::collections::VecDeque;

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use triphammer_core::event::{Event, Note};
use triphammer_core::recorder::RecordedInterval;

use super::merge::may_join;

/// Number of distinct errors that are reported during a run.
const FAILING_MAX: usize = 20;

/// Sends events to the sinks.
#[derive(Debug)]
pub(super) struct Outbox {
    events: mpsc::Sender<Event>,
    /// Seconds that the sinks had no room for, merged where [permitted](may_join).
    held: VecDeque<Box<RecordedInterval>>,
    pub notes: Vec<Note>,
    /// Errors already reported: several threads meet the same one.
    failing: Vec<String>,
}

impl Outbox {
    pub const fn new(events: mpsc::Sender<Event>) -> Self {
        Self { events, held: VecDeque::new(), notes: Vec::new(), failing: Vec::new() }
    }

    /// Sends an event if there is room for it.
    pub fn offer(&self, event: Event) {
        let _ = self.events.try_send(event);
    }

    /// Sends an event, waiting until there is room for it.
    pub async fn send(&self, event: Event) {
        let _ = self.events.send(event).await;
    }

    /// Keeps a note, and offers it to the sinks.
    pub fn note(&mut self, note: Note) {
        self.offer(Event::Note(note.clone()));
        self.notes.push(note);
    }

    /// Offers an error that transactions fail with to the sinks, once. The run's end lists the
    /// errors, so none is kept as a note.
    pub fn failing(&mut self, note: Note) {
        if !self.failing.contains(&note.text) && self.failing.len() < FAILING_MAX {
            self.failing.push(note.text.clone());
            self.offer(Event::Note(note));
        }
    }

    /// Sends a second. If the sinks have no room for it, it waits and is merged with those that
    /// follow on the same side of the window's `edges`.
    pub fn second(&mut self, second: RecordedInterval, edges: [u64; 2]) {
        match self.held.back_mut() {
            Some(last) if may_join(edges, last, &second) => last.add_later(&second),
            _ => self.held.push_back(Box::new(second)),
        }
        while let Some(interval) = self.held.pop_front() {
            let sent = self.events.try_send(Event::Second(interval));
            if let Err(TrySendError::Full(Event::Second(interval))) = sent {
                self.held.push_front(interval);
                break;
            }
        }
    }

    /// Sends what was held back, waiting until there is room for it.
    pub async fn flush(&mut self) {
        for interval in std::mem::take(&mut self.held) {
            self.send(Event::Second(interval)).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn seconds_that_wait_are_joined_but_not_across_an_edge_of_the_window() {
        let (sender, mut receiver) = mpsc::channel(1);
        let mut outbox = Outbox::new(sender);
        for second in 0..9 {
            let mut interval = RecordedInterval::new(second, 1);
            interval.types[0].counts.committed = 1 << second;
            outbox.second(interval, [3, 7]);
        }
        let flushed = tokio::spawn(async move { outbox.flush().await });
        let mut seen = Vec::new();
        while let Some(event) = receiver.recv().await {
            let Event::Second(interval) = event else { continue };
            seen.push((interval.first, interval.last, interval.types[0].counts.committed));
        }
        flushed.await.expect("flushing does not panic");
        assert_eq!(seen, [(0, 0, 1), (1, 2, 0b110), (3, 6, 0b111_1000), (7, 8, 0b1_1000_0000)]);
    }
}
