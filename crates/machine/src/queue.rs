//! Queues with an end. At the limit the newest is refused or replaces its elder, and it is counted.

use crate::LatestKey;
use std::collections::VecDeque;

/// A first-in-first-out queue that holds at most `limit` items.
#[derive(Clone, Debug)]
pub struct Bounded<T> {
    items: VecDeque<T>,
    limit: usize,
    refused: u64,
}

/// The queue was full; here is the item back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full<T>(pub T);

impl<T> Bounded<T> {
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

    /// Takes the oldest item.
    pub fn pop(&mut self) -> Option<T> {
        self.items.pop_front()
    }

    /// How many items wait.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// How many items were refused so far.
    pub const fn refused(&self) -> u64 {
        self.refused
    }
}

/// What waits to leave over one link: `Sure` messages in order, and per key the newest `Latest` one,
/// in the place of the first that asked.
///
/// The limit is in bytes. A full queue refuses a `Latest` message and says so; a refused `Sure`
/// message means that the link can no longer keep its promise, and its owner must cut it.
#[derive(Clone, Debug)]
pub struct LinkQueue<T> {
    waiting: VecDeque<Waiting<T>>,
    bytes: usize,
    limit: usize,
    replaced: u64,
    refused: u64,
}

#[derive(Clone, Debug)]
struct Waiting<T> {
    key: Option<LatestKey>,
    bytes: usize,
    item: T,
}

/// What [`LinkQueue::push_latest`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queued<T> {
    /// It waits at the end.
    Appended,
    /// It took the place of this older one.
    Replaced(T),
    /// The queue is full; here is the item back.
    Refused(T),
}

impl<T> LinkQueue<T> {
    /// An empty queue that will hold at most `limit` bytes.
    pub const fn new(limit: usize) -> Self {
        Self { waiting: VecDeque::new(), bytes: 0, limit, replaced: 0, refused: 0 }
    }

    /// Another limit from now on. What waits stays, even if it is more than that.
    pub const fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// Appends a `Sure` message of `bytes` bytes.
    pub fn push_sure(&mut self, bytes: usize, item: T) -> Result<(), Full<T>> {
        if self.limit < self.bytes + bytes {
            self.refused += 1;
            return Err(Full(item));
        }
        self.bytes += bytes;
        self.waiting.push_back(Waiting { key: None, bytes, item });
        Ok(())
    }

    /// Appends a `Latest` message of `bytes` bytes, or puts it where an unsent one with its key waits.
    ///
    /// If it does not fit even in its elder's place it is refused, and the elder stays and is sent. To the
    /// receiver the newer one was lost, as any datagram may be, and an old position is better than none.
    /// Dropping the elder as well would lose both and help nobody: its room was not enough.
    ///
    /// Searches the queue: it is short, or its link is too slow for searching to matter.
    pub fn push_latest(&mut self, key: LatestKey, bytes: usize, item: T) -> Queued<T> {
        let elder = self.waiting.iter_mut().find(|it| it.key == Some(key));
        let freed = elder.as_ref().map_or(0, |it| it.bytes);
        if self.limit < self.bytes - freed + bytes {
            self.refused += 1;
            return Queued::Refused(item);
        }
        self.bytes = self.bytes - freed + bytes;
        let Some(elder) = elder else {
            self.waiting.push_back(Waiting { key: Some(key), bytes, item });
            return Queued::Appended;
        };
        self.replaced += 1;
        elder.bytes = bytes;
        Queued::Replaced(std::mem::replace(&mut elder.item, item))
    }

    /// Takes the oldest message.
    pub fn pop(&mut self) -> Option<T> {
        let next = self.waiting.pop_front()?;
        self.bytes -= next.bytes;
        Some(next.item)
    }

    /// How many messages wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// How many bytes wait.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many `Latest` messages were replaced before they left.
    pub const fn replaced(&self) -> u64 {
        self.replaced
    }

    /// How many messages were refused so far.
    pub const fn refused(&self) -> u64 {
        self.refused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_gives_the_item_back_and_counts() {
        let mut queue = Bounded::new(1);
        assert_eq!(queue.push("a"), Ok(()));
        assert_eq!(queue.push("b"), Err(Full("b")));
        assert_eq!((queue.len(), queue.refused()), (1, 1));
        assert_eq!(queue.pop(), Some("a"));
        assert!(queue.is_empty());
    }

    #[test]
    fn a_newer_position_takes_the_place_of_the_older() {
        let mut queue = LinkQueue::new(100);
        assert_eq!(queue.push_latest(LatestKey(7), 10, "7 old"), Queued::Appended);
        assert_eq!(queue.push_sure(10, "sure"), Ok(()));
        assert_eq!(queue.push_latest(LatestKey(8), 10, "8"), Queued::Appended);
        assert_eq!(queue.push_latest(LatestKey(7), 12, "7 new"), Queued::Replaced("7 old"));
        assert_eq!(queue.bytes(), 32);
        let left: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(left, ["7 new", "sure", "8"]);
        assert_eq!((queue.bytes(), queue.replaced()), (0, 1));
    }

    #[test]
    fn the_limit_counts_bytes() {
        let mut queue = LinkQueue::new(20);
        assert_eq!(queue.push_latest(LatestKey(1), 15, "a"), Queued::Appended);
        assert_eq!(queue.push_latest(LatestKey(2), 6, "b"), Queued::Refused("b"));
        assert_eq!(queue.push_sure(6, "c"), Err(Full("c")));
        assert_eq!(queue.push_latest(LatestKey(1), 20, "fits in its elder's place"), Queued::Replaced("a"));
        assert_eq!((queue.len(), queue.bytes(), queue.refused()), (1, 20, 2));
    }

    #[test]
    fn a_newer_position_that_does_not_fit_leaves_its_elder_in_place() {
        let mut queue = LinkQueue::new(20);
        assert_eq!(queue.push_latest(LatestKey(1), 10, "elder"), Queued::Appended);
        assert_eq!(queue.push_sure(8, "sure"), Ok(()));
        assert_eq!(queue.push_latest(LatestKey(1), 13, "newer"), Queued::Refused("newer"));
        assert_eq!((queue.bytes(), queue.replaced(), queue.refused()), (18, 0, 1));
        let left: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(left, ["elder", "sure"]);
    }
}
