//! Every limit of a game, with its reason. An event that exceeds one is refused as a fault of the game.

use machine::Span;

/// The most bytes of an encoded state, and of an encoded `Shown`. An effect is a whole state, and effects travel to the
/// backup, to every neighbour and to every player near: large states make every event expensive.
pub const STATE_MAX: usize = 4 * 1024;

/// The most bytes of an encoded action, letter or notice: larger content belongs into a state.
pub const MESSAGE_MAX: usize = 1024;

/// The most bytes of an encoded refusal: it is a reason, not a report.
pub const REFUSAL_MAX: usize = 256;

/// The most objects that one event may write, spawn or remove: all of them stand in one record.
pub const WRITES_MAX: usize = 256;

/// The most objects that a scope may name. Each may cost a message to another zone, and all are locked.
pub const SCOPE_MAX: usize = 256;

/// The most notices, the most letters and the most timers of one event.
pub const SAYS_MAX: usize = 64;

/// The most steps of one event. Each call of a function of `Tx` is one step; every object that it finds, and every 64 bytes of a
/// state or message, is another. A million take about a tenth of a second, in which the zone does nothing else.
pub const STEPS_MAX: u64 = 1_000_000;

/// The deepest stack of one event, in bytes, where it calls a function of `Tx`. The threads of hosts have four times as much.
pub const STACK_MAX: usize = 512 * 1024;

/// The longest time of a timer: a year. A game that waits longer schedules again then.
pub const TIMER_MAX: Span = Span::from_secs(366 * 24 * 3600);

/// The shortest time of a timer; a shorter one is lengthened to it. A timer that sets itself again at once would
/// otherwise keep the zone busy for ever at one moment of world time.
pub const TIMER_MIN: Span = Span::from_millis(1);

/// The shortest pause between two thoughts of one object; a shorter one is lengthened to it.
pub const THINK_MIN: Span = Span::from_millis(20);

/// The most characters of a player's name; the rest is cut off.
pub const NAME_MAX: usize = 32;

/// The deepest nesting of a type: every walk over a schema is recursive.
pub const SCHEMA_DEPTH_MAX: usize = 64;

/// The delay of a letter in a [`crate::Solo`] world. Between zones it is a round trip or two.
pub const SOLO_LETTER_DELAY: Span = Span::from_millis(1);

/// The most events of one [`crate::Solo::advance`]. A game with more never comes to rest, such as one whose letters
/// send two letters each; the test then fails instead of hanging.
pub const SOLO_EVENTS_MAX: usize = 1_000_000;

// A scope of named objects can name all objects that an event may write.
const _: () = assert!(WRITES_MAX <= SCOPE_MAX);
const _: () = assert!(TIMER_MIN.as_micros() <= THINK_MIN.as_micros());
