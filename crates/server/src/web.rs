//! HTTP of hosts and the lobby besides the lobby's own routes: health, metrics, and players by WebSocket.

use crate::client_address::client_address;
use crate::cross_zone_counters::CrossZoneCounters;
use crate::http_connections::{ConnectionPlace, HttpConnections, RequestUnderWay};
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{ConnectInfo, State, WebSocketUpgrade};
use axum::http::header::{CONNECTION, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, Request, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::get;
use axum::{Extension, Router};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use net::host_context::HostContext;
use net::web_socket;
use node::ReplicaNode;
use serde_json::json;
use std::net::{IpAddr, SocketAddr};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};
use tokio_io_timeout::TimeoutWriter;

/// The most bytes in a WebSocket message of a player.
const SOCKET_MESSAGE_MAX: usize = 8 * 1024;

/// TCP connections at once, WebSockets among them: all players of a full host by WebSocket, and as many more.
pub const CONNECTIONS_MAX: usize = 4_096;

/// TCP connections of one address group: no group takes all places alone, and a school behind one address can play.
const PER_GROUP: usize = CONNECTIONS_MAX / 4;

/// Requests that a connection may carry: more than a page and a log-in need. Proxies may send as many as they like.
const REQUESTS_MAX: u32 = 100;

/// Age at which a connection that is no WebSocket ends, after the request that is under way.
const AGE_MAX: Duration = Duration::from_secs(60);

/// The most bytes of a request's header.
const HEADER_MAX: usize = 16 * 1024;

/// The most memory a connection takes, in bytes, without a session's send queue: its buffers, and a task.
pub const CONNECTION_BYTES: usize = HEADER_MAX + 3 * SOCKET_MESSAGE_MAX + 24 * 1024;

/// Time for a request's header, also for the next one on the same connection.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// Time for the body and the answer: a password may wait for others to be hashed.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// Time after which a client that reads nothing is disconnected: it would hold its place for ever.
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
/// no place is left, a connection is closed for a newcomer, as `HttpConnections` decides; `proxies` may have all places.
pub fn serve(listener: TcpListener, routes: Router, proxies: Vec<IpAddr>) {
    serve_connections(listener, routes, HttpConnections::new(CONNECTIONS_MAX, PER_GROUP, proxies));
}

fn serve_connections(listener: TcpListener, routes: Router, connections: Arc<HttpConnections>) {
    let routes = routes.layer(middleware::from_fn(with_timeout));
    tokio::spawn(async move {
        loop {
            match listener.accept().await {
                Ok((stream, from)) => match connections.admit(from.ip()) {
                    Some(place) => drop(tokio::spawn(answer(stream, from, routes.clone(), place))),
                    None => {
                        metrics::counter!("ecumene_connections_refused_total", "why" => "full").increment(1)
                    }
                },
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    });
}

/// Answers the requests of one connection.
async fn answer(stream: TcpStream, from: SocketAddr, routes: Router, place: Arc<ConnectionPlace>) {
    let (of_service, requests) = (place.clone(), AtomicU32::new(0));
    let service = service_fn(move |mut request: Request<Incoming>| {
        let place = of_service.clone();
        request.extensions_mut().insert(ConnectInfo(from));
        request.extensions_mut().insert(place.clone());
        let is_last = REQUESTS_MAX <= requests.fetch_add(1, Ordering::Relaxed) + 1 && !place.is_of_proxy();
        let under_way = place.begin_request();
        let response = TowerToHyperService::new(routes.clone()).call(request);
        async move { response.await.map(|it| with_end(it, is_last, under_way)) }
    });
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT).max_buf_size(HEADER_MAX);
    // Small messages must not wait for more to come: a pose is soon out of date.
    drop(stream.set_nodelay(true));
    let mut stream = TimeoutWriter::new(stream);
    stream.set_timeout(Some(WRITE_TIMEOUT));
    let connection = server.serve_connection(TokioIo::new(Box::pin(stream)), service).with_upgrades();
    let mut connection = pin!(connection);
    let mut age = pin!(sleep(AGE_MAX));
    let mut is_old = place.is_of_proxy();
    loop {
        tokio::select! {
            _ = connection.as_mut() => return,
            () = place.closing() => {
                metrics::counter!("ecumene_connections_ended_total", "why" => "full").increment(1);
                return;
            }
            () = age.as_mut(), if !is_old => {
                // A request that is under way is answered before the connection ends.
                connection.as_mut().graceful_shutdown();
                is_old = true;
            }
        }
    }
}

/// A response that ends its request when its body is sent, and its connection if it is the last one.
fn with_end(response: Response, is_last: bool, under_way: RequestUnderWay) -> Response<AnswerBody> {
    let mut response = response.map(|body| AnswerBody { body, _under_way: under_way });
    if is_last && response.status() != StatusCode::SWITCHING_PROTOCOLS {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// The body of a response. Its request is under way until it is sent.
struct AnswerBody {
    body: Body,
    _under_way: RequestUnderWay,
}

impl HttpBody for AnswerBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
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
    Extension(place): Extension<Arc<ConnectionPlace>>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    let from = client_address(from.ip(), &headers, &proxies);
    place.begin_web_socket();
    upgrade
        .max_message_size(SOCKET_MESSAGE_MAX)
        .max_frame_size(SOCKET_MESSAGE_MAX)
        .read_buffer_size(SOCKET_MESSAGE_MAX)
        .write_buffer_size(SOCKET_MESSAGE_MAX)
        .on_upgrade(async move |socket| {
            web_socket::serve_socket(socket, from, context).await;
            drop(place); // Only now: the place belongs to the WebSocket, not to its request.
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

    const LONG: Duration = Duration::from_secs(3_600);

    const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";

    /// Places for two connections, of which an address group may have both.
    fn two_places() -> Arc<HttpConnections> {
        HttpConnections::new(2, 2, Vec::new())
    }

    fn small_page() -> Router {
        Router::new().route("/", get(async || "page"))
    }

    /// Reads one response with the body "page"; returns its text.
    async fn response(stream: &mut TcpStream) -> String {
        let mut text = Vec::new();
        while !text.ends_with(b"page") {
            text.push(stream.read_u8().await.expect("a response"));
        }
        String::from_utf8(text).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_does_not_read_its_answer_loses_its_place() {
        let (mut near, far, from) = connection().await;
        near.write_all(GET).await.unwrap();
        // More than both ends buffer.
        let routes = Router::new().route("/", get(async || vec![0_u8; 64 * 1024 * 1024]));
        let place = two_places().admit(from.ip()).unwrap();
        let held = Arc::downgrade(&place);
        assert!(timeout(LONG, answer(far, from, routes, place)).await.is_ok());
        assert!(held.upgrade().is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_web_socket_keeps_its_place_until_it_ends() {
        let (mut near, far, from) = connection().await;
        near.write_all(UPGRADE.as_bytes()).await.unwrap();
        let place = two_places().admit(from.ip()).unwrap();
        let held = Arc::downgrade(&place);
        let (context, routes) = host();
        answer(far, from, routes, place).await;
        while context.router.connection_limits().unauthenticated() == 0 {
            tokio::task::yield_now().await;
        }
        assert!(held.upgrade().is_some(), "its request is answered, and the WebSocket still runs");
        near.read_to_end(&mut Vec::new()).await.unwrap();
        while held.upgrade().is_some() {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_newcomer_gets_the_place_of_an_idle_connection_and_a_request_is_answered() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        serve_connections(listener, small_page(), two_places());
        let mut first = TcpStream::connect(at).await.unwrap();
        let mut second = TcpStream::connect(at).await.unwrap();
        // Both have a place, and are idle again. The first one was so for longer.
        for stream in [&mut first, &mut second] {
            stream.write_all(GET).await.unwrap();
            response(stream).await;
        }
        let mut third = TcpStream::connect(at).await.unwrap();
        third.write_all(GET).await.unwrap();
        response(&mut third).await;
        assert_eq!(first.read(&mut [0]).await.unwrap(), 0, "closed for the third");
        second.write_all(GET).await.unwrap();
        response(&mut second).await;
    }

    #[tokio::test]
    async fn a_connection_carries_so_many_requests() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        serve(listener, small_page(), Vec::new());
        for number in 1..=REQUESTS_MAX {
            stream.write_all(GET).await.unwrap();
            let is_last = response(&mut stream).await.contains("connection: close");
            assert_eq!(is_last, number == REQUESTS_MAX, "{number}");
        }
        assert_eq!(stream.read(&mut [0]).await.unwrap(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_asks_again_and_again_ends_with_its_age() {
        let (mut near, far, from) = connection().await;
        let place = two_places().admit(from.ip()).unwrap();
        let began = Instant::now();
        let answering = tokio::spawn(answer(far, from, small_page(), place));
        while !answering.is_finished() {
            near.write_all(GET).await.ok();
            sleep(HEADER_TIMEOUT - Duration::from_secs(1)).await;
        }
        assert!(began.elapsed() < AGE_MAX + HEADER_TIMEOUT, "{:?}", began.elapsed());
    }
}
