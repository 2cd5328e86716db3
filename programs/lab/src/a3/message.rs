//! The messages between the experiment's server and its client.

use wire::{DecodeError, Message, Pose};

/// A message between server and client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum A3Msg {
    /// One update in a packet of its own, padded to the paper's size.
    Padded(Pose),
    /// All updates that fit into a datagram, in our own framing: see `wire::Packer`.
    Packed(Vec<u8>),
    /// The player's own motion, on its way to the server.
    Own(Pose),
}

/// Bytes of an update in the paper (section VII).
pub const PADDED_BYTES: usize = 100;

const KIND_PADDED: u8 = 1;
const KIND_OWN: u8 = 2;
// The kind, the length of the pose and the longest pose must fit.
const _: () = assert!(2 + wire::POSE_MAX <= PADDED_BYTES);

impl Message for A3Msg {
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Padded(pose) => {
                let start = out.len();
                out.extend([KIND_PADDED, 0]);
                pose.encode(out);
                out[start + 1] = (out.len() - start - 2) as u8;
                out.resize(start + PADDED_BYTES, 0);
            }
            Self::Packed(datagram) => out.extend_from_slice(datagram),
            Self::Own(pose) => {
                out.push(KIND_OWN);
                pose.encode(out);
            }
        }
    }

    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        match bytes {
            [KIND_PADDED, len, rest @ ..] => {
                let (pose, padding) =
                    rest.split_at_checked(usize::from(*len)).ok_or(DecodeError::TooShort)?;
                if bytes.len() < PADDED_BYTES {
                    return Err(DecodeError::TooShort);
                }
                if PADDED_BYTES < bytes.len() || padding.iter().any(|&it| it != 0) {
                    return Err(DecodeError::TrailingBytes);
                }
                Pose::decode(pose).map(Self::Padded)
            }
            [KIND_OWN, pose @ ..] => Pose::decode(pose).map(Self::Own),
            // Frames are checked here, so that the client need not expect broken ones.
            _ => wire::frames(bytes).map(|_| Self::Packed(bytes.to_vec())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::{Epoch, Motion, ObjectId, ZoneId};

    #[test]
    fn an_update_has_the_papers_size_and_survives_it() {
        let object = ObjectId { zone: ZoneId(0), epoch: Epoch(0), counter: 7 };
        let pose = Pose { object, motion: Motion::default(), tag: None };
        for (msg, len) in [(A3Msg::Padded(pose), 100), (A3Msg::Own(pose), 12)] {
            let mut bytes = Vec::new();
            msg.encode(&mut bytes);
            assert_eq!(bytes.len(), len);
            assert_eq!(A3Msg::decode(&bytes), Ok(msg));
        }
        let mut odd = Vec::new();
        A3Msg::Padded(pose).encode(&mut odd);
        assert!(A3Msg::decode(&odd[..99]).is_err(), "an update in a shorter packet");
        odd[99] = 1;
        assert!(A3Msg::decode(&odd).is_err(), "padding that says something");
        assert!(
            A3Msg::decode(&[]).is_err()
                && A3Msg::decode(&[KIND_PADDED, 9]).is_err()
                && A3Msg::decode(&[99]).is_err()
        );
    }
}
