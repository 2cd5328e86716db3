//! The command line of a system's program: it is the server, or all clients.

use crate::Client;
use crate::clients::Crowd;
use anyhow::Result;
use clap::{Args, Parser, Subcommand};
use std::net::SocketAddr;

#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    end: End,
}

#[derive(Subcommand)]
enum End {
    /// Serve until the process is ended
    Server(ServerOptions),
    /// Run all clients, and print what they measure
    Clients(ClientsOptions),
}

/// The options of a server.
#[derive(Args, Debug)]
pub struct ServerOptions {
    /// Number of clients that will come
    #[arg(long)]
    pub clients: u16,
    /// Ticks per second
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub hz: u32,
}

/// The options of a crowd of clients.
#[derive(Args, Debug)]
pub struct ClientsOptions {
    /// Address of the server
    #[arg(long)]
    pub server: SocketAddr,
    /// Number of clients
    #[arg(long)]
    pub clients: u16,
    /// Duration of the measurement, in seconds
    #[arg(long)]
    pub seconds: f64,
}

/// Runs the end of a system that the command line names.
pub fn run<C: Client>(
    serve: impl FnOnce(&ServerOptions) -> Result<()>,
    connect: impl Fn(&ClientsOptions, u16) -> Result<C>,
) -> Result<()> {
    match Cli::parse().end {
        End::Server(options) => {
            end_with_the_runner();
            serve(&options)
        }
        End::Clients(options) => Crowd::measure(&options, connect),
    }
}

/// Ends the process when its input does: a runner that is killed leaves no server behind.
fn end_with_the_runner() {
    std::thread::spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        std::process::exit(0);
    });
}
