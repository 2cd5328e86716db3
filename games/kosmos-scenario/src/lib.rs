//! Kosmos under trial: what `trial` must know of the game to run and to judge worlds of it.
//!
//! The platform knows no game, so this stands beside Kosmos. `ecumene sim`, `ecumene check` and `lab mesh` use it. It
//! changes no rule of the game and adds none.

use game::{Bot, Hosted, Rules};
use kosmos::{Action, Kosmos, State, bots, conserved};
use space::Polygon;
use std::sync::Arc;
use trial::{Count, Goods, Layout, Scenario, Serial};

/// Kosmos, with bots of every kind in turn.
#[derive(Clone, Copy, Debug, Default)]
pub struct KosmosScenario;

impl Scenario for KosmosScenario {
    fn name(&self) -> &'static str {
        "kosmos"
    }

    fn rules(&self, world: &Polygon) -> Arc<dyn Rules> {
        Arc::new(Hosted(Kosmos::new(world.clone())))
    }

    fn bot(&self, layout: &Layout, number: u32, hostile: bool) -> Box<dyn Bot> {
        let name = if hostile { "hostile" } else { bots::NAMES[number as usize % bots::NAMES.len()] };
        bots::by_name(name, layout.world()).expect("the bots' names are known")
    }

    fn count(&self) -> Option<Count> {
        Some(goods)
    }

    fn everyday_action(&self) -> Option<Vec<u8>> {
        let says = Action::Say { text: "here".to_owned() };
        Some(postcard::to_stdvec(&says).expect("actions are plain data"))
    }
}

/// The goods in an encoded object of Kosmos.
fn goods(state: &[u8]) -> Result<Goods, String> {
    let state = postcard::from_bytes::<State>(state).map_err(|error| error.to_string())?;
    let kosmos::Goods { coins, items } = conserved(&state);
    Ok(Goods { coins, items: items.into_iter().map(|it| Serial(it.0)).collect() })
}
