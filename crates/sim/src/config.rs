//! Every limit of the simulator, with its reason.

/// What may wait to leave over a link with a rate, unless its profile says otherwise, in bytes.
/// About what a home connection buffers: longer queues only make every message late.
pub const QUEUE_LIMIT: usize = 256 * 1024;

/// After this many lost tries of one `Sure` message its link is cut, as a real transport gives up a
/// peer that acknowledges nothing. At a loss of one half that is one message in four billion.
pub const SURE_TRIES_MAX: u32 = 32;

/// How often a machine may be woken at one instant. A machine may take its due timers one wake at a
/// time, but one that never moves its deadline on would stop virtual time for ever.
pub const WAKES_AT_ONCE_MAX: u32 = 10_000;
