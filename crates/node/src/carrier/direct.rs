//! The zone itself sends, thinned by interest management, packed per listener.

use super::{Carrier, CarrierSettings, Grade, PoseCounts};
use interest::{Config, Engine, Policy, Reach, Sight, Slot, Update};
use machine::{Address, Time};
use space::{Motion, ObjectId};
use std::collections::BTreeMap;
use wire::{Message as _, Packer, Pose};
use zone::CarrierUpdate;

/// A carrier that sends everything itself.
pub struct Direct {
    settings: CarrierSettings,
    engine: Engine,
    carried: BTreeMap<ObjectId, Carried>,
    /// Whose slot is whose.
    owners: Vec<Option<ObjectId>>,
    listeners: BTreeMap<Address, ObjectId>,
    /// The same by avatar. An avatar has one listener, the newest: whoever connects anew is at another address, and the
    /// old one may not be known to be gone yet.
    addresses: BTreeMap<ObjectId, Address>,
    paused: bool,
    next: Time,
    packer: Packer,
    counts: PoseCounts,
}

/// An object as it is carried: its pose is encoded when it changes, and sent unchanged.
struct Carried {
    slot: Slot,
    motion: Motion,
    encoded: Vec<u8>,
}

impl Direct {
    /// A carrier that carries nobody.
    pub fn new(settings: CarrierSettings) -> Self {
        Self {
            engine: engine(&settings),
            settings,
            carried: BTreeMap::new(),
            owners: Vec::new(),
            listeners: BTreeMap::new(),
            addresses: BTreeMap::new(),
            paused: false,
            next: Time::ZERO,
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
                self.engine.weigh(it.slot, encoded.len() as u32 + 1);
                it.encoded = encoded;
            }
            return;
        }
        let slot = self.engine.enter(motion.position, motion.heading);
        self.engine.weigh(slot, encoded.len() as u32 + 1);
        if self.owners.len() <= slot.index() {
            self.owners.resize(slot.index() + 1, None);
        }
        self.owners[slot.index()] = Some(object);
        if self.addresses.contains_key(&object) {
            self.engine.observe(slot);
        }
        self.carried.insert(object, Carried { slot, motion, encoded });
    }

    fn drop_object(&mut self, object: ObjectId) {
        if let Some(it) = self.carried.remove(&object) {
            self.engine.leave(it.slot);
            self.owners[it.slot.index()] = None;
        }
    }

    fn listen(&mut self, address: Address, avatar: ObjectId) {
        self.deafen(address);
        if let Some(&earlier) = self.addresses.get(&avatar) {
            self.deafen(earlier);
        }
        self.listeners.insert(address, avatar);
        self.addresses.insert(avatar, address);
        if let Some(it) = self.carried.get(&avatar) {
            self.engine.observe(it.slot);
        }
    }

    fn deafen(&mut self, address: Address) {
        let Some(avatar) = self.listeners.remove(&address) else { return };
        self.addresses.remove(&avatar);
        if let Some(it) = self.carried.get(&avatar) {
            self.engine.stop_observing(it.slot);
        }
    }

    fn clear(&mut self) {
        self.engine = engine(&self.settings);
        self.carried.clear();
        self.owners.clear();
        self.listeners.clear();
        self.addresses.clear();
        self.paused = false;
    }
}

impl Carrier for Direct {
    fn update(&mut self, update: CarrierUpdate) {
        match update {
            CarrierUpdate::Carry(object, motion) => self.carry(object, motion),
            CarrierUpdate::Remove(object) => self.drop_object(object),
            CarrierUpdate::Subscribe(address, avatar) => self.listen(address, avatar),
            CarrierUpdate::Unsubscribe(address) => self.deafen(address),
            CarrierUpdate::Clear => self.clear(),
            CarrierUpdate::SetPaused(paused) => self.paused = paused,
        }
    }

    fn deadline(&self) -> Option<Time> {
        (!self.listeners.is_empty()).then_some(self.next)
    }

    fn speak(
        &mut self,
        now: Time,
        world: Time,
        grade: Option<Grade<'_>>,
        say: &mut dyn FnMut(Address, &[u8]),
    ) {
        if now < self.next {
            return;
        }
        self.next = now + self.settings.tick;
        if self.paused {
            return self.engine.rest();
        }
        for it in self.carried.values() {
            self.engine.place(it.slot, it.motion.position_at(world));
        }
        let Self { settings, engine, carried, owners, addresses, packer, .. } = self;
        let policy = Graded { policy: &*settings.policy, owners, grade };
        let tally = engine.tick(world, &policy, |observer, updates| {
            let listener = owners[observer.index()].and_then(|it| addresses.get(&it));
            let Some(&listener) = listener else { return };
            pack(packer, updates, owners, carried);
            packer.datagrams().for_each(|datagram| say(listener, datagram));
            packer.clear();
        });
        self.counts.sent += tally.sent;
        self.counts.deferred += tally.deferred;
    }

    fn counts(&self) -> PoseCounts {
        self.counts
    }
}

fn engine(settings: &CarrierSettings) -> Engine {
    let CarrierSettings { schedule, budget, .. } = *settings;
    Engine::new(Config { schedule, budget, ..Config::default() })
}

fn encode(object: ObjectId, motion: &Motion) -> Vec<u8> {
    let mut encoded = Vec::with_capacity(32);
    Pose { object, motion: *motion, tag: None }.encode(&mut encoded);
    encoded
}

fn pack(
    packer: &mut Packer,
    updates: &[Update],
    owners: &[Option<ObjectId>],
    carried: &BTreeMap<ObjectId, Carried>,
) {
    for update in updates {
        if let Some(object) = owners[update.subject.index()] {
            packer.push(&carried[&object].encoded);
        }
    }
}

/// The policy, with the game's say.
struct Graded<'a> {
    policy: &'a (dyn Policy + Send),
    owners: &'a [Option<ObjectId>],
    grade: Option<Grade<'a>>,
}

impl Policy for Graded<'_> {
    fn reach(&self) -> Reach {
        self.policy.reach()
    }

    fn relevance(&self, sight: &Sight) -> f32 {
        let graded = self.policy.relevance(sight);
        let (Some(grade), Some(observer), Some(subject)) =
            (self.grade, self.owners[sight.observer.index()], self.owners[sight.subject.index()])
        else {
            return graded;
        };
        grade(observer, subject, graded)
    }
}
