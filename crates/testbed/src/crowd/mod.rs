//! Bots as real clients: each has its own session and connections, and is measured.

mod bot_login;
mod elastic;
mod lobby_lock;
mod measurements;
mod regions;
mod report;

pub use elastic::{CrowdOrder, ElasticCrowd, PhaseReport};
pub use report::CrowdReport;

use crate::TestedGame;
use bot_login::BotLogin;
use client::{HistoryWriter, Session, SessionCounters, Transport};
use machine::Span;
use measurements::{BotMeasurements, TrafficTotals};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Time that bots may take to get their last answers: later ones count as errors, so a busy computer gets more than
/// enough.
const LAST_ANSWERS_TIMEOUT: Duration = Duration::from_secs(30);

/// Time that bots with a session may take to enter the world before measuring begins.
const ENTER_TIMEOUT: Duration = Duration::from_secs(20);

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

/// A crowd of bots in a world.
pub struct BotCrowd {
    game: Arc<dyn TestedGame>,
    sessions: Vec<Session>,
    paused: Arc<AtomicBool>,
    measurements: Arc<Mutex<BotMeasurements>>,
    began: Instant,
    /// Totals at the time when measuring began.
    base: TrafficTotals,
    failed: u64,
}

impl BotCrowd {
    /// Logs in all bots. Returns when every one has entered or failed.
    pub async fn enter(options: CrowdOptions) -> anyhow::Result<Self> {
        let (count, lobby) = (options.count, options.lobby.clone());
        let (paused, game) = (Arc::new(AtomicBool::new(false)), options.game.clone());
        let measurements = Arc::new(Mutex::new(BotMeasurements::new()?));
        let bot_login = Arc::new(BotLogin::new(options, paused.clone(), measurements.clone())?);
        let mut entering = JoinSet::new();
        for number in 0..count {
            let bot_login = bot_login.clone();
            entering.spawn(async move { bot_login.admit(number).await });
        }
        let (mut sessions, mut failed) = (Vec::new(), 0);
        while let Some(session) = entering.join_next().await {
            match session? {
                Ok(session) => sessions.push(session),
                Err(error) => {
                    failed += 1;
                    tracing::warn!(%error, "a bot could not enter");
                }
            }
        }
        if sessions.is_empty() && 0 < count {
            anyhow::bail!("no bot could enter; is a world running at {lobby}?");
        }
        let (began, base) = (Instant::now(), TrafficTotals::default());
        let crowd = Self { game, sessions, paused, measurements, began, base, failed };
        crowd.until(ENTER_TIMEOUT, |it, count| count as u64 <= it.entered).await;
        Ok(crowd)
    }

    fn measurements<R>(&self, look: impl FnOnce(&mut BotMeasurements) -> R) -> R {
        look(&mut self.measurements.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn until(&self, within: Duration, done: impl Fn(&mut BotMeasurements, usize) -> bool) {
        let deadline = Instant::now() + within;
        while Instant::now() < deadline && !self.measurements(|it| done(it, self.sessions.len())) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Number of answered actions so far.
    pub fn acked(&self) -> u64 {
        self.measurements(|it| it.acked)
    }

    /// Number of bots that have a session.
    pub fn bots(&self) -> usize {
        self.sessions.len()
    }

    /// Waits until all bots are in the world; returns how many are.
    pub async fn until_entered(&self, within: Duration) -> usize {
        let deadline = Instant::now() + within;
        loop {
            let mut inside = 0;
            for session in &self.sessions {
                inside += usize::from(session.player.inspect(|it| it.player().is_in()).await == Some(true));
            }
            if inside == self.sessions.len() || deadline < Instant::now() {
                return inside;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Avatars of others that a bot sees, on average.
    pub async fn visible(&self) -> f64 {
        let mut sum = 0;
        for session in &self.sessions {
            let game = self.game.clone();
            sum += session.player.inspect(move |it| avatars_in_sight(&*game, it)).await.unwrap_or(0);
        }
        sum as f64 / self.sessions.len().max(1) as f64
    }

    /// The last round trip of every bot, in milliseconds, the shortest first; and the poses that hosts did not send
    /// because a bot read too slowly.
    pub fn pings(&self) -> (Vec<f64>, u64) {
        let traffics = || self.sessions.iter().map(|it| &it.counters.traffic);
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
        self.base = TrafficTotals::over(&self.sessions).await;
        self.measurements(|it| {
            it.latency.reset();
            (it.acked, it.refused) = (0, 0);
            // All bots are in: an entry from now on is a reconnect.
            it.entered = self.sessions.len() as u64;
        });
        self.began = Instant::now();
    }

    /// Stops the bots' decisions, waits for their last answers, and reports the measurements.
    pub async fn finish(self) -> CrowdReport {
        let seconds = self.began.elapsed().as_secs_f64();
        // Before the bots rest, so that the totals fit the measured time.
        let totals = TrafficTotals::over(&self.sessions).await;
        self.paused.store(true, Ordering::Relaxed);
        let unanswered = self.last_answers().await;
        let report = self.report(seconds, totals, unanswered);
        let mut leaving = JoinSet::new();
        for session in self.sessions {
            leaving.spawn(session.end());
        }
        leaving.join_all().await;
        report
    }

    fn report(&self, seconds: f64, totals: TrafficTotals, unanswered: u64) -> CrowdReport {
        let lost = self.sessions.iter().filter(|it| it.counters.ended.load(Ordering::Relaxed)).count() as u64;
        let redials = self.sessions.iter().map(|it| redials(&it.counters)).sum();
        let per_client = |sum: u64| sum as f64 / (self.sessions.len().max(1) as f64 * seconds);
        let (clients, failed, base) = (self.sessions.len(), self.failed, self.base);
        self.measurements(|it| CrowdReport {
            clients,
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
            for session in &self.sessions {
                // A machine that has stopped never answers: that counts as one error.
                unanswered += session.player.inspect(|it| it.player().unanswered() as u64).await.unwrap_or(1);
            }
            if unanswered == 0 || deadline < Instant::now() {
                return unanswered;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

fn avatars_in_sight(game: &dyn TestedGame, node: &node::ClientNode) -> usize {
    let Some(sight) = node.player().sight(net::clock::now()) else { return 0 };
    sight.objects.values().filter(|it| game.is_avatar(&it.shown)).count()
}

fn redials(counters: &SessionCounters) -> u64 {
    counters.redials.load(Ordering::Relaxed)
}
