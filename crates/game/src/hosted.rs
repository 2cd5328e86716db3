//! A game without its types, as zones call it. Arguments and results are bytes, so that zones, logs and backups are
//! compiled once and know no game.

use crate::codec::{decode, encode};
use crate::config::{MESSAGE_MAX, NAME_MAX, REFUSAL_MAX, SCOPE_MAX, STATE_MAX, THINK_MIN};
use crate::schema::schema_hash;
use crate::{
    Addressee, Data, Draft, Game, MigrateError, Objects, PlayerId, Scope, ScopeView, Tx, Viewer, WORLD,
};
use machine::{Span, Time};
use space::{Distance, Motion, ObjectId, Polygon, Position};
use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// One event that a zone asks a game to run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Call<'a> {
    /// Fill one region of a new world.
    Populate {
        /// The region of the calling zone.
        region: &'a Polygon,
    },
    /// Execute an action of a player.
    Act {
        /// The player's avatar.
        actor: ObjectId,
        /// The encoded `Game::Action`.
        action: &'a [u8],
    },
    /// Deliver a letter, or a timer that is due.
    Letter {
        /// The addressee of the letter.
        to: Addressee,
        /// The encoded `Game::Letter`.
        letter: &'a [u8],
    },
    /// Let an NPC think once.
    Think {
        /// The object that thinks.
        object: ObjectId,
    },
    /// Make an avatar for a player who enters.
    Join {
        /// The player who enters the world.
        player: PlayerId,
        /// The player's name; cut to `NAME_MAX` characters.
        name: &'a str,
    },
    /// End the stay of a player who left.
    Leave {
        /// The avatar of the player who left.
        avatar: ObjectId,
    },
}

impl Call<'_> {
    /// The object whose event this is: it is in scope wherever it is when the event runs.
    pub const fn actor(&self) -> Option<ObjectId> {
        match *self {
            Self::Act { actor, .. } => Some(actor),
            Self::Think { object } | Self::Letter { to: Addressee::Object(object), .. } => Some(object),
            Self::Leave { avatar } => Some(avatar),
            Self::Populate { .. } | Self::Join { .. } | Self::Letter { .. } => None,
        }
    }
}

/// The result of a call, besides the changes in its [`Draft`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallOutput {
    /// Pause until the object's next thought; `None` ends its thinking.
    pub think_after: Option<Span>,
    /// The new avatar of a player who entered.
    pub avatar: Option<ObjectId>,
}

/// The reason why an event did not happen.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CallError {
    /// The game refused it: its encoded `Game::Refusal`.
    ByGame(Vec<u8>),
    /// The game broke a limit or its scope, or panicked. The text tells its author what to mend.
    Fault(String),
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ByGame(refusal) => write!(f, "refused by the game, in {} bytes", refusal.len()),
            Self::Fault(text) => f.write_str(text),
        }
    }
}

/// A game as zones call it, in bytes. [`Hosted`] implements it for any [`Game`].
pub trait HostedGame: Send + Sync {
    /// [`Game::NAME`], the name of the world.
    fn name(&self) -> &'static str;
    /// [`Game::RANGE`]: no event reaches and no player senses farther.
    fn range(&self) -> Distance;
    /// The schema hash of the game's types.
    fn schema(&self) -> u64;
    /// The encoded state of `WORLD` in a new world.
    fn world(&self) -> Option<Vec<u8>>;
    /// The place at which a new player enters.
    fn entrance(&self, player: PlayerId) -> Position;
    /// The scope that a call needs, at most the game's range.
    fn scope(&self, objects: &dyn Objects, now: Time, call: Call<'_>) -> Result<Scope, CallError>;
    /// Runs a call in `draft`. The caller keeps the draft's product only if the result is `Ok`.
    fn run(&self, draft: &mut Draft<'_>, call: Call<'_>) -> Result<CallOutput, CallError>;
    /// Refuses a move of a player that the game does not allow.
    fn allows(&self, mover: &[u8], before: &Motion, after: &Motion) -> Result<(), CallError>;
    /// The encoded `Game::Shown` of an object for a viewer; `None` hides it.
    fn show(&self, object: &[u8], to: Viewer) -> Option<Vec<u8>>;
    /// The class of viewers to which the player of this avatar belongs.
    fn class(&self, avatar: &[u8]) -> u8;
    /// True if [`HostedGame::relevance`] depends on states, not only on distance and direction.
    fn grades(&self) -> bool;
    /// The relevance of a subject to an observer, both of one zone, 0 to 1; `graded` is the policy's value.
    fn relevance(&self, observer: &[u8], subject: &[u8], graded: f32) -> f32;
    /// True if the object is an NPC that thinks.
    fn thinks(&self, object: &[u8]) -> bool;
    /// Converts a state that another version of the game saved.
    fn migrate(&self, schema: u64, state: &[u8]) -> Result<Vec<u8>, MigrateError>;
}

/// Implements [`HostedGame`] for a [`Game`]: decodes arguments, encodes results, catches panics, checks limits.
pub struct Hosted<G>(pub G);

impl<G: Game> HostedGame for Hosted<G> {
    fn name(&self) -> &'static str {
        G::NAME
    }

    fn range(&self) -> Distance {
        G::RANGE
    }

    fn schema(&self) -> u64 {
        schema_hash::<G>()
    }

    fn world(&self) -> Option<Vec<u8>> {
        let state = caught(|| self.0.world()).ok().flatten()?;
        encode("a state", &state, STATE_MAX).ok()
    }

    fn entrance(&self, player: PlayerId) -> Position {
        caught(|| self.0.entrance(player)).unwrap_or_default()
    }

    fn scope(&self, objects: &dyn Objects, now: Time, call: Call<'_>) -> Result<Scope, CallError> {
        let place = |object| {
            let found = objects.find(object).map(|(motion, _)| motion.position_at(now));
            found.ok_or_else(|| CallError::Fault(format!("object {object} is gone")))
        };
        match call {
            Call::Populate { .. } => Ok(Scope::area(Position::ORIGIN, Distance::MAX)),
            Call::Act { actor, action } => {
                let from = place(actor)?;
                let action: G::Action = message("an action", action)?;
                let scope = caught(|| self.0.scope(&ScopeView::new(objects, now), actor, &action))?;
                checked::<G>(scope.map_err(|refusal| refused(&refusal))?, from)
            }
            // WORLD has no position, so its events cannot have an area.
            Call::Letter { to: Addressee::Object(WORLD) | Addressee::World, .. } => {
                Ok(Scope::objects([WORLD]))
            }
            Call::Letter { to, letter } => {
                let from = match to {
                    Addressee::Object(object) => place(object)?,
                    Addressee::Place(place) => place,
                    Addressee::World => Position::ORIGIN,
                };
                let letter: G::Letter = message("a letter", letter)?;
                checked::<G>(
                    caught(|| self.0.letter_scope(&ScopeView::new(objects, now), to, &letter))?,
                    from,
                )
            }
            Call::Think { object } => {
                let from = place(object)?;
                checked::<G>(caught(|| self.0.think_scope(&ScopeView::new(objects, now), object))?, from)
            }
            Call::Leave { avatar } => {
                let from = place(avatar)?;
                checked::<G>(caught(|| self.0.leave_scope(&ScopeView::new(objects, now), avatar))?, from)
            }
            Call::Join { player, .. } => {
                // A panic here must not lock a player out: `entrance` falls back to the origin.
                let entrance = self.entrance(player);
                let scope = caught(|| self.0.join_scope(player));
                checked::<G>(scope.unwrap_or_else(|_| Scope::area(entrance, G::RANGE)), entrance)
            }
        }
    }

    fn run(&self, draft: &mut Draft<'_>, call: Call<'_>) -> Result<CallOutput, CallError> {
        draft.begin_call();
        let output = self.call_game(draft, call);
        // A fault outranks a refusal: a game that sees nothing beyond its scope may well refuse because of it,
        // and its author would look for the reason in the wrong place.
        match draft.fault() {
            Some(fault) => Err(CallError::Fault(fault.to_owned())),
            None => output,
        }
    }

    fn allows(&self, mover: &[u8], before: &Motion, after: &Motion) -> Result<(), CallError> {
        let mover = decode("a state", mover).map_err(CallError::Fault)?;
        caught(|| self.0.allows(&mover, before, after))?.map_err(|refusal| refused(&refusal))
    }

    fn show(&self, object: &[u8], to: Viewer) -> Option<Vec<u8>> {
        let object = decode("a state", object).ok()?;
        let shown = caught(|| self.0.show(&object, to)).ok()??;
        encode("what is shown", &shown, STATE_MAX).ok()
    }

    fn class(&self, avatar: &[u8]) -> u8 {
        let avatar = decode("a state", avatar).ok();
        avatar.and_then(|it| caught(|| self.0.class(&it)).ok()).unwrap_or(0)
    }

    fn grades(&self) -> bool {
        G::GRADES
    }

    fn relevance(&self, observer: &[u8], subject: &[u8], graded: f32) -> f32 {
        let states = decode("a state", observer).ok().zip(decode("a state", subject).ok());
        let Some((observer, subject)) = states else { return graded };
        let relevance = caught(|| self.0.relevance(&observer, &subject, graded)).unwrap_or(graded);
        // `clamp` would pass NaN on.
        if relevance.is_nan() { graded } else { relevance.clamp(0.0, 1.0) }
    }

    fn thinks(&self, object: &[u8]) -> bool {
        let object = decode("a state", object).ok();
        object.is_some_and(|it| caught(|| self.0.thinks(&it)).unwrap_or(false))
    }

    fn migrate(&self, schema: u64, state: &[u8]) -> Result<Vec<u8>, MigrateError> {
        let migrated = caught(|| G::migrate(schema, state));
        let state = migrated.unwrap_or_else(|refused| Err(MigrateError(refused.to_string())))?;
        encode("a state", &state, STATE_MAX).map_err(MigrateError)
    }
}

impl<G: Game> Hosted<G> {
    fn call_game(&self, draft: &mut Draft<'_>, call: Call<'_>) -> Result<CallOutput, CallError> {
        match call {
            Call::Populate { region } => {
                caught(|| self.0.populate(&mut Tx::new(draft), region))?;
                draft.keep_within(region);
                Ok(CallOutput::default())
            }
            Call::Act { actor, action } => {
                let action = message("an action", action)?;
                let result = caught(|| self.0.execute(&mut Tx::new(draft), actor, action))?;
                result.map(|()| CallOutput::default()).map_err(|refusal| refused(&refusal))
            }
            Call::Letter { to, letter } => {
                let letter = message("a letter", letter)?;
                let result = caught(|| self.0.on_letter(&mut Tx::new(draft), to, letter))?;
                result.map(|()| CallOutput::default()).map_err(|refusal| refused(&refusal))
            }
            Call::Think { object } => {
                let think_after = caught(|| self.0.think(&mut Tx::new(draft), object))?;
                Ok(CallOutput { think_after: think_after.map(|it| it.max(THINK_MIN)), avatar: None })
            }
            Call::Join { player, name } => {
                // By characters, not bytes: a cut inside a character would not be UTF-8.
                let name: String = name.chars().take(NAME_MAX).collect();
                let avatar = caught(|| self.0.on_join(&mut Tx::new(draft), player, &name))?;
                let avatar = avatar.map_err(|refusal| refused(&refusal))?;
                new_avatar(draft, avatar)
            }
            Call::Leave { avatar } => {
                caught(|| self.0.on_leave(&mut Tx::new(draft), avatar))?;
                Ok(CallOutput::default())
            }
        }
    }
}

/// Checks that the avatar is new: two players of one avatar would share one count of actions.
fn new_avatar(draft: &Draft<'_>, avatar: ObjectId) -> Result<CallOutput, CallError> {
    if !draft.has_spawned(avatar) {
        let text = format!("Game::on_join gives object {avatar}, which it did not spawn: spawn an avatar");
        return Err(CallError::Fault(text));
    }
    Ok(CallOutput { avatar: Some(avatar), think_after: None })
}

/// Decodes bytes from a player or a log.
fn message<T: Data>(what: &str, bytes: &[u8]) -> Result<T, CallError> {
    if MESSAGE_MAX < bytes.len() {
        return Err(CallError::Fault(format!("{what} of {} bytes: the most is {MESSAGE_MAX}", bytes.len())));
    }
    decode(what, bytes).map_err(CallError::Fault)
}

fn refused(refusal: &impl Data) -> CallError {
    encode("a refusal", refusal, REFUSAL_MAX).map_or_else(CallError::Fault, CallError::ByGame)
}

/// Checks the limits of a scope that the game declares for an event of an object at `from`.
fn checked<G: Game>(scope: Scope, from: Position) -> Result<Scope, CallError> {
    let range = G::RANGE.metres();
    let fault = match &scope {
        Scope::Area { radius, .. } if G::RANGE < *radius => format!(
            "Game::scope asks for {} m, beyond RANGE ({range} m): reach less far, send a letter, or raise RANGE",
            radius.metres()
        ),
        Scope::Area { centre, .. } if !from.is_within(G::RANGE, *centre) => format!(
            "Game::scope asks for {scope}, beyond RANGE ({range} m) of its actor at {from}: refuse it there, or send a letter to the place"
        ),
        Scope::Objects(objects) if SCOPE_MAX < objects.len() => {
            format!("Game::scope names {} objects: the most is {SCOPE_MAX}; use Scope::area", objects.len())
        }
        _ => return Ok(scope),
    };
    Err(CallError::Fault(fault))
}

/// Runs game code and turns a panic into a fault. Where a bound was exceeded, the draft's own fault says why. Unwind safe:
/// everything written so far is in a draft that is discarded.
fn caught<T>(call: impl FnOnce() -> T) -> Result<T, CallError> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|panic| {
        let text = panic_message(panic.as_ref());
        CallError::Fault(format!("the game panicked: {text}"))
    })
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a word")
}
