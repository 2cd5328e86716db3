//! Bots as real clients: each has its own session and connections, and is measured.

mod entry;
mod experience;
mod map;
mod report;
mod turns;

pub use report::CrowdReport;

use crate::TestedGame;
use client::{Counts, HistoryWriter, Stay, Transport};
use entry::Entry;
use experience::{Experience, Passed};
use machine::Span;
use node::Client as Node;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// How long bots may take to hear their last answers: what has not come by then counts as an error, so a busy machine
/// gets more than enough.
const LAST_ANSWERS: Duration = Duration::from_secs(30);

/// How long bots that have a session may take to enter the world before measuring begins.
const ENTERED_WITHIN: Duration = Duration::from_secs(20);

/// The behaviour of a crowd whose bots take those of [`TestedGame::mixed_bots`] in turn.
pub const MIXED: &str = "mixed";

/// What a crowd is like.
#[derive(Clone)]
pub struct CrowdOptions {
    /// The game they play.
    pub game: Arc<dyn TestedGame>,
    /// The lobby.
    pub lobby: String,
    /// How many.
    pub count: usize,
    /// What they do: a bot's name, or [`MIXED`].
    pub behaviour: String,
    /// How they connect.
    pub transport: Transport,
    /// Where to write their history.
    pub history: HistoryWriter,
    /// Where their chance starts.
    pub seed: u64,
    /// How often each decides; `None` as bots do.
    pub pace: Option<Span>,
}

/// A crowd of bots.
pub struct Crowd {
    game: Arc<dyn TestedGame>,
    stays: Vec<Stay>,
    calm: Arc<AtomicBool>,
    experience: Arc<Mutex<Experience>>,
    began: Instant,
    /// What had passed when measuring began.
    base: Passed,
    failed: u64,
}

impl Crowd {
    /// Brings a crowd in. Returns when all are in or have failed to.
    pub async fn enter(options: CrowdOptions) -> anyhow::Result<Self> {
        let (count, lobby) = (options.count, options.lobby.clone());
        let (calm, game) = (Arc::new(AtomicBool::new(false)), options.game.clone());
        let experience = Arc::new(Mutex::new(Experience::new()?));
        let entry = Arc::new(Entry::new(options, calm.clone(), experience.clone())?);
        let mut entering = JoinSet::new();
        for number in 0..count {
            let entry = entry.clone();
            entering.spawn(async move { entry.admit(number).await });
        }
        let (mut stays, mut failed) = (Vec::new(), 0);
        while let Some(stay) = entering.join_next().await {
            match stay? {
                Ok(stay) => stays.push(stay),
                Err(error) => {
                    failed += 1;
                    tracing::warn!(%error, "a bot did not get in");
                }
            }
        }
        if stays.is_empty() && 0 < count {
            anyhow::bail!("no bot got in; is a world running at {lobby}?");
        }
        let (began, base) = (Instant::now(), Passed::default());
        let crowd = Self { game, stays, calm, experience, began, base, failed };
        crowd.until(ENTERED_WITHIN, |it, count| count as u64 <= it.entered).await;
        Ok(crowd)
    }

    fn experience<R>(&self, look: impl FnOnce(&mut Experience) -> R) -> R {
        look(&mut self.experience.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn until(&self, within: Duration, done: impl Fn(&mut Experience, usize) -> bool) {
        let deadline = Instant::now() + within;
        while Instant::now() < deadline && !self.experience(|it| done(it, self.stays.len())) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// How many answers there were so far, for watching.
    pub fn acked(&self) -> u64 {
        self.experience(|it| it.acked)
    }

    /// How many bots came in.
    pub fn bots(&self) -> usize {
        self.stays.len()
    }

    /// Waits until all bots are in; how many are.
    pub async fn until_in(&self, within: Duration) -> usize {
        let deadline = Instant::now() + within;
        loop {
            let mut inside = 0;
            for stay in &self.stays {
                inside += usize::from(stay.player.look(|it| it.player().is_in()).await == Some(true));
            }
            if inside == self.stays.len() || deadline < Instant::now() {
                return inside;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// The avatars of others that a bot sees, on average.
    pub async fn visible(&self) -> f64 {
        let mut sum = 0;
        for stay in &self.stays {
            let game = self.game.clone();
            sum += stay.player.look(move |it| avatars_in_sight(&*game, it)).await.unwrap_or(0);
        }
        sum as f64 / self.stays.len().max(1) as f64
    }

    /// The last round trip of every bot, in milliseconds, the shortest first; and the poses that hosts did not send
    /// because a bot was slow.
    pub fn pings(&self) -> (Vec<f64>, u64) {
        let traffics = || self.stays.iter().map(|it| &it.counts.traffic);
        let mut pings: Vec<f64> = traffics().map(|it| it.ping.load(Ordering::Relaxed) as f64 / 1e3).collect();
        pings.sort_by(f64::total_cmp);
        (pings, traffics().map(|it| it.lost.load(Ordering::Relaxed)).sum())
    }

    /// What half of the answers took since measuring began, and all but one in a hundred, in milliseconds.
    pub fn latency(&self) -> (f64, f64) {
        self.experience(|it| (it.quantile(0.5), it.quantile(0.99)))
    }

    /// Begins to measure.
    pub async fn measure(&mut self) {
        self.base = Passed::over(&self.stays).await;
        self.experience(|it| {
            it.latency.reset();
            (it.acked, it.refused) = (0, 0);
            it.entered = self.stays.len() as u64;
        });
        self.began = Instant::now();
    }

    /// Lets the bots rest, waits for their last answers, and says what was measured.
    pub async fn finish(self) -> CrowdReport {
        let seconds = self.began.elapsed().as_secs_f64();
        let passed = Passed::over(&self.stays).await;
        self.calm.store(true, Ordering::Relaxed);
        let unanswered = self.last_answers().await;
        let report = self.report(seconds, passed, unanswered);
        let mut leaving = JoinSet::new();
        for stay in self.stays {
            leaving.spawn(stay.end());
        }
        leaving.join_all().await;
        report
    }

    fn report(&self, seconds: f64, passed: Passed, unanswered: u64) -> CrowdReport {
        let lost = self.stays.iter().filter(|it| it.counts.ended.load(Ordering::Relaxed)).count() as u64;
        let redials = self.stays.iter().map(|it| redials(&it.counts)).sum();
        let per_client = |sum: u64| sum as f64 / (self.stays.len().max(1) as f64 * seconds);
        let (clients, failed, base) = (self.stays.len(), self.failed, self.base);
        self.experience(|it| CrowdReport {
            clients,
            actions_acked: it.acked,
            actions_refused: it.refused,
            action_latency_p50_ms: it.quantile(0.5),
            action_latency_p99_ms: it.quantile(0.99),
            action_latency_max_ms: it.latency.max() as f64 / 1e3,
            actions_per_second: it.acked as f64 / seconds,
            updates_per_client_second: per_client(passed.poses.saturating_sub(base.poses)),
            bytes_per_client_second: per_client(passed.bytes - base.bytes),
            packets_per_client_second: per_client(passed.packets - base.packets),
            udp_bytes_per_client_second: per_client(passed.udp_bytes - base.udp_bytes),
            packets_out_per_client_second: per_client(passed.packets_out - base.packets_out),
            udp_bytes_out_per_client_second: per_client(passed.udp_bytes_out - base.udp_bytes_out),
            reconnects: it.entered.saturating_sub(clients as u64),
            redials,
            errors: unanswered + lost + it.closed + failed,
            seconds,
        })
    }

    /// Waits for the last answers; how many did not come.
    async fn last_answers(&self) -> u64 {
        let deadline = Instant::now() + LAST_ANSWERS;
        loop {
            let mut unanswered = 0;
            for stay in &self.stays {
                unanswered += stay.player.look(|it| it.player().unanswered() as u64).await.unwrap_or(1);
            }
            if unanswered == 0 || deadline < Instant::now() {
                return unanswered;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

fn avatars_in_sight(game: &dyn TestedGame, node: &Node) -> usize {
    let Some(sight) = node.player().sight(net::clock::now()) else { return 0 };
    sight.objects.values().filter(|it| game.is_avatar(&it.shown)).count()
}

fn redials(counts: &Counts) -> u64 {
    counts.redials.load(Ordering::Relaxed)
}
