//! The authority plane: a zone decides what is true in its region, and never loses what it announced.
//!
//! A zone has a primary and a backup on different hosts. Every committed change is a record in one log; the primary
//! announces a record to clients and other zones only after the backup has acknowledged it. Which replica decides is
//! settled by compare-and-swap in the directory and by nothing else.
//!
//! Follow an action: [`Player`] numbers and sends it, `primary::players` takes it in order, `primary::execution` plans,
//! executes and commits it as a record, `primary::replication` gets it acknowledged, `primary::audience` announces it
//! to the clients that see it. The tables in `testdata` show the same by example, and `docs/protocol.md` leads through
//! them.
//!
//! This crate carries no poses (that is a carrier's work), does no I/O, and knows no game.

mod backup;
mod call_slot;
mod carrier_update;
mod clock;
pub mod config;
mod core;
mod disk_use;
mod hash;
mod lateness;
mod leadership;
mod load_level;
mod locks;
mod mesh;
pub mod migrate;
mod msg;
mod note;
mod object_table;
mod player;
mod primary;
mod record;
mod record_log;
mod remote_primaries;
mod replica;
mod rule;
mod suspect;
mod unassigned;
mod zone_state;

pub use call_slot::{CallSlot, CallUnderWay};
pub use carrier_update::CarrierUpdate;
pub use clock::WorldClock;
pub use config::{Durability, Timing, ZoneConfig};
pub use core::{ReplicaCommand, ReplicaEvent};
pub use hash::of_bytes as hash_of;
pub use leadership::{Leadership, leadership_key};
pub use load_level::LoadLevel;
pub use locks::{LockAnswer, LockClaim, LockHolder, Locks, MotionLookup, WAITING_MAX};
pub use mesh::{
    BetweenZones, BorderUpdate, DecidedEvent, EntityId, EventId, LockDenial, LockRequest, ObjectSnapshot,
    ObjectWrite, PostItem, Transfer,
};
pub use msg::{
    BetweenReplicas, Closed, FromPlayer, MESSAGE_MAX, PLAYER_MESSAGE_MAX, ShownObject, ToPlayer, ZoneMsg,
};
pub use note::{Execution, GameInput, Note};
pub use object_table::{Object, ObjectTable};
pub use player::{ActionKey, Player, PlayerCommand, PlayerConfig, PlayerEvent, SearchReason};
pub use primary::changes_of;
pub use record::{CUT_INTERVAL, Cause, Change, Index, Outcome, Record, Stamp, cut_at};
pub use replica::{Alone, PrimaryStatus, Replica, ReplicaLoad, ReplicaStatus};
pub use rule::{BrokenRules, Rule};
pub use suspect::{SUSPECTS_MAX, Suspect, Suspects};
pub use zone_state::{
    ApplyError, GrantedLock, Location, MeshState, OutgoingPost, PendingLetter, PendingTimer, PlayerState,
    StateSnapshot, ZoneState,
};
