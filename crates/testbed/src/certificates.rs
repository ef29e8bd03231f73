//! Certificates of a private server: an authority, the server's certificate for `localhost` and
//! 127.0.0.1, a client's certificate, and a second authority that signed none of them.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};

use crate::TestbedError;

/// Writes `ca.crt`, `server.crt`, `server.key`, `client.crt`, `client.key` and `other-ca.crt` to
/// `folder`; the client's certificate is issued for `client_user`.
///
/// # Errors
/// When a file cannot be written.
pub fn write(folder: &Path, client_user: &str) -> Result<(), TestbedError> {
    let make = || -> Result<Vec<(&'static str, String)>, rcgen::Error> {
        let (ca, ca_pem) = authority("triphammer test authority")?;
        let (_, other_pem) = authority("another authority")?;
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let (server, server_key) =
            signed(&ca, names, "localhost", ExtendedKeyUsagePurpose::ServerAuth)?;
        let (client, client_key) =
            signed(&ca, Vec::new(), client_user, ExtendedKeyUsagePurpose::ClientAuth)?;
        Ok(vec![
            ("ca.crt", ca_pem),
            ("other-ca.crt", other_pem),
            ("server.crt", server),
            ("server.key", server_key),
            ("client.crt", client),
            ("client.key", client_key),
        ])
    };
    let files =
        make().map_err(|error| TestbedError::Failed(format!("creating certificates: {error}")))?;
    for (name, text) in files {
        write_private(&folder.join(name), &text)?;
    }
    Ok(())
}

fn authority(name: &str) -> Result<(Issuer<'static, KeyPair>, String), rcgen::Error> {
    let key = KeyPair::generate()?;
    let mut params = CertificateParams::new(Vec::new())?;
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let pem = params.self_signed(&key)?.pem();
    Ok((Issuer::new(params, key), pem))
}

fn signed(
    issuer: &Issuer<'_, KeyPair>,
    names: Vec<String>,
    common_name: &str,
    usage: ExtendedKeyUsagePurpose,
) -> Result<(String, String), rcgen::Error> {
    let key = KeyPair::generate()?;
    let mut params = CertificateParams::new(names)?;
    params.distinguished_name.push(DnType::CommonName, common_name);
    params.extended_key_usages = vec![usage];
    let cert = params.signed_by(&key, issuer)?;
    Ok((cert.pem(), key.serialize_pem()))
}

/// Writes a file that only its owner may read.
pub fn write_private(file: &Path, text: &str) -> Result<(), TestbedError> {
    let written = std::fs::OpenOptions::new()
        .create(true)
        .truncate(true)
        .write(true)
        .mode(0o600)
        .open(file)
        .and_then(|mut open| open.write_all(text.as_bytes()));
    written.map_err(TestbedError::io(format!("writing {}", file.display())))
}
