//! The replicas of a world, without their machines: their disks, what those have still to do, and which life each
//! replica is in.

use super::agenda::Todo;
use crate::disk::Disk;
use history::{Name, What, disk_keeps};
use machine::{Address, Rng, Span, Time, disk};
use std::collections::BTreeMap;

/// One life of a replica. What was meant for an earlier life is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplicaLife {
    pub replica: Address,
    /// Counts the lives.
    number: u32,
}

/// A replica, as the world knows it.
struct ReplicaSlot {
    disk: Disk,
    life: ReplicaLife,
    /// Requests that the disk has not done.
    requests: BTreeMap<u64, disk::Request>,
    /// Whether it is cut off from the directory.
    isolated: bool,
}

/// All replicas, by address: they come before the players.
#[derive(Default)]
pub struct ReplicaSlots {
    slots: Vec<ReplicaSlot>,
    /// Counts the requests of all disks.
    requests: u64,
}

impl ReplicaSlots {
    /// Adds the replica with the next address.
    pub fn add(&mut self, disk: Disk) {
        let life = ReplicaLife { replica: Address(self.slots.len() as u64), number: 0 };
        self.slots.push(ReplicaSlot { disk, life, requests: BTreeMap::new(), isolated: false });
    }

    fn slot(&mut self, replica: Address) -> &mut ReplicaSlot {
        &mut self.slots[replica.0 as usize]
    }

    /// The life that a replica is in.
    pub fn life(&self, replica: Address) -> ReplicaLife {
        self.slots[replica.0 as usize].life
    }

    /// The disk of a replica.
    pub fn disk(&mut self, replica: Address) -> &mut Disk {
        &mut self.slot(replica).disk
    }

    // The directory.

    /// Cuts a replica off from the directory, or not.
    pub fn isolate(&mut self, replica: Address, isolated: bool) {
        self.slot(replica).isolated = isolated;
    }

    /// Whether a replica reaches the directory.
    pub fn reaches_directory(&self, replica: Address) -> bool {
        !self.slots[replica.0 as usize].isolated
    }

    // Requests.

    /// A disk gets a request. Says when it will have done it.
    pub fn ask(
        &mut self,
        replica: Address,
        request: disk::Request,
        now: Time,
        rng: &mut Rng,
    ) -> (Time, Todo) {
        self.requests += 1;
        let number = self.requests;
        let slot = self.slot(replica);
        let at = slot.disk.done_at(now, rng);
        slot.requests.insert(number, request);
        (at, Todo::DiskDone { life: slot.life, request: number })
    }

    /// A disk does a request, unless its replica has died since. Says what the disk holds from now on, if it is new,
    /// and its answer.
    pub fn serve(
        &mut self,
        life: ReplicaLife,
        number: u64,
        rng: &mut Rng,
    ) -> Option<(Option<What>, disk::Done)> {
        let slot = self.slot(life.replica);
        let request = slot.requests.remove(&number).filter(|_| slot.life == life)?;
        let keeps = disk_keeps(&request);
        let done = slot.disk.serve(request, rng);
        let persisted = matches!(done, disk::Done::Persisted { .. });
        Some((keeps.filter(|_| persisted), done))
    }

    // Lives.

    /// A replica dies, and its disk in the middle of what it was asked.
    pub fn power_off(&mut self, replica: Address, rng: &mut Rng) {
        let slot = self.slot(replica);
        slot.life.number += 1;
        let interrupted = std::mem::take(&mut slot.requests).into_values().collect();
        slot.disk.power_off(interrupted, rng);
    }

    /// A replica's disk comes back. Says which record is its last one.
    pub fn power_on(&mut self, replica: Address) -> Option<Name> {
        let disk = self.disk(replica);
        disk.power_on();
        disk.last()
    }

    /// All disks are well, and all replicas reach the directory.
    pub fn heal(&mut self) {
        for slot in &mut self.slots {
            slot.isolated = false;
            slot.disk.slowness = Span::ZERO;
            slot.disk.failing = false;
            slot.disk.limit(None);
        }
    }
}
