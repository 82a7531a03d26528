//! The address that a server listens on.

use std::net::{SocketAddr, ToSocketAddrs};

use serde::{Deserialize, Deserializer, de::Error as _};

/// The address that a text names. Of a name with several it is the first of IPv4: that is where clients look by default.
///
/// # Errors
/// Why it names none, as a sentence.
pub(crate) fn parse(text: &str) -> Result<SocketAddr, String> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let (host, port) = text.rsplit_once(':').unwrap_or(("", text));
    if host.is_empty() {
        let port = port.parse().unwrap_or(8181_u16);
        return Err(format!(
            "say which host, such as 127.0.0.1:{port} for this machine alone, or 0.0.0.0:{port} for all"
        ));
    }
    let named =
        text.to_socket_addrs().map_err(|error| format!("an address is HOST:PORT, such as 127.0.0.1:8181: {error}"))?;
    let named: Vec<SocketAddr> = named.collect();
    let first = named.iter().find(|address| address.is_ipv4()).or(named.first());
    first.copied().ok_or_else(|| "the host has no address".to_owned())
}

/// For serde.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SocketAddr, D::Error> {
    parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_hosts_resolved() {
        assert_eq!(parse("[::1]:0").unwrap().to_string(), "[::1]:0");
        assert_eq!(parse("localhost:8181").unwrap().port(), 8181);
        for text in ["8181", ":8181"] {
            assert!(parse(text).unwrap_err().contains("127.0.0.1:8181 for this machine"), "{text}");
        }
        assert!(parse("here").is_err());
    }
}
