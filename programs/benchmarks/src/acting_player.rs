//! Players who act all the time.

use anyhow::{Context as _, Result};
use client::{HistoryWriter, LobbyClient, LobbyClientError, Session, SessionOptions, Transport};
use machine::Time;
use net::dial::Dialer;
use node::ClientNode;
use std::time::Duration;
use tokio::sync::mpsc;
use zone::{Outcome, PlayerCommand, PlayerEvent};

/// Time between two actions of a player.
pub const ACT_EVERY: Duration = Duration::from_millis(20);

/// An action that takes longer than this fails the measurement.
pub const WITHIN: Duration = Duration::from_secs(20);

/// A player who acts all the time, until it is dropped.
pub struct ActingPlayer {
    pub session: Session,
    acting: tokio::task::JoinHandle<()>,
}

impl Drop for ActingPlayer {
    fn drop(&mut self) {
        self.acting.abort();
    }
}

impl ActingPlayer {
    /// Begins a session. `on_event` gets each event with its time, on the dialer's reactor.
    pub async fn begin(
        lobby: &str,
        number: usize,
        action: Vec<u8>,
        dialer: Dialer<ClientNode>,
        mut on_event: impl FnMut(Time, PlayerEvent) + Send + 'static,
    ) -> Result<Self> {
        let lobby = LobbyClient::new(lobby);
        let pass = loop {
            match lobby.guest(&format!("player-{number}")).await {
                // The lobby lets in so many new guests of one address per second.
                Err(LobbyClientError::TooOften(pause, _)) => tokio::time::sleep(pause).await,
                result => break result?,
            }
        };
        let (transport, history) = (Transport::Quic, HistoryWriter::default());
        let options = SessionOptions { transport, dialer, history, seed: number as u64, on_waiting: None };
        let on_event = move |event| on_event(net::clock::now(), event);
        let make = |config, _: &_| ClientNode::new(config);
        let session = Session::begin(&lobby, &pass, options, make, on_event).await?;
        let player = session.player.clone();
        let acting = tokio::spawn(async move {
            while player.command(PlayerCommand::Act(action.clone())) {
                tokio::time::sleep(ACT_EVERY).await;
            }
        });
        Ok(Self { session, acting })
    }

    /// Number of connections that were made again after they broke.
    pub fn redials(&self) -> u64 {
        self.session.counters.redials.load(std::sync::atomic::Ordering::Relaxed)
    }
}

/// The events of players who act, with their times.
pub type TimedEvents = mpsc::UnboundedReceiver<(Time, PlayerEvent)>;

/// Waits for the first action that a player sent after `moment` and that was done; returns the time of its answer.
pub async fn answered_after(events: &mut TimedEvents, moment: Time) -> Result<Time> {
    let mut last = None;
    let waited = tokio::time::timeout(WITHIN, async {
        while let Some((at, event)) = events.recv().await {
            if let PlayerEvent::Answered(_, Outcome::Done, took) = event
                && moment <= at - took
            {
                return Some(at);
            }
            last = Some(event);
        }
        None
    });
    let answered = waited.await.ok().flatten();
    answered.with_context(|| format!("no action was done within {WITHIN:?}; the last event was {last:?}"))
}
