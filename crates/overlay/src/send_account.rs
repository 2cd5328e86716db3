//! The account of sent messages: what the budget allows now, and what was sent so far.

use crate::broken;
use crate::config::PeerConfig;
use crate::msg::OverlayMsg;
use crate::rule::OverlayRule;
use crate::uplink::{HEADERS, SendPriority, Uplink};
use machine::{Address, Lane, LatestKey, Time};
use wire::Message as _;

/// Messages and bytes that a peer has sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SentTraffic {
    /// Number of messages by kind.
    pub messages: [u64; OverlayMsg::KINDS.len()],
    /// Bytes by kind, by the paper's sizes.
    pub paper: [u64; OverlayMsg::KINDS.len()],
    /// Bytes by kind, in our encoding.
    pub wire: [u64; OverlayMsg::KINDS.len()],
    /// Number of messages that the budget held back.
    pub held_back: u64,
}

impl SentTraffic {
    /// All bytes in our encoding, headers included.
    pub fn bytes_with_headers(&self) -> u64 {
        self.wire.iter().sum::<u64>() + u64::from(HEADERS) * self.messages.iter().sum::<u64>()
    }

    fn add(&mut self, msg: &OverlayMsg, bytes: u64, copies: u64) {
        let kind = msg.kind();
        self.messages[kind] += copies;
        self.paper[kind] += copies * msg.paper_bytes() as u64;
        self.wire[kind] += copies * bytes;
    }
}

/// The uplink of a peer with its budget and its counts.
pub(crate) struct SendAccount {
    uplink: Option<Uplink>,
    counts_greetings: bool,
    sent: SentTraffic,
    keys: u64,
    scratch: Vec<u8>,
}

impl SendAccount {
    pub fn new(config: &PeerConfig) -> Self {
        Self {
            uplink: config.uplink.map(Uplink::within),
            counts_greetings: config.enforces(OverlayRule::CountGreetings),
            sent: SentTraffic::default(),
            keys: 0,
            scratch: Vec::new(),
        }
    }

    /// A fresh lane for one datagram, so that no later message replaces it.
    pub const fn next_lane(&mut self) -> Lane {
        self.keys += 1;
        Lane::Latest(LatestKey(self.keys))
    }

    /// Charges a message for some receivers to the budget and counts it. Returns the receivers for which the budget is
    /// enough: the message must be sent to these, and to no others.
    #[must_use = "what is charged must be sent"]
    pub fn charge(
        &mut self,
        now: Time,
        priority: SendPriority,
        mut to: Vec<Address>,
        msg: &OverlayMsg,
    ) -> Vec<Address> {
        self.scratch.clear();
        // Encoded for its size only.
        msg.encode(&mut self.scratch);
        let bytes = self.scratch.len() as u64;
        if let Some(uplink) = &mut self.uplink {
            let asked = to.len();
            to.retain(|_| uplink.take(now, bytes + u64::from(HEADERS), priority));
            self.sent.held_back += (asked - to.len()) as u64;
        }
        let copies = if self.counts_greetings { to.len() } else { broken::counted(msg, to.len()) };
        self.sent.add(msg, bytes, copies as u64);
        to
    }

    pub const fn sent(&self) -> &SentTraffic {
        &self.sent
    }
}
