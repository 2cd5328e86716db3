//! `ecumene bots`: a crowd of real clients.

use super::{block_on, told_to_stop, transport};
use crate::kosmos_game::kosmos_game;
use crate::{Failure, print};
use clap::{Args, ValueEnum};
use client::{Header, HistoryWriter};
use std::path::PathBuf;
use std::time::Duration;
use testbed::crowd::{Crowd, CrowdOptions, CrowdReport, MIXED};

/// Plays with many bots, and measures what they experience.
#[derive(Args)]
pub struct BotsArgs {
    /// Where the lobby is
    #[arg(long, default_value = "127.0.0.1:8080", value_name = "ADDRESS")]
    lobby: String,
    /// How many
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=20_000))]
    count: u32,
    /// What they do: wander, hunt, gather, trade, talk, or these in turn; border, cross or hostile
    #[arg(long, default_value = "mixed", value_name = "NAME")]
    behaviour: String,
    /// For how long; until Ctrl-C if not given
    #[arg(long)]
    seconds: Option<u32>,
    /// Connect by WebSocket instead of QUIC
    #[arg(long)]
    web_socket: bool,
    /// Where their chance starts
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where to write a history for `ecumene check`
    #[arg(long, value_name = "DIR")]
    history: Option<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Table,
    /// For programs.
    Json,
}

/// Refuses a name that no bot has.
pub fn check_behaviour(asked: &str) -> Result<(), Failure> {
    let names = [&kosmos::bots::NAMES[..], &kosmos::bots::TRAVELLERS[..]].concat();
    if names.contains(&asked) || [MIXED, "hostile"].contains(&asked) {
        return Ok(());
    }
    let names = names.join(", ");
    Err(Failure::Asked(format!("no bot is called {asked:?}: there are {names}, hostile and mixed")))
}

/// Runs `ecumene bots`.
pub fn run(args: &BotsArgs) -> Result<(), Failure> {
    check_behaviour(&args.behaviour)?;
    let header = Header::of(format!("bots-{}", std::process::id()));
    let history = HistoryWriter::begin(args.history.as_deref(), &header, net::clock::now)?;
    let options = CrowdOptions {
        game: kosmos_game(),
        lobby: args.lobby.clone(),
        count: args.count as usize,
        behaviour: args.behaviour.clone(),
        transport: transport(args.web_socket),
        history,
        seed: args.seed,
        pace: None,
    };
    block_on(async {
        let mut crowd = Crowd::enter(options).await?;
        crowd.measure().await;
        match args.seconds {
            Some(seconds) => tokio::select! {
                () = tokio::time::sleep(Duration::from_secs(seconds.into())) => (),
                () = told_to_stop() => (),
            },
            None => told_to_stop().await,
        }
        let report = crowd.finish().await;
        match args.format {
            Format::Json => print(&format!("{}\n", serde_json::to_string(&report)?)),
            Format::Table => print(&table(&report)),
        }
    })
}

/// A report for people.
pub fn table(it: &CrowdReport) -> String {
    format!(
        "{} bots, {:.0} s\n\
         actions   {:.0}/s answered, {} in all, {} of them refused\n\
         latency   p50 {:.1} ms, p99 {:.1} ms, longest {:.1} ms\n\
         updates   {:.1} poses, {:.0} bytes, {:.1} packets per bot and second\n\
         trouble   {} times back in, {} connections dialled again, {} errors\n",
        it.clients,
        it.seconds,
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
