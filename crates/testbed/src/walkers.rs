//! Crowds that measure what a client costs the servers: bots that only walk, or the game's own.

use crate::crowd::{BotCrowd, CrowdOptions, CrowdReport, MIXED};
use crate::{BorderSegment, TestedGame, walking_bot};
use client::{HistoryWriter, Transport};
use game::Bot;
use machine::Span;
use serde::{Deserialize, Serialize};
use space::Polygon;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Interval at which bots change their course.
const PACE: Span = Span::from_millis(100);

/// Time that all bots together may take to enter the world.
const ENTER_TIMEOUT: Duration = Duration::from_secs(60);

/// Time before measuring begins, in which the bots learn of each other.
const WARM_UP: Duration = Duration::from_secs(3);

/// The options of a crowd of walkers.
pub struct WalkersOptions {
    /// Address of the lobby, as host and port.
    pub lobby: String,
    /// Number of bots in the crowd.
    pub count: usize,
    /// Duration of the measurement, without warm-up.
    pub time: Duration,
    /// Transport of the bots' connections.
    pub transport: Transport,
    /// True if the bots play as the game's own bots do, instead of walking only.
    pub plays: bool,
}

/// A point in time that the process that measures the servers must learn at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeasurePoint {
    /// The measured time begins now.
    Begin,
    /// The measured time ends now.
    End,
}

impl MeasurePoint {
    /// The line of text by which one process tells another.
    pub const fn line(self) -> &'static str {
        match self {
            Self::Begin => "measuring",
            Self::End => "measured",
        }
    }
}

/// The measurements of a crowd of walkers.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct WalkersReport {
    /// Measurements that every crowd has.
    pub crowd: CrowdReport,
    /// Bots that were in the world when measuring began.
    pub inside: usize,
    /// Avatars of others that a bot sees, on average.
    pub visible: f64,
    /// Courses taken, per bot and second.
    pub moves_per_client_second: f64,
    /// Median of the last round trips, in milliseconds.
    pub ping_p50_ms: f64,
    /// 99th percentile of the last round trips, in milliseconds.
    pub ping_p99_ms: f64,
    /// Poses that hosts did not send because a bot read too slowly.
    pub lost: u64,
}

/// Runs walkers and measures them; `reach` is called at each point.
pub async fn walk(
    options: WalkersOptions,
    game: Arc<dyn TestedGame>,
    reach: impl Fn(MeasurePoint) -> anyhow::Result<()>,
) -> anyhow::Result<WalkersReport> {
    let time = options.time;
    let mut crowd = BotCrowd::enter(crowd_options(options, game)).await?;
    let inside = crowd.until_entered(ENTER_TIMEOUT).await;
    tokio::time::sleep(WARM_UP).await;
    // Only now: entering and learning of each other costs more than walking.
    crowd.measure().await;
    let (courses, lost) = (walking_bot::COURSES.load(Ordering::Relaxed), crowd.pings().1);
    reach(MeasurePoint::Begin)?;
    tokio::time::sleep(time / 2).await;
    let visible = crowd.visible().await;
    tokio::time::sleep(time / 2).await;
    let courses = walking_bot::COURSES.load(Ordering::Relaxed) - courses;
    let (pings, lost_after) = crowd.pings();
    reach(MeasurePoint::End)?;
    let ping = |part: f64| pings.get((part * pings.len() as f64) as usize).copied().unwrap_or_default();
    let crowd = crowd.finish().await;
    Ok(WalkersReport {
        visible,
        inside,
        moves_per_client_second: courses as f64 / (crowd.clients as f64 * crowd.seconds),
        ping_p50_ms: ping(0.5),
        ping_p99_ms: ping(0.99),
        lost: lost_after - lost,
        crowd,
    })
}

fn crowd_options(options: WalkersOptions, game: Arc<dyn TestedGame>) -> CrowdOptions {
    let WalkersOptions { lobby, count, transport, plays, .. } = options;
    let (game, behaviour, pace) = if plays {
        (game, MIXED, None)
    } else {
        (Arc::new(WalkersGame(game)) as Arc<dyn TestedGame>, walking_bot::NAME, Some(PACE))
    };
    let behaviour = behaviour.to_owned();
    CrowdOptions {
        game,
        lobby,
        count,
        behaviour,
        transport,
        history: HistoryWriter::default(),
        seed: 1,
        pace,
    }
}

/// A game whose bots are all walkers.
struct WalkersGame(Arc<dyn TestedGame>);

impl TestedGame for WalkersGame {
    fn scenario(&self) -> &dyn simtest::Scenario {
        self.0.scenario()
    }

    fn mixed_bots(&self) -> &[&'static str] {
        &[walking_bot::NAME]
    }

    fn bot(&self, _: &str, world: &Polygon, _: &[BorderSegment]) -> Option<Box<dyn Bot>> {
        Some(walking_bot::bot(world.clone(), self.walking_speed()))
    }

    fn is_avatar(&self, own: &[u8], shown: &[u8]) -> bool {
        self.0.is_avatar(own, shown)
    }

    fn everyday_action(&self) -> Vec<u8> {
        self.0.everyday_action()
    }

    fn walking_speed(&self) -> f32 {
        self.0.walking_speed()
    }
}
