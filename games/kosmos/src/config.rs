//! Every number of the game, with its reason.

use game::config::{SAYS_MAX, WRITES_MAX};
use machine::Span;
use space::Distance;

/// The range of sight and events: as far as a rocket flies, and no farther, because a zone sends every player the
/// objects in range.
pub const RANGE: Distance = Distance::of_metres(60);

/// Half the side of the default world: 400 m by 400 m, a minute across.
pub const WORLD_HALF: Distance = Distance::of_metres(200);

/// The highest speed of an avatar, per second.
pub const AVATAR_SPEED: Distance = Distance::of_metres(6);

/// The health of a living avatar at the start.
pub const AVATAR_HEALTH: u8 = 100;

/// The coins of a new player. Joining is the only event that makes coins.
pub const COINS_AT_START: u32 = 20;

/// The most items an avatar carries. A bag is sent whole with every change of its carrier.
pub const BAG_MAX: usize = 8;

/// The most bytes of a text that is said: a line on the screen.
pub const TEXT_MAX: usize = 200;

/// The distance at which a voice is heard.
pub const EARSHOT: Distance = Distance::of_metres(30);

/// The distance from which an avatar can pick up an item.
pub const PICK_UP_REACH: Distance = Distance::of_metres(3);

/// The largest distance between two avatars that trade.
pub const TRADE_REACH: Distance = Distance::of_metres(8);

/// The reach of an action that puts an item down or fires: beside the actor, and as far as it walks
/// while the event waits for its locks.
pub const ARM: Distance = Distance::of_metres(10);

/// The distance from the middle at which items of a falling bag lie.
pub const SCATTER: Distance = Distance::of_metres(1);

/// The speed of a rocket, per second: seen coming, hard to outrun.
pub const ROCKET_SPEED: Distance = Distance::of_metres(40);

/// The time that a rocket flies before it is spent.
pub const ROCKET_FLIGHT: Span = Span::from_millis(1_400);

/// The distance in front of its owner at which a rocket starts.
pub const MUZZLE: Distance = Distance::of_metres(1);

/// The pause between two shots.
pub const COOLDOWN: Span = Span::from_millis(500);

/// The pause between two looks of a rocket at the objects it passes.
pub const SWEEP_PAUSE: Span = Span::from_millis(50);

/// The time over which a rocket looks back. A flight that only goes on writes nothing, so a rocket does not know when
/// it last looked: twice the pause misses nothing as long as no look is more than one pause late.
pub const SWEEP_WINDOW: Span = Span::from_millis(100);

/// The largest distance of a pass that counts as a hit.
pub const HIT: Distance = Distance::of_metres(1);

/// The radius around a rocket that holds everything it can have hit within the window.
pub const SWEEP_REACH: Distance = Distance::of_metres(7);

/// The reach of a rocket's impact: the objects that it may have met, and all around them.
pub const ROCKET_REACH: Distance = Distance::of_metres(18);

/// The radius in which a blast hurts.
pub const BLAST: Distance = Distance::of_metres(5);

/// The radius in which a blast is heard.
pub const BLAST_HEARD: Distance = Distance::of_metres(40);

/// The damage of a blast in its middle, and at its edge.
pub const DAMAGE: (u8, u8) = (60, 20);

/// The most objects that one blast hurts, the nearest first. All of them change in one event, and the bags of
/// the dead fall in the same one.
pub const VICTIMS_MAX: usize = 24;

/// The time for which a hurt avatar stands still.
pub const STUN: Span = Span::from_millis(400);

/// The time for which a dead avatar lies before it rises elsewhere.
pub const RISE_AFTER: Span = Span::from_secs(3);

/// The points for felling an avatar: it is the harder prey.
pub const AVATAR_POINTS: u32 = 10;

/// The points for slaying an NPC.
pub const NPC_POINTS: u32 = 1;

/// The speed of an NPC, per second: slower than an avatar, or no player would ever catch one.
pub const NPC_SPEED: Distance = Distance::of_metres(3);

/// The health of a new NPC: one rocket that hits it.
pub const NPC_HEALTH: u8 = 50;

/// The distance at which an NPC notices avatars.
pub const NPC_SIGHT: Distance = Distance::of_metres(15);

/// The distance to its avatar at which a hound stops.
pub const HOUND_HEEL: Distance = Distance::of_metres(3);

/// The pause between two thoughts of an NPC.
pub const NPC_PAUSE: Span = Span::from_millis(500);

/// An NPC with no avatar near turns once in this many thoughts.
pub const NPC_TURNS: u64 = 6;

/// The distance ahead at which walkers look for the world's edge: more than they cover until they look again.
pub const EDGE_MARGIN: Distance = Distance::of_metres(8);

/// The time that a nest lies before an NPC hatches.
pub const HATCH_AFTER: Span = Span::from_secs(8);

/// One item lies on this many square metres of a new world.
pub const ITEM_AREA: u64 = 1_600;

/// One NPC lives on this many square metres of a new world.
pub const NPC_AREA: u64 = 3_200;

/// The longest side of the part of a new world that one event fills. Its corners must be within range of its
/// middle.
pub const PLOT: Distance = Distance::of_metres(80);

/// The most columns and rows a part of a new world is divided into at once. Each plot gets a letter.
pub const PLOTS_SIDE_MAX: u32 = 8;

const fn covers(speed: Distance, span: Span) -> u64 {
    speed.millimetres() as u64 * span.as_micros() / 1_000_000
}

// A rocket dies before it leaves the sight of the player who fired it.
const _: () = assert!(covers(ROCKET_SPEED, ROCKET_FLIGHT) <= RANGE.millimetres() as u64);

// A look finds every object that the rocket can have met since the window began, and so does a look at a rocket
// one window after its end.
const _: () = assert!(
    covers(ROCKET_SPEED, SWEEP_WINDOW) + covers(AVATAR_SPEED, SWEEP_WINDOW) + HIT.millimetres() as u64
        <= SWEEP_REACH.millimetres() as u64
);
const _: () = assert!(
    covers(ROCKET_SPEED, SWEEP_WINDOW)
        + SWEEP_REACH.millimetres() as u64
        + BLAST.millimetres() as u64
        + SCATTER.millimetres() as u64
        <= ROCKET_REACH.millimetres() as u64
);
const _: () = assert!(SWEEP_PAUSE.as_micros() < SWEEP_WINDOW.as_micros());

// The worst blast fits one event: every victim dies and drops a full bag; the rocket and its owner change too.
const _: () = assert!(VICTIMS_MAX * (1 + BAG_MAX) + 2 <= WRITES_MAX);
// The blast and every death are announced; every death sets a timer or sends a letter; then score and tally.
const _: () = assert!(VICTIMS_MAX + 2 <= SAYS_MAX);

// The corners of a plot are within range of its middle, and a letter for each plot fits one event.
const _: () = assert!((PLOT.squared() / 2) <= RANGE.squared());
const _: () = assert!((PLOTS_SIDE_MAX * PLOTS_SIDE_MAX) as usize <= SAYS_MAX);
const _: () = assert!(
    PLOT.squared() / 1_000_000 / ITEM_AREA + PLOT.squared() / 1_000_000 / NPC_AREA + 2 <= WRITES_MAX as u64
);

// A full bag fits the ring it falls in: one place for each eighth of a turn.
const _: () = assert!(BAG_MAX <= 8);
