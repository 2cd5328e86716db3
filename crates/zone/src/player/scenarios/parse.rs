//! Parses the steps of a table.

use crate::load_level::LoadLevel;
use crate::msg::{Closed, ShownObject, ToPlayer, ZoneMsg};
use crate::player::PlayerCommand;
use crate::record::Outcome;
use machine::{Address, Time};
use serde_bytes::ByteBuf;
use space::{Epoch, Heading, Millis, Motion, ObjectId, Position, Velocity, ZoneId};
use std::str::FromStr;

pub fn number<T: FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().unwrap_or_else(|why| panic!("{text} is no number: {why:?}"))
}

/// `a,b`, two numbers.
fn pair<T: FromStr<Err: std::fmt::Debug>>(text: &str, by: char) -> (T, T) {
    let (one, other) = text.split_once(by).unwrap_or_else(|| panic!("{text} has no {by}"));
    (number(one), number(other))
}

/// `2:1`, the replica of zone 1 on host 2, or `2:1#3`, its third link.
pub fn link(text: &str) -> (Address, Option<u64>) {
    let (peer, link) = text.split_once('#').map_or((text, None), |(peer, it)| (peer, Some(number(it))));
    let (host, zone): (u64, u64) = pair(peer, ':');
    (Address((host << 32) + zone), link)
}

fn zone_of(address: Address) -> ZoneId {
    ZoneId((address.0 & 0xffff_ffff) as u32)
}

/// `1.1.5`: zone, epoch and counter.
fn object(text: &str) -> ObjectId {
    let numbers: Vec<u32> = text.split('.').map(number).collect();
    let [zone, epoch, counter] = numbers[..] else { panic!("{text} is no object") };
    ObjectId { zone: ZoneId(zone), epoch: Epoch(epoch), counter }
}

/// `0.3`, generation and sequence, or `0.3@500,0`, and a position in millimetres; at rest, since 0.
fn motion(text: &str) -> Motion {
    let (order, place) = text.split_once('@').unwrap_or((text, "0,0"));
    let ((generation, sequence), (x, y)) = (pair(order, '.'), pair(place, ','));
    let (position, start) = (Position::new(x, y).unwrap(), Millis(0));
    Motion { position, generation, sequence, start, ..Motion::default() }
}

/// `1.1.5@1.3`, incarnation and version; after `~` the motion, after `:` the shown part of the state.
fn shown(text: &str) -> ShownObject {
    let (rest, shows) = text.split_once(':').unwrap_or((text, ""));
    let (rest, moves) = rest.split_once('~').unwrap_or((rest, "0.0"));
    let (name, order) = rest.split_once('@').unwrap_or_else(|| panic!("{text} has no version"));
    let (incarnation, version) = pair(order, '.');
    let (object, motion, shown) = (object(name), motion(moves), ByteBuf::from(shows.as_bytes()));
    ShownObject { object, incarnation, version, motion, shown }
}

fn gone(text: &str) -> (ObjectId, u32) {
    let (name, version) = text.split_once('@').unwrap_or_else(|| panic!("{text} has no version"));
    (object(name), number(version))
}

fn outcome(text: &str) -> Outcome {
    match text.split_once(':').unwrap_or((text, "")) {
        ("done", _) => Outcome::Done,
        ("refused", why) => Outcome::Refused(ByteBuf::from(why.as_bytes())),
        ("fault", why) => Outcome::Fault(why.to_owned()),
        ("busy", _) => Outcome::Busy,
        _ => panic!("{text} is no outcome"),
    }
}

fn closed(text: &str) -> Closed {
    match text {
        "superseded" => Closed::Superseded,
        "full" => Closed::Full,
        "refused" => Closed::Refused,
        _ => panic!("{text} is no reason"),
    }
}

fn load(text: &str) -> LoadLevel {
    match text {
        "calm" => LoadLevel::Calm,
        "busy" => LoadLevel::Busy,
        "overloaded" => LoadLevel::Overloaded,
        _ => panic!("{text} is no load level"),
    }
}

pub fn command(words: &[&str]) -> PlayerCommand {
    match *words {
        ["act", text] => PlayerCommand::Act(text.as_bytes().to_vec()),
        ["act-bytes", length] => PlayerCommand::Act(vec![b'x'; number(length)]),
        ["steer", velocity, heading] => {
            let (x, y) = pair(velocity, ',');
            PlayerCommand::Steer(Velocity::new(x, y).unwrap(), Heading(number(heading)))
        }
        ["leave"] => PlayerCommand::Leave,
        ["pose", name, moves] => PlayerCommand::Hear(object(name), motion(moves)),
        _ => panic!("no such command: {words:?}"),
    }
}

/// The words of a message: its kind, its subject, and `key=value`.
pub struct StepFields<'a>(pub &'a [&'a str]);

impl<'a> StepFields<'a> {
    fn all(&self, key: &'a str) -> impl Iterator<Item = &'a str> {
        let pairs = self.0.iter().filter_map(|it| it.split_once('='));
        pairs.filter(move |it| it.0 == key).map(|it| it.1)
    }

    fn get(&self, key: &'a str) -> Option<&'a str> {
        self.all(key).next()
    }

    fn count<T: FromStr<Err: std::fmt::Debug>>(&self, key: &'a str, otherwise: T) -> T {
        self.get(key).map_or(otherwise, number)
    }

    fn time(&self) -> Time {
        Time::from_millis(self.count("time", 50_000))
    }

    fn list<T>(&self, key: &'a str, parse: impl Fn(&str) -> T) -> Vec<T> {
        self.all(key).map(parse).collect()
    }
}

/// A message of a replica to the player, in its zone's epoch.
pub fn message(from: Address, fields: &StepFields<'_>) -> ZoneMsg {
    let plain: Vec<_> = fields.0.iter().copied().filter(|it| !it.contains('=')).collect();
    let msg = match plain[..] {
        ["entered"] | ["entered", "lost"] => ToPlayer::Entered {
            avatar: object(fields.get("avatar").unwrap_or("1.1.5")),
            incarnation: fields.count("incarnation", 1),
            lost: plain.contains(&"lost"),
            motion: motion(fields.get("motion").unwrap_or("0.0")),
            cursor: fields.count("cursor", 0),
            time: fields.time(),
        },
        ["not-here"] => ToPlayer::NotHere { primary: None },
        ["closed", why] => ToPlayer::Closed(closed(why)),
        ["corrected", moves] => ToPlayer::Corrected(motion(moves)),
        ["moved", order] => {
            let (generation, sequence) = pair(order, '.');
            ToPlayer::Moved { generation, sequence, time: fields.time() }
        }
        ["load", level] => ToPlayer::Load(load(level)),
        ["leads"] => ToPlayer::Leads,
        ["contacts"] => ToPlayer::Contacts(fields.list("replica", |it| link(it).0)),
        ["result", of, what] => ToPlayer::Result { number: number(of), outcome: outcome(what), index: 0 },
        _ => scene(&plain, fields),
    };
    ZoneMsg::ToPlayer(zone_of(from), Epoch(fields.count("epoch", 1)), msg)
}

/// A message about objects in sight.
fn scene(plain: &[&str], fields: &StepFields<'_>) -> ToPlayer {
    let (index, shown) = (fields.count("index", 0), fields.list("see", shown));
    let notices = fields.list("notice", |it| ByteBuf::from(it.as_bytes()));
    match *plain {
        ["sight"] => ToPlayer::Sight { index, objects: shown },
        ["told"] => ToPlayer::Told { index, shown, gone: fields.list("gone", gone), notices },
        ["views"] => ToPlayer::Views { shown, hidden: fields.list("hide", object) },
        _ => panic!("no such step: {plain:?}"),
    }
}
