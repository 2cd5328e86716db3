//! The lobby over HTTP: log-in and web page, as described in `docs/net.md`.

use crate::account_store::{AccountStore, StoreBusy};
use crate::admission::LobbyAdmission;
use crate::client_address::client_address;
use crate::directory::DirectoryHandle;
use crate::fair_jobs::{FairJobs, JobRefused};
use crate::host_entries::HostEntryReader;
use crate::keys::random;
use crate::page::Page;
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
use lobby::{AccountLog, CreateError, Issuer, Lobby, LobbyError, PassGrant, RequestSource, SessionGrant};
use machine::Address;
use net::address::host_of;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use space::{Polygon, ZoneId};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use store::Media;
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

/// Passes that are verified, and sessions whose tokens are signed, at once: each takes some tens of microseconds per host.
/// More threads would take the processor from the directory's.
const SIGNATURES_MAX: usize = 1;

/// Passes and sessions that wait for it. One address group may have half of them, as many as it may have connections.
const SIGNATURES_WAITING: usize = 2_048;

/// Memory that hashing takes, in bytes.
pub const HASHING_BYTES: usize = HASHES_MAX * lobby::config::HASH_KIB as usize * 1024;

/// The state that all requests share.
pub struct LobbyHttp {
    /// Accounts and limits. Locked for moments only: not while tokens are signed, passwords hashed or accounts stored.
    lobby: Arc<Mutex<Lobby>>,
    issuer: Arc<Issuer>,
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
    accounts: AccountStore,
    hashing: FairJobs,
    signing: FairJobs,
}

impl LobbyHttp {
    /// The state for a lobby, with the threads that hash, sign, and store accounts in the log.
    pub fn new(
        (lobby, accounts): (Lobby, AccountLog<impl Media + Send + 'static>),
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
        let (issuer, lobby) = (lobby.issuer(), Arc::new(Mutex::new(lobby)));
        Ok(Self {
            accounts: AccountStore::start(lobby.clone(), accounts)?,
            hashing: FairJobs::start("hash", HASHES_MAX, HASHES_WAITING),
            signing: FairJobs::start("sign", SIGNATURES_MAX, SIGNATURES_WAITING),
            status: tokio::sync::Mutex::new(cache),
            lobby,
            issuer,
            directory,
            world,
            range,
            proxies,
            admission,
            zones,
        })
    }

    fn lobby(&self) -> MutexGuard<'_, Lobby> {
        self.lobby.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The routes of the control plane, with the game's page.
pub fn routes(http: Arc<LobbyHttp>, page: Page) -> Router {
    Router::new()
        .route("/api/guest", post(guest))
        .route("/api/account", post(account))
        .route("/api/login", post(login))
        .route("/api/session", post(session))
        .route("/health", get(health))
        .route("/metrics", get(web::prometheus))
        .fallback(get(async move |uri: Uri| page.answer(uri.path())))
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

impl From<JobRefused> for HttpError {
    fn from(_: JobRefused) -> Self {
        unavailable("try again in a moment")
    }
}

impl From<StoreBusy> for HttpError {
    fn from(_: StoreBusy) -> Self {
        unavailable("try again in a moment")
    }
}

fn unavailable(why: &str) -> HttpError {
    HttpError(StatusCode::SERVICE_UNAVAILABLE, why.to_owned(), None)
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
    let hashed = http.hashing.run(source.address, move || creation.hash(random())).await?;
    let grant = http.accounts.store(hashed, wall_clock()).await??;
    Ok(grant_json(&grant))
}

async fn login(
    State(http): SharedState,
    Source(source): Source,
    JsonBody(it): JsonBody<LoginRequest>,
) -> JsonResult {
    let attempt = http.lobby().begin_login(source, &it.name, &it.password)?;
    let checked = http.hashing.run(source.address, move || attempt.verify()).await?;
    let grant = http.lobby().finish_login(checked, wall_clock())?;
    Ok(grant_json(&grant))
}

async fn session(
    State(http): SharedState,
    Source(source): Source,
    JsonBody(it): JsonBody<SessionRequest>,
) -> Result<Response, HttpError> {
    let requested = match it.session.map(|text| text.parse()) {
        Some(Ok(number)) => Some(number),
        Some(Err(_)) => return Err(LobbyError::NoSession.into()),
        None => None,
    };
    // Before the directory is asked: a request without a valid pass costs no more than this.
    let (unchecked, issuer) = (http.lobby().begin_session(source, &it.pass)?, http.issuer.clone());
    let holder = http.signing.run(source.address, move || unchecked.verify(&issuer)).await??;
    if let Some(waits) = http.admission.check(source, holder.player(), requested.is_some()) {
        return Ok(waits);
    }
    let clock = http.directory.clock().await.ok_or_else(|| unavailable("the directory's disk failed"))?;
    let session = http.lobby().finish_session(holder, requested, clock)?;
    let hosts = hosts(&http, &session, source.address).await?;
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
async fn hosts(http: &LobbyHttp, session: &SessionGrant, client: IpAddr) -> Result<Vec<Value>, HttpError> {
    let status = recent_status(http).await.ok_or_else(|| unavailable("the directory's disk failed"))?;
    let WorldStatus { hosts, leaderships } = &*status;
    let mut order: Vec<_> = hosts.keys().copied().collect();
    order.sort_by_key(|&host| std::cmp::Reverse(zones_led_and_backed(host, leaderships)));
    let tokens = sign_tokens(http, session, order.clone(), client).await?;
    let entry = |(host, token): (u32, String)| {
        let it = &hosts[&host];
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
    Ok(order.into_iter().zip(tokens).map(entry).collect())
}

/// A token of a session for each of these hosts, signed on a thread for it.
async fn sign_tokens(
    http: &LobbyHttp,
    session: &SessionGrant,
    hosts: Vec<u32>,
    client: IpAddr,
) -> Result<Vec<String>, JobRefused> {
    let (issuer, session) = (http.issuer.clone(), session.clone());
    let sign = move |host| issuer.session_token(&session, host, u128::from_le_bytes(random()), wall_clock());
    http.signing.run(client, move || hosts.into_iter().map(sign).collect()).await
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::KeyFolder;
    use crate::stored_partition::StoredPartition;
    use crate::test_directory::TestDirectory;
    use crate::world_entry::{self, HostEntry};
    use lobby::LobbySettings;
    use machine::Ticket;
    use machine::directory::{DirectoryReply, DirectoryRequest};
    use space::Partition;
    use std::sync::atomic::{AtomicBool, Ordering};
    use store::{MediaError, MemoryDisk};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, TcpStream};
    use tokio::sync::{mpsc, oneshot};

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

    fn world(zones: BTreeMap<u32, Vec<u32>>) -> WorldEntry {
        let square = world_entry::square(1_000).unwrap();
        let map = Partition::new(Polygon::new(&square).unwrap(), ZoneId(1));
        WorldEntry {
            id: "test-1".to_owned(),
            game: "test".to_owned(),
            schema: 1,
            half: 1_000,
            seed: 1,
            map: StoredPartition::of(&map),
            zones,
            lobby: [1; 32],
        }
    }

    fn host_entry() -> Vec<u8> {
        let at: SocketAddr = "192.0.2.1:1".parse().unwrap();
        world_entry::write(&HostEntry {
            mesh: at,
            players: at,
            web: at,
            socket: "ws://192.0.2.1:1/play".to_owned(),
            certificate: [1; 32],
            zones: vec![1],
        })
    }

    fn http(
        directory: &TestDirectory,
        world: WorldEntry,
        accounts: impl Media + Send + 'static,
    ) -> Arc<LobbyHttp> {
        let issuer = Issuer::new(KeyFolder::of(&directory.folder.0).lobby().unwrap(), &world.id).unwrap();
        let lobby = Lobby::open(accounts, issuer, LobbySettings::default()).unwrap();
        let admission = Arc::new(LobbyAdmission::new(lobby::AdmissionSettings::default(), world.hosts()));
        let directory = directory.handle.clone();
        Arc::new(LobbyHttp::new(lobby, directory, world, 1, Vec::new(), admission).unwrap())
    }

    #[tokio::test]
    async fn a_host_of_another_version_does_not_hide_the_others() {
        let directory = TestDirectory::start("status");
        let leadership = Leadership::first(net::address::replica(100, 100));
        for (key, value) in [
            (world_entry::host_key(1), host_entry()),
            (world_entry::host_key(2), vec![0xff; 4]),
            (world_entry::host_key(100), host_entry()),
            (zone::leadership_key(ZoneId(100)), leadership.to_bytes()),
        ] {
            directory.handle.create(key, value).await;
        }
        let world = world((1..=100).map(|zone| (zone, (1..=100).collect())).collect());
        let http = http(&directory, world, MemoryDisk::new());
        let status = recent_status(&http).await.unwrap();
        assert_eq!(status.hosts.keys().collect::<Vec<_>>(), [&1, &100]);
        assert_eq!(status.leaderships[99], (100, Some(leadership)));
        assert_eq!(zones_led_and_backed(100, &status.leaderships), (1, 0));
    }

    /// A lobby with one host, and its address.
    async fn lobby_of_one_host(
        directory: &TestDirectory,
        accounts: impl Media + Send + 'static,
    ) -> (Arc<LobbyHttp>, SocketAddr) {
        directory.handle.create(world_entry::host_key(1), host_entry()).await;
        let http = http(directory, world([(1, vec![1])].into()), accounts);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        web::serve(listener, routes(http.clone(), Page::default()), Vec::new());
        (http, at)
    }

    /// Posts a request; returns the status and the body of the answer.
    async fn post_json(at: SocketAddr, path: &str, body: Value) -> (String, Value) {
        let mut stream = TcpStream::connect(at).await.unwrap();
        let body = body.to_string();
        let header = format!(
            "POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all((header + &body).as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let (header, body) = answer.split_once("\r\n\r\n").unwrap();
        (header.split(' ').nth(1).unwrap().to_owned(), serde_json::from_str(body).unwrap())
    }

    async fn guest_pass(at: SocketAddr) -> String {
        let (status, body) = post_json(at, "/api/guest", json!({ "name": "Ada" })).await;
        assert_eq!(status, "200", "{body}");
        body["pass"].as_str().unwrap().to_owned()
    }

    async fn is_directory_answering(directory: &TestDirectory) -> bool {
        let reply = directory.remote.ask(DirectoryRequest::Clock { ticket: Ticket(1) }).await;
        matches!(reply, DirectoryReply::Clock { .. })
    }

    #[tokio::test]
    async fn a_disk_that_stands_still_delays_new_accounts_and_nothing_else() {
        let directory = TestDirectory::start("slow-disk");
        let (media, mut sync) = StuckMedia::new();
        let (_, at) = lobby_of_one_host(&directory, media).await;
        let account = json!({ "name": "Bob", "password": "correct horse" });
        sync.sticks.store(true, Ordering::Relaxed);
        let creating = tokio::spawn(post_json(at, "/api/account", account.clone()));
        sync.stuck.recv().await.unwrap();

        let pass = guest_pass(at).await;
        let (status, body) = post_json(at, "/api/session", json!({ "pass": pass })).await;
        assert_eq!((status.as_str(), body["hosts"][0]["host"].as_u64()), ("200", Some(1)), "{body}");
        // The name is taken, and its account cannot log in yet.
        assert_eq!(post_json(at, "/api/login", account.clone()).await.0, "401");
        assert_eq!(post_json(at, "/api/account", account.clone()).await.0, "409");
        assert!(is_directory_answering(&directory).await);

        drop(sync);
        assert_eq!(creating.await.unwrap().0, "200");
        assert_eq!(post_json(at, "/api/login", account).await.0, "200");
    }

    #[tokio::test]
    async fn sessions_that_wait_for_signatures_delay_no_log_in_and_no_directory() {
        let directory = TestDirectory::start("signatures");
        let (http, at) = lobby_of_one_host(&directory, MemoryDisk::new()).await;
        let pass = guest_pass(at).await;
        // Another address group keeps the thread busy.
        let (release, released) = std::sync::mpsc::channel::<()>();
        let (begun, has_begun) = oneshot::channel();
        let signing = http.clone();
        let busy = tokio::spawn(async move {
            let elsewhere = [192, 0, 2, 1].into();
            let job = move || {
                begun.send(()).unwrap();
                released.recv().unwrap_err();
            };
            signing.signing.run(elsewhere, job).await
        });
        has_begun.await.unwrap();
        let flood: Vec<_> =
            (0..50).map(|_| tokio::spawn(post_json(at, "/api/session", json!({ "pass": pass })))).collect();
        guest_pass(at).await;
        assert!(is_directory_answering(&directory).await);

        drop(release);
        busy.await.unwrap().unwrap();
        for session in flood {
            assert_eq!(session.await.unwrap().0, "200");
        }
    }

    /// A disk of which a sync can be made to wait.
    struct StuckMedia {
        memory: MemoryDisk,
        sticks: Arc<AtomicBool>,
        is_stuck: mpsc::UnboundedSender<()>,
        released: std::sync::mpsc::Receiver<()>,
    }

    /// Makes the next sync of a disk wait until this is dropped.
    struct StuckSync {
        sticks: Arc<AtomicBool>,
        stuck: mpsc::UnboundedReceiver<()>,
        _release: std::sync::mpsc::Sender<()>,
    }

    impl StuckMedia {
        fn new() -> (Self, StuckSync) {
            let (is_stuck, stuck) = mpsc::unbounded_channel();
            let (_release, released) = std::sync::mpsc::channel();
            let sticks = Arc::new(AtomicBool::new(false));
            let media = Self { memory: MemoryDisk::new(), sticks: sticks.clone(), is_stuck, released };
            (media, StuckSync { sticks, stuck, _release })
        }

        fn wait(&self) {
            if self.sticks.swap(false, Ordering::Relaxed) {
                self.is_stuck.send(()).unwrap();
                self.released.recv().unwrap_err();
            }
        }
    }

    impl Media for StuckMedia {
        fn list(&self) -> Result<Vec<String>, MediaError> {
            self.memory.list()
        }
        fn read(&self, name: &str) -> Result<Vec<u8>, MediaError> {
            self.memory.read(name)
        }
        fn create(&mut self, name: &str) -> Result<(), MediaError> {
            self.memory.create(name)
        }
        fn append(&mut self, name: &str, bytes: &[u8]) -> Result<(), MediaError> {
            self.memory.append(name, bytes)
        }
        fn truncate(&mut self, name: &str, length: u64) -> Result<(), MediaError> {
            self.memory.truncate(name, length)
        }
        fn sync(&mut self, name: &str) -> Result<(), MediaError> {
            self.wait();
            self.memory.sync(name)
        }
        fn rename(&mut self, from: &str, to: &str) -> Result<(), MediaError> {
            self.memory.rename(from, to)
        }
        fn remove(&mut self, name: &str) -> Result<(), MediaError> {
            self.memory.remove(name)
        }
        fn sync_names(&mut self) -> Result<(), MediaError> {
            self.memory.sync_names()
        }
    }
}
