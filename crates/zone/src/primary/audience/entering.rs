//! How a client enters: its connection is bound to a player, and it is told so when everything that made the player is
//! announced.

use super::Audience;
use super::sessions::{Entering, Seen};
use crate::carrier_update::CarrierUpdate;
use crate::msg::{Closed, Down};
use crate::primary::context::Ctx;
use crate::record::{Index, Record};
use game::PlayerId;
use machine::Address;
use space::ObjectId;

/// The most records of which a client that comes back hears the notices.
const MISSED_MAX: u64 = 256;

impl Audience {
    /// Binds a connection to a player. Another connection of that player is closed.
    pub(in crate::primary) fn attach(
        &mut self,
        cx: &mut Ctx<'_>,
        from: Address,
        player: PlayerId,
        seen: Seen,
    ) {
        let Some(avatar) = cx.core.state.players.get(&player).and_then(|it| it.avatar) else { return };
        if let Some(old) = self.sessions.of_player(player).filter(|&it| it != from) {
            cx.say(old, Down::Closed(Closed::Superseded));
            self.detach(cx, old);
        }
        self.detach(cx, from);
        let class = cx.core.state.objects.get(avatar).map_or(0, |it| cx.core.config.rules.class(&it.state));
        let entering = Entering { after: cx.core.log.head(), seen };
        self.sessions.insert(from, player, (avatar, class), entering);
    }

    /// Forgets a connection; says whose it was.
    pub(in crate::primary) fn detach(&mut self, cx: &mut Ctx<'_>, address: Address) -> Option<PlayerId> {
        let player = self.sessions.remove(address)?;
        self.views.forget_viewer(address);
        cx.update_carrier(CarrierUpdate::Unsubscribe(address));
        Some(player)
    }

    /// A link is gone, and with it a client if one was there.
    pub(in crate::primary) fn client_lost(&mut self, cx: &mut Ctx<'_>, address: Address) {
        if let Some(player) = self.detach(cx, address) {
            self.sessions.miss(player, cx.now());
        }
    }

    /// Tells clients that waited for an announcement that they are in.
    pub(in crate::primary) fn admit_waiting(&mut self, cx: &mut Ctx<'_>) {
        for (address, entering) in self.sessions.admissible(self.announced()) {
            self.admit(cx, address, entering.seen);
        }
        self.sessions.await_rest();
    }

    fn admit(&mut self, cx: &mut Ctx<'_>, address: Address, seen: Seen) {
        let Some((player, avatar)) = self.sessions.admit(address) else { return };
        let row = cx.core.state.players.get(&player).filter(|it| it.avatar == Some(avatar));
        let Some(cursor) = row.map(|it| it.cursor) else {
            // The avatar is gone before its player was in: the client asks again.
            cx.say(address, Down::NotHere { primary: Some(cx.core.config.me) });
            self.detach(cx, address);
            return;
        };
        let known = cx.core.state.objects.get(avatar);
        let (incarnation, motion) = known.map_or_else(Default::default, |it| (it.incarnation, it.motion));
        let (time, backup, lost) = (cx.world_now(), cx.reign.backup, seen.lost);
        cx.say(address, Down::Entered { avatar, incarnation, lost, motion, cursor, time, backup });
        let objects = self.sight(cx, address, avatar);
        cx.say(address, Down::Sight { index: self.announced(), objects });
        cx.update_carrier(CarrierUpdate::Subscribe(address, avatar));
        if 0 < seen.index && !seen.lost {
            self.tell_missed(cx, address, seen.index);
        }
    }

    /// The avatar of a player is gone: the client enters again, and gets a new one.
    pub(super) fn send_away(&mut self, cx: &mut Ctx<'_>, avatar: ObjectId) {
        if let Some(address) = self.sessions.with_avatar(avatar) {
            cx.say(address, Down::NotHere { primary: Some(cx.core.config.me) });
            self.detach(cx, address);
        }
    }

    /// Tells a client that comes back the notices that it has missed.
    fn tell_missed(&mut self, cx: &mut Ctx<'_>, address: Address, seen: Index) {
        let announced = self.announced();
        let from = seen.max(announced.saturating_sub(MISSED_MAX)).max(cx.core.log.base());
        for index in from + 1..=announced {
            let record = cx.core.log.get(index).and_then(|it| Record::from_bytes(&it.bytes));
            let mut notices = Vec::new();
            for (to, notice) in record.into_iter().flat_map(|it| it.notices) {
                if self.hearers(cx.core, to).contains(&address) {
                    notices.push(notice);
                }
            }
            if !notices.is_empty() {
                cx.say(address, Down::Told { index, shown: Vec::new(), gone: Vec::new(), notices });
            }
        }
    }
}
