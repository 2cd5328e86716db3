//! TCP connections that are kept open from many addresses, at the lobby and at every host: each asks for something harmless now
//! and then, so that no timeout ends it. Players who come meanwhile must find a place.

use super::AttackRun;
use super::sockets::web_address;
use rustix::process::{Resource, getrlimit};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;

/// Addresses that the connections come from; a server gives each of them a quarter of its places.
const ADDRESSES: u8 = 5;

/// The most connections from each address to the lobby, together more than it has places; to each host, a quarter of that.
const EACH_AT_LOBBY: usize = 1_000;

/// Hostile datagrams, frames and requests of an attack for which one connection is held: a small attack holds few.
const PER_CONNECTION: u64 = 20;

/// Open files that are left to everything else in this process.
const FILES_LEFT: u64 = 2_000;

/// Pause between two requests on a connection: shorter than a server waits for the next one.
const ASK_EVERY: Duration = Duration::from_secs(8);

/// Pause before a connection that was closed is made again.
const AGAIN_AFTER: Duration = Duration::from_secs(1);

const ATTACK: &str = "web: connections kept open";

const REQUEST: &[u8] = b"GET /health HTTP/1.1\r\nHost: world\r\n\r\n";

pub(super) fn spawn(run: &Arc<AttackRun>, tasks: &mut JoinSet<()>) {
    let hosts = run.hosts.iter().filter_map(web_address).map(|it| (it, at_host(run.least)));
    for (to, count) in hosts.chain([(run.lobby, at_lobby(run.least))]) {
        for number in 0..count {
            let run = run.clone();
            tasks.spawn(async move { hold(&run, from(number), to).await });
        }
    }
}

/// Connections held at the lobby by an attack that sends at least this much.
pub(super) fn at_lobby(least: u64) -> usize {
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX).saturating_sub(FILES_LEFT);
    let most = usize::from(ADDRESSES) * EACH_AT_LOBBY;
    // Three hosts with a quarter each: two files per connection to the lobby are enough.
    most.min((least / PER_CONNECTION).min(files / 2) as usize)
}

/// Connections held at each host by such an attack.
pub(super) fn at_host(least: u64) -> usize {
    at_lobby(least) / 4
}

/// An address that no other attacker uses.
fn from(number: usize) -> IpAddr {
    Ipv4Addr::new(127, 0, 0, 20 + (number % usize::from(ADDRESSES)) as u8).into()
}

/// Keeps a connection open, and makes it again when the server closes it, which it may.
async fn hold(run: &AttackRun, from: IpAddr, to: SocketAddr) {
    while !run.is_over() {
        if let Ok(mut stream) = connect(from, to).await {
            while !run.is_over() && ask(run, &mut stream).await.is_ok() {}
        }
        tokio::time::sleep(AGAIN_AFTER).await;
    }
}

async fn connect(from: IpAddr, to: SocketAddr) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((from, 0).into())?;
    socket.connect(to).await
}

/// Sends a request and reads until the next one is due; an error if the server closed the connection.
async fn ask(run: &AttackRun, stream: &mut TcpStream) -> std::io::Result<()> {
    stream.write_all(REQUEST).await?;
    run.sent(ATTACK, 1);
    let mut buffer = [0; 1_024];
    let read = async {
        while 0 < stream.read(&mut buffer).await? {}
        std::io::Result::Err(std::io::ErrorKind::ConnectionReset.into())
    };
    tokio::time::timeout(ASK_EVERY, read).await.unwrap_or(Ok(()))
}
