//! Messages of one zone in words: between its replicas, and with its players.

use super::{list, log_end, outcome, range, said, thing};
use crate::bench::game::Action;
use crate::bench::names::{self, Names};
use zone::{Closed, Down, Msg, Peer, Shown, Up};

impl Names {
    pub fn msg(&self, msg: &Msg) -> String {
        match msg {
            Msg::Peer(_, peer) => peer_text(peer, self.counts_disks),
            Msg::Up(up) => self.up(up),
            Msg::Down(_, _, down) => self.down(down),
            Msg::Mesh(_, _, _, mesh) => self.mesh(mesh),
        }
    }

    fn up(&self, up: &Up) -> String {
        match up {
            Up::Enter { session, seen, .. } => {
                let seen = seen.map(|it| format!(", has seen {}", it.2));
                format!("enter with session {session}{}", seen.unwrap_or_default())
            }
            Up::Act { number, action, .. } => {
                let action = postcard::from_bytes::<Action>(action);
                format!("act {number}, {}", action.map_or("nonsense".to_owned(), |it| it.text(self)))
            }
            Up::Move(motion) => format!("move from {}", motion.position),
            Up::Ack(number) => format!("has the results up to {number}"),
            Up::Leave => "leave".to_owned(),
        }
    }

    fn down(&self, down: &Down) -> String {
        match down {
            Down::Entered { cursor, lost, .. } => {
                let lost = if *lost { ", the world has lost its last moments" } else { "" };
                format!("entered, the last action was {cursor}{lost}")
            }
            Down::NotHere { primary } => {
                let primary = primary.map(|it| format!(", ask {}", names::host(it)));
                format!("not here{}", primary.unwrap_or_default())
            }
            Down::Closed(why) => format!("closed, {}", closed(*why)),
            Down::Sight { index, objects } => format!("sight at {index}: {}", shown(objects)),
            Down::Told { index, shown: objects, gone, notices } => {
                let gone = gone.iter().map(|it| format!("{} is gone", self.object(it.0)));
                let notices = notices.iter().map(|it| format!("\"{}\"", said(it)));
                let objects = objects.iter().map(|it| thing(&it.shown));
                // What a neighbour tells has no number here.
                let index = if *index == 0 { String::new() } else { format!(" {index}") };
                format!("told{index}: {}", list(objects.chain(gone).chain(notices)))
            }
            Down::Result { number, outcome: it, .. } => format!("result {number}: {}", outcome(it)),
            Down::Views { shown: objects, hidden } => {
                let hidden = hidden.iter().map(|&it| format!("{} leaves the view", self.object(it)));
                let objects = objects.iter().map(|it| format!("{} comes into view", thing(&it.shown)));
                list(objects.chain(hidden))
            }
            Down::Moved { .. } => "move heard".to_owned(),
            Down::Corrected(motion) => format!("corrected, you are at {}", motion.position),
        }
    }
}

pub fn closed(why: Closed) -> &'static str {
    match why {
        Closed::Superseded => "superseded by a newer session",
        Closed::Full => "full",
        Closed::Refused => "refused by the game",
    }
}

fn shown(objects: &[Shown]) -> String {
    list(objects.iter().map(|it| thing(&it.shown)))
}

fn peer_text(peer: &Peer, counts_disks: bool) -> String {
    match peer {
        Peer::Append { first, records } => format!("append {}", range(*first, records.len())),
        Peer::Acked { index, synced } if counts_disks => format!("acked {index}, on disk {synced}"),
        Peer::Acked { index, .. } => format!("acked {index}"),
        Peer::Missing { after } => format!("missing everything after {after}"),
        Peer::Beacon { .. } => "beacon".to_owned(),
        Peer::Heard { .. } => "beacon heard".to_owned(),
        Peer::Motions(motions) => format!("{} motions", motions.len()),
        Peer::Standing { epoch, index } => format!("no role, {}", log_end(*epoch, *index)),
        Peer::Follow { index, .. } => format!("follow me after {index}"),
        Peer::Copy { index, .. } => format!("copy of the state at {index}"),
    }
}
