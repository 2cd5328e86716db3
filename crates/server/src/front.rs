//! The lobby's front: the page and the log-in over HTTP, as drawn in `docs/net.md`.

use crate::directory::Desk;
use crate::keeper::wall_clock;
use crate::keys::random;
use crate::map::corners;
use crate::origin::origin;
use crate::page;
use crate::web;
use crate::world::{self, Hosts, World};
use axum::Router;
use axum::extract::rejection::JsonRejection;
use axum::extract::{ConnectInfo, DefaultBodyLimit, FromRequest, FromRequestParts, Json, Request, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use lobby::{Admission, Caller, CreateError, Lobby, LobbyError, Session};
use machine::Address;
use net::address::host_of;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use space::{Polygon, ZoneId};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use store::Files;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use zone::Reign;

/// The most bytes of a request.
const BODY_MAX: usize = 4 * 1024;

/// How long what the directory said about hosts and reigns is told on. Whoever finds nobody asks again after half a
/// second; a tenth of that is no loss.
const SEEN_FOR: Duration = Duration::from_millis(50);

/// Passwords hashed at once: each takes 19 MiB and some tens of milliseconds of a core.
const HASHES_MAX: usize = 2;

/// Passwords that wait to be hashed: a few seconds' worth.
const HASHES_WAITING: usize = 64;

/// The memory that hashing takes.
pub const HASHING_BYTES: usize = HASHES_MAX * lobby::config::HASH_KIB as usize * 1024;

/// What the front needs.
pub struct Front {
    /// Who comes in.
    pub lobby: Mutex<Lobby<Files>>,
    /// Who serves what.
    pub desk: Desk,
    /// The world.
    pub world: World,
    /// How far one sees, in millimetres.
    pub range: u32,
    /// Who may speak for others.
    pub proxies: Vec<IpAddr>,
    /// Its zones and their corners, as they are told.
    zones: Value,
    /// What the directory said last, and when.
    seen: tokio::sync::Mutex<Option<(Instant, Arc<Scene>)>>,
    hashing: mpsc::Sender<Work>,
}

/// Something that takes long.
type Work = Box<dyn FnOnce() + Send>;

impl Front {
    /// A front for a lobby.
    pub fn new(
        lobby: Lobby<Files>,
        desk: Desk,
        world: World,
        range: u32,
        proxies: Vec<IpAddr>,
    ) -> anyhow::Result<Self> {
        let map = world.map.partition()?;
        let zone = |(zone, region): (ZoneId, &Polygon)| json!({ "zone": zone.0, "corners": corners(region) });
        let zones = map.zones().map(zone).collect();
        let (lobby, seen) = (Mutex::new(lobby), tokio::sync::Mutex::default());
        Ok(Self { lobby, desk, world, range, proxies, zones, seen, hashing: hashers() })
    }

    fn lobby(&self) -> MutexGuard<'_, Lobby<Files>> {
        self.lobby.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the lobby serves.
pub fn routes(front: Arc<Front>) -> Router {
    Router::new()
        .route("/api/guest", post(guest))
        .route("/api/account", post(account))
        .route("/api/login", post(login))
        .route("/api/session", post(session))
        .route("/health", get(health))
        .route("/metrics", get(web::prometheus))
        .fallback(get(file))
        .layer(DefaultBodyLimit::max(BODY_MAX))
        .with_state(front)
}

#[derive(Deserialize)]
struct Name {
    name: String,
}

#[derive(Deserialize)]
struct Credentials {
    name: String,
    password: String,
}

#[derive(Deserialize)]
struct Wish {
    pass: String,
    session: Option<String>,
}

type Answer = Result<axum::Json<Value>, Trouble>;

/// Why there is no answer, for a person; and after how many seconds there may be one, for a program.
struct Trouble(StatusCode, String, Option<u64>);

impl IntoResponse for Trouble {
    fn into_response(self) -> Response {
        let after = self.2.map(|it| [(header::RETRY_AFTER, it)]);
        (self.0, after, axum::Json(json!({ "error": self.1 }))).into_response()
    }
}

impl From<LobbyError> for Trouble {
    fn from(error: LobbyError) -> Self {
        let status = match &error {
            LobbyError::Name(_) | LobbyError::Password(_) | LobbyError::NoSession => StatusCode::BAD_REQUEST,
            LobbyError::Wrong | LobbyError::Pass(_) => StatusCode::UNAUTHORIZED,
            LobbyError::TooOften(_) => StatusCode::TOO_MANY_REQUESTS,
            LobbyError::Create(CreateError::Taken) => StatusCode::CONFLICT,
            LobbyError::Create(_) => StatusCode::SERVICE_UNAVAILABLE,
        };
        let after = match &error {
            LobbyError::TooOften(it) => Some(it.0.as_micros().div_ceil(1_000_000)),
            _ => None,
        };
        Self(status, error.to_string(), after)
    }
}

/// What is asked for. Whoever cannot be understood is told why, like all others.
struct Asked<T>(T);

impl<T: DeserializeOwned> FromRequest<Arc<Front>> for Asked<T> {
    type Rejection = Trouble;

    async fn from_request(request: Request, front: &Arc<Front>) -> Result<Self, Trouble> {
        let Json(it) = Json::from_request(request, front)
            .await
            .map_err(|why: JsonRejection| Trouble(why.status(), why.body_text(), None))?;
        Ok(Self(it))
    }
}

/// Who asks.
struct Who(Caller);

impl FromRequestParts<Arc<Front>> for Who {
    type Rejection = <ConnectInfo<SocketAddr> as FromRequestParts<Arc<Front>>>::Rejection;

    async fn from_request_parts(parts: &mut Parts, front: &Arc<Front>) -> Result<Self, Self::Rejection> {
        let ConnectInfo(from) = ConnectInfo::<SocketAddr>::from_request_parts(parts, front).await?;
        let address = origin(from.ip(), &parts.headers, &front.proxies);
        Ok(Self(Caller { address, at: net::clock::now(), now: wall_clock() }))
    }
}

fn admitted(it: &Admission) -> axum::Json<Value> {
    axum::Json(json!({ "pass": it.pass, "player": it.player.0.to_string(), "name": it.name.as_str() }))
}

type Shared = State<Arc<Front>>;

async fn guest(State(front): Shared, Who(caller): Who, Asked(it): Asked<Name>) -> Answer {
    let admission = front.lobby().guest(caller, &it.name, u64::from_le_bytes(random()))?;
    Ok(admitted(&admission))
}

async fn account(State(front): Shared, Who(caller): Who, Asked(it): Asked<Credentials>) -> Answer {
    let creation = front.lobby().begin_account(caller, &it.name, &it.password)?;
    let hashed = slowly(&front, move || creation.hash(random())).await?;
    let admission = front.lobby().finish_account(hashed, wall_clock())?;
    Ok(admitted(&admission))
}

async fn login(State(front): Shared, Who(caller): Who, Asked(it): Asked<Credentials>) -> Answer {
    let attempt = front.lobby().begin_login(caller, &it.name, &it.password)?;
    let checked = slowly(&front, move || attempt.verify()).await?;
    let admission = front.lobby().finish_login(checked, wall_clock())?;
    Ok(admitted(&admission))
}

/// Threads for what takes long. Always the same ones, because each keeps the memory that hashing takes.
fn hashers() -> mpsc::Sender<Work> {
    let (sender, work) = mpsc::channel::<Work>(HASHES_WAITING);
    let work = Arc::new(Mutex::new(work));
    for number in 0..HASHES_MAX {
        let work = work.clone();
        let next = move || work.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv();
        let run = move || {
            while let Some(work) = next() {
                // A panic costs its own request an answer, and nobody else a thread.
                let _ = std::panic::catch_unwind(AssertUnwindSafe(work));
            }
        };
        let thread = std::thread::Builder::new().name(format!("hash-{number}")).spawn(run);
        thread.expect("a process that has just started can start a thread");
    }
    sender
}

/// Runs what takes long beside the rest, not too much of it at once. Whoever hangs up while they wait is forgotten.
async fn slowly<T: Send + 'static>(
    front: &Front,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Trouble> {
    let busy = || Trouble(StatusCode::SERVICE_UNAVAILABLE, "try again in a moment".to_owned(), None);
    let (sender, done) = oneshot::channel();
    let work = move || {
        if !sender.is_closed() {
            drop(sender.send(work()));
        }
    };
    front.hashing.try_send(Box::new(work)).map_err(|_| busy())?;
    done.await.map_err(|_| busy())
}

async fn session(State(front): Shared, Who(caller): Who, Asked(it): Asked<Wish>) -> Answer {
    let unavailable = |why: &str| Trouble(StatusCode::SERVICE_UNAVAILABLE, why.to_owned(), None);
    let requested = match it.session.map(|text| text.parse()) {
        Some(Ok(number)) => Some(number),
        Some(Err(_)) => return Err(LobbyError::NoSession.into()),
        None => None,
    };
    let holder = front.lobby().begin_session(caller, &it.pass)?;
    let clock = front.desk.clock().await.ok_or_else(|| unavailable("the directory's disk failed"))?;
    let session = front.lobby().finish_session(holder, requested, clock)?;
    let hosts = hosts(&front, &session).await.ok_or_else(|| unavailable("the directory's disk failed"))?;
    if hosts.is_empty() {
        return Err(unavailable("no host is there yet: try again in a moment"));
    }
    let region = front.world.corners().map(|corners| corners.map(|it| [it.x(), it.y()]));
    Ok(axum::Json(json!({
        "session": session.number.to_string(),
        "player": session.player.0.to_string(),
        "name": session.name.as_str(),
        "world": {
            "game": front.world.game,
            "schema": format!("{:016x}", front.world.schema),
            "range": front.range,
            "region": region,
            "zones": front.zones,
        },
        "hosts": hosts,
    })))
}

/// Who there is, and who reigns over each zone.
struct Scene {
    hosts: Hosts,
    reigns: Vec<(u32, Option<Reign>)>,
}

/// How things stand, as of a moment ago: however many ask, the directory answers few.
async fn look(front: &Front) -> Option<Arc<Scene>> {
    let mut seen = front.seen.lock().await;
    if let Some((_, scene)) = seen.as_ref().filter(|it| it.0.elapsed() < SEEN_FOR) {
        return Some(scene.clone());
    }
    let scene = Arc::new(look_now(front).await?);
    *seen = Some((Instant::now(), scene.clone()));
    Some(scene)
}

async fn look_now(front: &Front) -> Option<Scene> {
    let zones: Vec<u32> = front.world.zones.keys().copied().collect();
    let keys = zones.iter().map(|&zone| zone::key(ZoneId(zone)));
    let entries = front.desk.read(std::iter::once(world::hosts_key()).chain(keys).collect()).await?;
    let hosts: Hosts = world::read(&entries[0].value).unwrap_or_default();
    let reigns = zones.into_iter().zip(entries[1..].iter().map(|it| Reign::from_bytes(&it.value)));
    Some(Scene { hosts, reigns: reigns.collect() })
}

/// How useful a host is: the zones in which it decides, then those in which it would take over.
fn use_of(host: u32, reigns: &[(u32, Option<Reign>)]) -> (usize, usize) {
    let count = |who: fn(Reign) -> Option<Address>| {
        let there = |it: &&(u32, Option<Reign>)| it.1.and_then(who).and_then(host_of) == Some(host);
        reigns.iter().filter(there).count()
    };
    (count(|it| Some(it.primary)), count(|it| it.backup))
}

/// All hosts with their tokens, the most useful first.
async fn hosts(front: &Front, session: &Session) -> Option<Vec<Value>> {
    let scene = look(front).await?;
    let Scene { hosts, reigns } = &*scene;
    let mut order: Vec<_> = hosts.keys().copied().collect();
    order.sort_by_key(|&host| std::cmp::Reverse(use_of(host, reigns)));
    let lobby = front.lobby();
    let entry = |host: u32| {
        let it = &hosts[&host];
        let token = lobby.token(session, host, u128::from_le_bytes(random()), wall_clock());
        let certificate: String = it.certificate.iter().map(|byte| format!("{byte:02x}")).collect();
        json!({
            "host": host,
            "zones": it.zones,
            "address": it.players.to_string(),
            "websocket": it.socket,
            "certificate": certificate,
            "token": token,
        })
    };
    Some(order.into_iter().map(entry).collect())
}

async fn health(State(front): Shared) -> axum::Json<Value> {
    let Some(scene) = look(&front).await else {
        return axum::Json(json!({ "status": "the directory's disk failed" }));
    };
    let Scene { hosts, reigns } = &*scene;
    let told = |(zone, reign): &(u32, Option<Reign>)| {
        json!({
            "zone": zone,
            "epoch": reign.map(|it| it.epoch.0),
            "primary": reign.and_then(|it| host_of(it.primary)),
            "backup": reign.and_then(|it| host_of(it.backup?)),
        })
    };
    let zones: Vec<Value> = reigns.iter().map(told).collect();
    let web: BTreeMap<u32, SocketAddr> = hosts.iter().map(|(&id, it)| (id, it.web)).collect();
    let hosts: Vec<_> = hosts.keys().collect();
    axum::Json(json!({
        "status": "ok", "world": front.world.id, "hosts": hosts, "web": web, "zones": zones,
    }))
}

async fn file(uri: Uri) -> Response {
    page::find(uri.path()).map_or_else(|| StatusCode::NOT_FOUND.into_response(), |it| it.into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_asks_too_often_is_told_for_how_long_in_words_and_in_a_header() {
        let too_often = lobby::TooOften(machine::Span::from_millis(1_500));
        let trouble = Trouble::from(LobbyError::from(too_often));
        assert!(trouble.1.ends_with("try again in 2 s"), "{}", trouble.1);
        let response = trouble.into_response();
        assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(response.headers()[header::RETRY_AFTER], "2");
        let refused = Trouble::from(LobbyError::NoSession).into_response();
        assert!(!refused.headers().contains_key(header::RETRY_AFTER));
    }
}
