//! A single-threaded reference that executes the surviving histories again, from the inputs, random seeds and motions
//! that were noted, comes to the same effects and the same states. All zones' records in one order: an event of several
//! zones must come to the same as if there had been one.

mod joint;

use super::one_order::RecordOrder;
use super::surviving_log::{LogLine, SurvivingLog};
use crate::history_checker::ZoneSpec;
use crate::simulated_world::SimulatedWorld;
use crate::violation::Violations;
use game::{Call, Draft, NameAllocator, Objects, Product};
use machine::{Rng, Time};
use space::{Distance, Motion, ObjectId, Polygon, Position};
use std::collections::BTreeMap;
use zone::{Change, Execution, GameInput, Object, Record, ZoneState, changes_of};

const NAME: &str = "replay";

pub fn end(logs: &[SurvivingLog<'_>], order: &RecordOrder, out: &mut Violations) -> Vec<ZoneState> {
    let mut states: Vec<_> = logs.iter().map(|it| ZoneState::new(it.zone)).collect();
    for &(place, number) in order {
        let (log, line) = (&logs[place], &logs[place].lines[number]);
        if let Err(why) = step(&mut states, place, line, log.spec) {
            out.add_at(line.at, NAME, format!("{}: {why}", log.describe(line)));
            return Vec::new();
        }
    }
    if let Some(name) = logs.iter().find_map(|it| it.missing) {
        out.add(NAME, format!("record {name:?} is nowhere"));
        return Vec::new();
    }
    states
}

fn step(states: &mut [ZoneState], place: usize, line: &LogLine<'_>, spec: &ZoneSpec) -> Result<(), String> {
    if let Some(execution) = line.execution {
        execute(states, place, line, execution, spec)?;
    }
    states[place].apply(&line.record).map_err(|misfit| misfit.to_string())
}

/// Checks that replicas with the log that the reference executed have the reference's state.
pub fn same_end(world: &SimulatedWorld, state: &ZoneState, out: &mut Violations) {
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
    states: &mut [ZoneState],
    place: usize,
    line: &LogLine<'_>,
    execution: &Execution,
    spec: &ZoneSpec,
) -> Result<(), String> {
    let record = &line.record;
    let motions: BTreeMap<ObjectId, Motion> = execution.reads.iter().copied().collect();
    let is_foreign = |it: &ObjectId| states[place].objects.get(*it).is_none();
    if execution.refused && motions.keys().any(is_foreign) {
        // No record tells which locks it had, so the objects of other zones that it saw are unknown.
        return no_effects(record);
    }
    let is_local = line.decides().is_none();
    if is_local {
        for (&object, &motion) in &motions {
            // The event saw the objects at these motions, which the state of the records may not have yet.
            states[place].objects.set_motion(object, motion);
        }
    }
    let known = ReferenceObjects { states, place, motions: &motions };
    let product = match run(&known, record, execution, spec)? {
        Some(product) => product,
        None => return no_effects(record),
    };
    if !is_local {
        return joint::compare(&known, record, &product);
    }
    let mut expected = changes_of(&states[place], record.epoch, record.index, &product);
    let effects: Vec<_> = record.changes.iter().filter(|it| is_effect(it)).cloned().collect();
    if execution.input == GameInput::Populate {
        // A file of histories has a region's corners, and not which of its sides belong to it.
        expected.retain(|it| effects.contains(it) || !is_at_rim(it, &spec.region));
    }
    if effects != expected {
        return Err(format!("it led to {effects:?}, in the reference to {expected:?}"));
    }
    Ok(())
}

/// The reference's product of a call; `None` if it refuses the call, as it was refused then.
fn run(
    known: &ReferenceObjects<'_>,
    record: &Record,
    execution: &Execution,
    spec: &ZoneSpec,
) -> Result<Option<Product>, String> {
    let call = call(&execution.input, &spec.region);
    let names = NameAllocator { zone: spec.zone, epoch: record.epoch, next: execution.next_name };
    // The same scope, time, seed and names as then: the game must come to the same product.
    let mut draft = Draft::new(
        known,
        execution.scope.clone(),
        call.actor(),
        execution.time,
        Rng::seeded(execution.seed),
        names,
    );
    let result = spec.rules.run(&mut draft, call);
    let finished = draft.finish();
    match (&result, execution.refused) {
        (Ok(_), false) => (),
        (Err(_), true) => return Ok(None),
        (Ok(_), true) => return Err("it was refused, the reference did it".to_owned()),
        (Err(why), false) => return Err(format!("it was done, the reference refused it: {why:?}")),
    }
    let (product, _) = finished.map_err(|fault| format!("the reference found a fault: {fault}"))?;
    Ok(Some(product))
}

/// Returns whether only a game can cause this change. (The zone that founds the world puts the world's own object.)
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

/// Returns whether an object is put where a region may end: not all places around it are inside.
fn is_at_rim(change: &Change, region: &Polygon) -> bool {
    let Change::Put { motion, .. } = change else { return false };
    let (x, y) = (i64::from(motion.position.x()), i64::from(motion.position.y()));
    let around = [(-1, 0), (1, 0), (0, -1), (0, 1)].map(|(dx, dy)| Position::saturating(x + dx, y + dy));
    !around.into_iter().all(|it| region.contains(it))
}

fn no_effects(record: &Record) -> Result<(), String> {
    match record.changes.iter().find(|it| is_effect(it)) {
        Some(change) => Err(format!("it was refused and led to {change:?}")),
        None => Ok(()),
    }
}

fn call<'a>(asked: &'a GameInput, region: &'a Polygon) -> Call<'a> {
    match asked {
        GameInput::Populate => Call::Populate { region },
        GameInput::Act { actor, action } => Call::Act { actor: *actor, action },
        GameInput::Letter { to, letter } => Call::Letter { to: *to, letter },
        GameInput::Think { object } => Call::Think { object: *object },
        GameInput::Join { player, name } => Call::Join { player: *player, name },
        GameInput::Leave { avatar } => Call::Leave { avatar: *avatar },
    }
}

/// The reference's objects, at the motions that were noted: all of the zone that executes, and of others those that the
/// event read. It cannot have found an object that it did not read.
struct ReferenceObjects<'a> {
    states: &'a [ZoneState],
    place: usize,
    motions: &'a BTreeMap<ObjectId, Motion>,
}

impl ReferenceObjects<'_> {
    /// An object, as its owner has it. During a transfer its old owner still has it, too.
    fn object(&self, object: ObjectId) -> Option<(usize, &Object)> {
        let of = |place: usize| self.states[place].objects.get(object).map(|it| (place, it));
        let others = || (0..self.states.len()).filter_map(of).max_by_key(|it| it.1.incarnation);
        of(self.place).or_else(|| others().filter(|_| self.motions.contains_key(&object)))
    }
}

impl Objects for ReferenceObjects<'_> {
    fn find(&self, object: ObjectId) -> Option<(&Motion, &[u8])> {
        let (_, it) = self.object(object)?;
        Some((self.motions.get(&object).unwrap_or(&it.motion), it.state.as_slice()))
    }

    fn visit(&self, _: Position, _: Distance, _: Time, visit: &mut dyn FnMut(ObjectId, &Motion)) {
        // The note has exactly the objects that the event found, so the circle is not searched again.
        for (&object, motion) in self.motions {
            visit(object, motion);
        }
    }
}
