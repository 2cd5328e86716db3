//! Faults of a world as a whole: machines die and come back, links are cut and mended, and everything heals.
//! Faults of one part alone, such as a disk, are done to that part (see `plan`).

use super::crash_triggers::DueCrash;
use super::task_queue::WorldTask;
use super::{DIRECTORY, SimulatedWorld};
use crate::plan::Victim;
use history::{EntryKind, directory_swapped};
use machine::directory::{DirectoryRequest, DirectoryWrite};
use machine::{Address, Span, Ticket};
use zone::{Leadership, Replica, ReplicaStatus, Suspect};

/// Time until a watchdog accuses a call, and then between its tries.
const ACCUSED_AFTER: Span = Span::from_millis(100);

/// Time until a host whose call hung is back: its watchdog waits, and the program starts.
const BACK_AFTER_HANGING: Span = Span::from_millis(900);

impl SimulatedWorld {
    // Replicas.

    /// Returns whether everything announced survives if this replica dies now: in the memory of another one that has a
    /// role, or on its own disk if it is alone and will come back.
    pub fn is_safe_without(&self, replica: Address) -> bool {
        let Some(zone) = self.layout().zone_of(replica) else { return false };
        let tracker = self.monitor.checker.tracker(zone);
        let Some(announced) = tracker.last_announced() else { return false };
        let has_role =
            |it: &Replica| matches!(it.status(), ReplicaStatus::Primary(..) | ReplicaStatus::Backup(_));
        let leadership = self.directory.leadership(zone);
        // The directory's word counts too: a replica may believe in a role that a later swap took from it.
        let is_named =
            |host: Address| leadership.is_some_and(|it| it.primary == host || it.backup == Some(host));
        let held_elsewhere = self.replicas_of(zone).any(|(host, it)| {
            let held = tracker.memory.get(&host).is_some_and(|&last| tracker.holds(last, announced));
            host != replica && has_role(it) && is_named(host) && held
        });
        let alone = leadership.is_some_and(|it| it.primary == replica && it.backup.is_none());
        let on_disk = tracker.disk.get(&replica).is_some_and(|&last| tracker.holds(last, announced));
        held_elsewhere || alone && on_disk || !is_named(replica) && leadership.is_some()
    }

    /// Kills every replica on a host, if nothing announced is lost with it. Returns whether the host died.
    pub fn crash_host_if_safe(&mut self, host: usize, back_after: Span) -> bool {
        let mut alive = self.layout().on_host(host);
        alive.retain(|&it| self.sim.is_up(it));
        let dies = !alive.is_empty() && alive.iter().all(|&it| self.is_safe_without(it));
        for replica in alive.into_iter().filter(|_| dies) {
            self.crash(replica, back_after);
        }
        dies
    }

    /// Kills a replica, if nothing announced is lost with it. Returns whether it died.
    pub fn crash_if_safe(&mut self, replica: Address, back_after: Span) -> bool {
        let dies = self.sim.is_up(replica) && self.is_safe_without(replica);
        if dies {
            self.crash(replica, back_after);
        }
        dies
    }

    /// Kills a replica; it restarts after `back_after`.
    pub fn crash(&mut self, replica: Address, back_after: Span) {
        self.tell(replica, EntryKind::Crashed);
        self.sim.crash(replica);
        self.replica_slots.power_off(replica, &mut self.rng);
        self.task_queue.plan(self.sim.now() + back_after, WorldTask::Restart(replica));
    }

    // Calls of the game that hang.

    /// A replica hangs in a call of the game. Its host's watchdog accuses the call, and starts the replica again.
    pub(super) fn hang(&mut self, replica: Address, suspect: Suspect) {
        self.task_queue
            .plan(self.sim.now() + ACCUSED_AFTER, WorldTask::Accuse { replica, suspect, tries: 4 });
        self.crash(replica, BACK_AFTER_HANGING);
    }

    /// The watchdog sends its swap, and tries again until its host restarts: it may have been lost.
    pub(super) fn accuse(&mut self, replica: Address, suspect: Suspect, tries: u32) {
        let (now, reachable) = (self.sim.now(), self.replica_slots.reaches_directory(replica));
        if let Some(at) = self.directory.timing(now, reachable, &mut self.rng).arrives {
            self.task_queue.plan(at, WorldTask::Accused { replica, suspect });
        }
        if 0 < tries {
            let task = WorldTask::Accuse { replica, suspect, tries: tries - 1 };
            self.task_queue.plan(now + ACCUSED_AFTER, task);
        }
    }

    /// The swap of a watchdog arrives: reading and swapping count as one moment.
    pub(super) fn accused(&mut self, replica: Address, suspect: Suspect) {
        let Some(zone) = self.layout().zone_of(replica) else { return };
        let key = zone::leadership_key(zone);
        let found =
            self.directory.entry(&key).and_then(|it| Some((it.revision, Leadership::from_bytes(&it.value)?)));
        let Some((expected, leadership)) = found.filter(|it| !it.1.suspects.has(&suspect)) else { return };
        let value = Some(leadership.accusing(suspect).to_bytes());
        let writes = vec![DirectoryWrite { key, expected, value }];
        let request = DirectoryRequest::Swap { ticket: Ticket(0), writes };
        let done = self.directory.serve(self.sim.now(), request.clone());
        for what in directory_swapped(&request, &done) {
            self.tell(DIRECTORY, what);
        }
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
        // Two crashes may have planned two restarts; the second finds the replica up.
        if self.sim.is_up(replica) {
            return;
        }
        let last = self.replica_slots.power_on(replica);
        self.tell(replica, EntryKind::Started);
        // The history tells what the disk gives back before the replica acts on it.
        self.tell(replica, EntryKind::Holds(last));
        self.sim.restart(replica, self.setup.replica(replica));
    }

    // Players.

    /// Kills a player's program; the player comes back with a new session.
    pub fn rejoin(&mut self, number: usize) {
        let slot = self.player_slots.renew(number);
        let (address, machine) = (slot.address, self.setup.client(slot));
        self.tell(address, EntryKind::Crashed);
        self.tell(address, EntryKind::Started);
        self.sim.restart(address, machine);
    }

    /// Stops the bots, so that the world comes to rest.
    pub fn stop_bots(&mut self) {
        for address in self.player_addresses() {
            if let Some(client) = self.sim.machine_mut(address).client_mut() {
                client.remove_bot();
            }
        }
    }

    // Links.

    /// Drops everything that one machine sends to the other.
    pub fn cut(&mut self, from: Address, to: Address) {
        self.network_links.cut(&mut self.sim, from, to);
    }

    /// Undoes [`SimulatedWorld::cut`].
    pub fn mend(&mut self, from: Address, to: Address) {
        self.network_links.mend(&mut self.sim, from, to);
    }

    // The end of the faults.

    /// Ends every fault of machines, links, disks and directory that struck at a time. Hosts that are stopped or down come back
    /// by themselves, within seconds. Lossy, late and doubling links, and hostile players, stay as they are.
    pub fn heal(&mut self) {
        self.crash_triggers.clear();
        self.setup.poison.disarm();
        self.network_links.heal(&mut self.sim);
        for replica in self.layout().replicas() {
            // Clocks run at their usual rate again, but steps stay: no clock goes back.
            self.sim.set_clock_rate(replica, 1_000_000);
            self.sim.slow(replica, Span::ZERO);
        }
        self.replica_slots.heal();
        self.directory.heal();
    }
}
