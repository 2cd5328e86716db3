//! Runs one machine: feeds it inputs and wakes, and carries out what it pushes into its outbox.
//!
//! A worker knows no protocol. It lives on a [`crate::reactor`], which gives it the inputs of each turn and sends what the
//! machine pushed when the turn ends. A panic ends one worker only.

use crate::close::Close;
use crate::frame;
use crate::reactor::{MailMark, Mailbox};
use crate::send_queue::{SendQueue, fresh_id};
use bytes::Bytes;
use machine::{Address, Input, Lane, LinkNumber, Machine, Outbox, Output, Time};
use rustc_hash::FxHashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use wire::Message;

/// Zone numbers that the frames of a link carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameAddressing {
    /// Between a player and a host: the zone at the host's end.
    Zone(u32),
    /// Between hosts: the zones at both ends.
    Zones {
        /// Zone of the sending machine.
        from: u32,
        /// Zone of the receiving machine.
        to: u32,
    },
}

/// A link to another machine, as its worker stores it.
pub enum MachineLink<M: Machine> {
    /// To a machine of another process, over a connection.
    Remote {
        /// Queue of the connection, where frames wait.
        queue: SendQueue,
        /// Zone numbers written into each frame.
        addressing: FrameAddressing,
    },
    /// To a machine of the same process: no socket, no frames, no queue.
    Local {
        /// Number of the link, the same at both ends; differs from earlier links between the same two machines.
        id: u64,
        /// Address of the machine that sends.
        from: Address,
        /// Worker of the machine that receives.
        to: WorkerHandle<M>,
    },
}

impl<M: Machine> MachineLink<M> {
    /// Number of the link, unique in this process.
    pub fn id(&self) -> u64 {
        match self {
            Self::Remote { queue, .. } => queue.id(),
            Self::Local { id, .. } => *id,
        }
    }
}

/// An input of a worker.
pub enum Inbound<M: Machine> {
    /// A link to this address is up.
    Up(Address, MachineLink<M>),
    /// The link of this number to this address is down.
    Down(Address, u64),
    /// A message arrived over the link of this number. The permit is returned when the machine has handled it.
    Recv(Address, u64, M::Msg, Option<OwnedSemaphorePermit>),
    /// Bytes of a message arrived over a local link. The receiver's thread decodes them, which spares the sender's.
    RecvLocal(Address, u64, Arc<Vec<u8>>),
    /// A command of the program that runs the machine.
    Command(M::Command),
    /// A function to run on the machine, to read its state.
    Inspect(Box<dyn FnOnce(&M) + Send>),
    /// Answers when the outputs of earlier inputs were sent.
    Flush(oneshot::Sender<()>),
    /// Ends the worker after the outputs of earlier inputs were sent.
    Stop,
}

/// Sends inputs to a worker. Cheap to clone.
pub struct WorkerHandle<M: Machine> {
    id: u64,
    inputs: mpsc::UnboundedSender<Inbound<M>>,
    mailbox: Arc<Mailbox>,
    mark: MailMark,
}

impl<M: Machine> Clone for WorkerHandle<M> {
    fn clone(&self) -> Self {
        let (inputs, mailbox) = (self.inputs.clone(), self.mailbox.clone());
        Self { id: self.id, inputs, mailbox, mark: self.mark.clone() }
    }
}

impl<M: Machine> WorkerHandle<M> {
    /// A handle, and the inbox that it fills. The handle exists before the worker, because disks and directories of the
    /// machine answer through it.
    pub(crate) fn new(mailbox: Arc<Mailbox>) -> (Self, WorkerInbox<M>) {
        let (inputs, receiver) = mpsc::unbounded_channel();
        let (id, mark) = (fresh_id(), MailMark::default());
        let inbox = WorkerInbox { id, inputs: receiver, mark: mark.clone() };
        (Self { id, inputs, mailbox, mark }, inbox)
    }

    /// Number of the worker, unique in this process.
    pub(crate) const fn id(&self) -> u64 {
        self.id
    }

    /// Sends an input. Returns false if the worker has ended.
    pub fn send(&self, inbound: Inbound<M>) -> bool {
        let is_there = self.inputs.send(inbound).is_ok();
        if is_there {
            self.mailbox.post(self.id, &self.mark);
        }
        is_there
    }

    /// Sends a command to the machine. Returns false if the worker has ended.
    pub fn command(&self, command: M::Command) -> bool {
        self.send(Inbound::Command(command))
    }

    /// Runs a function on the machine and returns its result; `None` if the worker has ended.
    pub async fn inspect<R: Send + 'static>(
        &self,
        inspect: impl FnOnce(&M) -> R + Send + 'static,
    ) -> Option<R> {
        let (sender, receiver) = oneshot::channel();
        self.send(Inbound::Inspect(Box::new(move |it| drop(sender.send(inspect(it))))));
        receiver.await.ok()
    }
}

impl<M: Machine> WorkerHandle<M> {
    /// Waits until everything that the machine pushed because of earlier inputs was sent, or the worker has ended.
    pub async fn flushed(&self) {
        let (sender, receiver) = oneshot::channel();
        self.send(Inbound::Flush(sender));
        let _ = receiver.await; // An error means that the worker has ended.
    }
}

/// Queue of a worker's inputs from other threads. It is unbounded; permits bound the messages of WebSocket players in it;
/// reactors pause a player's stream instead.
pub struct WorkerInbox<M: Machine> {
    id: u64,
    inputs: mpsc::UnboundedReceiver<Inbound<M>>,
    mark: MailMark,
}

impl<M: Machine> WorkerInbox<M> {
    /// Number of the worker whose inbox this is.
    pub(crate) const fn id(&self) -> u64 {
        self.id
    }

    /// The next input, if there is one.
    pub(crate) fn next(&mut self) -> Option<Inbound<M>> {
        self.inputs.try_recv().ok()
    }

    /// The mark that is set while inputs may wait.
    pub(crate) const fn mark(&self) -> &MailMark {
        &self.mark
    }
}

/// Receives the events that a machine raises. All events of one turn are handed over before any message of that turn
/// leaves, and `flush` is called in between: a history entry can be on disk before another process learns of it.
pub trait EventSink<M: Machine>: Send {
    /// Handles one event of the machine.
    fn on_event(&mut self, now: Time, event: M::Event);

    /// Called after the events of a turn and before its messages are sent.
    fn flush(&mut self, _machine: &M) {}
}

impl<M: Machine, F: FnMut(Time, M::Event) + Send> EventSink<M> for F {
    fn on_event(&mut self, now: Time, event: M::Event) {
        self(now, event);
    }
}

/// The reason why a worker ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkerExit {
    /// The worker received [`Inbound::Stop`].
    Stopped,
    /// The machine panicked with this message.
    Panicked(String),
}

/// A message that leaves when the turn ends.
struct QueuedSend {
    audience: Vec<Address>,
    lane: Lane,
    can_wait: bool,
    message: Arc<Vec<u8>>,
}

/// A machine with its links and its sink.
pub(crate) struct Worker<M: Machine> {
    machine: M,
    sink: Box<dyn EventSink<M>>,
    out: Outbox<M::Msg, M::Event>,
    links: FxHashMap<Address, (LinkNumber, MachineLink<M>)>,
    next_link: u64,
    /// Send queues that got a frame in this turn.
    touched: Vec<SendQueue>,
    sends: Vec<QueuedSend>,
    encoded: Vec<u8>,
    /// Programs that wait for the next flush.
    flush_replies: Vec<oneshot::Sender<()>>,
}

impl<M: Machine> Worker<M>
where
    M::Msg: Message,
{
    pub(crate) fn new(machine: M, sink: Box<dyn EventSink<M>>) -> Self {
        Self {
            machine,
            sink,
            out: Outbox::new(),
            links: FxHashMap::default(),
            next_link: 1,
            touched: Vec::new(),
            sends: Vec::new(),
            encoded: Vec::new(),
            flush_replies: Vec::new(),
        }
    }

    /// The time at which the machine wants to be woken.
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.machine.deadline()
    }

    /// Hands an input to the machine. An error says why the worker is over.
    pub(crate) fn take(&mut self, now: Time, inbound: Inbound<M>) -> Result<(), WorkerExit> {
        caught(|| self.take_unguarded(now, inbound))
    }

    /// Wakes the machine if it is due. An error says why the worker is over.
    pub(crate) fn wake_if_due(&mut self, now: Time) -> Result<(), WorkerExit> {
        if self.machine.deadline().is_some_and(|at| at <= now) {
            return caught(|| {
                self.handle(now, Input::Wake);
                true
            });
        }
        Ok(())
    }

    fn take_unguarded(&mut self, now: Time, inbound: Inbound<M>) -> bool {
        match inbound {
            Inbound::Up(peer, link) => self.link_up(now, peer, link),
            Inbound::Down(peer, id) => self.link_down(now, peer, id),
            Inbound::Recv(from, id, msg, permit) => {
                if let Some(link) = self.link_of(from, id) {
                    self.handle(now, Input::Recv { from, link, msg });
                }
                drop(permit);
            }
            Inbound::RecvLocal(from, id, bytes) => {
                // A message that is too long fails to decode, and is dropped as it would be over a connection.
                if let (Some(link), Ok(msg)) = (self.link_of(from, id), M::Msg::decode(&bytes)) {
                    self.handle(now, Input::Recv { from, link, msg });
                }
            }
            Inbound::Command(command) => self.handle(now, Input::Command(command)),
            Inbound::Inspect(inspect) => inspect(&self.machine),
            Inbound::Flush(reply) => self.flush_replies.push(reply),
            Inbound::Stop => return false,
        }
        true
    }

    /// The link to a peer, if it still has this number. Inputs of a replaced link are late and must be ignored.
    fn link_of(&self, peer: Address, id: u64) -> Option<LinkNumber> {
        self.links.get(&peer).filter(|it| it.1.id() == id).map(|it| it.0)
    }

    fn link_up(&mut self, now: Time, peer: Address, link: MachineLink<M>) {
        if let Some((number, old)) = self.links.remove(&peer) {
            // The older connection may still believe that it is alive.
            if let MachineLink::Remote { queue, .. } = old {
                queue.close(Close::Gone);
            }
            self.handle(now, Input::LinkDown { peer, link: number });
        }
        let number = LinkNumber(self.next_link);
        self.next_link += 1;
        self.links.insert(peer, (number, link));
        self.handle(now, Input::LinkUp { peer, link: number });
    }

    fn link_down(&mut self, now: Time, peer: Address, id: u64) {
        if let Some(link) = self.link_of(peer, id) {
            self.links.remove(&peer);
            self.handle(now, Input::LinkDown { peer, link });
        }
    }

    fn handle(&mut self, now: Time, input: Input<M::Msg, M::Command>) {
        self.machine.handle(now, input, &mut self.out);
        let Self { out, sink, sends, encoded, .. } = self;
        out.drain(|output| match output {
            Output::Raise(event) => sink.on_event(now, event),
            Output::Send { to, lane, msg } => {
                msg.encode(encoded);
                // Sends wait until the end of the turn, so that `flush` comes before all of them.
                let message = Arc::new(std::mem::take(encoded));
                sends.push(QueuedSend { audience: to.to_vec(), lane, can_wait: msg.can_wait(), message });
            }
        });
    }

    /// Sends everything that the machine pushed since the last call. An error says why the worker is over.
    pub(crate) fn flush_sends(&mut self) -> Result<(), WorkerExit> {
        caught(|| {
            self.sink.flush(&self.machine);
            true
        })?;
        let Self { sends, links, touched, .. } = self;
        for QueuedSend { audience, lane, can_wait, message } in sends.drain(..) {
            // All players of a zone get the same frame: it is encoded once and shared.
            let mut shared: Option<(FrameAddressing, Bytes)> = None;
            for to in audience {
                let (queue, addressing) = match links.get(&to) {
                    Some((_, MachineLink::Remote { queue, addressing })) => (queue, *addressing),
                    Some((_, MachineLink::Local { id, from, to })) => {
                        to.send(Inbound::RecvLocal(*from, *id, message.clone()));
                        continue;
                    }
                    None => continue,
                };
                let frame = match &shared {
                    Some((known, frame)) if *known == addressing => frame.clone(),
                    _ => framed(addressing, &message),
                };
                shared = Some((addressing, frame.clone()));
                match lane {
                    Lane::Sure if can_wait => queue.sure_later(frame),
                    Lane::Sure => queue.sure(frame),
                    Lane::Latest(key) => queue.latest(ends_key(addressing), key.0, frame),
                }
                touched.push(queue.clone());
            }
        }
        // One wake per queue and turn, however many frames it got.
        touched.sort_unstable_by_key(SendQueue::id);
        touched.dedup_by_key(|it| it.id());
        touched.drain(..).for_each(|it| it.wake());
        for reply in self.flush_replies.drain(..) {
            let _ = reply.send(()); // The program may have stopped waiting.
        }
        Ok(())
    }
}

/// Runs a step of a worker. A panic in it, or `false` as its result, ends the worker.
fn caught(step: impl FnOnce() -> bool) -> Result<(), WorkerExit> {
    match catch_unwind(AssertUnwindSafe(step)) {
        Ok(true) => Ok(()),
        Ok(false) => Err(WorkerExit::Stopped),
        Err(panic) => Err(WorkerExit::Panicked(panic_message(&*panic))),
    }
}

/// Key of the two machines at the ends of a link: a `Latest` message replaces older ones of the same two only.
const fn ends_key(addressing: FrameAddressing) -> u64 {
    match addressing {
        FrameAddressing::Zone(zone) => zone as u64,
        FrameAddressing::Zones { from, to } => (from as u64) << 32 | to as u64,
    }
}

fn framed(addressing: FrameAddressing, message: &[u8]) -> Bytes {
    match addressing {
        FrameAddressing::Zone(zone) => frame::framed(zone, message),
        FrameAddressing::Zones { from, to } => {
            // The outer number is the sender's: `frame::open` twice yields sender, receiver, message.
            let mut inner = Vec::with_capacity(message.len() + 5);
            wire::put_u32(&mut inner, to);
            inner.extend_from_slice(message);
            frame::framed(from, &inner)
        }
    }
}

/// The text of a panic.
pub fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|it| (*it).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".to_owned())
}
