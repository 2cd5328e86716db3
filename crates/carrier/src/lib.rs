//! The dissemination plane's contract: who tells whom where everybody is.
//!
//! A carrier carries motion and nothing else. What exists and what it is like comes from zones, whatever the
//! carrier. Poses may be late or lost; a false one is caught by whoever hears it, because a newer motion wins and an
//! event's generation outranks every earlier pose.
//!
//! This crate never decides what is true, and imports nothing of the authority plane.

mod direct;

pub use direct::{Direct, DirectConfig};

use machine::{Address, Time};
use space::{Motion, ObjectId};
use wire::Pose;

/// What a carrier is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cue {
    /// This object is there and moves like this.
    Carry(ObjectId, Motion),
    /// It is gone.
    Drop(ObjectId),
    /// The owner of this avatar listens at this address.
    Listen(Address, ObjectId),
    /// Nobody listens there any more.
    Deaf(Address),
    /// Forget everything.
    Clear,
    /// Say nothing, or speak again.
    Hush(bool),
}

/// What a carrier has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Poses that were sent, once for everybody who heard them.
    pub sent: u64,
    /// Poses that were due and did not fit what a listener may get, again whenever they had to wait.
    pub deferred: u64,
}

/// How much an observer cares for a subject, given what distance and direction say: a game's say in the matter.
pub type Grade<'a> = &'a dyn Fn(ObjectId, ObjectId, f32) -> f32;

/// Carries poses from those who move to those who care.
pub trait Carrier {
    /// Takes a cue.
    fn cue(&mut self, cue: Cue);

    /// When to let it speak at the latest.
    fn deadline(&self) -> Option<Time>;

    /// Lets it speak: `now` is the host's time, `world` the world's. What it says are whole datagrams.
    fn speak(
        &mut self,
        now: Time,
        world: Time,
        grade: Option<Grade<'_>>,
        say: &mut dyn FnMut(Address, &[u8]),
    );

    /// What it has done since it was made.
    fn tally(&self) -> Tally;

    /// Hears a datagram and gives out the poses in it. Bytes that are none are ignored.
    fn hear(&self, datagram: &[u8], heard: &mut dyn FnMut(Pose));
}
