//! Every limit and timer of a zone, with its reason.

use crate::rule::BrokenRules;
use game::Rules;
use machine::{Address, Span};
use serde::{Deserialize, Serialize};
use space::{Distance, Partition, Polygon, ZoneId};
use std::sync::Arc;

/// Results kept for a player who does not acknowledge them. A client has at most [`UNACKED_MAX`] actions out.
pub const KEPT_MAX: usize = 256;

/// Actions a client may have sent without hearing their result. More would only wait at the zone.
pub const UNACKED_MAX: usize = 64;

/// Actions of one player that wait for an earlier one.
pub const AHEAD_MAX: usize = 64;

/// The most bytes of records in one message to the backup: a slow link still carries beacons between them.
pub const APPEND_BYTES_MAX: usize = 64 * 1024;

/// The most bytes of records sent to the backup and not acknowledged. At the limit the zone takes no actions
/// until an answer comes: what it took would only wait, and its log would grow without end.
pub const UNACKED_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Bytes of a snapshot per message to a new backup, one message per [`Timing::copy`].
pub const COPY_BYTES: usize = 64 * 1024;

/// Records kept in memory behind the committed one: for players who come back and for a backup that lost its
/// link for a moment.
pub const TAIL_MAX: usize = 4096;

/// Records between two snapshots on disk.
pub const SNAPSHOT_EVERY: u64 = 8192;

/// Records between two checkpoints of the state's hash.
pub const CHECKPOINT_EVERY: u64 = 256;

/// How far ahead of the zone's own time a move may start: a client's clock is an estimate.
pub const MOVE_AHEAD_MAX: Span = Span::from_millis(250);

/// How much farther than its range a player still knows an object, in percent: without slack, somebody on the
/// rim would come and go all the time.
pub const VIEW_SLACK_PERCENT: u32 = 10;

/// Letters and timers carried out at one go: a burst must not starve the players.
pub const DUE_MAX: usize = 256;

/// The most bytes of posted items in one message to another zone.
pub const POST_BYTES_MAX: usize = 64 * 1024;

/// How often a letter is passed on before it rests for a moment.
pub const HOPS_MAX: u8 = 3;

/// How far beyond its owner's border an object may be. Whoever gets there before the next zone has taken it over is
/// stopped. Events and ghosts reach that much farther, so that nobody is missed.
pub const STRAY_MAX: Distance = Distance::of_metres(12);

/// How far beyond the border somebody must be to change owners: whoever walks along it must not go to and fro.
pub const HYSTERESIS: Distance = Distance::of_metres(2);

/// How long an event may hold locks before it decides. Later it gives up and tries again.
pub const HOLD_MAX: Span = Span::from_millis(1_000);

/// How long an event that holds nothing waits in a queue before it asks again.
pub const WAIT_MAX: Span = Span::from_millis(3_000);

/// How long motions of the past are known: for events that were wanted a while ago.
pub const PAST_MAX: Span = Span::from_millis(2_000);

/// How long an action may look for room among others before it is given up.
pub const JOB_MAX: Span = Span::from_millis(4_000);

/// An action that waited for its player's earlier ones for this long does not wait for others.
pub const STALE_AFTER: Span = Span::from_millis(2_000);

/// How much later than it wanted a replica may wake and still trust its impression that the other one is silent.
/// Later, it was the one that slept.
pub const LATE_MAX: Span = Span::from_millis(100);

/// How announcements wait for disks. A zone that has lost its backup waits for its own disk, whatever this says; a zone
/// in a world of one host has nobody to lose, and does as this says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Durability {
    /// Both disks before anything is announced.
    Synced,
    /// The backup's memory before, both disks soon after.
    Batched,
    /// The backup's memory before, disks when there is time: a full stop may cost a second.
    Lazy,
}

/// When things happen by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Between two beacons of a primary.
    pub beacon: Span,
    /// A primary that no beacon was answered for this long sends no poses: somebody else may reign.
    pub lease: Span,
    /// A backup that heard nothing for this long asks the directory.
    pub grace: Span,
    /// A primary whose backup answered nothing for this long wants to reign alone. Longer than the grace, so that
    /// of two replicas that lost each other the backup, which may be the healthy one, moves first.
    pub patience: Span,
    /// Records that wait for company on their way to the backup.
    pub batch: Span,
    /// Between two writes to disk, when nothing waits for them,
    pub disk_batch: Span,
    /// and when they are lazy.
    pub disk_lazy: Span,
    /// Between two streams of motions to the backup.
    pub motions: Span,
    /// Between two looks at who sees whom.
    pub views: Span,
    /// Between two questions to the directory, while something is unclear.
    pub ask: Span,
    /// Between two parts of a snapshot for a new backup.
    pub copy: Span,
    /// A player without a connection stays this long.
    pub leave: Span,
}

impl Default for Timing {
    fn default() -> Self {
        let ms = Span::from_millis;
        Self {
            beacon: ms(50),
            lease: ms(200),
            grace: ms(300),
            patience: ms(400),
            batch: ms(1),
            disk_batch: ms(10),
            disk_lazy: ms(1_000),
            motions: ms(100),
            views: ms(200),
            ask: ms(100),
            copy: ms(20),
            leave: ms(10_000),
        }
    }
}

/// Knows the zones of addresses.
pub type ZoneOf = Arc<dyn Fn(Address) -> Option<ZoneId> + Send + Sync>;

/// What a replica is told when it starts.
#[derive(Clone)]
pub struct Config {
    /// Which zone.
    pub zone: ZoneId,
    /// Who owns which place.
    pub map: Arc<Partition>,
    /// Which zone the replica at an address belongs to; `None` for players.
    pub zone_of: ZoneOf,
    /// The game.
    pub rules: Arc<dyn Rules>,
    /// The replica's own address.
    pub me: Address,
    /// Every address that may hold a replica of this zone.
    pub peers: Vec<Address>,
    /// Whether this replica may found the world, if there is none.
    pub founds: bool,
    /// Whether it may go on alone after a full stop although its partner has not come back.
    pub force: bool,
    /// How announcements wait for disks.
    pub durability: Durability,
    /// When things happen by themselves.
    pub timing: Timing,
    /// Where the world's chance starts.
    pub seed: u64,
    /// The most players at once.
    pub players_max: usize,
    /// Whether to tell the owner everything that a checker needs.
    pub notes: bool,
    /// Rules that are broken on purpose, to see whether checkers notice: none in a real world.
    pub broken_rules: BrokenRules,
}

impl Config {
    /// The zone's region.
    ///
    /// # Panics
    ///
    /// If the map has no such zone.
    pub fn region(&self) -> &Polygon {
        self.map.polygon(self.zone).expect("a replica's zone is on its map")
    }

    /// Whether there are other zones.
    pub fn is_meshed(&self) -> bool {
        1 < self.map.zones().len()
    }

    /// Whether there is nobody who could be a backup.
    pub fn is_single(&self) -> bool {
        self.peers.iter().all(|&it| it == self.me)
    }

    /// How long records may wait to be written to disk, when nothing waits for them.
    pub fn disk_pause(&self) -> Span {
        match self.durability {
            Durability::Synced | Durability::Batched => self.timing.disk_batch,
            Durability::Lazy => self.timing.disk_lazy,
        }
    }

    /// How far a player sees.
    pub fn view(&self) -> Distance {
        self.rules.range()
    }
}
