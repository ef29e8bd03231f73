//! The processes of a run or a build by several hosts, as the coordinator sees them: threads that read
//! and write their pipes.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{BufReader, BufWriter};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};
use triphammer_engine::hosts::{FromHost, FromShare, Hello, Link, ToShare};
use triphammer_settings::cancel::Cancel;
use triphammer_settings::failure::Failure;

use super::order::Order;
use super::{HOSTS_MAX, Programs, SHARE, frames, programs};

/// Messages that may wait for a process, for a bridge to many hosts, and those of all hosts for the
/// coordinator.
const TO_HOST_MAX: usize = 1_024;
const TO_BRIDGE_MAX: usize = 32 * HOSTS_MAX as usize;
const FROM_HOSTS_MAX: usize = 4_096;
/// Longest wait for the first message of a host: Ray may have to start workers.
const HELLO_MAX: Duration = Duration::from_secs(120);
/// Longest wait for the end of a process whose work is done.
const END_MAX: Duration = Duration::from_secs(10);
/// How often the end of the job is looked for during a wait.
const POLL: Duration = Duration::from_millis(100);
/// The number of the bridge itself, in place of a host's.
const BRIDGE: u32 = u32::MAX;

/// How to get what `--cluster ray://` needs.
const NEEDS_PACKAGE: &str = "this program was built without Ray: install the Python package with \
                             `pip install 'triphammer[ray]'`, and use its `triphammer` command";

/// A message of the bridge about itself.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum OfBridge {
    /// It has started a process on this many hosts.
    Hosts(u32),
    /// It cannot.
    Error(String),
    /// The link to a host has ended.
    Lost { host: u32, reason: String },
}

/// The bridge's first frame: the cluster, and the version that its hosts need.
#[derive(Serialize)]
struct ToBridge<'a> {
    address: &'a str,
    hosts: Option<u32>,
    version: &'static str,
}

type Bytes = (u32, Vec<u8>);

/// What a process sends, according to its work. All begin with the same [`Hello`].
pub(super) trait Message: Serialize + DeserializeOwned + Send + 'static {
    /// Says that the work failed.
    fn failed(reason: String) -> Self;
    /// Who the process is, or why it cannot work; `None` for any other message.
    fn greeting(self) -> Option<Result<Hello, String>>;
}

impl Message for FromShare {
    fn failed(reason: String) -> Self {
        Self::Failed(reason)
    }

    fn greeting(self) -> Option<Result<Hello, String>> {
        match self {
            Self::Hello(hello) => Some(Ok(hello)),
            Self::Failed(reason) => Some(Err(reason)),
            _ => None,
        }
    }
}

/// The messages of all hosts.
pub(super) type Messages<M> = mpsc::Receiver<FromHost<M>>;

/// The processes; dropping ends them.
pub(crate) struct Processes {
    children: Vec<Child>,
    /// Sends frames to a host.
    senders: Vec<SyncSender<Bytes>>,
    /// Number of hosts; not yet known for a bridge.
    hosts: Option<u32>,
    /// Receives what the bridge says about itself at its start.
    bridge: Option<mpsc::Receiver<OfBridge>>,
}

impl Processes {
    /// Starts processes on this host.
    pub(super) fn local<M: Message>(hosts: u32) -> Result<(Self, Messages<M>), Failure> {
        let (from, messages) = mpsc::channel(FROM_HOSTS_MAX);
        let (children, senders) = (Vec::new(), Vec::new());
        let mut all = Self { children, senders, hosts: Some(hosts), bridge: None };
        let Programs { mut this, .. } = found()?;
        this.push(SHARE.into());
        for host in 0..hosts as usize {
            let (child, input, output) = start(&this)?;
            all.children.push(child);
            all.senders.push(writer(input, TO_HOST_MAX));
            let from = from.clone();
            std::thread::spawn(move || read_share(host, output, &from));
        }
        Ok((all, messages))
    }

    /// Starts the bridge, which starts a process on each host.
    pub(super) fn by_bridge<M: Message>(
        address: &str,
        hosts: Option<u32>,
    ) -> Result<(Self, Messages<M>), Failure> {
        let Some(bridge) = found()?.bridge else { return Err(Failure::refuse(NEEDS_PACKAGE)) };
        let (child, input, output) = start(&bridge)?;
        let (from, messages) = mpsc::channel(FROM_HOSTS_MAX);
        let (of_bridge, about) = mpsc::channel(1);
        let sender = writer(input, TO_BRIDGE_MAX);
        let first = ToBridge { address, hosts, version: env!("CARGO_PKG_VERSION") };
        let first = serde_json::to_vec(&first).expect("plain data");
        let _ = sender.try_send((BRIDGE, first));
        std::thread::spawn(move || read_bridge(output, &of_bridge, &from));
        let (children, senders) = (vec![child], vec![sender]);
        Ok((Self { children, senders, hosts: None, bridge: Some(about) }, messages))
    }

    fn sender(&self, host: u32) -> &SyncSender<Bytes> {
        self.senders.get(host as usize).unwrap_or(&self.senders[0])
    }

    /// Waits until every host has said who it is.
    ///
    /// # Errors
    /// When one does not, or is of another version; [`Failure::Cancelled`] when the job is to end.
    pub(super) async fn greet<M: Message>(
        &mut self,
        messages: &mut Messages<M>,
        cancel: &Cancel,
    ) -> Result<Vec<Hello>, Failure> {
        let began = Instant::now();
        let hosts = match (self.hosts, &mut self.bridge) {
            (Some(hosts), _) => hosts,
            (None, Some(bridge)) => match next(bridge, began, cancel).await? {
                OfBridge::Hosts(hosts) => hosts,
                OfBridge::Error(reason) | OfBridge::Lost { reason, .. } => {
                    return Err(Failure::refuse(reason));
                }
            },
            (None, None) => 0,
        };
        let mut known: Vec<Option<Hello>> = vec![None; hosts as usize];
        while known.iter().any(Option::is_none) {
            let FromHost { host, message } = next(messages, began, cancel).await?;
            match message.map(M::greeting) {
                Ok(Some(Ok(hello))) if host < known.len() => known[host] = Some(hello),
                Ok(Some(Err(reason))) | Err(reason) => {
                    let message = format!("host {} of {hosts}: {reason}", host + 1);
                    return Err(Failure::refuse(message));
                }
                Ok(_) => {}
            }
        }
        let known: Vec<Hello> = known.into_iter().flatten().collect();
        refuse_other_versions(&known)?;
        Ok(known)
    }

    /// The links to hosts, for a run.
    pub(super) fn links(&self, known: Vec<Hello>) -> Vec<Link> {
        let mut machines: Vec<String> = Vec::new();
        let names = names(&known);
        let link = |(host, (hello, name)): (u32, (Hello, String))| {
            let place = machines.iter().position(|boot| *boot == hello.boot);
            // Without an identity, each host counts as a machine of its own.
            let machine = place.filter(|_| !hello.boot.is_empty()).unwrap_or_else(|| {
                machines.push(hello.boot.clone());
                machines.len() - 1
            });
            let sender = self.sender(host).clone();
            let send: Box<dyn Fn(&ToShare) -> bool + Send> = Box::new(move |message| {
                let bytes = serde_json::to_vec(message).expect("plain data");
                sender.try_send((host, bytes)).is_ok()
            });
            Link { name, cpus: hello.cpus, machine, send }
        };
        (0..).zip(known.into_iter().zip(names)).map(link).collect()
    }

    /// Shows a host that the coordinator is there.
    pub(super) fn show_life(&self, host: u32) {
        let bytes = serde_json::to_vec(&ToShare::Alive).expect("plain data");
        // A host that takes no messages is noticed by its own silence.
        let _ = self.sender(host).try_send((host, bytes));
    }

    /// Gives a host its share.
    pub(super) fn order(&self, host: u32, order: &Order) -> Result<(), Failure> {
        let bytes = serde_json::to_vec(order)
            .map_err(|error| Failure::refuse(format!("the order cannot be sent: {error}")))?;
        let sent = self.sender(host).try_send((host, bytes));
        sent.map_err(|_| Failure::refuse(format!("host {} does not read its messages", host + 1)))
    }
}

impl Drop for Processes {
    /// Closes their stdin, which ends them, and kills those that do not end.
    fn drop(&mut self) {
        self.senders.clear();
        let until = Instant::now() + END_MAX;
        for child in &mut self.children {
            while matches!(child.try_wait(), Ok(None)) && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(10));
            }
            if matches!(child.try_wait(), Ok(None)) {
                let _ = child.kill();
                let _ = child.wait();
            }
        }
    }
}

/// The names of hosts, unique.
pub(super) fn names(known: &[Hello]) -> Vec<String> {
    let mut seen: HashMap<&str, u32> = HashMap::new();
    let mut names = Vec::new();
    for hello in known {
        let nth = seen.entry(&hello.host).or_default();
        *nth += 1;
        names.push(match *nth {
            1 => hello.host.clone(),
            nth => format!("{} #{nth}", hello.host),
        });
    }
    names
}

/// The next message; an error when it does not come in time, or the job is to end.
async fn next<T>(
    from: &mut mpsc::Receiver<T>,
    began: Instant,
    cancel: &Cancel,
) -> Result<T, Failure> {
    while began.elapsed() < HELLO_MAX {
        if cancel.is_cancelled() {
            return Err(Failure::Cancelled);
        }
        match timeout(POLL, from.recv()).await {
            Ok(Some(message)) => return Ok(message),
            Ok(None) => {
                return Err(Failure::refuse("the processes of the hosts ended at their start"));
            }
            Err(_) => {}
        }
    }
    let limit = HELLO_MAX.as_secs();
    let message =
        format!("not all hosts answered within {limit} s: check the state of the cluster");
    Err(Failure::refuse(message))
}

/// Rejects hosts with another version of the program, all at once.
fn refuse_other_versions(known: &[Hello]) -> Result<(), Failure> {
    let own = env!("CARGO_PKG_VERSION");
    let others: Vec<String> = known
        .iter()
        .filter(|hello| hello.version != own)
        .map(|hello| format!("{} has {}", hello.host, hello.version))
        .collect();
    if others.is_empty() {
        return Ok(());
    }
    Err(Failure::refuse(format!(
        "all hosts need version {own} of triphammer, as here, but {}; install the same version \
         everywhere",
        others.join(", ")
    )))
}

fn found() -> Result<Programs, Failure> {
    programs().map_err(|error| Failure::System { doing: "finding this program".into(), error })
}

/// Starts a process with pipes. A Ctrl-C at the terminal is for the coordinator only, which ends the
/// others in order.
fn start(command: &[OsString]) -> Result<(Child, ChildStdin, ChildStdout), Failure> {
    let mut starting = Command::new(&command[0]);
    starting.args(&command[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut starting, 0);
    let started = starting.spawn().map_err(|error| Failure::System {
        doing: format!("starting {}", command[0].display()),
        error,
    });
    let mut child = started?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    Ok((child, input.expect("it is a pipe"), output.expect("it is a pipe")))
}

/// Writes frames on a thread of its own, until all senders are gone; `most` of them may wait.
fn writer(input: ChildStdin, most: usize) -> SyncSender<Bytes> {
    let (sender, receiver): (_, Receiver<Bytes>) = sync_channel(most);
    std::thread::spawn(move || {
        let mut input = BufWriter::new(input);
        while let Ok((host, bytes)) = receiver.recv() {
            if frames::write(&mut input, host, &bytes).is_err() {
                return;
            }
        }
    });
    sender
}

/// Reads the messages of a share until its end.
fn read_share<M: Message>(host: usize, output: ChildStdout, from: &mpsc::Sender<FromHost<M>>) {
    let mut output = BufReader::new(output);
    loop {
        let message = match frames::read(&mut output) {
            Ok(Some((_, bytes))) => decoded(&bytes),
            Ok(None) => Err("its process ended".to_owned()),
            Err(error) => Err(error.to_string()),
        };
        let is_last = message.is_err();
        if from.blocking_send(FromHost { host, message }).is_err() || is_last {
            return;
        }
    }
}

/// Reads what the bridge passes on, and what it says about itself, until its end.
fn read_bridge<M: Message>(
    output: ChildStdout,
    about: &mpsc::Sender<OfBridge>,
    from: &mpsc::Sender<FromHost<M>>,
) {
    let mut output = BufReader::new(output);
    let mut hosts = 0;
    while let Ok(Some((host, bytes))) = frames::read(&mut output) {
        let message = match host {
            BRIDGE => match serde_json::from_slice(&bytes) {
                Ok(OfBridge::Lost { host, reason }) => {
                    FromHost { host: host as usize, message: Err(reason) }
                }
                Ok(start) => {
                    if let OfBridge::Hosts(number) = start {
                        hosts = number;
                    }
                    let _ = about.blocking_send(start);
                    continue;
                }
                Err(_) => break,
            },
            host => FromHost { host: host as usize, message: decoded(&bytes) },
        };
        if message.host >= hosts as usize || from.blocking_send(message).is_err() {
            break;
        }
    }
    for host in 0..hosts as usize {
        let message = Err("the bridge to Ray ended".to_owned());
        let _ = from.blocking_send(FromHost { host, message });
    }
}

fn decoded<M: Message>(bytes: &[u8]) -> Result<M, String> {
    serde_json::from_slice(bytes).map_err(|error| format!("its message cannot be read: {error}"))
}
