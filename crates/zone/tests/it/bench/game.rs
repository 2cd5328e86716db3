//! The game of the bench: objects with a name and a number from 0 to 99, and actions that change the numbers.

use super::names::TableNames;
use game::machine::Span;
use game::postcard_schema::Schema;
use game::space::{Distance, ObjectId, Polygon, Position};
use game::{Addressee, Game, PlayerId, Scope, ScopeView, Tx, Viewer};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The highest number of an object.
const VALUE_MAX: i64 = 99;

/// The distance up to which players hear a notice of `say`.
const HEARD: Distance = Distance::of_metres(30);

/// Everything stored about one object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
#[postcard(crate = game::postcard_schema)]
pub struct TableObject {
    pub name: String,
    pub value: i64,
    /// True if the object thinks while its number is odd.
    pub thinks: bool,
}

/// An action of a player.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
#[postcard(crate = game::postcard_schema)]
pub enum NumbersAction {
    /// `add 3`: to the actor's own number.
    Add(i64),
    /// `add 1 around 10`: to every object in a circle of so many metres.
    AddAround(i64, u32),
    /// `give 2 to rock`: one object loses what the other gets.
    Give(i64, ObjectId),
    /// `say hello`: a notice to players near the actor.
    Say(String),
    /// `send 2 to rock`: a letter that adds to the number of its reader.
    Send(i64, ObjectId),
    /// `add 2 after 500 ms`: a timer.
    Later(i64, u64),
    /// `spawn pebble`: a new object at the actor's place.
    Spawn(String),
    /// `remove rock`: the object disappears for good.
    Remove(ObjectId),
    /// `panic`: a mistake of the game.
    Panic,
}

/// A letter or a timer: its reader adds this to its number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
#[postcard(crate = game::postcard_schema)]
pub struct NumbersLetter(pub i64);

/// The rules, with the players and objects that the table placed in the world.
#[derive(Clone, Debug, Default)]
pub struct NumbersGame {
    pub players: BTreeMap<PlayerId, (i64, Position)>,
    pub objects: Vec<(TableObject, Position)>,
}

impl Game for NumbersGame {
    type State = TableObject;
    type Shown = TableObject;
    type Action = NumbersAction;
    type Notice = String;
    type Refusal = String;
    type Letter = NumbersLetter;
    const NAME: &'static str = "Numbers";
    const RANGE: Distance = Distance::of_metres(30);

    fn populate(&self, tx: &mut Tx<'_, '_, Self>, _: &Polygon) {
        for (state, place) in &self.objects {
            tx.spawn(state, *place);
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
        Ok(tx.spawn(&TableObject { name: name.to_owned(), value, thinks: false }, place))
    }

    fn scope(
        &self,
        view: &ScopeView<'_, Self>,
        actor: ObjectId,
        action: &NumbersAction,
    ) -> Result<Scope, String> {
        let around = |metres| Scope::area(view.position(actor).unwrap_or_default(), metres);
        // What the actor's own number forbids is refused before any zone locks anything.
        if let NumbersAction::Give(amount, _) = action
            && let Some(own) = view.get(actor)
            && own.value < *amount
        {
            return Err(has_only(&own));
        }
        Ok(match action {
            NumbersAction::AddAround(_, metres) => around(Distance::of_metres(*metres)),
            NumbersAction::Spawn(_) => around(Distance::of_metres(0)),
            NumbersAction::Give(_, to) | NumbersAction::Remove(to) => Scope::objects([*to]),
            _ => Scope::objects([]),
        })
    }

    fn execute(
        &self,
        tx: &mut Tx<'_, '_, Self>,
        actor: ObjectId,
        action: NumbersAction,
    ) -> Result<(), String> {
        match action {
            NumbersAction::Add(amount) => add(tx, actor, amount),
            NumbersAction::AddAround(amount, _) => {
                tx.objects().into_iter().try_for_each(|object| add(tx, object, amount))
            }
            NumbersAction::Give(amount, to) => add(tx, actor, -amount).and_then(|()| add(tx, to, amount)),
            NumbersAction::Say(text) => {
                let place = tx.position(actor).unwrap_or_default();
                tx.notify_near(place, HEARD, &text);
                Ok(())
            }
            NumbersAction::Send(amount, to) => {
                tx.send(Addressee::Object(to), &NumbersLetter(amount));
                Ok(())
            }
            NumbersAction::Later(amount, millis) => {
                tx.schedule(actor, Span::from_millis(millis), &NumbersLetter(amount));
                Ok(())
            }
            NumbersAction::Spawn(name) => {
                let place = tx.position(actor).unwrap_or_default();
                tx.spawn(&TableObject { name, value: 0, thinks: false }, place);
                Ok(())
            }
            NumbersAction::Remove(object) => {
                tx.remove(object);
                Ok(())
            }
            NumbersAction::Panic => panic!("the game has a mistake"),
        }
    }

    fn show(&self, state: &TableObject, _: Viewer) -> Option<TableObject> {
        Some(state.clone())
    }

    fn thinks(&self, state: &TableObject) -> bool {
        state.thinks && state.value % 2 == 1
    }

    fn think_scope(&self, _: &ScopeView<'_, Self>, _: ObjectId) -> Scope {
        Scope::objects([])
    }

    fn think(&self, tx: &mut Tx<'_, '_, Self>, object: ObjectId) -> Option<Span> {
        add(tx, object, 1).ok();
        None
    }

    fn letter_scope(&self, _: &ScopeView<'_, Self>, _: Addressee, _: &NumbersLetter) -> Scope {
        Scope::objects([])
    }

    fn on_letter(
        &self,
        tx: &mut Tx<'_, '_, Self>,
        to: Addressee,
        letter: NumbersLetter,
    ) -> Result<(), String> {
        let Addressee::Object(object) = to else { return Err("letters are for objects".to_owned()) };
        add(tx, object, letter.0)
    }

    fn leave_scope(&self, _: &ScopeView<'_, Self>, _: ObjectId) -> Scope {
        Scope::objects([])
    }
}

/// Adds to an object's number, unless it would leave its range.
fn add(tx: &mut Tx<'_, '_, NumbersGame>, object: ObjectId, amount: i64) -> Result<(), String> {
    let state = tx.get(object).ok_or("there is no such object")?;
    let (name, value) = (state.name.clone(), state.value + amount);
    if value < 0 {
        return Err(has_only(&state));
    }
    if VALUE_MAX < value {
        return Err(format!("{name} has {} already", state.value));
    }
    tx.put(object, &TableObject { value, ..state });
    Ok(())
}

fn has_only(object: &TableObject) -> String {
    format!("{} has only {}", object.name, object.value)
}

impl NumbersAction {
    /// The action that a table names.
    pub fn parse(text: &str, names: &TableNames) -> Self {
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

    /// The action in the words of a table.
    pub fn text(&self, names: &TableNames) -> String {
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
