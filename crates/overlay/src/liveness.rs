//! Which neighbours are still there: silent ones are asked, and those that do not answer are gone.

use crate::ctx::Ctx;
use crate::neighbours::Neighbours;
use crate::rule::Rule;
use machine::Address;

/// What the silence of neighbours asks for.
#[must_use]
#[derive(Default)]
pub(crate) struct Silence {
    /// Neighbours that are gone.
    pub gone: Vec<Address>,
    /// Neighbours to be asked whether they are there.
    pub asked: Vec<Address>,
    /// Neighbours that have not answered a greeting and must be greeted again.
    pub unanswered: Vec<Address>,
}

/// Looks for silent neighbours.
pub(crate) fn look_for_silent(neighbours: &mut Neighbours, ctx: &Ctx) -> Silence {
    let (now, config) = (ctx.now(), ctx.config());
    let mut silence = Silence::default();
    for (address, it) in neighbours.iter_mut() {
        if it.signs.is_silent(now, config.silent) && ctx.enforces(Rule::RemoveSilent) {
            silence.gone.push(address);
        } else if it.signs.take_ping(now, config.ping_after) {
            silence.asked.push(address);
        } else if it.link.is_unanswered(now) {
            silence.unanswered.push(address);
        }
    }
    silence
}
