//! Checkers: the rules that must hold in every run, whatever is lost and whichever peers join and leave; one file per
//! rule.
//!
//! | rule | file | invariant |
//! |---|---|---|
//! | I1 | `lists` | no peer has itself in its list, or a peer whose life is long over |
//! | I2 | `sequence` | the information about a neighbour never gets older |
//! | I3 | `links` | a peer that wants the moves of another is known there as one that does |
//! | I4 | `enclosing` | every peer knows the peers whose regions touch its own |
//! | I5 | `view` | every peer knows the peers in its view |
//! | I6 | `whole` | the overlay is in one piece |
//! | I7 | `lean` | no irrelevant peer stays in a list |
//! | I8 | `routing` | a search ends at the nearest peer |
//! | I10 | `accounts` | peers send what their accounts say, and no more than their budget |
//!
//! I9, that at rest every list is exactly right, is `exact_after` of a run; I11, one seed and one history, and I12,
//! that the paper's overlay breaks the rules, are tests.
//!
//! The world takes an [`Inspection`] every second for a few seconds before each sample. Most rules may be broken for a
//! moment: a violation is what is wrong in every inspection of a span (`lasting`). The spans stand in `bounds`. Events
//! that excuse a peer for a while are in `past`. The checkers only read: a run with them has the same history as one
//! without.

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

pub use bounds::CheckerBounds;
pub use violations::{OverlayViolation, OverlayViolations};

use super::network::PresentPeer;
use super::oracle::{components, relevant};
use super::world::VastCase;
use machine::{Address, Rng, Span, Time};
use overlay::{Peer, PeerConfig};
use past::PastEvents;
use space::{Position, Voronoi};
use std::collections::{BTreeMap, BTreeSet};

/// Time between two inspections of a run.
pub const EVERY: Span = Span::from_secs(1);

/// Time before each sample at which its inspections begin. More would cost more than a few hundredths of a run.
const BEFORE: Span = Span::from_secs(7);

/// Everything that checkers see at one moment.
struct Inspection<'a> {
    now: Time,
    present: &'a BTreeMap<Address, PresentPeer<'a>>,
    /// The diagram of the true positions of all peers.
    truth: &'a Voronoi<Address>,
    /// The peers that every peer should know.
    relevant: BTreeMap<Address, BTreeSet<Address>>,
    /// The parts of the overlay, the largest first.
    parts: &'a [Vec<Address>],
    /// Peers that may not have noticed yet that a neighbour vanished, and peers that were cut off from most others.
    excused: BTreeSet<Address>,
    past: &'a PastEvents,
    bounds: &'a CheckerBounds,
}

impl Inspection<'_> {
    /// Returns whether neither of two peers is excused.
    fn are_calm(&self, one: Address, other: Address) -> bool {
        [one, other].iter().all(|it| !self.excused.contains(it) && !self.is_crowded(*it))
    }

    /// Returns whether a peer is in a crowd: messages are so rare there that the inspections are too few to judge.
    fn is_crowded(&self, who: Address) -> bool {
        self.present.get(&who).is_some_and(|it| it.peer.is_in_crowd())
    }

    /// All pairs of which the first peer should know the second and does not, without an excuse.
    fn unknown(&self) -> impl Iterator<Item = (Address, Address)> {
        let pairs = self.relevant.iter().flat_map(|(&who, all)| all.iter().map(move |&of| (who, of)));
        let is_known = |who: Address, of: Address| self.present[&who].peer.neighbour(of).is_some();
        pairs.filter(move |&(who, of)| !is_known(who, of) && self.are_calm(who, of))
    }
}

/// All checkers of a run, with what they remember.
pub struct RunWatch {
    config: PeerConfig,
    bounds: CheckerBounds,
    past: PastEvents,
    sequence: sequence::SequenceChecker,
    links: links::LinksChecker,
    enclosing: enclosing::EnclosingChecker,
    view: view::ViewChecker,
    whole: whole::WholeChecker,
    lean: lean::LeanChecker,
    routing: routing::RoutingChecker,
    accounts: accounts::AccountsChecker,
    violations: OverlayViolations,
    inspected: Time,
    /// The diagram of true positions, between inspections.
    truth: Voronoi<Address>,
}

impl RunWatch {
    /// The checkers for a run of this case.
    pub fn new(case: &VastCase) -> Self {
        Self {
            config: case.config,
            bounds: CheckerBounds::of(&case.config, &case.line, &case.ground),
            past: PastEvents::default(),
            sequence: sequence::SequenceChecker::default(),
            links: links::LinksChecker::default(),
            enclosing: enclosing::EnclosingChecker::default(),
            view: view::ViewChecker::default(),
            whole: whole::WholeChecker::default(),
            lean: lean::LeanChecker::default(),
            routing: routing::RoutingChecker::new(case.ground, Rng::seeded(case.seed)),
            accounts: accounts::AccountsChecker::new(case.config.uplink.map(u64::from)),
            violations: OverlayViolations::default(),
            inspected: Time::ZERO,
            truth: Voronoi::new(),
        }
    }

    /// Returns whether an inspection is due, `before` the next sample.
    pub fn is_due(&self, now: Time, before: Span) -> bool {
        before <= BEFORE && EVERY <= now.since(self.inspected)
    }

    /// Called when a peer begins a life.
    pub fn joined(&mut self, who: Address, life: u32) {
        self.past.joined(who, life);
    }

    /// Called when a peer has left; `knew` are the peers in its list.
    pub fn left(&mut self, now: Time, who: Address, knew: impl IntoIterator<Item = Address>) {
        self.past.left(now, who, knew.into_iter().collect());
        self.sequence.left(who);
        self.truth.remove(who);
    }

    /// Called when a peer has removed another from its list.
    pub fn lost(&mut self, who: Address, of: Address) {
        self.sequence.lost(who, of);
        self.lean.lost(who, of);
    }

    /// Called when a peer steps to a place.
    pub fn stepped(&mut self, now: Time, mover: &Peer, place: Position) {
        // Between samples there are no inspections, so steps need not be followed.
        if EVERY < now.since(self.inspected) {
            return;
        }
        let who = mover.info().address;
        self.truth.put(who, place);
        self.enclosing.stepped(who, &self.truth);
        self.lean.stepped(&self.config, mover, place);
    }

    /// Called when the network is divided, or whole again.
    pub fn divided(&mut self, now: Time, apart: bool) {
        self.past.divided(now, apart);
    }

    /// Runs all checkers on the overlay as it is now.
    pub fn inspect(
        &mut self,
        now: Time,
        present: &BTreeMap<Address, PresentPeer<'_>>,
        truth: Voronoi<Address>,
    ) {
        self.inspected = now;
        let parts = components(present);
        self.past.torn(now, parts.iter().skip(1).flatten().copied());
        let inspection = Inspection {
            now,
            present,
            truth: &truth,
            relevant: relevant(&self.config, present, &truth),
            parts: &parts,
            excused: self.past.excused(now, self.bounds.removed, self.bounds.mended),
            past: &self.past,
            bounds: &self.bounds,
        };
        let violations = &mut self.violations;
        lists::check(&inspection, violations);
        self.sequence.check(&inspection, violations);
        self.accounts.check(&inspection, violations);
        // While the network is divided, and shortly after, only the rules above can hold.
        if !self.past.is_whole(now, self.bounds.mended) {
            return;
        }
        self.links.check(&inspection, violations);
        self.enclosing.check(&inspection, violations);
        self.view.check(&inspection, violations);
        self.whole.check(&inspection, violations);
        self.lean.check(&inspection, violations);
        self.routing.check(&inspection, violations);
        self.truth = truth;
    }

    /// All violations of the run.
    pub fn violations(self) -> Vec<OverlayViolation> {
        self.violations.into_list()
    }
}
