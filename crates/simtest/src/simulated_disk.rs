//! A replica's disk: the real log and its journal on a medium that fails on purpose, and takes its time.

mod disk_folder;

use disk_folder::DiskFolder;
use machine::disk::{DiskReply, DiskRequest};
use machine::{Rng, Span, Ticket, Time};
use space::Epoch;
use std::cell::RefCell;
use std::rc::Rc;
use store::{LogGroup, LogLimits, Media as _, MemoryDisk, StoreError};
use zone::{Record, StateSnapshot};

/// A disk with its faults. The log and the journal are two folders of it, so every fault hits both.
pub struct SimulatedDisk {
    /// `None` while the host is down.
    group: Option<LogGroup<DiskFolder>>,
    disk: Rc<RefCell<MemoryDisk>>,
    schema: u64,
    /// Time at which it will have carried out all requests so far.
    busy_until: Time,
    /// Longest extra time per request, while it is slow.
    pub slowness: Span,
    /// An earlier copy of the medium, to be put back later.
    old: Option<MemoryDisk>,
    /// True if the next sync fails.
    pub failing: bool,
}

/// Shortest time of a sync.
const SYNC: Span = Span::from_micros(500);
/// Random time on top of it, at most.
const SYNC_MORE: Span = Span::from_millis(4);
/// Extra time of one sync in fifty.
const SYNC_RARE: Span = Span::from_millis(20);

/// Number of the log in its group.
const LOG: u32 = 1;
/// A checkpoint after a few dozen records: a simulated world is short.
const LIMITS: LogLimits = LogLimits { segment_bytes: store::config::SEGMENT_BYTES, checkpoint_bytes: 4_000 };

impl SimulatedDisk {
    /// A new disk without any record.
    pub fn new(schema: u64) -> Self {
        let mut it = Self {
            group: None,
            disk: Rc::default(),
            schema,
            busy_until: Time::ZERO,
            slowness: Span::ZERO,
            old: None,
            failing: false,
        };
        it.power_on();
        it
    }

    /// Time at which a request made now will be done.
    pub fn done_at(&mut self, now: Time, rng: &mut Rng) -> Time {
        let rare = if rng.below(50) == 0 { SYNC_RARE } else { Span::ZERO };
        let slow = if self.slowness == Span::ZERO { 0 } else { rng.below(self.slowness.as_micros()) };
        let takes = SYNC + rare + Span::from_micros(rng.below(SYNC_MORE.as_micros()) + slow);
        self.busy_until = self.busy_until.max(now) + takes;
        self.busy_until
    }

    /// Carries out a request, or fails.
    pub fn serve(&mut self, request: DiskRequest, rng: &mut Rng) -> DiskReply {
        let Some(group) = &mut self.group else { return failed(&request) };
        // A recall syncs nothing, so it cannot fail in this way.
        if self.failing && !matches!(request, DiskRequest::Recall { .. }) {
            self.failing = false;
            self.disk.borrow_mut().fail_next_sync(rng);
        }
        let reply = serve_one(group, request);
        // If it fails, the next request does.
        drop(group.checkpoint_if_due());
        reply
    }

    /// Cuts the power in the middle of these requests.
    pub fn power_off(&mut self, interrupted: Vec<DiskRequest>, rng: &mut Rng) {
        let Some(mut group) = self.group.take() else { return };
        // A few more changes and syncs still reach the medium, so an interrupted request or checkpoint may be done in part.
        let operations = if rng.coin() { rng.below(4) } else { rng.below(20) };
        self.disk.borrow_mut().cut_power_after(operations);
        // One batch, as on a host whose requests come faster than its syncs.
        group.serve(interrupted.into_iter().map(|it| (LOG, it)).collect());
        drop(group.checkpoint_if_due());
        self.disk.borrow_mut().crash(rng);
        self.failing = false;
    }

    /// Switches the power on. A disk that cannot be read any more counts as empty.
    pub fn power_on(&mut self) {
        if self.group.is_some() {
            return;
        }
        self.disk.borrow_mut().limit(None); // An operator who restarts a host makes room first.
        self.busy_until = Time::ZERO;
        self.group = self.open().ok();
        if self.group.is_none() {
            self.wipe();
            self.group = self.open().ok();
        }
    }

    fn open(&self) -> Result<LogGroup<DiskFolder>, StoreError> {
        let folder = |name| DiskFolder::new(self.disk.clone(), name);
        let (mut group, _) = LogGroup::open(folder("journal"), LIMITS)?;
        group.open_log(LOG, folder("zone"), self.schema)?;
        Ok(group)
    }

    /// Copies the medium, to be put back later.
    pub fn remember(&mut self) {
        self.old = self.group.as_ref().map(|_| self.disk.borrow().clone());
    }

    /// Puts the old copy back; needs a host that is down. Returns whether there was one.
    pub fn put_back(&mut self, rng: &mut Rng) -> bool {
        let Some(mut old) = self.old.take() else { return false };
        // The copy was taken while the disk ran: bytes that were not synced may be gone.
        old.crash(rng);
        *self.disk.borrow_mut() = old;
        true
    }

    /// Empties it; needs a host that is down.
    pub fn wipe(&mut self) {
        *self.disk.borrow_mut() = MemoryDisk::new();
    }

    /// Flips a bit somewhere; needs a host that is down.
    pub fn flip_bit(&mut self, rng: &mut Rng) {
        let mut disk = self.disk.borrow_mut();
        let Ok(files) = disk.list() else { return };
        if files.is_empty() {
            return;
        }
        let file = files[rng.below(files.len() as u64) as usize].clone();
        let len = disk.read(&file).map_or(0, |it| it.len() as u64);
        if 0 < len {
            disk.flip_bit(&file, rng.below(len * 8));
        }
    }

    /// Limits the free space to `room` bytes, or removes the limit.
    pub fn limit(&mut self, room: Option<usize>) {
        let mut disk = self.disk.borrow_mut();
        let files = disk.list().unwrap_or_default();
        let used: usize = files.iter().map(|it| disk.read(it).map_or(0, |it| it.len())).sum();
        disk.limit(room.map(|it| used + it));
    }

    /// Name of the last record that it would give back.
    pub fn last(&mut self) -> Option<(Epoch, u64)> {
        let recall = DiskRequest::Recall { ticket: Ticket(0) };
        let DiskReply::Recalled { recalled, .. } = serve_one(self.group.as_mut()?, recall) else {
            return None;
        };
        if let Some(record) = recalled.records.last().and_then(|it| Record::from_bytes(it)) {
            return Some((record.epoch, record.index));
        }
        let (_, bytes) = recalled.snapshot?;
        let snapshot: StateSnapshot = postcard::from_bytes(&bytes).ok()?;
        Some((snapshot.epoch, snapshot.head))
    }
}

fn serve_one(group: &mut LogGroup<DiskFolder>, request: DiskRequest) -> DiskReply {
    let no_reply = failed(&request);
    group.serve(vec![(LOG, request)]).pop().map_or(no_reply, |it| it.1)
}

fn failed(request: &DiskRequest) -> DiskReply {
    DiskReply::Failed { ticket: request.ticket() }
}
