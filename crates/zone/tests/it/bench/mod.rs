//! The protocol by example: real replicas and players on a bench, and tables that show their messages, step by step.
//!
//! A table is a file in `testdata/`. Each block has steps, then `----`, then the lines that these steps caused; the
//! first block describes the world. The world lives on from block to block. `UPDATE=1` rewrites the files.
//! `docs/protocol.md` leads a reader through them.
//!
//! The bench uses only the zone's public `Machine`s. It invents nothing: links deliver in order and lose nothing while
//! they live, a dead machine's disk stays, and the directory is linearizable. Only, messages wait until the table lets
//! them pass.
//!
//! # Worlds
//!
//! | line | meaning |
//! |---|---|
//! | `zone` | one zone, primary on host a, backup on host b; host c can be started |
//! | `alone` | one zone, host a alone; b and c can be started |
//! | `two zones`, `three zones` | borders at x = 0 m and x = 60 m; each zone led by its host a, with backup b |
//! | `player ann 3 at -5` | a player whose avatar has number 3, at x = -5 m |
//! | `away ann 3 at -5` | the same, not started yet |
//! | `object rock 5 at 2` | an object; `thinker` makes its number even by itself |
//! | `durability synced` | announcements wait for both disks |
//! | `forced` | after a full stop a replica may become primary although the other has not come back |
//! | `newer map` | the zone with the highest number has a newer partition than the others |
//!
//! # Steps
//!
//! | step | meaning |
//! |---|---|
//! | `ann acts give 2 to rock` | her client sends an action; `NumbersAction` in `game.rs` lists them |
//! | `ann walks east 4`, `ann stops`, `ann leaves` | she moves (4 metres per second), stops, or leaves the world |
//! | `ann forges act 2, add 5` | her client breaks the protocol: it sends an action with a number of its choice |
//! | `deliver all` | delivers every message that waits, and all that follow from them |
//! | `deliver z1.a -> z1.b`, `deliver 1 z1.a -> z1.b` | delivers what waits in one direction, or the first of it |
//! | `cut z1.a -> z1.b`, `cut z1.a <-> z1.b`, `mend …` | no message passes, and neither end knows; `mend` ends it |
//! | `disconnect z1.a <-> z2.a`, `connect …` | the link ends, with the messages on it; both ends know |
//! | `break ann <-> z1.a` | `disconnect` and `connect` in one step |
//! | `drop z1.a -> z1.b` | the messages on this way are lost; only if one of the two machines is dead |
//! | `lose z1.a -> z1.b` | the same while both live: the link breaks its promise, and neither end knows |
//! | `links flow`, `links wait` | messages pass by themselves, or wait |
//! | `kill z1.a`, `start z1.a` | it dies, its disk stays; `start` gives it new links to all others |
//! | `pause z1.a`, `resume z1.a` | the machine is frozen: it hears and does nothing |
//! | `hold z1.b` | its host, a part of which hangs, tells the replica not to take over for two seconds |
//! | `retire z1.a` | its owner tells the replica to hand over and stop |
//! | `disk z1.a waits`, `… persists`, `… fails`, `… runs` | requests wait; those that wait succeed; fail; waiting ends |
//! | `disk z1.a snapshots` | the disk takes a snapshot of its replica, as if the log had grown long |
//! | `directory waits`, `… answers`, `… runs` | the same for the directory; `directory answers z1.b` answers one replica |
//! | `directory serves z1.b and its answer is lost` | a waiting request is carried out, and z1.b hears "unknown" |
//! | `directory never hears z1.b` | a waiting request is not carried out, and z1.b hears "unknown" |
//! | `accuse z1 ann 1` | a watchdog writes ann's action 1 into the zone's entry, as one that did not come back |
//! | `wait 300 ms`, `wait 2 s` | time passes; after 100 ms or more, each line begins with its time |
//! | `look z1.a`, `look ann` | prints a replica's role, log and objects, or a player's view |
//! | `show beacons`, `hide beacons` | also `moves`, `acks`, `seeks`, `borders`, `contacts`, `reads`, `disks`; hidden at first |
//! | `hide replication` | records reach the backup and are announced by themselves, unseen |
//!
//! A hidden kind of message passes by itself, without a line. Two kinds of request are shown although they are hidden:
//! disk requests while that disk waits for the table, and reads of the directory while it waits, or by a replica with a
//! role.

#![allow(clippy::unwrap_used, reason = "all of this is a test, its helper functions too")]

mod disks;
mod game;
mod links;
mod names;
mod node;
mod pace;
mod services;
mod setup;
mod steps;
mod tables;
mod words;
mod world;
