//! The echo workload: pairs of machines that throw one message back and forth, for ever.
//!
//! It measures the simulator and nothing else: the machines do next to nothing. Benchmarks and tests
//! share it, so that the timed code is the tested code. Run `ecumene bench sim`.

use crate::{Profile, Sim};
use machine::{Input, Lane, LatestKey, Machine, Outbox, Span, Time};
use wire::{DecodeError, Message};

/// The length of a message, in bytes: about a pose with its header.
const BALL_LEN: usize = 32;

// The link between the two of a pair: a good home connection.
const DELAY: Span = Span::from_millis(10);
const JITTER: Span = Span::from_millis(5);

/// The message that goes back and forth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ball {
    /// Number of times that the message was sent.
    pub throws: u64,
    /// Padding up to the size of a pose; its first byte is the number of the ball.
    pub filling: [u8; BALL_LEN - 8],
}

impl Message for Ball {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.throws.to_le_bytes());
        out.extend_from_slice(&self.filling);
    }

    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let (throws, rest) = bytes.split_first_chunk().ok_or(DecodeError::TooShort)?;
        let (&filling, rest) = rest.split_first_chunk().ok_or(DecodeError::TooShort)?;
        let ball = Self { throws: u64::from_le_bytes(*throws), filling };
        if rest.is_empty() { Ok(ball) } else { Err(DecodeError::TrailingBytes) }
    }
}

/// A machine that answers each message.
#[derive(Clone, Debug)]
pub struct Echo {
    /// The number of balls that it sends to each new peer.
    opens: u64,
    heard: u64,
}

impl Echo {
    /// A machine that sends `balls` balls to each peer whose link comes up.
    pub const fn opening(balls: u64) -> Self {
        Self { opens: balls, heard: 0 }
    }

    /// A machine that only answers what it receives.
    pub const fn answering() -> Self {
        Self::opening(0)
    }

    /// The number of messages that reached this machine.
    pub const fn heard(&self) -> u64 {
        self.heard
    }
}

impl Machine for Echo {
    type Msg = Ball;
    type Command = ();
    type Event = ();

    fn handle(&mut self, _: Time, input: Input<Ball, ()>, out: &mut Outbox<Ball, ()>) {
        match input {
            Input::LinkUp { peer, .. } => (0..self.opens).for_each(|number| {
                let ball = Ball { throws: 1, filling: [number as u8; _] };
                out.send(peer, Lane::Latest(LatestKey(number)), ball);
            }),
            Input::Recv { from, msg, .. } => {
                self.heard += 1;
                let key = LatestKey(u64::from(msg.filling[0]));
                out.send(from, Lane::Latest(key), Ball { throws: msg.throws + 1, ..msg });
            }
            Input::Command(()) | Input::LinkDown { .. } | Input::Wake => (),
        }
    }

    fn deadline(&self) -> Option<Time> {
        None
    }
}

/// The result of one run of the workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EchoReport {
    /// Number of inputs that reached machines.
    pub events: u64,
    /// The history hash of the run.
    pub history: u64,
}

/// Runs `pairs` pairs, one ball each, until `events` inputs reached machines. With no pair there is
/// nothing to run.
pub fn run(seed: u64, pairs: u32, events: u64) -> EchoReport {
    let mut sim = Sim::new(seed);
    for _ in 0..pairs {
        let (a, b) = (sim.add(Echo::opening(1)), sim.add(Echo::answering()));
        sim.connect(a, b, Profile::new(DELAY).with_jitter(JITTER));
    }
    while sim.events() < events && sim.step() {}
    EchoReport { events: sim.events(), history: sim.history() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_ball_survives_the_wire(throws: u64, filling: [u8; BALL_LEN - 8]) {
            let (ball, mut bytes) = (Ball { throws, filling }, Vec::new());
            ball.encode(&mut bytes);
            prop_assert_eq!(Ball::decode(&bytes), Ok(ball));
            prop_assert!(Ball::decode(&bytes[1..]).is_err());
        }
    }

    #[test]
    fn it_stops_after_the_given_number_of_events() {
        assert_eq!(run(1, 3, 100).events, 100);
        assert_eq!(run(1, 0, 100).events, 0);
    }
}
