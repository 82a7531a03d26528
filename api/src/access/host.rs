//! Which host a client means to reach, and whether it is the client itself that asks.
//!
//! A page in a browser can have the name of its own host lead to this machine, and then send requests here as if it were from here
//! (DNS rebinding). It cannot have them name a loopback address. A proxy can: it asks from here, by whatever name, for clients from
//! anywhere. Most say so.

use std::net::IpAddr;

use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, Uri, header};

/// What proxies say of those that they ask for, in lower case, beside the headers that begin with `x-forwarded-`.
const FORWARDED: [&str; 3] = ["forwarded", "via", "x-real-ip"];

/// Whether all that a request says of its host is a loopback name. What says nothing is from no browser.
pub(crate) fn is_loopback(uri: &Uri, headers: &HeaderMap) -> bool {
    let of_headers = headers.get_all(header::HOST).iter().map(|host| host.to_str().unwrap_or_default());
    of_headers.chain(uri.authority().map(Authority::as_str)).all(is_loopback_authority)
}

/// Whether a proxy says that it passes the request on for somebody else. One that says nothing looks as a client of this machine does.
pub(crate) fn is_forwarded(headers: &HeaderMap) -> bool {
    headers.keys().map(HeaderName::as_str).any(|name| FORWARDED.contains(&name) || name.starts_with("x-forwarded-"))
}

/// Of a host, or of a host and a port.
fn is_loopback_authority(authority: &str) -> bool {
    let host = match authority.strip_prefix('[') {
        Some(address) => address.split_once(']').map_or("", |(address, _)| address),
        None => authority.split_once(':').map_or(authority, |(host, _)| host),
    };
    if let Ok(address) = host.parse::<IpAddr>() {
        return address.to_canonical().is_loopback();
    }
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    // The names that resolvers keep for this machine (RFC 6761).
    host == "localhost" || host.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_told_from_what_leads_there() {
        for (authority, expected) in [
            ("127.0.0.1", true),
            ("127.0.0.1:8181", true),
            ("127.9.9.9:1", true),
            ("[::1]:8181", true),
            ("[::1]", true),
            ("[::ffff:127.0.0.1]:1", true),
            ("localhost", true),
            ("LOCALHOST.:80", true),
            ("a.localhost:80", true),
            ("", false),
            ("example.org", false),
            ("127.0.0.1.example.org:8181", false),
            ("localhost.example.org", false),
            ("evil-localhost", false),
            ("10.0.0.1:8181", false),
            ("0.0.0.0:8181", false),
            ("[2001:db8::1]:1", false),
            ("user@127.0.0.1", false),
        ] {
            assert_eq!(is_loopback_authority(authority), expected, "{authority}");
        }
    }

    #[test]
    fn what_a_proxy_adds_is_known() {
        let check = |name: &'static str| {
            is_forwarded(&HeaderMap::from_iter([(HeaderName::from_static(name), "x".parse().unwrap())]))
        };
        for name in ["forwarded", "via", "x-real-ip", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"] {
            assert!(check(name), "{name}");
        }
        for name in ["host", "x-request-id", "user-agent"] {
            assert!(!check(name), "{name}");
        }
    }

    #[test]
    fn every_place_that_names_the_host_counts() {
        let check = |uri: &str, hosts: &[&str]| {
            let mut headers = HeaderMap::new();
            for host in hosts {
                headers.append(header::HOST, host.parse().unwrap());
            }
            is_loopback(&uri.parse().unwrap(), &headers)
        };
        assert!(check("/x", &[]) && check("/x", &["localhost"]) && check("http://localhost/x", &["localhost"]));
        assert!(!check("/x", &["evil.org"]));
        assert!(!check("http://evil.org/x", &["localhost"]) && !check("http://localhost/x", &["evil.org"]));
        assert!(!check("/x", &["localhost", "evil.org"]));
    }
}
