//! The language of the tables: one step per line.

use super::game::NumbersAction;
use super::links::LinkDirection;
use super::names::zone_of;
use super::node::BenchNode;
use super::services::RequestFate;
use super::words::{self, HiddenKind};
use super::world::BenchWorld;
use machine::{Address, Lane, Span};
use serde_bytes::ByteBuf;
use space::{Heading, Motion, Velocity, ZoneId};
use zone::{FromPlayer, Leadership, PlayerCommand, ReplicaCommand, Suspect, ZoneMsg, leadership_key};

/// The lines of a wait of this length or more begin with their time.
const COUNTED: Span = Span::from_millis(100);

impl BenchWorld {
    /// Carries out one line of a block.
    pub fn step_line(&mut self, line: &str) {
        let words: Vec<_> = line.split(' ').collect();
        match words[..] {
            ["wait", count, unit] => self.wait(count, unit),
            ["deliver", "all"] => self.deliver_all(),
            ["deliver", count, from, "->", to] => self.deliver_some((from, to), count.parse().unwrap()),
            ["deliver", from, "->", to] => self.deliver_some((from, to), usize::MAX),
            ["drop", from, "->", to] => self.drop_messages(from, to),
            ["lose", from, "->", to] => self.links.drop_all(self.direction(from, to)),
            ["cut", ..] => self.directions(&words[1..]).into_iter().for_each(|it| self.links.cut(it)),
            ["mend", ..] => self.directions(&words[1..]).into_iter().for_each(|it| self.links.mend(it)),
            ["break", one, "<->", other] => {
                self.disconnect(self.direction(one, other));
                self.connect(self.direction(one, other));
            }
            ["disconnect", one, "<->", other] => self.disconnect(self.direction(one, other)),
            ["connect", one, "<->", other] => self.connect(self.direction(one, other)),
            ["links", "flow"] => self.links.flow = true,
            ["links", "wait"] => self.links.flow = false,
            ["start" | "kill" | "pause" | "resume" | "retire" | "hold" | "look", name] => {
                self.machine_step(words[0], name)
            }
            ["disk", name, does] => self.disk_step(name, does),
            ["accuse", zone, player, number] => self.accuse(zone, player, number.parse().unwrap()),
            ["directory", ..] => self.directory_step(&words[1..]),
            ["show", kind] => drop(self.hidden.remove(&HiddenKind::parse(kind))),
            ["hide", kind] => drop(self.hidden.insert(HiddenKind::parse(kind))),
            [name, ..] => self.player_step(name, &line[name.len() + 1..]),
            [] => (),
        }
        self.settle();
        self.counts_from = None;
    }

    fn wait(&mut self, count: &str, unit: &str) {
        let count = count.parse().unwrap();
        let span = if unit == "s" { Span::from_secs(count) } else { Span::from_millis(count) };
        self.counts_from = (COUNTED <= span).then_some(self.now);
        self.advance(span);
    }

    // Links.

    fn direction(&self, from: &str, to: &str) -> LinkDirection {
        (self.names.address(from), self.names.address(to))
    }

    /// `a -> b` is one direction, `a <-> b` both.
    fn directions(&self, words: &[&str]) -> Vec<LinkDirection> {
        match words {
            [from, "->", to] => vec![self.direction(from, to)],
            [one, "<->", other] => vec![self.direction(one, other), self.direction(other, one)],
            _ => panic!("no link: {words:?}"),
        }
    }

    fn deliver_all(&mut self) {
        while let Some(direction) = self.next_direction(true) {
            self.deliver(direction);
            self.settle();
        }
    }

    fn deliver_some(&mut self, (from, to): (&str, &str), count: usize) {
        let direction = self.direction(from, to);
        let waiting = self.links.len(direction);
        if waiting == 0 {
            self.say(format!("nothing waits from {from} to {to}"));
        }
        for _ in 0..waiting.min(count) {
            self.deliver(direction);
        }
    }

    /// Loses the messages in a direction. A link loses nothing while both ends live, so one of them must be dead.
    fn drop_messages(&mut self, from: &str, to: &str) {
        let direction = self.direction(from, to);
        let dead = |it: Address| !self.nodes.contains_key(&it);
        assert!(dead(direction.0) || dead(direction.1), "{from} and {to} live: `break` their link instead");
        self.links.drop_all(direction);
    }

    // Machines, disks, the directory.

    /// Does what a host's watchdog does: adds an action to the suspects of its zone.
    fn accuse(&mut self, zone: &str, player: &str, number: u64) {
        let (player, session) = self.names.player_of(player);
        let key = leadership_key(ZoneId(zone.trim_start_matches('z').parse().unwrap()));
        let entry = self.directory.entry(&key).and_then(Leadership::from_bytes).unwrap();
        let accused = entry.accusing(Suspect::Act { player, session, number });
        self.directory.replace(key, accused.to_bytes());
        self.say(format!("{zone}: {}", words::leadership(accused)));
    }

    fn machine_step(&mut self, does: &str, name: &str) {
        let address = match does {
            "start" if !name.starts_with('z') => self.names.add_player(name),
            _ => self.names.address(name),
        };
        match does {
            "start" => {
                let is_replica = zone_of(address).is_some();
                let node = if is_replica { self.new_replica(address) } else { self.new_player(name) };
                self.start(address, node);
            }
            "kill" => self.kill(address),
            "pause" => drop(self.paused.insert(address)),
            "resume" => drop(self.paused.remove(&address)),
            "retire" => self.command(address, ReplicaCommand::Leave),
            "hold" => self.command(address, ReplicaCommand::Hold),
            _ => self.look(address),
        }
    }

    fn disk_step(&mut self, name: &str, does: &str) {
        let address = self.names.address(name);
        let snapshot = match self.nodes.get(&address) {
            Some(BenchNode::Replica(it)) => Some(it.state().snapshot()),
            _ => None,
        };
        let disk = self.disks.entry(address).or_default();
        let done = match does {
            "waits" => {
                disk.waits = true;
                Vec::new()
            }
            "runs" => {
                disk.waits = false;
                disk.persist()
            }
            "snapshots" => {
                let snapshot = snapshot.expect("a replica that lives");
                disk.keep(snapshot.head, postcard::to_stdvec(&snapshot).unwrap());
                Vec::new()
            }
            "persists" => disk.persist(),
            "fails" => disk.fail(),
            _ => panic!("a disk waits, runs, persists, snapshots or fails"),
        };
        self.answers.extend(done.into_iter().map(|it| (address, ReplicaCommand::Disk(it))));
    }

    fn directory_step(&mut self, words: &[&str]) {
        let (of, fate) = match words {
            ["waits"] => return self.directory.waits = true,
            ["runs"] => {
                self.directory.waits = false;
                (None, RequestFate::Answered)
            }
            ["answers"] => (None, RequestFate::Answered),
            ["answers", name] => (Some(self.names.address(name)), RequestFate::Answered),
            ["serves", name, "and", "its", "answer", "is", "lost"] => {
                (Some(self.names.address(name)), RequestFate::AnswerLost)
            }
            ["never", "hears", name] => (Some(self.names.address(name)), RequestFate::Lost),
            _ => panic!("no step of the directory: {words:?}"),
        };
        for (address, _, done) in self.directory.answer(self.now, of, fate) {
            self.directory_answers(address, done, true);
        }
    }

    // Players.

    fn player_step(&mut self, name: &str, does: &str) {
        let address = self.names.address(name);
        let (verb, rest) = does.split_once(' ').unwrap_or((does, ""));
        match verb {
            "acts" => {
                let action = NumbersAction::parse(rest, &self.names);
                self.player_command(address, PlayerCommand::Act(postcard::to_stdvec(&action).unwrap()));
            }
            "walks" => self.player_command(address, PlayerCommand::Steer(velocity(rest), Heading::EAST)),
            "stops" => self.player_command(address, PlayerCommand::Steer(Velocity::ZERO, Heading::EAST)),
            "leaves" => self.player_command(address, PlayerCommand::Leave),
            "forges" => self.forge(address, rest),
            _ => panic!("no step: {name} {does}"),
        }
    }

    /// `forges act 2, add 5`: a client that breaks the protocol sends an action with a number of its choice.
    fn forge(&mut self, address: Address, text: &str) {
        let Some(BenchNode::Player(player)) = self.nodes.get(&address) else { panic!("only players forge") };
        let home = player.home().expect("a player who is in");
        let (number, action) = text.strip_prefix("act ").and_then(|it| it.split_once(", ")).unwrap();
        let action = ByteBuf::from(postcard::to_stdvec(&NumbersAction::parse(action, &self.names)).unwrap());
        let (number, motion) = (number.parse().unwrap(), Motion::default());
        self.send(
            address,
            &[home],
            Lane::Sure,
            &ZoneMsg::FromPlayer(FromPlayer::Act { number, acked: 0, motion, action }),
        );
    }
}

/// `east 4`: metres a second.
fn velocity(text: &str) -> Velocity {
    let (direction, speed) = text.split_once(' ').unwrap();
    let speed: f64 = speed.parse().unwrap();
    let (x, y) = match direction {
        "east" => (speed, 0.0),
        "west" => (-speed, 0.0),
        "north" => (0.0, speed),
        "south" => (0.0, -speed),
        _ => panic!("no direction: {direction}"),
    };
    Velocity::from_metres(x, y).unwrap()
}
