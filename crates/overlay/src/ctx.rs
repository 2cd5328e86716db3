//! The context in which the parts of a peer work: time, settings, chance, timers, and the way out.
//!
//! A part gets the context with every call instead of a long list of parameters. The context decides nothing about the
//! overlay. Its fields are private, so no part can turn the clock, change a setting or send past the [`Line`].

use crate::config::Config;
use crate::credential::{Credentials, Open};
use crate::event::Event;
use crate::info::Info;
use crate::line::{Line, Sent};
use crate::msg::Msg;
use crate::rule::Rule;
use crate::uplink::Weight;
use machine::{Address, Lane, Outbox, Rng, Span, Time, TimerName, Timers};
use std::sync::Arc;

pub(crate) type Out = Outbox<Msg, Event>;

/// The timers of a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The request to join is repeated.
    Join,
    /// A newcomer has waited long enough for the answers of its neighbours.
    Settle,
    /// The list is compared with a neighbour's.
    Compare,
    /// The peer searches for its own place.
    Lookup,
}

impl TimerName for Purpose {
    const ALL: &'static [Self] = &[Self::Join, Self::Settle, Self::Compare, Self::Lookup];

    fn slot(self) -> usize {
        self as usize
    }
}

/// See the module.
pub(crate) struct Ctx {
    now: Time,
    config: Config,
    rendezvous: Address,
    credentials: Arc<dyn Credentials>,
    rng: Rng,
    timers: Timers<Purpose>,
    line: Line,
    out: Out,
}

impl Ctx {
    pub fn new(config: Config, rendezvous: Address, rng: Rng) -> Self {
        Self {
            now: Time::ZERO,
            config,
            rendezvous,
            credentials: Arc::new(Open),
            rng,
            timers: Timers::new(),
            line: Line::new(&config),
            out: Out::new(),
        }
    }

    pub fn set_credentials(&mut self, credentials: Arc<dyn Credentials>) {
        self.credentials = credentials;
    }

    /// Begins an input: until [`Ctx::end`] the driver's outbox stands in the place of ours, which is empty.
    pub fn begin(&mut self, now: Time, out: &mut Out) {
        self.now = now;
        std::mem::swap(&mut self.out, out);
    }

    /// Gives the driver its outbox back.
    pub fn end(&mut self, out: &mut Out) {
        std::mem::swap(&mut self.out, out);
    }

    pub const fn now(&self) -> Time {
        self.now
    }

    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// Whether the peer follows a rule; false only where a test breaks it.
    pub fn enforces(&self, rule: Rule) -> bool {
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

    /// Whether a credential proves who a peer is. The paper's peers ask for none.
    pub fn admits(&self, who: &Info, credential: &[u8]) -> bool {
        !self.config.handshake || self.credentials.admits(who, credential)
    }

    /// A random part of a span, so that peers do not all do the same at once.
    pub fn some_of(&mut self, span: Span) -> Span {
        Span::from_micros(self.rng.below(span.as_micros().max(1)))
    }

    /// Sets, or moves, a timer to so long from now.
    pub fn wake_after(&mut self, purpose: Purpose, span: Span) {
        self.timers.set(purpose, self.now + span);
    }

    pub fn stop(&mut self, purpose: Purpose) {
        self.timers.stop(purpose);
    }

    pub fn stop_all(&mut self) {
        self.timers = Timers::new();
    }

    /// When a timer falls due, if it is set.
    pub fn timer(&self, purpose: Purpose) -> Option<Time> {
        self.timers.at(purpose)
    }

    pub fn take_due(&mut self) -> Option<Purpose> {
        self.timers.take_due(self.now)
    }

    pub fn deadline(&self) -> Option<Time> {
        self.timers.deadline()
    }

    /// Tells the owner of the peer.
    pub fn raise(&mut self, event: Event) {
        self.out.raise(event);
    }

    /// Sends a message that may be lost, and is not sent if the budget is spent.
    pub fn send(&mut self, to: impl IntoIterator<Item = Address>, msg: Msg) {
        let _ = self.tell(to, msg);
    }

    /// The same; returns the receivers to whom it was sent.
    #[must_use = "a receiver that was not told must not be noted as told"]
    pub fn tell(&mut self, to: impl IntoIterator<Item = Address>, msg: Msg) -> Vec<Address> {
        let weight = Weight::of(&msg);
        self.tell_weighted(weight, to, msg)
    }

    /// The same, of a message that matters more or less than others of its kind.
    #[must_use = "a receiver that was not told must not be noted as told"]
    pub fn tell_weighted(
        &mut self,
        weight: Weight,
        to: impl IntoIterator<Item = Address>,
        msg: Msg,
    ) -> Vec<Address> {
        let lane = self.line.next_lane();
        self.push(weight, to, (lane, msg))
    }

    /// Sends a message that must arrive, if there is a way to be sure; whether it was sent.
    pub fn send_sure(&mut self, to: Address, msg: Msg) -> bool {
        let told = if self.config.handshake {
            self.push(Weight::of(&msg), [to], (Lane::Sure, msg))
        } else {
            self.tell([to], msg) // The paper's peers have datagrams only.
        };
        !told.is_empty()
    }

    fn push(
        &mut self,
        weight: Weight,
        to: impl IntoIterator<Item = Address>,
        (lane, msg): (Lane, Msg),
    ) -> Vec<Address> {
        let told = self.line.charge(self.now, weight, to.into_iter().collect(), &msg);
        if !told.is_empty() {
            self.out.send_many(told.iter().copied(), lane, msg);
        }
        told
    }

    /// What was sent so far.
    pub const fn sent(&self) -> &Sent {
        self.line.sent()
    }
}
