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
    /// By player: the hosts that it wants to be connected to. A player that is not here wants all of them.
    wanted: BTreeMap<Address, BTreeSet<usize>>,
}

impl NetworkLinks {
    pub fn new(setup: &Arc<WorldSetup>) -> Self {
        let setup = Arc::clone(setup);
        let (cuts, profiles, wanted) = (BTreeSet::new(), BTreeMap::new(), BTreeMap::new());
        Self { setup, cuts, profiles, linked: (false, 0), wanted }
    }

    /// Makes every link that is missing, possible and wanted, and ends those that a player does not want any more.
    pub fn connect_all(&mut self, sim: &mut Sim<Node>, players: &[Address]) {
        players.iter().for_each(|&it| self.update_wanted(sim, it));
        // This runs ten times per simulated second: skip the search while no link has been lost.
        if self.linked == (true, sim.severed()) {
            return;
        }
        self.linked = (true, sim.severed());
        let replicas: Vec<_> = self.setup.layout.replicas().collect();
        for (place, &replica) in replicas.iter().enumerate() {
            for &other in replicas[place + 1..].iter().chain(players) {
                if self.is_wanted(other, replica) {
                    self.connect(sim, replica, other);
                }
            }
        }
    }

    /// Asks a player's machine which hosts it wants, as a client's session does.
    fn update_wanted(&mut self, sim: &mut Sim<Node>, player: Address) {
        let contacts = sim.machine(player).client().and_then(|it| it.player().contacts());
        let host_of = |replica: Address| self.setup.layout.host_of(replica);
        let hosts = contacts.map(|it| it.into_iter().filter_map(host_of).collect());
        if self.wanted.get(&player) == hosts.as_ref() {
            return;
        }
        match hosts {
            Some(hosts) => self.wanted.insert(player, hosts),
            None => self.wanted.remove(&player),
        };
        self.linked.0 = false;
        for replica in self.setup.layout.replicas() {
            if !self.is_wanted(player, replica) && sim.is_linked(replica, player) {
                sim.disconnect(replica, player);
            }
        }
    }

    /// Returns whether a machine wants a link to a replica. All other machines than players do.
    fn is_wanted(&self, machine: Address, replica: Address) -> bool {
        let host = self.setup.layout.host_of(replica);
        self.wanted.get(&machine).is_none_or(|hosts| host.is_some_and(|it| hosts.contains(&it)))
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
