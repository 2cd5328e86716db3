//! What a machine wants done, in order, in buffers that the driver owns and reuses.

use crate::{Address, Lane};

/// Collects a machine's effects. The driver owns it, drains it after every `handle`, and keeps its
/// buffers, so that the steady state allocates nothing.
#[derive(Debug)]
pub struct Outbox<M, E> {
    entries: Vec<Entry<M, E>>,
    /// The audiences of all sends, one after the other.
    audiences: Vec<Address>,
}

#[derive(Debug)]
enum Entry<M, E> {
    /// The audience is `audiences[previous end..end]`.
    Send {
        end: usize,
        lane: Lane,
        msg: M,
    },
    Raise(E),
}

/// One thing to do, as [`Outbox::drain`] hands it to the driver.
#[derive(Debug, PartialEq, Eq)]
pub enum Effect<'a, M, E> {
    /// Send `msg` to everyone in `to`; encode it once.
    Send {
        /// The audience, never empty.
        to: &'a [Address],
        /// How it must travel.
        lane: Lane,
        /// What to send.
        msg: M,
    },
    /// Tell the owner.
    Raise(E),
}

impl<M, E> Default for Outbox<M, E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M, E> Outbox<M, E> {
    /// An empty outbox.
    pub const fn new() -> Self {
        Self { entries: Vec::new(), audiences: Vec::new() }
    }

    /// Sends `msg` to one peer.
    pub fn send(&mut self, to: Address, lane: Lane, msg: M) {
        self.send_many([to], lane, msg);
    }

    /// Sends `msg` to many peers; it is encoded once. An empty audience sends nothing.
    pub fn send_many(&mut self, to: impl IntoIterator<Item = Address>, lane: Lane, msg: M) {
        let start = self.audiences.len();
        self.audiences.extend(to);
        let end = self.audiences.len();
        if start < end {
            self.entries.push(Entry::Send { end, lane, msg });
        }
    }

    /// Tells the owner something, or asks its disk or directory for something.
    pub fn raise(&mut self, event: E) {
        self.entries.push(Entry::Raise(event));
    }

    /// How many effects wait.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Hands every effect to `visit`, in the order they were pushed, and leaves the outbox empty with
    /// its buffers kept.
    pub fn drain(&mut self, mut visit: impl FnMut(Effect<'_, M, E>)) {
        let mut start = 0;
        for entry in self.entries.drain(..) {
            match entry {
                Entry::Send { end, lane, msg } => {
                    visit(Effect::Send { to: &self.audiences[start..end], lane, msg });
                    start = end;
                }
                Entry::Raise(event) => visit(Effect::Raise(event)),
            }
        }
        self.audiences.clear();
    }

    /// The mapping adaptor: runs a part of a composed machine and translates what it pushed.
    ///
    /// `part` is the inner machine's outbox, kept by the composer for its buffers. Messages become the
    /// outer machine's; an event the composer wants for itself is mapped to `None` after it took note.
    ///
    /// Lanes stay as they are. So parts that send `Latest` messages to the same peer need different keys, or they replace
    /// each other's: a host, for one, sets the highest bit in the keys of its poses and in none of its zone's.
    ///
    /// ```
    /// use machine::{Address, Effect, Lane, Outbox};
    /// #[derive(Debug, PartialEq)]
    /// enum HostMsg { Zone(u8) }
    /// let mut zone_out: Outbox<u8, &str> = Outbox::new();
    /// let mut host_out: Outbox<HostMsg, String> = Outbox::new();
    /// zone_out.send(Address(1), Lane::Sure, 42);
    /// zone_out.raise("split me");
    /// host_out.absorb(&mut zone_out, HostMsg::Zone, |event| Some(event.to_owned()));
    /// assert!(zone_out.is_empty());
    /// let mut sent = 0;
    /// host_out.drain(|effect| match effect {
    ///     Effect::Send { msg, .. } => { assert_eq!(msg, HostMsg::Zone(42)); sent += 1 }
    ///     Effect::Raise(event) => assert_eq!(event, "split me"),
    /// });
    /// assert_eq!(sent, 1);
    /// ```
    pub fn absorb<M2, E2>(
        &mut self,
        part: &mut Outbox<M2, E2>,
        mut msg_of: impl FnMut(M2) -> M,
        mut event_of: impl FnMut(E2) -> Option<E>,
    ) {
        part.drain(|effect| match effect {
            Effect::Send { to, lane, msg } => self.send_many(to.iter().copied(), lane, msg_of(msg)),
            Effect::Raise(event) => self.entries.extend(event_of(event).map(Entry::Raise)),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LatestKey;

    fn story(out: &mut Outbox<&'static str, u8>) -> Vec<String> {
        let mut lines = Vec::new();
        out.drain(|effect| lines.push(format!("{effect:?}")));
        lines
    }

    #[test]
    fn effects_come_out_in_the_order_they_went_in() {
        let mut out = Outbox::new();
        out.send(Address(1), Lane::Sure, "a");
        out.raise(7);
        out.send_many([Address(2), Address(3)], Lane::Latest(LatestKey(9)), "b");
        out.send_many([], Lane::Sure, "nobody hears this");
        assert_eq!(
            story(&mut out),
            [
                r#"Send { to: [Address(1)], lane: Sure, msg: "a" }"#,
                "Raise(7)",
                r#"Send { to: [Address(2), Address(3)], lane: Latest(LatestKey(9)), msg: "b" }"#,
            ]
        );
        assert!(out.is_empty());
        assert!(story(&mut out).is_empty());
    }

    #[test]
    fn a_composer_can_keep_an_event_for_itself() {
        let mut part: Outbox<u8, &str> = Outbox::new();
        part.raise("for the composer");
        part.send_many([Address(4), Address(5)], Lane::Sure, 1);
        part.raise("for the owner");
        let mut kept = Vec::new();
        let mut whole: Outbox<&'static str, u8> = Outbox::new();
        whole.absorb(
            &mut part,
            |_| "one",
            |event| {
                kept.push(event);
                (event == "for the owner").then_some(1)
            },
        );
        assert_eq!(kept, ["for the composer", "for the owner"]);
        assert_eq!(
            story(&mut whole),
            [r#"Send { to: [Address(4), Address(5)], lane: Sure, msg: "one" }"#, "Raise(1)"]
        );
    }
}
