//! The machines of the experiment: seats in which a peer sits or not, and one rendezvous.

use machine::{Address, Input, Machine, Outbox, Time};
use overlay::{Command, Event, Member, Msg, Peer, Rendezvous};
use sim::crowd::{Sides, WalkerId};
use std::sync::Arc;

/// A seat, or the rendezvous.
pub enum Node {
    /// Where a peer is, or is not.
    Seat(Box<Seat>),
    /// Whom everybody asks first.
    Rendezvous(Rendezvous),
}

/// Where a player's peer is while they play.
pub struct Seat {
    /// Who sits there.
    pub peer: Option<Peer>,
    /// How the network is divided, if it is.
    pub sides: Option<Arc<Sides>>,
    /// Who is a server, and reached from everywhere.
    pub server: Address,
}

/// What the experiment tells a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// To a peer.
    Peer(Command),
    /// To the rendezvous.
    Member(Member),
}

impl Node {
    /// The seat.
    pub fn seat(&self) -> Option<&Seat> {
        match self {
            Self::Seat(seat) => Some(seat),
            Self::Rendezvous(_) => None,
        }
    }

    /// The seat, to sit down or stand up.
    pub fn seat_mut(&mut self) -> Option<&mut Seat> {
        match self {
            Self::Seat(seat) => Some(seat),
            Self::Rendezvous(_) => None,
        }
    }
}

impl Seat {
    /// Where nobody sits yet.
    pub const fn new(server: Address) -> Self {
        Self { peer: None, sides: None, server }
    }

    /// Whether what somebody says comes through.
    fn hears(&self, me: Address, from: Address) -> bool {
        let walker = |it: Address| WalkerId(it.0 as u32);
        let apart = |it: &Arc<Sides>| from != self.server && it.are_apart(walker(me), walker(from));
        !self.sides.as_ref().is_some_and(apart)
    }

    fn handle(&mut self, now: Time, input: Input<Msg, Order>, out: &mut Outbox<Msg, Event>) {
        let Some(me) = self.peer.as_ref().map(|it| it.info().address) else { return };
        let input = match input {
            Input::Recv { from, .. } if !self.hears(me, from) => return,
            Input::Recv { from, link, msg } => Input::Recv { from, link, msg },
            Input::Command(Order::Peer(command)) => Input::Command(command),
            Input::Wake => Input::Wake,
            Input::Command(Order::Member(_)) | Input::LinkUp { .. } | Input::LinkDown { .. } => return,
        };
        if let Some(peer) = &mut self.peer {
            peer.handle(now, input, out);
        }
    }
}

impl Machine for Node {
    type Msg = Msg;
    type Command = Order;
    type Event = Event;

    fn handle(&mut self, now: Time, input: Input<Msg, Order>, out: &mut Outbox<Msg, Event>) {
        match self {
            Self::Seat(seat) => seat.handle(now, input, out),
            Self::Rendezvous(rendezvous) => {
                let input = match input {
                    Input::Recv { from, link, msg } => Input::Recv { from, link, msg },
                    Input::Command(Order::Member(member)) => Input::Command(member),
                    _ => return,
                };
                let mut part = Outbox::new();
                rendezvous.handle(now, input, &mut part);
                out.absorb(&mut part, |msg| msg, |()| None);
            }
        }
    }

    fn deadline(&self) -> Option<Time> {
        match self {
            Self::Seat(seat) => seat.peer.as_ref().and_then(Machine::deadline),
            Self::Rendezvous(_) => None,
        }
    }
}
