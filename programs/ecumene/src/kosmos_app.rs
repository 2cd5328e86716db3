//! Kosmos, the bundled game, as a program.

use ecumene::{App, BotGround, PageFile, ZoneCase};
use game::Bot;
use kosmos::{Action, Kosmos, Shown, bots};
use kosmos_scenario::{KosmosScenario, bargain};

include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// Just below the speed that the rules allow, in metres per second, so that a late packet does not lead to corrections.
const WALKING_SPEED: f32 = 5.9;

/// The row of `bench zone`.
const BARGAIN: ZoneCase = ZoneCase {
    name: "kosmos",
    rules: bargain::rules,
    map: bargain::map,
    act: bargain::action,
    price: bargain::PRICE,
    sees: bargain::SEES,
};

/// Kosmos with all that it brings along.
pub fn kosmos_app() -> App<Kosmos> {
    let app = App::in_world(|world| Kosmos::new(world.clone()))
        .name("ecumene")
        .version(env!("CARGO_PKG_VERSION"))
        .about("One seamless world on as many servers as it needs")
        .scenario(KosmosScenario)
        // No player hears it, so its price does not grow with the crowd.
        .everyday_action(&Action::WithdrawOffer)
        .walking_speed(WALKING_SPEED)
        .avatars(|shown| matches!(shown, Shown::Avatar { .. }))
        .page_files(FILES)
        .zone_case(BARGAIN)
        .hostile_bot(|_| bots::HostileBot);
    let app = bots::NAMES.into_iter().fold(app, |app, name| app.bot(name, move |it| bot(name, it)));
    bots::TRAVELLERS.into_iter().fold(app, |app, name| app.extra_bot(name, move |it| bot(name, it)))
}

fn bot(name: &str, ground: &BotGround<'_>) -> Box<dyn Bot> {
    bots::by_name_near(name, ground.world, ground.borders).expect("the bots' names are known")
}
