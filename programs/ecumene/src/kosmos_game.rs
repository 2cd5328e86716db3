//! Kosmos behind the interface of the testbed and the benchmarks.

use game::Bot;
use kosmos::bots;
use kosmos_scenario::KosmosScenario;
use space::Polygon;
use std::sync::Arc;
use testbed::{BorderSegment, TestedGame};

struct KosmosGame;

/// The bundled game, for the testbed and the benchmarks.
pub fn kosmos_game() -> Arc<dyn TestedGame> {
    Arc::new(KosmosGame)
}

impl TestedGame for KosmosGame {
    fn scenario(&self) -> &dyn simtest::Scenario {
        &KosmosScenario
    }

    fn mixed_bots(&self) -> &[&'static str] {
        &bots::NAMES
    }

    fn bot(&self, name: &str, world: &Polygon, borders: &[BorderSegment]) -> Option<Box<dyn Bot>> {
        bots::by_name_near(name, world, borders)
    }

    fn is_avatar(&self, shown: &[u8]) -> bool {
        matches!(postcard::from_bytes(shown), Ok(kosmos::Shown::Avatar { .. }))
    }

    fn everyday_action(&self) -> Vec<u8> {
        // No player hears it, so its price does not grow with the crowd.
        postcard::to_stdvec(&kosmos::Action::WithdrawOffer).expect("plain data encodes")
    }

    // Just below the speed that the rules allow, so that a late packet does not lead to corrections.
    fn walking_speed(&self) -> f32 {
        5_900.0
    }
}
