//! What is wrong between a client and a server that speaks TLS, or is taken for one that does.

use std::error::Error;
use std::fmt;
use std::io;

use rustls::CertificateError;

/// Why a server that is there cannot be talked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsFault {
    /// No authority that is known has signed the certificate.
    Untrusted,
    /// The certificate is of another time than that of this machine.
    Expired,
    /// The certificate is for other names.
    OtherName,
    /// The certificate is no good for another reason.
    Refused,
    /// What answers speaks no TLS.
    Plain,
    /// What answers speaks no HTTP, as one does that expects TLS.
    NotPlain,
}

impl TlsFault {
    /// What an error comes from, if it is one of TLS; of a request to a URL of this scheme.
    pub(super) fn of(error: &reqwest::Error, scheme: &str) -> Option<Self> {
        match rustls_error(error) {
            Some(error) => Self::of_rustls(error),
            // The connection was made, and then there came no HTTP.
            None if scheme == "http" && error.is_request() && is_no_http(error) => Some(Self::NotPlain),
            None => None,
        }
    }

    fn of_rustls(error: &rustls::Error) -> Option<Self> {
        Some(match error {
            rustls::Error::InvalidCertificate(error) => match error {
                CertificateError::UnknownIssuer => Self::Untrusted,
                CertificateError::Expired
                | CertificateError::ExpiredContext { .. }
                | CertificateError::NotValidYet
                | CertificateError::NotValidYetContext { .. } => Self::Expired,
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => Self::OtherName,
                _ => Self::Refused,
            },
            rustls::Error::InvalidMessage(_) => Self::Plain,
            _ => return None,
        })
    }

    /// What to do next.
    pub(crate) fn advice(self) -> &'static str {
        match self {
            Self::Untrusted => {
                "name the certificate of the authority that has signed it with --ca-cert or PRUNUS_CA_CERT"
            }
            Self::Expired => "renew the certificate of the server, or set the clock of this machine",
            Self::OtherName => "name the server with --url or PRUNUS_URL as its certificate does",
            Self::Refused => "give the server another certificate",
            Self::Plain => "the URL of a server without a certificate begins with http://",
            Self::NotPlain => "the URL of a server with a certificate begins with https://",
        }
    }
}

impl fmt::Display for TlsFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Untrusted => "no authority that is trusted here has signed its certificate",
            Self::Expired => "its certificate is expired, or not valid yet",
            Self::OtherName => "its certificate is for another name",
            Self::Refused => "its certificate cannot be trusted",
            Self::Plain => "it speaks no TLS",
            Self::NotPlain => "what it answers is no HTTP; it may speak TLS",
        })
    }
}

/// The error of TLS among the causes. An error of input hides its own from `source`, and may be within another one.
fn rustls_error(error: &reqwest::Error) -> Option<&rustls::Error> {
    causes(error).find_map(|cause| {
        let mut cause = cause;
        while let Some(hidden) = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            cause = hidden;
        }
        cause.downcast_ref()
    })
}

fn is_no_http(error: &reqwest::Error) -> bool {
    // The type of the error is not within reach: no crate of this one names it.
    causes(error).any(|cause| cause.to_string().starts_with("invalid HTTP version"))
}

fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |cause: &&(dyn Error + 'static)| (*cause).source())
}
