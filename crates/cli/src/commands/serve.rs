//! `triphammer serve`.

use std::io::Write as _;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use tokio::sync::watch;
use triphammer_core::SpecError;
use triphammer_core::small_file::{SETTINGS_BYTES_MAX, read_text};
use triphammer_drivers::target::Secret;
use triphammer_server::{
    ApiError, Config, FixedTarget, Server, ServerLimits, TOKEN_MIN, random_token,
};
use triphammer_settings::failure::Failure;
use triphammer_settings::{LISTEN_DEFAULT, Settings};

use super::{print, store_path};
use crate::{Exit, Result, signals, terminal};

/// Serves until Ctrl-C or SIGTERM: the first one stops and stores the running jobs, the second one
/// aborts them.
pub fn command(settings: &mut Settings) -> Result<Exit> {
    let listen: String = settings.parse("listen")?;
    let listen = address(&listen)?;
    let store = store_path(settings)?;
    let given = token(settings)?;
    let is_made = given.is_none();
    let token = given.unwrap_or_else(|| Secret::new(random_token()));
    let (cert, key) = (settings.get("tls-cert"), settings.get("tls-key"));
    let tls = match (cert, key) {
        (Some(cert), Some(key)) => Some((PathBuf::from(cert), PathBuf::from(key))),
        (None, None) => None,
        _ => return Err(Failure::refuse("--tls-cert and --tls-key must be given together")),
    };
    let names = settings.get("host").unwrap_or_default().split(',');
    let hosts = names.map(|name| name.trim().to_owned()).filter(|n| !n.is_empty()).collect();
    let is_plain = tls.is_none();
    let targets = settings.get("targets").map(|file| FixedTarget::read_all(Path::new(file)));
    let config = Config {
        listen,
        store,
        token,
        metrics_token: metrics_token(settings)?,
        targets: targets.transpose()?.unwrap_or_default(),
        data: settings.get("data").map(PathBuf::from).unwrap_or_default(),
        tls,
        hosts,
        allow_scripts: settings.switch("allow-scripts")?,
        limits: ServerLimits::default(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::System { doing: "serving".into(), error })?;
    let server = Server::bind(&config).map_err(refuse)?;
    // Must precede the line that reports to other programs that signals are handled.
    let (count, interrupts) = watch::channel(0);
    signals::serves(count);
    if is_plain && !listen.ip().is_loopback() {
        terminal::warn(
            "the token and all other data cross the network unencrypted; use --tls-cert and \
             --tls-key",
        );
    }
    let url = server.url();
    // A token from the user is never shown.
    let shown = if is_made { format!("/?token={}", config.token.reveal()) } else { String::new() };
    print(&format!("triphammer is listening on {url}{shown}"))?;
    if !triphammer_server::has_page() {
        terminal::note(
            "this program was built without its web page; `make install` in the source directory \
             builds both",
        );
    }
    let page = settings.switch("open")?.then(|| config.store.with_extension("open.html"));
    if let Some(page) = &page {
        open(page, &url, &config.token);
    }
    let served = runtime.block_on(server.run(interrupts));
    if let Some(page) = &page {
        let _ = std::fs::remove_file(page);
    }
    served.map_err(|error| Failure::System { doing: "serving".into(), error })?;
    Ok(Exit::Done)
}

fn address(text: &str) -> Result<SocketAddr> {
    let found = text.to_socket_addrs().map(|mut all| all.next());
    found.ok().flatten().ok_or_else(|| {
        let message = format!(
            "--listen: invalid address `{text}`: expected an address and a port, such as \
                     {LISTEN_DEFAULT} or [::1]:7400"
        );
        SpecError::new(message).about("listen").into()
    })
}

/// Reads the token from the file or from TRIPHAMMER_TOKEN; `None` if neither is given.
fn token(settings: &Settings) -> Result<Option<Secret>> {
    if let Some(file) = settings.get("token-file") {
        return token_in(file).map(Some);
    }
    let token = std::env::var("TRIPHAMMER_TOKEN").ok().filter(|token| !token.is_empty());
    token.map(|token| long_enough(&token, "TRIPHAMMER_TOKEN")).transpose()
}

/// Reads the token that is valid for the metrics only.
fn metrics_token(settings: &Settings) -> Result<Option<Secret>> {
    settings.get("metrics-token-file").map(token_in).transpose()
}

/// Reads the first line of a file.
fn token_in(file: &str) -> Result<Secret> {
    let text = read_text(Path::new(file), SETTINGS_BYTES_MAX)
        .map_err(|error| Failure::refuse(format!("cannot read the token file {file}: {error}")))?;
    let token = text.lines().next().unwrap_or_default().trim();
    long_enough(token, &format!("the token file {file}"))
}

/// Checks that a token is too long to guess; `whence` is its source.
fn long_enough(token: &str, whence: &str) -> Result<Secret> {
    if token.chars().count() < TOKEN_MIN {
        let message = format!(
            "the token in {whence} has fewer than {TOKEN_MIN} characters; use a longer one"
        );
        return Err(Failure::refuse(message));
    }
    Ok(Secret::new(token))
}

/// Opens a browser if there is one. The token is passed through a redirecting file that only its
/// owner can read, because arguments are visible in the process list.
fn open(page: &Path, url: &str, token: &Secret) {
    let token = utf8_percent_encode(token.reveal(), NON_ALPHANUMERIC);
    let text = format!(
        "<!doctype html><meta http-equiv=\"refresh\" content=\"0; url={url}/?token={token}\">\n"
    );
    if let Err(error) = write_private(page, &text) {
        return terminal::note(&format!("cannot open a browser: {}: {error}", page.display()));
    }
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = std::process::Command::new(program);
    let quiet = std::process::Stdio::null;
    if command.arg(page).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn().is_err() {
        terminal::note(&format!("cannot open a browser: {program} was not found"));
    }
}

/// Writes a new file that only its owner can read, replacing an existing one.
fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    let _ = std::fs::remove_file(path);
    let mut options = std::fs::File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}

fn refuse(error: ApiError) -> Failure {
    Failure::refuse(error.message)
}
