//! The player's half of the protocol: finds the primary, numbers actions and keeps them until they are answered, moves
//! the avatar, and knows the objects in sight.
//!
//! It believes its home, in the epoch in which it was let in or a later one, and per object the highest (incarnation,
//! version); a later owner of the avatar is the new home. Whenever a zone lets it in, also the same one again, it sends
//! unanswered actions again; no timer repeats them.
//!
//! Its parts own their fields and do not know each other; the machine joins them and sends. `web/client/src/player` has
//! the same parts, and `testdata/player` shows what both do.

mod actions;
mod avatar;
mod contacts;
mod echo_timer;
mod home;
mod known_objects;
mod links;
#[cfg(test)]
mod scenarios;
mod search;

use crate::config::LATE_MAX;
use crate::hash;
use crate::load_level::LoadLevel;
use crate::msg::{Closed, FromPlayer, ShownObject, ToPlayer, ZoneMsg};
use crate::note::Note;
use crate::record::{Index, Outcome};
use crate::rule::{BrokenRules, Rule};
use actions::{Actions, Unanswered};
use avatar::OwnAvatar;
use contacts::Contacts;
use echo_timer::EchoTimer;
use game::config::MESSAGE_MAX as ACTION_MAX;
use game::{BotView, PlayerId};
use home::Home;
use known_objects::KnownObjects;
use links::ReplicaLinks;
use machine::{
    Address, Input, Lane, LatestKey, LinkNumber, Machine, Outbox, Rng, Span, Time, TimerName, Timers,
};
use search::HomeSearch;
pub use search::SearchReason;
use serde_bytes::ByteBuf;
use space::{Epoch, Heading, Motion, ObjectId, Velocity, ZoneId};
use std::hash::{Hash, Hasher};

/// Interval at which a move is sent again: at first because it may be lost, then to hear that the zone is there.
const MOVE_EVERY: Span = Span::from_millis(200);

/// A zone that was silent for this long may have another primary: its replicas are asked, then those of all zones.
const SILENT: Span = Span::from_millis(400);

/// The same for a zone that told that it is busy: lateness is not death.
const SILENT_BUSY: Span = Span::from_millis(1_500);

/// Configuration of a player's machine.
#[derive(Clone, Debug)]
pub struct PlayerConfig {
    /// The player who enters the world.
    pub player: PlayerId,
    /// Number of the session; a higher one replaces a lower.
    pub session: u64,
    /// Display name of the player.
    pub name: String,
    /// Random seed of the machine.
    pub seed: u64,
    /// Whether to raise notes for the checkers.
    pub notes: bool,
    /// Rules that are broken on purpose: none in a real world.
    pub broken_rules: BrokenRules,
}

/// A command of the person or bot who plays.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PlayerCommand {
    /// Ask for an action, encoded by the game.
    Act(Vec<u8>),
    /// Move the avatar on with this velocity and heading.
    Steer(Velocity, Heading),
    /// Take in a pose that a carrier brought.
    Hear(ObjectId, Motion),
    /// Leave the world for good.
    Leave,
}

/// The two names of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActionKey {
    /// The client's name: the value of [`Player::last_id`] after the command. It never changes.
    pub id: u64,
    /// The zone's name: the action's number. A full stop may lower it.
    pub number: u64,
}

/// A simulator hashes what happens in the world. The id is known to the client only, and no part of that.
impl Hash for ActionKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number.hash(state);
    }
}

/// An event that a player's machine raises for its client.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PlayerEvent {
    /// A zone let the player in, with this avatar.
    Entered(ObjectId),
    /// No zone has the player in; play goes on when one answers.
    Searching(SearchReason),
    /// The result of an action, and the time since its command.
    Answered(ActionKey, Outcome, Span),
    /// A notice, encoded by the game.
    Notice(Vec<u8>),
    /// A correction or an event gave the avatar this motion.
    Corrected(Motion),
    /// The zone does not let the player in.
    Closed(Closed),
    /// An action could not be taken: too many are unanswered.
    Busy,
    /// An action of this many bytes is more than any zone takes.
    TooLong(usize),
    /// The load level of the home has changed.
    Load(LoadLevel),
    /// The replicas whose hosts the client should be connected to; `None`: all hosts.
    Contacts(Option<Vec<Address>>),
    /// A report for the checkers.
    Note(Note),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlayerTimer {
    /// Ask once more which replica lets the player in.
    Ask,
    /// Send the newest move again.
    Move,
    /// Check whether the home is silent.
    Silence,
    /// Give up replicas that have not been contacts for a while.
    Contacts,
}

impl TimerName for PlayerTimer {
    const ALL: &'static [Self] = &[Self::Ask, Self::Move, Self::Silence, Self::Contacts];

    fn slot(self) -> usize {
        self as usize
    }
}

type PlayerOutbox = Outbox<ZoneMsg, PlayerEvent>;

/// The state machine of a player's side.
pub struct Player {
    config: PlayerConfig,
    now: Time,
    timers: Timers<PlayerTimer>,
    links: ReplicaLinks,
    contacts: Contacts,
    home: Home,
    search: HomeSearch,
    actions: Actions,
    avatar: OwnAvatar,
    objects: KnownObjects,
    echoes: EchoTimer,
    /// The load level of the home, as it told last.
    load: LoadLevel,
    /// Whether the player left or was superseded: it sends nothing more and believes nothing more.
    closed: bool,
}

impl Player {
    /// A player whom no zone has let in yet.
    pub fn new(config: PlayerConfig) -> Self {
        let rng = Rng::seeded(config.seed).fork_named(config.player.0);
        Self {
            now: Time::ZERO,
            timers: Timers::new(),
            links: ReplicaLinks::new(),
            contacts: Contacts::new(),
            home: Home::new(),
            search: HomeSearch::new(rng),
            actions: Actions::new(),
            avatar: OwnAvatar::none(),
            objects: KnownObjects::new(),
            echoes: EchoTimer::new(),
            load: LoadLevel::Calm,
            closed: false,
            config,
        }
    }

    /// Everything a bot may know; `None` before a zone has let the player in.
    pub fn sight(&self, now: Time) -> Option<BotView<'_>> {
        let me = self.avatar.id()?;
        let (now, unanswered) = (self.echoes.world(now), self.unanswered());
        Some(BotView { now, me, objects: self.objects.in_sight(), unanswered })
    }

    /// Whether a zone has let the player in. The zone may have been silent for a moment.
    pub const fn is_in(&self) -> bool {
        self.home.address().is_some() && self.avatar.id().is_some()
    }

    /// Number of actions without a result.
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

    /// The replica that the player sends actions to.
    pub const fn home(&self) -> Option<Address> {
        self.home.address()
    }

    /// The replicas whose hosts the client should be connected to; `None`: all hosts.
    pub fn contacts(&self) -> Option<Vec<Address>> {
        self.contacts.wanted()
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

    fn note(&self, out: &mut PlayerOutbox, note: impl FnOnce() -> Note) {
        if self.config.notes {
            out.raise(PlayerEvent::Note(note()));
        }
    }

    // Commands.

    fn on_command(&mut self, command: PlayerCommand, out: &mut PlayerOutbox) {
        match command {
            PlayerCommand::Act(action) => self.act(ByteBuf::from(action), out),
            PlayerCommand::Steer(velocity, heading) => self.steer(velocity, heading, out),
            PlayerCommand::Hear(object, motion) => self.hear(object, &motion),
            PlayerCommand::Leave => self.leave(out),
        }
    }

    /// Takes in a pose that a carrier brought, like [`PlayerCommand::Hear`]: there are hundreds per second.
    pub fn hear(&mut self, object: ObjectId, motion: &Motion) {
        // The player's own machine moves the avatar: a pose of it would only be an older echo.
        if !self.avatar.is(object) {
            self.objects.hear(object, motion);
        }
    }

    fn leave(&mut self, out: &mut PlayerOutbox) {
        if let Some(home) = self.home.address() {
            out.send(home, Lane::Sure, ZoneMsg::FromPlayer(FromPlayer::Leave));
        }
        self.close();
    }

    /// Ends the session for good: no timer runs on.
    fn close(&mut self) {
        self.closed = true;
        self.home.forget();
        self.timers = Timers::new();
    }

    fn act(&mut self, action: ByteBuf, out: &mut PlayerOutbox) {
        if self.actions.is_full() || self.avatar.id().is_none() || self.closed {
            return out.raise(PlayerEvent::Busy);
        }
        if ACTION_MAX < action.len() {
            return out.raise(PlayerEvent::TooLong(action.len()));
        }
        let number = self.actions.take(action.clone(), self.now);
        let player = self.config.player;
        self.note(out, || Note::Asked { player, number });
        self.send_act(number, action, out);
    }

    fn send_act(&mut self, number: u64, action: ByteBuf, out: &mut PlayerOutbox) {
        if let Some(home) = self.home.address() {
            // An action carries the avatar's motion, so the zone echoes it like a move.
            self.echoes.sent_other();
            let (acked, motion) = (self.actions.acked(), self.avatar.motion());
            out.send(
                home,
                Lane::Sure,
                ZoneMsg::FromPlayer(FromPlayer::Act { number, acked, motion, action }),
            );
        }
    }

    fn steer(&mut self, velocity: Velocity, heading: Heading, out: &mut PlayerOutbox) {
        if self.avatar.id().is_none() || self.closed {
            return;
        }
        self.avatar.steer(self.echoes.world(self.now), velocity, heading);
        self.show_own();
        self.send_move(out);
    }

    fn send_move(&mut self, out: &mut PlayerOutbox) {
        self.timers.set(PlayerTimer::Move, self.now + MOVE_EVERY);
        if let Some(home) = self.home.address() {
            self.echoes.sent_move(self.now);
            out.send(
                home,
                Lane::Latest(LatestKey(0)),
                ZoneMsg::FromPlayer(FromPlayer::Move(self.avatar.motion())),
            );
        }
    }

    /// Shows the own avatar where the player moved it, not where the zone last heard of it.
    fn show_own(&mut self) {
        if let Some(me) = self.avatar.id() {
            self.objects.put(me, self.avatar.motion());
        }
    }

    // Finding the primary.

    /// Asks which replica lets the player in: first those that may be of the home's zone, if any can be reached, then
    /// all that can. Hosts may have come that were not there when the player started.
    fn ask(&mut self, out: &mut PlayerOutbox) {
        let zone = self.home.zone();
        let is_near = self.avatar.id().is_some() && self.links.possibly_of(zone).next().is_some();
        let is_narrow = is_near && self.search.is_narrow();
        self.timers.set(PlayerTimer::Ask, self.search.ask(self.now));
        if self.search.is_long() && self.contacts.want_all() {
            self.timers.stop(PlayerTimer::Contacts);
            out.raise(PlayerEvent::Contacts(None));
        }
        let enter = ZoneMsg::FromPlayer(FromPlayer::Enter {
            player: self.config.player,
            session: self.config.session,
            name: self.config.name.clone(),
            seen: self.home.seen(),
        });
        if is_narrow {
            out.send_many(self.links.possibly_of(zone), Lane::Sure, enter);
        } else {
            out.send_many(self.links.all(), Lane::Sure, enter);
        }
    }

    /// Another replica of the home's zone has become primary: it is asked now, before the search that its predecessor's silence
    /// would begin.
    fn on_leads(&mut self, from: Address, zone: ZoneId, epoch: Epoch, out: &mut PlayerOutbox) {
        self.links.learn_zone(from, zone);
        let is_news = self.avatar.id().is_some() && zone == self.home.zone() && self.home.epoch() < epoch;
        if is_news && !self.home.is(from) && !self.closed {
            self.home.forget();
            self.search.begin();
            self.ask(out);
        }
    }

    /// The home is late or not any more.
    fn on_load(&mut self, load: LoadLevel, out: &mut PlayerOutbox) {
        if std::mem::replace(&mut self.load, load) != load {
            out.raise(PlayerEvent::Load(load));
        }
    }

    /// Time after which a silent home may have another primary.
    const fn patience(&self) -> Span {
        match self.load {
            LoadLevel::Calm => SILENT,
            LoadLevel::Busy | LoadLevel::Overloaded => SILENT_BUSY,
        }
    }

    fn start_search(&mut self, out: &mut PlayerOutbox) {
        if self.closed {
            return;
        }
        self.search.begin();
        self.tell_search(out);
        self.ask(out);
    }

    /// Tells the client of the search, once.
    fn tell_search(&mut self, out: &mut PlayerOutbox) {
        if self.avatar.id().is_some() && self.search.tell() {
            out.raise(PlayerEvent::Searching(self.search.reason()));
        }
    }

    // Messages of zones.

    fn on_zone_msg(
        &mut self,
        from: Address,
        zone: ZoneId,
        epoch: Epoch,
        msg: ToPlayer,
        out: &mut PlayerOutbox,
    ) {
        if matches!(msg, ToPlayer::Leads) {
            return self.on_leads(from, zone, epoch, out);
        }
        if matches!(msg, ToPlayer::Entered { .. } | ToPlayer::NotHere { .. }) {
            self.links.learn_zone(from, zone);
        }
        let stale = self.is_stale(from, zone, epoch, &msg);
        if stale && !self.config.broken_rules.has(Rule::PlayersFenceEpochs) {
            return;
        }
        if stale && self.home.is(from) {
            let (player, known) = (self.config.player, self.home.epoch_of(zone));
            self.note(out, || Note::Regressed { player, known, heard: epoch });
        }
        if self.home.is(from) || matches!(msg, ToPlayer::Entered { .. }) {
            self.home.raise_epoch(zone, epoch);
        }
        match msg {
            ToPlayer::Entered { avatar, incarnation, lost, motion, cursor, time, .. } => {
                self.home.enter(zone, epoch, incarnation, lost);
                // Before `on_entered`, which sends unanswered actions under their new numbers.
                self.actions.continue_after(cursor);
                self.on_entered(from, avatar, motion, time, out);
            }
            ToPlayer::NotHere { .. } => self.on_not_here(from, out),
            ToPlayer::Closed(why) => self.on_closed(from, why, out),
            ToPlayer::Sight { index, objects } => self.on_sight(index, objects, out),
            ToPlayer::Told { index, shown, gone, notices } => self.on_told(index, shown, gone, notices, out),
            ToPlayer::Result { number, outcome, .. } => self.on_result(number, outcome, out),
            ToPlayer::Views { shown, hidden } => self.on_views(shown, &hidden, out),
            ToPlayer::Moved { generation, sequence, time } => self.on_moved(generation, sequence, time),
            ToPlayer::Corrected(motion) => self.on_corrected(motion, out),
            ToPlayer::Contacts(replicas) => self.on_contacts(replicas, out),
            ToPlayer::Load(load) => self.on_load(load, out),
            ToPlayer::Leads => (), // Taken above: it may come from a replica that is not the home.
        }
        // Only now: `Entered` may just have made the sender the home.
        if self.home.is(from) {
            self.home.hear(self.now);
        }
    }

    fn is_stale(&self, from: Address, zone: ZoneId, epoch: Epoch, msg: &ToPlayer) -> bool {
        self.home.is_stale(from, (zone, epoch), msg, self.avatar.id())
    }

    fn on_entered(
        &mut self,
        from: Address,
        avatar: ObjectId,
        motion: Motion,
        time: Time,
        out: &mut PlayerOutbox,
    ) {
        self.echoes.learn(self.search.asked(), self.now, time);
        if self.home.is(from) && !self.search.is_on() && self.avatar.is(avatar) {
            return; // The second answer to a question that was asked twice.
        }
        self.avatar.enter(avatar, motion);
        if !self.home.is(from) {
            // Another primary has its own load level, and tells it if it is not calm.
            self.on_load(LoadLevel::Calm, out);
        }
        self.home.move_to(from);
        self.search.end();
        self.timers.stop(PlayerTimer::Ask);
        self.timers.set(PlayerTimer::Silence, self.now + self.patience());
        let player = self.config.player;
        self.note(out, || Note::Entered { player });
        out.raise(PlayerEvent::Entered(avatar));
        for it in self.actions.unanswered().clone() {
            self.send_act(it.number, it.action, out);
        }
        self.send_move(out);
    }

    fn on_not_here(&mut self, from: Address, out: &mut PlayerOutbox) {
        // Another zone has the avatar, and mostly lets the player in unasked. Only if that takes long does the
        // client hear of the search.
        if self.home.is(from) && self.search.begin_wide() {
            self.ask(out);
        }
    }

    fn on_closed(&mut self, from: Address, why: Closed, out: &mut PlayerOutbox) {
        if self.home.is(from) {
            self.home.forget();
        }
        if why == Closed::Superseded {
            self.close();
        }
        out.raise(PlayerEvent::Closed(why));
    }

    fn on_sight(&mut self, index: Index, objects: Vec<ShownObject>, out: &mut PlayerOutbox) {
        self.home.see(index);
        // After a full stop versions may be lower than before: without this, the player would ignore them as old.
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
        shown: Vec<ShownObject>,
        gone: Vec<(ObjectId, u32)>,
        notices: Vec<ByteBuf>,
        out: &mut PlayerOutbox,
    ) {
        // Objects first: a client that hears a notice already sees the event that it is about. (The notices of a
        // neighbour's event come in a message of their own, before its objects.)
        for shown in shown {
            self.see(index, shown, out);
        }
        for (object, version) in gone {
            self.lose(index, object, version, out);
        }
        if self.home.is_news(index) {
            for notice in notices {
                out.raise(PlayerEvent::Notice(notice.into_vec()));
            }
        }
        self.home.see(index);
    }

    fn on_views(&mut self, shown: Vec<ShownObject>, hidden: &[ObjectId], out: &mut PlayerOutbox) {
        for shown in shown {
            self.see(0, shown, out);
        }
        self.objects.hide(self.now, hidden);
    }

    fn see(&mut self, index: Index, shown: ShownObject, out: &mut PlayerOutbox) {
        if self.objects.is_old(&shown) {
            return;
        }
        let (player, epoch) = (self.config.player, self.epoch());
        let ShownObject { object, incarnation, version, motion, .. } = shown;
        self.note(out, || {
            let hash = hash::of(&[&shown.shown]);
            Note::Saw { player, epoch, index, object, incarnation, version, hash }
        });
        if self.avatar.follow(object, &motion) {
            out.raise(PlayerEvent::Corrected(motion));
        }
        self.objects.see(shown);
        if self.avatar.is(object) {
            self.show_own();
        }
    }

    fn lose(&mut self, index: Index, object: ObjectId, version: u32, out: &mut PlayerOutbox) {
        let Some(incarnation) = self.objects.lose(self.now, object, version) else { return };
        let (player, epoch) = (self.config.player, self.epoch());
        self.note(out, || Note::Saw { player, epoch, index, object, incarnation, version, hash: 0 });
    }

    fn on_result(&mut self, number: u64, outcome: Outcome, out: &mut PlayerOutbox) {
        let Some(Unanswered { id, since, .. }) = self.actions.answer(number) else { return };
        let player = self.config.player;
        self.note(out, || Note::Answered { player, number, outcome: outcome.clone() });
        let key = ActionKey { id, number };
        out.raise(PlayerEvent::Answered(key, outcome, self.now.since(since)));
        // The next action would carry the acknowledgement; with none under way it needs a message of its own.
        if let (true, Some(home)) = (self.actions.unanswered().is_empty(), self.home.address()) {
            out.send(home, Lane::Sure, ZoneMsg::FromPlayer(FromPlayer::Ack(self.actions.acked())));
        }
    }

    fn on_moved(&mut self, generation: u32, sequence: u32, time: Time) {
        let own = self.avatar.motion();
        let is_newest = (generation, sequence) == (own.generation, own.sequence);
        self.echoes.heard(is_newest, self.now, time);
    }

    fn on_corrected(&mut self, motion: Motion, out: &mut PlayerOutbox) {
        self.avatar.set_back(motion);
        self.show_own();
        out.raise(PlayerEvent::Corrected(motion));
    }

    fn on_contacts(&mut self, replicas: Vec<Address>, out: &mut PlayerOutbox) {
        self.contacts.name(self.now, replicas, self.links.all());
        self.show_contacts(out);
    }

    /// Tells the client the contacts, and sets the timer for the next one that is given up.
    fn show_contacts(&mut self, out: &mut PlayerOutbox) {
        out.raise(PlayerEvent::Contacts(self.contacts.wanted()));
        match self.contacts.next_expiry() {
            Some(at) => self.timers.set(PlayerTimer::Contacts, at),
            None => self.timers.stop(PlayerTimer::Contacts),
        }
    }

    // Links and time.

    fn on_link_up(&mut self, peer: Address, link: LinkNumber, out: &mut PlayerOutbox) {
        self.links.up(peer, link);
        if self.search.is_on() || self.home.is(peer) {
            // A new link to the home: the replica has forgotten the player.
            self.start_search(out);
        }
    }

    fn on_link_down(&mut self, peer: Address, link: LinkNumber, out: &mut PlayerOutbox) {
        if self.links.down(peer, link) && self.home.is(peer) {
            self.home.forget();
            self.start_search(out);
        }
    }

    fn on_wake(&mut self, out: &mut PlayerOutbox) {
        let is_late = self.timers.at(PlayerTimer::Silence).is_some_and(|at| LATE_MAX < self.now.since(at));
        while let Some(timer) = self.timers.take_due(self.now) {
            self.on_timer(timer, is_late, out);
        }
    }

    fn on_timer(&mut self, timer: PlayerTimer, is_late: bool, out: &mut PlayerOutbox) {
        match timer {
            PlayerTimer::Ask if self.search.is_on() => self.ask(out),
            PlayerTimer::Ask => (), // The search has ended meanwhile.
            PlayerTimer::Move => self.send_move(out),
            PlayerTimer::Silence => self.on_silence(is_late, out),
            PlayerTimer::Contacts => {
                self.contacts.expire(self.now);
                self.show_contacts(out);
            }
        }
    }

    /// A player that wakes late was busy or asleep itself: what the home said may not be read yet.
    fn on_silence(&mut self, is_late: bool, out: &mut PlayerOutbox) {
        let heard = self.home.heard();
        let patience = self.patience();
        let is_silent = patience <= self.now.since(heard);
        // Once per silence: a player that is always late must not wait for ever.
        if is_silent && is_late && self.home.excuse_silence() {
            return self.timers.set(PlayerTimer::Silence, self.now + LATE_MAX);
        }
        if is_silent && self.search.is_on() {
            self.tell_search(out); // It asks by itself, and more and more rarely.
        } else if is_silent {
            self.start_search(out);
        }
        self.timers.set(PlayerTimer::Silence, if is_silent { self.now } else { heard } + patience);
    }
}

impl Machine for Player {
    type Msg = ZoneMsg;
    type Command = PlayerCommand;
    type Event = PlayerEvent;

    fn handle(&mut self, now: Time, input: Input<ZoneMsg, PlayerCommand>, out: &mut PlayerOutbox) {
        self.now = now;
        match input {
            Input::Command(command) => self.on_command(command, out),
            Input::LinkUp { peer, link } => self.on_link_up(peer, link, out),
            Input::LinkDown { peer, link } => self.on_link_down(peer, link, out),
            Input::Recv { from, link, msg: ZoneMsg::ToPlayer(zone, epoch, msg) }
                if self.links.is_newest(from, link) && !self.closed =>
            {
                self.on_zone_msg(from, zone, epoch, msg, out);
            }
            // From a link that was replaced, after the end of the session, or no message for players.
            Input::Recv { .. } => (),
            Input::Wake => self.on_wake(out),
        }
    }

    fn deadline(&self) -> Option<Time> {
        self.timers.deadline()
    }
}
