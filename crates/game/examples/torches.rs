//! Torches: walk in the dark, and light your torch or another player's. The code of the README.

#![allow(missing_docs, reason = "the names say it")]

use game::space::{Distance, ObjectId, Position};
use game::{Game, PlayerId, Solo, Tx, Viewer};
use postcard_schema::Schema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize, Schema)]
pub struct Torch {
    owner: String,
    burns: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, Schema)]
pub struct Light(ObjectId);

pub struct Torches;

impl Game for Torches {
    type State = Torch; // What a zone stores about an object,
    type Shown = Torch; // what players may see of it,
    type Action = Light; // what a player can ask for,
    type Refusal = String; // and why the answer is no.
    type Notice = ();
    type Letter = ();
    const NAME: &'static str = "Torches";
    const RANGE: Distance = Distance::of_metres(30); // No action reaches, no player sees farther.

    fn on_join(&self, tx: &mut Tx<'_, '_, Self>, _: PlayerId, name: &str) -> Result<ObjectId, String> {
        Ok(tx.spawn(&Torch { owner: name.to_owned(), burns: false }, Position::ORIGIN))
    }

    /// All of it happens, or nothing: also if the two players are on different servers and one of these dies.
    fn execute(&self, tx: &mut Tx<'_, '_, Self>, actor: ObjectId, light: Light) -> Result<(), String> {
        let own = tx.get(actor).ok_or("you have no torch")?;
        let torch = tx.get(light.0).ok_or("no torch is within reach")?;
        if actor != light.0 && !own.burns {
            return Err("your own torch is dark".to_owned());
        }
        tx.put(light.0, &Torch { burns: true, ..torch });
        Ok(())
    }

    fn show(&self, torch: &Torch, _: Viewer) -> Option<Torch> {
        Some(torch.clone())
    }
}

pub fn main() {
    let mut world = Solo::new(Torches, 1); // One process, no network: for tests and first steps.
    let (_, ada) = world.join("Ada");
    let (_, bob) = world.join("Bob");
    assert_eq!(world.act(ada, &Light(bob)), Err("your own torch is dark".to_owned()));
    assert_eq!(world.act(ada, &Light(ada)), Ok(()));
    assert_eq!(world.act(ada, &Light(bob)), Ok(()));
    assert!(world.get(bob).is_some_and(|it| it.burns));
}
