//! A host's disk: the real log on a medium that fails on cue, and takes its time.

use machine::disk::{Done, Request};
use machine::{Rng, Span, Time};
use space::Epoch;
use store::{Limits, Log, Memory};
use zone::{Record, Snapshot};

/// A disk.
pub struct Disk {
    log: Option<Log<Memory>>,
    /// What is left of it while its host is down.
    media: Option<Memory>,
    schema: u64,
    /// When it will have done everything it was asked so far.
    busy_until: Time,
    /// The longest it takes, while it is slow.
    pub slowness: Span,
    /// A picture of it, to be put back later.
    old: Option<Memory>,
    /// How many syncs fail from now on.
    pub failing: bool,
}

/// A sync takes about this long,
const SYNC: Span = Span::from_micros(500);
/// and up to this much longer,
const SYNC_MORE: Span = Span::from_millis(4);
/// and sometimes this much.
const SYNC_RARE: Span = Span::from_millis(20);

impl Disk {
    /// An empty disk.
    pub fn new(schema: u64) -> Self {
        let mut it = Self {
            log: None,
            media: Some(Memory::new()),
            schema,
            busy_until: Time::ZERO,
            slowness: Span::ZERO,
            old: None,
            failing: false,
        };
        it.power_on();
        it
    }

    /// When a request made now will be done.
    pub fn done_at(&mut self, now: Time, rng: &mut Rng) -> Time {
        let rare = if rng.below(50) == 0 { SYNC_RARE } else { Span::ZERO };
        let slow = if self.slowness == Span::ZERO { 0 } else { rng.below(self.slowness.as_micros()) };
        let takes = SYNC + rare + Span::from_micros(rng.below(SYNC_MORE.as_micros()) + slow);
        self.busy_until = self.busy_until.max(now) + takes;
        self.busy_until
    }

    /// Does what was asked.
    pub fn serve(&mut self, request: Request, rng: &mut Rng) -> Done {
        let Some(log) = &mut self.log else { return failed(&request) };
        if self.failing && !matches!(request, Request::Recall { .. }) {
            self.failing = false;
            log.media_mut().fail_next_sync(rng);
        }
        log.serve(request)
    }

    /// The power fails in the middle of these requests.
    pub fn power_off(&mut self, interrupted: Vec<Request>, rng: &mut Rng) {
        let Some(mut log) = self.log.take() else { return };
        log.media_mut().cut_power_after(rng.below(4));
        for request in interrupted {
            log.serve(request);
        }
        let mut media = log.into_media();
        media.crash(rng);
        self.media = Some(media);
        self.failing = false;
    }

    /// The power comes back. What a disk cannot read any more is as good as empty.
    pub fn power_on(&mut self) {
        let Some(mut media) = self.media.take() else { return };
        media.limit(None); // Whoever starts a host again makes room first.
        self.busy_until = Time::ZERO;
        match Log::open(media.clone(), self.schema, Limits::default()) {
            Ok((log, _)) => self.log = Some(log),
            Err(_) => {
                let opened = Log::open(Memory::new(), self.schema, Limits::default());
                self.log = opened.ok().map(|it| it.0);
            }
        }
    }

    /// Takes a picture, to be put back later.
    pub fn remember(&mut self) {
        self.old = self.log.as_ref().map(|it| it.media().clone());
    }

    /// Puts the old picture back; needs a host that is down. Whether there was one.
    pub fn put_back(&mut self, rng: &mut Rng) -> bool {
        let Some(mut old) = self.old.take() else { return false };
        old.crash(rng);
        self.media = Some(old);
        true
    }

    /// Empties it; needs a host that is down.
    pub fn wipe(&mut self) {
        self.media = Some(Memory::new());
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

    /// Lets so many bytes more fit, or any number again.
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

    /// The name of the last record that it would give back.
    pub fn last(&mut self) -> Option<(Epoch, u64)> {
        let recalled = self.log.as_mut()?.recall().ok()?;
        if let Some(record) = recalled.records.last().and_then(|it| Record::from_bytes(it)) {
            return Some((record.epoch, record.index));
        }
        let (_, bytes) = recalled.snapshot?;
        let snapshot: Snapshot = postcard::from_bytes(&bytes).ok()?;
        Some((snapshot.epoch, snapshot.head))
    }
}

fn failed(request: &Request) -> Done {
    let ticket = match request {
        Request::Append { ticket, .. }
        | Request::Cut { ticket, .. }
        | Request::Keep { ticket, .. }
        | Request::Recall { ticket } => *ticket,
    };
    Done::Failed { ticket }
}
