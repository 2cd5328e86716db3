//! Zones that live together, and what other hosts hear of them.

use crate::echo::{Ear, Text};
use machine::Address;
use net::cell::{self, Handle};
use net::mailbox::{Mailbox, Pace};
use net::switchboard::{Peer, Switchboard};
use net::{address, frame};
use tokio::sync::mpsc;
use tokio::time::Instant;

const HOST: u32 = 5;

struct Zone {
    handle: Handle<Ear>,
    heard: mpsc::UnboundedReceiver<(Address, Text)>,
}

impl Zone {
    fn start() -> Self {
        let (sender, heard) = mpsc::unbounded_channel();
        let (handle, inbox) = Handle::new();
        cell::spawn_task(Ear, move |_, event| drop(sender.send(event)), inbox);
        Self { handle, heard }
    }

    /// What it hears next, and from which zone.
    async fn next(&mut self) -> String {
        let (from, text) = self.heard.recv().await.expect("the cell lives");
        format!("{}: {}", address::zone_of(from).expect("only zones speak"), String::from_utf8_lossy(&text.0))
    }

    /// Says something to a zone. What was said before to the same one has left when this returns.
    async fn say(&self, host: u32, zone: u32, text: &str) {
        self.handle.command((address::replica(host, zone), Text::of(text)));
        self.handle.look(|_| ()).await;
        self.handle.look(|_| ()).await;
    }
}

#[tokio::test]
async fn zones_of_one_host_talk_without_sockets_also_after_one_came_back() {
    let switchboard = Switchboard::<Ear>::new(HOST);
    let (mut one, mut two) = (Zone::start(), Zone::start());
    switchboard.add_zone(1, one.handle.clone());
    switchboard.add_zone(2, two.handle.clone());
    one.say(HOST, 2, "hello").await;
    assert_eq!([two.next().await, two.next().await], ["1: up", "1: hello"]);
    two.say(HOST, 1, "hello yourself").await;
    assert_eq!([one.next().await, one.next().await], ["2: up", "2: hello yourself"]);

    switchboard.remove_zone(1);
    two.say(HOST, 1, "are you there?").await;
    let mut again = Zone::start();
    switchboard.add_zone(1, again.handle.clone());
    one.say(HOST, 2, "I am the past").await;
    two.say(HOST, 1, "and now?").await;
    assert_eq!([again.next().await, again.next().await], ["2: up", "2: and now?"]);
    again.say(HOST, 2, "now I am").await;
    assert_eq!([two.next().await, two.next().await, two.next().await], ["1: down", "1: up", "1: now I am"]);
    assert!(one.heard.try_recv().is_err(), "nobody speaks to the past");
}

/// The zones that frames in a mailbox are from and for.
async fn ends(mailbox: &Mailbox) -> Vec<(u32, u32)> {
    let batch = mailbox.next(Instant::now()).await.expect("it is open");
    let bodies = batch.sure.iter().map(|it| frame::bodies(it, 1024).expect("whole frames").remove(0));
    let ends = bodies.map(|body| {
        let (from, rest) = frame::open(&body).expect("a body has a zone");
        (from, if from == frame::CONTROL { 0 } else { frame::open(rest).expect("and another").0 })
    });
    ends.collect()
}

#[tokio::test]
async fn a_zone_is_linked_to_every_zone_of_another_host_while_it_lives_there() {
    let switchboard = Switchboard::<Ear>::new(HOST);
    let zone = Zone::start();
    switchboard.add_zone(1, zone.handle.clone());
    let mailbox = Mailbox::new(Pace::SERVERS);
    switchboard.connect(Peer::Host(6), 1, &mailbox, vec![1, 2]).unwrap();
    assert_eq!(ends(&mailbox).await, [(0, 0)], "it is told who lives here");
    zone.say(6, 1, "a").await;
    zone.say(6, 2, "b").await;
    zone.say(6, 3, "nobody").await;
    assert_eq!(ends(&mailbox).await, [(1, 1), (1, 2)]);

    switchboard.moved(Peer::Host(6), &mailbox, vec![2, 3]);
    zone.say(6, 1, "nobody").await;
    zone.say(6, 2, "c").await;
    zone.say(6, 3, "d").await;
    assert_eq!(ends(&mailbox).await, [(1, 2), (1, 3)]);
    assert_eq!(mailbox.closed(), None, "a change of zones leaves the connection alone");

    switchboard.add_zone(2, Zone::start().handle);
    assert_eq!(ends(&mailbox).await, [(0, 0)], "and again when that changes");
}
