//! What holds, and which rule each property needs.

use super::*;
use crate::models::{Depth, check_fails, check_holds};

const SMALL: Bounds = Bounds { wishes: 2, crashes: 1, cuts: 1, returns: 0, recruits: 0 };
const OURS: Rules = Rules { plant: None, flaw: None };

#[test]
fn t() {
    check_holds("cursor", Cursor { rules: OURS, bounds: SMALL });
    check_holds("cursor, returns", Cursor { rules: OURS, bounds: Bounds { returns: 1, cuts: 0, ..SMALL } });
    check_holds(
        "cursor, 2 crashes",
        Cursor { rules: OURS, bounds: Bounds { crashes: 2, cuts: 0, recruits: 1, ..SMALL } },
    );
    check_holds(
        "cursor, 3",
        Cursor { rules: OURS, bounds: Bounds { wishes: 3, crashes: 1, cuts: 0, ..SMALL } },
    );
    for (plant, property) in [
        (Plant::NoCursor, ONCE),
        (Plant::RunAhead, IN_ORDER),
        (Plant::ForgetResults, ANSWERED),
        (Plant::AnnounceEarly, HEARD_IS_TRUE),
    ] {
        check_fails(
            &format!("{plant:?}"),
            Cursor { rules: Rules { plant: Some(plant), flaw: None }, bounds: SMALL },
            property,
        );
    }
    check_fails(
        "solounsynced",
        Cursor {
            rules: Rules { plant: Some(Plant::SoloUnsynced), flaw: None },
            bounds: Bounds { crashes: 2, ..SMALL },
        },
        HEARD_IS_TRUE,
    );
    check_fails(
        "sendonce",
        Cursor { rules: Rules { plant: None, flaw: Some(Flaw::SendOnce) }, bounds: SMALL },
        ANSWERED,
    );
    check_fails(
        "anew",
        Cursor {
            rules: Rules { plant: None, flaw: Some(Flaw::NumberAnew) },
            bounds: Bounds { returns: 1, ..SMALL },
        },
        RIGHT_ANSWER,
    );
    let _ = Depth::wanted();
}
