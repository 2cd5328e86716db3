//! Between an offer and its answer nothing happens to an object: nobody knows whose it is. And every offer is answered.

use super::chain::{Chain, Line};
use crate::violation::Violations;
use game::PlayerId;
use machine::Time;
use space::{ObjectId, ZoneId};
use std::collections::BTreeMap;
use zone::Change;

const NAME: &str = "frozen";

#[derive(Default)]
struct Frozen {
    /// Offered objects, to whom, since when.
    offered: BTreeMap<ObjectId, (ZoneId, Time)>,
    avatars: BTreeMap<PlayerId, ObjectId>,
}

pub fn end(chains: &[Chain<'_>], due: Option<Time>, out: &mut Violations) {
    for chain in chains {
        let mut frozen = Frozen::default();
        for line in &chain.lines {
            let read = line.ran.into_iter().flat_map(|it| &it.reads).map(|it| it.0);
            for object in read.filter(|it| frozen.offered.contains_key(it)) {
                out.add_at(line.at, NAME, format!("{} reads {object}, which is offered", chain.place(line)));
            }
            for change in &line.record.changes {
                if let Err(why) = frozen.take(line, change) {
                    out.add_at(line.at, NAME, format!("{}: {why}", chain.place(line)));
                }
            }
        }
        let open = frozen.offered.iter().filter(|(_, it)| due.is_some_and(|due| it.1 < due));
        for (object, (to, since)) in open {
            out.add(NAME, format!("{} offered {object} to {to} at {since}, and still does", chain.zone));
        }
    }
}

impl Frozen {
    fn take(&mut self, line: &Line<'_>, change: &Change) -> Result<(), String> {
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

    /// An offer is over.
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
    use super::super::story::{END, event, judged, object, put};
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

    fn verdict(changes: &[Change]) -> Vec<String> {
        let entered = Change::Entered { player: PLAYER, session: 1, name: String::new(), avatar: it() };
        let told = [&[put(it(), 1, 1, b"a"), entered], changes].concat();
        let told = told.into_iter().map(|it| (Cause::Reign, vec![it])).collect();
        judged(&[told], |chains, out| end(chains, Some(END), out))
    }

    fn acted() -> Change {
        Change::Acted { player: PLAYER, number: 1, outcome: Outcome::Done, acked: 0 }
    }

    #[test]
    fn an_offer_that_is_over_freezes_nothing() {
        let kept = Change::Kept { object: it() };
        let departed = Change::Departed { object: it(), to: ZoneId(2), incarnation: 2 };
        assert!(
            verdict(&[acted(), offered(3), kept, put(it(), 1, 2, b"b"), offered(2), departed]).is_empty()
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
            let found = verdict(&[offered(2), change]);
            assert!(found[0].contains(what), "{what}: {found:?}");
        }
        assert!(verdict(&[offered(2)])[0].contains("still does"));
        assert!(verdict(&[Change::Kept { object: it() }])[0].contains("was not offered"));
    }
}
