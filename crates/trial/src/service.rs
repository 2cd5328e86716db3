//! The directory as hosts reach it: linearizable, but slow, lossy or away when told to be.

use crate::world::ReplicaLife;
use directory::Directory;
use machine::directory::{Done, Request};
use machine::{Rng, Span, Ticket, Time};
use zone::Reign;

/// Whoever asks gives up after this long, and knows nothing.
const GIVE_UP: Span = Span::from_millis(300);

/// The longest way to the directory, or back, while nothing is wrong with it.
const DELAY: Span = Span::from_millis(2);

/// The directory, and the way to it.
pub struct Service {
    directory: Directory,
    /// The longest an answer takes on its way, each way.
    pub delay: Span,
    /// Which part of the questions or answers is lost, in percent.
    pub loss_percent: u64,
    /// Which part of the questions arrives long after its sender gave up, in percent.
    pub late_percent: u64,
    /// Whether it answers nobody.
    pub down: bool,
}

/// What becomes of a question: when it is carried out, if at all, and when its sender hears what.
pub struct Course {
    /// When the directory gets it.
    pub arrives: Option<Time>,
    /// When the answer is there, if it is not lost.
    pub answers: Option<Time>,
    /// When the sender gives up.
    pub gives_up: Time,
}

impl Service {
    /// A directory that knows nothing, a millisecond away.
    pub fn new() -> Self {
        Self {
            directory: Directory::new(Time::ZERO),
            delay: DELAY,
            loss_percent: 0,
            late_percent: 0,
            down: false,
        }
    }

    /// Ends everything that was wrong with it.
    pub fn heal(&mut self) {
        self.delay = DELAY;
        self.loss_percent = 0;
        self.late_percent = 0;
        self.down = false;
    }

    /// Decides what becomes of a question asked now.
    pub fn course(&self, now: Time, reachable: bool, rng: &mut Rng) -> Course {
        let trip = |rng: &mut Rng| Span::from_micros(200 + rng.below(self.delay.as_micros()));
        let lost = |rng: &mut Rng| rng.below(100) < self.loss_percent;
        let (there, back) = (trip(rng), trip(rng));
        let late = rng.below(100) < self.late_percent;
        let arrives = if late { now + GIVE_UP + Span::from_millis(rng.below(3_000)) } else { now + there };
        let arrives = (reachable && !self.down && !lost(rng)).then_some(arrives);
        let answers = arrives.map(|at| at + back).filter(|_| !lost(rng));
        Course { arrives, answers, gives_up: now + GIVE_UP }
    }

    /// Carries out a question.
    pub fn serve(&mut self, now: Time, request: Request) -> Done {
        self.directory.serve(now, request)
    }

    /// Who reigns over a zone.
    pub fn reign(&self, zone: space::ZoneId) -> Option<Reign> {
        let entry = self.directory.read(&[zone::key(zone)]).ok()?.pop()?;
        Reign::from_bytes(&entry.value)
    }
}

impl Default for Service {
    fn default() -> Self {
        Self::new()
    }
}

/// The ticket of a question.
pub const fn ticket(request: &Request) -> Ticket {
    match request {
        Request::Read { ticket, .. } | Request::Swap { ticket, .. } | Request::Clock { ticket } => *ticket,
    }
}

/// A question on its way.
pub struct Question {
    /// The replica that asks, and its life.
    pub asker: ReplicaLife,
    /// What.
    pub request: Request,
    /// When the answer is there.
    pub answers: Option<Time>,
}
