//! The workload on renet with netcode, used as renet's own pages show it.
//!
//! Who sees whom is the workload's: renet moves messages and knows no world.

mod client;
mod server;

/// Number by which netcode tells programs apart.
const PROTOCOL: u64 = 1;

fn main() -> anyhow::Result<()> {
    workload::run(server::serve, client::NetcodeClient::connect)
}
