//! What peers say to each other, and what it weighs.

use crate::config::{CREDENTIAL_MAX, LIST_MAX, MESSAGE_MAX, NAMES_MAX};
use crate::info::{Info, short};
use crate::limited::at_most;
use machine::Address;
use serde::{Deserialize, Serialize};
use space::{Distance, Position};
use wire::{DecodeError, Message};

/// A message between peers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Msg {
    /// Somebody looks for whoever is nearest to their place; handed on until nobody nearer is known.
    Seek {
        /// Who looks.
        who: Info,
        /// Why.
        purpose: Search,
        /// How often it may still be handed on.
        hops: u8,
        /// What proves who they are.
        #[serde(deserialize_with = "at_most::<CREDENTIAL_MAX, _, _>")]
        credential: Vec<u8>,
    },
    /// The answer of whoever is nearest: those whom the one who looks must know.
    Welcome {
        /// Who answers.
        from: Info,
        /// Whom to know.
        #[serde(deserialize_with = "at_most::<LIST_MAX, _, _>")]
        list: Vec<Info>,
        /// Whether the question came from somebody who is in already.
        again: bool,
    },
    /// The sender has moved.
    Move {
        /// Counts moves.
        sequence: u32,
        /// Where it is now.
        position: Position,
        /// Where it was, if that matters.
        before: Option<Position>,
        /// See [`Flags`].
        flags: Flags,
        /// How far it sees, if that has changed.
        aoi: Option<Distance>,
        /// The short names of those whom it has come to know since its last move: nobody need tell it of them.
        #[serde(deserialize_with = "at_most::<LIST_MAX, _, _>")]
        met: Vec<u32>,
    },
    /// Peers whom the receiver should know.
    Nodes(#[serde(deserialize_with = "at_most::<LIST_MAX, _, _>")] Vec<Info>),
    /// The sender wants to hear the receiver, or answers that.
    Hello {
        /// Who says so.
        who: Info,
        /// Whether it wants to hear the receiver.
        want: bool,
        /// Whether it is an answer.
        answer: bool,
        /// Whom it knows.
        knows: Knows,
        /// Peers that the receiver does not seem to know and should.
        #[serde(deserialize_with = "at_most::<LIST_MAX, _, _>")]
        nodes: Vec<Info>,
        /// What proves who it is.
        #[serde(deserialize_with = "at_most::<CREDENTIAL_MAX, _, _>")]
        credential: Vec<u8>,
    },
    /// Whom the sender knows, and the addresses of those who enclose it.
    Sum {
        /// Everybody.
        knows: Knows,
        /// Those whose regions touch its own.
        #[serde(deserialize_with = "at_most::<LIST_MAX, _, _>")]
        enclosing: Vec<Address>,
    },
    /// The sender does not want to hear the receiver, whom it does not know.
    Stranger,
    /// The sender leaves; those who enclosed it close the gap.
    Leave(#[serde(deserialize_with = "at_most::<LIST_MAX, _, _>")] Vec<Info>),
    /// Are you there?
    Ping,
    /// Yes.
    Pong {
        /// Who is there.
        who: Info,
    },
}

/// What a [`Msg::Move`] says.
#[derive(Debug)]
pub(crate) struct Step {
    pub sequence: u32,
    pub position: Position,
    pub before: Option<Position>,
    pub flags: Flags,
    pub aoi: Option<Distance>,
    pub met: Vec<u32>,
}

/// Why somebody looks for whoever is nearest to their place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Search {
    /// To join.
    Join,
    /// They are in, and look whether they are known where they are: the search comes home if they are.
    Check,
    /// They are in, and suddenly somewhere else.
    Leap,
}

/// Whom a peer knows, by short names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Knows {
    /// The short names, sorted.
    #[serde(deserialize_with = "at_most::<LIST_MAX, _, _>")]
    pub names: Vec<u32>,
    /// Nobody is named who is farther from the peer; `None` if everybody is named.
    pub within: Option<Distance>,
}

impl Knows {
    /// Somebody is not known any more.
    pub(crate) fn forget(&mut self, who: Address) {
        if let Ok(at) = self.names.binary_search(&short(who)) {
            self.names.remove(at);
        }
    }

    /// These are known as well. Whoever knows more than it would name is in a crowd, and names nobody.
    pub(crate) fn learn(&mut self, names: &[u32]) {
        for name in names {
            if let Err(at) = self.names.binary_search(name)
                && self.names.len() < NAMES_MAX
                && self.within.is_none()
            {
                self.names.insert(at, *name);
            }
        }
    }

    /// Whether somebody so named, at that distance squared, is not known by this word.
    pub fn lacks(&self, name: u32, distance_squared: u64) -> bool {
        self.names.binary_search(&name).is_err()
            && self.within.is_none_or(|it| distance_squared < it.squared())
    }
}

/// What a move says besides the place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flags(pub u8);

impl Flags {
    /// The receiver stands at the edge of what the sender sees: it tells of newcomers.
    pub const BOUNDARY: Self = Self(1);
    /// The receiver is to answer with its list.
    pub const LIST: Self = Self(2);
    /// The sender wants to hear the receiver.
    pub const WANT: Self = Self(4);
    /// There is a crowd: the receiver will hear the sender less often.
    pub const SPARSE: Self = Self(8);

    /// Whether all of these are set.
    pub const fn has(self, flag: Self) -> bool {
        self.0 & flag.0 == flag.0
    }

    /// These as well, if `set`.
    pub const fn with(self, flag: Self, set: bool) -> Self {
        if set { Self(self.0 | flag.0) } else { self }
    }
}

/// What OverSim's messages weigh, in bytes: a header, a header with a new place and two flags, a header with a count, and
/// an entry of a list. The names of peers that our lists compare by are four bytes there, too.
const HEADER: usize = 67;
const MOVE: usize = 85;
const LIST: usize = 72;
const ENTRY: usize = 42;
const SHORT: usize = 4;

impl Msg {
    /// What the message weighs by the paper's sizes.
    pub const fn paper_bytes(&self) -> usize {
        match self {
            Self::Seek { .. } | Self::Ping | Self::Pong { .. } | Self::Stranger => HEADER,
            Self::Welcome { list, .. } => LIST + ENTRY * list.len(),
            Self::Move { met, .. } => MOVE + SHORT * met.len(),
            Self::Nodes(list) | Self::Leave(list) => LIST + ENTRY * list.len(),
            Self::Hello { knows, nodes, .. } => HEADER + SHORT * knows.names.len() + ENTRY * nodes.len(),
            Self::Sum { knows, enclosing } => HEADER + SHORT * (knows.names.len() + enclosing.len()),
        }
    }

    /// Its kind, for tables.
    pub const fn kind(&self) -> usize {
        match self {
            Self::Seek { .. } => 0,
            Self::Welcome { .. } => 1,
            Self::Move { .. } => 2,
            Self::Nodes(_) => 3,
            Self::Hello { .. } => 4,
            Self::Sum { .. } => 5,
            Self::Stranger => 6,
            Self::Leave(_) => 7,
            Self::Ping | Self::Pong { .. } => 8,
        }
    }

    /// The names of the kinds, in their order.
    pub const KINDS: [&'static str; 9] =
        ["seek", "welcome", "move", "nodes", "hello", "sum", "stranger", "leave", "ping"];
}

impl Message for Msg {
    fn encode(&self, out: &mut Vec<u8>) {
        let taken = std::mem::take(out);
        *out = postcard::to_extend(self, taken).expect("plain data encodes");
    }

    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        if MESSAGE_MAX < bytes.len() {
            return Err(DecodeError::TooLong { length: bytes.len(), limit: MESSAGE_MAX });
        }
        let (msg, rest) = postcard::take_from_bytes(bytes).map_err(|_| DecodeError::Malformed)?;
        if !rest.is_empty() {
            return Err(DecodeError::TrailingBytes);
        }
        Ok(msg)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn info(number: u64) -> Info {
        let position = Position::new(-5_000_000, 4_999_999).unwrap();
        Info {
            address: Address(number),
            life: 1,
            sequence: 300,
            position,
            aoi: Distance::of_metres(60),
            group: 3,
        }
    }

    fn all() -> Vec<Msg> {
        let position = Position::new(-5_000_000, 4_999_999).unwrap();
        let list = vec![info(1), info(400)];
        let credential = vec![7; 64];
        let knows = Knows { names: vec![1, 2], within: Some(Distance::of_metres(20)) };
        vec![
            Msg::Seek { who: info(7), purpose: Search::Leap, hops: 9, credential: credential.clone() },
            Msg::Welcome { from: info(7), list: list.clone(), again: false },
            Msg::Move {
                sequence: 32_400,
                position,
                before: None,
                flags: Flags::WANT,
                aoi: None,
                met: vec![],
            },
            Msg::Nodes(list.clone()),
            Msg::Hello { who: info(7), want: true, answer: false, knows, nodes: list.clone(), credential },
            Msg::Sum { knows: Knows::default(), enclosing: vec![Address(9)] },
            Msg::Stranger,
            Msg::Leave(list),
            Msg::Ping,
            Msg::Pong { who: info(8) },
        ]
    }

    fn encoded(msg: &Msg) -> Vec<u8> {
        let mut bytes = Vec::new();
        msg.encode(&mut bytes);
        bytes
    }

    #[test]
    fn what_is_written_is_read_and_nothing_after_it() {
        for msg in all() {
            let mut bytes = encoded(&msg);
            assert_eq!(Msg::decode(&bytes).as_ref(), Ok(&msg));
            bytes.push(0);
            assert_eq!(Msg::decode(&bytes), Err(DecodeError::TrailingBytes), "{msg:?}");
            assert!(Msg::decode(&bytes[..bytes.len() - 2]).is_err(), "{msg:?}");
        }
        assert_eq!(Msg::decode(&[0x88, 0]), Ok(Msg::Ping), "a number may be longer than it need be");
        let kinds: Vec<usize> = all().iter().map(Msg::kind).collect();
        assert_eq!(kinds, [0, 1, 2, 3, 4, 5, 6, 7, 8, 8]);
    }

    #[test]
    fn a_move_is_small_and_a_list_has_an_end() {
        assert!(encoded(&all()[2]).len() <= 22, "{}", encoded(&all()[2]).len());
        assert_eq!((all()[2].paper_bytes(), all()[3].paper_bytes()), (85, 72 + 2 * 42));
        let long = Msg::Nodes(vec![info(1); LIST_MAX + 1]);
        assert_eq!(Msg::decode(&encoded(&long)), Err(DecodeError::Malformed));
        let longest = Msg::Nodes(vec![info(1); LIST_MAX]);
        assert_eq!(Msg::decode(&encoded(&longest)), Ok(longest));
        let too_long = Msg::decode(&vec![3; MESSAGE_MAX + 1]).unwrap_err();
        assert_eq!(too_long.to_string(), "32769 bytes are more than the 32768 that such a message may have");
        let seek = |bytes| {
            let credential = vec![7; bytes];
            Msg::Seek { who: info(7), purpose: Search::Join, hops: 9, credential }
        };
        assert_eq!(Msg::decode(&encoded(&seek(CREDENTIAL_MAX + 1))), Err(DecodeError::Malformed));
        assert_eq!(Msg::decode(&encoded(&seek(CREDENTIAL_MAX))), Ok(seek(CREDENTIAL_MAX)));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = Msg::decode(&bytes);
        }
    }
}
