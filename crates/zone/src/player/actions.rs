//! The player's actions: numbered for the zone, kept until they are answered.

use crate::config::UNANSWERED_MAX;
use machine::Time;
use serde_bytes::ByteBuf;
use std::collections::VecDeque;

/// An action that has no result yet.
#[derive(Clone)]
pub(super) struct Unanswered {
    /// The client's name for the action. It stays when a full stop changes the number.
    pub id: u64,
    pub number: u64,
    pub action: ByteBuf,
    /// Own time of the command.
    pub since: Time,
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

    /// Whether as many actions wait for their results as the zone keeps: no further one is taken then.
    pub fn is_full(&self) -> bool {
        UNANSWERED_MAX <= self.unanswered.len()
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

    /// Numbers an action and keeps it until it is answered. Returns its number.
    pub fn take(&mut self, action: ByteBuf, since: Time) -> u64 {
        let number = self.next;
        self.next += 1;
        self.last_id += 1;
        self.unanswered.push_back(Unanswered { id: self.last_id, number, action, since });
        number
    }

    /// Goes on counting where the zone does. Earlier sessions of the player may have acted; or the world has lost its
    /// last moments in a full stop, and with them actions whose results the player heard.
    pub fn continue_after(&mut self, cursor: u64) {
        let first = self.unanswered.front().map(|it| it.number);
        if first.is_some_and(|first| first <= cursor + 1) {
            return; // The zone has answered the first unanswered one, or expects it next: the numbers fit.
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
        // Results may arrive out of order after a switch, so the first gap ends what is acknowledged.
        let answered = self.unanswered.remove(place);
        let first = self.unanswered.front().map_or(self.next, |it| it.number);
        self.acked = self.acked.max(first - 1);
        answered
    }
}
