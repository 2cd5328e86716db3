//! Tasks of the world itself, by time.

use super::replica_slots::ReplicaLife;
use crate::directory_service::PendingRequest;
use machine::directory::DirectoryReply;
use machine::{Address, Ticket, Time};
use std::collections::BTreeMap;
use zone::Suspect;

/// A task of the world itself.
pub enum WorldTask {
    /// Makes every link that is missing.
    Connect,
    /// The watchdog of a replica that hung accuses an action; it tries this many times more.
    Accuse { replica: Address, suspect: Suspect, tries: u32 },
    /// The watchdog's swap reaches the directory.
    Accused { replica: Address, suspect: Suspect },
    /// Restarts a replica that died.
    Restart(Address),
    /// Carries out a disk request.
    DiskDone { life: ReplicaLife, request: u64 },
    /// Hands a request to the directory.
    Arrives(PendingRequest),
    /// Tells a replica that no answer will come.
    GivesUp { life: ReplicaLife, ticket: Ticket },
    /// Hands a replica the directory's answer.
    Answer { life: ReplicaLife, done: DirectoryReply },
}

/// Tasks by time; at equal times in the order of planning.
#[derive(Default)]
pub struct TaskQueue {
    tasks: BTreeMap<(Time, u64), WorldTask>,
    planned: u64,
}

impl TaskQueue {
    pub fn plan(&mut self, at: Time, task: WorldTask) {
        self.planned += 1;
        self.tasks.insert((at, self.planned), task);
    }

    /// Time of the next task; the end of time without one.
    pub fn next(&self) -> Time {
        self.tasks.keys().next().map_or(Time::MAX, |it| it.0)
    }

    /// Takes the next task, if its time has come.
    pub fn take_due(&mut self, now: Time) -> Option<WorldTask> {
        let first = self.tasks.first_entry().filter(|it| it.key().0 <= now)?;
        Some(first.remove())
    }
}
