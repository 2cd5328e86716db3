//! `ecumene bench failover`: how long nobody is answered after the deciding host was killed, on real processes.

use crate::play::cluster::{Cluster, ClusterOptions};
use crate::{Failure, print, progress};
use anyhow::Context as _;
use clap::Args;
use client::{Book, Lobby, Stay, StayOptions, Transport};
use kosmos::Action;
use machine::Time;
use net::dial::Dialer;
use node::Client as Node;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::mpsc;
use zone::{Happening, Outcome, Want};

/// How many players try to act all the time.
const PROBES: usize = 8;

/// How often each acts.
const ACT_EVERY: Duration = Duration::from_millis(20);

/// How long a failover may take before it counts as none.
const WITHIN: Duration = Duration::from_secs(20);

/// Kills the deciding host (kill -9) again and again, at default timers, and takes the time from the kill to the first
/// action that was wanted after it and done.
#[derive(Args)]
pub struct FailoverArgs {
    /// How often
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    kills: u32,
    /// Where to keep the world meanwhile; it is removed first
    #[arg(long, default_value = "out/bench-failover", value_name = "DIR")]
    data: PathBuf,
    /// What to print
    #[arg(long, value_enum, default_value = "table")]
    format: super::Format,
}

/// Runs the benchmark.
pub fn run(args: &FailoverArgs) -> Result<(), Failure> {
    crate::play::demo::forget(&args.data)?;
    let millis = crate::play::block_on(measure(args))?;
    let mut sorted = millis.clone();
    sorted.sort_by(f64::total_cmp);
    // The smallest sample that this part of all samples does not exceed.
    let quantile = |it: f64| sorted[((sorted.len() as f64 * it).ceil() as usize).clamp(1, sorted.len()) - 1];
    let (p50, p99, min, max) = (quantile(0.5), quantile(0.99), quantile(0.0), quantile(1.0));
    let kills = millis.len();
    print(&match args.format {
        super::Format::Json => {
            let rounded: Vec<f64> = millis.iter().map(|it| (it * 10.0).round() / 10.0).collect();
            let json = serde_json::json!({
                "bench": "failover", "kills": kills, "p50_ms": p50, "p99_ms": p99, "min_ms": min, "max_ms": max,
                "samples_ms": rounded,
            });
            format!("{json}\n")
        }
        super::Format::Table => format!(
            "{kills} kills of the deciding host, real processes, default timers\n\
             from the kill to the first action done: p50 {p50:.0} ms, p99 {p99:.0} ms, {min:.0} to {max:.0} ms\n"
        ),
    })
}

async fn measure(args: &FailoverArgs) -> Result<Vec<f64>, Failure> {
    let mut cluster = Cluster::start(ClusterOptions {
        data: args.data.clone(),
        config: None,
        history: None,
        lobby: SocketAddr::from(([127, 0, 0, 1], 0)),
        hosts: vec![1, 2, 3],
    })
    .await?;
    let (heard, mut happenings) = mpsc::unbounded_channel();
    let mut probes = Vec::new();
    for number in 0..PROBES {
        probes.push(probe(&cluster.lobby().to_string(), number, heard.clone()).await?);
    }
    let bar = progress::bar("kills", u64::from(args.kills));
    let mut millis = Vec::new();
    for _ in 0..args.kills {
        cluster.until_protected().await?;
        answered_after(&mut happenings, net::clock::now()).await?;
        let primary = cluster.primary().await.context("nobody reigns")?;
        let dialled: Vec<u64> = probes.iter().map(redials).collect();
        let killed = net::clock::now();
        cluster.kill(primary).await?;
        let answered = answered_after(&mut happenings, killed).await?;
        millis.push(answered.since(killed).as_micros() as f64 / 1_000.0);
        cluster.start_host(primary)?;
        all_redialled(&probes, &dialled).await?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    drop(probes);
    cluster.leave().await?;
    Ok(millis)
}

/// Waits until every player has dialled the restarted host again: then they are on the line with whoever would take over,
/// as players are who have been in for a few seconds.
async fn all_redialled(probes: &[Probe], before: &[u64]) -> Result<(), Failure> {
    let deadline = tokio::time::Instant::now() + WITHIN;
    while probes.iter().zip(before).any(|(it, before)| redials(it) <= *before) {
        if deadline < tokio::time::Instant::now() {
            return Err(anyhow::anyhow!("a player does not reach the restarted host").into());
        }
        tokio::time::sleep(ACT_EVERY).await;
    }
    Ok(())
}

fn redials(probe: &Probe) -> u64 {
    probe.0.counts.redials.load(std::sync::atomic::Ordering::Relaxed)
}

type Probe = (Stay, tokio::task::JoinHandle<()>);

/// A player who says something all the time.
async fn probe(
    lobby: &str,
    number: usize,
    heard: mpsc::UnboundedSender<(Time, Happening)>,
) -> Result<Probe, Failure> {
    let lobby = Lobby::new(lobby);
    let pass = lobby.guest(&format!("probe-{number}")).await?;
    let dialer = Dialer::new()?;
    let options =
        StayOptions { transport: Transport::Quic, dialer, book: Book::default(), seed: number as u64 };
    let (sender, mut happenings) = mpsc::unbounded_channel();
    let stay = Stay::begin(&lobby, &pass, options, |config, _| Node::new(config), sender).await?;
    let player = stay.player.clone();
    tokio::spawn(async move {
        while let Some(it) = happenings.recv().await {
            if heard.send((net::clock::now(), it)).is_err() {
                return;
            }
        }
    });
    let acting = tokio::spawn(async move {
        let hello =
            postcard::to_stdvec(&Action::Say { text: "hello".to_owned() }).expect("plain data encodes");
        while player.command(Want::Act(hello.clone())) {
            tokio::time::sleep(ACT_EVERY).await;
        }
    });
    Ok((stay, acting))
}

/// Waits for the first action that was wanted after a moment and done; when that was known.
async fn answered_after(
    happenings: &mut mpsc::UnboundedReceiver<(Time, Happening)>,
    moment: Time,
) -> Result<Time, Failure> {
    let mut last = None;
    let waited = tokio::time::timeout(WITHIN, async {
        while let Some((at, happening)) = happenings.recv().await {
            if let Happening::Answered(_, Outcome::Done, took) = happening
                && moment <= at - took
            {
                return Some(at);
            }
            last = Some(happening);
        }
        None
    });
    let answered = waited.await.ok().flatten();
    Ok(answered
        .with_context(|| format!("no action was done within {WITHIN:?}; what was heard last: {last:?}"))?)
}
