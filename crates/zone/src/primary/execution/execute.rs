//! Executing: a call of the game on a draft. The zone's state does not change yet.

use crate::core::ReplicaEvent;
use crate::hash;
use crate::mesh::{EventId, ObjectSnapshot};
use crate::note::{Execution, GameInput};
use crate::primary::turn::Turn;
use crate::record::Outcome;
use crate::rule::Rule;
use game::{Call, CallError, Draft, NameAllocator, Objects, Product, Scope};
use machine::{Rng, Time};
use serde_bytes::ByteBuf;
use space::{Epoch, ObjectId, ZoneId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A call of the game that went through, with its product.
pub(in crate::primary) struct ExecutedCall {
    pub(super) product: Product,
    pub(super) output: game::CallOutput,
    /// The event, if other zones take part in it.
    pub(in crate::primary) joint: Option<JointEvent>,
    pub(super) execution: Option<Execution>,
}

/// An event of several zones, executed and not yet decided.
pub(in crate::primary) struct JointEvent {
    pub(in crate::primary) event: EventId,
    pub(in crate::primary) time: Time,
    pub(in crate::primary) zones: Vec<ZoneId>,
    /// The objects in the event's scope, each with its owner.
    pub(in crate::primary) objects: BTreeMap<ObjectId, (ZoneId, ObjectSnapshot)>,
}

/// A call of the game that was refused, or work that got no locks.
pub(in crate::primary) struct FailedCall {
    /// The game's refusal or fault; `None` if the work got no locks ("busy").
    pub(super) why: Option<CallError>,
    pub(super) execution: Option<Box<Execution>>,
}

impl FailedCall {
    pub(in crate::primary) const fn refused(why: CallError) -> Self {
        Self { why: Some(why), execution: None }
    }

    pub(in crate::primary) const fn busy() -> Self {
        Self { why: None, execution: None }
    }

    /// The result that the player is told.
    pub(super) fn outcome(&self) -> Outcome {
        match &self.why {
            None => Outcome::Busy,
            Some(CallError::ByGame(bytes)) => Outcome::Refused(ByteBuf::from(bytes.clone())),
            Some(CallError::Fault(text)) => Outcome::Fault(text.clone()),
        }
    }
}

impl Turn<'_> {
    /// Executes a call of this zone alone, now.
    pub(in crate::primary) fn execute(
        &mut self,
        call: Call<'_>,
        scope: Scope,
    ) -> Result<ExecutedCall, FailedCall> {
        let now = self.cx.world_now();
        self.cx.core.state.objects.refresh(now);
        self.execute_on(call, scope, now, &self.cx.core.state.objects)
    }

    /// Executes a call at a moment of world time, on the objects of a view.
    pub(in crate::primary) fn execute_on(
        &self,
        call: Call<'_>,
        scope: Scope,
        now: Time,
        view: &dyn Objects,
    ) -> Result<ExecutedCall, FailedCall> {
        let config = &self.cx.core.config;
        let rules = Arc::clone(&config.rules);
        // From the record's number and epoch, so that a checker can execute the event again with the same chance.
        let seed = hash::of_value(&(config.seed, self.cx.epoch(), self.cx.core.log.head() + 1));
        let names = self.names();
        let mut draft = Draft::new(view, scope.clone(), call.actor(), now, Rng::seeded(seed), names);
        let result = rules.run(&mut draft, call);
        let finished = draft.finish();
        let execution = |product: &Product, refused| {
            let reads = product.reads.iter().map(|(&id, &motion)| (id, motion)).collect();
            let input = game_input(call);
            Execution { input, scope: scope.clone(), time: now, seed, reads, next_name: names.next, refused }
        };
        match (result, finished) {
            (Ok(output), Ok((product, _))) => {
                let execution = config.notes.then(|| execution(&product, false));
                Ok(ExecutedCall { product, output, joint: None, execution })
            }
            (Err(why), Ok((product, _))) => Err(FailedCall {
                why: Some(why),
                execution: config.notes.then(|| Box::new(execution(&product, true))),
            }),
            // The draft itself is invalid: a fault of the game, whatever its call returned.
            (_, Err(fault)) => Err(FailedCall::refused(CallError::Fault(fault))),
        }
    }

    /// The names that a call may give to new objects.
    fn names(&self) -> NameAllocator {
        let (state, epoch) = (&self.cx.core.state, self.cx.epoch());
        // A new epoch counts from 0: names carry the epoch, so none is given twice.
        let next = if state.epoch == epoch { state.next_name } else { 0 };
        let epoch = if self.cx.enforces(Rule::NamesCarryEpoch) { epoch } else { Epoch(1) };
        NameAllocator { zone: self.cx.zone(), epoch, next }
    }

    /// Reports a fault of the game to the replica's owner, for the game's author.
    pub(super) fn report_fault(&mut self, failed: &FailedCall) {
        if let Some(CallError::Fault(text)) = &failed.why {
            self.cx.out.raise(ReplicaEvent::Fault(text.clone()));
        }
    }
}

fn game_input(call: Call<'_>) -> GameInput {
    match call {
        Call::Populate { .. } => GameInput::Populate,
        Call::Act { actor, action } => GameInput::Act { actor, action: action.to_vec() },
        Call::Letter { to, letter } => GameInput::Letter { to, letter: letter.to_vec() },
        Call::Think { object } => GameInput::Think { object },
        Call::Join { player, name } => GameInput::Join { player, name: name.to_owned() },
        Call::Leave { avatar } => GameInput::Leave { avatar },
    }
}
