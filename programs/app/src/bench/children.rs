//! The hidden commands of `ecumene bench`: child processes that other benchmarks start.

use crate::command::{CommandError, print, write_out};
use crate::play::{block_on, transport};
use crate::program::Program;
use benchmarks::floor::{self, FloorOptions};
use clap::{Args, ValueEnum};
use std::net::SocketAddr;
use std::time::Duration;
use testbed::walkers::{self, WalkersOptions};

/// Arguments of the two processes of the plain UDP baseline ("floor").
#[derive(Args)]
pub struct FloorArgs {
    /// The end that this process plays
    #[arg(long, value_enum)]
    end: FloorEnd,
    /// Address of the server; required for clients
    #[arg(long)]
    server: Option<SocketAddr>,
    /// Number of clients
    #[arg(long, default_value_t = 1)]
    clients: u32,
    /// Packets per second from each client to the server
    #[arg(long, default_value_t = 10.0)]
    up: f64,
    /// Packets that the server sends a client for each packet from it
    #[arg(long, default_value_t = 1.0)]
    answers: f64,
    /// Bytes of a packet to the server
    #[arg(long, default_value_t = 60)]
    up_bytes: usize,
    /// Bytes of a packet to a client
    #[arg(long, default_value_t = 500)]
    down_bytes: usize,
    /// Duration in seconds
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FloorEnd {
    Server,
    Clients,
}

/// Runs one end of the plain UDP baseline.
pub fn floor(args: &FloorArgs) -> Result<(), CommandError> {
    let &FloorArgs { clients, up, answers, up_bytes, down_bytes, seconds, .. } = args;
    let options = FloorOptions { clients, up, answers, up_bytes, down_bytes, seconds };
    match (args.end, args.server) {
        (FloorEnd::Server, _) => floor::serve(&options, |it| Ok(write_out(&format!("{it}\n"))?))?,
        (FloorEnd::Clients, Some(server)) => floor::send(&options, server)?,
        (FloorEnd::Clients, None) => return Err(CommandError::Usage("--server is missing".to_owned())),
    }
    Ok(())
}

/// Arguments of the process of walking bots.
#[derive(Args)]
pub struct WalkersArgs {
    /// Address of the lobby
    #[arg(long)]
    lobby: String,
    /// Number of bots
    #[arg(long)]
    count: u32,
    /// Duration in seconds
    #[arg(long)]
    seconds: f64,
    /// Connect by WebSocket instead of QUIC
    #[arg(long)]
    web_socket: bool,
    /// Play as the game's own bots do, instead of walking only
    #[arg(long)]
    plays: bool,
}

/// Runs the clients' process: bots that walk. It prints a line when the measured time begins, one when it ends, and the
/// bots' measurements as JSON.
pub fn walkers(program: &Program, args: &WalkersArgs) -> Result<(), CommandError> {
    let options = WalkersOptions {
        lobby: args.lobby.clone(),
        count: args.count as usize,
        time: Duration::from_secs_f64(args.seconds),
        transport: transport(args.web_socket),
        plays: args.plays,
    };
    let measured = block_on(async {
        let tell = |it: walkers::MeasurePoint| Ok(write_out(&format!("{}\n", it.line()))?);
        Ok(walkers::walk(options, program.game(), tell).await?)
    })?;
    print(&format!("{}\n", serde_json::to_string(&measured)?))
}
