//! Names and passwords as people type them, made into types that cannot be wrong.
//!
//! A name is kept as it was typed, but for the spaces: none at the ends, one at a time between words. Two accounts
//! may not have names that differ only in case. Unicode's normal forms are not applied, and letters of different
//! scripts that look alike are different letters: a name is for show, a [`game::PlayerId`] says who somebody is.

use crate::config::{NAME_CHARS_MAX, PASSWORD_CHARS_MAX, PASSWORD_CHARS_MIN};
use serde::{Deserialize, Serialize};
use std::fmt;
use thiserror::Error;

/// A name that can be shown.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(String);

/// What two names have in common that differ only in case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameKey(String);

/// A password of a fit length, as the bytes that were sent. It is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

/// What is wrong with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NameError {
    /// Nothing, or spaces.
    #[error("a name needs a letter: type at least one")]
    Empty,
    /// Too many characters.
    #[error("this name has more than {NAME_CHARS_MAX} characters: choose a shorter one")]
    TooLong,
    /// A character that cannot be seen, or that reorders others.
    #[error("this name holds an invisible character (U+{:04X}): type it without", u32::from(*.0))]
    Invisible(char),
}

/// What is wrong with a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PasswordError {
    /// Too few characters.
    #[error("this password has fewer than {PASSWORD_CHARS_MIN} characters: choose a longer one")]
    TooShort,
    /// Too many characters.
    #[error("this password has more than {PASSWORD_CHARS_MAX} characters: choose a shorter one")]
    TooLong,
}

impl Name {
    /// Reads a name that somebody typed.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let text = text.trim();
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

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What no two accounts may share. To capitals and back, letter by letter, so that `ß` is `ss` and both of the
    /// Greek small sigmas are one.
    pub fn key(&self) -> NameKey {
        NameKey(self.0.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect())
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Name {
    type Error = NameError;
    fn try_from(text: String) -> Result<Self, NameError> {
        Self::parse(&text)
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

impl Password {
    /// Takes a password that somebody typed. Anything goes, spaces too; only the length counts.
    pub fn parse(text: &str) -> Result<Self, PasswordError> {
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

/// Whether a character cannot be seen, or changes how others are seen: controls, all that Unicode calls default
/// ignorable (zero widths, directions, fillers, tags), separators of lines, blanks that are no space, and those
/// that stand for nothing until somebody says so.
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
