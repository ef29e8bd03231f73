//! The process that drives a share of a run, or loads a part of the data: `triphammer share`. Stdin and
//! stdout carry frames; their other ends are the coordinator's, or a bridge's.

use std::io::{BufReader, BufWriter, Stdin, Stdout};
use std::thread::JoinHandle;

use tokio::sync::{mpsc, oneshot};
use triphammer_core::DbError;
use triphammer_core::session::{Role, Session as _};
use triphammer_engine::hosts::{Engine, FromShare, Hello, ToShare, participate};
use triphammer_load::Plan;
use triphammer_settings::failure::Failure;
use triphammer_settings::worker_pool::{connect, on_this_thread};

use super::frames;
use super::load;
use super::order::{Order, RunOrder, cpus};
use super::processes::Message;

/// Messages that may wait in either direction.
const MESSAGES_MAX: usize = 256;
/// Identifies the running kernel on Linux.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
/// Name of the host on Linux.
const HOST_NAME: &str = "/proc/sys/kernel/hostname";

/// Does what stdin orders; returns when that is done, or when stdin has ended.
///
/// # Errors
/// When stdout is closed, or stdin contains something else.
pub fn share() -> Result<(), Failure> {
    let mut input = BufReader::new(std::io::stdin());
    let hello = encoded(&FromShare::Hello(hello()));
    let hello = hello.and_then(|hello| frames::write(&mut std::io::stdout(), 0, &hello));
    hello.map_err(|error| failed("reporting a share", error))?;
    let read = frames::read(&mut input);
    let read = read.map_err(|error| failed("reading the order of a share", error))?;
    let Some((_, order)) = read else { return Ok(()) };
    match serde_json::from_slice(&order) {
        Ok(Order::Run(order)) => reporting(|to| drive(*order, input, to)),
        Ok(Order::Build(order)) => reporting(|to| load::load(order, input, &to)),
        Err(error) => reporting(|_: mpsc::Sender<FromShare>| {
            Err(Failure::refuse(format!("not the order of a share: {error}")))
        }),
    }
}

/// Does work that sends messages, of which its failure is the last.
fn reporting<M: Message>(
    work: impl FnOnce(mpsc::Sender<M>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (to, writer) = writer();
    match work(to.clone()) {
        // Nobody listens any more.
        Err(Failure::Cancelled) => return Ok(()),
        Err(failure) => {
            let _ = to.blocking_send(M::failed(failure.to_string()));
        }
        Ok(()) => {}
    }
    drop(to);
    writer.join().unwrap_or(Ok(())).map_err(|error| failed("reporting a share", error))
}

fn failed(doing: &str, error: std::io::Error) -> Failure {
    Failure::System { doing: doing.to_owned(), error }
}

fn encoded(message: &impl serde::Serialize) -> std::io::Result<Vec<u8>> {
    serde_json::to_vec(message).map_err(std::io::Error::other)
}

fn drive(
    order: RunOrder,
    input: BufReader<Stdin>,
    to: mpsc::Sender<FromShare>,
) -> Result<(), Failure> {
    let plan = order.plan()?;
    look(&plan);
    let (gate, opens) = oneshot::channel();
    let run = triphammer_load::start_gated(plan, opens)
        .map_err(|error| failed("starting a share", error))?;
    let (events, stopper, end) = run.into_parts();
    let from = reader(input);
    on_this_thread(async {
        participate(Engine { events, stopper, gate, end: async { end() } }, from, to).await;
        Ok(())
    })
}

/// Opens and closes a session that is no user's: it finds out what is between here and the database.
/// If it cannot be opened, users report why.
fn look(plan: &Plan) {
    let _ = on_this_thread(async {
        let limit = plan.spec.limits.connect;
        let session = connect(&plan.database, Role::Monitor, limit).await?;
        session.close().await;
        Ok::<_, DbError>(())
    });
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
fn writer<M: Message>() -> (mpsc::Sender<M>, JoinHandle<std::io::Result<()>>) {
    let (sender, mut receiver) = mpsc::channel::<M>(MESSAGES_MAX);
    let thread = std::thread::spawn(move || {
        let mut output: BufWriter<Stdout> = BufWriter::new(std::io::stdout());
        while let Some(message) = receiver.blocking_recv() {
            frames::write(&mut output, 0, &encoded(&message)?)?;
        }
        Ok(())
    });
    (sender, thread)
}
