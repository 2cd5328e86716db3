//! The address of an HTTP client, also behind proxies.

use axum::http::HeaderMap;
use std::net::{IpAddr, SocketAddr};

/// The header to which each proxy appends the address of its client.
const FORWARDED_FOR: &str = "x-forwarded-for";

/// The address of the client: the other end of the connection, unless that is a trusted proxy. Then it is the address
/// that the proxy names, and so on along a row of proxies. Headers from untrusted addresses count for nothing, and a
/// proxy that names no address counts as the client itself.
pub fn client_address(neighbour: IpAddr, headers: &HeaderMap, proxies: &[IpAddr]) -> IpAddr {
    let lines = headers.get_all(FORWARDED_FOR).iter();
    // Bytes, not text: bytes that a client put at the beginning of a line must not hide the proxy's address at its end.
    let named: Vec<&[u8]> = lines.flat_map(|line| line.as_bytes().split(|&it| it == b',')).collect();
    let mut named = named.into_iter().rev();
    let mut client_address = neighbour.to_canonical();
    while proxies.iter().any(|it| it.to_canonical() == client_address) {
        match named.next().and_then(address) {
            Some(before) => client_address = before,
            None => break,
        }
    }
    client_address
}

/// Parses an address, with a port or without, in brackets or not.
fn address(text: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(text).ok()?.trim();
    let bare = text.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(text);
    let with_port = || text.parse().map(|it: SocketAddr| it.ip());
    bare.parse().or_else(|_| with_port()).ok().map(|it: IpAddr| it.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn resolved(neighbour: &str, lines: &[&str], proxies: &[&str]) -> String {
        resolved_from_bytes(neighbour, &lines.iter().map(|it| it.as_bytes()).collect::<Vec<_>>(), proxies)
    }

    fn resolved_from_bytes(neighbour: &str, lines: &[&[u8]], proxies: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(FORWARDED_FOR, HeaderValue::from_bytes(line).unwrap());
        }
        let proxies: Vec<IpAddr> = proxies.iter().map(|it| it.parse().unwrap()).collect();
        client_address(neighbour.parse().unwrap(), &headers, &proxies).to_string()
    }

    #[test]
    fn the_header_of_an_untrusted_address_is_ignored() {
        assert_eq!(resolved("9.9.9.9", &["1.2.3.4"], &[]), "9.9.9.9");
        assert_eq!(resolved("9.9.9.9", &["1.2.3.4"], &["10.0.0.1"]), "9.9.9.9");
    }

    #[test]
    fn a_trusted_proxy_names_its_client() {
        assert_eq!(resolved("10.0.0.1", &["1.2.3.4"], &["10.0.0.1"]), "1.2.3.4");
        for named in ["[2001:db8::7]:5000", "[2001:db8::7]", "2001:db8::7"] {
            assert_eq!(resolved("::ffff:10.0.0.1", &[named], &["10.0.0.1"]), "2001:db8::7");
        }
        // Two proxies in a row, each with a line of its own or both in one.
        for lines in [&["1.2.3.4", "10.0.0.2"][..], &["1.2.3.4, 10.0.0.2"]] {
            assert_eq!(resolved("10.0.0.1", lines, &["10.0.0.1", "10.0.0.2"]), "1.2.3.4");
        }
    }

    /// A header that the client itself sends stands before the addresses that proxies add.
    #[test]
    fn an_address_that_the_client_invents_is_ignored() {
        assert_eq!(resolved("10.0.0.1", &["6.6.6.6", "1.2.3.4"], &["10.0.0.1"]), "1.2.3.4");
        assert_eq!(resolved("10.0.0.1", &["10.0.0.1, 1.2.3.4"], &["10.0.0.1"]), "1.2.3.4");
        assert_eq!(resolved_from_bytes("10.0.0.1", &[b"\xff, 1.2.3.4"], &["10.0.0.1"]), "1.2.3.4");
    }

    #[test]
    fn a_proxy_that_names_no_address_counts_as_the_client() {
        for lines in [&[][..], &[""], &["unknown"], &["1.2.3.4, nonsense"], &[","]] {
            assert_eq!(resolved("10.0.0.1", lines, &["10.0.0.1"]), "10.0.0.1");
        }
    }
}
