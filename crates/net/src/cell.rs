//! Runs one machine: feeds it inputs and wakes, and carries out what it pushes into its outbox.
//!
//! A cell knows no protocol. Zones live in cells on threads of their own ([`spawn_thread`]), so that nobody else's
//! work delays their beacons and their panics end nobody else; players live in cells on tasks ([`spawn_task`]).

use crate::clock;
use crate::close::Close;
use crate::frame;
use crate::mailbox::Mailbox;
use bytes::Bytes;
use machine::{Address, Effect, Input, Lane, LinkNumber, Machine, Outbox};
use rustc_hash::FxHashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use wire::Message;

/// How many inputs are taken before what they caused is sent: packs answers, and keeps wakes on time.
const INPUTS_PER_TURN: usize = 128;

/// How a link's frames name the machines at its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// Between a player and a host: the zone at the host's end.
    Zone(u32),
    /// Between hosts: the zones at both ends.
    Zones {
        /// The sender's.
        from: u32,
        /// The receiver's.
        to: u32,
    },
}

/// A way to another machine.
pub enum Link<M: Machine> {
    /// Over a connection.
    Far {
        /// Where its frames wait.
        mailbox: Mailbox,
        /// How its frames name machines.
        naming: Naming,
    },
    /// To a machine of the same process: no socket, no frames, nothing waits.
    Near {
        /// Tells it from earlier ways between the same two; both ends know it by the same number.
        id: u64,
        /// Who speaks.
        from: Address,
        /// Who hears.
        to: Handle<M>,
    },
}

impl<M: Machine> Link<M> {
    /// Tells links apart.
    pub fn id(&self) -> u64 {
        match self {
            Self::Far { mailbox, .. } => mailbox.id(),
            Self::Near { id, .. } => *id,
        }
    }
}

/// Something for a machine.
pub enum Inbound<M: Machine> {
    /// A link is there.
    Up(Address, Link<M>),
    /// The link of this number is gone.
    Down(Address, u64),
    /// A message arrived over the link of this number. The permit is given back when it has been dealt with.
    Recv(Address, u64, M::Msg, Option<OwnedSemaphorePermit>),
    /// The bytes of a message arrived over a near link. Whoever hears them decodes them, not whoever speaks.
    Near(Address, u64, Arc<Vec<u8>>),
    /// The owner wants something.
    Command(M::Command),
    /// The owner wants to look.
    Look(Box<dyn FnOnce(&M) + Send>),
    /// That is all.
    Stop,
}

/// Speaks to a cell. Cheap to clone.
pub struct Handle<M: Machine>(mpsc::UnboundedSender<Inbound<M>>);

impl<M: Machine> Clone for Handle<M> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<M: Machine> Handle<M> {
    /// A handle, and where what is said through it arrives. A cell's owner needs the handle before the cell exists:
    /// disks and directories answer through it.
    pub fn new() -> (Self, Inbox<M>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(sender), Inbox(receiver))
    }

    /// Says something. A cell that has ended hears nothing; whether it heard.
    pub fn say(&self, inbound: Inbound<M>) -> bool {
        self.0.send(inbound).is_ok()
    }

    /// Tells the machine what its owner wants.
    pub fn command(&self, command: M::Command) -> bool {
        self.say(Inbound::Command(command))
    }

    /// Looks at the machine; `None` if the cell has ended.
    pub async fn look<R: Send + 'static>(&self, look: impl FnOnce(&M) -> R + Send + 'static) -> Option<R> {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        self.say(Inbound::Look(Box::new(move |it| drop(sender.send(look(it))))));
        receiver.await.ok()
    }
}

/// Where a cell's inputs wait. What strangers may put there is bounded by permits (see `session`).
pub struct Inbox<M: Machine>(mpsc::UnboundedReceiver<Inbound<M>>);

/// Hears what a machine raises. Everything raised in one turn is heard before anything sent in it leaves, and
/// `flush` is called in between: what must be written down before the world hears of it can be.
pub trait Owner<M: Machine>: Send {
    /// The machine says this.
    fn hear(&mut self, now: machine::Time, event: M::Event);

    /// What was heard so far is about to have consequences.
    fn flush(&mut self, _machine: &M) {}
}

impl<M: Machine, F: FnMut(machine::Time, M::Event) + Send> Owner<M> for F {
    fn hear(&mut self, now: machine::Time, event: M::Event) {
        self(now, event);
    }
}

/// How a cell ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// It was told to.
    Stopped,
    /// Its machine panicked; this is what it said.
    Panicked(String),
}

struct Cell<M: Machine, O> {
    machine: M,
    owner: O,
    out: Outbox<M::Msg, M::Event>,
    links: FxHashMap<Address, (LinkNumber, Link<M>)>,
    next_link: u64,
    /// Mailboxes that got something this turn.
    touched: Vec<Mailbox>,
    sends: Vec<(Vec<Address>, Lane, Arc<Vec<u8>>)>,
    encoded: Vec<u8>,
}

impl<M: Machine, O: Owner<M>> Cell<M, O>
where
    M::Msg: Message,
{
    fn new(machine: M, owner: O) -> Self {
        Self {
            machine,
            owner,
            out: Outbox::new(),
            links: FxHashMap::default(),
            next_link: 1,
            touched: Vec::new(),
            sends: Vec::new(),
            encoded: Vec::new(),
        }
    }

    /// Whether the cell goes on.
    fn take(&mut self, inbound: Inbound<M>) -> bool {
        match inbound {
            Inbound::Up(peer, link) => self.link_up(peer, link),
            Inbound::Down(peer, id) => self.link_down(peer, id),
            Inbound::Recv(from, id, msg, permit) => {
                if let Some(link) = self.link_of(from, id) {
                    self.handle(Input::Recv { from, link, msg });
                }
                drop(permit);
            }
            Inbound::Near(from, id, bytes) => {
                // What is too long is dropped here as it would be over a connection.
                if let (Some(link), Ok(msg)) = (self.link_of(from, id), M::Msg::decode(&bytes)) {
                    self.handle(Input::Recv { from, link, msg });
                }
            }
            Inbound::Command(command) => self.handle(Input::Command(command)),
            Inbound::Look(look) => look(&self.machine),
            Inbound::Stop => return false,
        }
        true
    }

    /// The link to a peer, if it is still the one of this number.
    fn link_of(&self, peer: Address, id: u64) -> Option<LinkNumber> {
        self.links.get(&peer).filter(|it| it.1.id() == id).map(|it| it.0)
    }

    fn link_up(&mut self, peer: Address, link: Link<M>) {
        if let Some((number, old)) = self.links.remove(&peer) {
            if let Link::Far { mailbox, .. } = old {
                mailbox.close(Close::Gone);
            }
            self.handle(Input::LinkDown { peer, link: number });
        }
        let number = LinkNumber(self.next_link);
        self.next_link += 1;
        self.links.insert(peer, (number, link));
        self.handle(Input::LinkUp { peer, link: number });
    }

    fn link_down(&mut self, peer: Address, id: u64) {
        if let Some(link) = self.link_of(peer, id) {
            self.links.remove(&peer);
            self.handle(Input::LinkDown { peer, link });
        }
    }

    fn wake_if_due(&mut self) {
        if self.machine.deadline().is_some_and(|at| at <= clock::now()) {
            self.handle(Input::Wake);
        }
    }

    fn handle(&mut self, input: Input<M::Msg, M::Command>) {
        let now = clock::now();
        self.machine.handle(now, input, &mut self.out);
        let Self { out, owner, sends, encoded, .. } = self;
        out.drain(|effect| match effect {
            Effect::Raise(event) => owner.hear(now, event),
            Effect::Send { to, lane, msg } => {
                msg.encode(encoded);
                sends.push((to.to_vec(), lane, Arc::new(std::mem::take(encoded))));
            }
        });
    }

    /// Lets everything leave that was said since the last time.
    fn let_go(&mut self) {
        self.owner.flush(&self.machine);
        let Self { sends, links, touched, .. } = self;
        for (audience, lane, message) in sends.drain(..) {
            let mut shared: Option<(Naming, Bytes)> = None;
            for to in audience {
                let (mailbox, naming) = match links.get(&to) {
                    Some((_, Link::Far { mailbox, naming })) => (mailbox, *naming),
                    Some((_, Link::Near { id, from, to })) => {
                        to.say(Inbound::Near(*from, *id, message.clone()));
                        continue;
                    }
                    None => continue,
                };
                let frame = match &shared {
                    Some((known, frame)) if *known == naming => frame.clone(),
                    _ => framed(naming, &message),
                };
                shared = Some((naming, frame.clone()));
                match lane {
                    Lane::Sure => mailbox.sure(frame),
                    Lane::Latest(key) => mailbox.latest(ends_of(naming), key.0, frame),
                }
                touched.push(mailbox.clone());
            }
        }
        touched.sort_unstable_by_key(Mailbox::id);
        touched.dedup_by_key(|it| it.id());
        touched.drain(..).for_each(|it| it.ring());
    }
}

/// Tells the machines that share a connection apart: nobody's newest word replaces what is for somebody else.
const fn ends_of(naming: Naming) -> u64 {
    match naming {
        Naming::Zone(zone) => zone as u64,
        Naming::Zones { from, to } => (from as u64) << 32 | to as u64,
    }
}

fn framed(naming: Naming, message: &[u8]) -> Bytes {
    match naming {
        Naming::Zone(zone) => frame::framed(zone, message),
        Naming::Zones { from, to } => {
            let mut inner = Vec::with_capacity(message.len() + 5);
            wire::put_u32(&mut inner, to);
            inner.extend_from_slice(message);
            frame::framed(from, &inner)
        }
    }
}

async fn run<M: Machine, O: Owner<M>>(machine: M, owner: O, mut inbox: Inbox<M>)
where
    M::Msg: Message,
{
    let mut cell = Cell::new(machine, owner);
    loop {
        cell.wake_if_due();
        cell.let_go();
        let first = match cell.machine.deadline() {
            None => inbox.0.recv().await,
            Some(deadline) => {
                tokio::select! {
                    biased;
                    it = inbox.0.recv() => it,
                    () = tokio::time::sleep(clock::until(clock::now(), deadline)) => continue,
                }
            }
        };
        let Some(first) = first else { return };
        let mut goes_on = cell.take(first);
        for _ in 1..INPUTS_PER_TURN {
            let Ok(next) = inbox.0.try_recv() else { break };
            goes_on = goes_on && cell.take(next);
        }
        if !goes_on {
            cell.let_go();
            return;
        }
    }
}

/// Runs a machine on a thread of its own; `ended` is called there when it is over.
pub fn spawn_thread<M: Machine + Send + 'static, O: Owner<M> + 'static>(
    name: &str,
    machine: M,
    owner: O,
    inbox: Inbox<M>,
    ended: impl FnOnce(End) + Send + 'static,
) -> std::io::Result<()>
where
    M::Msg: Message + Send,
    M::Command: Send,
    M::Event: Send,
{
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    std::thread::Builder::new().name(name.to_owned()).spawn(move || {
        crate::priority::raise();
        let outcome =
            std::panic::catch_unwind(AssertUnwindSafe(|| runtime.block_on(run(machine, owner, inbox))));
        ended(outcome.map_or_else(|panic| End::Panicked(said(&*panic)), |()| End::Stopped));
    })?;
    Ok(())
}

/// Runs a machine on a task.
pub fn spawn_task<M: Machine + Send + 'static, O: Owner<M> + 'static>(
    machine: M,
    owner: O,
    inbox: Inbox<M>,
) -> tokio::task::JoinHandle<()>
where
    M::Msg: Message + Send,
    M::Command: Send,
    M::Event: Send,
{
    tokio::spawn(run(machine, owner, inbox))
}

fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|it| (*it).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".to_owned())
}
