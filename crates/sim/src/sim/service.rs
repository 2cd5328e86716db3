//! How inputs reach the machine of a host in trouble: later, in order, or never.

use super::Sim;
use crate::happening::{Happening, Notice};
use crate::history::Kind;
use crate::host::Admission;
use crate::network::address;
use machine::Machine;
use std::hash::Hash;
use wire::Message;

impl<M: Machine<Msg: Message, Command: Hash, Event: Hash>> Sim<M> {
    /// Whether a host in trouble takes a notice now. If not, it is kept for later or thrown away.
    #[cold] // Hosts in trouble are few, and healthy ones must not pay for them.
    pub(super) fn admit(&mut self, host: u32, notice: Notice) -> bool {
        match self.hosts[host as usize].condition_mut().admit(self.network.now, notice) {
            Admission::Now => return true,
            Admission::Later => self.schedule_service(host),
            Admission::Never => self.throw_away(host, notice),
        }
        false
    }

    /// A host may be able to take something out of its inbox.
    #[cold]
    pub(super) fn on_service(&mut self, host: u32) -> bool {
        let next = self.hosts[host as usize].condition_mut().serve(self.network.now);
        let reached = next.is_some_and(|notice| self.hand_over(host, notice));
        self.schedule_service(host);
        reached
    }

    /// A deadline that waited in the inbox: what came before it may have moved it on.
    pub(super) fn on_late_deadline(&mut self, host: u32) -> bool {
        let due = self.hosts[host as usize].is_due(self.network.now);
        self.ring(host, due)
    }

    /// A freeze is over, unless a later one extended it. The inbox has a service of its own.
    pub(super) fn on_thaw(&mut self, host: u32) {
        if self.hosts[host as usize].condition_mut().frozen_until == self.network.now {
            self.note_fault(host, Kind::Thaw);
        }
    }

    /// Makes sure that the queue holds an entry for what waits.
    fn schedule_service(&mut self, host: u32) {
        let next = self.hosts[host as usize].condition_mut().next_service(self.network.now);
        if let Some(at) = next {
            self.network.queue.push(at, Happening::Service { host });
        }
    }

    /// Nobody will hear this. A message is lost; of the rest the history keeps that it was in vain.
    pub(super) fn throw_away(&mut self, host: u32, notice: Notice) {
        match notice {
            Notice::Arrival { passage, buffer, .. } => return self.network.lose(passage, buffer),
            Notice::Command { number, .. } => drop(self.commands.take(number)),
            Notice::Wake { .. } | Notice::Deadline { .. } | Notice::LinkUp(_) | Notice::LinkDown(_) => (),
        }
        self.network.history.note(Kind::Unheard, self.network.now, host);
    }

    /// Something went wrong with a host, or right again.
    pub(super) fn note_fault(&mut self, host: u32, kind: Kind) {
        self.network.history.note(kind, self.network.now, host);
        if let Some(trace) = &mut self.trace {
            trace.note(self.network.now, address(host), &format!("{kind:?}"));
        }
    }
}
