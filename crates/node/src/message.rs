//! The messages between nodes: a zone's message, or a datagram of poses.

use wire::{DATAGRAM_MAX, DecodeError, Message};

/// A message of either plane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeMsg {
    /// A message of the authority plane.
    Zone(zone::ZoneMsg),
    /// The dissemination plane: a datagram, as its carrier packed it.
    Poses(Vec<u8>),
}

const ZONE: u8 = 0;
const POSES: u8 = 1;

impl Message for NodeMsg {
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Zone(msg) => {
                out.push(ZONE);
                msg.encode(out);
            }
            Self::Poses(datagram) => {
                out.push(POSES);
                out.extend_from_slice(datagram);
            }
        }
    }

    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        match bytes.split_first() {
            Some((&ZONE, rest)) => zone::ZoneMsg::decode(rest).map(Self::Zone),
            Some((&POSES, rest)) if rest.len() <= DATAGRAM_MAX => Ok(Self::Poses(rest.to_vec())),
            Some((&POSES, rest)) => Err(DecodeError::TooLong { length: rest.len(), limit: DATAGRAM_MAX }),
            Some((&kind, _)) => Err(DecodeError::UnknownKind(kind)),
            None => Err(DecodeError::TooShort),
        }
    }

    fn can_wait(&self) -> bool {
        matches!(self, Self::Zone(msg) if msg.can_wait())
    }
}
