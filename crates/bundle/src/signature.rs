//! Signatures of manifests in the format of `ssh-keygen -Y`. The program itself is used, because it
//! knows agents, passphrases, and keys in hardware, and is there wherever such a key is.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use triphammer_core::small_file::{SETTINGS_BYTES_MAX, read_text};
use triphammer_document::bundle::Signature;
use triphammer_settings::failure::Failure;

/// Namespace of the signatures, which `ssh-keygen -Y verify` is given as `-n`.
pub(crate) const NAMESPACE: &str = "triphammer";
/// Name by which a key is allowed for the time of a verification.
const SIGNER: &str = "signer";

/// Signs a manifest with the key in this file, or with that of an agent if it is a public key.
///
/// # Errors
/// When `ssh-keygen` is not installed, or cannot use the key.
pub(crate) fn sign(manifest: &str, key: &Path) -> Result<Vec<u8>, Failure> {
    if !key.is_file() {
        let message = format!("--sign {}: there is no such regular file", key.display());
        return Err(Failure::refuse(message));
    }
    let folder = temporary()?;
    let file = folder.path().join("manifest.json");
    write(&file, manifest.as_bytes())?;
    let mut command = Command::new("ssh-keygen");
    command.args(["-Y", "sign", "-n", NAMESPACE, "-f"]).arg(key).arg(&file);
    // A passphrase is asked for at the terminal.
    let output = command.output().map_err(not_installed)?;
    if !output.status.success() {
        let reason = reason(&output);
        return Err(Failure::refuse(format!(
            "ssh-keygen cannot sign with {}: {reason}. It must be a private SSH key, as \
             `ssh-keygen -t ed25519 -f FILE` writes one, or the public key of one in an agent",
            key.display()
        )));
    }
    let signature = folder.path().join("manifest.json.sig");
    std::fs::read(&signature)
        .map_err(|error| Failure::System { doing: "reading the signature".into(), error })
}

/// Verifies the signature of a manifest; with a public key, that it is this one.
///
/// # Errors
/// When `ssh-keygen` is not installed, the signature is not one of this manifest, or it is by
/// another key.
pub(crate) fn verify(
    manifest: &[u8],
    signature: &[u8],
    asked: Option<&Path>,
) -> Result<Signature, Failure> {
    let folder = temporary()?;
    let file = folder.path().join("manifest.json.sig");
    write(&file, signature)?;
    let file = file.display().to_string();
    let check = ["-Y", "check-novalidate", "-n", NAMESPACE, "-s", &file];
    let output = keygen(&check, manifest)?;
    if !output.status.success() {
        let reason = reason(&output);
        return Err(Failure::refuse(format!(
            "the signature is not one of this manifest: {reason}"
        )));
    }
    let key = fingerprint(&output);
    let Some(asked) = asked else { return Ok(Signature::ByKey { key }) };
    let public = read_text(asked, SETTINGS_BYTES_MAX).map_err(|error| {
        Failure::refuse(format!("cannot read the key {}: {error}", asked.display()))
    })?;
    let is_public = public.split_whitespace().count() >= 2 && !public.contains("PRIVATE KEY");
    let kind = public.split_whitespace().next().unwrap_or_default();
    if !is_public || !["ssh-", "ecdsa-", "sk-"].iter().any(|of| kind.starts_with(of)) {
        return Err(Failure::refuse(format!(
            "{} is not a public SSH key: give the file that ends in .pub",
            asked.display()
        )));
    }
    let allowed = folder.path().join("allowed");
    write(&allowed, format!("{SIGNER} {}\n", public.trim()).as_bytes())?;
    let allowed = allowed.display().to_string();
    let by = ["-Y", "verify", "-n", NAMESPACE, "-I", SIGNER, "-f", &allowed, "-s", &file];
    let output = keygen(&by, manifest)?;
    if !output.status.success() {
        return Err(Failure::refuse(format!(
            "the bundle is signed by another key than that in {}: by {key}",
            asked.display()
        )));
    }
    Ok(Signature::ByAsked { key })
}

fn keygen(arguments: &[&str], input: &[u8]) -> Result<Output, Failure> {
    let mut child = Command::new("ssh-keygen")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(not_installed)?;
    if let Some(mut to) = child.stdin.take() {
        // It says itself what is wrong if it does not read all.
        let _ = to.write_all(input);
    }
    let doing = "waiting for ssh-keygen".to_owned();
    child.wait_with_output().map_err(|error| Failure::System { doing, error })
}

fn not_installed(error: std::io::Error) -> Failure {
    let doing = "starting ssh-keygen, which signs and verifies bundles (install OpenSSH's client)";
    Failure::System { doing: doing.to_owned(), error }
}

/// Type and fingerprint of the key: `ED25519 key SHA256:…`.
fn fingerprint(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().next().unwrap_or_default();
    line.split_once(" with ").map_or(line, |(_, key)| key).to_owned()
}

fn reason(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}

fn temporary() -> Result<tempfile::TempDir, Failure> {
    let doing = "creating a folder for temporary files".to_owned();
    tempfile::tempdir().map_err(|error| Failure::System { doing, error })
}

fn write(path: &Path, content: &[u8]) -> Result<(), Failure> {
    let doing = || format!("writing {}", path.display());
    std::fs::write(path, content).map_err(|error| Failure::System { doing: doing(), error })
}
