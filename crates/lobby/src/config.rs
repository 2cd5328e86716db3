//! Every limit of the lobby, with its reason.

use machine::Span;

/// The most characters of a name: it stands over a head. The world cuts longer ones, so none may be longer.
pub const NAME_CHARS_MAX: usize = 24;

/// The fewest characters of a password: what NIST SP 800-63B asks for at least.
pub const PASSWORD_CHARS_MIN: usize = 8;

/// The most characters of a password. Enough for a sentence; hashing it costs no more than hashing a word.
pub const PASSWORD_CHARS_MAX: usize = 128;

/// How long a pass is good, in seconds: whoever comes back within a month is not asked again.
pub const PASS_SECONDS: u64 = 30 * 24 * 60 * 60;

/// How long a token is good, in seconds: to connect with, not to keep.
pub const TOKEN_SECONDS: u64 = 30;

/// How far the clocks of the lobby and a host may be apart, in seconds.
pub const SKEW_SECONDS: u64 = 5;

/// The longest pass or token, in bytes. Longer ones are refused unread. The longest that is minted has about half
/// of this.
pub const TEXT_MAX: usize = 1 << 10;

/// The longest name of a world, in bytes. It is signed into every token, but never sent.
pub const WORLD_MAX: usize = 256;

/// How many used tokens a host remembers. A token is forgotten less than a minute after it was used, so this is
/// more than a thousand connections a second; two mebibytes.
pub const USED_MAX: usize = 1 << 16;

/// How much memory hashing a password takes, in KiB. With [`HASH_PASSES`] and [`HASH_LANES`] this is the least that
/// OWASP's Password Storage Cheat Sheet asks for. It costs tens of milliseconds of one core, which bounds how many can log in
/// per second, and the memory bounds how many at once: the caller limits that.
pub const HASH_KIB: u32 = 19 * 1024;

/// How often hashing a password passes over its memory.
pub const HASH_PASSES: u32 = 2;

/// In how many lanes a password is hashed.
pub const HASH_LANES: u32 = 1;

/// The most memory that a hash found on the disk may ask for, in KiB. Room for stronger hashes to come, none for a
/// damaged number that would ask for all there is.
pub const HASH_KIB_MAX: u32 = 256 * 1024;

/// The most passes that a hash found on the disk may ask for.
pub const HASH_PASSES_MAX: u32 = 16;

/// The longest hash of a password in text, in bytes.
pub const HASH_TEXT_MAX: usize = 128;

/// How many accounts there may be. All of them are held in memory, some hundred megabytes at the limit.
pub const ACCOUNTS_MAX: usize = 1 << 18;

/// After so many new accounts a snapshot takes the place of the log, unless the caller says otherwise.
pub const SNAPSHOT_EVERY: u64 = 1_024;

/// Accounts get the player ids from 1 up to here, in order of their creation, and never one twice.
pub const ACCOUNT_IDS_END: u64 = 1 << 40;

/// Guests get player ids from here up to twice this, drawn at random, so that no log of guests is kept. With a
/// million guests, the chance that any two are the same is one in four million; with 40 random bits it would be
/// one in three.
pub const GUEST_IDS: u64 = 1 << 61;

/// How many addresses, and how many names, the limits of log-in remember.
pub const BUCKETS_MAX: usize = 1 << 14;

/// How often one address may ask, with a password or for a guest.
pub const ADDRESS_RATE: Rate = Rate { burst: 20, every: Span::from_millis(500) };

/// How many times as often one address may ask for sessions as it may come in. A player asks again whenever a line
/// breaks, some times a second while a host is away, and a household of them loses its host at once; beyond that,
/// asking costs the directory a look and a signature for every host.
pub const SESSIONS_PER_ENTRY: u32 = 50;

/// How often passwords may be tried for one account. Guessing goes on at 14,400 a day: hopeless but for the
/// very worst passwords, while a person hardly notices.
pub const ACCOUNT_RATE: Rate = Rate { burst: 10, every: Span::from_secs(6) };

/// How often something may happen: `burst` times at once, and once more `every` so often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// How often at once, after a long silence.
    pub burst: u32,
    /// How long it takes until once more is allowed.
    pub every: Span,
}

impl Rate {
    /// So many times as often.
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
