//! The replicas of a world, without their machines: their disks, the open requests of those, and the life of each
//! replica.

use super::task_queue::WorldTask;
use crate::simulated_disk::SimulatedDisk;
use history::{EntryKind, RecordName, disk_keeps};
use machine::{Address, Rng, Span, Time, disk};
use std::collections::BTreeMap;

/// One life of a replica. A reply to an earlier life is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplicaLife {
    pub replica: Address,
    /// Number of crashes before this life.
    number: u32,
}

/// A replica's disk, life and connection to the directory.
struct ReplicaSlot {
    disk: SimulatedDisk,
    life: ReplicaLife,
    /// Requests that the disk has not carried out yet.
    requests: BTreeMap<u64, disk::DiskRequest>,
    /// True if the replica is cut off from the directory.
    isolated: bool,
}

/// All replicas, by address: replicas have lower addresses than players.
#[derive(Default)]
pub struct ReplicaSlots {
    slots: Vec<ReplicaSlot>,
    /// Number of requests to all disks so far.
    requests: u64,
}

impl ReplicaSlots {
    /// Adds the replica with the next address.
    pub fn add(&mut self, disk: SimulatedDisk) {
        let life = ReplicaLife { replica: Address(self.slots.len() as u64), number: 0 };
        self.slots.push(ReplicaSlot { disk, life, requests: BTreeMap::new(), isolated: false });
    }

    fn slot(&mut self, replica: Address) -> &mut ReplicaSlot {
        &mut self.slots[replica.0 as usize]
    }

    pub fn life(&self, replica: Address) -> ReplicaLife {
        self.slots[replica.0 as usize].life
    }

    pub fn disk(&mut self, replica: Address) -> &mut SimulatedDisk {
        &mut self.slot(replica).disk
    }

    // The directory.

    /// Cuts a replica off from the directory, or connects it again.
    pub fn isolate(&mut self, replica: Address, isolated: bool) {
        self.slot(replica).isolated = isolated;
    }

    /// Returns whether a replica reaches the directory.
    pub fn reaches_directory(&self, replica: Address) -> bool {
        !self.slots[replica.0 as usize].isolated
    }

    // Requests.

    /// Takes in a request to a disk. Returns the time at which it is done, with the task to plan then.
    pub fn ask(
        &mut self,
        replica: Address,
        request: disk::DiskRequest,
        now: Time,
        rng: &mut Rng,
    ) -> (Time, WorldTask) {
        self.requests += 1;
        let number = self.requests;
        let slot = self.slot(replica);
        let at = slot.disk.done_at(now, rng);
        // Kept until it is done, so that a crash can interrupt it.
        slot.requests.insert(number, request);
        (at, WorldTask::DiskDone { life: slot.life, request: number })
    }

    /// Carries out a disk request, unless its replica has died since. Returns what the disk now holds, if that is
    /// new, and the reply.
    pub fn serve(
        &mut self,
        life: ReplicaLife,
        number: u64,
        rng: &mut Rng,
    ) -> Option<(Option<EntryKind>, disk::DiskReply)> {
        let slot = self.slot(life.replica);
        // The request is removed in any case; only the life it was made in hears of it.
        let request = slot.requests.remove(&number).filter(|_| slot.life == life)?;
        let keeps = disk_keeps(&request);
        let done = slot.disk.serve(request, rng);
        // A write that failed is no part of the history: nothing may rely on it.
        let persisted = matches!(done, disk::DiskReply::Persisted { .. });
        Some((keeps.filter(|_| persisted), done))
    }

    // Lives.

    /// Kills a replica, and cuts its disk's power in the middle of the open requests.
    pub fn power_off(&mut self, replica: Address, rng: &mut Rng) {
        let slot = self.slot(replica);
        slot.life.number += 1;
        let interrupted = std::mem::take(&mut slot.requests).into_values().collect();
        slot.disk.power_off(interrupted, rng);
    }

    /// Powers a replica's disk on. Returns the name of its last record.
    pub fn power_on(&mut self, replica: Address) -> Option<RecordName> {
        let disk = self.disk(replica);
        disk.power_on();
        disk.last()
    }

    /// Ends the faults of all disks, and connects all replicas to the directory.
    pub fn heal(&mut self) {
        for slot in &mut self.slots {
            slot.isolated = false;
            slot.disk.slowness = Span::ZERO;
            slot.disk.failing = false;
            slot.disk.limit(None);
        }
    }
}
