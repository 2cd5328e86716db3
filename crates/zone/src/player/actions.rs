//! The player's actions: numbered for the zone, kept until they are answered.

use crate::config::UNACKED_MAX;
use machine::Time;
use serde_bytes::ByteBuf;
use std::collections::VecDeque;

/// An action that was taken and not answered.
#[derive(Clone)]
pub(super) struct Unanswered {
    /// The action's name for the owner. It stays when a full stop changes the number.
    pub id: u64,
    pub number: u64,
    pub action: ByteBuf,
    pub wanted: Time,
}

pub(super) struct Actions {
    next: u64,
    last_id: u64,
    unanswered: VecDeque<Unanswered>,
    /// Results up to this number have arrived.
    acked: u64,
}

impl Actions {
    pub const fn new() -> Self {
        Self { next: 1, last_id: 0, unanswered: VecDeque::new(), acked: 0 }
    }

    /// Whether the zone would let a further action wait.
    pub fn is_full(&self) -> bool {
        UNACKED_MAX <= self.unanswered.len()
    }

    /// The number of the next action.
    pub const fn next(&self) -> u64 {
        self.next
    }

    /// The id of the last action; 0 before the first.
    pub const fn last_id(&self) -> u64 {
        self.last_id
    }

    /// The last number up to which all results have arrived.
    pub const fn acked(&self) -> u64 {
        self.acked
    }

    /// The unanswered actions, in the order of their numbers.
    pub const fn unanswered(&self) -> &VecDeque<Unanswered> {
        &self.unanswered
    }

    /// Takes an action that is wanted now. Gives its number.
    pub fn take(&mut self, action: ByteBuf, wanted: Time) -> u64 {
        let number = self.next;
        self.next += 1;
        self.last_id += 1;
        self.unanswered.push_back(Unanswered { id: self.last_id, number, action, wanted });
        number
    }

    /// Goes on counting where the zone does. Earlier sessions of the player may have acted; or the world has lost its
    /// last moments in a full stop, and with them actions whose results the player heard.
    pub fn go_on_from(&mut self, cursor: u64) {
        let first = self.unanswered.front().map(|it| it.number);
        if first.is_some_and(|first| first <= cursor + 1) {
            return;
        }
        for (number, it) in (cursor + 1..).zip(&mut self.unanswered) {
            it.number = number;
        }
        self.next = cursor + 1 + self.unanswered.len() as u64;
        self.acked = cursor;
    }

    /// Takes out the action of this number, if it is unanswered.
    pub fn answer(&mut self, number: u64) -> Option<Unanswered> {
        let place = self.unanswered.iter().position(|it| it.number == number)?;
        let answered = self.unanswered.remove(place);
        let first = self.unanswered.front().map_or(self.next, |it| it.number);
        self.acked = self.acked.max(first - 1);
        answered
    }
}
