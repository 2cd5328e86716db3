//! The disk of a host: a thread that serves the requests of all its replicas, many with one sync.

use crate::cross_zone_counters::CrossZoneCounters;
use anyhow::Context as _;
use cpu_time::ThreadTime;
use history::{HistoryWriter, disk_keeps, disk_recalled};
use machine::Address;
use machine::disk::{DiskReply, DiskRequest};
use net::worker::{WorkerHandle, panic_message};
use node::ReplicaNode;
use std::collections::BTreeMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Instant;
use store::{Files, LogGroup, LogLimits, StoreError};
use tokio::sync::oneshot;
use zone::ReplicaCommand;

/// Sends requests to the thread of a host's disk.
#[derive(Clone)]
pub struct HostDisk {
    jobs: mpsc::Sender<DiskJob>,
    /// Requests of the turn under way: all replicas of a host write at the same moments, and share a sync.
    gathered: Arc<Mutex<Vec<ZoneRequest>>>,
}

/// A replica whose log is to be opened.
pub struct DiskUser {
    pub zone: u32,
    pub schema: u64,
    pub me: Address,
    pub history: HistoryWriter,
    /// Gets the replies.
    pub replica: WorkerHandle<ReplicaNode>,
}

/// A request to a zone's log. Its records are counted on the disk's thread, where that delays no zone.
pub struct ZoneRequest {
    pub zone: u32,
    pub request: DiskRequest,
    pub counters: Option<Arc<CrossZoneCounters>>,
}

enum DiskJob {
    Open(DiskUser, mpsc::SyncSender<anyhow::Result<()>>),
    Serve(Vec<ZoneRequest>),
    Checkpoint(oneshot::Sender<()>),
}

impl HostDisk {
    /// Opens the journal in a host's folder and starts the thread. If the thread panics, `on_panic` is called with the
    /// message: no request is answered any more, so the process cannot go on.
    pub fn start(folder: PathBuf, on_panic: impl FnOnce(String) + Send + 'static) -> anyhow::Result<Self> {
        let group = Some(open_journal(&folder)?);
        let (sender, jobs) = mpsc::channel();
        let mut thread = DiskThread { folder, group, users: BTreeMap::new() };
        spawn(move || thread.run(&jobs), on_panic)?;
        Ok(Self { jobs: sender, gathered: Arc::default() })
    }

    /// Opens the log of a replica, and waits for it. Its replies go to the replica.
    pub fn open(&self, user: DiskUser) -> anyhow::Result<()> {
        let (sender, opened) = mpsc::sync_channel(1);
        self.submit(); // Requests of an earlier replica belong to the log that is open now.
        drop(self.jobs.send(DiskJob::Open(user, sender)));
        opened.recv().context("the thread of the disk has ended")?
    }

    /// Takes a request, which `submit` sends. The reply goes to the replica that opened the log.
    pub fn ask(&self, request: ZoneRequest) {
        self.gathered().push(request);
    }

    /// Sends the requests that were taken since the last call.
    pub fn submit(&self) {
        // Locked while it sends: two reactors must not send the requests of one replica in another order.
        let mut gathered = self.gathered();
        if !gathered.is_empty() {
            // The thread ends only with the process, so an error here tells nothing new.
            drop(self.jobs.send(DiskJob::Serve(std::mem::take(&mut *gathered))));
        }
    }

    fn gathered(&self) -> MutexGuard<'_, Vec<ZoneRequest>> {
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Brings everything from the journal to the logs of the zones.
    pub async fn checkpoint(&self) {
        let (sender, done) = oneshot::channel();
        self.submit();
        drop(self.jobs.send(DiskJob::Checkpoint(sender)));
        // An error means that the thread has ended: then the journal keeps everything.
        drop(done.await);
    }
}

/// Runs the disk's thread, and reports its panic.
fn spawn(
    run: impl FnOnce() + Send + 'static,
    on_panic: impl FnOnce(String) + Send + 'static,
) -> io::Result<()> {
    let run = move || {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(run)) {
            let why = panic_message(&*panic);
            tracing::error!(why, "the thread of the disk panicked");
            on_panic(why);
        }
    };
    std::thread::Builder::new().name("disk".to_owned()).spawn(run)?;
    Ok(())
}

fn open_journal(folder: &Path) -> anyhow::Result<LogGroup<Files>> {
    let folder = folder.join("journal");
    let open = || LogGroup::open(Files::open(&folder)?, LogLimits::default());
    let (group, recovery) = open().with_context(|| format!("in {}", folder.display()))?;
    if recovery.is_damaged() {
        tracing::warn!(%recovery, "the disk lost records of its journal; the other replicas have them");
    }
    Ok(group)
}

struct DiskThread {
    /// The host's folder: it holds the journal and a folder per zone.
    folder: PathBuf,
    /// `None` if the journal failed and could not be opened again.
    group: Option<LogGroup<Files>>,
    users: BTreeMap<u32, DiskUser>,
}

impl DiskThread {
    fn run(&mut self, jobs: &mpsc::Receiver<DiskJob>) {
        while let Ok(first) = jobs.recv() {
            let spent = ThreadTime::now();
            let mut batch = Vec::new();
            for job in std::iter::once(first).chain(jobs.try_iter()) {
                match job {
                    DiskJob::Serve(requests) => batch.extend(requests),
                    // In order: requests before it belong to the log that is open now.
                    DiskJob::Open(user, opened) => {
                        self.serve(std::mem::take(&mut batch));
                        drop(opened.send(self.open(user)));
                    }
                    DiskJob::Checkpoint(done) => {
                        self.serve(std::mem::take(&mut batch));
                        self.checkpoint();
                        done.send(()).ok();
                    }
                }
            }
            self.serve(batch);
            metrics::counter!("ecumene_cpu_microseconds_total", "stage" => "disk")
                .increment(spent.elapsed().as_micros() as u64);
        }
        self.checkpoint();
    }

    fn open(&mut self, user: DiskUser) -> anyhow::Result<()> {
        let (zone, folder) = (user.zone, self.folder.join(format!("zone-{}", user.zone)));
        let group = self.sound_group()?;
        // Closed first: a folder is open once.
        group.close_log(zone);
        let opened = Files::open(&folder).map_err(Into::into);
        let opened = opened.and_then(|files| group.open_log(zone, files, user.schema));
        let opened = opened.with_context(|| format!("in {}", folder.display()))?;
        if opened.recovery.is_damaged() {
            tracing::warn!(zone, recovery = %opened.recovery, "the disk lost records; the other replica has them");
        }
        self.users.insert(zone, user);
        Ok(())
    }

    /// The logs. If the journal has failed, it is opened again, which closes all logs: their replicas were told of the
    /// failure and are started again, too.
    fn sound_group(&mut self) -> anyhow::Result<&mut LogGroup<Files>> {
        if self.group.as_ref().is_none_or(LogGroup::is_poisoned) {
            self.group = None; // Before it is opened again: a folder is open once.
            self.group = Some(open_journal(&self.folder)?);
        }
        self.group.as_mut().context("the journal is closed")
    }

    fn serve(&mut self, batch: Vec<ZoneRequest>) {
        if batch.is_empty() {
            return;
        }
        let began = Instant::now();
        let mut keeps = Vec::with_capacity(batch.len());
        let mut requests = Vec::with_capacity(batch.len());
        for ZoneRequest { zone, request, counters } in batch {
            if let (Some(counters), DiskRequest::Append { records, .. }) = (counters, &request) {
                counters.count(zone, records);
            }
            // Taken before `serve` consumes the request; written only if the disk has kept it. It decodes a record or a whole
            // snapshot, which is wasted where no history is written.
            let is_noted = self.users.get(&zone).is_some_and(|it| it.history.is_on());
            keeps.push(is_noted.then(|| disk_keeps(&request)).flatten());
            requests.push((zone, request));
        }
        let replies = match &mut self.group {
            Some(group) => group.serve(requests),
            None => {
                requests.iter().map(|(zone, it)| (*zone, DiskReply::Failed { ticket: it.ticket() })).collect()
            }
        };
        let seconds = began.elapsed().as_secs_f64();
        for (keeps, (zone, reply)) in keeps.into_iter().zip(replies) {
            metrics::histogram!("ecumene_disk_seconds").record(seconds);
            self.reply(zone, keeps, reply);
        }
        // After the replies: their requests are durable, and a checkpoint syncs every log.
        self.checkpoint_with(LogGroup::checkpoint_if_due);
    }

    fn reply(&mut self, zone: u32, keeps: Option<history::EntryKind>, reply: DiskReply) {
        // A request of a replica whose log was never opened, or that has ended.
        let Some(user) = self.users.get(&zone) else { return };
        let what = match &reply {
            DiskReply::Persisted { .. } => keeps,
            DiskReply::Recalled { recalled, .. } => Some(disk_recalled(recalled)),
            DiskReply::Failed { .. } => {
                let failure = self.group.as_ref().and_then(|it| it.failure(zone));
                let why = failure.map(ToString::to_string).unwrap_or_default();
                tracing::error!(zone, why, "the disk failed");
                None
            }
        };
        if let Some(what) = what {
            user.history.write(user.me, what);
        }
        if !user.replica.command(ReplicaCommand::Disk(reply)) {
            // The worker has ended. A new one opens the log again.
            self.users.remove(&zone);
            self.group.iter_mut().for_each(|it| it.close_log(zone));
        }
    }

    fn checkpoint(&mut self) {
        self.checkpoint_with(LogGroup::checkpoint);
    }

    fn checkpoint_with(&mut self, run: fn(&mut LogGroup<Files>) -> Result<(), StoreError>) {
        if let Some(Err(error)) = self.group.as_mut().map(run) {
            tracing::warn!(%error, "the journal could not be emptied");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_the_thread_is_reported() {
        let (sender, reported) = mpsc::channel();
        spawn(|| panic!("out of ink"), move |why| drop(sender.send(why))).unwrap();
        assert_eq!(reported.recv().unwrap(), "out of ink");
    }
}
