//! Every limit of the lobby, with its reason.

use machine::Span;

/// The most characters of a name: it is drawn above an avatar. The game cuts longer ones, so none may be longer.
pub const NAME_CHARS_MAX: usize = 24;

/// The fewest characters of a password: the least that NIST SP 800-63B asks for.
pub const PASSWORD_CHARS_MIN: usize = 8;

/// The most characters of a password. Enough for a sentence; hashing it costs no more than hashing a word.
pub const PASSWORD_CHARS_MAX: usize = 128;

/// Seconds for which a pass is valid: a player who comes back within a month need not log in again.
pub const PASS_SECONDS: u64 = 30 * 24 * 60 * 60;

/// Seconds for which a token is valid: enough to connect with, not to keep.
pub const TOKEN_SECONDS: u64 = 30;

/// Seconds by which the clocks of the lobby and a host may differ.
pub const SKEW_SECONDS: u64 = 5;

/// The longest pass or token, in bytes. Longer ones are refused unread. The longest one issued has about half of this.
pub const TEXT_MAX: usize = 1 << 10;

/// The longest name of a world, in bytes. It is signed into every token, but never sent.
pub const WORLD_MAX: usize = 256;

/// Used tokens that a host stores. A token is removed less than a minute after its use, so this allows more than a
/// thousand connections a second; two mebibytes.
pub const USED_MAX: usize = 1 << 16;

/// Memory to hash a password, in KiB. With [`HASH_PASSES`] and [`HASH_LANES`] this is the least that OWASP's Password
/// Storage Cheat Sheet asks for. It costs tens of milliseconds of one core, which bounds log-ins per second, and the
/// memory bounds log-ins at once: the caller limits that.
pub const HASH_KIB: u32 = 19 * 1024;

/// Passes over its memory that hashing a password makes.
pub const HASH_PASSES: u32 = 2;

/// Lanes in which a password is hashed.
pub const HASH_LANES: u32 = 1;

/// The most memory that a hash found on the disk may ask for, in KiB. Room for stronger hashes to come, none for a
/// damaged number that would ask for all memory.
pub const HASH_KIB_MAX: u32 = 256 * 1024;

/// The most passes that a hash found on the disk may ask for.
pub const HASH_PASSES_MAX: u32 = 16;

/// The longest hash of a password in text, in bytes.
pub const HASH_TEXT_MAX: usize = 128;

/// The most accounts. All of them are in memory, some hundred megabytes at the limit.
pub const ACCOUNTS_MAX: usize = 1 << 18;

/// New accounts after which a snapshot replaces the log, unless the caller says otherwise.
pub const SNAPSHOT_EVERY: u64 = 1_024;

/// End of the accounts' player ids, which start at 1, rise with each creation, and are never used twice.
pub const ACCOUNT_IDS_END: u64 = 1 << 40;

/// Start of the guests' player ids, which end at twice this. They are random, so that no record of guests is needed.
/// With a million guests, the chance that any two are the same is one in four million; with 40 random bits it would be
/// one in three.
pub const GUEST_IDS: u64 = 1 << 61;

/// The most addresses, and the most names, that the limits of log-in store.
pub const RATE_LIMIT_KEYS_MAX: usize = 1 << 14;

/// Log-ins from one address, with a password or as a guest.
pub const ADDRESS_RATE: Rate = Rate { burst: 20, every: Span::from_millis(500) };

/// Requests for sessions that one address may make per log-in. A player asks again whenever a connection breaks,
/// several times a second while a host is away, and all players behind one address lose their host at once. Each
/// request costs the directory a read, and a signature for every host.
pub const SESSIONS_PER_LOGIN: u32 = 50;

/// Password attempts for one account. An attacker gets 14,400 guesses a day: hopeless but for the very worst passwords,
/// while a person hardly notices.
pub const ACCOUNT_RATE: Rate = Rate { burst: 10, every: Span::from_secs(6) };

/// A rate limit: `burst` times at once, and once more after each `every`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Times allowed at once, after a long pause.
    pub burst: u32,
    /// Time until one more is allowed.
    pub every: Span,
}

impl Rate {
    /// The rate of this many times as often.
    pub fn times(self, factor: u32) -> Self {
        let every = Span::from_micros(self.every.as_micros() / u64::from(factor.max(1)));
        Self { burst: self.burst.saturating_mul(factor), every }
    }
}

/// The most bytes of one account on the disk: name, hash, and three numbers.
const ACCOUNT_BYTES: usize = 4 * NAME_CHARS_MAX + HASH_TEXT_MAX + 3 * 10;

const _: () = assert!(NAME_CHARS_MAX <= game::config::NAME_MAX);
const _: () = assert!(SKEW_SECONDS < TOKEN_SECONDS && TOKEN_SECONDS < PASS_SECONDS);
const _: () = assert!((ACCOUNTS_MAX as u64) < ACCOUNT_IDS_END && ACCOUNT_IDS_END <= GUEST_IDS);
const _: () = assert!(GUEST_IDS <= 1 << 61); // Twice this is the end of all ids, below 2^62.
const _: () = assert!(ACCOUNTS_MAX * ACCOUNT_BYTES < store::config::SNAPSHOT_MAX);
const _: () = assert!(ACCOUNT_BYTES < store::config::RECORD_MAX);
const _: () = assert!(HASH_KIB <= HASH_KIB_MAX && HASH_PASSES <= HASH_PASSES_MAX);
