//! What holds, and which rule each property needs.

use super::*;
use crate::models::{Depth, check_fails, check_holds};

const SMALL: Bounds =
    Bounds { replicas: 2, writes: 1, crashes: 1, alarms: 1, unknowns: 0, breaks: 0, epochs: 3 };

fn ours(durability: Durability) -> Rules {
    Rules { durability, plant: None, flaw: None }
}

#[test]
fn t1() {
    check_holds("batched", Failover { rules: ours(Durability::Batched), bounds: SMALL });
    check_holds(
        "batched, 1 break, unknown, 2 alarm, no crash",
        Failover {
            rules: ours(Durability::Batched),
            bounds: Bounds { crashes: 0, breaks: 1, alarms: 2, unknowns: 1, ..SMALL },
        },
    );
    check_holds(
        "batched, 1 break crash",
        Failover {
            rules: ours(Durability::Batched),
            bounds: Bounds { crashes: 1, breaks: 1, alarms: 0, ..SMALL },
        },
    );
    check_holds(
        "batched, 3 replicas",
        Failover {
            rules: ours(Durability::Batched),
            bounds: Bounds { replicas: 3, alarms: 0, crashes: 1, epochs: 3, ..SMALL },
        },
    );
    check_holds(
        "batched, 3 replicas, 1 alarm",
        Failover {
            rules: ours(Durability::Batched),
            bounds: Bounds { replicas: 3, alarms: 1, crashes: 0, epochs: 4, ..SMALL },
        },
    );
    check_holds(
        "synced, crash2",
        Failover {
            rules: ours(Durability::Synced),
            bounds: Bounds { alarms: 1, crashes: 2, epochs: 4, ..SMALL },
        },
    );
}
#[test]
fn props() {
    use Flaw::*;
    use Plant::*;
    let of = |plant, flaw, durability| Rules { durability, plant, flaw };
    let b = Durability::Batched;
    for (rules, bounds, property) in [
        (of(Some(AnnounceEarly), None, b), Bounds { crashes: 0, ..SMALL }, NOTHING_LOST),
        (of(Some(BackupForgets), None, b), SMALL, NOTHING_LOST),
        (of(Some(RestartReigns), None, b), SMALL, ONE_REIGN),
        (
            of(Some(ShorterWins), None, Durability::Synced),
            Bounds { crashes: 2, alarms: 0, ..SMALL },
            NOTHING_LOST,
        ),
        (of(Some(KeepSuffix), None, b), Bounds { alarms: 2, epochs: 4, crashes: 0, ..SMALL }, NOTHING_LOST),
        (of(Some(SoloWhileNaming), None, b), SMALL, NOTHING_LOST),
        (
            of(None, Some(ClaimUnsynced), Durability::Synced),
            Bounds { crashes: 2, epochs: 4, ..SMALL },
            NOTHING_LOST,
        ),
        (of(None, Some(LeaveForgotten), b), Bounds { unknowns: 1, ..SMALL }, NOTHING_LOST),
        (of(None, Some(EpochFromDirectory), b), SMALL, RESTS_WHOLE),
        (of(None, Some(FollowMidway), b), Bounds { crashes: 2, ..SMALL }, NOTHING_LOST),
    ] {
        use stateright::Checker;
        let checker = Failover { rules, bounds }
            .checker()
            .finish_when(stateright::HasDiscoveries::AllOf([property].into()))
            .timeout(std::time::Duration::from_secs(60))
            .spawn_bfs()
            .join();
        println!("== {rules:?} {property}: {} states", checker.unique_state_count());
        for (p, path) in checker.discoveries() {
            println!(
                "   {p}: {}",
                path.into_actions().iter().map(|it| format!("{it:?}")).collect::<Vec<_>>().join("; ")
            );
        }
    }
}
