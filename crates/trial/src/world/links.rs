//! Links between replicas, and between them and players.

use super::{CONNECT_EVERY, Todo, World};
use crate::fault::Kind;
use machine::{Address, Span};
use sim::Profile;

/// One way between two replicas on one host.
const SAME_HOST: Span = Span::from_micros(30);

impl World {
    pub(super) fn connect_all(&mut self) {
        self.plan(self.sim.now() + CONNECT_EVERY, Todo::Connect);
        if self.linked == (true, self.sim.severed()) {
            return;
        }
        self.linked = (true, self.sim.severed());
        let replicas: Vec<_> = self.layout.replicas().collect();
        for (place, &replica) in replicas.iter().enumerate() {
            for &other in &replicas[place + 1..] {
                self.connect(replica, other);
            }
            for player in 0..self.players.len() {
                self.connect(replica, self.players[player].address);
            }
        }
    }

    fn connect(&mut self, a: Address, b: Address) {
        if self.sim.is_linked(a, b) {
            return;
        }
        let cut = self.cuts.contains(&(a, b)) || self.cuts.contains(&(b, a));
        if cut || !self.sim.is_up(a) || !self.sim.is_up(b) {
            self.linked.0 = false;
            return;
        }
        let (there, back) = (self.profile(a, b), self.profile(b, a));
        self.sim.connect_with(a, b, there, back);
    }

    fn profile(&self, from: Address, to: Address) -> Profile {
        self.profiles.get(&(from, to)).copied().unwrap_or_else(|| self.usual(from, to))
    }

    /// What a link is usually like in this world.
    pub fn usual(&self, from: Address, to: Address) -> Profile {
        if let Some(line) = self.scenario.line(&self.layout, from, to) {
            return line;
        }
        if self.layout.share_host(from, to) {
            return Profile::new(SAME_HOST);
        }
        let between_hosts = self.layout.host_of(from).is_some() && self.layout.host_of(to).is_some();
        let delay = if between_hosts { self.options.host_delay } else { self.options.player_delay };
        let mut profile = Profile::new(delay).with_jitter(Span::from_micros(delay.as_micros() / 5));
        let has = |kind| self.options.has(kind);
        if has(Kind::Loss) {
            let loss = if between_hosts { 0.02 } else { 0.10 };
            profile = profile.with_loss(loss).expect("a probability");
        }
        if has(Kind::Duplicate) {
            profile = profile.with_duplication(0.1).expect("a probability");
        }
        if has(Kind::Jitter) {
            let jitter = if between_hosts { 20 } else { 100 };
            profile = profile.with_jitter(Span::from_millis(jitter));
        }
        if has(Kind::Late) {
            profile = profile.with_stragglers(0.01, Span::from_millis(60_000)).expect("a probability");
        }
        profile
    }

    /// Nothing comes through from one to the other any more.
    pub fn cut(&mut self, from: Address, to: Address) {
        if self.cuts.insert((from, to)) {
            self.sim.cut_silently(from, to);
        }
    }

    /// What [`World::cut`] did is over.
    pub fn mend(&mut self, from: Address, to: Address) {
        if self.cuts.remove(&(from, to)) {
            self.sim.heal(from, to);
        }
    }

    /// Gives a direction another character, or its usual one.
    pub fn set_profile(&mut self, from: Address, to: Address, profile: Option<Profile>) {
        match profile {
            Some(profile) => self.profiles.insert((from, to), profile),
            None => self.profiles.remove(&(from, to)),
        };
        let profile = self.profile(from, to);
        if self.sim.is_linked(from, to) {
            self.sim.set_profile(from, to, profile);
        }
    }

    /// Breaks all connections of a machine; they are made anew soon.
    pub fn reset(&mut self, address: Address) {
        let players = self.players.iter().map(|it| it.address);
        for other in self.layout.replicas().chain(players).collect::<Vec<_>>() {
            if other != address {
                self.sim.disconnect(address, other);
            }
        }
    }

    /// The addresses of all players.
    pub fn player_addresses(&self) -> Vec<Address> {
        self.players.iter().map(|it| it.address).collect()
    }

    /// Cuts a replica off from the directory, or not.
    pub fn isolate(&mut self, replica: Address, isolated: bool) {
        self.slots[replica.0 as usize].isolated = isolated;
    }
}
