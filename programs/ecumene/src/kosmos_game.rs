//! Kosmos, as the testbed and the benchmarks need to know it.

use game::Bot;
use kosmos::bots;
use kosmos_scenario::KosmosScenario;
use space::Polygon;
use std::sync::Arc;
use testbed::{Border, TestedGame};

/// The bundled game.
struct KosmosGame;

/// The bundled game, for tests and benchmarks.
pub fn kosmos_game() -> Arc<dyn TestedGame> {
    Arc::new(KosmosGame)
}

impl TestedGame for KosmosGame {
    fn scenario(&self) -> &dyn trial::Scenario {
        &KosmosScenario
    }

    fn mixed_bots(&self) -> &[&'static str] {
        &bots::NAMES
    }

    fn bot(&self, name: &str, world: &Polygon, borders: &[Border]) -> Option<Box<dyn Bot>> {
        bots::by_name_near(name, world, borders)
    }

    fn is_avatar(&self, shown: &[u8]) -> bool {
        matches!(postcard::from_bytes(shown), Ok(kosmos::Shown::Avatar { .. }))
    }

    fn everyday_action(&self) -> Vec<u8> {
        let hello = kosmos::Action::Say { text: "hello".to_owned() };
        postcard::to_stdvec(&hello).expect("plain data encodes")
    }

    /// Just below what the rules allow.
    fn walking_speed(&self) -> f32 {
        5_900.0
    }
}
