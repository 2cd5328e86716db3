//! What can be done to a world as a whole: machines die and come back, lines are cut and mended, and everything heals.
//! What concerns one part alone, such as a disk, is done to that part (see `plan`).

use super::World;
use super::agenda::Todo;
use super::crash_triggers::DueCrash;
use crate::plan::Victim;
use history::What;
use machine::{Address, Span};
use zone::{Replica, Standing};

impl World {
    // Replicas.

    /// Whether everything announced survives, if this replica dies now: in the memory of another that has a role, or
    /// on its own disk if it is alone and will come back.
    pub fn is_safe_without(&self, replica: Address) -> bool {
        let Some(zone) = self.layout().zone_of(replica) else { return false };
        let ledger = self.monitor.judge.ledger(zone);
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
        let mut alive = self.layout().on_host(host);
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
        self.replica_slots.power_off(replica, &mut self.rng);
        self.agenda.plan(self.sim.now() + back_after, Todo::Restart(replica));
    }

    pub(super) fn crash_due(&mut self, crash: DueCrash) {
        let back_after = crash.back_after();
        match crash {
            DueCrash::GaveUp(replica) => self.crash(replica, back_after),
            DueCrash::AtPoint(Victim::Host(host)) => drop(self.crash_host_if_safe(host, back_after)),
            DueCrash::AtPoint(Victim::Replica(replica)) => drop(self.crash_if_safe(replica, back_after)),
        }
    }

    pub(super) fn restart(&mut self, replica: Address) {
        if self.sim.is_up(replica) {
            return;
        }
        let last = self.replica_slots.power_on(replica);
        self.tell(replica, What::Started);
        self.tell(replica, What::Holds(last));
        self.sim.restart(replica, self.setting.replica(replica));
    }

    // Players.

    /// A player's program dies, and the player comes back with a new session.
    pub fn rejoin(&mut self, number: usize) {
        let slot = self.player_slots.renew(number);
        let (address, machine) = (slot.address, self.setting.client(slot));
        self.tell(address, What::Crashed);
        self.tell(address, What::Started);
        self.sim.restart(address, machine);
    }

    /// Takes the bots' will away, so that the world comes to rest.
    pub fn calm(&mut self) {
        for address in self.player_addresses() {
            if let Some(client) = self.sim.machine_mut(address).client_mut() {
                client.calm();
            }
        }
    }

    // Lines.

    /// Lets nothing through from one machine to the other.
    pub fn cut(&mut self, from: Address, to: Address) {
        self.lines.cut(&mut self.sim, from, to);
    }

    /// Undoes [`World::cut`].
    pub fn mend(&mut self, from: Address, to: Address) {
        self.lines.mend(&mut self.sim, from, to);
    }

    // The end of trouble.

    /// Ends everything that went wrong.
    pub fn heal(&mut self) {
        self.crash_triggers.clear();
        self.lines.heal(&mut self.sim);
        for replica in self.layout().replicas() {
            self.sim.set_clock_rate(replica, 1_000_000);
            self.sim.slow(replica, Span::ZERO);
        }
        self.replica_slots.heal();
        self.service.heal();
    }
}
