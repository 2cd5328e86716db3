//! What holds, and which rule each property needs.

use super::*;
use crate::models::{Depth, check_fails, check_holds};

const SMALL: Bounds =
    Bounds { replicas: 2, writes: 1, crashes: 1, alarms: 1, unknowns: 0, breaks: 0, epochs: 3, link: 3 };

fn ours(durability: Durability) -> Rules {
    Rules { durability, plant: None, flaw: None }
}

#[test]
fn measure() {
    let t = |durability, bounds| {
        check_holds(&format!("{durability:?} {bounds:?}"), Failover { rules: ours(durability), bounds });
    };
    use Durability::*;
    t(Batched, SMALL);
    t(Batched, Bounds { link: 2, ..SMALL });
    t(Synced, Bounds { crashes: 2, alarms: 0, ..SMALL });
    t(Synced, Bounds { crashes: 2, alarms: 0, link: 2, ..SMALL });
    t(Batched, Bounds { replicas: 3, crashes: 0, alarms: 1, epochs: 2, ..SMALL });
    t(Batched, Bounds { replicas: 3, crashes: 1, alarms: 0, epochs: 2, link: 2, ..SMALL });
    t(Batched, Bounds { replicas: 3, crashes: 0, alarms: 1, epochs: 3, link: 2, ..SMALL });
}
