//! The lobby as a value: logs players in, and numbers their sessions.
//!
//! Log-in and new accounts take three steps, because the middle one takes tens of milliseconds and can run elsewhere:
//! `lobby.begin_…` checks the limits, `….verify()` or `….hash(salt)` is slow and needs no lobby, `lobby.finish_…`
//! decides. A new account is stored between them: `lobby.reserve_account(…)`, then `log.store(…)`, which waits for the disk
//! and needs no lobby. Each step takes the result of the one before, so none can be left out. Likewise the caller verifies a
//! pass (`….verify(&issuer)`) and asks the directory for the world's clock between `begin_session` and `finish_session`.
//! Tokens are the issuer's, which can be shared: `issuer.session_token(…)`.

use crate::accounts::{
    AccountLog, AccountReservation, AccountSettings, Accounts, AccountsOpenError, CreateError, StoredAccount,
};
use crate::config::{ACCOUNT_RATE, ADDRESS_RATE, GUEST_IDS, Rate};
use crate::limits::{LoginLimits, TooOften};
use crate::passwords::{PasswordHash, hash_password, verify};
use crate::tokens::{Issuer, PassClaims, Token, TokenError, UnixSeconds};
use crate::{NameError, Password, PasswordError, PlayerName, PublicKey};
use game::PlayerId;
use machine::Time;
use std::net::IpAddr;
use std::sync::Arc;
use store::Media;
use thiserror::Error;

/// The log-in service of one world.
#[derive(Debug)]
pub struct Lobby {
    issuer: Arc<Issuer>,
    accounts: Accounts,
    limits: LoginLimits,
    last_session: u64,
}

/// The settings that the caller may choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LobbySettings {
    /// Log-ins from one address; for sessions it may ask [`SESSIONS_PER_LOGIN`] times as often. A test with a thousand
    /// bots at one address needs more than the default.
    ///
    /// [`SESSIONS_PER_LOGIN`]: crate::config::SESSIONS_PER_LOGIN
    pub address_rate: Rate,
    /// Password attempts for one account.
    pub account_rate: Rate,
    /// Snapshots and limits of the accounts' store.
    pub accounts: AccountSettings,
}

impl Default for LobbySettings {
    fn default() -> Self {
        let accounts = AccountSettings::default();
        Self { address_rate: ADDRESS_RATE, account_rate: ACCOUNT_RATE, accounts }
    }
}

/// Origin and time of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestSource {
    /// Address of the client, behind trusted proxies.
    pub address: IpAddr,
    /// Time by the monotonic clock, for rate limits.
    pub at: Time,
    /// Time by the wall clock, for expiry.
    pub now: UnixSeconds,
}

/// The result of a log-in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassGrant {
    /// The pass as text, valid for 30 days.
    pub pass: String,
    /// Number of the player, below 2^62.
    pub player: PlayerId,
    /// Name of the player, as first typed.
    pub name: PlayerName,
}

/// A session of a player in the world. The one with the highest number counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionGrant {
    /// Number of the session, higher than all before.
    pub number: u64,
    /// Number of the player, below 2^62.
    pub player: PlayerId,
    /// Name of the player, as first typed.
    pub name: PlayerName,
}

/// The reason why a request is refused. Each is one line for a person.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LobbyError {
    /// The name cannot be used.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The password cannot be used.
    #[error(transparent)]
    Password(#[from] PasswordError),
    /// Too many attempts from one address or for one account.
    #[error(transparent)]
    TooOften(#[from] TooOften),
    /// The account was not created.
    #[error(transparent)]
    Create(#[from] CreateError),
    /// No such account, or another password: an attacker must not learn which of the two.
    #[error("name and password do not fit: check both, and capital letters in the password")]
    Wrong,
    /// The pass is not valid, or has expired.
    #[error(transparent)]
    Pass(#[from] TokenError),
    /// The requested session number was never issued.
    #[error("there is no such session: ask for a new one")]
    NoSession,
}

/// A pass that counts against the limits, before it is verified.
#[derive(Clone, Debug)]
#[must_use = "a pass that is not verified gives no session"]
pub struct UncheckedPass {
    text: String,
    now: UnixSeconds,
}

/// A player with a valid pass, before the directory is asked for the world's clock.
#[derive(Clone, Debug)]
#[must_use = "a player with a pass has no session yet"]
pub struct PassHolder {
    pass: PassClaims,
}

/// A new account before its password is hashed.
#[derive(Clone, Debug)]
#[must_use = "an account that is not finished does not exist"]
pub struct Creation {
    name: PlayerName,
    password: Password,
}

/// A new account, its password hashed.
#[derive(Clone, Debug)]
#[must_use = "an account that is not finished does not exist"]
pub struct HashedCreation {
    name: PlayerName,
    password: PasswordHash,
}

/// A log-in before its password is checked.
#[derive(Clone, Debug)]
#[must_use = "a log-in that is not finished gives no pass"]
pub struct LoginAttempt {
    password: Password,
    hash: PasswordHash,
    account: Option<(PlayerId, PlayerName)>,
}

/// A log-in, its password checked.
#[derive(Clone, Debug)]
#[must_use = "a log-in that is not finished gives no pass"]
pub struct CheckedLogin {
    account: Option<(PlayerId, PlayerName)>,
}

impl PassHolder {
    /// Number of the player who holds the pass.
    pub const fn player(&self) -> PlayerId {
        self.pass.player
    }
}

impl Creation {
    /// Hashes the password: slow, and needs no lobby.
    pub fn hash(self, salt: [u8; 16]) -> HashedCreation {
        HashedCreation { name: self.name, password: hash_password(&self.password, salt) }
    }
}

impl LoginAttempt {
    /// Checks the password: slow, equally so if there is no such account, and needs no lobby.
    pub fn verify(self) -> CheckedLogin {
        let fits = verify(&self.password, &self.hash);
        CheckedLogin { account: self.account.filter(|_| fits) }
    }
}

impl UncheckedPass {
    /// Verifies the signature of the pass: slow, and needs no lobby.
    pub fn verify(self, issuer: &Issuer) -> Result<PassHolder, LobbyError> {
        Ok(PassHolder { pass: issuer.check_pass(&self.text, self.now)? })
    }
}

impl Issuer {
    /// A token that admits a session to a host, valid for 30 seconds: slow, and needs no lobby. `nonce` is 128 random bits.
    pub fn session_token(&self, session: &SessionGrant, host: u32, nonce: u128, now: UnixSeconds) -> String {
        let SessionGrant { number, player, ref name } = *session;
        let expires = Token::expiry(now);
        self.token(&Token { player, session: number, name: name.clone(), host, nonce, expires })
    }
}

impl Lobby {
    /// Opens the lobby of a world with its accounts on a medium. New accounts are stored in the log.
    pub fn open<M: Media>(
        media: M,
        issuer: Issuer,
        settings: LobbySettings,
    ) -> Result<(Self, AccountLog<M>), AccountsOpenError> {
        let (accounts, log) = Accounts::open(media, settings.accounts)?;
        let limits = LoginLimits::new(settings.address_rate, settings.account_rate);
        Ok((Self { issuer: Arc::new(issuer), accounts, limits, last_session: 0 }, log))
    }

    /// Logs in a guest as a new player. `random` is 64 random bits, from which the id is made.
    pub fn guest(&mut self, source: RequestSource, name: &str, random: u64) -> Result<PassGrant, LobbyError> {
        // Errors in the name first: they cost nothing, and must not count against the address.
        let name = PlayerName::parse(name)?;
        self.limits.from_address(source.at, source.address)?;
        Ok(self.admit(guest_id(random), name, source.now))
    }

    /// The first step of a new account: checks limits and name.
    pub fn begin_account(
        &mut self,
        source: RequestSource,
        name: &str,
        password: &str,
    ) -> Result<Creation, LobbyError> {
        let (name, password) = (PlayerName::parse(name)?, Password::parse(password)?);
        self.limits.from_address(source.at, source.address)?;
        // Before hashing, so that a taken name costs nothing.
        self.accounts.may_create(&name)?;
        Ok(Creation { name, password })
    }

    /// Reserves the name of a new account. It may be taken by now.
    pub fn reserve_account(&mut self, creation: HashedCreation) -> Result<AccountReservation, LobbyError> {
        Ok(self.accounts.reserve(creation.name, creation.password)?)
    }

    /// The last step of a new account: when this returns a pass, the account is on the disk.
    pub fn finish_account(
        &mut self,
        account: StoredAccount,
        now: UnixSeconds,
    ) -> Result<PassGrant, LobbyError> {
        let account = self.accounts.finish(account)?;
        Ok(self.admit(account.player, account.name.clone(), now))
    }

    /// The first step of a log-in: checks limits and finds the account.
    pub fn begin_login(
        &mut self,
        source: RequestSource,
        name: &str,
        password: &str,
    ) -> Result<LoginAttempt, LobbyError> {
        let (name, password) = (PlayerName::parse(name)?, Password::parse(password)?);
        self.limits.from_address(source.at, source.address)?;
        self.limits.for_account(source.at, &name.key())?;
        let account = self.accounts.find(&name);
        // An unknown name is verified against a dummy hash: the same time as a wrong password.
        let hash = account.map_or_else(PasswordHash::dummy, |it| it.password.clone());
        Ok(LoginAttempt { password, hash, account: account.map(|it| (it.player, it.name.clone())) })
    }

    /// The last step of a log-in: gives a pass if the password was right.
    pub fn finish_login(&self, login: CheckedLogin, now: UnixSeconds) -> Result<PassGrant, LobbyError> {
        let (player, name) = login.account.ok_or(LobbyError::Wrong)?;
        Ok(self.admit(player, name, now))
    }

    fn admit(&self, player: PlayerId, name: PlayerName, now: UnixSeconds) -> PassGrant {
        PassGrant { pass: self.issuer.pass(player, name.clone(), now), player, name }
    }

    /// The first step of a session: checks limits.
    pub fn begin_session(&mut self, source: RequestSource, pass: &str) -> Result<UncheckedPass, LobbyError> {
        // Before the pass is verified: a forged one costs a signature check, too.
        self.limits.for_session(source.at, source.address)?;
        Ok(UncheckedPass { text: pass.to_owned(), now: source.now })
    }

    /// The last step of a session: a new one, or an earlier one of the same player again.
    ///
    /// `clock` is the world's clock in microseconds, which never goes back, not even when the lobby restarts. So a new
    /// number is higher than any before without being stored on a disk. A requested number is accepted if it may have
    /// been issued: the pass proves the player, and a false number can only end their own sessions.
    pub fn finish_session(
        &mut self,
        holder: PassHolder,
        requested: Option<u64>,
        clock: u64,
    ) -> Result<SessionGrant, LobbyError> {
        let number = match requested {
            Some(number) if (1..=self.last_session.max(clock)).contains(&number) => number,
            Some(_) => return Err(LobbyError::NoSession),
            None => self.next_session(clock),
        };
        Ok(SessionGrant { number, player: holder.pass.player, name: holder.pass.name })
    }

    fn next_session(&mut self, clock: u64) -> u64 {
        let next = self.last_session.checked_add(1).expect("the world's clock is not at its end");
        // Several sessions may begin within one microsecond of the world's clock.
        self.last_session = next.max(clock);
        self.last_session
    }

    /// The issuer of passes and tokens, which works without the lobby.
    pub fn issuer(&self) -> Arc<Issuer> {
        Arc::clone(&self.issuer)
    }

    /// The public key with which hosts verify tokens.
    pub fn public(&self) -> PublicKey {
        self.issuer.public()
    }

    /// The accounts, to count them.
    pub const fn accounts(&self) -> &Accounts {
        &self.accounts
    }
}

// The remainder has no bias: 2^64 is a multiple of 2^61.
fn guest_id(random: u64) -> PlayerId {
    PlayerId(GUEST_IDS + random % GUEST_IDS)
}
