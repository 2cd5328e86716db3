//! What is to be done. If nothing is in the way it is done at once; otherwise it becomes a job.

use super::Primary;
use super::players::Seen;
use super::write::Failed;
use crate::config::STALE_AFTER;
use crate::core::{Core, Out};
use crate::record::Stamp;
use crate::state::State;
use game::{Addressee, Call, PlayerId};
use machine::{Address, Time};
use serde_bytes::ByteBuf;
use space::ObjectId;

/// Something to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// A player's action.
    Act { player: PlayerId, number: u64, action: ByteBuf },
    /// A letter that is here.
    Letter(Stamp),
    /// A timer that is due.
    Timer(Time, Stamp),
    /// An object thinks.
    Think(ObjectId),
    /// A player comes, from this address, with a session, a name, and the last record they heard of.
    Join { player: PlayerId, from: Address, session: u64, name: String, seen: Seen },
    /// A player is gone.
    Leave(PlayerId),
    /// An object was too often refused by another zone: it waits in line.
    Pass(ObjectId),
}

/// Of what there is only one thing done at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Subject {
    Player(PlayerId),
    Letter(Stamp),
    Timer(Stamp),
    Thinker(ObjectId),
    Passage(ObjectId),
}

/// The call that a work stands for, with everything in it.
pub(super) enum Asked {
    Act(ObjectId, ByteBuf),
    Letter(Addressee, ByteBuf),
    Think(ObjectId),
    Join(PlayerId, String),
    Leave(ObjectId),
}

impl Asked {
    pub(super) fn call(&self) -> Call<'_> {
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
    pub(super) const fn subject(&self) -> Subject {
        match self {
            Self::Act { player, .. } | Self::Join { player, .. } | Self::Leave(player) => {
                Subject::Player(*player)
            }
            Self::Letter(stamp) => Subject::Letter(*stamp),
            Self::Timer(_, stamp) => Subject::Timer(*stamp),
            Self::Think(object) => Subject::Thinker(*object),
            Self::Pass(object) => Subject::Passage(*object),
        }
    }

    /// What to ask the game; `None` if there is nothing to be done any more, or nothing to ask.
    pub(super) fn asked(&self, state: &State) -> Option<Asked> {
        let here = |object: ObjectId| state.objects.get(object).map(|_| object);
        let avatar = |player: &PlayerId| state.players.get(player)?.avatar.and_then(here);
        Some(match self {
            Self::Act { player, number, action } => {
                let row = state.players.get(player).filter(|it| it.cursor + 1 == *number)?;
                Asked::Act(row.avatar?, action.clone())
            }
            Self::Letter(stamp) => {
                let it = state.letters.get(stamp)?;
                if let Addressee::Object(object) = it.to {
                    here(object)?;
                }
                Asked::Letter(it.to, it.letter.clone())
            }
            Self::Timer(at, stamp) => {
                let it = state.timers.get(&(*at, *stamp))?;
                here(it.object)?;
                Asked::Letter(Addressee::Object(it.object), it.letter.clone())
            }
            Self::Think(object) => Asked::Think(here(*object)?),
            Self::Join { player, name, session, .. } => {
                let newer = state.players.get(player).is_some_and(|it| {
                    *session < it.session || it.avatar.is_some() || it.present && it.session == *session
                });
                if newer {
                    return None;
                }
                Asked::Join(*player, name.clone())
            }
            Self::Leave(player) => {
                state.players.get(player).filter(|it| it.present)?;
                Asked::Leave(avatar(player)?)
            }
            Self::Pass(_) => return None,
        })
    }
}

/// Whether an action may be answered without a lock: not while its player is on the way to another zone.
pub(super) fn may_be_refused(state: &State, work: &Work) -> bool {
    let Work::Act { player, number, .. } = work else { return false };
    let Some(row) = state.players.get(player).filter(|it| it.cursor + 1 == *number) else { return false };
    row.avatar.is_some_and(|it| !state.abroad.offered.contains_key(&it))
}

impl Primary {
    /// Does something, at once if nothing is in the way.
    pub(super) fn perform(&mut self, core: &mut Core, work: Work, out: &mut Out) {
        self.perform_since(core, work, core.now, out);
    }

    /// Does something that was wanted a while ago.
    pub(super) fn perform_since(&mut self, core: &mut Core, work: Work, since: Time, out: &mut Out) {
        let Some(asked) = work.asked(&core.state) else { return self.finish_void(core, &work, out) };
        let now = core.world_now();
        core.state.objects.refresh(now);
        let reach = self.reach(core, asked.call(), now);
        let free = self.locks.is_empty() || !self.locks.blocks(&reach.claim(), &core.state.objects, now);
        if reach.zones == [self.zone] && free {
            let executed = match reach.refused {
                Some(why) => Err(Failed::refused(why)),
                None => self.execute(core, asked.call(), reach.scope),
            };
            return self.finish(core, &work, executed, out);
        }
        if let Work::Think(object) = work
            && self.think_freely(core, object, &reach.scope, out)
        {
            return;
        }
        // Who has waited for so long, and would have to wait on, is told so: a backlog must not grow older and older.
        if STALE_AFTER < core.now.since(since) && may_be_refused(&core.state, &work) {
            return self.finish(core, &work, Err(Failed::busy()), out);
        }
        self.start_job(core, work, reach, out);
    }
}
