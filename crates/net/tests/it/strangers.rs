//! Clients without a token, on a simulated network: whatever they do, they are gone soon and hold nothing afterwards.

use crate::echo::{EchoMachine, test_context};
use crate::network::TestNetwork;
use crate::stranger::{Conduct, Stranger};
use machine::{Span, Time};
use net::connection_limits::UNAUTHENTICATED_PER_GROUP;
use net::endpoint;
use net::host_context::HostContext;
use net::reactor::{Reactor, ReactorHandle};
use net::tls::Identity;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tracing::span;
use tracing::subscriber::DefaultGuard;

const HOST: &str = "10.0.0.1:4433";

/// Interval between two turns.
const STEP: Span = Span::from_millis(5);

/// The time after which no client without a token is left.
const GONE_AFTER: Span = Span::from_secs(4);

/// Counts the lines that a log at level `info` would have.
#[derive(Clone, Default)]
struct LogLines(Arc<AtomicUsize>);

impl LogLines {
    /// Counts lines of this thread until the guard is dropped.
    fn count() -> (Self, DefaultGuard) {
        let lines = Self::default();
        (lines.clone(), tracing::subscriber::set_default(lines))
    }

    fn so_far(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl tracing::Subscriber for LogLines {
    fn enabled(&self, line: &tracing::Metadata<'_>) -> bool {
        *line.level() <= tracing::Level::INFO
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, _: &tracing::Event<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

/// A host on a simulated network, and strangers.
struct StrangerBed {
    network: TestNetwork,
    now: Time,
    reactor: Reactor<EchoMachine>,
    context: Arc<HostContext<EchoMachine>>,
    certificate: [u8; 32],
    strangers: Vec<Stranger>,
    /// It ends the reactor when it is dropped.
    _handle: ReactorHandle<EchoMachine>,
}

impl StrangerBed {
    fn new(delay: Span) -> Self {
        let network = TestNetwork::new(1, 0, (delay, Span::ZERO));
        let context = test_context();
        let identity = Identity::pinned().expect("the system has random numbers");
        let config = Arc::new(endpoint::players_config(&identity).expect("the identity is sound"));
        let (mut reactor, handle) = Reactor::new(Time::ZERO).expect("the system has event files");
        let socket = Box::new(network.socket(HOST.parse().expect("an address")));
        reactor.listen_to_players(socket, config, Arc::clone(&context), 0);
        let certificate = identity.hash();
        Self { network, now: Time::ZERO, reactor, context, certificate, strangers: vec![], _handle: handle }
    }

    /// Strangers connect, each from a port of its own at this address.
    fn connect(&mut self, address: [u8; 4], count: u16, conduct: Conduct) {
        let to = HOST.parse().expect("an address");
        for _ in 0..count {
            let from = SocketAddr::from((address, 10_000 + self.strangers.len() as u16));
            self.strangers.push(Stranger::connect(&self.network, from, to, self.certificate, conduct));
        }
    }

    async fn run(&mut self, span: Span) {
        let end = self.now + span;
        while self.now < end {
            self.now += STEP;
            self.network.set_time(self.now);
            // Limits are kept by tokio's clock.
            tokio::time::advance(Duration::from_micros(STEP.as_micros())).await;
            self.reactor.turn(self.now);
            for stranger in &mut self.strangers {
                stranger.step(self.now);
            }
            let (open, counted) = self.held();
            assert_eq!(open, counted, "a connection without a token counts for as long as it exists");
        }
    }

    /// Numbers of connections that exist, and of those that count as unauthenticated.
    fn held(&self) -> (usize, usize) {
        let router = &self.context.router;
        (router.open_connections().count(), router.connection_limits().unauthenticated())
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_without_a_token_is_gone_after_four_seconds_however_far_it_came() {
    for conduct in [
        Conduct::Deaf,
        Conduct::Silent,
        Conduct::HalfToken,
        Conduct::Settings,
        Conduct::Session,
        Conduct::SessionHalfToken,
    ] {
        let mut bed = StrangerBed::new(Span::from_millis(10));
        bed.connect([10, 0, 2, 1], 20, conduct);
        bed.run(Span::from_secs(1)).await;
        assert_eq!(bed.held(), (20, 20), "{conduct:?}");
        let are_connected = bed.strangers.iter().all(Stranger::is_connected);
        assert_eq!(are_connected, conduct != Conduct::Deaf, "{conduct:?}");
        bed.run(GONE_AFTER).await;
        assert_eq!(bed.held(), (0, 0), "{conduct:?}");
        assert_eq!(bed.strangers.iter().all(Stranger::is_closed), conduct != Conduct::Deaf, "{conduct:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_at_the_end_of_a_long_line_is_forgotten_as_soon() {
    // A round trip of a second: QUIC would remember a closed connection for nine.
    for conduct in [Conduct::Silent, Conduct::Session] {
        let mut bed = StrangerBed::new(Span::from_millis(500));
        bed.connect([10, 0, 2, 1], 20, conduct);
        bed.run(Span::from_millis(2_500)).await;
        assert_eq!(bed.held(), (20, 20), "{conduct:?}");
        bed.run(GONE_AFTER).await;
        assert_eq!(bed.held(), (0, 0), "{conduct:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn two_thousand_sessions_without_a_stream_from_one_address_hold_nothing_four_seconds_later() {
    let mut bed = StrangerBed::new(Span::from_millis(10));
    let mut most = 0;
    for _ in 0..100 {
        bed.connect([10, 0, 2, 1], 20, Conduct::Session);
        bed.run(Span::from_millis(60)).await;
        most = most.max(bed.held().0);
    }
    assert_eq!(most, UNAUTHENTICATED_PER_GROUP, "its slots, and no more");
    assert!(UNAUTHENTICATED_PER_GROUP < bed.strangers.iter().filter(|it| it.is_connected()).count());
    bed.run(GONE_AFTER).await;
    assert_eq!(bed.held(), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_client_that_sends_much_without_a_token_is_ended_at_once() {
    for conduct in [Conduct::Datagrams, Conduct::EmptyStreams, Conduct::Capsules] {
        let (lines, _guard) = LogLines::count();
        let mut bed = StrangerBed::new(Span::from_millis(10));
        bed.connect([10, 0, 2, 1], 5, conduct);
        bed.run(Span::from_millis(60)).await;
        assert_eq!(bed.held(), (5, 5), "{conduct:?}");
        // Less than the time that it has to show a token.
        bed.run(Span::from_millis(1_500)).await;
        assert_eq!(bed.held(), (0, 0), "{conduct:?}");
        assert!(bed.strangers.iter().all(Stranger::is_closed), "{conduct:?}");
        assert_eq!(lines.so_far(), 0, "{conduct:?}: a stranger writes no log");
    }
}
