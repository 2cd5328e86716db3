//! A host, as its connections need it: its replicas, and which players it admits.

use crate::close::Close;
use crate::frame::{self, Control};
use crate::link_router::LinkRouter;
use crate::rate_limiter::RateLimiter;
use crate::send_queue::SendQueue;
use machine::Machine;
use std::time::Duration;

/// The time a client has to show a token.
pub(crate) const HELLO_TIMEOUT: Duration = Duration::from_secs(2);
/// The most bytes read from a client until then.
pub(crate) const HELLO_MAX: usize = 4 * 1024;

/// Messages that one player may send: per second, and in a burst.
const MESSAGES: (f64, f64) = (60.0, 240.0);
/// Bytes that one player may send: per second, and in a burst.
const BYTES: (f64, f64) = (64.0 * 1024.0, 128.0 * 1024.0);

/// The player whom a valid token names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthenticatedClient {
    /// Number of the player, below 2^62.
    pub player: u64,
    /// Number of the session; a higher one replaces a lower one.
    pub session: u64,
    /// Display name of the player, for logs.
    pub name: String,
}

/// Checks tokens, and which messages a player may send.
pub trait Authenticator<Msg>: Send + Sync {
    /// The player whom this token names. The token is used up.
    fn admit(&self, token: &str) -> Result<AuthenticatedClient, Close>;

    /// Returns whether this player may send this message.
    fn permits(&self, client: &AuthenticatedClient, msg: &Msg) -> bool;
}

/// A host, as its connections need it.
pub struct HostContext<M: Machine> {
    /// Number of this host in the world.
    pub host: u32,
    /// Replicas and connections of this host.
    pub router: LinkRouter<M>,
    /// Checks tokens and messages of players.
    pub authenticator: Box<dyn Authenticator<M::Msg>>,
    /// The most players connected at once.
    pub players_max: usize,
}

impl<M: Machine> HostContext<M> {
    /// The player whom this token names, if the host has room.
    pub(crate) fn admit(&self, token: &str) -> Result<AuthenticatedClient, Close> {
        if self.players_max <= self.router.count().0 {
            return Err(Close::Full);
        }
        self.authenticator.admit(token)
    }
}

/// The messages and bytes that one player may still send.
pub(crate) struct PlayerAllowance {
    messages: RateLimiter,
    bytes: RateLimiter,
}

impl Default for PlayerAllowance {
    fn default() -> Self {
        Self { messages: RateLimiter::new(MESSAGES.0, MESSAGES.1), bytes: RateLimiter::new(BYTES.0, BYTES.1) }
    }
}

impl PlayerAllowance {
    /// Counts a message of this many bytes. Returns the time until the player may send another.
    pub fn pay(&mut self, bytes: usize) -> Option<Duration> {
        let waits = [self.messages.take(1.0), self.bytes.take(bytes as f64)];
        waits.into_iter().flatten().max()
    }

    /// Counts a message of this many bytes if the player may send it. Returns whether it may.
    pub fn try_pay(&mut self, bytes: usize) -> bool {
        self.messages.try_take(1.0) && self.bytes.try_take(bytes as f64)
    }
}

/// Answers a control frame of a player, over any transport.
pub(crate) fn on_player_control(queue: &SendQueue, message: &[u8]) -> Result<(), Close> {
    match frame::open_control(message) {
        Ok(Control::Ping(number)) => {
            queue.sure(frame::control(&Control::Pong(number)));
            queue.wake();
            Ok(())
        }
        Ok(Control::Pong(_)) => Ok(()),
        _ => Err(Close::Protocol),
    }
}
