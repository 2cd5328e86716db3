//! Moves: changes of a motion that change no state. Clients, the game or the zone itself move objects; the primary checks the
//! moves of clients, and tells clients, neighbours and the backup without a record.

use super::Audience;
use crate::carrier_update::CarrierUpdate;
use crate::config::{HYSTERESIS, MOVE_AHEAD_MAX, STRAY_MAX};
use crate::core::Core;
use crate::msg::{ToPlayer, ZoneMsg};
use crate::primary::context::PrimaryContext;
use crate::primary::execution::wider;
use machine::{Address, Time};
use space::{Distance, Millis, Motion, ObjectId, Position, Velocity};

impl Audience {
    /// Takes in a client's move of its avatar, or corrects it if the game does not allow it.
    pub(in crate::primary) fn on_move(
        &mut self,
        cx: &mut PrimaryContext<'_>,
        from: Address,
        motion: &Motion,
    ) {
        let Some(avatar) = self.sessions.avatar(from) else { return };
        let now = cx.world_now();
        let Some(object) = cx.core.state.objects.get(avatar) else { return };
        let before = object.motion;
        // An event that sets the motion raises its generation: a move that the client sent before it knew is ignored.
        if motion.generation == before.generation && motion.is_newer_than(&before) {
            // A client may not rewrite its past, nor move ahead of the world's time.
            let allowed = before.start <= motion.start
                && motion.start.time() <= now + MOVE_AHEAD_MAX
                && may_be_at(cx.core, motion.position)
                && cx.core.config.rules.allows(&object.state, &before, motion).is_ok();
            if !allowed {
                return cx.send_client(from, ToPlayer::Corrected(before));
            }
            self.move_object(cx, avatar, *motion);
        }
        // Every move is echoed that was not corrected, also one that was ignored: the client measures world time by the echoes.
        let (generation, sequence) = (motion.generation, motion.sequence);
        let moved =
            ZoneMsg::ToPlayer(cx.zone(), cx.epoch(), ToPlayer::Moved { generation, sequence, time: now });
        cx.out.send(from, Core::latest_lane(8), moved);
    }

    /// Sets the motion of an object that the game or the zone steers. It counts even if the object has moved since the
    /// motion was decided: it gets the next sequence number.
    pub(in crate::primary) fn steer(
        &mut self,
        cx: &mut PrimaryContext<'_>,
        object: ObjectId,
        motion: Motion,
    ) {
        let current = cx.core.state.objects.get(object).map(|it| it.motion);
        let motion = match current.filter(|it| !motion.is_newer_than(it)) {
            Some(Motion { generation, sequence, .. }) => {
                Motion { generation, sequence: sequence.saturating_add(1), ..motion }
            }
            None => motion,
        };
        self.move_object(cx, object, motion);
    }

    /// Sets an object's motion from now on. The carrier is told, unless the object has changes that are not announced
    /// yet: their announcement shows the newest motion.
    fn move_object(&mut self, cx: &mut PrimaryContext<'_>, object: ObjectId, motion: Motion) {
        self.motions.set(cx.core, object, motion);
        if self.unannounced.is_announced(object) {
            cx.update_carrier(CarrierUpdate::Carry(object, motion));
        }
    }

    /// Sets an object's motion against its player's will, and sends the player a correction.
    fn correct(&mut self, cx: &mut PrimaryContext<'_>, object: ObjectId, motion: Motion) {
        self.steer(cx, object, motion);
        if let Some(address) = self.sessions.of_avatar(object) {
            cx.send_client(address, ToPlayer::Corrected(motion));
        }
    }

    /// Stops every object that has walked out of the world, at its edge.
    pub(super) fn stop_at_the_edge(&mut self, cx: &mut PrimaryContext<'_>, now: Time) {
        let world = cx.core.config.map.bounds();
        let is_out =
            |motion: &Motion| motion.velocity != Velocity::ZERO && !world.contains(motion.position_at(now));
        let strayed = cx.core.state.objects.iter().filter(|it| is_out(&it.motion));
        let stopped: Vec<_> =
            strayed.map(|it| (it.id, stopped(&it.motion, now, |place| world.contains(place)))).collect();
        for (object, motion) in stopped {
            self.correct(cx, object, motion);
        }
    }

    /// Stops an object that is far beyond the border before the zone there has taken it over.
    pub(in crate::primary) fn stop_strayed(
        &mut self,
        cx: &mut PrimaryContext<'_>,
        object: ObjectId,
        now: Time,
    ) {
        let Some(it) = cx.core.state.objects.get(object) else { return };
        let place = it.motion.position_at(now);
        if it.motion.velocity == Velocity::ZERO || cx.core.config.region().meets_disc(place, STRAY_MAX) {
            return;
        }
        let before = it.motion;
        let sequence = before.sequence.saturating_add(1);
        self.correct(cx, object, Motion { velocity: Velocity::ZERO, sequence, ..before.rebased(now) });
    }
}

/// Returns whether an object of ours may be at a place: in the world, and not far beyond our border.
fn may_be_at(core: &Core, place: Position) -> bool {
    if !core.config.is_meshed() {
        return core.config.region().contains(place);
    }
    core.config.map.bounds().contains(place) && core.config.region().meets_disc(place, stray_reach())
}

/// The greatest distance of an object from its owner's region.
fn stray_reach() -> Distance {
    wider(STRAY_MAX, HYSTERESIS)
}

/// The motion of an object that stops where it was in the last millisecond inside, or where it started: found by
/// halving the time in between.
fn stopped(motion: &Motion, now: Time, is_inside: impl Fn(Position) -> bool) -> Motion {
    let (mut inside, mut outside) = (motion.start.0, now.as_millis() + 1);
    while inside + 1 < outside {
        let middle = inside + (outside - inside) / 2;
        if is_inside(motion.position_at(Millis(middle).time())) {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    let at = motion.rebased(Millis(inside).time());
    Motion {
        velocity: Velocity::ZERO,
        sequence: motion.sequence.saturating_add(1),
        start: Millis::floor(now).max(motion.start),
        ..at
    }
}
