//! The promises of the store, tested from outside. The contracts [store-01] to [store-10] stand in
//! `docs/store.md`.

#![allow(clippy::unwrap_used, reason = "all of this binary is a test, its helper functions too")]

mod bench;
mod crash;
mod damage;
mod disk;
mod folder;
mod fuzz;
mod golden;
mod group;
mod model;
mod schema;
mod serve;
