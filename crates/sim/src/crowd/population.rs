//! The times at which players join and leave: a [`PopulationSchedule`] with its random draws made.

use super::error::CrowdError;
use super::schedule::{Cut, Instruction, Manner, MassFailure, PopulationSchedule};
use super::sides::CutSides;
use super::{WalkerId, draw, stream};
use machine::{Rng, Span, Time};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Instructions in the order of time, as an iterator. With churn it never ends.
///
/// Each walker's sessions come from a stream of its own, and so do failures and cuts: an added failure changes
/// nothing for the walkers that do not fail.
#[derive(Clone, Debug)]
pub struct Population {
    schedule: PopulationSchedule,
    players: Vec<WalkerSessions>,
    plans: BinaryHeap<Reverse<(Time, u64, PlannedChange)>>,
    /// Number of changes planned so far: of two for one instant, the older comes first.
    planned: u64,
    /// The next instructions, all of one instant. Empty only when no more instructions come.
    next: VecDeque<(Time, Instruction)>,
    failure_rng: Rng,
    cut_rng: Rng,
}

#[derive(Clone, Debug)]
struct WalkerSessions {
    /// Number of sessions that have begun.
    sessions: u32,
    joined: bool,
    rng: Rng,
}

/// A change that is planned for a certain time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PlannedChange {
    Join(WalkerId),
    /// The end of the walker's session with this number, unless it has ended before.
    SessionEnd(WalkerId, u32),
    Fail(usize),
    Cut(usize),
    Mend,
}

impl Population {
    /// The population of `count` walkers.
    pub fn new(count: u32, schedule: PopulationSchedule, rng: &Rng) -> Result<Self, CrowdError> {
        schedule.check()?;
        let rng = rng.fork_named(stream::POPULATION);
        let player = |number| WalkerSessions { sessions: 0, joined: false, rng: rng.fork_named(number) };
        let mut population = Self {
            players: (0..count.into()).map(player).collect(),
            plans: BinaryHeap::new(),
            planned: 0,
            next: VecDeque::new(),
            failure_rng: rng.fork_named(u64::MAX),
            cut_rng: rng.fork_named(u64::MAX - 1),
            // Sorted: where two cuts touch, the end of the first is planned before the second, and so comes first.
            schedule: PopulationSchedule { cuts: schedule.cuts_in_order(), ..schedule },
        };
        population.plan_all(count);
        population.look_ahead();
        Ok(population)
    }

    /// The time of the next instruction; `None` if no more come.
    pub fn deadline(&self) -> Option<Time> {
        self.next.front().map(|(at, _)| *at)
    }

    /// The next instruction, if it is due.
    pub fn pop_due(&mut self, now: Time) -> Option<(Time, Instruction)> {
        if self.deadline()? <= now { self.next() } else { None }
    }

    fn plan_all(&mut self, count: u32) {
        for (turn, number) in (0..).zip(self.schedule.order.numbers(count)) {
            let at = Time::ZERO + self.schedule.spacing.times(turn);
            self.plan(at, PlannedChange::Join(WalkerId(number)));
        }
        for index in 0..self.schedule.failures.len() {
            self.plan(self.schedule.failures[index].at, PlannedChange::Fail(index));
        }
        for index in 0..self.schedule.cuts.len() {
            let Cut { at, lasts, .. } = self.schedule.cuts[index];
            self.plan(at, PlannedChange::Cut(index));
            self.plan(at + lasts, PlannedChange::Mend);
        }
    }

    fn plan(&mut self, at: Time, plan: PlannedChange) {
        self.plans.push(Reverse((at, self.planned, plan)));
        self.planned += 1;
    }

    /// Carries out planned changes until there is an instruction.
    fn look_ahead(&mut self) {
        while self.next.is_empty()
            && let Some(Reverse((at, _, plan))) = self.plans.pop()
        {
            match plan {
                PlannedChange::Join(walker) => self.on_join(at, walker),
                PlannedChange::SessionEnd(walker, life) => self.on_end(at, walker, life),
                PlannedChange::Fail(index) => self.on_fail(at, self.schedule.failures[index]),
                PlannedChange::Cut(index) => self.on_cut(at, self.schedule.cuts[index]),
                PlannedChange::Mend => self.next.push_back((at, Instruction::Mend)),
            }
        }
    }

    fn on_join(&mut self, at: Time, walker: WalkerId) {
        let player = &mut self.players[walker.index()];
        let life = player.sessions;
        (player.joined, player.sessions) = (true, life + 1);
        self.next.push_back((at, Instruction::Join { walker, life }));
        let Some(churn) = self.schedule.churn else { return };
        let session = draw::exponential(churn.session_mean, &mut player.rng);
        self.plan(at + session, PlannedChange::SessionEnd(walker, life));
    }

    fn on_end(&mut self, at: Time, walker: WalkerId, life: u32) {
        let player = &mut self.players[walker.index()];
        let Some(churn) = self.schedule.churn else { return };
        // A failure ended this session before its time, so its planned end is stale.
        if !player.joined || player.sessions != life + 1 {
            return;
        }
        let manner = if player.rng.chance(churn.graceful) { Manner::Graceful } else { Manner::Abrupt };
        self.remove(at, walker, manner, Some(churn.back_after));
    }

    fn on_fail(&mut self, at: Time, failure: MassFailure) {
        let mut there: Vec<u32> =
            (0..).zip(&self.players).filter(|(_, it)| it.joined).map(|(number, _)| number).collect();
        // To the nearest, so that a tenth of 15 is two and not one.
        let failing = (there.len() * failure.percent as usize + 50) / 100;
        for &number in draw::sample(&mut there, failing, &mut self.failure_rng) {
            self.remove(at, WalkerId(number), Manner::Abrupt, failure.back_after);
        }
    }

    fn on_cut(&mut self, at: Time, cut: Cut) {
        // Drawn for all walkers, joined or not: a walker that joins during the cut needs a side.
        let sides = CutSides::draw(cut.division, self.players.len() as u32, &mut self.cut_rng);
        self.next.push_back((at, Instruction::Cut(sides)));
    }

    fn remove(&mut self, at: Time, walker: WalkerId, manner: Manner, back_after: Option<Span>) {
        self.players[walker.index()].joined = false;
        self.next.push_back((at, Instruction::Leave { walker, manner }));
        if let Some(span) = back_after {
            self.plan(at + span, PlannedChange::Join(walker));
        }
    }
}

impl Iterator for Population {
    type Item = (Time, Instruction);

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next.pop_front();
        self.look_ahead();
        next
    }
}

#[cfg(test)]
mod tests {
    use super::super::schedule::{Churn, JoinOrder};
    use super::super::sides::{CutSide, Division};
    use super::*;
    use std::collections::BTreeMap;

    const HOUR: Time = Time::from_millis(3_600_000);

    fn at_second(second: u64) -> Time {
        Time::from_millis(second * 1_000)
    }

    fn population(count: u32, schedule: PopulationSchedule, seed: u64) -> Population {
        Population::new(count, schedule, &Rng::seeded(seed)).unwrap()
    }

    fn until(end: Time, count: u32, schedule: PopulationSchedule, seed: u64) -> Vec<(Time, Instruction)> {
        population(count, schedule, seed).take_while(|(at, _)| *at < end).collect()
    }

    fn failing(failure: MassFailure) -> PopulationSchedule {
        PopulationSchedule { failures: vec![failure], ..PopulationSchedule::default() }
    }

    fn cutting(division: Division) -> PopulationSchedule {
        let cuts = vec![Cut { at: at_second(1), lasts: Span::from_secs(2), division }];
        PopulationSchedule { cuts, ..PopulationSchedule::default() }
    }

    /// Each walker's sessions, in order: from, to, how it ended. Fails if a walker joins or leaves twice, if
    /// sessions are not counted, or if time runs back.
    fn sessions(instructions: &[(Time, Instruction)]) -> BTreeMap<WalkerId, Vec<(Time, Time, Manner)>> {
        let mut sessions: BTreeMap<WalkerId, Vec<_>> = BTreeMap::new();
        let mut there = BTreeMap::new();
        assert!(instructions.is_sorted_by_key(|(at, _)| *at));
        for (at, instruction) in instructions {
            match *instruction {
                Instruction::Join { walker, life } => {
                    assert_eq!(there.insert(walker, *at), None, "{walker:?} joins twice");
                    assert_eq!(life as usize, sessions.entry(walker).or_default().len());
                }
                Instruction::Leave { walker, manner } => {
                    let from = there.remove(&walker).expect("it is there");
                    sessions.get_mut(&walker).unwrap().push((from, *at, manner));
                }
                Instruction::Cut(_) | Instruction::Mend => (),
            }
        }
        sessions
    }

    fn mean_millis(sessions: &[&(Time, Time, Manner)]) -> u64 {
        sessions.iter().map(|it| it.1.since(it.0).as_millis()).sum::<u64>() / sessions.len() as u64
    }

    fn leavers(instructions: &[(Time, Instruction)]) -> Vec<(Time, WalkerId)> {
        let leaver = |(at, it): &(Time, Instruction)| match it {
            Instruction::Leave { walker, manner: Manner::Abrupt } => Some((*at, *walker)),
            _ => None,
        };
        instructions.iter().filter_map(leaver).collect()
    }

    #[test]
    fn all_players_join_in_turn_and_stay() {
        let mut population = population(500, PopulationSchedule::default(), 1);
        for number in 0..500 {
            let at = Time::from_millis(200 * u64::from(number));
            assert_eq!(population.deadline(), Some(at));
            let join = Instruction::Join { walker: WalkerId(number), life: 0 };
            assert_eq!(population.pop_due(at), Some((at, join)));
            assert_eq!(population.pop_due(at + Span::from_micros(199_999)), None);
        }
        assert_eq!((population.deadline(), population.next()), (None, None));
    }

    #[test]
    fn groups_may_take_turns() {
        let order = JoinOrder::Turns { size: 3 };
        let schedule =
            PopulationSchedule { order, spacing: Span::from_secs(1), ..PopulationSchedule::default() };
        assert_eq!(schedule.joined(8), at_second(7));
        let joins = until(HOUR, 8, schedule, 1);
        let walker_at = |(at, it): &(Time, Instruction)| match it {
            Instruction::Join { walker, .. } => (at.as_secs(), walker.0),
            other => panic!("unexpected instruction {other:?}"),
        };
        let joins: Vec<(u64, u32)> = joins.iter().map(walker_at).collect();
        // Groups 0 1 2, 3 4 5 and 6 7.
        assert_eq!(joins, [(0, 0), (1, 3), (2, 6), (3, 1), (4, 4), (5, 7), (6, 2), (7, 5)]);
    }

    #[test]
    fn sessions_have_their_mean_and_players_come_back() {
        let churn = Churn { graceful: 0.25, ..Churn::abrupt(Span::from_secs(300)) };
        let schedule = PopulationSchedule { churn: Some(churn), ..PopulationSchedule::default() };
        let instructions = until(HOUR, 1_000, schedule.clone(), 2);
        assert_eq!(instructions, until(HOUR, 1_000, schedule.clone(), 2));
        assert_ne!(instructions, until(HOUR, 1_000, schedule, 3));

        let sessions = sessions(&instructions);
        // First sessions only: of later ones the long ones are cut off at the end.
        let firsts: Vec<_> = sessions.values().filter_map(|it| it.first()).collect();
        let mean = mean_millis(&firsts);
        assert!((270_000..330_000).contains(&mean), "{mean} ms");
        let graceful = firsts.iter().filter(|it| it.2 == Manner::Graceful).count();
        assert!((190..310).contains(&graceful), "{graceful} of {}", firsts.len());
        for pair in sessions.values().flat_map(|it| it.windows(2)) {
            assert_eq!(pair[1].0, pair[0].1 + Span::from_secs(5));
        }
    }

    #[test]
    fn failing_players_are_drawn_from_those_who_joined() {
        // After 40 s, 200 of 500 have joined.
        let failure = MassFailure { at: Time::from_millis(39_900), percent: 25, back_after: None };
        let drawn = |seed| leavers(&until(HOUR, 500, failing(failure), seed));
        let gone = drawn(4);
        assert_eq!(gone.len(), 50);
        assert!(gone.iter().all(|(at, walker)| *at == failure.at && walker.0 < 200));
        let late = gone.iter().filter(|(_, walker)| 100 <= walker.0).count();
        assert!((10..40).contains(&late), "{late} of 50 from the later half");
        assert_ne!(gone, drawn(5));
        // They do not come back.
        let joins = until(HOUR, 500, failing(failure), 4).len() - 50;
        assert_eq!(joins, 500);
    }

    #[test]
    fn a_failed_player_may_come_back_for_a_whole_session() {
        let back_after = Some(Span::from_secs(1));
        let failure = MassFailure { at: at_second(100), percent: 100, back_after };
        let churn = Some(Churn { back_after: Span::from_secs(9_999), ..Churn::abrupt(Span::from_secs(100)) });
        let schedule = PopulationSchedule { spacing: Span::ZERO, churn, ..failing(failure) };
        let instructions = until(at_second(9_000), 3_000, schedule, 6);
        let sessions = sessions(&instructions);
        let seconds: Vec<_> = sessions.values().filter_map(|it| it.get(1)).collect();
        assert!(seconds.iter().all(|it| it.0 == at_second(101)));
        assert!((1_000..1_200).contains(&seconds.len()), "{} of 3000 were left", seconds.len());
        // If the end of the first life still counted, it would be half.
        let mean = mean_millis(&seconds);
        assert!((88_000..112_000).contains(&mean), "{mean} ms");
    }

    #[test]
    fn a_failure_changes_nothing_for_the_players_who_survive() {
        let churn = Some(Churn::abrupt(Span::from_secs(60)));
        let calm = PopulationSchedule { churn, ..PopulationSchedule::default() };
        let failure = MassFailure { at: at_second(300), percent: 30, back_after: None };
        let failing = PopulationSchedule { failures: vec![failure], ..calm.clone() };
        let calm = sessions(&until(HOUR, 100, calm, 7));
        let (mut same, failing) = (0, sessions(&until(HOUR, 100, failing, 7)));
        for (walker, lives) in failing {
            let failed = lives.last().is_some_and(|it| it.1 == failure.at);
            assert!(failed || lives == calm[&walker]);
            same += u32::from(!failed);
        }
        assert!((60..80).contains(&same), "{same} of 100 survived");
    }

    #[test]
    fn a_cut_has_two_halves_and_an_end() {
        for division in [Division::Random, Division::Parity, Division::Groups { size: 12 }] {
            let instructions = until(HOUR, 500, cutting(division), 8);
            let cut = instructions.iter().find_map(|(at, it)| match it {
                Instruction::Cut(sides) => Some((*at, sides.clone())),
                _ => None,
            });
            let (at, sides) = cut.unwrap();
            assert_eq!(at, at_second(1));
            let mend = instructions.iter().find(|(_, it)| *it == Instruction::Mend);
            assert_eq!(mend.unwrap().0, at_second(3));
            let there = (0..500).filter(|&it| sides.side(WalkerId(it)) == CutSide::There).count();
            let torn = (0..499).filter(|&it| sides.are_apart(WalkerId(it), WalkerId(it + 1))).count();
            match division {
                Division::Random => assert!(there == 250 && (200..300).contains(&torn), "{there}, {torn}"),
                Division::Parity => assert_eq!((there, torn), (250, 499)),
                // 21 of 42 groups, the short one perhaps among them.
                Division::Groups { .. } => {
                    assert!([252, 248].contains(&there), "{there}");
                    let torn_groups = (0..499)
                        .filter(|it| it % 12 != 11)
                        .filter(|&it| sides.are_apart(WalkerId(it), WalkerId(it + 1)));
                    assert!(torn_groups.count() == 0 && (10..32).contains(&torn), "{torn}");
                }
            }
        }
    }

    #[test]
    fn impossible_schedules_are_refused() {
        let refusal = |schedule| Population::new(9, schedule, &Rng::seeded(9)).map(|_| ()).unwrap_err();
        let failure = MassFailure { at: HOUR, percent: 101, back_after: None };
        assert_eq!(refusal(failing(failure)), CrowdError::Percent(101));
        assert_eq!(refusal(cutting(Division::Groups { size: 0 })), CrowdError::GroupSize);
        let turns =
            PopulationSchedule { order: JoinOrder::Turns { size: 0 }, ..PopulationSchedule::default() };
        assert_eq!(refusal(turns), CrowdError::GroupSize);
        let cut =
            |second| Cut { at: at_second(second), lasts: Span::from_secs(2), division: Division::Random };
        let overlapping = PopulationSchedule { cuts: vec![cut(9), cut(8)], ..PopulationSchedule::default() };
        assert_eq!(refusal(overlapping), CrowdError::CutsOverlap);
        let churn = |churn| PopulationSchedule { churn: Some(churn), ..PopulationSchedule::default() };
        assert_eq!(refusal(churn(Churn::abrupt(Span::ZERO))), CrowdError::MeanTime("leaving"));
        let more = Churn { graceful: 1.5, ..Churn::abrupt(Span::from_secs(1)) };
        assert_eq!(refusal(churn(more)), CrowdError::Share(1.5));
        let touching = PopulationSchedule { cuts: vec![cut(10), cut(8)], ..PopulationSchedule::default() };
        assert!(Population::new(9, touching, &Rng::seeded(9)).is_ok());
    }
}
