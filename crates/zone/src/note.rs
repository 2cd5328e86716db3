//! Notes: reports of a replica or a player about itself, for the checkers. Raised only if the configuration asks for
//! them; they never change what the machine does.

use crate::record::{Index, Outcome};
use game::{Addressee, PlayerId, Scope};
use machine::Time;
use serde::{Deserialize, Serialize};
use space::{Epoch, Motion, ObjectId};

/// A report of a machine about itself. Becomes an entry of a history.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Note {
    /// A primary wrote a record.
    Wrote {
        /// The record as it is in the log.
        #[serde(with = "serde_bytes")]
        record: Vec<u8>,
        /// The game's input and everything its answer could depend on; `None` if the record needed no game.
        execution: Option<Execution>,
    },
    /// A backup stored a record that its primary sent.
    Stored {
        /// Epoch of the stored record.
        epoch: Epoch,
        /// Number of the stored record.
        index: Index,
        /// Hash of the record's bytes.
        hash: u64,
    },
    /// A primary announces everything up to this record.
    Announces {
        /// Epoch of the primary's leadership.
        epoch: Epoch,
        /// Number of the last record announced.
        index: Index,
        /// Whether the primary relies on its own disk because it has no backup.
        alone: bool,
    },
    /// A replica is primary from now on.
    Leads {
        /// Epoch of the new leadership.
        epoch: Epoch,
        /// Number of the last record that the replica has.
        head: Index,
        /// Hash of the state at that record.
        hash: u64,
        /// Whether the primary has no backup.
        alone: bool,
    },
    /// A replica is backup from now on.
    Follows {
        /// Epoch in which it follows.
        epoch: Epoch,
    },
    /// A replica has no role any more.
    RoleLost {
        /// The epoch in which it had one.
        epoch: Epoch,
    },
    /// A replica forgot its log from here on, or replaced it by a snapshot that stands for this record.
    Replaced {
        /// Number of the last record that the replica has now.
        index: Index,
        /// Epoch of that last record.
        epoch: Epoch,
    },
    /// A replica found that its state is not what the log says.
    Differs(String),
    /// A zone let a player in.
    Entered {
        /// The player who is in.
        player: PlayerId,
    },
    /// A player asked for an action.
    Asked {
        /// The player who asked for it.
        player: PlayerId,
        /// Number of the action: 1, 2, 3 …
        number: u64,
    },
    /// A player heard the result of an action.
    Answered {
        /// The player who asked for it.
        player: PlayerId,
        /// Number of the action, per player.
        number: u64,
        /// Done, refused, busy or fault.
        outcome: Outcome,
    },
    /// A player saw an object.
    Saw {
        /// The player who saw it.
        player: PlayerId,
        /// Epoch of the zone that showed it.
        epoch: Epoch,
        /// Number of the record it was announced with; 0 with none.
        index: Index,
        /// The object that was shown.
        object: ObjectId,
        /// Number of owners of the object so far: 1 from its birth on.
        incarnation: u32,
        /// Number of states so far; a change of owner counts as one.
        version: u32,
        /// Hash of what was shown; 0 if the object is gone.
        hash: u64,
    },
    /// A player believed a zone that spoke in an older epoch than the player had heard before.
    Regressed {
        /// The player who believed it.
        player: PlayerId,
        /// Highest epoch that was heard before.
        known: Epoch,
        /// The older epoch that was believed.
        heard: Epoch,
    },
}

/// One execution of game code: its input and everything its answer could depend on, so that a checker can repeat it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Execution {
    /// The call that the game was given.
    pub input: GameInput,
    /// The objects or the area that it could read.
    pub scope: Scope,
    /// World time of the event.
    pub time: Time,
    /// Seed of the random numbers it could draw.
    pub seed: u64,
    /// Objects whose state or motion it read, with their motions then.
    pub reads: Vec<(ObjectId, Motion)>,
    /// Counter of the next object that it could create.
    pub next_name: u32,
    /// Whether the game refused the input.
    pub refused: bool,
}

/// A [`game::Call`] that owns its data.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum GameInput {
    /// Fill a new world with objects.
    Populate,
    /// Execute the action of a player.
    Act {
        /// The avatar of the player.
        actor: ObjectId,
        /// The action, encoded by the game.
        #[serde(with = "serde_bytes")]
        action: Vec<u8>,
    },
    /// Deliver a letter or timer.
    Letter {
        /// The object, the place or the world that it is for.
        to: Addressee,
        /// The letter, encoded by the game.
        #[serde(with = "serde_bytes")]
        letter: Vec<u8>,
    },
    /// Let an NPC think (`Game::think`).
    Think {
        /// The NPC that may act now.
        object: ObjectId,
    },
    /// Let a player into the world.
    Join {
        /// The player who enters the world.
        player: PlayerId,
        /// Display name of the player.
        name: String,
    },
    /// Take a player out of the world.
    Leave {
        /// The avatar of the player who left.
        avatar: ObjectId,
    },
}
