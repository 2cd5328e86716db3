//! What it costs a peer of the overlay to hear a move, by how many neighbours it has.

use comfy_table::{CellAlignment, Table, presets};
use cpu_time::ThreadTime;
use machine::{Address, Input, LinkNumber, Machine, Outbox, Rng, Span, Time};
use overlay::{Command, Config, Event, Flags, Info, Knows, Msg, Peer};
use serde::Serialize;
use space::Position;

/// How many neighbours, by default: the paper's two lists, a crowd, and more.
pub const NEIGHBOURS: [u32; 6] = [6, 12, 24, 48, 96, 192];

/// The result.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Always `overlay`.
    pub bench: &'static str,
    /// Where chance started.
    pub seed: u64,
    /// One row per number of neighbours.
    pub rows: Vec<Row>,
}

/// What moves cost with so many neighbours.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Row {
    /// How many neighbours.
    pub neighbours: u32,
    /// Microseconds of a processor to hear a move, as the paper's peer.
    pub paper_hears_us: f64,
    /// The same as ours.
    pub fixed_hears_us: f64,
    /// Microseconds to make a move, as ours, with everything that is done then.
    pub fixed_moves_us: f64,
    /// With 1.5 moves per second and peer, the share of a processor that it all takes, as ours, in per cent.
    pub fixed_percent: f64,
}

/// Measures each number of neighbours for so many moves heard.
pub fn measure(neighbours: &[u32], moves: u32, seed: u64) -> Report {
    let row = |&count: &u32| {
        let (paper_hears_us, _) = Crowd::new(Config::paper(), count, seed).cost(moves);
        let (fixed_hears_us, fixed_moves_us) = Crowd::new(Config::fixed(), count, seed).cost(moves);
        let per_second = 1.5 * (f64::from(count) * fixed_hears_us + fixed_moves_us);
        Row {
            neighbours: count,
            paper_hears_us,
            fixed_hears_us,
            fixed_moves_us,
            fixed_percent: per_second / 1e4,
        }
    };
    Report { bench: "overlay", seed, rows: neighbours.iter().map(row).collect() }
}

/// The report for a terminal.
pub fn table(report: &Report) -> String {
    let mut table = Table::new();
    let header = [
        "neighbours",
        "paper: µs to hear a move",
        "ours: µs to hear a move",
        "ours: µs to make one",
        "ours: % of a processor at 1.5 moves/s",
    ];
    table.load_style(presets::UTF8_HORIZONTAL_ONLY).set_header(header);
    table.column_iter_mut().for_each(|it| it.set_cell_alignment(CellAlignment::Right));
    for it in &report.rows {
        table.add_row([
            it.neighbours.to_string(),
            format!("{:.1}", it.paper_hears_us),
            format!("{:.1}", it.fixed_hears_us),
            format!("{:.1}", it.fixed_moves_us),
            format!("{:.3}", it.fixed_percent),
        ]);
    }
    format!("{table}\n")
}

/// A peer with its neighbours around it, who wander about.
struct Crowd {
    peer: Peer,
    places: Vec<Position>,
    rng: Rng,
    now: Time,
    sequence: u32,
    out: Outbox<Msg, Event>,
}

const RENDEZVOUS: Address = Address(1_000_000);

impl Crowd {
    fn new(config: Config, neighbours: u32, seed: u64) -> Self {
        let middle = Position::new(0, 0).expect("a place");
        let info = |number: u64, position| Info {
            address: Address(number),
            life: 1,
            sequence: 0,
            position,
            aoi: config.aoi,
            group: 0,
        };
        let mut rng = Rng::seeded(seed).fork_named(u64::from(neighbours));
        let places: Vec<Position> = (0..neighbours).map(|_| around(&mut rng, middle, 55_000)).collect();
        // Nothing is held back: what is measured is a move, not its absence.
        let config = Config { uplink: None, crowd: None, ..config };
        let peer = Peer::new(config, info(0, middle), RENDEZVOUS, rng.fork_named(1));
        let (now, sequence, out) = (Time::from_millis(1), 0, Outbox::new());
        let mut crowd = Self { peer, places, rng, now, sequence, out };
        crowd.give(Input::Command(Command::Join(middle)));
        let all: Vec<Info> = (1u64..).zip(&crowd.places).map(|(it, place)| info(it, *place)).collect();
        let (from, list) = (all[0], all[1..].to_vec());
        crowd.hear(from.address, Msg::Welcome { from, list, again: false });
        for who in all {
            let (knows, credential) = (Knows::default(), Vec::new());
            let hello = Msg::Hello { who, want: true, answer: true, knows, nodes: Vec::new(), credential };
            crowd.hear(who.address, hello);
        }
        crowd
    }

    fn give(&mut self, input: Input<Msg, Command>) {
        self.peer.handle(self.now, input, &mut self.out);
        self.out.drain(|_| ());
    }

    fn hear(&mut self, from: Address, msg: Msg) {
        self.give(Input::Recv { from, link: LinkNumber(0), msg });
    }

    /// Microseconds to hear a move, and to make one.
    fn cost(mut self, moves: u32) -> (f64, f64) {
        let rounds = (moves as usize / self.places.len()).max(1);
        let (mut hearing, mut moving) = (0.0, 0.0);
        for _ in 0..rounds {
            self.now += Span::from_micros(666_667);
            self.sequence += 1;
            let steps: Vec<Msg> = (0..self.places.len()).map(|it| self.step_of(it)).collect();
            let start = ThreadTime::now();
            for (number, step) in (1u64..).zip(steps) {
                self.hear(Address(number), step);
            }
            hearing += start.elapsed().as_secs_f64();
            let place = around(&mut self.rng, Position::new(0, 0).expect("a place"), 2_000);
            let start = ThreadTime::now();
            self.give(Input::Command(Command::Move(place)));
            moving += start.elapsed().as_secs_f64();
        }
        (hearing * 1e6 / (rounds * self.places.len()) as f64, moving * 1e6 / rounds as f64)
    }

    /// Somebody's next step; every third stands at the edge of whom they see.
    fn step_of(&mut self, number: usize) -> Msg {
        let before = self.places[number];
        let position = around(&mut self.rng, before, 2_000);
        self.places[number] = position;
        let flags = Flags::WANT.with(Flags::BOUNDARY, number.is_multiple_of(3));
        Msg::Move { sequence: self.sequence, position, before: Some(before), flags, aoi: None, met: vec![] }
    }
}

/// Somewhere in a square around a place.
fn around(rng: &mut Rng, middle: Position, reach: u32) -> Position {
    let mut part = || rng.below(u64::from(reach) * 2 + 1) as i32 - reach as i32;
    let (dx, dy) = (part(), part());
    let within = |it: i32| it.clamp(-60_000, 60_000);
    Position::new(within(middle.x() + dx), within(middle.y() + dy)).expect("near the middle")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_with_neighbours_hears_them() {
        for config in [Config::paper(), Config::fixed()] {
            let crowd = Crowd::new(config, 12, 1);
            assert_eq!(crowd.peer.list().count(), 12);
            assert!(crowd.peer.is_ready());
        }
        let report = measure(&[6], 60, 1);
        assert!(0.0 < report.rows[0].fixed_hears_us, "{report:?}");
        assert!(table(&report).contains('6'));
    }
}
