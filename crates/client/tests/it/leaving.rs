//! A player who leaves, or whose client is dropped, is disconnected.

use crate::test_world::TestWorld;
use client::{Client, Login, Transport};
use kosmos::Kosmos;

async fn connect(world: &TestWorld) -> Client<Kosmos> {
    let guest = Login::Guest("Ada".to_owned());
    Client::connect(&world.lobby, guest, Transport::Quic).await.expect("the loopback works")
}

#[tokio::test(flavor = "multi_thread")]
async fn hosts_do_not_count_a_player_who_left() {
    let mut world = TestWorld::start().await;
    let player = connect(&world).await;
    world.receives_a_message().await;
    world.connected(1).await;
    player.leave().await;
    world.connected(0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hosts_do_not_count_a_player_who_was_dropped() {
    let mut world = TestWorld::start().await;
    let player = connect(&world).await;
    world.receives_a_message().await;
    world.connected(1).await;
    drop(player);
    world.connected(0).await;
}
