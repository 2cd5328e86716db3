//! `ecumene sim`: worlds on the simulator.

mod crossing;
mod failover;
mod failures;
mod mesh;
mod plants;
mod seed_args;
mod seeds;
mod trace;
mod zone;

use crate::command::CommandError;
use crate::program::Program;
use clap::Subcommand;

/// The commands of `ecumene sim`.
#[derive(Subcommand)]
pub enum SimCommand {
    /// One zone on three hosts, with faults: no announced event may be lost, doubled or contradicted.
    Zone(zone::SimZoneArgs),
    /// A world of several zones, with faults: the same, for events and objects that cross borders, too.
    Mesh(mesh::SimMeshArgs),
    /// Measure the time during which players get no results after the loss of a primary.
    Failover(failover::SimFailoverArgs),
    /// Measure the time during which an object has no acting owner while it changes zones.
    Transfer(crossing::CrossingArgs),
    /// Measure the duration of events that reach into other zones.
    Event(crossing::CrossingArgs),
}

/// Runs the simulation that the command line names.
pub fn run(program: &Program, sim: &SimCommand) -> Result<(), CommandError> {
    match sim {
        SimCommand::Zone(args) => zone::run(program, args),
        SimCommand::Mesh(args) => mesh::run(program, args),
        SimCommand::Failover(args) => failover::run(program, args),
        SimCommand::Transfer(args) => crossing::transfer(program, args),
        SimCommand::Event(args) => crossing::event(program, args),
    }
}

/// Names and their descriptions, one line each.
fn listed<'a>(entries: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    entries.into_iter().map(|(name, about)| format!("{name:<20} {about}\n")).collect()
}
