//! Messages of one zone in words: between its replicas, and with its players.

use super::{list, log_end, object_state, outcome, range, said};
use crate::bench::game::NumbersAction;
use crate::bench::names::{self, TableNames};
use zone::{BetweenReplicas, Closed, FromPlayer, LoadLevel, ShownObject, ToPlayer, ZoneMsg};

impl TableNames {
    pub fn msg(&self, msg: &ZoneMsg) -> String {
        match msg {
            ZoneMsg::BetweenReplicas(_, peer) => peer_text(peer, self.counts_disks),
            ZoneMsg::FromPlayer(msg) => self.player_message(msg),
            ZoneMsg::ToPlayer(_, _, msg) => self.to_player(msg),
            ZoneMsg::BetweenZones(_, _, _, mesh) => self.mesh(mesh),
        }
    }

    fn player_message(&self, msg: &FromPlayer) -> String {
        match msg {
            FromPlayer::Enter { session, seen, .. } => {
                let seen = seen.map(|it| format!(", has seen {}", it.2));
                format!("enter with session {session}{}", seen.unwrap_or_default())
            }
            FromPlayer::Act { number, action, .. } => {
                let action = postcard::from_bytes::<NumbersAction>(action);
                format!("act {number}, {}", action.map_or("nonsense".to_owned(), |it| it.text(self)))
            }
            FromPlayer::Move(motion) => format!("move from {}", motion.position),
            FromPlayer::Ack(number) => format!("has the results up to {number}"),
            FromPlayer::Leave => "leave".to_owned(),
        }
    }

    fn to_player(&self, msg: &ToPlayer) -> String {
        match msg {
            ToPlayer::Entered { cursor, lost, .. } => {
                let lost = if *lost { ", the world has lost its last moments" } else { "" };
                format!("entered, the last action was {cursor}{lost}")
            }
            ToPlayer::NotHere { primary } => {
                let primary = primary.map(|it| format!(", ask {}", names::host(it)));
                format!("not here{}", primary.unwrap_or_default())
            }
            ToPlayer::Closed(why) => format!("closed, {}", closed(*why)),
            ToPlayer::Sight { index, objects } => format!("sight at {index}: {}", shown(objects)),
            ToPlayer::Told { index, shown: objects, gone, notices } => {
                let gone = gone.iter().map(|it| format!("{} is gone", self.object(it.0)));
                let notices = notices.iter().map(|it| format!("\"{}\"", said(it)));
                let objects = objects.iter().map(|it| object_state(&it.shown));
                // A ghost's update comes from another zone's log: it has no number in this one.
                let index = if *index == 0 { String::new() } else { format!(" {index}") };
                format!("told{index}: {}", list(objects.chain(gone).chain(notices)))
            }
            ToPlayer::Result { number, outcome: it, .. } => format!("result {number}: {}", outcome(it)),
            ToPlayer::Views { shown: objects, hidden } => {
                let hidden = hidden.iter().map(|&it| format!("{} leaves the view", self.object(it)));
                let objects = objects.iter().map(|it| format!("{} comes into view", object_state(&it.shown)));
                list(objects.chain(hidden))
            }
            ToPlayer::Moved { .. } => "move heard".to_owned(),
            ToPlayer::Contacts(replicas) => {
                format!("your contacts are {}", list(replicas.iter().map(|&it| self.machine(it))))
            }
            ToPlayer::Load(level) => format!("the zone is {}", load(*level)),
            ToPlayer::Leads => "this replica leads".to_owned(),
            ToPlayer::Corrected(motion) => format!("corrected, you are at {}", motion.position),
        }
    }
}

pub fn load(level: LoadLevel) -> &'static str {
    match level {
        LoadLevel::Calm => "calm",
        LoadLevel::Busy => "busy",
        LoadLevel::Overloaded => "overloaded",
    }
}

pub fn closed(why: Closed) -> &'static str {
    match why {
        Closed::Superseded => "superseded by a newer session",
        Closed::Full => "full",
        Closed::Refused => "refused by the game",
    }
}

fn shown(objects: &[ShownObject]) -> String {
    list(objects.iter().map(|it| object_state(&it.shown)))
}

fn peer_text(peer: &BetweenReplicas, counts_disks: bool) -> String {
    match peer {
        BetweenReplicas::Append { first, records } => format!("append {}", range(*first, records.len())),
        BetweenReplicas::Acked { index, synced } if counts_disks => {
            format!("acked {index}, on disk {synced}")
        }
        BetweenReplicas::Acked { index, .. } => format!("acked {index}"),
        BetweenReplicas::Missing { after } => format!("missing everything after {after}"),
        BetweenReplicas::Beacon { .. } => "beacon".to_owned(),
        BetweenReplicas::Heard { .. } => "beacon heard".to_owned(),
        BetweenReplicas::Motions(motions) => format!("{} motions", motions.len()),
        BetweenReplicas::LogEnd { epoch, index } => format!("no role, {}", log_end(*epoch, *index)),
        BetweenReplicas::Follow { index, .. } => format!("follow me after {index}"),
        BetweenReplicas::Copy { index, .. } => format!("snapshot up to {index}"),
    }
}
