//! The faults of a run: a list drawn from the seed, so that it can be printed, replayed and shortened.

mod crash_trigger;

pub use crash_trigger::{CrashTrigger, Victim};

use crate::fault::FaultKind;
use crate::layout::HOSTS;
use crate::run_options::RunOptions;
use crate::simulated_disk::SimulatedDisk;
use crate::simulated_world::SimulatedWorld;
use machine::{Address, Rng, Span, Time};
use sim::Profile;
use std::fmt;

/// One fault: kind, time, length and place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Simulated time at which it begins.
    pub at: Time,
    /// Time from beginning to end.
    pub span: Span,
    /// Kind of fault that strikes.
    pub kind: FaultKind,
    /// Number of the host it strikes.
    pub host: usize,
    /// Number of the second host, for faults between two.
    pub other: usize,
    /// Random bits for everything else that a kind needs.
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

/// A fault as text: with the step at which a host is to die.
pub fn describe(fault: &Fault, options: &RunOptions) -> String {
    match fault.kind {
        FaultKind::Point => {
            format!("{fault}: {}", CrashTrigger::draw(fault.host, fault.chance, options.zones))
        }
        _ => fault.to_string(),
    }
}

/// Draws the faults of a run, in order of time.
pub fn draw(options: &RunOptions) -> Vec<Fault> {
    let mut rng = Rng::seeded(options.seed).fork_named(0x00fa_0171);
    let timed: Vec<_> = options.kinds.iter().filter(|it| is_timed(*it)).collect();
    if timed.is_empty() {
        return Vec::new();
    }
    let mut faults: Vec<_> = (0..options.faults).map(|_| draw_fault(options, &timed, &mut rng)).collect();
    faults.sort_by_key(|it| it.at);
    faults
}

/// Returns whether a kind strikes at a time. The others shape links and players for the whole run.
const fn is_timed(kind: FaultKind) -> bool {
    match kind {
        FaultKind::Loss | FaultKind::Duplicate | FaultKind::Jitter | FaultKind::Late | FaultKind::Hostile => {
            false
        }
        // All named: the compiler asks for each new kind.
        FaultKind::Spike
        | FaultKind::Narrow
        | FaultKind::Cut
        | FaultKind::OneWay
        | FaultKind::Isolate
        | FaultKind::Clog
        | FaultKind::Reset
        | FaultKind::Crash
        | FaultKind::Point
        | FaultKind::Wipe
        | FaultKind::Pause
        | FaultKind::Slow
        | FaultKind::ClockRate
        | FaultKind::ClockStep
        | FaultKind::DiskError
        | FaultKind::DiskFull
        | FaultKind::DiskSlow
        | FaultKind::DiskFlip
        | FaultKind::DiskOld
        | FaultKind::StopAll
        | FaultKind::DirectoryDown
        | FaultKind::DirectorySlow
        | FaultKind::DirectoryLossy
        | FaultKind::DirectoryLate
        | FaultKind::Storm
        | FaultKind::Rejoin
        | FaultKind::Overload
        | FaultKind::Crowd
        | FaultKind::Poison
        | FaultKind::MeshCut
        | FaultKind::CrashOne
        | FaultKind::Hang => true,
    }
}

/// Milliseconds without faults: before the world is founded and has a backup, there would be nothing to lose.
const QUIET: u64 = 3_000;

fn draw_fault(options: &RunOptions, kinds: &[FaultKind], rng: &mut Rng) -> Fault {
    let kind = kinds[rng.below(kinds.len() as u64) as usize];
    let at = Time::from_millis(QUIET + rng.below(options.fault_period.as_millis() - QUIET));
    let longest = match kind {
        FaultKind::Pause | FaultKind::Hang => 10_000,
        FaultKind::Crash
        | FaultKind::CrashOne
        | FaultKind::Point
        | FaultKind::Wipe
        | FaultKind::DiskFlip
        | FaultKind::DiskOld
        | FaultKind::StopAll => 6_000,
        FaultKind::DirectorySlow | FaultKind::DirectoryLossy | FaultKind::DirectoryLate => 30_000,
        FaultKind::ClockStep => 300_000,
        _ => 8_000,
    };
    // Short faults as often as long ones: up to the longest, a tenth of it, a hundredth.
    let scale = [1, 1, 10, 100][rng.below(4) as usize];
    let span = Span::from_millis(1 + rng.below(1 + longest / scale));
    let host = rng.below(HOSTS as u64) as usize;
    let other = (host + 1 + rng.below(HOSTS as u64 - 1) as usize) % HOSTS;
    Fault { at, span, kind, host, other, chance: rng.next_u64() }
}

/// Lets a fault begin, at its time.
pub fn begin(world: &mut SimulatedWorld, fault: &Fault) {
    let Fault { host, other, span, chance, .. } = *fault;
    let (here, there) = (world.layout().on_host(host), world.layout().on_host(other));
    let until = world.now() + span;
    match fault.kind {
        FaultKind::Spike => set_both(world, fault, |it| it.with_jitter(Span::from_millis(chance % 500))),
        FaultKind::Narrow => {
            let rate = 2_000 + chance % 50_000;
            set_both(world, fault, |it| it.with_rate(rate).expect("a rate"));
        }
        FaultKind::Cut => each_pair(&here, &there, |a, b| cut_both(world, a, b)),
        FaultKind::OneWay => each_pair(&here, &there, |a, b| world.cut(a, b)),
        FaultKind::MeshCut => {
            let layout = world.layout().clone();
            each_pair(&here, &there, |a, b| {
                if layout.zone_of(a) != layout.zone_of(b) {
                    cut_both(world, a, b);
                }
            });
        }
        FaultKind::Isolate => {
            // The directory is no machine of the simulator, so no link to it can be cut.
            here.iter().for_each(|&it| world.replica_slots.isolate(it, true));
            let others = machines_off_host(world, host);
            each_pair(&here, &others, |a, b| cut_both(world, a, b));
        }
        FaultKind::Clog => {
            let others = machines_off_host(world, host);
            each_pair(&here, &others, |a, b| {
                if world.rng.below(2) == 0 {
                    world.cut(a, b);
                }
            });
        }
        FaultKind::Reset => here.iter().for_each(|&it| reset(world, it)),
        FaultKind::Crash => drop(world.crash_host_if_safe(host, span)),
        FaultKind::CrashOne => {
            let replica = here[(chance % here.len() as u64) as usize];
            world.crash_if_safe(replica, span);
        }
        FaultKind::Point => {
            let trigger = CrashTrigger::draw(host, chance, world.options().zones);
            world.crash_triggers.add(trigger);
        }
        FaultKind::Wipe => tamper(world, fault, |disk, _| disk.wipe()),
        FaultKind::DiskFlip => tamper(world, fault, SimulatedDisk::flip_bit),
        // Half of these faults take the copy that a later one puts back.
        FaultKind::DiskOld if chance % 2 == 0 => {
            here.iter().for_each(|&it| world.replica_slots.disk(it).remember())
        }
        FaultKind::DiskOld => tamper(world, fault, |disk, rng| {
            disk.put_back(rng);
        }),
        FaultKind::StopAll => stop_all(world, span),
        FaultKind::Pause => here.iter().for_each(|&it| world.sim.freeze(it, until)),
        FaultKind::Slow => here.iter().for_each(|&it| world.sim.slow(it, Span::from_micros(chance % 2_000))),
        FaultKind::ClockRate => {
            let rate = 500_000 + (chance % 1_500_000) as u32;
            here.iter().for_each(|&it| world.sim.set_clock_rate(it, rate));
        }
        // The length of this fault is the size of the jump.
        FaultKind::ClockStep => here.iter().for_each(|&it| world.sim.step_clock(it, span)),
        FaultKind::DiskError => here.iter().for_each(|&it| world.replica_slots.disk(it).failing = true),
        FaultKind::DiskFull => {
            for it in here {
                // A replica with a full disk may give up, so it must not be the only one with announced records.
                if world.is_safe_without(it) {
                    world.replica_slots.disk(it).limit(Some((chance % 20_000) as usize));
                }
            }
        }
        FaultKind::DiskSlow => {
            here.iter()
                .for_each(|&it| world.replica_slots.disk(it).slowness = Span::from_millis(1 + chance % 200));
        }
        FaultKind::DirectoryDown => world.directory.down = true,
        FaultKind::DirectorySlow => world.directory.delay = Span::from_millis(1 + chance % 500),
        FaultKind::DirectoryLossy => world.directory.loss_percent = 10 + chance % 60,
        FaultKind::DirectoryLate => world.directory.late_percent = 10 + chance % 60,
        FaultKind::Storm => {
            for player in world.player_addresses() {
                reset(world, player);
            }
        }
        FaultKind::Rejoin => {
            let players = world.options().players as u64;
            for _ in 0..1 + chance % 3 {
                let number = world.rng.below(players) as usize;
                world.rejoin(number);
            }
        }
        FaultKind::Overload => {
            let service = Span::from_micros(2_000 + chance % 10_000);
            world.layout().clone().replicas().for_each(|it| world.sim.slow(it, service));
        }
        FaultKind::Crowd => (0..world.options().players as usize).for_each(|it| world.rejoin(it)),
        FaultKind::Poison => world.setup.poison.arm(),
        FaultKind::Hang => {
            let replica = here[(chance % here.len() as u64) as usize];
            world.sim.freeze(replica, until);
        }
        FaultKind::Loss | FaultKind::Duplicate | FaultKind::Jitter | FaultKind::Late | FaultKind::Hostile => {
        }
    }
}

/// Lets a fault end, after its span.
pub fn end(world: &mut SimulatedWorld, fault: &Fault) {
    let (here, there) = (world.layout().on_host(fault.host), world.layout().on_host(fault.other));
    match fault.kind {
        FaultKind::Spike | FaultKind::Narrow => each_pair(&here, &there, |a, b| {
            world.network_links.set_profile(&mut world.sim, (a, b), None);
            world.network_links.set_profile(&mut world.sim, (b, a), None);
        }),
        FaultKind::Cut | FaultKind::MeshCut => each_pair(&here, &there, |a, b| mend_both(world, a, b)),
        FaultKind::OneWay => each_pair(&here, &there, |a, b| world.mend(a, b)),
        // Mending a link that was not cut changes nothing.
        FaultKind::Isolate | FaultKind::Clog => {
            here.iter().for_each(|&it| world.replica_slots.isolate(it, false));
            let others = machines_off_host(world, fault.host);
            each_pair(&here, &others, |a, b| mend_both(world, a, b));
        }
        FaultKind::Slow => here.iter().for_each(|&it| world.sim.slow(it, Span::ZERO)),
        FaultKind::Overload => {
            world.layout().clone().replicas().for_each(|it| world.sim.slow(it, Span::ZERO));
        }
        FaultKind::ClockRate => here.iter().for_each(|&it| world.sim.set_clock_rate(it, 1_000_000)),
        FaultKind::DiskFull => here.iter().for_each(|&it| world.replica_slots.disk(it).limit(None)),
        FaultKind::DiskSlow => here.iter().for_each(|&it| world.replica_slots.disk(it).slowness = Span::ZERO),
        FaultKind::DirectoryDown => world.directory.down = false,
        FaultKind::DirectorySlow => world.directory.delay = Span::from_millis(2),
        FaultKind::DirectoryLossy => world.directory.loss_percent = 0,
        FaultKind::DirectoryLate => world.directory.late_percent = 0,
        _ => (),
    }
}

/// Kills a host and changes its disks, unless one of them holds all that is left of a zone.
fn tamper(world: &mut SimulatedWorld, fault: &Fault, change: impl Fn(&mut SimulatedDisk, &mut Rng)) {
    let mut replicas = world.layout().on_host(fault.host);
    let alone = replicas.iter().any(|&it| is_alone(world, it));
    // A replica that is down already may come back with records that no other replica has: its disk stays as it is.
    replicas.retain(|&it| world.sim.is_up(it));
    if alone || !world.crash_host_if_safe(fault.host, fault.span) {
        return;
    }
    for replica in replicas {
        change(world.replica_slots.disk(replica), &mut world.rng);
    }
}

/// Kills all replicas at once, if all of them are up: one that is down may be the only one with the newest records.
fn stop_all(world: &mut SimulatedWorld, span: Span) {
    let all_live = world.layout().replicas().all(|it| world.sim.is_up(it));
    // A zone that has announced nothing may not be founded yet.
    let all_spoke =
        world.layout().zones().all(|it| world.monitor.checker.tracker(it).last_announced().is_some());
    if !all_live || !all_spoke {
        return;
    }
    for host in 0..HOSTS {
        // Hosts come back at different times, so the first one may have the shorter log.
        let later = Span::from_millis(world.rng.below(2_000));
        for replica in world.layout().on_host(host) {
            world.crash(replica, span + later);
        }
    }
}

fn is_alone(world: &SimulatedWorld, replica: Address) -> bool {
    let leadership = world.layout().zone_of(replica).and_then(|zone| world.directory.leadership(zone));
    leadership.is_none_or(|it| it.primary == replica && it.backup.is_none())
}

/// All replicas on other hosts, and all players.
fn machines_off_host(world: &SimulatedWorld, host: usize) -> Vec<Address> {
    let replicas = world.layout().replicas().filter(|&it| world.layout().host_of(it) != Some(host));
    replicas.chain(world.player_addresses()).collect()
}

/// Breaks all connections of a machine; the world makes them anew soon.
fn reset(world: &mut SimulatedWorld, address: Address) {
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

fn cut_both(world: &mut SimulatedWorld, a: Address, b: Address) {
    world.cut(a, b);
    world.cut(b, a);
}

fn mend_both(world: &mut SimulatedWorld, a: Address, b: Address) {
    world.mend(a, b);
    world.mend(b, a);
}

fn set_both(world: &mut SimulatedWorld, fault: &Fault, change: impl Fn(Profile) -> Profile) {
    let (here, there) = (world.layout().on_host(fault.host), world.layout().on_host(fault.other));
    each_pair(&here, &there, |a, b| {
        for (from, to) in [(a, b), (b, a)] {
            let profile = change(world.setup.usual_profile(from, to));
            world.network_links.set_profile(&mut world.sim, (from, to), Some(profile));
        }
    });
}
