//! The machines of the experiment: seats in which a peer sits or not, and one rendezvous.

use super::delays::Delays;
use machine::{Address, Effect, Input, Machine, Outbox, Time};
use overlay::{Command, Credentials, Event, HEADERS, Info, Member, Msg, Peer, Rendezvous};
use sim::crowd::{Sides, WalkerId};
use std::sync::Arc;
use wire::Message as _;

/// Credentials as long as a signature. Who may play is not what is measured here, but what it weighs to show it.
pub struct Signature;

impl Credentials for Signature {
    fn show(&self, me: &Info) -> Vec<u8> {
        vec![me.address.0 as u8; 64]
    }

    fn admits(&self, who: &Info, credential: &[u8]) -> bool {
        credential == self.show(who)
    }
}

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
    peer: Option<Peer>,
    /// What has left the seat since they sit there.
    left: Left,
    part: Outbox<Msg, Event>,
    scratch: Vec<u8>,
    /// How the network is divided, if it is.
    pub sides: Option<Arc<Sides>>,
    /// Who is a server, and reached from everywhere.
    pub server: Address,
    /// How many bytes were heard here so far, by the paper's sizes.
    pub received: u64,
    /// When steps are made and heard.
    pub delays: Delays,
}

/// Bytes that left a seat, whatever the peer says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// By the paper's sizes.
    pub paper: u64,
    /// As they are.
    pub wire: u64,
    /// As they are, with headers.
    pub line: u64,
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
    pub const fn new(server: Address, delays: Delays) -> Self {
        Self {
            peer: None,
            left: Left { paper: 0, wire: 0, line: 0 },
            part: Outbox::new(),
            scratch: Vec::new(),
            sides: None,
            server,
            received: 0,
            delays,
        }
    }

    /// Who sits there.
    pub const fn peer(&self) -> Option<&Peer> {
        self.peer.as_ref()
    }

    /// What has left the seat since they sit there.
    pub const fn left(&self) -> Left {
        self.left
    }

    /// Somebody sits down.
    pub fn sit(&mut self, peer: Peer) {
        (self.peer, self.left) = (Some(peer), Left::default());
    }

    /// Whoever sits there stands up.
    pub const fn stand(&mut self) -> Option<Peer> {
        self.peer.take()
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
            Input::Recv { from, link, msg } => {
                self.received += msg.paper_bytes() as u64;
                Input::Recv { from, link, msg }
            }
            Input::Command(Order::Peer(command)) => Input::Command(command),
            Input::Wake => Input::Wake,
            Input::Command(Order::Member(_)) | Input::LinkUp { .. } | Input::LinkDown { .. } => return,
        };
        let step = step_in(&input);
        let Some(peer) = &mut self.peer else { return };
        peer.handle(now, input, &mut self.part);
        match step {
            Some(Step::Own) if Delays::counts(peer.info().sequence) => {
                self.delays.stepped(now, me, peer.info().sequence);
            }
            Some(Step::Of(from, sequence)) if peer.entry(from).is_some() => {
                self.delays.heard(now, from, sequence);
            }
            _ => (),
        }
        self.let_out(out);
    }

    /// Lets everything out that the peer sends, and weighs it.
    fn let_out(&mut self, out: &mut Outbox<Msg, Event>) {
        let (left, scratch) = (&mut self.left, &mut self.scratch);
        self.part.drain(|effect| match effect {
            Effect::Send { to, lane, msg } => {
                scratch.clear();
                msg.encode(scratch);
                left.paper += (to.len() * msg.paper_bytes()) as u64;
                left.wire += (to.len() * scratch.len()) as u64;
                left.line += (to.len() * (scratch.len() + HEADERS as usize)) as u64;
                out.send_many(to.iter().copied(), lane, msg);
            }
            Effect::Raise(event) => out.raise(event),
        });
    }
}

/// A step of which something is to be noted.
enum Step {
    Own,
    Of(Address, u32),
}

fn step_in(input: &Input<Msg, Command>) -> Option<Step> {
    match input {
        Input::Command(Command::Move(_)) => Some(Step::Own),
        Input::Recv { from, msg: Msg::Move { sequence, .. }, .. } if Delays::counts(*sequence) => {
            Some(Step::Of(*from, *sequence))
        }
        _ => None,
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
