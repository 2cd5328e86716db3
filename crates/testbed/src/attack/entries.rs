//! A player who is in the world and enters it again and again, and each time asks for everything of the last while.

use super::insiders::{FLOOD, OBSERVED_FOR, enter_world, framed};
use super::unauthenticated::{ending, endpoint};
use super::{AttackRun, ExpectedOutcome};
use client::{LobbyClient, SessionInfo};
use game::PlayerId;
use net::frame::{self, Assembler, HOST_FRAME_MAX};
use quinn::RecvStream;
use space::{Epoch, ZoneId};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::timeout;
use zone::{FromPlayer, ToPlayer, ZoneMsg};

/// Number of the player among the run's.
pub(super) const ENTERING: usize = super::INSIDERS - 1;

/// Records back to which the player asks for what it missed.
const BACK: u64 = 256;

const ATTACK: &str = "entering again for what was missed";

pub(super) fn spawn(run: &Arc<AttackRun>, tasks: &mut JoinSet<()>) {
    let it = run.clone();
    tasks.spawn(async move {
        if let Err(error) = attack(&it).await {
            it.unexpected(format!("entries: {error:#}"));
        }
    });
}

async fn attack(run: &AttackRun) -> anyhow::Result<()> {
    let (endpoint, mut rng) = (endpoint(ENTERING as u8)?, run.rng());
    let lobby_client = LobbyClient::new(&run.lobby.to_string());
    while !run.is_over() {
        let info = lobby_client.session(&run.insiders[ENTERING]).await?;
        let host = &info.hosts[rng.below(info.hosts.len() as u64) as usize];
        let Some((connection, mut send, mut receive)) = enter_world(&endpoint, host, &info).await? else {
            continue; // The host has no slot for new connections at the moment.
        };
        // Only the host of the primary lets a player in.
        if let Ok(Some((epoch, index))) = timeout(OBSERVED_FOR, sight(&mut receive)).await {
            let entry = framed(1, &enter_again(&info, epoch, index.saturating_sub(BACK)));
            run.sent(ATTACK, FLOOD as u64);
            let flood = async { send.write_all(&entry.repeat(FLOOD)).await };
            let reading = async { while let Ok(Some(_)) = receive.read_chunk(64 * 1024, true).await {} };
            // The host reads no faster than a player may send; the rest is not sent.
            let both = async { tokio::join!(flood, reading) };
            let _ = timeout(4 * OBSERVED_FOR, both).await;
            run.judge(ATTACK, &ExpectedOutcome::StaysOpen, ending(&connection, Duration::ZERO).await);
        }
        connection.close(0_u32.into(), b"");
    }
    Ok(())
}

fn enter_again(info: &SessionInfo, epoch: Epoch, index: u64) -> ZoneMsg {
    ZoneMsg::FromPlayer(FromPlayer::Enter {
        player: PlayerId(info.player),
        session: info.session,
        name: info.name.clone(),
        seen: Some((ZoneId(1), epoch, index)),
    })
}

/// The epoch and the newest record of the zone that let the player in.
async fn sight(receive: &mut RecvStream) -> Option<(Epoch, u64)> {
    let mut assembler = Assembler::new(HOST_FRAME_MAX);
    loop {
        while let Some(body) = assembler.body().ok()? {
            let Ok((1, [0, message @ ..])) = frame::open(&body) else { continue };
            if let Ok(ZoneMsg::ToPlayer(_, epoch, ToPlayer::Sight { index, .. })) =
                postcard::from_bytes(message)
            {
                return Some((epoch, index));
            }
        }
        assembler.push(&receive.read_chunk(64 * 1024, true).await.ok()??.bytes);
    }
}
