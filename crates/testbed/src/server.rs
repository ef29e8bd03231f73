//! The common parts of private servers: a folder, a port, certificates, a guardian.

use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::process::Signal;
use tempfile::TempDir;

use crate::TestbedError;
use crate::certificates;
use crate::guardian::{Guardian, GuardianPlan};

/// The user that the client certificate is issued for.
pub(crate) const CERTIFICATE_USER: &str = "certificate_user";
/// Interval at which a server is polled.
const POLL: Duration = Duration::from_millis(10);
const POLLS_MAX: u32 = 12_000;
/// Ports of servers: above those of services, and below those that Linux gives to outgoing connections.
const PORTS: Range<u16> = 12_000..32_000;
/// Maximum number of starts with another port, if one is taken between finding and using it.
const STARTS_MAX: u32 = 5;

/// A private server of any product, stopped and removed when it is dropped or the process ends.
pub struct Server {
    // Dropped before the folder, so that the server is stopped first.
    guardian: Option<Guardian>,
    folder: TempDir,
    product: &'static str,
    port: u16,
}

/// The commands that start a product's server.
pub(crate) struct Commands {
    /// Creates the data folder; empty if it exists.
    pub first: Vec<String>,
    /// Starts the server on the data folder.
    pub server: Vec<String>,
}

/// Product-specific parts of starting a server.
pub(crate) trait Launch {
    /// The commands for a folder and a port.
    fn commands(&self, folder: &Path, port: u16) -> Commands;
    /// Whether the server with that process ID accepts sessions.
    fn is_ready(&self, folder: &Path, pid: i32) -> bool;
    /// Text in the log if the port is taken.
    const PORT_IS_TAKEN: &'static str;
}

impl Server {
    /// Creates a folder with certificates in it.
    pub(crate) fn new(product: &'static str, prefix: &str) -> Result<Self, TestbedError> {
        // The path of a unix socket is limited to about a hundred bytes.
        let folder = tempfile::Builder::new()
            .prefix(prefix)
            .tempdir_in("/tmp")
            .map_err(TestbedError::io("creating a folder in /tmp"))?;
        certificates::write(folder.path(), CERTIFICATE_USER)?;
        Ok(Self { guardian: None, folder, product, port: 0 })
    }

    /// Starts the server for the first time, on a free port; returns when it accepts sessions.
    pub(crate) fn start<L: Launch>(&mut self, launch: &L) -> Result<(), TestbedError> {
        let mut starts = 0;
        loop {
            self.port = free_port()?;
            starts += 1;
            match self.launch(launch) {
                Err(_) if starts < STARTS_MAX && self.log().contains(L::PORT_IS_TAKEN) => {
                    self.end_guardian(true);
                }
                result => return result,
            }
        }
    }

    /// Stops the server if it is running, and starts it on the same folder and port; returns when
    /// it accepts sessions.
    pub(crate) fn restart(&mut self, launch: &impl Launch) -> Result<(), TestbedError> {
        self.end_guardian(true);
        self.launch(launch)
    }

    /// Starts the server again without waiting for it.
    pub(crate) fn restart_unattended(&mut self, launch: &impl Launch) -> Result<(), TestbedError> {
        self.end_guardian(true);
        self.spawn(launch)
    }

    fn launch(&mut self, launch: &impl Launch) -> Result<(), TestbedError> {
        self.spawn(launch)?;
        self.wait_until_ready(launch)
    }

    fn spawn(&mut self, launch: &impl Launch) -> Result<(), TestbedError> {
        let commands = launch.commands(self.folder.path(), self.port);
        let log = self.log_file();
        let plan = GuardianPlan {
            folder: self.folder.path(),
            log: &log,
            first: &commands.first,
            server: &commands.server,
        };
        self.guardian = Some(Guardian::start(&plan)?);
        Ok(())
    }

    fn wait_until_ready(&mut self, launch: &impl Launch) -> Result<(), TestbedError> {
        for _ in 0..POLLS_MAX {
            let guardian = self.guardian.as_mut().expect("a launch begins with a guardian");
            match guardian.server(self.folder.path()) {
                Ok(Some(pid)) => {
                    if launch.is_ready(self.folder.path(), pid.as_raw_nonzero().get()) {
                        return Ok(());
                    }
                }
                Ok(None) => {}
                Err(error) => return Err(self.failure(&error.to_string())),
            }
            if self.guardian.as_ref().is_some_and(Guardian::has_ended) {
                return Err(self.failure("the server ended at once"));
            }
            std::thread::sleep(POLL);
        }
        Err(self.failure("the server did not become ready"))
    }

    fn failure(&self, what: &str) -> TestbedError {
        TestbedError::Failed(format!("{}: {what}; its log:\n{}", self.product, self.log()))
    }

    /// The server's port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The server's folder, which also contains its unix socket.
    pub fn socket_folder(&self) -> &Path {
        self.folder.path()
    }

    /// The user that can log in only with [`Server::client_certificate`]; it exists only after a
    /// test has created it.
    pub fn certificate_user(&self) -> &'static str {
        CERTIFICATE_USER
    }

    /// Certificate of the authority that signed the server's certificate.
    pub fn authority(&self) -> PathBuf {
        self.folder.path().join("ca.crt")
    }

    /// Certificate of an authority that signed nothing.
    pub fn other_authority(&self) -> PathBuf {
        self.folder.path().join("other-ca.crt")
    }

    /// Certificate and key of [`Server::certificate_user`].
    pub fn client_certificate(&self) -> (PathBuf, PathBuf) {
        (self.folder.path().join("client.crt"), self.folder.path().join("client.key"))
    }

    /// Kills the server and its processes at once, as a crash would.
    pub fn kill9(&mut self) {
        if let Some(guardian) = &self.guardian {
            guardian.kill();
        }
        self.end_guardian(true);
    }

    /// Stops the server properly; it can be started again.
    pub fn stop(&mut self) {
        self.end_guardian(true);
    }

    /// Pauses the server and its processes: the host looks alive, and nothing answers.
    pub fn sigstop(&self) {
        if let Some(guardian) = &self.guardian {
            guardian.signal(Signal::STOP);
        }
    }

    /// Resumes the server and its processes.
    pub fn sigcont(&self) {
        if let Some(guardian) = &self.guardian {
            guardian.signal(Signal::CONT);
        }
    }

    /// Contents of the server's log.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.log_file()).unwrap_or_default()
    }

    fn log_file(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    fn end_guardian(&mut self, keep: bool) {
        if let Some(guardian) = self.guardian.take() {
            guardian.stop(keep);
        }
    }
}

/// Finds a port that nothing uses, outside those that the system gives to connections: while a server is down, one of
/// them could get its port, and even a client's attempt to connect to it could.
pub(crate) fn free_port() -> Result<u16, TestbedError> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let length = u32::from(PORTS.end - PORTS.start);
    let candidates = std::iter::repeat_with(|| {
        let number =
            std::process::id().wrapping_mul(31).wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
        PORTS.start
            + u16::try_from(number % length).expect("less than the length of a range of ports")
    });
    let is_free = |port: &u16| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok();
    let found = candidates.take(length as usize).find(is_free);
    found.ok_or_else(|| TestbedError::Failed(format!("none of the ports {PORTS:?} is free")))
}
