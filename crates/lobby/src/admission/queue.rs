//! The queue of players who wait: in turns between address groups, and within a group in the order in which they came.
//!
//! Each player gets a ticket once: a round, and a number within it. A group has one ticket per round, so a group of a thousand
//! holds up a group of one for one turn. A ticket never changes, so no player who is first in a group moves back.

use super::ranked_set::RankedSet;
use game::PlayerId;
use machine::{Span, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

/// A client may ask this much later than it was told, and still be counted as present.
const LATE_MAX: Span = Span::from_millis(2_500);

/// A player loses the place after this many times the pause that the client was told, and not before [`KEPT_FOR`].
const PAUSES_MISSED_MAX: u64 = 3;

/// Time for which a place is kept at least: browsers let a page in the background run once a minute.
const KEPT_FOR: Span = Span::from_secs(70);

/// The order of entry: the round, then the order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ticket {
    round: u64,
    arrival: u64,
}

/// A player who waits.
#[derive(Clone, Copy, Debug)]
struct WaitingPlayer {
    ticket: Ticket,
    group: IpAddr,
    /// Time at which the player becomes absent, or loses the place.
    deadline: Time,
    /// Time at which the place is lost.
    lost_at: Time,
    /// The client did not ask again in time: the others do not wait for it, but it may come back to its place.
    is_absent: bool,
}

/// An address group with players who wait.
#[derive(Clone, Copy, Debug)]
struct WaitingGroup {
    /// Round of the group's last ticket.
    last_round: u64,
    waiting: usize,
}

/// The queue.
#[derive(Clone, Debug, Default)]
pub(super) struct AdmissionQueue {
    players: BTreeMap<PlayerId, WaitingPlayer>,
    /// Tickets of the players who are present.
    order: RankedSet<Ticket>,
    deadlines: BTreeSet<(Time, PlayerId)>,
    groups: BTreeMap<IpAddr, WaitingGroup>,
    /// The latest round of which a player has entered.
    round: u64,
    arrivals: u64,
}

impl AdmissionQueue {
    /// Number of players who wait, without absent ones.
    pub(super) const fn waiting(&self) -> usize {
        self.order.len()
    }

    /// The place of a player who asks, from 1; a new one if the player has none. `None` if the queue is full.
    pub(super) fn ask(&mut self, player: PlayerId, group: IpAddr, most: usize) -> Option<usize> {
        if let Some(known) = self.players.get_mut(&player) {
            if std::mem::take(&mut known.is_absent) {
                self.order.insert(known.ticket);
            }
            return Some(self.order.rank(known.ticket) + 1);
        }
        if most <= self.players.len() {
            return None;
        }
        let ticket = self.new_ticket(group);
        self.order.insert(ticket);
        // The caller sets the deadline, or lets the player in.
        let (deadline, lost_at) = (Time::MAX, Time::MAX);
        self.deadlines.insert((deadline, player));
        self.players.insert(player, WaitingPlayer { ticket, group, deadline, lost_at, is_absent: false });
        Some(self.order.rank(ticket) + 1)
    }

    fn new_ticket(&mut self, group: IpAddr) -> Ticket {
        let first = WaitingGroup { last_round: self.round, waiting: 0 };
        let group = self.groups.entry(group).or_insert(first);
        group.last_round = group.last_round.max(self.round) + 1;
        group.waiting += 1;
        self.arrivals += 1;
        Ticket { round: group.last_round, arrival: self.arrivals }
    }

    /// The client of a player was told to ask again after this time.
    pub(super) fn expect(&mut self, now: Time, player: PlayerId, again_after: Span) {
        let Some(it) = self.players.get_mut(&player) else { return };
        self.deadlines.remove(&(it.deadline, player));
        it.lost_at = now + again_after.times(PAUSES_MISSED_MAX).max(KEPT_FOR);
        it.deadline = now + again_after + LATE_MAX;
        self.deadlines.insert((it.deadline, player));
    }

    /// A player enters the world.
    pub(super) fn enter(&mut self, player: PlayerId) {
        if let Some(left) = self.remove(player) {
            self.round = self.round.max(left.round);
        }
    }

    /// A player does not wait any more.
    pub(super) fn remove(&mut self, player: PlayerId) -> Option<Ticket> {
        let it = self.players.remove(&player)?;
        self.deadlines.remove(&(it.deadline, player));
        self.order.remove(it.ticket);
        let group = self.groups.get_mut(&it.group).expect("a player who waits is counted in a group");
        group.waiting -= 1;
        if group.waiting == 0 {
            self.groups.remove(&it.group);
        }
        Some(it.ticket)
    }

    /// Players whose clients did not ask in time become absent, and then lose their places.
    pub(super) fn advance(&mut self, now: Time) {
        while let Some(&(deadline, player)) = self.deadlines.first().filter(|it| it.0 <= now) {
            let it = self.players.get_mut(&player).expect("a player with a deadline waits");
            if it.is_absent || it.lost_at <= now {
                self.remove(player);
                continue;
            }
            self.deadlines.remove(&(deadline, player));
            (it.is_absent, it.deadline) = (true, it.lost_at);
            self.deadlines.insert((it.lost_at, player));
            self.order.remove(it.ticket);
        }
    }
}
