//! What a replica or a player tells a checker, when it is asked to. Nothing here changes what happens.

use crate::record::{Index, Outcome};
use game::{Addressee, PlayerId, Scope};
use machine::Time;
use serde::{Deserialize, Serialize};
use space::{Epoch, Motion, ObjectId};

/// Something a checker wants to know.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Note {
    /// A primary wrote a record.
    Wrote {
        /// The record's bytes.
        #[serde(with = "serde_bytes")]
        record: Vec<u8>,
        /// What the game was asked, and everything it could depend on; `None` if no game was asked.
        ran: Option<Ran>,
    },
    /// A replica that follows stored a record.
    Stored {
        /// Its epoch.
        epoch: Epoch,
        /// Its number.
        index: Index,
        /// The hash of its bytes.
        hash: u64,
    },
    /// A primary announces everything up to this record.
    Announces {
        /// Its epoch.
        epoch: Epoch,
        /// The record's number.
        index: Index,
        /// Whether it relies on its own disk because it is alone.
        alone: bool,
    },
    /// A replica reigns from now on.
    Reigns {
        /// In which epoch.
        epoch: Epoch,
        /// The last record it has.
        head: Index,
        /// The state's hash there.
        hash: u64,
        /// Whether it is alone.
        alone: bool,
    },
    /// A replica follows from now on.
    Follows {
        /// In which epoch.
        epoch: Epoch,
    },
    /// A replica has no role any more.
    Resigned {
        /// The epoch it had a role in.
        epoch: Epoch,
    },
    /// A replica forgot its log from here on, or replaced it by a snapshot that stands for this record.
    Replaced {
        /// The last record it has now.
        index: Index,
        /// That record's epoch.
        epoch: Epoch,
    },
    /// A replica found that its state is not what the log says.
    Differs(String),
    /// A player is in.
    Entered {
        /// Who.
        player: PlayerId,
    },
    /// A player did something.
    Asked {
        /// Who.
        player: PlayerId,
        /// The action's number.
        number: u64,
    },
    /// A player heard what became of an action.
    Answered {
        /// Who.
        player: PlayerId,
        /// The action's number.
        number: u64,
        /// What became of it.
        outcome: Outcome,
    },
    /// A player saw an object.
    Saw {
        /// Who.
        player: PlayerId,
        /// Which epoch told them.
        epoch: Epoch,
        /// The record it was told with; 0 with none.
        index: Index,
        /// Which object.
        object: ObjectId,
        /// Its owners.
        incarnation: u32,
        /// Its states.
        version: u32,
        /// The hash of what was shown; 0 if it is gone.
        hash: u64,
    },
    /// A player believed somebody of an older epoch than they had heard before.
    Regressed {
        /// Who.
        player: PlayerId,
        /// The highest heard.
        known: Epoch,
        /// What was believed.
        heard: Epoch,
    },
}

/// What a game was asked, and everything its answer could depend on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ran {
    /// What it was asked.
    pub asked: Asked,
    /// How far it could see.
    pub scope: Scope,
    /// World time.
    pub time: Time,
    /// Where its chance started.
    pub seed: u64,
    /// Whose state or motion it looked at, and how they moved.
    pub reads: Vec<(ObjectId, Motion)>,
    /// The next name it could give.
    pub next_name: u32,
    /// Whether it was refused.
    pub refused: bool,
}

/// [`game::Call`], kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Asked {
    /// Fill the world.
    Populate,
    /// An action.
    Act {
        /// Whose.
        actor: ObjectId,
        /// What.
        #[serde(with = "serde_bytes")]
        action: Vec<u8>,
    },
    /// A letter or timer.
    Letter {
        /// For whom.
        to: Addressee,
        /// What.
        #[serde(with = "serde_bytes")]
        letter: Vec<u8>,
    },
    /// A thought.
    Think {
        /// Whose.
        object: ObjectId,
    },
    /// A player comes.
    Join {
        /// Who.
        player: PlayerId,
        /// Called what.
        name: String,
    },
    /// A player is gone.
    Leave {
        /// The avatar.
        avatar: ObjectId,
    },
}
