//! A simulated network for reactors: packets are delayed, reordered and lost, and clients change their addresses. Time is virtual.

use bytes::BytesMut;
use machine::{Rng, Span, Time};
use net::reactor::socket::{Packet, PacketSocket, Transmit};
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, MutexGuard};

/// The network: all sockets and the packets on their way.
#[derive(Clone)]
pub struct TestNetwork(Arc<Mutex<TestNetworkState>>);

struct TestNetworkState {
    now: Time,
    rng: Rng,
    /// Lost packets per thousand.
    loss: u64,
    /// The shortest way, and the most by which a packet takes longer.
    delay: (Span, Span),
    /// Addresses of the sockets, by number. Several may have the same.
    addresses: Vec<SocketAddr>,
    /// Packets on their way, by arrival; with the socket that gets them.
    flying: BTreeMap<(Time, u64), (usize, Packet)>,
    serial: u64,
    /// Packets sent, by socket.
    sent: Vec<u64>,
}

impl TestNetwork {
    pub fn new(seed: u64, loss: u64, delay: (Span, Span)) -> Self {
        Self(Arc::new(Mutex::new(TestNetworkState {
            now: Time::ZERO,
            rng: Rng::seeded(seed),
            loss,
            delay,
            addresses: Vec::new(),
            flying: BTreeMap::new(),
            serial: 0,
            sent: Vec::new(),
        })))
    }

    fn state(&self) -> MutexGuard<'_, TestNetworkState> {
        self.0.lock().expect("no socket panics")
    }

    /// A socket at an address.
    pub fn socket(&self, address: SocketAddr) -> TestSocket {
        let mut state = self.state();
        state.addresses.push(address);
        state.sent.push(0);
        TestSocket { network: self.clone(), number: state.addresses.len() - 1 }
    }

    /// Gives a socket another address, as a router does when it forgets a translation.
    pub fn move_socket(&self, number: usize, address: SocketAddr) {
        self.state().addresses[number] = address;
    }

    pub fn set_time(&self, now: Time) {
        self.state().now = now;
    }

    /// Packets sent by a socket so far.
    pub fn sent(&self, number: usize) -> u64 {
        self.state().sent[number]
    }
}

/// A socket of the simulated network.
pub struct TestSocket {
    network: TestNetwork,
    pub number: usize,
}

impl PacketSocket for TestSocket {
    fn receive(&mut self, take: &mut dyn FnMut(Packet)) -> io::Result<bool> {
        let mut state = self.network.state();
        let now = state.now;
        let arrived: Vec<(Time, u64)> = state
            .flying
            .iter()
            .take_while(|it| it.0.0 <= now)
            .filter(|it| it.1.0 == self.number)
            .map(|it| *it.0)
            .collect();
        for key in &arrived {
            if let Some((_, packet)) = state.flying.remove(key) {
                take(packet);
            }
        }
        Ok(!arrived.is_empty())
    }

    fn send(&mut self, transmit: &Transmit, contents: &[u8]) -> io::Result<()> {
        let mut state = self.network.state();
        let from = state.addresses[self.number];
        for part in contents.chunks(transmit.segment_size.unwrap_or(contents.len())) {
            state.sent[self.number] += 1;
            // Sockets that share an address get packets by the sender's port, as the system does it.
            let at: Vec<usize> = (0..state.addresses.len())
                .filter(|it| state.addresses[*it] == transmit.destination)
                .collect();
            let Some(&to) = at.get(usize::from(from.port()) % at.len().max(1)) else { continue };
            if state.rng.below(1_000) < state.loss {
                continue;
            }
            let (least, more) = state.delay;
            let extra = if more == Span::ZERO { 0 } else { state.rng.below(more.as_micros()) };
            let arrives = state.now + least + Span::from_micros(extra);
            state.serial += 1;
            let key = (arrives, state.serial);
            let packet = Packet { from, local: None, ecn: None, bytes: BytesMut::from(part) };
            state.flying.insert(key, (to, packet));
        }
        Ok(())
    }

    fn segments_max(&self) -> usize {
        1
    }

    fn may_fragment(&self) -> bool {
        true
    }

    fn local_address(&self) -> io::Result<SocketAddr> {
        Ok(self.network.state().addresses[self.number])
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}
