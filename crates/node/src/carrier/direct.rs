//! The direct carrier: the zone's host sends every pose itself, thinned by interest management, packed per client.

use super::{Carrier, CarrierSettings, PoseCounts, RelevanceFn};
use interest::{Engine, EngineConfig, Policy, PolicyReach, Slot, SubjectView, Update};
use machine::stage::{Stage, within};
use machine::{Address, Span, Time};
use space::{Motion, ObjectId};
use std::collections::BTreeMap;
use wire::{Message as _, Packer, Pose};
use zone::{CarrierUpdate, LoadLevel};

/// Groups of subscribers, which are served one after the other within a tick. Served all at once, a thousand of them would keep
/// a host's reactor busy for 20 ms, and every action that arrives meanwhile would wait.
const GROUPS: usize = 5;

/// Least interval between two poses of an object that keeps its motion, to one observer that was sent the motion twice: a pose is
/// a trajectory, and a client that has it knows where the object is. New motions are sent as often as relevance says, and twice at
/// least, because a datagram may be lost.
const UNCHANGED_EVERY: Span = Span::from_millis(1_000);

/// A carrier that sends every pose itself.
pub struct DirectCarrier {
    settings: CarrierSettings,
    engine: Engine,
    carried: BTreeMap<ObjectId, CarriedObject>,
    /// The object in each slot of the engine.
    object_in_slot: Vec<Option<ObjectId>>,
    subscribers: BTreeMap<Address, ObjectId>,
    /// The same by avatar. An avatar has one subscriber, the newest: a client that connects anew has another address,
    /// and the host may not know yet that the old one is gone.
    addresses: BTreeMap<ObjectId, Address>,
    paused: bool,
    /// Number of ticks between two poses for a subscriber: 1 unless the primary is loaded.
    slowness: u64,
    /// When each group of subscribers is served next.
    next: [Time; GROUPS],
    packer: Packer,
    counts: PoseCounts,
}

/// An object as it is carried: its pose is encoded when it changes, and sent unchanged.
struct CarriedObject {
    slot: Slot,
    motion: Motion,
    encoded: Vec<u8>,
}

impl DirectCarrier {
    /// A carrier without objects or subscribers.
    pub fn new(settings: CarrierSettings) -> Self {
        Self {
            engine: engine(&settings),
            settings,
            carried: BTreeMap::new(),
            object_in_slot: Vec::new(),
            subscribers: BTreeMap::new(),
            addresses: BTreeMap::new(),
            paused: false,
            slowness: 1,
            next: [Time::ZERO; GROUPS],
            packer: Packer::new(),
            counts: PoseCounts::default(),
        }
    }

    fn carry(&mut self, object: ObjectId, motion: Motion) {
        let encoded = encode(object, &motion);
        if let Some(it) = self.carried.get_mut(&object) {
            if motion.is_newer_than(&it.motion) {
                it.motion = motion;
                self.engine.face(it.slot, motion.heading);
                self.engine.change(it.slot);
                // Plus one byte: the frame's length.
                self.engine.weigh(it.slot, encoded.len() as u32 + 1);
                it.encoded = encoded;
            }
            return;
        }
        let slot = self.engine.enter(motion.position, motion.heading);
        self.engine.weigh(slot, encoded.len() as u32 + 1);
        // Slots are reused, so this list grows only with the largest crowd so far.
        if self.object_in_slot.len() <= slot.index() {
            self.object_in_slot.resize(slot.index() + 1, None);
        }
        self.object_in_slot[slot.index()] = Some(object);
        // A client may subscribe before its avatar is carried.
        if self.addresses.contains_key(&object) {
            self.engine.observe(slot);
        }
        self.carried.insert(object, CarriedObject { slot, motion, encoded });
    }

    fn drop_object(&mut self, object: ObjectId) {
        if let Some(it) = self.carried.remove(&object) {
            self.engine.leave(it.slot);
            self.object_in_slot[it.slot.index()] = None;
        }
    }

    fn subscribe(&mut self, address: Address, avatar: ObjectId) {
        self.unsubscribe(address);
        if let Some(&earlier) = self.addresses.get(&avatar) {
            self.unsubscribe(earlier);
        }
        self.subscribers.insert(address, avatar);
        self.addresses.insert(avatar, address);
        if let Some(it) = self.carried.get(&avatar) {
            self.engine.observe(it.slot);
        }
    }

    fn unsubscribe(&mut self, address: Address) {
        let Some(avatar) = self.subscribers.remove(&address) else { return };
        self.addresses.remove(&avatar);
        if let Some(it) = self.carried.get(&avatar) {
            self.engine.stop_observing(it.slot);
        }
    }

    /// The next time at which a group is served. Groups keep their distance, also after a host was late.
    fn after(&self, now: Time, group: usize) -> Time {
        let tick = self.settings.tick.as_micros().max(1) * self.slowness;
        let phase = tick * group as u64 / GROUPS as u64;
        let into = (now.as_micros() + tick - phase) % tick;
        now + Span::from_micros(tick - into)
    }

    /// Sends the poses that are due to the subscribers of one group.
    fn serve_group(
        &mut self,
        group: usize,
        world: Time,
        grade: Option<RelevanceFn<'_>>,
        send: &mut dyn FnMut(Address, &[u8]),
    ) {
        let Self { settings, engine, carried, object_in_slot, addresses, packer, .. } = self;
        let policy = GradedPolicy { policy: &*settings.policy, object_in_slot, grade };
        let mut deliver = |observer: Slot, updates: &[Update]| {
            let subscriber = object_in_slot[observer.index()].and_then(|it| addresses.get(&it));
            let Some(&subscriber) = subscriber else { return };
            pack(packer, updates, object_in_slot, carried);
            packer.datagrams().for_each(|datagram| send(subscriber, datagram));
            packer.clear();
        };
        let tally = within(Stage::Interest, || {
            engine.tick_group(group, world, &policy, |observer, updates| {
                within(Stage::Pack, || deliver(observer, updates));
            })
        });
        self.counts.sent += tally.sent;
        self.counts.deferred += tally.deferred;
    }

    fn clear(&mut self) {
        self.engine = engine(&self.settings);
        self.carried.clear();
        self.object_in_slot.clear();
        self.subscribers.clear();
        self.addresses.clear();
        self.paused = false;
        self.slowness = 1;
    }
}

impl Carrier for DirectCarrier {
    fn update(&mut self, update: CarrierUpdate) {
        match update {
            CarrierUpdate::Carry(object, motion) => self.carry(object, motion),
            CarrierUpdate::Remove(object) => self.drop_object(object),
            CarrierUpdate::Subscribe(address, avatar) => self.subscribe(address, avatar),
            CarrierUpdate::Unsubscribe(address) => self.unsubscribe(address),
            CarrierUpdate::Clear => self.clear(),
            CarrierUpdate::SetPaused(paused) => self.paused = paused,
            CarrierUpdate::SetLoad(level) => self.slowness = slowness(level),
        }
    }

    fn deadline(&self) -> Option<Time> {
        if self.subscribers.is_empty() {
            return None;
        }
        // Groups without subscribers are passed over, so that a zone with few players wakes seldom.
        let served = (0..GROUPS).filter(|it| 0 < self.engine.observers_in(*it) || self.paused);
        // An avatar that is not carried yet does not observe: then any time will do.
        Some(served.map(|it| self.next[it]).min().unwrap_or(self.next[0]))
    }

    fn send_poses(
        &mut self,
        now: Time,
        world: Time,
        grade: Option<RelevanceFn<'_>>,
        send: &mut dyn FnMut(Address, &[u8]),
    ) {
        let due: Vec<usize> = (0..GROUPS).filter(|it| self.next[*it] <= now).collect();
        if due.is_empty() {
            return;
        }
        for &group in &due {
            // Also while it is paused: a paused carrier must not wake its host all the time.
            self.next[group] = self.after(now, group);
        }
        if self.paused {
            return self.engine.rest();
        }
        for it in self.carried.values() {
            self.engine.place(it.slot, it.motion.position_at(world));
        }
        for group in due {
            self.serve_group(group, world, grade, send);
        }
    }

    fn counts(&self) -> PoseCounts {
        self.counts
    }
}

/// Number of ticks between two poses at a load level: 10, 5 and 2.5 datagrams per second with a tick of 100 ms.
const fn slowness(level: LoadLevel) -> u64 {
    match level {
        LoadLevel::Calm => 1,
        LoadLevel::Busy => 2,
        LoadLevel::Overloaded => 4,
    }
}

fn engine(settings: &CarrierSettings) -> Engine {
    let CarrierSettings { schedule, budget, .. } = *settings;
    let unchanged = Some(UNCHANGED_EVERY);
    Engine::new(EngineConfig { schedule, budget, unchanged, groups: GROUPS, ..EngineConfig::default() })
}

fn encode(object: ObjectId, motion: &Motion) -> Vec<u8> {
    let mut encoded = Vec::with_capacity(32);
    Pose { object, motion: *motion, tag: None }.encode(&mut encoded);
    encoded
}

fn pack(
    packer: &mut Packer,
    updates: &[Update],
    object_in_slot: &[Option<ObjectId>],
    carried: &BTreeMap<ObjectId, CarriedObject>,
) {
    for update in updates {
        if let Some(object) = object_in_slot[update.subject.index()] {
            packer.push(&carried[&object].encoded);
        }
    }
}

/// The policy, graded by the game.
struct GradedPolicy<'a> {
    policy: &'a (dyn Policy + Send),
    object_in_slot: &'a [Option<ObjectId>],
    grade: Option<RelevanceFn<'a>>,
}

impl Policy for GradedPolicy<'_> {
    fn reach(&self) -> PolicyReach {
        self.policy.reach()
    }

    fn relevance(&self, view: &SubjectView) -> f32 {
        let graded = self.policy.relevance(view);
        let (Some(grade), Some(observer), Some(subject)) = (
            self.grade,
            self.object_in_slot[view.observer.index()],
            self.object_in_slot[view.subject.index()],
        ) else {
            return graded;
        };
        grade(observer, subject, graded)
    }
}
