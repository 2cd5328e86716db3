//! HTTP of hosts and the lobby besides the lobby's own routes: health, metrics, and players by WebSocket.

use crate::client_address::client_address;
use crate::cross_zone_counters::CrossZoneCounters;
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
use net::address_groups::{AddressGroups, GroupSlot};
use net::host_context::HostContext;
use net::web_socket;
use node::ReplicaNode;
use serde_json::json;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_io_timeout::TimeoutWriter;

/// The most bytes in a WebSocket message of a player.
const SOCKET_MESSAGE_MAX: usize = 8 * 1024;

/// TCP connections at once, WebSockets among them: all players of a full host by WebSocket, and as many more.
pub const CONNECTIONS_MAX: usize = 4_096;

/// TCP connections of one address group: no group takes all slots alone, and a school behind one address can play.
const PER_GROUP: usize = CONNECTIONS_MAX / 4;

/// The most bytes of a request's header.
const HEADER_MAX: usize = 16 * 1024;

/// The most memory a connection takes, in bytes, without a session's send queue: its buffers, and a task.
pub const CONNECTION_BYTES: usize = HEADER_MAX + 3 * SOCKET_MESSAGE_MAX + 24 * 1024;

/// Time for a request's header, also for the next one on the same connection.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// Time for the body and the answer: a password may wait for others to be hashed.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// Time after which a client that reads nothing is disconnected: it would hold its slot for ever.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);

/// Pause after a failed accept: without file descriptors, trying again at once would only burn a core.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

static METRICS: OnceLock<PrometheusHandle> = OnceLock::new();

/// Installs the metrics recorder of this process. Processes that serve `/metrics` call it first.
pub fn count() -> &'static PrometheusHandle {
    METRICS.get_or_init(|| {
        PrometheusBuilder::new().install_recorder().expect("no other recorder is installed in this process")
    })
}

/// Serves routes at a listener, in the background. Clients that are too slow to send or to read are disconnected. When
/// all slots are taken, new connections wait in the kernel; those of an address group with too many are closed;
/// `proxies` may take all slots.
pub fn serve(listener: TcpListener, routes: Router, proxies: Vec<IpAddr>) {
    let routes = routes.layer(middleware::from_fn(with_timeout));
    let limits = TcpLimits { groups: AddressGroups::new(PER_GROUP), proxies };
    let slots_free = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    tokio::spawn(async move {
        loop {
            // A slot before the connection: without one it stays in the kernel's queue and costs this process nothing.
            let Ok(slot) = slots_free.clone().acquire_owned().await else { return };
            match listener.accept().await {
                Ok((stream, from)) => match limits.admit(from.ip(), slot) {
                    Some(slots) => drop(tokio::spawn(answer(stream, from, routes.clone(), slots))),
                    None => {
                        metrics::counter!("ecumene_connections_refused_total", "why" => "full").increment(1)
                    }
                },
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    });
}

/// The limits on TCP connections.
struct TcpLimits {
    groups: Arc<AddressGroups>,
    proxies: Vec<IpAddr>,
}

/// A connection's slot, and its address group's. A WebSocket takes it along, because it outlives its request.
struct ConnectionSlots {
    _slot: OwnedSemaphorePermit,
    _group: Option<GroupSlot>,
}

impl TcpLimits {
    fn admit(&self, from: IpAddr, slot: OwnedSemaphorePermit) -> Option<Arc<ConnectionSlots>> {
        let is_proxy = self.proxies.iter().any(|it| it.to_canonical() == from.to_canonical());
        let group = if is_proxy { None } else { Some(self.groups.reserve(from)?) };
        Some(Arc::new(ConnectionSlots { _slot: slot, _group: group }))
    }
}

/// Answers the requests of one connection.
async fn answer(stream: TcpStream, from: SocketAddr, routes: Router, slots: Arc<ConnectionSlots>) {
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(from));
        request.extensions_mut().insert(slots.clone());
        TowerToHyperService::new(routes.clone()).call(request)
    });
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT).max_buf_size(HEADER_MAX);
    // Small messages must not wait for more to come: a pose is soon out of date.
    drop(stream.set_nodelay(true));
    let mut stream = TimeoutWriter::new(stream);
    stream.set_timeout(Some(WRITE_TIMEOUT));
    drop(server.serve_connection(TokioIo::new(Box::pin(stream)), service).with_upgrades().await);
}

/// Answers within a time limit: a body may trickle in for ever.
async fn with_timeout(request: axum::extract::Request, next: Next) -> Response {
    match timeout(REQUEST_TIMEOUT, next.run(request)).await {
        Ok(response) => response,
        Err(_) => StatusCode::REQUEST_TIMEOUT.into_response(),
    }
}

/// The routes of a host. The `X-Forwarded-For` header of these proxies is trusted.
pub fn host_routes(
    context: Arc<HostContext<ReplicaNode>>,
    counters: Arc<CrossZoneCounters>,
    proxies: Arc<[IpAddr]>,
) -> Router {
    let shared = context.clone();
    Router::new()
        .route("/play", get(play))
        .route("/health", get(move || std::future::ready(health(&shared, &counters))))
        .route("/metrics", get(prometheus))
        .with_state(context)
        .layer(Extension(proxies))
}

async fn play(
    State(context): State<Arc<HostContext<ReplicaNode>>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    Extension(proxies): Extension<Arc<[IpAddr]>>,
    Extension(slots): Extension<Arc<ConnectionSlots>>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    let from = client_address(from.ip(), &headers, &proxies);
    upgrade
        .max_message_size(SOCKET_MESSAGE_MAX)
        .max_frame_size(SOCKET_MESSAGE_MAX)
        .read_buffer_size(SOCKET_MESSAGE_MAX)
        .write_buffer_size(SOCKET_MESSAGE_MAX)
        .on_upgrade(async move |socket| {
            web_socket::serve_socket(socket, from, context).await;
            drop(slots); // Only now: the slot belongs to the WebSocket, not to its request.
        })
}

fn health(context: &HostContext<ReplicaNode>, counters: &CrossZoneCounters) -> Json<serde_json::Value> {
    let (players, hosts) = context.router.count();
    Json(json!({
        "status": "ok",
        "host": context.host,
        "zones": context.router.zones(),
        "players": players,
        "hosts": hosts,
        "transfers": counters.transfers(),
        "cross_zone_events": counters.events(),
    }))
}

/// All metrics of this process, in the text format of Prometheus.
pub async fn prometheus() -> Response {
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], count().render()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::post;
    use net::Close;
    use net::host_context::{AuthenticatedClient, Authenticator};
    use net::link_router::LinkRouter;
    use node::NodeMsg;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::time::Instant;

    /// Sends a text to a server and nothing after it. Returns the first line of the answer, and the seconds until the
    /// server closed the connection. Time is paused, so it passes while all tasks wait.
    async fn exchange(text: &str) -> (String, u64) {
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
        assert_eq!(exchange("POST / HTTP/1.1\r\nX-Slow: ").await.1, HEADER_TIMEOUT.as_secs());
    }

    #[tokio::test(start_paused = true)]
    async fn neither_is_a_body_nor_a_second_request() {
        let (answer, after) = exchange("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf").await;
        assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
        assert!(after <= (REQUEST_TIMEOUT + HEADER_TIMEOUT).as_secs());
        let (answer, after) = exchange("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nall.").await;
        assert_eq!((answer.as_str(), after), ("HTTP/1.1 200 OK", HEADER_TIMEOUT.as_secs()));
    }

    /// Refuses every token and message.
    struct RefuseAll;

    impl Authenticator<NodeMsg> for RefuseAll {
        fn admit(&self, _: &str) -> Result<AuthenticatedClient, Close> {
            Err(Close::Refused)
        }

        fn permits(&self, _: &AuthenticatedClient, _: &NodeMsg) -> bool {
            false
        }
    }

    fn host() -> (Arc<HostContext<ReplicaNode>>, Router) {
        let (router, authenticator) = (LinkRouter::new(1), Box::new(RefuseAll));
        let context = Arc::new(HostContext { host: 1, router, authenticator, players_max: 1 });
        (context.clone(), host_routes(context, Arc::default(), Arc::from([])))
    }

    const UPGRADE: &str = "GET /play HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                           Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

    /// The reason with which a WebSocket that sends nothing is closed.
    async fn close_reason(routes: &Router) -> Close {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        serve(listener, routes.clone(), Vec::new());
        stream.write_all(UPGRADE.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        let header = answer.windows(4).position(|it| it == b"\r\n\r\n").unwrap() + 4;
        let [0x88, _, high, low, ..] = answer[header..] else { panic!("no close message: {answer:?}") };
        Close::of_code(u64::from(u16::from_be_bytes([high, low]) - web_socket::SOCKET_CODES))
    }

    #[tokio::test(start_paused = true)]
    async fn unauthenticated_web_sockets_are_counted_by_address() {
        let (context, routes) = host();
        let limits = context.router.connection_limits();
        let elsewhere = IpAddr::from([192, 0, 2, 7]);
        let _elsewhere: Vec<_> = std::iter::from_fn(|| limits.reserve(elsewhere)).collect();
        assert_eq!(close_reason(&routes).await, Close::Refused, "there is a slot; no token comes");
        let _here: Vec<_> = std::iter::from_fn(|| limits.reserve(IpAddr::from([127, 0, 0, 1]))).collect();
        assert_eq!(close_reason(&routes).await, Close::Full);
    }

    /// Both ends of a TCP connection, and the address of the first.
    async fn connection() -> (TcpStream, TcpStream, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (far, from) = listener.accept().await.unwrap();
        (near, far, from)
    }

    fn limits(proxies: &[&str]) -> TcpLimits {
        let proxies = proxies.iter().map(|it| it.parse().unwrap()).collect();
        TcpLimits { groups: AddressGroups::new(PER_GROUP), proxies }
    }

    /// A slot for a connection from this address, if one is free.
    fn admit_from(
        limits: &TcpLimits,
        slots_free: &Arc<Semaphore>,
        from: &str,
    ) -> Option<Arc<ConnectionSlots>> {
        limits.admit(from.parse().unwrap(), slots_free.clone().try_acquire_owned().ok()?)
    }

    const LONG: Duration = Duration::from_secs(3_600);

    #[tokio::test(start_paused = true)]
    async fn a_client_that_does_not_read_its_answer_loses_its_slot() {
        let (mut near, far, from) = connection().await;
        near.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        // More than both ends buffer.
        let routes = Router::new().route("/", get(async || vec![0_u8; 64 * 1024 * 1024]));
        let slots_free = Arc::new(Semaphore::new(1));
        let slots = admit_from(&limits(&[]), &slots_free, "127.0.0.1").unwrap();
        assert!(timeout(LONG, answer(far, from, routes, slots)).await.is_ok());
        assert_eq!(slots_free.available_permits(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_web_socket_keeps_its_slot_until_it_ends() {
        let (mut near, far, from) = connection().await;
        near.write_all(UPGRADE.as_bytes()).await.unwrap();
        let slots_free = Arc::new(Semaphore::new(1));
        let slots = admit_from(&limits(&[]), &slots_free, "127.0.0.1").unwrap();
        let (context, routes) = host();
        answer(far, from, routes, slots).await;
        while context.router.connection_limits().unauthenticated() == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(
            slots_free.available_permits(),
            0,
            "its request is answered, and the WebSocket still runs"
        );
        near.read_to_end(&mut Vec::new()).await.unwrap();
        assert!(timeout(LONG, slots_free.acquire()).await.is_ok());
    }

    #[test]
    fn no_address_group_takes_all_connections_but_a_proxy_may() {
        let (limits, slots_free) = (limits(&["10.0.0.1"]), Arc::new(Semaphore::new(CONNECTIONS_MAX)));
        let all = |from: &str| Vec::from_iter(std::iter::from_fn(|| admit_from(&limits, &slots_free, from)));
        let group = all("192.0.2.7");
        assert_eq!(group.len(), PER_GROUP);
        assert_eq!(all("2001:db8::7").len(), PER_GROUP, "another address group has its own");
        assert_eq!(all("::ffff:10.0.0.1").len(), CONNECTIONS_MAX - PER_GROUP);
        drop(group);
        assert_eq!(all("192.0.2.7").len(), PER_GROUP);
    }
}
