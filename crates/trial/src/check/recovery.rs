//! After the faults have ended and some time has passed, a primary reigns with a backup, every player is in, every
//! action is answered, and everybody's picture of the world is up to date.

use crate::violation::Violations;
use crate::world::World;
use space::ObjectId;
use std::collections::BTreeMap;
use zone::{Alone, Standing};

const NAME: &str = "recovery";

/// What the primary knew of every object at some moment: everybody must know at least that a second later.
pub struct Agreement(BTreeMap<ObjectId, u32>);

impl Agreement {
    /// What the primary has told by now.
    pub fn of(world: &World) -> Option<Self> {
        let (_, primary) = world.primary()?;
        Some(Self(primary.state().objects.iter().map(|it| (it.id, it.version)).collect()))
    }
}

/// Judges a healed world; `earlier` is a second old.
pub fn check(world: &World, earlier: Option<&Agreement>, out: &mut Violations) {
    let (Some((host, primary)), Some(earlier)) = (world.primary(), earlier) else {
        return out.add(NAME, "nobody reigns".to_owned());
    };
    if !matches!(primary.standing(), Standing::Primary(_, Alone::No)) {
        out.add(NAME, format!("{host:?} still reigns alone"));
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
        for (object, _, version) in player.versions() {
            match earlier.0.get(&object) {
                Some(&known) if version < known => {
                    out.add(
                        NAME,
                        format!("the player at {address:?} knows version {version} of {object}, not {known}"),
                    );
                }
                None if primary.state().objects.get(object).is_none() => {
                    out.add(NAME, format!("the player at {address:?} still sees {object} (version {version}, {:?}), which is gone", player.epoch()));
                }
                _ => (),
            }
        }
    }
}
