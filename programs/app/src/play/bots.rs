//! `ecumene bots`: many bots as real clients.

use super::{block_on, stop_signal, transport};
use crate::app_game::HOSTILE;
use crate::command::{CommandError, OutputFormat, print};
use crate::program::Program;
use clap::Args;
use client::{Header, HistoryWriter};
use std::path::PathBuf;
use std::time::Duration;
use testbed::crowd::{BotCrowd, CrowdOptions, CrowdReport, MIXED};

/// Lets many bots play as real clients, and measures latency and traffic.
#[derive(Args)]
pub struct BotsArgs {
    /// Address of the lobby
    #[arg(long, default_value = "127.0.0.1:8080", value_name = "ADDRESS")]
    lobby: String,
    /// Number of bots
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=20_000))]
    count: u32,
    /// Behaviour of the bots
    #[arg(long, default_value = "mixed", value_name = "NAME")]
    behaviour: String,
    /// Duration in seconds [default: until Ctrl-C]
    #[arg(long)]
    seconds: Option<u32>,
    /// Connect by WebSocket instead of QUIC
    #[arg(long)]
    web_socket: bool,
    /// Random seed of the bots
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Folder for the bots' history, which `ecumene check` reads
    #[arg(long, value_name = "DIR")]
    history: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: OutputFormat,
}

/// Refuses the name of an unknown behaviour.
pub fn check_behaviour(program: &Program, asked: &str) -> Result<(), CommandError> {
    let (mixed, extra) = program.bot_names();
    let names = [mixed, &extra].concat();
    if names.contains(&asked) || [MIXED, HOSTILE].contains(&asked) {
        return Ok(());
    }
    let names = names.join(", ");
    Err(CommandError::Usage(format!("no bot is called {asked:?}: there are {names}, {HOSTILE} and {MIXED}")))
}

pub fn run(program: &Program, args: &BotsArgs) -> Result<(), CommandError> {
    check_behaviour(program, &args.behaviour)?;
    let header = Header::of(format!("bots-{}", std::process::id()));
    let history = HistoryWriter::begin(args.history.as_deref(), &header, net::clock::now)?;
    let options = CrowdOptions {
        game: program.game(),
        lobby: args.lobby.clone(),
        count: args.count as usize,
        behaviour: args.behaviour.clone(),
        transport: transport(args.web_socket),
        history,
        seed: args.seed,
        pace: None,
    };
    block_on(async {
        let mut crowd = BotCrowd::enter(options).await?;
        crowd.measure().await;
        match args.seconds {
            Some(seconds) => tokio::select! {
                () = tokio::time::sleep(Duration::from_secs(seconds.into())) => (),
                () = stop_signal() => (),
            },
            None => stop_signal().await,
        }
        let report = crowd.finish().await;
        match args.format {
            OutputFormat::Json => print(&format!("{}\n", serde_json::to_string(&report)?)),
            OutputFormat::Table => print(&table(&report)),
        }
    })
}

/// The report as text for people.
pub fn table(it: &CrowdReport) -> String {
    format!(
        "{} bots, {:.0} s; {} in the world and {} in the queue at the end\n\
         actions   {:.0}/s answered, {} in all, {} of them refused\n\
         latency   p50 {:.1} ms, p99 {:.1} ms, longest {:.1} ms\n\
         updates   {:.1} poses, {:.0} bytes, {:.1} packets per bot and second\n\
         trouble   {} times back in, {} connections dialled again, {} errors\n",
        it.clients,
        it.seconds,
        it.in_world,
        it.queued,
        it.actions_per_second,
        it.actions_acked,
        it.actions_refused,
        it.action_latency_p50_ms,
        it.action_latency_p99_ms,
        it.action_latency_max_ms,
        it.updates_per_client_second,
        it.bytes_per_client_second,
        it.packets_per_client_second,
        it.reconnects,
        it.redials,
        it.errors,
    )
}
