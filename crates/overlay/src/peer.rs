//! The peer's machine: what it holds, and who deals with what it hears.

use crate::broken;
use crate::config::Config;
use crate::credential::{Credentials, Open};
use crate::info::Info;
use crate::list::List;
use crate::msg::{Msg, Search};
use crate::rule::Rule;
use crate::uplink::{Bucket, HEADERS, Uplink, Weight};
use machine::{Address, Input, Lane, LatestKey, Machine, Outbox, Rng, Time, TimerName, Timers};
use space::{Distance, Position};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use wire::Message as _;

pub(crate) type Out = Outbox<Msg, Event>;

/// What its owner wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// Join, at this place.
    Join(Position),
    /// Be there now. Nobody moves before they are in.
    Move(Position),
    /// Leave, and say so.
    Leave,
}

/// What its owner is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// The peer is in.
    Ready,
    /// Somebody new is heard.
    Heard(Address),
    /// Somebody is not heard any more.
    Lost(Address),
}

/// What a peer has sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Messages by kind.
    pub messages: [u64; Msg::KINDS.len()],
    /// Their bytes by the paper's sizes.
    pub paper: [u64; Msg::KINDS.len()],
    /// Their bytes as they are.
    pub wire: [u64; Msg::KINDS.len()],
    /// How many were held back, because too much had been sent.
    pub held: u64,
}

impl Sent {
    /// All bytes on the line: as they are, and their headers.
    pub fn line(&self) -> u64 {
        self.wire.iter().sum::<u64>() + u64::from(HEADERS) * self.messages.iter().sum::<u64>()
    }
}

/// So many messages of all strangers together are heard per second, and so many at once: as when a crowd comes.
const STRANGERS: u64 = 200;

/// So many searches are heard per second, and so many at once: as when everybody looks for themselves after a cut.
const SEARCHES: u64 = 100;

/// What a peer wakes for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Join,
    Settle,
    Compare,
    Lookup,
}

impl TimerName for Purpose {
    const ALL: &'static [Self] = &[Self::Join, Self::Settle, Self::Compare, Self::Lookup];

    fn slot(self) -> usize {
        self as usize
    }
}

/// What is known of somebody who is gone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tomb {
    /// In which life, and with which move they were heard last.
    pub last: (u32, u32),
    /// Until when hearsay of them is not believed, if it is not later.
    pub until: Time,
}

/// A peer.
pub struct Peer {
    pub(crate) config: Config,
    pub(crate) me: Info,
    pub(crate) rendezvous: Address,
    pub(crate) list: List,
    pub(crate) ready: bool,
    /// Whether it has left, and is deaf until it joins again.
    pub(crate) left: bool,
    pub(crate) now: Time,
    pub(crate) rng: Rng,
    pub(crate) timers: Timers<Purpose>,
    /// Who is gone.
    pub(crate) tombs: BTreeMap<Address, Tomb>,
    /// Those of the same group who were ever known.
    pub(crate) mates: BTreeSet<Address>,
    /// Who was introduced lately and did not matter, and when.
    pub(crate) stock: BTreeMap<Address, (Info, Time)>,
    /// Those met since the last move.
    pub(crate) met: Vec<Address>,
    /// How many came since lists were compared, and how often they are compared sooner.
    pub(crate) arrivals: u32,
    pub(crate) restless: u32,
    /// The neighbour with whom the list was compared last.
    pub(crate) compared: Address,
    /// How many searches for oneself in a row found everything as it should be, and whether one is under way.
    pub(crate) quiet: u32,
    pub(crate) looking: bool,
    /// How far it would see if there were no crowd, how far it sees in thousandths of a millimetre, and since when so far.
    pub(crate) aoi_most: Distance,
    pub(crate) aoi_fine: u64,
    pub(crate) aoi_since: Option<Time>,
    /// When it moved last, and how far, if that was a long step.
    pub(crate) stepped: Time,
    pub(crate) stride: Distance,
    pub(crate) credentials: Arc<dyn Credentials>,
    pub(crate) refused: u64,
    strangers: Bucket,
    searches: Bucket,
    uplink: Option<Uplink>,
    sent: Sent,
    keys: u64,
    scratch: Vec<u8>,
}

impl Peer {
    /// A peer that has not joined yet. `me` says who it is; its place comes with [`Command::Join`].
    pub fn new(config: Config, me: Info, rendezvous: Address, rng: Rng) -> Self {
        Self {
            config,
            me,
            rendezvous,
            list: List::new(config.broken),
            ready: false,
            left: false,
            now: Time::ZERO,
            rng,
            timers: Timers::new(),
            tombs: BTreeMap::new(),
            mates: BTreeSet::new(),
            stock: BTreeMap::new(),
            met: Vec::new(),
            arrivals: 0,
            restless: 0,
            compared: Address(0),
            quiet: 0,
            looking: false,
            aoi_most: me.aoi,
            aoi_fine: u64::from(me.aoi.millimetres()) * 1_000,
            aoi_since: None,
            stepped: Time::ZERO,
            stride: Distance::ZERO,
            credentials: Arc::new(Open),
            refused: 0,
            strangers: Bucket::new(STRANGERS, STRANGERS),
            searches: Bucket::new(SEARCHES, SEARCHES),
            uplink: config.uplink.map(Uplink::within),
            sent: Sent::default(),
            keys: 0,
            scratch: Vec::new(),
        }
    }

    /// Who lets others in; without this everybody is let in.
    #[must_use]
    pub fn with_credentials(self, credentials: Arc<dyn Credentials>) -> Self {
        Self { credentials, ..self }
    }

    /// Whether it is in.
    pub const fn is_ready(&self) -> bool {
        self.ready
    }

    /// What it says about itself.
    pub const fn info(&self) -> &Info {
        &self.me
    }

    /// When it moved last.
    pub const fn stepped(&self) -> Time {
        self.stepped
    }

    /// Whom it knows.
    pub fn list(&self) -> impl Iterator<Item = (Address, &crate::Entry)> {
        self.list.iter()
    }

    /// Somebody it knows.
    pub fn entry(&self, address: Address) -> Option<&crate::Entry> {
        self.list.get(address)
    }

    /// What it has sent.
    pub const fn sent(&self) -> &Sent {
        &self.sent
    }

    /// How many messages it did not listen to: of strangers without a credential, or too many.
    pub const fn refused(&self) -> u64 {
        self.refused
    }

    /// Sends a message that may be lost.
    pub(crate) fn drop_to(&mut self, to: impl IntoIterator<Item = Address>, msg: Msg, out: &mut Out) {
        self.say(to, msg, out);
    }

    /// The same. Whoever cannot be told now is not told: those are who were.
    pub(crate) fn say(
        &mut self,
        to: impl IntoIterator<Item = Address>,
        msg: Msg,
        out: &mut Out,
    ) -> Vec<Address> {
        let weight = weight(&msg);
        self.drop_with(weight, to, msg, out)
    }

    /// The same of a message that says how much it matters.
    pub(crate) fn drop_with(
        &mut self,
        weight: Weight,
        to: impl IntoIterator<Item = Address>,
        msg: Msg,
        out: &mut Out,
    ) -> Vec<Address> {
        self.keys += 1;
        self.send(weight, to, Lane::Latest(LatestKey(self.keys)), msg, out)
    }

    /// Sends a message that must arrive, if there is a way to be sure; whether it was sent.
    pub(crate) fn hand_to(&mut self, to: Address, msg: Msg, out: &mut Out) -> bool {
        let told = if self.config.handshake {
            self.send(weight(&msg), [to], Lane::Sure, msg, out)
        } else {
            self.say([to], msg, out) // The paper's peers have datagrams only.
        };
        !told.is_empty()
    }

    fn send(
        &mut self,
        weight: Weight,
        to: impl IntoIterator<Item = Address>,
        lane: Lane,
        msg: Msg,
        out: &mut Out,
    ) -> Vec<Address> {
        self.scratch.clear();
        msg.encode(&mut self.scratch);
        let bytes = self.scratch.len() as u64;
        let mut to: Vec<Address> = to.into_iter().collect();
        if let Some(uplink) = &mut self.uplink {
            let asked = to.len();
            to.retain(|_| uplink.take(self.now, bytes + u64::from(HEADERS), weight));
            self.sent.held += (asked - to.len()) as u64;
        }
        let counts_all = self.config.enforces(Rule::CountGreetings);
        let count = if counts_all { to.len() } else { broken::counted(&msg, to.len()) } as u64;
        let kind = msg.kind();
        self.sent.messages[kind] += count;
        self.sent.paper[kind] += count * msg.paper_bytes() as u64;
        self.sent.wire[kind] += count * bytes;
        if !to.is_empty() {
            out.send_many(to.iter().copied(), lane, msg);
        }
        to
    }

    /// Whether somebody may speak: nobody may too often. The paper's peers listen to everything.
    fn listens_to(&mut self, from: Address, msg: &Msg) -> bool {
        let now = self.now;
        let bucket = match self.list.get_mut(from) {
            _ if !self.config.handshake => return true,
            // Whoever hands searches on is not to blame for them.
            _ if matches!(msg, Msg::Seek { .. }) => &mut self.searches,
            _ if from == self.rendezvous => return true,
            Some(it) => &mut it.patience,
            None => &mut self.strangers,
        };
        let may = bucket.take(now);
        self.refused += u64::from(!may);
        may
    }

    /// Forgets somebody.
    pub(crate) fn forget(&mut self, address: Address, out: &mut Out) {
        if self.list.remove(address).is_some() {
            self.list.iter_mut().for_each(|(_, it)| it.knows.forget(address));
            out.raise(Event::Lost(address));
        }
    }

    fn on_command(&mut self, command: Command, out: &mut Out) {
        match command {
            Command::Join(position) => self.join(position, out),
            Command::Move(position) => self.travel(position, out),
            Command::Leave => self.leave(out),
        }
    }

    fn on_msg(&mut self, from: Address, msg: Msg, out: &mut Out) {
        match msg {
            Msg::Seek { who, purpose, hops, credential } => {
                self.on_seek(who, purpose, hops, credential, out);
            }
            Msg::Welcome { from: host, list, again } => {
                // Everybody speaks for themselves; only the rendezvous tells the first that it is the first.
                if !self.config.handshake || host.address == from || from == self.rendezvous {
                    self.on_welcome(host, list, again, out);
                }
            }
            Msg::Move { sequence, position, before, flags, aoi, met } => {
                self.on_move(from, (sequence, position, aoi), before, (flags, &met), out);
            }
            Msg::Nodes(list) => {
                if self.trusts(from) {
                    self.on_nodes(list, out);
                }
            }
            Msg::Hello { who, want, answer, knows, nodes, credential } if who.address == from => {
                if self.proves(&who, &credential) {
                    self.on_hello(who, (want, answer), knows, nodes, out);
                }
            }
            Msg::Hello { .. } => (),
            Msg::Sum { knows, enclosing } => {
                if self.trusts(from) {
                    self.on_sum(from, knows, enclosing, out);
                }
            }
            Msg::Stranger => self.on_stranger(from, out),
            Msg::Leave(list) => self.on_leave(from, list, out),
            Msg::Ping => {
                if self.trusts(from) && self.list.get(from).is_some() {
                    self.drop_to([from], Msg::Pong { who: self.me }, out);
                }
            }
            Msg::Pong { who } => {
                if self.trusts(from) {
                    self.on_pong(from, who);
                }
            }
        }
    }
}

/// How much a message matters when there is little left to send. Moves say so themselves.
const fn weight(msg: &Msg) -> Weight {
    match msg {
        Msg::Pong { .. } | Msg::Leave(_) | Msg::Move { .. } => Weight::First,
        Msg::Seek { .. } | Msg::Welcome { .. } | Msg::Hello { .. } | Msg::Stranger | Msg::Ping => {
            Weight::Second
        }
        Msg::Nodes(_) | Msg::Sum { .. } => Weight::Third,
    }
}

impl Machine for Peer {
    type Msg = Msg;
    type Command = Command;
    type Event = Event;

    fn handle(&mut self, now: Time, input: Input<Msg, Command>, out: &mut Out) {
        self.now = now;
        match input {
            Input::Command(command) => self.on_command(command, out),
            Input::Recv { from, msg, .. } => {
                if !self.left && self.listens_to(from, &msg) {
                    self.on_msg(from, msg, out);
                }
            }
            Input::Wake => {
                while let Some(purpose) = self.timers.take_due(now) {
                    match purpose {
                        Purpose::Join => self.seek(out),
                        Purpose::Settle => self.settle(out),
                        Purpose::Compare => self.compare(out),
                        Purpose::Lookup => self.look_up(Search::Check, out),
                    }
                }
            }
            // Links come and go with what is sent over them; who is there shows in what is heard.
            Input::LinkUp { .. } | Input::LinkDown { .. } => (),
        }
    }

    fn deadline(&self) -> Option<Time> {
        self.timers.deadline()
    }
}
