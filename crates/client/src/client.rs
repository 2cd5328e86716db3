//! A player of one game: actions with results, what happens, what is in sight.

use crate::lobby::{Lobby, LobbyError, Pass, SessionInfo};
use crate::stay::{Stay, StayOptions, Transport};
use crate::view::{Guess, Tracks, View};
use game::Game;
use history::HistoryWriter;
use net::dial::Dialer;
use node::Client as Node;
use space::{Heading, Motion, ObjectId, Velocity};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use thiserror::Error;
use tokio::sync::{mpsc, oneshot};
use zone::{Closed, Happening, Outcome, Want};

/// Who comes in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Login {
    /// A new guest of this name.
    Guest(String),
    /// Somebody who was here before.
    Again(Pass),
    /// An account.
    Account {
        /// Its name.
        name: String,
        /// Its password.
        password: String,
    },
    /// An account that does not exist yet.
    NewAccount {
        /// Its name.
        name: String,
        /// Its password.
        password: String,
    },
}

/// Why there is no connection.
#[derive(Debug, Error)]
pub enum ConnectError {
    /// The lobby says why.
    #[error(transparent)]
    Lobby(#[from] LobbyError),
    /// There is no socket.
    #[error(transparent)]
    Socket(#[from] net::endpoint::EndpointError),
    /// Another game, or another version of it.
    #[error("the world plays {game} with types {schema}, this program is for {own_game} with {own_schema}")]
    OtherGame {
        /// The world's game.
        game: String,
        /// The hash of its types.
        schema: String,
        /// This program's game.
        own_game: String,
        /// The hash of its types.
        own_schema: String,
    },
}

/// Why an action did not happen.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ActError<R> {
    /// The game says no.
    #[error("refused: {0:?}")]
    Refused(R),
    /// The game made a mistake; nothing happened.
    #[error("the game failed: {0}")]
    Fault(String),
    /// Too many actions are unanswered, too many want the same thing, or the player is not in yet: nothing happened.
    #[error("too much is going on, or you are not in yet: try again")]
    Busy,
    /// The stay is over.
    #[error("the stay in the world is over")]
    Over,
}

/// What happens to a player.
#[derive(Clone, Debug, PartialEq)]
pub enum Event<N> {
    /// The player is in (again), with this avatar.
    Entered(ObjectId),
    /// The server is silent; play goes on when another answers.
    Reconnecting,
    /// The game says something.
    Notice(N),
    /// The avatar was put where the server says.
    Corrected(Motion),
    /// The world does not let the player in, or not any more.
    Closed(Closed),
}

type Answers<R> = BTreeMap<u64, oneshot::Sender<Result<(), ActError<R>>>>;

/// What waits for answers, by the ids that the player's machine gave.
struct Pending<G: Game> {
    answers: Answers<G::Refusal>,
    guesses: BTreeMap<u64, Guess<G::Shown>>,
}

/// A player of a game.
///
/// `crates/client/examples/bot.rs` is a whole program.
pub struct Client<G: Game> {
    stay: Stay,
    /// Its own, nobody else's.
    dialer: Dialer,
    pass: Pass,
    pending: Arc<Mutex<Pending<G>>>,
    events: mpsc::UnboundedReceiver<Event<G::Notice>>,
    tracks: Arc<Mutex<Tracks>>,
    /// Held while an action is handed over, so that its id is known.
    turn: Mutex<()>,
}

fn locked<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<G: Game> Client<G>
where
    G::Shown: Send + Sync,
    G::Notice: Send,
    G::Refusal: Send,
{
    /// Logs in at a lobby such as `127.0.0.1:8080` and begins a stay.
    pub async fn connect(lobby: &str, login: Login, transport: Transport) -> Result<Self, ConnectError> {
        let lobby = Lobby::new(lobby);
        let pass = match login {
            Login::Guest(name) => lobby.guest(&name).await?,
            Login::Again(pass) => pass,
            Login::Account { name, password } => lobby.login(&name, &password).await?,
            Login::NewAccount { name, password } => lobby.account(&name, &password).await?,
        };
        let seed = pass.player;
        let dialer = Dialer::new()?;
        let options =
            StayOptions { transport, dialer: dialer.clone(), history: HistoryWriter::default(), seed };
        let (heard, happenings) = mpsc::unbounded_channel();
        let stay = Stay::begin(&lobby, &pass, options, |config, _| Node::new(config), heard).await?;
        check_game::<G>(&stay.info)?;
        let pending = Arc::new(Mutex::new(Pending { answers: BTreeMap::new(), guesses: BTreeMap::new() }));
        let (events_in, events) = mpsc::unbounded_channel();
        tokio::spawn(translate::<G>(happenings, events_in, pending.clone()));
        Ok(Self { stay, dialer, pass, pending, events, tracks: Arc::default(), turn: Mutex::new(()) })
    }

    /// What proves who this player is, to come back with [`Login::Again`].
    pub const fn pass(&self) -> &Pass {
        &self.pass
    }

    /// Does something; ready when the world has answered, whatever happened to servers in between.
    pub async fn act(&self, action: &G::Action) -> Result<(), ActError<G::Refusal>> {
        self.act_guessing(action, Vec::new()).await
    }

    /// Does something and shows at once what it will probably do, until the world has answered.
    pub async fn act_guessing(
        &self,
        action: &G::Action,
        guess: Guess<G::Shown>,
    ) -> Result<(), ActError<G::Refusal>> {
        let bytes = postcard::to_stdvec(action).map_err(|it| ActError::Fault(it.to_string()))?;
        let (sender, answer) = oneshot::channel();
        let pending = self.pending.clone();
        {
            let _turn = locked(&self.turn);
            let before = Arc::new(Mutex::new(0));
            let after = before.clone();
            self.look_now(move |node| *locked(&before) = node.player().last_id());
            self.stay.player.command(Want::Act(bytes));
            self.look_now(move |node| {
                let id = node.player().last_id();
                if id == *locked(&after) {
                    drop(sender.send(Err(ActError::Busy)));
                    return;
                }
                let mut pending = locked(&pending);
                pending.answers.insert(id, sender);
                pending.guesses.insert(id, guess);
            });
        }
        answer.await.unwrap_or(Err(ActError::Over))
    }

    fn look_now(&self, look: impl FnOnce(&Node) + Send + 'static) {
        self.stay.player.say(net::cell::Inbound::Look(Box::new(look)));
    }

    /// Goes on like this from where the avatar is.
    pub fn steer(&self, velocity: Velocity, heading: Heading) {
        self.stay.player.command(Want::Steer(velocity, heading));
    }

    /// What happens next; `None` when the stay is over.
    pub async fn next(&mut self) -> Option<Event<G::Notice>> {
        self.events.recv().await
    }

    /// Everything in sight, as it is drawn now; `None` while the player is not in.
    pub async fn view(&self) -> Option<View<G::Shown>> {
        let (tracks, pending) = (self.tracks.clone(), self.pending.clone());
        let look = move |node: &Node| {
            let sight = node.player().sight(net::clock::now())?;
            Some(locked(&tracks).draw(&sight, &locked(&pending).guesses))
        };
        self.stay.player.look(look).await.flatten()
    }

    /// The last round trip to a host, in milliseconds.
    pub fn ping(&self) -> f64 {
        self.stay.counts.traffic.ping.load(std::sync::atomic::Ordering::Relaxed) as f64 / 1e3
    }

    /// What the lobby said about the world.
    pub const fn info(&self) -> &SessionInfo {
        &self.stay.info
    }

    /// Leaves the world. When this returns, the hosts have been told: a program may end.
    pub async fn leave(self) {
        self.stay.end().await;
        self.dialer.close().await;
    }
}

fn check_game<G: Game>(info: &SessionInfo) -> Result<(), ConnectError> {
    let own_schema = format!("{:016x}", game::schema_hash::<G>());
    if info.world.game == G::NAME && info.world.schema == own_schema {
        return Ok(());
    }
    let (game, schema) = (info.world.game.clone(), info.world.schema.clone());
    Err(ConnectError::OtherGame { game, schema, own_game: G::NAME.to_owned(), own_schema })
}

/// Turns what the machine says into what a game's programmer wants to know.
async fn translate<G: Game>(
    mut happenings: mpsc::UnboundedReceiver<Happening>,
    events: mpsc::UnboundedSender<Event<G::Notice>>,
    pending: Arc<Mutex<Pending<G>>>,
) {
    while let Some(happening) = happenings.recv().await {
        let event = match happening {
            Happening::Answered(key, outcome, _) => {
                answer(&pending, key.id, outcome);
                continue;
            }
            Happening::Entered(avatar) => Event::Entered(avatar),
            Happening::Searching => Event::Reconnecting,
            Happening::Notice(bytes) => match postcard::from_bytes(&bytes) {
                Ok(notice) => Event::Notice(notice),
                Err(_) => continue,
            },
            Happening::Corrected(motion) => Event::Corrected(motion),
            Happening::Closed(why) => Event::Closed(why),
            Happening::Busy | Happening::TooLong(_) | Happening::Note(_) => continue,
        };
        if events.send(event).is_err() {
            return;
        }
    }
    // The stay is over: nobody will answer what still waits.
    locked(&pending).answers.clear();
}

fn answer<G: Game>(pending: &Mutex<Pending<G>>, id: u64, outcome: Outcome) {
    let mut pending = locked(pending);
    pending.guesses.remove(&id);
    let Some(waiting) = pending.answers.remove(&id) else { return };
    let told = match outcome {
        Outcome::Done => Ok(()),
        Outcome::Fault(why) => Err(ActError::Fault(why)),
        Outcome::Busy => Err(ActError::Busy),
        Outcome::Refused(bytes) => Err(match postcard::from_bytes(&bytes) {
            Ok(refusal) => ActError::Refused(refusal),
            Err(error) => ActError::Fault(error.to_string()),
        }),
    };
    drop(waiting.send(told));
}
