//! Inputs of a host with a [`crate::simulated_host::Condition`]: they come later, in order, or never.

use super::Sim;
use crate::history_hash::HistoryKind;
use crate::network::address;
use crate::queue_entry::{PendingInput, QueueEntry};
use crate::simulated_host::InputAdmission;
use machine::Machine;
use std::hash::Hash;
use wire::Message;

impl<M: Machine<Msg: Message, Command: Hash, Event: Hash>> Sim<M> {
    /// True if a host with a condition takes an input now. If not, the input is kept for later or discarded.
    #[cold] // Hosts with a condition are few, and healthy ones must not pay for them.
    pub(super) fn admit(&mut self, host: u32, pending: PendingInput) -> bool {
        match self.hosts[host as usize].condition_mut().admit(self.network.now, pending) {
            InputAdmission::Now => return true,
            InputAdmission::Later => self.schedule_service(host),
            InputAdmission::Never => self.discard(host, pending),
        }
        false
    }

    /// Lets a host take an input out of its inbox, if it can by now.
    #[cold]
    pub(super) fn on_service(&mut self, host: u32) -> bool {
        let next = self.hosts[host as usize].condition_mut().serve(self.network.now);
        let reached = next.is_some_and(|pending| self.hand_over(host, pending));
        // More inputs may wait, for when the host is ready again.
        self.schedule_service(host);
        reached
    }

    /// A deadline that waited in the inbox comes to the machine. Inputs before it may have moved the deadline on.
    pub(super) fn on_late_deadline(&mut self, host: u32) -> bool {
        let due = self.hosts[host as usize].is_due(self.network.now);
        self.use_alarm(host, due)
    }

    /// Notes the end of a freeze, unless a later one extended it. The inbox has a queue entry of its own.
    pub(super) fn on_thaw(&mut self, host: u32) {
        if self.hosts[host as usize].condition_mut().frozen_until == self.network.now {
            self.note_fault(host, HistoryKind::Thaw);
        }
    }

    /// Ensures that the queue holds an entry for the inputs that wait.
    fn schedule_service(&mut self, host: u32) {
        let next = self.hosts[host as usize].condition_mut().next_service(self.network.now);
        if let Some(at) = next {
            self.network.queue.push(at, QueueEntry::Service { host });
        }
    }

    /// Drops an input that no machine will get. A message is lost; of other inputs the history notes that they were
    /// dropped.
    pub(super) fn discard(&mut self, host: u32, pending: PendingInput) {
        match pending {
            PendingInput::Arrival { link_ref, buffer, .. } => return self.network.lose(link_ref, buffer),
            PendingInput::Command { number, .. } => drop(self.commands.take(number)),
            PendingInput::Wake { .. }
            | PendingInput::Deadline { .. }
            | PendingInput::LinkUp(_)
            | PendingInput::LinkDown(_) => (),
        }
        self.network.history.note(HistoryKind::Unheard, self.network.now, host);
    }

    /// Notes a fault of a host, or its end, in history and trace.
    pub(super) fn note_fault(&mut self, host: u32, kind: HistoryKind) {
        self.network.history.note(kind, self.network.now, host);
        if let Some(trace) = &mut self.trace {
            trace.note(self.network.now, address(host), &format!("{kind:?}"));
        }
    }
}
