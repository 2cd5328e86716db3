//! What holds, and which rule each property needs.

use super::*;
use crate::models::{Depth, check_fails, check_holds};

const SMALL: Bounds = Bounds { wishes: 2, crashes: 1, cuts: 1, returns: 0, recruits: 0 };

const fn ours(network: Network) -> Rules {
    Rules { network, plant: None, flaw: None }
}

#[test]
fn ctry() {
    for (name, network) in [("ordered", Network::Ordered), ("wild", Network::Wild)] {
        let t = |text: &str, bounds| {
            check_holds(&format!("cursor {name} {text}"), Cursor { rules: ours(network), bounds });
        };
        t("small", SMALL);
        t("3 wishes", Bounds { wishes: 3, cuts: 0, ..SMALL });
        t("returns", Bounds { returns: 1, cuts: 0, ..SMALL });
        t("returns cut", Bounds { returns: 1, cuts: 1, ..SMALL });
        t("2 crashes", Bounds { crashes: 2, recruits: 1, cuts: 0, ..SMALL });
        t("2 crashes, cut", Bounds { crashes: 2, recruits: 1, cuts: 1, ..SMALL });
    }
    for (plant, property) in
        [(Plant::NoCursor, ONCE), (Plant::ForgetResults, ANSWERED), (Plant::AnnounceEarly, HEARD_IS_TRUE)]
    {
        check_fails(
            &format!("{plant:?}"),
            Cursor { rules: Rules { plant: Some(plant), ..ours(Network::Ordered) }, bounds: SMALL },
            property,
        );
    }
    check_fails(
        "solounsynced",
        Cursor {
            rules: Rules { plant: Some(Plant::SoloUnsynced), ..ours(Network::Ordered) },
            bounds: Bounds { crashes: 2, ..SMALL },
        },
        HEARD_IS_TRUE,
    );
    check_fails(
        "sendonce",
        Cursor { rules: Rules { flaw: Some(Flaw::SendOnce), ..ours(Network::Ordered) }, bounds: SMALL },
        ANSWERED,
    );
    check_fails(
        "runahead",
        Cursor { rules: Rules { flaw: Some(Flaw::RunAhead), ..ours(Network::Wild) }, bounds: SMALL },
        IN_ORDER,
    );
    check_fails(
        "anew",
        Cursor {
            rules: Rules { flaw: Some(Flaw::NumberAnew), ..ours(Network::Ordered) },
            bounds: Bounds { returns: 1, ..SMALL },
        },
        RIGHT_ANSWER,
    );
    let _ = Depth::wanted();
}
