//! The lobby as a value: who comes in, as whom, in which session.
//!
//! Log-in and new accounts come in three steps, because the middle one takes tens of milliseconds and can run elsewhere:
//! `lobby.begin_…` looks and limits, `….verify()` or `….hash(salt)` works and needs no lobby, `lobby.finish_…`
//! decides. Each step takes what the one before gave, so none can be left out. Likewise for a session the world is
//! asked for its clock only between `begin_session` and `finish_session`, when somebody has shown a pass.

use crate::accounts::{AccountSettings, Accounts, CreateError, OpenError};
use crate::config::{ACCOUNT_RATE, ADDRESS_RATE, GUEST_IDS, Rate};
use crate::limits::{Attempts, TooOften};
use crate::passwords::{PasswordHash, hash_password, verify};
use crate::tokens::{Issuer, Pass, Token, TokenError, UnixSeconds};
use crate::{Name, NameError, Password, PasswordError, PublicKey};
use game::PlayerId;
use machine::Time;
use std::net::IpAddr;
use store::Media;
use thiserror::Error;

/// The front door of a world.
#[derive(Debug)]
pub struct Lobby<M> {
    issuer: Issuer,
    accounts: Accounts<M>,
    attempts: Attempts,
    last_session: u64,
}

/// What a caller may choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How often one address may come in; for sessions it may ask [`SESSIONS_PER_ENTRY`] times as often. A trial with
    /// a thousand bots at one address needs more than the default.
    ///
    /// [`SESSIONS_PER_ENTRY`]: crate::config::SESSIONS_PER_ENTRY
    pub address_rate: Rate,
    /// How often passwords may be tried for one account.
    pub account_rate: Rate,
    /// How accounts are kept.
    pub accounts: AccountSettings,
}

impl Default for Settings {
    fn default() -> Self {
        let accounts = AccountSettings::default();
        Self { address_rate: ADDRESS_RATE, account_rate: ACCOUNT_RATE, accounts }
    }
}

/// Who asks, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    /// From where.
    pub address: IpAddr,
    /// When, by the clock that never goes back.
    pub at: Time,
    /// When, by the clock on the wall.
    pub now: UnixSeconds,
}

/// Somebody who was let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admission {
    /// Proves it for 30 days.
    pub pass: String,
    /// Who.
    pub player: PlayerId,
    /// What they are called.
    pub name: Name,
}

/// A player's stay in the world. The newest counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Its number.
    pub number: u64,
    /// Who.
    pub player: PlayerId,
    /// What they are called.
    pub name: Name,
}

/// Why somebody is not let in. Each is one line for a person.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LobbyError {
    /// The name cannot be used.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The password cannot be used.
    #[error(transparent)]
    Password(#[from] PasswordError),
    /// Too many attempts.
    #[error(transparent)]
    TooOften(#[from] TooOften),
    /// There is no new account.
    #[error(transparent)]
    Create(#[from] CreateError),
    /// No such account, or another password: which of the two is nobody's business.
    #[error("name and password do not fit: check both, and capital letters in the password")]
    Wrong,
    /// The pass is not good.
    #[error(transparent)]
    Pass(#[from] TokenError),
    /// A session that was never begun.
    #[error("there is no such session: ask for a new one")]
    NoSession,
}

/// Somebody with a good pass, before the world is asked for its clock.
#[derive(Clone, Debug)]
#[must_use = "whoever holds a pass has no session yet"]
pub struct Holder {
    pass: Pass,
}

/// A new account before its password is hashed.
#[derive(Clone, Debug)]
#[must_use = "an account that is not finished does not exist"]
pub struct Creation {
    name: Name,
    password: Password,
}

/// A new account, its password hashed.
#[derive(Clone, Debug)]
#[must_use = "an account that is not finished does not exist"]
pub struct HashedCreation {
    name: Name,
    password: PasswordHash,
}

/// A log-in before its password is checked.
#[derive(Clone, Debug)]
#[must_use = "a log-in that is not finished lets nobody in"]
pub struct Login {
    password: Password,
    hash: PasswordHash,
    account: Option<(PlayerId, Name)>,
}

/// A log-in, its password checked.
#[derive(Clone, Debug)]
#[must_use = "a log-in that is not finished lets nobody in"]
pub struct CheckedLogin {
    account: Option<(PlayerId, Name)>,
}

impl Creation {
    /// Hashes the password: slow, and needs no lobby.
    pub fn hash(self, salt: [u8; 16]) -> HashedCreation {
        HashedCreation { name: self.name, password: hash_password(&self.password, salt) }
    }
}

impl Login {
    /// Checks the password: slow, equally so if there is no such account, and needs no lobby.
    pub fn verify(self) -> CheckedLogin {
        let fits = verify(&self.password, &self.hash);
        CheckedLogin { account: self.account.filter(|_| fits) }
    }
}

impl<M: Media> Lobby<M> {
    /// Opens the lobby of a world, its accounts on a medium.
    pub fn open(media: M, issuer: Issuer, settings: Settings) -> Result<Self, OpenError> {
        let accounts = Accounts::open(media, settings.accounts)?;
        let attempts = Attempts::new(settings.address_rate, settings.account_rate);
        Ok(Self { issuer, accounts, attempts, last_session: 0 })
    }

    /// Lets a guest in, as a new player. `random` is 64 random bits: they are the id.
    pub fn guest(&mut self, caller: Caller, name: &str, random: u64) -> Result<Admission, LobbyError> {
        let name = Name::parse(name)?;
        self.attempts.from_address(caller.at, caller.address)?;
        Ok(self.admit(guest_id(random), name, caller.now))
    }

    /// The first step to a new account.
    pub fn begin_account(
        &mut self,
        caller: Caller,
        name: &str,
        password: &str,
    ) -> Result<Creation, LobbyError> {
        let (name, password) = (Name::parse(name)?, Password::parse(password)?);
        self.attempts.from_address(caller.at, caller.address)?;
        self.accounts.may_create(&name)?;
        Ok(Creation { name, password })
    }

    /// The last step to a new account: when this returns, it is on the disk. The name may be taken by now.
    pub fn finish_account(
        &mut self,
        creation: HashedCreation,
        now: UnixSeconds,
    ) -> Result<Admission, LobbyError> {
        let HashedCreation { name, password } = creation;
        let player = self.accounts.create(name.clone(), password)?;
        Ok(self.admit(player, name, now))
    }

    /// The first step to log in.
    pub fn begin_login(&mut self, caller: Caller, name: &str, password: &str) -> Result<Login, LobbyError> {
        let (name, password) = (Name::parse(name)?, Password::parse(password)?);
        self.attempts.from_address(caller.at, caller.address)?;
        self.attempts.for_account(caller.at, &name.key())?;
        let account = self.accounts.find(&name);
        let hash = account.map_or_else(PasswordHash::nobodys, |it| it.password.clone());
        Ok(Login { password, hash, account: account.map(|it| (it.player, it.name.clone())) })
    }

    /// The last step to log in.
    pub fn finish_login(&self, login: CheckedLogin, now: UnixSeconds) -> Result<Admission, LobbyError> {
        let (player, name) = login.account.ok_or(LobbyError::Wrong)?;
        Ok(self.admit(player, name, now))
    }

    fn admit(&self, player: PlayerId, name: Name, now: UnixSeconds) -> Admission {
        Admission { pass: self.issuer.pass(player, name.clone(), now), player, name }
    }

    /// The first step to a session: who holds this pass.
    pub fn begin_session(&mut self, caller: Caller, pass: &str) -> Result<Holder, LobbyError> {
        self.attempts.for_session(caller.at, caller.address)?;
        Ok(Holder { pass: self.issuer.check_pass(pass, caller.now)? })
    }

    /// The last step to a session: a new one, or one of theirs again.
    ///
    /// `clock` is the world's clock in microseconds, which never goes back, not even when the lobby starts anew. So
    /// a new number is higher than any before without being kept on a disk. A requested number is taken if it may
    /// have been given out: a pass says who somebody is, and a false number only ends their own sessions.
    pub fn finish_session(
        &mut self,
        holder: Holder,
        requested: Option<u64>,
        clock: u64,
    ) -> Result<Session, LobbyError> {
        let number = match requested {
            Some(number) if (1..=self.last_session.max(clock)).contains(&number) => number,
            Some(_) => return Err(LobbyError::NoSession),
            None => self.next_session(clock),
        };
        Ok(Session { number, player: holder.pass.player, name: holder.pass.name })
    }

    fn next_session(&mut self, clock: u64) -> u64 {
        let next = self.last_session.checked_add(1).expect("the world's clock is not at its end");
        self.last_session = next.max(clock);
        self.last_session
    }

    /// A token that opens a host for a session, for 30 seconds. `nonce` is 128 random bits.
    pub fn token(&self, session: &Session, host: u32, nonce: u128, now: UnixSeconds) -> String {
        let Session { number, player, ref name } = *session;
        let expires = Token::expiry(now);
        self.issuer.token(&Token { player, session: number, name: name.clone(), host, nonce, expires })
    }

    /// What the hosts need to know to check tokens.
    pub fn public(&self) -> PublicKey {
        self.issuer.public()
    }

    /// The accounts, to be counted.
    pub fn accounts(&self) -> &Accounts<M> {
        &self.accounts
    }

    /// The accounts, to do their disk harm: for tests and simulators.
    pub fn accounts_mut(&mut self) -> &mut Accounts<M> {
        &mut self.accounts
    }

    /// Closes the lobby and gives its medium back, to be opened again.
    pub fn into_media(self) -> M {
        self.accounts.into_media()
    }
}

fn guest_id(random: u64) -> PlayerId {
    PlayerId(GUEST_IDS + random % GUEST_IDS)
}
