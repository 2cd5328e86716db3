//! What holds, and which rule each property needs.

use super::*;
use crate::models::{Depth, check_fails, check_holds};

const SMALL: Bounds =
    Bounds { replicas: 2, writes: 1, crashes: 1, alarms: 1, unknowns: 0, breaks: 0, epochs: 3, link: 3 };

fn failover(durability: Durability, bounds: Bounds) -> Failover {
    Failover { rules: Rules { durability, plant: None, flaw: None }, bounds }
}

fn planted(plant: Plant, bounds: Bounds) -> Failover {
    Failover { rules: Rules { durability: Durability::Batched, plant: Some(plant), flaw: None }, bounds }
}

fn flawed(flaw: Flaw, bounds: Bounds) -> Failover {
    Failover { rules: Rules { durability: Durability::Batched, plant: None, flaw: Some(flaw) }, bounds }
}

#[test]
fn nothing_announced_is_undone() {
    let depth = Depth::wanted();
    for durability in [Durability::Batched, Durability::Synced] {
        check_holds(&format!("failover, {durability:?}"), failover(durability, SMALL), depth.states());
    }
    let unknowns = Bounds { unknowns: 1, ..SMALL };
    check_holds("failover, answers lost", failover(Durability::Batched, unknowns), depth.states());
}

/// The paper's rules first.
#[test]
fn every_rule_is_needed() {
    check_fails("the paper: announced early", planted(Plant::AnnounceEarly, SMALL), NOTHING_LOST);
    check_fails("the paper: promoted unasked", planted(Plant::PromoteUnasked, SMALL), ONE_HISTORY);
    check_fails("alone unasked", planted(Plant::SoloUnasked, SMALL), ONE_HISTORY);
    check_fails("alone, unsynced", planted(Plant::SoloUnsynced, SMALL), NOTHING_LOST);
    check_fails("alone while naming", planted(Plant::SoloWhileNaming, SMALL), NOTHING_LOST);
    check_fails("reigning on after a restart", planted(Plant::RestartReigns, SMALL), NOTHING_LOST);
    check_fails("promoted, unsynced", flawed(Flaw::PromoteUnsynced, SMALL), NOTHING_LOST);
}
