//! The cost of a received move to a peer of the overlay, by its number of neighbours.

use comfy_table::{CellAlignment, Table, presets};
use cpu_time::ThreadTime;
use machine::{Address, Input, LinkNumber, Machine, Outbox, Rng, Span, Time};
use overlay::{Flags, Info, Knows, OverlayMsg, Peer, PeerCommand, PeerConfig, PeerEvent};
use serde::Serialize;
use space::Position;

/// The default numbers of neighbours: the paper's two lists, a crowd, and more.
pub const NEIGHBOURS: [u32; 6] = [6, 12, 24, 48, 96, 192];

/// The result of `ecumene bench overlay`.
#[derive(Clone, Debug, Serialize)]
pub struct OverlayReport {
    /// Name of the benchmark: always `overlay`.
    pub bench: &'static str,
    /// Random seed of places and steps.
    pub seed: u64,
    /// One row per number of neighbours.
    pub rows: Vec<OverlayRow>,
}

/// The cost of moves with one number of neighbours.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct OverlayRow {
    /// Number of neighbours of the peer.
    pub neighbours: u32,
    /// CPU microseconds to handle a received move, with the paper's configuration.
    pub paper_hears_us: f64,
    /// The same with our fixed configuration.
    pub fixed_hears_us: f64,
    /// CPU microseconds to make a move, including its messages, with our fixed configuration.
    pub fixed_moves_us: f64,
    /// Share of a processor at 1.5 moves per second and peer, with our fixed configuration, in per cent.
    pub fixed_percent: f64,
}

/// Measures each number of neighbours for `moves` received moves.
pub fn measure(neighbours: &[u32], moves: u32, seed: u64) -> OverlayReport {
    let row = |&count: &u32| {
        let (paper_hears_us, _) = PeerBench::new(PeerConfig::paper(), count, seed).cost(moves);
        let (fixed_hears_us, fixed_moves_us) = PeerBench::new(PeerConfig::fixed(), count, seed).cost(moves);
        let per_second = 1.5 * (f64::from(count) * fixed_hears_us + fixed_moves_us);
        OverlayRow {
            neighbours: count,
            paper_hears_us,
            fixed_hears_us,
            fixed_moves_us,
            fixed_percent: per_second / 1e4,
        }
    };
    OverlayReport { bench: "overlay", seed, rows: neighbours.iter().map(row).collect() }
}

/// The report as a table for a terminal.
pub fn table(report: &OverlayReport) -> String {
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

/// A peer with neighbours around it that wander about.
struct PeerBench {
    peer: Peer,
    places: Vec<Position>,
    rng: Rng,
    now: Time,
    sequence: u32,
    out: Outbox<OverlayMsg, PeerEvent>,
}

const RENDEZVOUS: Address = Address(1_000_000);

impl PeerBench {
    fn new(config: PeerConfig, neighbours: u32, seed: u64) -> Self {
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
        // Without limits, so that every move is sent and measured.
        let config = PeerConfig { uplink: None, crowd: None, ..config };
        let peer = Peer::new(config, info(0, middle), RENDEZVOUS, rng.fork_named(1));
        let (now, sequence, out) = (Time::from_millis(1), 0, Outbox::new());
        let mut crowd = Self { peer, places, rng, now, sequence, out };
        crowd.give(Input::Command(PeerCommand::Join(middle)));
        let all: Vec<Info> = (1u64..).zip(&crowd.places).map(|(it, place)| info(it, *place)).collect();
        let (from, list) = (all[0], all[1..].to_vec());
        crowd.receive(from.address, OverlayMsg::Welcome { from, list, again: false });
        for who in all {
            let (knows, credential) = (Knows::default(), Vec::new());
            let hello =
                OverlayMsg::Hello { who, want: true, answer: true, knows, nodes: Vec::new(), credential };
            crowd.receive(who.address, hello);
        }
        crowd
    }

    fn give(&mut self, input: Input<OverlayMsg, PeerCommand>) {
        self.peer.handle(self.now, input, &mut self.out);
        // The peer's messages go nowhere: only its own work is measured.
        self.out.drain(|_| ());
    }

    fn receive(&mut self, from: Address, msg: OverlayMsg) {
        self.give(Input::Recv { from, link: LinkNumber(0), msg });
    }

    /// CPU microseconds to handle a received move, and to make one.
    fn cost(mut self, moves: u32) -> (f64, f64) {
        let rounds = (moves as usize / self.places.len()).max(1);
        let (mut hearing, mut moving) = (0.0, 0.0);
        for _ in 0..rounds {
            self.now += Span::from_micros(666_667);
            self.sequence += 1;
            let steps: Vec<OverlayMsg> = (0..self.places.len()).map(|it| self.step_of(it)).collect();
            let start = ThreadTime::now();
            for (number, step) in (1u64..).zip(steps) {
                self.receive(Address(number), step);
            }
            hearing += start.elapsed().as_secs_f64();
            let place = around(&mut self.rng, Position::new(0, 0).expect("a place"), 2_000);
            let start = ThreadTime::now();
            self.give(Input::Command(PeerCommand::Move(place)));
            moving += start.elapsed().as_secs_f64();
        }
        (hearing * 1e6 / (rounds * self.places.len()) as f64, moving * 1e6 / rounds as f64)
    }

    /// The next move of a neighbour; every third neighbour is a boundary neighbour.
    fn step_of(&mut self, number: usize) -> OverlayMsg {
        let before = self.places[number];
        let position = around(&mut self.rng, before, 2_000);
        self.places[number] = position;
        let flags = Flags::WANT.with(Flags::BOUNDARY, number.is_multiple_of(3));
        OverlayMsg::Move {
            sequence: self.sequence,
            position,
            before: Some(before),
            flags,
            aoi: None,
            met: vec![],
        }
    }
}

/// A random place in a square around a place.
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
    fn a_peer_receives_the_moves_of_its_neighbours() {
        for config in [PeerConfig::paper(), PeerConfig::fixed()] {
            let crowd = PeerBench::new(config, 12, 1);
            assert_eq!(crowd.peer.neighbours().count(), 12);
            assert!(crowd.peer.is_ready());
        }
        let report = measure(&[6], 60, 1);
        assert!(0.0 < report.rows[0].fixed_hears_us, "{report:?}");
        assert!(table(&report).contains('6'));
    }
}
