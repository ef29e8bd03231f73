//! The host's side of a run by several: passes the messages of the coordinator to the engine that
//! drives the share, and the engine's events to the coordinator.

use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};
use triphammer_core::event::Event;

use super::message::{FromShare, ShareEnd, ToShare};
use super::{HEARTBEAT, SILENCE_MAX, WallClock, Zero};
use crate::{RunEnd, RunError, StopHandle};

/// An engine that drives a share, and waits at its gate.
#[derive(Debug)]
pub struct Engine<E> {
    /// Events of the run.
    pub events: mpsc::Receiver<Event>,
    /// Ends the run.
    pub stopper: StopHandle,
    /// Opens the gate.
    pub gate: oneshot::Sender<Zero>,
    /// Waits for the end; called when there are no more events.
    pub end: E,
}

/// Takes part in a run until the engine's end. A coordinator that is gone or silent ends the
/// share: its transactions are abandoned.
pub async fn participate<E: Future<Output = Result<RunEnd, RunError>>>(
    engine: Engine<E>,
    mut from: mpsc::Receiver<ToShare>,
    to: mpsc::Sender<FromShare>,
) {
    let Engine { mut events, stopper, gate, end } = engine;
    let mut share = Participant {
        wall: WallClock::new(),
        stopper,
        gate: Some(gate),
        zero: None,
        last_message: Instant::now(),
        is_unheard: false,
        to,
    };
    let mut tick = interval(HEARTBEAT);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut is_there = true;
    loop {
        tokio::select! {
            message = from.recv(), if is_there => match message {
                Some(message) => share.take(message).await,
                None => {
                    is_there = false;
                    share.abort();
                }
            },
            event = events.recv() => match event {
                Some(event) => share.pass_on(event).await,
                None => break,
            },
            _ = tick.tick() => {
                if share.last_message.elapsed() > SILENCE_MAX {
                    share.abort();
                }
                share.send(FromShare::Alive).await;
            }
        }
    }
    let last = match end.await {
        Ok(end) => FromShare::Ended(Box::new(ShareEnd::from(end))),
        Err(error) => FromShare::Failed(error.to_string()),
    };
    share.send(last).await;
}

struct Participant {
    wall: WallClock,
    stopper: StopHandle,
    gate: Option<oneshot::Sender<Zero>>,
    /// Zero of the run's clock, once it is known.
    zero: Option<Instant>,
    /// When the last message of the coordinator arrived.
    last_message: Instant,
    /// Whether a message was not taken in time.
    is_unheard: bool,
    to: mpsc::Sender<FromShare>,
}

impl Participant {
    async fn take(&mut self, message: ToShare) {
        self.last_message = Instant::now();
        match message {
            ToShare::Ping { sent_ns } => {
                self.send(FromShare::Pong { sent_ns, clock_ns: self.wall.now() }).await;
            }
            ToShare::Begin { at_ns, date } => {
                let at = self.wall.instant(at_ns);
                self.zero = Some(at);
                if let Some(gate) = self.gate.take() {
                    let _ = gate.send(Zero { at, date });
                }
            }
            ToShare::EndWindow { second } => self.stopper.end_window_at(second),
            ToShare::Stop => self.stopper.stop(),
            ToShare::Abort => self.abort(),
            ToShare::Alive => {}
        }
    }

    /// Ends the share, even if it never began.
    fn abort(&mut self) {
        self.gate = None;
        self.stopper.abort();
    }

    async fn pass_on(&mut self, event: Event) {
        let message = match event {
            Event::Connecting { connected, .. } => FromShare::Connecting { connected },
            Event::Started { .. } => {
                let late = self.zero.map(|zero| zero.elapsed()).unwrap_or_default();
                FromShare::Started { late_ns: late.as_nanos().try_into().unwrap_or(u64::MAX) }
            }
            Event::Second(interval) => FromShare::Second(interval),
            Event::Note(note) => FromShare::Note(note),
            // The coordinator has the phases of the whole run.
            Event::Phase(..) => return,
        };
        self.send(message).await;
    }

    /// Sends a message; if it is not read in time, the share ends, and sends no more: each message
    /// would wait again.
    async fn send(&mut self, message: FromShare) {
        if self.is_unheard {
            return;
        }
        if !matches!(timeout(SILENCE_MAX, self.to.send(message)).await, Ok(Ok(()))) {
            self.is_unheard = true;
            self.abort();
        }
    }
}
