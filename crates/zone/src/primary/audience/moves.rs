//! Moves: a change of motion and of nothing else. They are told to clients, neighbours and backup without a record.

use super::Audience;
use crate::carrier_update::CarrierUpdate;
use crate::config::{HYSTERESIS, MOVE_AHEAD_MAX, STRAY_MAX};
use crate::core::Core;
use crate::msg::{Down, Msg};
use crate::primary::context::Ctx;
use crate::primary::execution::wider;
use machine::{Address, Time};
use space::{Distance, Millis, Motion, ObjectId, Position, Velocity};

impl Audience {
    /// A client says how its avatar moves.
    pub(in crate::primary) fn on_move(&mut self, cx: &mut Ctx<'_>, from: Address, motion: &Motion) {
        let Some(avatar) = self.sessions.avatar(from) else { return };
        let now = cx.world_now();
        let Some(object) = cx.core.state.objects.get(avatar) else { return };
        let before = object.motion;
        // If an event has set the motion since, what the client sent before it knew does not count.
        if motion.generation == before.generation && motion.is_newer_than(&before) {
            let allowed = before.start <= motion.start
                && motion.start.time() <= now + MOVE_AHEAD_MAX
                && may_be_at(cx.core, motion.position)
                && cx.core.config.rules.allows(&object.state, &before, motion).is_ok();
            if !allowed {
                return cx.say(from, Down::Corrected(before));
            }
            self.move_object(cx, avatar, *motion);
        }
        let (generation, sequence) = (motion.generation, motion.sequence);
        let moved = Msg::Down(cx.zone(), cx.epoch(), Down::Moved { generation, sequence, time: now });
        cx.out.send(from, Core::key(8), moved);
    }

    /// An object without a player changes its course. A course that was decided a moment ago counts although the object
    /// has moved since.
    pub(in crate::primary) fn steer(&mut self, cx: &mut Ctx<'_>, object: ObjectId, motion: Motion) {
        let current = cx.core.state.objects.get(object).map(|it| it.motion);
        let motion = match current.filter(|it| !motion.is_newer_than(it)) {
            Some(Motion { generation, sequence, .. }) => {
                Motion { generation, sequence: sequence.saturating_add(1), ..motion }
            }
            None => motion,
        };
        self.move_object(cx, object, motion);
    }

    /// An object moves like this from now on. The carrier hears of it, unless the object itself is not announced yet.
    fn move_object(&mut self, cx: &mut Ctx<'_>, object: ObjectId, motion: Motion) {
        self.motions.set(cx.core, object, motion);
        if self.unannounced.is_settled(object) {
            cx.update_carrier(CarrierUpdate::Carry(object, motion));
        }
    }

    /// Sets an object's motion against its player's will, and tells the player.
    fn correct(&mut self, cx: &mut Ctx<'_>, object: ObjectId, motion: Motion) {
        self.steer(cx, object, motion);
        if let Some(address) = self.sessions.of_avatar(object) {
            cx.say(address, Down::Corrected(motion));
        }
    }

    /// Stops every object that walks out of the world at its edge.
    pub(super) fn stop_at_the_edge(&mut self, cx: &mut Ctx<'_>, now: Time) {
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
    pub(in crate::primary) fn stop_strayed(&mut self, cx: &mut Ctx<'_>, object: ObjectId, now: Time) {
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

/// Whether an object of ours may be at a place: in the world, and not far beyond our border.
fn may_be_at(core: &Core, place: Position) -> bool {
    if !core.config.is_meshed() {
        return core.config.region().contains(place);
    }
    core.config.map.bounds().contains(place) && core.config.region().meets_disc(place, stray_reach())
}

/// How far from its owner's region an object may be.
fn stray_reach() -> Distance {
    wider(STRAY_MAX, HYSTERESIS)
}

/// The motion of an object that stops at the last millisecond at which it was inside, or where it started.
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
