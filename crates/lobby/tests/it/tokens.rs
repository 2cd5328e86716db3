//! Passes and tokens: those that are issued are accepted, and no others.

use crate::fixtures::{HOST, NOW, WORLD, issuer, key, keys, name, token, verifier};
use game::PlayerId;
use lobby::config::{PASS_SECONDS, SKEW_SECONDS, TEXT_MAX, TOKEN_SECONDS, USED_MAX};
use lobby::{
    Issuer, KeyError, Keys, PassClaims, PublicKey, Token, TokenError, TokenGate, UnixSeconds, UsedTokens,
    Verifier,
};
use proptest::prelude::*;

#[test]
fn issued_tokens_and_passes_are_accepted() {
    let text = issuer().token(&token(u128::MAX - 5));
    assert!(text.starts_with("v4.public."), "{text}");
    assert_eq!(verifier().check(&text, NOW), Ok(token(u128::MAX - 5)));

    let text = issuer().pass(PlayerId(u64::MAX), name("Zoë \"\\ 𝔄"), NOW);
    let expires = UnixSeconds(NOW.0 + PASS_SECONDS);
    let pass = PassClaims { player: PlayerId(u64::MAX), name: name("Zoë \"\\ 𝔄"), expires };
    assert_eq!(issuer().check_pass(&text, NOW), Ok(pass));
}

/// A host that is not updated yet reads the tokens of a newer lobby, and the other way round.
#[test]
fn the_format_stays() {
    let token = concat!(
        "v4.public.eyJwbGF5ZXIiOjE3LCJzZXNzaW9uIjo4MSwibmFtZSI6IkFkYSIsImhvc3QiOjMsIm5vbmNlIjoiMD",
        "AwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDBhYmMiLCJleHBpcmVzIjoxODAwMDAwMDMwfYIIxUP8RXe-PhsQpW",
        "4FeOlTEZJkwaohivdheD2VQXDncN_1fyOmltIXzgnvs2_LdfAy9w011gZ9I9pEmv34vwQ"
    );
    assert_eq!(issuer().token(&self::token(0xabc)), token);
}

/// Keys that were saved sign and verify like those that were not.
#[test]
fn saved_keys_sign_and_verify_like_new_ones() {
    let saved = Keys::from_bytes(&keys(1).to_bytes()).unwrap();
    let public = PublicKey::from_bytes(&keys(1).public().to_bytes());
    assert!(public == saved.public());
    let text = Issuer::new(saved, WORLD).unwrap().token(&token(1));
    assert_eq!(text, issuer().token(&token(1)));
    assert!(Verifier::new(public, WORLD, HOST).unwrap().check(&text, NOW).is_ok());
}

#[test]
fn damaged_keys_are_no_keys() {
    let whole = keys(1).to_bytes();
    for bit in 0..8 * whole.len() {
        let mut bytes = whole;
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(Keys::from_bytes(&bytes).unwrap_err(), KeyError::Damaged);
    }
    assert_eq!(Keys::from_bytes(&[0; 64]).unwrap_err(), KeyError::Zeros);
    assert_eq!(Keys::generate([0; 32]).unwrap_err(), KeyError::Zeros);
    assert!(!format!("{:?}", keys(7)).contains("0707"), "a secret in a log");
}

/// Every byte changed to any other byte: none is accepted.
#[test]
fn no_byte_can_be_changed() {
    let (verifier, text) = (verifier(), issuer().token(&token(1)));
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.= \0";
    for place in 0..text.len() {
        // All letters in the last group, where base64 has bits to spare; a few of them elsewhere.
        let step = if text.len() - 4 <= place { 1 } else { 9 };
        for &other in alphabet.iter().skip(place % step).step_by(step) {
            let mut bytes = text.clone().into_bytes();
            bytes[place] = if bytes[place] == other { bytes[place] ^ 1 } else { other };
            let forged = String::from_utf8(bytes).unwrap();
            assert_eq!(verifier.check(&forged, NOW), Err(TokenError::Forged), "{forged}");
        }
    }
}

#[test]
fn nothing_can_be_added_or_left_out() {
    let (verifier, text) = (verifier(), issuer().token(&token(1)));
    for length in 0..text.len() {
        assert_eq!(verifier.check(&text[..length], NOW), Err(TokenError::Forged));
    }
    for tail in [".", "=", "A", " ", "\n", ".e30", ".."] {
        assert_eq!(verifier.check(&format!("{text}{tail}"), NOW), Err(TokenError::Forged), "{tail:?}");
    }
    for other in ["v3.public.", "v4.local.", "V4.public.", ""] {
        assert_eq!(verifier.check(&text.replace("v4.public.", other), NOW), Err(TokenError::Forged));
    }
}

#[test]
fn too_long_is_refused_unread() {
    let text = issuer().token(&token(1));
    let long = format!("{text}{}", "A".repeat(TEXT_MAX + 1 - text.len()));
    assert_eq!(verifier().check(&long, NOW), Err(TokenError::TooLong));
    assert_eq!(verifier().check(&long[..TEXT_MAX], NOW), Err(TokenError::Forged));
    assert_eq!(issuer().check_pass(&long, NOW), Err(TokenError::TooLong));
}

/// The longest token that can be issued stays far below the limit.
#[test]
fn the_longest_token_fits() {
    let long = Token {
        player: PlayerId(u64::MAX),
        session: u64::MAX,
        name: name(&"𝔄".repeat(24)),
        host: HOST,
        nonce: u128::MAX,
        expires: token(1).expires,
    };
    let text = issuer().token(&long);
    assert!(text.len() < TEXT_MAX * 2 / 3, "{}", text.len());
    assert_eq!(verifier().check(&text, NOW), Ok(long));
}

#[test]
fn a_pass_is_no_token_and_a_token_no_pass() {
    let (pass, token) = (issuer().pass(PlayerId(17), name("Ada"), NOW), issuer().token(&token(1)));
    assert_eq!(verifier().check(&pass, NOW), Err(TokenError::Forged));
    assert_eq!(issuer().check_pass(&token, NOW), Err(TokenError::Forged));
}

#[test]
fn other_worlds_other_tokens() {
    let text = issuer().token(&token(1));
    let pass = issuer().pass(PlayerId(17), name("Ada"), NOW);
    for (key, world) in [(keys(2).public(), WORLD), (key(), "kosmos2"), (key(), "Kosmos")] {
        let check = Verifier::new(key, world, HOST).unwrap().check(&text, NOW);
        assert_eq!(check, Err(TokenError::Forged), "{world}");
    }
    for (keys, world) in [(keys(2), WORLD), (keys(1), "kosmos2")] {
        let check = Issuer::new(keys, world).unwrap().check_pass(&pass, NOW);
        assert_eq!(check, Err(TokenError::Forged), "{world}");
    }
    assert!(Issuer::new(keys(1), "").is_err() && Verifier::new(key(), &"w".repeat(257), HOST).is_err());
}

#[test]
fn other_hosts_are_named() {
    let other = Token { host: 4, ..token(1) };
    assert_eq!(verifier().check(&issuer().token(&other), NOW), Err(TokenError::OtherHost(4)));
}

#[test]
fn tokens_and_passes_expire_to_the_second() {
    let (text, last) = (issuer().token(&token(1)), NOW.plus(TOKEN_SECONDS + SKEW_SECONDS));
    assert!(verifier().check(&text, last).is_ok());
    assert_eq!(verifier().check(&text, last.plus(1)), Err(TokenError::Expired));
    // A host whose clock is behind accepts valid tokens, and reports when the clocks are too far apart.
    assert!(verifier().check(&text, UnixSeconds(NOW.0 - SKEW_SECONDS)).is_ok());
    let behind = UnixSeconds(NOW.0 - SKEW_SECONDS - 1);
    assert_eq!(verifier().check(&text, behind), Err(TokenError::Early));

    let (pass, last) = (issuer().pass(PlayerId(1), name("Ada"), NOW), NOW.plus(PASS_SECONDS));
    assert!(issuer().check_pass(&pass, last).is_ok());
    assert_eq!(issuer().check_pass(&pass, last.plus(1)), Err(TokenError::Expired));
}

#[test]
fn the_ends_of_time_are_harmless() {
    let end = UnixSeconds(u64::MAX);
    let token = Token { expires: Token::expiry(end), ..token(1) };
    assert_eq!(verifier().check(&issuer().token(&token), end), Ok(token.clone()));
    assert_eq!(verifier().check(&issuer().token(&token), UnixSeconds(0)), Err(TokenError::Early));
    assert_eq!(UsedTokens::default().spend(&token, end), Ok(()));
}

#[test]
fn a_token_admits_once() {
    let mut gate = TokenGate::new(verifier(), NOW);
    let (first, second) = (issuer().token(&token(1)), issuer().token(&token(2)));
    assert_eq!(gate.admit(&first, NOW), Ok(token(1)));
    for seconds in 0..=TOKEN_SECONDS + SKEW_SECONDS {
        assert_eq!(gate.admit(&first, NOW.plus(seconds)), Err(TokenError::Used));
    }
    let late = NOW.plus(TOKEN_SECONDS + SKEW_SECONDS + 1);
    assert_eq!(gate.admit(&first, late), Err(TokenError::Expired));
    assert_eq!(gate.admit(&second, NOW.plus(1)), Ok(token(2)));
    // A refused token is not used up.
    let late = UnixSeconds(NOW.0 - SKEW_SECONDS - 1);
    let third = issuer().token(&token(3));
    assert_eq!(gate.admit(&third, late), Err(TokenError::Early));
    assert_eq!(gate.admit(&third, NOW), Ok(token(3)));
}

/// A host that was killed and restarted has forgotten the used tokens; so it accepts none from before.
#[test]
fn a_token_from_before_a_restart_is_refused() {
    let text = issuer().token(&token(1));
    TokenGate::new(verifier(), NOW).admit(&text, NOW).unwrap();
    let mut gate = TokenGate::new(verifier(), NOW.plus(1));
    assert_eq!(gate.admit(&text, NOW.plus(1)), Err(TokenError::BeforeStart));
    let fresh = Token { expires: Token::expiry(NOW.plus(1)), ..token(2) };
    assert_eq!(gate.admit(&issuer().token(&fresh), NOW.plus(1)), Ok(fresh));
}

#[test]
fn used_tokens_are_forgotten_when_they_have_expired() {
    let mut used = UsedTokens::default();
    for nonce in 0..USED_MAX as u128 {
        used.spend(&token(nonce), NOW).unwrap();
    }
    assert_eq!(used.spend(&token(u128::MAX), NOW), Err(TokenError::Crowded));
    assert_eq!(used.spend(&token(5), NOW), Err(TokenError::Used), "a full set still recognises used tokens");
    assert_eq!(used.len(), USED_MAX);
    let later = NOW.plus(60);
    let fresh = Token { expires: Token::expiry(later), ..token(5) };
    assert_eq!(used.spend(&fresh, later), Ok(()));
    assert_eq!(used.len(), 1);
}

proptest! {
    #[test]
    fn any_token_is_read_as_it_was_issued(
        player: u64, session: u64, nonce: u128, host: u32, seconds in 0..1u64 << 40, text in "\\PC{1,24}",
    ) {
        let Ok(name) = lobby::PlayerName::parse(&text) else { return Ok(()) };
        let now = UnixSeconds(seconds);
        let expires = Token::expiry(now);
        let token = Token { player: PlayerId(player), session, name, host, nonce, expires };
        let verifier = Verifier::new(key(), WORLD, host).unwrap();
        prop_assert_eq!(verifier.check(&issuer().token(&token), now), Ok(token));
    }

    #[test]
    fn garbage_is_refused(text in "(v4\\.public\\.)?[A-Za-z0-9_.=-]{0,300}", any in "\\PC{0,100}") {
        prop_assert_eq!(verifier().check(&text, NOW), Err(TokenError::Forged));
        prop_assert_eq!(verifier().check(&any, NOW), Err(TokenError::Forged));
        prop_assert_eq!(issuer().check_pass(&text, NOW), Err(TokenError::Forged));
    }

    /// In any order of tokens and times: no token is accepted twice while it is valid.
    #[test]
    fn no_token_is_accepted_twice(steps in prop::collection::vec((0..6u128, 0..12u64), 1..60)) {
        let (mut used, mut now, mut spent) = (UsedTokens::default(), NOW, Vec::new());
        for (nonce, wait) in steps {
            now = now.plus(wait);
            let token = Token { expires: UnixSeconds(now.0 / 40 * 40 + TOKEN_SECONDS), ..token(nonce) };
            if token.expires.plus(SKEW_SECONDS) < now {
                continue;
            }
            let name = (token.expires, nonce);
            let expected = if spent.contains(&name) { Err(TokenError::Used) } else { Ok(()) };
            prop_assert_eq!(used.spend(&token, now), expected);
            spent.push(name);
        }
    }
}
