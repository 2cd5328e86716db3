//! Lists in messages: decoded entry by entry, up to their limit.
//!
//! Serde's own decoder reserves memory for all promised entries, up to a megabyte, before it has read the first: 32
//! times the size of the longest message.

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// Decodes a list of at most `MAX` entries; a longer one is refused.
pub(crate) fn at_most<'de, const MAX: usize, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    deserializer.deserialize_seq(AtMost::<MAX, T>(PhantomData))
}

struct AtMost<const MAX: usize, T>(PhantomData<T>);

impl<'de, const MAX: usize, T: Deserialize<'de>> Visitor<'de> for AtMost<MAX, T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at most {MAX} entries")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Vec<T>, A::Error> {
        // Postcard's hint is the promised length, which the sender chooses freely: the limit caps it.
        let mut list = Vec::with_capacity(entries.size_hint().unwrap_or(0).min(MAX));
        while let Some(entry) = entries.next_element()? {
            if list.len() == MAX {
                return Err(A::Error::invalid_length(MAX + 1, &self));
            }
            list.push(entry);
        }
        Ok(list)
    }
}
