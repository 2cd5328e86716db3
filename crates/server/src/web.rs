//! What hosts and the lobby serve over HTTP besides the game: health, metrics, and the way in by WebSocket.

use crate::origin::origin;
use crate::tally::Tally;
use axum::extract::{ConnectInfo, State, WebSocketUpgrade};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, Request, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::get;
use axum::{Extension, Router};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use net::door;
use net::household::{Households, Place};
use net::session::House;
use node::Host;
use serde_json::json;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_io_timeout::TimeoutWriter;

/// The most bytes a WebSocket message of a player may have.
const SOCKET_MESSAGE_MAX: usize = 8 * 1024;

/// TCP connections at once, WebSockets among them: all players of a full host by WebSocket, and as many more.
pub const CONNECTIONS_MAX: usize = 4_096;

/// TCP connections of one household at once: nobody takes all places alone, and a school that shares an address may play.
const PER_HOUSEHOLD: usize = CONNECTIONS_MAX / 4;

/// The most bytes of a request's header.
const HEADER_MAX: usize = 16 * 1024;

/// The most memory a connection takes, besides what a session's mailbox keeps: its buffers, and a task.
pub const CONNECTION_BYTES: usize = HEADER_MAX + 3 * SOCKET_MESSAGE_MAX + 24 * 1024;

/// How long a request's header may take, also until the next one on the same connection,
const HEADER_WITHIN: Duration = Duration::from_secs(10);
/// and the rest of it with its answer: behind others, hashing a password takes a while.
const REQUEST_WITHIN: Duration = Duration::from_secs(10);
/// Whoever takes nothing of what is sent to them for so long is cut off: they would keep their place for ever.
const READ_WITHIN: Duration = Duration::from_secs(10);

/// When there are no file descriptors left, trying again at once would only burn a core.
const ACCEPT_AGAIN: Duration = Duration::from_millis(200);

static METRICS: OnceLock<PrometheusHandle> = OnceLock::new();

/// Starts counting. Processes that serve `/metrics` call it first.
pub fn count() -> &'static PrometheusHandle {
    METRICS.get_or_init(|| {
        PrometheusBuilder::new().install_recorder().expect("nobody else counts in this process")
    })
}

/// Serves routes at a listener, in the background. Whoever takes too long to ask or to listen is cut off. When there are
/// too many connections the next ones wait outside, and those of a household that has enough are closed; `proxies` may
/// have all of them.
pub fn serve(listener: TcpListener, routes: Router, proxies: Vec<IpAddr>) {
    let routes = routes.layer(middleware::from_fn(in_time));
    let limits = Limits { households: Households::new(PER_HOUSEHOLD), proxies };
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    tokio::spawn(async move {
        loop {
            let Ok(place) = places.clone().acquire_owned().await else { return };
            match listener.accept().await {
                Ok((stream, from)) => match limits.admit(from.ip(), place) {
                    Some(held) => drop(tokio::spawn(answer(stream, from, routes.clone(), held))),
                    None => {
                        metrics::counter!("ecumene_connections_refused_total", "why" => "full").increment(1)
                    }
                },
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(ACCEPT_AGAIN).await;
                }
            }
        }
    });
}

/// Who may have how many connections.
struct Limits {
    households: Arc<Households>,
    proxies: Vec<IpAddr>,
}

/// A connection's place, and its household's. A WebSocket takes it along, because it lasts longer than its request.
struct Held {
    _place: OwnedSemaphorePermit,
    _household: Option<Place>,
}

impl Limits {
    fn admit(&self, from: IpAddr, place: OwnedSemaphorePermit) -> Option<Arc<Held>> {
        let speaks_for_many = self.proxies.iter().any(|it| it.to_canonical() == from.to_canonical());
        let household = if speaks_for_many { None } else { Some(self.households.place(from)?) };
        Some(Arc::new(Held { _place: place, _household: household }))
    }
}

/// Answers the requests of one connection.
async fn answer(stream: TcpStream, from: SocketAddr, routes: Router, held: Arc<Held>) {
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(from));
        request.extensions_mut().insert(held.clone());
        TowerToHyperService::new(routes.clone()).call(request)
    });
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(HEADER_WITHIN).max_buf_size(HEADER_MAX);
    // Small messages must not wait for more: a pose is old soon.
    drop(stream.set_nodelay(true));
    let mut stream = TimeoutWriter::new(stream);
    stream.set_timeout(Some(READ_WITHIN));
    drop(server.serve_connection(TokioIo::new(Box::pin(stream)), service).with_upgrades().await);
}

/// Answers in time or not at all: a body may dribble in for ever.
async fn in_time(request: axum::extract::Request, next: Next) -> Response {
    match timeout(REQUEST_WITHIN, next.run(request)).await {
        Ok(response) => response,
        Err(_) => StatusCode::REQUEST_TIMEOUT.into_response(),
    }
}

/// What a host serves. The proxies are believed when they say for whom they ask.
pub fn host_routes(house: Arc<House<Host>>, tally: Arc<Tally>, proxies: Arc<[IpAddr]>) -> Router {
    let shared = house.clone();
    Router::new()
        .route("/play", get(play))
        .route("/health", get(move || std::future::ready(health(&shared, &tally))))
        .route("/metrics", get(prometheus))
        .with_state(house)
        .layer(Extension(proxies))
}

async fn play(
    State(house): State<Arc<House<Host>>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    Extension(proxies): Extension<Arc<[IpAddr]>>,
    Extension(held): Extension<Arc<Held>>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    let from = origin(from.ip(), &headers, &proxies);
    upgrade
        .max_message_size(SOCKET_MESSAGE_MAX)
        .max_frame_size(SOCKET_MESSAGE_MAX)
        .read_buffer_size(SOCKET_MESSAGE_MAX)
        .write_buffer_size(SOCKET_MESSAGE_MAX)
        .on_upgrade(async move |socket| {
            door::serve_socket(socket, from, house).await;
            drop(held);
        })
}

fn health(house: &House<Host>, tally: &Tally) -> Json<serde_json::Value> {
    let (players, hosts) = house.switchboard.count();
    Json(json!({
        "status": "ok",
        "host": house.host,
        "zones": house.switchboard.zones(),
        "players": players,
        "hosts": hosts,
        "transfers": tally.transfers(),
        "cross_zone_events": tally.events(),
    }))
}

/// Everything counted in this process.
pub async fn prometheus() -> Response {
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], count().render()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::post;
    use net::Close;
    use net::session::{Guest, Keeper};
    use net::switchboard::Switchboard;
    use node::NodeMsg;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::time::Instant;

    /// What a door answers to a text after which nothing comes, and after how many seconds it has hung up. Time flies
    /// while everybody waits.
    async fn answered(text: &str) -> (String, u64) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        serve(listener, Router::new().route("/", post(async |body: String| body)), Vec::new());
        let mut stream = TcpStream::connect(at).await.unwrap();
        let began = Instant::now();
        stream.write_all(text.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        let answer = String::from_utf8(answer).unwrap();
        (answer.lines().next().unwrap_or_default().to_owned(), began.elapsed().as_secs())
    }

    #[tokio::test(start_paused = true)]
    async fn a_header_that_does_not_end_is_not_waited_for() {
        assert_eq!(answered("POST / HTTP/1.1\r\nX-Slow: ").await.1, HEADER_WITHIN.as_secs());
    }

    #[tokio::test(start_paused = true)]
    async fn neither_is_a_body_nor_a_second_request() {
        let (answer, after) = answered("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf").await;
        assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
        assert!(after <= (REQUEST_WITHIN + HEADER_WITHIN).as_secs());
        let (answer, after) = answered("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nall.").await;
        assert_eq!((answer.as_str(), after), ("HTTP/1.1 200 OK", HEADER_WITHIN.as_secs()));
    }

    /// Lets nobody in.
    struct Nobody;

    impl Keeper<NodeMsg> for Nobody {
        fn admit(&self, _: &str) -> Result<Guest, Close> {
            Err(Close::Refused)
        }

        fn permits(&self, _: &Guest, _: &NodeMsg) -> bool {
            false
        }
    }

    fn host() -> (Arc<House<Host>>, Router) {
        let (switchboard, keeper) = (Switchboard::new(1), Box::new(Nobody));
        let house = Arc::new(House { host: 1, switchboard, keeper, players_max: 1 });
        (house.clone(), host_routes(house, Arc::default(), Arc::from([])))
    }

    const UPGRADE: &str = "GET /play HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                           Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

    /// Why a WebSocket that says nothing is closed.
    async fn shown_out(routes: &Router) -> Close {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        serve(listener, routes.clone(), Vec::new());
        stream.write_all(UPGRADE.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        let header = answer.windows(4).position(|it| it == b"\r\n\r\n").unwrap() + 4;
        let [0x88, _, high, low, ..] = answer[header..] else { panic!("no farewell: {answer:?}") };
        Close::of_code(u64::from(u16::from_be_bytes([high, low]) - door::SOCKET_CODES))
    }

    #[tokio::test(start_paused = true)]
    async fn strangers_by_web_socket_are_counted_by_address() {
        let (house, routes) = host();
        let callers = house.switchboard.callers();
        let elsewhere = IpAddr::from([192, 0, 2, 7]);
        let _elsewhere: Vec<_> = std::iter::from_fn(|| callers.stranger(elsewhere)).collect();
        assert_eq!(shown_out(&routes).await, Close::Refused, "there is a place; no token comes");
        let _here: Vec<_> = std::iter::from_fn(|| callers.stranger(IpAddr::from([127, 0, 0, 1]))).collect();
        assert_eq!(shown_out(&routes).await, Close::Full);
    }

    /// Both ends of a connection.
    async fn connection() -> (TcpStream, TcpStream, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (far, from) = listener.accept().await.unwrap();
        (near, far, from)
    }

    fn limits(proxies: &[&str]) -> Limits {
        let proxies = proxies.iter().map(|it| it.parse().unwrap()).collect();
        Limits { households: Households::new(PER_HOUSEHOLD), proxies }
    }

    /// So many places, and somebody's who came from here.
    fn place(limits: &Limits, places: &Arc<Semaphore>, from: &str) -> Option<Arc<Held>> {
        limits.admit(from.parse().unwrap(), places.clone().try_acquire_owned().ok()?)
    }

    const LONG: Duration = Duration::from_secs(3_600);

    #[tokio::test(start_paused = true)]
    async fn whoever_does_not_read_their_answer_loses_their_place() {
        let (mut near, far, from) = connection().await;
        near.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        // More than both ends buffer.
        let routes = Router::new().route("/", get(async || vec![0_u8; 64 * 1024 * 1024]));
        let places = Arc::new(Semaphore::new(1));
        let held = place(&limits(&[]), &places, "127.0.0.1").unwrap();
        assert!(timeout(LONG, answer(far, from, routes, held)).await.is_ok());
        assert_eq!(places.available_permits(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_web_socket_keeps_its_place_until_it_ends() {
        let (mut near, far, from) = connection().await;
        near.write_all(UPGRADE.as_bytes()).await.unwrap();
        let places = Arc::new(Semaphore::new(1));
        let held = place(&limits(&[]), &places, "127.0.0.1").unwrap();
        let (house, routes) = host();
        answer(far, from, routes, held).await;
        while house.switchboard.callers().strangers() == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(places.available_permits(), 0, "its request has been answered, and it goes on");
        near.read_to_end(&mut Vec::new()).await.unwrap();
        assert!(timeout(LONG, places.acquire()).await.is_ok());
    }

    #[test]
    fn no_household_takes_all_connections_but_a_proxy_may() {
        let (limits, places) = (limits(&["10.0.0.1"]), Arc::new(Semaphore::new(CONNECTIONS_MAX)));
        let all = |from: &str| Vec::from_iter(std::iter::from_fn(|| place(&limits, &places, from)));
        let household = all("192.0.2.7");
        assert_eq!(household.len(), PER_HOUSEHOLD);
        assert_eq!(all("2001:db8::7").len(), PER_HOUSEHOLD, "another household has its own");
        assert_eq!(all("::ffff:10.0.0.1").len(), CONNECTIONS_MAX - PER_HOUSEHOLD);
        drop(household);
        assert_eq!(all("192.0.2.7").len(), PER_HOUSEHOLD);
    }
}
