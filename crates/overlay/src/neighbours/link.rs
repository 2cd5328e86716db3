//! The link to one neighbour: who wants to hear whom, and who has said so.

use crate::admission::Admitted;
use machine::{Span, Time};

/// A neighbour is greeted or answered no more often than this, whatever it says.
const ANSWER_AGAIN: Span = Span::from_millis(250);

/// A greeting without an answer is repeated after this.
const GREET_AGAIN: Span = Span::from_millis(1_000);

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    /// Since when the neighbour is in the list.
    since: Time,
    /// Whether we want to hear the neighbour.
    want: bool,
    /// Whether the neighbour wants to hear us, by its own word.
    wanted: bool,
    /// Whether the neighbour has proven who it is.
    proven: bool,
    /// Whether the neighbour has not said yet that it is in.
    joining: bool,
    /// Since when the neighbour does not matter to us.
    idle_since: Option<Time>,
    /// When the neighbour was greeted last; `None` once it answered.
    greeted: Option<Time>,
    /// When the neighbour's greeting was answered last.
    answered: Option<Time>,
}

impl Link {
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

    /// Whether a greeting of ours is not answered yet.
    pub const fn awaits_answer(&self) -> bool {
        self.greeted.is_some()
    }

    /// Whether a greeting of ours must be repeated.
    pub fn is_unanswered(&self, now: Time) -> bool {
        self.greeted.is_some_and(|at| GREET_AGAIN <= now.since(at))
    }

    pub fn was_just_greeted(&self, now: Time) -> bool {
        self.greeted.is_some_and(|at| now.since(at) < ANSWER_AGAIN)
    }

    /// We greet the neighbour; whether we want to hear it.
    pub const fn greet(&mut self, now: Time) -> bool {
        self.greeted = Some(now);
        self.want
    }

    /// The neighbour has proven who it is.
    pub const fn prove(&mut self, _: &Admitted) {
        self.proven = true;
    }

    /// The neighbour has asked for its place and is not in yet.
    pub const fn begin_joining(&mut self) {
        self.joining = true;
    }

    /// The neighbour greets or answers.
    pub fn hear_hello(&mut self, now: Time, wanted: bool, want: bool) {
        (self.wanted, self.want) = (wanted, want);
        self.idle_since = (!want).then_some(now);
    }

    /// Our greeting is answered.
    pub const fn hear_answer(&mut self) {
        self.greeted = None;
    }

    /// Whether the neighbour's greeting may be answered now; if so, that is noted.
    #[must_use]
    pub fn take_answer(&mut self, now: Time) -> bool {
        let may = self.answered.is_none_or(|at| ANSWER_AGAIN <= now.since(at));
        if may {
            self.answered = Some(now);
        }
        may
    }

    /// The neighbour moves: it is in, and says whether it wants to hear us.
    pub const fn hear_move(&mut self, wanted: bool) {
        (self.wanted, self.joining) = (wanted, false);
    }

    /// The neighbour does not want to hear us.
    pub const fn hear_refusal(&mut self) {
        self.wanted = false;
    }

    /// The neighbour matters to us.
    pub const fn keep(&mut self) {
        (self.want, self.idle_since) = (true, None);
    }

    /// The neighbour does not matter to us; whether it still did so lately. One that came by mistake never did.
    #[must_use]
    pub fn idle(&mut self, now: Time, grace: Span) -> bool {
        let since = *self.idle_since.get_or_insert(now);
        let young = since.since(self.since) < grace;
        self.want = !young && now.since(since) < grace;
        self.want
    }
}
