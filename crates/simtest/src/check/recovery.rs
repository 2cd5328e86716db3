//! After the faults have ended and some time has passed, every zone has a primary and a backup, every player is
//! in, every action is answered, and every client's view is up to date.

use super::ghosts;
use crate::simulated_world::SimulatedWorld;
use crate::violation::Violations;
use space::{ObjectId, ZoneId};
use std::collections::BTreeMap;
use zone::{Alone, ReplicaStatus};

const NAME: &str = "recovery";

/// Versions of all objects as the primaries had them at some moment: a second later every view must be as new.
pub struct RecoveryBaseline {
    led_zones: Vec<ZoneId>,
    /// Incarnation and version of every object.
    pub(super) objects: BTreeMap<ObjectId, (u32, u32)>,
}

impl RecoveryBaseline {
    #[cfg(test)]
    pub(super) fn made_of(objects: impl Iterator<Item = (ObjectId, (u32, u32))>) -> Self {
        Self { led_zones: Vec::new(), objects: objects.collect() }
    }

    /// Takes the versions of all primaries: the newest one, if two have an object that is transferred.
    pub fn of(world: &SimulatedWorld) -> Self {
        let mut it = Self { led_zones: Vec::new(), objects: BTreeMap::new() };
        for zone in world.layout().zones() {
            let Some((_, primary)) = world.primary(zone) else { continue };
            it.led_zones.push(zone);
            for object in primary.state().objects.iter() {
                let newest = it.objects.entry(object.id).or_default();
                *newest = (*newest).max((object.incarnation, object.version));
            }
        }
        it
    }
}

/// Checks a healed world; `earlier` is a second old.
pub fn check(world: &SimulatedWorld, earlier: &RecoveryBaseline, out: &mut Violations) {
    for zone in world.layout().zones() {
        let led = world.primary(zone).filter(|_| earlier.led_zones.contains(&zone));
        let Some((host, primary)) = led else {
            // Nothing else can be right in such a world.
            return out.add(NAME, format!("{zone} has no primary"));
        };
        if !matches!(primary.status(), ReplicaStatus::Primary(_, Alone::No)) {
            out.add(NAME, format!("{host:?} is still alone as primary of {zone}"));
        }
    }
    let now = RecoveryBaseline::of(world);
    for (host, primary) in world.layout().zones().filter_map(|it| world.primary(it)) {
        ghosts::check(host, ghosts::of(primary), earlier, &now, out);
    }
    for (address, player) in world.players() {
        if !player.is_in() {
            out.add(NAME, format!("the player at {address:?} is not in"));
            // A player who is not in has no view to compare.
            continue;
        }
        if 0 < player.unanswered() {
            out.add(
                NAME,
                format!("{} actions of the player at {address:?} are not answered", player.unanswered()),
            );
        }
        for (object, incarnation, version) in player.versions() {
            let sees = (incarnation, version);
            match earlier.objects.get(&object) {
                Some(known) if sees < *known => {
                    let text = format!(
                        "the player at {address:?} knows version {sees:?} of {object}, not {known:?}"
                    );
                    out.add(NAME, text);
                }
                None if !now.objects.contains_key(&object) => {
                    out.add(NAME, format!("the player at {address:?} still sees {object} (version {version}, {:?}), which is gone", player.epoch()));
                }
                _ => (),
            }
        }
    }
}
