//! Who sees whom: what each player has been told of, and who must be told when an object changes.

use super::Primary;
use super::reach::InSight;
use crate::config::VIEW_SLACK_PERCENT;
use crate::core::{Core, Out, Purpose};
use crate::msg::{Down, Shown};
use crate::table::Object;
use game::Objects;
use machine::{Address, Time};
use rustc_hash::FxHashMap;
use serde_bytes::ByteBuf;
use space::{Distance, Millis, Motion, ObjectId, Position, Velocity};
use std::collections::{BTreeMap, BTreeSet};

/// Both directions of "knows of".
#[derive(Debug, Default)]
pub(super) struct Views {
    known: BTreeMap<Address, BTreeSet<ObjectId>>,
    viewers: FxHashMap<ObjectId, Vec<Address>>,
}

impl Views {
    pub(super) fn know(&mut self, viewer: Address, object: ObjectId) {
        if self.known.entry(viewer).or_default().insert(object) {
            self.viewers.entry(object).or_default().push(viewer);
        }
    }

    fn hide(&mut self, viewer: Address, object: ObjectId) {
        if self.known.get_mut(&viewer).is_some_and(|it| it.remove(&object)) {
            self.drop_viewer(viewer, object);
        }
    }

    /// A viewer is gone.
    pub(super) fn forget_viewer(&mut self, viewer: Address) {
        for object in self.known.remove(&viewer).unwrap_or_default() {
            self.drop_viewer(viewer, object);
        }
    }

    /// An object is gone; says who knew of it.
    pub(super) fn forget_object(&mut self, object: ObjectId) -> Vec<Address> {
        let viewers = self.viewers.remove(&object).unwrap_or_default();
        for viewer in &viewers {
            if let Some(known) = self.known.get_mut(viewer) {
                known.remove(&object);
            }
        }
        viewers
    }

    pub(super) fn viewers(&self, object: ObjectId) -> &[Address] {
        self.viewers.get(&object).map_or(&[], Vec::as_slice)
    }

    pub(super) fn is_known(&self, object: ObjectId) -> bool {
        self.viewers.contains_key(&object)
    }

    fn known(&self, viewer: Address) -> impl Iterator<Item = ObjectId> {
        self.known.get(&viewer).into_iter().flatten().copied()
    }

    fn drop_viewer(&mut self, viewer: Address, object: ObjectId) {
        let Some(viewers) = self.viewers.get_mut(&object) else { return };
        viewers.retain(|&it| it != viewer);
        if viewers.is_empty() {
            self.viewers.remove(&object);
        }
    }
}

impl Primary {
    /// Looks who came into sight of whom, and stops who walks out of the world.
    pub(super) fn look_around(&mut self, core: &mut Core, out: &mut Out) {
        core.wake_after(Purpose::Views, core.config.timing.views);
        let now = core.world_now();
        self.stop_at_the_edge(core, now, out);
        core.state.objects.refresh(now);
        self.borders.refresh(now);
        for (address, avatar) in self.clients.entered() {
            self.look(core, address, avatar, now, out);
        }
        self.let_leave(core, out);
    }

    /// Everything a player sees, for one who has just come.
    pub(super) fn sight(&mut self, core: &mut Core, address: Address, avatar: ObjectId) -> Vec<Shown> {
        let now = core.world_now();
        core.state.objects.refresh(now);
        self.borders.refresh(now);
        self.views.forget_viewer(address);
        let Some(centre) = self.place_of(core, avatar, now) else { return Vec::new() };
        let mut objects = self.settled_near(core, centre, core.config.view(), now);
        objects.sort_unstable();
        self.come_into_sight(core, address, &objects)
    }

    fn look(&mut self, core: &Core, address: Address, avatar: ObjectId, now: Time, out: &mut Out) {
        let Some(centre) = self.place_of(core, avatar, now) else { return };
        let view = core.config.view();
        let mut fresh = self.settled_near(core, centre, view, now);
        fresh.retain(|&it| !self.views.viewers(it).contains(&address));
        fresh.sort_unstable();
        let shown = self.come_into_sight(core, address, &fresh);
        let far = with_slack(view);
        let is_far = |it: &ObjectId| {
            *it != avatar
                && match self.place_of(core, *it, now) {
                    Some(place) => !centre.is_within(far, place),
                    None => self.is_settled(*it), // Nobody tells of it any more.
                }
        };
        let hidden: Vec<_> = self.views.known(address).filter(is_far).collect();
        for &object in &hidden {
            self.views.hide(address, object);
        }
        if !shown.is_empty() || !hidden.is_empty() {
            self.say(address, Down::Views { shown, hidden }, out);
        }
    }

    /// Objects near a place of which everything written has been told.
    fn settled_near(&self, core: &Core, centre: Position, view: Distance, now: Time) -> Vec<ObjectId> {
        let mut near = Vec::new();
        let in_sight = InSight(&core.state.objects, self.borders.ghosts());
        in_sight.visit(centre, view, now, &mut |object, motion| {
            if centre.is_within(view, motion.position_at(now)) && self.is_settled(object) {
                near.push(object);
            }
        });
        near.sort_unstable();
        near.dedup();
        near
    }

    fn come_into_sight(&mut self, core: &Core, address: Address, objects: &[ObjectId]) -> Vec<Shown> {
        let mut shown = Vec::new();
        for &object in objects {
            let Some(viewer) = self.clients.viewer(address, object) else { continue };
            let Some(it) = self.object(core, object) else { continue };
            let Some(bytes) = core.config.rules.show(&it.state, viewer) else { continue };
            let (incarnation, version, motion) = (it.incarnation, it.version, it.motion);
            self.views.know(address, object);
            shown.push(Shown { object, incarnation, version, motion, shown: ByteBuf::from(bytes) });
        }
        shown
    }

    /// The players whose avatars are near a place.
    pub(super) fn viewers_near(&self, core: &mut Core, place: Position, reach: Distance) -> Vec<Address> {
        let now = core.world_now();
        let mut viewers = Vec::new();
        core.state.objects.visit(place, reach, now, &mut |object, motion| {
            if place.is_within(reach, motion.position_at(now)) {
                viewers.extend(self.clients.of_avatar(object));
            }
        });
        viewers.sort_unstable();
        viewers.dedup();
        viewers
    }

    /// An object of ours, or the ghost of another zone's.
    fn object<'a>(&'a self, core: &'a Core, object: ObjectId) -> Option<&'a Object> {
        core.state.objects.get(object).or_else(|| self.borders.ghosts().get(object))
    }

    fn place_of(&self, core: &Core, object: ObjectId, now: Time) -> Option<Position> {
        self.object(core, object).map(|it| it.motion.position_at(now))
    }

    /// Nobody walks out of the world: whoever would is stopped at its edge.
    fn stop_at_the_edge(&mut self, core: &mut Core, now: Time, out: &mut Out) {
        let region = core.config.map.bounds();
        let is_out =
            |motion: &Motion| motion.velocity != Velocity::ZERO && !region.contains(motion.position_at(now));
        let strayed: Vec<_> =
            core.state.objects.iter().filter(|it| is_out(&it.motion)).map(|it| (it.id, it.motion)).collect();
        let stopped: Vec<_> = strayed
            .iter()
            .map(|(id, motion)| (*id, stopped(motion, now, |place| region.contains(place))))
            .collect();
        for (object, motion) in stopped {
            self.steer(core, object, motion, out);
            if let Some(address) = self.clients.of_avatar(object) {
                self.say(address, Down::Corrected(motion), out);
            }
        }
    }
}

fn with_slack(view: Distance) -> Distance {
    let far = u64::from(view.millimetres()) * u64::from(100 + VIEW_SLACK_PERCENT) / 100;
    u32::try_from(far).ok().and_then(|it| Distance::new(it).ok()).unwrap_or(Distance::MAX)
}

/// The motion of somebody who stops at the last millisecond at which they were inside, or where they started.
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
