//! The experiment's client: counts the bytes that it receives, and keeps the newest motion of every avatar.

use super::A3Command;
use super::message::{A3Msg, PADDED_BYTES};
use machine::{Address, Input, Lane, LatestKey, Outbox, Time};
use space::{Epoch, Motion, ObjectId, ZoneId};
use wire::{Message as _, Pose, QUIC_DATAGRAM_OVERHEAD};

/// The client of the measured player.
pub struct A3Client {
    server: Option<Address>,
    own: Motion,
    known: Vec<Option<AvatarKnowledge>>,
    traffic: ReceivedTraffic,
}

/// The client's knowledge of one avatar.
#[derive(Clone, Copy, Debug)]
pub struct AvatarKnowledge {
    /// Newest motion that the client has received.
    pub motion: Motion,
    /// Time at which the last update arrived.
    pub heard: Time,
}

/// Bytes received, second by second.
#[derive(Clone, Debug, Default)]
pub struct ReceivedTraffic {
    /// Bytes of payload, per second of the run.
    pub payload: Vec<u64>,
    /// Number of datagrams, per second of the run.
    pub datagrams: Vec<u64>,
}

impl ReceivedTraffic {
    fn count(&mut self, now: Time, bytes: usize) {
        let second = now.as_secs() as usize;
        if self.payload.len() <= second {
            self.payload.resize(second + 1, 0);
            self.datagrams.resize(second + 1, 0);
        }
        self.payload[second] += bytes as u64;
        self.datagrams[second] += 1;
    }

    /// Payload plus the headers of UDP and QUIC of each datagram, per second of the run.
    pub fn with_headers(&self) -> impl Iterator<Item = u64> + '_ {
        let overhead = QUIC_DATAGRAM_OVERHEAD as u64;
        self.payload.iter().zip(&self.datagrams).map(move |(bytes, datagrams)| bytes + overhead * datagrams)
    }
}

impl A3Client {
    /// A client among `avatars` avatars, whose own avatar moves like `own`.
    pub fn new(avatars: usize, own: Motion) -> Self {
        Self { server: None, own, known: vec![None; avatars], traffic: ReceivedTraffic::default() }
    }

    /// Traffic that the client has received so far.
    pub fn traffic(&self) -> &ReceivedTraffic {
        &self.traffic
    }

    /// Knowledge of each avatar; `None` for its own.
    pub fn known(&self) -> &[Option<AvatarKnowledge>] {
        &self.known
    }

    /// Motion of its own avatar, which the client knows before the server does.
    pub fn own(&self) -> Motion {
        self.own
    }

    pub fn handle(&mut self, now: Time, input: Input<A3Msg, A3Command>, out: &mut Outbox<A3Msg, ()>) {
        match input {
            Input::Command(A3Command::Move { motion, .. }) => self.on_move(motion, out),
            Input::LinkUp { peer, .. } => self.server = Some(peer),
            Input::LinkDown { .. } => self.server = None,
            Input::Recv { msg: A3Msg::Padded(pose), .. } => {
                self.traffic.count(now, PADDED_BYTES);
                self.learn(now, pose);
            }
            Input::Recv { msg: A3Msg::Packed(datagram), .. } => self.on_packed(now, &datagram),
            Input::Recv { .. } | Input::Wake => (),
        }
    }

    fn on_move(&mut self, motion: Motion, out: &mut Outbox<A3Msg, ()>) {
        self.own = motion;
        let object = ObjectId { zone: ZoneId(1), epoch: Epoch(1), counter: 0 };
        if let Some(server) = self.server {
            out.send(server, Lane::Latest(LatestKey(0)), A3Msg::Own(Pose { object, motion, tag: None }));
        }
    }

    fn on_packed(&mut self, now: Time, datagram: &[u8]) {
        self.traffic.count(now, datagram.len());
        for pose in wire::frames(datagram).into_iter().flatten().flat_map(Pose::decode) {
            self.learn(now, pose);
        }
    }

    fn learn(&mut self, now: Time, pose: Pose) {
        let Some(known) = self.known.get_mut(pose.object.counter as usize) else { return };
        // The same motion again counts as fresh: it confirms that the avatar still moves so.
        if !known.is_some_and(|it| it.motion.is_newer_than(&pose.motion)) {
            *known = Some(AvatarKnowledge { motion: pose.motion, heard: now });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_datagram_carries_its_headers() {
        let mut traffic = ReceivedTraffic::default();
        traffic.count(Time::from_millis(10), 25);
        traffic.count(Time::from_millis(990), 75);
        traffic.count(Time::from_millis(2_000), 10);
        assert_eq!(traffic.payload, [100, 0, 10]);
        assert_eq!(traffic.with_headers().collect::<Vec<_>>(), [100 + 2 * 58, 0, 10 + 58]);
    }

    #[test]
    fn an_overtaken_pose_is_ignored_but_a_repeated_one_counts_as_fresh() {
        let mut client = A3Client::new(2, Motion::default());
        let object = ObjectId { zone: ZoneId(1), epoch: Epoch(1), counter: 1 };
        let pose = |sequence| Pose { object, motion: Motion { sequence, ..Motion::default() }, tag: None };
        client.learn(Time::from_millis(1), pose(5));
        client.learn(Time::from_millis(2), pose(4));
        let known = client.known[1].unwrap();
        assert_eq!((known.motion.sequence, known.heard), (5, Time::from_millis(1)));
        client.learn(Time::from_millis(3), pose(5));
        assert_eq!(client.known[1].unwrap().heard, Time::from_millis(3));
        let stranger = Pose { object: ObjectId { counter: 99, ..object }, ..pose(1) };
        client.learn(Time::from_millis(4), stranger);
        assert_eq!(client.known.len(), 2);
    }
}
