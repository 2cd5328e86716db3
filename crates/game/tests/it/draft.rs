//! Transactions as tables in `testdata/draft/`: what they read, and their product. Places are in metres; the time is 10
//! s.

use crate::probe::Probe;
use crate::testdata::table;
use game::machine::{Rng, Span, Time};
use game::space::{Distance, Epoch, Heading, Millis, Motion, ObjectId, Position, Velocity, ZoneId};
use game::{Addressee, Draft, DraftWrite, Hearers, NameAllocator, Product, Scope, SoloTable, Tx, WORLD};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::str::FromStr;

const NOW: Time = Time::from_millis(10_000);

#[test]
fn scope() {
    table("draft/scope.txt", run_event);
}

#[test]
fn limits() {
    table("draft/limits.txt", run_event);
}

#[test]
fn own_writes() {
    table("draft/writes.txt", run_event);
}

#[test]
fn motions() {
    table("draft/motions.txt", run_event);
}

/// `a` stands at the origin, `b` 5 m and `far` 50 m east of it; `m` passes 2 m at 1 m/s.
fn world() -> SoloTable {
    let still = |x: i32| Motion {
        position: Position::new(x * 1_000, 0).unwrap(),
        generation: 3,
        sequence: 7,
        ..Motion::default()
    };
    let velocity = Velocity::new(1_000, 0).unwrap();
    let moving = Motion { velocity, start: Millis(9_000), ..still(1) };
    let objects =
        [("a", still(0)), ("b", still(5)), ("far", still(50)), ("m", moving), ("WORLD", Motion::default())];
    SoloTable(objects.map(|(name, motion)| (known(name), (motion, encoded(name)))).into())
}

fn known(name: &str) -> ObjectId {
    let counter = match name {
        "WORLD" => return WORLD,
        "a" => 0,
        "b" => 1,
        "far" => 2,
        "m" => 3,
        _ => 99,
    };
    ObjectId { zone: ZoneId(1), epoch: Epoch(1), counter }
}

fn encoded(text: &str) -> Vec<u8> {
    let mut bytes = u8::try_from(text.len()).unwrap().to_le_bytes().to_vec();
    bytes.extend(text.bytes());
    bytes
}

/// Runs one event, one command per line, and describes its product or its fault.
fn run_event(commands: &[&str]) -> String {
    let before = world();
    let mut script = Script { names: BTreeMap::new(), out: String::new() };
    let (head, body) = commands.split_first().unwrap();
    let (scope, actor) = scope_of(head);
    let names = NameAllocator { zone: ZoneId(1), epoch: Epoch(2), next: 0 };
    let mut draft = Draft::new(&before, scope, actor, NOW, Rng::seeded(1), names);
    let mut tx = Tx::new(&mut draft);
    body.iter().for_each(|line| script.run(&mut tx, line));
    match draft.finish() {
        Ok((product, _)) => script.describe(&before, &product),
        Err(fault) => writeln!(script.out, "fault: {fault}").unwrap(),
    }
    script.out
}

/// `area X Y RADIUS [actor NAME]` or `objects NAME… [actor NAME]`.
fn scope_of(line: &str) -> (Scope, Option<ObjectId>) {
    let (scope, actor) =
        line.split_once(" actor ").map_or((line, None), |(scope, it)| (scope, Some(known(it))));
    let words: Vec<_> = scope.split(' ').collect();
    let scope = match words[..] {
        ["area", x, y, radius] => Scope::area(place(x, y), distance(radius)),
        ["objects", ref names @ ..] => Scope::objects(names.iter().map(|name| known(name))),
        _ => panic!("no scope: {line}"),
    };
    (scope, actor)
}

fn number<T: FromStr<Err: std::fmt::Debug>>(word: &str) -> T {
    word.parse().unwrap()
}

fn place(x: &str, y: &str) -> Position {
    Position::from_metres(number(x), number(y)).unwrap()
}

fn distance(metres: &str) -> Distance {
    Distance::from_metres(number(metres)).unwrap()
}

fn east(metres: &str) -> Velocity {
    Velocity::from_metres(number(metres), 0.0).unwrap()
}

struct Script {
    /// The spawned objects, by the names that the script gives them.
    names: BTreeMap<String, ObjectId>,
    out: String,
}

impl Script {
    fn run(&mut self, tx: &mut Tx<'_, '_, Probe>, line: &str) {
        let words: Vec<_> = line.split(' ').collect();
        match words[..] {
            ["repeat", times, ..] => {
                let line = line.splitn(3, ' ').nth(2).unwrap();
                (0..number(times)).for_each(|_| self.run(tx, line));
            }
            ["get", name] => {
                let found = tx.get(self.id(name));
                self.answer(line, &found.unwrap_or("nothing".to_owned()));
            }
            ["position", name] => {
                let found = tx.position(self.id(name));
                self.answer(line, &found.map_or("nothing".to_owned(), |it| it.to_string()));
            }
            ["motion", name] => {
                let found = tx.motion(self.id(name));
                self.answer(line, &found.map_or("nothing".to_owned(), |it| motion_text(&it)));
            }
            ["near", x, y, radius] => {
                let found = tx.near(place(x, y), distance(radius));
                self.answer(line, &self.list(&found));
            }
            ["objects"] => {
                let found = tx.objects();
                self.answer(line, &self.list(&found));
            }
            ["update", name, more] => {
                let updated = tx.update(self.id(name), |state| state.push_str(more));
                self.answer(line, if updated.is_some() { "done" } else { "nothing" });
            }
            _ => self.change(tx, &words),
        }
    }

    fn change(&mut self, tx: &mut Tx<'_, '_, Probe>, words: &[&str]) {
        match *words {
            ["put", name, state] => tx.put(self.id(name), &state.to_owned()),
            ["fill", name, bytes] => tx.put(self.id(name), &"x".repeat(number(bytes))),
            ["spawn", name, x, y] => self.name_spawned(name, tx.spawn(&name.to_owned(), place(x, y))),
            ["spawn-moving", name, x, y, speed] => {
                let spawned = tx.spawn_moving(&name.to_owned(), place(x, y), east(speed), Heading::EAST);
                self.name_spawned(name, spawned);
            }
            ["remove", name] => tx.remove(self.id(name)),
            ["place", name, x, y] => tx.place(self.id(name), place(x, y), Velocity::ZERO, Heading::NORTH),
            ["depart", name, x, y] => tx.depart(self.id(name), place(x, y)),
            ["steer", name, speed] => tx.steer(self.id(name), east(speed), Heading::EAST),
            ["notify", name, text] => tx.notify(Hearers::Player(self.id(name)), &text.to_owned()),
            ["notify-near", x, y, text] => tx.notify_near(place(x, y), distance("9"), &text.to_owned()),
            ["send", "world", text] => tx.send(Addressee::World, &text.to_owned()),
            ["send", name, text] => tx.send(Addressee::Object(self.id(name)), &text.to_owned()),
            ["send-long", bytes] => tx.send(Addressee::World, &"x".repeat(number(bytes))),
            ["schedule", name, secs, text] => {
                tx.schedule(self.id(name), Span::from_secs(number(secs)), &text.to_owned());
            }
            _ => panic!("no command: {words:?}"),
        }
    }

    fn name_spawned(&mut self, name: &str, object: ObjectId) {
        self.names.insert(name.to_owned(), object);
    }

    fn id(&self, name: &str) -> ObjectId {
        self.names.get(name).copied().unwrap_or_else(|| known(name))
    }

    fn name(&self, object: ObjectId) -> String {
        let spawned = self.names.iter().find(|(_, it)| **it == object).map(|(name, _)| name.clone());
        let old = || ["a", "b", "far", "m", "WORLD"].into_iter().find(|name| known(name) == object);
        spawned.or_else(|| old().map(str::to_owned)).unwrap_or_else(|| object.to_string())
    }

    fn list(&self, objects: &[ObjectId]) -> String {
        let names: Vec<_> = objects.iter().map(|&it| self.name(it)).collect();
        if names.is_empty() { "nothing".to_owned() } else { names.join(" ") }
    }

    fn answer(&mut self, line: &str, answer: &str) {
        writeln!(self.out, "{line}: {answer}").unwrap();
    }

    /// Describes the product of the event.
    fn describe(&mut self, before: &SoloTable, product: &Product) {
        let mut after = before.clone();
        after.apply(product);
        if 8 < product.writes.len() {
            return writeln!(self.out, "{} writes", product.writes.len()).unwrap();
        }
        for (&object, write) in &product.writes {
            let text = write_text(write);
            writeln!(self.out, "{}: {text}", self.name(object)).unwrap();
        }
        for (&object, motion) in &product.steered {
            writeln!(self.out, "{}: steered, {}", self.name(object), motion_text(motion)).unwrap();
        }
        for (to, bytes) in &product.letters {
            let to = match to {
                Addressee::Object(object) => self.name(*object),
                other => format!("{other:?}"),
            };
            writeln!(self.out, "letter to {to}: {}", state_text(bytes)).unwrap();
        }
        for (object, at, bytes) in &product.timers {
            writeln!(self.out, "timer of {} at {at}: {}", self.name(*object), state_text(bytes)).unwrap();
        }
        if !product.notices.is_empty() {
            writeln!(self.out, "{} notices", product.notices.len()).unwrap();
        }
        let read: Vec<_> = product.reads.keys().copied().collect();
        writeln!(self.out, "read {}", self.list(&read)).unwrap();
        if product.is_only_moves() {
            writeln!(self.out, "nothing to log").unwrap();
        }
    }
}

fn write_text(write: &DraftWrite) -> String {
    match write {
        DraftWrite::Spawned { motion, state } => {
            format!("spawned \"{}\", {}", state_text(state), motion_text(motion))
        }
        DraftWrite::Removed => "removed".to_owned(),
        DraftWrite::Changed { state, motion } => {
            let state = state.as_ref().map(|it| format!("now \"{}\"", state_text(it)));
            let motion = motion.as_ref().map(motion_text);
            state.into_iter().chain(motion).collect::<Vec<_>>().join(", ")
        }
    }
}

fn state_text(bytes: &[u8]) -> String {
    if 100 < bytes.len() {
        return format!("{} bytes", bytes.len());
    }
    String::from_utf8_lossy(&bytes[1..]).into_owned()
}

fn motion_text(motion: &Motion) -> String {
    let Motion { position, velocity, start, generation, sequence, .. } = motion;
    format!("{position} +{}mm/s since {}ms, {generation}.{sequence}", velocity.x(), start.0)
}
