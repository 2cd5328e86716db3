//! The default world under more load than it can serve: what becomes of those who are in it, and of those who wait.
//!
//! One world runs through all phases, because how it recovers is part of the question. Bots come and go at a steady rate, whether
//! the world takes them or not. First the benchmark looks for the world's capacity, then it offers parts and multiples of that.

mod judgement;
mod report;

pub use report::{OverloadReport, OverloadRow, table};

use crate::scratch::Scratch;
use crate::world;
use anyhow::{Result, ensure};
use client::{HistoryWriter, Transport};
use cpu_time::ProcessTime;
use judgement::{Finding, FoundCapacity};
use std::sync::Arc;
use std::time::{Duration, Instant};
use testbed::TestedGame;
use testbed::cluster::Cluster;
use testbed::crowd::{CrowdOptions, CrowdOrder, ElasticCrowd, MIXED};

/// Number of zones of the default world.
const ZONES: u32 = 6;

/// The loads that are offered one after the other, as multiples of the capacity.
pub const LOADS: [f64; 5] = [0.5, 1.0, 1.5, 2.0, 3.0];

/// The load that is offered at last, to see whether the world recovers.
const LOAD_AFTER: f64 = 0.5;

/// Time after the load is gone in which the world may recover.
const RECOVERS_WITHIN: Duration = Duration::from_secs(5);

/// The longest warm-up before a phase, in which bots learn of each other.
const WARM_UP: Duration = Duration::from_secs(3);

/// A part of the benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverloadPart {
    /// Parts and multiples of the capacity, then half of it again.
    Load,
    /// At capacity, one player in twenty asks for 60 actions per second.
    Greed,
    /// At capacity, all players gather in one place and act three times as often.
    Gather,
}

/// The crowds to measure.
#[derive(Clone, Debug)]
pub struct OverloadOptions {
    /// Number of bots that the world can serve; `None` to look for it.
    pub capacity: Option<u32>,
    /// Bots added at a time while the capacity is looked for.
    pub step: u32,
    /// The most bots with which the capacity is looked for.
    pub bots_max: u32,
    /// Parts to run.
    pub parts: Vec<OverloadPart>,
    /// Duration of each phase, in seconds.
    pub seconds: f64,
}

/// The running world, with its crowd and the rows so far.
struct OverloadRun<'a> {
    cluster: Cluster,
    crowd: ElasticCrowd,
    time: Duration,
    /// Sum of all zones' epochs at the end of the last phase.
    epochs: u64,
    rows: Vec<OverloadRow>,
    tell: &'a dyn Fn(&str),
}

/// Starts the default world, looks for its capacity, and offers it less and more than that; `tell` is called with a line of text
/// before and after each phase.
pub async fn measure(
    options: &OverloadOptions,
    game: Arc<dyn TestedGame>,
    tell: &dyn Fn(&str),
) -> Result<OverloadReport> {
    let scratch = Scratch::new()?;
    // All bots come from one address; players do not. All else is as shipped.
    let settings = format!(
        "world = {{ zones = {ZONES}, hosts = {:?} }}\nlobby = {{ per_address = 1000.0, burst = 100000 }}\n",
        world::HOSTS
    );
    let cluster = world::start(&scratch, &settings).await?;
    let crowd = ElasticCrowd::begin(crowd_options(&cluster, game))?;
    let time = Duration::from_secs_f64(options.seconds);
    let epochs = cluster.epochs().await?;
    let mut run = OverloadRun { cluster, crowd, time, epochs, rows: Vec::new(), tell };
    let capacity = match options.capacity {
        Some(capacity) => capacity,
        None => run.look_for_capacity(options.step, options.bots_max).await?,
    };
    for part in &options.parts {
        match part {
            OverloadPart::Load => run.offer_loads(capacity).await?,
            OverloadPart::Greed => run.be_greedy(capacity).await?,
            OverloadPart::Gather => run.gather(capacity).await?,
        }
    }
    run.crowd.offer(0).await;
    run.cluster.leave().await?;
    Ok(report::judged(capacity, options.seconds, run.rows))
}

fn crowd_options(cluster: &Cluster, game: Arc<dyn TestedGame>) -> CrowdOptions {
    CrowdOptions {
        game,
        lobby: cluster.lobby().to_string(),
        count: 0,
        behaviour: MIXED.to_owned(),
        transport: Transport::Quic,
        history: HistoryWriter::default(),
        seed: 1,
        pace: None,
    }
}

impl OverloadRun<'_> {
    /// Adds bots until the world does not serve them well any more. Returns the largest number that it did.
    async fn look_for_capacity(&mut self, step: u32, bots_max: u32) -> Result<u32> {
        let mut found = FoundCapacity::default();
        for bots in (1..=bots_max / step).map(|it| it * step) {
            // A second look, because a neighbour on the machine may have been the reason.
            for look in ["search", "search, again"] {
                self.offer(bots).await;
                let row = self.phase(look).await?;
                match found.take_in(&row) {
                    Finding::Serves => break,
                    Finding::Refuses if look == "search" => (),
                    Finding::Refuses | Finding::Full => return found.capacity(),
                }
            }
        }
        (self.tell)(&format!("the world serves {bots_max} bots; its capacity may be larger: see --bots-max"));
        found.capacity()
    }

    async fn offer_loads(&mut self, capacity: u32) -> Result<()> {
        for load in LOADS {
            self.offer(part_of(capacity, load)).await;
            self.phase(&report::load_name(load)).await?;
        }
        self.crowd.offer(part_of(capacity, LOAD_AFTER) as usize).await;
        tokio::time::sleep(RECOVERS_WITHIN).await;
        self.phase(report::AFTER).await?;
        Ok(())
    }

    async fn be_greedy(&mut self, capacity: u32) -> Result<()> {
        self.offer(capacity).await;
        self.crowd.order(CrowdOrder::Greed);
        self.phase(report::GREEDY).await?;
        self.crowd.order(CrowdOrder::Usual);
        Ok(())
    }

    async fn gather(&mut self, capacity: u32) -> Result<()> {
        self.offer(capacity).await;
        self.crowd.order(CrowdOrder::Gather);
        let walk = self.crowd.gathering_time();
        (self.tell)(&format!("{capacity} bots walk to one place: {:.0} s", walk.as_secs_f64()));
        // The crowd is thinner than it will be, so this is part of what the world must bear.
        self.phase_of(report::GATHERING, walk).await?;
        self.phase(report::GATHERED).await?;
        self.crowd.order(CrowdOrder::Usual);
        Ok(())
    }

    /// Offers this many bots to the world, and waits until they know each other.
    async fn offer(&mut self, bots: u32) {
        (self.tell)(&format!("{bots} bots …"));
        self.crowd.offer(bots as usize).await;
        self.crowd.settle().await;
        tokio::time::sleep(WARM_UP.min(self.time)).await;
    }

    async fn phase(&mut self, part: &str) -> Result<OverloadRow> {
        self.phase_of(part, self.time).await
    }

    /// Measures the world as it is.
    async fn phase_of(&mut self, part: &str, time: Duration) -> Result<OverloadRow> {
        let (began, servers, bots) =
            (Instant::now(), self.cluster.processor_seconds(), ProcessTime::now().as_duration());
        let phase = self.crowd.observe(time).await;
        let seconds = began.elapsed().as_secs_f64();
        let cpu = (self.cluster.processor_seconds() - servers) / seconds;
        let bots_cpu = (ProcessTime::now().as_duration() - bots).as_secs_f64() / seconds;
        let unanswered = self.crowd.rest().await;
        let epochs = self.cluster.epochs().await?;
        let failovers = epochs.saturating_sub(std::mem::replace(&mut self.epochs, epochs));
        ensure!(self.cluster.ended_process().is_none(), "a server ended by itself during {part:?}");
        let row = OverloadRow {
            part: part.to_owned(),
            offered: phase.offered,
            in_world: phase.in_world,
            queued: phase.queued,
            actions_per_second: phase.actions_per_second,
            p50_ms: phase.p50_ms,
            p99_ms: phase.p99_ms,
            pose_rate: phase.pose_rate,
            slowed: phase.slowed,
            busy: phase.busy,
            sessions_lost: phase.sessions_lost,
            errors: phase.errors + unanswered,
            failovers,
            fairness: phase.fairness,
            cpu,
            bots_cpu,
            bots_late_ms: phase.bots_late_ms,
        };
        (self.tell)(&row.line());
        self.rows.push(row.clone());
        Ok(row)
    }
}

fn part_of(capacity: u32, part: f64) -> u32 {
    ((f64::from(capacity) * part).round() as u32).max(1)
}
