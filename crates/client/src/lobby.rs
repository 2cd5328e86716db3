//! Asks the lobby for passes, sessions and tokens, as drawn in `docs/net.md`.

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper::header::{HeaderMap, RETRY_AFTER};
use hyper::http::request::Builder;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::Duration;
use thiserror::Error;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The longest answer that is read.
const ANSWER_MAX: usize = 256 * 1024;

/// How long an answer may take: hashing a password behind others takes a while.
const WITHIN: Duration = Duration::from_secs(10);

/// How long to wait after too many questions if the lobby does not say,
const WAIT_UNTOLD: Duration = Duration::from_secs(1);
/// and at most: the lobby itself never asks for more than some seconds, but whatever stands before it may say anything.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// Why the lobby gave nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LobbyError {
    /// It did not answer, or not in a way that makes sense.
    #[error("the lobby at {0} does not answer: {1}")]
    Away(String, String),
    /// It said no, and why.
    #[error("{1}")]
    Refused(u16, String),
    /// It was asked too often; how long to wait before the next time.
    #[error("{1}")]
    TooOften(Duration, String),
}

impl LobbyError {
    /// Whether asking the same again will never help: the pass is not good, or there is no such session.
    pub const fn is_final(&self) -> bool {
        matches!(self, Self::Refused(400 | 401, _))
    }
}

/// A lobby.
#[derive(Clone, Debug)]
pub struct Lobby {
    authority: String,
}

/// Proof of who somebody is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Pass {
    /// The proof.
    pub pass: String,
    /// The player's number.
    #[serde(deserialize_with = "number")]
    pub player: u64,
    /// What they are called.
    pub name: String,
}

/// A stay in the world.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SessionInfo {
    /// Its number.
    #[serde(deserialize_with = "number")]
    pub session: u64,
    /// Whose.
    #[serde(deserialize_with = "number")]
    pub player: u64,
    /// Called what.
    pub name: String,
    /// The world.
    pub world: WorldInfo,
    /// Its hosts, the most useful first.
    pub hosts: Vec<HostInfo>,
}

/// What a lobby says about its world.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct WorldInfo {
    /// The game.
    pub game: String,
    /// The hash of its types, in hex.
    pub schema: String,
    /// How far one sees, in millimetres.
    pub range: u32,
    /// The corners of its region.
    pub region: Vec<[i32; 2]>,
    /// Its zones.
    pub zones: Vec<ZoneInfo>,
}

/// A part of the world with one decider.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ZoneInfo {
    /// Its number.
    pub zone: u32,
    /// Its corners, counterclockwise.
    pub corners: Vec<[i32; 2]>,
}

/// A host, and the token that opens it once.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct HostInfo {
    /// Its number.
    pub host: u32,
    /// The zones it may hold.
    pub zones: Vec<u32>,
    /// Where it is, by QUIC.
    pub address: SocketAddr,
    /// Where it is, by WebSocket.
    pub websocket: String,
    /// Its certificate's hash, in hex.
    pub certificate: String,
    /// The token.
    pub token: String,
}

impl HostInfo {
    /// The certificate's hash; `None` if that is no hash.
    pub fn certificate(&self) -> Option<[u8; 32]> {
        let digits = self.certificate.as_bytes();
        let mut hash = [0; 32];
        if digits.len() != 2 * hash.len() {
            return None;
        }
        for (byte, pair) in hash.iter_mut().zip(digits.chunks(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        Some(hash)
    }
}

/// How a world is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Health {
    /// The hosts that have ever said where they are.
    pub hosts: Vec<u32>,
    /// Where they serve their health.
    pub web: BTreeMap<u32, String>,
    /// Who reigns where.
    pub zones: Vec<ZoneHealth>,
}

impl Health {
    /// The host that decides in the most zones; the lowest of several.
    pub fn first(&self) -> Option<u32> {
        let decides = |host: u32| self.zones.iter().filter(|it| it.primary == Some(host)).count();
        let deciding: BTreeSet<u32> = self.zones.iter().filter_map(|it| it.primary).collect();
        deciding.into_iter().min_by_key(|&host| std::cmp::Reverse(decides(host)))
    }
}

/// What a host says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct HostHealth {
    /// Objects that its zones handed over to others, since it started.
    pub transfers: u64,
    /// Events that its zones decided and others took part in, since it started.
    pub cross_zone_events: u64,
}

/// Who reigns over a zone.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ZoneHealth {
    /// The zone.
    pub zone: u32,
    /// Counts changes; `None` before the first.
    pub epoch: Option<u32>,
    /// The host that decides.
    pub primary: Option<u32>,
    /// The host that would take over.
    pub backup: Option<u32>,
}

fn number<'a, D: serde::Deserializer<'a>>(from: D) -> Result<u64, D::Error> {
    String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
}

/// How long somebody who asked too often should wait.
fn wait_told(headers: &HeaderMap) -> Duration {
    let told = headers.get(RETRY_AFTER).and_then(|it| it.to_str().ok()?.parse().ok());
    told.map_or(WAIT_UNTOLD, Duration::from_secs).min(WAIT_MAX)
}

impl Lobby {
    /// The lobby at an address such as `127.0.0.1:8080`, with or without `http://` before it.
    pub fn new(address: &str) -> Self {
        let authority = address.trim_start_matches("http://").trim_end_matches('/').to_owned();
        Self { authority }
    }

    /// A pass for a new guest.
    pub async fn guest(&self, name: &str) -> Result<Pass, LobbyError> {
        self.post("/api/guest", json!({ "name": name })).await
    }

    /// A pass for a new account.
    pub async fn account(&self, name: &str, password: &str) -> Result<Pass, LobbyError> {
        self.post("/api/account", json!({ "name": name, "password": password })).await
    }

    /// A pass for an account.
    pub async fn login(&self, name: &str, password: &str) -> Result<Pass, LobbyError> {
        self.post("/api/login", json!({ "name": name, "password": password })).await
    }

    /// A new session.
    pub async fn session(&self, pass: &Pass) -> Result<SessionInfo, LobbyError> {
        self.post("/api/session", json!({ "pass": pass.pass })).await
    }

    /// New tokens for a session.
    pub async fn renew(&self, pass: &Pass, session: u64) -> Result<SessionInfo, LobbyError> {
        self.post("/api/session", json!({ "pass": pass.pass, "session": session.to_string() })).await
    }

    /// How the world is.
    pub async fn health(&self) -> Result<Health, LobbyError> {
        self.health_of().await
    }

    /// How a host is, at the address that [`Health::web`] gives.
    pub async fn host_health(address: &str) -> Result<HostHealth, LobbyError> {
        Self::new(address).health_of().await
    }

    async fn health_of<T: DeserializeOwned>(&self) -> Result<T, LobbyError> {
        match timeout(WITHIN, self.ask(Request::get("/health"), String::new())).await {
            Ok(answer) => answer,
            Err(_) => Err(self.away("it took too long")),
        }
    }

    async fn post<T: DeserializeOwned>(&self, path: &str, body: Value) -> Result<T, LobbyError> {
        let request = Request::post(path).header("content-type", "application/json");
        match timeout(WITHIN, self.ask(request, body.to_string())).await {
            Ok(answer) => answer,
            Err(_) => Err(self.away("it took too long")),
        }
    }

    async fn ask<T: DeserializeOwned>(&self, request: Builder, body: String) -> Result<T, LobbyError> {
        let away = |error: &dyn std::fmt::Display| self.away(&error.to_string());
        let stream = TcpStream::connect(&self.authority).await.map_err(|it| away(&it))?;
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(|it| away(&it))?;
        tokio::spawn(connection);
        let request = request.header("host", &self.authority).body(Full::new(Bytes::from(body)));
        let request = request.map_err(|it| away(&it))?;
        let response = sender.send_request(request).await.map_err(|it| away(&it))?;
        let status = response.status();
        let wait = wait_told(response.headers());
        let body = Limited::new(response.into_body(), ANSWER_MAX).collect().await;
        let body = body.map_err(|it| self.away(&it.to_string()))?.to_bytes();
        if status.is_success() {
            return serde_json::from_slice(&body).map_err(|it| away(&it));
        }
        let told: Option<Value> = serde_json::from_slice(&body).ok();
        let why = told.as_ref().and_then(|it| it["error"].as_str()).unwrap_or("it did not say why");
        Err(match status {
            StatusCode::TOO_MANY_REQUESTS => LobbyError::TooOften(wait, why.to_owned()),
            status => LobbyError::Refused(status.as_u16(), why.to_owned()),
        })
    }

    fn away(&self, why: &str) -> LobbyError {
        LobbyError::Away(self.authority.clone(), why.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_host_decides_in_the_most_zones() {
        let health = |primaries: &[Option<u32>]| {
            let zone = |(zone, primary)| ZoneHealth { zone, epoch: Some(1), primary, backup: None };
            let zones = (1..).zip(primaries.iter().copied()).map(zone).collect();
            Health { hosts: vec![1, 2, 3], web: BTreeMap::new(), zones }
        };
        assert_eq!(health(&[Some(3), Some(2), None, Some(2)]).first(), Some(2));
        assert_eq!(health(&[Some(3), Some(2)]).first(), Some(2));
        assert_eq!(health(&[None]).first(), None);
    }
}
