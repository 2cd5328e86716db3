//! Bots as real clients: each has its own session and connections, and is measured.

mod bot_login;
mod elastic;
mod live_counts;
mod lobby_lock;
mod measurements;
mod regions;
mod report;

pub use elastic::{CrowdOrder, ElasticCrowd, PhaseReport};
pub use live_counts::CrowdCounts;
pub use report::CrowdReport;

use crate::TestedGame;
use bot_login::BotLogin;
use client::{HistoryWriter, Session, SessionCounters, Transport};
use live_counts::LiveCounts;
use machine::Span;
use measurements::{BotMeasurements, TrafficTotals};
use net::worker::WorkerHandle;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

/// Time that bots may take to get their last answers: later ones count as errors, so a busy computer gets more than
/// enough.
const LAST_ANSWERS_TIMEOUT: Duration = Duration::from_secs(30);

/// Time that bots with a session may take to enter the world before measuring begins.
const ENTER_TIMEOUT: Duration = Duration::from_secs(20);

/// While bots wait in the lobby's queue, it is looked at how many entered in this time.
const QUEUE_WINDOW: Duration = Duration::from_secs(10);

/// Entries in such a time below which a crowd counts as complete: the world is full, or nearly.
const QUEUE_MOVES: usize = 10;

/// The behaviour of a crowd whose bots take those of [`TestedGame::mixed_bots`] in turn.
pub const MIXED: &str = "mixed";

/// The options of a crowd.
#[derive(Clone)]
pub struct CrowdOptions {
    /// Game that the bots play.
    pub game: Arc<dyn TestedGame>,
    /// Address of the lobby, as host and port.
    pub lobby: String,
    /// Number of bots in the crowd.
    pub count: usize,
    /// Name of a bot of the game, or [`MIXED`].
    pub behaviour: String,
    /// Transport of the bots' connections.
    pub transport: Transport,
    /// Writer of the bots' common history.
    pub history: HistoryWriter,
    /// Random seed of the crowd.
    pub seed: u64,
    /// Interval at which each bot decides; `None` for the bots' own.
    pub pace: Option<Span>,
}

/// A bot that has a session.
struct CrowdBot {
    session: Session,
    since: Instant,
}

/// How long a crowd was measured, and where its bots were at the end.
struct Measured {
    seconds: f64,
    /// The same, added up over all bots.
    bot_seconds: f64,
    counts: CrowdCounts,
}

/// What is read of a bot while it plays.
#[derive(Clone)]
struct BotHandle {
    player: WorkerHandle<node::ClientNode>,
    counters: Arc<SessionCounters>,
}

/// A crowd of bots in a world.
pub struct BotCrowd {
    game: Arc<dyn TestedGame>,
    offered: usize,
    bots: Arc<Mutex<Vec<CrowdBot>>>,
    /// Bots that log in or wait in the lobby's queue. They end when the crowd is dropped.
    entering: JoinSet<()>,
    paused: Arc<AtomicBool>,
    measurements: Arc<Mutex<BotMeasurements>>,
    counts: Arc<LiveCounts>,
    began: Instant,
    /// Totals at the time when measuring began.
    base: TrafficTotals,
}

impl BotCrowd {
    /// Logs in all bots. Returns when every one has entered, failed, or waits in a lobby's queue that hardly moves. Those that wait
    /// enter later, when the lobby lets them in.
    pub async fn enter(options: CrowdOptions) -> anyhow::Result<Self> {
        let lobby = options.lobby.clone();
        let mut crowd = Self::begin(options)?;
        crowd.until_hardly_more_come().await?;
        let has_bots = 0 < crowd.bots() || 0 < crowd.counts.queued();
        anyhow::ensure!(has_bots || crowd.offered == 0, "no bot could enter; is a world running at {lobby}?");
        crowd.until(ENTER_TIMEOUT, |it, count| count as u64 <= it.entered).await;
        Ok(crowd)
    }

    /// Begins to log in all bots, and returns at once.
    pub fn begin(options: CrowdOptions) -> anyhow::Result<Self> {
        let (offered, game) = (options.count, options.game.clone());
        let (paused, counts) = (Arc::new(AtomicBool::new(false)), Arc::new(LiveCounts::default()));
        let measurements = Arc::new(Mutex::new(BotMeasurements::new()?));
        let bot_login = BotLogin::new(options, paused.clone(), measurements.clone(), counts.clone())?;
        let (bot_login, bots) = (Arc::new(bot_login), Arc::<Mutex<Vec<CrowdBot>>>::default());
        let mut entering = JoinSet::new();
        for number in 0..offered {
            let (bot_login, bots, counts) = (bot_login.clone(), bots.clone(), counts.clone());
            entering.spawn(async move {
                match bot_login.admit(number).await {
                    Ok(session) => lock(&bots).push(CrowdBot { session, since: Instant::now() }),
                    Err(error) => {
                        counts.add_failed();
                        tracing::warn!(%error, "a bot could not enter");
                    }
                }
            });
        }
        let (began, base) = (Instant::now(), TrafficTotals::default());
        Ok(Self { game, offered, bots, entering, paused, measurements, counts, began, base })
    }

    /// Waits until all bots are in, or all others wait in the queue and it hardly moves.
    async fn until_hardly_more_come(&mut self) -> anyhow::Result<()> {
        let (mut looked, mut came) = (Instant::now(), 0);
        loop {
            match timeout_at(looked + QUEUE_WINDOW, self.entering.join_next()).await {
                Ok(None) => return Ok(()),
                Ok(Some(ended)) => {
                    ended?;
                    came += 1;
                }
                Err(_) => {
                    if came < QUEUE_MOVES && self.entering.len() <= self.counts.queued() {
                        return Ok(());
                    }
                    (looked, came) = (Instant::now(), 0);
                }
            }
        }
    }

    /// Number of bots in the world and in the lobby's queue now.
    pub fn counts(&self) -> CrowdCounts {
        self.counts.counts(self.offered)
    }

    fn handles(&self) -> Vec<BotHandle> {
        let handle = |it: &CrowdBot| BotHandle {
            player: it.session.player.clone(),
            counters: it.session.counters.clone(),
        };
        lock(&self.bots).iter().map(handle).collect()
    }

    fn measurements<R>(&self, look: impl FnOnce(&mut BotMeasurements) -> R) -> R {
        look(&mut lock(&self.measurements))
    }

    async fn until(&self, within: Duration, done: impl Fn(&mut BotMeasurements, usize) -> bool) {
        let deadline = Instant::now() + within;
        while Instant::now() < deadline && !self.measurements(|it| done(it, self.bots())) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Number of answered actions so far.
    pub fn acked(&self) -> u64 {
        self.measurements(|it| it.acked)
    }

    /// Number of bots that have a session.
    pub fn bots(&self) -> usize {
        lock(&self.bots).len()
    }

    /// Waits until all bots that have a session are in the world; returns how many are.
    pub async fn until_entered(&self, within: Duration) -> usize {
        let deadline = Instant::now() + within;
        loop {
            let (mut inside, bots) = (0, self.handles());
            for bot in &bots {
                inside += usize::from(bot.player.inspect(|it| it.player().is_in()).await == Some(true));
            }
            if inside == bots.len() || deadline < Instant::now() {
                return inside;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Avatars of others that a bot sees, on average.
    pub async fn visible(&self) -> f64 {
        let (mut sum, bots) = (0, self.handles());
        for bot in &bots {
            let game = self.game.clone();
            sum += bot.player.inspect(move |it| avatars_in_sight(&*game, it)).await.unwrap_or(0);
        }
        sum as f64 / bots.len().max(1) as f64
    }

    /// The last round trip of every bot, in milliseconds, the shortest first; and the poses that hosts did not send
    /// because a bot read too slowly.
    pub fn pings(&self) -> (Vec<f64>, u64) {
        let bots = self.handles();
        let traffics = || bots.iter().map(|it| &it.counters.traffic);
        let mut pings: Vec<f64> = traffics().map(|it| it.ping.load(Ordering::Relaxed) as f64 / 1e3).collect();
        pings.sort_by(f64::total_cmp);
        (pings, traffics().map(|it| it.lost.load(Ordering::Relaxed)).sum())
    }

    /// Median and 99th percentile of the answers' latency since measuring began, in milliseconds.
    pub fn latency(&self) -> (f64, f64) {
        self.measurements(|it| (it.quantile(0.5), it.quantile(0.99)))
    }

    /// Begins to measure: resets all counters.
    pub async fn measure(&mut self) {
        self.base = TrafficTotals::over(&self.handles()).await;
        self.measurements(|it| {
            it.latency.reset();
            (it.acked, it.refused) = (0, 0);
            // All bots are in: an entry from now on is a reconnect.
            it.entered = self.bots() as u64;
        });
        self.began = Instant::now();
    }

    /// Stops the bots' decisions, waits for their last answers, and reports the measurements.
    pub async fn finish(mut self) -> CrowdReport {
        let (seconds, bot_seconds) = (self.began.elapsed().as_secs_f64(), self.bot_seconds());
        let measured = Measured { seconds, bot_seconds, counts: self.counts() };
        // Bots that wait are not waited for.
        self.entering.shutdown().await;
        // Before the bots rest, so that the totals fit the measured time.
        let totals = TrafficTotals::over(&self.handles()).await;
        self.paused.store(true, Ordering::Relaxed);
        let unanswered = self.last_answers().await;
        let report = self.report(measured, totals, unanswered);
        let mut leaving = JoinSet::new();
        for bot in lock(&self.bots).drain(..) {
            leaving.spawn(bot.session.end());
        }
        leaving.join_all().await;
        report
    }

    /// Seconds that all bots together have been measured: some came later.
    fn bot_seconds(&self) -> f64 {
        lock(&self.bots).iter().map(|it| it.since.max(self.began).elapsed().as_secs_f64()).sum()
    }

    fn report(&self, measured: Measured, totals: TrafficTotals, unanswered: u64) -> CrowdReport {
        let Measured { seconds, bot_seconds, counts } = measured;
        let bots = self.handles();
        let lost = bots.iter().filter(|it| it.counters.ended.load(Ordering::Relaxed)).count() as u64;
        let redials = bots.iter().map(|it| redials(&it.counters)).sum();
        let per_client = |sum: u64| if 0.0 < bot_seconds { sum as f64 / bot_seconds } else { 0.0 };
        let (clients, failed, base) = (bots.len(), self.counts.failed(), self.base);
        self.measurements(|it| CrowdReport {
            clients,
            in_world: counts.in_world,
            queued: counts.queued,
            actions_acked: it.acked,
            actions_refused: it.refused,
            action_latency_p50_ms: it.quantile(0.5),
            action_latency_p99_ms: it.quantile(0.99),
            action_latency_max_ms: it.latency.max() as f64 / 1e3,
            actions_per_second: it.acked as f64 / seconds,
            // A machine that has stopped reports no poses, so the sum may fall.
            updates_per_client_second: per_client(totals.poses.saturating_sub(base.poses)),
            bytes_per_client_second: per_client(totals.bytes - base.bytes),
            packets_per_client_second: per_client(totals.packets - base.packets),
            udp_bytes_per_client_second: per_client(totals.udp_bytes - base.udp_bytes),
            packets_out_per_client_second: per_client(totals.packets_out - base.packets_out),
            udp_bytes_out_per_client_second: per_client(totals.udp_bytes_out - base.udp_bytes_out),
            reconnects: it.entered.saturating_sub(clients as u64),
            redials,
            errors: unanswered + lost + it.closed + failed,
            seconds,
        })
    }

    /// Waits for the last answers; returns the number that did not come.
    async fn last_answers(&self) -> u64 {
        let deadline = Instant::now() + LAST_ANSWERS_TIMEOUT;
        loop {
            let mut unanswered = 0;
            for bot in self.handles() {
                // A machine that has stopped never answers: that counts as one error.
                unanswered += bot.player.inspect(|it| it.player().unanswered() as u64).await.unwrap_or(1);
            }
            if unanswered == 0 || deadline < Instant::now() {
                return unanswered;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

fn lock<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

fn avatars_in_sight(game: &dyn TestedGame, node: &node::ClientNode) -> usize {
    let Some(sight) = node.player().sight(net::clock::now()) else { return 0 };
    let Some(own) = sight.objects.get(&sight.me) else { return 0 };
    sight.objects.values().filter(|it| game.is_avatar(&own.shown, &it.shown)).count()
}

fn redials(counters: &SessionCounters) -> u64 {
    counters.redials.load(Ordering::Relaxed)
}
