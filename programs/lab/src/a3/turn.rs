//! Turning round, the paper's reason for the close area (section V-B): after a turn it takes time until the client is
//! told of the avatars that are in view now.
//!
//! The player turns on its own screen at once; the server learns of it one link delay later, and its answer takes
//! another. Avatars behind the player that were kept fresh are known without waiting.
//!
//! An avatar is known if an update of it arrived since the turn, or before it as recently as A³ promises for that
//! distance. The yardstick is the same for every policy, so that none is blamed for sending fewer updates of distant
//! avatars.

use super::run::{A3Simulation, chance};
use super::sighting::sightings;
use super::{A3Client, A3Server, A3Setting, Candidate, LINK_DELAY};
use hdrhistogram::Histogram;
use interest::policies::{A3, FieldOfView};
use interest::{Policy as _, PolicyError};
use machine::{Span, Time};
use serde::Serialize;

/// Times until a player knows what is in view after turning round, under one policy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TurnRow {
    /// Name of the candidate policy, such as `circle`.
    pub policy: String,
    /// Number of turns that were measured.
    pub turns: u64,
    /// Time until everything close in the new view is known.
    pub close: WaitStatistics,
    /// Time until everything in the new view is known.
    pub all: WaitStatistics,
}

/// Statistics of waiting times, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WaitStatistics {
    /// Mean of all turns, in milliseconds.
    pub mean_ms: f64,
    /// Median: half of the turns take longer.
    pub p50_ms: u64,
    /// 99th percentile: one turn in a hundred takes longer.
    pub p99_ms: u64,
    /// The longest of all turns.
    pub max_ms: u64,
}

/// Time between two turns: long enough for everything to settle, and up to a second longer at random. The server checks
/// at whole intervals, and turns in step with it would all wait equally long.
const BETWEEN_TURNS: Span = Span::from_secs(5);
const JITTER_MILLIS: u64 = 1_000;
/// Name of the random source for that; avatars have the names from 0 on.
const MOMENTS: u64 = u64::MAX - 1;
/// The longest wait that is measured; far beyond what any policy needs.
const WAIT_MAX: Span = Span::from_secs(3);
/// Resolution with which waits are measured.
const STEP: Span = Span::from_millis(1);
/// The most turns: this many give a steady 99th percentile; a shorter run has fewer.
const TURNS_MAX: u64 = 240;

/// Turns the player of one run round again and again under `candidate`'s policy.
pub(super) fn measure(
    setting: &A3Setting,
    candidate: &Candidate,
    avatars: u32,
) -> Result<TurnRow, PolicyError> {
    let view = FieldOfView::new(setting.view, setting.angle)?;
    let promise = A3::new(setting.view, setting.critical, setting.angle)?;
    let mut simulation = A3Simulation::new(setting, candidate, avatars, 0)?;
    let histogram = || Histogram::<u64>::new(3).expect("three significant digits are allowed");
    let (mut close, mut all) = (histogram(), histogram());
    let mut moments = chance(setting, avatars, 0).fork_named(MOMENTS);
    let turns = (setting.duration.as_micros() / BETWEEN_TURNS.as_micros()).clamp(1, TURNS_MAX);
    for _ in 0..turns {
        simulation.advance(BETWEEN_TURNS + Span::from_millis(moments.below(JITTER_MILLIS)));
        simulation.turn_round();
        let turned = simulation.now();
        let mut watch = TurnWatch { setting, view: &view, promise: &promise, turned, close: None, all: None };
        while !watch.is_over(simulation.now()) {
            watch.look(simulation.now(), simulation.client(), simulation.server());
            simulation.advance(STEP);
        }
        close += watch.close.unwrap_or(WAIT_MAX).as_millis();
        all += watch.all.unwrap_or(WAIT_MAX).as_millis();
    }
    Ok(TurnRow {
        policy: candidate.name().into(),
        turns,
        close: WaitStatistics::of(&close),
        all: WaitStatistics::of(&all),
    })
}

impl WaitStatistics {
    fn of(waits: &Histogram<u64>) -> Self {
        let at = |quantile| waits.value_at_quantile(quantile);
        Self { mean_ms: waits.mean(), p50_ms: at(0.5), p99_ms: at(0.99), max_ms: waits.max() }
    }
}

/// The watch on a player that has just turned, with the waits so far.
struct TurnWatch<'a> {
    setting: &'a A3Setting,
    view: &'a FieldOfView,
    promise: &'a A3,
    turned: Time,
    close: Option<Span>,
    all: Option<Span>,
}

impl TurnWatch<'_> {
    fn is_over(&self, now: Time) -> bool {
        self.all.is_some() || WAIT_MAX < now.since(self.turned)
    }

    /// Notes the time once every avatar in view is known.
    fn look(&mut self, now: Time, client: &A3Client, server: &A3Server) {
        let (mut close, mut all) = (true, true);
        for it in sightings(now, client, server).filter(|it| 0.0 < self.view.relevance(&it.sight)) {
            let promised = self.promise.relevance(&it.sight);
            if !it.known.is_some_and(|known| self.is_known(now, known.heard, promised)) {
                all = false;
                close &= !it.here.is_within(self.setting.critical, it.there);
            }
        }
        let waited = now.since(self.turned);
        if close {
            self.close.get_or_insert(waited);
        }
        if all {
            self.all.get_or_insert(waited);
        }
    }

    /// Returns whether an avatar whose last update arrived at `heard` counts as known: see the head of the module.
    fn is_known(&self, now: Time, heard: Time, relevance: f32) -> bool {
        // Two checks and a link delay may pass on the way without breaking the promise.
        let on_the_way = self.setting.check.times(2) + LINK_DELAY;
        let age = Span::from_micros(now.since(heard).as_micros().saturating_sub(on_the_way.as_micros()));
        self.turned < heard || !self.setting.schedule.is_due(age, relevance)
    }
}
