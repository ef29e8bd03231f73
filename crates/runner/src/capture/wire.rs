//! Captures what passes between clients and a server: `--listen`.
//!
//! 1. connect to the server once, so that a mistake in the target is found before clients are;
//! 2. forward and record until the time is over, Ctrl-C, or a limit of the recording;
//! 3. keep the file, so that nothing that comes later can lose it;
//! 4. forward the connections that are open for a while, and close what is left.

use std::net::{SocketAddr, TcpListener, ToSocketAddrs as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio_rustls::TlsAcceptor;
use triphammer_core::SpecError;
use triphammer_core::clock::{Clock, parse_duration};
use triphammer_core::session::Database as _;
use triphammer_document::capture::CaptureReport;
use triphammer_drivers::tls::server::{CERTIFICATE, KEY, server_config};
use triphammer_drivers::tunnel::Tunnel;
use triphammer_settings::Settings;
use triphammer_settings::failure::{Doing as _, Failure};
use triphammer_settings::format::{bytes, counted, duration};
use triphammer_settings::handle::Handle;
use triphammer_settings::target::{self, Secrets, Target, parse_size, show_size};
use triphammer_settings::worker_pool::on_this_thread;
use triphammer_wire::{Cut, Limits, Options, Proxy, Recorded};
use triphammer_workloads::custom::Custom;

use super::common::{CaptureEvent, MaskRequest, counts};
use super::output::Output;

/// How often it is looked whether the recording has ended, and whether connections are still open.
const GLANCE: Duration = Duration::from_millis(100);

/// The server whose clients to record, and where to listen for them.
#[derive(Debug)]
pub struct WireRequest {
    target: Target,
    output: Output,
    listen: Vec<SocketAddr>,
    length: Option<Duration>,
    drain: Duration,
    limits: Limits,
    tls: Option<Tls>,
    database: Option<String>,
    mask: MaskRequest,
}

/// TLS for clients.
struct Tls(TlsAcceptor);

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tls")
    }
}

impl WireRequest {
    /// The server and the address in the settings.
    ///
    /// # Errors
    /// When the target or a setting is invalid, or the output is no recording.
    pub fn new(
        output: Output,
        settings: &mut Settings,
        secrets: &dyn Secrets,
    ) -> Result<Self, Failure> {
        let wrong = |about, why: &str| Err(SpecError::new(why).about(about).into());
        if settings.get("from").is_some() {
            return wrong("from", "--from is the format of a log; omit it with --listen");
        }
        if !output.is_recording {
            return wrong(
                "output",
                "--listen makes a recording: name its file, such as -o shop.recording",
            );
        }
        let listen = settings.get("listen").map(str::to_owned).unwrap_or_default();
        let addresses = listen.to_socket_addrs().map(Vec::from_iter).unwrap_or_default();
        if addresses.is_empty() {
            let message =
                format!("cannot listen on `{listen}`: expected HOST:PORT, such as 127.0.0.1:6432");
            return Err(SpecError::new(message).about("listen").into());
        }
        let target = target::open(settings, Some(&Custom::describe()), secrets)?;
        let tunnel = tunnel(&target)?;
        let show = |time: &Duration| duration(time.as_secs_f64());
        let length = settings.optional("for", parse_duration, show, "at Ctrl-C")?;
        let named = settings.get("database").map(str::to_owned);
        let memory = settings.read("max-memory", parse_size, show_size)?;
        let limits = Limits {
            memory: usize::try_from(memory).unwrap_or(usize::MAX),
            file: settings.read("max-file", parse_size, show_size)?,
        };
        Ok(Self {
            database: named.or_else(|| Some(tunnel.database().to_owned())),
            listen: addresses,
            length,
            drain: settings.duration("drain")?,
            limits,
            tls: tls(settings)?,
            mask: MaskRequest::new(settings)?,
            target,
            output,
        })
    }

    /// Warnings about the target and the way to it.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = self.target.warnings.clone();
        let is_open = self.listen.iter().any(|address| !address.ip().is_loopback());
        if is_open && self.tls.is_none() {
            warnings.push(
                "clients of other hosts connect without TLS: --tls-cert and --tls-key offer it"
                    .to_owned(),
            );
        }
        warnings
    }

    /// Forwards and records.
    ///
    /// # Errors
    /// When the server cannot be reached, the address is not free, the file cannot be written, or nothing was recorded.
    pub fn capture(
        &self,
        handle: &Handle,
        report: &mut dyn FnMut(CaptureEvent),
    ) -> Result<CaptureReport, Failure> {
        let tunnel = tunnel(&self.target)?;
        let name = self.target.database.target();
        on_this_thread(async { tunnel.probe().await })
            .doing(format_args!("connecting to {name}"))?;
        let listener = self.listener()?;
        let _folders = self.output.folders()?;
        let file = self.output.recording()?;
        let failed = |error| Failure::System { doing: "starting the proxy".to_owned(), error };
        let copy = file.file().try_clone().map_err(failed)?;
        let mut proxy = Proxy::start(Options {
            listener,
            tunnel,
            tls: self.tls.as_ref().map(|tls| tls.0.clone()),
            file: copy,
            limits: self.limits,
            database: self.database.clone(),
            mask: self.mask.draw()?,
        })
        .map_err(failed)?;
        report(CaptureEvent::Listening(proxy.address()));
        let clock = Clock::start();
        self.wait(handle, &clock, &proxy);
        let recorded = proxy.end_recording().map_err(|error| Failure::System {
            doing: format!("writing {}", self.output.file.display()),
            error,
        });
        let made = recorded.and_then(|recorded| {
            let made = self.made(&recorded, proxy.unreached())?;
            file.keep()?;
            report(CaptureEvent::Recorded(made.ended_early.clone()));
            Ok(made)
        });
        // Clients keep their server for as long as they were promised, also when the recording is lost.
        self.wait_out(handle, &clock);
        self.drain(handle, &proxy, report);
        made
    }

    fn listener(&self) -> Result<TcpListener, Failure> {
        TcpListener::bind(&self.listen[..]).map_err(|error| {
            let address = self.listen[0];
            SpecError::new(format!("cannot listen on {address}: {error}")).about("listen").into()
        })
    }

    /// Time that is left of the recording; `None` if it has no end.
    fn rest(&self, clock: &Clock) -> Option<Duration> {
        self.length.map(|length| length.saturating_sub(clock.now().duration()))
    }

    /// Waits until the recording is to end, or has ended.
    fn wait(&self, handle: &Handle, clock: &Clock, proxy: &Proxy) {
        while !handle.is_stopped() && proxy.is_recording() {
            let rest = self.rest(clock).unwrap_or(GLANCE);
            if rest.is_zero() {
                return;
            }
            handle.wait(rest.min(GLANCE));
        }
    }

    /// Waits until the time is over, or Ctrl-C.
    fn wait_out(&self, handle: &Handle, clock: &Clock) {
        while !handle.is_stopped() && self.rest(clock).is_none_or(|rest| !rest.is_zero()) {
            handle.wait(self.rest(clock).unwrap_or(GLANCE).min(GLANCE));
        }
    }

    /// Forwards the connections that are open until they end, the time is over, or Ctrl-C.
    fn drain(&self, handle: &Handle, proxy: &Proxy, report: &mut dyn FnMut(CaptureEvent)) {
        proxy.drain();
        let (clock, was_stopped) = (Clock::start(), handle.is_stopped());
        let is_over = || match was_stopped {
            true => handle.is_aborted(),
            false => handle.is_stopped(),
        };
        if proxy.open() > 0 && !is_over() {
            report(CaptureEvent::Draining(proxy.open(), self.drain));
        }
        while proxy.open() > 0 && !is_over() && clock.now().duration() < self.drain {
            if was_stopped {
                std::thread::sleep(GLANCE);
            } else {
                handle.wait(GLANCE);
            }
        }
    }

    /// What was made of what passed.
    fn made(&self, recorded: &Recorded, unreached: u64) -> Result<CaptureReport, Failure> {
        let source = self.target.database.target();
        if recorded.transactions == 0 {
            let counts = recorded.skipped.lines("  ");
            let counts =
                if counts.is_empty() { counts } else { format!("\n{}", counts.trim_end()) };
            let cut = self.ended_early(recorded);
            let cut = cut.map(|why| format!(" ({why})")).unwrap_or_default();
            return Err(Failure::refuse(format!(
                "no statement that can be replayed passed between clients and {source}{cut}: clients must \
                 connect to the address of --listen, and begin after it{counts}"
            )));
        }
        Ok(CaptureReport {
            from: "wire".to_owned(),
            source,
            files: vec![self.output.file.clone()],
            is_recording: true,
            bytes: recorded.bytes,
            sessions: recorded.sessions,
            transactions: recorded.transactions,
            statements: recorded.statements,
            distinct_statements: recorded.shapes,
            kinds: 0,
            parameters: 0,
            seconds: recorded.seconds,
            guessed: None,
            ended_early: self.ended_early(recorded),
            unreached,
            skipped: counts(&recorded.skipped),
        })
    }

    fn ended_early(&self, recorded: &Recorded) -> Option<String> {
        let (cut, seconds) = recorded.cut?;
        let Limits { memory, file } = self.limits;
        let why = match cut {
            Cut::Memory => {
                let most = bytes(memory as u64);
                format!("what was not recorded yet exceeded --max-memory, {most}")
            }
            Cut::File => format!("the file reached --max-file, {}", bytes(file)),
            Cut::Unwritable => {
                "the file could not be written further; is the disk full?".to_owned()
            }
        };
        Some(format!("after {}: {why}", duration(seconds)))
    }
}

/// How the server of a target is reached.
fn tunnel(target: &Target) -> Result<Tunnel, SpecError> {
    let name = target.database.target();
    let wrong = |why: String| SpecError::new(why).about("target");
    let found = target.database.tunnel().ok_or_else(|| {
        wrong(format!(
            "cannot record the clients of {name}: --listen supports PostgreSQL, MySQL and MariaDB"
        ))
    })?;
    if found.hosts() > 1 {
        let hosts = counted(found.hosts() as u64, "servers");
        return Err(wrong(format!(
            "{name} names {hosts}: --listen forwards to one, name only that"
        )));
    }
    Ok(found)
}

/// TLS for clients, if the settings have a certificate.
fn tls(settings: &Settings) -> Result<Option<Tls>, SpecError> {
    let (chain, key) = (settings.get(CERTIFICATE), settings.get(KEY));
    match (chain, key) {
        (None, None) => Ok(None),
        (Some(chain), Some(key)) => {
            let config = server_config(Path::new(chain), Path::new(key))?;
            Ok(Some(Tls(TlsAcceptor::from(Arc::new(config)))))
        }
        (given, _) => {
            let (has, lacks) =
                if given.is_some() { (CERTIFICATE, KEY) } else { (KEY, CERTIFICATE) };
            let message = format!("--{has} also needs --{lacks}");
            Err(SpecError::new(message).about(lacks))
        }
    }
}
