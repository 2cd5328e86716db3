//! Fake links: messages wait in a queue per direction until the table lets them pass.

use machine::{Address, LinkNumber};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use zone::{FromPlayer, ZoneMsg};

/// A message that waits on a link.
#[derive(Clone, Debug)]
pub struct QueuedMsg {
    /// Rises over all links: the order in which messages were sent.
    pub order: u64,
    pub link: LinkNumber,
    pub msg: ZoneMsg,
    /// True if the message passes by itself as soon as it is the first: the table hides its kind.
    pub passes: bool,
}

/// One direction of a link: the addresses of sender and receiver.
pub type LinkDirection = (Address, Address);

/// All links of a bench, with the messages that wait on them.
#[derive(Debug, Default)]
pub struct FakeLinks {
    queues: BTreeMap<LinkDirection, VecDeque<QueuedMsg>>,
    numbers: BTreeMap<LinkDirection, LinkNumber>,
    /// The number of links made so far: each gets the next number.
    made: u64,
    cut: BTreeSet<LinkDirection>,
    /// True if all messages pass by themselves.
    pub flow: bool,
    /// The number of messages sent so far.
    sent: u64,
}

/// The key of a link: the same for both directions.
fn both(one: Address, other: Address) -> LinkDirection {
    (one.min(other), one.max(other))
}

impl FakeLinks {
    /// No links yet; messages on later links pass by themselves.
    pub fn flowing() -> Self {
        Self { flow: true, ..Self::default() }
    }

    /// The link between two machines, if there is one.
    pub fn number(&self, one: Address, other: Address) -> Option<LinkNumber> {
        self.numbers.get(&both(one, other)).copied()
    }

    /// Makes a new link, with the next number.
    pub fn connect(&mut self, one: Address, other: Address) -> LinkNumber {
        self.made += 1;
        self.numbers.insert(both(one, other), LinkNumber(self.made));
        LinkNumber(self.made)
    }

    /// Ends a link, if there is one. The messages on it are lost.
    pub fn disconnect(&mut self, one: Address, other: Address) -> Option<LinkNumber> {
        self.drop_all((one, other));
        self.drop_all((other, one));
        self.numbers.remove(&both(one, other))
    }

    /// Puts a message into its queue. Returns whether the same message waits there already, or there is no link: then
    /// the table shows no line. A repeated request to enter is not queued, since players repeat it all the time.
    pub fn push(&mut self, direction: LinkDirection, msg: ZoneMsg, passes: bool) -> bool {
        let Some(link) = self.number(direction.0, direction.1) else { return true };
        let queue = self.queues.entry(direction).or_default();
        let repeated = queue.iter().any(|it| it.msg == msg);
        if repeated && matches!(msg, ZoneMsg::FromPlayer(FromPlayer::Enter { .. })) {
            return true;
        }
        self.sent += 1;
        queue.push_back(QueuedMsg { order: self.sent, link, msg, passes });
        repeated
    }

    /// The direction whose first message was sent earliest, among those that may pass.
    pub fn next(&self, may_pass: impl Fn(LinkDirection, &QueuedMsg) -> bool) -> Option<LinkDirection> {
        let open = self.queues.iter().filter(|it| !self.cut.contains(it.0));
        let first = open.filter_map(|(&direction, queue)| Some((queue.front()?, direction)));
        let ready = first.filter(|(waiting, direction)| may_pass(*direction, waiting));
        ready.min_by_key(|it| it.0.order).map(|it| it.1)
    }

    pub fn pop(&mut self, direction: LinkDirection) -> Option<QueuedMsg> {
        self.queues.get_mut(&direction)?.pop_front()
    }

    pub fn len(&self, direction: LinkDirection) -> usize {
        self.queues.get(&direction).map_or(0, VecDeque::len)
    }

    pub fn drop_all(&mut self, direction: LinkDirection) {
        self.queues.remove(&direction);
    }

    pub fn cut(&mut self, direction: LinkDirection) {
        self.cut.insert(direction);
    }

    pub fn mend(&mut self, direction: LinkDirection) {
        self.cut.remove(&direction);
    }

    pub fn is_cut(&self, direction: LinkDirection) -> bool {
        self.cut.contains(&direction)
    }
}
