//! Accounts on disks that crash, fail and lose data.

use crate::disk::UnsyncedDisk;
use crate::fixtures::{SMALL, hash, name};
use game::PlayerId;
use lobby::{
    Account, AccountLog, AccountSettings, Accounts, AccountsOpenError, CreateError, PasswordHash, PlayerName,
};
use machine::Rng;
use proptest::prelude::*;
use std::fs;
use std::path::PathBuf;
use store::{Files, Log, Media, MemoryDisk, StoreError};

const SCHEMA: u64 = u64::from_le_bytes(*b"ECUMLOB1");

/// The accounts in memory with their log, which stores each new one at once.
struct StoredAccounts<M> {
    accounts: Accounts,
    log: AccountLog<M>,
}

impl<M: Media> StoredAccounts<M> {
    fn open(media: M, settings: AccountSettings) -> Result<Self, AccountsOpenError> {
        let (accounts, log) = Accounts::open(media, settings)?;
        Ok(Self { accounts, log })
    }

    fn create(&mut self, name: PlayerName, password: PasswordHash) -> Result<PlayerId, CreateError> {
        let reservation = self.accounts.reserve(name, password)?;
        self.accounts.finish(self.log.store(reservation)).map(|it| it.player)
    }

    fn find(&self, name: &PlayerName) -> Option<&Account> {
        self.accounts.find(name)
    }

    fn len(&self) -> usize {
        self.accounts.len()
    }

    fn failure(&self) -> Option<&StoreError> {
        self.log.failure()
    }

    fn media_mut(&mut self) -> &mut M {
        self.log.media_mut()
    }

    fn into_media(self) -> M {
        self.log.into_media()
    }
}

fn open<M: Media>(media: M) -> StoredAccounts<M> {
    StoredAccounts::open(media, SMALL).unwrap()
}

fn numbered(number: u64) -> PlayerName {
    name(&format!("Player {number}"))
}

#[test]
fn ids_rise_and_names_are_unique() {
    let mut accounts = open(MemoryDisk::new());
    assert_eq!(accounts.create(name("Ada"), hash()), Ok(PlayerId(1)));
    assert_eq!(accounts.create(name("Bob"), hash()), Ok(PlayerId(2)));
    for taken in ["Ada", "ADA", "ada ", "bOB"] {
        assert_eq!(accounts.create(name(taken), hash()), Err(CreateError::Taken));
    }
    assert_eq!(
        accounts.find(&name("aDa")).map(|it| (it.player, it.name.as_str())),
        Some((PlayerId(1), "Ada"))
    );
    assert_eq!(accounts.find(&name("Eve")), None);
    assert_eq!(accounts.len(), 2);
}

#[test]
fn the_number_of_accounts_is_limited() {
    let settings = AccountSettings { accounts_max: 2, ..SMALL };
    let mut accounts = StoredAccounts::open(MemoryDisk::new(), settings).unwrap();
    (1..=2).for_each(|number| _ = accounts.create(numbered(number), hash()).unwrap());
    assert_eq!(accounts.create(numbered(3), hash()), Err(CreateError::Full));
    assert_eq!(accounts.create(numbered(2), hash()), Err(CreateError::Taken));
    // A lower limit than before closes no account.
    let lower = AccountSettings { accounts_max: 1, ..SMALL };
    assert_eq!(StoredAccounts::open(accounts.into_media(), lower).unwrap().len(), 2);
}

#[test]
fn accounts_survive_in_a_folder() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("lobby").join("survive");
    let _ = fs::remove_dir_all(&folder);
    for number in 1..=20 {
        let mut accounts = open(Files::open(&folder).unwrap());
        assert_eq!(accounts.len() as u64, number - 1);
        assert_eq!(accounts.create(numbered(number), hash()), Ok(PlayerId(number)));
    }
    let accounts = open(Files::open(&folder).unwrap());
    for number in 1..=20 {
        let account = accounts.find(&numbered(number)).unwrap();
        assert_eq!((account.player, &account.password), (PlayerId(number), &hash()));
    }
}

/// [`run_faulty`] over many seeds. Both outcomes of an unanswered request must occur, or the faults are too mild.
#[test]
fn no_acknowledged_account_is_lost() {
    let mut outcomes = [0, 0];
    for seed in 0..60 {
        run_faulty(seed, false, &mut outcomes).unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
    }
    assert!(outcomes.iter().all(|&count| 0 < count), "{outcomes:?}");
}

#[test]
fn a_disk_that_forgets_to_sync_is_found_out() {
    assert!((0..60).any(|seed| run_faulty(seed, true, &mut [0, 0]).is_err()));
}

/// Eight runs on one disk, each ended by a crash, perhaps after a failing sync or a power cut: no acknowledged account
/// is lost, no account appears that was not requested, and no id belongs to two players. `outcomes` counts how often an
/// account whose request failed was missing, and was found, afterwards.
fn run_faulty(seed: u64, forgets_syncs: bool, outcomes: &mut [u32; 2]) -> Result<(), String> {
    let mut rng = Rng::seeded(seed);
    let mut disk = UnsyncedDisk { memory: MemoryDisk::new(), forgets_syncs };
    let (mut known, mut unsure) = (Vec::new(), None);
    for run in 0..8 {
        let mut accounts = StoredAccounts::open(disk, SMALL).map_err(|error| error.to_string())?;
        if let Some(name) = unsure.take() {
            let is_found = accounts.find(&name).is_some();
            outcomes[usize::from(is_found)] += 1;
            known.extend(is_found.then_some(name));
        }
        holds_exactly(&accounts, &known)?;
        plan_fault(&mut accounts.media_mut().memory, &mut rng);
        for name in (0..rng.below(6)).map(|number| numbered(10 * run + number)) {
            match accounts.create(name.clone(), hash()) {
                Ok(_) => known.push(name),
                Err(_) => {
                    unsure = Some(name);
                    break;
                }
            }
            holds_exactly(&accounts, &known)?;
        }
        disk = accounts.into_media();
        disk.memory.crash(&mut rng);
    }
    Ok(())
}

fn plan_fault(memory: &mut MemoryDisk, rng: &mut Rng) {
    match rng.below(3) {
        0 => memory.fail_next_sync(rng),
        1 => memory.cut_power_after(rng.below(20)),
        _ => (),
    }
}

fn holds_exactly<M: Media>(accounts: &StoredAccounts<M>, known: &[PlayerName]) -> Result<(), String> {
    let found = known.iter().map(|name| accounts.find(name).map(|it| it.player.0));
    let is_right = accounts.len() == known.len() && found.eq((1..=known.len() as u64).map(Some));
    if is_right { Ok(()) } else { Err(format!("should be {known:?}, but there are {}", accounts.len())) }
}

/// After a failure no account is created until the store is opened again; existing accounts remain.
#[test]
fn a_failed_disk_stays_failed() {
    let mut accounts = open(MemoryDisk::new());
    accounts.create(name("Ada"), hash()).unwrap();
    accounts.media_mut().fail_next_sync(&mut Rng::seeded(1));
    for other in ["Bob", "Bob", "Eve"] {
        let error = accounts.create(name(other), hash()).unwrap_err();
        assert!(matches!(error, CreateError::Disk(_)), "{error}");
        assert_eq!(error.to_string(), "the lobby's disk fails: try again later");
    }
    assert!(accounts.failure().is_some());
    assert!(accounts.find(&name("Ada")).is_some() && accounts.find(&name("Bob")).is_none());
}

/// The account before a snapshot that fails is durable, and acknowledged.
#[test]
fn a_failed_snapshot_does_not_undo_the_account() {
    let mut accounts = open(MemoryDisk::new());
    (1..=2).for_each(|number| _ = accounts.create(numbered(number), hash()).unwrap());
    let before = accounts.into_media();
    let failing = (0..16).find(|&operations| {
        let mut accounts = open(before.clone());
        accounts.media_mut().cut_power_after(operations);
        let is_it = accounts.create(numbered(3), hash()).is_ok() && accounts.failure().is_some();
        if is_it {
            assert!(matches!(accounts.create(numbered(4), hash()), Err(CreateError::Disk(_))));
            let mut disk = accounts.into_media();
            disk.crash(&mut Rng::seeded(1));
            assert_eq!(open(disk).len(), 3);
        }
        is_it
    });
    assert!(failing.is_some());
}

/// Going on after a loss would give a lost player's name and id, with all their objects, to the next new player.
#[test]
fn a_damaged_disk_does_not_open() {
    let mut accounts = open(MemoryDisk::new());
    (1..=2).for_each(|number| _ = accounts.create(numbered(number), hash()).unwrap());
    let mut disk = accounts.into_media();
    assert!(disk.flip_bit("log-00000000000000000001", 8 * 50));
    for _ in 0..2 {
        let error = Accounts::open(&mut disk, SMALL).map(drop).unwrap_err();
        assert!(matches!(error, AccountsOpenError::Damaged(_)), "{error}");
        assert!(error.to_string().contains("Restore the folder from a copy"), "{error}");
    }
}

#[test]
fn invalid_records_are_named() {
    let mut accounts = open(MemoryDisk::new());
    accounts.create(name("Ada"), hash()).unwrap();
    let (mut log, opened) = Log::open(accounts.into_media(), SCHEMA, SMALL.limits).unwrap();
    let ada = opened.recalled.records[0].clone();
    let second = |change: fn(&mut Vec<u8>)| {
        let mut record = ada.clone();
        change(&mut record);
        record
    };
    let cases: [(Vec<u8>, &str); 5] = [
        (ada.clone(), "an id out of order"),
        (second(|it| it[0] = 2), "two accounts of one name"),
        (second(|it| it.push(0)), "more than an account"),
        (second(|it| it[3] = b'\n'), "not an account"),
        (vec![], "not an account"),
    ];
    for (record, expected) in cases {
        log.append(2, &[record]).unwrap();
        let disk = log.into_media();
        let error = Accounts::open(disk.clone(), SMALL).map(drop).unwrap_err();
        assert_eq!(error, AccountsOpenError::Invalid { index: 2, reason: expected });
        (log, _) = Log::open(disk, SCHEMA, SMALL.limits).unwrap();
        log.cut(2).unwrap();
    }
}

/// Accounts of an older program must open: these are the bytes it wrote.
#[test]
fn the_format_stays() {
    let mut accounts = open(MemoryDisk::new());
    accounts.create(name("Zoë"), hash()).unwrap();
    let (_, opened) = Log::open(accounts.into_media(), SCHEMA, SMALL.limits).unwrap();
    // The id, then name and hash, each after its length in bytes.
    let expected = [&[1, 4], "Zoë".as_bytes(), &[97], hash().as_str().as_bytes()].concat();
    assert_eq!(opened.recalled.records, [expected]);
}

proptest! {
    /// With any whole records on the disk, opening never panics.
    #[test]
    fn any_records(
        snapshot in prop::option::of(prop::collection::vec(any::<u8>(), 0..60)),
        records in prop::collection::vec(prop::collection::vec(0..130u8, 0..40), 0..4),
    ) {
        let (mut log, _) = Log::open(MemoryDisk::new(), SCHEMA, SMALL.limits).unwrap();
        if let Some(snapshot) = snapshot {
            log.keep(0, &snapshot).unwrap();
        }
        log.append(1, &records).unwrap();
        if let Ok(mut accounts) = StoredAccounts::open(log.into_media(), SMALL) {
            accounts.create(name("Ada"), hash()).unwrap();
        }
    }
}
