//! The lobby from end to end: guests, accounts, sessions, tokens.

use crate::fixtures::{HOST, NOW, issuer, lobby, lobby_with_log, source, verifier};
use game::PlayerId;
use lobby::config::{
    ACCOUNT_IDS_END, ACCOUNT_RATE, ADDRESS_RATE, GUEST_IDS, PASS_SECONDS, SESSIONS_PER_LOGIN,
};
use lobby::{
    AccountLog, CreateError, HashedCreation, Lobby, LobbyError, LobbySettings, NameError, PassGrant,
    PasswordError, RequestSource, SessionGrant, TokenError, TokenGate,
};
use machine::{Rng, Time};
use proptest::prelude::*;
use store::MemoryDisk;

/// A lobby, and the log of its accounts.
type LobbyWithLog = (Lobby, AccountLog<MemoryDisk>);

fn create_account(
    lobby_with_log: &mut LobbyWithLog,
    name: &str,
    password: &str,
) -> Result<PassGrant, LobbyError> {
    let creation = lobby_with_log.0.begin_account(source(), name, password)?;
    store_account(lobby_with_log, creation.hash([9; 16]))
}

fn store_account((lobby, log): &mut LobbyWithLog, hashed: HashedCreation) -> Result<PassGrant, LobbyError> {
    let reservation = lobby.reserve_account(hashed)?;
    lobby.finish_account(log.store(reservation), NOW)
}

/// A session at this time of the world's clock.
fn session_of(
    lobby: &mut Lobby,
    pass: &str,
    requested: Option<u64>,
    clock: u64,
) -> Result<SessionGrant, LobbyError> {
    let holder = lobby.begin_session(source(), pass)?.verify(&lobby.issuer())?;
    lobby.finish_session(holder, requested, clock)
}

fn login(lobby: &mut Lobby, name: &str, password: &str) -> Result<PassGrant, LobbyError> {
    let login = lobby.begin_login(source(), name, password)?;
    lobby.finish_login(login.verify(), NOW)
}

#[test]
fn a_guest_gets_pass_session_and_token() {
    let mut lobby = lobby();
    let guest = lobby.guest(source(), " Ada ", 5).unwrap();
    assert_eq!((guest.player, guest.name.as_str()), (PlayerId(GUEST_IDS + 5), "Ada"));
    let session = session_of(&mut lobby, &guest.pass, None, 1_000).unwrap();
    assert_eq!((session.player, &session.name, session.number), (guest.player, &guest.name, 1_000));
    let token = lobby.issuer().session_token(&session, HOST, 77, NOW);
    let token = TokenGate::new(verifier(), NOW).admit(&token, NOW).unwrap();
    assert_eq!((token.player, token.session, token.host), (guest.player, 1_000, HOST));
    assert_eq!(token.name, guest.name);
}

#[test]
fn an_account_survives_a_restart_of_the_lobby() {
    let mut lobby = lobby_with_log();
    let ada = create_account(&mut lobby, "Ada", "correct horse").unwrap();
    assert_eq!(ada.player, PlayerId(1));
    assert_eq!(create_account(&mut lobby, "ADA", "battery staple"), Err(CreateError::Taken.into()));
    // The lobby dies and restarts: accounts and passes are still valid.
    let mut disk = lobby.1.into_media();
    disk.crash(&mut Rng::seeded(3));
    let (mut lobby, _) = Lobby::open(disk, issuer(), LobbySettings::default()).unwrap();
    let again = login(&mut lobby, "aDA", "correct horse").unwrap();
    assert_eq!((again.player, again.name.as_str()), (ada.player, "Ada"));
    assert_eq!(session_of(&mut lobby, &ada.pass, None, 1).unwrap().player, ada.player);
    assert_eq!(lobby.accounts().len(), 1);
}

#[test]
fn a_wrong_password_is_like_a_wrong_name() {
    let mut lobby_with_log = lobby_with_log();
    create_account(&mut lobby_with_log, "Ada", "correct horse").unwrap();
    let (mut lobby, _) = lobby_with_log;
    for (name, password) in [("Ada", "Correct horse"), ("Eve", "correct horse")] {
        assert_eq!(login(&mut lobby, name, password), Err(LobbyError::Wrong));
    }
    assert_eq!(login(&mut lobby, "Ada", "short").unwrap_err(), PasswordError::TooShort.into());
    assert_eq!(login(&mut lobby, "", "correct horse").unwrap_err(), NameError::Empty.into());
}

/// Of two players who hash at the same time, only one gets the name.
#[test]
fn the_name_may_be_taken_meanwhile() {
    let mut lobby = lobby_with_log();
    let first = lobby.0.begin_account(source(), "Ada", "correct horse").unwrap();
    let second = lobby.0.begin_account(source(), "ada", "battery staple").unwrap();
    assert!(store_account(&mut lobby, second.hash([2; 16])).is_ok());
    let refused = store_account(&mut lobby, first.hash([1; 16]));
    assert_eq!(refused, Err(CreateError::Taken.into()));
    assert!(login(&mut lobby.0, "Ada", "battery staple").is_ok());
}

/// While an account is on its way to the disk its name is taken, but it cannot log in. If the disk fails, the name is free
/// again.
#[test]
fn a_name_is_reserved_until_its_account_is_stored() {
    let (mut lobby, mut log) = lobby_with_log();
    let mut begin = |name| lobby.begin_account(source(), name, "correct horse").map(|it| it.hash([1; 16]));
    let (ada, bob) = (begin("Ada").unwrap(), begin("Bob").unwrap());
    let ada = lobby.reserve_account(ada).unwrap();
    let taken = lobby.begin_account(source(), "ada", "correct horse").map(drop);
    assert_eq!(taken, Err(CreateError::Taken.into()));
    let stored = log.store(ada);
    assert_eq!(login(&mut lobby, "Ada", "correct horse"), Err(LobbyError::Wrong));
    assert!(lobby.finish_account(stored, NOW).is_ok());
    assert!(login(&mut lobby, "Ada", "correct horse").is_ok());

    log.media_mut().fail_next_sync(&mut Rng::seeded(1));
    let bob = lobby.reserve_account(bob).unwrap();
    assert!(matches!(
        lobby.finish_account(log.store(bob), NOW),
        Err(LobbyError::Create(CreateError::Disk(_)))
    ));
    assert!(lobby.begin_account(source(), "Bob", "correct horse").is_ok());
}

#[test]
fn attempts_are_limited_by_account_and_by_address() {
    let mut lobby = lobby();
    let from = |last: u8, secs: u64| RequestSource {
        address: [10, 0, 0, last].into(),
        at: Time::from_millis(1_000 * secs),
        now: NOW,
    };
    for attempt in 0..ACCOUNT_RATE.burst {
        assert!(lobby.begin_login(from(attempt as u8, 0), "Ada", "password").is_ok());
    }
    // From any address, and whether there is such an account or not.
    let refused = lobby.begin_login(from(200, 0), "ADA", "password").unwrap_err();
    assert_eq!(refused.to_string(), "too many attempts: try again in 6 s");
    assert!(lobby.begin_login(from(200, 6), "Ada", "password").is_ok());

    let at = from(201, 100);
    for attempt in 0..ADDRESS_RATE.burst {
        assert!(lobby.begin_login(at, &format!("name {attempt}"), "password").is_ok());
    }
    assert!(matches!(lobby.guest(at, "Ada", 1), Err(LobbyError::TooOften(_))));
    assert!(matches!(lobby.begin_account(at, "Ada", "password"), Err(LobbyError::TooOften(_))));
    assert!(matches!(lobby.begin_login(at, "Bob", "password"), Err(LobbyError::TooOften(_))));
    assert!(lobby.guest(from(202, 100), "Ada", 1).is_ok());
}

/// Log-ins and requests for sessions are limited separately: a player who may not log in any more can still renew
/// their session.
#[test]
fn sessions_are_limited_by_address() {
    let mut lobby = lobby();
    let pass = lobby.guest(source(), "Ada", 5).unwrap().pass;
    let mut ask = |last: u8, at: Time, pass: &str| {
        let source = RequestSource { address: [10, 0, 0, last].into(), at, now: NOW };
        let issuer = lobby.issuer();
        lobby.begin_session(source, pass).and_then(|it| it.verify(&issuer)).map(drop)
    };
    let rate = ADDRESS_RATE.times(SESSIONS_PER_LOGIN);
    // A forged pass counts too: to verify it costs as much.
    for attempt in 0..rate.burst {
        let text = if attempt % 2 == 0 { pass.as_str() } else { "forged" };
        assert!(!matches!(ask(1, Time::ZERO, text), Err(LobbyError::TooOften(_))));
    }
    assert!(matches!(ask(1, Time::ZERO, &pass), Err(LobbyError::TooOften(_))));
    assert_eq!(ask(2, Time::ZERO, &pass), Ok(()), "other addresses are not affected");
    assert_eq!(ask(1, Time::ZERO + rate.every, &pass), Ok(()));
    assert!(lobby.guest(RequestSource { address: [10, 0, 0, 1].into(), ..source() }, "Bob", 6).is_ok());
}

#[test]
fn a_session_can_be_had_again() {
    let mut lobby = lobby();
    let pass = lobby.guest(source(), "Ada", 5).unwrap().pass;
    let mut number = |requested, clock| session_of(&mut lobby, &pass, requested, clock).map(|it| it.number);
    assert_eq!(number(Some(1), 0), Err(LobbyError::NoSession), "none was begun");
    assert_eq!(number(None, 500), Ok(500));
    assert_eq!(number(None, 500), Ok(501));
    assert_eq!(number(Some(500), 500), Ok(500));
    assert_eq!(number(Some(501), 400), Ok(501));
    for never in [0, 502, u64::MAX] {
        assert_eq!(number(Some(never), 500), Err(LobbyError::NoSession));
    }
    // A lobby that restarts knows only the world's clock, which is past all numbers that it issued.
    let mut lobby = crate::fixtures::lobby();
    assert_eq!(session_of(&mut lobby, &pass, Some(501), 600).map(|it| it.number), Ok(501));
    assert_eq!(session_of(&mut lobby, &pass, None, 600).map(|it| it.number), Ok(600));
}

#[test]
fn no_session_without_a_pass() {
    let mut lobby = lobby();
    let guest = lobby.guest(source(), "Ada", 5).unwrap();
    let session = session_of(&mut lobby, &guest.pass, None, 1).unwrap();
    let token = lobby.issuer().session_token(&session, HOST, 1, NOW);
    for (text, now, expected) in [
        (token.as_str(), NOW, TokenError::Forged),
        ("", NOW, TokenError::Forged),
        (&guest.pass, NOW.plus(PASS_SECONDS + 1), TokenError::Expired),
    ] {
        let unchecked = lobby.begin_session(RequestSource { now, ..source() }, text).unwrap();
        let refused = unchecked.verify(&lobby.issuer()).unwrap_err();
        assert_eq!(refused, expected.into());
    }
    assert_eq!(
        session_of(&mut lobby, &guest.pass, None, 0).map(|it| it.number),
        Ok(2),
        "refusals used no number"
    );
}

proptest! {
    /// Session numbers rise, whatever the clock and the requests.
    #[test]
    fn sessions_rise(steps in prop::collection::vec((0..50u64, prop::option::of(0..200u64)), 1..20)) {
        let mut lobby = lobby();
        let pass = lobby.guest(source(), "Ada", 5).unwrap().pass;
        let mut last = 0;
        for (clock, requested) in steps {
            let session = session_of(&mut lobby, &pass, requested, clock);
            match (requested, session) {
                (None, Ok(session)) => {
                    prop_assert!(last < session.number && clock <= session.number);
                    last = session.number;
                }
                (Some(requested), Ok(session)) => {
                    prop_assert_eq!(session.number, requested);
                    prop_assert!(requested <= last.max(clock));
                }
                (requested, Err(_)) => prop_assert!(requested.is_some_and(|it| it == 0 || last.max(clock) < it)),
            }
        }
    }

    #[test]
    fn guests_and_accounts_never_meet(random: u64) {
        let id = lobby().guest(source(), "Ada", random).unwrap().player.0;
        prop_assert!((ACCOUNT_IDS_END..1 << 62).contains(&id));
    }
}
