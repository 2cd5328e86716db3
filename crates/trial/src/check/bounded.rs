//! Queues stay below their limits.

use crate::violation::Violations;
use crate::world::World;
use zone::config::AHEAD_MAX;

const NAME: &str = "bounded";

/// Records that may wait to be told: what eight megabytes hold, at least a few dozen bytes each.
const PENDING_MAX: usize = 200_000;

/// Looks at every host, now and then.
pub fn check(world: &World, out: &mut Violations) {
    for (host, replica) in world.replicas() {
        let waiting = replica.waiting();
        if PENDING_MAX + AHEAD_MAX < waiting {
            out.add(NAME, format!("{waiting} things wait in {host:?}"));
        }
    }
}
