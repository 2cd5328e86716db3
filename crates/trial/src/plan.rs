//! What goes wrong and when: a list drawn from the seed, so that it can be printed, replayed and shortened.

use crate::fault::Kind;
use crate::options::Options;
use crate::world::{HOSTS, World};
use machine::{Address, Rng, Span, Time};
use sim::Profile;
use std::collections::BTreeSet;
use std::fmt;
use zone::{Event, Note};

/// One thing that goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// When it begins.
    pub at: Time,
    /// How long it lasts.
    pub span: Span,
    /// What kind it is.
    pub kind: Kind,
    /// Which host it concerns, and which other one.
    pub host: usize,
    /// The other one.
    pub other: usize,
    /// Everything else that had to be drawn.
    pub chance: u64,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, span, kind, host, other, chance } = self;
        write!(
            f,
            "{:>7} ms  {kind:<15} host {host} (and {other}), {} ms, chance {chance}",
            at.as_millis(),
            span.as_millis()
        )
    }
}

/// A host dies right after it did this.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trigger {
    host: Address,
    point: Point,
    /// Who has asked for a swap and has no answer, as far as can be seen.
    swapping: BTreeSet<Address>,
}

/// A step of a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Point {
    Wrote,
    Stored,
    Announces,
    Reigns,
    Follows,
    Replaced,
    AsksDisk,
    Swaps,
    Looks,
    /// It stores something although it has asked to reign. It should not; if it does, this is when it hurts.
    StoredWhileSwapping,
}

const POINTS: [Point; 10] = [
    Point::Wrote,
    Point::Stored,
    Point::Announces,
    Point::Reigns,
    Point::Follows,
    Point::Replaced,
    Point::AsksDisk,
    Point::Swaps,
    Point::Looks,
    Point::StoredWhileSwapping,
];

impl Trigger {
    /// Whether the host did it.
    pub fn trips(&mut self, host: Address, event: &Event) -> bool {
        use machine::directory::Request;
        match event {
            Event::Directory(Request::Swap { .. }) => {
                self.swapping.insert(host);
            }
            Event::Note(Note::Reigns { .. } | Note::Resigned { .. } | Note::Follows { .. }) => {
                self.swapping.remove(&host);
            }
            Event::Note(Note::Stored { .. }) if self.point == Point::StoredWhileSwapping => {
                return self.swapping.contains(&host); // Whoever it is.
            }
            _ => (),
        }
        let did = match event {
            Event::Note(Note::Wrote { .. }) => Point::Wrote,
            Event::Note(Note::Stored { .. }) => Point::Stored,
            Event::Note(Note::Announces { .. }) => Point::Announces,
            Event::Note(Note::Reigns { .. }) => Point::Reigns,
            Event::Note(Note::Follows { .. }) => Point::Follows,
            Event::Note(Note::Replaced { .. }) => Point::Replaced,
            Event::Disk(_) => Point::AsksDisk,
            Event::Directory(Request::Swap { .. }) => Point::Swaps,
            Event::Directory(Request::Read { .. }) => Point::Looks,
            _ => return false,
        };
        host == self.host && did == self.point
    }
}

/// Draws what goes wrong in a trial.
pub fn drawn(options: &Options) -> Vec<Fault> {
    let mut rng = Rng::seeded(options.seed).fork_named(0x00fa_0171);
    let timed: Vec<_> = options.kinds.iter().filter(|it| is_timed(*it)).collect();
    if timed.is_empty() {
        return Vec::new();
    }
    let mut faults: Vec<_> = (0..options.faults).map(|_| draw(options, &timed, &mut rng)).collect();
    faults.sort_by_key(|it| it.at);
    faults
}

/// The others are part of how links and players are, all the time.
const fn is_timed(kind: Kind) -> bool {
    !matches!(kind, Kind::Loss | Kind::Duplicate | Kind::Jitter | Kind::Late | Kind::Hostile)
}

/// Nothing goes wrong before the world is founded and has a backup: there would be nothing to lose.
const QUIET: u64 = 3_000;

fn draw(options: &Options, kinds: &[Kind], rng: &mut Rng) -> Fault {
    let kind = kinds[rng.below(kinds.len() as u64) as usize];
    let at = Time::from_millis(QUIET + rng.below(options.trouble.as_millis() - QUIET));
    let longest = match kind {
        Kind::Pause => 10_000,
        Kind::Crash | Kind::Point | Kind::Wipe | Kind::DiskFlip | Kind::DiskOld | Kind::StopAll => 6_000,
        Kind::DirectorySlow | Kind::DirectoryLossy | Kind::DirectoryLate => 30_000,
        Kind::ClockStep => 300_000,
        _ => 8_000,
    };
    // Short ones as often as long ones: 1 ms, 10 ms, …
    let scale = [1, 1, 10, 100][rng.below(4) as usize];
    let span = Span::from_millis(1 + rng.below(1 + longest / scale));
    let host = rng.below(HOSTS as u64) as usize;
    let other = (host + 1 + rng.below(HOSTS as u64 - 1) as usize) % HOSTS;
    Fault { at, span, kind, host, other, chance: rng.next_u64() }
}

/// Lets it begin.
pub fn begin(world: &mut World, fault: &Fault) {
    let Fault { host, other, span, chance, .. } = *fault;
    let (a, b) = (world.host(host), world.host(other));
    let until = world.now() + span;
    match fault.kind {
        Kind::Spike => set_both(world, a, b, |it| it.with_jitter(Span::from_millis(chance % 500))),
        Kind::Narrow => {
            let rate = 2_000 + chance % 50_000;
            set_both(world, a, b, |it| it.with_rate(rate).expect("a rate"));
        }
        Kind::Cut => {
            world.cut(a, b);
            world.cut(b, a);
        }
        Kind::OneWay => world.cut(a, b),
        Kind::Isolate => {
            world.isolate(host, true);
            for peer in everybody_but(world, a) {
                world.cut(a, peer);
                world.cut(peer, a);
            }
        }
        Kind::Clog => {
            for peer in everybody_but(world, a) {
                if world.draw(2) == 0 {
                    world.cut(a, peer);
                }
            }
        }
        Kind::Reset => world.reset(a),
        Kind::Crash => drop(world.crash_if_safe(host, span)),
        Kind::Point => {
            let point = POINTS[(chance % POINTS.len() as u64) as usize];
            world.triggers.push(Trigger { host: a, point, swapping: BTreeSet::new() });
        }
        Kind::Wipe => {
            if !is_alone(world, a)
                && world.crash_if_safe(host, span)
                && let Some((disk, _)) = world.disk_of_dead(host)
            {
                disk.wipe();
            }
        }
        Kind::DiskFlip => {
            if !is_alone(world, a)
                && world.crash_if_safe(host, span)
                && let Some((disk, rng)) = world.disk_of_dead(host)
            {
                disk.flip_bit(rng);
            }
        }
        Kind::DiskOld => {
            if chance % 2 == 0 {
                world.disk(host).remember();
            } else if !is_alone(world, a)
                && world.crash_if_safe(host, span)
                && let Some((disk, rng)) = world.disk_of_dead(host)
            {
                disk.put_back(rng);
            }
        }
        Kind::StopAll => stop_all(world, span),
        Kind::Pause => world.sim.freeze(a, until),
        Kind::Slow => world.sim.slow(a, Span::from_micros(chance % 2_000)),
        Kind::ClockRate => world.sim.set_clock_rate(a, 500_000 + (chance % 1_500_000) as u32),
        Kind::ClockStep => world.sim.step_clock(a, span),
        Kind::DiskError => world.disk(host).failing = true,
        Kind::DiskFull => {
            if world.is_safe_without(host) {
                world.disk(host).limit(Some((chance % 20_000) as usize));
            }
        }
        Kind::DiskSlow => world.disk(host).slowness = Span::from_millis(1 + chance % 200),
        Kind::DirectoryDown => world.service.down = true,
        Kind::DirectorySlow => world.service.delay = Span::from_millis(1 + chance % 500),
        Kind::DirectoryLossy => world.service.loss_percent = 10 + chance % 60,
        Kind::DirectoryLate => world.service.late_percent = 10 + chance % 60,
        Kind::Storm => {
            for player in world.player_addresses() {
                world.reset(player);
            }
        }
        Kind::Rejoin => {
            let players = world.options.players as u64;
            for _ in 0..1 + chance % 3 {
                let number = world.draw(players) as usize;
                world.rejoin(number);
            }
        }
        Kind::Loss | Kind::Duplicate | Kind::Jitter | Kind::Late | Kind::Hostile => (),
    }
}

/// Lets it end.
pub fn end(world: &mut World, fault: &Fault) {
    let (a, b) = (world.host(fault.host), world.host(fault.other));
    match fault.kind {
        Kind::Spike | Kind::Narrow => {
            world.set_profile(a, b, None);
            world.set_profile(b, a, None);
        }
        Kind::Cut => {
            world.mend(a, b);
            world.mend(b, a);
        }
        Kind::OneWay => world.mend(a, b),
        Kind::Isolate | Kind::Clog => {
            world.isolate(fault.host, false);
            for peer in everybody_but(world, a) {
                world.mend(a, peer);
                world.mend(peer, a);
            }
        }
        Kind::Slow => world.sim.slow(a, Span::ZERO),
        Kind::ClockRate => world.sim.set_clock_rate(a, 1_000_000),
        Kind::DiskFull => world.disk(fault.host).limit(None),
        Kind::DiskSlow => world.disk(fault.host).slowness = Span::ZERO,
        Kind::DirectoryDown => world.service.down = false,
        Kind::DirectorySlow => world.service.delay = Span::from_millis(2),
        Kind::DirectoryLossy => world.service.loss_percent = 0,
        Kind::DirectoryLate => world.service.late_percent = 0,
        _ => (),
    }
}

/// Kills everything at once, if all hosts live: one that is down already may be the one that knows.
fn stop_all(world: &mut World, span: Span) {
    let all_live = (0..HOSTS).all(|it| world.sim.is_up(world.host(it)));
    if !all_live || world.judge.ledger.last_announced().is_none() {
        return;
    }
    for place in 0..HOSTS {
        if world.sim.is_up(world.host(place)) {
            let later = Span::from_millis(world.draw(2_000));
            world.crash(place, span + later);
        }
    }
}

fn is_alone(world: &World, host: Address) -> bool {
    world.service.reign(world.zone()).is_none_or(|it| it.primary == host && it.backup.is_none())
}

fn everybody_but(world: &World, address: Address) -> Vec<Address> {
    let hosts = (0..HOSTS).map(|it| world.host(it));
    hosts.chain(world.player_addresses()).filter(|&it| it != address).collect()
}

fn set_both(world: &mut World, a: Address, b: Address, change: impl Fn(Profile) -> Profile) {
    for (from, to) in [(a, b), (b, a)] {
        let profile = change(world.usual(from, to));
        world.set_profile(from, to, Some(profile));
    }
}
