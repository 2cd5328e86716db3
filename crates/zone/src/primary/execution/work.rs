//! Pieces of work, and the call of the game that each stands for.

use crate::primary::audience::ResumePoint;
use crate::record::Stamp;
use crate::suspect::Suspect;
use crate::zone_state::ZoneState;
use game::{Addressee, Call, PlayerId};
use machine::{Address, Time};
use serde_bytes::ByteBuf;
use space::ObjectId;

/// A piece of work: it becomes one event, or nothing if it is void by then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::primary) enum Work {
    /// An action of a player, with its number.
    Act { player: PlayerId, number: u64, action: ByteBuf },
    /// A letter whose addressee is in this zone.
    Letter(Stamp),
    /// A timer that is due.
    Timer(Time, Stamp),
    /// A thought of an NPC.
    Think(ObjectId),
    /// A player enters the world.
    Join(JoinRequest),
    /// A player leaves the world.
    Leave(PlayerId),
    /// An object whose transfer was refused too often waits for locks.
    Transfer(ObjectId),
}

/// A client's request that its player enter the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::primary) struct JoinRequest {
    pub(in crate::primary) player: PlayerId,
    pub(in crate::primary) from: Address,
    pub(in crate::primary) session: u64,
    pub(in crate::primary) name: String,
    pub(in crate::primary) resume: ResumePoint,
}

/// The player, letter, timer or object that a piece of work is for. There is one job per key at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::primary) enum WorkKey {
    Player(PlayerId),
    Letter(Stamp),
    Timer(Stamp),
    Thinker(ObjectId),
    Transfer(ObjectId),
}

/// The call of the game that a piece of work stands for, with its own copy of the arguments.
pub(in crate::primary) enum GameCall {
    Act(ObjectId, ByteBuf),
    Letter(Addressee, ByteBuf),
    Think(ObjectId),
    Join(PlayerId, String),
    Leave(ObjectId),
}

impl GameCall {
    pub(in crate::primary) fn call(&self) -> Call<'_> {
        match self {
            Self::Act(actor, action) => Call::Act { actor: *actor, action },
            Self::Letter(to, letter) => Call::Letter { to: *to, letter },
            Self::Think(object) => Call::Think { object: *object },
            Self::Join(player, name) => Call::Join { player: *player, name },
            Self::Leave(avatar) => Call::Leave { avatar: *avatar },
        }
    }
}

impl Work {
    pub(in crate::primary) const fn key(&self) -> WorkKey {
        match self {
            Self::Act { player, .. } | Self::Join(JoinRequest { player, .. }) | Self::Leave(player) => {
                WorkKey::Player(*player)
            }
            Self::Letter(stamp) => WorkKey::Letter(*stamp),
            Self::Timer(_, stamp) => WorkKey::Timer(*stamp),
            Self::Think(object) => WorkKey::Thinker(*object),
            Self::Transfer(object) => WorkKey::Transfer(*object),
        }
    }

    /// The name by which every replica of the zone recognises the work; `None` if it is void by now, or needs no call.
    pub(in crate::primary) fn suspect(&self, state: &ZoneState) -> Option<Suspect> {
        let session = |player: &PlayerId| state.players.get(player).map(|it| it.session);
        Some(match self {
            Self::Act { player, number, .. } => {
                Suspect::Act { player: *player, session: session(player)?, number: *number }
            }
            Self::Letter(stamp) => Suspect::Letter(*stamp),
            Self::Timer(_, stamp) => Suspect::Timer(*stamp),
            Self::Think(object) => {
                Suspect::Think { object: *object, version: state.objects.get(*object)?.version }
            }
            Self::Join(join) => Suspect::Join { player: join.player, session: join.session },
            Self::Leave(player) => Suspect::Leave { player: *player, session: session(player)? },
            Self::Transfer(_) => return None,
        })
    }

    /// The call of the game; `None` if the work is void by now, or needs no call.
    pub(in crate::primary) fn game_call(&self, state: &ZoneState) -> Option<GameCall> {
        let here = |object: ObjectId| state.objects.get(object).map(|_| object);
        let avatar = |player: &PlayerId| state.players.get(player)?.avatar.and_then(here);
        Some(match self {
            Self::Act { player, number, action } => {
                // Any other number was dealt with already, or is not next.
                let row = state.players.get(player).filter(|it| it.cursor + 1 == *number)?;
                GameCall::Act(row.avatar?, action.clone())
            }
            Self::Letter(stamp) => {
                let it = state.letters.get(stamp)?;
                if let Addressee::Object(object) = it.to {
                    here(object)?;
                }
                GameCall::Letter(it.to, it.letter.clone())
            }
            Self::Timer(at, stamp) => {
                let it = state.timers.get(&(*at, *stamp))?;
                here(it.object)?;
                GameCall::Letter(Addressee::Object(it.object), it.letter.clone())
            }
            Self::Think(object) => GameCall::Think(here(*object)?),
            Self::Join(join) => {
                if is_over(join, state) {
                    return None;
                }
                GameCall::Join(join.player, join.name.clone())
            }
            Self::Leave(player) => {
                state.players.get(player).filter(|it| it.present)?;
                GameCall::Leave(avatar(player)?)
            }
            Self::Transfer(_) => return None,
        })
    }
}

/// Returns whether the player has entered already, or with a newer session.
fn is_over(join: &JoinRequest, state: &ZoneState) -> bool {
    state.players.get(&join.player).is_some_and(|it| {
        join.session < it.session || it.avatar.is_some() || it.present && it.session == join.session
    })
}

/// Returns whether an action may be refused without a lock: not while its avatar is offered to another zone, for that
/// zone may already hold the player's cursor.
pub(in crate::primary) fn may_be_refused(state: &ZoneState, work: &Work) -> bool {
    let Work::Act { player, number, .. } = work else { return false };
    let is_next = state.players.get(player).is_some_and(|it| it.cursor + 1 == *number);
    is_next && may_refuse_actions(state, *player)
}

/// Returns whether actions of a player may be refused without a lock.
pub(in crate::primary) fn may_refuse_actions(state: &ZoneState, player: PlayerId) -> bool {
    let avatar = state.players.get(&player).and_then(|it| it.avatar);
    avatar.is_some_and(|it| !state.mesh.offered.contains_key(&it))
}
