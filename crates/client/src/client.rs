//! A player of one game: actions with results, events, and the view.

use crate::lobby::{LobbyClient, LobbyClientError, Pass, QueuePlace, SessionInfo};
use crate::session::{Session, SessionOptions, Transport};
use crate::view::{MotionTracks, Prediction, View};
use game::Game;
use history::HistoryWriter;
use net::dial::Dialer;
use space::{Heading, Motion, ObjectId, Velocity};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use thiserror::Error;
use tokio::sync::{mpsc, oneshot};
use zone::{Closed, LoadLevel, Outcome, PlayerCommand, PlayerEvent};

/// The ways to log in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Login {
    /// A new guest of this name.
    Guest(String),
    /// A player with a pass from an earlier log-in.
    Again(Pass),
    /// An existing account of this world.
    Account {
        /// Name of the account, in any case.
        name: String,
        /// Password of the existing account.
        password: String,
    },
    /// An account that is to be created.
    NewAccount {
        /// Name of the new account.
        name: String,
        /// Password of the new account.
        password: String,
    },
}

/// The reason why a client could not connect.
#[derive(Debug, Error)]
pub enum ConnectError {
    /// The lobby refused, or did not answer.
    #[error(transparent)]
    Lobby(#[from] LobbyClientError),
    /// The UDP socket could not be opened.
    #[error(transparent)]
    Socket(#[from] net::endpoint::EndpointError),
    /// The world runs another game, or another version of it.
    #[error("the world plays {game} with types {schema}, this program is for {own_game} with {own_schema}")]
    OtherGame {
        /// Name of the world's game.
        game: String,
        /// Hash of the world's game types.
        schema: String,
        /// Name of this program's game.
        own_game: String,
        /// Hash of this program's game types.
        own_schema: String,
    },
}

/// The reason why an action had no effect.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ActError<R> {
    /// The game refused it, for this reason.
    #[error("refused: {0:?}")]
    Refused(R),
    /// The game panicked; the action has no effect.
    #[error("the game failed: {0}")]
    Fault(String),
    /// Too many actions are unanswered or touch the same object, or the player is not in the world yet: no effect.
    #[error("too much is going on, or you are not in yet: try again")]
    Busy,
    /// The session is over; the action may have had an effect.
    #[error("the session is over")]
    Over,
}

/// An event that a player's program is told.
#[derive(Clone, Debug, PartialEq)]
pub enum GameEvent<N> {
    /// The player is in the world (again), with this avatar.
    Entered(ObjectId),
    /// The primary is silent; play goes on when another answers.
    Reconnecting,
    /// A notice of the game.
    Notice(N),
    /// The zone set the avatar's motion, because it did not allow a move.
    Corrected(Motion),
    /// The world does not admit the player, or not any more.
    Closed(Closed),
    /// The zone is crowded, or not any more.
    Load(LoadLevel),
}

type Answers<R> = BTreeMap<u64, oneshot::Sender<Result<(), ActError<R>>>>;

/// Actions without an answer, by the ids that the player's machine gave.
struct PendingActions<G: Game> {
    answers: Answers<G::Refusal>,
    predictions: BTreeMap<u64, Prediction<G::Shown>>,
}

/// A player of a game.
///
/// `crates/client/examples/bot.rs` is a whole program.
pub struct Client<G: Game> {
    session: Session,
    /// Used by this client only, so `leave` may close it.
    dialer: Dialer<node::ClientNode>,
    pass: Pass,
    pending: Arc<Mutex<PendingActions<G>>>,
    events: mpsc::UnboundedReceiver<GameEvent<G::Notice>>,
    tracks: Arc<Mutex<MotionTracks>>,
    /// Held while an action is handed over: reading its id takes two more messages to the worker.
    handing_over: Mutex<()>,
}

fn lock<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<G: Game> Client<G>
where
    G::Shown: Send + Sync,
    G::Notice: Send,
    G::Refusal: Send,
{
    /// Logs in at a lobby such as `127.0.0.1:8080` and begins a session. If the world takes no more players now, it waits in the
    /// lobby's queue.
    pub async fn connect(lobby: &str, login: Login, transport: Transport) -> Result<Self, ConnectError> {
        Self::connect_telling(lobby, login, transport, |_| ()).await
    }

    /// The same; `on_waiting` is told the place in the queue, now and then. Dropping the future gives the place up.
    pub async fn connect_telling(
        lobby: &str,
        login: Login,
        transport: Transport,
        on_waiting: impl Fn(QueuePlace) + Send + Sync + 'static,
    ) -> Result<Self, ConnectError> {
        let lobby = LobbyClient::new(lobby);
        let pass = match login {
            Login::Guest(name) => lobby.guest(&name).await?,
            Login::Again(pass) => pass,
            Login::Account { name, password } => lobby.login(&name, &password).await?,
            Login::NewAccount { name, password } => lobby.account(&name, &password).await?,
        };
        // Different for each player, so that clients do not retry in step.
        let seed = pass.player;
        let dialer = Dialer::new()?;
        let options = SessionOptions {
            transport,
            dialer: dialer.clone(),
            history: HistoryWriter::default(),
            seed,
            on_waiting: Some(Arc::new(on_waiting)),
        };
        let (events_out, player_events) = mpsc::unbounded_channel();
        let on_event = move |event| drop(events_out.send(event)); // The client may be gone.
        let session =
            Session::begin(&lobby, &pass, options, |config, _| node::ClientNode::new(config), on_event)
                .await?;
        check_game::<G>(&session.info)?;
        let pending =
            Arc::new(Mutex::new(PendingActions { answers: BTreeMap::new(), predictions: BTreeMap::new() }));
        let (events_in, events) = mpsc::unbounded_channel();
        tokio::spawn(translate::<G>(player_events, events_in, pending.clone()));
        Ok(Self {
            session,
            dialer,
            pass,
            pending,
            events,
            tracks: Arc::default(),
            handing_over: Mutex::new(()),
        })
    }

    /// The player's pass, to come back with [`Login::Again`].
    pub const fn pass(&self) -> &Pass {
        &self.pass
    }

    /// Performs an action; returns when the world has answered, also across a failover.
    pub async fn act(&self, action: &G::Action) -> Result<(), ActError<G::Refusal>> {
        self.act_predicting(action, Vec::new()).await
    }

    /// Performs an action and shows its expected result at once, until the world has answered.
    pub async fn act_predicting(
        &self,
        action: &G::Action,
        prediction: Prediction<G::Shown>,
    ) -> Result<(), ActError<G::Refusal>> {
        let bytes = postcard::to_stdvec(action).map_err(|it| ActError::Fault(it.to_string()))?;
        let (sender, answer) = oneshot::channel();
        let pending = self.pending.clone();
        {
            let _handing_over = lock(&self.handing_over);
            // The machine numbers actions itself. Looking before and after tells whether it took this one, and its id.
            let before = Arc::new(Mutex::new(0));
            let after = before.clone();
            self.inspect_later(move |node| *lock(&before) = node.player().last_id());
            self.session.player.command(PlayerCommand::Act(bytes));
            self.inspect_later(move |node| {
                let id = node.player().last_id();
                if id == *lock(&after) {
                    drop(sender.send(Err(ActError::Busy)));
                    return;
                }
                let mut pending = lock(&pending);
                pending.answers.insert(id, sender);
                pending.predictions.insert(id, prediction);
            });
        }
        answer.await.unwrap_or(Err(ActError::Over))
    }

    fn inspect_later(&self, inspect: impl FnOnce(&node::ClientNode) + Send + 'static) {
        self.session.player.send(net::worker::Inbound::Inspect(Box::new(inspect)));
    }

    /// Steers the avatar from where it is.
    pub fn steer(&self, velocity: Velocity, heading: Heading) {
        self.session.player.command(PlayerCommand::Steer(velocity, heading));
    }

    /// Waits for the next event; `None` when the session is over.
    pub async fn next(&mut self) -> Option<GameEvent<G::Notice>> {
        self.events.recv().await
    }

    /// The view as it is drawn now; `None` while the player is not in the world.
    pub async fn view(&self) -> Option<View<G::Shown>> {
        let (tracks, pending) = (self.tracks.clone(), self.pending.clone());
        let inspect = move |node: &node::ClientNode| {
            let sight = node.player().sight(net::clock::now())?;
            Some(lock(&tracks).draw(&sight, &lock(&pending).predictions))
        };
        self.session.player.inspect(inspect).await.flatten()
    }

    /// The last round trip to a host, in milliseconds.
    pub fn ping(&self) -> f64 {
        self.session.counters.traffic.ping.load(std::sync::atomic::Ordering::Relaxed) as f64 / 1e3
    }

    /// The session as the lobby described it: world and hosts.
    pub const fn info(&self) -> &SessionInfo {
        &self.session.info
    }

    /// Leaves the world. When this returns, the hosts have been told: the program may end.
    pub async fn leave(self) {
        self.session.end().await;
        // Returns when the close messages are sent.
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

/// Turns events of the player's machine into events of the game.
async fn translate<G: Game>(
    mut player_events: mpsc::UnboundedReceiver<PlayerEvent>,
    events: mpsc::UnboundedSender<GameEvent<G::Notice>>,
    pending: Arc<Mutex<PendingActions<G>>>,
) {
    while let Some(player_event) = player_events.recv().await {
        let event = match player_event {
            PlayerEvent::Answered(key, outcome, _) => {
                answer(&pending, key.id, outcome);
                continue;
            }
            PlayerEvent::Entered(avatar) => GameEvent::Entered(avatar),
            PlayerEvent::Searching(_) => GameEvent::Reconnecting,
            PlayerEvent::Notice(bytes) => match postcard::from_bytes(&bytes) {
                Ok(notice) => GameEvent::Notice(notice),
                Err(_) => continue,
            },
            PlayerEvent::Corrected(motion) => GameEvent::Corrected(motion),
            PlayerEvent::Closed(why) => GameEvent::Closed(why),
            PlayerEvent::Load(level) => GameEvent::Load(level),
            // `act_predicting` sees a refusal by the machine from the unchanged id.
            // The session takes notes and contacts itself.
            PlayerEvent::Busy | PlayerEvent::TooLong(_) | PlayerEvent::Note(_) | PlayerEvent::Contacts(_) => {
                continue;
            }
        };
        if events.send(event).is_err() {
            return;
        }
    }
    // The session is over: dropping the senders answers all waiting actions with `Over`.
    lock(&pending).answers.clear();
}

fn answer<G: Game>(pending: &Mutex<PendingActions<G>>, id: u64, outcome: Outcome) {
    let mut pending = lock(pending);
    pending.predictions.remove(&id);
    let Some(waiting) = pending.answers.remove(&id) else { return };
    let result = match outcome {
        Outcome::Done => Ok(()),
        Outcome::Fault(why) => Err(ActError::Fault(why)),
        Outcome::Busy => Err(ActError::Busy),
        Outcome::Refused(bytes) => Err(match postcard::from_bytes(&bytes) {
            Ok(refusal) => ActError::Refused(refusal),
            Err(error) => ActError::Fault(error.to_string()),
        }),
    };
    drop(waiting.send(result));
}
