//! Players who act as fast as they are answered. They know just enough of the protocol for that.

use super::rig::Rig;
use game::PlayerId;
use machine::{Address, Span};
use serde_bytes::ByteBuf;
use space::{Motion, ObjectId, ZoneId};
use std::ops::Range;
use wire::Message as _;
use zone::{Down, Msg, Up};

/// Actions that a player has sent and not heard the result of, at most.
pub const PIPELINE: u64 = 32;

/// The address of the first player; the others follow.
const FIRST: u64 = 16;

/// Writes an action: of whom, their avatar and somebody else's, and which of their actions it is.
pub type Act = fn(me: ObjectId, other: ObjectId, number: u64) -> Vec<u8>;

/// Everybody who plays.
pub struct Callers {
    all: Vec<Caller>,
    /// Whose turn it is.
    turn: usize,
    act: Act,
    /// Only players of this zone act.
    only: Option<ZoneId>,
    /// What they are about to send.
    pub written: Written,
    /// Actions whose result arrived, and those that were not done.
    pub answered: u64,
    /// Actions that were not done.
    pub refused: u64,
}

/// Actions, one message after the other.
#[derive(Default)]
pub struct Written {
    bytes: Vec<u8>,
    /// By whom, and where.
    places: Vec<(Address, Range<usize>)>,
}

#[derive(Clone, Copy, Default)]
struct Caller {
    zone: Option<ZoneId>,
    avatar: Option<ObjectId>,
    motion: Motion,
    /// The last action sent, and the last one answered.
    sent: u64,
    answered: u64,
}

impl Callers {
    /// Lets so many players enter.
    ///
    /// # Panics
    /// If a zone does not let them in.
    pub fn enter(rig: &mut Rig, players: usize, act: Act) -> Self {
        let all = vec![Caller::default(); players];
        let written = Written::default();
        let mut it = Self { all, turn: 0, act, only: None, written, answered: 0, refused: 0 };
        for number in 0..players {
            let address = Address(FIRST + number as u64);
            rig.link_player(address);
            let (player, name) = (PlayerId(number as u64), format!("player-{number}"));
            let mut bytes = Vec::new();
            Msg::Up(Up::Enter { player, session: 1, name, seen: None }).encode(&mut bytes);
            for zone in 1..=rig.zones() as u32 {
                rig.hear(ZoneId(zone), address, &bytes);
            }
            rig.advance(Span::from_millis(2));
            it.hear(rig);
        }
        rig.advance(Span::from_millis(1_000));
        it.hear(rig);
        assert!(it.all.iter().all(|it| it.avatar.is_some()), "everybody is in");
        it
    }

    /// Everybody in turn writes an action, `count` of them, unless too many are unanswered.
    pub fn write(&mut self, count: usize) {
        let players = self.all.len();
        for _ in 0..count {
            let (number, other) = (self.turn, (self.turn + 1) % players);
            self.turn = other;
            let other = self.all[other].avatar;
            let caller = &mut self.all[number];
            let (Some(me), Some(other)) = (caller.avatar, other) else { continue };
            if self.only.is_some() && self.only != caller.zone {
                continue;
            }
            if caller.answered + PIPELINE <= caller.sent {
                continue;
            }
            caller.sent += 1;
            let action = ByteBuf::from((self.act)(me, other, caller.sent));
            let act = Up::Act { number: caller.sent, acked: caller.answered, motion: caller.motion, action };
            let Written { bytes, places } = &mut self.written;
            let start = bytes.len();
            Msg::Up(act).encode(bytes);
            places.push((Address(FIRST + number as u64), start..bytes.len()));
        }
    }

    /// The same, to be sent later: everybody goes on as if answered by then.
    pub fn write_ahead(&mut self, count: usize) -> Written {
        self.write(count);
        self.all.iter_mut().for_each(|it| it.answered = it.sent);
        std::mem::take(&mut self.written)
    }

    /// Lets only those act who are in the first one's zone.
    pub fn only_on_one_side(&mut self) {
        self.only = self.all.first().and_then(|it| it.zone);
    }

    /// Sends what was written. This is where a zone's own cost begins.
    pub fn send(&mut self, rig: &mut Rig) {
        for (from, place) in self.written.places.drain(..) {
            if let Some(zone) = self.all[(from.0 - FIRST) as usize].zone {
                rig.hear(zone, from, &self.written.bytes[place]);
            }
        }
        self.written.bytes.clear();
    }

    /// Hears what the zone says.
    pub fn hear(&mut self, rig: &mut Rig) {
        let (all, answered, refused) = (&mut self.all, &mut self.answered, &mut self.refused);
        rig.deliver(|to, bytes| {
            let caller = &mut all[(to.0 - FIRST) as usize];
            match Msg::decode(bytes) {
                Ok(Msg::Down(zone, _, Down::Entered { avatar, motion, .. })) => {
                    (caller.zone, caller.avatar, caller.motion) = (Some(zone), Some(avatar), motion);
                }
                Ok(Msg::Down(_, _, Down::Result { number, outcome, .. })) => {
                    caller.answered = caller.answered.max(number);
                    *answered += 1;
                    *refused += u64::from(outcome != zone::Outcome::Done);
                }
                _ => (),
            }
        });
    }

    /// Gives back buffers.
    pub fn shrink(&mut self) {
        self.written.bytes.shrink_to_fit();
        self.written.places.shrink_to_fit();
    }

    /// The memory of the players themselves.
    pub fn bytes_held(&self) -> usize {
        self.all.capacity() * size_of::<Caller>()
    }
}
