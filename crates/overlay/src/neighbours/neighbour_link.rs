//! The link to one neighbour: which side wants the other's moves, and which greetings and answers are due.

use crate::admission::AdmittedPeer;
use machine::{Span, Time};

/// Least time between two greetings or answers to one neighbour, whatever it sends.
const ANSWER_AGAIN: Span = Span::from_millis(250);

/// Time after which a greeting without an answer is repeated.
const GREET_AGAIN: Span = Span::from_millis(1_000);

/// The link to one neighbour.
#[derive(Clone, Debug)]
pub(crate) struct NeighbourLink {
    /// Time at which the neighbour entered the list.
    since: Time,
    /// True if the local peer wants the neighbour's moves.
    want: bool,
    /// True if the neighbour wants the local peer's moves, by its own message.
    wanted: bool,
    /// True if the neighbour has proven who it is.
    proven: bool,
    /// True if the neighbour is still joining.
    joining: bool,
    /// Time since which the neighbour is irrelevant.
    idle_since: Option<Time>,
    /// Time of the last greeting; `None` once it was answered.
    greeted: Option<Time>,
    /// Time at which the neighbour's greeting was answered last.
    answered: Option<Time>,
}

impl NeighbourLink {
    pub const fn new(now: Time) -> Self {
        Self {
            since: now,
            want: true,
            wanted: false,
            proven: false,
            joining: false,
            idle_since: None,
            greeted: None,
            answered: None,
        }
    }

    pub const fn want(&self) -> bool {
        self.want
    }

    pub const fn wanted(&self) -> bool {
        self.wanted
    }

    pub const fn is_proven(&self) -> bool {
        self.proven
    }

    pub const fn is_joining(&self) -> bool {
        self.joining
    }

    /// Returns whether a greeting to the neighbour is not answered yet.
    pub const fn awaits_answer(&self) -> bool {
        self.greeted.is_some()
    }

    /// Returns whether a greeting to the neighbour must be repeated.
    pub fn is_unanswered(&self, now: Time) -> bool {
        self.greeted.is_some_and(|at| GREET_AGAIN <= now.since(at))
    }

    pub fn was_just_greeted(&self, now: Time) -> bool {
        self.greeted.is_some_and(|at| now.since(at) < ANSWER_AGAIN)
    }

    /// Notes that the neighbour is greeted now; returns whether its moves are wanted.
    pub const fn greet(&mut self, now: Time) -> bool {
        self.greeted = Some(now);
        self.want
    }

    /// Notes that the neighbour has proven who it is.
    pub const fn prove(&mut self, _: &AdmittedPeer) {
        self.proven = true;
    }

    /// Notes that the neighbour searches for its place and is not in yet.
    pub const fn begin_joining(&mut self) {
        self.joining = true;
    }

    /// Takes in a greeting or an answer of the neighbour.
    pub fn hear_hello(&mut self, now: Time, wanted: bool, want: bool) {
        (self.wanted, self.want) = (wanted, want);
        self.idle_since = (!want).then_some(now);
    }

    /// Notes that the neighbour answered a greeting.
    pub const fn hear_answer(&mut self) {
        self.greeted = None;
    }

    /// Returns whether the neighbour's greeting may be answered now, and notes the answer.
    #[must_use]
    pub fn take_answer(&mut self, now: Time) -> bool {
        let may = self.answered.is_none_or(|at| ANSWER_AGAIN <= now.since(at));
        if may {
            self.answered = Some(now);
        }
        may
    }

    /// Takes in a move of the neighbour: it is in, and says whether it wants the local peer's moves.
    pub const fn hear_move(&mut self, wanted: bool) {
        (self.wanted, self.joining) = (wanted, false);
    }

    /// Notes that the neighbour does not want the local peer's moves.
    pub const fn hear_refusal(&mut self) {
        self.wanted = false;
    }

    /// Notes that the neighbour is relevant.
    pub const fn keep(&mut self) {
        (self.want, self.idle_since) = (true, None);
    }

    /// Notes that the neighbour is irrelevant; returns whether it is kept for the grace period.
    #[must_use]
    pub fn idle(&mut self, now: Time, grace: Span) -> bool {
        let since = *self.idle_since.get_or_insert(now);
        // A neighbour that was irrelevant from the start came by mistake and gets no grace period.
        let young = since.since(self.since) < grace;
        self.want = !young && now.since(since) < grace;
        self.want
    }
}
