//! Counts of messages by how they ended.

/// A number of messages and of their bytes, without overhead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageCount {
    /// The number of messages counted.
    pub messages: u64,
    /// The number of bytes that these messages encode to.
    pub bytes: u64,
}

impl MessageCount {
    pub(crate) const fn add(&mut self, bytes: usize) {
        self.messages += 1;
        self.bytes += bytes as u64;
    }
}

/// Counts of the messages from one address to another, over all links between the two.
///
/// Every message sent, and every second copy that the link made of one, is in exactly one of the others
/// (`resent` aside), or still on its way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)] // The counts that change with every message stand first: see `crate::direction::Direction`.
pub struct Counters {
    /// Handed to the link by its machine.
    pub sent: MessageCount,
    /// Arrived, decoded and handed to the other machine.
    pub delivered: MessageCount,
    /// Arrived, but did not decode.
    pub garbled: MessageCount,
    /// Lost by chance, on the way when the link was cut, or with no machine at the end of it.
    pub lost: MessageCount,
    /// Replaced by a newer `Latest` message before they left.
    pub replaced: MessageCount,
    /// The queue was full: refused, or dropped to make room for a newer `Latest` message.
    pub refused: MessageCount,
    /// Lost tries of `Sure` messages that are tried until they get through. Counted when a message
    /// leaves, so also if its link is cut before it arrives.
    pub resent: MessageCount,
    /// Second copies of `Latest` messages.
    pub doubled: MessageCount,
}

/// The end of one message on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageEnd {
    Delivered,
    Garbled,
    Lost,
    Replaced,
    Refused,
}

impl Counters {
    pub(crate) const fn count(&mut self, end: MessageEnd, bytes: usize) {
        let tally = match end {
            MessageEnd::Delivered => &mut self.delivered,
            MessageEnd::Garbled => &mut self.garbled,
            MessageEnd::Lost => &mut self.lost,
            MessageEnd::Replaced => &mut self.replaced,
            MessageEnd::Refused => &mut self.refused,
        };
        tally.add(bytes);
    }
}
