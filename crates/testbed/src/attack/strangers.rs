//! QUIC connections without a token that is good.

use super::{Arena, Fate, GONE, PROTOCOL, REFUSED, Seen, foreign, noise};
use client::HostInfo;
use lobby::{Issuer, Token, UnixSeconds};
use machine::Rng;
use net::frame::{self, Control, VERSION};
use quinn::crypto::rustls::QuicClientConfig;
use quinn::{ClientConfig, Connection, ConnectionError, Endpoint, RecvStream, SendStream};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// How many of each kind at once.
const LORISES: u8 = 12;
const BABBLERS: u8 = 3;

pub(super) fn spawn(arena: &Arc<Arena>, fighting: &mut JoinSet<()>) {
    for number in 0..BABBLERS {
        let it = arena.clone();
        fighting.spawn(async move { babble(&it, number).await });
    }
    for number in 0..LORISES {
        let it = arena.clone();
        fighting.spawn(async move { dawdle(&it, number).await });
    }
    let it = arena.clone();
    fighting.spawn(async move {
        if let Err(error) = forge(&it).await {
            it.surprise(format!("tokens: {error:#}"));
        }
    });
    let it = arena.clone();
    fighting.spawn(async move { pretend_browser(&it).await });
}

/// What leaves from an address that is not the honest players'.
pub(super) fn endpoint(number: u8) -> anyhow::Result<Endpoint> {
    Ok(Endpoint::client((foreign(number), 0).into())?)
}

pub(super) async fn connect(
    endpoint: &Endpoint,
    host: &HostInfo,
    config: &ClientConfig,
) -> Option<Connection> {
    let connecting = endpoint.connect_with(config.clone(), host.address, "localhost").ok()?;
    tokio::time::timeout(super::ANSWER_WITHIN, connecting).await.ok()?.ok()
}

pub(super) fn native(host: &HostInfo) -> anyhow::Result<ClientConfig> {
    Ok(net::endpoint::pinned(host.certificate().unwrap_or_default())?)
}

/// Waits until a connection is closed; `None` if it is not.
pub(super) async fn ending(connection: &Connection, within: Duration) -> Seen {
    match tokio::time::timeout(within, connection.closed()).await {
        Err(_) => None,
        Ok(ConnectionError::ApplicationClosed(it)) => Some(it.error_code.into_inner()),
        Ok(_) => Some(GONE),
    }
}

pub(super) fn hello(token: &str) -> Vec<u8> {
    frame::control(&Control::Hello { version: VERSION, token: token.to_owned() }).to_vec()
}

/// What is said instead of a greeting: its name, the bytes, and what must come of it.
fn draw(rng: &mut Rng) -> (&'static str, Vec<u8>, Fate) {
    const EITHER: Fate = Fate::Closed(&[REFUSED, PROTOCOL]);
    const AT_ONCE: Fate = Fate::Closed(&[PROTOCOL]);
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
            let greeting = hello("v4.public.AAAA");
            let mut elsewhere = frame::framed(5, &greeting[2..]).to_vec();
            elsewhere.extend_from_slice(&greeting);
            ("a greeting to a zone", elsewhere, AT_ONCE)
        }
        _ => ("a greeting of 5000 bytes", hello(&"A".repeat(5_000)), AT_ONCE),
    }
}

async fn babble(arena: &Arena, number: u8) {
    let (Ok(endpoint), mut rng) = (endpoint(number), arena.rng()) else { return };
    while !arena.is_over() {
        let host = arena.host(&mut rng);
        let (attack, bytes, fate) = draw(&mut rng);
        let Ok(config) = native(host) else { return };
        let seen = match connect(&endpoint, host, &config).await {
            Some(connection) => {
                // Datagrams before the token are nobody's.
                for _ in 0..20 {
                    let _ = connection.send_datagram(noise(&mut rng, 200).into());
                }
                arena.sent("datagrams before the greeting", 20);
                let stream = say(&connection, &bytes).await;
                let seen = ending(&connection, super::ANSWER_WITHIN).await;
                drop(stream);
                seen
            }
            None => Some(PROTOCOL), // Not even let in.
        };
        arena.sent(attack, 1);
        arena.judge(attack, &fate, seen);
    }
}

/// Says something on a new stream. What comes back is not read.
pub(super) async fn say(connection: &Connection, bytes: &[u8]) -> Option<(SendStream, RecvStream)> {
    let (mut send, receive) = connection.open_bi().await.ok()?;
    let _ = send.write_all(bytes).await;
    Some((send, receive))
}

/// Connects and says nothing, or one byte at a time.
async fn dawdle(arena: &Arena, number: u8) {
    let (Ok(endpoint), mut rng) = (endpoint(number), arena.rng()) else { return };
    let silent = number.is_multiple_of(2);
    let attack = if silent { "silence" } else { "a byte every 500 ms" };
    while !arena.is_over() {
        let host = arena.host(&mut rng);
        let Ok(config) = native(host) else { return };
        let Some(connection) = connect(&endpoint, host, &config).await else { continue };
        arena.sent(attack, 1);
        let greeting = hello(&"A".repeat(200));
        let slowly = async {
            if silent {
                return std::future::pending().await;
            }
            let Ok((mut send, _receive)) = connection.open_bi().await else { return };
            for byte in greeting.chunks(1) {
                if send.write_all(byte).await.is_err() {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
        };
        let seen = tokio::select! {
            seen = ending(&connection, super::ANSWER_WITHIN) => seen,
            () = slowly => ending(&connection, super::ANSWER_WITHIN).await,
        };
        arena.judge(attack, &Fate::Closed(&[GONE, REFUSED]), seen);
    }
}

/// Greets with tokens that are not good.
async fn forge(arena: &Arena) -> anyhow::Result<()> {
    let (endpoint, mut rng) = (endpoint(7)?, arena.rng());
    let keys = server::keys::KeyFolder::of(&arena.data).lobby()?;
    let real = Issuer::new(keys, &arena.world)?;
    let stranger = Issuer::new(lobby::Keys::generate(rng_seed(&mut rng))?, &arena.world)?;
    let door = client::Lobby::new(&arena.lobby.to_string());
    let mut round = 0_u64;
    while !arena.is_over() {
        round += 1;
        let host = arena.host(&mut rng).clone();
        let pass = &arena.insiders[0];
        let now = std::time::SystemTime::now().duration_since(std::time::SystemTime::UNIX_EPOCH)?.as_secs();
        let token = |host: u32, expires: u64, nonce: u64| Token {
            player: game::PlayerId(pass.player),
            session: 1,
            name: lobby::Name::parse(&pass.name).expect("the lobby took this name"),
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
            4 => ("a token signed by somebody else", stranger.token(&token(host.host, now + 25, nonce))),
            5 => ("a pass instead of a token", pass.pass.clone()),
            _ => ("a used token", used(&door, pass, &endpoint, &host).await?),
        };
        let config = native(&host)?;
        let seen = match connect(&endpoint, &host, &config).await {
            Some(connection) => {
                let stream = say(&connection, &hello(&text)).await;
                let seen = ending(&connection, super::ANSWER_WITHIN).await;
                drop(stream);
                seen
            }
            None => Some(REFUSED),
        };
        arena.sent(attack, 1);
        arena.judge(attack, &Fate::Closed(&[REFUSED]), seen);
    }
    Ok(())
}

fn rng_seed(rng: &mut Rng) -> [u8; 32] {
    std::array::from_fn(|_| rng.next_u64() as u8)
}

/// A token that has opened its host already.
async fn used(
    door: &client::Lobby,
    pass: &client::Pass,
    endpoint: &Endpoint,
    host: &HostInfo,
) -> anyhow::Result<String> {
    let info = door.session(pass).await?;
    let Some(host) = info.hosts.iter().find(|it| it.host == host.host) else { return Ok(String::new()) };
    if let Some(connection) = connect(endpoint, host, &native(host)?).await {
        let stream = say(&connection, &hello(&host.token)).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        drop(stream);
        connection.close(0_u32.into(), b"");
    }
    Ok(host.token.clone())
}

/// Says it is a browser, and then says nothing that a browser says.
async fn pretend_browser(arena: &Arena) {
    let (Ok(endpoint), mut rng) = (endpoint(6), arena.rng()) else { return };
    while !arena.is_over() {
        let host = arena.host(&mut rng);
        let tls = net::tls::pinning(host.certificate().unwrap_or_default(), net::endpoint::ALPN_WEB);
        let Some(Ok(quic)) = tls.ok().map(QuicClientConfig::try_from) else { return };
        let config = ClientConfig::new(Arc::new(quic));
        let Some(connection) = connect(&endpoint, host, &config).await else { continue };
        let stream = say(&connection, &noise(&mut rng, 500)).await;
        if let Ok(Ok(mut send)) = tokio::time::timeout(Duration::from_secs(1), connection.open_uni()).await {
            let _ = send.write_all(&noise(&mut rng, 500)).await;
        }
        arena.sent("noise instead of HTTP/3", 2);
        let seen = ending(&connection, super::ANSWER_WITHIN).await;
        // HTTP/3 has codes of its own.
        arena.judge("noise instead of HTTP/3", &Fate::Closed(&[GONE]), seen.map(|_| GONE));
        drop(stream);
    }
}
