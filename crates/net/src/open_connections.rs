//! Counts the connections of a host for as long as they exist, whatever state they are in: those that are being closed, too.

use crate::connection_limits::UNAUTHENTICATED_MAX;
use std::sync::Arc;

/// The most connections beyond the players of a full host: those without a token, and as many that are being closed.
const BEYOND_PLAYERS: usize = 2 * UNAUTHENTICATED_MAX;

/// The QUIC connections of clients at all ports of a host.
#[derive(Debug, Default)]
pub struct OpenConnections(Arc<()>);

/// One of them. It counts until it is dropped.
#[derive(Debug)]
pub struct OpenConnection(#[expect(dead_code, reason = "its existence is the count")] Arc<()>);

impl OpenConnections {
    /// Number of connections.
    pub fn count(&self) -> usize {
        Arc::strong_count(&self.0) - 1
    }

    /// Counts a connection; `None` if a host for this many players has as many as it may. Several reactors that ask at once may
    /// exceed the limit by one each.
    pub fn add(&self, players_max: usize) -> Option<OpenConnection> {
        (self.count() < players_max + BEYOND_PLAYERS).then(|| OpenConnection(self.0.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_capped_and_counted_until_they_are_dropped() {
        let connections = OpenConnections::default();
        let mut open: Vec<_> = std::iter::from_fn(|| connections.add(10)).collect();
        assert_eq!((open.len(), connections.count()), (10 + BEYOND_PLAYERS, 10 + BEYOND_PLAYERS));
        open.pop();
        assert!(connections.add(10).is_some());
        open.clear();
        assert_eq!(connections.count(), 0);
    }
}
