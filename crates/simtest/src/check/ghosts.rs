//! When the world has healed, a zone's ghosts are as their owners have the objects, at most a second late.

use super::recovery::RecoveryBaseline;
use crate::violation::Violations;
use machine::Address;
use space::ObjectId;
use zone::Replica;

const NAME: &str = "ghosts";

/// Ghosts of a replica: object, incarnation and version.
pub fn of(replica: &Replica) -> Vec<(ObjectId, u32, u32)> {
    replica.ghosts().into_iter().map(|(_, it)| (it.id, it.incarnation, it.version)).collect()
}

/// Checks the ghosts of a primary; `earlier` is a second old.
pub fn check(
    host: Address,
    ghosts: Vec<(ObjectId, u32, u32)>,
    earlier: &RecoveryBaseline,
    now: &RecoveryBaseline,
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
    use super::super::scripted_log::object;
    use super::*;

    fn violations(ghosts: &[(u32, u32, u32)]) -> Vec<String> {
        let baseline = |objects: &[(u32, (u32, u32))]| {
            RecoveryBaseline::made_of(objects.iter().map(|&(it, version)| (object(2, it), version)))
        };
        let (earlier, now) = (baseline(&[(1, (1, 4)), (2, (2, 6))]), baseline(&[(1, (1, 5)), (3, (1, 1))]));
        let ghosts = ghosts.iter().map(|&(it, owner, version)| (object(2, it), owner, version)).collect();
        let mut out = Violations::new(1);
        check(Address(1), ghosts, &earlier, &now, &mut out);
        out.into_vec().into_iter().map(|it| it.detail).collect()
    }

    #[test]
    fn a_second_late_is_in_time() {
        assert!(violations(&[(1, 1, 4), (2, 2, 6), (3, 1, 1)]).is_empty());
        assert!(violations(&[(1, 1, 5)]).is_empty());
    }

    #[test]
    fn old_invented_and_departed_ghosts_are_noticed() {
        assert!(violations(&[(1, 1, 3)])[0].contains("not (1, 4)"));
        assert!(violations(&[(2, 1, 9)])[0].contains("not (2, 6)"));
        assert!(violations(&[(1, 1, 6)])[0].contains("its owner (1, 5)"));
        assert!(violations(&[(4, 1, 1)])[0].contains("which is gone"));
    }
}
