//! The way out of a peer: what may be sent now by the budget, and what was sent so far.

use crate::broken;
use crate::config::Config;
use crate::msg::Msg;
use crate::rule::Rule;
use crate::uplink::{HEADERS, Uplink, Weight};
use machine::{Address, Lane, LatestKey, Time};
use wire::Message as _;

/// What a peer has sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Messages by kind.
    pub messages: [u64; Msg::KINDS.len()],
    /// Their bytes by the paper's sizes.
    pub paper: [u64; Msg::KINDS.len()],
    /// Their bytes as they are.
    pub wire: [u64; Msg::KINDS.len()],
    /// How many were held back, because too much had been sent.
    pub held: u64,
}

impl Sent {
    /// All bytes on the line: as they are, and their headers.
    pub fn line(&self) -> u64 {
        self.wire.iter().sum::<u64>() + u64::from(HEADERS) * self.messages.iter().sum::<u64>()
    }

    fn add(&mut self, msg: &Msg, bytes: u64, copies: u64) {
        let kind = msg.kind();
        self.messages[kind] += copies;
        self.paper[kind] += copies * msg.paper_bytes() as u64;
        self.wire[kind] += copies * bytes;
    }
}

/// The uplink with its budget and its accounts.
pub(crate) struct Line {
    uplink: Option<Uplink>,
    counts_greetings: bool,
    sent: Sent,
    keys: u64,
    scratch: Vec<u8>,
}

impl Line {
    pub fn new(config: &Config) -> Self {
        Self {
            uplink: config.uplink.map(Uplink::within),
            counts_greetings: config.enforces(Rule::CountGreetings),
            sent: Sent::default(),
            keys: 0,
            scratch: Vec::new(),
        }
    }

    /// A lane of its own for a datagram: no later message replaces it.
    pub const fn next_lane(&mut self) -> Lane {
        self.keys += 1;
        Lane::Latest(LatestKey(self.keys))
    }

    /// Takes a message for an audience out of the budget and counts it. Returns the part of the audience for which the budget
    /// is enough: the message must be sent to these, and to no others.
    #[must_use = "what is charged must be sent"]
    pub fn charge(&mut self, now: Time, weight: Weight, mut to: Vec<Address>, msg: &Msg) -> Vec<Address> {
        self.scratch.clear();
        msg.encode(&mut self.scratch);
        let bytes = self.scratch.len() as u64;
        if let Some(uplink) = &mut self.uplink {
            let asked = to.len();
            to.retain(|_| uplink.take(now, bytes + u64::from(HEADERS), weight));
            self.sent.held += (asked - to.len()) as u64;
        }
        let copies = if self.counts_greetings { to.len() } else { broken::counted(msg, to.len()) };
        self.sent.add(msg, bytes, copies as u64);
        to
    }

    pub const fn sent(&self) -> &Sent {
        &self.sent
    }
}
