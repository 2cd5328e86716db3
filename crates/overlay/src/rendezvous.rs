//! Somebody whom everybody knows, and who knows some who are in: the zone or the lobby.

use crate::msg::{Msg, Search};
use machine::{Address, Input, Lane, Machine, Outbox, Rng, Time};

/// What its owner says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Member {
    /// Somebody is in.
    In(Address),
    /// Somebody is not.
    Out(Address),
}

/// Hands searches on to anybody who is in.
pub struct Rendezvous {
    members: Vec<Address>,
    rng: Rng,
}

impl Rendezvous {
    /// One that knows nobody.
    pub fn new(rng: Rng) -> Self {
        Self { members: Vec::new(), rng }
    }

    fn anybody_but(&mut self, who: Address) -> Option<Address> {
        let others = self.members.len().saturating_sub(usize::from(self.members.contains(&who)));
        let chosen = self.rng.below((others as u64).max(1)) as usize;
        self.members.iter().copied().filter(|&it| it != who).nth(chosen)
    }
}

impl Machine for Rendezvous {
    type Msg = Msg;
    type Command = Member;
    type Event = ();

    fn handle(&mut self, _: Time, input: Input<Msg, Member>, out: &mut Outbox<Msg, ()>) {
        match input {
            Input::Command(Member::In(it)) if !self.members.contains(&it) => self.members.push(it),
            Input::Command(Member::Out(it)) => self.members.retain(|&other| other != it),
            Input::Recv { from, msg: Msg::Seek { who, purpose, hops, credential }, .. }
                if from == who.address =>
            {
                let seek = Msg::Seek { who, purpose, hops, credential };
                let first = Msg::Welcome { from: who, list: Vec::new(), again: purpose != Search::Join };
                match self.anybody_but(who.address) {
                    Some(it) => out.send(it, Lane::Sure, seek),
                    // Nobody is in: whoever asks is the first.
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
