//! The context in which the parts of a peer work: time, configuration, random numbers, timers, and the outbox.
//!
//! A part gets the context with every call instead of a long list of parameters. The context decides nothing about the
//! overlay. Its fields are private, so no part can turn the clock, change a setting or send past the [`SendAccount`].

use crate::config::PeerConfig;
use crate::event::PeerEvent;
use crate::info::Info;
use crate::msg::OverlayMsg;
use crate::peer_credentials::{AcceptAll, PeerCredentials};
use crate::rule::OverlayRule;
use crate::send_account::{SendAccount, SentTraffic};
use crate::uplink::SendPriority;
use machine::{Address, Lane, Outbox, Rng, Span, Time, TimerName, Timers};
use std::sync::Arc;

/// The outbox of a peer.
pub(crate) type PeerOutbox = Outbox<OverlayMsg, PeerEvent>;

/// The timers of a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PeerTimer {
    /// The request to join is repeated.
    Join,
    /// A newcomer has waited long enough for the answers of its neighbours.
    Settle,
    /// The list is compared with a neighbour's.
    Compare,
    /// The peer searches for its own place.
    Lookup,
}

impl TimerName for PeerTimer {
    const ALL: &'static [Self] = &[Self::Join, Self::Settle, Self::Compare, Self::Lookup];

    fn slot(self) -> usize {
        self as usize
    }
}

/// The context of one peer.
pub(crate) struct PeerContext {
    now: Time,
    config: PeerConfig,
    rendezvous: Address,
    credentials: Arc<dyn PeerCredentials>,
    rng: Rng,
    timers: Timers<PeerTimer>,
    account: SendAccount,
    out: PeerOutbox,
}

impl PeerContext {
    pub fn new(config: PeerConfig, rendezvous: Address, rng: Rng) -> Self {
        Self {
            now: Time::ZERO,
            config,
            rendezvous,
            credentials: Arc::new(AcceptAll),
            rng,
            timers: Timers::new(),
            account: SendAccount::new(&config),
            out: PeerOutbox::new(),
        }
    }

    pub fn set_credentials(&mut self, credentials: Arc<dyn PeerCredentials>) {
        self.credentials = credentials;
    }

    /// Begins an input: until [`PeerContext::end`] the driver's outbox replaces the empty one of the context.
    pub fn begin(&mut self, now: Time, out: &mut PeerOutbox) {
        self.now = now;
        // Why a swap: a reference would put a lifetime on the context and on every part that gets it.
        std::mem::swap(&mut self.out, out);
    }

    /// Gives the driver its outbox back.
    pub fn end(&mut self, out: &mut PeerOutbox) {
        std::mem::swap(&mut self.out, out);
    }

    pub const fn now(&self) -> Time {
        self.now
    }

    pub const fn config(&self) -> &PeerConfig {
        &self.config
    }

    /// Returns whether the peer follows a rule; false only where a test breaks it.
    pub fn enforces(&self, rule: OverlayRule) -> bool {
        self.config.enforces(rule)
    }

    /// The address that every peer knows, where searches begin.
    pub const fn rendezvous(&self) -> Address {
        self.rendezvous
    }

    /// The credential of the local peer.
    pub fn credential_of(&self, me: &Info) -> Vec<u8> {
        self.credentials.show(me)
    }

    /// Returns whether a credential proves who a peer is. The paper's peers ask for none.
    pub fn admits(&self, who: &Info, credential: &[u8]) -> bool {
        !self.config.handshake || self.credentials.admits(who, credential)
    }

    /// A random part of a span, so that peers do not all act at once.
    pub fn some_of(&mut self, span: Span) -> Span {
        Span::from_micros(self.rng.below(span.as_micros().max(1)))
    }

    /// Sets a timer to `span` from now, also if it was set before.
    pub fn wake_after(&mut self, timer: PeerTimer, span: Span) {
        self.timers.set(timer, self.now + span);
    }

    pub fn stop(&mut self, timer: PeerTimer) {
        self.timers.stop(timer);
    }

    pub fn stop_all(&mut self) {
        self.timers = Timers::new();
    }

    /// The time at which a timer falls due, if it is set.
    pub fn timer(&self, timer: PeerTimer) -> Option<Time> {
        self.timers.at(timer)
    }

    pub fn take_due(&mut self) -> Option<PeerTimer> {
        self.timers.take_due(self.now)
    }

    pub fn deadline(&self) -> Option<Time> {
        self.timers.deadline()
    }

    /// Raises an event for the owner of the peer.
    pub fn raise(&mut self, event: PeerEvent) {
        self.out.raise(event);
    }

    /// Sends a message that may be lost. It is not sent if the budget is spent.
    pub fn send(&mut self, to: impl IntoIterator<Item = Address>, msg: OverlayMsg) {
        let _ = self.tell(to, msg);
    }

    /// The same as [`Self::send`]; returns the receivers to which the message was sent.
    #[must_use = "a receiver that was not told must not be noted as told"]
    pub fn tell(&mut self, to: impl IntoIterator<Item = Address>, msg: OverlayMsg) -> Vec<Address> {
        let priority = SendPriority::of(&msg);
        self.tell_with_priority(priority, to, msg)
    }

    /// The same as [`Self::tell`], with a priority other than the usual one of this kind of message.
    #[must_use = "a receiver that was not told must not be noted as told"]
    pub fn tell_with_priority(
        &mut self,
        priority: SendPriority,
        to: impl IntoIterator<Item = Address>,
        msg: OverlayMsg,
    ) -> Vec<Address> {
        let lane = self.account.next_lane();
        self.push(priority, to, (lane, msg))
    }

    /// Sends a message on the reliable lane; returns whether the budget allowed it.
    pub fn send_sure(&mut self, to: Address, msg: OverlayMsg) -> bool {
        let receivers = if self.config.handshake {
            self.push(SendPriority::of(&msg), [to], (Lane::Sure, msg))
        } else {
            self.tell([to], msg) // The paper's peers have datagrams only, so theirs may get lost.
        };
        !receivers.is_empty()
    }

    fn push(
        &mut self,
        priority: SendPriority,
        to: impl IntoIterator<Item = Address>,
        (lane, msg): (Lane, OverlayMsg),
    ) -> Vec<Address> {
        let receivers = self.account.charge(self.now, priority, to.into_iter().collect(), &msg);
        if !receivers.is_empty() {
            self.out.send_many(receivers.iter().copied(), lane, msg);
        }
        receivers
    }

    /// Everything that the peer has sent so far.
    pub const fn sent(&self) -> &SentTraffic {
        self.account.sent()
    }
}
