//! The peer's machine: the parts of a peer, and the order in which they are asked.
//!
//! Each part owns its fields; the peer only dispatches. Parts are called in one direction: the peer asks `hearsay`, `links`,
//! `introductions` and the other parts, these ask `neighbours`, and all of them use the context.

mod hear;
mod join;
mod travel;

use crate::admission::Admission;
use crate::comparison::Comparison;
use crate::config::Config;
use crate::credential::Credentials;
use crate::ctx::{Ctx, Out, Purpose};
use crate::event::{Command, Event};
use crate::hearsay::Hearsay;
use crate::info::Info;
use crate::line::Sent;
use crate::links::Greeting;
use crate::mates::Mates;
use crate::membership::Membership;
use crate::msg::{Msg, Search, Step};
use crate::neighbours::{Entry, Neighbours};
use crate::search::{SelfLookup, nearer};
use machine::{Address, Input, Machine, Rng, Time};
use space::Position;
use std::sync::Arc;

/// A peer.
pub struct Peer {
    ctx: Ctx,
    membership: Membership,
    neighbours: Neighbours,
    hearsay: Hearsay,
    mates: Mates,
    comparison: Comparison,
    lookup: SelfLookup,
    admission: Admission,
}

impl Peer {
    /// A peer that has not joined yet. `me` says who it is; its place comes with [`Command::Join`].
    pub fn new(config: Config, me: Info, rendezvous: Address, rng: Rng) -> Self {
        Self {
            ctx: Ctx::new(config, rendezvous, rng),
            membership: Membership::Outside,
            neighbours: Neighbours::new(me),
            hearsay: Hearsay::default(),
            mates: Mates::default(),
            comparison: Comparison::new(),
            lookup: SelfLookup::default(),
            admission: Admission::new(),
        }
    }

    /// With credentials that other peers must show; without this every peer is let in.
    #[must_use]
    pub fn with_credentials(mut self, credentials: Arc<dyn Credentials>) -> Self {
        self.ctx.set_credentials(credentials);
        self
    }

    /// Whether it is in.
    pub fn is_ready(&self) -> bool {
        self.membership.is_ready()
    }

    /// What it says about itself.
    pub const fn info(&self) -> &Info {
        self.neighbours.local().info()
    }

    /// When it moved last.
    pub const fn stepped(&self) -> Time {
        self.neighbours.local().stepped()
    }

    /// Its neighbours.
    pub fn list(&self) -> impl Iterator<Item = (Address, &Entry)> {
        self.neighbours.iter()
    }

    /// One of its neighbours.
    pub fn entry(&self, address: Address) -> Option<&Entry> {
        self.neighbours.get(address)
    }

    /// What it has sent.
    pub const fn sent(&self) -> &Sent {
        self.ctx.sent()
    }

    /// How many messages it did not listen to: of strangers without a credential, or too many.
    pub const fn refused(&self) -> u64 {
        self.admission.refused()
    }

    /// Whether there are so many around that it tells some of them less often.
    pub fn is_in_crowd(&self) -> bool {
        self.neighbours.is_crowd(&self.ctx)
    }

    /// The neighbour to which it hands a search for a place on; `None` if none is nearer than itself.
    pub fn next_towards(&self, place: Position) -> Option<Address> {
        nearer(&self.neighbours, place, None, &self.ctx)
    }

    fn on_command(&mut self, command: Command) {
        match command {
            Command::Join(position) => self.on_join(position),
            Command::Move(position) => self.on_step(position),
            Command::Leave => self.on_departure(),
        }
    }

    fn on_recv(&mut self, from: Address, msg: Msg) {
        let hears = !self.membership.has_left()
            && self.admission.listens_to(from, &msg, self.neighbours.patience(from), &self.ctx);
        if hears {
            self.on_msg(from, msg);
        }
    }

    fn on_msg(&mut self, from: Address, msg: Msg) {
        match msg {
            Msg::Seek { who, purpose, hops, credential } => self.on_seek(who, purpose, hops, credential),
            Msg::Welcome { from: host, list, again } => self.on_welcome(from, host, list, again),
            Msg::Move { sequence, position, before, flags, aoi, met } => {
                self.on_move(from, &Step { sequence, position, before, flags, aoi, met });
            }
            Msg::Nodes(list) => self.on_nodes(from, list),
            Msg::Hello { who, want, answer, knows, nodes, credential } if who.address == from => {
                let proven = self.neighbours.get(from).filter(|it| it.is_proven()).map(Entry::info);
                let admitted = self.admission.admit_again(who, &credential, proven, &self.ctx);
                if let Some(who) = admitted {
                    self.on_hello(who, Greeting { want, answer, nodes }, knows);
                }
            }
            Msg::Hello { .. } => (), // No peer greets for another.
            Msg::Sum { knows, enclosing } => self.on_sum(from, knows, enclosing),
            Msg::Stranger => self.on_stranger(from),
            Msg::Leave(list) => self.on_leave(from, list),
            Msg::Ping => self.on_ping(from),
            Msg::Pong { who } => self.on_pong(from, who),
        }
    }

    fn on_wake(&mut self) {
        while let Some(purpose) = self.ctx.take_due() {
            match purpose {
                Purpose::Join => self.membership.seek(self.neighbours.local().info(), &mut self.ctx),
                Purpose::Settle => self.on_settled(),
                Purpose::Compare => {
                    let haste = self.hearsay.arrivals.take_haste();
                    self.comparison.compare(haste, &self.neighbours, &mut self.ctx);
                }
                Purpose::Lookup => self.look_up(Search::Check),
            }
        }
    }

    /// Searches for its own place.
    fn look_up(&mut self, purpose: Search) {
        self.lookup.look_up(purpose, self.neighbours.local().info(), &mut self.ctx);
    }
}

impl Machine for Peer {
    type Msg = Msg;
    type Command = Command;
    type Event = Event;

    fn handle(&mut self, now: Time, input: Input<Msg, Command>, out: &mut Out) {
        self.ctx.begin(now, out);
        match input {
            Input::Command(command) => self.on_command(command),
            Input::Recv { from, msg, .. } => self.on_recv(from, msg),
            Input::Wake => self.on_wake(),
            // Links come and go with what is sent over them; which peers are there shows in what is heard.
            Input::LinkUp { .. } | Input::LinkDown { .. } => (),
        }
        self.ctx.end(out);
    }

    fn deadline(&self) -> Option<Time> {
        self.ctx.deadline()
    }
}
