//! TCP: WebSockets that say what they must not, upgrades that never end, requests to the lobby that dawdle, and
//! passwords tried by the hundred.

use super::{Arena, foreign, noise};
use machine::Rng;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// Connections that dawdle, at each door.
const LORISES: usize = 150;

/// How long a door may let somebody dawdle.
const PATIENCE: Duration = Duration::from_secs(45);

pub(super) fn spawn(arena: &Arc<Arena>, fighting: &mut JoinSet<()>) {
    for number in 0..2 {
        let it = arena.clone();
        fighting.spawn(async move { babble(&it, number).await });
    }
    let it = arena.clone();
    fighting.spawn(async move { guess(&it).await });
    let it = arena.clone();
    fighting.spawn(async move { ask_nonsense(&it).await });
    for number in 0..LORISES {
        let it = arena.clone();
        fighting.spawn(async move { dawdle(&it, number).await });
    }
}

async fn connect(from: u8, to: SocketAddr) -> Option<TcpStream> {
    let socket = TcpSocket::new_v4().ok()?;
    socket.bind((foreign(from), 0).into()).ok()?;
    timeout(super::ANSWER_WITHIN, socket.connect(to)).await.ok()?.ok()
}

/// Where a host's WebSockets are.
fn door(arena: &Arena, rng: &mut Rng) -> Option<SocketAddr> {
    let url = &arena.host(rng).websocket;
    url.strip_prefix("ws://")?.split('/').next()?.parse().ok()
}

const UPGRADE: &str = "GET /play HTTP/1.1\r\nHost: world\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                       Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

/// A frame as RFC 6455 draws it, which claims some length.
fn web_frame(kind: u8, claims: u64, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x80 | kind, 0x80 | 127];
    frame.extend(claims.to_be_bytes());
    frame.extend([0; 4]); // The mask.
    frame.extend(payload);
    frame
}

fn draw(rng: &mut Rng) -> (&'static str, Vec<u8>) {
    match rng.below(6) {
        0 => ("web: text", web_frame(1, 5, b"hello")),
        1 => ("web: a message of 100 kB", web_frame(2, 100_000, &vec![1; 100_000])),
        2 => ("web: a message that claims 2^62 bytes", web_frame(2, 1 << 62, b"x")),
        3 => ("web: noise instead of a greeting", web_frame(2, 50, &noise(rng, 50))),
        4 => ("web: noise instead of frames", noise(rng, 200)),
        _ => ("web: an empty message", web_frame(2, 0, b"")),
    }
}

async fn babble(arena: &Arena, number: u8) {
    let mut rng = arena.rng();
    while !arena.is_over() {
        let Some(to) = door(arena, &mut rng) else { return };
        let Some(mut stream) = connect(number, to).await else { continue };
        let _ = stream.write_all(UPGRADE.as_bytes()).await;
        let (attack, bytes) = draw(&mut rng);
        let _ = stream.write_all(&bytes).await;
        arena.sent(attack, 1);
        let closed = timeout(super::ANSWER_WITHIN, drain(&mut stream)).await.is_ok();
        arena.judge(attack, &super::Fate::Closed(&[super::GONE]), closed.then_some(super::GONE));
    }
}

/// Reads until the other side ends it.
async fn drain(stream: &mut TcpStream) {
    let mut buffer = [0; 4_096];
    while let Ok(1..) = stream.read(&mut buffer).await {}
}

/// Opens a connection and never gets anywhere with it. It must be closed at last.
async fn dawdle(arena: &Arena, number: usize) {
    let mut rng = arena.rng();
    let host = door(arena, &mut rng);
    let (attack, to, text) = match number % 4 {
        0 => ("web: half an upgrade", host, &UPGRADE[..60]),
        1 => ("web: an upgrade, then silence", host, UPGRADE),
        2 => ("lobby: a header that never ends", Some(arena.lobby), "POST /api/login HTTP/1.1\r\nX-Slow: "),
        _ => (
            "lobby: a body that never ends",
            Some(arena.lobby),
            "POST /api/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 4000\r\n\r\n{",
        ),
    };
    let Some(to) = to else { return };
    let Some(mut stream) = connect(2 + number as u8, to).await else { return };
    let _ = stream.write_all(text.as_bytes()).await;
    arena.sent(attack, 1);
    let slowly = async {
        let (mut read, mut write) = stream.split();
        let mut buffer = [0; 512];
        loop {
            tokio::select! {
                got = read.read(&mut buffer) => if !matches!(got, Ok(1..)) { return },
                () = tokio::time::sleep(Duration::from_millis(500)) => {
                    // An upgraded connection stays silent; the others dribble.
                    if number % 4 != 1 && write.write_all(b" ").await.is_err() {
                        return;
                    }
                }
            }
        }
    };
    let closed = timeout(PATIENCE, slowly).await.is_ok();
    arena.judge(attack, &super::Fate::Closed(&[super::GONE]), closed.then_some(super::GONE));
}

/// Asks the lobby; the status of its answer.
async fn ask(to: SocketAddr, path: &str, body: &str) -> Option<u16> {
    let mut stream = connect(5, to).await?;
    let length = body.len();
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    );
    let _ = stream.write_all(request.as_bytes()).await;
    let mut answer = Vec::new();
    timeout(super::ANSWER_WITHIN, stream.read_to_end(&mut answer)).await.ok()?.ok()?;
    std::str::from_utf8(&answer).ok()?.split(' ').nth(1)?.parse().ok()
}

async fn guess(arena: &Arena) {
    let mut rng = arena.rng();
    while !arena.is_over() {
        let body = format!(r#"{{"name":"admin","password":"guess-{}"}}"#, rng.next_u64());
        let status = ask(arena.lobby, "/api/login", &body).await;
        arena.sent("lobby: a wrong password", 1);
        let refused = matches!(status, Some(401 | 429));
        arena.judge(
            "lobby: a wrong password",
            &super::Fate::Closed(&[super::GONE]),
            refused.then_some(super::GONE),
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn ask_nonsense(arena: &Arena) {
    let mut rng = arena.rng();
    let (attack, fate) = ("lobby: nonsense", super::Fate::Closed(&[super::GONE]));
    while !arena.is_over() {
        let long = "A".repeat(rng.below(100_000) as usize);
        let (path, body) = match rng.below(5) {
            0 => ("/api/session", format!(r#"{{"pass":"{}"}}"#, &long[..long.len().min(2_000)])),
            1 => ("/api/session", r#"{"pass":"v4.public.x","session":"-1"}"#.to_owned()),
            2 => ("/api/guest", format!(r#"{{"name":"{long}"}}"#)),
            3 => ("/api/account", "[".repeat(3_000)),
            _ => ("/nowhere/../../etc/passwd", String::new()),
        };
        let status = ask(arena.lobby, path, &body).await;
        arena.sent(attack, 1);
        arena.judge(attack, &fate, status.is_some_and(|it| (400..500).contains(&it)).then_some(super::GONE));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
