//! A world as processes of this machine: starts them, watches them, kills them when asked to, ends them.
//!
//! The processes are this program again, called with `directory` and `host`: the program that uses a cluster must serve
//! both, with the options that are passed here.

use crate::{Refused, process};
use anyhow::{Context as _, Result, bail};
use client::{Health, Lobby};
use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;
use server::seat::SEAT_FILE;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio::time::Instant;

/// How long processes may take to be ready: the first start makes keys.
const READY_WITHIN: Duration = Duration::from_secs(30);

/// How long processes may take to leave.
const LEAVE_WITHIN: Duration = Duration::from_secs(8);

/// What a world of processes is like.
#[derive(Clone, Debug)]
pub struct ClusterOptions {
    /// Where everything is kept.
    pub data: PathBuf,
    /// A configuration for all of them.
    pub config: Option<PathBuf>,
    /// Where histories are written.
    pub history: Option<PathBuf>,
    /// Where the page is served.
    pub lobby: SocketAddr,
    /// The hosts' numbers.
    pub hosts: Vec<u32>,
}

/// Removes a world, and nothing that is not one.
pub fn forget(data: &Path) -> Result<()> {
    if !data.exists() {
        return Ok(());
    }
    let is_world = data.join("keys").is_dir() || data.join(SEAT_FILE).exists();
    let is_empty = std::fs::read_dir(data)?.next().is_none();
    if !is_world && !is_empty {
        bail!(Refused(format!("{} is not a world: --fresh would remove it all", data.display())));
    }
    std::fs::remove_dir_all(data).with_context(|| format!("cannot remove {}", data.display()))
}

#[derive(Deserialize)]
struct SeatFile {
    directory: SocketAddr,
    lobby: SocketAddr,
    process: u32,
}

/// A world of processes.
pub struct Cluster {
    options: ClusterOptions,
    seat: Child,
    directory: SocketAddr,
    lobby: SocketAddr,
    hosts: BTreeMap<u32, Child>,
    /// Processor seconds of processes that are gone.
    spent: f64,
}

impl Cluster {
    /// Starts everything, and returns when the world can be entered.
    pub async fn start(options: ClusterOptions) -> Result<Self> {
        std::fs::create_dir_all(&options.data)
            .with_context(|| format!("cannot make {}", options.data.display()))?;
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let (seat, found) = start_seat(&options, any, options.lobby).await?;
        let (directory, lobby) = (found.directory, found.lobby);
        let mut cluster = Self { options, seat, directory, lobby, hosts: BTreeMap::new(), spent: 0.0 };
        for host in cluster.options.hosts.clone() {
            cluster.start_host(host)?;
        }
        // All of them: a player who came before a host did would have to find out about it later.
        let all = cluster.options.hosts.clone();
        let ready = |it: &Health| {
            all.iter().all(|host| it.hosts.contains(host)) && it.zones.iter().all(|it| it.primary.is_some())
        };
        cluster.until(READY_WITHIN, "the world is ready", ready).await?;
        if 1 < cluster.options.hosts.len() {
            cluster.until_protected().await?;
        }
        Ok(cluster)
    }

    /// Where people come in.
    pub const fn lobby(&self) -> SocketAddr {
        self.lobby
    }

    /// Starts a host, or starts it again.
    pub fn start_host(&mut self, host: u32) -> Result<()> {
        let mut command = command(&self.options, &format!("host-{host}"), "host")?;
        command.args(["--id", &host.to_string(), "--directory", &self.directory.to_string()]);
        self.hosts.insert(host, command.spawn().context("cannot start a host")?);
        Ok(())
    }

    /// Starts the directory and lobby again, where they were.
    pub async fn start_seat_again(&mut self) -> Result<()> {
        let (seat, _) = start_seat(&self.options, self.directory, self.lobby).await?;
        self.seat = seat;
        Ok(())
    }

    /// How the world is.
    pub async fn health(&self) -> Option<Health> {
        Lobby::new(&self.lobby.to_string()).health().await.ok()
    }

    /// The host that decides in the most zones.
    pub async fn primary(&self) -> Option<u32> {
        self.health().await?.first()
    }

    /// Waits until every zone has a backup.
    pub async fn until_protected(&self) -> Result<()> {
        let protected = |it: &Health| it.zones.iter().all(|it| it.primary.is_some() && it.backup.is_some());
        self.until(READY_WITHIN, "every zone has a backup", protected).await
    }

    /// Waits until something is so.
    pub async fn until(&self, within: Duration, what: &str, is_so: impl Fn(&Health) -> bool) -> Result<()> {
        let deadline = Instant::now() + within;
        loop {
            if self.health().await.is_some_and(|it| is_so(&it)) {
                return Ok(());
            }
            if deadline < Instant::now() {
                let logs = self.options.data.display();
                bail!("waited in vain until {what}; the logs are in {logs}/*.log");
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Sends a signal to a host.
    pub fn signal(&mut self, host: u32, signal: Signal) -> Result<()> {
        let child = self.hosts.get(&host).context("no such host")?;
        send(child, signal)
    }

    /// Kills a host without a word.
    pub async fn kill(&mut self, host: u32) -> Result<()> {
        let mut child = self.hosts.remove(&host).context("no such host")?;
        self.spent += processor_seconds(&child).unwrap_or(0.0);
        child.start_kill().context("cannot kill a host")?;
        child.wait().await.context("cannot wait for a host")?;
        Ok(())
    }

    /// Tells a host to leave, and waits until it has.
    pub async fn leave_one(&mut self, host: u32) -> Result<()> {
        let mut child = self.hosts.remove(&host).context("no such host")?;
        send(&child, Signal::TERM)?;
        let spent = processor_seconds(&child).unwrap_or(0.0);
        wait_or_kill(&mut child).await?;
        self.spent += spent;
        Ok(())
    }

    /// Kills the directory and lobby without a word.
    pub async fn kill_seat(&mut self) -> Result<()> {
        self.spent += processor_seconds(&self.seat).unwrap_or(0.0);
        self.seat.start_kill().context("cannot kill the directory")?;
        self.seat.wait().await.context("cannot wait for the directory")?;
        Ok(())
    }

    /// Kills everything without a word.
    pub async fn kill_all(mut self) -> Result<()> {
        for child in self.hosts.values_mut() {
            child.start_kill().context("cannot kill a host")?;
        }
        for child in self.hosts.values_mut() {
            child.wait().await.context("cannot wait for a host")?;
        }
        self.kill_seat().await
    }

    /// Processor seconds that all servers have used.
    pub fn processor_seconds(&self) -> f64 {
        let living = self.hosts.values().chain([&self.seat]);
        self.spent + living.filter_map(processor_seconds).sum::<f64>()
    }

    /// The servers' processes, by name.
    pub fn processes(&self) -> Vec<(String, u32)> {
        let hosts = self.hosts.iter().map(|(host, child)| (format!("host {host}"), child));
        let all = hosts.chain([("directory".to_owned(), &self.seat)]);
        all.filter_map(|(name, child)| Some((name, child.id()?))).collect()
    }

    /// Hosts that ended although nobody told them to. They are forgotten; whoever asks starts them again, or not.
    pub fn fallen(&mut self) -> Vec<u32> {
        let ended = |child: &mut Child| matches!(child.try_wait(), Ok(Some(_)));
        let fallen: Vec<u32> =
            self.hosts.iter_mut().filter_map(|(&host, it)| ended(it).then_some(host)).collect();
        self.hosts.retain(|host, _| !fallen.contains(host));
        fallen
    }

    /// Whether the directory has ended although nobody told it to.
    pub fn seat_has_fallen(&mut self) -> bool {
        matches!(self.seat.try_wait(), Ok(Some(_)))
    }

    /// A process that ended although nobody told it to, for people.
    pub fn deserter(&mut self) -> Option<String> {
        let host = self.fallen().first().map(|host| format!("host {host} ended by itself"));
        host.or_else(|| self.seat_has_fallen().then(|| "the directory ended by itself".to_owned()))
    }

    /// Lets everything leave in good order: hosts first, then the directory.
    pub async fn leave(mut self) -> Result<()> {
        for child in self.hosts.values() {
            let _ = send(child, Signal::TERM);
        }
        for child in self.hosts.values_mut() {
            wait_or_kill(child).await?;
        }
        let _ = send(&self.seat, Signal::TERM);
        wait_or_kill(&mut self.seat).await
    }
}

fn send(child: &Child, signal: Signal) -> Result<()> {
    let id = child.id().and_then(|it| Pid::from_raw(it as i32)).context("the process has ended")?;
    kill_process(id, signal).context("cannot signal a process")
}

async fn wait_or_kill(child: &mut Child) -> Result<()> {
    if tokio::time::timeout(LEAVE_WITHIN, child.wait()).await.is_err() {
        child.kill().await.context("cannot end a process")?;
    }
    Ok(())
}

fn processor_seconds(child: &Child) -> Option<f64> {
    process::processor_seconds(child.id()?)
}

fn command(options: &ClusterOptions, log: &str, verb: &str) -> Result<Command> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let mut command = Command::new(program);
    command.arg(verb).arg("--tethered").arg("--data").arg(&options.data);
    if let Some(config) = &options.config {
        command.arg("--config").arg(config);
    }
    if let Some(history) = &options.history {
        command.arg("--history").arg(history);
    }
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(log_file(&options.data, log)?)
        .kill_on_drop(true);
    Ok(command)
}

fn log_file(data: &Path, name: &str) -> Result<File> {
    let path = data.join(format!("{name}.log"));
    let file = OpenOptions::new().create(true).append(true).open(&path);
    file.with_context(|| format!("cannot write {}", path.display()))
}

async fn start_seat(
    options: &ClusterOptions,
    directory: SocketAddr,
    lobby: SocketAddr,
) -> Result<(Child, SeatFile)> {
    let mut command = command(options, "directory", "directory")?;
    command.args(["--listen", &directory.to_string(), "--lobby", &lobby.to_string()]);
    let mut child = command.spawn().context("cannot start the directory")?;
    let path = options.data.join(SEAT_FILE);
    let deadline = Instant::now() + READY_WITHIN;
    loop {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        if let Ok(found) = serde_json::from_str::<SeatFile>(&text)
            && Some(found.process) == child.id()
        {
            return Ok((child, found));
        }
        if let Ok(Some(status)) = child.try_wait() {
            let log = options.data.join("directory.log");
            let last = std::fs::read_to_string(&log).unwrap_or_default();
            let last = last.lines().last().unwrap_or_default().to_owned();
            bail!("the directory ended ({status}): {last}");
        }
        if deadline < Instant::now() {
            bail!("the directory does not get ready");
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
