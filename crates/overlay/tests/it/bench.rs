//! One peer on a bench: tests make up the messages that it receives and look at those that it sends.

use machine::{Address, Input, LinkNumber, Machine, Outbox, Output, Rng, Span, Time};
use overlay::{
    Flags, Info, Knows, NeighbourState, OverlayMsg, Peer, PeerCommand, PeerConfig, PeerCredentials, PeerEvent,
};
use space::{Distance, Position};
use std::sync::Arc;

pub const RENDEZVOUS: Address = Address(999_999);

/// Admits every peer that shows the password.
struct PasswordCredentials;

impl PeerCredentials for PasswordCredentials {
    fn show(&self, _: &Info) -> Vec<u8> {
        b"friend".to_vec()
    }

    fn admits(&self, _: &Info, credential: &[u8]) -> bool {
        credential == b"friend"
    }
}

pub fn place(x: i32, y: i32) -> Position {
    Position::new(x * 1_000, y * 1_000).expect("a place")
}

pub fn info(number: u64, position: Position) -> Info {
    let aoi = Distance::of_metres(60);
    Info { address: Address(number), life: 1, sequence: 1, position, aoi, group: 0 }
}

pub fn hello(who: Info, credential: &[u8]) -> OverlayMsg {
    let (knows, credential) = (Knows::default(), credential.to_vec());
    OverlayMsg::Hello { who, want: true, answer: false, knows, nodes: Vec::new(), credential }
}

pub fn step(sequence: u32, position: Position) -> OverlayMsg {
    OverlayMsg::Move {
        sequence,
        position,
        before: None,
        flags: Flags::WANT.with(Flags::BOUNDARY, true),
        aoi: None,
        met: vec![],
    }
}

/// A peer in the middle of the world, at first without neighbours.
pub struct PeerTestBench {
    pub peer: Peer,
    pub now: Time,
}

impl PeerTestBench {
    pub fn new() -> Self {
        Self::with(PeerConfig::fixed(), info(1, place(0, 0)))
    }

    /// A peer with this configuration and this information.
    pub fn with(config: PeerConfig, me: Info) -> Self {
        let peer = Peer::new(config, me, RENDEZVOUS, Rng::seeded(1));
        let mut bench = Self {
            peer: peer.with_credentials(Arc::new(PasswordCredentials)),
            now: Time::from_millis(1_000),
        };
        bench.give(Input::Command(PeerCommand::Join(me.position)));
        bench.hear(RENDEZVOUS, OverlayMsg::Welcome { from: me, list: Vec::new(), again: false });
        assert!(bench.peer.is_ready());
        bench
    }

    /// A peer with one neighbour, which has proven itself and has moved once.
    pub fn with_neighbour() -> (Self, Info) {
        let mut bench = Self::new();
        let friend = info(2, place(20, 0));
        bench.hear(friend.address, hello(friend, b"friend"));
        bench.hear(friend.address, step(2, place(20, 0)));
        assert!(bench.neighbour(2).is_some_and(|it| it.is_proven() && it.is_met()));
        (bench, friend)
    }

    pub fn give(&mut self, input: Input<OverlayMsg, PeerCommand>) -> Vec<(Address, OverlayMsg)> {
        let mut out: Outbox<OverlayMsg, PeerEvent> = Outbox::new();
        self.peer.handle(self.now, input, &mut out);
        let mut sent = Vec::new();
        out.drain(|effect| {
            if let Output::Send { to, msg, .. } = effect {
                sent.extend(to.iter().map(|it| (*it, msg.clone())));
            }
        });
        sent
    }

    pub fn hear(&mut self, from: Address, msg: OverlayMsg) -> Vec<(Address, OverlayMsg)> {
        self.give(Input::Recv { from, link: LinkNumber(0), msg })
    }

    pub fn neighbour(&self, number: u64) -> Option<&NeighbourState> {
        self.peer.neighbour(Address(number))
    }

    /// The peer makes a step after `later`; returns what it sends.
    pub fn walk(&mut self, later: Span, to: Position) -> Vec<(Address, OverlayMsg)> {
        self.now += later;
        self.give(Input::Command(PeerCommand::Move(to)))
    }
}
