//! Queues with a limit. A full queue refuses, replaces or drops an item, and counts it.

use crate::LatestKey;
use std::collections::VecDeque;

/// A first-in-first-out queue that holds at most `limit` items.
#[derive(Clone, Debug)]
pub struct BoundedQueue<T> {
    items: VecDeque<T>,
    limit: usize,
    refused: u64,
}

/// The queue was full; this is the refused item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full<T>(pub T);

impl<T> BoundedQueue<T> {
    /// An empty queue that will hold at most `limit` items.
    pub const fn new(limit: usize) -> Self {
        Self { items: VecDeque::new(), limit, refused: 0 }
    }

    /// Appends `item`, or gives it back if the queue is full.
    pub fn push(&mut self, item: T) -> Result<(), Full<T>> {
        if self.limit <= self.items.len() {
            self.refused += 1;
            return Err(Full(item));
        }
        self.items.push_back(item);
        Ok(())
    }

    /// Takes the oldest item, if any waits.
    pub fn pop(&mut self) -> Option<T> {
        self.items.pop_front()
    }

    /// The number of items that wait.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// True if no item waits.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The number of items refused so far.
    pub const fn refused(&self) -> u64 {
        self.refused
    }
}

/// The messages that wait to leave over one link: `Sure` ones in order, and per key the newest `Latest` one,
/// in the place of the first with that key.
///
/// The limit is in bytes. A `Latest` message for which there is no room makes some: the oldest `Latest` ones are
/// dropped, as the send queues of real sockets drop them, since the newest says most about the world as it is. `Sure`
/// ones are never dropped; a refused `Sure` message means that the link can no longer keep its promise, and the
/// driver must cut it.
#[derive(Clone, Debug)]
pub struct LinkQueue<T> {
    waiting: VecDeque<QueuedMessage<T>>,
    bytes: usize,
    limit: usize,
    replaced: u64,
    dropped: u64,
    refused: u64,
}

#[derive(Clone, Debug)]
// `None` for a `Sure` message.
struct QueuedMessage<T> {
    key: Option<LatestKey>,
    bytes: usize,
    item: T,
}

/// The messages that a new `Latest` message pushed out of the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Displaced<T> {
    /// The unsent message with the same key, whose place the new one took.
    pub replaced: Option<T>,
    /// Messages with other keys that were dropped to make room, the oldest first.
    pub dropped: Vec<T>,
}

impl<T> LinkQueue<T> {
    /// An empty queue that will hold at most `limit` bytes.
    pub const fn new(limit: usize) -> Self {
        Self { waiting: VecDeque::new(), bytes: 0, limit, replaced: 0, dropped: 0, refused: 0 }
    }

    /// Sets another limit. Waiting messages stay, even beyond the limit, until a new one needs room.
    pub const fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// Appends a `Sure` message of `bytes` bytes, or gives it back if there is no room.
    pub fn push_sure(&mut self, bytes: usize, item: T) -> Result<(), Full<T>> {
        if self.limit < self.bytes + bytes {
            self.refused += 1;
            return Err(Full(item));
        }
        self.bytes += bytes;
        self.waiting.push_back(QueuedMessage { key: None, bytes, item });
        Ok(())
    }

    /// Appends a `Latest` message of `bytes` bytes, or puts it where an unsent one with its key waits.
    ///
    /// Without room, the oldest `Latest` ones are dropped until there is. If even all of them would not be enough,
    /// the new one is refused and the others stay: dropping them would lose both. A message that needs no more room
    /// than the one it replaces is never refused, also not after the limit was lowered.
    ///
    /// Searches the queue linearly: it is short, or its link is too slow for searching to matter.
    pub fn push_latest(&mut self, key: LatestKey, bytes: usize, item: T) -> Result<Displaced<T>, Full<T>> {
        let elder = self.waiting.iter().find(|it| it.key == Some(key));
        let freed = elder.map_or(0, |it| it.bytes);
        // Why `freed < bytes` first: a lowered limit must not refuse a message that needs no more room than before.
        let full = freed < bytes && self.limit < self.bytes - freed + bytes;
        // Why before dropping anything: a message that cannot fit at all must not cost others their place.
        if full && self.limit < self.sure_bytes() + bytes {
            self.refused += 1;
            return Err(Full(item));
        }
        let dropped = if full { self.make_room(key, bytes - freed) } else { Vec::new() };
        self.bytes = self.bytes - freed + bytes;
        let replaced = self.put(QueuedMessage { key: Some(key), bytes, item });
        Ok(Displaced { replaced, dropped })
    }

    fn sure_bytes(&self) -> usize {
        self.waiting.iter().filter(|it| it.key.is_none()).map(|it| it.bytes).sum()
    }

    /// Drops the oldest `Latest` messages with other keys until there is room for `bytes` bytes more.
    fn make_room(&mut self, key: LatestKey, bytes: usize) -> Vec<T> {
        let mut dropped = Vec::new();
        while self.limit < self.bytes + bytes {
            // Why skip its own key: that message is replaced in place and its bytes are already counted as freed.
            let oldest = self.waiting.iter().position(|it| it.key.is_some_and(|it| it != key));
            let oldest = oldest.and_then(|at| self.waiting.remove(at)).expect("there is room without these");
            self.bytes -= oldest.bytes;
            self.dropped += 1;
            dropped.push(oldest.item);
        }
        dropped
    }

    /// Puts a message in the place of the one with its key, or at the end.
    fn put(&mut self, new: QueuedMessage<T>) -> Option<T> {
        // Only `Latest` messages come here, so the key is never the `None` that all `Sure` ones share.
        let Some(elder) = self.waiting.iter_mut().find(|it| it.key == new.key) else {
            self.waiting.push_back(new);
            return None;
        };
        self.replaced += 1;
        Some(std::mem::replace(elder, new).item)
    }

    /// Takes the oldest message, if any waits.
    pub fn pop(&mut self) -> Option<T> {
        let next = self.waiting.pop_front()?;
        self.bytes -= next.bytes;
        Some(next.item)
    }

    /// The number of messages that wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// True if no message waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The total size of the waiting messages, in bytes.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// The number of `Latest` messages replaced before they left.
    pub const fn replaced(&self) -> u64 {
        self.replaced
    }

    /// The number of `Latest` messages dropped to make room for newer ones.
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The number of messages refused so far.
    pub const fn refused(&self) -> u64 {
        self.refused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_gives_the_item_back_and_counts() {
        let mut queue = BoundedQueue::new(1);
        assert_eq!(queue.push("a"), Ok(()));
        assert_eq!(queue.push("b"), Err(Full("b")));
        assert_eq!((queue.len(), queue.refused()), (1, 1));
        assert_eq!(queue.pop(), Some("a"));
        assert!(queue.is_empty());
    }

    const APPENDED: Result<Displaced<&str>, Full<&str>> = Ok(Displaced { replaced: None, dropped: vec![] });

    fn replaces(elder: &str) -> Result<Displaced<&str>, Full<&str>> {
        Ok(Displaced { replaced: Some(elder), dropped: vec![] })
    }

    fn rest<T>(queue: &mut LinkQueue<T>) -> Vec<T> {
        std::iter::from_fn(|| queue.pop()).collect()
    }

    #[test]
    fn a_newer_position_takes_the_place_of_the_older() {
        let mut queue = LinkQueue::new(100);
        assert_eq!(queue.push_latest(LatestKey(7), 10, "7 old"), APPENDED);
        assert_eq!(queue.push_sure(10, "sure"), Ok(()));
        assert_eq!(queue.push_latest(LatestKey(8), 10, "8"), APPENDED);
        assert_eq!(queue.push_latest(LatestKey(7), 12, "7 new"), replaces("7 old"));
        assert_eq!(queue.bytes(), 32);
        assert_eq!(rest(&mut queue), ["7 new", "sure", "8"]);
        assert_eq!((queue.bytes(), queue.replaced()), (0, 1));
    }

    #[test]
    fn the_limit_counts_bytes() {
        let mut queue = LinkQueue::new(20);
        assert_eq!(queue.push_latest(LatestKey(1), 15, "a"), APPENDED);
        assert_eq!(queue.push_sure(6, "b"), Err(Full("b")));
        assert_eq!(queue.push_latest(LatestKey(1), 20, "fits in its elder's place"), replaces("a"));
        assert_eq!((queue.len(), queue.bytes(), queue.refused()), (1, 20, 1));
    }

    #[test]
    fn a_newer_position_drops_the_oldest_until_it_fits() {
        let mut queue = LinkQueue::new(40);
        for (key, name) in [(1, "1"), (2, "2"), (3, "3")] {
            assert_eq!(queue.push_latest(LatestKey(key), 10, name), APPENDED);
        }
        assert_eq!(queue.push_sure(10, "sure"), Ok(()));
        let made_room = queue.push_latest(LatestKey(4), 15, "4");
        assert_eq!(made_room, Ok(Displaced { replaced: None, dropped: vec!["1", "2"] }));
        // A waiting message that grows drops others, not itself.
        let grown = queue.push_latest(LatestKey(3), 20, "3 new");
        assert_eq!(grown, Ok(Displaced { replaced: Some("3"), dropped: vec!["4"] }));
        assert_eq!((queue.bytes(), queue.dropped(), queue.replaced(), queue.refused()), (30, 3, 1, 0));
        assert_eq!(rest(&mut queue), ["3 new", "sure"]);
    }

    #[test]
    fn a_message_that_cannot_fit_drops_nothing() {
        let mut queue = LinkQueue::new(20);
        assert_eq!(queue.push_latest(LatestKey(1), 5, "elder"), APPENDED);
        assert_eq!(queue.push_sure(8, "sure"), Ok(()));
        assert_eq!(queue.push_latest(LatestKey(2), 5, "other"), APPENDED);
        assert_eq!(queue.push_latest(LatestKey(1), 13, "newer"), Err(Full("newer")));
        assert_eq!(queue.push_latest(LatestKey(3), 13, "third"), Err(Full("third")));
        assert_eq!((queue.bytes(), queue.dropped(), queue.refused()), (18, 0, 2));
        assert_eq!(rest(&mut queue), ["elder", "sure", "other"]);
    }

    #[test]
    fn a_lowered_limit_takes_no_place_from_waiting_messages() {
        let mut queue = LinkQueue::new(100);
        assert_eq!(queue.push_sure(30, "sure"), Ok(()));
        for (key, name) in [(1, "1"), (2, "2")] {
            assert_eq!(queue.push_latest(LatestKey(key), 10, name), APPENDED);
        }
        queue.set_limit(20);
        assert_eq!(queue.push_latest(LatestKey(1), 10, "1 as long"), replaces("1"));
        assert_eq!(queue.push_latest(LatestKey(2), 9, "2 shorter"), replaces("2"));
        assert_eq!(queue.push_latest(LatestKey(2), 10, "2 longer"), Err(Full("2 longer")));
        assert_eq!(queue.push_latest(LatestKey(3), 1, "3"), Err(Full("3")));
        assert_eq!(rest(&mut queue), ["sure", "1 as long", "2 shorter"]);
        assert_eq!(queue.push_sure(21, "long"), Err(Full("long")), "the lower limit counts");
    }
}
