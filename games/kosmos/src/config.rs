//! Every number of the game, with its reason.

use game::config::{SAYS_MAX, WRITES_MAX};
use machine::Span;
use space::Distance;

/// How far players see and events reach: as far as a rocket flies, and no farther, because whoever is in range
/// is what a zone sends about.
pub const RANGE: Distance = Distance::of_metres(60);

/// Half the side of the world that is played when nobody says otherwise: 400 m by 400 m, a minute across.
pub const WORLD_HALF: Distance = Distance::of_metres(200);

/// How fast an avatar may go, per second.
pub const AVATAR_SPEED: Distance = Distance::of_metres(6);

/// How much an avatar can take.
pub const AVATAR_HEALTH: u8 = 100;

/// The coins a newcomer has. Joining is the only event that makes coins.
pub const COINS_AT_START: u32 = 20;

/// The most items an avatar carries. A bag is sent whole with every change of its carrier.
pub const BAG_MAX: usize = 8;

/// The most bytes of a text that is said: a line on the screen.
pub const TEXT_MAX: usize = 200;

/// How far a voice carries.
pub const EARSHOT: Distance = Distance::of_metres(30);

/// How far an arm reaches for an item.
pub const PICK_UP_REACH: Distance = Distance::of_metres(3);

/// How far two may stand apart who trade.
pub const TRADE_REACH: Distance = Distance::of_metres(8);

/// How far an action reaches that puts something down or fires: beside the actor, and as far as it walks
/// while the event waits for its locks.
pub const ARM: Distance = Distance::of_metres(10);

/// How far from the middle things lie that fall in a heap.
pub const STREW: Distance = Distance::of_metres(1);

/// How fast a rocket flies, per second: seen coming, hard to outrun.
pub const ROCKET_SPEED: Distance = Distance::of_metres(40);

/// How long a rocket flies before it is spent.
pub const ROCKET_FLIGHT: Span = Span::from_millis(1_400);

/// How far in front of its owner a rocket starts.
pub const MUZZLE: Distance = Distance::of_metres(1);

/// The pause between two shots.
pub const COOLDOWN: Span = Span::from_millis(500);

/// The pause between two looks of a rocket at what it passes.
pub const SWEEP_PAUSE: Span = Span::from_millis(50);

/// How far back a rocket looks. A flight that only goes on writes nothing, so a rocket does not know when it
/// last looked: twice the pause misses nothing as long as no look is more than one pause late.
pub const SWEEP_WINDOW: Span = Span::from_millis(100);

/// How near a rocket must pass to hit.
pub const HIT: Distance = Distance::of_metres(1);

/// How far around a rocket those can be that it hit within the window.
pub const SWEEP_REACH: Distance = Distance::of_metres(7);

/// How far a rocket's impact reaches: whom it may have met, and everybody around them.
pub const ROCKET_REACH: Distance = Distance::of_metres(18);

/// How far a blast hurts.
pub const BLAST: Distance = Distance::of_metres(5);

/// How far a blast is heard.
pub const BLAST_HEARD: Distance = Distance::of_metres(40);

/// What a blast takes in its middle, and at its edge.
pub const DAMAGE: (u8, u8) = (60, 20);

/// The most one blast hurts, the nearest first. All of them change in one event, and what the dead carried
/// falls in the same one.
pub const VICTIMS_MAX: usize = 24;

/// How long somebody who was hurt stands still.
pub const STUN: Span = Span::from_millis(400);

/// How long the dead lie before they rise elsewhere.
pub const RISE_AFTER: Span = Span::from_secs(3);

/// What felling an avatar is worth: it is the harder prey.
pub const AVATAR_POINTS: u32 = 10;

/// What slaying an NPC is worth.
pub const NPC_POINTS: u32 = 1;

/// How fast an NPC runs, per second: slower than an avatar, or nobody would ever catch one.
pub const NPC_SPEED: Distance = Distance::of_metres(3);

/// How much an NPC can take: one rocket that hits it.
pub const NPC_HEALTH: u8 = 50;

/// How far an NPC notices avatars.
pub const NPC_SIGHT: Distance = Distance::of_metres(15);

/// How near a hound comes.
pub const HOUND_HEEL: Distance = Distance::of_metres(3);

/// The pause between two thoughts of an NPC.
pub const NPC_PAUSE: Span = Span::from_millis(500);

/// An NPC with nobody near turns once in this many thoughts.
pub const NPC_TURNS: u64 = 6;

/// How far ahead walkers look for the world's edge: more than they cover until they look again.
pub const EDGE_MARGIN: Distance = Distance::of_metres(8);

/// How long a nest lies before an NPC hatches.
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

// A rocket dies before it leaves the sight of whoever fired it.
const _: () = assert!(covers(ROCKET_SPEED, ROCKET_FLIGHT) <= RANGE.millimetres() as u64);

// A look finds everybody whom the rocket can have met since the window began, and so does a rocket that is
// looked at one window after its end.
const _: () = assert!(
    covers(ROCKET_SPEED, SWEEP_WINDOW) + covers(AVATAR_SPEED, SWEEP_WINDOW) + HIT.millimetres() as u64
        <= SWEEP_REACH.millimetres() as u64
);
const _: () = assert!(
    covers(ROCKET_SPEED, SWEEP_WINDOW)
        + SWEEP_REACH.millimetres() as u64
        + BLAST.millimetres() as u64
        + STREW.millimetres() as u64
        <= ROCKET_REACH.millimetres() as u64
);
const _: () = assert!(SWEEP_PAUSE.as_micros() < SWEEP_WINDOW.as_micros());

// The worst blast fits one event: every victim dies and drops a full bag; the rocket and its owner change too.
const _: () = assert!(VICTIMS_MAX * (1 + BAG_MAX) + 2 <= WRITES_MAX);
// The blast and every death are told; every death sets a timer or sends a letter; then score and tally.
const _: () = assert!(VICTIMS_MAX + 2 <= SAYS_MAX);

// The corners of a plot are within range of its middle, and a letter for each plot fits one event.
const _: () = assert!((PLOT.squared() / 2) <= RANGE.squared());
const _: () = assert!((PLOTS_SIDE_MAX * PLOTS_SIDE_MAX) as usize <= SAYS_MAX);
const _: () = assert!(
    PLOT.squared() / 1_000_000 / ITEM_AREA + PLOT.squared() / 1_000_000 / NPC_AREA + 2 <= WRITES_MAX as u64
);

// A full bag fits the ring it falls in: one place for each eighth of a turn.
const _: () = assert!(BAG_MAX <= 8);
