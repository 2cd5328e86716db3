//! Admission: which players the lobby lets into the world now, and which of them wait in a queue.
//!
//! A log-in costs a host much more than play does, so a crowd that comes at once could overload hosts that would carry it
//! easily if it came one by one. Hosts report how busy they are ([`HostReport`]); [`AdmissionPace`] makes a rate of that, and
//! [`AdmissionQueue`] orders the players who wait, in fair turns between address groups. A client asks again from time to
//! time; its player enters when the pace allows as many entries as its place is.
//!
//! [`Admission`] is a value: it has no clock, no randomness and no network. All of them come from its caller. It never sends
//! a player away who was let in before.

mod headroom;
mod host_report;
mod pace;
mod queue;
mod ranked_set;
mod recent_players;
mod settings;

pub use host_report::HostReport;
pub use settings::{AdmissionSettings, PaceSettings};

use crate::limits::address_group;
use game::PlayerId;
use headroom::{HeadroomLevel, HostHeadroom};
use machine::{Span, Time};
use pace::AdmissionPace;
use queue::AdmissionQueue;
use recent_players::RecentPlayers;
use std::collections::VecDeque;
use std::net::IpAddr;

/// The shortest pause before a waiting client asks again.
const AGAIN_MIN: Span = Span::from_secs(2);

/// The longest such pause, without its spread. Ten thousand players who wait ask 600 times a second then.
const AGAIN_MAX: Span = Span::from_secs(15);

/// Number of times that a client asks on its way to the front, at most at the present pace: so a place is up to date, and
/// a client is there when its turn comes.
const ASKS_ON_THE_WAY: f64 = 3.0;

/// The spread adds up to this share to a pause.
const SPREAD: f64 = 0.25;

/// Time after the start in which a player passes who names a session. The lobby has forgotten all players, and clients that
/// play tell it of themselves every four minutes.
const RESTART_GRACE: Span = Span::from_secs(300);

/// Time for which a player who was let in keeps a seat without being in the world: a page may load for that long.
const ENTERS_WITHIN: Span = Span::from_secs(20);

/// Time for which the queue must be empty before the state is called open again: it would flap while single players come.
const OPEN_AFTER: Span = Span::from_secs(5);

/// A player who wants to enter the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdmissionRequest {
    /// The player, proven by a pass.
    pub player: PlayerId,
    /// Address from which the player asks.
    pub address: IpAddr,
    /// The player names a session that began earlier.
    pub names_session: bool,
    /// A random number from 0 to 1: clients that were answered together do not ask together again.
    pub spread: f64,
}

/// The answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdmissionAnswer {
    /// The player may enter now.
    Enter,
    /// The player waits.
    Wait(QueuePlace),
    /// The queue is full: the player has no place, and may ask after this time.
    Full(Span),
}

/// A place in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuePlace {
    /// Number of the place, from 1.
    pub place: usize,
    /// Number of players who wait.
    pub waiting: usize,
    /// Time after which the client asks again. A player whose client comes seconds later counts as absent, and one whose client
    /// does not ask within three times as long (70 seconds at least) loses the place.
    pub again_after: Span,
}

/// The state of admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdmissionState {
    /// Players enter at once.
    Open,
    /// Players enter at the pace of the hosts, and others wait.
    Queueing,
    /// No player enters now, for this reason.
    Closed(ClosedReason),
}

/// The reason why no player enters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClosedReason {
    /// A host is busy, or was until a moment ago.
    Busy,
    /// A host does not report any more.
    Silent,
    /// As many players are in the world as the settings allow.
    PlayersMax,
}

impl AdmissionState {
    /// The state as a word for logs and programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Queueing => "queueing",
            Self::Closed(_) => "closed",
        }
    }

    /// The reason why no player enters, for people.
    pub const fn reason(self) -> Option<&'static str> {
        match self {
            Self::Open | Self::Queueing => None,
            Self::Closed(ClosedReason::Busy) => Some("a host is busy"),
            Self::Closed(ClosedReason::Silent) => Some("a host does not report"),
            Self::Closed(ClosedReason::PlayersMax) => {
                Some("as many players as lobby.players_max are in the world")
            }
        }
    }

    /// The state as a number for metrics: 0 open, 1 queueing, 2 closed.
    pub const fn number(self) -> u8 {
        match self {
            Self::Open => 0,
            Self::Queueing => 1,
            Self::Closed(_) => 2,
        }
    }
}

/// Numbers about admission, for metrics and people.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdmissionStatus {
    /// The state now.
    pub state: AdmissionState,
    /// Number of players who wait.
    pub waiting: usize,
    /// Players per second who may enter; 0 while closed.
    pub rate: f64,
    /// Number of players let in so far, without those who passed because they had been in.
    pub let_in: u64,
}

/// Admission to one world.
#[derive(Clone, Debug)]
pub struct Admission {
    settings: AdmissionSettings,
    started: Time,
    headroom: HostHeadroom,
    pace: AdmissionPace,
    queue: AdmissionQueue,
    recent: RecentPlayers,
    /// Times at which players were let in whom hosts do not count yet.
    entering: VecDeque<Time>,
    /// Number of players in the world by the last report.
    counted: usize,
    let_in: u64,
    state: AdmissionState,
    /// Time when the queue was last seen with players in it.
    queued_at: Option<Time>,
}

impl Admission {
    /// Admission to a world whose lobby starts now.
    pub fn new(settings: AdmissionSettings, now: Time) -> Self {
        Self {
            started: now,
            headroom: HostHeadroom::default(),
            pace: AdmissionPace::new(settings.pace, now),
            queue: AdmissionQueue::default(),
            recent: RecentPlayers::default(),
            entering: VecDeque::new(),
            counted: 0,
            let_in: 0,
            state: AdmissionState::Open,
            queued_at: None,
            settings,
        }
    }

    /// Takes the report of a host in.
    pub fn on_report(&mut self, now: Time, report: HostReport) {
        self.headroom.on_report(now, report);
        let counted = self.headroom.players(now);
        // Players who are in now had been on their way. If others left meanwhile, the seats are free a little later.
        let entered = counted.saturating_sub(std::mem::replace(&mut self.counted, counted));
        self.entering.drain(..entered.min(self.entering.len()));
        self.advance(now);
    }

    /// Answers a player who wants to enter.
    pub fn ask(&mut self, now: Time, request: &AdmissionRequest) -> AdmissionAnswer {
        self.advance(now);
        let answer = self.answer(now, request);
        // The answer may have filled or emptied the queue, or taken the last seat.
        self.update_state(now);
        answer
    }

    fn answer(&mut self, now: Time, request: &AdmissionRequest) -> AdmissionAnswer {
        let player = request.player;
        if self.passes(now, request) {
            self.queue.remove(player);
            self.recent.on_request(now, player);
            return AdmissionAnswer::Enter;
        }
        let Some(place) = self.queue.ask(player, address_group(request.address), self.settings.queue_max)
        else {
            return AdmissionAnswer::Full(self.again_after(self.queue.waiting(), request.spread));
        };
        if place <= self.entries_now(now) {
            self.queue.enter(player);
            self.pace.take();
            self.recent.on_request(now, player);
            self.entering.push_back(now);
            self.let_in += 1;
            return AdmissionAnswer::Enter;
        }
        let again_after = self.again_after(place, request.spread);
        self.queue.expect(now, player, again_after);
        AdmissionAnswer::Wait(QueuePlace { place, waiting: self.queue.waiting(), again_after })
    }

    /// Returns whether a player enters without waiting, because the player was let in before.
    fn passes(&mut self, now: Time, request: &AdmissionRequest) -> bool {
        // A number of a session proves nothing, because a client can make one up. Right after a start the lobby knows no player,
        // and players whose connections break then must not lose their avatars.
        let may_be_known = request.names_session && now.since(self.started) < RESTART_GRACE;
        !self.settings.is_on || may_be_known || self.recent.contains(now, request.player)
    }

    /// Number of players who may enter now.
    fn entries_now(&self, now: Time) -> usize {
        let seats = match self.settings.players_max {
            None => usize::MAX,
            Some(most) => (most as usize).saturating_sub(self.players(now)),
        };
        self.pace.entries().min(seats)
    }

    /// Number of players in the world, with those who are on their way.
    fn players(&self, now: Time) -> usize {
        self.headroom.players(now) + self.entering.len()
    }

    fn again_after(&self, place: usize, spread: f64) -> Span {
        let seconds = place as f64 / self.pace.usual_rate() / ASKS_ON_THE_WAY;
        let seconds = seconds.clamp(AGAIN_MIN.as_secs_f64(), AGAIN_MAX.as_secs_f64());
        Span::from_micros((seconds * (1.0 + SPREAD * spread.clamp(0.0, 1.0)) * 1e6) as u64)
    }

    /// Lets time pass: places are lost, and the pace follows the hosts.
    fn advance(&mut self, now: Time) {
        self.queue.advance(now);
        while self.entering.front().is_some_and(|&it| ENTERS_WITHIN <= now.since(it)) {
            self.entering.pop_front();
        }
        let level = self.headroom.level(now, &self.settings.pace);
        self.pace.advance(now, level, 0 < self.queue.waiting());
        self.update_state(now);
    }

    fn update_state(&mut self, now: Time) {
        if 0 < self.queue.waiting() {
            self.queued_at = Some(now);
        }
        let was_queueing = self.queued_at.is_some_and(|it| now.since(it) < OPEN_AFTER);
        let is_full = self.settings.players_max.is_some_and(|it| it as usize <= self.players(now));
        let level = self.headroom.level(now, &self.settings.pace);
        self.state = match level {
            _ if !self.settings.is_on => AdmissionState::Open,
            HeadroomLevel::Silent => AdmissionState::Closed(ClosedReason::Silent),
            _ if self.pace.is_closed() => AdmissionState::Closed(ClosedReason::Busy),
            _ if is_full => AdmissionState::Closed(ClosedReason::PlayersMax),
            _ if was_queueing => AdmissionState::Queueing,
            _ => AdmissionState::Open,
        };
    }

    /// State and numbers at this time.
    pub fn status(&mut self, now: Time) -> AdmissionStatus {
        self.advance(now);
        let rate = if matches!(self.state, AdmissionState::Closed(_)) { 0.0 } else { self.pace.rate() };
        AdmissionStatus { state: self.state, waiting: self.queue.waiting(), rate, let_in: self.let_in }
    }
}
