//! The authority plane: a zone decides what is true in its region, and never loses what it announced.
//!
//! A zone has a primary and a backup on different hosts. Every committed change is a record in one log; nothing
//! about it is told to anyone until the backup has acknowledged it. Which replica decides is settled by compare-and-swap in
//! the directory and by nothing else.
//!
//! Follow an action: [`Player`] numbers and sends it, `primary::players` takes it in order, `primary::execution` plans,
//! executes and commits it as a record, `primary::replication` gets it acknowledged, `primary::audience` announces it to
//! the clients that see it. The tables in `testdata` show the same by example, and `docs/protocol.md` leads through them.
//!
//! This crate carries no poses (that is a carrier's work), does no I/O, and knows no game.

mod backup;
mod carrier_update;
mod clock;
pub mod config;
mod core;
mod entry;
mod hash;
mod locks;
mod log;
mod mesh;
pub mod migrate;
mod msg;
mod nobody;
mod note;
mod peers;
mod player;
mod primary;
mod record;
mod replica;
mod rule;
mod state;
mod table;

pub use carrier_update::CarrierUpdate;
pub use clock::WorldClock;
pub use config::{Config, Durability, Timing};
pub use core::{Command, Event};
pub use entry::{Reign, key};
pub use hash::of_bytes as hash_of;
pub use locks::{Claim, Granted, Holder, Locks, Places, WAITING_MAX};
pub use mesh::{Being, Denial, EventId, Item, Known, Mesh, Passage, Told, Wanted, Whole, Written};
pub use msg::{Closed, Down, MESSAGE_MAX, Msg, PLAYER_MESSAGE_MAX, Peer, Shown, Up};
pub use note::{Asked, Note, Ran};
pub use player::{ActionKey, Happening, Player, PlayerConfig, Want};
pub use primary::changes_of;
pub use record::{CUT_INTERVAL, Cause, Change, Index, Outcome, Record, Stamp, cut_at};
pub use replica::{Alone, Load, Replica, Standing};
pub use rule::{BrokenRules, Rule};
pub use state::{Abroad, Held, Letter, Lives, Misfit, Outgoing, Player as PlayerRow, Snapshot, State, Timer};
pub use table::{Object, Table};
