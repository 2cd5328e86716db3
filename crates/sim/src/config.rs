//! Every limit of the simulator, with its reason.

use machine::Span;

/// Bytes that may wait to leave over a link with a rate, unless the link's profile sets another limit.
/// About what a home connection buffers: longer queues only make every message late.
pub const QUEUE_LIMIT: usize = 256 * 1024;

/// After this many lost tries of one `Sure` message its link is cut, as a real transport gives up a
/// peer that acknowledges nothing. At a loss of one half that is one message in four billion.
pub const SURE_TRIES_MAX: u32 = 32;

/// The most inputs that may reach machines at one instant. Many may: half a million links that come up at once
/// are a million inputs. But a deadline that never moves on, or messages that go round without taking any
/// time, would stop virtual time for ever, and no experiment would report why.
pub const INPUTS_AT_ONCE_MAX: u32 = 1_000_000;

/// A direction that was cut silently for this long kills its link, as does a peer that crashed this
/// long ago, unless [`crate::Sim::set_give_up_after`] sets another time. About when a real transport with
/// keep-alives gives a silent peer up.
pub const GIVE_UP_AFTER: Span = Span::from_secs(5);

/// The rate of a clock that shows the true time, in millionths.
pub const TRUE_CLOCK_RATE: u32 = 1_000_000;
