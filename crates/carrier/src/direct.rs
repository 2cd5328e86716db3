//! The zone itself sends, thinned by interest management, packed per listener.

use crate::{Carrier, Cue, Grade, Tally};
use interest::{Budget, Config, Engine, Policy, Reach, Schedule, Sight, Slot, Update};
use machine::{Address, Span, Time};
use space::{Motion, ObjectId};
use std::collections::BTreeMap;
use wire::{Message as _, Packer, Pose, frames};

/// How the direct carrier works.
pub struct DirectConfig {
    /// Who cares for whom.
    pub policy: Box<dyn Policy + Send>,
    /// How often a fully relevant pose is sent.
    pub schedule: Schedule,
    /// What a listener may get per second, in bytes of poses; `None` is no limit.
    pub budget: Option<Budget>,
    /// How often it speaks: fewer, fuller packets beat more.
    pub tick: Span,
}

/// A carrier that sends everything itself.
pub struct Direct {
    config: DirectConfig,
    engine: Engine,
    carried: BTreeMap<ObjectId, Carried>,
    /// Whose slot is whose.
    owners: Vec<Option<ObjectId>>,
    listeners: BTreeMap<Address, ObjectId>,
    /// The same by avatar. An avatar has one listener, the newest: whoever connects anew is at another address, and the
    /// old one may not be known to be gone yet.
    addresses: BTreeMap<ObjectId, Address>,
    hushed: bool,
    next: Time,
    packer: Packer,
    tally: Tally,
}

/// An object as it is carried: its pose is encoded when it changes, and sent unchanged.
struct Carried {
    slot: Slot,
    motion: Motion,
    encoded: Vec<u8>,
}

impl Direct {
    /// A carrier that carries nobody.
    pub fn new(config: DirectConfig) -> Self {
        let engine =
            Engine::new(Config { schedule: config.schedule, budget: config.budget, ..Config::default() });
        Self {
            config,
            engine,
            carried: BTreeMap::new(),
            owners: Vec::new(),
            listeners: BTreeMap::new(),
            addresses: BTreeMap::new(),
            hushed: false,
            next: Time::ZERO,
            packer: Packer::new(),
            tally: Tally::default(),
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
        let (schedule, budget) = (self.config.schedule, self.config.budget);
        self.engine = Engine::new(Config { schedule, budget, ..Config::default() });
        self.carried.clear();
        self.owners.clear();
        self.listeners.clear();
        self.addresses.clear();
        self.hushed = false;
    }
}

impl Carrier for Direct {
    fn cue(&mut self, cue: Cue) {
        match cue {
            Cue::Carry(object, motion) => self.carry(object, motion),
            Cue::Drop(object) => self.drop_object(object),
            Cue::Listen(address, avatar) => self.listen(address, avatar),
            Cue::Deaf(address) => self.deafen(address),
            Cue::Clear => self.clear(),
            Cue::Hush(hushed) => self.hushed = hushed,
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
        self.next = now + self.config.tick;
        if self.hushed {
            return self.engine.rest();
        }
        for it in self.carried.values() {
            self.engine.place(it.slot, it.motion.position_at(world));
        }
        let Self { config, engine, carried, owners, addresses, packer, .. } = self;
        let policy = Graded { policy: &*config.policy, owners, grade };
        let tally = engine.tick(world, &policy, |observer, updates| {
            let listener = owners[observer.index()].and_then(|it| addresses.get(&it));
            let Some(&listener) = listener else { return };
            pack(packer, updates, owners, carried);
            packer.datagrams().for_each(|datagram| say(listener, datagram));
            packer.clear();
        });
        self.tally.sent += tally.sent;
        self.tally.deferred += tally.deferred;
    }

    fn tally(&self) -> Tally {
        self.tally
    }

    fn hear(&self, datagram: &[u8], heard: &mut dyn FnMut(Pose)) {
        let Ok(frames) = frames(datagram) else { return };
        for frame in frames {
            if let Ok(pose) = Pose::decode(frame) {
                heard(pose);
            }
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use interest::policies::Circle;
    use space::{Distance, Epoch, Heading, Millis, Position, Velocity, ZoneId};

    fn id(counter: u32) -> ObjectId {
        ObjectId { zone: ZoneId(1), epoch: Epoch(1), counter }
    }

    fn at(x: i32, generation: u32, sequence: u32) -> Motion {
        let (position, velocity) = (Position::new(x, 0).unwrap(), Velocity::ZERO);
        Motion { position, velocity, heading: Heading::EAST, start: Millis(0), generation, sequence }
    }

    fn direct() -> Direct {
        Direct::new(DirectConfig {
            policy: Box::new(Circle::new(Distance::of_metres(100))),
            schedule: Schedule::default(),
            budget: None,
            tick: Span::from_millis(100),
        })
    }

    fn told(direct: &mut Direct, millis: u64) -> Vec<(Address, u32, i32)> {
        let (now, mut said) = (Time::from_millis(millis), Vec::new());
        direct.speak(now, now, None, &mut |to, datagram| said.push((to, datagram.to_vec())));
        let mut told = Vec::new();
        for (to, datagram) in said {
            direct
                .hear(&datagram, &mut |pose| told.push((to, pose.object.counter, pose.motion.position.x())));
        }
        told.sort();
        told
    }

    #[test]
    fn whoever_listens_hears_of_those_near_and_of_nobody_else() {
        let mut direct = direct();
        for (object, x) in [(1, 0), (2, 50_000), (3, 90_000_000)] {
            direct.cue(Cue::Carry(id(object), at(x, 0, 0)));
        }
        direct.cue(Cue::Listen(Address(9), id(1)));
        assert_eq!(told(&mut direct, 0), [(Address(9), 2, 50_000)]);
        direct.cue(Cue::Drop(id(2)));
        assert_eq!(told(&mut direct, 1_000), []);
        direct.cue(Cue::Deaf(Address(9)));
        direct.cue(Cue::Carry(id(4), at(5, 0, 0)));
        assert_eq!(told(&mut direct, 2_000), []);
        assert_eq!(direct.deadline(), None);
    }

    #[test]
    fn an_older_motion_changes_nothing_and_a_hushed_carrier_says_nothing() {
        let mut direct = direct();
        direct.cue(Cue::Listen(Address(9), id(1)));
        direct.cue(Cue::Carry(id(1), at(0, 0, 0)));
        direct.cue(Cue::Carry(id(2), at(7, 2, 0)));
        direct.cue(Cue::Carry(id(2), at(1_000, 1, 99)));
        assert_eq!(told(&mut direct, 0), [(Address(9), 2, 7)]);
        direct.cue(Cue::Hush(true));
        assert_eq!(told(&mut direct, 1_000), []);
        direct.cue(Cue::Hush(false));
        assert_eq!(told(&mut direct, 2_000), [(Address(9), 2, 7)]);
    }

    /// Two in a crowd of 200 listen for a minute, each with a line for a fifth of what is due.
    #[test]
    fn in_a_crowd_a_budget_is_kept_and_nobody_starves() {
        const SECONDS: u64 = 60;
        let budget = Budget { bytes_per_second: 2_000, burst: 500 };
        let mut direct = Direct::new(DirectConfig { budget: Some(budget), ..direct().config });
        (1..=200).for_each(|it| direct.cue(Cue::Carry(id(it), at(it as i32 * 100, 0, 0))));
        (1..=2).for_each(|it| direct.cue(Cue::Listen(Address(u64::from(it)), id(it))));
        let (mut bytes, mut silences, mut heard) = (BTreeMap::new(), BTreeMap::new(), 0);
        for tick in 0..SECONDS * 10 {
            let now = Time::from_millis(tick * 100);
            let mut said = Vec::new();
            direct.speak(now, now, None, &mut |to, datagram| said.push((to, datagram.to_vec())));
            for (to, datagram) in said {
                *bytes.entry((to, tick / 10)).or_insert(0) += datagram.len() - wire::DATAGRAM_HEADER;
                direct.hear(&datagram, &mut |pose| {
                    heard += 1;
                    let (last, longest) = silences.entry((to, pose.object)).or_insert((now, Span::ZERO));
                    (*last, *longest) = (now, (*longest).max(now.since(*last)));
                });
            }
        }
        let all: usize = bytes.values().sum();
        assert!(2 * 2_000 * (SECONDS as usize - 1) < all, "{all} bytes do not fill two lines");
        for ((to, second), bytes) in bytes {
            assert!(bytes <= 2_000 + 500 + wire::POSE_MAX, "{to:?} got {bytes} bytes in second {second}");
        }
        assert_eq!(silences.len(), 2 * 199, "everybody was heard of");
        for ((to, object), (last, longest)) in silences {
            let longest = longest.max(Time::from_millis(SECONDS * 1_000).since(last));
            assert!(longest < Span::from_secs(4), "{to:?} heard nothing of {object:?} for {longest}");
        }
        let Tally { sent, deferred } = direct.tally();
        assert!(sent == heard && sent < deferred, "{sent} sent, {heard} heard, {deferred} deferred");
    }

    #[test]
    fn an_avatar_has_one_listener_the_newest() {
        let mut direct = direct();
        direct.cue(Cue::Carry(id(2), at(7, 0, 0)));
        // Before the avatar is there, and while it is.
        direct.cue(Cue::Listen(Address(8), id(1)));
        direct.cue(Cue::Listen(Address(9), id(1)));
        direct.cue(Cue::Carry(id(1), at(0, 0, 0)));
        assert_eq!(told(&mut direct, 0), [(Address(9), 2, 7)]);
        direct.cue(Cue::Listen(Address(8), id(1)));
        assert_eq!(told(&mut direct, 100), [(Address(8), 2, 7)], "whoever is new knows nothing yet");
        direct.cue(Cue::Deaf(Address(9)));
        assert_eq!(told(&mut direct, 1_000), [(Address(8), 2, 7)], "the old one goes, the new one stays");
        direct.cue(Cue::Deaf(Address(8)));
        assert_eq!((told(&mut direct, 2_000), direct.deadline()), (vec![], None));
    }

    #[test]
    fn whoever_listens_for_another_avatar_listens_for_this_one_no_more() {
        let mut direct = direct();
        for object in 1..=3 {
            direct.cue(Cue::Carry(id(object), at(object as i32, 0, 0)));
        }
        direct.cue(Cue::Listen(Address(9), id(1)));
        direct.cue(Cue::Listen(Address(9), id(2)));
        assert_eq!(told(&mut direct, 0), [(Address(9), 1, 1), (Address(9), 3, 3)]);
        // An avatar that goes and comes back has its listener still, one that was cleared has none.
        direct.cue(Cue::Drop(id(2)));
        direct.cue(Cue::Carry(id(2), at(2, 1, 0)));
        assert_eq!(told(&mut direct, 100), [(Address(9), 1, 1), (Address(9), 3, 3)]);
        direct.cue(Cue::Clear);
        direct.cue(Cue::Carry(id(2), at(2, 2, 0)));
        direct.cue(Cue::Carry(id(3), at(3, 2, 0)));
        assert_eq!((told(&mut direct, 200), direct.deadline()), (vec![], None));
    }

    #[test]
    fn a_game_may_hide_somebody() {
        let mut direct = direct();
        direct.cue(Cue::Listen(Address(9), id(1)));
        for object in 1..=3 {
            direct.cue(Cue::Carry(id(object), at(0, 0, 0)));
        }
        let mut heard = Vec::new();
        let hide = |_, subject, graded| if subject == id(2) { 0.0 } else { graded };
        let mut said = Vec::new();
        direct.speak(Time::ZERO, Time::ZERO, Some(&hide), &mut |_, datagram| said.push(datagram.to_vec()));
        for datagram in said {
            direct.hear(&datagram, &mut |pose| heard.push(pose.object.counter));
        }
        assert_eq!(heard, [3]);
    }
}
