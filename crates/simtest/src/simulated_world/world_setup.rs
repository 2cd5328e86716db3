//! The constants of a world: its game, its map and the options of the run. Makes the
//! machines, and never changes.

use super::player_slots::PlayerSlot;
use super::poison::{Poison, PoisonGuard};
use crate::fault::FaultKind;
use crate::history_checker::ZoneSpec;
use crate::layout::{self, Layout};
use crate::run_options::RunOptions;
use crate::scenario::Scenario;
use crate::simulated_disk::SimulatedDisk;
use game::{GuardedGame, HostedGame};
use machine::{Address, Span};
use node::carrier::{self, CarrierSettings};
use node::{ClientNode, Node, ReplicaNode};
use sim::Profile;
use space::ZoneId;
use std::sync::Arc;
use zone::{CallSlot, PlayerConfig, Timing, ZoneConfig};

/// Delay, one way, between two replicas on one host.
const SAME_HOST: Span = Span::from_micros(30);

/// Game, map and options of a world.
pub struct WorldSetup {
    pub options: RunOptions,
    pub layout: Layout,
    pub scenario: Arc<dyn Scenario>,
    rules: Arc<dyn HostedGame>,
    /// Decides which action hangs.
    pub poison: Arc<Poison>,
}

impl WorldSetup {
    pub fn new(scenario: impl Scenario, options: RunOptions, layout: Layout) -> Self {
        let rules = scenario.rules(layout.world());
        Self { options, layout, scenario: Arc::new(scenario), rules, poison: Arc::default() }
    }

    /// The specification of each zone, for the checkers.
    pub fn specs(&self) -> impl Iterator<Item = ZoneSpec> {
        self.layout.map.zones().map(|(zone, region)| ZoneSpec {
            zone,
            region: region.clone(),
            rules: Arc::clone(&self.rules),
            count: self.scenario.count(),
            hosts: self.layout.replicas_of(zone),
            durability: self.options.durability,
        })
    }

    /// The world as its hosts describe it in the headers of their histories.
    ///
    /// # Panics
    ///
    /// If there are several zones: a recorded host has one history, of one zone.
    pub fn described(&self) -> history::WorldHeader {
        assert!(!self.layout.is_meshed(), "histories are of one zone");
        let zone = ZoneId(1);
        history::WorldHeader {
            game: self.scenario.name().to_owned(),
            schema: self.rules.schema(),
            zone,
            region: layout::corners().to_vec(),
            hosts: self.layout.replicas_of(zone),
            durability: self.options.durability,
        }
    }

    // Machines.

    /// A new, empty disk.
    pub fn disk(&self) -> SimulatedDisk {
        SimulatedDisk::new(self.rules.schema())
    }

    /// A replica's machine, at the beginning of a life.
    pub fn replica(&self, address: Address) -> Node {
        let budget = self.options.budget;
        let carrier = carrier::build(CarrierSettings { budget, ..CarrierSettings::default() });
        Node::Host(Box::new(ReplicaNode::new(self.replica_config(address), carrier)))
    }

    fn replica_config(&self, address: Address) -> ZoneConfig {
        let zone = self.layout.zone_of(address).expect("a replica has a zone");
        let layout = self.layout.clone();
        let calls = Arc::default();
        ZoneConfig {
            zone,
            map: Arc::clone(&self.layout.map),
            zone_of: Arc::new(move |it| layout.zone_of(it)),
            rules: self.rules_of(address, &calls),
            me: address,
            replicas: self.layout.replicas_of(zone),
            // Zones are founded on different hosts, so that not all primaries die with one host.
            founds: self.layout.host_of(address) == Some((zone.0 as usize - 1) % self.layout.hosts()),
            force: false,
            durability: self.options.durability,
            timing: Timing::default(),
            seed: self.options.seed,
            // More players than any run has: admission is not what these runs are about.
            players_max: 1_000,
            notes: true,
            calls,
            suspects: zone::Suspects::NONE,
            broken_rules: self.options.broken_rules,
        }
    }

    /// The game as a replica calls it.
    fn rules_of(&self, replica: Address, calls: &Arc<CallSlot>) -> Arc<dyn HostedGame> {
        if !self.options.has(FaultKind::Poison) {
            return Arc::clone(&self.rules);
        }
        let (poison, calls) = (Arc::clone(&self.poison), Arc::clone(calls));
        let guard = PoisonGuard { poison, replica, calls };
        Arc::new(GuardedGame::new(Arc::clone(&self.rules), Arc::new(guard)))
    }

    /// A player's machine, at the beginning of a session.
    pub fn client(&self, slot: &PlayerSlot) -> Node {
        let config = PlayerConfig {
            player: slot.player,
            session: slot.session,
            name: format!("player-{}", slot.player.0),
            // A new session must not repeat the draws of the one before.
            seed: self.options.seed ^ slot.session << 32,
            notes: true,
            broken_rules: self.options.broken_rules,
        };
        let bot = self.scenario.bot(&self.layout, slot.number, slot.hostile);
        Node::Client(Box::new(ClientNode::bot(config, bot)))
    }

    // Links.

    /// The profile of one direction of a link, while no fault changes it.
    pub fn usual_profile(&self, from: Address, to: Address) -> Profile {
        if let Some(line) = self.scenario.link_profile(&self.layout, from, to) {
            return line;
        }
        if self.layout.share_host(from, to) {
            return Profile::new(SAME_HOST);
        }
        let between_hosts = self.layout.host_of(from).is_some() && self.layout.host_of(to).is_some();
        let delay = if between_hosts { self.options.host_delay } else { self.options.player_delay };
        let mut profile = Profile::new(delay).with_jitter(Span::from_micros(delay.as_micros() / 5));
        let has = |kind| self.options.has(kind);
        if has(FaultKind::Loss) {
            // Hosts have better lines than players, here and below.
            let loss = if between_hosts { 0.02 } else { 0.10 };
            profile = profile.with_loss(loss).expect("a probability");
        }
        if has(FaultKind::Duplicate) {
            profile = profile.with_duplication(0.1).expect("a probability");
        }
        if has(FaultKind::Jitter) {
            let jitter = if between_hosts { 20 } else { 100 };
            profile = profile.with_jitter(Span::from_millis(jitter));
        }
        if has(FaultKind::Late) {
            profile = profile.with_stragglers(0.01, Span::from_millis(60_000)).expect("a probability");
        }
        profile
    }
}
