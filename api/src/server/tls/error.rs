//! What can be wrong with a certificate and its key.

use rustls::pki_types::pem;

/// Why there can be no TLS.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// One of the two is set without the other.
    #[error("a TLS certificate and its key are set together: server.{0} is not set")]
    Incomplete(&'static str),
    /// A file cannot be read.
    #[error("the TLS {what} file `{path}` cannot be read: {source}")]
    Unreadable {
        /// What it is to hold.
        what: &'static str,
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// A file is too large to be what it should.
    #[error("the TLS {what} file `{path}` is larger than {} bytes", super::files::MAX_PEM_BYTES)]
    TooLarge {
        /// What it is to hold.
        what: &'static str,
        /// The file.
        path: String,
    },
    /// A file holds nothing of what it should.
    #[error("the TLS {what} file `{path}` holds no {what} as PEM")]
    Absent {
        /// What it is to hold.
        what: &'static str,
        /// The file.
        path: String,
    },
    /// The key is encrypted.
    #[error(
        "the TLS key file `{path}` is encrypted, and nobody is asked for its password: decrypt it, as `openssl pkey` does"
    )]
    Encrypted {
        /// The file.
        path: String,
    },
    /// A file is no PEM.
    #[error("the TLS {what} file `{path}` is malformed PEM")]
    Malformed {
        /// What it is to hold.
        what: &'static str,
        /// The file.
        path: String,
        /// Why. Not shown, since it may quote the file.
        source: pem::Error,
    },
    /// They do not go together, or one of them is of a kind that is not known.
    #[error("the TLS certificate `{certificate}` and the key `{key}` cannot be used together: {source}")]
    Unfitting {
        /// The file of the certificate.
        certificate: String,
        /// That of the key.
        key: String,
        /// Why.
        source: rustls::Error,
    },
}
