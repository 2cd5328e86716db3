//! A world as processes of this computer: starts them, watches them, kills them when asked to, ends them.
//!
//! The processes are this program again, called with `directory` and `host`: the program that uses a cluster must serve
//! both, with the options that are passed here.

use crate::{InvalidOptions, process};
use anyhow::{Context as _, Result, bail};
use client::{LobbyClient, WorldHealth};
use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;
use server::control_plane::CONTROL_PLANE_FILE;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio::time::Instant;

/// Time that processes may take to be ready: the first start makes keys.
const READY_TIMEOUT: Duration = Duration::from_secs(30);

/// Time in which a world under load must say who leads its zones.
const EPOCHS_TIMEOUT: Duration = Duration::from_secs(30);

/// Time that processes may take to leave.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(8);

/// The options of a world of processes.
#[derive(Clone, Debug)]
pub struct ClusterOptions {
    /// Folder of keys, directory, accounts and logs.
    pub data: PathBuf,
    /// Configuration file for all processes.
    pub config: Option<PathBuf>,
    /// Folder of histories, if they are written.
    pub history: Option<PathBuf>,
    /// TCP address of the lobby and web page.
    pub lobby: SocketAddr,
    /// Numbers of the hosts to start.
    pub hosts: Vec<u32>,
    /// The program that serves `directory` and `host`; `None` is this one.
    pub program: Option<PathBuf>,
    /// Variables of the environment that all processes get.
    pub environment: Vec<(OsString, OsString)>,
}

impl ClusterOptions {
    /// A world of these hosts by the default configuration, served by this program at a port that the system chooses.
    pub fn of(data: PathBuf, hosts: Vec<u32>) -> Self {
        let lobby = SocketAddr::from(([127, 0, 0, 1], 0));
        Self { data, config: None, history: None, lobby, hosts, program: None, environment: Vec::new() }
    }
}

/// Removes the folder of a world; refuses to remove any other folder.
pub fn remove_world(data: &Path) -> Result<()> {
    if !data.exists() {
        return Ok(());
    }
    let is_world = data.join("keys").is_dir() || data.join(CONTROL_PLANE_FILE).exists();
    let is_empty = std::fs::read_dir(data)?.next().is_none();
    if !is_world && !is_empty {
        bail!(InvalidOptions(format!("{} is not a world: --fresh would remove it all", data.display())));
    }
    std::fs::remove_dir_all(data).with_context(|| format!("cannot remove {}", data.display()))
}

/// The processor time of each stage in a host's metrics.
fn stages_in(metrics: &str) -> impl Iterator<Item = (String, u64)> {
    metrics.lines().filter_map(|line| {
        let (stage, micros) =
            line.strip_prefix("ecumene_cpu_microseconds_total{stage=\"")?.split_once("\"} ")?;
        Some((stage.to_owned(), micros.parse().ok()?))
    })
}

#[derive(Deserialize)]
struct ControlPlaneFile {
    directory: SocketAddr,
    lobby: SocketAddr,
    process: u32,
}

/// A world of running processes.
pub struct Cluster {
    options: ClusterOptions,
    control_plane: Child,
    directory: SocketAddr,
    lobby: SocketAddr,
    hosts: BTreeMap<u32, Child>,
    /// Processor seconds of processes that have ended.
    spent: f64,
}

impl Cluster {
    /// Starts all processes, and returns when players can enter the world.
    pub async fn start(options: ClusterOptions) -> Result<Self> {
        std::fs::create_dir_all(&options.data)
            .with_context(|| format!("cannot make {}", options.data.display()))?;
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let (control_plane, found) = start_control_plane(&options, any, options.lobby).await?;
        let (directory, lobby) = (found.directory, found.lobby);
        let mut cluster =
            Self { options, control_plane, directory, lobby, hosts: BTreeMap::new(), spent: 0.0 };
        for host in cluster.options.hosts.clone() {
            cluster.start_host(host)?;
        }
        // All hosts: a player who comes before a host is registered would have to learn of it later.
        let all = cluster.options.hosts.clone();
        let ready = |it: &WorldHealth| {
            all.iter().all(|host| it.hosts.contains(host)) && it.zones.iter().all(|it| it.primary.is_some())
        };
        cluster.until(READY_TIMEOUT, "the world is ready", ready).await?;
        if 1 < cluster.options.hosts.len() {
            cluster.until_backed_up().await?;
        }
        Ok(cluster)
    }

    /// TCP address of the lobby.
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

    /// Starts the control plane again, at the same addresses.
    pub async fn restart_control_plane(&mut self) -> Result<()> {
        let (control_plane, _) = start_control_plane(&self.options, self.directory, self.lobby).await?;
        self.control_plane = control_plane;
        Ok(())
    }

    /// The state of the world; `None` if the control plane does not answer.
    pub async fn health(&self) -> Option<WorldHealth> {
        LobbyClient::new(&self.lobby.to_string()).health().await.ok()
    }

    /// The host that leads the most zones.
    pub async fn primary(&self) -> Option<u32> {
        self.health().await?.leading_host()
    }

    /// The sum of the epochs of all zones: it rises with every change of a primary or backup.
    pub async fn epochs(&self) -> Result<u64> {
        let deadline = Instant::now() + EPOCHS_TIMEOUT;
        loop {
            if let Some(health) = self.health().await {
                return Ok(health.zones.iter().filter_map(|it| it.epoch).map(u64::from).sum());
            }
            if deadline < Instant::now() {
                bail!("the lobby does not say who leads the zones");
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Waits until every zone has a backup.
    pub async fn until_backed_up(&self) -> Result<()> {
        let has_backups =
            |it: &WorldHealth| it.zones.iter().all(|it| it.primary.is_some() && it.backup.is_some());
        self.until(READY_TIMEOUT, "every zone has a backup", has_backups).await
    }

    /// Waits until a condition holds; `what` names it in the error.
    pub async fn until(
        &self,
        within: Duration,
        what: &str,
        holds: impl Fn(&WorldHealth) -> bool,
    ) -> Result<()> {
        let deadline = Instant::now() + within;
        loop {
            if self.health().await.is_some_and(|it| holds(&it)) {
                return Ok(());
            }
            if deadline < Instant::now() {
                let logs = self.options.data.display();
                bail!("timed out waiting until {what}; the logs are in {logs}/*.log");
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Sends a signal to a host.
    pub fn signal(&mut self, host: u32, signal: Signal) -> Result<()> {
        let child = self.hosts.get(&host).context("no such host")?;
        send(child, signal)
    }

    /// Kills a host with `SIGKILL`.
    pub async fn kill(&mut self, host: u32) -> Result<()> {
        let mut child = self.hosts.remove(&host).context("no such host")?;
        // Read while the process is still there.
        self.spent += processor_seconds(&child).unwrap_or(0.0);
        child.start_kill().context("cannot kill a host")?;
        child.wait().await.context("cannot wait for a host")?;
        Ok(())
    }

    /// Tells a host to leave, and waits until it has ended.
    pub async fn stop_host(&mut self, host: u32) -> Result<()> {
        let mut child = self.hosts.remove(&host).context("no such host")?;
        send(&child, Signal::TERM)?;
        let spent = processor_seconds(&child).unwrap_or(0.0);
        wait_or_kill(&mut child).await?;
        self.spent += spent;
        Ok(())
    }

    /// Kills the control plane with `SIGKILL`.
    pub async fn kill_control_plane(&mut self) -> Result<()> {
        self.spent += processor_seconds(&self.control_plane).unwrap_or(0.0);
        self.control_plane.start_kill().context("cannot kill the directory")?;
        self.control_plane.wait().await.context("cannot wait for the directory")?;
        Ok(())
    }

    /// Kills all processes with `SIGKILL`.
    pub async fn kill_all(mut self) -> Result<()> {
        // All at once: one after the other, the rest would fail over.
        for child in self.hosts.values_mut() {
            child.start_kill().context("cannot kill a host")?;
        }
        for child in self.hosts.values_mut() {
            child.wait().await.context("cannot wait for a host")?;
        }
        self.kill_control_plane().await
    }

    /// Processor seconds that all servers have used.
    pub fn processor_seconds(&self) -> f64 {
        let living = self.hosts.values().chain([&self.control_plane]);
        self.spent + living.filter_map(processor_seconds).sum::<f64>()
    }

    /// Processor microseconds of all hosts by stage, so far: see `machine::stage`.
    pub async fn stage_micros(&self) -> Result<BTreeMap<String, u64>> {
        let health = LobbyClient::new(&self.lobby.to_string()).health().await?;
        let mut sum = BTreeMap::new();
        for address in health.web.values() {
            for (stage, micros) in stages_in(&LobbyClient::host_metrics(address).await?) {
                *sum.entry(stage).or_insert(0) += micros;
            }
        }
        Ok(sum)
    }

    /// Names and process ids of the servers.
    pub fn processes(&self) -> Vec<(String, u32)> {
        let hosts = self.hosts.iter().map(|(host, child)| (format!("host {host}"), child));
        let all = hosts.chain([("directory".to_owned(), &self.control_plane)]);
        all.filter_map(|(name, child)| Some((name, child.id()?))).collect()
    }

    /// Hosts that ended by themselves, each reported once; the caller may start them again.
    pub fn take_ended_hosts(&mut self) -> Vec<u32> {
        let ended = |child: &mut Child| matches!(child.try_wait(), Ok(Some(_)));
        let ended_hosts: Vec<u32> =
            self.hosts.iter_mut().filter_map(|(&host, it)| ended(it).then_some(host)).collect();
        self.hosts.retain(|host, _| !ended_hosts.contains(host));
        ended_hosts
    }

    /// Returns whether the control plane has ended by itself.
    pub fn control_plane_has_ended(&mut self) -> bool {
        matches!(self.control_plane.try_wait(), Ok(Some(_)))
    }

    /// A process that ended by itself, as a line for people.
    pub fn ended_process(&mut self) -> Option<String> {
        let host = self.take_ended_hosts().first().map(|host| format!("host {host} ended by itself"));
        host.or_else(|| self.control_plane_has_ended().then(|| "the directory ended by itself".to_owned()))
    }

    /// Ends all processes in good order: hosts first, then the control plane.
    pub async fn leave(mut self) -> Result<()> {
        for child in self.hosts.values() {
            let _ = send(child, Signal::TERM);
        }
        for child in self.hosts.values_mut() {
            wait_or_kill(child).await?;
        }
        let _ = send(&self.control_plane, Signal::TERM);
        wait_or_kill(&mut self.control_plane).await
    }
}

fn send(child: &Child, signal: Signal) -> Result<()> {
    let id = child.id().and_then(|it| Pid::from_raw(it as i32)).context("the process has ended")?;
    kill_process(id, signal).context("cannot signal a process")
}

async fn wait_or_kill(child: &mut Child) -> Result<()> {
    if tokio::time::timeout(LEAVE_TIMEOUT, child.wait()).await.is_err() {
        child.kill().await.context("cannot end a process")?;
    }
    Ok(())
}

fn processor_seconds(child: &Child) -> Option<f64> {
    process::processor_seconds(child.id()?)
}

fn command(options: &ClusterOptions, log: &str, verb: &str) -> Result<Command> {
    let program = match &options.program {
        Some(program) => program.clone(),
        None => std::env::current_exe().context("cannot find this program")?,
    };
    let mut command = Command::new(program);
    command.envs(options.environment.iter().cloned());
    // Tethered processes end when the pipe to their standard input closes: none outlives a killed test.
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
    // A restarted process continues the log of its predecessor.
    let file = OpenOptions::new().create(true).append(true).open(&path);
    file.with_context(|| format!("cannot write {}", path.display()))
}

async fn start_control_plane(
    options: &ClusterOptions,
    directory: SocketAddr,
    lobby: SocketAddr,
) -> Result<(Child, ControlPlaneFile)> {
    let mut command = command(options, "directory", "directory")?;
    command.args(["--listen", &directory.to_string(), "--lobby", &lobby.to_string()]);
    let mut child = command.spawn().context("cannot start the directory")?;
    let path = options.data.join(CONTROL_PLANE_FILE);
    let deadline = Instant::now() + READY_TIMEOUT;
    loop {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        // The file of an earlier run may still be there; only the one with our child's process id counts.
        if let Ok(found) = serde_json::from_str::<ControlPlaneFile>(&text)
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
