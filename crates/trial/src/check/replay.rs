//! A single-threaded reference that executes the surviving histories again, from the inputs, chance and motions that
//! were noted, comes to the same effects and the same states. All zones' records in one order: an event of several
//! zones must come to the same as if there had been one.

mod joint;

use super::chain::{Chain, Line};
use super::one_order::Order;
use crate::judge::About;
use crate::violation::Violations;
use crate::world::World;
use game::{Call, Draft, Names, Objects, Product};
use machine::{Rng, Time};
use space::{Distance, Motion, ObjectId, Polygon, Position};
use std::collections::BTreeMap;
use zone::{Asked, Change, Object, Ran, Record, State, changes_of};

const NAME: &str = "replay";

pub fn end(chains: &[Chain<'_>], order: &Order, out: &mut Violations) -> Vec<State> {
    let mut states: Vec<_> = chains.iter().map(|it| State::new(it.zone)).collect();
    for &(place, number) in order {
        let (chain, line) = (&chains[place], &chains[place].lines[number]);
        if let Err(why) = step(&mut states, place, line, chain.about) {
            out.add_at(line.at, NAME, format!("{}: {why}", chain.place(line)));
            return Vec::new();
        }
    }
    if let Some(name) = chains.iter().find_map(|it| it.missing) {
        out.add(NAME, format!("record {name:?} is nowhere"));
        return Vec::new();
    }
    states
}

fn step(states: &mut [State], place: usize, line: &Line<'_>, about: &About) -> Result<(), String> {
    if let Some(ran) = line.ran {
        execute(states, place, line, ran, about)?;
    }
    states[place].apply(&line.record).map_err(|misfit| misfit.to_string())
}

/// Whoever has the log that the reference executed has the reference's state.
pub fn same_end(world: &World, state: &State, out: &mut Violations) {
    for (host, replica) in world.replicas_of(state.zone) {
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

fn execute(
    states: &mut [State],
    place: usize,
    line: &Line<'_>,
    ran: &Ran,
    about: &About,
) -> Result<(), String> {
    let record = &line.record;
    let motions: BTreeMap<ObjectId, Motion> = ran.reads.iter().copied().collect();
    let is_foreign = |it: &ObjectId| states[place].objects.get(*it).is_none();
    if ran.refused && motions.keys().any(is_foreign) {
        // Nothing says which locks it had, so nothing says what it saw of other zones.
        return no_effects(record);
    }
    let is_local = line.decides().is_none();
    if is_local {
        for (&object, &motion) in &motions {
            states[place].objects.set_motion(object, motion);
        }
    }
    let known = Known { states, place, motions: &motions };
    let product = match run(&known, record, ran, about)? {
        Some(product) => product,
        None => return no_effects(record),
    };
    if !is_local {
        return joint::compare(&known, record, &product);
    }
    let expected = changes_of(&states[place], record.epoch, record.index, &product);
    let effects: Vec<_> = record.changes.iter().filter(|it| is_effect(it)).cloned().collect();
    if effects != expected {
        return Err(format!("it led to {effects:?}, in the reference to {expected:?}"));
    }
    Ok(())
}

/// What the reference makes of a call; `None` if it refuses it, as it was refused then.
fn run(known: &Known<'_>, record: &Record, ran: &Ran, about: &About) -> Result<Option<Product>, String> {
    let call = call(&ran.asked, &about.region);
    let names = Names { zone: about.zone, epoch: record.epoch, next: ran.next_name };
    let mut draft =
        Draft::new(known, ran.scope.clone(), call.actor(), ran.time, Rng::seeded(ran.seed), names);
    let result = about.rules.run(&mut draft, call);
    let finished = draft.finish();
    match (&result, ran.refused) {
        (Ok(_), false) => (),
        (Err(_), true) => return Ok(None),
        (Ok(_), true) => return Err("it was refused, the reference did it".to_owned()),
        (Err(why), false) => return Err(format!("it was done, the reference refused it: {why:?}")),
    }
    let (product, _) = finished.map_err(|fault| format!("the reference found a fault: {fault}"))?;
    Ok(Some(product))
}

/// What only a game can cause. (The world's own object is put by the zone that founds the world.)
fn is_effect(change: &Change) -> bool {
    match change {
        Change::Put { object, version, .. } => *object != game::WORLD || 1 < *version,
        Change::Removed { .. }
        | Change::TimerSet { .. }
        | Change::LetterSent { .. }
        | Change::Elsewhere(_) => true,
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

/// The reference's objects, where the noted motions have them: all of the zone that executes, and of others those that
/// the event looked at. Whom it did not read it cannot have found.
struct Known<'a> {
    states: &'a [State],
    place: usize,
    motions: &'a BTreeMap<ObjectId, Motion>,
}

impl Known<'_> {
    /// An object, as its owner has it. While it goes over, its old owner still has it, too.
    fn object(&self, object: ObjectId) -> Option<(usize, &Object)> {
        let of = |place: usize| self.states[place].objects.get(object).map(|it| (place, it));
        let others = || (0..self.states.len()).filter_map(of).max_by_key(|it| it.1.incarnation);
        of(self.place).or_else(|| others().filter(|_| self.motions.contains_key(&object)))
    }
}

impl Objects for Known<'_> {
    fn find(&self, object: ObjectId) -> Option<(&Motion, &[u8])> {
        let (_, it) = self.object(object)?;
        Some((self.motions.get(&object).unwrap_or(&it.motion), it.state.as_slice()))
    }

    fn visit(&self, _: Position, _: Distance, _: Time, visit: &mut dyn FnMut(ObjectId, &Motion)) {
        for (&object, motion) in self.motions {
            visit(object, motion);
        }
    }
}
