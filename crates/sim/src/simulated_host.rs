//! A machine, and the condition of the host that runs it.
//!
//! A healthy host takes every input when it comes and has a true clock. A host that is frozen, slow, down or
//! has a clock of its own has a [`Condition`], which decides when an input reaches the machine. It only
//! decides: [`crate::Sim`] acts.

use crate::host_clock::HostClock;
use crate::queue_entry::{MachineNumber, PendingInput};
use machine::{Machine, Span, Time};
use std::collections::VecDeque;

/// A machine and what the driver knows about it.
pub(crate) struct SimulatedHost<M> {
    pub(crate) machine: M,
    /// The earliest deadline in the queue that still counts; [`Time::MAX`] if there is none. In the past
    /// while a deadline waits in the inbox: no other is needed then.
    pub(crate) alarm: Time,
    /// `None` while the host never had a fault.
    pub(crate) condition: Option<Box<Condition>>,
}

impl<M: Machine> SimulatedHost<M> {
    pub(crate) const fn new(machine: M) -> Self {
        Self { machine, alarm: Time::MAX, condition: None }
    }

    pub(crate) fn condition_mut(&mut self) -> &mut Condition {
        self.condition.get_or_insert_with(|| Box::new(Condition::healthy()))
    }

    pub(crate) fn is_up(&self) -> bool {
        self.condition.as_ref().is_none_or(|it| it.up)
    }

    pub(crate) fn machine_number(&self) -> MachineNumber {
        self.condition.as_ref().map_or(MachineNumber::default(), |it| it.machine_number)
    }

    /// The time that the host's own clock shows.
    pub(crate) fn local(&self, now: Time) -> Time {
        self.condition.as_ref().map_or(now, |it| it.clock.read(now))
    }

    pub(crate) fn is_due(&self, now: Time) -> bool {
        self.machine.deadline().is_some_and(|at| at <= self.local(now))
    }

    /// The true time of the machine's deadline; [`Time::MAX`] if it has none. The end of time never comes: such a
    /// deadline is none.
    pub(crate) fn due(&self) -> Time {
        let Some(deadline) = self.machine.deadline() else { return Time::MAX };
        self.condition.as_ref().map_or(deadline, |it| it.clock.when(deadline))
    }
}

/// The faults of a host, and the inputs that wait for it.
#[derive(Debug)]
pub(crate) struct Condition {
    pub(crate) up: bool,
    pub(crate) machine_number: MachineNumber,
    pub(crate) clock: HostClock,
    /// Time for which each input keeps the host busy.
    pub(crate) service: Span,
    /// Time for which each message that the machine sends keeps the host busy.
    pub(crate) send_cost: Span,
    /// Number of inputs taken and messages sent.
    pub(crate) work: u64,
    pub(crate) frozen_until: Time,
    busy_until: Time,
    inbox: VecDeque<PendingInput>,
    /// True if a deadline waits in the inbox: one is enough.
    deadline_waits: bool,
    /// The earliest service in the queue that still counts; [`Time::MAX`] if there is none.
    service_at: Time,
}

/// The moment at which a host takes an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InputAdmission {
    Now,
    Later,
    Never,
}

impl Condition {
    fn healthy() -> Self {
        Self {
            up: true,
            machine_number: MachineNumber::default(),
            clock: HostClock::TRUE,
            service: Span::ZERO,
            send_cost: Span::ZERO,
            work: 0,
            frozen_until: Time::ZERO,
            busy_until: Time::ZERO,
            inbox: VecDeque::new(),
            deadline_waits: false,
            service_at: Time::MAX,
        }
    }

    pub(crate) fn waiting(&self) -> usize {
        self.inbox.len()
    }

    /// Decides when the machine gets `pending`. If it must wait, it is in the inbox afterwards.
    pub(crate) fn admit(&mut self, now: Time, pending: PendingInput) -> InputAdmission {
        if !self.up || !self.is_meant(pending) {
            return InputAdmission::Never;
        }
        // Behind inputs that wait already, even a ready host must not take this one first.
        if self.inbox.is_empty() && self.ready_at() <= now {
            self.busy_until = now + self.service;
            return InputAdmission::Now;
        }
        self.keep(pending);
        InputAdmission::Later
    }

    /// Counts an input and the messages that the machine sent upon it.
    pub(crate) fn worked(&mut self, sent: u64) {
        self.work += 1 + sent;
        // Added after the input: the messages leave at once, and only later inputs are delayed.
        self.busy_until += Span::from_micros(self.send_cost.as_micros().saturating_mul(sent));
    }

    /// The time at which the inbox must be served, unless the event queue already holds an entry for it.
    pub(crate) fn next_service(&mut self, now: Time) -> Option<Time> {
        let at = self.ready_at().max(now);
        if self.inbox.is_empty() || self.service_at <= at {
            return None;
        }
        self.service_at = at;
        Some(at)
    }

    /// The input that has waited longest, if the host can take it now.
    pub(crate) fn serve(&mut self, now: Time) -> Option<PendingInput> {
        if self.service_at != now {
            return None; // The machine that waited for it crashed, and the next one was ready sooner.
        }
        self.service_at = Time::MAX;
        // A later freeze, or the cost of sent messages, keeps the host busy for longer than planned.
        if now < self.ready_at() {
            return None;
        }
        let pending = self.inbox.pop_front()?;
        self.busy_until = now + self.service;
        // From here on another deadline may wait.
        self.deadline_waits &= !matches!(pending, PendingInput::Deadline { .. });
        Some(pending)
    }

    /// The machine crashed. Returns the inputs that waited for it. Speed and clock belong to the hardware and stay.
    pub(crate) fn go_down(&mut self) -> VecDeque<PendingInput> {
        (self.up, self.deadline_waits) = (false, false);
        (self.frozen_until, self.busy_until) = (Time::ZERO, Time::ZERO);
        std::mem::take(&mut self.inbox)
    }

    /// A new machine runs on the host from now on.
    pub(crate) const fn come_up(&mut self) {
        self.up = true;
        // Commands and wakes for the machine before carry the old number, and are refused.
        self.machine_number.0 += 1;
    }

    fn ready_at(&self) -> Time {
        self.frozen_until.max(self.busy_until)
    }

    fn is_meant(&self, pending: PendingInput) -> bool {
        match pending {
            PendingInput::Command { meant_for, .. } | PendingInput::Wake { meant_for, .. } => {
                meant_for == self.machine_number
            }
            // Links do not outlive the machines at their ends, and a crash forgets the deadline.
            PendingInput::Deadline { .. }
            | PendingInput::LinkUp(_)
            | PendingInput::LinkDown(_)
            | PendingInput::Arrival { .. } => true,
        }
    }

    fn keep(&mut self, pending: PendingInput) {
        // A machine is woken once however many deadlines passed: one in the inbox is enough.
        if matches!(pending, PendingInput::Deadline { .. })
            && std::mem::replace(&mut self.deadline_waits, true)
        {
            return;
        }
        self.inbox.push_back(pending);
    }
}
