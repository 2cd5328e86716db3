//! The lines between replicas, and between them and players: which are cut, which have another character than usual, and
//! how lost ones are made anew.

use super::setting::Setting;
use machine::Address;
use node::Node;
use sim::{Profile, Sim};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// One direction of a line.
type Way = (Address, Address);

/// All lines of a world.
pub struct Lines {
    setting: Arc<Setting>,
    /// Directions in which nothing comes through.
    cuts: BTreeSet<Way>,
    /// The character of directions while it is not the usual one.
    profiles: BTreeMap<Way, Profile>,
    /// Whether every line that can be is there, and how many had been cut by then.
    linked: (bool, u64),
}

impl Lines {
    pub fn new(setting: &Arc<Setting>) -> Self {
        let setting = Arc::clone(setting);
        Self { setting, cuts: BTreeSet::new(), profiles: BTreeMap::new(), linked: (false, 0) }
    }

    /// Makes every line that can be and is not there.
    pub fn connect_all(&mut self, sim: &mut Sim<Node>, players: &[Address]) {
        if self.linked == (true, sim.severed()) {
            return;
        }
        self.linked = (true, sim.severed());
        let replicas: Vec<_> = self.setting.layout.replicas().collect();
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
        let cut = self.cuts.contains(&(a, b)) || self.cuts.contains(&(b, a));
        if cut || !sim.is_up(a) || !sim.is_up(b) {
            self.linked.0 = false;
            return;
        }
        let (there, back) = (self.profile((a, b)), self.profile((b, a)));
        sim.connect_with(a, b, there, back);
    }

    fn profile(&self, way: Way) -> Profile {
        self.profiles.get(&way).copied().unwrap_or_else(|| self.setting.usual_line(way.0, way.1))
    }

    /// Lets nothing through from one machine to the other.
    pub fn cut(&mut self, sim: &mut Sim<Node>, from: Address, to: Address) {
        if self.cuts.insert((from, to)) {
            sim.cut_silently(from, to);
        }
    }

    /// Undoes [`Lines::cut`].
    pub fn mend(&mut self, sim: &mut Sim<Node>, from: Address, to: Address) {
        if self.cuts.remove(&(from, to)) {
            sim.heal(from, to);
        }
    }

    /// Gives a direction another character, or its usual one.
    pub fn set_profile(&mut self, sim: &mut Sim<Node>, way: Way, profile: Option<Profile>) {
        match profile {
            Some(profile) => self.profiles.insert(way, profile),
            None => self.profiles.remove(&way),
        };
        if sim.is_linked(way.0, way.1) {
            sim.set_profile(way.0, way.1, self.profile(way));
        }
    }

    /// Mends all cuts, and gives every direction its usual character.
    pub fn heal(&mut self, sim: &mut Sim<Node>) {
        for (from, to) in std::mem::take(&mut self.cuts) {
            sim.heal(from, to);
        }
        for way in std::mem::take(&mut self.profiles).into_keys() {
            self.set_profile(sim, way, None);
        }
    }
}
