//! Connections of players: admission, refusal, and isolation from each other.

use crate::echo::{TestHost, TestPlayer, ZONE};
use crate::stranger::{session_request, settings};
use net::dial::Target;
use net::frame::{self, Control};
use net::worker::WorkerExit;
use net::{Close, endpoint, tls};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

#[tokio::test(flavor = "multi_thread")]
async fn players_are_heard_over_quic_and_over_web_socket() {
    let host = TestHost::start().await;
    for (target, token) in [(&host.quic, "1 1"), (&host.socket, "2 1")] {
        let mut player = TestPlayer::connect(target, token).await.unwrap();
        player.say("hello");
        assert_eq!(player.next().await, "hello");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_player_without_a_valid_token_is_refused() {
    let host = TestHost::start().await;
    for target in [&host.quic, &host.socket] {
        let refused = TestPlayer::connect(target, "let me in").await.err();
        assert_eq!(refused, Some(Close::Refused));
    }
    assert_eq!(host.context.router.count().0, 0);
    // Another certificate than the lobby named.
    let elsewhere = Target::Quic { address: host.address, certificate: [0; 32] };
    assert!(TestPlayer::connect(&elsewhere, "1 1").await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn one_address_group_leaves_slots_for_others_over_any_transport() {
    let host = TestHost::start().await;
    let limits = host.context.router.connection_limits();
    let mut here = Vec::from_iter(std::iter::from_fn(|| limits.reserve(host.address.ip())));
    assert!(TestPlayer::connect(&host.quic, "1 1").await.is_err());
    assert_eq!(TestPlayer::connect(&host.socket, "1 1").await.err(), Some(Close::Full));
    let elsewhere = IpAddr::from([192, 0, 2, 7]);
    assert!(limits.reserve(elsewhere).is_some());
    for (target, token) in [(&host.quic, "1 1"), (&host.socket, "2 1")] {
        here.pop();
        TestPlayer::connect(target, token).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_sends_anything_before_its_token_is_disconnected() {
    let host = TestHost::start().await;
    let Target::Quic { address, certificate } = host.quic else { unreachable!() };
    let config = endpoint::pinned(certificate).unwrap();
    let endpoint = endpoint::as_players().unwrap();
    let ended = async |bytes: Vec<u8>| {
        let connection = endpoint.connect_with(config.clone(), address, "localhost").unwrap().await.unwrap();
        let (mut send, _receive) = connection.open_bi().await.unwrap();
        send.write_all(&bytes).await.unwrap();
        net_close(connection.closed().await)
    };
    assert_eq!(
        ended(
            b"GET / HTTP/1.1\r\nHost: somewhere else\r\nAccept: everything there is, please\r\n\r\n".to_vec()
        )
        .await,
        Close::Protocol
    );
    assert_eq!(ended(frame::framed(ZONE, b"hello").to_vec()).await, Close::Protocol);
    assert_eq!(ended(frame::control(&Control::Ping(1)).to_vec()).await, Close::Protocol);
    // A frame that is never finished ends the connection after two seconds.
    assert_eq!(ended(vec![100, 0, 0]).await, Close::Refused);
}

fn net_close(error: quinn::ConnectionError) -> Close {
    match error {
        quinn::ConnectionError::ApplicationClosed(it) => Close::of_code(it.error_code.into_inner()),
        _ => Close::Gone,
    }
}

/// Begins a WebTransport session, opens no stream in it, and answers keep-alives until the host closes the connection. Returns whether
/// the host accepted the session.
async fn hold_session(endpoint: quinn::Endpoint, address: SocketAddr, certificate: [u8; 32]) -> bool {
    let tls = tls::pinning(certificate, endpoint::ALPN_WEB).expect("the certificate is sound");
    let tls = quinn::crypto::rustls::QuicClientConfig::try_from(tls).expect("TLS 1.3 is there");
    let mut config = quinn::ClientConfig::new(Arc::new(tls));
    let mut transport = quinn::TransportConfig::default();
    transport.keep_alive_interval(Some(Duration::from_millis(200)));
    config.transport_config(Arc::new(transport));
    let attempt = endpoint.connect_with(config, address, "localhost").expect("the address is sound");
    let Ok(connection) = attempt.await else {
        return false; // No slot is free.
    };
    let mut control = connection.open_uni().await.expect("the host allows streams");
    control.write_all(&settings()).await.expect("the host reads");
    let (mut send, mut receive) = connection.open_bi().await.expect("the host allows streams");
    send.write_all(&session_request()).await.expect("the host reads");
    let answer = receive.read_chunk(100, true).await;
    connection.closed().await;
    matches!(answer, Ok(Some(_)))
}

#[tokio::test(flavor = "multi_thread")]
async fn hundreds_of_sessions_without_a_stream_leave_nothing_behind() {
    let host = TestHost::start().await;
    let Target::Quic { address, certificate } = host.quic else { unreachable!() };
    let endpoint = endpoint::as_players().unwrap();
    let mut sessions = JoinSet::new();
    for _ in 0..300 {
        sessions.spawn(hold_session(endpoint.clone(), address, certificate));
    }
    let accepted = sessions.join_all().await.into_iter().filter(|it| *it).count();
    assert!(0 < accepted, "no session was accepted");
    let router = &host.context.router;
    while 0 < router.open_connections().count() {
        tokio::task::yield_now().await;
    }
    assert_eq!(router.connection_limits().unauthenticated(), 0);
    TestPlayer::connect(&host.quic, "1 1").await.unwrap();
    assert_eq!(router.open_connections().count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_newest_session_of_a_player_is_the_only_one() {
    let host = TestHost::start().await;
    let old = TestPlayer::connect(&host.quic, "1 1").await.unwrap();
    let mut new = TestPlayer::connect(&host.socket, "1 2").await.unwrap();
    assert_eq!(old.ended.await.unwrap(), Close::Superseded);
    let late = TestPlayer::connect(&host.quic, "1 1").await.err();
    assert_eq!(late, Some(Close::Superseded));
    new.say("still here");
    assert_eq!(new.next().await, "still here");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_whose_task_is_dropped_ends() {
    let host = TestHost::start().await;
    for (target, token) in [(&host.quic, "1 1"), (&host.socket, "2 1")] {
        let mut player = TestPlayer::connect(target, token).await.unwrap();
        assert_eq!(host.context.router.count().0, 1);
        player.ended.abort();
        assert_eq!(player.next().await, "down");
        while 0 < host.context.router.count().0 {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forbidden_message_ends_its_connection_and_no_other() {
    let host = TestHost::start().await;
    let mut honest = TestPlayer::connect(&host.quic, "1 1").await.unwrap();
    for (player, words) in [("2 1", "!pretend"), ("3 1", "?")] {
        for target in [&host.quic, &host.socket] {
            let bad = TestPlayer::connect(target, player).await.unwrap();
            bad.say(words);
            assert_eq!(bad.ended.await.unwrap(), Close::Protocol);
        }
    }
    honest.say("hello");
    assert_eq!(honest.next().await, "hello");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_read_is_disconnected_and_delays_no_other() {
    let host = TestHost::start().await;
    let Target::Quic { address, certificate } = host.quic else { unreachable!() };
    let config = endpoint::pinned(certificate).unwrap();
    let endpoint = endpoint::as_players().unwrap();
    let connection = endpoint.connect_with(config, address, "localhost").unwrap().await.unwrap();
    let (mut send, _never_read) = connection.open_bi().await.unwrap();
    let hello = Control::Hello { version: frame::VERSION, token: "9 1".to_owned() };
    send.write_all(&frame::control(&hello)).await.unwrap();
    let mut honest = TestPlayer::connect(&host.quic, "1 1").await.unwrap();
    while host.context.router.count().0 < 2 {
        tokio::task::yield_now().await;
    }
    // Eight megabytes, more than a connection's windows and its send queue together; a client that reads gets all of it.
    for _ in 0..80 {
        honest.say("flood");
        while honest.next().await != "over" {}
    }
    while 1 < host.context.router.count().0 {
        tokio::task::yield_now().await;
    }
    // In such a flood the close message itself may be lost; then the connection is just gone.
    assert!(matches!(net_close(connection.closed().await), Close::Slow | Close::Gone));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_ends_one_zone_and_a_new_one_takes_over_its_connections() {
    let mut host = TestHost::start().await;
    let mut player = TestPlayer::connect(&host.quic, "1 1").await.unwrap();
    player.say("panic");
    assert_eq!(host.ended.recv().await, Some(WorkerExit::Panicked("as you wish".to_owned())));
    host.start_zone();
    player.say("are you there?");
    assert_eq!(player.next().await, "are you there?");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_player_who_connects_while_a_zone_restarts_is_linked_to_it_later() {
    let host = TestHost::start().await;
    host.context.router.remove_zone(ZONE);
    let mut player = TestPlayer::connect(&host.quic, "1 1").await.unwrap();
    host.start_zone();
    player.say("are you there?");
    assert_eq!(player.next().await, "are you there?");
}
