//! The port for other hosts, on a simulated network, while strangers send to it.

use crate::echo::{EchoMachine, context_of};
use crate::network::TestNetwork;
use crate::stranger::{Conduct, Stranger};
use machine::{Span, Time};
use net::host_context::HostContext;
use net::reactor::{Reactor, ReactorHandle};
use net::tls::{Authority, MeshIdentity, host_name};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// Interval between two turns.
const STEP: Span = Span::from_millis(5);

/// Hosts that know each other's addresses, and strangers.
struct HostsBed {
    network: TestNetwork,
    now: Time,
    authority: Authority,
    hosts: Vec<MeshHost>,
    strangers: Vec<Stranger>,
}

struct MeshHost {
    number: u32,
    /// Number of its socket.
    socket: usize,
    reactor: Reactor<EchoMachine>,
    handle: ReactorHandle<EchoMachine>,
    context: Arc<HostContext<EchoMachine>>,
    certificate: [u8; 32],
}

fn address_of(host: u32) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, host as u8], 4_500))
}

impl MeshHost {
    /// Number of other hosts that it is connected to.
    fn connected(&self) -> usize {
        self.context.router.count().1
    }

    fn handshakes(&self) -> usize {
        self.context.router.host_port_limits().under_way()
    }
}

impl HostsBed {
    fn new() -> Self {
        let network = TestNetwork::new(1, 0, (Span::from_millis(2), Span::ZERO));
        let authority = Authority::new().expect("the system has random numbers");
        Self { network, now: Time::ZERO, authority, hosts: Vec::new(), strangers: Vec::new() }
    }

    fn start(&mut self, number: u32) {
        let issued = self.authority.issue(&host_name(number)).expect("the authority is sound");
        let identity = MeshIdentity::of_pem(&self.authority.certificate, &issued.certificate, &issued.key);
        let identity = identity.expect("what was issued can be read");
        let (mut reactor, handle) = Reactor::new(self.now).expect("the system has event files");
        let socket = self.network.socket(address_of(number));
        let (context, socket_number) = (context_of(number), socket.number);
        reactor
            .listen_to_hosts(Box::new(socket), &identity, Arc::clone(&context))
            .expect("the identity is sound");
        let certificate = identity.identity.hash();
        self.hosts.push(MeshHost { number, socket: socket_number, reactor, handle, context, certificate });
    }

    /// Tells all hosts the addresses of all others.
    fn introduce(&self) {
        for host in &self.hosts {
            let others = self.hosts.iter().map(|it| it.number).filter(|it| *it != host.number);
            host.handle.set_hosts(others.map(|it| (it, address_of(it))).collect());
        }
    }

    /// A stranger sends to the first host, from an address that no host has.
    fn attack(&mut self, conduct: Conduct) {
        let [high, low] = (self.strangers.len() as u16).to_be_bytes();
        let (from, to) = (SocketAddr::from(([10, 9, high, low], 5_000)), &self.hosts[0]);
        let stranger = Stranger::connect(&self.network, from, address_of(to.number), to.certificate, conduct);
        self.strangers.push(stranger);
    }

    async fn step(&mut self) {
        self.now += STEP;
        self.network.set_time(self.now);
        // Limits are kept by tokio's clock.
        tokio::time::advance(Duration::from_micros(STEP.as_micros())).await;
        for host in &mut self.hosts {
            host.reactor.turn(self.now);
        }
        for stranger in &mut self.strangers {
            stranger.step(self.now);
        }
    }

    async fn run(&mut self, span: Span) {
        let end = self.now + span;
        while self.now < end {
            self.step().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn first_packets_of_strangers_begin_no_handshake_and_keep_no_host_out() {
    let mut bed = HostsBed::new();
    bed.start(1);
    bed.start(2);
    let mut begun = 0;
    for turn in 0..100 {
        for _ in 0..20 {
            bed.attack(Conduct::DeafHost);
        }
        if turn == 50 {
            assert_eq!(begun, 0, "their addresses are not validated");
            bed.introduce();
        }
        bed.step().await;
        begun = begun.max(bed.hosts[0].handshakes());
    }
    // The strangers send their first packets again and again.
    bed.run(Span::from_secs(1)).await;
    assert_eq!((bed.hosts[0].connected(), bed.hosts[1].connected()), (1, 1));
    let sent = bed.network.sent(bed.hosts[0].socket);
    assert!(sent < 1_700, "{sent} answers to 2,000 first packets that come twice: most are dropped unread");
}

#[tokio::test(start_paused = true)]
async fn strangers_that_receive_share_a_few_handshakes_and_keep_no_host_out() {
    let mut bed = HostsBed::new();
    bed.start(1);
    bed.start(2);
    let mut most = 0;
    for turn in 0..400 {
        bed.attack(Conduct::NoCertificate);
        if turn == 200 {
            bed.introduce();
        }
        bed.step().await;
        most = most.max(bed.hosts[0].handshakes());
    }
    assert_eq!((bed.hosts[0].connected(), bed.hosts[1].connected()), (1, 1));
    assert!((10..=17).contains(&most), "{most} handshakes at once, that of the other host among them");
    bed.run(Span::from_secs(4)).await;
    assert_eq!(bed.hosts[0].handshakes(), 0);
    assert_eq!((bed.hosts[0].connected(), bed.hosts[1].connected()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_lost_host_is_dialled_again_although_a_stranger_holds_its_slot() {
    let mut bed = HostsBed::new();
    // The host with the higher number dials, and strangers send to the first of the bed.
    bed.start(2);
    bed.start(1);
    bed.introduce();
    bed.run(Span::from_secs(1)).await;
    assert_eq!(bed.hosts[0].connected(), 1);
    // A stranger whose address is validated, and who then waits.
    let (from, to) = (SocketAddr::from(([10, 9, 0, 1], 5_000)), &bed.hosts[0]);
    let to = (address_of(to.number), to.certificate);
    let mut stranger = Stranger::connect(&bed.network, from, to.0, to.1, Conduct::NoCertificate);
    stranger.step(bed.now);
    // Host 1 vanishes. When its connection is given up, the stranger's handshake takes the slot and stops there.
    let gone = bed.hosts.pop().expect("two hosts run");
    bed.network.move_socket(gone.socket, SocketAddr::from(([10, 0, 9, 9], 9)));
    drop(gone);
    while bed.hosts[0].connected() == 1 {
        bed.step().await;
    }
    stranger.step(bed.now);
    bed.start(1);
    bed.introduce();
    bed.run(Span::from_millis(500)).await;
    assert_eq!(bed.hosts[0].handshakes(), 1, "the stranger's is not over");
    assert_eq!(bed.hosts[0].connected(), 1);
}
