//! The rendezvous: its address is known to every peer, and it knows the peers that are in. The zone or the lobby runs
//! it.

use crate::msg::{OverlayMsg, SearchPurpose};
use machine::{Address, Input, Lane, Machine, Outbox, Rng, Time};

/// A command of the owner to the rendezvous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RendezvousCommand {
    /// The peer with this address is in the overlay.
    Joined(Address),
    /// The peer with this address is no longer in.
    Left(Address),
}

/// Forwards each search to a random peer that is in the overlay.
pub struct Rendezvous {
    members: Vec<Address>,
    rng: Rng,
}

impl Rendezvous {
    /// A rendezvous that knows no peer yet.
    pub fn new(rng: Rng) -> Self {
        Self { members: Vec::new(), rng }
    }

    fn random_member_except(&mut self, who: Address) -> Option<Address> {
        let others = self.members.len().saturating_sub(usize::from(self.members.contains(&who)));
        // `below` needs at least one; with no other member, `nth` then finds none.
        let chosen = self.rng.below((others as u64).max(1)) as usize;
        self.members.iter().copied().filter(|&it| it != who).nth(chosen)
    }
}

impl Machine for Rendezvous {
    type Msg = OverlayMsg;
    type Command = RendezvousCommand;
    type Event = ();

    fn handle(
        &mut self,
        _: Time,
        input: Input<OverlayMsg, RendezvousCommand>,
        out: &mut Outbox<OverlayMsg, ()>,
    ) {
        match input {
            Input::Command(RendezvousCommand::Joined(it)) if !self.members.contains(&it) => self.members.push(it),
            Input::Command(RendezvousCommand::Left(it)) => self.members.retain(|&other| other != it),
            Input::Recv { from, msg: OverlayMsg::Seek { who, purpose, hops, credential }, .. }
                // Only a peer's own search is taken, so that a peer cannot search in the name of another.
                if from == who.address =>
            {
                let seek = OverlayMsg::Seek { who, purpose, hops, credential };
                let first = OverlayMsg::Welcome { from: who, list: Vec::new(), again: purpose != SearchPurpose::Join };
                match self.random_member_except(who.address) {
                    Some(it) => out.send(it, Lane::Sure, seek),
                    // No other peer is in: the searching peer is the first.
                    None => out.send(who.address, Lane::Sure, first),
                }
            }
            _ => (),
        }
    }

    fn deadline(&self) -> Option<Time> {
        None
    }
}
