//! A crowd that only walks: load for measuring what a client costs a server.

use crate::crowd::{Crowd, CrowdOptions, CrowdReport};
use crate::{Border, TestedGame, walker};
use client::{HistoryWriter, Transport};
use game::Bot;
use machine::Span;
use serde::{Deserialize, Serialize};
use space::Polygon;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Bots change their course this often.
const PACE: Span = Span::from_millis(100);

/// How long all bots together may take to come in.
const IN_WITHIN: Duration = Duration::from_secs(60);

/// Nothing is measured while the bots still learn of each other.
const WARM_UP: Duration = Duration::from_secs(3);

/// Which walkers.
pub struct WalkersOptions {
    /// Where the lobby is.
    pub lobby: String,
    /// How many.
    pub count: usize,
    /// For how long they are measured.
    pub time: Duration,
    /// How they connect.
    pub transport: Transport,
}

/// A moment that the process that measures the servers must hear of at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The measured time begins.
    Begin,
    /// The measured time ends.
    End,
}

impl Moment {
    /// The line by which one process tells another.
    pub const fn line(self) -> &'static str {
        match self {
            Self::Begin => "measuring",
            Self::End => "measured",
        }
    }
}

/// What the walkers experienced.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Walked {
    /// What every crowd counts.
    pub crowd: CrowdReport,
    /// How many were in when measuring began.
    pub inside: usize,
    /// The avatars of others in sight.
    pub visible: f64,
    /// Courses taken, per bot and second.
    pub moves_per_client_second: f64,
    /// Half of the last round trips took less.
    pub ping_p50_ms: f64,
    /// One in a hundred took longer.
    pub ping_p99_ms: f64,
    /// Poses that the server did not send because a bot read too slowly.
    pub lost: u64,
}

/// Lets bots walk and measures them; `reach` is called at each moment.
pub async fn walk(
    options: WalkersOptions,
    game: Arc<dyn TestedGame>,
    reach: impl Fn(Moment) -> anyhow::Result<()>,
) -> anyhow::Result<Walked> {
    let time = options.time;
    let mut crowd = Crowd::enter(crowd_options(options, game)).await?;
    let inside = crowd.until_in(IN_WITHIN).await;
    tokio::time::sleep(WARM_UP).await;
    crowd.measure().await;
    let (courses, lost) = (walker::COURSES.load(Ordering::Relaxed), crowd.pings().1);
    reach(Moment::Begin)?;
    tokio::time::sleep(time / 2).await;
    let visible = crowd.visible().await;
    tokio::time::sleep(time / 2).await;
    let courses = walker::COURSES.load(Ordering::Relaxed) - courses;
    let (pings, lost_after) = crowd.pings();
    reach(Moment::End)?;
    let ping = |part: f64| pings.get((part * pings.len() as f64) as usize).copied().unwrap_or_default();
    let crowd = crowd.finish().await;
    Ok(Walked {
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
    CrowdOptions {
        game: Arc::new(Walking(game)),
        lobby: options.lobby,
        count: options.count,
        behaviour: walker::NAME.to_owned(),
        transport: options.transport,
        history: HistoryWriter::default(),
        seed: 1,
        pace: Some(PACE),
    }
}

/// A game whose bots are all walkers.
struct Walking(Arc<dyn TestedGame>);

impl TestedGame for Walking {
    fn scenario(&self) -> &dyn trial::Scenario {
        self.0.scenario()
    }

    fn mixed_bots(&self) -> &[&'static str] {
        &[walker::NAME]
    }

    fn bot(&self, _: &str, world: &Polygon, _: &[Border]) -> Option<Box<dyn Bot>> {
        Some(walker::bot(world.clone(), self.walking_speed()))
    }

    fn is_avatar(&self, shown: &[u8]) -> bool {
        self.0.is_avatar(shown)
    }

    fn everyday_action(&self) -> Vec<u8> {
        self.0.everyday_action()
    }

    fn walking_speed(&self) -> f32 {
        self.0.walking_speed()
    }
}
