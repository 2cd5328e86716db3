//! I1: no peer has itself in its list, or a peer of a life that has not begun or is long over.

use super::{Inspection, OverlayViolations};

pub(super) fn check(inspection: &Inspection<'_>, violations: &mut OverlayViolations) {
    for (&who, it) in inspection.present {
        for (of, entry) in it.peer.neighbours() {
            let life = entry.info().life;
            if of == who {
                violations.note("lists", || format!("{}: {who:?} has itself in the list", inspection.now));
            }
            if inspection.past.last_life(of) < life {
                violations.note("lists", || {
                    format!("{}: {who:?} has {of:?} of a life to come, {life}", inspection.now)
                });
            }
            let Some(over) = inspection.past.over_since(inspection.now, of, life) else { continue };
            // The peer counts the silence from the last message of the other, or from another peer's report about it.
            let silent = inspection.now.since(entry.heard());
            let is_reported = silent + inspection.bounds.last_word < over;
            let bound = if is_reported { inspection.bounds.reported } else { inspection.bounds.removed };
            if bound < over {
                violations.note("lists", || {
                    format!("{}: {who:?} has {of:?} of life {life}, over for {over}", inspection.now)
                });
            }
        }
    }
}
