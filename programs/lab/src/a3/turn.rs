//! The paper's reason for the close area (section V-B): who turns round needs time to be told what is
//! there now.
//!
//! The player turns on its own screen at once; the server hears of it one link delay later, and its
//! answer takes another. What was kept fresh behind the player's back is there without waiting.
//!
//! Known means: told since the turn, or told before it as recently as A³ promises for that distance.
//! The same yardstick for every policy, so that none is blamed for telling the far less often.

use super::run::{Stage, chance};
use super::sighting::sightings;
use super::{Candidate, Client, LINK_DELAY, Server, Setting};
use hdrhistogram::Histogram;
use interest::policies::{A3, FieldOfView};
use interest::{Policy as _, PolicyError};
use machine::{Span, Time};
use serde::Serialize;

/// How long one policy leaves a player blind after turning round.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TurnRow {
    /// The policy.
    pub policy: String,
    /// Turns measured.
    pub turns: u64,
    /// Until everything in the new view that is close is known.
    pub close: Waits,
    /// Until everything in the new view is known.
    pub all: Waits,
}

/// A distribution of waits, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Waits {
    /// The mean.
    pub mean_ms: f64,
    /// Half of the turns take longer.
    pub p50_ms: u64,
    /// One turn in a hundred takes longer.
    pub p99_ms: u64,
    /// The worst.
    pub max_ms: u64,
}

/// One turn every so often: long enough for everything to settle before the next, and up to a second longer, as chance
/// has it: the server looks at whole intervals, and turns in step with it would all wait equally long.
const BETWEEN_TURNS: Span = Span::from_secs(5);
const JITTER_MILLIS: u64 = 1_000;
/// Names the source of that chance; avatars have the names from 0 on.
const MOMENTS: u64 = u64::MAX - 1;
/// Given up after this long; far beyond what any policy needs.
const PATIENCE: Span = Span::from_secs(3);
/// How finely waits are measured.
const STEP: Span = Span::from_millis(1);
/// This many turns give a steady 99th percentile; a shorter run has fewer.
const TURNS_MAX: u64 = 240;

/// Turns the player of one run round again and again under `candidate`'s policy.
pub(super) fn measure(
    setting: &Setting,
    candidate: &Candidate,
    avatars: u32,
) -> Result<TurnRow, PolicyError> {
    let view = FieldOfView::new(setting.view, setting.angle)?;
    let promise = A3::new(setting.view, setting.critical, setting.angle)?;
    let mut stage = Stage::new(setting, candidate, avatars, 0)?;
    let histogram = || Histogram::<u64>::new(3).expect("three significant digits are allowed");
    let (mut close, mut all) = (histogram(), histogram());
    let mut moments = chance(setting, avatars, 0).fork_named(MOMENTS);
    let turns = (setting.duration.as_micros() / BETWEEN_TURNS.as_micros()).clamp(1, TURNS_MAX);
    for _ in 0..turns {
        stage.advance(BETWEEN_TURNS + Span::from_millis(moments.below(JITTER_MILLIS)));
        stage.turn_round();
        let turned = stage.now();
        let mut blind = Blind { setting, view: &view, promise: &promise, turned, close: None, all: None };
        while !blind.is_over(stage.now()) {
            blind.look(stage.now(), stage.client(), stage.server());
            stage.advance(STEP);
        }
        close += blind.close.unwrap_or(PATIENCE).as_millis();
        all += blind.all.unwrap_or(PATIENCE).as_millis();
    }
    Ok(TurnRow { policy: candidate.name().into(), turns, close: Waits::of(&close), all: Waits::of(&all) })
}

impl Waits {
    fn of(waits: &Histogram<u64>) -> Self {
        let at = |quantile| waits.value_at_quantile(quantile);
        Self { mean_ms: waits.mean(), p50_ms: at(0.5), p99_ms: at(0.99), max_ms: waits.max() }
    }
}

/// A player who has just turned, and how long it took until it saw.
struct Blind<'a> {
    setting: &'a Setting,
    view: &'a FieldOfView,
    promise: &'a A3,
    turned: Time,
    close: Option<Span>,
    all: Option<Span>,
}

impl Blind<'_> {
    fn is_over(&self, now: Time) -> bool {
        self.all.is_some() || PATIENCE < now.since(self.turned)
    }

    /// Notes the time once nothing in view is unknown.
    fn look(&mut self, now: Time, client: &Client, server: &Server) {
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

    /// Whether an avatar last heard of at `heard` counts as known: see the module's head.
    fn is_known(&self, now: Time, heard: Time, relevance: f32) -> bool {
        let on_the_way = self.setting.check.times(2) + LINK_DELAY;
        let age = Span::from_micros(now.since(heard).as_micros().saturating_sub(on_the_way.as_micros()));
        self.turned < heard || !self.setting.schedule.is_due(age, relevance)
    }
}
