//! The machine of one replica on a host: the replica of a zone, and the carrier that sends its poses.

use crate::carrier::{Carrier, PoseCounts, RelevanceFn};
use crate::message::NodeMsg;
use machine::{Input, Lane, LatestKey, Machine, Outbox, Time};
use zone::{Replica, ReplicaCommand, ReplicaEvent};

/// One replica of a zone and its carrier. A host runs one per zone that it holds.
pub struct ReplicaNode {
    replica: Replica,
    carrier: Box<dyn Carrier + Send>,
    rules: std::sync::Arc<dyn game::HostedGame>,
    part: Outbox<zone::ZoneMsg, ReplicaEvent>,
    /// Every datagram gets a key of its own: none may replace another on the way.
    datagrams: u64,
}

impl ReplicaNode {
    /// A replica that has just started.
    pub fn new(config: zone::ZoneConfig, carrier: Box<dyn Carrier + Send>) -> Self {
        let rules = std::sync::Arc::clone(&config.rules);
        Self { replica: Replica::new(config), carrier, rules, part: Outbox::new(), datagrams: 0 }
    }

    /// The replica, for inspection only.
    pub const fn replica(&self) -> &Replica {
        &self.replica
    }

    /// The numbers of poses that its carrier has sent and deferred.
    pub fn pose_counts(&self) -> PoseCounts {
        self.carrier.counts()
    }

    fn send_poses(&mut self, now: Time, out: &mut Outbox<NodeMsg, ReplicaEvent>) {
        let world = self.replica.world_time(now);
        let (rules, objects) = (&self.rules, &self.replica.state().objects);
        // Only the zone's own objects: the policy alone grades a ghost, and an object that has gone since the carrier
        // learnt of it.
        let grade = |observer, subject, graded| match (objects.get(observer), objects.get(subject)) {
            (Some(observer), Some(subject)) => rules.relevance(&observer.state, &subject.state, graded),
            _ => graded,
        };
        let grade: Option<RelevanceFn<'_>> = if rules.grades() { Some(&grade) } else { None };
        let datagrams = &mut self.datagrams;
        self.carrier.send_poses(now, world, grade, &mut |to, datagram| {
            *datagrams += 1;
            // The high bit keeps them apart from the zone's own keys.
            let key = LatestKey(1 << 63 | *datagrams);
            out.send(to, Lane::Latest(key), NodeMsg::Poses(datagram.to_vec()));
        });
    }
}

impl Machine for ReplicaNode {
    type Msg = NodeMsg;
    type Command = ReplicaCommand;
    type Event = ReplicaEvent;

    fn handle(
        &mut self,
        now: Time,
        input: Input<NodeMsg, ReplicaCommand>,
        out: &mut Outbox<NodeMsg, ReplicaEvent>,
    ) {
        let input = match input {
            Input::Recv { from, link, msg: NodeMsg::Zone(msg) } => Input::Recv { from, link, msg },
            Input::Recv { .. } => return, // A zone's carrier makes its own poses; a peer that sends some is mistaken.
            Input::Command(command) => Input::Command(command),
            Input::LinkUp { peer, link } => Input::LinkUp { peer, link },
            Input::LinkDown { peer, link } => Input::LinkDown { peer, link },
            Input::Wake => Input::Wake,
        };
        let woken = matches!(input, Input::Wake);
        self.replica.handle(now, input, &mut self.part);
        let carrier = &mut self.carrier;
        out.absorb(&mut self.part, NodeMsg::Zone, |event| match event {
            ReplicaEvent::Carrier(update) => {
                carrier.update(update);
                None
            }
            event => Some(event),
        });
        if woken && self.carrier.deadline().is_some_and(|at| at <= now) {
            self.send_poses(now, out);
        }
    }

    fn deadline(&self) -> Option<Time> {
        [self.replica.deadline(), self.carrier.deadline()].into_iter().flatten().min()
    }
}
