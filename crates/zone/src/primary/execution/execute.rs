//! A call of the game on a draft: what it leads to, without anything becoming true yet.

use crate::core::Event;
use crate::hash;
use crate::mesh::{EventId, Known};
use crate::note::{Asked, Ran};
use crate::primary::turn::Turn;
use crate::record::Outcome;
use crate::rule::Rule;
use game::{Call, Draft, Names, Objects, Product, Refused, Scope};
use machine::{Rng, Time};
use serde_bytes::ByteBuf;
use space::{Epoch, ObjectId, ZoneId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a call of the game led to.
pub(in crate::primary) struct Executed {
    pub(super) product: Product,
    pub(super) ran: game::Ran,
    /// The other zones that take part.
    pub(in crate::primary) joint: Option<Joint>,
    pub(super) note: Option<Ran>,
}

/// An event of several zones.
pub(in crate::primary) struct Joint {
    pub(in crate::primary) event: EventId,
    pub(in crate::primary) time: Time,
    pub(in crate::primary) zones: Vec<ZoneId>,
    /// The objects that the event found, and whose they are.
    pub(in crate::primary) known: BTreeMap<ObjectId, (ZoneId, Known)>,
}

/// A call that could not be carried out.
pub(in crate::primary) struct Failed {
    /// What the game says; nothing if there was no room among others.
    pub(super) why: Option<Refused>,
    pub(super) note: Option<Box<Ran>>,
}

impl Failed {
    pub(in crate::primary) const fn refused(why: Refused) -> Self {
        Self { why: Some(why), note: None }
    }

    pub(in crate::primary) const fn busy() -> Self {
        Self { why: None, note: None }
    }

    /// What the player is told.
    pub(super) fn outcome(&self) -> Outcome {
        match &self.why {
            None => Outcome::Busy,
            Some(Refused::ByGame(bytes)) => Outcome::Refused(ByteBuf::from(bytes.clone())),
            Some(Refused::Fault(text)) => Outcome::Fault(text.clone()),
        }
    }
}

impl Turn<'_> {
    /// Carries out a call of this zone alone, now.
    pub(in crate::primary) fn execute(&mut self, call: Call<'_>, scope: Scope) -> Result<Executed, Failed> {
        let now = self.cx.world_now();
        self.cx.core.state.objects.refresh(now);
        self.execute_on(call, scope, now, &self.cx.core.state.objects)
    }

    /// Carries out a call at a moment, on the objects of a view.
    pub(in crate::primary) fn execute_on(
        &self,
        call: Call<'_>,
        scope: Scope,
        now: Time,
        view: &dyn Objects,
    ) -> Result<Executed, Failed> {
        let config = &self.cx.core.config;
        let rules = Arc::clone(&config.rules);
        let seed = hash::of_value(&(config.seed, self.cx.epoch(), self.cx.core.log.head() + 1));
        let names = self.names();
        let mut draft = Draft::new(view, scope.clone(), call.actor(), now, Rng::seeded(seed), names);
        let result = rules.run(&mut draft, call);
        let finished = draft.finish();
        let note = |product: &Product, refused| {
            let reads = product.reads.iter().map(|(&id, &motion)| (id, motion)).collect();
            let asked = asked(call);
            Ran { asked, scope: scope.clone(), time: now, seed, reads, next_name: names.next, refused }
        };
        match (result, finished) {
            (Ok(ran), Ok((product, _))) => {
                let note = config.notes.then(|| note(&product, false));
                Ok(Executed { product, ran, joint: None, note })
            }
            (Err(why), Ok((product, _))) => {
                Err(Failed { why: Some(why), note: config.notes.then(|| Box::new(note(&product, true))) })
            }
            (_, Err(fault)) => Err(Failed::refused(Refused::Fault(fault))),
        }
    }

    /// The names of objects that a call may give.
    fn names(&self) -> Names {
        let (state, epoch) = (&self.cx.core.state, self.cx.epoch());
        let next = if state.epoch == epoch { state.next_name } else { 0 };
        let epoch = if self.cx.enforces(Rule::NamesCarryEpoch) { epoch } else { Epoch(1) };
        Names { zone: self.cx.zone(), epoch, next }
    }

    /// A fault of the game is told to its author, not to players.
    pub(super) fn report_fault(&mut self, failed: &Failed) {
        if let Some(Refused::Fault(text)) = &failed.why {
            self.cx.out.raise(Event::Fault(text.clone()));
        }
    }
}

fn asked(call: Call<'_>) -> Asked {
    match call {
        Call::Populate { .. } => Asked::Populate,
        Call::Act { actor, action } => Asked::Act { actor, action: action.to_vec() },
        Call::Letter { to, letter } => Asked::Letter { to, letter: letter.to_vec() },
        Call::Think { object } => Asked::Think { object },
        Call::Join { player, name } => Asked::Join { player, name: name.to_owned() },
        Call::Leave { avatar } => Asked::Leave { avatar },
    }
}
