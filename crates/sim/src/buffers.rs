//! The bytes of messages on their way, shared by every copy of one message.
//!
//! A message for many is encoded once; each copy in a queue or in flight holds the same buffer. A
//! buffer without a holder keeps its memory for the next message, so the steady state allocates
//! nothing. The pool grows to the largest number of messages that were ever on their way at once.

use machine::Lane;

/// The name of a buffer, valid while the buffer has a holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BufferId(u32);

/// All buffers, whether a message holds them or they are free.
#[derive(Debug)]
pub(crate) struct Buffers {
    buffers: Vec<Buffer>,
    free: Vec<BufferId>,
}

#[derive(Debug)]
struct Buffer {
    bytes: Vec<u8>,
    holders: u32,
    sure: bool,
}

impl Buffers {
    pub(crate) const fn new() -> Self {
        Self { buffers: Vec::new(), free: Vec::new() }
    }

    /// Lets `write` fill an empty buffer with a message for `lane`; it then has one holder.
    pub(crate) fn fill(&mut self, lane: Lane, write: impl FnOnce(&mut Vec<u8>)) -> BufferId {
        let id = self.free.pop().unwrap_or_else(|| self.grow());
        let buffer = &mut self.buffers[id.0 as usize];
        // Keeps the capacity: a reused buffer seldom allocates.
        buffer.bytes.clear();
        buffer.holders = 1;
        buffer.sure = lane == Lane::Sure;
        write(&mut buffer.bytes);
        id
    }

    pub(crate) fn hold(&mut self, id: BufferId) {
        self.buffers[id.0 as usize].holders += 1;
    }

    /// One holder less; after the last the buffer is free.
    pub(crate) fn release(&mut self, id: BufferId) {
        let buffer = &mut self.buffers[id.0 as usize];
        buffer.holders -= 1;
        if buffer.holders == 0 {
            self.free.push(id);
        }
    }

    pub(crate) fn bytes(&self, id: BufferId) -> &[u8] {
        &self.buffers[id.0 as usize].bytes
    }

    /// True if the message must not be lost.
    pub(crate) fn is_sure(&self, id: BufferId) -> bool {
        self.buffers[id.0 as usize].sure
    }

    /// The number of buffers that have a holder.
    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.buffers.len() - self.free.len()
    }

    fn grow(&mut self) -> BufferId {
        let id = u32::try_from(self.buffers.len()).expect("fewer than 2^32 messages are on their way");
        self.buffers.push(Buffer { bytes: Vec::new(), holders: 0, sure: false });
        BufferId(id)
    }
}

#[cfg(test)]
mod tests {
    use super::Buffers;
    use machine::Lane;

    #[test]
    fn a_buffer_lives_until_its_last_holder_releases_it() {
        let mut buffers = Buffers::new();
        let first = buffers.fill(Lane::Sure, |bytes| bytes.extend([1, 2]));
        buffers.hold(first);
        buffers.release(first);
        assert_eq!((buffers.bytes(first), buffers.held()), ([1, 2].as_slice(), 1));
        buffers.release(first);
        assert_eq!(buffers.held(), 0);
        let second = buffers.fill(Lane::Sure, |bytes| bytes.push(3));
        assert_eq!((second, buffers.bytes(second)), (first, [3].as_slice()));
    }
}
