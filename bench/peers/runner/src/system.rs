//! The systems that can be measured, and how their processes are started.

use anyhow::{Context as _, Result};
use clap::ValueEnum;
use serde::Serialize;
use std::path::Path;
use std::process::Command;

/// A system that carries the workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum System {
    /// Plain UDP, the floor
    Udp,
    /// renet with netcode
    Renet,
    /// bevy_replicon on renet with netcode
    Replicon,
    /// ws on Node
    Ws,
    /// Colyseus on Node
    Colyseus,
    /// Ecumene with the policy `circle`
    EcumeneCircle,
    /// Ecumene with the policy `a3`
    EcumeneA3,
}

/// The end of a system that a process is.
#[derive(Clone, Copy)]
pub enum End {
    Server,
    Clients,
}

impl System {
    /// All systems, in the order in which they are measured.
    pub const ALL: [Self; 7] = [
        Self::Udp,
        Self::Renet,
        Self::Replicon,
        Self::Ws,
        Self::Colyseus,
        Self::EcumeneCircle,
        Self::EcumeneA3,
    ];

    /// The name of the system in tables.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Udp => "plain UDP",
            Self::Renet => "renet",
            Self::Replicon => "bevy_replicon",
            Self::Ws => "ws",
            Self::Colyseus => "Colyseus",
            Self::EcumeneCircle => "Ecumene `circle`",
            Self::EcumeneA3 => "Ecumene `a3`",
        }
    }

    /// The policy of Ecumene's servers; `None` for the other systems.
    pub const fn ecumene_policy(self) -> Option<&'static str> {
        match self {
            Self::EcumeneCircle => Some("circle"),
            Self::EcumeneA3 => Some("a3"),
            Self::Udp | Self::Renet | Self::Replicon | Self::Ws | Self::Colyseus => None,
        }
    }

    /// True if the policy sends fewer updates of avatars that are far away: such a row has fewer updates on purpose.
    pub const fn grades(self) -> bool {
        matches!(self, Self::EcumeneA3)
    }

    /// True if the packets are TCP's.
    pub const fn uses_tcp(self) -> bool {
        matches!(self, Self::Ws | Self::Colyseus)
    }

    /// The program of one end, without options. `node` is the folder of the programs on Node; those in Rust lie beside
    /// the runner.
    pub fn command(self, end: End, node: &Path) -> Result<Command> {
        let name = match self {
            Self::Udp => "udp",
            Self::Renet => "renet",
            Self::Replicon => "replicon",
            Self::Ws => "ws",
            Self::Colyseus => "colyseus",
            Self::EcumeneCircle | Self::EcumeneA3 => anyhow::bail!("Ecumene starts its own processes"),
        };
        let end = match end {
            End::Server => "server",
            End::Clients => "clients",
        };
        if self.uses_tcp() {
            let mut command = Command::new("node");
            command.arg(node.join(format!("{name}-{end}.mjs"))).env("NODE_ENV", "production");
            return Ok(command);
        }
        let runner = std::env::current_exe().context("cannot find this program")?;
        let mut command = Command::new(runner.with_file_name(format!("peers-{name}")));
        command.arg(end);
        Ok(command)
    }
}

impl std::fmt::Display for System {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let value = self.to_possible_value().expect("no system is hidden");
        f.write_str(value.get_name())
    }
}
