//! Reactors on a simulated network, turn by turn: loss, reordering, changed addresses, two reactors at one address, and how many
//! packets a quiet connection takes.

use crate::echo::{EchoMachine, ForwardingMachine, Text, ZONE, test_context};
use crate::network::TestNetwork;
use machine::{Address, Input, Lane, LatestKey, Machine, Outbox, Span, Time};
use net::dial::{Dialer, PlayerConnection, PlayerEnd, Target};
use net::host_context::HostContext;
use net::reactor::{self, Reactor, ReactorHandle};
use net::tls::Identity;
use net::worker::WorkerHandle;
use net::{address, endpoint};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::watch;

const HOST: &str = "10.0.0.1:4433";

/// Interval between two turns.
const STEP: Span = Span::from_millis(5);

type Heard = Arc<Mutex<Vec<(Time, String)>>>;

/// A host of one or more reactors, and players with a reactor each.
struct Bed<M: Machine, P: Machine> {
    network: TestNetwork,
    now: Time,
    hosts: Vec<Reactor<M>>,
    host_handles: Vec<ReactorHandle<M>>,
    context: Arc<HostContext<M>>,
    certificate: [u8; 32],
    players: Vec<TestEnd<P>>,
    /// Whether players hold acknowledgements back.
    holds: bool,
}

/// A player on the simulated network.
struct TestEnd<P: Machine> {
    socket: usize,
    reactor: Reactor<P>,
    dialer: Dialer<P>,
    handle: WorkerHandle<P>,
    heard: Heard,
    connection: Option<PlayerConnection<P>>,
}

impl<
    M: Machine<Msg = Text> + Send + 'static,
    P: Machine<Msg = Text, Event = (Address, Text)> + Send + 'static,
> Bed<M, P>
where
    M::Command: Send,
    M::Event: Send,
    P::Command: Send,
{
    fn new(network: TestNetwork, reactors: usize, machine: M) -> Self {
        let context = test_context();
        let identity = Identity::pinned().expect("the system has random numbers");
        let config = Arc::new(endpoint::players_config(&identity).expect("the identity is sound"));
        let address: SocketAddr = HOST.parse().expect("an address");
        let (mut hosts, mut handles) = (Vec::new(), Vec::new());
        for number in 0..reactors {
            let (mut reactor, handle) = Reactor::new(Time::ZERO).expect("the system has event files");
            let socket = Box::new(network.socket(address));
            reactor.listen_to_players(socket, config.clone(), Arc::clone(&context), number as u8);
            hosts.push(reactor);
            handles.push(handle);
        }
        reactor::share_port(&handles);
        let (handle, inbox) = handles[0].inbox();
        handles[0].run(machine, |_, _| (), inbox, |_| ());
        context.router.add_zone(ZONE, handle);
        let certificate = identity.hash();
        let (host_handles, players) = (handles, Vec::new());
        Self { network, now: Time::ZERO, hosts, host_handles, context, certificate, players, holds: true }
    }

    /// One turn of all reactors.
    async fn step(&mut self) {
        self.now += STEP;
        self.network.set_time(self.now);
        // Limits on what a player may send are kept by tokio's clock.
        tokio::time::advance(Duration::from_micros(STEP.as_micros())).await;
        let now = self.now;
        for host in &mut self.hosts {
            host.turn(now);
        }
        for player in &mut self.players {
            player.reactor.turn(now);
        }
        for _ in 0..4 {
            tokio::task::yield_now().await; // The tasks that wait for connections.
        }
    }

    async fn run(&mut self, span: Span) {
        let end = self.now + span;
        while self.now < end {
            self.step().await;
        }
    }

    /// Connects a player from this port.
    async fn connect(&mut self, number: u64, machine: P) {
        let (mut reactor, handle) = Reactor::new(self.now).expect("the system has event files");
        let socket = self.network.socket(SocketAddr::from(([10, 0, 1, 1], 10_000 + number as u16)));
        let socket_number = socket.number;
        reactor.dial_from(Box::new(socket));
        if !self.holds {
            reactor.acknowledge_at_once();
        }
        let dialer = Dialer::on(handle);
        let heard = Heard::default();
        let log = heard.clone();
        let sink = move |now, (_, text): (Address, Text)| {
            log.lock().expect("no test panics").push((now, String::from_utf8_lossy(&text.0).into_owned()));
        };
        let handle = dialer.run(machine, sink);
        let end = PlayerEnd { player: handle.clone(), traffic: Arc::default(), probe: watch::channel(0).1 };
        let target =
            Target::Quic { address: HOST.parse().expect("an address"), certificate: self.certificate };
        let connecting = dialer.clone();
        let task =
            tokio::spawn(async move { connecting.connect(&target, &format!("{number} 1"), end).await });
        self.players.push(TestEnd {
            socket: socket_number,
            reactor,
            dialer,
            handle,
            heard,
            connection: None,
        });
        while !task.is_finished() {
            self.step().await;
        }
        let connected = task.await.expect("connecting does not panic");
        self.players.last_mut().expect("one was pushed").connection = connected.ok();
    }
}

impl<P: Machine> TestEnd<P> {
    fn heard(&self) -> Vec<String> {
        self.heard.lock().expect("no test panics").iter().map(|it| it.1.clone()).collect()
    }
}

type EchoBed = Bed<EchoMachine, ForwardingMachine>;

fn say(player: &TestEnd<ForwardingMachine>, text: &str) {
    player.handle.command((address::replica(5, ZONE), Text::of(text)));
}

#[tokio::test(start_paused = true)]
async fn sure_messages_arrive_once_and_in_order_whatever_the_network_does() {
    for seed in 1..=5 {
        // Every tenth packet is lost, and packets overtake each other.
        let network = TestNetwork::new(seed, 100, (Span::from_millis(5), Span::from_millis(40)));
        let mut bed = EchoBed::new(network, 1, EchoMachine::default());
        bed.connect(1, ForwardingMachine).await;
        let texts: Vec<String> = (0..150).map(|it| it.to_string()).collect();
        for text in &texts {
            say(&bed.players[0], text);
            bed.step().await;
        }
        bed.run(Span::from_secs(10)).await;
        let expected: Vec<String> = ["up".to_owned()].into_iter().chain(texts).collect();
        assert_eq!(bed.players[0].heard(), expected, "seed {seed}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_hundred_players_change_their_ports_and_stay_connected_to_either_of_two_reactors() {
    let network = TestNetwork::new(7, 10, (Span::from_millis(2), Span::from_millis(3)));
    let mut bed = EchoBed::new(network, 2, EchoMachine::default());
    for number in 0..100 {
        bed.connect(number, ForwardingMachine).await;
    }
    assert_eq!(bed.context.router.count().0, 100);
    for at in 0..100 {
        // An odd step: half of them now reach the reactor that does not know them.
        let address = SocketAddr::from(([10, 0, 1, 1], 20_001 + 3 * at as u16));
        bed.network.move_socket(bed.players[at].socket, address);
    }
    for player in &bed.players {
        say(player, "still here");
    }
    bed.run(Span::from_secs(5)).await;
    for (at, player) in bed.players.iter().enumerate() {
        assert_eq!(player.heard(), ["up", "still here"], "player {at}");
    }
    assert_eq!(bed.context.router.count().0, 100);
    assert_eq!(bed.host_handles.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn without_its_reactors_a_host_is_gone_and_its_players_notice() {
    let network = TestNetwork::new(3, 0, (Span::from_millis(2), Span::ZERO));
    let mut bed = EchoBed::new(network, 1, EchoMachine::default());
    bed.connect(1, ForwardingMachine).await;
    bed.hosts.clear();
    bed.run(Span::from_secs(7)).await;
    assert_eq!(bed.players[0].heard(), ["up", "down"]);
}

#[tokio::test(start_paused = true)]
async fn closing_tells_the_other_end_the_reason() {
    let network = TestNetwork::new(4, 0, (Span::from_millis(2), Span::ZERO));
    let mut bed = EchoBed::new(network, 1, EchoMachine::default());
    bed.connect(1, ForwardingMachine).await;
    let dialer = bed.players[0].dialer.clone();
    let closing = tokio::spawn(async move { dialer.close().await });
    bed.run(Span::from_secs(1)).await;
    assert!(closing.is_finished());
    assert_eq!(bed.context.router.count().0, 0);
}

/// Sends a `Latest` message to each peer every 100 ms.
struct Ticking {
    peers: Vec<Address>,
    next: Time,
    heard: u64,
}

impl Default for Ticking {
    fn default() -> Self {
        Self { peers: Vec::new(), next: Time::ZERO, heard: 0 }
    }
}

impl Machine for Ticking {
    type Msg = Text;
    type Command = ();
    type Event = (Address, Text);

    fn handle(&mut self, now: Time, input: Input<Text, ()>, out: &mut Outbox<Text, (Address, Text)>) {
        match input {
            Input::LinkUp { peer, .. } => self.peers.push(peer),
            Input::LinkDown { peer, .. } => self.peers.retain(|it| *it != peer),
            Input::Recv { .. } => self.heard += 1,
            Input::Wake if self.next <= now => {
                self.next = now + Span::from_millis(100);
                out.send_many(self.peers.iter().copied(), Lane::Latest(LatestKey(1)), Text::of("tick"));
            }
            Input::Wake | Input::Command(()) => (),
        }
    }

    fn deadline(&self) -> Option<Time> {
        Some(self.next)
    }
}

#[tokio::test(start_paused = true)]
async fn acknowledgements_ride_on_the_packets_that_leave_anyway() {
    let network = TestNetwork::new(5, 0, (Span::from_millis(10), Span::from_millis(5)));
    let mut bed = Bed::<Ticking, Ticking>::new(network, 1, Ticking::default());
    bed.connect(1, Ticking::default()).await;
    bed.run(Span::from_secs(2)).await; // The handshake and its aftermath.
    let sent = |bed: &Bed<Ticking, Ticking>| [0, 1].map(|socket| bed.network.sent(socket));
    let before = sent(&bed);
    bed.run(Span::from_secs(20)).await;
    let [down, up] = [0, 1].map(|it| (sent(&bed)[it] - before[it]) as f64 / 20.0);
    // Ten messages each way, and one ping every five seconds.
    assert!(
        (9.0..11.0).contains(&down) && (9.0..11.0).contains(&up),
        "{down} packets down, {up} up per second"
    );
    let heard = bed.players[0].handle.clone();
    let inspection = tokio::spawn(async move { heard.inspect(|it| it.heard).await });
    bed.run(Span::from_millis(50)).await;
    let heard = inspection.await.expect("no panic").expect("the worker runs");
    assert!((200..=240).contains(&heard), "{heard} of about 220 ticks were heard");
}

/// Ticks like [`Ticking`], answers each text, and reports the texts that it hears.
#[derive(Default)]
struct Playing(Ticking);

impl Machine for Playing {
    type Msg = Text;
    type Command = (Address, Text);
    type Event = (Address, Text);

    fn handle(
        &mut self,
        now: Time,
        input: Input<Text, (Address, Text)>,
        out: &mut Outbox<Text, (Address, Text)>,
    ) {
        let tick = Text::of("tick");
        match input {
            Input::Recv { msg, .. } if msg.0 == tick.0 => (),
            Input::Recv { from, msg, .. } if msg.0.starts_with(b"ask") => {
                out.send(
                    from,
                    Lane::Sure,
                    Text::of(&String::from_utf8_lossy(&msg.0).replace("ask", "answer")),
                );
            }
            Input::Recv { from, msg, .. } => out.raise((from, msg)),
            Input::Command((to, text)) => out.send(to, Lane::Sure, text),
            Input::LinkUp { peer, .. } => self.0.peers.push(peer),
            Input::LinkDown { peer, .. } => self.0.peers.retain(|it| *it != peer),
            Input::Wake => self.0.handle(now, Input::Wake, out),
        }
    }

    fn deadline(&self) -> Option<Time> {
        self.0.deadline()
    }
}

/// Asks 4,000 questions, one every 110 ms, while one packet in a hundred is lost each way. Returns the times until the answers in
/// milliseconds, the shortest first, and the packets per second down and up.
async fn answers_with_loss(holds: bool, seed: u64) -> (Vec<u64>, [f64; 2]) {
    let network = TestNetwork::new(seed, 10, (Span::from_millis(10), Span::from_millis(5)));
    let mut bed = Bed::<Playing, Playing>::new(network, 1, Playing::default());
    if !holds {
        bed.hosts[0].acknowledge_at_once();
    }
    bed.holds = holds;
    bed.connect(1, Playing::default()).await;
    bed.run(Span::from_secs(2)).await; // The handshake and its aftermath.
    let (began, before) = (bed.now, [0, 1].map(|it| bed.network.sent(it)));
    let mut asked = Vec::new();
    for number in 0..4_000 {
        asked.push(bed.now);
        let question = Text::of(&format!("ask {number}"));
        bed.players[0].handle.command((address::replica(5, ZONE), question));
        bed.run(Span::from_millis(110)).await;
    }
    let seconds = bed.now.since(began).as_micros() as f64 / 1e6;
    let packets = [0, 1].map(|it| (bed.network.sent(it) - before[it]) as f64 / seconds);
    bed.run(Span::from_secs(10)).await;
    let heard = bed.players[0].heard.lock().expect("no test panics").clone();
    assert_eq!(heard.len(), 4_000, "each question is answered once");
    let times = heard.iter().enumerate().map(|(number, (at, text))| {
        assert_eq!(*text, format!("answer {number}"), "and in order");
        at.since(asked[number]).as_millis()
    });
    let mut times: Vec<u64> = times.collect();
    times.sort_unstable();
    (times, packets)
}

#[tokio::test(start_paused = true)]
#[expect(clippy::print_stdout, reason = "docs/net.md and a decision quote these figures")]
async fn held_acknowledgements_delay_no_answer_when_packets_are_lost() {
    let (held, packets_held) = answers_with_loss(true, 11).await;
    let (plain, packets_plain) = answers_with_loss(false, 11).await;
    let at = |times: &[u64], share: f64| times[(times.len() as f64 * share) as usize];
    let figures = [0.5, 0.99, 0.999].map(|share| (at(&held, share), at(&plain, share)));
    println!("p50, p99, p99.9 in ms, held and plain: {figures:?}");
    println!("packets per second down and up, held {packets_held:.1?}, plain {packets_plain:.1?}");
    // In virtual time, so the same on every machine.
    assert!(
        figures[1].0 * 4 <= figures[1].1 * 5,
        "p99 {} ms, and {} ms as QUIC comes",
        figures[1].0,
        figures[1].1
    );
    assert!(packets_held[0] + packets_held[1] < packets_plain[0] + packets_plain[1]);
}
