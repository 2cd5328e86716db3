//! The messages between peers, and their sizes.

use crate::config::{CREDENTIAL_MAX, LIST_MAX, MESSAGE_MAX, NAMES_MAX};
use crate::info::{Info, short};
use crate::limited::at_most;
use machine::Address;
use serde::{Deserialize, Serialize};
use space::{Distance, Position};
use wire::{DecodeError, Message};

/// A message from one peer to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OverlayMsg {
    /// A search for the peer nearest to a position; forwarded until no nearer peer is known.
    Seek {
        /// The peer that searches, with the position that it searches for.
        who: Info,
        /// Reason why the peer searches.
        purpose: SearchPurpose,
        /// Number of hops that are left.
        hops: u8,
        /// Credential of the peer that searches.
        #[serde(deserialize_with = "at_most::<CREDENTIAL_MAX, _, _>")]
        credential: Vec<u8>,
    },
    /// The answer of the nearest peer: the peers that the searching one must know.
    Welcome {
        /// The peer nearest to that position.
        from: Info,
        /// Peers that the receiver must know.
        #[serde(deserialize_with = "at_most::<LIST_MAX, _, _>")]
        list: Vec<Info>,
        /// True if the searching peer was in the overlay already.
        again: bool,
    },
    /// The sender has made a step.
    Move {
        /// Number of the sender's moves in this life.
        sequence: u32,
        /// New position of the sender.
        position: Position,
        /// Position before, after a long step only.
        before: Option<Position>,
        /// Requests and hints to the receiver; see [`Flags`].
        flags: Flags,
        /// View of the sender, if it changed recently.
        aoi: Option<Distance>,
        /// Short names of the sender's new neighbours since its last move: they need not be introduced to it.
        #[serde(deserialize_with = "at_most::<LIST_MAX, _, _>")]
        met: Vec<u32>,
    },
    /// An introduction: peers that the receiver should know.
    Nodes(#[serde(deserialize_with = "at_most::<LIST_MAX, _, _>")] Vec<Info>),
    /// A greeting, or the answer to one.
    Hello {
        /// The sender of the greeting.
        who: Info,
        /// True if the sender wants the receiver's moves.
        want: bool,
        /// True if this answers a greeting.
        answer: bool,
        /// Peers that the sender knows.
        knows: Knows,
        /// Peers that the receiver does not seem to know and should.
        #[serde(deserialize_with = "at_most::<LIST_MAX, _, _>")]
        nodes: Vec<Info>,
        /// Proof of who the sender is.
        #[serde(deserialize_with = "at_most::<CREDENTIAL_MAX, _, _>")]
        credential: Vec<u8>,
    },
    /// A summary of the sender's list, to which the receiver answers with the peers that are missing from it.
    Sum {
        /// Peers that the sender knows.
        knows: Knows,
        /// Addresses of the peers whose regions touch the sender's.
        #[serde(deserialize_with = "at_most::<LIST_MAX, _, _>")]
        enclosing: Vec<Address>,
    },
    /// The sender does not know the receiver and does not want its moves.
    Stranger,
    /// The sender leaves; the peers named here enclosed it, and close the gap.
    Leave(#[serde(deserialize_with = "at_most::<LIST_MAX, _, _>")] Vec<Info>),
    /// Asks whether the receiver is still there.
    Ping,
    /// The answer to a [`Self::Ping`].
    Pong {
        /// The peer that was pinged, as it is now.
        who: Info,
    },
}

/// The content of an [`OverlayMsg::Move`].
#[derive(Debug)]
pub(crate) struct PeerMove {
    pub sequence: u32,
    pub position: Position,
    pub before: Option<Position>,
    pub flags: Flags,
    pub aoi: Option<Distance>,
    pub met: Vec<u32>,
}

/// Reason for which a peer searches for the peer nearest to its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SearchPurpose {
    /// The peer joins the overlay.
    Join,
    /// The peer is in, and checks whether the peers around it know it: then the search returns to it.
    Check,
    /// The peer is in, and has leapt to a distant position.
    Leap,
}

/// The peers that a peer knows, by their short names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Knows {
    /// Short names of known peers, sorted.
    #[serde(deserialize_with = "at_most::<LIST_MAX, _, _>")]
    pub names: Vec<u32>,
    /// Radius around the peer within which all known peers are named; `None` if all are named.
    pub within: Option<Distance>,
}

impl Knows {
    /// Removes a peer that is not known any more.
    pub(crate) fn forget(&mut self, who: Address) {
        if let Ok(at) = self.names.binary_search(&short(who)) {
            self.names.remove(at);
        }
    }

    /// Adds known peers. A peer that knows more than it would name is in a crowd and names none, so nothing is added
    /// then.
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

    /// Returns whether a peer of that name, at that squared distance, is not known according to this list.
    pub fn lacks(&self, name: u32, distance_squared: u64) -> bool {
        self.names.binary_search(&name).is_err()
            && self.within.is_none_or(|it| distance_squared < it.squared())
    }
}

/// The flags of a move, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flags(pub u8);

impl Flags {
    /// The receiver stands at the edge of the sender's view: it introduces newcomers.
    pub const BOUNDARY: Self = Self(1);
    /// The receiver must answer with its list.
    pub const LIST: Self = Self(2);
    /// The sender wants the receiver's moves.
    pub const WANT: Self = Self(4);
    /// The sender is in a crowd: it will send the receiver fewer moves.
    pub const SPARSE: Self = Self(8);

    /// Returns whether all bits of `flag` are set.
    pub const fn has(self, flag: Self) -> bool {
        self.0 & flag.0 == flag.0
    }

    /// Adds the bits of `flag` if `set`.
    pub const fn with(self, flag: Self, set: bool) -> Self {
        if set { Self(self.0 | flag.0) } else { self }
    }
}

/// Sizes of OverSim's messages in bytes: a header, a header with a new position and two flags, a header with a count,
/// and an entry of a list. A short name, which OverSim does not have, counts four bytes.
const HEADER: usize = 67;
const MOVE: usize = 85;
const LIST: usize = 72;
const ENTRY: usize = 42;
const SHORT: usize = 4;

impl OverlayMsg {
    /// Bytes of the message by the paper's sizes.
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

    /// Index of the message's kind in [`Self::KINDS`].
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
            // Question and answer count as one kind: the tables show what the check costs.
            Self::Ping | Self::Pong { .. } => 8,
        }
    }

    /// Names of the kinds of messages, as reports show them.
    pub const KINDS: [&'static str; 9] =
        ["seek", "welcome", "move", "nodes", "hello", "sum", "stranger", "leave", "ping"];
}

impl Message for OverlayMsg {
    fn encode(&self, out: &mut Vec<u8>) {
        let taken = std::mem::take(out);
        *out = postcard::to_extend(self, taken).expect("plain data encodes");
    }

    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        // Too long a message is refused before any of it is decoded.
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

    fn all() -> Vec<OverlayMsg> {
        let position = Position::new(-5_000_000, 4_999_999).unwrap();
        let list = vec![info(1), info(400)];
        let credential = vec![7; 64];
        let knows = Knows { names: vec![1, 2], within: Some(Distance::of_metres(20)) };
        vec![
            OverlayMsg::Seek {
                who: info(7),
                purpose: SearchPurpose::Leap,
                hops: 9,
                credential: credential.clone(),
            },
            OverlayMsg::Welcome { from: info(7), list: list.clone(), again: false },
            OverlayMsg::Move {
                sequence: 32_400,
                position,
                before: None,
                flags: Flags::WANT,
                aoi: None,
                met: vec![],
            },
            OverlayMsg::Nodes(list.clone()),
            OverlayMsg::Hello {
                who: info(7),
                want: true,
                answer: false,
                knows,
                nodes: list.clone(),
                credential,
            },
            OverlayMsg::Sum { knows: Knows::default(), enclosing: vec![Address(9)] },
            OverlayMsg::Stranger,
            OverlayMsg::Leave(list),
            OverlayMsg::Ping,
            OverlayMsg::Pong { who: info(8) },
        ]
    }

    fn encoded(msg: &OverlayMsg) -> Vec<u8> {
        let mut bytes = Vec::new();
        msg.encode(&mut bytes);
        bytes
    }

    #[test]
    fn what_is_written_is_read_and_nothing_after_it() {
        for msg in all() {
            let mut bytes = encoded(&msg);
            assert_eq!(OverlayMsg::decode(&bytes).as_ref(), Ok(&msg));
            bytes.push(0);
            assert_eq!(OverlayMsg::decode(&bytes), Err(DecodeError::TrailingBytes), "{msg:?}");
            assert!(OverlayMsg::decode(&bytes[..bytes.len() - 2]).is_err(), "{msg:?}");
        }
        assert_eq!(
            OverlayMsg::decode(&[0x88, 0]),
            Ok(OverlayMsg::Ping),
            "a number may be longer than it need be"
        );
        let kinds: Vec<usize> = all().iter().map(OverlayMsg::kind).collect();
        assert_eq!(kinds, [0, 1, 2, 3, 4, 5, 6, 7, 8, 8]);
    }

    #[test]
    fn a_move_is_small_and_a_list_has_an_end() {
        assert!(encoded(&all()[2]).len() <= 22, "{}", encoded(&all()[2]).len());
        assert_eq!((all()[2].paper_bytes(), all()[3].paper_bytes()), (85, 72 + 2 * 42));
        let long = OverlayMsg::Nodes(vec![info(1); LIST_MAX + 1]);
        assert_eq!(OverlayMsg::decode(&encoded(&long)), Err(DecodeError::Malformed));
        let longest = OverlayMsg::Nodes(vec![info(1); LIST_MAX]);
        assert_eq!(OverlayMsg::decode(&encoded(&longest)), Ok(longest));
        let too_long = OverlayMsg::decode(&vec![3; MESSAGE_MAX + 1]).unwrap_err();
        assert_eq!(too_long.to_string(), "32769 bytes are more than the 32768 that such a message may have");
        let seek = |bytes| {
            let credential = vec![7; bytes];
            OverlayMsg::Seek { who: info(7), purpose: SearchPurpose::Join, hops: 9, credential }
        };
        assert_eq!(OverlayMsg::decode(&encoded(&seek(CREDENTIAL_MAX + 1))), Err(DecodeError::Malformed));
        assert_eq!(OverlayMsg::decode(&encoded(&seek(CREDENTIAL_MAX))), Ok(seek(CREDENTIAL_MAX)));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = OverlayMsg::decode(&bytes);
        }
    }
}
