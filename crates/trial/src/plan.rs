//! What goes wrong and when: a list drawn from the seed, so that it can be printed, replayed and shortened.

mod point;

pub use point::{Trigger, Victim};

use crate::disk::Disk;
use crate::fault::Kind;
use crate::layout::HOSTS;
use crate::options::Options;
use crate::world::World;
use machine::{Address, Rng, Span, Time};
use sim::Profile;
use std::fmt;

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

/// A fault, told to a person: with the step at which a host is to die.
pub fn told(fault: &Fault, options: &Options) -> String {
    match fault.kind {
        Kind::Point => format!("{fault}: {}", Trigger::drawn(fault.host, fault.chance, options.zones)),
        _ => fault.to_string(),
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
        Kind::Crash
        | Kind::CrashOne
        | Kind::Point
        | Kind::Wipe
        | Kind::DiskFlip
        | Kind::DiskOld
        | Kind::StopAll => 6_000,
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
    let (here, there) = (world.layout().on_host(host), world.layout().on_host(other));
    let until = world.now() + span;
    match fault.kind {
        Kind::Spike => set_both(world, fault, |it| it.with_jitter(Span::from_millis(chance % 500))),
        Kind::Narrow => {
            let rate = 2_000 + chance % 50_000;
            set_both(world, fault, |it| it.with_rate(rate).expect("a rate"));
        }
        Kind::Cut => each_pair(&here, &there, |a, b| cut_both(world, a, b)),
        Kind::OneWay => each_pair(&here, &there, |a, b| world.cut(a, b)),
        Kind::MeshCut => {
            let layout = world.layout().clone();
            each_pair(&here, &there, |a, b| {
                if layout.zone_of(a) != layout.zone_of(b) {
                    cut_both(world, a, b);
                }
            });
        }
        Kind::Isolate => {
            here.iter().for_each(|&it| world.replica_slots.isolate(it, true));
            let others = everybody_but(world, host);
            each_pair(&here, &others, |a, b| cut_both(world, a, b));
        }
        Kind::Clog => {
            let others = everybody_but(world, host);
            each_pair(&here, &others, |a, b| {
                if world.rng.below(2) == 0 {
                    world.cut(a, b);
                }
            });
        }
        Kind::Reset => here.iter().for_each(|&it| reset(world, it)),
        Kind::Crash => drop(world.crash_host_if_safe(host, span)),
        Kind::CrashOne => {
            let replica = here[(chance % here.len() as u64) as usize];
            world.crash_if_safe(replica, span);
        }
        Kind::Point => {
            let trigger = Trigger::drawn(host, chance, world.options().zones);
            world.crash_triggers.add(trigger);
        }
        Kind::Wipe => tamper(world, fault, |disk, _| disk.wipe()),
        Kind::DiskFlip => tamper(world, fault, Disk::flip_bit),
        Kind::DiskOld if chance % 2 == 0 => {
            here.iter().for_each(|&it| world.replica_slots.disk(it).remember())
        }
        Kind::DiskOld => tamper(world, fault, |disk, rng| {
            disk.put_back(rng);
        }),
        Kind::StopAll => stop_all(world, span),
        Kind::Pause => here.iter().for_each(|&it| world.sim.freeze(it, until)),
        Kind::Slow => here.iter().for_each(|&it| world.sim.slow(it, Span::from_micros(chance % 2_000))),
        Kind::ClockRate => {
            let rate = 500_000 + (chance % 1_500_000) as u32;
            here.iter().for_each(|&it| world.sim.set_clock_rate(it, rate));
        }
        Kind::ClockStep => here.iter().for_each(|&it| world.sim.step_clock(it, span)),
        Kind::DiskError => here.iter().for_each(|&it| world.replica_slots.disk(it).failing = true),
        Kind::DiskFull => {
            for it in here {
                if world.is_safe_without(it) {
                    world.replica_slots.disk(it).limit(Some((chance % 20_000) as usize));
                }
            }
        }
        Kind::DiskSlow => {
            here.iter()
                .for_each(|&it| world.replica_slots.disk(it).slowness = Span::from_millis(1 + chance % 200));
        }
        Kind::DirectoryDown => world.service.down = true,
        Kind::DirectorySlow => world.service.delay = Span::from_millis(1 + chance % 500),
        Kind::DirectoryLossy => world.service.loss_percent = 10 + chance % 60,
        Kind::DirectoryLate => world.service.late_percent = 10 + chance % 60,
        Kind::Storm => {
            for player in world.player_addresses() {
                reset(world, player);
            }
        }
        Kind::Rejoin => {
            let players = world.options().players as u64;
            for _ in 0..1 + chance % 3 {
                let number = world.rng.below(players) as usize;
                world.rejoin(number);
            }
        }
        Kind::Loss | Kind::Duplicate | Kind::Jitter | Kind::Late | Kind::Hostile => (),
    }
}

/// Lets it end.
pub fn end(world: &mut World, fault: &Fault) {
    let (here, there) = (world.layout().on_host(fault.host), world.layout().on_host(fault.other));
    match fault.kind {
        Kind::Spike | Kind::Narrow => each_pair(&here, &there, |a, b| {
            world.lines.set_profile(&mut world.sim, (a, b), None);
            world.lines.set_profile(&mut world.sim, (b, a), None);
        }),
        Kind::Cut | Kind::MeshCut => each_pair(&here, &there, |a, b| mend_both(world, a, b)),
        Kind::OneWay => each_pair(&here, &there, |a, b| world.mend(a, b)),
        Kind::Isolate | Kind::Clog => {
            here.iter().for_each(|&it| world.replica_slots.isolate(it, false));
            let others = everybody_but(world, fault.host);
            each_pair(&here, &others, |a, b| mend_both(world, a, b));
        }
        Kind::Slow => here.iter().for_each(|&it| world.sim.slow(it, Span::ZERO)),
        Kind::ClockRate => here.iter().for_each(|&it| world.sim.set_clock_rate(it, 1_000_000)),
        Kind::DiskFull => here.iter().for_each(|&it| world.replica_slots.disk(it).limit(None)),
        Kind::DiskSlow => here.iter().for_each(|&it| world.replica_slots.disk(it).slowness = Span::ZERO),
        Kind::DirectoryDown => world.service.down = false,
        Kind::DirectorySlow => world.service.delay = Span::from_millis(2),
        Kind::DirectoryLossy => world.service.loss_percent = 0,
        Kind::DirectoryLate => world.service.late_percent = 0,
        _ => (),
    }
}

/// Kills a host and does something to its disks, unless one of them is all that is left of a zone.
fn tamper(world: &mut World, fault: &Fault, change: impl Fn(&mut Disk, &mut Rng)) {
    let mut replicas = world.layout().on_host(fault.host);
    let alone = replicas.iter().any(|&it| is_alone(world, it));
    // Whoever is down already may come back with what nobody else has.
    replicas.retain(|&it| world.sim.is_up(it));
    if alone || !world.crash_host_if_safe(fault.host, fault.span) {
        return;
    }
    for replica in replicas {
        change(world.replica_slots.disk(replica), &mut world.rng);
    }
}

/// Kills everything at once, if everything lives: one that is down already may be the one that knows.
fn stop_all(world: &mut World, span: Span) {
    let all_live = world.layout().replicas().all(|it| world.sim.is_up(it));
    let all_spoke =
        world.layout().zones().all(|it| world.monitor.judge.ledger(it).last_announced().is_some());
    if !all_live || !all_spoke {
        return;
    }
    for host in 0..HOSTS {
        let later = Span::from_millis(world.rng.below(2_000));
        for replica in world.layout().on_host(host) {
            world.crash(replica, span + later);
        }
    }
}

fn is_alone(world: &World, replica: Address) -> bool {
    let reign = world.layout().zone_of(replica).and_then(|zone| world.service.reign(zone));
    reign.is_none_or(|it| it.primary == replica && it.backup.is_none())
}

/// All replicas on other hosts, and all players.
fn everybody_but(world: &World, host: usize) -> Vec<Address> {
    let replicas = world.layout().replicas().filter(|&it| world.layout().host_of(it) != Some(host));
    replicas.chain(world.player_addresses()).collect()
}

/// Breaks all connections of a machine; they are made anew soon.
fn reset(world: &mut World, address: Address) {
    for other in world.layout().replicas().chain(world.player_addresses()) {
        if other != address {
            world.sim.disconnect(address, other);
        }
    }
}

fn each_pair(here: &[Address], there: &[Address], mut act: impl FnMut(Address, Address)) {
    for &a in here {
        for &b in there {
            act(a, b);
        }
    }
}

fn cut_both(world: &mut World, a: Address, b: Address) {
    world.cut(a, b);
    world.cut(b, a);
}

fn mend_both(world: &mut World, a: Address, b: Address) {
    world.mend(a, b);
    world.mend(b, a);
}

fn set_both(world: &mut World, fault: &Fault, change: impl Fn(Profile) -> Profile) {
    let (here, there) = (world.layout().on_host(fault.host), world.layout().on_host(fault.other));
    each_pair(&here, &there, |a, b| {
        for (from, to) in [(a, b), (b, a)] {
            let profile = change(world.setting.usual_line(from, to));
            world.lines.set_profile(&mut world.sim, (from, to), Some(profile));
        }
    });
}
