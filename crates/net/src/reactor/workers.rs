//! The workers of a reactor: which of them have inputs, which are due, and which have something to send.

use super::Mailbox;
use super::deadlines::Deadlines;
use crate::address;
use crate::worker::{EventSink, Inbound, Worker, WorkerExit, WorkerHandle, WorkerInbox};
use machine::stage::{Stage, within};
use machine::{Machine, Time};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use wire::Message;

/// Inputs of one worker from other threads that are handled before the other workers have their turn.
const INPUTS_PER_ROUND: usize = 128;

/// Called when a worker ends.
pub(super) type OnExit = Box<dyn FnOnce(WorkerExit) + Send>;

/// A machine that is to run on a reactor.
pub(super) struct NewWorker<M: Machine> {
    pub machine: M,
    pub sink: Box<dyn EventSink<M>>,
    pub inbox: WorkerInbox<M>,
    pub ended: OnExit,
}

struct WorkerSlot<M: Machine> {
    worker: Worker<M>,
    inbox: WorkerInbox<M>,
    ended: OnExit,
    armed: Option<Time>,
    is_touched: bool,
}

/// The workers of one reactor.
pub(super) struct Workers<M: Machine> {
    slots: Vec<Option<WorkerSlot<M>>>,
    free: Vec<usize>,
    by_id: FxHashMap<u64, usize>,
    deadlines: Deadlines,
    /// Workers that handled something since the last flush.
    touched: Vec<usize>,
    /// Workers that have inputs of other threads.
    mailbox: Arc<Mailbox>,
}

impl<M: Machine> Workers<M> {
    pub fn new(mailbox: Arc<Mailbox>) -> Self {
        Self {
            mailbox,
            slots: Vec::new(),
            free: Vec::new(),
            by_id: FxHashMap::default(),
            deadlines: Deadlines::default(),
            touched: Vec::new(),
        }
    }
}

impl<M: Machine> Workers<M>
where
    M::Msg: Message,
{
    pub fn add(&mut self, new: NewWorker<M>) {
        let NewWorker { machine, sink, inbox, ended } = new;
        let at = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.by_id.insert(inbox.id(), at);
        // Inputs may have been sent before the worker was here, when no slot had its number.
        inbox.mark().clear();
        self.mailbox.post(inbox.id(), inbox.mark());
        let worker = Worker::new(machine, sink);
        self.slots[at] = Some(WorkerSlot { worker, inbox, ended, armed: None, is_touched: false });
        self.touch(at);
    }

    fn touch(&mut self, at: usize) {
        if let Some(slot) = &mut self.slots[at]
            && !slot.is_touched
        {
            slot.is_touched = true;
            self.touched.push(at);
        }
    }

    /// Hands an input to a worker: at once if it lives here, else through its inbox.
    pub fn deliver(&mut self, now: Time, to: &WorkerHandle<M>, inbound: Inbound<M>) {
        let Some(&at) = self.by_id.get(&to.id()) else {
            to.send(inbound);
            return;
        };
        // Inputs that came before this one are in the inbox: the link that a message arrived on, for example.
        if self.slots[at].as_ref().is_some_and(|it| it.inbox.mark().is_set()) {
            self.drain_one(now, at);
        }
        let stage = match &inbound {
            Inbound::Recv(from, ..) if address::zone_of(*from).is_some() => Stage::Replicate,
            _ => Stage::Zone,
        };
        within(stage, || self.step(at, |worker| worker.take(now, inbound)));
    }

    /// Handles the inputs from other threads. Returns whether there were any.
    pub fn drain(&mut self, now: Time) -> bool {
        let workers = self.mailbox.take();
        for id in &workers {
            let Some(&at) = self.by_id.get(id) else { continue };
            if let Some(slot) = &self.slots[at] {
                slot.inbox.mark().clear();
            }
            if self.drain_one(now, at) == INPUTS_PER_ROUND
                && let Some(slot) = &self.slots[at]
            {
                self.mailbox.post(*id, slot.inbox.mark()); // More may wait.
            }
        }
        !workers.is_empty()
    }

    /// Handles the inputs of one worker from other threads, as many as one round allows. Returns their number.
    fn drain_one(&mut self, now: Time, at: usize) -> usize {
        for taken in 0..INPUTS_PER_ROUND {
            let Some(inbound) = self.slots[at].as_mut().and_then(|it| it.inbox.next()) else { return taken };
            self.step(at, |worker| worker.take(now, inbound));
        }
        INPUTS_PER_ROUND
    }

    /// Wakes the machines that are due.
    pub fn wake_due(&mut self, now: Time) {
        while let Some((at, armed)) = self.deadlines.pop_due(now) {
            let Some(slot) = self.slots[at].as_mut().filter(|it| it.armed == Some(armed)) else { continue };
            slot.armed = None;
            self.step(at, |worker| worker.wake_if_due(now));
        }
    }

    /// Runs one step of a worker, and removes the worker if it is over.
    fn step(&mut self, at: usize, step: impl FnOnce(&mut Worker<M>) -> Result<(), WorkerExit>) {
        let Some(slot) = &mut self.slots[at] else { return };
        let result = step(&mut slot.worker);
        self.touch(at);
        if let Err(exit) = result {
            self.end(at, exit);
        }
    }

    fn end(&mut self, at: usize, exit: WorkerExit) {
        let Some(mut slot) = self.slots[at].take() else { return };
        if exit == WorkerExit::Stopped {
            let _ = slot.worker.flush_sends(); // Over either way.
        }
        self.by_id.remove(&slot.inbox.id());
        self.free.push(at);
        (slot.ended)(exit);
    }

    /// Sends what the workers pushed, and notes when they want to be woken.
    pub fn flush(&mut self) {
        for at in std::mem::take(&mut self.touched) {
            let Some(slot) = &mut self.slots[at] else { continue };
            slot.is_touched = false;
            if let Err(exit) = slot.worker.flush_sends() {
                self.end(at, exit);
                continue;
            }
            if let Some(deadline) = slot.worker.deadline() {
                self.deadlines.arm(at, deadline, &mut slot.armed);
            }
        }
    }

    /// Returns whether inputs from other threads wait.
    pub fn has_mail(&self) -> bool {
        !self.mailbox.is_empty()
    }

    /// The time at which a machine wants to be woken next.
    pub fn next_deadline(&self) -> Option<Time> {
        self.deadlines.next()
    }
}
