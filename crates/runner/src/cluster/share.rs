//! The process that drives a share: `triphammer share`. Stdin and stdout carry frames; their other
//! ends are the coordinator's, or a bridge's.

use std::io::{BufReader, BufWriter, Stdin, Stdout};
use std::thread::JoinHandle;

use tokio::sync::{mpsc, oneshot};
use triphammer_core::engine::hosts::{Engine, FromShare, Hello, ToShare, participate};

use super::frames;
use super::order::{Order, cpus};
use crate::failure::Failure;
use crate::worker_pool::on_this_thread;

/// Name of the command, which is not for users.
pub const NAME: &str = "share";
/// Messages that may wait in either direction.
const MESSAGES_MAX: usize = 256;
/// Identifies the running kernel on Linux.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
/// Name of the host on Linux.
const HOST_NAME: &str = "/proc/sys/kernel/hostname";

/// Drives a share, as stdin orders; returns when it has ended, or when stdin has.
///
/// # Errors
/// When stdout is closed, or stdin contains something else.
pub fn share() -> Result<(), Failure> {
    let mut input = BufReader::new(std::io::stdin());
    let (to, writer) = writer();
    let _ = to.blocking_send(FromShare::Hello(hello()));
    let broken = |error| Failure::System { doing: "reading the order of a share".into(), error };
    let Some((_, order)) = frames::read(&mut input).map_err(broken)? else { return Ok(()) };
    if let Err(failure) = drive(&order, input, to.clone()) {
        let _ = to.blocking_send(FromShare::Failed(failure.to_string()));
    }
    drop(to);
    writer
        .join()
        .unwrap_or(Ok(()))
        .map_err(|error| Failure::System { doing: "reporting a share".into(), error })
}

fn drive(
    order: &[u8],
    input: BufReader<Stdin>,
    to: mpsc::Sender<FromShare>,
) -> Result<(), Failure> {
    let order: Order = serde_json::from_slice(order)
        .map_err(|error| Failure::refuse(format!("not the order of a share: {error}")))?;
    let plan = order.plan()?;
    let (gate, opens) = oneshot::channel();
    let run = triphammer_load::start_gated(plan, opens)
        .map_err(|error| Failure::System { doing: "starting a share".into(), error })?;
    let (events, stopper, end) = run.into_parts();
    let from = reader(input);
    on_this_thread(async {
        participate(Engine { events, stopper, gate, end: async { end() } }, from, to).await;
        Ok(())
    })
}

/// Who this process is.
fn hello() -> Hello {
    let read = |path| std::fs::read_to_string(path).map(|text| text.trim().to_owned());
    Hello {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        host: read(HOST_NAME).unwrap_or_else(|_| "host".to_owned()),
        cpus: cpus(),
        boot: read(BOOT_ID).unwrap_or_default(),
    }
}

/// Reads messages on a thread of its own; the channel closes when stdin ends. The thread is not
/// waited for: it ends with the process.
fn reader(mut input: BufReader<Stdin>) -> mpsc::Receiver<ToShare> {
    let (sender, receiver) = mpsc::channel(MESSAGES_MAX);
    std::thread::spawn(move || {
        while let Ok(Some((_, bytes))) = frames::read(&mut input) {
            let Ok(message) = serde_json::from_slice(&bytes) else { return };
            if sender.blocking_send(message).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Writes messages on a thread of its own, until all senders are gone.
fn writer() -> (mpsc::Sender<FromShare>, JoinHandle<std::io::Result<()>>) {
    let (sender, mut receiver) = mpsc::channel::<FromShare>(MESSAGES_MAX);
    let thread = std::thread::spawn(move || {
        let mut output: BufWriter<Stdout> = BufWriter::new(std::io::stdout());
        while let Some(message) = receiver.blocking_recv() {
            let bytes = serde_json::to_vec(&message).map_err(std::io::Error::other)?;
            frames::write(&mut output, 0, &bytes)?;
        }
        Ok(())
    });
    (sender, thread)
}
