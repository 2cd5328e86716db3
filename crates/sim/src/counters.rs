//! What became of messages, in numbers.

/// Messages, and the bytes in them without overhead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many messages.
    pub messages: u64,
    /// How many bytes they encode to.
    pub bytes: u64,
}

impl Tally {
    pub(crate) const fn add(&mut self, bytes: usize) {
        self.messages += 1;
        self.bytes += bytes as u64;
    }
}

/// What became of the messages from one address to another, over all their links.
///
/// Every message sent, and every second copy that the link made of one, is in exactly one of the others
/// (`resent` aside), or still on its way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)] // What changes with every message stands first: see `crate::link::Way`.
pub struct Counters {
    /// Handed to the link by its machine.
    pub sent: Tally,
    /// Arrived, decoded and handed to the other machine.
    pub delivered: Tally,
    /// Arrived, but did not decode.
    pub garbled: Tally,
    /// Lost by chance, on the way when the link was cut, or with no machine at the end of it.
    pub lost: Tally,
    /// Replaced by a newer `Latest` message before they left.
    pub replaced: Tally,
    /// The queue was full: refused, or dropped to make room for a newer `Latest` message.
    pub refused: Tally,
    /// Lost tries of `Sure` messages that are tried until they get through. Counted when a message
    /// leaves, so also if its link is cut before it arrives.
    pub resent: Tally,
    /// Second copies of `Latest` messages.
    pub doubled: Tally,
}

/// How a message ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Delivered,
    Garbled,
    Lost,
    Replaced,
    Refused,
}

impl Counters {
    pub(crate) const fn count(&mut self, end: End, bytes: usize) {
        let tally = match end {
            End::Delivered => &mut self.delivered,
            End::Garbled => &mut self.garbled,
            End::Lost => &mut self.lost,
            End::Replaced => &mut self.replaced,
            End::Refused => &mut self.refused,
        };
        tally.add(bytes);
    }
}
