//! The measurement of a crowd for a while.

use super::directed_bot::is_greedy;
use super::{ElasticBot, ElasticCrowd, SAMPLE_EVERY};
use crate::crowd::LAST_ANSWERS_TIMEOUT;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Interval at which resting bots are asked whether all their actions are answered.
const ASK_EVERY: Duration = Duration::from_millis(50);

/// The measurements of a phase.
#[derive(Clone, Debug, Default)]
pub struct PhaseReport {
    /// Bots that want to be in the world.
    pub offered: usize,
    /// Bots in the world at the end of the phase.
    pub in_world: usize,
    /// Bots that wait until the lobby lets them in.
    pub queued: usize,
    /// Actions done or refused by the game per second, all bots together.
    pub actions_per_second: f64,
    /// Median latency of all answers, in milliseconds.
    pub p50_ms: f64,
    /// 99th percentile of the latency of all answers, in milliseconds.
    pub p99_ms: f64,
    /// Actions that were answered "busy".
    pub busy: u64,
    /// Rounds of poses per bot and second: ticks of the carrier that had something for the bot.
    pub pose_rate: f64,
    /// Part of the time of all bots in which their zone was late and sent poses more rarely, 0 to 1.
    pub slowed: f64,
    /// Jain's index of fairness over the served part of what each bot asked for, 0 to 1; bots that may become greedy are left out.
    pub fairness: f64,
    /// Sessions that the world ended, and times that a bot had to enter again because its zone was silent; since the last phase.
    pub sessions_lost: u64,
    /// Bots that could not log in, and sessions that the world ended; since the last phase.
    pub errors: u64,
    /// The longest time in which the thread of all bots came round, in milliseconds: measured latencies are that inexact.
    pub bots_late_ms: f64,
}

/// The state of a bot's machine at one moment.
#[derive(Clone, Copy)]
struct BotState {
    is_in: bool,
    pose_rounds: u64,
    unanswered: u64,
}

/// What the crowd had received when a phase began, by bot.
struct PhaseStart {
    began: Instant,
    states: Vec<Option<BotState>>,
    answers: Vec<(u64, u64)>,
}

/// Sessions that bots have lost.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LostSessions {
    /// Sessions that are over although no bot ended them.
    ended: u64,
    /// Entries after a zone was silent.
    reentered: u64,
    /// Bots that could not log in.
    failed: u64,
}

impl LostSessions {
    pub(super) fn add(&mut self, bot: &ElasticBot) {
        let over = bot.session.counters.ended.load(Ordering::Relaxed);
        let closed = 0 < bot.tally.closed.load(Ordering::Relaxed);
        self.ended += u64::from(over || closed);
        self.reentered += bot.tally.reentered.load(Ordering::Relaxed);
    }

    const fn since(self, earlier: Self) -> Self {
        Self {
            ended: self.ended - earlier.ended,
            reentered: self.reentered - earlier.reentered,
            failed: self.failed - earlier.failed,
        }
    }
}

impl ElasticCrowd {
    /// Measures the crowd for a while.
    pub async fn observe(&mut self, time: Duration) -> PhaseReport {
        let start = self.start_phase().await;
        let (mut slowed, mut samples, mut late) = (0.0, 0, Duration::ZERO);
        while start.began.elapsed() < time {
            tokio::time::sleep(SAMPLE_EVERY).await;
            self.collect();
            let is_slowed = |it: &&ElasticBot| it.tally.is_slowed.load(Ordering::Relaxed);
            slowed += self.bots.iter().filter(is_slowed).count() as f64 / self.bots.len().max(1) as f64;
            samples += 1;
            late = late.max(self.lateness().await);
        }
        let mut report = self.end_phase(&start).await;
        report.slowed = slowed / f64::from(samples.max(1));
        report.bots_late_ms = late.as_secs_f64() * 1e3;
        report
    }

    async fn start_phase(&mut self) -> PhaseStart {
        self.collect();
        let states = self.states().await;
        let answers = self.bots.iter().map(|it| it.tally.answers()).collect();
        self.latencies.lock().unwrap_or_else(PoisonError::into_inner).reset();
        PhaseStart { began: Instant::now(), states, answers }
    }

    async fn end_phase(&mut self, start: &PhaseStart) -> PhaseReport {
        let seconds = start.began.elapsed().as_secs_f64();
        let quantile = |part: f64| {
            let latencies = self.latencies.lock().unwrap_or_else(PoisonError::into_inner);
            latencies.value_at_quantile(part) as f64 / 1e3
        };
        let (p50_ms, p99_ms) = (quantile(0.5), quantile(0.99));
        let answers = self.answers_since(start);
        let states = self.states().await;
        let in_world = states.iter().flatten().filter(|it| it.is_in).count();
        let lost = self.newly_lost();
        PhaseReport {
            offered: self.offered,
            in_world,
            queued: self.counts.queued(),
            actions_per_second: answers.iter().map(|it| it.0).sum::<u64>() as f64 / seconds,
            p50_ms,
            p99_ms,
            busy: answers.iter().map(|it| it.1).sum(),
            pose_rate: pose_rounds(&start.states, &states) as f64 / (in_world.max(1) as f64 * seconds),
            fairness: self.fairness(&answers, &states),
            sessions_lost: lost.ended + lost.reentered,
            errors: lost.ended + lost.failed,
            ..PhaseReport::default()
        }
    }

    /// Served and busy answers of each bot since a phase began.
    fn answers_since(&self, start: &PhaseStart) -> Vec<(u64, u64)> {
        let before = start.answers.iter().copied().chain(std::iter::repeat((0, 0)));
        let now = self.bots.iter().map(|it| it.tally.answers());
        now.zip(before).map(|(now, before)| (now.0 - before.0, now.1 - before.1)).collect()
    }

    /// What the crowd has lost since this was asked last.
    fn newly_lost(&mut self) -> LostSessions {
        let mut lost = LostSessions { failed: self.failed, ..self.lost };
        self.bots.iter().for_each(|it| lost.add(it));
        let before = std::mem::replace(&mut self.reported, lost);
        lost.since(before)
    }

    /// Lets the bots rest until all their actions are answered. Returns the number of those that never were.
    pub async fn rest(&self) -> u64 {
        self.paused.store(true, Ordering::Relaxed);
        let deadline = Instant::now() + LAST_ANSWERS_TIMEOUT;
        let unanswered = loop {
            let states = self.states().await;
            // A machine that has stopped never answers; its session counts as lost.
            let unanswered = states.iter().flatten().map(|it| it.unanswered).sum();
            if unanswered == 0 || deadline < Instant::now() {
                break unanswered;
            }
            tokio::time::sleep(ASK_EVERY).await;
        };
        self.paused.store(false, Ordering::Relaxed);
        unanswered
    }

    /// The state of each bot at one moment; `None` for one whose machine has stopped.
    async fn states(&self) -> Vec<Option<BotState>> {
        let mut asked = JoinSet::new();
        for (at, bot) in self.bots.iter().enumerate() {
            let player = bot.session.player.clone();
            asked.spawn(async move { (at, player.inspect(BotState::of).await) });
        }
        let mut states = vec![None; self.bots.len()];
        for (at, state) in asked.join_all().await {
            states[at] = state;
        }
        states
    }

    /// The time in which the bots' thread comes round.
    async fn lateness(&self) -> Duration {
        let asked = Instant::now();
        if let Some(bot) = self.bots.first() {
            bot.session.player.inspect(|_| ()).await;
        }
        asked.elapsed()
    }

    /// Jain's index over the served parts of what each honest bot asked for.
    fn fairness(&self, answers: &[(u64, u64)], states: &[Option<BotState>]) -> f64 {
        let all = self.bots.iter().zip(answers).zip(states);
        jain(all.filter_map(|((bot, (served, busy)), state)| {
            let asked = served + busy + state.map_or(0, |it| it.unanswered);
            (0 < asked && !is_greedy(bot.number)).then(|| *served as f64 / asked as f64)
        }))
    }
}

impl BotState {
    fn of(node: &node::ClientNode) -> Self {
        let player = node.player();
        let unanswered = player.unanswered() as u64;
        Self { is_in: player.is_in(), pose_rounds: node.pose_rounds(), unanswered }
    }
}

/// Rounds of poses between two moments, of the bots that were there at both.
fn pose_rounds(before: &[Option<BotState>], after: &[Option<BotState>]) -> u64 {
    let both = before.iter().zip(after).filter_map(|(before, after)| Some(((*before)?, (*after)?)));
    both.map(|(before, after)| after.pose_rounds - before.pose_rounds).sum()
}

/// Jain's index of fairness: 1 if all shares are the same, 1/n if one of n has everything; 1 without any.
fn jain(shares: impl Iterator<Item = f64>) -> f64 {
    let (count, sum, squares) =
        shares.fold((0.0, 0.0, 0.0), |(count, sum, squares), it| (count + 1.0, sum + it, squares + it * it));
    if squares == 0.0 { 1.0 } else { sum * sum / (count * squares) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_of_fairness_is_jains() {
        let index = |shares: &[f64]| jain(shares.iter().copied());
        assert_eq!((index(&[]), index(&[0.5; 8]), index(&[1.0, 0.0, 0.0, 0.0])), (1.0, 1.0, 0.25));
        assert!((index(&[1.0, 0.5]) - 0.9).abs() < 1e-9);
    }
}
