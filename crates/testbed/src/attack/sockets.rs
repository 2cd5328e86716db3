//! TCP: WebSockets with forbidden messages, upgrades that never end, slow requests to the lobby, and passwords tried by
//! the hundred.

use super::{AttackRun, attacker_address, noise};
use client::HostInfo;
use machine::Rng;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// Slow connections in all, to hosts and the lobby.
const SLOW_CLIENTS: usize = 150;

/// Time after which a server must have closed a slow connection.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(45);

pub(super) fn spawn(run: &Arc<AttackRun>, tasks: &mut JoinSet<()>) {
    for number in 0..2 {
        let it = run.clone();
        tasks.spawn(async move { send_noise(&it, number).await });
    }
    let it = run.clone();
    tasks.spawn(async move { guess_passwords(&it).await });
    let it = run.clone();
    tasks.spawn(async move { send_invalid_requests(&it).await });
    for number in 0..SLOW_CLIENTS {
        let it = run.clone();
        tasks.spawn(async move { send_slowly(&it, number).await });
    }
}

async fn connect(from: u8, to: SocketAddr) -> Option<TcpStream> {
    let socket = TcpSocket::new_v4().ok()?;
    socket.bind((attacker_address(from), 0).into()).ok()?;
    timeout(super::ANSWER_TIMEOUT, socket.connect(to)).await.ok()?.ok()
}

/// Address of a host's WebSockets.
fn web_socket_address(run: &AttackRun, rng: &mut Rng) -> Option<SocketAddr> {
    web_address(run.host(rng))
}

/// Address of a host's HTTP and WebSockets.
pub(super) fn web_address(host: &HostInfo) -> Option<SocketAddr> {
    host.websocket.strip_prefix("ws://")?.split('/').next()?.parse().ok()
}

const UPGRADE: &str = "GET /play HTTP/1.1\r\nHost: world\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                       Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

/// A frame of RFC 6455 that claims some length.
fn web_frame(kind: u8, claims: u64, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x80 | kind, 0x80 | 127];
    frame.extend(claims.to_be_bytes());
    frame.extend([0; 4]); // A mask of zeros leaves the payload as it is.
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

async fn send_noise(run: &AttackRun, number: u8) {
    let mut rng = run.rng();
    while !run.is_over() {
        let Some(to) = web_socket_address(run, &mut rng) else { return };
        let Some(mut stream) = connect(number, to).await else { continue };
        let _ = stream.write_all(UPGRADE.as_bytes()).await;
        let (attack, bytes) = draw(&mut rng);
        let _ = stream.write_all(&bytes).await;
        run.sent(attack, 1);
        let closed = timeout(super::ANSWER_TIMEOUT, drain(&mut stream)).await.is_ok();
        run.judge(attack, &super::ExpectedOutcome::Closed(&[super::GONE]), closed.then_some(super::GONE));
    }
}

/// Reads until the server closes the connection.
async fn drain(stream: &mut TcpStream) {
    let mut buffer = [0; 4_096];
    while let Ok(1..) = stream.read(&mut buffer).await {}
}

/// Opens a connection and never completes a request. The server must close it in the end.
async fn send_slowly(run: &AttackRun, number: usize) {
    let mut rng = run.rng();
    let host = web_socket_address(run, &mut rng);
    let (attack, to, text) = match number % 4 {
        0 => ("web: half an upgrade", host, &UPGRADE[..60]),
        1 => ("web: an upgrade, then silence", host, UPGRADE),
        2 => ("lobby: a header that never ends", Some(run.lobby), "POST /api/login HTTP/1.1\r\nX-Slow: "),
        _ => (
            "lobby: a body that never ends",
            Some(run.lobby),
            "POST /api/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 4000\r\n\r\n{",
        ),
    };
    let Some(to) = to else { return };
    let Some(mut stream) = connect(2 + number as u8, to).await else { return };
    let _ = stream.write_all(text.as_bytes()).await;
    run.sent(attack, 1);
    let slowly = async {
        let (mut read, mut write) = stream.split();
        let mut buffer = [0; 512];
        loop {
            tokio::select! {
                got = read.read(&mut buffer) => if !matches!(got, Ok(1..)) { return },
                () = tokio::time::sleep(Duration::from_millis(500)) => {
                    // An upgraded connection stays silent; the others send a byte now and then.
                    if number % 4 != 1 && write.write_all(b" ").await.is_err() {
                        return;
                    }
                }
            }
        }
    };
    let closed = timeout(CLOSE_TIMEOUT, slowly).await.is_ok();
    run.judge(attack, &super::ExpectedOutcome::Closed(&[super::GONE]), closed.then_some(super::GONE));
}

/// Sends a request to the lobby; returns the status of its answer.
async fn ask(to: SocketAddr, path: &str, body: &str) -> Option<u16> {
    let mut stream = connect(5, to).await?;
    let length = body.len();
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    );
    let _ = stream.write_all(request.as_bytes()).await;
    let mut answer = Vec::new();
    timeout(super::ANSWER_TIMEOUT, stream.read_to_end(&mut answer)).await.ok()?.ok()?;
    std::str::from_utf8(&answer).ok()?.split(' ').nth(1)?.parse().ok()
}

async fn guess_passwords(run: &AttackRun) {
    let mut rng = run.rng();
    while !run.is_over() {
        let body = format!(r#"{{"name":"admin","password":"guess-{}"}}"#, rng.next_u64());
        let status = ask(run.lobby, "/api/login", &body).await;
        run.sent("lobby: a wrong password", 1);
        // 429 too: the lobby limits the rate before it looks at the password.
        let refused = matches!(status, Some(401 | 429));
        run.judge(
            "lobby: a wrong password",
            &super::ExpectedOutcome::Closed(&[super::GONE]),
            refused.then_some(super::GONE),
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn send_invalid_requests(run: &AttackRun) {
    let mut rng = run.rng();
    let (attack, expected) = ("lobby: nonsense", super::ExpectedOutcome::Closed(&[super::GONE]));
    while !run.is_over() {
        let long = "A".repeat(rng.below(100_000) as usize);
        let (path, body) = match rng.below(5) {
            0 => ("/api/session", format!(r#"{{"pass":"{}"}}"#, &long[..long.len().min(2_000)])),
            1 => ("/api/session", r#"{"pass":"v4.public.x","session":"-1"}"#.to_owned()),
            2 => ("/api/guest", format!(r#"{{"name":"{long}"}}"#)),
            3 => ("/api/account", "[".repeat(3_000)),
            _ => ("/nowhere/../../etc/passwd", String::new()),
        };
        let status = ask(run.lobby, path, &body).await;
        run.sent(attack, 1);
        run.judge(
            attack,
            &expected,
            status.is_some_and(|it| (400..500).contains(&it)).then_some(super::GONE),
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
