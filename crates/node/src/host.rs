//! A host: one replica of a zone, and the carrier that speaks for it.

use crate::carrier::{Carrier, Grade, PoseCounts};
use crate::message::NodeMsg;
use machine::{Input, Lane, LatestKey, Machine, Outbox, Time};
use zone::{Command, Event, Replica};

/// A replica and its carrier.
pub struct Host {
    replica: Replica,
    carrier: Box<dyn Carrier + Send>,
    rules: std::sync::Arc<dyn game::Rules>,
    part: Outbox<zone::Msg, Event>,
    /// Each datagram is news of its own: none may replace another on the way.
    datagrams: u64,
}

impl Host {
    /// A host that has just started.
    pub fn new(config: zone::Config, carrier: Box<dyn Carrier + Send>) -> Self {
        let rules = std::sync::Arc::clone(&config.rules);
        Self { replica: Replica::new(config), carrier, rules, part: Outbox::new(), datagrams: 0 }
    }

    /// The replica, to look at.
    pub const fn replica(&self) -> &Replica {
        &self.replica
    }

    /// The poses that its carrier has sent and deferred.
    pub fn carried(&self) -> PoseCounts {
        self.carrier.counts()
    }

    fn speak(&mut self, now: Time, out: &mut Outbox<NodeMsg, Event>) {
        let world = self.replica.world_time(now);
        let (rules, objects) = (&self.rules, &self.replica.state().objects);
        let grade = |observer, subject, graded| match (objects.get(observer), objects.get(subject)) {
            (Some(observer), Some(subject)) => rules.relevance(&observer.state, &subject.state, graded),
            _ => graded,
        };
        let grade: Option<Grade<'_>> = if rules.grades() { Some(&grade) } else { None };
        let datagrams = &mut self.datagrams;
        self.carrier.speak(now, world, grade, &mut |to, datagram| {
            *datagrams += 1;
            // The high bit keeps them apart from the zone's own keys.
            let key = LatestKey(1 << 63 | *datagrams);
            out.send(to, Lane::Latest(key), NodeMsg::Poses(datagram.to_vec()));
        });
    }
}

impl Machine for Host {
    type Msg = NodeMsg;
    type Command = Command;
    type Event = Event;

    fn handle(&mut self, now: Time, input: Input<NodeMsg, Command>, out: &mut Outbox<NodeMsg, Event>) {
        let input = match input {
            Input::Recv { from, link, msg: NodeMsg::Zone(msg) } => Input::Recv { from, link, msg },
            Input::Recv { .. } => return, // A zone carries its own poses; whoever sends some here is mistaken.
            Input::Command(command) => Input::Command(command),
            Input::LinkUp { peer, link } => Input::LinkUp { peer, link },
            Input::LinkDown { peer, link } => Input::LinkDown { peer, link },
            Input::Wake => Input::Wake,
        };
        let woken = matches!(input, Input::Wake);
        self.replica.handle(now, input, &mut self.part);
        let carrier = &mut self.carrier;
        out.absorb(&mut self.part, NodeMsg::Zone, |event| match event {
            Event::Carrier(update) => {
                carrier.update(update);
                None
            }
            event => Some(event),
        });
        if woken && self.carrier.deadline().is_some_and(|at| at <= now) {
            self.speak(now, out);
        }
    }

    fn deadline(&self) -> Option<Time> {
        [self.replica.deadline(), self.carrier.deadline()].into_iter().flatten().min()
    }
}
