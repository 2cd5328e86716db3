//! What waits to leave over one connection, and the bell that says so.
//!
//! `Sure` is kept in order until it is sent; whoever does not read it is cut off when too much waits. `Latest` is
//! thinned: a newer message takes the place of an older one of the same key, and when too many wait the oldest go.
//! So a slow reader costs a bounded amount of memory and nobody else's time.

use crate::close::Close;
use bytes::Bytes;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// The most bytes of `Sure` that may wait.
pub const SURE_MAX: usize = 1024 * 1024;

/// The most messages of `Latest` that may wait: a second of poses for somebody in a crowd.
pub const LATEST_MAX: usize = 64;

/// The same between hosts, for all their zones together: beacons are among them.
const LATEST_MAX_SERVERS: usize = 1024;

/// How a mailbox is emptied.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// `Latest` alone leaves this often at most.
    pub tick: Duration,
    /// The most bytes of `Sure` that may wait.
    pub sure_max: usize,
    /// The most messages of `Latest` that may wait.
    pub latest_max: usize,
}

impl Pace {
    /// Ten times a second: fewer, fuller packets beat more.
    pub const PLAYERS: Self =
        Self { tick: Duration::from_millis(100), sure_max: SURE_MAX, latest_max: LATEST_MAX };

    /// Servers wait for each other: at once, and as much as a snapshot needs.
    pub const SERVERS: Self =
        Self { tick: Duration::ZERO, sure_max: 64 * 1024 * 1024, latest_max: LATEST_MAX_SERVERS };
}

/// One connection's outgoing messages. Cheap to clone; all clones are the same box.
#[derive(Clone, Debug)]
pub struct Mailbox(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    id: u64,
    pace: Pace,
    waiting: Mutex<Waiting>,
    bell: Notify,
    end: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    sure: Vec<Bytes>,
    sure_bytes: usize,
    latest: VecDeque<(u64, u64, Bytes)>,
    lost: u64,
    told_lost: u64,
    close: Option<Close>,
}

/// What is to be sent now.
#[derive(Debug, Default)]
pub struct Batch {
    /// In this order, all of it.
    pub sure: Vec<Bytes>,
    /// If there is room.
    pub latest: Vec<Bytes>,
    /// How much `Latest` was thrown away so far, if that is news.
    pub lost: Option<u64>,
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// A number that no mailbox and no other link of this process has.
pub(crate) fn fresh_id() -> u64 {
    NEXT_ID.fetch_add(1, Ordering::Relaxed)
}

impl Mailbox {
    /// An empty mailbox.
    pub fn new(pace: Pace) -> Self {
        let id = fresh_id();
        Self(Arc::new(Shared {
            id,
            pace,
            waiting: Mutex::default(),
            bell: Notify::new(),
            end: Notify::new(),
        }))
    }

    /// Tells mailboxes apart.
    pub fn id(&self) -> u64 {
        self.0.id
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a frame that must arrive. Closes the box if its reader is too slow.
    pub fn sure(&self, frame: Bytes) {
        let mut waiting = self.waiting();
        if waiting.close.is_some() {
            return;
        }
        waiting.sure_bytes += frame.len();
        waiting.sure.push(frame);
        if self.0.pace.sure_max < waiting.sure_bytes {
            drop(waiting);
            self.close(Close::Slow);
        }
    }

    /// Adds a frame that a newer one between the same ends and of the same key replaces.
    pub fn latest(&self, ends: u64, key: u64, frame: Bytes) {
        let mut waiting = self.waiting();
        if waiting.close.is_some() {
            return;
        }
        if let Some(it) = waiting.latest.iter_mut().find(|it| (it.0, it.1) == (ends, key)) {
            it.2 = frame;
            return;
        }
        if waiting.latest.len() == self.0.pace.latest_max {
            waiting.latest.pop_front();
            waiting.lost += 1;
        }
        waiting.latest.push_back((ends, key, frame));
    }

    /// So many frames of `Latest` found no room further on.
    pub fn lost(&self, frames: u64) {
        self.waiting().lost += frames;
    }

    /// Wakes whoever sends.
    pub fn ring(&self) {
        self.0.bell.notify_one();
    }

    /// Nothing more is sent; the connection ends with this reason.
    pub fn close(&self, why: Close) {
        self.waiting().shut(why);
        self.ring();
        self.0.end.notify_waiters();
    }

    /// Why it was closed, if it was.
    pub fn closed(&self) -> Option<Close> {
        self.waiting().close
    }

    /// Waits until the box is closed.
    pub async fn until_closed(&self) -> Close {
        loop {
            let end = self.0.end.notified();
            tokio::pin!(end);
            end.as_mut().enable(); // Before looking, so that no closing is missed.
            if let Some(why) = self.closed() {
                return why;
            }
            end.await;
        }
    }

    /// Waits for `Latest` that may overtake what is being sent; never comes if it is sent at a pace.
    pub async fn overtaking(&self) -> Vec<Bytes> {
        if !self.0.pace.tick.is_zero() {
            return std::future::pending().await;
        }
        loop {
            let latest: Vec<Bytes> = self.waiting().latest.drain(..).map(|it| it.2).collect();
            if !latest.is_empty() {
                return latest;
            }
            self.0.bell.notified().await;
        }
    }

    /// Waits for something to send. `sent` is when something was sent last.
    pub async fn next(&self, sent: Instant) -> Result<Batch, Close> {
        loop {
            let wait = {
                let mut waiting = self.waiting();
                if let Some(why) = waiting.close {
                    return Err(why);
                }
                let due = sent + self.0.pace.tick;
                match (waiting.sure.is_empty(), waiting.latest.is_empty()) {
                    (true, true) => None,
                    (true, false) if Instant::now() < due => Some(due),
                    _ => return Ok(waiting.take()),
                }
            };
            match wait {
                None => self.0.bell.notified().await,
                Some(due) => tokio::select! {
                    () = self.0.bell.notified() => (),
                    () = tokio::time::sleep_until(due) => (),
                },
            }
        }
    }
}

impl Waiting {
    fn take(&mut self) -> Batch {
        self.sure_bytes = 0;
        let lost = (self.told_lost < self.lost).then_some(self.lost);
        self.told_lost = self.lost;
        let latest = self.latest.drain(..).map(|it| it.2).collect();
        Batch { sure: std::mem::take(&mut self.sure), latest, lost }
    }

    fn shut(&mut self, why: Close) {
        if self.close.is_none() {
            *self = Self { close: Some(why), ..Self::default() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(text: &'static str) -> Bytes {
        Bytes::from_static(text.as_bytes())
    }

    #[tokio::test(start_paused = true)]
    async fn sure_leaves_at_once_and_takes_along_what_waits() {
        let mailbox = Mailbox::new(Pace::PLAYERS);
        let sent = Instant::now();
        mailbox.latest(1, 7, frame("old"));
        mailbox.latest(1, 7, frame("new"));
        mailbox.sure(frame("word"));
        let batch = mailbox.next(sent).await.unwrap();
        assert_eq!((batch.sure, batch.latest), (vec![frame("word")], vec![frame("new")]));
        assert_eq!(Instant::now(), sent);
    }

    #[tokio::test(start_paused = true)]
    async fn latest_alone_waits_for_the_tick() {
        let mailbox = Mailbox::new(Pace::PLAYERS);
        let sent = Instant::now();
        mailbox.latest(1, 7, frame("here"));
        let batch = mailbox.next(sent).await.unwrap();
        assert_eq!(batch.latest, [frame("here")]);
        assert_eq!(sent.elapsed(), Pace::PLAYERS.tick);
    }

    #[tokio::test(start_paused = true)]
    async fn between_servers_the_newest_word_overtakes_and_replaces_only_its_own() {
        let mailbox = Mailbox::new(Pace::SERVERS);
        mailbox.sure(frame("a long snapshot"));
        mailbox.latest(1 << 32 | 2, 1, frame("to two"));
        mailbox.latest(1 << 32 | 3, 1, frame("to three"));
        assert_eq!(mailbox.overtaking().await, [frame("to two"), frame("to three")]);
        assert_eq!(mailbox.next(Instant::now()).await.unwrap().sure, [frame("a long snapshot")]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_reader_loses_poses_first_is_told_and_is_then_cut_off() {
        let mailbox = Mailbox::new(Pace { sure_max: 10, ..Pace::PLAYERS });
        for key in 0..LATEST_MAX as u64 + 3 {
            mailbox.latest(1, key, frame("x"));
        }
        let batch = mailbox.next(Instant::now()).await.unwrap();
        assert_eq!((batch.latest.len(), batch.lost), (LATEST_MAX, Some(3)));
        mailbox.sure(frame("0123456789"));
        assert_eq!(mailbox.closed(), None);
        mailbox.sure(frame("!"));
        assert_eq!(mailbox.closed(), Some(Close::Slow));
        assert_eq!(mailbox.next(Instant::now()).await.unwrap_err(), Close::Slow);
    }
}
