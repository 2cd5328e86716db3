//! Admission at the lobby: [`lobby::Admission`] with its clock, its metrics and its log lines.

use crate::keys::random;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Json, Response};
use game::PlayerId;
use lobby::{
    Admission, AdmissionAnswer, AdmissionRequest, AdmissionSettings, AdmissionState, AdmissionStatus,
    HostReport, QueuePlace, RequestSource,
};
use machine::{Span, Time};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Least interval between two log lines. At its capacity a world may close and open every few seconds.
const LOG_EVERY: Span = Span::from_secs(5);

/// Admission to a world, shared by the requests of players and the reports of hosts.
pub struct LobbyAdmission {
    hosts: BTreeSet<u32>,
    state: Mutex<SharedState>,
}

struct SharedState {
    admission: Admission,
    logged: AdmissionState,
    logged_at: Option<Time>,
}

impl LobbyAdmission {
    /// Admission to the world of these hosts.
    pub fn new(settings: AdmissionSettings, hosts: BTreeSet<u32>) -> Self {
        let admission = Admission::new(settings, net::clock::now());
        let state = SharedState { admission, logged: AdmissionState::Open, logged_at: None };
        Self { hosts, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, SharedState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the report of a host in. That of a host that the world does not have is ignored.
    pub fn on_report(&self, report: HostReport) {
        if self.hosts.contains(&report.host) {
            let now = net::clock::now();
            let mut state = self.state();
            state.admission.on_report(now, report);
            state.publish(now);
        }
    }

    /// Answers a player who wants a session: `None` if the player may have one now, else what the player is told.
    pub fn check(&self, source: RequestSource, player: PlayerId, names_session: bool) -> Option<Response> {
        let spread = f64::from(u32::from_le_bytes(random())) / f64::from(u32::MAX);
        let request = AdmissionRequest { player, address: source.address, names_session, spread };
        let answer = {
            let mut state = self.state();
            let answer = state.admission.ask(source.at, &request);
            state.publish(source.at);
            answer
        };
        match answer {
            AdmissionAnswer::Enter => None,
            AdmissionAnswer::Wait(place) => Some(waiting(place)),
            AdmissionAnswer::Full(again_after) => Some(full(again_after)),
        }
    }

    /// State and numbers now, for people and programs.
    pub fn health(&self) -> Value {
        let now = net::clock::now();
        let AdmissionStatus { state, waiting, rate, let_in } = {
            let mut state = self.state();
            state.publish(now);
            state.admission.status(now)
        };
        json!({ "state": state.name(), "why": state.reason(), "waiting": waiting, "rate": rate, "let_in": let_in })
    }
}

impl SharedState {
    /// Updates the metrics, and logs a change of the state.
    fn publish(&mut self, now: Time) {
        let AdmissionStatus { state, waiting, rate, let_in } = self.admission.status(now);
        metrics::gauge!("ecumene_players_waiting").set(waiting as f64);
        metrics::gauge!("ecumene_admission_rate").set(rate);
        metrics::gauge!("ecumene_admission_state").set(f64::from(state.number()));
        metrics::counter!("ecumene_players_let_in_total").absolute(let_in);
        // A change that does not last is not logged; one that lasts is, with a later call: hosts report twice a second.
        let is_too_soon = self.logged_at.is_some_and(|it| now.since(it) < LOG_EVERY);
        if state != self.logged && !is_too_soon {
            (self.logged, self.logged_at) = (state, Some(now));
            let (name, why) = (state.name(), state.reason());
            tracing::info!(state = name, why, waiting, rate, let_in, "the state of admission has changed");
        }
    }
}

/// Whole seconds, rounded up: a client that came back too early would find nothing new.
fn whole_seconds(span: Span) -> u64 {
    span.as_micros().div_ceil(1_000_000)
}

fn waiting(it: QueuePlace) -> Response {
    let QueuePlace { place, waiting, again_after } = it;
    let again = again_after.as_millis() as f64 / 1e3;
    let body = json!({ "queued": { "place": place, "waiting": waiting, "again_after": again } });
    (StatusCode::ACCEPTED, [(header::RETRY_AFTER, whole_seconds(again_after))], Json(body)).into_response()
}

fn full(again_after: Span) -> Response {
    let body = json!({ "error": "the world is full, and so is its queue: try again later" });
    let after = [(header::RETRY_AFTER, whole_seconds(again_after))];
    (StatusCode::SERVICE_UNAVAILABLE, after, Json(body)).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lobby::{PaceSettings, UnixSeconds};

    fn source() -> RequestSource {
        RequestSource {
            address: [192, 0, 2, 1].into(),
            at: net::clock::now(),
            now: UnixSeconds(1_800_000_000),
        }
    }

    /// Admission to a world of host 1, which lets one player in, and in which one may wait.
    fn admission() -> LobbyAdmission {
        let pace = PaceSettings {
            burst: 1.0,
            start: 1e-6,
            least: 1e-6,
            unreported: 1e-6,
            ..PaceSettings::default()
        };
        let settings = AdmissionSettings { pace, queue_max: 1, ..AdmissionSettings::default() };
        LobbyAdmission::new(settings, BTreeSet::from([1]))
    }

    async fn body(response: Response) -> Value {
        let bytes = axum::body::to_bytes(response.into_body(), 4_096).await.unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    #[tokio::test]
    async fn a_player_who_waits_is_told_the_place_and_one_too_many_to_come_later() {
        let admission = admission();
        assert!(admission.check(source(), PlayerId(1), false).is_none());
        let waiting = admission.check(source(), PlayerId(2), false).unwrap();
        assert_eq!(waiting.status(), StatusCode::ACCEPTED);
        let after: u64 = waiting.headers()[header::RETRY_AFTER].to_str().unwrap().parse().unwrap();
        let body = body(waiting).await;
        let queued = &body["queued"];
        assert_eq!((&queued["place"], &queued["waiting"]), (&json!(1), &json!(1)));
        let again = queued["again_after"].as_f64().unwrap();
        assert!((2.0..=3.0).contains(&again) && after == 3, "{again} {after}");
        let full = admission.check(source(), PlayerId(3), false).unwrap();
        assert_eq!(full.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(full.headers().contains_key(header::RETRY_AFTER));
        assert!(admission.check(source(), PlayerId(1), false).is_none(), "who is in comes back");
        assert_eq!(admission.health()["waiting"], 1);
    }

    #[test]
    fn only_hosts_of_the_world_are_believed() {
        let admission = admission();
        admission.on_report(HostReport { host: 2, load: 2, ..HostReport::default() });
        assert_eq!(admission.health()["state"], "open");
        admission.on_report(HostReport { host: 1, load: 2, ..HostReport::default() });
        assert_eq!(
            (&admission.health()["state"], &admission.health()["why"]),
            (&json!("closed"), &json!("a host is busy"))
        );
    }
}
