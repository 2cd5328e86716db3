//! QUIC connections without a valid token.

use super::{AttackRun, ExpectedOutcome, GONE, ObservedClose, PROTOCOL, REFUSED, attacker_address, noise};
use client::HostInfo;
use lobby::{Issuer, Token, UnixSeconds};
use machine::Rng;
use net::frame::{self, Control, VERSION};
use quinn::crypto::rustls::QuicClientConfig;
use quinn::{ClientConfig, Connection, ConnectionError, Endpoint, RecvStream, SendStream};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// Clients of each kind at once.
const SLOW_CLIENTS: u8 = 12;
const NOISY_CLIENTS: u8 = 3;

pub(super) fn spawn(run: &Arc<AttackRun>, tasks: &mut JoinSet<()>) {
    for number in 0..NOISY_CLIENTS {
        let it = run.clone();
        tasks.spawn(async move { send_noise(&it, number).await });
    }
    for number in 0..SLOW_CLIENTS {
        let it = run.clone();
        tasks.spawn(async move { send_slowly(&it, number).await });
    }
    let it = run.clone();
    tasks.spawn(async move {
        if let Err(error) = forge(&it).await {
            it.unexpected(format!("tokens: {error:#}"));
        }
    });
    let it = run.clone();
    tasks.spawn(async move { pretend_browser(&it).await });
}

/// An endpoint at an address that honest players do not use.
pub(super) fn endpoint(number: u8) -> anyhow::Result<Endpoint> {
    Ok(Endpoint::client((attacker_address(number), 0).into())?)
}

pub(super) async fn connect(
    endpoint: &Endpoint,
    host: &HostInfo,
    config: &ClientConfig,
) -> Option<Connection> {
    let connecting = endpoint.connect_with(config.clone(), host.address, "localhost").ok()?;
    tokio::time::timeout(super::ANSWER_TIMEOUT, connecting).await.ok()?.ok()
}

pub(super) fn native(host: &HostInfo) -> anyhow::Result<ClientConfig> {
    Ok(net::endpoint::pinned(host.certificate().unwrap_or_default())?)
}

/// Waits until a connection is closed; `None` if it stays open.
pub(super) async fn ending(connection: &Connection, within: Duration) -> ObservedClose {
    match tokio::time::timeout(within, connection.closed()).await {
        Err(_) => None,
        Ok(ConnectionError::ApplicationClosed(it)) => Some(it.error_code.into_inner()),
        Ok(_) => Some(GONE),
    }
}

pub(super) fn hello(token: &str) -> Vec<u8> {
    frame::control(&Control::Hello { version: VERSION, token: token.to_owned() }).to_vec()
}

/// Bytes sent instead of a hello: name of the attack, the bytes, and the expected outcome.
fn draw(rng: &mut Rng) -> (&'static str, Vec<u8>, ExpectedOutcome) {
    const EITHER: ExpectedOutcome = ExpectedOutcome::Closed(&[REFUSED, PROTOCOL]);
    const AT_ONCE: ExpectedOutcome = ExpectedOutcome::Closed(&[PROTOCOL]);
    match rng.below(9) {
        0 => {
            let length = 1 + rng.below(3_000);
            ("noise instead of a greeting", noise(rng, length), EITHER)
        }
        1 => ("a frame that claims 256 MiB", vec![0xff, 0xff, 0xff, 0x7f, 0, 0], AT_ONCE),
        2 => ("a length without end", vec![0xff; 10], AT_ONCE),
        3 => ("an empty frame", vec![0], AT_ONCE),
        4 => ("an unknown control message", frame::framed(0, &[9, 1, 2]).to_vec(), AT_ONCE),
        5 => ("a ping before the greeting", frame::control(&Control::Ping(1)).to_vec(), AT_ONCE),
        6 => {
            let hello = Control::Hello { version: 77, token: String::new() };
            ("a greeting of another version", frame::control(&hello).to_vec(), AT_ONCE)
        }
        7 => {
            let hello_bytes = hello("v4.public.AAAA");
            let mut elsewhere = frame::framed(5, &hello_bytes[2..]).to_vec();
            elsewhere.extend_from_slice(&hello_bytes);
            ("a greeting to a zone", elsewhere, AT_ONCE)
        }
        _ => ("a greeting of 5000 bytes", hello(&"A".repeat(5_000)), AT_ONCE),
    }
}

async fn send_noise(run: &AttackRun, number: u8) {
    let (Ok(endpoint), mut rng) = (endpoint(number), run.rng()) else { return };
    while !run.is_over() {
        let host = run.host(&mut rng);
        let (attack, bytes, expected) = draw(&mut rng);
        let Ok(config) = native(host) else { return };
        let outcome = match connect(&endpoint, host, &config).await {
            Some(connection) => {
                // Datagrams before the token belong to no player and must be ignored.
                for _ in 0..20 {
                    let _ = connection.send_datagram(noise(&mut rng, 200).into());
                }
                run.sent("datagrams before the greeting", 20);
                let stream = send_on_stream(&connection, &bytes).await;
                let outcome = ending(&connection, super::ANSWER_TIMEOUT).await;
                drop(stream);
                outcome
            }
            None => Some(PROTOCOL), // Not even accepted.
        };
        run.sent(attack, 1);
        run.judge(attack, &expected, outcome);
    }
}

/// Sends bytes on a new stream. The answer is not read.
pub(super) async fn send_on_stream(
    connection: &Connection,
    bytes: &[u8],
) -> Option<(SendStream, RecvStream)> {
    let (mut send, receive) = connection.open_bi().await.ok()?;
    let _ = send.write_all(bytes).await;
    Some((send, receive))
}

/// Connects and sends nothing, or one byte at a time.
async fn send_slowly(run: &AttackRun, number: u8) {
    let (Ok(endpoint), mut rng) = (endpoint(number), run.rng()) else { return };
    let silent = number.is_multiple_of(2);
    let attack = if silent { "silence" } else { "a byte every 500 ms" };
    while !run.is_over() {
        let host = run.host(&mut rng);
        let Ok(config) = native(host) else { return };
        let Some(connection) = connect(&endpoint, host, &config).await else { continue };
        run.sent(attack, 1);
        let hello_bytes = hello(&"A".repeat(200));
        let slowly = async {
            if silent {
                return std::future::pending().await;
            }
            let Ok((mut send, _receive)) = connection.open_bi().await else { return };
            for byte in hello_bytes.chunks(1) {
                if send.write_all(byte).await.is_err() {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
        };
        let outcome = tokio::select! {
            outcome = ending(&connection, super::ANSWER_TIMEOUT) => outcome,
            () = slowly => ending(&connection, super::ANSWER_TIMEOUT).await,
        };
        run.judge(attack, &ExpectedOutcome::Closed(&[GONE, REFUSED]), outcome);
    }
}

/// Shows tokens that are not valid.
async fn forge(run: &AttackRun) -> anyhow::Result<()> {
    let (endpoint, mut rng) = (endpoint(7)?, run.rng());
    let keys = server::keys::KeyFolder::of(&run.data).lobby()?;
    let real = Issuer::new(keys, &run.world)?;
    let forger = Issuer::new(lobby::Keys::generate(rng_seed(&mut rng))?, &run.world)?;
    let lobby_client = client::LobbyClient::new(&run.lobby.to_string());
    let mut round = 0_u64;
    while !run.is_over() {
        round += 1;
        let host = run.host(&mut rng).clone();
        let pass = &run.insiders[0];
        let now = std::time::SystemTime::now().duration_since(std::time::SystemTime::UNIX_EPOCH)?.as_secs();
        let token = |host: u32, expires: u64, nonce: u64| Token {
            player: game::PlayerId(pass.player),
            session: 1,
            name: lobby::PlayerName::parse(&pass.name).expect("the lobby accepted this name"),
            host,
            nonce: nonce.into(),
            expires: UnixSeconds(expires),
        };
        let nonce = rng.next_u64();
        let (attack, text) = match round % 7 {
            0 => ("a token of noise", "v4.public.".to_owned() + &"Ab3_".repeat(rng.below(200) as usize)),
            1 => ("an expired token", real.token(&token(host.host, now - 60, nonce))),
            2 => ("a token of the far future", real.token(&token(host.host, now + 100_000, nonce))),
            3 => ("another host's token", real.token(&token(host.host + 1, now + 25, nonce))),
            4 => ("a token signed with another key", forger.token(&token(host.host, now + 25, nonce))),
            5 => ("a pass instead of a token", pass.pass.clone()),
            _ => ("a used token", used_token(&lobby_client, pass, &endpoint, &host).await?),
        };
        let config = native(&host)?;
        let outcome = match connect(&endpoint, &host, &config).await {
            Some(connection) => {
                let stream = send_on_stream(&connection, &hello(&text)).await;
                let outcome = ending(&connection, super::ANSWER_TIMEOUT).await;
                drop(stream);
                outcome
            }
            None => Some(REFUSED),
        };
        run.sent(attack, 1);
        run.judge(attack, &ExpectedOutcome::Closed(&[REFUSED]), outcome);
    }
    Ok(())
}

fn rng_seed(rng: &mut Rng) -> [u8; 32] {
    std::array::from_fn(|_| rng.next_u64() as u8)
}

/// A token that its host has accepted before.
async fn used_token(
    lobby_client: &client::LobbyClient,
    pass: &client::Pass,
    endpoint: &Endpoint,
    host: &HostInfo,
) -> anyhow::Result<String> {
    let info = lobby_client.session(pass).await?;
    let Some(host) = info.hosts.iter().find(|it| it.host == host.host) else { return Ok(String::new()) };
    if let Some(connection) = connect(endpoint, host, &native(host)?).await {
        let stream = send_on_stream(&connection, &hello(&host.token)).await;
        // So that the host has used the token before it is shown again.
        tokio::time::sleep(Duration::from_millis(300)).await;
        drop(stream);
        connection.close(0_u32.into(), b"");
    }
    Ok(host.token.clone())
}

/// Negotiates a browser's protocol, and then sends nothing that a browser sends.
async fn pretend_browser(run: &AttackRun) {
    let (Ok(endpoint), mut rng) = (endpoint(6), run.rng()) else { return };
    while !run.is_over() {
        let host = run.host(&mut rng);
        let tls = net::tls::pinning(host.certificate().unwrap_or_default(), net::endpoint::ALPN_WEB);
        let Some(Ok(quic)) = tls.ok().map(QuicClientConfig::try_from) else { return };
        let config = ClientConfig::new(Arc::new(quic));
        let Some(connection) = connect(&endpoint, host, &config).await else { continue };
        let stream = send_on_stream(&connection, &noise(&mut rng, 500)).await;
        if let Ok(Ok(mut send)) = tokio::time::timeout(Duration::from_secs(1), connection.open_uni()).await {
            let _ = send.write_all(&noise(&mut rng, 500)).await;
        }
        run.sent("noise instead of HTTP/3", 2);
        let outcome = ending(&connection, super::ANSWER_TIMEOUT).await;
        // HTTP/3 has codes of its own: any of them counts.
        run.judge("noise instead of HTTP/3", &ExpectedOutcome::Closed(&[GONE]), outcome.map(|_| GONE));
        drop(stream);
    }
}
