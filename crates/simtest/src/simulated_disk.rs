//! A replica's disk: the real log on a medium that fails on purpose, and takes its time.

use machine::disk::{DiskReply, DiskRequest};
use machine::{Rng, Span, Time};
use space::Epoch;
use store::{Log, LogLimits, MemoryDisk};
use zone::{Record, StateSnapshot};

/// A disk with its faults.
pub struct SimulatedDisk {
    log: Option<Log<MemoryDisk>>,
    /// The medium while the host is down.
    media: Option<MemoryDisk>,
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

impl SimulatedDisk {
    /// A new disk without any record.
    pub fn new(schema: u64) -> Self {
        let mut it = Self {
            log: None,
            media: Some(MemoryDisk::new()),
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
        let Some(log) = &mut self.log else { return failed(&request) };
        // A recall syncs nothing, so it cannot fail in this way.
        if self.failing && !matches!(request, DiskRequest::Recall { .. }) {
            self.failing = false;
            log.media_mut().fail_next_sync(rng);
        }
        log.serve(request)
    }

    /// Cuts the power in the middle of these requests.
    pub fn power_off(&mut self, interrupted: Vec<DiskRequest>, rng: &mut Rng) {
        let Some(mut log) = self.log.take() else { return };
        // A few more changes and syncs still reach the medium, so an interrupted request may be done in part.
        log.media_mut().cut_power_after(rng.below(4));
        for request in interrupted {
            log.serve(request);
        }
        let mut media = log.into_media();
        media.crash(rng);
        self.media = Some(media);
        self.failing = false;
    }

    /// Switches the power on. A disk that cannot be read any more counts as empty.
    pub fn power_on(&mut self) {
        let Some(mut media) = self.media.take() else { return };
        media.limit(None); // An operator who restarts a host makes room first.
        self.busy_until = Time::ZERO;
        match Log::open(media.clone(), self.schema, LogLimits::default()) {
            Ok((log, _)) => self.log = Some(log),
            Err(_) => {
                let opened = Log::open(MemoryDisk::new(), self.schema, LogLimits::default());
                self.log = opened.ok().map(|it| it.0);
            }
        }
    }

    /// Copies the medium, to be put back later.
    pub fn remember(&mut self) {
        self.old = self.log.as_ref().map(|it| it.media().clone());
    }

    /// Puts the old copy back; needs a host that is down. Returns whether there was one.
    pub fn put_back(&mut self, rng: &mut Rng) -> bool {
        let Some(mut old) = self.old.take() else { return false };
        // The copy was taken while the disk ran: bytes that were not synced may be gone.
        old.crash(rng);
        self.media = Some(old);
        true
    }

    /// Empties it; needs a host that is down.
    pub fn wipe(&mut self) {
        self.media = Some(MemoryDisk::new());
    }

    /// Flips a bit somewhere; needs a host that is down.
    pub fn flip_bit(&mut self, rng: &mut Rng) {
        use store::Media as _;
        let Some(media) = &mut self.media else { return };
        let Ok(files) = media.list() else { return };
        if files.is_empty() {
            return;
        }
        let file = files[rng.below(files.len() as u64) as usize].clone();
        let len = media.read(&file).map_or(0, |it| it.len() as u64);
        if 0 < len {
            media.flip_bit(&file, rng.below(len * 8));
        }
    }

    /// Limits the free space to `room` bytes, or removes the limit.
    pub fn limit(&mut self, room: Option<usize>) {
        use store::Media as _;
        let Some(log) = &mut self.log else { return };
        let used: usize = log
            .media()
            .list()
            .unwrap_or_default()
            .iter()
            .map(|it| log.media().read(it).map_or(0, |it| it.len()))
            .sum();
        log.media_mut().limit(room.map(|it| used + it));
    }

    /// Name of the last record that it would give back.
    pub fn last(&mut self) -> Option<(Epoch, u64)> {
        let recalled = self.log.as_mut()?.recall().ok()?;
        if let Some(record) = recalled.records.last().and_then(|it| Record::from_bytes(it)) {
            return Some((record.epoch, record.index));
        }
        let (_, bytes) = recalled.snapshot?;
        let snapshot: StateSnapshot = postcard::from_bytes(&bytes).ok()?;
        Some((snapshot.epoch, snapshot.head))
    }
}

fn failed(request: &DiskRequest) -> DiskReply {
    let ticket = match request {
        DiskRequest::Append { ticket, .. }
        | DiskRequest::Cut { ticket, .. }
        | DiskRequest::Keep { ticket, .. }
        | DiskRequest::Recall { ticket } => *ticket,
    };
    DiskReply::Failed { ticket }
}
