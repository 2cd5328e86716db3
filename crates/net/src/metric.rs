//! Metrics of a host's connections. Their names are documented in `docs/operating.md`.

use crate::close::Close;
use crate::pipe::TransportKind;

pub(crate) fn connected(transport: TransportKind, change: f64) {
    metrics::gauge!("ecumene_connections", "transport" => transport.name()).increment(change);
}

pub(crate) fn refused(why: Close) {
    metrics::counter!("ecumene_connections_refused_total", "why" => label(why)).increment(1);
}

pub(crate) fn ended(why: Close) {
    metrics::counter!("ecumene_connections_ended_total", "why" => label(why)).increment(1);
}

pub(crate) fn datagram_ignored() {
    metrics::counter!("ecumene_datagrams_ignored_total").increment(1);
}

/// The port for players, in metrics.
pub(crate) const PLAYERS_PORT: &str = "players";
/// The port for other hosts, in metrics.
pub(crate) const HOSTS_PORT: &str = "hosts";

pub(crate) fn handshake_dropped(port: &'static str) {
    metrics::counter!("ecumene_handshakes_dropped_total", "port" => port).increment(1);
}

const fn label(why: Close) -> &'static str {
    match why {
        Close::Gone => "gone",
        Close::Refused => "refused",
        Close::Superseded => "superseded",
        Close::Slow => "slow",
        Close::Protocol => "protocol",
        Close::Leaving => "leaving",
        Close::Full => "full",
    }
}
