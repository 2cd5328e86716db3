//! `ecumene directory`, `ecumene host`, `ecumene keys`, `ecumene config`: one process each.

use super::{ConfigArgs, block_on, logging, stop_signal};
use crate::command::{CommandError, print};
use crate::program::Program;
use clap::{Args, Subcommand};
use net::tls::{DIRECTORY_NAME, host_name};
use server::keys::KeyFolder;
use server::{ControlPlane, HostProcess, HostStuck, ServerConfig};
use std::net::SocketAddr;

/// Runs the control plane: directory, log-in and web page.
#[derive(Args)]
pub struct DirectoryArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Address on which it listens for hosts (UDP)
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Address of the lobby and the web page (HTTP)
    #[arg(long, value_name = "ADDRESS")]
    lobby: Option<SocketAddr>,
    /// End when standard input ends: for a parent process that starts this one
    #[arg(long, hide = true)]
    tethered: bool,
}

/// Runs a host, which holds replicas of zones.
#[derive(Args)]
pub struct HostArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Number of this host in the world, from 1
    #[arg(long)]
    id: Option<u32>,
    /// Address of the directory
    #[arg(long, value_name = "ADDRESS")]
    directory: Option<SocketAddr>,
    /// Address on which it listens for players by QUIC and WebTransport (UDP)
    #[arg(long, value_name = "ADDRESS")]
    players: Option<SocketAddr>,
    /// Address on which it listens for players by WebSocket; also serves /health and /metrics (TCP)
    #[arg(long, value_name = "ADDRESS")]
    web: Option<SocketAddr>,
    /// Address on which it listens for other hosts (UDP)
    #[arg(long, value_name = "ADDRESS")]
    mesh: Option<SocketAddr>,
    /// Start zones after a full stop although their other replica has not come back; its newest records may be lost
    #[arg(long)]
    force: bool,
    /// End when standard input ends: for a parent process that starts this one
    #[arg(long, hide = true)]
    tethered: bool,
}

/// Makes the keys of a world: a certificate authority, and a certificate for the directory and each host.
#[derive(Args)]
pub struct KeysArgs {
    #[command(flatten)]
    config: ConfigArgs,
}

/// The commands of `ecumene config`.
#[derive(Subcommand)]
pub enum ConfigCommand {
    /// Print every setting with its default and meaning; give a changed copy with --config
    Print,
    /// Read a configuration and report its mistakes
    Check(ConfigCheckArgs),
}

/// Arguments of `ecumene config check`.
#[derive(Args)]
pub struct ConfigCheckArgs {
    #[command(flatten)]
    config: ConfigArgs,
}

/// Waits for a signal to stop or, if `tethered`, for the end of standard input.
async fn end(tethered: bool) {
    let tether = async {
        if !tethered {
            return std::future::pending().await;
        }
        // A plain thread, not a blocking task: the runtime would wait for a blocked read when the process ends.
        let (sender, ended) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || {
            drop(std::io::copy(&mut std::io::stdin(), &mut std::io::sink()));
            sender.send(())
        });
        let _ = ended.await;
    };
    tokio::select! {
        () = stop_signal() => (),
        () = tether => (),
    }
}

/// Runs `ecumene directory`, the control plane's process.
pub fn directory(program: &Program, args: &DirectoryArgs) -> Result<(), CommandError> {
    let mut config = args.config.load(program)?;
    config.directory.listen = args.listen.unwrap_or(config.directory.listen);
    config.lobby.listen = args.lobby.unwrap_or(config.lobby.listen);
    logging::start(&config.log)?;
    server::web::count();
    let rules = program.rules(config.world.half)?;
    block_on(async {
        let control_plane = ControlPlane::start(&config, &*rules, program.load_page()).await?;
        end(args.tethered).await;
        drop(control_plane);
        tracing::info!("gone");
        Ok(())
    })
}

/// Runs `ecumene host`, a host's process.
pub fn host(program: &Program, args: &HostArgs) -> Result<(), CommandError> {
    let mut config = args.config.load(program)?;
    let host = &mut config.host;
    host.id = args.id.unwrap_or(host.id);
    host.players = args.players.unwrap_or(host.players);
    host.web = args.web.unwrap_or(host.web);
    host.mesh = args.mesh.unwrap_or(host.mesh);
    host.force |= args.force;
    if host.id == 0 {
        return Err(CommandError::Usage("hosts are numbered from 1: --id".to_owned()));
    }
    logging::start(&config.log)?;
    server::web::count();
    let rules = program.rules(config.world.half)?;
    let directory = args.directory.unwrap_or(config.directory.listen);
    let ended = block_on(async {
        tokio::select! {
            // A host may wait long for the directory before it has started; a signal ends that, too.
            host = HostProcess::start(&config, directory, rules) => host?.run(end(args.tethered)).await?,
            () = end(args.tethered) => (),
        }
        Ok(())
    });
    match ended {
        Err(CommandError::Failed(error)) if error.is::<HostStuck>() => {
            tracing::warn!("this program starts again");
            let failed = server::restart_process();
            Err(error.context(format!("it could not start again: {failed}")).into())
        }
        ended => ended,
    }
}

pub fn keys(program: &Program, args: &KeysArgs) -> Result<(), CommandError> {
    let config = args.config.load(program)?;
    let keys = KeyFolder::of(&config.data);
    keys.mesh_identity(DIRECTORY_NAME)?;
    for &host in &config.world.hosts {
        keys.mesh_identity(&host_name(host))?;
    }
    keys.lobby()?;
    print(&format!(
        "The keys are in {}. Each host needs authority.pem and its own .pem and .key; only the directory needs \
         lobby.key; authority.key is for making more.\n",
        config.data.join("keys").display()
    ))
}

pub fn config(program: &Program, command: &ConfigCommand) -> Result<(), CommandError> {
    match command {
        ConfigCommand::Print => print(program.template().text()),
        ConfigCommand::Check(args) => {
            let config: ServerConfig = args.config.load(program)?;
            print(&format!("good: {config:#?}\n"))
        }
    }
}
