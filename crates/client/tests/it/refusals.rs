//! What a lobby's no means for a stay.

use crate::house::TestWorld;
use axum::http::StatusCode;
use client::{
    ActError, Client, HistoryWriter, Lobby, LobbyError, Login, Pass, SessionInfo, Stay, StayOptions,
    Transport,
};
use kosmos::{Action, Kosmos};
use net::dial::Dialer;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::mpsc;

fn pass() -> Pass {
    Pass { pass: "let me in".to_owned(), player: 17, name: "Ada".to_owned() }
}

#[tokio::test(flavor = "multi_thread")]
async fn how_long_to_wait_is_read_from_the_answer() {
    let world = TestWorld::start().await;
    let often = StatusCode::TOO_MANY_REQUESTS;
    world.refuse([(often, Some("7")), (often, None), (often, Some("a while")), (often, Some("86400"))]);
    world.refuse([(StatusCode::UNAUTHORIZED, None)]);
    let lobby = Lobby::new(&world.lobby);
    for seconds in [7, 1, 1, 60] {
        let wait = Duration::from_secs(seconds);
        let refused = lobby.session(&pass()).await;
        assert_eq!(refused, Err(LobbyError::TooOften(wait, "not now".to_owned())));
    }
    assert_eq!(lobby.session(&pass()).await, Err(LobbyError::Refused(401, "not now".to_owned())));
}

/// Nobody answers where the host should be, and the lobby gives no more tokens: the owner hears that it is over.
#[tokio::test(flavor = "multi_thread")]
async fn a_stay_ends_when_the_lobby_says_no_for_ever() {
    for status in [StatusCode::BAD_REQUEST, StatusCode::UNAUTHORIZED] {
        let world = TestWorld::start().await;
        let dialer = Dialer::new().unwrap();
        let options = StayOptions {
            transport: Transport::WebSocket,
            dialer,
            history: HistoryWriter::default(),
            seed: 1,
        };
        let (heard, mut happenings) = mpsc::unbounded_channel();
        let make = |config, _: &SessionInfo| node::Client::new(config);
        let stay = Stay::begin(&Lobby::new(&world.lobby), &pass(), options, make, heard).await.unwrap();
        world.refuse([(status, None)]);
        while happenings.recv().await.is_some() {}
        assert!(stay.counts.ended.load(Ordering::Relaxed), "{status}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_waits_for_an_answer_hears_that_the_stay_is_over() {
    let world = TestWorld::start().await;
    let login = Login::Again(pass());
    let mut player: Client<Kosmos> =
        Client::connect(&world.lobby, login, Transport::WebSocket).await.unwrap();
    world.refuse([(StatusCode::UNAUTHORIZED, None)]);
    while player.next().await.is_some() {}
    assert_eq!(player.act(&Action::Say { text: "hello?".to_owned() }).await, Err(ActError::Over));
}
