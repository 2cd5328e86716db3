//! The frames that wait to be sent over one connection.
//!
//! `Sure` frames are kept in order until they are sent; a receiver that reads too slowly is disconnected. `Latest`
//! frames are thinned: a newer one replaces an older one of the same key, and when too many wait the oldest go.
//! So a slow receiver costs a bounded amount of memory and delays no other connection.

use crate::close::Close;
use crate::reactor::{ConnectionKey, ReadyConnections};
use bytes::Bytes;
use machine::{Span, Time};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// The most bytes of `Sure` frames that may wait for a player.
pub const SURE_MAX: usize = 1024 * 1024;

/// The most `Latest` frames that may wait for a player: a second of poses in a crowd.
pub const LATEST_MAX: usize = 64;

/// The same between hosts, for all their zones together: beacons are among them.
const LATEST_MAX_SERVERS: usize = 1024;

/// Limits and send interval of a queue.
#[derive(Clone, Copy, Debug)]
pub struct SendLimits {
    /// Least time from a batch to the next one that holds `Latest` frames only.
    pub latest_tick: Duration,
    /// Least time from a batch to the next one that holds `Sure` frames.
    pub sure_tick: Duration,
    /// The same if all of them may wait for a moment.
    pub later_tick: Duration,
    /// The most bytes of `Sure` frames that may wait.
    pub sure_max: usize,
    /// The most `Latest` frames that may wait.
    pub latest_max: usize,
}

impl SendLimits {
    /// For players, ten batches of poses a second: fewer, fuller packets cost less than many small ones. Results of a
    /// player's own actions leave almost at once; what others do leaves with the poses, which show where they did it.
    pub const PLAYERS: Self = Self {
        latest_tick: Duration::from_millis(100),
        sure_tick: Duration::from_millis(10),
        later_tick: Duration::from_millis(100),
        sure_max: SURE_MAX,
        latest_max: LATEST_MAX,
    };

    /// From a player, who sends little: at once, because a move should not wait. What can wait leaves with the next move, or
    /// after 100 ms.
    pub const FROM_PLAYER: Self =
        Self { latest_tick: Duration::ZERO, sure_tick: Duration::ZERO, ..Self::PLAYERS };

    /// Between servers: at once, because replicas wait for each other, and with room for a snapshot.
    pub const SERVERS: Self = Self {
        latest_tick: Duration::ZERO,
        sure_tick: Duration::ZERO,
        later_tick: Duration::ZERO,
        sure_max: 64 * 1024 * 1024,
        latest_max: LATEST_MAX_SERVERS,
    };
}

/// The outgoing frames of one connection. Cheap to clone; all clones share one queue.
#[derive(Clone, Debug)]
pub struct SendQueue(Arc<SharedQueue>);

#[derive(Debug)]
struct SharedQueue {
    id: u64,
    limits: SendLimits,
    waiting: Mutex<QueuedFrames>,
    /// The reactor that sends the frames; `None` if a task does.
    reactor: Option<(Arc<ReadyConnections>, ConnectionKey)>,
    frames_ready: Notify,
    close_signal: Notify,
}

/// Frames that a queue gives out now, or the time at which it will.
#[derive(Debug)]
pub enum Ready {
    /// Frames to send now.
    Batch(Batch),
    /// The frames that wait may be sent at this time.
    At(Time),
    /// No frame waits.
    Empty,
}

#[derive(Debug, Default)]
struct QueuedFrames {
    sure: Vec<Bytes>,
    sure_bytes: usize,
    /// Some of the `Sure` frames must not wait.
    is_urgent: bool,
    latest: VecDeque<(u64, u64, Bytes)>,
    lost: u64,
    reported_lost: u64,
    close: Option<Close>,
}

/// The frames to send in one go.
#[derive(Debug, Default)]
pub struct Batch {
    /// Frames that must all be sent, in this order.
    pub sure: Vec<Bytes>,
    /// Some of them could not wait: if they are lost, that must be noticed soon.
    pub is_urgent: bool,
    /// Frames that are sent if the connection has room.
    pub latest: Vec<Bytes>,
    /// Number of `Latest` frames dropped so far, if it has risen since the last batch.
    pub lost: Option<u64>,
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// A number that no send queue and no other link of this process has.
pub(crate) fn fresh_id() -> u64 {
    NEXT_ID.fetch_add(1, Ordering::Relaxed)
}

impl SendQueue {
    /// A queue that is empty and open.
    pub fn new(limits: SendLimits) -> Self {
        Self::of(fresh_id(), limits, None)
    }

    /// A queue whose frames the reactor of this connection sends.
    pub(crate) fn on_reactor(
        limits: SendLimits,
        ready: Arc<ReadyConnections>,
        port: usize,
        slot: usize,
    ) -> Self {
        let id = fresh_id();
        Self::of(id, limits, Some((ready, ConnectionKey { port, slot, queue: id })))
    }

    fn of(id: u64, limits: SendLimits, reactor: Option<(Arc<ReadyConnections>, ConnectionKey)>) -> Self {
        Self(Arc::new(SharedQueue {
            id,
            limits,
            reactor,
            waiting: Mutex::default(),
            frames_ready: Notify::new(),
            close_signal: Notify::new(),
        }))
    }

    /// Number of the queue, unique in this process.
    pub fn id(&self) -> u64 {
        self.0.id
    }

    fn waiting(&self) -> MutexGuard<'_, QueuedFrames> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a frame that must arrive. Closes the queue if too many bytes wait: the receiver reads too slowly.
    pub fn sure(&self, frame: Bytes) {
        self.push_sure(frame, true);
    }

    /// The same for a frame that may wait for a moment.
    pub fn sure_later(&self, frame: Bytes) {
        self.push_sure(frame, false);
    }

    fn push_sure(&self, frame: Bytes, is_urgent: bool) {
        let mut waiting = self.waiting();
        if waiting.close.is_some() {
            return;
        }
        waiting.sure_bytes += frame.len();
        waiting.is_urgent |= is_urgent;
        // Without this `Sure` frame the receiver could not go on, so there is no way but to disconnect it.
        waiting.sure.push(frame);
        if self.0.limits.sure_max < waiting.sure_bytes {
            drop(waiting); // `close` takes the same lock.
            self.close(Close::Slow);
        }
    }

    /// Adds a frame. It replaces a waiting one between the same ends and of the same key, in its place.
    pub fn latest(&self, ends: u64, key: u64, frame: Bytes) {
        let mut waiting = self.waiting();
        if waiting.close.is_some() {
            return;
        }
        if let Some(it) = waiting.latest.iter_mut().find(|it| (it.0, it.1) == (ends, key)) {
            it.2 = frame;
            return;
        }
        if waiting.latest.len() == self.0.limits.latest_max {
            waiting.latest.pop_front(); // The oldest: a newer pose of another object is worth more.
            waiting.lost += 1;
        }
        waiting.latest.push_back((ends, key, frame));
    }

    /// Counts `Latest` frames that the transport had no room for.
    pub fn lost(&self, frames: u64) {
        self.waiting().lost += frames;
    }

    /// Wakes the reactor or the task that sends. Callers add all frames of a turn first, so that they share packets.
    pub fn wake(&self) {
        match &self.0.reactor {
            Some((ready, key)) => ready.push(*key),
            None => self.0.frames_ready.notify_one(),
        }
    }

    /// Drops all waiting frames; the connection ends with this reason.
    pub fn close(&self, why: Close) {
        self.waiting().close_with(why);
        self.wake();
        self.0.close_signal.notify_waiters();
    }

    /// The reason for which the queue was closed, if it is.
    pub fn closed(&self) -> Option<Close> {
        self.waiting().close
    }

    /// Waits until the queue is closed.
    pub async fn until_closed(&self) -> Close {
        loop {
            let close_signal = self.0.close_signal.notified();
            tokio::pin!(close_signal);
            close_signal.as_mut().enable(); // Before the check, so that no close between the two is missed.
            if let Some(why) = self.closed() {
                return why;
            }
            close_signal.await;
        }
    }

    /// Waits for `Latest` frames that may overtake a batch being sent. Never returns if the queue has a send interval.
    pub async fn overtaking(&self) -> Vec<Bytes> {
        if !self.0.limits.latest_tick.is_zero() {
            return std::future::pending().await;
        }
        loop {
            let latest: Vec<Bytes> = self.waiting().latest.drain(..).map(|it| it.2).collect();
            if !latest.is_empty() {
                return latest;
            }
            self.0.frames_ready.notified().await;
        }
    }

    /// The frames to send now. `sent` is the time of the last batch.
    pub(crate) fn ready(&self, now: Time, sent: Time) -> Result<Ready, Close> {
        let mut waiting = self.waiting();
        if let Some(why) = waiting.close {
            return Err(why);
        }
        let Some(pause) = waiting.pause(&self.0.limits) else { return Ok(Ready::Empty) };
        let due = sent + Span::from_micros(pause.as_micros() as u64);
        Ok(if now < due { Ready::At(due) } else { Ready::Batch(waiting.take()) })
    }

    /// `Latest` frames that may overtake `Sure` frames on their way; none if the queue has a send interval.
    pub(crate) fn overtaking_now(&self) -> Vec<Bytes> {
        if !self.0.limits.latest_tick.is_zero() {
            return Vec::new();
        }
        self.waiting().latest.drain(..).map(|it| it.2).collect()
    }

    /// Waits for frames to send. `sent` is the time of the last batch.
    pub async fn next(&self, sent: Instant) -> Result<Batch, Close> {
        loop {
            let wait = {
                let mut waiting = self.waiting();
                if let Some(why) = waiting.close {
                    return Err(why);
                }
                let due = waiting.pause(&self.0.limits).map(|pause| sent + pause);
                if due.is_some_and(|it| it <= Instant::now()) {
                    return Ok(waiting.take());
                }
                due
            };
            match wait {
                None => self.0.frames_ready.notified().await,
                Some(due) => tokio::select! {
                    () = self.0.frames_ready.notified() => (),
                    () = tokio::time::sleep_until(due) => (),
                },
            }
        }
    }
}

impl QueuedFrames {
    /// The time from the last batch to the next; `None` if no frame waits. Frames of both lanes leave together, as soon as
    /// one of them may.
    fn pause(&self, limits: &SendLimits) -> Option<Duration> {
        let sure = if self.is_urgent { limits.sure_tick } else { limits.later_tick };
        let sure = (!self.sure.is_empty()).then_some(sure);
        let latest = (!self.latest.is_empty()).then_some(limits.latest_tick);
        [sure, latest].into_iter().flatten().min()
    }

    fn take(&mut self) -> Batch {
        let is_urgent = std::mem::take(&mut self.is_urgent);
        self.sure_bytes = 0;
        let lost = (self.reported_lost < self.lost).then_some(self.lost);
        self.reported_lost = self.lost;
        let latest = self.latest.drain(..).map(|it| it.2).collect();
        Batch { sure: std::mem::take(&mut self.sure), is_urgent, latest, lost }
    }

    fn close_with(&mut self, why: Close) {
        // The first reason is the true one: later ones follow from the connection's end.
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
    async fn sure_frames_leave_soon_and_take_waiting_latest_along() {
        let queue = SendQueue::new(SendLimits::PLAYERS);
        let sent = Instant::now();
        queue.latest(1, 7, frame("old"));
        queue.latest(1, 7, frame("new"));
        queue.sure(frame("word"));
        let batch = queue.next(sent).await.unwrap();
        assert_eq!((batch.sure, batch.latest), (vec![frame("word")], vec![frame("new")]));
        assert_eq!(sent.elapsed(), SendLimits::PLAYERS.sure_tick);
        let queue = SendQueue::new(SendLimits::FROM_PLAYER);
        queue.sure(frame("word"));
        let sent = Instant::now();
        assert_eq!((queue.next(sent).await.unwrap().sure.len(), sent.elapsed()), (1, Duration::ZERO));
    }

    #[tokio::test(start_paused = true)]
    async fn frames_that_may_wait_leave_with_the_first_that_may_not() {
        let queue = SendQueue::new(SendLimits::PLAYERS);
        let sent = Instant::now();
        queue.sure_later(frame("told"));
        queue.sure(frame("result"));
        assert_eq!(queue.next(sent).await.unwrap().sure, [frame("told"), frame("result")]);
        assert_eq!(sent.elapsed(), SendLimits::PLAYERS.sure_tick);
        let sent = Instant::now();
        queue.sure_later(frame("told"));
        assert_eq!(queue.next(sent).await.unwrap().sure, [frame("told")]);
        assert_eq!(sent.elapsed(), SendLimits::PLAYERS.later_tick);
    }

    #[tokio::test(start_paused = true)]
    async fn latest_alone_waits_for_the_tick() {
        let queue = SendQueue::new(SendLimits::PLAYERS);
        let sent = Instant::now();
        queue.latest(1, 7, frame("here"));
        let batch = queue.next(sent).await.unwrap();
        assert_eq!(batch.latest, [frame("here")]);
        assert_eq!(sent.elapsed(), SendLimits::PLAYERS.latest_tick);
    }

    #[tokio::test(start_paused = true)]
    async fn between_servers_latest_overtakes_and_replaces_only_its_own_key() {
        let queue = SendQueue::new(SendLimits::SERVERS);
        queue.sure(frame("a long snapshot"));
        queue.latest(1 << 32 | 2, 1, frame("to two"));
        queue.latest(1 << 32 | 3, 1, frame("to three"));
        assert_eq!(queue.overtaking().await, [frame("to two"), frame("to three")]);
        assert_eq!(queue.next(Instant::now()).await.unwrap().sure, [frame("a long snapshot")]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_reader_loses_poses_first_is_told_and_is_then_disconnected() {
        let queue = SendQueue::new(SendLimits { sure_max: 10, ..SendLimits::PLAYERS });
        for key in 0..LATEST_MAX as u64 + 3 {
            queue.latest(1, key, frame("x"));
        }
        let batch = queue.next(Instant::now()).await.unwrap();
        assert_eq!((batch.latest.len(), batch.lost), (LATEST_MAX, Some(3)));
        queue.sure(frame("0123456789"));
        assert_eq!(queue.closed(), None);
        queue.sure(frame("!"));
        assert_eq!(queue.closed(), Some(Close::Slow));
        assert_eq!(queue.next(Instant::now()).await.unwrap_err(), Close::Slow);
    }
}
