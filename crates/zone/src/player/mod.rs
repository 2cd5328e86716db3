//! The player's half of the protocol: finds who reigns, numbers actions and sends them until they are answered,
//! moves the avatar, and knows what is in sight.
//!
//! It believes the highest epoch it has heard of and nobody below, and per object the highest (incarnation,
//! version). After any switch it sends again whatever was not answered.

#[cfg(test)]
mod scenarios;

use crate::clock::WorldClock;
use crate::config::UNACKED_MAX;
use crate::hash;
use crate::msg::{Closed, Down, Msg, Shown, Up};
use crate::note::Note;
use crate::record::{Index, Outcome};
use crate::rule::{BrokenRules, Rule};
use game::config::MESSAGE_MAX as ACTION_MAX;
use game::{PlayerId, Sight, Sighted};
use machine::{
    Address, Input, Lane, LatestKey, LinkNumber, Machine, Outbox, Rng, Span, Time, TimerName, Timers,
};
use serde_bytes::ByteBuf;
use space::{Epoch, Heading, Millis, Motion, ObjectId, Velocity, ZoneId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{Hash, Hasher};

/// A move is said again this often: at first because it may be lost, then to hear that the zone is there.
const MOVE_EVERY: Span = Span::from_millis(200);

/// An echo that takes longer is lost.
const ECHO_MAX: Span = Span::from_millis(2_000);

/// A zone that was silent for this long may be gone: its replicas are asked who reigns, then everybody is.
const SILENT: Span = Span::from_millis(400);

/// How long it is remembered what was last seen of what is out of sight.
const REMEMBERED: Span = Span::from_millis(10_000);

/// How long an answer is waited for before the same is asked again.
const ASK_EVERY: Span = Span::from_millis(100);

/// How often only the home's zone is asked who reigns: mostly nothing is wrong but a datagram lost, and a world may have
/// hundreds of zones.
const NARROW_ROUNDS: u32 = 4;

/// What a player is told when it starts.
#[derive(Clone, Debug)]
pub struct PlayerConfig {
    /// Who.
    pub player: PlayerId,
    /// Which session.
    pub session: u64,
    /// Called what.
    pub name: String,
    /// Where chance starts.
    pub seed: u64,
    /// Whether to tell the owner everything that a checker needs.
    pub notes: bool,
    /// Rules that are broken on purpose: none in a real world.
    pub broken_rules: BrokenRules,
}

/// What a person (or bot) wants.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Want {
    /// Do this: an encoded action.
    Act(Vec<u8>),
    /// Go on like this.
    Steer(Velocity, Heading),
    /// Take in a pose that a carrier brought.
    Hear(ObjectId, Motion),
    /// Leave the world.
    Leave,
}

/// The names of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActionKey {
    /// The owner's: what [`Player::last_id`] gave when the action was wanted. It never changes.
    pub id: u64,
    /// The zone's. A full stop may lower it.
    pub number: u64,
}

/// What a simulator hashes is what happens in the world. The id is known to the owner only.
impl Hash for ActionKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number.hash(state);
    }
}

/// What a player's machine tells its owner.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Happening {
    /// The player is in, with this avatar.
    Entered(ObjectId),
    /// The zone is silent; play goes on when another answers.
    Searching,
    /// What became of an action, and how long after it was wanted.
    Answered(ActionKey, Outcome, Span),
    /// What the game says.
    Notice(Vec<u8>),
    /// The avatar was set back.
    Corrected(Motion),
    /// The zone does not let the player in.
    Closed(Closed),
    /// An action could not be taken: too many are unanswered.
    Busy,
    /// An action of this many bytes is more than any zone takes.
    TooLong(usize),
    /// Something for a checker.
    Note(Note),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Ask,
    Move,
    Silence,
}

impl TimerName for Purpose {
    const ALL: &'static [Self] = &[Self::Ask, Self::Move, Self::Silence];

    fn slot(self) -> usize {
        self as usize
    }
}

#[derive(Clone, Copy, Debug)]
struct Known {
    incarnation: u32,
    version: u32,
    /// Since when it is out of sight, if it is.
    hidden: Option<Time>,
}

/// An action that was sent and not answered.
#[derive(Clone)]
struct Unanswered {
    /// The action's name for the owner. It stays when a full stop changes the number.
    id: u64,
    number: u64,
    action: ByteBuf,
    wanted: Time,
}

type Out = Outbox<Msg, Happening>;

/// The player's machine.
pub struct Player {
    config: PlayerConfig,
    now: Time,
    clock: WorldClock,
    rng: Rng,
    timers: Timers<Purpose>,
    links: BTreeMap<Address, LinkNumber>,
    home: Option<Address>,
    /// The home's zone, also while its replica is being looked for.
    zone: ZoneId,
    /// The highest epoch heard of, per zone, and the one in which the home let us in.
    epochs: BTreeMap<ZoneId, Epoch>,
    entered: Epoch,
    /// The avatar's owners, counted: an earlier owner is not believed.
    incarnation: u32,
    /// The last record of the home heard of.
    seen: Index,
    /// Whether the home has lost some of what we have seen.
    may_know_less: bool,
    /// When the home was heard last, and when it was asked to let us in.
    heard: Time,
    asked: Time,
    searching: bool,
    /// How often this search has asked.
    rounds: u32,
    /// The zones of those who ever answered.
    zones: BTreeMap<Address, ZoneId>,
    /// Whether the owner knows that we search.
    told_searching: bool,
    /// Whether the player left or was superseded: it says nothing more and believes nothing more.
    closed: bool,
    me: Option<ObjectId>,
    motion: Motion,
    /// When a move was sent whose echo tells the time, whether that echo is awaited, how many are under way.
    timed: Time,
    timing: bool,
    echoes: u32,
    next: u64,
    /// The id of the last action taken.
    last_id: u64,
    unanswered: VecDeque<Unanswered>,
    /// Results up to this number have arrived.
    acked: u64,
    known: BTreeMap<ObjectId, Known>,
    objects: BTreeMap<ObjectId, Sighted>,
}

impl Player {
    /// A player who is not in yet.
    pub fn new(config: PlayerConfig) -> Self {
        let rng = Rng::seeded(config.seed).fork_named(config.player.0);
        Self {
            now: Time::ZERO,
            clock: WorldClock::new(),
            rng,
            timers: Timers::new(),
            links: BTreeMap::new(),
            home: None,
            zone: ZoneId(0),
            epochs: BTreeMap::new(),
            entered: Epoch(0),
            incarnation: 0,
            may_know_less: false,
            seen: 0,
            heard: Time::ZERO,
            asked: Time::ZERO,
            searching: true,
            rounds: 0,
            zones: BTreeMap::new(),
            told_searching: false,
            closed: false,
            me: None,
            motion: Motion::default(),
            timed: Time::ZERO,
            timing: false,
            echoes: 0,
            next: 1,
            last_id: 0,
            unanswered: VecDeque::new(),
            acked: 0,
            known: BTreeMap::new(),
            objects: BTreeMap::new(),
            config,
        }
    }

    /// What the player knows; `None` while they are not in.
    pub fn sight(&self, now: Time) -> Option<Sight<'_>> {
        let me = self.me?;
        let (now, unanswered) = (self.clock.now(now), self.unanswered.len());
        Some(Sight { now, me, objects: &self.objects, unanswered })
    }

    /// Whether the player is in. The zone may have been silent for a moment.
    pub const fn is_in(&self) -> bool {
        self.home.is_some() && self.me.is_some()
    }

    /// How many actions have not been answered.
    pub fn unanswered(&self) -> usize {
        self.unanswered.len()
    }

    /// Whether somebody can be reached.
    pub fn is_linked(&self, address: Address) -> bool {
        self.links.contains_key(&address)
    }

    /// Whether nobody is known who decides.
    pub const fn is_searching(&self) -> bool {
        self.searching
    }

    /// Where the player acts at the moment.
    pub const fn home(&self) -> Option<Address> {
        self.home
    }

    /// World time, as the player's machine estimates it.
    pub fn world_time(&self, now: Time) -> Time {
        self.clock.now(now)
    }

    /// The number of the last action taken; 0 before the first. After a full stop it may be lower than before.
    pub const fn last_action(&self) -> u64 {
        self.next - 1
    }

    /// The id of the last action taken; 0 before the first. Ids rise by one and never change.
    pub const fn last_id(&self) -> u64 {
        self.last_id
    }

    /// The highest epoch of the home's zone heard.
    pub fn epoch(&self) -> Epoch {
        self.epoch_of(self.zone)
    }

    /// The zone that let the player in last.
    pub const fn zone(&self) -> ZoneId {
        self.zone
    }

    fn epoch_of(&self, zone: ZoneId) -> Epoch {
        self.epochs.get(&zone).copied().unwrap_or(Epoch(0))
    }

    /// The version of every object known, for checkers.
    pub fn versions(&self) -> impl Iterator<Item = (ObjectId, u32, u32)> {
        let in_sight = self.known.iter().filter(|it| it.1.hidden.is_none());
        in_sight.map(|(&id, it)| (id, it.incarnation, it.version))
    }

    fn note(&self, out: &mut Out, note: impl FnOnce() -> Note) {
        if self.config.notes {
            out.raise(Happening::Note(note()));
        }
    }

    // Wants.

    fn on_want(&mut self, want: Want, out: &mut Out) {
        match want {
            Want::Act(action) => self.act(ByteBuf::from(action), out),
            Want::Steer(velocity, heading) => self.steer(velocity, heading, out),
            Want::Hear(object, motion) => self.hear(object, &motion),
            Want::Leave => self.leave(out),
        }
    }

    fn leave(&mut self, out: &mut Out) {
        if let Some(home) = self.home {
            out.send(home, Lane::Sure, Msg::Up(Up::Leave));
        }
        self.close();
    }

    /// Ends the play for good: no timer runs on.
    fn close(&mut self) {
        self.closed = true;
        self.home = None;
        self.timers = Timers::new();
    }

    fn act(&mut self, action: ByteBuf, out: &mut Out) {
        if UNACKED_MAX <= self.unanswered.len() || self.me.is_none() || self.closed {
            return out.raise(Happening::Busy);
        }
        if ACTION_MAX < action.len() {
            return out.raise(Happening::TooLong(action.len()));
        }
        let number = self.next;
        self.next += 1;
        let player = self.config.player;
        self.note(out, || Note::Asked { player, number });
        self.last_id += 1;
        let wanted = Unanswered { id: self.last_id, number, action: action.clone(), wanted: self.now };
        self.unanswered.push_back(wanted);
        self.send_act(number, action, out);
    }

    fn send_act(&mut self, number: u64, action: ByteBuf, out: &mut Out) {
        if let Some(home) = self.home {
            self.echoes += 1;
            let act = Up::Act { number, acked: self.acked, motion: self.motion, action };
            out.send(home, Lane::Sure, Msg::Up(act));
        }
    }

    fn steer(&mut self, velocity: Velocity, heading: Heading, out: &mut Out) {
        if self.me.is_none() || self.closed {
            return;
        }
        let now = self.clock.now(self.now).max(self.motion.start.time());
        let sequence = self.motion.sequence.saturating_add(1);
        self.motion =
            Motion { velocity, heading, sequence, start: Millis::floor(now), ..self.motion.rebased(now) };
        self.show_own();
        self.send_move(out);
    }

    fn send_move(&mut self, out: &mut Out) {
        self.timers.set(Purpose::Move, self.now + MOVE_EVERY);
        if let Some(home) = self.home {
            self.time_echo();
            out.send(home, Lane::Latest(LatestKey(0)), Msg::Up(Up::Move(self.motion)));
        }
    }

    /// Takes the time until the echo of what is sent now; not while others are under way, which look the same. Those
    /// that are lost are not waited for.
    fn time_echo(&mut self) {
        if self.echoes == 0 || ECHO_MAX < self.now.since(self.timed) {
            (self.timed, self.timing, self.echoes) = (self.now, true, 0);
        }
        self.echoes += 1;
    }

    /// The own avatar is where the player moved it, not where others last heard of it.
    fn show_own(&mut self) {
        if let Some(own) = self.me.and_then(|me| self.objects.get_mut(&me)) {
            own.motion = self.motion;
        }
    }

    fn hear(&mut self, object: ObjectId, motion: &Motion) {
        if Some(object) == self.me {
            return;
        }
        if let Some(known) = self.objects.get_mut(&object)
            && motion.is_newer_than(&known.motion)
        {
            known.motion = *motion;
        }
    }

    // Finding who reigns.

    /// Asks who lets us in: first the replicas of the home's zone and those nobody knows, if any can be reached, then everybody
    /// on the line. Hosts may have come that were not there when we started.
    fn ask(&mut self, out: &mut Out) {
        self.asked = self.now;
        let jitter = Span::from_micros(self.rng.below(ASK_EVERY.as_micros() / 2));
        self.timers.set(Purpose::Ask, self.now + ASK_EVERY + jitter);
        let enter = Up::Enter {
            player: self.config.player,
            session: self.config.session,
            name: self.config.name.clone(),
            seen: (0 < self.seen).then_some((self.zone, self.epoch(), self.seen)),
        };
        let may_reign = |it: &Address| self.zones.get(it).is_none_or(|zone| *zone == self.zone);
        let near = self.me.is_some() && self.links.keys().any(may_reign);
        let narrow = near && self.rounds < NARROW_ROUNDS;
        self.rounds = self.rounds.saturating_add(1);
        let asked = self.links.keys().copied().filter(|it| !narrow || may_reign(it));
        out.send_many(asked, Lane::Sure, Msg::Up(enter));
    }

    fn search(&mut self, out: &mut Out) {
        if self.closed {
            return;
        }
        if !std::mem::replace(&mut self.searching, true) {
            self.rounds = 0;
        }
        if self.me.is_some() && !std::mem::replace(&mut self.told_searching, true) {
            out.raise(Happening::Searching);
        }
        self.ask(out);
    }

    // What the zone says.

    fn on_down(&mut self, from: Address, zone: ZoneId, epoch: Epoch, down: Down, out: &mut Out) {
        if matches!(down, Down::Entered { .. } | Down::NotHere { .. }) {
            self.zones.insert(from, zone);
        }
        let stale = self.is_stale(from, zone, epoch, &down);
        if stale && !self.config.broken_rules.has(Rule::PlayersFenceEpochs) {
            return;
        }
        if stale && self.home == Some(from) {
            let (player, known) = (self.config.player, self.epoch_of(zone));
            self.note(out, || Note::Regressed { player, known, heard: epoch });
        }
        if self.home == Some(from) || matches!(down, Down::Entered { .. }) {
            let known = self.epochs.entry(zone).or_insert(epoch);
            *known = (*known).max(epoch);
        }
        match down {
            Down::Entered { avatar, incarnation, lost, motion, cursor, time, .. } => {
                self.may_know_less = lost;
                if lost {
                    self.seen = 0;
                }
                self.entered = epoch;
                self.move_to(zone);
                self.number_from(cursor);
                self.incarnation = incarnation;
                self.on_entered(from, avatar, motion, time, out);
            }
            Down::NotHere { .. } => self.on_not_here(from, out),
            Down::Closed(why) => self.on_closed(from, why, out),
            Down::Sight { index, objects } => self.on_sight(index, objects, out),
            Down::Told { index, shown, gone, notices } => self.on_told(index, shown, gone, notices, out),
            Down::Result { number, outcome, index } => self.on_result(number, outcome, index, out),
            Down::Views { shown, hidden } => self.on_views(shown, &hidden, out),
            Down::Moved { generation, sequence, time } => self.on_moved(generation, sequence, time),
            Down::Corrected(motion) => self.on_corrected(motion, out),
        }
        if self.home == Some(from) {
            self.heard = self.now;
        }
    }

    /// Whether this must not be believed. Only the home tells what happens, in the epoch in which it let us in or a
    /// later one; others may only offer themselves, and not in an epoch that is over.
    fn is_stale(&self, from: Address, zone: ZoneId, epoch: Epoch, down: &Down) -> bool {
        match down {
            Down::Entered { avatar, incarnation, .. } => {
                let earlier = self.me == Some(*avatar) && *incarnation < self.incarnation;
                epoch < self.epoch_of(zone) || earlier
            }
            Down::Closed(_) => epoch < self.epoch_of(zone),
            Down::NotHere { .. } => false,
            // Datagrams overtake, so the home's own epochs may be heard out of order.
            _ => self.home != Some(from) || epoch < self.entered,
        }
    }

    /// Records of another zone are counted anew.
    fn move_to(&mut self, zone: ZoneId) {
        if self.zone != zone {
            self.zone = zone;
            self.seen = 0;
        }
    }

    /// Goes on counting where the zone does. Earlier sessions of ours may have acted; or the world has lost its last
    /// moments in a full stop, and with them actions whose results we heard.
    fn number_from(&mut self, cursor: u64) {
        let first = self.unanswered.front().map_or(cursor + 1, |it| it.number);
        if self.unanswered.is_empty() {
            self.next = cursor + 1;
            self.acked = cursor;
        } else if cursor + 1 < first {
            for (number, it) in (cursor + 1..).zip(&mut self.unanswered) {
                it.number = number;
            }
            self.next = cursor + 1 + self.unanswered.len() as u64;
            self.acked = cursor;
        }
    }

    fn on_entered(&mut self, from: Address, avatar: ObjectId, motion: Motion, time: Time, out: &mut Out) {
        self.clock.learn(self.asked, self.now, time);
        if self.home == Some(from) && !self.searching && self.me == Some(avatar) {
            return;
        }
        // Whoever takes over may not have heard of our last steps; an event that moved us it has.
        let walked_on = self.me == Some(avatar)
            && self.motion.generation == motion.generation
            && motion.sequence <= self.motion.sequence;
        if !walked_on {
            self.motion = motion;
        }
        self.home = Some(from);
        (self.searching, self.told_searching) = (false, false);
        self.me = Some(avatar);
        self.timers.stop(Purpose::Ask);
        self.timers.set(Purpose::Silence, self.now + SILENT);
        let player = self.config.player;
        self.note(out, || Note::Entered { player });
        out.raise(Happening::Entered(avatar));
        for it in self.unanswered.clone() {
            self.send_act(it.number, it.action, out);
        }
        self.send_move(out);
    }

    fn on_not_here(&mut self, from: Address, out: &mut Out) {
        if self.home == Some(from) {
            // We play elsewhere, and will hear where. Only if that takes long does anybody notice.
            (self.searching, self.rounds) = (true, NARROW_ROUNDS);
            self.ask(out);
        }
    }

    fn on_closed(&mut self, from: Address, why: Closed, out: &mut Out) {
        if self.home == Some(from) {
            self.home = None;
        }
        if why == Closed::Superseded {
            self.close();
        }
        out.raise(Happening::Closed(why));
    }

    fn on_sight(&mut self, index: Index, objects: Vec<Shown>, out: &mut Out) {
        self.seen = self.seen.max(index);
        if self.may_know_less {
            self.known.clear();
        }
        // What we know newer than the home does stays as it is.
        let known = |it: &Shown| self.known.get(&it.object).map(|it| (it.incarnation, it.version));
        let is_old = |it: &Shown| known(it).is_some_and(|known| (it.incarnation, it.version) < known);
        let kept: BTreeSet<_> = objects.iter().filter(|it| is_old(it)).map(|it| it.object).collect();
        self.objects.retain(|object, _| kept.contains(object));
        self.hide_rest();
        for shown in objects {
            self.see(index, shown, out);
        }
        self.show_own();
    }

    /// What is not in sight is remembered for a while: a zone that has heard less of it than we have may show it again.
    fn hide_rest(&mut self) {
        let now = self.now;
        for (object, known) in &mut self.known {
            if !self.objects.contains_key(object) {
                known.hidden.get_or_insert(now);
            }
        }
        self.known.retain(|_, it| it.hidden.is_none_or(|since| now.since(since) < REMEMBERED));
    }

    fn on_told(
        &mut self,
        index: Index,
        shown: Vec<Shown>,
        gone: Vec<(ObjectId, u32)>,
        notices: Vec<ByteBuf>,
        out: &mut Out,
    ) {
        for shown in shown {
            self.see(index, shown, out);
        }
        for (object, version) in gone {
            self.lose(index, object, version, out);
        }
        // Notices of a record that was heard before are told again after a switch: once is enough. Those of a
        // neighbour have no number here, and are not told again.
        if self.seen < index || index == 0 {
            for notice in notices {
                out.raise(Happening::Notice(notice.into_vec()));
            }
        }
        self.seen = self.seen.max(index);
    }

    fn on_views(&mut self, shown: Vec<Shown>, hidden: &[ObjectId], out: &mut Out) {
        for shown in shown {
            self.see(0, shown, out);
        }
        for object in hidden {
            self.objects.remove(object);
        }
        self.hide_rest();
    }

    fn see(&mut self, index: Index, shown: Shown, out: &mut Out) {
        let Shown { object, incarnation, version, motion, shown } = shown;
        let newer =
            self.known.get(&object).is_none_or(|it| (it.incarnation, it.version) <= (incarnation, version));
        if !newer {
            return;
        }
        let (player, epoch) = (self.config.player, self.epoch());
        self.note(out, || {
            let hash = hash::of(&[&shown]);
            Note::Saw { player, epoch, index, object, incarnation, version, hash }
        });
        self.known.insert(object, Known { incarnation, version, hidden: None });
        let shown = shown.into_vec();
        if Some(object) == self.me && self.motion.generation < motion.generation {
            self.motion = motion; // An event moved us.
            out.raise(Happening::Corrected(motion));
        }
        let motion = match self.objects.get(&object) {
            Some(known) if known.motion.is_newer_than(&motion) => known.motion,
            _ => motion,
        };
        self.objects.insert(object, Sighted { motion, shown });
        self.show_own();
    }

    fn lose(&mut self, index: Index, object: ObjectId, version: u32, out: &mut Out) {
        let (player, epoch, now) = (self.config.player, self.epoch(), self.now);
        let Some(known) = self.known.get_mut(&object).filter(|it| it.version <= version) else { return };
        // Nobody who has not heard of it revives the dead.
        (known.version, known.hidden) = (version, Some(now));
        let incarnation = known.incarnation;
        self.note(out, || Note::Saw { player, epoch, index, object, incarnation, version, hash: 0 });
        self.objects.remove(&object);
    }

    fn on_result(&mut self, number: u64, outcome: Outcome, index: Index, out: &mut Out) {
        let _ = index;
        let place = self.unanswered.iter().position(|it| it.number == number);
        let Some(Unanswered { id, wanted, .. }) = place.and_then(|it| self.unanswered.remove(it)) else {
            return;
        };
        let first = self.unanswered.front().map_or(self.next, |it| it.number);
        self.acked = self.acked.max(first - 1);
        let player = self.config.player;
        self.note(out, || Note::Answered { player, number, outcome: outcome.clone() });
        let key = ActionKey { id, number };
        out.raise(Happening::Answered(key, outcome, self.now.since(wanted)));
        if let (true, Some(home)) = (self.unanswered.is_empty(), self.home) {
            out.send(home, Lane::Sure, Msg::Up(Up::Ack(self.acked)));
        }
    }

    fn on_moved(&mut self, generation: u32, sequence: u32, time: Time) {
        self.echoes = self.echoes.saturating_sub(1);
        if (generation, sequence) != (self.motion.generation, self.motion.sequence) {
            return;
        }
        if std::mem::take(&mut self.timing) {
            self.clock.learn(self.timed, self.now, time);
        }
    }

    fn on_corrected(&mut self, motion: Motion, out: &mut Out) {
        let sequence = self.motion.sequence.max(motion.sequence);
        self.motion = Motion { sequence, ..motion };
        self.show_own();
        out.raise(Happening::Corrected(motion));
    }

    // Time.

    fn on_timer(&mut self, purpose: Purpose, out: &mut Out) {
        match purpose {
            Purpose::Ask if self.searching => self.ask(out),
            Purpose::Ask => (),
            Purpose::Move => self.send_move(out),
            Purpose::Silence => {
                let silent = SILENT <= self.now.since(self.heard);
                if silent {
                    self.search(out);
                }
                let next = if silent { self.now + SILENT } else { self.heard + SILENT };
                self.timers.set(Purpose::Silence, next);
            }
        }
    }
}

impl Machine for Player {
    type Msg = Msg;
    type Command = Want;
    type Event = Happening;

    fn handle(&mut self, now: Time, input: Input<Msg, Want>, out: &mut Out) {
        self.now = now;
        match input {
            Input::Command(want) => self.on_want(want, out),
            Input::LinkUp { peer, link } => {
                self.links.insert(peer, link);
                if self.searching || self.home == Some(peer) {
                    // A new link to our home: it has forgotten us.
                    self.search(out);
                }
            }
            Input::LinkDown { peer, link } => {
                if self.links.get(&peer) == Some(&link) {
                    self.links.remove(&peer);
                    self.zones.remove(&peer);
                    if self.home == Some(peer) {
                        self.home = None;
                        self.search(out);
                    }
                }
            }
            Input::Recv { from, link, msg: Msg::Down(zone, epoch, down) }
                if self.links.get(&from) == Some(&link) && !self.closed =>
            {
                self.on_down(from, zone, epoch, down, out);
            }
            Input::Recv { .. } => (),
            Input::Wake => {
                while let Some(purpose) = self.timers.take_due(now) {
                    self.on_timer(purpose, out);
                }
            }
        }
    }

    fn deadline(&self) -> Option<Time> {
        self.timers.deadline()
    }
}
