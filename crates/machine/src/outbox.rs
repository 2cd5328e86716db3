//! The outbox: what a machine wants done, in order, in buffers that the driver owns and reuses.

use crate::{Address, Lane};

/// Collects a machine's outputs. The driver owns it, drains it after every `handle`, and keeps its
/// buffers, so that the steady state allocates nothing.
#[derive(Debug)]
pub struct Outbox<M, E> {
    entries: Vec<OutboxEntry<M, E>>,
    /// The recipients of all sends, one after the other.
    recipients: Vec<Address>,
}

#[derive(Debug)]
enum OutboxEntry<M, E> {
    /// The recipients are `recipients[previous end..end]`.
    Send {
        end: usize,
        lane: Lane,
        msg: M,
    },
    Raise(E),
}

/// One thing for the driver to do, as [`Outbox::drain`] hands it out.
#[derive(Debug, PartialEq, Eq)]
pub enum Output<'a, M, E> {
    /// Send `msg` to every address in `to`; encode it once.
    Send {
        /// The recipients, at least one of them.
        to: &'a [Address],
        /// The delivery guarantee it needs.
        lane: Lane,
        /// The message, not yet encoded.
        msg: M,
    },
    /// Hand an event to the program that runs the machine.
    Raise(E),
}

impl<M, E> Default for Outbox<M, E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M, E> Outbox<M, E> {
    /// An outbox without outputs or buffers.
    pub const fn new() -> Self {
        Self { entries: Vec::new(), recipients: Vec::new() }
    }

    /// Sends `msg` to one peer.
    pub fn send(&mut self, to: Address, lane: Lane, msg: M) {
        self.send_many([to], lane, msg);
    }

    /// Sends `msg` to many peers; the driver encodes it once. An empty list of recipients sends nothing.
    pub fn send_many(&mut self, to: impl IntoIterator<Item = Address>, lane: Lane, msg: M) {
        let start = self.recipients.len();
        self.recipients.extend(to);
        let end = self.recipients.len();
        // Why the check: a message without recipients would be encoded for nothing.
        if start < end {
            self.entries.push(OutboxEntry::Send { end, lane, msg });
        }
    }

    /// Reports an event to the program that runs the machine, or asks its disk or directory for something.
    pub fn raise(&mut self, event: E) {
        self.entries.push(OutboxEntry::Raise(event));
    }

    /// The number of outputs that wait.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if no output waits.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Hands every output to `visit`, in the order they were pushed, and leaves the outbox empty with
    /// its buffers kept.
    pub fn drain(&mut self, mut visit: impl FnMut(Output<'_, M, E>)) {
        // Sends are in order, so the recipients of each start where those of the last one end.
        let mut start = 0;
        for entry in self.entries.drain(..) {
            match entry {
                OutboxEntry::Send { end, lane, msg } => {
                    visit(Output::Send { to: &self.recipients[start..end], lane, msg });
                    start = end;
                }
                OutboxEntry::Raise(event) => visit(Output::Raise(event)),
            }
        }
        // Only now: the outputs above borrow from it.
        self.recipients.clear();
    }

    /// The mapping adaptor: runs a part of a composed machine and translates what it pushed.
    ///
    /// `part` is the inner machine's outbox, kept by the composer for its buffers. Messages become the
    /// outer machine's; an event that the composer handles itself is mapped to `None`.
    ///
    /// Lanes stay as they are. So parts that send `Latest` messages to the same peer need different keys, or they
    /// replace each other's: a host, for one, sets the highest bit in the keys of its poses and in none of its zone's.
    ///
    /// ```
    /// use machine::{Address, Output, Lane, Outbox};
    /// #[derive(Debug, PartialEq)]
    /// enum HostMsg { Zone(u8) }
    /// let mut zone_out: Outbox<u8, &str> = Outbox::new();
    /// let mut host_out: Outbox<HostMsg, String> = Outbox::new();
    /// zone_out.send(Address(1), Lane::Sure, 42);
    /// zone_out.raise("split me");
    /// host_out.absorb(&mut zone_out, HostMsg::Zone, |event| Some(event.to_owned()));
    /// assert!(zone_out.is_empty());
    /// let mut sent = 0;
    /// host_out.drain(|output| match output {
    ///     Output::Send { msg, .. } => { assert_eq!(msg, HostMsg::Zone(42)); sent += 1 }
    ///     Output::Raise(event) => assert_eq!(event, "split me"),
    /// });
    /// assert_eq!(sent, 1);
    /// ```
    pub fn absorb<M2, E2>(
        &mut self,
        part: &mut Outbox<M2, E2>,
        mut msg_of: impl FnMut(M2) -> M,
        mut event_of: impl FnMut(E2) -> Option<E>,
    ) {
        part.drain(|output| match output {
            Output::Send { to, lane, msg } => self.send_many(to.iter().copied(), lane, msg_of(msg)),
            // Why not `raise`: an event that is mapped to `None` adds nothing.
            Output::Raise(event) => self.entries.extend(event_of(event).map(OutboxEntry::Raise)),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LatestKey;

    fn printed(out: &mut Outbox<&'static str, u8>) -> Vec<String> {
        let mut lines = Vec::new();
        out.drain(|output| lines.push(format!("{output:?}")));
        lines
    }

    #[test]
    fn outputs_come_out_in_the_order_they_went_in() {
        let mut out = Outbox::new();
        out.send(Address(1), Lane::Sure, "a");
        out.raise(7);
        out.send_many([Address(2), Address(3)], Lane::Latest(LatestKey(9)), "b");
        out.send_many([], Lane::Sure, "without recipients");
        assert_eq!(
            printed(&mut out),
            [
                r#"Send { to: [Address(1)], lane: Sure, msg: "a" }"#,
                "Raise(7)",
                r#"Send { to: [Address(2), Address(3)], lane: Latest(LatestKey(9)), msg: "b" }"#,
            ]
        );
        assert!(out.is_empty());
        assert!(printed(&mut out).is_empty());
    }

    #[test]
    fn a_composer_can_keep_an_event_for_itself() {
        let mut part: Outbox<u8, &str> = Outbox::new();
        part.raise("for the composer");
        part.send_many([Address(4), Address(5)], Lane::Sure, 1);
        part.raise("for the program");
        let mut kept = Vec::new();
        let mut whole: Outbox<&'static str, u8> = Outbox::new();
        whole.absorb(
            &mut part,
            |_| "one",
            |event| {
                kept.push(event);
                (event == "for the program").then_some(1)
            },
        );
        assert_eq!(kept, ["for the composer", "for the program"]);
        assert_eq!(
            printed(&mut whole),
            [r#"Send { to: [Address(4), Address(5)], lane: Sure, msg: "one" }"#, "Raise(1)"]
        );
    }
}
