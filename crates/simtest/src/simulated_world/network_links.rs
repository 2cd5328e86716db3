//! The links between replicas, and between them and players: which are cut, which have an unusual profile, and how lost
//! ones are made anew.

use super::world_setup::WorldSetup;
use machine::Address;
use node::Node;
use sim::{Profile, Sim};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// One direction of a link: from, to.
type DirectedLink = (Address, Address);

/// All links of a world.
pub struct NetworkLinks {
    setup: Arc<WorldSetup>,
    /// Directions in which nothing arrives.
    cuts: BTreeSet<DirectedLink>,
    /// Profiles of directions while they are not the usual ones.
    profiles: BTreeMap<DirectedLink, Profile>,
    /// True if every possible link exists, and the simulator's count of severed links at that moment.
    linked: (bool, u64),
}

impl NetworkLinks {
    pub fn new(setup: &Arc<WorldSetup>) -> Self {
        let setup = Arc::clone(setup);
        Self { setup, cuts: BTreeSet::new(), profiles: BTreeMap::new(), linked: (false, 0) }
    }

    /// Makes every link that is missing and possible.
    pub fn connect_all(&mut self, sim: &mut Sim<Node>, players: &[Address]) {
        // This runs ten times per simulated second: skip the search while no link has been lost.
        if self.linked == (true, sim.severed()) {
            return;
        }
        self.linked = (true, sim.severed());
        let replicas: Vec<_> = self.setup.layout.replicas().collect();
        for (place, &replica) in replicas.iter().enumerate() {
            for &other in replicas[place + 1..].iter().chain(players) {
                self.connect(sim, replica, other);
            }
        }
    }

    fn connect(&mut self, sim: &mut Sim<Node>, a: Address, b: Address) {
        if sim.is_linked(a, b) {
            return;
        }
        // Connecting takes both directions, so one cut is enough to prevent it.
        let cut = self.cuts.contains(&(a, b)) || self.cuts.contains(&(b, a));
        if cut || !sim.is_up(a) || !sim.is_up(b) {
            // This one must be tried again later.
            self.linked.0 = false;
            return;
        }
        let (there, back) = (self.profile((a, b)), self.profile((b, a)));
        sim.connect_with(a, b, there, back);
    }

    fn profile(&self, direction: DirectedLink) -> Profile {
        self.profiles
            .get(&direction)
            .copied()
            .unwrap_or_else(|| self.setup.usual_profile(direction.0, direction.1))
    }

    /// Drops everything that one machine sends to the other.
    pub fn cut(&mut self, sim: &mut Sim<Node>, from: Address, to: Address) {
        if self.cuts.insert((from, to)) {
            sim.cut_silently(from, to);
        }
    }

    /// Undoes [`NetworkLinks::cut`].
    pub fn mend(&mut self, sim: &mut Sim<Node>, from: Address, to: Address) {
        if self.cuts.remove(&(from, to)) {
            sim.heal(from, to);
        }
    }

    /// Gives a direction another profile, or with `None` its usual one.
    pub fn set_profile(&mut self, sim: &mut Sim<Node>, direction: DirectedLink, profile: Option<Profile>) {
        match profile {
            Some(profile) => self.profiles.insert(direction, profile),
            None => self.profiles.remove(&direction),
        };
        if sim.is_linked(direction.0, direction.1) {
            sim.set_profile(direction.0, direction.1, self.profile(direction));
        }
    }

    /// Mends all cuts, and gives every direction its usual profile.
    pub fn heal(&mut self, sim: &mut Sim<Node>) {
        for (from, to) in std::mem::take(&mut self.cuts) {
            sim.heal(from, to);
        }
        for direction in std::mem::take(&mut self.profiles).into_keys() {
            self.set_profile(sim, direction, None);
        }
    }
}
