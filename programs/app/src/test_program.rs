//! Programs of games, for the tests of commands.

use crate::program::Program;
use crate::{App, ConservedGoods};
use game::{Game, PlayerId, Tx, Viewer};
use kosmos::{Kosmos, bots};
use kosmos_scenario::KosmosScenario;
use space::{Distance, ObjectId, Position};

/// The program of a game that brings much along.
pub fn test_program() -> Program {
    let named = |it: &crate::BotGround<'_>| bots::WanderBot::new(it.world.clone());
    let app = App::in_world(|it| Kosmos::new(it.clone())).name("ecumene").scenario(KosmosScenario);
    let app = bots::NAMES.into_iter().fold(app, |app, name| app.bot(name, named));
    let app = bots::TRAVELLERS.into_iter().fold(app, |app, name| app.extra_bot(name, named));
    completed(app)
}

/// The program of a game that brings nothing along.
pub fn orchard() -> Program {
    completed(App::new(Orchard { is_generous: false }).name("orchard"))
}

/// The program of a game whose pickers have an everyday action: an apple from a friend, or, if the game is generous,
/// from nowhere. Apples are conserved.
pub fn apples(is_generous: bool) -> Program {
    let goods = |apples: &u32| ConservedGoods { coins: u64::from(*apples), items: Vec::new() };
    completed(App::new(Orchard { is_generous }).name("orchard").conserved(goods).everyday_action(&()))
}

fn completed<G: Game>(app: App<G>) -> Program {
    let mut program = app.into_program();
    program.game_mut().complete();
    program
}

/// The smallest game: the state of a picker is a number of apples.
pub struct Orchard {
    pub is_generous: bool,
}

impl Game for Orchard {
    type State = u32;
    type Shown = u32;
    type Action = ();
    type Notice = ();
    type Refusal = ();
    type Letter = ();

    const NAME: &'static str = "Orchard";
    const RANGE: Distance = Distance::of_metres(20);

    fn execute(&self, tx: &mut Tx<'_, '_, Self>, actor: ObjectId, (): ()) -> Result<(), ()> {
        let place = tx.position(actor).ok_or(())?;
        let friend = tx.near(place, Self::RANGE).into_iter().find(|it| *it != actor).ok_or(())?;
        let (mine, theirs) = tx.get(actor).zip(tx.get(friend)).ok_or(())?;
        if !self.is_generous {
            tx.put(friend, &theirs.checked_sub(1).ok_or(())?);
        }
        tx.put(actor, &(mine + 1));
        Ok(())
    }

    fn show(&self, object: &u32, _: Viewer) -> Option<u32> {
        Some(*object)
    }

    fn on_join(&self, tx: &mut Tx<'_, '_, Self>, _: PlayerId, _: &str) -> Result<ObjectId, ()> {
        Ok(tx.spawn(&3, Position::ORIGIN))
    }
}
