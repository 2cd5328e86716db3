//! The watchdog of a host: a thread that looks whether a call of the game comes back.
//!
//! A rule that loops without asking its transaction anything ends by no bound, and its reactor stands still. The watchdog
//! measures processor time of the reactor's thread, not time: no call of a host that is merely slow or was stopped is accused. A call that has
//! used [`SUSPECT_AFTER`] is written into the zone's leadership as a suspect, which costs nothing if it comes back after all.
//! One that has used [`STUCK_AFTER`] is stuck: no thread can be ended from outside, so the host must start again.

use crate::directory::{RemoteDirectory, SwapOutcome};
use crate::zone_worker::ZoneSupervisor;
use net::reactor::ThreadName;
use space::ZoneId;
use std::sync::{Arc, mpsc};
use std::time::Duration;
use tokio::sync::mpsc as async_mpsc;
use zone::{CallSlot, Leadership, Suspect, leadership_key};

/// Interval at which the watchdog looks.
const LOOK_EVERY: Duration = Duration::from_millis(25);

/// Processor time after which a call is a suspect. A backup takes over after 300 ms of silence, and must find it named.
const SUSPECT_AFTER: Duration = Duration::from_millis(75);

/// Processor time after which a call is stuck.
const STUCK_AFTER: Duration = Duration::from_millis(500);

/// Attempts to write a suspect: other swaps of the same entry come between.
const ACCUSE_ATTEMPTS: u32 = 8;

/// A replica that the watchdog observes.
#[derive(Clone)]
pub struct WatchedReplica {
    pub zone: u32,
    pub calls: Arc<CallSlot>,
    /// The thread of its reactor.
    pub thread: Arc<ThreadName>,
}

/// A call of the game that does not come back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HangingCall {
    /// The zone whose replica called the game.
    pub zone: u32,
    /// The piece of work; `None` if nothing was executed.
    pub work: Option<Suspect>,
    /// Processor time that the call has used.
    pub used: Duration,
    /// False while it is only a suspect.
    pub is_stuck: bool,
}

impl std::fmt::Display for HangingCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (zone, millis) = (self.zone, self.used.as_millis());
        match &self.work {
            Some(work) => write!(f, "{work} in zone {zone} has used {millis} ms of processor time"),
            None => write!(f, "a call of the game in zone {zone} has used {millis} ms of processor time"),
        }
    }
}

/// A call that was under way at the last look.
#[derive(Clone, Copy)]
struct ObservedCall {
    number: u64,
    /// The thread's processor time when the call was seen first.
    since: Duration,
    told: Option<bool>,
}

struct Observer {
    replica: WatchedReplica,
    call: Option<ObservedCall>,
}

impl Observer {
    /// Looks once. Returns a call that has become a suspect, or stuck.
    fn look(&mut self) -> Option<HangingCall> {
        let Some(call) = self.replica.calls.look() else {
            self.call = None;
            return None;
        };
        let now = self.replica.thread.processor_time()?;
        let observed = self.call.filter(|it| it.number == call.number);
        let Some(mut observed) = observed else {
            self.call = Some(ObservedCall { number: call.number, since: now, told: None });
            return None;
        };
        let used = now.saturating_sub(observed.since);
        let is_stuck = STUCK_AFTER <= used;
        let is_new = SUSPECT_AFTER <= used && observed.told.is_none_or(|told| is_stuck && !told);
        if is_new {
            observed.told = Some(is_stuck);
        }
        self.call = Some(observed);
        is_new.then_some(HangingCall { zone: self.replica.zone, work: call.work, used, is_stuck })
    }
}

/// A running watchdog. It ends when this is dropped.
pub struct Watchdog {
    _end: mpsc::Sender<()>,
}

impl Watchdog {
    /// Starts to observe the replicas of a host. While a call is a suspect, no backup of the host takes over: if the reactor that
    /// is connected to the other hosts stands still, all primaries seem silent. The suspect is written into its zone's leadership;
    /// of a call that is stuck the host's note file learns, too, and then `stuck`.
    pub fn start(
        zones: ZoneSupervisor,
        directory: RemoteDirectory,
        stuck: async_mpsc::Sender<HangingCall>,
    ) -> std::io::Result<Self> {
        let (end, ended) = mpsc::channel::<()>();
        let runtime = tokio::runtime::Handle::current();
        let mut notes = zones.stuck_calls();
        let mut observers: Vec<_> =
            zones.watched().into_iter().map(|replica| Observer { replica, call: None }).collect();
        let run = move || {
            while ended.recv_timeout(LOOK_EVERY) == Err(mpsc::RecvTimeoutError::Timeout) {
                for call in observers.iter_mut().filter_map(Observer::look) {
                    zones.hold();
                    if let Some(work) = call.work.filter(|_| !call.is_stuck) {
                        tracing::warn!(zone = call.zone, %call, "a call of the game takes long: it is a suspect");
                        metrics::counter!("ecumene_suspects_total").increment(1);
                        runtime.spawn(accuse(directory.clone(), call.zone, work));
                    }
                    if call.is_stuck {
                        // The note first: what follows may end the process at any moment.
                        if let Err(error) = notes.add(call.zone, call.work) {
                            tracing::error!(%error, "the call that does not come back cannot be noted");
                        }
                        drop(stuck.try_send(call)); // It is full if another call is stuck: the host starts again either way.
                    }
                }
            }
        };
        std::thread::Builder::new().name("watchdog".to_owned()).spawn(run)?;
        Ok(Self { _end: end })
    }
}

/// Writes a suspect into the leadership of its zone. Epoch, primary and backup stay: the next primary reads it there.
pub async fn accuse(directory: RemoteDirectory, zone: u32, suspect: Suspect) {
    let key = leadership_key(ZoneId(zone));
    for _ in 0..ACCUSE_ATTEMPTS {
        // Without an answer this has waited already.
        let Some(entries) = directory.read(vec![key.clone()]).await else { continue };
        let leadership =
            entries.first().and_then(|it| Some((it.revision, Leadership::from_bytes(&it.value)?)));
        let Some((revision, leadership)) = leadership.filter(|it| !it.1.suspects.has(&suspect)) else {
            return;
        };
        let value = leadership.accusing(suspect).to_bytes();
        match directory.swap(key.clone(), revision, value).await {
            SwapOutcome::Won | SwapOutcome::Refused(_) => return,
            SwapOutcome::Lost | SwapOutcome::Unknown => (),
        }
    }
    tracing::error!(zone, %suspect, "a suspect could not be written into the directory");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_directory::TestDirectory;
    use game::{CallGuard as _, PlayerId};
    use machine::Address;
    use std::sync::atomic::{AtomicBool, Ordering};

    const SUSPECT: Suspect = Suspect::Act { player: PlayerId(5), session: 2, number: 9 };

    /// A thread with a call under way, which works or waits until it is let go. Returns what the watchdog sees of it while it
    /// uses this much processor time.
    fn observe(works: bool, until: impl Fn(&ThreadName) -> bool) -> Vec<HangingCall> {
        let (calls, thread) = (Arc::new(CallSlot::default()), Arc::new(ThreadName::default()));
        let (end, started) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let worker = {
            let (calls, thread, end, started) = (calls.clone(), thread.clone(), end.clone(), started.clone());
            std::thread::spawn(move || {
                thread.note();
                calls.set_work(Some(SUSPECT));
                calls.within(|| {
                    started.store(true, Ordering::Release);
                    while !end.load(Ordering::Relaxed) {
                        if !works {
                            std::thread::park();
                        }
                    }
                });
            })
        };
        while !started.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
        let mut observer =
            Observer { replica: WatchedReplica { zone: 3, calls, thread: thread.clone() }, call: None };
        let mut seen: Vec<_> = observer.look().into_iter().collect();
        while !until(&thread) {
            seen.extend(observer.look());
            std::thread::yield_now();
        }
        seen.extend(observer.look());
        end.store(true, Ordering::Relaxed);
        worker.thread().unpark();
        worker.join().unwrap();
        assert_eq!(observer.look(), None, "the call came back");
        seen
    }

    #[test]
    fn a_call_that_works_on_and_on_is_a_suspect_and_then_stuck() {
        let long = STUCK_AFTER * 2;
        let seen = observe(true, |thread| long < thread.processor_time().unwrap());
        let told: Vec<_> = seen.iter().map(|it| (it.zone, it.work, it.is_stuck)).collect();
        assert_eq!(told, [(3, Some(SUSPECT), false), (3, Some(SUSPECT), true)]);
        assert!(SUSPECT_AFTER <= seen[0].used && STUCK_AFTER <= seen[1].used);
    }

    #[test]
    fn a_thread_that_does_not_run_is_not_accused() {
        let began = std::time::Instant::now();
        let seen = observe(false, |_| STUCK_AFTER * 2 < began.elapsed());
        assert_eq!(seen, []);
    }

    #[tokio::test]
    async fn a_suspect_is_written_once_and_changes_nothing_else() {
        let directory = TestDirectory::start("watchdog-accuses");
        let leadership = Leadership::first(Address(7));
        let key = leadership_key(ZoneId(3));
        directory.handle.create(key.clone(), leadership.to_bytes()).await;
        for _ in 0..2 {
            accuse(directory.remote.clone(), 3, SUSPECT).await;
        }
        let entry = directory.handle.read(vec![key]).await.unwrap().remove(0);
        assert_eq!(Leadership::from_bytes(&entry.value), Some(leadership.accusing(SUSPECT)));
        accuse(directory.remote.clone(), 4, SUSPECT).await; // A zone without an entry has nothing to protect.
    }
}
