//! `ecumene sim`: worlds on the simulator.

mod crossing;
mod failover;
mod failures;
mod mesh;
mod plants;
mod seeds;
mod trace;
mod trials;
mod zone;

use crate::Failure;
use clap::{Subcommand, ValueEnum};

/// What can be simulated.
#[derive(Subcommand)]
pub enum Sim {
    /// One zone on three hosts: everything goes wrong, and nothing may be lost, doubled or contradicted.
    Zone(zone::Args),
    /// Several zones that share a world: the same, whatever crosses their borders.
    Mesh(mesh::Args),
    /// How long nobody can play when a primary is lost.
    Failover(failover::Args),
    /// How long an object has no owner that acts for it while it changes zones.
    Transfer(crossing::Args),
    /// How long events take that reach into other zones.
    Event(crossing::Args),
}

/// What to print.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Table,
    Json,
}

/// Runs a simulation.
pub fn run(sim: &Sim) -> Result<(), Failure> {
    match sim {
        Sim::Zone(args) => zone::run(args),
        Sim::Mesh(args) => mesh::run(args),
        Sim::Failover(args) => failover::run(args),
        Sim::Transfer(args) => crossing::transfer(args),
        Sim::Event(args) => crossing::event(args),
    }
}

/// Names and their descriptions, one line each.
fn listed<'a>(entries: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    entries.into_iter().map(|(name, about)| format!("{name:<20} {about}\n")).collect()
}
