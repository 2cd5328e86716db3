//! The dissemination plane's contract: how the poses of a zone's objects reach the players who need them.
//!
//! A carrier carries motion and nothing else. Which objects exist and their states come from zones, whatever the
//! carrier. Poses may be late or lost; a receiver ignores a false one, because a newer motion wins and an event's
//! generation outranks every earlier pose.
//!
//! A carrier never decides what is true: all it knows of a zone are the updates ([`CarrierUpdate`]) that the replica
//! beside it raises.

mod direct;
#[cfg(test)]
mod tests;

pub use direct::Direct;

use interest::policies::A3;
use interest::{Budget, Policy, Schedule};
use machine::{Address, Span, Time};
use space::{Distance, ObjectId};
use wire::{Message as _, Pose, frames};
use zone::CarrierUpdate;

/// How much an observer cares for a subject, given what distance and direction say: a game's say in the matter.
pub type Grade<'a> = &'a dyn Fn(ObjectId, ObjectId, f32) -> f32;

/// Carries poses from those who move to those who care.
pub trait Carrier {
    /// Takes an update of the zone.
    fn update(&mut self, update: CarrierUpdate);

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

    /// The poses sent and deferred since it was made.
    fn counts(&self) -> PoseCounts;
}

/// Numbers of poses that a carrier has sent or deferred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoseCounts {
    /// Poses that were sent, counted once per subscriber.
    pub sent: u64,
    /// Poses that were due and did not fit the subscriber's budget, counted again whenever they had to wait.
    pub deferred: u64,
}

/// Settings of a host's carrier.
pub struct CarrierSettings {
    /// How relevant one object is to another.
    pub policy: Box<dyn Policy + Send>,
    /// How often a fully relevant pose is sent.
    pub schedule: Schedule,
    /// Limit of a subscriber's bytes of poses per second; `None` is no limit.
    pub budget: Option<Budget>,
    /// How often it speaks: fewer, fuller packets beat more.
    pub tick: Span,
}

impl Default for CarrierSettings {
    fn default() -> Self {
        let policy = A3::new(Distance::of_metres(60), Distance::of_metres(20), 180.0);
        Self {
            policy: Box::new(policy.expect("20 m lie within 60 m, and half a circle is an angle")),
            schedule: Schedule::default(),
            budget: None,
            tick: Span::from_millis(100),
        }
    }
}

/// The carrier of a host. Only this function says which one that is.
pub fn build(settings: CarrierSettings) -> Box<dyn Carrier + Send> {
    Box::new(Direct::new(settings))
}

/// The poses in a datagram. Bytes that are none are ignored.
pub fn poses(datagram: &[u8]) -> impl Iterator<Item = Pose> {
    frames(datagram).into_iter().flatten().filter_map(|it| Pose::decode(it).ok())
}
