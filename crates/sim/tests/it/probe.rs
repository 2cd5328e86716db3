//! A machine that does what it is told and writes down what it hears.

use machine::{Address, Input, Lane, LatestKey, Machine, Outbox, Span, Time};
use sim::{Profile, Sim};
use wire::{DecodeError, Message};

/// Any bytes but those that start with [`GARBAGE`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bytes(pub(crate) Vec<u8>);

/// No message starts with this.
pub(crate) const GARBAGE: u8 = 0xff;

impl Message for Bytes {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0);
    }

    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        match bytes.first() {
            Some(&GARBAGE) => Err(DecodeError::UnknownKind(GARBAGE)),
            _ => Ok(Self(bytes.to_vec())),
        }
    }
}

/// What a probe can be told to do.
#[derive(Clone, Debug, Hash)]
pub(crate) enum Do {
    Send(Vec<Address>, Lane, Vec<u8>),
    SetDeadline(Option<Time>),
    Raise(u32),
}

/// Writes down each input with its time.
#[derive(Debug, Default)]
pub(crate) struct Probe {
    pub(crate) deadline: Option<Time>,
    /// What it does at every wake, without a command that would tell of it.
    pub(crate) on_wake: Option<Do>,
    pub(crate) heard: Vec<(Time, Input<Bytes, ()>)>,
}

impl Machine for Probe {
    type Msg = Bytes;
    type Command = Do;
    type Event = u32;

    fn handle(&mut self, now: Time, input: Input<Bytes, Do>, out: &mut Outbox<Bytes, u32>) {
        let heard = match input {
            Input::Command(told) => return self.obey(told, out),
            Input::LinkUp { peer, link } => Input::LinkUp { peer, link },
            Input::LinkDown { peer, link } => Input::LinkDown { peer, link },
            Input::Recv { from, link, msg } => Input::Recv { from, link, msg },
            Input::Wake => Input::Wake,
        };
        if heard == Input::Wake {
            self.deadline = self.deadline.filter(|&at| now < at);
            self.on_wake.clone().into_iter().for_each(|told| self.obey(told, out));
        }
        self.heard.push((now, heard));
    }

    fn deadline(&self) -> Option<Time> {
        self.deadline
    }
}

impl Probe {
    fn obey(&mut self, told: Do, out: &mut Outbox<Bytes, u32>) {
        match told {
            Do::Send(to, lane, bytes) => out.send_many(to, lane, Bytes(bytes)),
            Do::SetDeadline(at) => self.deadline = at,
            Do::Raise(event) => out.raise(event),
        }
    }
}

pub(crate) const A: Address = Address(0);
pub(crate) const B: Address = Address(1);
pub(crate) const C: Address = Address(2);

/// Three probes; the first is linked to both others.
pub(crate) fn trio(seed: u64, profile: Profile) -> Sim<Probe> {
    let mut sim = Sim::new(seed);
    assert_eq!([A, B, C].map(|_| sim.add(Probe::default())), [A, B, C]);
    sim.connect(A, B, profile);
    sim.connect(A, C, profile);
    sim
}

pub(crate) fn ms(millis: u64) -> Time {
    Time::from_millis(millis)
}

pub(crate) fn latest(key: u64) -> Lane {
    Lane::Latest(LatestKey(key))
}

pub(crate) fn delay(millis: u64) -> Profile {
    Profile::new(Span::from_millis(millis))
}

/// Tells A to send one message to B.
pub(crate) fn send(sim: &mut Sim<Probe>, at: Time, lane: Lane, bytes: &[u8]) {
    sim.command(at, A, Do::Send(vec![B], lane, bytes.to_vec()));
}

/// Lets everything happen.
pub(crate) fn finish(sim: &mut Sim<Probe>) {
    while sim.step() {}
}

/// The first byte of each message that arrived.
pub(crate) fn heard(sim: &Sim<Probe>, at: Address) -> Vec<u8> {
    arrivals(sim, at).into_iter().map(|it| it.1[0]).collect()
}

/// When messages arrived, and their bytes.
pub(crate) fn arrivals(sim: &Sim<Probe>, at: Address) -> Vec<(Time, Vec<u8>)> {
    let heard = sim.machine(at).heard.iter();
    heard.filter_map(|(now, it)| Some((*now, bytes_of(it)?))).collect()
}

fn bytes_of(input: &Input<Bytes, ()>) -> Option<Vec<u8>> {
    match input {
        Input::Recv { msg, .. } => Some(msg.0.clone()),
        _ => None,
    }
}

/// What a machine heard, as text: one line per input.
pub(crate) fn story(sim: &Sim<Probe>, at: Address) -> Vec<String> {
    let line = |(now, input): &(Time, Input<Bytes, ()>)| match input {
        Input::LinkUp { peer, link } => format!("{} up {} #{}", now.as_millis(), peer.0, link.0),
        Input::LinkDown { peer, link } => format!("{} down {} #{}", now.as_millis(), peer.0, link.0),
        Input::Recv { from, link, msg } => {
            format!("{} recv {} #{} {:?}", now.as_millis(), from.0, link.0, msg.0)
        }
        Input::Wake => format!("{} wake", now.as_millis()),
        Input::Command(()) => unreachable!("commands are not written down"),
    };
    sim.machine(at).heard.iter().map(line).collect()
}
