//! Admission against a model of hosts: entries cost more than play, hosts are late beyond their capacity and report it, players
//! come, wait, give up, play and leave. What must hold: hosts are rarely busy, the world fills, and no group of players starves.

use game::PlayerId;
use lobby::{Admission, AdmissionAnswer, AdmissionRequest, AdmissionSettings, HostReport, PaceSettings};
use machine::{Rng, Span, Time};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};

/// The step of the model.
const STEP: Span = Span::from_millis(50);

/// Steps between two reports of a host.
const REPORT_EVERY: u64 = 10;

/// A host: what it can do, and how late it is.
#[derive(Clone, Copy, Debug)]
struct ModelHost {
    /// Players that would take all of its time, if none entered.
    capacity: f64,
    players: usize,
    /// Work of players who are entering, in seconds.
    entering: f64,
    /// Work that waits, in seconds.
    backlog: f64,
    /// Time since when it is punctual.
    calm_since: u64,
    load: u8,
    /// Share of its time that was spent since the last report.
    spent: f64,
}

impl ModelHost {
    const fn new(capacity: f64) -> Self {
        Self { capacity, players: 0, entering: 0.0, backlog: 0.0, calm_since: 0, load: 0, spent: 0.0 }
    }

    /// One step: play, and of the entries what one second's worth of hand-shakes spreads over.
    fn step(&mut self, step: u64) {
        let passed = STEP.as_secs_f64();
        let entering = self.entering.min(self.entering * 2.0 * passed + 0.001);
        self.entering -= entering;
        let work = self.backlog + passed * self.players as f64 / self.capacity + entering;
        let done = work.min(passed);
        self.backlog = work - done;
        self.spent += done;
        // As a primary judges itself: up at once, down after a second.
        if 0.15 <= self.backlog {
            self.load = 2;
        } else if 0.06 <= self.backlog {
            self.load = self.load.max(1);
        }
        if 0.025 <= self.backlog {
            self.calm_since = step;
        } else if 20 <= step - self.calm_since {
            self.load = 0;
        }
    }

    fn report(&mut self, host: u32) -> HostReport {
        let share = std::mem::take(&mut self.spent) / (REPORT_EVERY as f64 * STEP.as_secs_f64());
        HostReport {
            host,
            players: self.players as u32,
            load: self.load,
            busy: (share * 1_000.0) as u16,
            late: (self.backlog * 1e6) as u32,
            is_leaving: false,
        }
    }
}

/// The players whom the model makes.
#[derive(Clone, Copy, Debug)]
struct Crowd {
    /// Players per second who come.
    arrivals: f64,
    /// Seconds that a player plays, on average.
    stay: f64,
    /// Seconds of a host's time that an entry costs.
    entry_cost: f64,
    /// Of a hundred players, those who come from one large address group.
    from_one_group: u64,
    /// Chance that a player gives up with each answer.
    gives_up: f64,
    /// All players come through one proxy that the lobby does not know.
    through_proxy: bool,
}

const CROWD: Crowd = Crowd {
    arrivals: 15.0,
    stay: 60.0,
    entry_cost: 0.012,
    from_one_group: 30,
    gives_up: 0.02,
    through_proxy: false,
};

#[derive(Clone, Copy, Debug)]
struct WaitingPlayer {
    came: Time,
    group: u32,
}

/// The results of a run. The first third is not counted: the world fills.
#[derive(Clone, Debug, Default)]
struct Outcome {
    steps: u64,
    /// Host-steps with a load level above calm.
    busy_steps: u64,
    /// Players in the world, added up over all steps.
    player_steps: u64,
    /// Seconds that each player who entered had waited: the large group, and the others.
    waits: [Vec<f64>; 2],
}

impl Outcome {
    fn busy_share(&self, hosts: usize) -> f64 {
        self.busy_steps as f64 / (self.steps * hosts as u64) as f64
    }

    fn players(&self) -> f64 {
        self.player_steps as f64 / self.steps as f64
    }
}

/// A world with hosts, players who wait, and admission.
struct Model {
    admission: Admission,
    hosts: Vec<ModelHost>,
    crowd: Crowd,
    rng: Rng,
    waiting: BTreeMap<u64, WaitingPlayer>,
    /// When players ask.
    asking: BTreeSet<(Time, u64)>,
    /// When players leave, and which host they leave.
    leaving: BTreeSet<(Time, u64, usize)>,
    next_player: u64,
    step: u64,
    outcome: Outcome,
}

impl Model {
    fn new(settings: AdmissionSettings, capacities: &[f64], crowd: Crowd, seed: u64) -> Self {
        Self {
            admission: Admission::new(settings, Time::ZERO),
            hosts: capacities.iter().map(|&it| ModelHost::new(it)).collect(),
            crowd,
            rng: Rng::seeded(seed),
            waiting: BTreeMap::new(),
            asking: BTreeSet::new(),
            leaving: BTreeSet::new(),
            next_player: 0,
            step: 0,
            outcome: Outcome::default(),
        }
    }

    fn now(&self) -> Time {
        Time::ZERO + STEP.times(self.step)
    }

    fn run(mut self, seconds: u64) -> Outcome {
        let steps = seconds * 1_000_000 / STEP.as_micros();
        while self.step < steps {
            self.arrive();
            self.leave();
            self.ask();
            for (index, host) in self.hosts.iter_mut().enumerate() {
                host.step(self.step);
                // Not all in the same step.
                if (self.step + index as u64).is_multiple_of(REPORT_EVERY) {
                    let report = host.report(index as u32 + 1);
                    self.admission.on_report(Time::ZERO + STEP.times(self.step), report);
                }
            }
            if steps / 3 < self.step {
                self.count();
            }
            self.step += 1;
        }
        self.outcome
    }

    fn arrive(&mut self) {
        let expected = self.crowd.arrivals * STEP.as_secs_f64();
        let count = expected as u64 + u64::from(self.rng.chance(expected.fract()));
        for _ in 0..count {
            let is_large = self.rng.below(100) < self.crowd.from_one_group;
            self.next_player += 1;
            let group = if is_large { 0 } else { self.next_player as u32 };
            self.waiting.insert(self.next_player, WaitingPlayer { came: self.now(), group });
            self.asking.insert((self.now(), self.next_player));
        }
    }

    fn leave(&mut self) {
        let now = self.now();
        while let Some(&(at, player, host)) = self.leaving.first().filter(|it| it.0 <= now) {
            self.leaving.remove(&(at, player, host));
            self.hosts[host].players -= 1;
        }
    }

    fn ask(&mut self) {
        let now = self.now();
        while let Some(&(at, player)) = self.asking.first().filter(|it| it.0 <= now) {
            self.asking.remove(&(at, player));
            let it = self.waiting[&player];
            let request = AdmissionRequest {
                player: PlayerId(player),
                address: IpAddr::V4(Ipv4Addr::from_bits(if self.crowd.through_proxy { 0 } else { it.group })),
                names_session: false,
                spread: self.rng.unit(),
            };
            match self.admission.ask(now, &request) {
                AdmissionAnswer::Enter => self.enter(player),
                AdmissionAnswer::Wait(place) if !self.rng.chance(self.crowd.gives_up) => {
                    let late = Span::from_millis(self.rng.below(place.again_after.as_millis() / 10));
                    self.asking.insert((now + place.again_after + late, player));
                }
                _ => drop(self.waiting.remove(&player)),
            }
        }
    }

    fn enter(&mut self, player: u64) {
        let it = self.waiting.remove(&player).unwrap();
        let host = self.rng.below(self.hosts.len() as u64) as usize;
        self.hosts[host].players += 1;
        self.hosts[host].entering += self.crowd.entry_cost;
        let stay = Span::from_millis((self.crowd.stay * 2e3 * self.rng.unit()) as u64);
        self.leaving.insert((self.now() + stay, player, host));
        let waited = self.now().since(it.came).as_secs_f64();
        self.outcome.waits[usize::from(it.group != 0)].push(waited);
    }

    fn count(&mut self) {
        self.outcome.steps += 1;
        self.outcome.busy_steps += self.hosts.iter().filter(|it| 0 < it.load).count() as u64;
        self.outcome.player_steps += self.hosts.iter().map(|it| it.players as u64).sum::<u64>();
    }
}

/// What is wrong with a run in which three times as many players come as the hosts carry; `None` if nothing is.
fn fault_of(settings: AdmissionSettings, hosts: &[f64], crowd: Crowd, seed: u64) -> Option<String> {
    let outcome = Model::new(settings, hosts, crowd, seed).run(600);
    // All hosts get as many players, so the smallest one decides; it counts as busy at four fifths of its time. Players who come
    // as often as others leave take a part of that.
    let smallest = hosts.iter().copied().fold(f64::MAX, f64::min);
    let target = 0.8 / (1.0 / smallest + crowd.entry_cost / crowd.stay) * hosts.len() as f64;
    let (busy, players) = (outcome.busy_share(hosts.len()), outcome.players());
    if 0.02 < busy {
        return Some(format!("hosts are busy for {busy:.3} of the time"));
    }
    if !(0.7 * target..=1.1 * target).contains(&players) {
        return Some(format!("{players:.0} players instead of {target:.0}"));
    }
    None
}

const HOSTS: [&[f64]; 3] = [&[400.0], &[300.0, 500.0], &[625.0, 500.0, 550.0]];

/// Three times as many players as the hosts carry, whatever their number.
fn crowd_for(hosts: &[f64]) -> Crowd {
    let capacity: f64 = hosts.iter().sum();
    Crowd { arrivals: 3.0 * capacity / CROWD.stay, ..CROWD }
}

#[test]
fn hosts_are_filled_and_not_flooded() {
    for (hosts, seed) in HOSTS.iter().zip(1..) {
        let fault = fault_of(AdmissionSettings::default(), hosts, crowd_for(hosts), seed);
        assert_eq!(fault, None, "{hosts:?}");
    }
}

#[test]
fn dear_and_cheap_entries_are_found_out() {
    for entry_cost in [0.001, 0.03, 0.06] {
        let crowd = Crowd { entry_cost, ..crowd_for(HOSTS[0]) };
        assert_eq!(fault_of(AdmissionSettings::default(), HOSTS[0], crowd, 7), None, "{entry_cost}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(10) })]

    /// Up to three hosts of any size, and one and a half to five times as many players as they carry.
    #[test]
    fn hosts_of_any_size_are_filled_and_not_flooded(
        hosts in prop::collection::vec(200.0..600.0, 1..4),
        (excess, entry_cost, seed) in (1.5..5.0, 0.002..0.05, any::<u64>()),
    ) {
        let arrivals = crowd_for(&hosts).arrivals / 3.0 * excess;
        let crowd = Crowd { arrivals, entry_cost, ..CROWD };
        prop_assert_eq!(fault_of(AdmissionSettings::default(), &hosts, crowd, seed), None);
    }
}

/// The mistakes that these tests are there for.
#[test]
fn planted_mistakes_are_found() {
    let usual = PaceSettings::default();
    let mistakes = [
        (
            "no host counts as busy by its time",
            PaceSettings { busy_from: u16::MAX, calm_below: u16::MAX, ..usual },
        ),
        ("opens below a tenth of the time only", PaceSettings { calm_below: 100, ..usual }),
        (
            "begins fast, and does not slow down",
            PaceSettings {
                start: 200.0,
                shrink: 1.0,
                growth: 0.0,
                least: 200.0,
                calm_for: Span::ZERO,
                calm_below: 799,
                ..usual
            },
        ),
        ("stays slow", PaceSettings { start: 0.5, growth: 0.0, least: 0.5, burst: 1.0, ..usual }),
    ];
    for (what, pace) in mistakes {
        let settings = AdmissionSettings { pace, ..AdmissionSettings::default() };
        let fault =
            HOSTS.iter().zip(1..).find_map(|(hosts, seed)| fault_of(settings, hosts, crowd_for(hosts), seed));
        assert!(fault.is_some(), "not found: {what}");
    }
}

/// A large group comes with more players than the world takes, and others with few: the others hardly wait, and the group gets
/// the rest.
#[test]
fn a_large_group_does_not_starve_the_others_nor_the_others_it() {
    let crowd = Crowd { from_one_group: 80, gives_up: 0.0, arrivals: 10.0, ..CROWD };
    let run = |crowd| Model::new(AdmissionSettings::default(), &[400.0], crowd, 3).run(600);
    let outcome = run(crowd);
    let mean = |waits: &[f64]| waits.iter().sum::<f64>() / waits.len() as f64;
    let [large, others] = &outcome.waits;
    // Five players a second leave, and two a second come from elsewhere.
    assert!(1_000 < others.len() && 1_000 < large.len(), "{} {}", others.len(), large.len());
    assert!(mean(others) < 10.0 && 4.0 * mean(others) < mean(large), "{} {}", mean(others), mean(large));
    // Without groups, all would wait for the large one.
    let [large, others] = run(Crowd { through_proxy: true, ..crowd }).waits;
    assert!(mean(&large) < 2.0 * mean(&others), "{} {}", mean(&others), mean(&large));
}

#[test]
fn a_flood_from_one_address_costs_one_player_a_turn() {
    let mut admission = Admission::new(AdmissionSettings::default(), Time::ZERO);
    let calm = HostReport { host: 1, ..HostReport::default() };
    let ask = |admission: &mut Admission, now, player: u64, group: u32| {
        let address = IpAddr::V4(Ipv4Addr::from_bits(group));
        admission.ask(
            now,
            &AdmissionRequest { player: PlayerId(player), address, names_session: false, spread: 0.0 },
        )
    };
    admission.on_report(Time::ZERO, calm);
    for player in 0..1_000 {
        ask(&mut admission, Time::ZERO, player, 1);
    }
    assert!(matches!(ask(&mut admission, Time::ZERO, 5_000, 2), AdmissionAnswer::Wait(it) if it.place == 2));
    let later = Time::from_millis(200);
    admission.on_report(later, calm);
    assert_eq!(ask(&mut admission, later, 5_000, 2), AdmissionAnswer::Enter);
    assert!(matches!(ask(&mut admission, later, 999, 1), AdmissionAnswer::Wait(_)));
}

/// Nearly as many players come as leave, so a queue grows and shrinks: no player who keeps asking is left behind.
#[test]
fn all_who_keep_asking_enter() {
    let crowd = Crowd { arrivals: 4.5, gives_up: 0.0, ..CROWD };
    let outcome = Model::new(AdmissionSettings::default(), &[400.0], crowd, 11).run(1_000);
    let longest = outcome.waits.iter().flatten().copied().fold(0.0, f64::max);
    let entered = outcome.waits.iter().map(Vec::len).sum::<usize>();
    assert!(4_200 < entered && longest < 120.0, "{entered} entered, the longest wait was {longest} s");
}
