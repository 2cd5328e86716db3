//! The player's half of the protocol: finds the replica that reigns, numbers actions and sends them until they are answered,
//! moves the avatar, and knows what is in sight.
//!
//! It believes the highest epoch it has heard of and none below, and per object the highest (incarnation, version). After any
//! switch it sends again what was not answered.
//!
//! Its parts own their fields and do not know each other; the machine joins them and speaks. `web/client/src/player` has the
//! same parts, and `testdata/player` shows what both do.

mod actions;
mod avatar;
mod echo_timer;
mod home;
mod known_objects;
mod links;
#[cfg(test)]
mod scenarios;
mod search;

use crate::config::LATE_MAX;
use crate::hash;
use crate::msg::{Closed, Down, Msg, Shown, Up};
use crate::note::Note;
use crate::record::{Index, Outcome};
use crate::rule::{BrokenRules, Rule};
use actions::{Actions, Unanswered};
use avatar::Avatar;
use echo_timer::EchoTimer;
use game::config::MESSAGE_MAX as ACTION_MAX;
use game::{PlayerId, Sight};
use home::Home;
use known_objects::KnownObjects;
use links::Links;
use machine::{
    Address, Input, Lane, LatestKey, LinkNumber, Machine, Outbox, Rng, Span, Time, TimerName, Timers,
};
use search::Search;
use serde_bytes::ByteBuf;
use space::{Epoch, Heading, Motion, ObjectId, Velocity, ZoneId};
use std::hash::{Hash, Hasher};

/// A move is said again this often: at first because it may be lost, then to hear that the zone is there.
const MOVE_EVERY: Span = Span::from_millis(200);

/// A zone that was silent for this long may be gone: its replicas are asked which one reigns, then all are.
const SILENT: Span = Span::from_millis(400);

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

type Out = Outbox<Msg, Happening>;

/// The player's machine.
pub struct Player {
    config: PlayerConfig,
    now: Time,
    timers: Timers<Purpose>,
    links: Links,
    home: Home,
    search: Search,
    actions: Actions,
    avatar: Avatar,
    objects: KnownObjects,
    echoes: EchoTimer,
    /// Whether the player left or was superseded: it says nothing more and believes nothing more.
    closed: bool,
}

impl Player {
    /// A player who is not in yet.
    pub fn new(config: PlayerConfig) -> Self {
        let rng = Rng::seeded(config.seed).fork_named(config.player.0);
        Self {
            now: Time::ZERO,
            timers: Timers::new(),
            links: Links::new(),
            home: Home::new(),
            search: Search::new(rng),
            actions: Actions::new(),
            avatar: Avatar::none(),
            objects: KnownObjects::new(),
            echoes: EchoTimer::new(),
            closed: false,
            config,
        }
    }

    /// What the player knows; `None` while they are not in.
    pub fn sight(&self, now: Time) -> Option<Sight<'_>> {
        let me = self.avatar.id()?;
        let (now, unanswered) = (self.echoes.world(now), self.unanswered());
        Some(Sight { now, me, objects: self.objects.in_sight(), unanswered })
    }

    /// Whether the player is in. The zone may have been silent for a moment.
    pub const fn is_in(&self) -> bool {
        self.home.address().is_some() && self.avatar.id().is_some()
    }

    /// How many actions have not been answered.
    pub fn unanswered(&self) -> usize {
        self.actions.unanswered().len()
    }

    /// Whether a replica can be reached.
    pub fn is_linked(&self, address: Address) -> bool {
        self.links.has(address)
    }

    /// Whether the player looks for a replica that lets it in.
    pub const fn is_searching(&self) -> bool {
        self.search.is_on()
    }

    /// Where the player acts at the moment.
    pub const fn home(&self) -> Option<Address> {
        self.home.address()
    }

    /// World time, as the player's machine estimates it.
    pub fn world_time(&self, now: Time) -> Time {
        self.echoes.world(now)
    }

    /// The number of the last action taken; 0 before the first. After a full stop it may be lower than before.
    pub const fn last_action(&self) -> u64 {
        self.actions.next() - 1
    }

    /// The id of the last action taken; 0 before the first. Ids rise by one and never change.
    pub const fn last_id(&self) -> u64 {
        self.actions.last_id()
    }

    /// The highest epoch of the home's zone heard.
    pub fn epoch(&self) -> Epoch {
        self.home.epoch()
    }

    /// The zone that let the player in last.
    pub const fn zone(&self) -> ZoneId {
        self.home.zone()
    }

    /// The version of every object known, for checkers.
    pub fn versions(&self) -> impl Iterator<Item = (ObjectId, u32, u32)> {
        self.objects.versions()
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
            Want::Hear(object, motion) if !self.avatar.is(object) => self.objects.hear(object, &motion),
            Want::Hear(..) => (),
            Want::Leave => self.leave(out),
        }
    }

    fn leave(&mut self, out: &mut Out) {
        if let Some(home) = self.home.address() {
            out.send(home, Lane::Sure, Msg::Up(Up::Leave));
        }
        self.close();
    }

    /// Ends the play for good: no timer runs on.
    fn close(&mut self) {
        self.closed = true;
        self.home.forget();
        self.timers = Timers::new();
    }

    fn act(&mut self, action: ByteBuf, out: &mut Out) {
        if self.actions.is_full() || self.avatar.id().is_none() || self.closed {
            return out.raise(Happening::Busy);
        }
        if ACTION_MAX < action.len() {
            return out.raise(Happening::TooLong(action.len()));
        }
        let number = self.actions.take(action.clone(), self.now);
        let player = self.config.player;
        self.note(out, || Note::Asked { player, number });
        self.send_act(number, action, out);
    }

    fn send_act(&mut self, number: u64, action: ByteBuf, out: &mut Out) {
        if let Some(home) = self.home.address() {
            self.echoes.sent_other();
            let (acked, motion) = (self.actions.acked(), self.avatar.motion());
            out.send(home, Lane::Sure, Msg::Up(Up::Act { number, acked, motion, action }));
        }
    }

    fn steer(&mut self, velocity: Velocity, heading: Heading, out: &mut Out) {
        if self.avatar.id().is_none() || self.closed {
            return;
        }
        self.avatar.steer(self.echoes.world(self.now), velocity, heading);
        self.show_own();
        self.send_move(out);
    }

    fn send_move(&mut self, out: &mut Out) {
        self.timers.set(Purpose::Move, self.now + MOVE_EVERY);
        if let Some(home) = self.home.address() {
            self.echoes.sent_move(self.now);
            out.send(home, Lane::Latest(LatestKey(0)), Msg::Up(Up::Move(self.avatar.motion())));
        }
    }

    /// The own avatar is where the player moved it, not where others last heard of it.
    fn show_own(&mut self) {
        if let Some(me) = self.avatar.id() {
            self.objects.put(me, self.avatar.motion());
        }
    }

    // Finding the replica that reigns.

    /// Asks which replica lets the player in: first those that may be of the home's zone, if any can be reached, then all on the
    /// line. Hosts may have come that were not there when the player started.
    fn ask(&mut self, out: &mut Out) {
        let zone = self.home.zone();
        let is_near = self.avatar.id().is_some() && self.links.that_may_be_of(zone).next().is_some();
        let is_narrow = is_near && self.search.is_narrow();
        self.timers.set(Purpose::Ask, self.search.ask(self.now));
        let enter = Msg::Up(Up::Enter {
            player: self.config.player,
            session: self.config.session,
            name: self.config.name.clone(),
            seen: self.home.seen(),
        });
        if is_narrow {
            out.send_many(self.links.that_may_be_of(zone), Lane::Sure, enter);
        } else {
            out.send_many(self.links.all(), Lane::Sure, enter);
        }
    }

    fn start_search(&mut self, out: &mut Out) {
        if self.closed {
            return;
        }
        self.search.begin();
        if self.avatar.id().is_some() && self.search.tell() {
            out.raise(Happening::Searching);
        }
        self.ask(out);
    }

    // What the zone says.

    fn on_down(&mut self, from: Address, zone: ZoneId, epoch: Epoch, down: Down, out: &mut Out) {
        if matches!(down, Down::Entered { .. } | Down::NotHere { .. }) {
            self.links.learn_zone(from, zone);
        }
        let stale = self.is_stale(from, zone, epoch, &down);
        if stale && !self.config.broken_rules.has(Rule::PlayersFenceEpochs) {
            return;
        }
        if stale && self.home.is(from) {
            let (player, known) = (self.config.player, self.home.epoch_of(zone));
            self.note(out, || Note::Regressed { player, known, heard: epoch });
        }
        if self.home.is(from) || matches!(down, Down::Entered { .. }) {
            self.home.raise_epoch(zone, epoch);
        }
        match down {
            Down::Entered { avatar, incarnation, lost, motion, cursor, time, .. } => {
                self.home.enter(zone, epoch, incarnation, lost);
                self.actions.go_on_from(cursor);
                self.on_entered(from, avatar, motion, time, out);
            }
            Down::NotHere { .. } => self.on_not_here(from, out),
            Down::Closed(why) => self.on_closed(from, why, out),
            Down::Sight { index, objects } => self.on_sight(index, objects, out),
            Down::Told { index, shown, gone, notices } => self.on_told(index, shown, gone, notices, out),
            Down::Result { number, outcome, .. } => self.on_result(number, outcome, out),
            Down::Views { shown, hidden } => self.on_views(shown, &hidden, out),
            Down::Moved { generation, sequence, time } => self.on_moved(generation, sequence, time),
            Down::Corrected(motion) => self.on_corrected(motion, out),
        }
        if self.home.is(from) {
            self.home.hear(self.now);
        }
    }

    fn is_stale(&self, from: Address, zone: ZoneId, epoch: Epoch, down: &Down) -> bool {
        self.home.is_stale(from, (zone, epoch), down, self.avatar.id())
    }

    fn on_entered(&mut self, from: Address, avatar: ObjectId, motion: Motion, time: Time, out: &mut Out) {
        self.echoes.learn(self.search.asked(), self.now, time);
        if self.home.is(from) && !self.search.is_on() && self.avatar.is(avatar) {
            return;
        }
        self.avatar.enter(avatar, motion);
        self.home.move_to(from);
        self.search.end();
        self.timers.stop(Purpose::Ask);
        self.timers.set(Purpose::Silence, self.now + SILENT);
        let player = self.config.player;
        self.note(out, || Note::Entered { player });
        out.raise(Happening::Entered(avatar));
        for it in self.actions.unanswered().clone() {
            self.send_act(it.number, it.action, out);
        }
        self.send_move(out);
    }

    fn on_not_here(&mut self, from: Address, out: &mut Out) {
        if self.home.is(from) {
            // The player plays elsewhere, and will hear where. Only if that takes long is its owner told.
            self.search.begin_wide();
            self.ask(out);
        }
    }

    fn on_closed(&mut self, from: Address, why: Closed, out: &mut Out) {
        if self.home.is(from) {
            self.home.forget();
        }
        if why == Closed::Superseded {
            self.close();
        }
        out.raise(Happening::Closed(why));
    }

    fn on_sight(&mut self, index: Index, objects: Vec<Shown>, out: &mut Out) {
        self.home.see(index);
        if self.home.may_know_less() {
            self.objects.forget_versions();
        }
        self.objects.keep(self.now, &objects);
        for shown in objects {
            self.see(index, shown, out);
        }
        self.show_own();
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
        if self.home.is_news(index) {
            for notice in notices {
                out.raise(Happening::Notice(notice.into_vec()));
            }
        }
        self.home.see(index);
    }

    fn on_views(&mut self, shown: Vec<Shown>, hidden: &[ObjectId], out: &mut Out) {
        for shown in shown {
            self.see(0, shown, out);
        }
        self.objects.hide(self.now, hidden);
    }

    fn see(&mut self, index: Index, shown: Shown, out: &mut Out) {
        if self.objects.is_old(&shown) {
            return;
        }
        let (player, epoch) = (self.config.player, self.epoch());
        let Shown { object, incarnation, version, motion, .. } = shown;
        self.note(out, || {
            let hash = hash::of(&[&shown.shown]);
            Note::Saw { player, epoch, index, object, incarnation, version, hash }
        });
        if self.avatar.follow(object, &motion) {
            out.raise(Happening::Corrected(motion));
        }
        self.objects.see(shown);
        self.show_own();
    }

    fn lose(&mut self, index: Index, object: ObjectId, version: u32, out: &mut Out) {
        let Some(incarnation) = self.objects.lose(self.now, object, version) else { return };
        let (player, epoch) = (self.config.player, self.epoch());
        self.note(out, || Note::Saw { player, epoch, index, object, incarnation, version, hash: 0 });
    }

    fn on_result(&mut self, number: u64, outcome: Outcome, out: &mut Out) {
        let Some(Unanswered { id, wanted, .. }) = self.actions.answer(number) else { return };
        let player = self.config.player;
        self.note(out, || Note::Answered { player, number, outcome: outcome.clone() });
        let key = ActionKey { id, number };
        out.raise(Happening::Answered(key, outcome, self.now.since(wanted)));
        if let (true, Some(home)) = (self.actions.unanswered().is_empty(), self.home.address()) {
            out.send(home, Lane::Sure, Msg::Up(Up::Ack(self.actions.acked())));
        }
    }

    fn on_moved(&mut self, generation: u32, sequence: u32, time: Time) {
        let own = self.avatar.motion();
        let is_newest = (generation, sequence) == (own.generation, own.sequence);
        self.echoes.heard(is_newest, self.now, time);
    }

    fn on_corrected(&mut self, motion: Motion, out: &mut Out) {
        self.avatar.set_back(motion);
        self.show_own();
        out.raise(Happening::Corrected(motion));
    }

    // Links and time.

    fn on_link_up(&mut self, peer: Address, link: LinkNumber, out: &mut Out) {
        self.links.up(peer, link);
        if self.search.is_on() || self.home.is(peer) {
            // A new link to the home: it has forgotten the player.
            self.start_search(out);
        }
    }

    fn on_link_down(&mut self, peer: Address, link: LinkNumber, out: &mut Out) {
        if self.links.down(peer, link) && self.home.is(peer) {
            self.home.forget();
            self.start_search(out);
        }
    }

    fn on_wake(&mut self, out: &mut Out) {
        let is_late = self.timers.at(Purpose::Silence).is_some_and(|at| LATE_MAX < self.now.since(at));
        while let Some(purpose) = self.timers.take_due(self.now) {
            self.on_timer(purpose, is_late, out);
        }
    }

    fn on_timer(&mut self, purpose: Purpose, is_late: bool, out: &mut Out) {
        match purpose {
            Purpose::Ask if self.search.is_on() => self.ask(out),
            Purpose::Ask => (),
            Purpose::Move => self.send_move(out),
            Purpose::Silence => self.on_silence(is_late, out),
        }
    }

    /// A player that wakes late was busy or asleep itself: what the home said may not be read yet.
    fn on_silence(&mut self, is_late: bool, out: &mut Out) {
        let heard = self.home.heard();
        let is_silent = SILENT <= self.now.since(heard);
        // Once per silence: a player that is always late must not wait for ever.
        if is_silent && is_late && self.home.forgive() {
            return self.timers.set(Purpose::Silence, self.now + LATE_MAX);
        }
        if is_silent {
            self.start_search(out);
        }
        self.timers.set(Purpose::Silence, if is_silent { self.now } else { heard } + SILENT);
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
            Input::LinkUp { peer, link } => self.on_link_up(peer, link, out),
            Input::LinkDown { peer, link } => self.on_link_down(peer, link, out),
            Input::Recv { from, link, msg: Msg::Down(zone, epoch, down) }
                if self.links.is_newest(from, link) && !self.closed =>
            {
                self.on_down(from, zone, epoch, down, out);
            }
            Input::Recv { .. } => (),
            Input::Wake => self.on_wake(out),
        }
    }

    fn deadline(&self) -> Option<Time> {
        self.timers.deadline()
    }
}
