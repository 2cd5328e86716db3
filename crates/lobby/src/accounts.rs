//! Accounts on a disk: an account is acknowledged only when a crash cannot undo it.
//!
//! [`Accounts`] answers from memory, [`AccountLog`] writes. A disk may be slow, so a new account takes three steps, of which
//! only the second one waits for it, and needs no [`Accounts`]: `accounts.reserve(…)`, `log.store(…)`, `accounts.finish(…)`.
//!
//! Accounts are never removed and get their ids in order, so the number of accounts is also the counter of ids.
//! Opening again yields every account that was acknowledged, and perhaps one more that was not: the player who asked
//! for that one finds the name taken, and logs in.

use crate::config::{ACCOUNT_IDS_END, ACCOUNTS_MAX, SNAPSHOT_EVERY};
use crate::{NameKey, PasswordHash, PlayerName};
use game::PlayerId;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use store::{Log, LogLimits, Media, Recovery, StoreError};
use thiserror::Error;

/// Identifies the format of this crate's records and snapshots.
const SCHEMA: u64 = u64::from_le_bytes(*b"ECUMLOB1");

/// One account. A record holds one, the snapshot all of them in order of their ids.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// Number of the player, from 1.
    pub player: PlayerId,
    /// Name of the player, in the case they chose.
    pub name: PlayerName,
    /// Hash of the player's password.
    pub password: PasswordHash,
}

/// All accounts in memory, by name.
#[derive(Debug)]
pub struct Accounts {
    by_name: BTreeMap<NameKey, Arc<Account>>,
    /// Names of accounts that are being stored.
    reserved: BTreeSet<NameKey>,
    accounts_max: usize,
}

/// The accounts on a medium.
#[derive(Debug)]
pub struct AccountLog<M> {
    log: Log<M>,
    /// In order of their ids: a snapshot holds all of them.
    accounts: Vec<Arc<Account>>,
    settings: AccountSettings,
    created_since_snapshot: u64,
    failure: Option<StoreError>,
}

/// A new account whose name no other one can take.
#[derive(Debug)]
#[must_use = "the name stays reserved until the account is stored and finished"]
pub struct AccountReservation {
    name: PlayerName,
    password: PasswordHash,
}

/// A new account after the attempt to store it.
#[derive(Debug)]
#[must_use = "the name stays reserved until the account is finished"]
pub struct StoredAccount {
    key: NameKey,
    stored: Result<Arc<Account>, CreateError>,
}

/// The settings that the caller may choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccountSettings {
    /// New accounts after which a snapshot replaces the log; later, if there are many already.
    pub snapshot_every: u64,
    /// The most accounts, up to [`ACCOUNTS_MAX`].
    pub accounts_max: usize,
    /// Limits of the store's log.
    pub limits: LogLimits,
}

impl Default for AccountSettings {
    fn default() -> Self {
        let limits = LogLimits::default();
        Self { snapshot_every: SNAPSHOT_EVERY, accounts_max: ACCOUNTS_MAX, limits }
    }
}

/// The reason why accounts could not be opened.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AccountsOpenError {
    /// The store did not open.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The disk lost accounts. Going on would give their names and ids, with all their objects, to other players.
    #[error(
        "the lobby's disk lost what it had promised to keep ({0}). Restore the folder from a copy; or remove the \
         files set aside to go on with what is left, but then new accounts get the ids of lost ones"
    )]
    Damaged(Recovery),
    /// A record or the snapshot is whole, but its content is invalid.
    #[error("record {index} of the lobby makes no sense ({reason}): was it written by another program?")]
    Invalid {
        /// Number of the record; of the last record it stands for, if it is the snapshot.
        index: u64,
        /// The invalid part, for a person.
        reason: &'static str,
    },
}

/// The reason why an account was not created.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CreateError {
    /// Another account has this name, perhaps in another case.
    #[error("this name is taken: choose another one, or log in if it is yours")]
    Taken,
    /// There are as many accounts as allowed.
    #[error("this world takes no more accounts: play as a guest")]
    Full,
    /// The disk failed: it is unknown whether the account is on it.
    #[error("the lobby's disk fails: try again later")]
    Disk(StoreError),
}

impl Accounts {
    /// Opens the accounts on a medium.
    pub fn open<M: Media>(
        media: M,
        settings: AccountSettings,
    ) -> Result<(Self, AccountLog<M>), AccountsOpenError> {
        let (log, opened) = Log::open(media, SCHEMA, settings.limits)?;
        // Files set aside by an earlier opening count as well: only a person who has examined them may remove them.
        if opened.recovery.is_damaged() || !opened.recovery.aside.is_empty() {
            return Err(AccountsOpenError::Damaged(opened.recovery));
        }
        let recalled = opened.recalled;
        let accounts_max = settings.accounts_max.min(ACCOUNTS_MAX);
        let mut accounts = Self { by_name: BTreeMap::new(), reserved: BTreeSet::new(), accounts_max };
        if let Some((index, bytes)) = recalled.snapshot {
            accounts.read_snapshot(&bytes).map_err(|reason| AccountsOpenError::Invalid { index, reason })?;
        }
        let created_since_snapshot = recalled.records.len() as u64;
        for (index, bytes) in (recalled.first..).zip(recalled.records) {
            accounts.read_record(&bytes).map_err(|reason| AccountsOpenError::Invalid { index, reason })?;
        }
        let mut in_order: Vec<_> = accounts.by_name.values().cloned().collect();
        in_order.sort_unstable_by_key(|account| account.player);
        let log = AccountLog { log, accounts: in_order, settings, created_since_snapshot, failure: None };
        Ok((accounts, log))
    }

    fn read_snapshot(&mut self, bytes: &[u8]) -> Result<(), &'static str> {
        let accounts: Vec<Account> = decode(bytes)?;
        accounts.into_iter().try_for_each(|account| self.recall(account))
    }

    fn read_record(&mut self, bytes: &[u8]) -> Result<(), &'static str> {
        self.recall(decode(bytes)?)
    }

    /// Adds an account found on the disk.
    fn recall(&mut self, account: Account) -> Result<(), &'static str> {
        // Ids have no gaps, so a missing or doubled record shows.
        if account.player != PlayerId(self.by_name.len() as u64 + 1) {
            return Err("an id out of order");
        }
        if self.by_name.len() == ACCOUNTS_MAX {
            return Err("too many accounts");
        }
        let is_taken = self.by_name.insert(account.name.key(), Arc::new(account)).is_some();
        if is_taken { Err("two accounts of one name") } else { Ok(()) }
    }

    /// Checks whether an account of this name could be created.
    pub fn may_create(&self, name: &PlayerName) -> Result<(), CreateError> {
        let key = name.key();
        if self.by_name.contains_key(&key) || self.reserved.contains(&key) {
            return Err(CreateError::Taken);
        }
        let all = self.by_name.len() + self.reserved.len();
        if self.accounts_max <= all { Err(CreateError::Full) } else { Ok(()) }
    }

    /// The first step of a new account: reserves its name.
    pub fn reserve(
        &mut self,
        name: PlayerName,
        password: PasswordHash,
    ) -> Result<AccountReservation, CreateError> {
        self.may_create(&name)?;
        self.reserved.insert(name.key());
        Ok(AccountReservation { name, password })
    }

    /// The last step of a new account: when this returns it, it is on the disk. A name whose account was not stored is free
    /// again.
    pub fn finish(&mut self, account: StoredAccount) -> Result<Arc<Account>, CreateError> {
        self.reserved.remove(&account.key);
        let stored = account.stored?;
        let before = self.by_name.insert(account.key, Arc::clone(&stored));
        assert!(before.is_none(), "a reserved name is no other account's");
        Ok(stored)
    }

    /// The account of this name, in any case.
    pub fn find(&self, name: &PlayerName) -> Option<&Account> {
        self.by_name.get(&name.key()).map(|it| &**it)
    }

    /// Number of accounts in this world.
    pub fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Returns whether there are no accounts.
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }
}

impl<M: Media> AccountLog<M> {
    /// The second step of a new account: writes it to the disk, and waits until it is there.
    pub fn store(&mut self, reservation: AccountReservation) -> StoredAccount {
        let key = reservation.name.key();
        StoredAccount { key, stored: self.append(reservation) }
    }

    fn append(&mut self, reservation: AccountReservation) -> Result<Arc<Account>, CreateError> {
        // After a failed write the end of the log is unknown: nothing may be appended.
        if self.failure.is_some() {
            return Err(CreateError::Disk(StoreError::Poisoned));
        }
        let AccountReservation { name, password } = reservation;
        let account = Arc::new(Account { player: self.next_player(), name, password });
        if let Err(error) = self.log.append(self.log.next(), &[encode(&*account)]) {
            self.failure = Some(error.clone());
            return Err(CreateError::Disk(error));
        }
        self.accounts.push(Arc::clone(&account));
        self.created_since_snapshot += 1;
        // A snapshot holds everything, so it waits until the accounts have doubled: each is written a few times.
        if self.settings.snapshot_every.max(self.accounts.len() as u64 / 2) <= self.created_since_snapshot {
            self.snapshot();
        }
        Ok(account)
    }

    /// A snapshot that fails does not undo the account before it: that one is acknowledged, the next is not.
    fn snapshot(&mut self) {
        let accounts: Vec<&Account> = self.accounts.iter().map(|it| &**it).collect();
        let last = self.log.next() - 1;
        self.failure = self.log.keep(last, &encode(&accounts)).err();
        self.created_since_snapshot = 0;
    }

    fn next_player(&self) -> PlayerId {
        let next = self.accounts.len() as u64 + 1;
        assert!(next < ACCOUNT_IDS_END, "the limit of accounts is far below the ids of guests");
        PlayerId(next)
    }

    /// The failure after which no account can be stored until this is opened again. Existing accounts can log in.
    pub fn failure(&self) -> Option<&StoreError> {
        self.failure.as_ref()
    }

    /// The medium, for tests that inject faults.
    pub fn media_mut(&mut self) -> &mut M {
        self.log.media_mut()
    }

    /// Closes the log and returns its medium, to be opened again.
    pub fn into_media(self) -> M {
        self.log.into_media()
    }
}

fn encode(value: &impl Serialize) -> Vec<u8> {
    postcard::to_stdvec(value).expect("accounts are numbers and texts")
}

fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, &'static str> {
    let (value, rest) = postcard::take_from_bytes(bytes).map_err(|_| "not an account")?;
    if rest.is_empty() { Ok(value) } else { Err("more than an account") }
}
