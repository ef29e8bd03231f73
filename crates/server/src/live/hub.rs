//! The hub: numbers events, serialises each once, passes the same bytes to every reader, and keeps
//! what late and reconnecting clients need. A reader that does not keep up is disconnected instead
//! of waited for: its browser reconnects and gets what it missed, downsampled.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Mutex;

use bytes::Bytes;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::event::{Hello, LiveEvent};
use super::history::{History, NumberedEvent};
use super::second::LiveSecond;

/// Number of events that a reader may lag behind before it is disconnected.
pub const READER_EVENTS_MAX: usize = 512;
/// Maximum number of activities whose history is kept; the oldest is dropped first.
const ACTIVITIES_MAX: usize = 12;

/// Distributes events to readers.
#[derive(Debug)]
pub struct Hub {
    instance: String,
    state: Mutex<State>,
    sender: broadcast::Sender<SerialisedEvent>,
}

#[derive(Debug, Default)]
struct State {
    /// Number of the last event.
    number: u64,
    histories: BTreeMap<u64, History>,
}

/// A serialised event for the readers.
#[derive(Clone, Debug)]
struct SerialisedEvent {
    activity: Option<u64>,
    last: bool,
    frame: Bytes,
}

impl Default for Hub {
    fn default() -> Self {
        Self::new()
    }
}

impl Hub {
    /// Creates a hub with a new instance identifier.
    #[must_use]
    pub fn new() -> Self {
        let instance = format!("{:x}", triphammer_core::clock::wall().0);
        let state = Mutex::default();
        Self { instance, state, sender: broadcast::channel(READER_EVENTS_MAX).0 }
    }

    /// Identifier of this start of the server.
    #[must_use]
    pub fn instance(&self) -> &str {
        &self.instance
    }

    /// Number of connected readers.
    #[must_use]
    pub fn readers(&self) -> usize {
        self.sender.receiver_count()
    }

    /// Sends an event to all readers, and keeps it for later ones.
    pub fn publish(&self, event: &LiveEvent) {
        let mut state = self.state.lock().expect("no thread panics while it holds the lock");
        state.number += 1;
        let number = state.number;
        let frame = frame(&self.instance, number, event);
        if let Some(activity) = event.activity() {
            let kept = NumberedEvent { number, frame: frame.clone() };
            state.histories.entry(activity).or_default().keep(event, &kept, &self.instance);
            if state.histories.len() > ACTIVITIES_MAX {
                state.histories.pop_first();
            }
        }
        let last = matches!(event, LiveEvent::Goodbye(_));
        // A failure only means that there are no readers.
        let _ = self.sender.send(SerialisedEvent { activity: event.activity(), last, frame });
    }

    /// Seconds of the current run of an activity; older ones are merged.
    #[must_use]
    pub fn seconds(&self, activity: u64) -> Vec<LiveSecond> {
        let state = self.state.lock().expect("no thread panics while it holds the lock");
        state.histories.get(&activity).map(History::seconds).unwrap_or_default()
    }

    /// Creates a reader of all activities or of one, which starts with the stored events, or with
    /// those after the event `last_id`.
    #[must_use]
    pub fn read(&self, only: Option<u64>, last_id: Option<&str>) -> Reader {
        let seen = last_id.and_then(|id| id.strip_prefix(&self.instance)?.strip_prefix('-'));
        let seen: Option<u64> = seen.and_then(|number| number.parse().ok());
        let state = self.state.lock().expect("no thread panics while it holds the lock");
        let seen = seen.filter(|number| *number <= state.number);
        let mut kept: Vec<NumberedEvent> = state
            .histories
            .iter()
            .filter(|(activity, _)| only.is_none_or(|only| only == **activity))
            .flat_map(|(_, history)| history.after(seen.unwrap_or(0)))
            .collect();
        kept.sort_by_key(|kept| kept.number);
        let hello = LiveEvent::Hello(Hello {
            instance: self.instance.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            resumed: seen.is_some(),
        });
        let mut first = VecDeque::with_capacity(kept.len() + 1);
        // It carries the number of the last event received, so that a client disconnected here
        // loses nothing.
        first.push_back(frame(&self.instance, seen.unwrap_or(0), &hello));
        first.extend(kept.into_iter().map(|kept| kept.frame));
        Reader { first, only, live: Some(self.sender.subscribe()) }
    }
}

/// The events of one connection.
#[derive(Debug)]
pub struct Reader {
    first: VecDeque<Bytes>,
    only: Option<u64>,
    live: Option<broadcast::Receiver<SerialisedEvent>>,
}

impl Reader {
    /// Waits for the next serialised event; `None` at the end, and if the reader was too slow.
    pub async fn next(&mut self) -> Option<Bytes> {
        if let Some(frame) = self.first.pop_front() {
            return Some(frame);
        }
        loop {
            match self.live.as_mut()?.recv().await {
                Ok(SerialisedEvent { activity, last, frame }) => {
                    if last {
                        self.live = None;
                    }
                    let wanted = self.only.is_none() || activity.is_none() || activity == self.only;
                    if wanted {
                        return Some(frame);
                    }
                }
                Err(RecvError::Lagged(_) | RecvError::Closed) => return None,
            }
        }
    }
}

/// Serialises an event. Its ID includes the instance, because numbers of another instance are
/// meaningless.
pub fn frame(instance: &str, number: u64, event: &LiveEvent) -> Bytes {
    let data = serde_json::to_string(event).expect("events are plain data");
    format!("id: {instance}-{number}\nevent: {}\ndata: {data}\n\n", event.name()).into()
}

#[cfg(test)]
mod tests {
    use triphammer_runner::live::{LiveNote, LiveReport};

    use super::*;

    fn note(activity: u64, text: &str) -> LiveEvent {
        LiveEvent::of(activity, LiveReport::Note(LiveNote::new("x", text))).unwrap()
    }

    async fn texts(reader: &mut Reader, count: usize) -> Vec<String> {
        let mut all = Vec::new();
        for _ in 0..count {
            let frame = reader.next().await.unwrap();
            all.push(String::from_utf8(frame.to_vec()).unwrap());
        }
        all
    }

    #[tokio::test]
    async fn who_comes_back_gets_what_was_missed_and_no_more() {
        let hub = Hub::new();
        for n in 1..=5 {
            hub.publish(&note(1, &format!("note {n}")));
        }
        let id = format!("{}-3", hub.instance());
        let all = texts(&mut hub.read(None, Some(&id)), 3).await;
        assert!(all[0].contains("\"resumed\":true"));
        assert!(all[1].contains("note 4") && all[2].contains("note 5"), "{all:?}");
        for external in ["0-3", "nonsense", "", &format!("{}-99", hub.instance())] {
            let all = texts(&mut hub.read(None, Some(external)), 6).await;
            assert!(all[0].contains("\"resumed\":false") && all[1].contains("note 1"));
        }
    }

    #[tokio::test]
    async fn bytes_are_shared_and_activities_told_apart() {
        let hub = Hub::new();
        let (mut all, mut again, mut one) =
            (hub.read(None, None), hub.read(None, None), hub.read(Some(2), None));
        texts(&mut all, 1).await;
        texts(&mut again, 1).await;
        texts(&mut one, 1).await;
        hub.publish(&note(1, "first"));
        hub.publish(&note(2, "second"));
        let (a, b) = (all.next().await.unwrap(), again.next().await.unwrap());
        assert_eq!(a.as_ptr(), b.as_ptr());
        assert!(texts(&mut one, 1).await[0].contains("second"));
    }

    #[tokio::test]
    async fn a_slow_reader_is_cut_off() {
        let hub = Hub::new();
        let mut reader = hub.read(None, None);
        texts(&mut reader, 1).await;
        for n in 0..=READER_EVENTS_MAX + 1 {
            hub.publish(&note(1, &n.to_string()));
        }
        assert_eq!(reader.next().await, None);
    }
}
