//! The clients' process of `ecumene bench server`: bots that walk, and what they experienced.

use super::walker;
use crate::play::block_on;
use crate::play::crowd::{Crowd, CrowdOptions, CrowdReport};
use crate::{Failure, print};
use clap::Args;
use client::{Book, Transport};
use machine::Span;
use serde::{Deserialize, Serialize};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Bots change their course this often.
const PACE: Span = Span::from_millis(100);

/// How long everybody may take to come in.
const IN_WITHIN: Duration = Duration::from_secs(60);

/// Nobody measures while everybody still learns where everybody is.
const WARM_UP: Duration = Duration::from_secs(3);

/// Said when the measured time begins, and when it ends.
pub const BEGIN: &str = "measuring";
/// See [`BEGIN`].
pub const END: &str = "measured";

/// What the process takes.
#[derive(Args)]
pub struct WalkersArgs {
    /// Where the lobby is
    #[arg(long)]
    lobby: String,
    /// How many
    #[arg(long)]
    count: u32,
    /// For how long
    #[arg(long)]
    seconds: f64,
    /// Connect by WebSocket instead of QUIC
    #[arg(long)]
    web_socket: bool,
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
    /// Poses that the server did not send because somebody read too slowly.
    pub lost: u64,
}

/// Runs the process.
pub fn run(args: &WalkersArgs) -> Result<(), Failure> {
    let options = CrowdOptions {
        lobby: args.lobby.clone(),
        count: args.count as usize,
        behaviour: walker::NAME.to_owned(),
        transport: if args.web_socket { Transport::WebSocket } else { Transport::Quic },
        book: Book::default(),
        seed: 1,
        pace: Some(PACE),
    };
    let walked = block_on(walk(options, Duration::from_secs_f64(args.seconds)))?;
    print(&format!("{}\n", serde_json::to_string(&walked)?))
}

async fn walk(options: CrowdOptions, time: Duration) -> Result<Walked, Failure> {
    let mut crowd = Crowd::enter(options).await?;
    let inside = crowd.until_in(IN_WITHIN).await;
    tokio::time::sleep(WARM_UP).await;
    crowd.measure().await;
    let (courses, lost) = (walker::COURSES.load(Ordering::Relaxed), crowd.pings().1);
    print(&format!("{BEGIN}\n"))?;
    tokio::time::sleep(time / 2).await;
    let visible = crowd.visible().await;
    tokio::time::sleep(time / 2).await;
    let courses = walker::COURSES.load(Ordering::Relaxed) - courses;
    let (pings, lost_after) = crowd.pings();
    print(&format!("{END}\n"))?;
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
