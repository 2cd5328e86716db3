//! What a world is like, from its beginning to its end: its game, its map and the options of the trial. Makes the
//! machines, and never changes.

use super::player_slots::PlayerSlot;
use crate::disk::Disk;
use crate::fault::Kind;
use crate::judge::About;
use crate::layout::{self, Layout};
use crate::options::Options;
use crate::scenario::Scenario;
use game::Rules;
use machine::{Address, Span};
use node::carrier::{self, CarrierSettings};
use node::{Client, Host, Node};
use sim::Profile;
use space::ZoneId;
use std::sync::Arc;
use zone::{Config, PlayerConfig, Timing};

/// One way between two replicas on one host.
const SAME_HOST: Span = Span::from_micros(30);

/// What a world is like.
pub struct Setting {
    pub options: Options,
    pub layout: Layout,
    pub scenario: Arc<dyn Scenario>,
    rules: Arc<dyn Rules>,
}

impl Setting {
    pub fn new(scenario: impl Scenario, options: Options, layout: Layout) -> Self {
        let rules = scenario.rules(layout.world());
        Self { options, layout, scenario: Arc::new(scenario), rules }
    }

    /// What a judge must know of each zone.
    pub fn abouts(&self) -> impl Iterator<Item = About> {
        self.layout.map.zones().map(|(zone, region)| About {
            zone,
            region: region.clone(),
            rules: Arc::clone(&self.rules),
            count: self.scenario.count(),
            hosts: self.layout.replicas_of(zone),
            durability: self.options.durability,
        })
    }

    /// The world as its hosts describe it in their histories.
    ///
    /// # Panics
    ///
    /// If there are several zones: a host has one history here.
    pub fn described(&self) -> history::World {
        assert!(!self.layout.is_meshed(), "histories are of one zone");
        let zone = ZoneId(1);
        history::World {
            game: self.scenario.name().to_owned(),
            schema: self.rules.schema(),
            zone,
            region: layout::corners().to_vec(),
            hosts: self.layout.replicas_of(zone),
            durability: self.options.durability,
        }
    }

    // Machines.

    /// An empty disk.
    pub fn disk(&self) -> Disk {
        Disk::new(self.rules.schema())
    }

    /// The machine of a replica, at the beginning of a life.
    pub fn replica(&self, address: Address) -> Node {
        let budget = self.options.budget;
        let carrier = carrier::build(CarrierSettings { budget, ..CarrierSettings::default() });
        Node::Host(Box::new(Host::new(self.replica_config(address), carrier)))
    }

    fn replica_config(&self, address: Address) -> Config {
        let zone = self.layout.zone_of(address).expect("a replica has a zone");
        let layout = self.layout.clone();
        Config {
            zone,
            map: Arc::clone(&self.layout.map),
            zone_of: Arc::new(move |it| layout.zone_of(it)),
            rules: Arc::clone(&self.rules),
            me: address,
            peers: self.layout.replicas_of(zone),
            // Each host founds some, so that not all primaries die together.
            founds: self.layout.host_of(address) == Some((zone.0 as usize - 1) % self.layout.hosts()),
            force: false,
            durability: self.options.durability,
            timing: Timing::default(),
            seed: self.options.seed,
            players_max: 1_000,
            notes: true,
            broken_rules: self.options.plants,
        }
    }

    /// The machine of a player, at the beginning of a session.
    pub fn client(&self, slot: &PlayerSlot) -> Node {
        let config = PlayerConfig {
            player: slot.player,
            session: slot.session,
            name: format!("player-{}", slot.player.0),
            seed: self.options.seed ^ slot.session << 32,
            notes: true,
            broken_rules: self.options.plants,
        };
        let bot = self.scenario.bot(&self.layout, slot.number, slot.hostile);
        Node::Client(Box::new(Client::bot(config, bot)))
    }

    // Lines.

    /// The character of one direction of a line, while nothing happens to it.
    pub fn usual_line(&self, from: Address, to: Address) -> Profile {
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
}
