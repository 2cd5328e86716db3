//! Between an offer and its answer nothing happens to an object: neither zone may decide alone. Every offer is
//! answered.

use super::surviving_log::{LogLine, SurvivingLog};
use crate::violation::Violations;
use game::PlayerId;
use machine::Time;
use space::{ObjectId, ZoneId};
use std::collections::BTreeMap;
use zone::Change;

const NAME: &str = "frozen";

#[derive(Default)]
struct FrozenObjects {
    /// Offered objects: the zone that is offered it, and the time.
    offered: BTreeMap<ObjectId, (ZoneId, Time)>,
    avatars: BTreeMap<PlayerId, ObjectId>,
}

pub fn end(logs: &[SurvivingLog<'_>], due: Option<Time>, out: &mut Violations) {
    for log in logs {
        let mut frozen = FrozenObjects::default();
        for line in &log.lines {
            // The new owner may have changed the object already, so even a read may see an old state.
            let read = line.execution.into_iter().flat_map(|it| &it.reads).map(|it| it.0);
            for object in read.filter(|it| frozen.offered.contains_key(it)) {
                out.add_at(line.at, NAME, format!("{} reads {object}, which is offered", log.describe(line)));
            }
            for change in &line.record.changes {
                if let Err(why) = frozen.take(line, change) {
                    out.add_at(line.at, NAME, format!("{}: {why}", log.describe(line)));
                }
            }
        }
        let open = frozen.offered.iter().filter(|(_, it)| due.is_some_and(|due| it.1 < due));
        for (object, (to, since)) in open {
            out.add(NAME, format!("{} offered {object} to {to} at {since}, and still does", log.zone));
        }
    }
}

impl FrozenObjects {
    fn take(&mut self, line: &LogLine<'_>, change: &Change) -> Result<(), String> {
        let is_offered = |it: &ObjectId| self.offered.contains_key(it);
        match change {
            Change::Put { object, .. } | Change::Removed { object, .. } if is_offered(object) => {
                Err(format!("{object} is offered, and written"))
            }
            Change::Acted { player, number, .. } if self.avatars.get(player).is_some_and(is_offered) => {
                Err(format!("{player} does action {number} while the avatar is offered"))
            }
            Change::Granted { objects, event, .. } => match objects.iter().find(|it| is_offered(it)) {
                Some(object) => Err(format!("{object} is offered, and locked for {event}")),
                None => Ok(()),
            },
            Change::Entered { player, avatar, .. } => {
                // Remembered here and below, so that a later action can be tied to its avatar.
                self.avatars.insert(*player, *avatar);
                Ok(())
            }
            Change::Brought { player, row } => {
                self.avatars.extend(row.avatar.map(|avatar| (*player, avatar)));
                Ok(())
            }
            Change::Offered { object, to } => match self.offered.insert(*object, (*to, line.at)) {
                Some((before, _)) => Err(format!("{object} is offered to {to}, and was to {before}")),
                None => Ok(()),
            },
            Change::Kept { object } => self.settle(*object, None),
            Change::Departed { object, to, .. } => self.settle(*object, Some(*to)),
            _ => Ok(()),
        }
    }

    /// Ends an offer: the object departs to `goes`, or stays with `None`.
    fn settle(&mut self, object: ObjectId, goes: Option<ZoneId>) -> Result<(), String> {
        match self.offered.remove(&object) {
            None => Err(format!("{object} is settled and was not offered")),
            Some((to, _)) if goes.is_some_and(|it| it != to) => {
                Err(format!("{object} departs for another than {to}, to whom it was offered"))
            }
            Some(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::scripted_log::{END, check_logs, event, object, put};
    use super::*;
    use game::Scope;
    use zone::{Cause, Outcome};

    const PLAYER: PlayerId = PlayerId(3);

    fn it() -> ObjectId {
        object(1, 5)
    }

    fn offered(to: u32) -> Change {
        Change::Offered { object: it(), to: ZoneId(to) }
    }

    fn violations(changes: &[Change]) -> Vec<String> {
        let entered = Change::Entered { player: PLAYER, session: 1, name: String::new(), avatar: it() };
        let script = [&[put(it(), 1, 1, b"a"), entered], changes].concat();
        let script = script.into_iter().map(|it| (Cause::Leadership, vec![it])).collect();
        check_logs(&[script], |logs, out| end(logs, Some(END), out))
    }

    fn acted() -> Change {
        Change::Acted { player: PLAYER, number: 1, outcome: Outcome::Done, acked: 0 }
    }

    #[test]
    fn an_offer_that_is_over_freezes_nothing() {
        let kept = Change::Kept { object: it() };
        let departed = Change::Departed { object: it(), to: ZoneId(2), incarnation: 2 };
        assert!(
            violations(&[acted(), offered(3), kept, put(it(), 1, 2, b"b"), offered(2), departed]).is_empty()
        );
    }

    #[test]
    fn nothing_happens_to_who_is_offered() {
        let (scope, objects) = (Scope::objects([it()]), vec![it()]);
        let granted = Change::Granted { event: event(2, 1), attempt: 1, scope, objects };
        let elsewhere = Change::Departed { object: it(), to: ZoneId(3), incarnation: 2 };
        let cases = [
            (put(it(), 1, 2, b"b"), "is offered, and written"),
            (Change::Removed { object: it(), version: 2 }, "is offered, and written"),
            (acted(), "does action 1"),
            (granted, "and locked for 2.1.1"),
            (offered(3), "and was to zone 2"),
            (elsewhere, "another than zone 2"),
        ];
        for (change, what) in cases {
            let found = violations(&[offered(2), change]);
            assert!(found[0].contains(what), "{what}: {found:?}");
        }
        assert!(violations(&[offered(2)])[0].contains("still does"));
        assert!(violations(&[Change::Kept { object: it() }])[0].contains("was not offered"));
    }
}
