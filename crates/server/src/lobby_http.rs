//! The lobby over HTTP: log-in and web page, as described in `docs/net.md`.

use crate::admission::LobbyAdmission;
use crate::client_address::client_address;
use crate::directory::DirectoryHandle;
use crate::host_entries::HostEntryReader;
use crate::keys::random;
use crate::page;
use crate::stored_partition::corners;
use crate::token_authenticator::wall_clock;
use crate::web;
use crate::world_entry::{HostEntries, WorldEntry};
use axum::Router;
use axum::extract::rejection::JsonRejection;
use axum::extract::{ConnectInfo, DefaultBodyLimit, FromRequest, FromRequestParts, Json, Request, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use lobby::{CreateError, Lobby, LobbyError, PassGrant, RequestSource, SessionGrant};
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
use zone::Leadership;

/// The most bytes in the body of a request.
const BODY_MAX: usize = 4 * 1024;

/// Time for which the directory's answer about hosts and leadership is reused. A client that finds no primary asks
/// again after half a second, so a tenth of that costs nothing.
const STATUS_CACHED_FOR: Duration = Duration::from_millis(50);

/// Passwords hashed at once: each takes 19 MiB and some tens of milliseconds of a core.
const HASHES_MAX: usize = 2;

/// Passwords that wait to be hashed: a few seconds' worth.
const HASHES_WAITING: usize = 64;

/// Memory that hashing takes, in bytes.
pub const HASHING_BYTES: usize = HASHES_MAX * lobby::config::HASH_KIB as usize * 1024;

/// The state that all requests share.
pub struct LobbyHttp {
    /// Accounts, limits and the signing key.
    pub lobby: Mutex<Lobby<Files>>,
    /// The directory, which knows hosts and leadership.
    pub directory: DirectoryHandle,
    /// The world's entry in the directory.
    pub world: WorldEntry,
    /// The game's range, in millimetres.
    pub range: u32,
    /// Proxies whose `X-Forwarded-For` header is trusted.
    pub proxies: Vec<IpAddr>,
    /// Who may enter now, and who waits.
    admission: Arc<LobbyAdmission>,
    /// Zones and their corners, as clients are sent them.
    zones: Value,
    status: tokio::sync::Mutex<StatusCache>,
    hashing: mpsc::Sender<HashJob>,
}

/// A password to hash or verify, on a thread of its own.
type HashJob = Box<dyn FnOnce() + Send>;

impl LobbyHttp {
    /// The state for a lobby, with its hashing threads.
    pub fn new(
        lobby: Lobby<Files>,
        directory: DirectoryHandle,
        world: WorldEntry,
        range: u32,
        proxies: Vec<IpAddr>,
        admission: Arc<LobbyAdmission>,
    ) -> anyhow::Result<Self> {
        let map = world.map.partition()?;
        let zone = |(zone, region): (ZoneId, &Polygon)| json!({ "zone": zone.0, "corners": corners(region) });
        let zones = map.zones().map(zone).collect();
        let cache = StatusCache { hosts: HostEntryReader::new(world.hosts()), last: None };
        let (lobby, status) = (Mutex::new(lobby), tokio::sync::Mutex::new(cache));
        let hashing = start_hashing_threads();
        Ok(Self { lobby, directory, world, range, proxies, admission, zones, status, hashing })
    }

    fn lobby(&self) -> MutexGuard<'_, Lobby<Files>> {
        self.lobby.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The routes of the control plane.
pub fn routes(http: Arc<LobbyHttp>) -> Router {
    Router::new()
        .route("/api/guest", post(guest))
        .route("/api/account", post(account))
        .route("/api/login", post(login))
        .route("/api/session", post(session))
        .route("/health", get(health))
        .route("/metrics", get(web::prometheus))
        .fallback(get(file))
        // A login is short; a larger body would only cost memory.
        .layer(DefaultBodyLimit::max(BODY_MAX))
        .with_state(http)
}

#[derive(Deserialize)]
struct GuestRequest {
    name: String,
}

#[derive(Deserialize)]
struct LoginRequest {
    name: String,
    password: String,
}

#[derive(Deserialize)]
struct SessionRequest {
    pass: String,
    session: Option<String>,
}

type JsonResult = Result<axum::Json<Value>, HttpError>;

/// Status, text for a person, and the seconds after which a program may try again.
struct HttpError(StatusCode, String, Option<u64>);

impl IntoResponse for HttpError {
    fn into_response(self) -> Response {
        let after = self.2.map(|it| [(header::RETRY_AFTER, it)]);
        (self.0, after, axum::Json(json!({ "error": self.1 }))).into_response()
    }
}

impl From<LobbyError> for HttpError {
    fn from(error: LobbyError) -> Self {
        let status = match &error {
            LobbyError::Name(_) | LobbyError::Password(_) | LobbyError::NoSession => StatusCode::BAD_REQUEST,
            LobbyError::Wrong | LobbyError::Pass(_) => StatusCode::UNAUTHORIZED,
            LobbyError::TooOften(_) => StatusCode::TOO_MANY_REQUESTS,
            LobbyError::Create(CreateError::Taken) => StatusCode::CONFLICT,
            LobbyError::Create(_) => StatusCode::SERVICE_UNAVAILABLE,
        };
        let after = match &error {
            // Rounded up: a client that came back too early would be refused again.
            LobbyError::TooOften(it) => Some(it.0.as_micros().div_ceil(1_000_000)),
            _ => None,
        };
        Self(status, error.to_string(), after)
    }
}

/// The body of a request. Unlike axum's `Json`, it refuses a malformed body with the same form of answer as other
/// errors.
struct JsonBody<T>(T);

impl<T: DeserializeOwned> FromRequest<Arc<LobbyHttp>> for JsonBody<T> {
    type Rejection = HttpError;

    async fn from_request(request: Request, http: &Arc<LobbyHttp>) -> Result<Self, HttpError> {
        let Json(it) = Json::from_request(request, http)
            .await
            .map_err(|why: JsonRejection| HttpError(why.status(), why.body_text(), None))?;
        Ok(Self(it))
    }
}

/// The origin of a request: address and times.
struct Source(RequestSource);

impl FromRequestParts<Arc<LobbyHttp>> for Source {
    type Rejection = <ConnectInfo<SocketAddr> as FromRequestParts<Arc<LobbyHttp>>>::Rejection;

    async fn from_request_parts(parts: &mut Parts, http: &Arc<LobbyHttp>) -> Result<Self, Self::Rejection> {
        let ConnectInfo(from) = ConnectInfo::<SocketAddr>::from_request_parts(parts, http).await?;
        let address = client_address(from.ip(), &parts.headers, &http.proxies);
        Ok(Self(RequestSource { address, at: net::clock::now(), now: wall_clock() }))
    }
}

fn grant_json(it: &PassGrant) -> axum::Json<Value> {
    // Numbers of 64 bits are sent as text, because JavaScript would round them.
    axum::Json(json!({ "pass": it.pass, "player": it.player.0.to_string(), "name": it.name.as_str() }))
}

type SharedState = State<Arc<LobbyHttp>>;

async fn guest(
    State(http): SharedState,
    Source(source): Source,
    JsonBody(it): JsonBody<GuestRequest>,
) -> JsonResult {
    let grant = http.lobby().guest(source, &it.name, u64::from_le_bytes(random()))?;
    Ok(grant_json(&grant))
}

async fn account(
    State(http): SharedState,
    Source(source): Source,
    JsonBody(it): JsonBody<LoginRequest>,
) -> JsonResult {
    let creation = http.lobby().begin_account(source, &it.name, &it.password)?;
    let hashed = on_hashing_thread(&http, move || creation.hash(random())).await?;
    let grant = http.lobby().finish_account(hashed, wall_clock())?;
    Ok(grant_json(&grant))
}

async fn login(
    State(http): SharedState,
    Source(source): Source,
    JsonBody(it): JsonBody<LoginRequest>,
) -> JsonResult {
    let attempt = http.lobby().begin_login(source, &it.name, &it.password)?;
    let checked = on_hashing_thread(&http, move || attempt.verify()).await?;
    let grant = http.lobby().finish_login(checked, wall_clock())?;
    Ok(grant_json(&grant))
}

/// Starts the hashing threads. They live as long as the process, because each keeps the memory that hashing takes.
fn start_hashing_threads() -> mpsc::Sender<HashJob> {
    let (sender, jobs) = mpsc::channel::<HashJob>(HASHES_WAITING);
    let jobs = Arc::new(Mutex::new(jobs));
    for number in 0..HASHES_MAX {
        let jobs = jobs.clone();
        let next = move || jobs.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv();
        let run = move || {
            while let Some(job) = next() {
                // A panic costs its own request an answer, and no later request a thread.
                let _ = std::panic::catch_unwind(AssertUnwindSafe(job));
            }
        };
        let thread = std::thread::Builder::new().name(format!("hash-{number}")).spawn(run);
        thread.expect("a process that has just started can start a thread");
    }
    sender
}

/// Runs a job on a hashing thread. Refuses it if too many wait, and skips it if the client has disconnected meanwhile.
async fn on_hashing_thread<T: Send + 'static>(
    http: &LobbyHttp,
    job: impl FnOnce() -> T + Send + 'static,
) -> Result<T, HttpError> {
    let busy = || HttpError(StatusCode::SERVICE_UNAVAILABLE, "try again in a moment".to_owned(), None);
    let (sender, done) = oneshot::channel();
    let job = move || {
        // The client may have given up while the job waited.
        if !sender.is_closed() {
            drop(sender.send(job()));
        }
    };
    http.hashing.try_send(Box::new(job)).map_err(|_| busy())?;
    done.await.map_err(|_| busy())
}

async fn session(
    State(http): SharedState,
    Source(source): Source,
    JsonBody(it): JsonBody<SessionRequest>,
) -> Result<Response, HttpError> {
    let unavailable = |why: &str| HttpError(StatusCode::SERVICE_UNAVAILABLE, why.to_owned(), None);
    let requested = match it.session.map(|text| text.parse()) {
        Some(Ok(number)) => Some(number),
        Some(Err(_)) => return Err(LobbyError::NoSession.into()),
        None => None,
    };
    // Before the directory is asked: a request without a valid pass costs no more than this.
    let holder = http.lobby().begin_session(source, &it.pass)?;
    if let Some(waits) = http.admission.check(source, holder.player(), requested.is_some()) {
        return Ok(waits);
    }
    let clock = http.directory.clock().await.ok_or_else(|| unavailable("the directory's disk failed"))?;
    let session = http.lobby().finish_session(holder, requested, clock)?;
    let hosts = hosts(&http, &session).await.ok_or_else(|| unavailable("the directory's disk failed"))?;
    // A session without hosts is of no use: the client is to ask again.
    if hosts.is_empty() {
        return Err(unavailable("no host is there yet: try again in a moment"));
    }
    let region = http.world.corners().map(|corners| corners.map(|it| [it.x(), it.y()]));
    Ok(axum::Json(json!({
        "session": session.number.to_string(),
        "player": session.player.0.to_string(),
        "name": session.name.as_str(),
        "world": {
            "game": http.world.game,
            "schema": format!("{:016x}", http.world.schema),
            "range": http.range,
            "region": region,
            "zones": http.zones,
        },
        "hosts": hosts,
    }))
    .into_response())
}

/// Registered hosts, and the leadership of each zone.
struct WorldStatus {
    hosts: HostEntries,
    leaderships: Vec<(u32, Option<Leadership>)>,
}

/// The directory's last answer about hosts and leadership.
struct StatusCache {
    hosts: HostEntryReader,
    /// The answer and its time.
    last: Option<(Instant, Arc<WorldStatus>)>,
}

/// The status as of a moment ago: however many clients ask, the directory answers once per [`STATUS_CACHED_FOR`].
async fn recent_status(http: &LobbyHttp) -> Option<Arc<WorldStatus>> {
    // Held while the directory answers, so that clients who ask meanwhile share the answer.
    let mut cache = http.status.lock().await;
    if let Some((_, status)) = cache.last.as_ref().filter(|it| it.0.elapsed() < STATUS_CACHED_FOR) {
        return Some(status.clone());
    }
    let status = Arc::new(read_status(http, &mut cache.hosts).await?);
    cache.last = Some((Instant::now(), status.clone()));
    Some(status)
}

async fn read_status(http: &LobbyHttp, hosts: &mut HostEntryReader) -> Option<WorldStatus> {
    let zones: Vec<u32> = http.world.zones.keys().copied().collect();
    let leadership_keys = zones.iter().map(|&zone| zone::leadership_key(ZoneId(zone)));
    let entries = http.directory.read(hosts.keys().chain(leadership_keys).collect()).await?;
    let (host_entries, leaderships) = entries.split_at_checked(hosts.len())?;
    let hosts = hosts.decode(host_entries);
    let leaderships = zones.into_iter().zip(leaderships.iter().map(|it| Leadership::from_bytes(&it.value)));
    Some(WorldStatus { hosts, leaderships: leaderships.collect() })
}

/// Number of zones that a host leads, and number of zones it backs up.
fn zones_led_and_backed(host: u32, leaderships: &[(u32, Option<Leadership>)]) -> (usize, usize) {
    let count = |who: fn(Leadership) -> Option<Address>| {
        let there = |it: &&(u32, Option<Leadership>)| it.1.and_then(who).and_then(host_of) == Some(host);
        leaderships.iter().filter(there).count()
    };
    (count(|it| Some(it.primary)), count(|it| it.backup))
}

/// All hosts with a token each, those with the most primaries first: a client needs few connections then.
async fn hosts(http: &LobbyHttp, session: &SessionGrant) -> Option<Vec<Value>> {
    let status = recent_status(http).await?;
    let WorldStatus { hosts, leaderships } = &*status;
    let mut order: Vec<_> = hosts.keys().copied().collect();
    order.sort_by_key(|&host| std::cmp::Reverse(zones_led_and_backed(host, leaderships)));
    let lobby = http.lobby();
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

async fn health(State(http): SharedState) -> axum::Json<Value> {
    let Some(status) = recent_status(&http).await else {
        return axum::Json(json!({ "status": "the directory's disk failed" }));
    };
    let WorldStatus { hosts, leaderships } = &*status;
    let zone_json = |(zone, leadership): &(u32, Option<Leadership>)| {
        json!({
            "zone": zone,
            "epoch": leadership.map(|it| it.epoch.0),
            "primary": leadership.and_then(|it| host_of(it.primary)),
            "backup": leadership.and_then(|it| host_of(it.backup?)),
        })
    };
    let zones: Vec<Value> = leaderships.iter().map(zone_json).collect();
    let web: BTreeMap<u32, SocketAddr> = hosts.iter().map(|(&id, it)| (id, it.web)).collect();
    let hosts: Vec<_> = hosts.keys().collect();
    axum::Json(json!({
        "status": "ok", "world": http.world.id, "hosts": hosts, "web": web, "zones": zones,
        "admission": http.admission.health(),
    }))
}

async fn file(uri: Uri) -> Response {
    page::find(uri.path()).map_or_else(|| StatusCode::NOT_FOUND.into_response(), |it| it.into_response())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::KeyFolder;
    use crate::stored_partition::StoredPartition;
    use crate::test_directory::TestDirectory;
    use crate::world_entry::{self, HostEntry};
    use lobby::{Issuer, LobbySettings};
    use space::Partition;

    #[test]
    fn a_client_that_asks_too_often_is_told_the_wait_in_text_and_header() {
        let too_often = lobby::TooOften(machine::Span::from_millis(1_500));
        let error = HttpError::from(LobbyError::from(too_often));
        assert!(error.1.ends_with("try again in 2 s"), "{}", error.1);
        let response = error.into_response();
        assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(response.headers()[header::RETRY_AFTER], "2");
        let refused = HttpError::from(LobbyError::NoSession).into_response();
        assert!(!refused.headers().contains_key(header::RETRY_AFTER));
    }

    #[tokio::test]
    async fn a_host_of_another_version_does_not_hide_the_others() {
        let directory = TestDirectory::start("status");
        let zones = (1..=100).map(|zone| (zone, (1..=100).collect())).collect();
        let square = world_entry::square(1_000).unwrap();
        let map = Partition::new(Polygon::new(&square).unwrap(), ZoneId(1));
        let world = WorldEntry {
            id: "test-1".to_owned(),
            game: "test".to_owned(),
            schema: 1,
            half: 1_000,
            seed: 1,
            map: StoredPartition::of(&map),
            zones,
            lobby: [1; 32],
        };
        let at: SocketAddr = "192.0.2.1:1".parse().unwrap();
        let entry = HostEntry {
            mesh: at,
            players: at,
            web: at,
            socket: "ws://192.0.2.1:1/play".to_owned(),
            certificate: [1; 32],
            zones: vec![1],
        };
        let leadership = Leadership::first(net::address::replica(100, 100));
        for (key, value) in [
            (world_entry::host_key(1), world_entry::write(&entry)),
            (world_entry::host_key(2), vec![0xff; 4]),
            (world_entry::host_key(100), world_entry::write(&entry)),
            (zone::leadership_key(ZoneId(100)), leadership.to_bytes()),
        ] {
            directory.handle.create(key, value).await;
        }
        let issuer = Issuer::new(KeyFolder::of(&directory.folder.0).lobby().unwrap(), &world.id).unwrap();
        let media = Files::open(directory.folder.0.join("lobby")).unwrap();
        let lobby = Lobby::open(media, issuer, LobbySettings::default()).unwrap();
        let admission = Arc::new(LobbyAdmission::new(lobby::AdmissionSettings::default(), world.hosts()));
        let http = LobbyHttp::new(lobby, directory.handle.clone(), world, 1, Vec::new(), admission).unwrap();
        let status = recent_status(&http).await.unwrap();
        assert_eq!(status.hosts.keys().collect::<Vec<_>>(), [&1, &100]);
        assert_eq!(status.leaderships[99], (100, Some(leadership)));
        assert_eq!(zones_led_and_backed(100, &status.leaderships), (1, 0));
    }
}
