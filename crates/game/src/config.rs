//! Every limit of a game, with its reason. What goes beyond is refused as a fault of the game.

use machine::Span;

/// The most bytes an object's state may encode to. An effect is a whole state, and effects travel to the
/// backup, to every neighbour and to every player near: large states make every event dear.
pub const STATE_MAX: usize = 4 * 1024;

/// The most bytes an action, a letter or a notice may encode to.
pub const MESSAGE_MAX: usize = 1024;

/// The most bytes a refusal may encode to: it is a reason, not a report.
pub const REFUSAL_MAX: usize = 256;

/// The most objects one event may write, spawn or remove. It must fit one record.
pub const WRITES_MAX: usize = 256;

/// The most notices, letters or timers (each) one event may make.
pub const SAYS_MAX: usize = 64;

/// The farthest a timer may lie ahead: a year. What waits longer is a calendar, not a timer.
pub const TIMER_MAX: Span = Span::from_secs(366 * 24 * 3600);

/// The shortest pause between two thoughts of one object; a shorter wish is lengthened to it.
pub const THINK_MIN: Span = Span::from_millis(20);

/// The most letters a player's name may have.
pub const NAME_MAX: usize = 32;
