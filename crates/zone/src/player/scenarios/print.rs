//! Prints actions and beliefs of the player as lines of a table.

use crate::msg::{Closed, FromPlayer, ZoneMsg};
use crate::player::{Player, PlayerEvent};
use crate::record::Outcome;
use game::VisibleObject;
use machine::{Address, Lane};
use space::{Motion, ObjectId};

fn peer(address: Address) -> String {
    format!("{}:{}", address.0 >> 32, address.0 & 0xffff_ffff)
}

fn object(id: ObjectId) -> String {
    format!("{}.{}.{}", id.zone.0, id.epoch.0, id.counter)
}

fn text(bytes: &[u8]) -> String {
    format!("\"{}\"", String::from_utf8_lossy(bytes))
}

/// Generation and sequence, then every part that is not zero.
fn motion(it: &Motion) -> String {
    let mut text = format!("{}.{}", it.generation, it.sequence);
    let pairs = [("at", it.position.x(), it.position.y()), ("going", it.velocity.x(), it.velocity.y())];
    for (word, x, y) in pairs.into_iter().filter(|it| (it.1, it.2) != (0, 0)) {
        text += &format!(" {word} {x},{y}");
    }
    for (word, value) in [("facing", u64::from(it.heading.0)), ("since", it.start.0)] {
        if value != 0 {
            text += &format!(" {word} {value}");
        }
    }
    text
}

fn outcome(it: &Outcome) -> String {
    match it {
        Outcome::Done => "done".to_owned(),
        Outcome::Refused(why) => format!("refused {}", text(why)),
        Outcome::Fault(why) => format!("fault {}", text(why.as_bytes())),
        Outcome::Busy => "busy".to_owned(),
    }
}

pub fn send(to: &[Address], lane: Lane, msg: &ZoneMsg) -> String {
    let lane = match lane {
        Lane::Sure => "sure",
        Lane::Latest(_) => "latest",
    };
    let to: Vec<_> = to.iter().map(|&it| peer(it)).collect();
    let ZoneMsg::FromPlayer(msg) = msg else { panic!("a player sends nothing but `FromPlayer`") };
    format!("> {} {lane}: {}", to.join(" "), message(msg))
}

fn message(it: &FromPlayer) -> String {
    match it {
        FromPlayer::Enter { player, session, name, seen } => {
            let seen = seen.map_or("nothing".to_owned(), |(zone, epoch, index)| {
                format!("zone {} epoch {} index {index}", zone.0, epoch.0)
            });
            format!("enter player {} session {session} name {name} seen {seen}", player.0)
        }
        FromPlayer::Act { number, acked, motion: moves, action } => {
            format!("act {number} acked {acked} motion {} {}", motion(moves), text(action))
        }
        FromPlayer::Move(moves) => format!("move {}", motion(moves)),
        FromPlayer::Ack(acked) => format!("ack {acked}"),
        FromPlayer::Leave => "leave".to_owned(),
    }
}

pub fn event(it: &PlayerEvent) -> String {
    let line = match it {
        PlayerEvent::Entered(avatar) => format!("entered {}", object(*avatar)),
        PlayerEvent::Searching(_) => "searching".to_owned(),
        PlayerEvent::Answered(key, what, took) => {
            format!("answered #{} {} after {took}", key.id, outcome(what))
        }
        PlayerEvent::Notice(notice) => format!("notice {}", text(notice)),
        PlayerEvent::Corrected(moves) => format!("corrected {}", motion(moves)),
        PlayerEvent::Closed(Closed::Superseded) => "closed superseded".to_owned(),
        PlayerEvent::Closed(Closed::Full) => "closed full".to_owned(),
        PlayerEvent::Closed(Closed::Refused) => "closed refused".to_owned(),
        PlayerEvent::Busy => "busy".to_owned(),
        PlayerEvent::TooLong(bytes) => format!("too long: {bytes} bytes"),
        PlayerEvent::Load(level) => format!("load {level:?}").to_lowercase(),
        PlayerEvent::Contacts(None) => "contacts all".to_owned(),
        PlayerEvent::Contacts(Some(replicas)) => {
            let replicas: Vec<_> = replicas.iter().map(|&it| peer(it)).collect();
            format!("contacts {}", replicas.join(" "))
        }
        PlayerEvent::Note(note) => panic!("notes are off: {note:?}"),
    };
    format!("! {line}")
}

/// The player's beliefs: its home, its actions, its avatar, the objects in sight.
pub fn beliefs(player: &Player) -> Vec<String> {
    let home = player.home().map_or("none".to_owned(), peer);
    let searching = if player.is_searching() { " searching" } else { "" };
    let numbers = runs(player.actions.unanswered().iter().map(|it| it.number));
    let avatar = player
        .avatar
        .id()
        .map_or("none".to_owned(), |me| format!("{} {}", object(me), motion(&player.avatar.motion())));
    vec![
        format!("home {home} zone {} epoch {}{searching}", player.zone().0, player.epoch().0),
        format!("next {} unanswered {}", player.last_action() + 1, listed(&numbers, ",")),
        format!("avatar {avatar}"),
        format!("sight {}", listed(&sight(player), " ")),
    ]
}

/// `1-6`, `8`: numbers that follow each other are one word.
fn runs(numbers: impl Iterator<Item = u64>) -> Vec<String> {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    runs.iter()
        .map(|(first, last)| if first == last { format!("{first}") } else { format!("{first}-{last}") })
        .collect()
}

fn listed(words: &[String], by: &str) -> String {
    if words.is_empty() { "none".to_owned() } else { words.join(by) }
}

/// The objects in sight in the notation of the steps.
fn sight(player: &Player) -> Vec<String> {
    let versions = player.versions().map(|(id, incarnation, version)| {
        let VisibleObject { motion, shown } = &player.objects.in_sight()[&id];
        let (name, order) = (object(id), format!("{}.{}", motion.generation, motion.sequence));
        let shown = String::from_utf8_lossy(shown);
        let shown = if shown.is_empty() { String::new() } else { format!(":{shown}") };
        format!("{name}@{incarnation}.{version}~{order}{shown}")
    });
    versions.collect()
}
