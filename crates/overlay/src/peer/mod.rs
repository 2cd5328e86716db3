//! The peer's machine: the parts of a peer, and the order in which they are called.
//!
//! Each part owns its fields; the peer only dispatches. Calls go in one direction: the peer calls `peer_reports`,
//! `links`, `introductions` and the other parts, these call `neighbours`, and all of them use the context.

mod join;
mod receive;
mod step;

use crate::admission::MessageAdmission;
use crate::comparison::Comparison;
use crate::config::PeerConfig;
use crate::context::{PeerContext, PeerOutbox, PeerTimer};
use crate::event::{PeerCommand, PeerEvent};
use crate::group_members::GroupMembers;
use crate::info::Info;
use crate::links::PeerGreeting;
use crate::membership::OverlayMembership;
use crate::msg::{OverlayMsg, PeerMove, SearchPurpose};
use crate::neighbours::{NeighbourState, Neighbours};
use crate::peer_credentials::PeerCredentials;
use crate::peer_reports::PeerReports;
use crate::search::{SelfLookup, nearer};
use crate::send_account::SentTraffic;
use machine::{Address, Input, Machine, Rng, Time};
use space::Position;
use std::sync::Arc;

/// A peer of the overlay: a state machine without I/O.
pub struct Peer {
    ctx: PeerContext,
    membership: OverlayMembership,
    neighbours: Neighbours,
    reports: PeerReports,
    group_members: GroupMembers,
    comparison: Comparison,
    lookup: SelfLookup,
    admission: MessageAdmission,
}

impl Peer {
    /// A peer that has not joined yet. `me` is its information; its position comes with [`PeerCommand::Join`].
    pub fn new(config: PeerConfig, me: Info, rendezvous: Address, rng: Rng) -> Self {
        Self {
            ctx: PeerContext::new(config, rendezvous, rng),
            membership: OverlayMembership::Outside,
            neighbours: Neighbours::new(me),
            reports: PeerReports::default(),
            group_members: GroupMembers::default(),
            comparison: Comparison::new(),
            lookup: SelfLookup::default(),
            admission: MessageAdmission::new(),
        }
    }

    /// The same peer with credentials that other peers must show; without this every peer is admitted.
    #[must_use]
    pub fn with_credentials(mut self, credentials: Arc<dyn PeerCredentials>) -> Self {
        self.ctx.set_credentials(credentials);
        self
    }

    /// Returns whether the peer is in the overlay.
    pub fn is_ready(&self) -> bool {
        self.membership.is_ready()
    }

    /// The information that the peer sends about itself.
    pub const fn info(&self) -> &Info {
        self.neighbours.local().info()
    }

    /// Time of the peer's last step.
    pub const fn stepped(&self) -> Time {
        self.neighbours.local().stepped()
    }

    /// All neighbours in the peer's list, by address.
    pub fn neighbours(&self) -> impl Iterator<Item = (Address, &NeighbourState)> {
        self.neighbours.iter()
    }

    /// The neighbour with this address, if it is in the list.
    pub fn neighbour(&self, address: Address) -> Option<&NeighbourState> {
        self.neighbours.get(address)
    }

    /// Messages and bytes that the peer has sent so far.
    pub const fn sent(&self) -> &SentTraffic {
        self.ctx.sent()
    }

    /// Number of messages that the peer ignored: without a credential, or above a rate limit.
    pub const fn refused(&self) -> u64 {
        self.admission.refused()
    }

    /// Returns whether the peer is in a crowd, so that it sends fewer steps to some neighbours.
    pub fn is_in_crowd(&self) -> bool {
        self.neighbours.is_crowd(&self.ctx)
    }

    /// The neighbour to which the peer forwards a search for a position; `None` if none is nearer than itself.
    pub fn next_towards(&self, place: Position) -> Option<Address> {
        nearer(&self.neighbours, place, None, &self.ctx)
    }

    fn on_command(&mut self, command: PeerCommand) {
        match command {
            PeerCommand::Join(position) => self.on_join(position),
            PeerCommand::Move(position) => self.on_step(position),
            PeerCommand::Leave => self.on_departure(),
        }
    }

    fn on_recv(&mut self, from: Address, msg: OverlayMsg) {
        let hears = !self.membership.has_left()
            && self.admission.accepts(from, &msg, self.neighbours.rate_limit(from), &self.ctx);
        if hears {
            self.on_msg(from, msg);
        }
    }

    fn on_msg(&mut self, from: Address, msg: OverlayMsg) {
        match msg {
            OverlayMsg::Seek { who, purpose, hops, credential } => {
                self.on_seek(who, purpose, hops, credential)
            }
            OverlayMsg::Welcome { from: host, list, again } => self.on_welcome(from, host, list, again),
            OverlayMsg::Move { sequence, position, before, flags, aoi, met } => {
                self.on_move(from, &PeerMove { sequence, position, before, flags, aoi, met });
            }
            OverlayMsg::Nodes(list) => self.on_nodes(from, list),
            OverlayMsg::Hello { who, want, answer, knows, nodes, credential } if who.address == from => {
                let proven = self.neighbours.get(from).filter(|it| it.is_proven()).map(NeighbourState::info);
                let admitted = self.admission.admit_again(who, &credential, proven, &self.ctx);
                if let Some(who) = admitted {
                    self.on_hello(who, PeerGreeting { want, answer, nodes }, knows);
                }
            }
            OverlayMsg::Hello { .. } => (), // A greeting in the name of another peer is ignored.
            OverlayMsg::Sum { knows, enclosing } => self.on_sum(from, knows, enclosing),
            OverlayMsg::Stranger => self.on_stranger(from),
            OverlayMsg::Leave(list) => self.on_leave(from, list),
            OverlayMsg::Ping => self.on_ping(from),
            OverlayMsg::Pong { who } => self.on_pong(from, who),
        }
    }

    fn on_wake(&mut self) {
        while let Some(purpose) = self.ctx.take_due() {
            match purpose {
                PeerTimer::Join => self.membership.seek(self.neighbours.local().info(), &mut self.ctx),
                PeerTimer::Settle => self.on_settled(),
                PeerTimer::Compare => {
                    let hurry = self.reports.arrivals.take_hurry();
                    self.comparison.compare(hurry, &self.neighbours, &mut self.ctx);
                }
                PeerTimer::Lookup => self.look_up(SearchPurpose::Check),
            }
        }
    }

    /// Searches for the peer's own position.
    fn look_up(&mut self, purpose: SearchPurpose) {
        self.lookup.look_up(purpose, self.neighbours.local().info(), &mut self.ctx);
    }
}

impl Machine for Peer {
    type Msg = OverlayMsg;
    type Command = PeerCommand;
    type Event = PeerEvent;

    fn handle(&mut self, now: Time, input: Input<OverlayMsg, PeerCommand>, out: &mut PeerOutbox) {
        self.ctx.begin(now, out);
        match input {
            Input::Command(command) => self.on_command(command),
            Input::Recv { from, msg, .. } => self.on_recv(from, msg),
            Input::Wake => self.on_wake(),
            // Links of the transport come and go with the messages on them; liveness is judged by what arrives.
            Input::LinkUp { .. } | Input::LinkDown { .. } => (),
        }
        self.ctx.end(out);
    }

    fn deadline(&self) -> Option<Time> {
        self.ctx.deadline()
    }
}
