//! One peer on a bench: what it hears is made up, and what it says is looked at.

use machine::{Address, Effect, Input, LinkNumber, Machine, Outbox, Rng, Span, Time};
use overlay::{Command, Config, Credentials, Entry, Event, Flags, Info, Knows, Msg, Peer};
use space::{Distance, Position};
use std::sync::Arc;

pub const RENDEZVOUS: Address = Address(999_999);

/// Whoever says the word is let in.
struct Password;

impl Credentials for Password {
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

pub fn hello(who: Info, credential: &[u8]) -> Msg {
    let (knows, credential) = (Knows::default(), credential.to_vec());
    Msg::Hello { who, want: true, answer: false, knows, nodes: Vec::new(), credential }
}

pub fn step(sequence: u32, position: Position) -> Msg {
    Msg::Move {
        sequence,
        position,
        before: None,
        flags: Flags::WANT.with(Flags::BOUNDARY, true),
        aoi: None,
        met: vec![],
    }
}

/// A peer in the middle of the world, alone at first.
pub struct Bench {
    pub peer: Peer,
    pub now: Time,
}

impl Bench {
    pub fn new() -> Self {
        Self::with(Config::fixed(), info(1, place(0, 0)))
    }

    /// A peer that behaves like this.
    pub fn with(config: Config, me: Info) -> Self {
        let peer = Peer::new(config, me, RENDEZVOUS, Rng::seeded(1));
        let mut bench =
            Self { peer: peer.with_credentials(Arc::new(Password)), now: Time::from_millis(1_000) };
        bench.give(Input::Command(Command::Join(me.position)));
        bench.hear(RENDEZVOUS, Msg::Welcome { from: me, list: Vec::new(), again: false });
        assert!(bench.peer.is_ready());
        bench
    }

    /// With a neighbour who has proven who they are, and has moved once.
    pub fn with_neighbour() -> (Self, Info) {
        let mut bench = Self::new();
        let friend = info(2, place(20, 0));
        bench.hear(friend.address, hello(friend, b"friend"));
        bench.hear(friend.address, step(2, place(20, 0)));
        assert!(bench.entry(2).is_some_and(|it| it.is_proven() && it.is_met()));
        (bench, friend)
    }

    pub fn give(&mut self, input: Input<Msg, Command>) -> Vec<(Address, Msg)> {
        let mut out: Outbox<Msg, Event> = Outbox::new();
        self.peer.handle(self.now, input, &mut out);
        let mut said = Vec::new();
        out.drain(|effect| {
            if let Effect::Send { to, msg, .. } = effect {
                said.extend(to.iter().map(|it| (*it, msg.clone())));
            }
        });
        said
    }

    pub fn hear(&mut self, from: Address, msg: Msg) -> Vec<(Address, Msg)> {
        self.give(Input::Recv { from, link: LinkNumber(0), msg })
    }

    pub fn entry(&self, number: u64) -> Option<&Entry> {
        self.peer.entry(Address(number))
    }

    /// The peer makes a step after a while.
    pub fn walk(&mut self, later: Span, to: Position) -> Vec<(Address, Msg)> {
        self.now += later;
        self.give(Input::Command(Command::Move(to)))
    }
}
