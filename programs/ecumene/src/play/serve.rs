//! `ecumene directory`, `ecumene host`, `ecumene keys`, `ecumene config print`: one process each.

use super::{ConfigArgs, block_on, logging, rules, told_to_stop};
use crate::{Failure, print};
use clap::{Args, Subcommand};
use net::tls::{DIRECTORY_NAME, host_name};
use server::keys::KeyFolder;
use server::{Config, Host, Seat};
use std::net::SocketAddr;

/// Serves who reigns, log-in and the page.
#[derive(Args)]
pub struct DirectoryArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Where hosts find it (UDP)
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Where people find the page (HTTP)
    #[arg(long, value_name = "ADDRESS")]
    lobby: Option<SocketAddr>,
    /// End when standard input ends: for whoever starts it as a part of something
    #[arg(long, hide = true)]
    tethered: bool,
}

/// Serves replicas of zones.
#[derive(Args)]
pub struct HostArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Which host of the world this is
    #[arg(long)]
    id: Option<u32>,
    /// Where the directory is
    #[arg(long, value_name = "ADDRESS")]
    directory: Option<SocketAddr>,
    /// Where players find it, by QUIC and WebTransport (UDP)
    #[arg(long, value_name = "ADDRESS")]
    players: Option<SocketAddr>,
    /// Where players find it, by WebSocket; also /health and /metrics (TCP)
    #[arg(long, value_name = "ADDRESS")]
    web: Option<SocketAddr>,
    /// Where other hosts find it (UDP)
    #[arg(long, value_name = "ADDRESS")]
    mesh: Option<SocketAddr>,
    /// Go on alone after a full stop although the other replica has not come back
    #[arg(long)]
    force: bool,
    /// End when standard input ends: for whoever starts it as a part of something
    #[arg(long, hide = true)]
    tethered: bool,
}

/// Makes the keys of a world: an authority, and a certificate for the directory and each host.
#[derive(Args)]
pub struct KeysArgs {
    #[command(flatten)]
    config: ConfigArgs,
}

/// The configuration.
#[derive(Subcommand)]
pub enum ConfigCommand {
    /// Print every knob with its default and what it means; a changed copy is given with --config
    Print,
    /// Read a configuration and say what is wrong with it
    Check(CheckArgs),
}

/// Which configuration to read.
#[derive(Args)]
pub struct CheckArgs {
    #[command(flatten)]
    config: ConfigArgs,
}

/// Ends when the process should.
async fn end(tethered: bool) {
    let tether = async {
        if !tethered {
            return std::future::pending().await;
        }
        // A thread of its own: nobody waits for it when the process ends.
        let (sender, ended) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || {
            drop(std::io::copy(&mut std::io::stdin(), &mut std::io::sink()));
            sender.send(())
        });
        let _ = ended.await;
    };
    tokio::select! {
        () = told_to_stop() => (),
        () = tether => (),
    }
}

/// Runs the directory's process.
pub fn directory(args: &DirectoryArgs) -> Result<(), Failure> {
    let mut config = args.config.load()?;
    config.directory.listen = args.listen.unwrap_or(config.directory.listen);
    config.lobby.listen = args.lobby.unwrap_or(config.lobby.listen);
    logging::start(&config.log)?;
    server::web::count();
    let rules = rules(config.world.half)?;
    block_on(async {
        let seat = Seat::start(&config, &*rules).await?;
        end(args.tethered).await;
        drop(seat);
        tracing::info!("gone");
        Ok(())
    })
}

/// Runs a host's process.
pub fn host(args: &HostArgs) -> Result<(), Failure> {
    let mut config = args.config.load()?;
    let host = &mut config.host;
    host.id = args.id.unwrap_or(host.id);
    host.players = args.players.unwrap_or(host.players);
    host.web = args.web.unwrap_or(host.web);
    host.mesh = args.mesh.unwrap_or(host.mesh);
    host.force |= args.force;
    if host.id == 0 {
        return Err(Failure::Asked("hosts are numbered from 1: --id".to_owned()));
    }
    logging::start(&config.log)?;
    server::web::count();
    let rules = rules(config.world.half)?;
    let directory = args.directory.unwrap_or(config.directory.listen);
    block_on(async {
        tokio::select! {
            host = Host::start(&config, directory, rules) => host?.run(end(args.tethered)).await?,
            () = end(args.tethered) => (),
        }
        Ok(())
    })
}

/// Makes keys.
pub fn keys(args: &KeysArgs) -> Result<(), Failure> {
    let config = args.config.load()?;
    let keys = KeyFolder::of(&config.data);
    keys.membership(DIRECTORY_NAME)?;
    for &host in &config.world.hosts {
        keys.membership(&host_name(host))?;
    }
    keys.lobby()?;
    print(&format!(
        "The keys are in {}. Each host needs authority.pem and its own .pem and .key; only the directory needs \
         lobby.key; authority.key is for making more.\n",
        config.data.join("keys").display()
    ))
}

/// Prints or checks a configuration.
pub fn config(command: &ConfigCommand) -> Result<(), Failure> {
    match command {
        ConfigCommand::Print => print(server::config::TEMPLATE),
        ConfigCommand::Check(args) => {
            let config: Config = args.config.load()?;
            print(&format!("good: {config:#?}\n"))
        }
    }
}
