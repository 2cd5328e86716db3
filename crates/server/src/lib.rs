//! Server processes: the *control plane* (directory, lobby and web page) and *hosts*, put together from the machines of
//! `node`, the driver `net`, disks and keys.
//!
//! Read [`control_plane`] and [`host_process`] first: each is one process. Everything else is a part of one of them.
//!
//! This crate decides nothing about the world: zones do, and the directory stores which host leads each zone.

mod account_store;
mod admission;
mod client_address;
mod cross_zone_counters;
mod fair_jobs;
mod host_disk;
mod host_entries;
mod host_registration;
mod host_reporter;
mod http_connections;
pub mod lobby_http;
mod log_throttle;
mod quarantine;
mod restart;
mod stuck_calls;
#[cfg(test)]
mod test_directory;
mod token_authenticator;
mod watchdog;
mod zone_worker;

pub mod config;
mod config_template;
pub mod control_plane;
pub mod directory;
pub mod host_process;
pub mod keys;
pub mod page;
pub mod stored_partition;
pub mod web;
pub mod world_entry;

pub use config::ServerConfig;
pub use config_template::ConfigTemplate;
pub use control_plane::ControlPlane;
pub use host_process::HostProcess;
pub use page::{Page, PageFile};
pub use restart::{HostStuck, restart_process};
