//! A world of real processes whose game has an action that never comes back.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "all of this is a test, and prints what it measured"
)]

#[path = "game.rs"]
#[allow(dead_code, reason = "the program that serves the game uses the rest")]
mod looping;

use client::{ActError, Client, GameEvent, Login, Transport};
use looping::{ADD, LOOP, LoopingGame};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use testbed::cluster::{Cluster, ClusterOptions};
use tokio::time::timeout;

/// A busy computer may be slow; what is measured is printed, not checked.
const PATIENCE: Duration = Duration::from_secs(60);

/// A guest in one half of the world, who is in.
async fn guest(lobby: &str, in_west: bool) -> Client<LoopingGame> {
    // Numbers of guests are random: half of them enter in the west.
    for number in 0..64 {
        let guest = Login::Guest(format!("guest-{number}"));
        let mut client = Client::<LoopingGame>::connect(lobby, guest, Transport::Quic).await.unwrap();
        let is_west = client.pass().player % 2 == 1;
        if is_west == in_west {
            while !matches!(client.next().await, Some(GameEvent::Entered(_))) {}
            return client;
        }
        client.leave().await;
    }
    panic!("64 guests entered in the same half");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_action_that_never_comes_back_harms_no_other_zone() {
    let data = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("looping-game");
    if data.exists() {
        std::fs::remove_dir_all(&data).unwrap();
    }
    std::fs::create_dir_all(&data).unwrap();
    let config = data.join("ecumene.toml");
    let text = "[world]\nzones = 2\nhalf = 100\nhosts = [1, 2]\n[host]\nreactors = 2\nplayers = \"127.0.0.1:0\"\nweb = \"127.0.0.1:0\"\nmesh = \"127.0.0.1:0\"\n[lobby]\nburst = 200\n";
    std::fs::write(&config, text).unwrap();
    let tries = data.join("tries");
    let options = ClusterOptions {
        config: Some(config),
        program: Some(env!("CARGO_BIN_EXE_looping-game").into()),
        environment: vec![("LOOPING_GAME_TRIES".into(), tries.clone().into())],
        ..ClusterOptions::of(data.clone(), vec![1, 2])
    };
    let cluster = Cluster::start(options).await.unwrap();
    let lobby = cluster.lobby().to_string();
    let (culprit, other) = (guest(&lobby, true).await, guest(&lobby, false).await);
    culprit.act(&ADD).await.unwrap();
    other.act(&ADD).await.unwrap();

    let began = Instant::now();
    let poison = tokio::spawn(async move {
        let answer = timeout(PATIENCE, culprit.act(&LOOP)).await.expect("the action is answered");
        (culprit, answer, began.elapsed())
    });
    // The other zone goes on meanwhile.
    let (mut slowest, mut answered) = (Duration::ZERO, 0_u32);
    while !poison.is_finished() {
        let asked = Instant::now();
        timeout(PATIENCE, other.act(&ADD)).await.expect("the other zone answers").unwrap();
        slowest = slowest.max(asked.elapsed());
        answered += 1;
    }
    let (culprit, answer, after) = poison.await.unwrap();
    let Err(ActError::Fault(text)) = answer else { panic!("{answer:?}") };
    assert!(text.contains("did not come back"), "{text}");
    timeout(PATIENCE, culprit.act(&ADD)).await.expect("the culprit's zone answers").unwrap();
    let again = began.elapsed();
    // Its host has started again: every zone gets a backup once more.
    cluster.until_backed_up().await.unwrap();
    let whole = began.elapsed();
    timeout(PATIENCE, culprit.act(&ADD)).await.expect("and so it stays").unwrap();
    eprintln!(
        "answered as a fault after {after:?}; the zone's next action was done after {again:?}; two replicas of each zone \
         after {whole:?}; the other zone answered {answered} actions meanwhile, the slowest in {slowest:?}"
    );
    assert_eq!(std::fs::read(&tries).unwrap().len(), 1, "the action was executed once");
    assert!(0 < answered);
    cluster.leave().await.unwrap();
}
