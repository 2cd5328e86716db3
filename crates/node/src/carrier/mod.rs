//! The dissemination plane's contract: how the poses of a zone's objects reach the players who need them.
//!
//! A carrier carries motions and nothing else. Zones say which objects exist and what their states are, whatever the
//! carrier. Poses may be late or lost. A receiver ignores an outdated one: a newer motion wins, and an event's generation
//! outranks every earlier pose.
//!
//! A carrier never decides what is true: all it knows of a zone are the updates ([`CarrierUpdate`]) that the replica
//! beside it raises.

mod direct;
#[cfg(test)]
mod tests;

pub use direct::DirectCarrier;

use interest::policies::A3;
use interest::{Budget, Policy, UpdateSchedule};
use machine::{Address, Span, Time};
use space::{Distance, ObjectId};
use wire::{Message as _, Pose, frames};
use zone::CarrierUpdate;

/// The game's grading: observer, subject and the policy's relevance in, the final relevance out.
pub type RelevanceFn<'a> = &'a dyn Fn(ObjectId, ObjectId, f32) -> f32;

/// Brings the poses of moving objects to the clients for which they are relevant.
pub trait Carrier {
    /// Takes an update of the zone.
    fn update(&mut self, update: CarrierUpdate);

    /// The latest time for the next [`Carrier::send_poses`].
    fn deadline(&self) -> Option<Time>;

    /// Sends the poses that are due: `now` is the host's time, `world` the world's. `send` gets whole datagrams.
    fn send_poses(
        &mut self,
        now: Time,
        world: Time,
        grade: Option<RelevanceFn<'_>>,
        send: &mut dyn FnMut(Address, &[u8]),
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

/// Settings of a replica's carrier.
pub struct CarrierSettings {
    /// The rule that gives relevance.
    pub policy: Box<dyn Policy + Send>,
    /// The rate at which a fully relevant pose is sent.
    pub schedule: UpdateSchedule,
    /// Limit of a subscriber's bytes of poses per second; `None` is no limit.
    pub budget: Option<Budget>,
    /// The time between two datagrams of poses for one subscriber: fewer, fuller ones cost less than more.
    pub tick: Span,
}

impl Default for CarrierSettings {
    fn default() -> Self {
        let policy = A3::new(Distance::of_metres(60), Distance::of_metres(20), 180.0);
        Self {
            policy: Box::new(policy.expect("20 m lie within 60 m, and half a circle is an angle")),
            schedule: UpdateSchedule::default(),
            budget: None,
            tick: Span::from_millis(100),
        }
    }
}

/// Builds the carrier of a replica. Only this function decides which kind it is.
pub fn build(settings: CarrierSettings) -> Box<dyn Carrier + Send> {
    Box::new(DirectCarrier::new(settings))
}

/// The poses in a datagram. Damaged ones are ignored.
pub fn poses(datagram: &[u8]) -> impl Iterator<Item = Pose> {
    frames(datagram).into_iter().flatten().filter_map(|it| Pose::decode(it).ok())
}
