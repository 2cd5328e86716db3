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
//! Read [`Client`] first; `session` keeps the connections, `tokens` shares the lobby's tokens among them, `lobby` asks
//! the lobby, `queue` waits until it lets the player in, `view` draws the world a little in the past. The rules of playing (numbering actions, sending them again,
//! which host to believe) are not here: they are `zone::Player`.

mod client;
mod lobby;
mod queue;
mod session;
mod tokens;
mod view;

// Types that `SessionOptions` takes.
pub use history::{Header, HistoryWriter};

pub use client::{ActError, Client, ConnectError, GameEvent, Login};
pub use lobby::{
    HostHealth, HostInfo, LobbyClient, LobbyClientError, Pass, QueuePlace, SessionAnswer, SessionInfo,
    WorldHealth, WorldInfo, ZoneHealth, ZoneInfo,
};
pub use queue::{WaitingCallback, wait_for_session};
pub use session::{Session, SessionCounters, SessionOptions, Transport};
pub use view::{MotionTracks, Prediction, RENDER_DELAY, SeenObject, View};
