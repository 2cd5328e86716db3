//! Players who act as fast as the zones answer. They know just enough of the protocol for that.

use super::rig::Rig;
use game::PlayerId;
use machine::{Address, Span};
use serde_bytes::ByteBuf;
use space::{Motion, ObjectId, ZoneId};
use std::ops::Range;
use wire::Message as _;
use zone::{FromPlayer, ToPlayer, ZoneMsg};

/// The most actions of a player without a result.
pub const PIPELINE: u64 = 32;

/// The address of the first player; the others follow.
const FIRST: u64 = 16;

/// Encodes an action, from the player's avatar, another player's avatar and the number of the action.
pub type Act = fn(me: ObjectId, other: ObjectId, number: u64) -> Vec<u8>;

/// All players of a benchmark.
pub struct ZonePlayers {
    all: Vec<ZonePlayer>,
    /// Index of the player who acts next.
    turn: usize,
    act: Act,
    /// If set, only players of this zone act.
    only: Option<ZoneId>,
    /// The encoded actions that are sent next.
    pub batch: ActionBatch,
    /// Number of actions whose result arrived, whatever it was.
    pub answered: u64,
    /// Number of actions whose result was not `Done`.
    pub refused: u64,
    /// Most actions that any player has sent since the last rest.
    pub burst: u64,
}

/// Encoded actions, one message after the other.
#[derive(Default)]
pub struct ActionBatch {
    bytes: Vec<u8>,
    /// Sender and range in `bytes` of each action.
    places: Vec<(Address, Range<usize>)>,
}

#[derive(Clone, Copy, Default)]
struct ZonePlayer {
    zone: Option<ZoneId>,
    avatar: Option<ObjectId>,
    motion: Motion,
    /// The last action sent, and the last one answered.
    sent: u64,
    answered: u64,
    /// The last action sent before the last rest.
    rested: u64,
}

impl ZonePlayers {
    /// Lets this number of players enter the zones.
    ///
    /// # Panics
    /// If a zone does not let them in.
    pub fn enter(rig: &mut Rig, players: usize, act: Act) -> Self {
        let all = vec![ZonePlayer::default(); players];
        let batch = ActionBatch::default();
        let mut it = Self { all, turn: 0, act, only: None, batch, answered: 0, refused: 0, burst: 0 };
        for number in 0..players {
            let address = Address(FIRST + number as u64);
            rig.link_player(address);
            let (player, name) = (PlayerId(number as u64), format!("player-{number}"));
            let mut bytes = Vec::new();
            ZoneMsg::FromPlayer(FromPlayer::Enter { player, session: 1, name, seen: None })
                .encode(&mut bytes);
            for zone in 1..=rig.zones() as u32 {
                rig.receive_from_player(ZoneId(zone), address, &bytes);
            }
            rig.advance(Span::from_millis(2));
            it.read_answers(rig);
        }
        rig.advance(Span::from_millis(1_000));
        it.read_answers(rig);
        assert!(it.all.iter().all(|it| it.avatar.is_some()), "every player has entered");
        it
    }

    /// Encodes `count` actions, one player after the other; a player with too many unanswered actions is left out.
    pub fn write(&mut self, count: usize) {
        let players = self.all.len();
        for _ in 0..count {
            let (number, other) = (self.turn, (self.turn + 1) % players);
            self.turn = other;
            let other = self.all[other].avatar;
            let player = &mut self.all[number];
            let (Some(me), Some(other)) = (player.avatar, other) else { continue };
            if self.only.is_some() && self.only != player.zone {
                continue;
            }
            if player.answered + PIPELINE <= player.sent {
                continue;
            }
            player.sent += 1;
            self.burst = self.burst.max(player.sent - player.rested);
            let action = ByteBuf::from((self.act)(me, other, player.sent));
            let act = FromPlayer::Act {
                number: player.sent,
                acked: player.answered,
                motion: player.motion,
                action,
            };
            let ActionBatch { bytes, places } = &mut self.batch;
            let start = bytes.len();
            ZoneMsg::FromPlayer(act).encode(bytes);
            places.push((Address(FIRST + number as u64), start..bytes.len()));
        }
    }

    /// Encodes actions to be sent later; the players go on as if all were answered by then.
    pub fn write_ahead(&mut self, count: usize) -> ActionBatch {
        self.write(count);
        self.all.iter_mut().for_each(|it| it.answered = it.sent);
        std::mem::take(&mut self.batch)
    }

    /// Lets only players in the zone of the first player act.
    pub fn only_on_one_side(&mut self) {
        self.only = self.all.first().and_then(|it| it.zone);
    }

    /// Hands the encoded actions to the zones. This is where a zone's own cost begins.
    pub fn send(&mut self, rig: &mut Rig) {
        for (from, place) in self.batch.places.drain(..) {
            if let Some(zone) = self.all[(from.0 - FIRST) as usize].zone {
                rig.receive_from_player(zone, from, &self.batch.bytes[place]);
            }
        }
        self.batch.bytes.clear();
    }

    /// Reads the messages of the zones to the players.
    pub fn read_answers(&mut self, rig: &mut Rig) {
        let (all, answered, refused) = (&mut self.all, &mut self.answered, &mut self.refused);
        rig.deliver(|to, bytes| {
            let player = &mut all[(to.0 - FIRST) as usize];
            match ZoneMsg::decode(bytes) {
                Ok(ZoneMsg::ToPlayer(zone, _, ToPlayer::Entered { avatar, motion, .. })) => {
                    (player.zone, player.avatar, player.motion) = (Some(zone), Some(avatar), motion);
                }
                Ok(ZoneMsg::ToPlayer(_, _, ToPlayer::Result { number, outcome, .. })) => {
                    player.answered = player.answered.max(number);
                    *answered += 1;
                    *refused += u64::from(outcome != zone::Outcome::Done);
                }
                _ => (),
            }
        });
    }

    /// Returns whether every action has its result.
    pub fn are_answered(&self) -> bool {
        self.all.iter().all(|it| it.sent <= it.answered)
    }

    /// Notes that all players have rested for so long that they may send as many actions at once as ever.
    pub fn have_rested(&mut self) {
        self.all.iter_mut().for_each(|it| it.rested = it.sent);
        self.burst = 0;
    }

    /// Gives back the memory of the buffers.
    pub fn shrink(&mut self) {
        self.batch.bytes.shrink_to_fit();
        self.batch.places.shrink_to_fit();
    }

    /// Bytes of memory of the players themselves.
    pub fn bytes_held(&self) -> usize {
        self.all.capacity() * size_of::<ZonePlayer>()
    }
}
