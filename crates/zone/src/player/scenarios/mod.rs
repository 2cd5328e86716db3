//! The player's half of the protocol by example: `testdata/player/`, whose README says how a table is written.
//!
//! `web/client` runs the same tables on its own player, so that both do the same. `UPDATE=1` rewrites the lines after
//! `----`; the browser's side only checks.

mod parse;
mod print;

use super::{Player, PlayerCommand, PlayerConfig, PlayerOutbox, PlayerTimer};
use crate::rule::BrokenRules;
use game::PlayerId;
use machine::{Address, Input, LinkNumber, Machine as _, Output, Time};
use parse::StepFields;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

#[test]
fn the_player_does_what_the_tables_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/player");
    let mut tables: Vec<_> = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    tables.retain(|it| it.extension().is_some_and(|it| it == "txt"));
    tables.sort();
    assert!(20 <= tables.len(), "the tables are gone");
    let wrong: Vec<_> = tables.iter().filter_map(|it| check(it).err()).collect();
    assert!(wrong.is_empty(), "UPDATE=1 rewrites these tables:\n{}", wrong.join("\n"));
}

/// Compares a table with the player's behaviour, or rewrites it.
fn check(table: &Path) -> Result<(), String> {
    let expected = fs::read_to_string(table).unwrap();
    let found = run(&expected);
    if std::env::var_os("UPDATE").is_some() {
        fs::write(table, &found).unwrap();
        return Ok(());
    }
    if expected == found {
        return Ok(());
    }
    let same = expected.lines().zip(found.lines()).take_while(|(one, other)| one == other).count();
    Err(format!("{} from line {} on. Found:\n{found}", table.display(), same + 1))
}

/// Runs a table: blocks of comments and steps, each with the lines that the player caused after `----`.
fn run(table: &str) -> String {
    let mut bench = PlayerBench::new();
    let blocks = table.split("\n\n").map(|block| {
        let asked = block.split("----").next().unwrap().trim_matches('\n');
        let steps: Vec<_> = asked.lines().filter(|it| !it.starts_with('#')).collect();
        if steps.is_empty() { asked.to_owned() } else { format!("{asked}\n----\n{}", bench.block(&steps)) }
    });
    format!("{}\n", blocks.collect::<Vec<_>>().join("\n\n"))
}

/// One player, whose links and time are lines of a table.
struct PlayerBench {
    player: Player,
    now: Time,
    /// The newest link to each replica.
    links: BTreeMap<Address, u64>,
    out: PlayerOutbox,
    /// Lines that the player caused since the block began.
    lines: String,
    /// Beliefs of the player at the end of the last block.
    beliefs: Vec<String>,
}

impl PlayerBench {
    fn new() -> Self {
        let player = Player::new(PlayerConfig {
            player: PlayerId(9),
            session: 1,
            name: "Ada".to_owned(),
            seed: 1,
            notes: false,
            broken_rules: BrokenRules::NONE,
        });
        let (now, beliefs) = (Time::from_millis(1_000), print::beliefs(&player));
        Self { player, now, links: BTreeMap::new(), out: PlayerOutbox::new(), lines: String::new(), beliefs }
    }

    /// Takes the steps of one block. Returns the lines that the player caused, and its new beliefs.
    fn block(&mut self, steps: &[&str]) -> String {
        steps.iter().for_each(|it| self.step(it));
        let beliefs = print::beliefs(&self.player);
        for new in beliefs.iter().filter(|it| !self.beliefs.contains(it)) {
            writeln!(self.lines, "= {new}").unwrap();
        }
        self.beliefs = beliefs;
        let lines = std::mem::take(&mut self.lines);
        if lines.is_empty() { "nothing".to_owned() } else { lines.trim_end().to_owned() }
    }

    fn step(&mut self, step: &str) {
        let words: Vec<_> = step.split(' ').collect();
        match words[..] {
            ["again"] => *self = Self { lines: std::mem::take(&mut self.lines), ..Self::new() },
            ["at", time] => self.pass(Time::from_millis(parse::number(time))),
            ["asleep-until", time] => {
                self.now = Time::from_millis(parse::number(time));
                self.tell(Input::Wake);
            }
            ["wake"] => self.tell(Input::Wake),
            ["clock"] => {
                let world = self.player.world_time(self.now);
                self.line(&format!("clock {}", world.as_millis()));
            }
            ["up", link] => {
                let (peer, number) = parse::link(link);
                let number = number.unwrap_or_else(|| self.links.get(&peer).map_or(1, |it| it + 1));
                self.links.insert(peer, number);
                self.tell(Input::LinkUp { peer, link: LinkNumber(number) });
            }
            ["down", link] => {
                let (peer, link) = self.link(link);
                self.tell(Input::LinkDown { peer, link });
            }
            ["repeat", times, ..] => {
                let step = step.splitn(3, ' ').nth(2).unwrap();
                (0..parse::number(times)).for_each(|_| self.step(step));
            }
            ["quietly", ..] => {
                let before = self.lines.clone();
                self.step(step.split_once(' ').unwrap().1);
                self.lines = before;
            }
            ["act", _] | ["act-bytes", _] | ["steer", ..] | ["leave"] | ["pose", ..] => {
                self.command(parse::command(&words))
            }
            [from, ref message @ ..] => {
                let (from, link) = self.link(from);
                let msg = parse::message(from, &StepFields(message));
                self.tell(Input::Recv { from, link, msg });
            }
            [] => panic!("an empty step"),
        }
    }

    /// The replica of `1:1#2` and its link, which is the newest one unless another is named.
    fn link(&self, text: &str) -> (Address, LinkNumber) {
        let (peer, number) = parse::link(text);
        (peer, LinkNumber(number.unwrap_or_else(|| self.links[&peer])))
    }

    fn command(&mut self, command: PlayerCommand) {
        let before = self.player.last_id();
        self.tell(Input::Command(command));
        if before < self.player.last_id() {
            self.line(&format!("action #{}", self.player.last_id()));
        }
    }

    /// Lets time pass, and wakes the player at each of its deadlines.
    fn pass(&mut self, until: Time) {
        while let Some(at) = self.player.deadline().filter(|&it| it <= until) {
            self.now = self.now.max(at);
            self.tell(Input::Wake);
        }
        self.now = until;
    }

    fn tell(&mut self, input: Input<crate::msg::ZoneMsg, PlayerCommand>) {
        self.player.handle(self.now, input, &mut self.out);
        self.take_jitter_off();
        let mut effects = Vec::new();
        self.out.drain(|effect| {
            effects.push(match effect {
                Output::Send { to, lane, msg } => print::send(to, lane, &msg),
                Output::Raise(event) => print::event(&event),
            });
        });
        effects.iter().for_each(|it| self.line(it));
    }

    /// The pause before the next question is drawn at random, so that players do not ask all at once. A table is about
    /// the protocol, so it is run as if the shortest one was drawn.
    fn take_jitter_off(&mut self) {
        if self.player.timers.at(PlayerTimer::Ask).is_some() {
            let at = self.player.search.asked() + self.player.search.pause();
            self.player.timers.set(PlayerTimer::Ask, at);
        }
    }

    fn line(&mut self, text: &str) {
        writeln!(self.lines, "{} {text}", self.now.as_millis()).unwrap();
    }
}
