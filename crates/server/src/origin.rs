//! Who asks, when a proxy stands in between.

use axum::http::HeaderMap;
use std::net::{IpAddr, SocketAddr};

/// Where each proxy notes whom it speaks for, the last one last.
const FORWARDED_FOR: &str = "x-forwarded-for";

/// The address of whoever asks: the neighbour's, unless that is a proxy to be trusted. Then it is the one that the
/// proxy names, and so on along a row of proxies. What anybody else claims counts for nothing, and a proxy that names
/// nobody is taken for who asks.
pub fn origin(neighbour: IpAddr, headers: &HeaderMap, proxies: &[IpAddr]) -> IpAddr {
    let lines = headers.get_all(FORWARDED_FOR).iter();
    // Bytes, not text: what a player wrote at the beginning of a line must not hide what the proxy added at its end.
    let named: Vec<&[u8]> = lines.flat_map(|line| line.as_bytes().split(|&it| it == b',')).collect();
    let mut named = named.into_iter().rev();
    let mut origin = neighbour.to_canonical();
    while proxies.iter().any(|it| it.to_canonical() == origin) {
        match named.next().and_then(address) {
            Some(before) => origin = before,
            None => break,
        }
    }
    origin
}

/// An address, with a port or without, in brackets or not.
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

    fn asked(neighbour: &str, lines: &[&str], proxies: &[&str]) -> String {
        asked_in_bytes(neighbour, &lines.iter().map(|it| it.as_bytes()).collect::<Vec<_>>(), proxies)
    }

    fn asked_in_bytes(neighbour: &str, lines: &[&[u8]], proxies: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(FORWARDED_FOR, HeaderValue::from_bytes(line).unwrap());
        }
        let proxies: Vec<IpAddr> = proxies.iter().map(|it| it.parse().unwrap()).collect();
        origin(neighbour.parse().unwrap(), &headers, &proxies).to_string()
    }

    #[test]
    fn a_stranger_speaks_for_nobody() {
        assert_eq!(asked("9.9.9.9", &["1.2.3.4"], &[]), "9.9.9.9");
        assert_eq!(asked("9.9.9.9", &["1.2.3.4"], &["10.0.0.1"]), "9.9.9.9");
    }

    #[test]
    fn a_trusted_proxy_says_for_whom_it_asks() {
        assert_eq!(asked("10.0.0.1", &["1.2.3.4"], &["10.0.0.1"]), "1.2.3.4");
        for named in ["[2001:db8::7]:5000", "[2001:db8::7]", "2001:db8::7"] {
            assert_eq!(asked("::ffff:10.0.0.1", &[named], &["10.0.0.1"]), "2001:db8::7");
        }
        // Two proxies in a row, each with a line of its own or both in one.
        for lines in [&["1.2.3.4", "10.0.0.2"][..], &["1.2.3.4, 10.0.0.2"]] {
            assert_eq!(asked("10.0.0.1", lines, &["10.0.0.1", "10.0.0.2"]), "1.2.3.4");
        }
    }

    /// What a player writes into the header themselves stands before what the proxy adds.
    #[test]
    fn what_a_player_invents_counts_for_nothing() {
        assert_eq!(asked("10.0.0.1", &["6.6.6.6", "1.2.3.4"], &["10.0.0.1"]), "1.2.3.4");
        assert_eq!(asked("10.0.0.1", &["10.0.0.1, 1.2.3.4"], &["10.0.0.1"]), "1.2.3.4");
        assert_eq!(asked_in_bytes("10.0.0.1", &[b"\xff, 1.2.3.4"], &["10.0.0.1"]), "1.2.3.4");
    }

    #[test]
    fn a_proxy_that_names_nobody_asks_for_itself() {
        for lines in [&[][..], &[""], &["unknown"], &["1.2.3.4, nonsense"], &[","]] {
            assert_eq!(asked("10.0.0.1", lines, &["10.0.0.1"]), "10.0.0.1");
        }
    }
}
