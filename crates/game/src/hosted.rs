//! A game without its types: what a zone calls. Everything goes in and out as bytes, so that zones, logs and
//! backups are compiled once and know no game.

use crate::codec::{decode, encode};
use crate::config::{MESSAGE_MAX, NAME_MAX, REFUSAL_MAX, SCOPE_MAX, STATE_MAX, THINK_MIN};
use crate::schema::schema_hash;
use crate::{Addressee, Data, Draft, Game, MigrateError, Objects, PlayerId, Scope, Tx, View, Viewer, WORLD};
use machine::{Span, Time};
use space::{Distance, Motion, ObjectId, Polygon, Position};
use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a zone asks a game to do: one event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Call<'a> {
    /// Fill a new world.
    Populate {
        /// Where.
        region: &'a Polygon,
    },
    /// A player's action.
    Act {
        /// The player's avatar.
        actor: ObjectId,
        /// What they want.
        action: &'a [u8],
    },
    /// A letter, or a timer.
    Letter {
        /// For whom.
        to: Addressee,
        /// What it says.
        letter: &'a [u8],
    },
    /// An object thinks.
    Think {
        /// Which.
        object: ObjectId,
    },
    /// A player comes.
    Join {
        /// Who.
        player: PlayerId,
        /// What they are called.
        name: &'a str,
    },
    /// A player is gone.
    Leave {
        /// The avatar left behind.
        avatar: ObjectId,
    },
}

impl Call<'_> {
    /// Whose event it is: in its scope wherever it is by the time the event runs.
    pub const fn actor(&self) -> Option<ObjectId> {
        match *self {
            Self::Act { actor, .. } => Some(actor),
            Self::Think { object } | Self::Letter { to: Addressee::Object(object), .. } => Some(object),
            Self::Leave { avatar } => Some(avatar),
            Self::Populate { .. } | Self::Join { .. } | Self::Letter { .. } => None,
        }
    }
}

/// What a call led to, besides what is in its [`Draft`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ran {
    /// A thinker's next pause.
    pub think_after: Option<Span>,
    /// A newcomer's avatar.
    pub avatar: Option<ObjectId>,
}

/// Why an event did not happen.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Refused {
    /// The game said no: its encoded `Refusal`.
    ByGame(Vec<u8>),
    /// The game did something it must not, or panicked. Says what to mend.
    Fault(String),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ByGame(refusal) => write!(f, "refused by the game, in {} bytes", refusal.len()),
            Self::Fault(text) => f.write_str(text),
        }
    }
}

/// A game as zones know it. Made of any [`Game`] by [`Hosted`].
pub trait Rules: Send + Sync {
    /// What the world is called.
    fn name(&self) -> &'static str;
    /// How far events reach and players sense.
    fn range(&self) -> Distance;
    /// What the game's types look like, as a number.
    fn schema(&self) -> u64;
    /// The world's own state, at its start.
    fn world(&self) -> Option<Vec<u8>>;
    /// Where a new player enters.
    fn entrance(&self, player: PlayerId) -> Position;
    /// How far a call reaches.
    fn scope(&self, objects: &dyn Objects, now: Time, call: Call<'_>) -> Result<Scope, Refused>;
    /// Carries a call out.
    fn run(&self, draft: &mut Draft<'_>, call: Call<'_>) -> Result<Ran, Refused>;
    /// Whether somebody may move like this.
    fn allows(&self, mover: &[u8], before: &Motion, after: &Motion) -> Result<(), Refused>;
    /// What a viewer may see of an object.
    fn show(&self, object: &[u8], to: Viewer) -> Option<Vec<u8>>;
    /// What kind of viewer the player of this avatar is.
    fn class(&self, avatar: &[u8]) -> u8;
    /// Whether relevance is anything but distance and direction.
    fn grades(&self) -> bool;
    /// How much an observer cares for a subject.
    fn relevance(&self, observer: &[u8], subject: &[u8], graded: f32) -> f32;
    /// Whether an object thinks.
    fn thinks(&self, object: &[u8]) -> bool;
    /// Brings a state that another version saved up to date.
    fn migrate(&self, schema: u64, state: &[u8]) -> Result<Vec<u8>, MigrateError>;
}

/// Makes [`Rules`] of a [`Game`].
pub struct Hosted<G>(pub G);

impl<G: Game> Rules for Hosted<G> {
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

    fn scope(&self, objects: &dyn Objects, now: Time, call: Call<'_>) -> Result<Scope, Refused> {
        let place = |object| {
            let found = objects.find(object).map(|(motion, _)| motion.position_at(now));
            found.ok_or_else(|| Refused::Fault(format!("object {object} is gone")))
        };
        match call {
            Call::Populate { .. } => Ok(Scope::area(Position::ORIGIN, Distance::MAX)),
            Call::Act { actor, action } => {
                let from = place(actor)?;
                let action: G::Action = message("an action", action)?;
                let scope = caught(|| self.0.scope(&View::new(objects, now), actor, &action))?;
                checked::<G>(scope.map_err(|refusal| refused(&refusal))?, from)
            }
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
                checked::<G>(caught(|| self.0.letter_scope(&View::new(objects, now), to, &letter))?, from)
            }
            Call::Think { object } => {
                let from = place(object)?;
                checked::<G>(caught(|| self.0.think_scope(&View::new(objects, now), object))?, from)
            }
            Call::Leave { avatar } => {
                let from = place(avatar)?;
                checked::<G>(caught(|| self.0.leave_scope(&View::new(objects, now), avatar))?, from)
            }
            Call::Join { player, .. } => {
                // Whoever has no entrance comes in at the origin.
                let entrance = self.entrance(player);
                let scope = caught(|| self.0.join_scope(player));
                checked::<G>(scope.unwrap_or_else(|_| Scope::area(entrance, G::RANGE)), entrance)
            }
        }
    }

    fn run(&self, draft: &mut Draft<'_>, call: Call<'_>) -> Result<Ran, Refused> {
        let ran = self.carried_out(draft, call);
        // A fault outranks a refusal: a game that sees nothing beyond its scope may well refuse because of it,
        // and its author would look for the reason in the wrong place.
        match draft.fault() {
            Some(fault) => Err(Refused::Fault(fault.to_owned())),
            None => ran,
        }
    }

    fn allows(&self, mover: &[u8], before: &Motion, after: &Motion) -> Result<(), Refused> {
        let mover = decode("a state", mover).map_err(Refused::Fault)?;
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
        let said = caught(|| self.0.relevance(&observer, &subject, graded)).unwrap_or(graded);
        if said.is_nan() { graded } else { said.clamp(0.0, 1.0) }
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
    fn carried_out(&self, draft: &mut Draft<'_>, call: Call<'_>) -> Result<Ran, Refused> {
        match call {
            Call::Populate { region } => {
                caught(|| self.0.populate(&mut Tx::new(draft), region))?;
                draft.keep_within(region);
                Ok(Ran::default())
            }
            Call::Act { actor, action } => {
                let action = message("an action", action)?;
                let ran = caught(|| self.0.execute(&mut Tx::new(draft), actor, action))?;
                ran.map(|()| Ran::default()).map_err(|refusal| refused(&refusal))
            }
            Call::Letter { to, letter } => {
                let letter = message("a letter", letter)?;
                let ran = caught(|| self.0.on_letter(&mut Tx::new(draft), to, letter))?;
                ran.map(|()| Ran::default()).map_err(|refusal| refused(&refusal))
            }
            Call::Think { object } => {
                let think_after = caught(|| self.0.think(&mut Tx::new(draft), object))?;
                Ok(Ran { think_after: think_after.map(|it| it.max(THINK_MIN)), avatar: None })
            }
            Call::Join { player, name } => {
                let name: String = name.chars().take(NAME_MAX).collect();
                let avatar = caught(|| self.0.on_join(&mut Tx::new(draft), player, &name))?;
                let avatar = avatar.map_err(|refusal| refused(&refusal))?;
                newborn(draft, avatar)
            }
            Call::Leave { avatar } => {
                caught(|| self.0.on_leave(&mut Tx::new(draft), avatar))?;
                Ok(Ran::default())
            }
        }
    }
}

/// An avatar must be new: two players in one body would share one count of actions.
fn newborn(draft: &Draft<'_>, avatar: ObjectId) -> Result<Ran, Refused> {
    if !draft.has_spawned(avatar) {
        let text = format!("Game::on_join gives object {avatar}, which it did not spawn: spawn an avatar");
        return Err(Refused::Fault(text));
    }
    Ok(Ran { avatar: Some(avatar), think_after: None })
}

/// Bytes from a player or a log, as the game's type.
fn message<T: Data>(what: &str, bytes: &[u8]) -> Result<T, Refused> {
    if MESSAGE_MAX < bytes.len() {
        return Err(Refused::Fault(format!("{what} of {} bytes: the most is {MESSAGE_MAX}", bytes.len())));
    }
    decode(what, bytes).map_err(Refused::Fault)
}

fn refused(refusal: &impl Data) -> Refused {
    encode("a refusal", refusal, REFUSAL_MAX).map_or_else(Refused::Fault, Refused::ByGame)
}

/// A scope that an event of somebody standing at `from` may have.
fn checked<G: Game>(scope: Scope, from: Position) -> Result<Scope, Refused> {
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
    Err(Refused::Fault(fault))
}

/// Runs game code. A panic in it is the game's fault and nobody else's: what it had written so far is in a
/// draft that is thrown away.
fn caught<T>(call: impl FnOnce() -> T) -> Result<T, Refused> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|panic| {
        let text = said(panic.as_ref());
        Refused::Fault(format!("the game panicked: {text}"))
    })
}

fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a word")
}
