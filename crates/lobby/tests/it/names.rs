//! Names and passwords as people type them, also with bad intent.

use lobby::{NameError, Password, PasswordError, PlayerName};
use proptest::prelude::*;

#[test]
fn names_are_kept_as_typed_but_for_spaces() {
    for (typed, kept) in [
        ("Ada", "Ada"),
        ("  Ada Lovelace ", "Ada Lovelace"),
        ("Ada \u{3000}\u{A0} L", "Ada L"),
        ("\tZoë\n", "Zoë"),
        ("名前", "名前"),
        ("x", "x"),
        ("<b>'\"&\\", "<b>'\"&\\"),
    ] {
        assert_eq!(PlayerName::parse(typed).unwrap().as_str(), kept);
    }
}

#[test]
fn invisible_characters_are_refused() {
    let hidden = [
        '\0',
        '\n',
        '\u{7F}',
        '\u{85}',
        '\u{AD}',
        '\u{200B}',
        '\u{200D}',
        '\u{200E}',
        '\u{202E}',
        '\u{2028}',
        '\u{2066}',
        '\u{2800}',
        '\u{3164}',
        '\u{FE0F}',
        '\u{FEFF}',
        '\u{FFFE}',
        '\u{1FFFF}',
        '\u{E000}',
        '\u{E0041}',
        '\u{10FFFF}',
    ];
    for it in hidden {
        assert_eq!(PlayerName::parse(&format!("a{it}b")), Err(NameError::Invisible(it)), "{it:?}");
    }
    for blank in ["", " ", " \t\n", "\u{3000}\u{A0}"] {
        assert_eq!(PlayerName::parse(blank), Err(NameError::Empty), "{blank:?}");
    }
    assert!(PlayerName::parse("\u{200B}").is_err());
}

#[test]
fn lengths_are_counted_in_characters() {
    assert!(PlayerName::parse(&"𝔄".repeat(24)).is_ok());
    assert_eq!(PlayerName::parse(&"a".repeat(25)), Err(NameError::TooLong));
    assert_eq!(PlayerName::parse(&"a".repeat(1 << 20)), Err(NameError::TooLong));
    assert_eq!(Password::parse("1234567"), Err(PasswordError::TooShort));
    assert!(Password::parse("пароль12").is_ok());
    assert!(Password::parse(&"𝔄".repeat(128)).is_ok());
    assert_eq!(Password::parse(&"a".repeat(129)), Err(PasswordError::TooLong));
}

#[test]
fn errors_say_what_to_do() {
    let text = |error: NameError| error.to_string();
    assert_eq!(
        text(NameError::Invisible('\u{200B}')),
        "this name holds an invisible character (U+200B): type it without"
    );
    assert!(text(NameError::TooLong).ends_with("more than 24 characters: choose a shorter one"));
    assert_eq!(format!("{:?}", Password::parse("a secret").unwrap()), "Password(…)");
}

#[test]
fn names_that_differ_in_case_are_one() {
    let key = |text| PlayerName::parse(text).unwrap().key();
    for (one, other) in [("Ada", "aDA"), ("ZOË", "zoë"), ("Straße", "STRASSE"), ("ΣΑΣ", "σας"), ("Д", "д")]
    {
        assert_eq!(key(one), key(other), "{one} {other}");
    }
    for (one, other) in [("Ada", "Adа"), ("Ada", "Ad a"), ("a", "b")] {
        assert_ne!(key(one), key(other), "{one} {other}");
    }
}

proptest! {
    /// No input panics, and a parsed name parses to itself.
    #[test]
    fn reading_twice_is_reading_once(text in prop::collection::vec(any::<char>(), 0..40)) {
        let text: String = text.into_iter().collect();
        _ = Password::parse(&text);
        if let Ok(name) = PlayerName::parse(&text) {
            prop_assert!((1..=24).contains(&name.as_str().chars().count()));
            prop_assert!(!name.as_str().contains(char::is_control));
            prop_assert_eq!(name.as_str().trim(), name.as_str());
            prop_assert_eq!(PlayerName::parse(name.as_str()), Ok(name.clone()));
        }
    }

    /// A key does not depend on the case that a name is typed in.
    #[test]
    fn keys_know_no_case(text in "[a-zA-Zà-öА-яα-ω ]{1,24}") {
        if let Ok(name) = PlayerName::parse(&text) {
            for other in [text.to_uppercase(), text.to_lowercase()] {
                prop_assert_eq!(PlayerName::parse(&other).unwrap().key(), name.key());
            }
        }
    }
}
