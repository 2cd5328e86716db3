//! Names and passwords as people type them, made into types that cannot be wrong.
//!
//! A name is kept as it was typed, but for the spaces: none at the ends, one at a time between words. Two accounts
//! may not have names that differ only in case. Unicode's normal forms are not applied, and letters of different
//! scripts that look alike are different letters: a name is for show, a [`game::PlayerId`] identifies a player.

use crate::config::{NAME_CHARS_MAX, PASSWORD_CHARS_MAX, PASSWORD_CHARS_MIN};
use serde::{Deserialize, Serialize};
use std::fmt;
use thiserror::Error;

/// The display name of a player: 1 to [`NAME_CHARS_MAX`] visible characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PlayerName(String);

/// The form in which two names are equal that differ only in case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameKey(String);

/// A password of a valid length, as the bytes that were sent. It is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

/// The reason why a name is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NameError {
    /// An empty text, or spaces only.
    #[error("a name needs a letter: type at least one")]
    Empty,
    /// A name of more than [`NAME_CHARS_MAX`] characters.
    #[error("this name has more than {NAME_CHARS_MAX} characters: choose a shorter one")]
    TooLong,
    /// A character that cannot be seen, or that reorders others.
    #[error("this name holds an invisible character (U+{:04X}): type it without", u32::from(*.0))]
    Invisible(char),
}

/// The reason why a password is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PasswordError {
    /// A password of fewer than [`PASSWORD_CHARS_MIN`] characters.
    #[error("this password has fewer than {PASSWORD_CHARS_MIN} characters: choose a longer one")]
    TooShort,
    /// A password of more than [`PASSWORD_CHARS_MAX`] characters.
    #[error("this password has more than {PASSWORD_CHARS_MAX} characters: choose a shorter one")]
    TooLong,
}

impl PlayerName {
    /// Parses a name as a person typed it.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let text = text.trim();
        // Counts no further than needed: the text may be long.
        if NAME_CHARS_MAX < text.chars().take(NAME_CHARS_MAX + 1).count() {
            return Err(NameError::TooLong);
        }
        if let Some(invisible) = text.chars().find(|&it| is_invisible(it)) {
            return Err(NameError::Invisible(invisible));
        }
        if text.is_empty() {
            return Err(NameError::Empty);
        }
        Ok(Self(text.split_whitespace().collect::<Vec<_>>().join(" ")))
    }

    /// The name as it is shown.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The key that no two accounts may share. To capitals and back, letter by letter, so that `ß` is `ss` and both of
    /// the Greek small sigmas are one.
    pub fn key(&self) -> NameKey {
        NameKey(self.0.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect())
    }
}

impl fmt::Display for PlayerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for PlayerName {
    type Error = NameError;
    fn try_from(text: String) -> Result<Self, NameError> {
        Self::parse(&text)
    }
}

impl From<PlayerName> for String {
    fn from(name: PlayerName) -> Self {
        name.0
    }
}

impl Password {
    /// Takes a password as a person typed it. Any characters, spaces too; only the length counts.
    pub fn parse(text: &str) -> Result<Self, PasswordError> {
        // Counts no further than needed: the text may be long.
        match text.chars().take(PASSWORD_CHARS_MAX + 1).count() {
            ..PASSWORD_CHARS_MIN => Err(PasswordError::TooShort),
            PASSWORD_CHARS_MIN..=PASSWORD_CHARS_MAX => Ok(Self(text.to_owned())),
            _ => Err(PasswordError::TooLong),
        }
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(…)")
    }
}

/// Returns whether a character is invisible, or changes how others appear: controls, all that Unicode calls default
/// ignorable (zero widths, directions, fillers, tags), separators of lines, blanks that are no space, private use and
/// unassigned ones.
fn is_invisible(it: char) -> bool {
    it.is_control()
        || matches!(it,
            '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}'
            | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}' | '\u{2800}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}'
            | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0000}'..='\u{E0FFF}')
        || matches!(it, '\u{E000}'..='\u{F8FF}' | '\u{F0000}'.. | '\u{FDD0}'..='\u{FDEF}')
        || it as u32 & 0xFFFE == 0xFFFE
}
