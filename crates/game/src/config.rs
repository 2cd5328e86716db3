//! Every limit of a game, with its reason. What goes beyond is refused as a fault of the game.

use machine::Span;

/// The most bytes an object's state may encode to, and what is shown of it. An effect is a whole state, and effects travel to the
/// backup, to every neighbour and to every player near: large states make every event dear.
pub const STATE_MAX: usize = 4 * 1024;

/// The most bytes an action, a letter or a notice may encode to.
pub const MESSAGE_MAX: usize = 1024;

/// The most bytes a refusal may encode to: it is a reason, not a report.
pub const REFUSAL_MAX: usize = 256;

/// The most objects one event may write, spawn or remove. It must fit one record.
pub const WRITES_MAX: usize = 256;

/// The most objects a scope may name. Each may cost a message to another zone, and all are locked.
pub const SCOPE_MAX: usize = 256;

/// The most notices, letters or timers (each) one event may make.
pub const SAYS_MAX: usize = 64;

/// The farthest a timer may lie ahead: a year. What waits longer is a calendar, not a timer.
pub const TIMER_MAX: Span = Span::from_secs(366 * 24 * 3600);

/// The nearest a timer may lie ahead; a shorter wish is lengthened to it. A timer that sets itself again at once
/// would otherwise stop the world's time.
pub const TIMER_MIN: Span = Span::from_millis(1);

/// The shortest pause between two thoughts of one object; a shorter wish is lengthened to it.
pub const THINK_MIN: Span = Span::from_millis(20);

/// The most letters a player's name may have.
pub const NAME_MAX: usize = 32;

/// The deepest a type may be nested: every walk over a schema is recursive.
pub const SCHEMA_DEPTH_MAX: usize = 64;

/// How long a letter takes in a [`crate::Solo`] world. Among zones it is a round trip or two.
pub const SOLO_LETTER_DELAY: Span = Span::from_millis(1);

/// The most events one [`crate::Solo::advance`] may lead to. More is a game that never comes to rest, such as a
/// letter that sends two, and a test should say so instead of hanging.
pub const SOLO_EVENTS_MAX: usize = 1_000_000;

const _: () = assert!(WRITES_MAX <= SCOPE_MAX); // Whatever an event may write, its scope can name.
const _: () = assert!(TIMER_MIN.as_micros() <= THINK_MIN.as_micros());
