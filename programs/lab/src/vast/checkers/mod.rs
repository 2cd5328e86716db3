//! What must hold in every run, whatever gets lost and whoever comes and goes: one file per rule.
//!
//! | rule | file | what must hold |
//! |---|---|---|
//! | I1 | `lists` | nobody has oneself in the list, or somebody whose life is long over |
//! | I2 | `sequence` | what is known of somebody never gets older |
//! | I3 | `links` | whoever wants to hear somebody is known by them as one who does |
//! | I4 | `enclosing` | everybody knows those whose regions touch theirs |
//! | I5 | `view` | everybody knows those in view |
//! | I6 | `whole` | the overlay is in one piece |
//! | I7 | `lean` | nobody stays in a list who does not matter |
//! | I8 | `routing` | a search ends at whoever is nearest |
//! | I10 | `accounts` | peers send what they say, and no more than they may |
//!
//! I9, that at rest every list is exactly right, is `exact_after` of a run; I11, one seed and one history, and I12, that the
//! paper's overlay breaks the rules, are tests.
//!
//! The world takes a [`Look`] every second for a few seconds before each sample. Most rules may be broken for a moment: what
//! counts is what is wrong in every look of a span (`lasting`). The spans stand in `bounds`. What happened that excuses a
//! peer for a while is in `past`. The checkers read and never touch: a run with them has the same history as one without.

mod accounts;
mod bounds;
mod enclosing;
mod lasting;
mod lean;
mod links;
mod lists;
mod past;
mod routing;
mod sequence;
mod view;
mod violations;
mod whole;

pub use bounds::Bounds;
pub use violations::{Violation, Violations};

use super::network::Sitting;
use super::oracle::{components, relevant};
use super::world::Case;
use machine::{Address, Rng, Span, Time};
use overlay::{Config, Peer};
use past::Past;
use space::{Position, Voronoi};
use std::collections::{BTreeMap, BTreeSet};

/// Between two looks.
pub const EVERY: Span = Span::from_secs(1);

/// The looks of a sample begin this long before it. More would cost more than a few hundredths of a run.
const BEFORE: Span = Span::from_secs(7);

/// Everything that checkers see at one moment.
struct Look<'a> {
    now: Time,
    sitting: &'a BTreeMap<Address, Sitting<'a>>,
    /// Everybody's true place.
    truth: &'a Voronoi<Address>,
    /// Whom everybody should know.
    relevant: BTreeMap<Address, BTreeSet<Address>>,
    /// The parts in which the overlay is, the largest first.
    parts: &'a [Vec<Address>],
    /// Those who knew somebody who vanished and may not have noticed yet, and those who were cut off from most others.
    stirred: BTreeSet<Address>,
    past: &'a Past,
    bounds: &'a Bounds,
}

impl Look<'_> {
    /// Whether neither of two has an excuse.
    fn are_calm(&self, one: Address, other: Address) -> bool {
        [one, other].iter().all(|it| !self.stirred.contains(it) && !self.is_crowded(*it))
    }

    /// Whether somebody is in a crowd: words come so much more rarely there that the looks are too few to judge.
    fn is_crowded(&self, who: Address) -> bool {
        self.sitting.get(&who).is_some_and(|it| it.peer.is_in_crowd())
    }

    /// Those who should know somebody and do not, without an excuse.
    fn unknown(&self) -> impl Iterator<Item = (Address, Address)> {
        let pairs = self.relevant.iter().flat_map(|(&who, all)| all.iter().map(move |&of| (who, of)));
        let is_known = |who: Address, of: Address| self.sitting[&who].peer.entry(of).is_some();
        pairs.filter(move |&(who, of)| !is_known(who, of) && self.are_calm(who, of))
    }
}

/// Watches a run.
pub struct Watch {
    config: Config,
    bounds: Bounds,
    past: Past,
    sequence: sequence::Sequence,
    links: links::Links,
    enclosing: enclosing::Enclosing,
    view: view::View,
    whole: whole::Whole,
    lean: lean::Lean,
    routing: routing::Routing,
    accounts: accounts::Accounts,
    violations: Violations,
    looked: Time,
    /// Everybody's true place, while looks go on.
    truth: Voronoi<Address>,
}

impl Watch {
    /// Watches a run of this case.
    pub fn new(case: &Case) -> Self {
        Self {
            config: case.config,
            bounds: Bounds::of(&case.config, &case.line, &case.ground),
            past: Past::default(),
            sequence: sequence::Sequence::default(),
            links: links::Links::default(),
            enclosing: enclosing::Enclosing::default(),
            view: view::View::default(),
            whole: whole::Whole::default(),
            lean: lean::Lean::default(),
            routing: routing::Routing::new(case.ground, Rng::seeded(case.seed)),
            accounts: accounts::Accounts::new(case.config.uplink.map(u64::from)),
            violations: Violations::default(),
            looked: Time::ZERO,
            truth: Voronoi::new(),
        }
    }

    /// Whether to look now, so long before the next sample.
    pub fn is_due(&self, now: Time, before: Span) -> bool {
        before <= BEFORE && EVERY <= now.since(self.looked)
    }

    /// Somebody begins a life.
    pub fn joined(&mut self, who: Address, life: u32) {
        self.past.joined(who, life);
    }

    /// Somebody is not there any more, who knew these.
    pub fn left(&mut self, now: Time, who: Address, knew: impl IntoIterator<Item = Address>) {
        self.past.left(now, who, knew.into_iter().collect());
        self.sequence.left(who);
        self.truth.remove(who);
    }

    /// Somebody has forgotten another.
    pub fn lost(&mut self, who: Address, of: Address) {
        self.sequence.lost(who, of);
        self.lean.lost(who, of);
    }

    /// Somebody steps there.
    pub fn stepped(&mut self, now: Time, mover: &Peer, place: Position) {
        if EVERY < now.since(self.looked) {
            return;
        }
        let who = mover.info().address;
        self.truth.put(who, place);
        self.enclosing.stepped(who, &self.truth);
        self.lean.stepped(&self.config, mover, place);
    }

    /// The network is divided, or whole again.
    pub fn divided(&mut self, now: Time, apart: bool) {
        self.past.divided(now, apart);
    }

    /// Looks at everybody.
    pub fn look(&mut self, now: Time, sitting: &BTreeMap<Address, Sitting<'_>>, truth: Voronoi<Address>) {
        self.looked = now;
        let parts = components(sitting);
        self.past.torn(now, parts.iter().skip(1).flatten().copied());
        let look = Look {
            now,
            sitting,
            truth: &truth,
            relevant: relevant(&self.config, sitting, &truth),
            parts: &parts,
            stirred: self.past.stirred(now, self.bounds.buried, self.bounds.mended),
            past: &self.past,
            bounds: &self.bounds,
        };
        let violations = &mut self.violations;
        lists::check(&look, violations);
        self.sequence.check(&look, violations);
        self.accounts.check(&look, violations);
        if !self.past.is_whole(now, self.bounds.mended) {
            return;
        }
        self.links.check(&look, violations);
        self.enclosing.check(&look, violations);
        self.view.check(&look, violations);
        self.whole.check(&look, violations);
        self.lean.check(&look, violations);
        self.routing.check(&look, violations);
        self.truth = truth;
    }

    /// What was wrong.
    pub fn violations(self) -> Vec<Violation> {
        self.violations.into_list()
    }
}
