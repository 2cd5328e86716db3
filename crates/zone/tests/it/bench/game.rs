//! The game of the bench: objects with a name and a number from 0 to 99, and actions that change the numbers.

use super::names::Names;
use game::machine::Span;
use game::postcard_schema::Schema;
use game::space::{Distance, ObjectId, Polygon, Position};
use game::{Addressee, Game, PlayerId, Scope, Tx, View, Viewer};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The highest number of an object.
const VALUE_MAX: i64 = 99;

/// How far a spoken word is heard.
const HEARD: Distance = Distance::of_metres(30);

/// Everything stored about one object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
#[postcard(crate = game::postcard_schema)]
pub struct Thing {
    pub name: String,
    pub value: i64,
    /// Whether it thinks while its number is odd.
    pub thinks: bool,
}

/// An action of a player.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
#[postcard(crate = game::postcard_schema)]
pub enum Action {
    /// `add 3`
    Add(i64),
    /// `add 1 around 10`: to every object in a circle of so many metres.
    AddAround(i64, u32),
    /// `give 2 to rock`: one object loses what the other gets.
    Give(i64, ObjectId),
    /// `say hello`
    Say(String),
    /// `send 2 to rock`: a letter that adds to the number of its reader.
    Send(i64, ObjectId),
    /// `add 2 after 500 ms`: a timer.
    Later(i64, u64),
    /// `spawn pebble`
    Spawn(String),
    /// `remove rock`
    Remove(ObjectId),
    /// `panic`: a mistake of the game.
    Panic,
}

/// A letter or a timer: add this to your number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
#[postcard(crate = game::postcard_schema)]
pub struct Letter(pub i64);

/// The rules, with everything that the table placed in the world.
#[derive(Clone, Debug, Default)]
pub struct Numbers {
    pub players: BTreeMap<PlayerId, (i64, Position)>,
    pub things: Vec<(Thing, Position)>,
}

impl Game for Numbers {
    type State = Thing;
    type Shown = Thing;
    type Action = Action;
    type Notice = String;
    type Refusal = String;
    type Letter = Letter;
    const NAME: &'static str = "Numbers";
    const RANGE: Distance = Distance::of_metres(30);

    fn populate(&self, tx: &mut Tx<'_, '_, Self>, _: &Polygon) {
        for (thing, place) in &self.things {
            tx.spawn(thing, *place);
        }
    }

    fn entrance(&self, player: PlayerId) -> Position {
        self.players.get(&player).map_or(Position::ORIGIN, |it| it.1)
    }

    fn join_scope(&self, player: PlayerId) -> Scope {
        Scope::area(self.entrance(player), Distance::of_metres(0))
    }

    fn on_join(&self, tx: &mut Tx<'_, '_, Self>, player: PlayerId, name: &str) -> Result<ObjectId, String> {
        let (value, place) = self.players.get(&player).copied().ok_or("no such player")?;
        Ok(tx.spawn(&Thing { name: name.to_owned(), value, thinks: false }, place))
    }

    fn scope(&self, view: &View<'_, Self>, actor: ObjectId, action: &Action) -> Result<Scope, String> {
        let around = |metres| Scope::area(view.position(actor).unwrap_or_default(), metres);
        Ok(match action {
            Action::AddAround(_, metres) => around(Distance::of_metres(*metres)),
            Action::Spawn(_) => around(Distance::of_metres(0)),
            Action::Give(_, to) | Action::Remove(to) => Scope::objects([*to]),
            _ => Scope::objects([]),
        })
    }

    fn execute(&self, tx: &mut Tx<'_, '_, Self>, actor: ObjectId, action: Action) -> Result<(), String> {
        match action {
            Action::Add(amount) => add(tx, actor, amount),
            Action::AddAround(amount, _) => {
                tx.objects().into_iter().try_for_each(|object| add(tx, object, amount))
            }
            Action::Give(amount, to) => add(tx, actor, -amount).and_then(|()| add(tx, to, amount)),
            Action::Say(text) => {
                let place = tx.position(actor).unwrap_or_default();
                tx.notify_near(place, HEARD, &text);
                Ok(())
            }
            Action::Send(amount, to) => {
                tx.send(Addressee::Object(to), &Letter(amount));
                Ok(())
            }
            Action::Later(amount, millis) => {
                tx.schedule(actor, Span::from_millis(millis), &Letter(amount));
                Ok(())
            }
            Action::Spawn(name) => {
                let place = tx.position(actor).unwrap_or_default();
                tx.spawn(&Thing { name, value: 0, thinks: false }, place);
                Ok(())
            }
            Action::Remove(object) => {
                tx.remove(object);
                Ok(())
            }
            Action::Panic => panic!("the game has a mistake"),
        }
    }

    fn show(&self, thing: &Thing, _: Viewer) -> Option<Thing> {
        Some(thing.clone())
    }

    fn thinks(&self, thing: &Thing) -> bool {
        thing.thinks && thing.value % 2 == 1
    }

    fn think_scope(&self, _: &View<'_, Self>, _: ObjectId) -> Scope {
        Scope::objects([])
    }

    fn think(&self, tx: &mut Tx<'_, '_, Self>, object: ObjectId) -> Option<Span> {
        add(tx, object, 1).ok();
        None
    }

    fn letter_scope(&self, _: &View<'_, Self>, _: Addressee, _: &Letter) -> Scope {
        Scope::objects([])
    }

    fn on_letter(&self, tx: &mut Tx<'_, '_, Self>, to: Addressee, letter: Letter) -> Result<(), String> {
        let Addressee::Object(object) = to else { return Err("letters are for objects".to_owned()) };
        add(tx, object, letter.0)
    }

    fn leave_scope(&self, _: &View<'_, Self>, _: ObjectId) -> Scope {
        Scope::objects([])
    }
}

/// Adds to an object's number, unless it would leave its range.
fn add(tx: &mut Tx<'_, '_, Numbers>, object: ObjectId, amount: i64) -> Result<(), String> {
    let thing = tx.get(object).ok_or("there is no such object")?;
    let (name, value) = (thing.name.clone(), thing.value + amount);
    if value < 0 {
        return Err(format!("{name} has only {}", thing.value));
    }
    if VALUE_MAX < value {
        return Err(format!("{name} has {} already", thing.value));
    }
    tx.put(object, &Thing { value, ..thing });
    Ok(())
}

impl Action {
    /// The action that a table names.
    pub fn parse(text: &str, names: &Names) -> Self {
        let words: Vec<_> = text.split(' ').collect();
        let number = |word: &str| word.parse().unwrap_or_else(|_| panic!("no number: {word} in {text}"));
        match words[..] {
            ["add", amount] => Self::Add(number(amount)),
            ["add", amount, "around", metres] => Self::AddAround(number(amount), metres.parse().unwrap()),
            ["add", amount, "after", millis, "ms"] => Self::Later(number(amount), millis.parse().unwrap()),
            ["give", amount, "to", object] => Self::Give(number(amount), names.find(object)),
            ["send", amount, "to", object] => Self::Send(number(amount), names.find(object)),
            ["say", ..] => Self::Say(text.replacen("say ", "", 1)),
            ["spawn", name] => Self::Spawn(name.to_owned()),
            ["remove", object] => Self::Remove(names.find(object)),
            ["panic"] => Self::Panic,
            _ => panic!("no action: {text}"),
        }
    }

    /// The words that a table uses for it.
    pub fn text(&self, names: &Names) -> String {
        match self {
            Self::Add(amount) => format!("add {amount}"),
            Self::AddAround(amount, metres) => format!("add {amount} around {metres}"),
            Self::Give(amount, to) => format!("give {amount} to {}", names.object(*to)),
            Self::Say(text) => format!("say {text}"),
            Self::Send(amount, to) => format!("send {amount} to {}", names.object(*to)),
            Self::Later(amount, millis) => format!("add {amount} after {millis} ms"),
            Self::Spawn(name) => format!("spawn {name}"),
            Self::Remove(object) => format!("remove {}", names.object(*object)),
            Self::Panic => "panic".to_owned(),
        }
    }
}
