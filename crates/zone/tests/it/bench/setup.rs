//! The worlds that tables begin with.

use super::game::{NumbersGame, TableObject};
use super::names::{self, replica, zone_of};
use super::node::BenchNode;
use super::words;
use super::world::BenchWorld;
use game::Hosted;
use machine::{Address, Span};
use space::{Line, Partition, Polygon, Position, ZoneId};
use std::sync::Arc;
use zone::{BrokenRules, Durability, Leadership, Player, PlayerConfig, Replica, Timing, ZoneConfig};

/// The borders' x in metres: west of the first is zone 1.
const BORDERS: [i64; 2] = [0, 60];

/// The world reaches this many millimetres from its origin.
const EDGE: i64 = 200_000;

/// Hosts `a`, `b` and `c` may hold replicas of each zone.
const HOSTS: u64 = 3;

/// The time that a new world runs before its table begins: until every zone has a backup, knows its neighbours and has
/// let its players in.
const SETTLED: Span = Span::from_secs(4);

/// The world that the first block of a table describes.
#[derive(Clone, Debug)]
pub struct BenchSetup {
    pub zones: u32,
    /// The number of hosts that run at the beginning, 1 to 3.
    pub hosts: u64,
    pub durability: Durability,
    /// True if a replica may become primary alone after a full stop although the other has not come back.
    pub force: bool,
    pub game: NumbersGame,
    /// The clients of players who are in the world at the beginning.
    players: Vec<String>,
    /// True if the zone with the highest number has a newer map than the others.
    pub newer_map: bool,
}

impl Default for BenchSetup {
    fn default() -> Self {
        let (zones, hosts, durability) = (1, 2, Durability::Batched);
        let (game, players) = (NumbersGame::default(), Vec::new());
        Self { zones, hosts, durability, force: false, game, players, newer_map: false }
    }
}

fn place(x: &str) -> Position {
    Position::from_metres(x.parse().unwrap(), 0.0).unwrap()
}

/// The partition of the world: one to three zones from west to east.
fn map(zones: u32) -> Partition {
    let corner = |sign: i64| Position::saturating(sign * EDGE, sign * EDGE);
    let mut map = Partition::new(Polygon::rectangle(corner(-1), corner(1)).unwrap(), ZoneId(1));
    for (zone, x) in (1..zones).zip(BORDERS) {
        let at = |y| Position::saturating(x * 1_000, y);
        map = map.split(ZoneId(zone), Line::through(at(0), at(1)).unwrap(), ZoneId(zone + 1)).unwrap();
    }
    map
}

impl BenchWorld {
    /// Reads a line of the first block of a table. Returns whether it is one.
    pub fn prepare(&mut self, line: &str) -> bool {
        let setup = &mut self.setup;
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["zone"] => (),
            ["alone"] => setup.hosts = 1,
            ["two", "zones"] => setup.zones = 2,
            ["three", "zones"] => setup.zones = 3,
            ["durability", "synced"] => {
                setup.durability = Durability::Synced;
                self.names.counts_disks = true;
            }
            ["durability", "lazy"] => setup.durability = Durability::Lazy,
            ["forced"] => setup.force = true,
            ["newer", "map"] => setup.newer_map = true,
            ["show", kind] => drop(self.hidden.remove(&words::HiddenKind::parse(kind))),
            ["hide", kind] => drop(self.hidden.insert(words::HiddenKind::parse(kind))),
            ["player", name, value, "at", x] => self.add_player(name, value, x, true),
            ["away", name, value, "at", x] => self.add_player(name, value, x, false),
            ["object", name, value, "at", x] => self.add_object(name, value, x, false),
            ["thinker", name, value, "at", x] => self.add_object(name, value, x, true),
            _ => return false,
        }
        true
    }

    fn add_player(&mut self, name: &str, value: &str, x: &str, is_in: bool) {
        self.names.add_player(name);
        let id = self.names.player_of(name).0;
        self.setup.game.players.insert(id, (value.parse().unwrap(), place(x)));
        self.setup.players.extend(is_in.then(|| name.to_owned()));
    }

    fn add_object(&mut self, name: &str, value: &str, x: &str, thinks: bool) {
        let state = TableObject { name: name.to_owned(), value: value.parse().unwrap(), thinks };
        self.setup.game.objects.push((state, place(x)));
    }

    /// Starts the world, and lets it run until it is at rest. From then on the table decides what passes.
    pub fn begin(&mut self) {
        for zone in 1..=self.setup.zones {
            for host in 0..self.setup.hosts {
                let address = replica(ZoneId(zone), host);
                let node = self.new_replica(address);
                self.start(address, node);
                self.advance(Span::from_millis(500));
            }
        }
        for name in self.setup.players.clone() {
            let node = self.new_player(&name);
            self.start(self.names.address(&name), node);
        }
        self.advance(SETTLED);
        self.links.flow = false;
        self.lines(); // What happened until here is no part of the table.
        (1..=self.setup.zones).for_each(|zone| self.introduce(ZoneId(zone)));
    }

    fn introduce(&mut self, zone: ZoneId) {
        let entry =
            self.directory.entry(&zone::leadership_key(zone)).and_then(Leadership::from_bytes).unwrap();
        let Some(BenchNode::Replica(primary)) = self.nodes.get(&entry.primary) else { return };
        let mut objects: Vec<_> = primary.state().objects.iter().collect();
        objects.sort_unstable_by_key(|it| it.id);
        let at = |it: &zone::Object| f64::from(it.motion.position_at(self.now).x()) / 1_000.0;
        let objects =
            objects.into_iter().map(|it| format!("{} at {} m", words::object_state(&it.state), at(it)));
        let (objects, head) = (words::list(objects), primary.head());
        self.say(format!("z{}: {}, log up to {head}; {objects}", zone.0, words::leadership(entry)));
    }

    /// A replica as it starts.
    pub fn new_replica(&self, me: Address) -> BenchNode {
        let zone = zone_of(me).unwrap();
        // One split more makes another version of the partition.
        let map = match self.setup.newer_map && zone.0 == self.setup.zones {
            true => map(self.setup.zones + 1),
            false => map(self.setup.zones),
        };
        BenchNode::Replica(Box::new(Replica::new(ZoneConfig {
            zone,
            map: Arc::new(map),
            zone_of: Arc::new(zone_of),
            rules: Arc::new(Hosted(self.setup.game.clone())),
            me,
            replicas: (0..HOSTS).map(|host| replica(zone, host)).collect(),
            founds: names::host(me) == 'a',
            force: self.setup.force,
            durability: self.setup.durability,
            timing: Timing::default(),
            seed: 1,
            players_max: 8,
            notes: true,
            calls: Arc::default(),
            suspects: zone::Suspects::NONE,
            broken_rules: BrokenRules::NONE,
        })))
    }

    /// A player's machine as it starts: `ann`, or `ann-2` for her second session.
    pub fn new_player(&mut self, machine: &str) -> BenchNode {
        self.names.add_player(machine);
        let (player, session) = self.names.player_of(machine);
        let name = self.names.player(player).to_owned();
        let broken_rules = BrokenRules::NONE;
        let config = PlayerConfig { player, session, name, seed: 1, notes: false, broken_rules };
        BenchNode::Player(Box::new(Player::new(config)))
    }
}
