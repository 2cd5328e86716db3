//! Asks the lobby for passes, sessions and tokens over HTTP, as described in `docs/net.md`.

use crate::queue::wait_for_session;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper::header::{HeaderMap, RETRY_AFTER};
use hyper::http::request::Builder;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use machine::Rng;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::Duration;
use thiserror::Error;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The most bytes of an answer that are read.
const ANSWER_MAX: usize = 256 * 1024;

/// Time that an answer may take: a password may wait for others to be hashed.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// Wait after too many requests if the lobby names none.
const WAIT_DEFAULT: Duration = Duration::from_secs(1);
/// The shortest wait in the queue. The lobby asks for two seconds at least, but another one may send any number.
const WAIT_MIN: Duration = Duration::from_millis(500);
/// The longest wait. The lobby never asks for more than some seconds, but a proxy before it may send any number.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// The reason why the lobby gave no answer, or refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LobbyClientError {
    /// It did not answer, or not as expected: its address, and the error.
    #[error("the lobby at {0} does not answer: {1}")]
    Unreachable(String, String),
    /// It refused the request: the HTTP status, and the reason.
    #[error("{1}")]
    Refused(u16, String),
    /// It was asked too often, or cannot answer now: the wait before the next request, and the reason.
    #[error("{1}")]
    TooOften(Duration, String),
}

impl LobbyClientError {
    /// Returns whether the same request will never succeed: the pass is not valid, or there is no such session.
    pub const fn is_final(&self) -> bool {
        matches!(self, Self::Refused(400 | 401, _))
    }
}

/// The lobby of a world, by its address.
#[derive(Clone, Debug)]
pub struct LobbyClient {
    authority: String,
}

/// A pass, which proves to the lobby who a player is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Pass {
    /// The signed text of the pass.
    pub pass: String,
    /// Number of the player, below 2^62.
    #[serde(deserialize_with = "number")]
    pub player: u64,
    /// Name of the player, as first typed.
    pub name: String,
}

/// A place in the lobby's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct QueuePlace {
    /// Number of the place, from 1.
    pub place: u64,
    /// Number of players who wait.
    pub waiting: u64,
    /// Time after which to ask again.
    #[serde(deserialize_with = "seconds")]
    pub again_after: Duration,
}

/// The answer to a request for a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionAnswer {
    /// The session has begun.
    Begun(Box<SessionInfo>),
    /// The world takes no more players at the moment: the player waits.
    Waiting(QueuePlace),
}

impl<'a> Deserialize<'a> for SessionAnswer {
    fn deserialize<D: serde::Deserializer<'a>>(from: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        let mut answer = Value::deserialize(from)?;
        match answer.get_mut("queued") {
            Some(queued) => serde_json::from_value(queued.take()).map(Self::Waiting),
            None => serde_json::from_value(answer).map(|it| Self::Begun(Box::new(it))),
        }
        .map_err(D::Error::custom)
    }
}

/// A session, with all that is needed to connect.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SessionInfo {
    /// Number of the session; a higher one replaces a lower one.
    #[serde(deserialize_with = "number")]
    pub session: u64,
    /// Number of the player, below 2^62.
    #[serde(deserialize_with = "number")]
    pub player: u64,
    /// Name of the player, as first typed.
    pub name: String,
    /// The world that the session is in.
    pub world: WorldInfo,
    /// Its hosts, those with the most primaries first.
    pub hosts: Vec<HostInfo>,
}

/// The world, as the lobby describes it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct WorldInfo {
    /// Name of the game that it runs.
    pub game: String,
    /// Hash of the game's types, in hex.
    pub schema: String,
    /// The game's range, in millimetres.
    pub range: u32,
    /// Corners of its region, in millimetres.
    pub region: Vec<[i32; 2]>,
    /// Its zones with their regions.
    pub zones: Vec<ZoneInfo>,
}

/// A zone and its region.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ZoneInfo {
    /// Number of the zone, from 1.
    pub zone: u32,
    /// Corners of its region, counterclockwise, in millimetres.
    pub corners: Vec<[i32; 2]>,
}

/// A host, and the token that it accepts once.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct HostInfo {
    /// Number of the host, from 1.
    pub host: u32,
    /// Zones of which it may hold replicas.
    pub zones: Vec<u32>,
    /// UDP address for QUIC and WebTransport.
    pub address: SocketAddr,
    /// Address for WebSocket, beginning with `ws://` or `wss://`.
    pub websocket: String,
    /// SHA-256 of its certificate, in hex.
    pub certificate: String,
    /// Token for this host, valid for 30 seconds.
    pub token: String,
}

impl HostInfo {
    /// The certificate's hash as bytes; `None` if the text is no hash.
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

/// The state of a world, as the control plane reports it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct WorldHealth {
    /// Hosts that have ever registered, also those that are down.
    pub hosts: Vec<u32>,
    /// HTTP addresses of their health and metrics.
    pub web: BTreeMap<u32, String>,
    /// Leadership of each zone of the world.
    pub zones: Vec<ZoneHealth>,
}

impl WorldHealth {
    /// The host that leads the most zones; the lowest of several.
    pub fn leading_host(&self) -> Option<u32> {
        let decides = |host: u32| self.zones.iter().filter(|it| it.primary == Some(host)).count();
        let deciding: BTreeSet<u32> = self.zones.iter().filter_map(|it| it.primary).collect();
        deciding.into_iter().min_by_key(|&host| std::cmp::Reverse(decides(host)))
    }
}

/// The state of a host, as it reports itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct HostHealth {
    /// Objects transferred to other zones since it started.
    pub transfers: u64,
    /// Events with participants in other zones since it started.
    pub cross_zone_events: u64,
}

/// The leadership of a zone.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ZoneHealth {
    /// Number of the zone, from 1.
    pub zone: u32,
    /// Epoch of the leadership; `None` before the zone is founded.
    pub epoch: Option<u32>,
    /// Host of the primary, which decides.
    pub primary: Option<u32>,
    /// Host of the backup, which would take over.
    pub backup: Option<u32>,
}

// Numbers of 64 bits are sent as text, because JavaScript would round them.
fn number<'a, D: serde::Deserializer<'a>>(from: D) -> Result<u64, D::Error> {
    String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
}

/// Seconds of a wait, within sensible bounds.
fn seconds<'a, D: serde::Deserializer<'a>>(from: D) -> Result<Duration, D::Error> {
    let wait = Duration::try_from_secs_f64(f64::deserialize(from)?).unwrap_or(WAIT_MAX);
    Ok(wait.clamp(WAIT_MIN, WAIT_MAX))
}

/// The wait that the lobby asks for after too many requests.
fn retry_after(headers: &HeaderMap) -> Duration {
    let answer = headers.get(RETRY_AFTER).and_then(|it| it.to_str().ok()?.parse().ok());
    answer.map_or(WAIT_DEFAULT, Duration::from_secs).min(WAIT_MAX)
}

impl LobbyClient {
    /// The lobby at an address such as `127.0.0.1:8080`, with or without `http://` before it.
    pub fn new(address: &str) -> Self {
        let authority = address.trim_start_matches("http://").trim_end_matches('/').to_owned();
        Self { authority }
    }

    /// Logs in as a new guest of this name.
    pub async fn guest(&self, name: &str) -> Result<Pass, LobbyClientError> {
        self.post("/api/guest", json!({ "name": name })).await
    }

    /// Creates an account and logs in.
    pub async fn account(&self, name: &str, password: &str) -> Result<Pass, LobbyClientError> {
        self.post("/api/account", json!({ "name": name, "password": password })).await
    }

    /// Logs in with an account.
    pub async fn login(&self, name: &str, password: &str) -> Result<Pass, LobbyClientError> {
        self.post("/api/login", json!({ "name": name, "password": password })).await
    }

    /// Asks for a new session, which replaces earlier ones of the player.
    pub async fn ask_session(&self, pass: &Pass) -> Result<SessionAnswer, LobbyClientError> {
        self.post("/api/session", json!({ "pass": pass.pass })).await
    }

    /// Begins a new session, which replaces earlier ones of the player; in a queue, if the world takes no more players now.
    pub async fn session(&self, pass: &Pass) -> Result<SessionInfo, LobbyClientError> {
        wait_for_session(|| self.ask_session(pass), Rng::seeded(pass.player), |_| ()).await
    }

    /// Fetches new tokens for a session. A lobby that does not know any more that the player is in lets the player wait for
    /// them, too: then the error tells the wait.
    pub async fn renew(&self, pass: &Pass, session: u64) -> Result<SessionInfo, LobbyClientError> {
        let body = json!({ "pass": pass.pass, "session": session.to_string() });
        match self.post("/api/session", body).await? {
            SessionAnswer::Begun(session) => Ok(*session),
            SessionAnswer::Waiting(QueuePlace { place, waiting, again_after }) => {
                let why = format!("the world is full: place {place} of {waiting} in the queue");
                Err(LobbyClientError::TooOften(again_after, why))
            }
        }
    }

    /// Asks for the state of the world.
    pub async fn health(&self) -> Result<WorldHealth, LobbyClientError> {
        self.health_of().await
    }

    /// Asks for the state of a host, at the address that [`WorldHealth::web`] gives.
    pub async fn host_health(address: &str) -> Result<HostHealth, LobbyClientError> {
        Self::new(address).health_of().await
    }

    /// Asks for the metrics of a host in Prometheus' text format, at the address that [`WorldHealth::web`] gives.
    pub async fn host_metrics(address: &str) -> Result<String, LobbyClientError> {
        let host = Self::new(address);
        match timeout(ANSWER_TIMEOUT, host.answer(Request::get("/metrics"), String::new())).await {
            Ok(answer) => answer.map(|it| String::from_utf8_lossy(&it).into_owned()),
            Err(_) => Err(host.unreachable("it took too long")),
        }
    }

    async fn health_of<T: DeserializeOwned>(&self) -> Result<T, LobbyClientError> {
        match timeout(ANSWER_TIMEOUT, self.ask(Request::get("/health"), String::new())).await {
            Ok(answer) => answer,
            Err(_) => Err(self.unreachable("it took too long")),
        }
    }

    async fn post<T: DeserializeOwned>(&self, path: &str, body: Value) -> Result<T, LobbyClientError> {
        let request = Request::post(path).header("content-type", "application/json");
        match timeout(ANSWER_TIMEOUT, self.ask(request, body.to_string())).await {
            Ok(answer) => answer,
            Err(_) => Err(self.unreachable("it took too long")),
        }
    }

    async fn ask<T: DeserializeOwned>(&self, request: Builder, body: String) -> Result<T, LobbyClientError> {
        let answer = self.answer(request, body).await?;
        serde_json::from_slice(&answer).map_err(|it| self.unreachable(&it.to_string()))
    }

    async fn answer(&self, request: Builder, body: String) -> Result<Bytes, LobbyClientError> {
        let unreachable = |error: &dyn std::fmt::Display| self.unreachable(&error.to_string());
        let stream = TcpStream::connect(&self.authority).await.map_err(|it| unreachable(&it))?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|it| unreachable(&it))?;
        tokio::spawn(connection); // Drives the connection; it ends when `sender` is dropped.
        let request = request.header("host", &self.authority).body(Full::new(Bytes::from(body)));
        let request = request.map_err(|it| unreachable(&it))?;
        let response = sender.send_request(request).await.map_err(|it| unreachable(&it))?;
        let status = response.status();
        let has_wait = response.headers().contains_key(RETRY_AFTER);
        let wait = retry_after(response.headers());
        // A faulty or hostile server must not fill the client's memory.
        let body = Limited::new(response.into_body(), ANSWER_MAX).collect().await;
        let body = body.map_err(|it| self.unreachable(&it.to_string()))?.to_bytes();
        if status.is_success() {
            return Ok(body);
        }
        let answer: Option<Value> = serde_json::from_slice(&body).ok();
        let why = answer.as_ref().and_then(|it| it["error"].as_str()).unwrap_or("it did not say why");
        Err(match status {
            StatusCode::TOO_MANY_REQUESTS => LobbyClientError::TooOften(wait, why.to_owned()),
            StatusCode::SERVICE_UNAVAILABLE if has_wait => LobbyClientError::TooOften(wait, why.to_owned()),
            status => LobbyClientError::Refused(status.as_u16(), why.to_owned()),
        })
    }

    fn unreachable(&self, why: &str) -> LobbyClientError {
        LobbyClientError::Unreachable(self.authority.clone(), why.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_a_session_or_a_place_with_a_sensible_wait() {
        let read = |text: &str| serde_json::from_str::<SessionAnswer>(text);
        for (sent, wait) in [("3", 3_000), ("2.5", 2_500), ("0", 500), ("-1", 60_000), ("1e300", 60_000)] {
            let answer =
                read(&format!(r#"{{"queued": {{"place": 12, "waiting": 40, "again_after": {sent}}}}}"#));
            let place = QueuePlace { place: 12, waiting: 40, again_after: Duration::from_millis(wait) };
            assert_eq!(answer.unwrap(), SessionAnswer::Waiting(place), "{sent}");
        }
        assert!(read(r#"{"queued": 7}"#).is_err());
        assert!(read(r#"{"session": "1"}"#).unwrap_err().to_string().contains("player"));
    }

    #[test]
    fn the_leading_host_leads_the_most_zones() {
        let health = |primaries: &[Option<u32>]| {
            let zone = |(zone, primary)| ZoneHealth { zone, epoch: Some(1), primary, backup: None };
            let zones = (1..).zip(primaries.iter().copied()).map(zone).collect();
            WorldHealth { hosts: vec![1, 2, 3], web: BTreeMap::new(), zones }
        };
        assert_eq!(health(&[Some(3), Some(2), None, Some(2)]).leading_host(), Some(2));
        assert_eq!(health(&[Some(3), Some(2)]).leading_host(), Some(2));
        assert_eq!(health(&[None]).leading_host(), None);
    }
}
