//! The hidden commands of `ecumene bench`: processes that `ecumene bench server` starts.

use crate::kosmos_game::kosmos_game;
use crate::play::{block_on, transport};
use crate::{Failure, print, write_out};
use benchmarks::floor::{self, FloorOptions};
use clap::{Args, ValueEnum};
use std::net::SocketAddr;
use std::time::Duration;
use testbed::walkers::{self, WalkersOptions};

/// What the floor's processes take.
#[derive(Args)]
pub struct FloorArgs {
    /// Which end this is
    #[arg(long, value_enum)]
    end: End,
    /// Where the server is; a client's
    #[arg(long)]
    server: Option<SocketAddr>,
    /// How many clients there are
    #[arg(long, default_value_t = 1)]
    clients: u32,
    /// Packets per client and second to the server
    #[arg(long, default_value_t = 10.0)]
    up: f64,
    /// Packets to a client for each one from it
    #[arg(long, default_value_t = 1.0)]
    answers: f64,
    /// Bytes of a packet to the server
    #[arg(long, default_value_t = 60)]
    up_bytes: usize,
    /// Bytes of a packet to a client
    #[arg(long, default_value_t = 500)]
    down_bytes: usize,
    /// For how long
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum End {
    Server,
    Clients,
}

/// Runs one end of the floor.
pub fn floor(args: &FloorArgs) -> Result<(), Failure> {
    let &FloorArgs { clients, up, answers, up_bytes, down_bytes, seconds, .. } = args;
    let options = FloorOptions { clients, up, answers, up_bytes, down_bytes, seconds };
    match (args.end, args.server) {
        (End::Server, _) => floor::serve(&options, |it| Ok(write_out(&format!("{it}\n"))?))?,
        (End::Clients, Some(server)) => floor::send(&options, server)?,
        (End::Clients, None) => return Err(Failure::Asked("--server is missing".to_owned())),
    }
    Ok(())
}

/// What the process takes.
#[derive(Args)]
pub struct WalkersArgs {
    /// Where the lobby is
    #[arg(long)]
    lobby: String,
    /// How many
    #[arg(long)]
    count: u32,
    /// For how long
    #[arg(long)]
    seconds: f64,
    /// Connect by WebSocket instead of QUIC
    #[arg(long)]
    web_socket: bool,
}

/// Runs the clients' process: bots that walk. It prints a line when the measured time begins, one when it ends, and what
/// the bots experienced.
pub fn walkers(args: &WalkersArgs) -> Result<(), Failure> {
    let options = WalkersOptions {
        lobby: args.lobby.clone(),
        count: args.count as usize,
        time: Duration::from_secs_f64(args.seconds),
        transport: transport(args.web_socket),
    };
    let walked = block_on(async {
        let tell = |it: walkers::Moment| Ok(write_out(&format!("{}\n", it.line()))?);
        Ok(walkers::walk(options, kosmos_game(), tell).await?)
    })?;
    print(&format!("{}\n", serde_json::to_string(&walked)?))
}
