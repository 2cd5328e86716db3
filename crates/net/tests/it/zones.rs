//! Links between zones of one host, and to the zones of other hosts.

use crate::echo::{ForwardingMachine, Text};
use machine::Address;
use net::link_router::{LinkRouter, RemoteEnd};
use net::reactor::{Reactor, ReactorHandle};
use net::send_queue::{SendLimits, SendQueue};
use net::worker::WorkerHandle;
use net::{address, clock, frame};
use tokio::sync::mpsc;
use tokio::time::Instant;

const HOST: u32 = 5;

struct TestZone {
    handle: WorkerHandle<ForwardingMachine>,
    heard: mpsc::UnboundedReceiver<(Address, Text)>,
}

/// A reactor without sockets.
fn reactor() -> ReactorHandle<ForwardingMachine> {
    let (reactor, handle) = Reactor::new(clock::now()).expect("the system has event files");
    reactor.spawn("zones", |why| panic!("{why}")).expect("the system has threads");
    handle
}

impl TestZone {
    fn start(reactor: &ReactorHandle<ForwardingMachine>) -> Self {
        let (sender, heard) = mpsc::unbounded_channel();
        let (handle, inbox) = reactor.inbox();
        reactor.run(ForwardingMachine, move |_, event| drop(sender.send(event)), inbox, |_| ());
        Self { handle, heard }
    }

    /// The next text that it receives, after the zone that sent it.
    async fn next(&mut self) -> String {
        let (from, text) = self.heard.recv().await.expect("the worker runs");
        format!("{}: {}", address::zone_of(from).expect("only zones send"), String::from_utf8_lossy(&text.0))
    }

    /// Sends a text to a zone. Texts sent to the same zone before have left when this returns.
    async fn say(&self, host: u32, zone: u32, text: &str) {
        self.handle.command((address::replica(host, zone), Text::of(text)));
        self.handle.flushed().await;
    }
}

#[tokio::test]
async fn zones_of_one_host_talk_without_sockets_also_after_a_restart() {
    let (router, reactor) = (LinkRouter::<ForwardingMachine>::new(HOST), reactor());
    let (mut one, mut two) = (TestZone::start(&reactor), TestZone::start(&reactor));
    router.add_zone(1, one.handle.clone());
    router.add_zone(2, two.handle.clone());
    one.say(HOST, 2, "hello").await;
    assert_eq!([two.next().await, two.next().await], ["1: up", "1: hello"]);
    two.say(HOST, 1, "hello yourself").await;
    assert_eq!([one.next().await, one.next().await], ["2: up", "2: hello yourself"]);

    router.remove_zone(1);
    two.say(HOST, 1, "are you there?").await;
    let mut again = TestZone::start(&reactor);
    router.add_zone(1, again.handle.clone());
    one.say(HOST, 2, "I am the past").await;
    two.say(HOST, 1, "and now?").await;
    assert_eq!([again.next().await, again.next().await], ["2: up", "2: and now?"]);
    again.say(HOST, 2, "now I am").await;
    assert_eq!([two.next().await, two.next().await, two.next().await], ["1: down", "1: up", "1: now I am"]);
    assert!(one.heard.try_recv().is_err(), "no zone talks to a stopped worker");
}

/// The zones that frames in a send queue name: sender and receiver.
async fn ends(queue: &SendQueue) -> Vec<(u32, u32)> {
    let batch = queue.next(Instant::now()).await.expect("it is open");
    let bodies = batch.sure.iter().map(|it| frame::bodies(it, 1024).expect("whole frames").remove(0));
    let ends = bodies.map(|body| {
        let (from, rest) = frame::open(&body).expect("a body has a zone");
        (from, if from == frame::CONTROL { 0 } else { frame::open(rest).expect("and another").0 })
    });
    ends.collect()
}

#[tokio::test]
async fn a_zone_is_linked_to_every_zone_that_another_host_lists() {
    let (router, reactor) = (LinkRouter::<ForwardingMachine>::new(HOST), reactor());
    let zone = TestZone::start(&reactor);
    router.add_zone(1, zone.handle.clone());
    let queue = SendQueue::new(SendLimits::SERVERS);
    router.connect(RemoteEnd::Host(6), 1, &queue, vec![1, 2]).unwrap();
    assert_eq!(ends(&queue).await, [(0, 0)], "the other host is told the zones of this one");
    zone.say(6, 1, "a").await;
    zone.say(6, 2, "b").await;
    zone.say(6, 3, "unknown zone").await;
    assert_eq!(ends(&queue).await, [(1, 1), (1, 2)]);

    router.update_zones(RemoteEnd::Host(6), &queue, vec![2, 3]);
    zone.say(6, 1, "unknown zone").await;
    zone.say(6, 2, "c").await;
    zone.say(6, 3, "d").await;
    assert_eq!(ends(&queue).await, [(1, 2), (1, 3)]);
    assert_eq!(queue.closed(), None, "a change of zones leaves the connection alone");

    router.add_zone(2, TestZone::start(&reactor).handle);
    assert_eq!(ends(&queue).await, [(0, 0)], "and again when its zones change");
}
