//! The directory as hosts reach it: linearizable, but slow, lossy or away while a fault makes it so.

use crate::simulated_world::ReplicaLife;
use directory::Directory;
use machine::directory::{DirectoryEntry, DirectoryReply, DirectoryRequest, Key};
use machine::{Rng, Span, Ticket, Time};
use zone::Leadership;

/// A replica gives up a request after this long, and then does not know whether it was carried out.
const GIVE_UP: Span = Span::from_millis(300);

/// Longest delay to the directory, and back, without a fault.
const DELAY: Span = Span::from_millis(2);

/// The directory, and the path to it.
pub struct DirectoryService {
    directory: Directory,
    /// Longest delay of a request or an answer, one way.
    pub delay: Span,
    /// Share of requests, and of answers, that are lost, in percent.
    pub loss_percent: u64,
    /// Share of requests that arrive long after their sender gave up, in percent.
    pub late_percent: u64,
    /// True if it answers no request.
    pub down: bool,
}

/// Fate of a request: when the directory carries it out, if at all, and when its sender hears of it.
pub struct RequestTiming {
    /// Time at which the directory gets the request; `None` if it is lost.
    pub arrives: Option<Time>,
    /// Time at which the sender gets the answer; `None` if it is lost.
    pub answers: Option<Time>,
    /// Time at which the sender gives up.
    pub gives_up: Time,
}

impl DirectoryService {
    /// An empty directory without faults.
    pub fn new() -> Self {
        Self {
            directory: Directory::new(Time::ZERO),
            delay: DELAY,
            loss_percent: 0,
            late_percent: 0,
            down: false,
        }
    }

    /// Ends every fault of the directory.
    pub fn heal(&mut self) {
        self.delay = DELAY;
        self.loss_percent = 0;
        self.late_percent = 0;
        self.down = false;
    }

    /// Draws the fate of a request made now.
    pub fn timing(&self, now: Time, reachable: bool, rng: &mut Rng) -> RequestTiming {
        let trip = |rng: &mut Rng| Span::from_micros(200 + rng.below(self.delay.as_micros()));
        let lost = |rng: &mut Rng| rng.below(100) < self.loss_percent;
        // Both ways are drawn even if one is not needed: the order of draws is part of a seed's history.
        let (there, back) = (trip(rng), trip(rng));
        let late = rng.below(100) < self.late_percent;
        let arrives = if late { now + GIVE_UP + Span::from_millis(rng.below(3_000)) } else { now + there };
        let arrives = (reachable && !self.down && !lost(rng)).then_some(arrives);
        // A lost answer leaves its sender without a clue whether the request was carried out.
        let answers = arrives.map(|at| at + back).filter(|_| !lost(rng));
        RequestTiming { arrives, answers, gives_up: now + GIVE_UP }
    }

    /// Carries out a request that has arrived.
    pub fn serve(&mut self, now: Time, request: DirectoryRequest) -> DirectoryReply {
        self.directory.serve(now, request)
    }

    /// The entry of a key.
    pub fn entry(&self, key: &Key) -> Option<DirectoryEntry> {
        self.directory.read(std::slice::from_ref(key)).ok()?.pop()
    }

    /// The leadership of a zone; `None` before it is founded.
    pub fn leadership(&self, zone: space::ZoneId) -> Option<Leadership> {
        let entry = self.directory.read(&[zone::leadership_key(zone)]).ok()?.pop()?;
        Leadership::from_bytes(&entry.value)
    }
}

impl Default for DirectoryService {
    fn default() -> Self {
        Self::new()
    }
}

pub const fn ticket(request: &DirectoryRequest) -> Ticket {
    match request {
        DirectoryRequest::Read { ticket, .. }
        | DirectoryRequest::Swap { ticket, .. }
        | DirectoryRequest::Clock { ticket } => *ticket,
    }
}

/// A request on its way to the directory.
pub struct PendingRequest {
    /// The replica that asks, in this life of it.
    pub asker: ReplicaLife,
    pub request: DirectoryRequest,
    /// Time at which the answer arrives; `None` if it is lost.
    pub answers: Option<Time>,
}
