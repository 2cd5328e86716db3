//! Fake links: messages wait in a queue per direction until the table lets them through.

use machine::{Address, LinkNumber};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use zone::{Msg, Up};

/// A message that waits.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// Rises over all links: the order in which messages were sent.
    pub order: u64,
    pub link: LinkNumber,
    pub msg: Msg,
    /// Whether it passes by itself as soon as nothing is before it: the table does not show its kind.
    pub passes: bool,
}

/// A direction of a link.
pub type Way = (Address, Address);

/// All links.
#[derive(Debug, Default)]
pub struct Links {
    queues: BTreeMap<Way, VecDeque<Waiting>>,
    numbers: BTreeMap<Way, LinkNumber>,
    /// How many links there were.
    made: u64,
    cut: BTreeSet<Way>,
    /// Whether everything passes by itself.
    pub flow: bool,
    sent: u64,
}

/// Both directions have one link.
fn both(one: Address, other: Address) -> Way {
    (one.min(other), one.max(other))
}

impl Links {
    /// No links yet; on those to come everything passes by itself.
    pub fn flowing() -> Self {
        Self { flow: true, ..Self::default() }
    }

    /// The link between two machines, if there is one.
    pub fn number(&self, one: Address, other: Address) -> Option<LinkNumber> {
        self.numbers.get(&both(one, other)).copied()
    }

    /// Makes a new link.
    pub fn connect(&mut self, one: Address, other: Address) -> LinkNumber {
        self.made += 1;
        self.numbers.insert(both(one, other), LinkNumber(self.made));
        LinkNumber(self.made)
    }

    /// Ends a link, if there is one; whatever was under way is lost.
    pub fn disconnect(&mut self, one: Address, other: Address) -> Option<LinkNumber> {
        self.drop_all((one, other));
        self.drop_all((other, one));
        self.numbers.remove(&both(one, other))
    }

    /// Puts a message into its queue. Whether the same message waits there already; a player who asks twice has asked
    /// once.
    pub fn push(&mut self, way: Way, msg: Msg, passes: bool) -> bool {
        let Some(link) = self.number(way.0, way.1) else { return true };
        let queue = self.queues.entry(way).or_default();
        let repeated = queue.iter().any(|it| it.msg == msg);
        if repeated && matches!(msg, Msg::Up(Up::Enter { .. })) {
            return true;
        }
        self.sent += 1;
        queue.push_back(Waiting { order: self.sent, link, msg, passes });
        repeated
    }

    /// The direction whose first message was sent earliest, among those that may pass.
    pub fn next(&self, may_pass: impl Fn(Way, &Waiting) -> bool) -> Option<Way> {
        let open = self.queues.iter().filter(|it| !self.cut.contains(it.0));
        let first = open.filter_map(|(&way, queue)| Some((queue.front()?, way)));
        let ready = first.filter(|(waiting, way)| may_pass(*way, waiting));
        ready.min_by_key(|it| it.0.order).map(|it| it.1)
    }

    pub fn pop(&mut self, way: Way) -> Option<Waiting> {
        self.queues.get_mut(&way)?.pop_front()
    }

    pub fn len(&self, way: Way) -> usize {
        self.queues.get(&way).map_or(0, VecDeque::len)
    }

    pub fn drop_all(&mut self, way: Way) {
        self.queues.remove(&way);
    }

    pub fn cut(&mut self, way: Way) {
        self.cut.insert(way);
    }

    pub fn mend(&mut self, way: Way) {
        self.cut.remove(&way);
    }

    pub fn is_cut(&self, way: Way) -> bool {
        self.cut.contains(&way)
    }
}
