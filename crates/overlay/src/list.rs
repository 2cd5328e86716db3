//! Whom a peer knows, and the diagram of their places.

use crate::config::LIST_MAX;
use crate::info::Info;
use crate::msg::Knows;
use crate::rule::Rule;
use crate::uplink::Bucket;
use machine::{Address, Span, Time};
use space::{Distance, Position, Voronoi};
use std::collections::BTreeMap;

/// So many messages of one peer are heard per second, and so many at once: three times what a game with twenty moves per
/// second needs.
const PATIENCE: u64 = 60;

/// So many are heard at once of somebody new: whoever leaves and comes back is not heard more than others.
const FIRST_WORDS: u64 = 10;

/// Somebody who was told of another and does not seem to know them is told again soon: it got lost, or came a moment too
/// early. After that they are told now and then: most likely they see better than we that they do not matter to each other.
const TELL_AGAIN: Span = Span::from_millis(600);
const TELL_ONCE_MORE: Span = Span::from_secs(6);

/// Hearsay of somebody may be so many moves ahead of their own first word: datagrams overtake each other.
const AHEAD: u32 = 16;

/// Somebody in the list.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Who, as last heard.
    pub info: Info,
    /// Whether they matter to us.
    pub want: bool,
    /// Whether we matter to them, by their word.
    pub wanted: bool,
    /// When they were heard last, themselves.
    pub heard: Time,
    /// Whether they were ever heard, themselves.
    pub met: bool,
    /// When they were heard last to have moved.
    pub moved: Time,
    /// Whether they have proven who they are.
    pub proven: bool,
    /// Since when they are in the list.
    pub(crate) since: Time,
    /// How long their last step was, if it was a long one.
    pub(crate) stride: Distance,
    /// Whether they have said that they are heard less often.
    pub(crate) sparse: bool,
    /// When we told them last where we are, and whether we said that they will hear us less often.
    pub(crate) told_at: Time,
    pub(crate) told_sparse: bool,
    /// How much we listen to them.
    pub(crate) patience: Bucket,
    /// When they were asked whether they are there.
    pub(crate) pinged: Option<Time>,
    /// Since when they do not matter to us.
    pub(crate) idle_since: Option<Time>,
    /// When they were greeted last; `None` once they answered.
    pub(crate) greeted: Option<Time>,
    /// When their greeting was answered last.
    pub(crate) answered: Option<Time>,
    /// Whom they know, by their word.
    pub(crate) knows: Knows,
    /// Those whose regions touch theirs, by their word.
    pub(crate) enclosing: Vec<Address>,
    /// Those whose regions touched theirs when they moved last, as we saw it.
    pub(crate) touched: Vec<Address>,
    /// Whom we told them of lately.
    pub(crate) told: BTreeMap<Address, Told>,
    /// Whether they have said yet that they are in.
    pub(crate) joining: bool,
}

/// When somebody was told of another, and whether that was not the first time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told {
    at: Time,
    again: bool,
}

impl Entry {
    pub(crate) fn new(info: Info, now: Time) -> Self {
        Self {
            info,
            want: true,
            wanted: false,
            heard: now,
            met: false,
            moved: now,
            proven: false,
            since: now,
            stride: Distance::ZERO,
            sparse: false,
            told_at: Time::ZERO,
            told_sparse: false,
            patience: Bucket::new(PATIENCE, PATIENCE).with(FIRST_WORDS, now),
            pinged: None,
            idle_since: None,
            greeted: None,
            answered: None,
            knows: Knows::default(),
            enclosing: Vec::new(),
            touched: Vec::new(),
            told: BTreeMap::new(),
            joining: false,
        }
    }
}

impl Entry {
    /// Whether they should be told of somebody: they do not seem to know them, and were not told lately.
    pub(crate) fn lacks(&self, now: Time, other: &Info) -> bool {
        let apart = other.position.distance_squared(self.info.position);
        self.knows.lacks(other.short(), apart)
            && self.told.get(&other.address).is_none_or(|it| it.is_over(now))
    }

    /// They are told of these now.
    pub(crate) fn tell_of(&mut self, now: Time, others: &[Info]) {
        self.told.retain(|_, it| now.since(it.at) < TELL_ONCE_MORE + TELL_ONCE_MORE);
        for other in others {
            let again = self.told.contains_key(&other.address);
            self.told.insert(other.address, Told { at: now, again });
        }
    }
}

impl Told {
    fn is_over(self, now: Time) -> bool {
        let wait = if self.again { TELL_ONCE_MORE } else { TELL_AGAIN };
        wait <= now.since(self.at)
    }
}

/// The list, and oneself, in one diagram.
#[derive(Debug, Default)]
pub struct List {
    entries: BTreeMap<Address, Entry>,
    diagram: Voronoi<Address>,
    broken: Option<Rule>,
}

impl List {
    /// Without anybody.
    pub fn new(broken: Option<Rule>) -> Self {
        Self { broken, ..Self::default() }
    }

    /// The diagram of everybody known and oneself.
    pub const fn diagram(&self) -> &Voronoi<Address> {
        &self.diagram
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn get(&self, address: Address) -> Option<&Entry> {
        self.entries.get(&address)
    }

    pub fn get_mut(&mut self, address: Address) -> Option<&mut Entry> {
        self.entries.get_mut(&address)
    }

    pub fn iter(&self) -> impl Iterator<Item = (Address, &Entry)> {
        self.entries.iter().map(|(&address, it)| (address, it))
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = (Address, &mut Entry)> {
        self.entries.iter_mut().map(|(&address, it)| (address, it))
    }

    /// Where oneself is.
    pub fn place_me(&mut self, me: Address, position: Position) {
        self.diagram.put(me, position);
    }

    /// Somebody new, unless the list is full.
    pub fn insert(&mut self, entry: Entry) {
        if LIST_MAX <= self.entries.len() {
            return;
        }
        self.diagram.put(entry.info.address, entry.info.position);
        self.entries.insert(entry.info.address, entry);
    }

    /// Somebody known is elsewhere.
    pub fn update(&mut self, info: &Info) {
        if let Some(it) = self.entries.get_mut(&info.address)
            && (info.is_newer_than(&it.info) || self.broken == Some(Rule::NewestWins))
        {
            it.info = *info;
            self.diagram.put(info.address, info.position);
        }
    }

    /// Somebody says themselves where they are, for the first time. What others have said of them may be a little later, but
    /// not of a time that they have not lived.
    pub fn begin(&mut self, info: &Info) {
        let Some(it) = self.entries.get_mut(&info.address) else { return };
        let latest = (info.life, info.sequence.saturating_add(AHEAD));
        if latest < (it.info.life, it.info.sequence) {
            it.info = *info;
            self.diagram.put(info.address, info.position);
        } else {
            self.update(info);
        }
    }

    pub fn remove(&mut self, address: Address) -> Option<Entry> {
        self.diagram.remove(address);
        self.entries.remove(&address)
    }

    /// Whether two of the diagram matter to each other: their regions touch, the one's region meets what the other sees, or
    /// they stand within view of each other.
    pub fn matter(&self, (a, sees_a): (Address, Distance), (b, sees_b): (Address, Distance)) -> bool {
        let (Some(at_a), Some(at_b)) = (self.diagram.place(a), self.diagram.place(b)) else { return false };
        at_a.is_within(sees_a.max(sees_b), at_b)
            || self.diagram.are_enclosing(a, b)
            || self.is_met(b, (at_a, sees_a))
            || self.is_met(a, (at_b, sees_b))
    }

    /// Whether somebody's region meets what another one of the diagram sees. Where it does is nearer to the former than to the
    /// latter, so they are at most two views apart: most are farther, and need no second look.
    pub fn is_met(&self, who: Address, (viewer, sees): (Position, Distance)) -> bool {
        let twice = u64::from(sees.millimetres()) * 2;
        let near = self.diagram.place(who).is_some_and(|it| it.distance_squared(viewer) <= twice.pow(2));
        near && self.diagram.meets(who, viewer, sees)
    }
}
