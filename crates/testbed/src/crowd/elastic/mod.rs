//! A crowd that grows and shrinks while it plays, for a world under more load than it can serve.
//!
//! Bots are offered to the world at a steady rate, whether it takes them or not, as players come who know nothing of its load. They
//! follow orders to all of them ([`CrowdOrder`]), and are measured in phases ([`PhaseReport`]).

mod bot_tally;
mod directed_bot;
mod phase;

pub(super) use bot_tally::BotTally;
pub use directed_bot::CrowdOrder;
pub(super) use directed_bot::{CrowdOrders, DirectedBot};
pub use phase::PhaseReport;

use super::CrowdOptions;
use super::bot_login::BotLogin;
use super::live_counts::LiveCounts;
use super::measurements::BotMeasurements;
use super::regions::longest_way;
use bot_tally::SharedLatencies;
use client::Session;
use hdrhistogram::Histogram;
use phase::LostSessions;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::{AbortHandle, JoinError, JoinSet};
use tokio::time::Instant;

/// Interval between the arrivals of two new bots: 50 per second. A log-in costs more than seconds of play, and a crowd that comes
/// all at once would measure nothing but log-ins.
const ARRIVE_EVERY: Duration = Duration::from_millis(20);

/// The crowd has settled when no bot has entered the world for this long: those who wait in the lobby's queue ask every few seconds.
const SETTLED_AFTER: Duration = Duration::from_secs(8);

/// Time after the last arrival in which a crowd must have settled: a lobby may let bots in one by one for ever.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(60);

/// Interval at which bots are looked at.
const SAMPLE_EVERY: Duration = Duration::from_millis(100);

/// A crowd in a world, of as many bots as are offered.
pub struct ElasticCrowd {
    options: CrowdOptions,
    bot_login: Arc<BotLogin>,
    orders: Arc<CrowdOrders>,
    /// Set while the bots decide nothing.
    paused: Arc<AtomicBool>,
    latencies: SharedLatencies,
    counts: Arc<LiveCounts>,
    /// Bots that want to be in the world, those who are in it among them.
    offered: usize,
    /// Bots that have a session.
    bots: Vec<ElasticBot>,
    arrivals: Arrivals,
    /// Bots that could not log in.
    failed: u64,
    /// What bots had lost before they left.
    lost: LostSessions,
    /// What earlier phases have reported.
    reported: LostSessions,
}

/// A bot with a session.
struct ElasticBot {
    /// Number of the bot within its crowd.
    number: usize,
    session: Session,
    tally: Arc<BotTally>,
}

/// A bot's number, and its session if it could log in.
type Arrival = (usize, anyhow::Result<ElasticBot>);

/// Bots that are on their way into the world, or wait in the lobby's queue.
#[derive(Default)]
struct Arrivals {
    /// When the last of the offered bots comes.
    last: Option<Instant>,
    entering: JoinSet<Arrival>,
    /// The same bots by number.
    handles: BTreeMap<usize, AbortHandle>,
}

impl ElasticCrowd {
    /// A crowd without bots; the number of bots in the options does not matter.
    pub fn begin(options: CrowdOptions) -> anyhow::Result<Self> {
        let (orders, paused) = (Arc::<CrowdOrders>::default(), Arc::<AtomicBool>::default());
        let (measurements, counts) =
            (Arc::new(Mutex::new(BotMeasurements::new()?)), Arc::<LiveCounts>::default());
        let bot_login = BotLogin::new(options.clone(), paused.clone(), measurements, counts.clone())?;
        let latencies = Histogram::new_with_bounds(1, 600_000_000, 3).map_err(anyhow::Error::msg)?;
        Ok(Self {
            options,
            bot_login: Arc::new(bot_login.with_orders(orders.clone())),
            orders,
            paused,
            latencies: Arc::new(Mutex::new(latencies)),
            counts,
            offered: 0,
            bots: Vec::new(),
            arrivals: Arrivals::default(),
            failed: 0,
            lost: LostSessions::default(),
            reported: LostSessions::default(),
        })
    }

    /// Sets the number of bots that want to be in the world. New ones come at a steady rate from now on. Superfluous ones leave at
    /// once, those first who are not in yet.
    pub async fn offer(&mut self, bots: usize) {
        self.collect();
        let here = self.bots.len() + self.arrivals.entering.len();
        self.offered = bots;
        match bots.checked_sub(here) {
            Some(more) => self.arrive(more),
            None => self.dismiss(here - bots).await,
        }
    }

    fn arrive(&mut self, more: usize) {
        let mut taken: BTreeSet<usize> = self.bots.iter().map(|it| it.number).collect();
        taken.extend(self.arrivals.handles.keys());
        let free = (0..).filter(|it| !taken.contains(it)).take(more);
        let mut at = Instant::now();
        for number in free {
            let (bot_login, tally) = (self.bot_login.clone(), BotTally::measured(self.latencies.clone()));
            let handle = self.arrivals.entering.spawn(async move {
                tokio::time::sleep_until(at).await;
                let session = bot_login.admit_counted(number, tally.clone()).await;
                (number, session.map(|session| ElasticBot { number, session, tally }))
            });
            self.arrivals.handles.insert(number, handle);
            at += ARRIVE_EVERY;
        }
        self.arrivals.last = Some(at);
    }

    async fn dismiss(&mut self, superfluous: usize) {
        let remain = self.arrivals.entering.len().saturating_sub(superfluous);
        while remain < self.arrivals.handles.len()
            && let Some((_, handle)) = self.arrivals.handles.pop_last()
        {
            handle.abort();
        }
        while remain < self.arrivals.entering.len() {
            // One that was too quick for this has a session, which ends below.
            let ended = self.arrivals.entering.join_next().await;
            self.take_in(ended);
        }
        let stay = self.offered.saturating_sub(remain).min(self.bots.len());
        self.bots.sort_by_key(|it| it.number);
        let mut leaving = JoinSet::new();
        for bot in self.bots.split_off(stay) {
            self.lost.add(&bot);
            leaving.spawn(bot.session.end());
        }
        leaving.join_all().await;
    }

    /// Takes in the bots that have logged in since.
    fn collect(&mut self) {
        while let Some(ended) = self.arrivals.entering.try_join_next() {
            self.take_in(Some(ended));
        }
    }

    fn take_in(&mut self, ended: Option<Result<Arrival, JoinError>>) {
        let error = match ended {
            Some(Ok((number, bot))) => {
                self.arrivals.handles.remove(&number);
                bot.map(|it| self.bots.push(it)).err()
            }
            Some(Err(error)) if !error.is_cancelled() => Some(error.into()),
            Some(Err(_)) | None => None, // It left before it was in.
        };
        if let Some(error) = error {
            self.failed += 1;
            tracing::warn!(%error, "a bot could not enter");
        }
    }

    /// Waits until all offered bots are in the world, or no more of them enter.
    pub async fn settle(&mut self) {
        let (mut most, mut since) = (0, Instant::now());
        loop {
            self.collect();
            let has_entered = |it: &&ElasticBot| it.tally.has_entered.load(Ordering::Relaxed);
            let entered = self.bots.iter().filter(has_entered).count();
            // The time of the last arrival may be still to come: then nothing has elapsed since.
            let arrived = self.arrivals.last.map_or(Duration::ZERO, |it| it.elapsed());
            if most < entered || arrived.is_zero() {
                (most, since) = (entered.max(most), Instant::now());
            }
            let is_settled = self.offered <= entered || SETTLED_AFTER < since.elapsed();
            if is_settled || SETTLE_TIMEOUT < arrived {
                return;
            }
            tokio::time::sleep(SAMPLE_EVERY).await;
        }
    }

    /// Gives all bots an order, from their next decision on.
    pub fn order(&self, order: CrowdOrder) {
        self.orders.give(order);
    }

    /// The time in which every bot can walk to the place where the crowd gathers.
    pub fn gathering_time(&self) -> Duration {
        let way = self.bots.first().and_then(|it| longest_way(&it.session.info)).unwrap_or(0.0);
        Duration::from_secs_f64(way / f64::from(self.options.game.walking_speed().max(1.0)))
    }
}
