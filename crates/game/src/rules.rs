//! What a game is: the rules of a world, written once.

use crate::{Addressee, PlayerId, Scope, Tx, View};
use machine::Span;
use postcard_schema::Schema;
use serde::{Serialize, de::DeserializeOwned};
use space::{Distance, Motion, ObjectId, Polygon, Position};
use std::fmt::Debug;
use thiserror::Error;

/// What the types of a game can do: be written down, read back, and described to other languages. Derive
/// `Serialize`, `Deserialize`, [`Schema`], `Clone` and `Debug`.
pub trait Data: Serialize + DeserializeOwned + Schema + Clone + Debug + 'static {}

impl<T: Serialize + DeserializeOwned + Schema + Clone + Debug + 'static> Data for T {}

/// Who looks at an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Viewer {
    /// Whether the object is the viewer's own avatar.
    pub owns: bool,
    /// What kind of viewer it is, as [`Game::class`] says: a team, a rank, a blind one.
    pub class: u8,
}

/// A state of an older shape that could not be brought up to date.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("a saved state cannot be read: {0}; write `Game::migrate` for its shape, or start with --fresh")]
pub struct MigrateError(pub String);

/// The rules of a world. The platform decides where and when; the game decides what.
///
/// Every function is pure: the same arguments give the same result. Time and chance come from [`Tx`].
/// Only [`Game::execute`], [`Game::show`] and [`Game::on_join`] must be written; the rest has defaults.
pub trait Game: Sized + Send + Sync + 'static {
    /// What an object is, all of it. At most [`crate::config::STATE_MAX`] bytes.
    type State: Data;
    /// What a player may see of an object.
    type Shown: Data;
    /// What a player can want.
    type Action: Data;
    /// What players are told besides states: "boom", "hello".
    type Notice: Data;
    /// Why something does not happen.
    type Refusal: Data;
    /// What an event says to somewhere beyond its reach, or to the future. `()` if nothing.
    type Letter: Data;

    /// What the world is called, in files and on screens.
    const NAME: &'static str;

    /// No event reaches, no player senses farther than this.
    const RANGE: Distance;

    /// Whether [`Game::relevance`] does anything. Asking costs two decoded states per pair.
    const GRADES: bool = false;

    /// Fills a new world, once: each zone its own region. What is planted beyond it is not kept, nor are letters to
    /// places there: whoever owns the place does the same. So a game need not know how the world is divided.
    fn populate(&self, tx: &mut Tx<'_, '_, Self>, region: &Polygon) {
        let _ = (tx, region);
    }

    /// What the world as a whole remembers (see [`crate::WORLD`]), at its start.
    fn world(&self) -> Option<Self::State> {
        None
    }

    /// How far an action reaches. Everything in range of the actor, unless the game says less. An area has its
    /// centre in range of the actor.
    fn scope(
        &self,
        view: &View<'_, Self>,
        actor: ObjectId,
        action: &Self::Action,
    ) -> Result<Scope, Self::Refusal> {
        let _ = action;
        Ok(Scope::area(view.position(actor).unwrap_or_default(), Self::RANGE))
    }

    /// What an action does. A refusal changes nothing, and the player hears why.
    fn execute(
        &self,
        tx: &mut Tx<'_, '_, Self>,
        actor: ObjectId,
        action: Self::Action,
    ) -> Result<(), Self::Refusal>;

    /// Whether somebody may move like this: speed, walls, stun. Asked for every move of every player. See
    /// [`crate::is_within_speed`].
    fn allows(&self, mover: &Self::State, before: &Motion, after: &Motion) -> Result<(), Self::Refusal> {
        let _ = (mover, before, after);
        Ok(())
    }

    /// What a viewer may see of an object; `None` hides it.
    fn show(&self, object: &Self::State, to: Viewer) -> Option<Self::Shown>;

    /// Which kind of viewer the player of this avatar is. What is shown is made once per kind.
    fn class(&self, avatar: &Self::State) -> u8 {
        let _ = avatar;
        0
    }

    /// How much an observer cares where a subject is, from 0 to 1, given what distance and direction say. Asked
    /// only if [`Game::GRADES`].
    fn relevance(&self, observer: &Self::State, subject: &Self::State, graded: f32) -> f32 {
        let _ = (observer, subject);
        graded
    }

    /// Whether this object thinks. It then thinks soon after it appears, or after an event that made it a
    /// thinker, and again when it said.
    fn thinks(&self, object: &Self::State) -> bool {
        let _ = object;
        false
    }

    /// How far a thought reaches: everything in range, unless the game says less. What reaches less far has to wait
    /// less, above all near borders.
    fn think_scope(&self, view: &View<'_, Self>, object: ObjectId) -> Scope {
        Scope::area(view.position(object).unwrap_or_default(), Self::RANGE)
    }

    /// What an object does by itself, and after which pause it thinks again. Sees its [`Game::think_scope`].
    /// `None` ends its thinking, until an event makes it a thinker anew.
    ///
    /// A thought that only steers is a move and costs no record. Pauses are not remembered over a failover:
    /// everybody thinks again soon. What must come at its time is a [`Tx::schedule`].
    fn think(&self, tx: &mut Tx<'_, '_, Self>, object: ObjectId) -> Option<Span> {
        let _ = (tx, object);
        None
    }

    /// How far a letter reaches: everything in range of the object or place, unless the game says less. One to the
    /// world sees only [`crate::WORLD`].
    fn letter_scope(&self, view: &View<'_, Self>, to: Addressee, letter: &Self::Letter) -> Scope {
        let _ = letter;
        let place = match to {
            Addressee::Object(object) => view.position(object),
            Addressee::Place(place) => Some(place),
            Addressee::World => None,
        };
        Scope::area(place.unwrap_or_default(), Self::RANGE)
    }

    /// A letter arrives, or a timer comes due (a timer is a letter to later). Sees its [`Game::letter_scope`].
    fn on_letter(
        &self,
        tx: &mut Tx<'_, '_, Self>,
        to: Addressee,
        letter: Self::Letter,
    ) -> Result<(), Self::Refusal> {
        let _ = (tx, to, letter);
        Ok(())
    }

    /// Where a new player enters the world.
    fn entrance(&self, player: PlayerId) -> Position {
        let _ = player;
        Position::ORIGIN
    }

    /// How far the coming of a player reaches: everything in range of the entrance, unless the game says less.
    fn join_scope(&self, player: PlayerId) -> Scope {
        Scope::area(self.entrance(player), Self::RANGE)
    }

    /// A player comes for the first time, or after [`Game::on_leave`] removed the avatar: spawns an avatar
    /// within range of the entrance and says which. Nothing that was there before can become an avatar.
    fn on_join(
        &self,
        tx: &mut Tx<'_, '_, Self>,
        player: PlayerId,
        name: &str,
    ) -> Result<ObjectId, Self::Refusal>;

    /// How far the going of a player reaches: everything in range of the avatar, unless the game says less.
    fn leave_scope(&self, view: &View<'_, Self>, avatar: ObjectId) -> Scope {
        Scope::area(view.position(avatar).unwrap_or_default(), Self::RANGE)
    }

    /// A player is gone. Unless this says otherwise the avatar is removed; one that stays waits for its
    /// player.
    fn on_leave(&self, tx: &mut Tx<'_, '_, Self>, avatar: ObjectId) {
        tx.remove(avatar);
    }

    /// Reads a state that an older version of the game saved. `schema` is that version's
    /// [`crate::schema_hash`].
    fn migrate(schema: u64, bytes: &[u8]) -> Result<Self::State, MigrateError> {
        let _ = bytes;
        Err(MigrateError(format!("it was saved by another version of the game (schema {schema:016x})")))
    }
}
