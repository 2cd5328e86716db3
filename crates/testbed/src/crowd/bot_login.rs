//! Logs bots in: each as a guest of the lobby, with a session and connections of its own. A bot that the lobby lets wait costs a
//! timer and a short request now and then.

use super::elastic::{BotTally, CrowdOrders, DirectedBot};
use super::live_counts::{BotPlace, LiveCounts};
use super::lobby_lock::{LobbyLock, in_turn};
use super::measurements::{BotMeasurements, EventCounter};
use super::regions::{borders_of, meeting_place, region_of};
use super::{CrowdOptions, MIXED};
use client::{LobbyClient, Pass, Session, SessionInfo, SessionOptions, wait_for_session};
use game::{Bot, BotView, Intent};
use machine::{Rng, Span, Time};
use net::dial::Dialer;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Semaphore;
use zone::PlayerConfig;

/// The most bots that connect at once. The handshakes cost more than seconds of play, and bots that play already must not wait
/// for those that come.
const CONNECTING: usize = 4;

/// The most requests to the lobby at once. They are not held up by bots that connect or wait: all of them get into the queue.
const REQUESTS: usize = 4;

/// Name of the random stream for the pauses of a bot that waits.
const QUEUE: u64 = u64::MAX;

/// Time that a bot may take to enter before the next one logs in.
const ENTER_WITHIN: Duration = Duration::from_secs(2);

/// Waits until a bot is in the world.
async fn entered(session: &Session) {
    while session.player.inspect(|it| it.player().is_in()).await == Some(false) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// State that the bots of a crowd share while they log in.
pub(super) struct BotLogin {
    options: CrowdOptions,
    dialer: Dialer<node::ClientNode>,
    paused: Arc<AtomicBool>,
    measurements: Arc<Mutex<BotMeasurements>>,
    counts: Arc<LiveCounts>,
    connecting: Semaphore,
    requests: Semaphore,
    lobby_lock: LobbyLock,
    /// Orders to the bots, if the crowd gives any.
    orders: Option<Arc<CrowdOrders>>,
}

impl BotLogin {
    pub(super) fn new(
        options: CrowdOptions,
        paused: Arc<AtomicBool>,
        measurements: Arc<Mutex<BotMeasurements>>,
        counts: Arc<LiveCounts>,
    ) -> anyhow::Result<Self> {
        let (connecting, requests) = (Semaphore::new(CONNECTING), Semaphore::new(REQUESTS));
        let (dialer, lobby_lock, orders) = (Dialer::new()?, LobbyLock::default(), None);
        Ok(Self { options, dialer, paused, measurements, counts, connecting, requests, lobby_lock, orders })
    }

    /// The same, with bots that follow orders.
    pub(super) fn with_orders(self, orders: Arc<CrowdOrders>) -> Self {
        Self { orders: Some(orders), ..self }
    }

    /// Logs a bot in, waits in the lobby's queue if it has to, and begins its session.
    pub(super) async fn admit(&self, number: usize) -> anyhow::Result<Session> {
        self.admit_counted(number, Arc::default()).await
    }

    /// The same; the bot's own events are counted, too.
    pub(super) async fn admit_counted(&self, number: usize, tally: Arc<BotTally>) -> anyhow::Result<Session> {
        let options = &self.options;
        let mixed = options.game.mixed_bots();
        let behaviour = match options.behaviour.as_str() {
            MIXED => mixed[number % mixed.len()],
            name => name,
        };
        let lobby = LobbyClient::new(&options.lobby);
        let name = format!("{behaviour}-{number}");
        let pass = {
            let _permit = self.requests.acquire().await;
            in_turn(&self.lobby_lock, || lobby.guest(&name)).await?
        };
        // Bots of crowds with different seeds get different seeds.
        let seed = options.seed.wrapping_mul(1_000_003).wrapping_add(number as u64);
        let (transport, history, dialer) = (options.transport, options.history.clone(), self.dialer.clone());
        let session_options = SessionOptions { transport, dialer, history, seed, on_waiting: None };
        let info = self.wait_for_session(&lobby, &pass, seed).await?;
        let _permit = self.connecting.acquire().await;
        let make = |config, info: &SessionInfo| self.client(number, behaviour, config, info);
        let mut counter = EventCounter::new(self.measurements.clone(), self.counts.clone());
        let on_event = move |it| {
            counter.add(&it);
            tally.add(&it);
        };
        let session = Session::start(&lobby, &pass, info, session_options, make, on_event);
        let _ = tokio::time::timeout(ENTER_WITHIN, entered(&session)).await; // It may enter later.
        Ok(session)
    }

    /// Asks for a session until the lobby lets the bot in. Between two requests the bot holds up no other.
    async fn wait_for_session(
        &self,
        lobby: &LobbyClient,
        pass: &Pass,
        seed: u64,
    ) -> anyhow::Result<SessionInfo> {
        let ask = async || {
            let _permit = self.requests.acquire().await;
            in_turn(&self.lobby_lock, || lobby.ask_session(pass)).await
        };
        let mut queue = BotPlace::queue(self.counts.clone());
        Ok(wait_for_session(ask, Rng::seeded(seed).fork_named(QUEUE), |_| queue.enter()).await?)
    }

    /// The machine of a player that a bot steers.
    fn client(
        &self,
        number: usize,
        behaviour: &str,
        config: PlayerConfig,
        info: &SessionInfo,
    ) -> node::ClientNode {
        let bot = self.bot(number, behaviour, info);
        let paused = self.paused.clone();
        let node = match bot {
            Some(bot) => node::ClientNode::bot(config, Box::new(PausableBot { bot, paused })),
            None => node::ClientNode::new(config),
        };
        match self.options.pace {
            Some(pace) => node.paced(pace),
            None => node,
        }
    }

    fn bot(&self, number: usize, behaviour: &str, info: &SessionInfo) -> Option<Box<dyn Bot>> {
        let (game, region) = (&self.options.game, region_of(info)?);
        let bot = game.bot(behaviour, &region, &borders_of(info, &region))?;
        let Some(orders) = &self.orders else { return Some(bot) };
        let gathered = meeting_place(info, &region).and_then(|it| game.bot(behaviour, &it, &[]));
        let (action, orders) = (game.everyday_action(), orders.clone());
        Some(Box::new(DirectedBot { number, usual: bot, gathered, action, orders, next_usual: Time::ZERO }))
    }
}

/// A bot that can be told to make no more decisions.
struct PausableBot {
    bot: Box<dyn Bot>,
    paused: Arc<AtomicBool>,
}

impl Bot for PausableBot {
    fn decide(&mut self, sight: &BotView<'_>, rng: &mut Rng, intents: &mut Vec<Intent>) {
        if !self.paused.load(Ordering::Relaxed) {
            self.bot.decide(sight, rng, intents);
        }
    }

    fn pace(&self, usual: Span) -> Span {
        self.bot.pace(usual)
    }
}
