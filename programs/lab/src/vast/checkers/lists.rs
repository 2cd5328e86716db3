//! I1: nobody has oneself in the list, or somebody of a life that has not begun or is long over.

use super::{Look, Violations};

pub(super) fn check(look: &Look<'_>, violations: &mut Violations) {
    for (&who, it) in look.sitting {
        for (of, entry) in it.peer.list() {
            let life = entry.info().life;
            if of == who {
                violations.note("lists", || format!("{}: {who:?} has itself in the list", look.now));
            }
            if look.past.last_life(of) < life {
                violations
                    .note("lists", || format!("{}: {who:?} has {of:?} of a life to come, {life}", look.now));
            }
            let Some(over) = look.past.over_since(look.now, of, life) else { continue };
            // Silence is counted from the last word of them, or from when somebody else told of them.
            let silent = look.now.since(entry.heard());
            let is_hearsay = silent + look.bounds.last_word < over;
            let bound = if is_hearsay { look.bounds.hearsay } else { look.bounds.buried };
            if bound < over {
                violations.note("lists", || {
                    format!("{}: {who:?} has {of:?} of life {life}, over for {over}", look.now)
                });
            }
        }
    }
}
