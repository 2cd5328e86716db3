//! When the world has healed, what a zone knows of another's objects is what their owner has, at most a second late.

use super::recovery::Agreement;
use crate::violation::Violations;
use machine::Address;
use space::ObjectId;
use zone::Replica;

const NAME: &str = "ghosts";

/// What a replica knows of other zones' objects: which, their incarnations and versions.
pub fn of(replica: &Replica) -> Vec<(ObjectId, u32, u32)> {
    replica.ghosts().into_iter().map(|(_, it)| (it.id, it.incarnation, it.version)).collect()
}

/// Looks at the ghosts of a primary; `earlier` is a second old.
pub fn check(
    host: Address,
    ghosts: Vec<(ObjectId, u32, u32)>,
    earlier: &Agreement,
    now: &Agreement,
    out: &mut Violations,
) {
    for (object, incarnation, version) in ghosts {
        let ghost = (incarnation, version);
        match (earlier.objects.get(&object), now.objects.get(&object)) {
            (Some(known), _) if ghost < *known => {
                out.add(NAME, format!("{host:?} knows version {ghost:?} of {object}, not {known:?}"));
            }
            (None, None) => out.add(NAME, format!("{host:?} still knows {object}, which is gone")),
            (_, Some(known)) if *known < ghost => {
                out.add(NAME, format!("{host:?} knows version {ghost:?} of {object}, its owner {known:?}"));
            }
            _ => (),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::story::object;
    use super::*;

    fn verdict(ghosts: &[(u32, u32, u32)]) -> Vec<String> {
        let agreement = |objects: &[(u32, (u32, u32))]| {
            Agreement::made_of(objects.iter().map(|&(it, version)| (object(2, it), version)))
        };
        let (earlier, now) = (agreement(&[(1, (1, 4)), (2, (2, 6))]), agreement(&[(1, (1, 5)), (3, (1, 1))]));
        let ghosts = ghosts.iter().map(|&(it, owner, version)| (object(2, it), owner, version)).collect();
        let mut out = Violations::new(1);
        check(Address(1), ghosts, &earlier, &now, &mut out);
        out.into_vec().into_iter().map(|it| it.detail).collect()
    }

    #[test]
    fn a_second_late_is_in_time() {
        assert!(verdict(&[(1, 1, 4), (2, 2, 6), (3, 1, 1)]).is_empty());
        assert!(verdict(&[(1, 1, 5)]).is_empty());
    }

    #[test]
    fn old_invented_and_departed_ghosts_are_noticed() {
        assert!(verdict(&[(1, 1, 3)])[0].contains("not (1, 4)"));
        assert!(verdict(&[(2, 1, 9)])[0].contains("not (2, 6)"));
        assert!(verdict(&[(1, 1, 6)])[0].contains("its owner (1, 5)"));
        assert!(verdict(&[(4, 1, 1)])[0].contains("which is gone"));
    }
}
