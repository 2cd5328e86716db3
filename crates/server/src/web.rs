//! What hosts and the lobby serve over HTTP besides the game: health, metrics, and the way in by WebSocket.

use axum::Router;
use axum::extract::{State, WebSocketUpgrade};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Json, Response};
use axum::routing::get;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use net::door;
use net::session::House;
use node::Host;
use serde_json::json;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use tokio::net::TcpListener;

/// The most bytes a WebSocket message of a player may have.
const SOCKET_MESSAGE_MAX: usize = 8 * 1024;

static METRICS: OnceLock<PrometheusHandle> = OnceLock::new();

/// Starts counting. Processes that serve `/metrics` call it first.
pub fn count() -> &'static PrometheusHandle {
    METRICS.get_or_init(|| {
        PrometheusBuilder::new().install_recorder().expect("nobody else counts in this process")
    })
}

/// Serves routes at a listener, in the background.
pub fn serve(listener: TcpListener, routes: Router) {
    tokio::spawn(async move {
        let service = routes.into_make_service_with_connect_info::<SocketAddr>();
        if let Err(error) = axum::serve(listener, service).await {
            tracing::error!(%error, "the web server ended");
        }
    });
}

/// What a host serves.
pub fn host_routes(house: Arc<House<Host>>) -> Router {
    Router::new()
        .route("/play", get(play))
        .route("/health", get(health))
        .route("/metrics", get(prometheus))
        .with_state(house)
}

async fn play(State(house): State<Arc<House<Host>>>, upgrade: WebSocketUpgrade) -> Response {
    upgrade
        .max_message_size(SOCKET_MESSAGE_MAX)
        .max_frame_size(SOCKET_MESSAGE_MAX)
        .on_upgrade(move |socket| door::serve_socket(socket, house))
}

async fn health(State(house): State<Arc<House<Host>>>) -> Json<serde_json::Value> {
    let (players, hosts) = house.switchboard.count();
    let zones = house.switchboard.zones();
    Json(json!({ "status": "ok", "host": house.host, "zones": zones, "players": players, "hosts": hosts }))
}

/// Everything counted in this process.
pub async fn prometheus() -> Response {
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], count().render()).into_response()
}
