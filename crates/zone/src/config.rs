//! Every limit and timer of a zone, with its reason.

use crate::call_slot::CallSlot;
use crate::rule::BrokenRules;
use crate::suspect::Suspects;
use game::HostedGame;
use machine::{Address, Span};
use serde::{Deserialize, Serialize};
use space::{Distance, Partition, Polygon, ZoneId};
use std::sync::Arc;

/// Results kept for a player who does not acknowledge them. A player has at most [`UNANSWERED_MAX`] actions out.
pub const KEPT_MAX: usize = 256;

/// Actions a player may have sent without hearing their result. More would only wait at the zone.
pub const UNANSWERED_MAX: usize = 64;

/// Every player has a bucket that pays for actions. It refills by one unit in this time, which pays for an action of one
/// zone: 80 per second, more than a connection carries.
pub const ACTION_EVERY: Span = Span::from_micros(12_500);

/// Units in a full bucket: as many as a connection's burst of messages.
pub const ACTION_BURST: u64 = 240;

/// Units that an action of several zones costs for each of them: two messages and two records in each, and locks that keep
/// others waiting. A player may reach into another zone eight times per second, after a burst of 24.
pub const ZONE_PRICE: u64 = 5;

/// Hearers of an action's notices per unit of what it costs: a message to each. A player who talks to a crowd of 300 may say
/// two lines per second.
pub const HEARERS_PER_UNIT: usize = 8;

/// An action that waited for its player's bucket for this long is answered "busy": its player learns soon that the world is
/// crowded.
pub const BUSY_AFTER: Span = Span::from_millis(500);

/// Busy answers after which a record takes those of no further player.
pub const BUSY_ANSWERS_MAX: usize = 1_000;

/// Actions of one player that wait for an earlier one.
pub const AHEAD_MAX: usize = 64;

/// The most bytes of records in one message to the backup: a slow link still carries beacons between them.
pub const APPEND_BYTES_MAX: usize = 64 * 1024;

/// The most bytes of records that are committed and not announced. At the limit the zone takes no actions, and no post,
/// until some are safe: what it took would only wait, and its log would grow without end.
pub const UNANNOUNCED_BYTES_MAX: usize = 8 * 1024 * 1024;

/// The most bytes of records in one append to the disk: half of what the store takes at once.
pub const DISK_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Records that the slower disk of primary and backup may lack. Beyond, announcements wait for it, and with them the zone:
/// the replica with the slow disk holds these records in memory.
pub const UNSYNCED_MAX: u64 = 65_536;

/// Bytes of a snapshot per message to a new backup, one message per [`Timing::copy`].
pub const COPY_BYTES: usize = 64 * 1024;

/// Records kept in memory behind the newest: for players who come back and for a backup that lost its link for a
/// moment.
pub const TAIL_MAX: usize = 4096;

/// Records between two snapshots on disk.
pub const SNAPSHOT_EVERY: u64 = 8192;

/// Least number of records between two checkpoints of the state's hash. One is written when something is due.
pub const CHECKPOINT_EVERY: u64 = 256;

/// Limit of how far ahead of the zone's own time a move may start: a player's clock is an estimate.
pub const MOVE_AHEAD_MAX: Span = Span::from_millis(250);

/// Slack of a player's range for objects already in sight, in percent: without it, an object on the rim would come
/// and go all the time.
pub const VIEW_SLACK_PERCENT: u32 = 10;

/// Letters and timers executed per wake: a burst must not starve the players.
pub const DUE_MAX: usize = 256;

/// The most bytes of posted items in one message to another zone.
pub const POST_BYTES_MAX: usize = 64 * 1024;

/// Zones that forward a letter in a row before one keeps it for a moment: zones with outdated locations would pass it
/// around.
pub const HOPS_MAX: u8 = 3;

/// Limit of how far beyond its owner's border an object may be. An object that gets there before the next zone has
/// taken it over is stopped. Events and ghosts reach that much farther, so that no such object is missed.
pub const STRAY_MAX: Distance = Distance::of_metres(12);

/// Distance beyond the border at which an object changes owners: an avatar that walks along the border must not be
/// transferred to and fro.
pub const HYSTERESIS: Distance = Distance::of_metres(2);

/// Limit of how long an event holds locks undecided. Then the coordinator releases them and tries again.
pub const HOLD_MAX: Span = Span::from_millis(1_000);

/// Limit of how long an event that holds no locks waits in a queue before it asks again.
pub const WAIT_MAX: Span = Span::from_millis(3_000);

/// Age up to which a zone remembers motions: for events whose moment is a while ago.
pub const PAST_MAX: Span = Span::from_millis(2_000);

/// Limit of how long an action tries to get its locks before its result is `Busy`.
pub const JOB_MAX: Span = Span::from_millis(4_000);

/// An action that waited for its player's earlier ones for this long does not wait for locks as well.
pub const STALE_AFTER: Span = Span::from_millis(2_000);

/// Delay of its own wake-up up to which a replica or player believes that the other side is silent. After a longer
/// delay it slept itself, and messages may wait unread.
pub const LATE_MAX: Span = Span::from_millis(100);

/// The disks that an announcement waits for. A zone that has lost its backup waits for its own disk, whatever this
/// says; a zone in a world of one host never had a backup, and does as this says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Durability {
    /// Primary and backup have a record on disk before it is announced.
    Synced,
    /// The backup has it in memory before, both disks soon after.
    Batched,
    /// The backup has it in memory before, disks about once per second: a full stop may lose the last second or two.
    Lazy,
}

/// Intervals and timeouts of a replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Interval between two beacons of a primary.
    pub beacon: Span,
    /// A primary whose beacons were not answered for this long sends no poses: another replica may be primary.
    pub lease: Span,
    /// A backup that heard nothing for this long asks the directory.
    pub grace: Span,
    /// A primary whose backup answered nothing for this long wants to lead alone. Longer than the grace, so that
    /// of two replicas that lost each other the backup, which may be the healthy one, moves first.
    pub patience: Span,
    /// Delay of records on their way to the backup, so that several travel in one message.
    pub batch: Span,
    /// Interval between two writes to disk, when no announcement waits for them; twice as long if no grant or post item
    /// does, either.
    pub disk_batch: Span,
    /// The same interval with [`Durability::Lazy`].
    pub disk_lazy: Span,
    /// Interval between two streams of motions to the backup.
    pub motions: Span,
    /// Interval between two computations of which player sees which objects.
    pub views: Span,
    /// Interval between two questions to the directory, while something is unclear.
    pub ask: Span,
    /// Interval between two parts of a snapshot for a new backup.
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

/// Maps the address of a replica to its zone; `None` for players.
pub type ZoneOf = Arc<dyn Fn(Address) -> Option<ZoneId> + Send + Sync>;

/// Configuration of one replica of a zone.
#[derive(Clone)]
pub struct ZoneConfig {
    /// The zone that this is a replica of.
    pub zone: ZoneId,
    /// The partition of the world into regions.
    pub map: Arc<Partition>,
    /// Maps an address to its zone.
    pub zone_of: ZoneOf,
    /// The game, as the zone calls it.
    pub rules: Arc<dyn HostedGame>,
    /// Address of the replica itself.
    pub me: Address,
    /// Every address that may hold a replica of this zone.
    pub replicas: Vec<Address>,
    /// Whether this replica may found the world, if there is none.
    pub founds: bool,
    /// Whether it may go on alone after a full stop although its partner has not come back.
    pub force: bool,
    /// The disks that announcements wait for.
    pub durability: Durability,
    /// Intervals and timeouts of the replica.
    pub timing: Timing,
    /// Random seed of the world.
    pub seed: u64,
    /// Limit of players in the zone at once.
    pub players_max: usize,
    /// Whether to raise notes for the checkers.
    pub notes: bool,
    /// Where the replica notes the call of the game that is under way.
    pub calls: Arc<CallSlot>,
    /// Calls of the game that did not come back in an earlier life of the host: if this replica leads, it answers them as faults.
    pub suspects: Suspects,
    /// Rules that are broken on purpose, to see whether checkers notice: none in a real world.
    pub broken_rules: BrokenRules,
}

impl ZoneConfig {
    /// The region that the zone decides in.
    ///
    /// # Panics
    ///
    /// If the map has no such zone.
    pub fn region(&self) -> &Polygon {
        self.map.polygon(self.zone).expect("a replica's zone is on its map")
    }

    /// Whether the world has other zones.
    pub fn is_meshed(&self) -> bool {
        1 < self.map.zones().len()
    }

    /// Whether no other address can hold a backup.
    pub fn is_single(&self) -> bool {
        self.replicas.iter().all(|&it| it == self.me)
    }

    /// Delay of records on their way to the disk, when no announcement waits for them. `is_awaited` if a grant or a post item
    /// is among them.
    pub fn disk_pause(&self, is_awaited: bool) -> Span {
        match self.durability {
            Durability::Synced | Durability::Batched if is_awaited => self.timing.disk_batch,
            Durability::Synced | Durability::Batched => self.timing.disk_batch.times(2),
            Durability::Lazy => self.timing.disk_lazy,
        }
    }

    /// The time by which both disks may be late before announcements wait for them: a full stop must not lose more than
    /// the durability says, also when disks are slow.
    pub fn disk_late(&self) -> Span {
        match self.durability {
            Durability::Synced | Durability::Batched => self.timing.disk_batch.times(5),
            Durability::Lazy => self.timing.disk_lazy.times(2),
        }
    }

    /// The distance up to which a player sees objects.
    pub fn view(&self) -> Distance {
        self.rules.range()
    }
}
