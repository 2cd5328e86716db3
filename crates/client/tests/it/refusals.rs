//! The effect of the lobby's refusals on a session.

use crate::test_world::TestWorld;
use axum::http::StatusCode;
use client::{
    ActError, Client, HistoryWriter, LobbyClient, LobbyClientError, Login, Pass, QueuePlace, Session,
    SessionInfo, SessionOptions, Transport,
};
use kosmos::{Action, Kosmos};
use net::dial::Dialer;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::mpsc;

fn pass() -> Pass {
    Pass { pass: "let me in".to_owned(), player: 17, name: "Ada".to_owned() }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_wait_is_read_from_the_answer() {
    let world = TestWorld::start().await;
    let often = StatusCode::TOO_MANY_REQUESTS;
    world.refuse([(often, Some("7")), (often, None), (often, Some("a while")), (often, Some("86400"))]);
    world.refuse([(StatusCode::UNAUTHORIZED, None)]);
    let lobby = LobbyClient::new(&world.lobby);
    for seconds in [7, 1, 1, 60] {
        let wait = Duration::from_secs(seconds);
        let refused = lobby.session(&pass()).await;
        assert_eq!(refused, Err(LobbyClientError::TooOften(wait, "not now".to_owned())));
    }
    assert_eq!(lobby.session(&pass()).await, Err(LobbyClientError::Refused(401, "not now".to_owned())));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_is_told_its_place_in_the_queue_and_then_comes_in() {
    let world = TestWorld::start().await;
    world.refuse([(StatusCode::ACCEPTED, Some("1")), (StatusCode::ACCEPTED, Some("1"))]);
    let places = Arc::new(Mutex::new(Vec::new()));
    let told = places.clone();
    let on_waiting = move |it: QueuePlace| told.lock().unwrap().push((it.place, it.waiting));
    let login = Login::Again(pass());
    let player: Client<Kosmos> =
        Client::connect_telling(&world.lobby, login, Transport::WebSocket, on_waiting).await.unwrap();
    assert_eq!((player.info().session, &*places.lock().unwrap()), (1, &vec![(2, 3), (2, 3)]));
}

/// A lobby that has forgotten the player lets a session wait for tokens: that does not end it.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_may_have_to_wait_for_tokens() {
    let world = TestWorld::start().await;
    let lobby = LobbyClient::new(&world.lobby);
    world.refuse([(StatusCode::ACCEPTED, Some("1")), (StatusCode::SERVICE_UNAVAILABLE, Some("7"))]);
    let waits = lobby.renew(&pass(), 1).await.unwrap_err();
    let why = "the world is full: place 2 of 3 in the queue".to_owned();
    assert_eq!(waits, LobbyClientError::TooOften(Duration::from_millis(500), why));
    let full = lobby.renew(&pass(), 1).await.unwrap_err();
    assert_eq!(full, LobbyClientError::TooOften(Duration::from_secs(7), "not now".to_owned()));
    assert!(!waits.is_final() && lobby.renew(&pass(), 1).await.is_ok());
}

/// At the host's address nothing answers, and the lobby gives no more tokens: the session ends.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_ends_when_the_lobby_refuses_for_good() {
    for status in [StatusCode::BAD_REQUEST, StatusCode::UNAUTHORIZED] {
        let world = TestWorld::start().await;
        let dialer = Dialer::new().unwrap();
        let options = SessionOptions {
            transport: Transport::WebSocket,
            dialer,
            history: HistoryWriter::default(),
            seed: 1,
            on_waiting: None,
        };
        let (received, mut player_events) = mpsc::unbounded_channel();
        let make = |config, _: &SessionInfo| node::ClientNode::new(config);
        let session = Session::begin(&LobbyClient::new(&world.lobby), &pass(), options, make, move |it| {
            drop(received.send(it))
        })
        .await
        .unwrap();
        world.refuse([(status, None)]);
        while player_events.recv().await.is_some() {}
        assert!(session.counters.ended.load(Ordering::Relaxed), "{status}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unanswered_action_fails_when_the_session_is_over() {
    let world = TestWorld::start().await;
    let login = Login::Again(pass());
    let mut player: Client<Kosmos> =
        Client::connect(&world.lobby, login, Transport::WebSocket).await.unwrap();
    world.refuse([(StatusCode::UNAUTHORIZED, None)]);
    while player.next().await.is_some() {}
    assert_eq!(player.act(&Action::Say { text: "hello?".to_owned() }).await, Err(ActError::Over));
}
