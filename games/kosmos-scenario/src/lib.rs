//! Kosmos as a scenario: what `simtest` needs of the game to run and to check worlds of it.
//!
//! The platform depends on no game, so this crate stands beside Kosmos. `ecumene sim`, `ecumene check` and `lab mesh`
//! use it. It changes no rule of the game and adds none.

pub mod bargain;

use game::{Bot, Hosted, HostedGame};
use kosmos::{Action, Kosmos, State, bots, conserved};
use simtest::{ConservedGoods, Count, ItemId, Layout, Scenario};
use space::Polygon;
use std::sync::Arc;

/// Kosmos, with bots of every kind in turn.
#[derive(Clone, Copy, Debug, Default)]
pub struct KosmosScenario;

impl Scenario for KosmosScenario {
    fn name(&self) -> &'static str {
        "kosmos"
    }

    fn rules(&self, world: &Polygon) -> Arc<dyn HostedGame> {
        Arc::new(Hosted(Kosmos::new(world.clone())))
    }

    fn bot(&self, layout: &Layout, number: u32, hostile: bool) -> Box<dyn Bot> {
        let name = if hostile { "hostile" } else { bots::NAMES[number as usize % bots::NAMES.len()] };
        bots::by_name(name, layout.world()).expect("the bots' names are known")
    }

    fn count(&self) -> Option<Count> {
        Some(Arc::new(goods))
    }

    fn everyday_action(&self) -> Option<Vec<u8>> {
        // Any avatar may speak anywhere, so it tells whether the world can be played in.
        let says = Action::Say { text: "here".to_owned() };
        Some(postcard::to_stdvec(&says).expect("actions are plain data"))
    }
}

/// The goods in an encoded object of Kosmos.
fn goods(state: &[u8]) -> Result<ConservedGoods, String> {
    let state = postcard::from_bytes::<State>(state).map_err(|error| error.to_string())?;
    let kosmos::KosmosGoods { coins, items } = conserved(&state);
    Ok(ConservedGoods { coins, items: items.into_iter().map(|it| ItemId(it.0)).collect() })
}
