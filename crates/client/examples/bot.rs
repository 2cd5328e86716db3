//! A whole player in under 60 lines: walks about and picks up the nearest item.
//!
//! Start a world with `./run`, then: `cargo run -p ecumene-client --example bot -- 127.0.0.1:8080`

#![expect(clippy::print_stdout, reason = "a program that prints what it does")]

use client::{ActError, Client, GameEvent, Login, SeenObject, Transport};
use kosmos::{Action, Kosmos, Shown};
use space::{Heading, Velocity};
use std::time::Duration;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let lobby = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    let guest = Login::Guest("Magpie".to_owned());
    let mut player: Client<Kosmos> = Client::connect(&lobby, guest, Transport::Quic).await?;
    let mut turn = tokio::time::interval(Duration::from_millis(500));
    for step in 0.. {
        tokio::select! {
            event = player.next() => match event {
                Some(GameEvent::Notice(notice)) => println!("notice: {notice:?}"),
                Some(GameEvent::Closed(why)) => return Err(format!("not admitted: {why:?}").into()),
                Some(_) => (),
                None => break,
            },
            _ = turn.tick() => decide(&player, step).await,
            _ = tokio::signal::ctrl_c() => break,
        }
    }
    player.leave().await;
    Ok(())
}

async fn decide(player: &Client<Kosmos>, step: u16) {
    let Some(view) = player.view().await else { return };
    let Some(me) = view.own() else { return };
    let items = view.objects.iter().filter(|it| matches!(it.shown, Shown::Item(_)));
    let nearest = items.min_by_key(|it| it.position.distance_squared(me.position));
    let Some(SeenObject { id, position, .. }) = nearest else {
        let (vx, vy) = if step % 8 < 4 { (2_000, 0) } else { (0, 2_000) };
        return player.steer(Velocity::new(vx, vy).unwrap_or(Velocity::ZERO), Heading::EAST);
    };
    match player.act(&Action::PickUp { item: *id }).await {
        Ok(()) => println!("took {id}"),
        Err(ActError::Refused(kosmos::Refusal::TooFar)) => {
            let (dx, dy) = me.position.step_to(*position);
            let scale = |it: i32| it.clamp(-2_000, 2_000);
            player.steer(Velocity::new(scale(dx), scale(dy)).unwrap_or(Velocity::ZERO), me.heading);
        }
        Err(why) => println!("did not take {id}: {why}"),
    }
}
