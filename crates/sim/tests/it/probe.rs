//! A machine that carries out commands and records its inputs.

use machine::{Address, Input, Lane, LatestKey, Machine, Outbox, Span, Time};
use sim::{Profile, Sim};
use wire::{DecodeError, Message};

/// Any bytes but those that start with [`GARBAGE`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProbeMessage(pub(crate) Vec<u8>);

/// No message starts with this.
pub(crate) const GARBAGE: u8 = 0xff;

impl Message for ProbeMessage {
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

/// The commands of a probe.
#[derive(Clone, Debug, Hash)]
pub(crate) enum ProbeCommand {
    Send(Vec<Address>, Lane, Vec<u8>),
    SetDeadline(Option<Time>),
    Raise(u32),
}

/// Records each input with its time.
#[derive(Debug, Default)]
pub(crate) struct ProbeMachine {
    pub(crate) deadline: Option<Time>,
    /// Carried out at every wake, without a command that would enter the history.
    pub(crate) on_wake: Option<ProbeCommand>,
    pub(crate) heard: Vec<(Time, Input<ProbeMessage, ()>)>,
}

impl Machine for ProbeMachine {
    type Msg = ProbeMessage;
    type Command = ProbeCommand;
    type Event = u32;

    fn handle(
        &mut self,
        now: Time,
        input: Input<ProbeMessage, ProbeCommand>,
        out: &mut Outbox<ProbeMessage, u32>,
    ) {
        let heard = match input {
            Input::Command(command) => return self.obey(command, out),
            Input::LinkUp { peer, link } => Input::LinkUp { peer, link },
            Input::LinkDown { peer, link } => Input::LinkDown { peer, link },
            Input::Recv { from, link, msg } => Input::Recv { from, link, msg },
            Input::Wake => Input::Wake,
        };
        if heard == Input::Wake {
            self.deadline = self.deadline.filter(|&at| now < at);
            self.on_wake.clone().into_iter().for_each(|command| self.obey(command, out));
        }
        self.heard.push((now, heard));
    }

    fn deadline(&self) -> Option<Time> {
        self.deadline
    }
}

impl ProbeMachine {
    fn obey(&mut self, command: ProbeCommand, out: &mut Outbox<ProbeMessage, u32>) {
        match command {
            ProbeCommand::Send(to, lane, bytes) => out.send_many(to, lane, ProbeMessage(bytes)),
            ProbeCommand::SetDeadline(at) => self.deadline = at,
            ProbeCommand::Raise(event) => out.raise(event),
        }
    }
}

pub(crate) const A: Address = Address(0);
pub(crate) const B: Address = Address(1);
pub(crate) const C: Address = Address(2);

/// Three probes; the first is linked to both others.
pub(crate) fn trio(seed: u64, profile: Profile) -> Sim<ProbeMachine> {
    let mut sim = Sim::new(seed);
    assert_eq!([A, B, C].map(|_| sim.add(ProbeMachine::default())), [A, B, C]);
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
pub(crate) fn send(sim: &mut Sim<ProbeMachine>, at: Time, lane: Lane, bytes: &[u8]) {
    sim.command(at, A, ProbeCommand::Send(vec![B], lane, bytes.to_vec()));
}

/// Runs the simulation until nothing is left to do.
pub(crate) fn finish(sim: &mut Sim<ProbeMachine>) {
    while sim.step() {}
}

/// The first byte of each message that arrived.
pub(crate) fn heard(sim: &Sim<ProbeMachine>, at: Address) -> Vec<u8> {
    arrivals(sim, at).into_iter().map(|it| it.1[0]).collect()
}

/// The messages that reached a machine: time and bytes.
pub(crate) fn arrivals(sim: &Sim<ProbeMachine>, at: Address) -> Vec<(Time, Vec<u8>)> {
    let heard = sim.machine(at).heard.iter();
    heard.filter_map(|(now, it)| Some((*now, bytes_of(it)?))).collect()
}

fn bytes_of(input: &Input<ProbeMessage, ()>) -> Option<Vec<u8>> {
    match input {
        Input::Recv { msg, .. } => Some(msg.0.clone()),
        _ => None,
    }
}

/// The inputs of a machine as text, one line each.
pub(crate) fn input_lines(sim: &Sim<ProbeMachine>, at: Address) -> Vec<String> {
    let line = |(now, input): &(Time, Input<ProbeMessage, ()>)| match input {
        Input::LinkUp { peer, link } => format!("{} up {} #{}", now.as_millis(), peer.0, link.0),
        Input::LinkDown { peer, link } => format!("{} down {} #{}", now.as_millis(), peer.0, link.0),
        Input::Recv { from, link, msg } => {
            format!("{} recv {} #{} {:?}", now.as_millis(), from.0, link.0, msg.0)
        }
        Input::Wake => format!("{} wake", now.as_millis()),
        Input::Command(()) => unreachable!("commands are not recorded"),
    };
    sim.machine(at).heard.iter().map(line).collect()
}
