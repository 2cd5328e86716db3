//! Admits players who show a valid token, and only as the player that it names.

use lobby::{TokenGate, UnixSeconds};
use net::Close;
use net::host_context::{AuthenticatedClient, Authenticator};
use node::NodeMsg;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;
use zone::{FromPlayer, ZoneMsg};

/// Checks the tokens and messages of players at a host.
pub struct TokenAuthenticator(Mutex<TokenGate>);

impl TokenAuthenticator {
    /// Admits the players whose tokens this gate accepts.
    pub const fn new(gate: TokenGate) -> Self {
        Self(Mutex::new(gate))
    }
}

/// Seconds since 1970 by the system's clock. Only the expiry of tokens depends on it.
pub fn wall_clock() -> UnixSeconds {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    UnixSeconds(since.map_or(0, |it| it.as_secs()))
}

impl Authenticator<NodeMsg> for TokenAuthenticator {
    fn admit(&self, token: &str) -> Result<AuthenticatedClient, Close> {
        let mut gate = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match gate.admit(token, wall_clock()) {
            Ok(it) => Ok(AuthenticatedClient {
                player: it.player.0,
                session: it.session,
                name: it.name.as_str().to_owned(),
            }),
            Err(why) => {
                tracing::debug!(%why, "a token was refused");
                Err(Close::Refused)
            }
        }
    }

    fn permits(&self, client: &AuthenticatedClient, msg: &NodeMsg) -> bool {
        // A player may enter only as the player of their token, and may send no message of replicas, zones or carriers.
        match msg {
            NodeMsg::Zone(ZoneMsg::FromPlayer(FromPlayer::Enter { player, session, name, .. })) => {
                (player.0, *session, name) == (client.player, client.session, &client.name)
            }
            NodeMsg::Zone(ZoneMsg::FromPlayer(_)) => true,
            NodeMsg::Zone(_) | NodeMsg::Poses(_) => false,
        }
    }
}
