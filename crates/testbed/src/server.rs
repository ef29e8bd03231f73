//! What private servers have in common: a folder, a port, certificates, a guardian.

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Signal;
use tempfile::TempDir;

use crate::TestbedError;
use crate::certificates;
use crate::guardian::{Guardian, GuardianPlan};

/// The user that the client certificate is made out to.
pub(crate) const CERTIFICATE_USER: &str = "certificate_user";
/// How often and how long a server is waited for.
const POLL: Duration = Duration::from_millis(10);
const POLLS_MAX: u32 = 6_000;
/// Starts with another port when one is taken between finding and using it.
const STARTS_MAX: u32 = 5;

/// A private server of any product, stopped and removed when it is dropped or the process ends.
pub struct Server {
    // Before the folder, so that the server is stopped first.
    guardian: Option<Guardian>,
    folder: TempDir,
    product: &'static str,
    port: u16,
}

/// What a product's server is started with.
pub(crate) struct Commands {
    /// Makes the data folder; empty when it is there.
    pub first: Vec<String>,
    /// The server itself.
    pub server: Vec<String>,
}

/// A product's side of starting.
pub(crate) trait Launch {
    /// The commands for a folder and a port.
    fn commands(&self, folder: &Path, port: u16) -> Commands;
    /// Whether the server of that process id accepts sessions.
    fn is_ready(&self, folder: &Path, pid: i32) -> bool;
    /// What the log says when the port is taken.
    const PORT_IS_TAKEN: &'static str;
}

impl Server {
    /// Makes a folder with certificates in it.
    pub(crate) fn new(product: &'static str, prefix: &str) -> Result<Self, TestbedError> {
        // A socket's path may not be longer than some hundred bytes.
        let folder = tempfile::Builder::new()
            .prefix(prefix)
            .tempdir_in("/tmp")
            .map_err(TestbedError::io("making a folder in /tmp"))?;
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

    /// Stops the server, if it still runs, and starts it on the same folder and port; returns when it
    /// accepts sessions.
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
        Err(self.failure("the server did not get ready"))
    }

    fn failure(&self, what: &str) -> TestbedError {
        TestbedError::Failed(format!("{}: {what}; its log:\n{}", self.product, self.log()))
    }

    /// The port, on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its folder, which also holds its unix socket.
    pub fn socket_folder(&self) -> &Path {
        self.folder.path()
    }

    /// The user that may log in with [`Server::client_certificate`] and nothing else; it is there only
    /// after a test has created it.
    pub fn certificate_user(&self) -> &'static str {
        CERTIFICATE_USER
    }

    /// Certificate of the authority that signed the server's.
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

    /// Stops the server in an orderly way; it can be started again.
    pub fn stop(&mut self) {
        self.end_guardian(true);
    }

    /// Stops the server and its processes where they are: the host looks alive, and nothing answers.
    pub fn sigstop(&self) {
        if let Some(guardian) = &self.guardian {
            guardian.signal(Signal::STOP);
        }
    }

    /// Lets them go on.
    pub fn sigcont(&self) {
        if let Some(guardian) = &self.guardian {
            guardian.signal(Signal::CONT);
        }
    }

    /// What the server has logged.
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

fn free_port() -> Result<u16, TestbedError> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(TestbedError::io("finding a free port"))
}
