//! A machine, and the condition of the host that runs it.
//!
//! A healthy host takes every input when it comes and tells the true time. One that is frozen, slow, down or
//! has a clock of its own has a [`Condition`], which decides when an input reaches the machine. It decides
//! only: [`crate::Sim`] acts.

use crate::clock::Clock;
use crate::happening::{Incarnation, Notice};
use machine::{Machine, Span, Time};
use std::collections::VecDeque;

/// A machine and what the driver knows about it.
pub(crate) struct Host<M> {
    pub(crate) machine: M,
    /// The earliest deadline in the queue that still counts; [`Time::MAX`] if there is none. In the past
    /// while a deadline waits in the inbox: no other is needed then.
    pub(crate) alarm: Time,
    /// `None` while the host was never in trouble.
    pub(crate) condition: Option<Box<Condition>>,
}

impl<M: Machine> Host<M> {
    pub(crate) const fn new(machine: M) -> Self {
        Self { machine, alarm: Time::MAX, condition: None }
    }

    pub(crate) fn condition_mut(&mut self) -> &mut Condition {
        self.condition.get_or_insert_with(|| Box::new(Condition::healthy()))
    }

    pub(crate) fn is_up(&self) -> bool {
        self.condition.as_ref().is_none_or(|it| it.up)
    }

    pub(crate) fn incarnation(&self) -> Incarnation {
        self.condition.as_ref().map_or(Incarnation::default(), |it| it.incarnation)
    }

    /// What the host's own clock shows.
    pub(crate) fn local(&self, now: Time) -> Time {
        self.condition.as_ref().map_or(now, |it| it.clock.read(now))
    }

    pub(crate) fn is_due(&self, now: Time) -> bool {
        self.machine.deadline().is_some_and(|at| at <= self.local(now))
    }

    /// When the machine's deadline comes; [`Time::MAX`] if it has none. The end of time never comes: such a
    /// deadline is none.
    pub(crate) fn due(&self) -> Time {
        let Some(deadline) = self.machine.deadline() else { return Time::MAX };
        self.condition.as_ref().map_or(deadline, |it| it.clock.when(deadline))
    }
}

/// What is wrong with a host, and what waits for it.
#[derive(Debug)]
pub(crate) struct Condition {
    pub(crate) up: bool,
    pub(crate) incarnation: Incarnation,
    pub(crate) clock: Clock,
    /// What each input takes of the host's time.
    pub(crate) service: Span,
    /// What each message takes that the machine sends.
    pub(crate) postage: Span,
    /// Inputs taken and messages sent.
    pub(crate) work: u64,
    pub(crate) frozen_until: Time,
    busy_until: Time,
    inbox: VecDeque<Notice>,
    /// Whether a deadline waits in the inbox: one is enough.
    rung: bool,
    /// The earliest service in the queue that still counts; [`Time::MAX`] if there is none.
    service_at: Time,
}

/// What becomes of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    Now,
    Later,
    Never,
}

impl Condition {
    fn healthy() -> Self {
        Self {
            up: true,
            incarnation: Incarnation::default(),
            clock: Clock::TRUE,
            service: Span::ZERO,
            postage: Span::ZERO,
            work: 0,
            frozen_until: Time::ZERO,
            busy_until: Time::ZERO,
            inbox: VecDeque::new(),
            rung: false,
            service_at: Time::MAX,
        }
    }

    /// How many notices wait.
    pub(crate) fn waiting(&self) -> usize {
        self.inbox.len()
    }

    /// Whether the machine can have `notice` now. If it must wait, it is in the inbox afterwards.
    pub(crate) fn admit(&mut self, now: Time, notice: Notice) -> Admission {
        if !self.up || !self.is_meant(notice) {
            return Admission::Never;
        }
        if self.inbox.is_empty() && self.ready_at() <= now {
            self.busy_until = now + self.service;
            return Admission::Now;
        }
        self.keep(notice);
        Admission::Later
    }

    /// The machine took an input and sent so many messages.
    pub(crate) fn worked(&mut self, sent: u64) {
        self.work += 1 + sent;
        self.busy_until += Span::from_micros(self.postage.as_micros().saturating_mul(sent));
    }

    /// When the inbox must be looked at, if nothing in the queue does so in time.
    pub(crate) fn next_service(&mut self, now: Time) -> Option<Time> {
        let at = self.ready_at().max(now);
        if self.inbox.is_empty() || self.service_at <= at {
            return None;
        }
        self.service_at = at;
        Some(at)
    }

    /// The notice that has waited longest, if the host can take it now.
    pub(crate) fn serve(&mut self, now: Time) -> Option<Notice> {
        if self.service_at != now {
            return None; // The machine that waited for it crashed, and the next one was ready sooner.
        }
        self.service_at = Time::MAX;
        if now < self.ready_at() {
            return None;
        }
        let notice = self.inbox.pop_front()?;
        self.busy_until = now + self.service;
        self.rung &= !matches!(notice, Notice::Deadline { .. });
        Some(notice)
    }

    /// The machine is gone. Gives back what waited for it. How fast the host is and what its clock shows is
    /// the hardware's and stays.
    pub(crate) fn go_down(&mut self) -> VecDeque<Notice> {
        (self.up, self.rung) = (false, false);
        (self.frozen_until, self.busy_until) = (Time::ZERO, Time::ZERO);
        std::mem::take(&mut self.inbox)
    }

    /// Another machine has taken the place.
    pub(crate) const fn come_up(&mut self) {
        self.up = true;
        self.incarnation.0 += 1;
    }

    fn ready_at(&self) -> Time {
        self.frozen_until.max(self.busy_until)
    }

    fn is_meant(&self, notice: Notice) -> bool {
        match notice {
            Notice::Command { meant_for, .. } | Notice::Wake { meant_for, .. } => {
                meant_for == self.incarnation
            }
            // Links do not outlive the machines at their ends, and a crash forgets the deadline.
            Notice::Deadline { .. } | Notice::LinkUp(_) | Notice::LinkDown(_) | Notice::Arrival { .. } => {
                true
            }
        }
    }

    fn keep(&mut self, notice: Notice) {
        if matches!(notice, Notice::Deadline { .. }) && std::mem::replace(&mut self.rung, true) {
            return;
        }
        self.inbox.push_back(notice);
    }
}
