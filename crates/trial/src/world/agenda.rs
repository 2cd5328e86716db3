//! What the world itself does, and when.

use super::replica_slots::ReplicaLife;
use crate::service::Question;
use machine::directory::Done;
use machine::{Address, Ticket, Time};
use std::collections::BTreeMap;

/// Something the world does by itself.
pub enum Todo {
    /// Missing links are made.
    Connect,
    /// A replica that died comes back.
    Restart(Address),
    /// A disk has done a request.
    DiskDone { life: ReplicaLife, request: u64 },
    /// The directory gets a question.
    Arrives(Question),
    /// A replica no longer waits for the directory's answer.
    GivesUp { life: ReplicaLife, ticket: Ticket },
    /// A replica gets the directory's answer.
    Answer { life: ReplicaLife, done: Done },
}

/// What is to be done, by time; at equal times in the order of planning.
#[derive(Default)]
pub struct Agenda {
    todos: BTreeMap<(Time, u64), Todo>,
    planned: u64,
}

impl Agenda {
    pub fn plan(&mut self, at: Time, todo: Todo) {
        self.planned += 1;
        self.todos.insert((at, self.planned), todo);
    }

    /// The time of the next thing to do.
    pub fn next(&self) -> Time {
        self.todos.keys().next().map_or(Time::MAX, |it| it.0)
    }

    /// Takes the next thing off the list, if its time has come.
    pub fn take_due(&mut self, now: Time) -> Option<Todo> {
        let first = self.todos.first_entry().filter(|it| it.key().0 <= now)?;
        Some(first.remove())
    }
}
