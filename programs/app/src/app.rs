//! The program of a game, as its author describes it.

use crate::app_game::{AppGame, BotGround, BotKind};
use crate::cli;
use crate::command::CommandError;
use crate::own_commands::OwnCommands;
use crate::page_source::PageSource;
use crate::program::Program;
use crate::schema::GameSchema;
use benchmarks::zone::ZoneCase;
use clap::Subcommand;
use game::{Bot, Game, Hosted, HostedGame};
use interest::{Policy, PolicyError};
use server::config::{CarrierConfig, GamePolicy};
use server::{Page, PageFile};
use simtest::{ConservedGoods, Scenario};
use space::Polygon;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

/// A game as a program with every command: `demo`, `host`, `directory`, `bots`, `chaos`, `check`, `sim`, `bench`,
/// `schema`, `config`, `keys`.
///
/// A game needs nothing but [`Game`]. Each method adds something that the game brings along, and says what holds without
/// it. [`Game::entrance`] says where players enter.
pub struct App<G: Game> {
    program: Program,
    game: PhantomData<fn() -> G>,
}

impl<G: Game> App<G> {
    /// The program of a game.
    pub fn new(game: G) -> Self {
        let rules: Arc<dyn HostedGame> = Arc::new(Hosted(game));
        Self::of_rules(move |_| Arc::clone(&rules))
    }

    /// The program of a game that must know the bounds of its world.
    pub fn in_world(make: impl Fn(&Polygon) -> G + Send + Sync + 'static) -> Self {
        Self::of_rules(move |world| Arc::new(Hosted(make(world))))
    }

    fn of_rules(rules: impl Fn(&Polygon) -> Arc<dyn HostedGame> + Send + Sync + 'static) -> Self {
        let program = Program::new(AppGame::new::<G>(Box::new(rules)), GameSchema::of::<G>());
        Self { program, game: PhantomData }
    }

    /// The name of the program, as its help and its messages have it. Without it: the name of the program's file.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.program.name = name.into();
        self
    }

    /// The version of the game, such as `env!("CARGO_PKG_VERSION")`. Without it, `--version` prints the schema hash of
    /// the game's types.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.program.version = version.into();
        self
    }

    /// One line about the game, for the program's help.
    #[must_use]
    pub fn about(mut self, about: impl Into<String>) -> Self {
        self.program.about = about.into();
        self
    }

    /// A bot that takes part in the mixed crowd, and also plays when it is named. The bots of a crowd take those of all
    /// names in turn, in the order in which they were given. Without any, bots walk about and do the everyday action now
    /// and then.
    #[must_use]
    pub fn bot<B: Bot + 'static>(
        self,
        name: &'static str,
        make: impl Fn(&BotGround<'_>) -> B + Send + Sync + 'static,
    ) -> Self {
        self.with_bot(BotKind::new(name, true, make))
    }

    /// A bot that plays only when it is named: `--behaviour NAME`.
    #[must_use]
    pub fn extra_bot<B: Bot + 'static>(
        self,
        name: &'static str,
        make: impl Fn(&BotGround<'_>) -> B + Send + Sync + 'static,
    ) -> Self {
        self.with_bot(BotKind::new(name, false, make))
    }

    /// The bot called `hostile`, which breaks every rule: the simulator lets some play. Without it, a bot sends noise.
    #[must_use]
    pub fn hostile_bot<B: Bot + 'static>(
        mut self,
        make: impl Fn(&BotGround<'_>) -> B + Send + Sync + 'static,
    ) -> Self {
        self.program.game_mut().hostile = BotKind::new("hostile", false, make);
        self
    }

    fn with_bot(mut self, kind: BotKind) -> Self {
        self.program.game_mut().bots.push(kind);
        self
    }

    /// An action that any avatar may do at any time, and that few others hear of: benchmarks and bots do it. Without it,
    /// bots only walk, and the commands that measure actions say that they need one.
    #[must_use]
    pub fn everyday_action(mut self, action: &G::Action) -> Self {
        self.program.game_mut().everyday_action = crate::app_game::encoded(action);
        self
    }

    /// The speed at which any avatar may always walk, in metres per second. Without it: 1.
    #[must_use]
    pub fn walking_speed(mut self, metres_per_second: f32) -> Self {
        self.program.game_mut().walking_speed = metres_per_second * 1_000.0;
        self
    }

    /// Says which objects are avatars, for benchmarks that count those in sight. Without it: the objects of the same
    /// variant of [`Game::Shown`] as the player's own avatar.
    #[must_use]
    pub fn avatars(mut self, is_avatar: impl Fn(&G::Shown) -> bool + Send + Sync + 'static) -> Self {
        self.program.game_mut().is_avatar = Some(crate::app_game::avatar_test::<G>(is_avatar));
        self
    }

    /// Counts what is conserved: goods that are neither made nor lost, only handed on. Every simulated run, `check` and
    /// `chaos` look for a world in which some appear or vanish. Without it, nothing is counted.
    #[must_use]
    pub fn conserved(mut self, count: impl Fn(&G::State) -> ConservedGoods + Send + Sync + 'static) -> Self {
        self.program.game_mut().count = Some(crate::app_game::counter::<G>(count));
        self
    }

    /// The game on the simulator, where more than bots and goods differ from the usual. Without it: the bots of this
    /// program, its count of goods and its everyday action, all of which this scenario replaces there and in `check`.
    #[must_use]
    pub fn scenario(mut self, scenario: impl Scenario) -> Self {
        self.program.game_mut().scenario = Some(Arc::new(scenario));
        self
    }

    /// The web page, from files that are built into the program. Without a page, the lobby shows a text that says how to
    /// add one.
    #[must_use]
    pub fn page_files(mut self, files: &[PageFile]) -> Self {
        self.program.page = PageSource::Files(Page::embedded(files));
        self
    }

    /// The web page, from a folder that is read when the control plane starts.
    #[must_use]
    pub fn page_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.program.page = PageSource::Folder(folder.into());
        self
    }

    /// The number of zones of a new world: the default of `world.zones`, and of `demo --zones`. Without it: 1, and 6.
    #[must_use]
    pub fn zones(mut self, zones: u32) -> Self {
        self.program.zones = Some(zones);
        self
    }

    /// The distance from the middle of a new world to its sides, in metres: the default of `world.half`. Without it: 150.
    #[must_use]
    pub fn half(mut self, metres: u32) -> Self {
        self.program.half = Some(metres);
        self
    }

    /// The game's own interest policy: the default of `carrier.policy`, there called "game". Without it: "a3".
    #[must_use]
    pub fn policy<P: Policy + Send + 'static>(
        mut self,
        make: impl Fn(&CarrierConfig) -> Result<P, PolicyError> + Send + Sync + 'static,
    ) -> Self {
        let make = move |it: &CarrierConfig| Ok(Box::new(make(it)?) as Box<dyn Policy + Send>);
        self.program.policy = Some(GamePolicy(Arc::new(make)));
        self
    }

    /// A row of `bench zone` for this game.
    #[must_use]
    pub fn zone_case(mut self, case: ZoneCase) -> Self {
        self.program.zone_cases.push(case);
        self
    }

    /// More commands: the variants of `C`, each a command.
    #[must_use]
    pub fn commands<C: Subcommand + 'static>(
        mut self,
        run: impl FnOnce(C) -> Result<(), CommandError> + 'static,
    ) -> Self {
        self.program.own_commands = Some(OwnCommands::new(run));
        self
    }

    /// Runs the command that the arguments of this process name. The exit code is 0 for success, 1 for a failure, 2 for
    /// a wrong call.
    pub fn run(self) -> ExitCode {
        cli::run(self.program)
    }

    #[cfg(test)]
    pub(crate) fn into_program(self) -> Program {
        self.program
    }
}
