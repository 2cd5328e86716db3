//! The protocol by example: real replicas and players on a bench, and tables that say what they do, step by step.
//!
//! A table is a file in `testdata/`. Blocks of steps are followed by `----` and by what these steps caused, one line
//! each; the first block describes the world. The world lives on from block to block. `UPDATE=1` rewrites the files.
//! `docs/protocol.md` is the reader's way through them.
//!
//! The bench sees of the zone only its public `Machine`s. It invents nothing: links deliver in order and lose nothing
//! while they live, a dead machine's disk stays, and the directory is linearizable. What it adds is that everything
//! waits for the table.
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
//! | `forced` | a replica may go on without its partner after a full stop |
//!
//! # Steps
//!
//! | step | meaning |
//! |---|---|
//! | `ann acts give 2 to rock` | see `game.rs` for the actions |
//! | `ann walks east 4`, `ann stops`, `ann leaves` | metres per second |
//! | `ann forges act 2, add 5` | a client that breaks the rules |
//! | `deliver all` | every message that waits, and all that follow from them |
//! | `deliver z1.a -> z1.b`, `deliver 1 z1.a -> z1.b` | what waits on one link now |
//! | `cut z1.a -> z1.b`, `cut z1.a <-> z1.b`, `mend …` | nothing passes, and neither end knows |
//! | `disconnect z1.a <-> z2.a`, `connect …` | the connection is lost, with what was on its way; both ends know |
//! | `break ann <-> z1.a` | it is lost and made anew |
//! | `drop z1.a -> z1.b` | a machine that died takes its last words along |
//! | `lose z1.a -> z1.b` | a link breaks its promise, and neither end knows |
//! | `links flow`, `links wait` | messages pass by themselves, or wait |
//! | `kill z1.a`, `start z1.a` | dead without a word; its disk stays |
//! | `pause z1.a`, `resume z1.a` | frozen |
//! | `retire z1.a` | told to hand over and stop |
//! | `disk z1.a waits`, `… persists`, `… fails`, `… runs` | |
//! | `directory waits`, `… answers`, `… runs` | |
//! | `directory serves z1.b and its answer is lost`, `directory never hears z1.b` | the replica hears "unknown" |
//! | `wait 300 ms`, `wait 2 s` | time passes |
//! | `look z1.a`, `look ann` | what a machine holds or sees |
//! | `show beacons` | also `moves`, `acks`, `seeks`, `borders`, `reads`, `disks`: hidden otherwise |
//! | `hide replication` | how records reach the backup and are announced: it happens by itself, unseen |

#![allow(clippy::unwrap_used, reason = "all of this is a test, its helper functions too")]

mod game;
mod links;
mod names;
mod node;
mod services;
mod setup;
mod steps;
mod tables;
mod words;
mod world;
