//! The files of a certificate and its key.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::error::TlsError;
use crate::settings::ServerSettings;

/// The longest file that is read.
pub(super) const MAX_PEM_BYTES: u64 = 1 << 20;
const CERTIFICATE: &str = "certificate";
const KEY: &str = "key";

/// Where a certificate and its key are.
pub(super) struct Files {
    certificate: PathBuf,
    key: PathBuf,
}

/// By what a change of the two files is seen.
pub(super) type Stamps = [Option<Stamp>; 2];

/// By what a change of a file is seen: when it was written, its length, and which file it is, behind whatever links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    modified: Option<SystemTime>,
    bytes: u64,
    identity: (u64, u64),
}

impl Files {
    /// As is set; `None` if neither of them is.
    pub(super) fn of(settings: &ServerSettings) -> Result<Option<Self>, TlsError> {
        match (&settings.tls_cert, &settings.tls_key) {
            (Some(certificate), Some(key)) => Ok(Some(Self { certificate: certificate.clone(), key: key.clone() })),
            (None, None) => Ok(None),
            (Some(_), None) => Err(TlsError::Incomplete("tls_key")),
            (None, Some(_)) => Err(TlsError::Incomplete("tls_cert")),
        }
    }

    pub(super) fn certificate(&self) -> String {
        self.certificate.display().to_string()
    }

    pub(super) fn key(&self) -> String {
        self.key.display().to_string()
    }

    /// What they are now; `None` for one that cannot be looked at.
    pub(super) fn stamps(&self) -> Stamps {
        [&self.certificate, &self.key].map(|path| Stamp::of(path))
    }

    /// The certificate and those that lead from it to one that clients know.
    pub(super) fn read_chain(&self) -> Result<Vec<CertificateDer<'static>>, TlsError> {
        let text = read(CERTIFICATE, &self.certificate)?;
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
        let chain = chain.map_err(|source| malformed(CERTIFICATE, &self.certificate, source))?;
        if chain.is_empty() { Err(absent(CERTIFICATE, &self.certificate)) } else { Ok(chain) }
    }

    /// The key, in whichever of its forms.
    pub(super) fn read_key(&self) -> Result<PrivateKeyDer<'static>, TlsError> {
        let text = read(KEY, &self.key)?;
        PrivateKeyDer::from_pem_slice(&text).map_err(|source| match source {
            pem::Error::NoItemsFound if is_encrypted(&text) => {
                TlsError::Encrypted { path: self.key.display().to_string() }
            }
            pem::Error::NoItemsFound => absent(KEY, &self.key),
            source => malformed(KEY, &self.key, source),
        })
    }
}

impl Stamp {
    fn of(path: &Path) -> Option<Self> {
        let metadata = std::fs::metadata(path).ok()?;
        let identity = (metadata.dev(), metadata.ino());
        Some(Self { modified: metadata.modified().ok(), bytes: metadata.len(), identity })
    }
}

fn read(what: &'static str, path: &Path) -> Result<Vec<u8>, TlsError> {
    let shown = || path.display().to_string();
    let mut text = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_PEM_BYTES + 1).read_to_end(&mut text));
    read.map_err(|source| TlsError::Unreadable { what, path: shown(), source })?;
    if text.len() as u64 > MAX_PEM_BYTES {
        return Err(TlsError::TooLarge { what, path: shown() });
    }
    Ok(text)
}

fn is_encrypted(text: &[u8]) -> bool {
    String::from_utf8_lossy(text).contains("-----BEGIN ENCRYPTED PRIVATE KEY-----")
}

fn absent(what: &'static str, path: &Path) -> TlsError {
    TlsError::Absent { what, path: path.display().to_string() }
}

fn malformed(what: &'static str, path: &Path, source: pem::Error) -> TlsError {
    TlsError::Malformed { what, path: path.display().to_string(), source }
}
