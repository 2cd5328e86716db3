//! A game's program, as its commands need it.

use crate::app_game::AppGame;
use crate::command::CommandError;
use crate::own_commands::OwnCommands;
use crate::page_source::PageSource;
use crate::schema::GameSchema;
use benchmarks::zone::ZoneCase;
use game::HostedGame;
use server::config::GamePolicy;
use server::{ConfigTemplate, Page};
use simtest::Scenario;
use space::{Polygon, Position};
use std::path::Path;
use std::sync::Arc;
use testbed::{InvalidOptions, TestedGame};

/// Number of zones of a new demo world of a game that gives none.
const DEMO_ZONES: u32 = 6;

/// A game's program: the game without its types, and the defaults of its commands.
pub struct Program {
    /// The name under which users call it.
    pub name: String,
    pub version: String,
    pub about: String,
    pub page: PageSource,
    pub zones: Option<u32>,
    pub half: Option<u32>,
    pub policy: Option<GamePolicy>,
    pub zone_cases: Vec<ZoneCase>,
    pub schema: GameSchema,
    pub own_commands: Option<OwnCommands>,
    game: Arc<AppGame>,
}

impl Program {
    pub fn new(game: AppGame, schema: GameSchema) -> Self {
        let called = std::env::args_os().next();
        let called = called.as_deref().and_then(|it| Path::new(it).file_stem()).and_then(|it| it.to_str());
        Self {
            name: called.unwrap_or(game.name).to_owned(),
            version: format!("schema {:016x}, Ecumene {}", schema.hash, env!("CARGO_PKG_VERSION")),
            about: format!("{}: one seamless world on as many servers as it needs", game.name),
            page: PageSource::None,
            zones: None,
            half: None,
            policy: None,
            zone_cases: Vec::new(),
            schema,
            own_commands: None,
            game: Arc::new(game),
        }
    }

    /// The game, while its author still adds to it.
    ///
    /// # Panics
    /// If a command has it already.
    pub fn game_mut(&mut self) -> &mut AppGame {
        Arc::get_mut(&mut self.game).expect("no command runs yet")
    }

    /// The game, for the testbed and the benchmarks.
    pub fn game(&self) -> Arc<dyn TestedGame> {
        Arc::clone(&self.game) as Arc<dyn TestedGame>
    }

    /// The game, for the simulator and the checkers.
    pub fn scenario(&self) -> Arc<dyn Scenario> {
        match &self.game.scenario {
            Some(it) => Arc::clone(it),
            None => Arc::clone(&self.game) as Arc<dyn Scenario>,
        }
    }

    /// The name of the world on screens: the game's own.
    pub fn world_name(&self) -> &'static str {
        self.game.name
    }

    /// The names of the bots, but for the hostile ones: those of the mixed crowd, and those that play only when named.
    pub fn bot_names(&self) -> (&[&'static str], Vec<&'static str>) {
        self.game.bot_names()
    }

    /// Number of zones of a new demo world.
    pub fn demo_zones(&self) -> u32 {
        self.zones.unwrap_or(DEMO_ZONES)
    }

    /// The rules in a square world whose side is twice `half_metres`.
    pub fn rules(&self, half_metres: u32) -> Result<Arc<dyn HostedGame>, CommandError> {
        let half = f64::from(half_metres);
        let corner = |it: f64| Position::from_metres(it, it);
        let (low, high) = (corner(-half)?, corner(half)?);
        Ok(self.game.rules_in(&Polygon::rectangle(low, high)?))
    }

    /// The configuration file with the game's defaults.
    pub fn template(&self) -> ConfigTemplate {
        let mut template = ConfigTemplate::default().named(&self.name);
        if let Some(zones) = self.zones {
            template = template.with("world", "zones", i64::from(zones));
        }
        if let Some(half) = self.half {
            template = template.with("world", "half", i64::from(half));
        }
        match &self.policy {
            Some(policy) => template.with_policy(policy.clone()),
            None => template,
        }
    }

    /// The game's web page, or a text about what to do for one.
    pub fn load_page(&self) -> Page {
        self.page.load(self.world_name())
    }

    /// Refuses a command that measures actions, if the game has none for it.
    pub fn check_everyday_action(&self, command: &str) -> Result<(), CommandError> {
        let simulated = self.scenario().everyday_action().is_some();
        let there = if command.starts_with("sim ") { simulated } else { self.game.everyday_action.is_some() };
        if there {
            return Ok(());
        }
        let why = format!(
            "{command} needs an action that any avatar may do at any time, and {} gives none (App::everyday_action)",
            self.world_name()
        );
        Err(InvalidOptions(why).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::App;
    use crate::test_program::{Orchard, apples, orchard, test_program};
    use interest::policies::Everything;
    use server::config::PolicySetting;

    #[test]
    fn a_game_sets_the_defaults_of_its_configuration() {
        let config = |program: &Program| program.template().config("").expect("the defaults are good");
        let plain = config(&orchard());
        assert_eq!((plain.world.zones, plain.world.half), (1, 150));
        assert_eq!((orchard().demo_zones(), plain.carrier.policy), (6, PolicySetting::A3));
        let app = App::in_world(|it| kosmos::Kosmos::new(it.clone())).zones(3).half(40);
        let program = app.policy(|_| Ok(Everything)).into_program();
        let own = config(&program);
        assert_eq!((own.world.zones, own.world.half, program.demo_zones()), (3, 40, 3));
        assert_eq!(own.carrier.policy, PolicySetting::Game);
    }

    #[test]
    fn a_command_that_measures_actions_says_that_it_needs_one() {
        for command in ["sim failover", "bench failover"] {
            let Err(CommandError::Usage(why)) = orchard().check_everyday_action(command) else {
                panic!("it is refused with exit code 2")
            };
            assert!(why.contains(command) && why.contains("Orchard gives none"), "{why}");
            assert!(apples(false).check_everyday_action(command).is_ok());
        }
        // A scenario has an action of its own, which no benchmark of processes knows.
        assert!(test_program().check_everyday_action("sim failover").is_ok());
        assert!(test_program().check_everyday_action("bench failover").is_err());
    }

    #[test]
    fn objects_like_the_own_avatar_count_as_avatars_unless_the_game_says_otherwise() {
        let thing = test_program().game();
        assert!(
            thing.is_avatar(&[0, 9], &[0, 7]) && !thing.is_avatar(&[0, 9], &[1, 7]),
            "an enum's variants"
        );
        assert!(orchard().game().is_avatar(&[3], &[5]), "all pickers are numbers");
        let rich =
            App::new(Orchard { is_generous: false }).avatars(|apples| 3 <= *apples).into_program().game();
        // The last one is not a number: a byte follows.
        let shown: [&[u8]; 3] = [&[5], &[2], &[5, 5]];
        assert_eq!(shown.map(|it| rich.is_avatar(&[0], it)), [true, false, false]);
    }
}
