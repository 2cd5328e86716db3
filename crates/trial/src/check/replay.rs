//! A single-threaded reference that executes the surviving history again, from the inputs, chance and motions that
//! were noted, comes to the same effects and the same state.

use crate::judge::About;
use crate::ledger::{Ledger, Logged, Name};
use crate::violation::Violations;
use crate::world::World;
use game::{Call, Draft, Names, Objects, Rules};
use machine::{Rng, Time};
use space::{Distance, Motion, ObjectId, Polygon, Position};
use std::collections::BTreeMap;
use zone::{Asked, Change, Ran, Record, State, changes_of};

const NAME: &str = "replay";

pub fn end(records: &[Name], ledger: &Ledger, about: &About, out: &mut Violations) -> Option<State> {
    let mut state = State::new(about.zone);
    for name in records {
        let Some((record, logged)) = entry(ledger, *name) else {
            out.add(NAME, format!("record {name:?} is nowhere"));
            return None;
        };
        if let Err(why) = step(&mut state, &record, logged.ran.as_ref(), about) {
            out.add_at(logged.at, NAME, format!("record {} ({:?}): {why}", record.index, record.cause));
            return None;
        }
    }
    Some(state)
}

fn step(state: &mut State, record: &Record, ran: Option<&Ran>, about: &About) -> Result<(), String> {
    if let Some(ran) = ran {
        execute(state, record, ran, &*about.rules, &about.region)?;
    }
    state.apply(record).map_err(|misfit| misfit.to_string())
}

/// Whoever has the log that the reference executed has the reference's state.
pub fn same_end(world: &World, state: &State, out: &mut Violations) {
    for (host, replica) in world.replicas() {
        if replica.head() == state.head
            && replica.state().epoch == state.epoch
            && replica.state().hash() != state.hash()
        {
            out.add(
                NAME,
                format!("{host:?} ends with another state than the reference at record {}", state.head),
            );
        }
    }
}

fn entry(ledger: &Ledger, name: Name) -> Option<(Record, &Logged)> {
    let logged = ledger.records.get(&name)?;
    Some((Record::from_bytes(&logged.bytes)?, logged))
}

fn execute(
    state: &mut State,
    record: &Record,
    ran: &Ran,
    rules: &dyn Rules,
    region: &Polygon,
) -> Result<(), String> {
    let motions: BTreeMap<ObjectId, Motion> = ran.reads.iter().copied().collect();
    for (&object, &motion) in &motions {
        state.objects.set_motion(object, motion);
    }
    let known = Known { state, motions: &motions };
    let call = call(&ran.asked, region);
    let names = Names { zone: state.zone, epoch: record.epoch, next: ran.next_name };
    let mut draft =
        Draft::new(&known, ran.scope.clone(), call.actor(), ran.time, Rng::seeded(ran.seed), names);
    let result = rules.run(&mut draft, call);
    let finished = draft.finish();
    match (&result, ran.refused) {
        (Ok(_), false) => (),
        (Err(_), true) => return no_effects(record),
        (Ok(_), true) => return Err("it was refused, the reference did it".to_owned()),
        (Err(why), false) => return Err(format!("it was done, the reference refused it: {why:?}")),
    }
    let (product, _) = finished.map_err(|fault| format!("the reference found a fault: {fault}"))?;
    let expected = changes_of(state, record.epoch, record.index, &product);
    let effects: Vec<_> = record.changes.iter().filter(|it| is_effect(it)).cloned().collect();
    if effects != expected {
        return Err(format!("it led to {effects:?}, in the reference to {expected:?}"));
    }
    Ok(())
}

/// What only a game can cause. (The world's own object is put by the zone that founds the world.)
fn is_effect(change: &Change) -> bool {
    match change {
        Change::Put { object, version, .. } => *object != game::WORLD || 1 < *version,
        Change::Removed { .. } | Change::TimerSet { .. } | Change::LetterSent { .. } => true,
        _ => false,
    }
}

fn no_effects(record: &Record) -> Result<(), String> {
    match record.changes.iter().find(|it| is_effect(it)) {
        Some(change) => Err(format!("it was refused and led to {change:?}")),
        None => Ok(()),
    }
}

fn call<'a>(asked: &'a Asked, region: &'a Polygon) -> Call<'a> {
    match asked {
        Asked::Populate => Call::Populate { region },
        Asked::Act { actor, action } => Call::Act { actor: *actor, action },
        Asked::Letter { to, letter } => Call::Letter { to: *to, letter },
        Asked::Think { object } => Call::Think { object: *object },
        Asked::Join { player, name } => Call::Join { player: *player, name },
        Asked::Leave { avatar } => Call::Leave { avatar: *avatar },
    }
}

/// The reference's objects, where the noted motions have them. Whom the event did not read it cannot have found.
struct Known<'a> {
    state: &'a State,
    motions: &'a BTreeMap<ObjectId, Motion>,
}

impl Objects for Known<'_> {
    fn find(&self, object: ObjectId) -> Option<(&Motion, &[u8])> {
        self.state.objects.get(object).map(|it| (&it.motion, it.state.as_slice()))
    }

    fn visit(&self, _: Position, _: Distance, _: Time, visit: &mut dyn FnMut(ObjectId, &Motion)) {
        for (&object, motion) in self.motions {
            visit(object, motion);
        }
    }
}
