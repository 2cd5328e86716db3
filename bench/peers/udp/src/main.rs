//! The floor: the workload on plain UDP, by `sendto` and `recvfrom`.
//!
//! The server accepts moves, looks who sees whom and packs updates as the others do. There are no connections, no
//! encryption, no acknowledgements: a program that does the same work with less is hard to imagine.

mod client;
mod server;

fn main() -> anyhow::Result<()> {
    workload::run(server::serve, client::UdpClient::connect)
}
