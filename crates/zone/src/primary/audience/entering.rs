//! Entering: a client's address is bound to a player. The client is told so when the records that made the player are
//! announced.

use super::Audience;
use super::sessions::{PendingAdmission, ResumePoint};
use crate::carrier_update::CarrierUpdate;
use crate::load_level::LoadLevel;
use crate::msg::{Closed, ToPlayer};
use crate::primary::context::PrimaryContext;
use crate::record::{Index, Record};
use game::PlayerId;
use machine::Address;
use space::ObjectId;

/// The most records whose notices a client that comes back is told again.
const MISSED_MAX: u64 = 256;

impl Audience {
    /// Binds a client's address to a player. Another client of that player is closed.
    pub(in crate::primary) fn attach(
        &mut self,
        cx: &mut PrimaryContext<'_>,
        from: Address,
        player: PlayerId,
        resume: ResumePoint,
    ) {
        let Some(avatar) = cx.core.state.players.get(&player).and_then(|it| it.avatar) else { return };
        if let Some(old) = self.sessions.of_player(player).filter(|&it| it != from) {
            cx.send_client(old, ToPlayer::Closed(Closed::Superseded));
            self.detach(cx, old);
        }
        // The client may have played another player before: no view of that one may remain.
        self.detach(cx, from);
        let class = cx.core.state.objects.get(avatar).map_or(0, |it| cx.core.config.rules.class(&it.state));
        let entering = PendingAdmission { after: cx.core.log.head(), resume };
        let link = cx.core.links.get(&from).copied();
        self.sessions.insert((from, link), player, (avatar, class), entering);
    }

    /// Forgets a client; returns its player.
    pub(in crate::primary) fn detach(
        &mut self,
        cx: &mut PrimaryContext<'_>,
        address: Address,
    ) -> Option<PlayerId> {
        let player = self.sessions.remove(address)?;
        self.views.forget_client(address);
        self.contacts.forget_client(address);
        cx.update_carrier(CarrierUpdate::Unsubscribe(address));
        Some(player)
    }

    /// A link is gone. If a client was there, its player is missing from now on.
    pub(in crate::primary) fn client_lost(&mut self, cx: &mut PrimaryContext<'_>, address: Address) {
        if let Some(player) = self.detach(cx, address) {
            self.sessions.mark_missing(player, cx.now());
        }
    }

    /// Tells clients that waited for an announcement that they are in.
    pub(in crate::primary) fn admit_waiting(&mut self, cx: &mut PrimaryContext<'_>) {
        for (address, entering) in self.sessions.admissible(self.announced()) {
            self.admit(cx, address, entering.resume);
        }
        self.sessions.update_is_awaited();
    }

    fn admit(&mut self, cx: &mut PrimaryContext<'_>, address: Address, resume: ResumePoint) {
        let Some((player, avatar)) = self.sessions.admit(address) else { return };
        let Some(entered) = entered(cx, (player, avatar), resume.lost) else {
            // The avatar was removed before its player was in: the client asks again.
            cx.send_client(address, ToPlayer::NotHere { primary: Some(cx.core.config.me) });
            self.detach(cx, address);
            return;
        };
        cx.send_client(address, entered);
        let time = cx.world_now();
        self.update_contacts(cx, address, avatar, time);
        if self.load != LoadLevel::Calm {
            cx.send_client(address, ToPlayer::Load(self.load));
        }
        let objects = self.initial_view(cx, address, avatar);
        cx.send_client(address, ToPlayer::Sight { index: self.announced(), objects });
        cx.update_carrier(CarrierUpdate::Subscribe(address, avatar));
        // A client that has seen records that are lost shares no past with this log: it starts from its view.
        if 0 < resume.index && !resume.lost {
            self.tell_missed(cx, address, resume.index);
        }
    }

    /// Answers a client that asks to enter although its player is in.
    pub(in crate::primary) fn tell_entered(&self, cx: &mut PrimaryContext<'_>, address: Address) {
        let (Some(player), Some(avatar)) = (self.sessions.player(address), self.sessions.avatar(address))
        else {
            return;
        };
        if let Some(entered) = entered(cx, (player, avatar), false) {
            cx.send_client(address, entered);
        }
    }

    /// A player's avatar was removed: the client is detached. It enters again, and gets a new avatar.
    pub(super) fn detach_removed_avatar(&mut self, cx: &mut PrimaryContext<'_>, avatar: ObjectId) {
        if let Some(address) = self.sessions.with_avatar(avatar) {
            cx.send_client(address, ToPlayer::NotHere { primary: Some(cx.core.config.me) });
            self.detach(cx, address);
        }
    }

    /// Sends a client that comes back the notices that it has missed, as far as the log still holds them.
    fn tell_missed(&mut self, cx: &mut PrimaryContext<'_>, address: Address, last: Index) {
        let announced = self.announced();
        let from = last.max(announced.saturating_sub(MISSED_MAX)).max(cx.core.log.base());
        for index in from + 1..=announced {
            let record = cx.core.log.get(index).and_then(|it| Record::from_bytes(&it.bytes));
            let mut notices = Vec::new();
            for (to, notice) in record.into_iter().flat_map(|it| it.notices) {
                if self.hearers(cx.core, to).contains(&address) {
                    notices.push(notice);
                }
            }
            if !notices.is_empty() {
                cx.send_client(
                    address,
                    ToPlayer::Told { index, shown: Vec::new(), gone: Vec::new(), notices },
                );
            }
        }
    }
}

/// The message that lets a player in, whose avatar this is; `None` if it is not any more.
fn entered(
    cx: &mut PrimaryContext<'_>,
    (player, avatar): (PlayerId, ObjectId),
    lost: bool,
) -> Option<ToPlayer> {
    let row = cx.core.state.players.get(&player).filter(|it| it.avatar == Some(avatar));
    let cursor = row?.cursor;
    let known = cx.core.state.objects.get(avatar);
    let (incarnation, motion) = known.map_or_else(Default::default, |it| (it.incarnation, it.motion));
    Some(ToPlayer::Entered { avatar, incarnation, lost, motion, cursor, time: cx.world_now() })
}
