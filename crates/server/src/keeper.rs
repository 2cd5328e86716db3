//! Who comes in: whoever has a good token, and then only as the player it names.

use lobby::{Gate, UnixSeconds};
use net::Close;
use net::session::{Guest, Keeper};
use node::NodeMsg;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;
use zone::{Msg, Up};

/// A host's doorkeeper.
pub struct TokenKeeper(Mutex<Gate>);

impl TokenKeeper {
    /// Lets in whom the gate lets in.
    pub const fn new(gate: Gate) -> Self {
        Self(Mutex::new(gate))
    }
}

/// What the clock on the wall shows. Nothing but a token's expiry depends on it.
pub fn wall_clock() -> UnixSeconds {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    UnixSeconds(since.map_or(0, |it| it.as_secs()))
}

impl Keeper<NodeMsg> for TokenKeeper {
    fn admit(&self, token: &str) -> Result<Guest, Close> {
        let mut gate = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match gate.admit(token, wall_clock()) {
            Ok(it) => {
                Ok(Guest { player: it.player.0, session: it.session, name: it.name.as_str().to_owned() })
            }
            Err(why) => {
                tracing::debug!(%why, "a token was refused");
                Err(Close::Refused)
            }
        }
    }

    fn permits(&self, guest: &Guest, msg: &NodeMsg) -> bool {
        match msg {
            NodeMsg::Zone(Msg::Up(Up::Enter { player, session, name, .. })) => {
                (player.0, *session, name) == (guest.player, guest.session, &guest.name)
            }
            NodeMsg::Zone(Msg::Up(_)) => true,
            NodeMsg::Zone(_) | NodeMsg::Poses(_) => false,
        }
    }
}
