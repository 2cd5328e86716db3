//! The machines of the experiment: a slot for every peer, empty while the player is away, and one rendezvous.

use super::delays::Delays;
use machine::{Address, Input, Machine, Outbox, Output, Time};
use overlay::{
    HEADERS, Info, OverlayMsg, Peer, PeerCommand, PeerCredentials, PeerEvent, Rendezvous, RendezvousCommand,
};
use sim::crowd::{CutSides, WalkerId};
use std::sync::Arc;
use wire::Message as _;

/// Credentials of the length of a signature. The experiment measures what they cost, not whom they admit.
pub struct SignatureCredentials;

impl PeerCredentials for SignatureCredentials {
    fn show(&self, me: &Info) -> Vec<u8> {
        vec![me.address.0 as u8; 64]
    }

    fn admits(&self, who: &Info, credential: &[u8]) -> bool {
        credential == self.show(who)
    }
}

/// A machine of the experiment: a slot for a peer, or the rendezvous.
pub enum VastNode {
    /// A slot, with or without a peer.
    PeerSlot(Box<PeerSlot>),
    /// The rendezvous, where searches begin.
    Rendezvous(Rendezvous),
}

/// The slot of one player: holds the peer while the player is in the world.
pub struct PeerSlot {
    peer: Option<Peer>,
    /// Bytes that have left the slot since the peer was put into it.
    left: OutgoingBytes,
    part: Outbox<OverlayMsg, PeerEvent>,
    scratch: Vec<u8>,
    /// The two sides of a divided network.
    pub sides: Option<Arc<CutSides>>,
    /// Address of the rendezvous, which both sides reach.
    pub server: Address,
    /// Bytes received here so far, by the paper's sizes.
    pub received: u64,
    /// Records of steps and their arrivals.
    pub delays: Delays,
}

/// Bytes that left a slot, counted apart from the peer's own account, which a checker compares with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutgoingBytes {
    /// Bytes by the paper's sizes.
    pub paper: u64,
    /// Bytes in our encoding, without headers.
    pub wire: u64,
    /// Bytes in our encoding, headers included.
    pub line: u64,
}

/// A command of the experiment to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VastCommand {
    /// A command to the peer in a slot.
    Peer(PeerCommand),
    /// A command to the rendezvous itself.
    Rendezvous(RendezvousCommand),
}

impl VastNode {
    /// The slot, unless this is the rendezvous.
    pub fn slot(&self) -> Option<&PeerSlot> {
        match self {
            Self::PeerSlot(slot) => Some(slot),
            Self::Rendezvous(_) => None,
        }
    }

    /// The slot, to put a peer in or to take it out.
    pub fn slot_mut(&mut self) -> Option<&mut PeerSlot> {
        match self {
            Self::PeerSlot(slot) => Some(slot),
            Self::Rendezvous(_) => None,
        }
    }
}

impl PeerSlot {
    /// A slot without a peer.
    pub const fn new(server: Address, delays: Delays) -> Self {
        Self {
            peer: None,
            left: OutgoingBytes { paper: 0, wire: 0, line: 0 },
            part: Outbox::new(),
            scratch: Vec::new(),
            sides: None,
            server,
            received: 0,
            delays,
        }
    }

    /// The peer in the slot, if there is one.
    pub const fn peer(&self) -> Option<&Peer> {
        self.peer.as_ref()
    }

    /// Bytes that have left the slot since the peer was put into it.
    pub const fn left(&self) -> OutgoingBytes {
        self.left
    }

    /// Puts a new peer into the slot.
    pub fn place_peer(&mut self, peer: Peer) {
        (self.peer, self.left) = (Some(peer), OutgoingBytes::default());
    }

    /// Takes the peer out of the slot.
    pub const fn remove_peer(&mut self) -> Option<Peer> {
        self.peer.take()
    }

    /// Returns whether a message from that address gets through: not from the other side of a cut.
    fn hears(&self, me: Address, from: Address) -> bool {
        let walker = |it: Address| WalkerId(it.0 as u32);
        let apart = |it: &Arc<CutSides>| from != self.server && it.are_apart(walker(me), walker(from));
        !self.sides.as_ref().is_some_and(apart)
    }

    fn handle(
        &mut self,
        now: Time,
        input: Input<OverlayMsg, VastCommand>,
        out: &mut Outbox<OverlayMsg, PeerEvent>,
    ) {
        // A message for a peer that has left is lost.
        let Some(me) = self.peer.as_ref().map(|it| it.info().address) else { return };
        let input = match input {
            Input::Recv { from, .. } if !self.hears(me, from) => return,
            Input::Recv { from, link, msg } => {
                self.received += msg.paper_bytes() as u64;
                Input::Recv { from, link, msg }
            }
            Input::Command(VastCommand::Peer(command)) => Input::Command(command),
            Input::Wake => Input::Wake,
            Input::Command(VastCommand::Rendezvous(_)) | Input::LinkUp { .. } | Input::LinkDown { .. } => {
                return;
            }
        };
        // Why before the peer handles it: the input is consumed there.
        let step = step_in(&input);
        let Some(peer) = &mut self.peer else { return };
        peer.handle(now, input, &mut self.part);
        match step {
            Some(ObservedStep::Own) if Delays::counts(peer.info().sequence) => {
                self.delays.stepped(now, me, peer.info().sequence);
            }
            Some(ObservedStep::Of(from, sequence)) if peer.neighbour(from).is_some() => {
                self.delays.heard(now, from, sequence);
            }
            _ => (),
        }
        self.forward_sent(out);
    }

    /// Forwards everything that the peer sends, and counts its bytes.
    fn forward_sent(&mut self, out: &mut Outbox<OverlayMsg, PeerEvent>) {
        let (left, scratch) = (&mut self.left, &mut self.scratch);
        self.part.drain(|effect| match effect {
            Output::Send { to, lane, msg } => {
                scratch.clear();
                msg.encode(scratch);
                left.paper += (to.len() * msg.paper_bytes()) as u64;
                left.wire += (to.len() * scratch.len()) as u64;
                left.line += (to.len() * (scratch.len() + HEADERS as usize)) as u64;
                out.send_many(to.iter().copied(), lane, msg);
            }
            Output::Raise(event) => out.raise(event),
        });
    }
}

/// A step whose time must be noted.
enum ObservedStep {
    Own,
    Of(Address, u32),
}

fn step_in(input: &Input<OverlayMsg, PeerCommand>) -> Option<ObservedStep> {
    match input {
        Input::Command(PeerCommand::Move(_)) => Some(ObservedStep::Own),
        Input::Recv { from, msg: OverlayMsg::Move { sequence, .. }, .. } if Delays::counts(*sequence) => {
            Some(ObservedStep::Of(*from, *sequence))
        }
        _ => None,
    }
}

impl Machine for VastNode {
    type Msg = OverlayMsg;
    type Command = VastCommand;
    type Event = PeerEvent;

    fn handle(
        &mut self,
        now: Time,
        input: Input<OverlayMsg, VastCommand>,
        out: &mut Outbox<OverlayMsg, PeerEvent>,
    ) {
        match self {
            Self::PeerSlot(slot) => slot.handle(now, input, out),
            Self::Rendezvous(rendezvous) => {
                let input = match input {
                    Input::Recv { from, link, msg } => Input::Recv { from, link, msg },
                    Input::Command(VastCommand::Rendezvous(member)) => Input::Command(member),
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
            Self::PeerSlot(slot) => slot.peer.as_ref().and_then(Machine::deadline),
            Self::Rendezvous(_) => None,
        }
    }
}
