//! After the faults have ended and some time has passed, a primary reigns over every zone with a backup, every player is
//! in, every action is answered, and everybody's picture of the world is up to date.

use super::ghosts;
use crate::violation::Violations;
use crate::world::World;
use space::{ObjectId, ZoneId};
use std::collections::BTreeMap;
use zone::{Alone, Standing};

const NAME: &str = "recovery";

/// What the primaries knew of every object at some moment: everybody must know at least that a second later.
pub struct Agreement {
    reigned: Vec<ZoneId>,
    /// Their incarnations and versions.
    pub(super) objects: BTreeMap<ObjectId, (u32, u32)>,
}

impl Agreement {
    #[cfg(test)]
    pub(super) fn made_of(objects: impl Iterator<Item = (ObjectId, (u32, u32))>) -> Self {
        Self { reigned: Vec::new(), objects: objects.collect() }
    }

    /// What the primaries have told by now: the newest incarnation and version, if two have an object that goes over.
    pub fn of(world: &World) -> Self {
        let mut it = Self { reigned: Vec::new(), objects: BTreeMap::new() };
        for zone in world.layout().zones() {
            let Some((_, primary)) = world.primary(zone) else { continue };
            it.reigned.push(zone);
            for object in primary.state().objects.iter() {
                let newest = it.objects.entry(object.id).or_default();
                *newest = (*newest).max((object.incarnation, object.version));
            }
        }
        it
    }
}

/// Judges a healed world; `earlier` is a second old.
pub fn check(world: &World, earlier: &Agreement, out: &mut Violations) {
    for zone in world.layout().zones() {
        let reigns = world.primary(zone).filter(|_| earlier.reigned.contains(&zone));
        let Some((host, primary)) = reigns else {
            return out.add(NAME, format!("nobody reigns over {zone}"));
        };
        if !matches!(primary.standing(), Standing::Primary(_, Alone::No)) {
            out.add(NAME, format!("{host:?} still reigns alone over {zone}"));
        }
    }
    let now = Agreement::of(world);
    for (host, primary) in world.layout().zones().filter_map(|it| world.primary(it)) {
        ghosts::check(host, ghosts::of(primary), earlier, &now, out);
    }
    for (address, player) in world.players() {
        if !player.is_in() {
            out.add(NAME, format!("the player at {address:?} is not in"));
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
