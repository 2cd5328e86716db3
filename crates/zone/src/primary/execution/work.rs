//! What is to be done, and what the game is asked for it.

use crate::primary::audience::Seen;
use crate::record::Stamp;
use crate::state::State;
use game::{Addressee, Call, PlayerId};
use machine::{Address, Time};
use serde_bytes::ByteBuf;
use space::ObjectId;

/// Something to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::primary) enum Work {
    /// A player's action.
    Act { player: PlayerId, number: u64, action: ByteBuf },
    /// A letter that is here.
    Letter(Stamp),
    /// A timer that is due.
    Timer(Time, Stamp),
    /// An object thinks.
    Think(ObjectId),
    /// A player comes.
    Join(Join),
    /// A player is gone.
    Leave(PlayerId),
    /// An object whose transfer was refused too often waits for locks.
    Transfer(ObjectId),
}

/// A player who comes, and the client that asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::primary) struct Join {
    pub(in crate::primary) player: PlayerId,
    pub(in crate::primary) from: Address,
    pub(in crate::primary) session: u64,
    pub(in crate::primary) name: String,
    pub(in crate::primary) seen: Seen,
}

/// The player or thing for which one piece of work is done at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::primary) enum Subject {
    Player(PlayerId),
    Letter(Stamp),
    Timer(Stamp),
    Thinker(ObjectId),
    Transfer(ObjectId),
}

/// The call of the game that a work stands for, with everything in it.
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
    pub(in crate::primary) const fn subject(&self) -> Subject {
        match self {
            Self::Act { player, .. } | Self::Join(Join { player, .. }) | Self::Leave(player) => {
                Subject::Player(*player)
            }
            Self::Letter(stamp) => Subject::Letter(*stamp),
            Self::Timer(_, stamp) => Subject::Timer(*stamp),
            Self::Think(object) => Subject::Thinker(*object),
            Self::Transfer(object) => Subject::Transfer(*object),
        }
    }

    /// What to ask the game; `None` if there is nothing to be done any more, or nothing to ask.
    pub(in crate::primary) fn game_call(&self, state: &State) -> Option<GameCall> {
        let here = |object: ObjectId| state.objects.get(object).map(|_| object);
        let avatar = |player: &PlayerId| state.players.get(player)?.avatar.and_then(here);
        Some(match self {
            Self::Act { player, number, action } => {
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

/// Whether a player has come already, or with a newer session.
fn is_over(join: &Join, state: &State) -> bool {
    state.players.get(&join.player).is_some_and(|it| {
        join.session < it.session || it.avatar.is_some() || it.present && it.session == join.session
    })
}

/// Whether an action may be answered without a lock: not while its player is on the way to another zone.
pub(in crate::primary) fn may_be_refused(state: &State, work: &Work) -> bool {
    let Work::Act { player, number, .. } = work else { return false };
    let Some(row) = state.players.get(player).filter(|it| it.cursor + 1 == *number) else { return false };
    row.avatar.is_some_and(|it| !state.abroad.offered.contains_key(&it))
}
