//! The async client library: a player of any game, over QUIC or WebSocket.
//!
//! ```no_run
//! # async fn play<G: game::Game<Action = String>>() -> Result<(), Box<dyn std::error::Error>>
//! # where G::Shown: Send + Sync, G::Notice: Send, G::Refusal: Send {
//! use client::{Client, Login, Transport};
//!
//! let guest = Login::Guest("Ada".to_owned());
//! let mut player: Client<G> = Client::connect("127.0.0.1:8080", guest, Transport::Quic).await?;
//! player.next().await; // Entered
//! if let Err(why) = player.act(&"wave".to_owned()).await {
//!     println!("{why}");
//! }
//! player.leave().await;
//! # Ok(()) }
//! ```
//!
//! Read [`Client`] first; `stay` keeps the connections, `tokens` shares what the lobby gives them, `lobby` asks it, `view`
//! draws the world a little in the past. The rules of playing (numbering, sending again, whom to believe) are not here:
//! they are `zone::Player`.

mod client;
mod lobby;
mod stay;
mod tokens;
mod view;

// What `StayOptions` takes.
pub use history::{Header, HistoryWriter};

pub use client::{ActError, Client, ConnectError, Event, Login};
pub use lobby::{
    Health, HostHealth, HostInfo, Lobby, LobbyError, Pass, SessionInfo, WorldInfo, ZoneHealth, ZoneInfo,
};
pub use stay::{Counts, Stay, StayOptions, Transport};
pub use view::{Guess, RENDER_DELAY, Seen, Tracks, View};
