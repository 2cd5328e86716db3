//! Replicas and players that die and come back, and how everything heals.

use super::{Todo, World};
use crate::disk::Disk;
use history::What;
use machine::{Address, Rng, Span};
use zone::{Replica, Standing};

impl World {
    /// Whether everything announced survives, if this replica dies now: in the memory of another that has a role, or
    /// on its own disk if it is alone and will come back.
    pub fn is_safe_without(&self, replica: Address) -> bool {
        let Some(zone) = self.layout.zone_of(replica) else { return false };
        let ledger = self.judge.ledger(zone);
        let Some(announced) = ledger.last_announced() else { return false };
        let has_role = |it: &Replica| matches!(it.standing(), Standing::Primary(..) | Standing::Backup(_));
        let reign = self.service.reign(zone);
        let in_office = |host: Address| reign.is_some_and(|it| it.primary == host || it.backup == Some(host));
        let held_elsewhere = self.replicas_of(zone).any(|(host, it)| {
            let held = ledger.memory.get(&host).is_some_and(|&last| ledger.holds(last, announced));
            host != replica && has_role(it) && in_office(host) && held
        });
        let alone = reign.is_some_and(|it| it.primary == replica && it.backup.is_none());
        let on_disk = ledger.disk.get(&replica).is_some_and(|&last| ledger.holds(last, announced));
        held_elsewhere || alone && on_disk || !in_office(replica) && reign.is_some()
    }

    /// Kills everything on a host, if nothing announced is lost with it. Whether it died.
    pub fn crash_host_if_safe(&mut self, host: usize, back_after: Span) -> bool {
        let mut alive = self.layout.on_host(host);
        alive.retain(|&it| self.sim.is_up(it));
        let dies = !alive.is_empty() && alive.iter().all(|&it| self.is_safe_without(it));
        for replica in alive.into_iter().filter(|_| dies) {
            self.crash(replica, back_after);
        }
        dies
    }

    /// Kills a replica, if nothing announced is lost with it. Whether it died.
    pub fn crash_if_safe(&mut self, replica: Address, back_after: Span) -> bool {
        let dies = self.sim.is_up(replica) && self.is_safe_without(replica);
        if dies {
            self.crash(replica, back_after);
        }
        dies
    }

    /// Kills a replica; it comes back after a while.
    pub fn crash(&mut self, replica: Address, back_after: Span) {
        self.tell(replica, What::Crashed);
        self.sim.crash(replica);
        let slot = &mut self.slots[replica.0 as usize];
        slot.life += 1;
        let interrupted = std::mem::take(&mut slot.requests).into_values().collect();
        slot.disk.power_off(interrupted, &mut self.rng);
        self.plan(self.sim.now() + back_after, Todo::Restart(replica));
    }

    /// The disk of a replica that is down, to tamper with.
    pub fn disk_of_dead(&mut self, replica: Address) -> Option<(&mut Disk, &mut Rng)> {
        let dead = !self.sim.is_up(replica);
        dead.then(|| (&mut self.slots[replica.0 as usize].disk, &mut self.rng))
    }

    /// The disk of a replica.
    pub fn disk(&mut self, replica: Address) -> &mut Disk {
        &mut self.slots[replica.0 as usize].disk
    }

    pub(super) fn restart(&mut self, replica: Address) {
        if self.sim.is_up(replica) {
            return;
        }
        let slot = &mut self.slots[replica.0 as usize];
        slot.disk.power_on();
        let last = slot.disk.last();
        self.tell(replica, What::Started);
        self.tell(replica, What::Holds(last));
        let machine = self.new_replica(replica);
        self.sim.restart(replica, machine);
    }

    /// A player's program dies, and they come back with a new session.
    pub fn rejoin(&mut self, number: usize) {
        self.players[number].session += 1;
        let (address, machine) = (self.players[number].address, self.new_client(&self.players[number]));
        self.tell(address, What::Crashed);
        self.tell(address, What::Started);
        self.sim.restart(address, machine);
    }

    /// Everything that went wrong is over.
    pub fn heal(&mut self) {
        self.triggers.clear();
        for (from, to) in std::mem::take(&mut self.cuts) {
            self.sim.heal(from, to);
        }
        for (from, to) in std::mem::take(&mut self.profiles).into_keys().collect::<Vec<_>>() {
            self.set_profile(from, to, None);
        }
        for replica in self.layout.replicas() {
            self.sim.set_clock_rate(replica, 1_000_000);
            self.sim.slow(replica, Span::ZERO);
            let slot = &mut self.slots[replica.0 as usize];
            slot.isolated = false;
            slot.disk.slowness = Span::ZERO;
            slot.disk.failing = false;
            slot.disk.limit(None);
        }
        let delay = Span::from_millis(2);
        self.service.delay = delay;
        self.service.loss_percent = 0;
        self.service.late_percent = 0;
        self.service.down = false;
    }
}
