//! A whole world in one value, for a game's own tests: no network, no threads, no clock, no failures.
//!
//! Every event goes through [`Hosted`] and [`Draft`], as in a zone. So a game that is correct here is correct in a
//! zone, as long as no host or network fails there.

use crate::codec::{decode, encode};
use crate::config::{MESSAGE_MAX, SOLO_EVENTS_MAX, SOLO_LETTER_DELAY, THINK_MIN};
use crate::{
    Addressee, Call, CallError, CallOutput, Draft, Game, Hearers, Hosted, HostedGame, NameAllocator, Objects,
    PlayerId, Product, SoloTable, Viewer, WORLD,
};
use machine::{Rng, Span, Time};
use space::{Distance, Epoch, Heading, Millis, Motion, ObjectId, Polygon, Position, Velocity, ZoneId};
use std::collections::{BTreeMap, VecDeque};

/// A world of one game, in which time stands still until [`Solo::advance`].
///
/// A fault of the game (an access beyond its scope, too many writes, a panic) panics here, with the text that a host
/// would log.
pub struct Solo<G: Game> {
    rules: Hosted<G>,
    now: Time,
    rng: Rng,
    names: NameAllocator,
    table: SoloTable,
    /// Letters and thoughts by due time; those of one time in the order in which they were added.
    due: BTreeMap<Time, VecDeque<SoloTask>>,
    /// Time of each NPC's next thought; `None` if it ended its thinking.
    thinkers: BTreeMap<ObjectId, Option<Time>>,
    players: BTreeMap<ObjectId, PlayerId>,
    next_player: u64,
    heard: Vec<(ObjectId, G::Notice)>,
}

enum SoloTask {
    Letter(Addressee, Vec<u8>),
    Thought(ObjectId),
}

impl<G: Game> Solo<G> {
    /// A new world of two kilometres by two around the origin, filled by [`Game::populate`]. The same seed gives the
    /// same history.
    ///
    /// # Panics
    /// If [`Game::populate`] has a fault.
    pub fn new(game: G, seed: u64) -> Self {
        let corner = |metres| Position::from_metres(metres, metres).expect("a kilometre is in range");
        let region = Polygon::rectangle(corner(-1e3), corner(1e3)).expect("a square is a region");
        Self::in_region(game, seed, &region)
    }

    /// A new world in `region`, filled by [`Game::populate`].
    ///
    /// # Panics
    /// If [`Game::populate`] has a fault.
    pub fn in_region(game: G, seed: u64, region: &Polygon) -> Self {
        let mut solo = Self {
            rules: Hosted(game),
            now: Time::ZERO,
            rng: Rng::seeded(seed),
            names: NameAllocator { zone: ZoneId(1), epoch: Epoch(1), next: 0 },
            table: SoloTable::default(),
            due: BTreeMap::new(),
            thinkers: BTreeMap::new(),
            players: BTreeMap::new(),
            next_player: 1,
            heard: Vec::new(),
        };
        if let Some(state) = solo.rules.world() {
            solo.table.0.insert(WORLD, (Motion::default(), state));
        }
        let filled = solo.commit(Call::Populate { region });
        assert!(filled.is_ok(), "Game::populate cannot refuse");
        solo
    }

    /// Lets a new player enter; returns the player and the avatar.
    ///
    /// # Panics
    /// If the game refuses: see [`Solo::try_join`].
    pub fn join(&mut self, name: &str) -> (PlayerId, ObjectId) {
        self.try_join(name).unwrap_or_else(|refusal| panic!("{name} may not join: {refusal:?}"))
    }

    /// Lets a new player enter, unless the game refuses; returns the player and the avatar.
    pub fn try_join(&mut self, name: &str) -> Result<(PlayerId, ObjectId), G::Refusal> {
        let player = PlayerId(self.next_player);
        self.next_player += 1;
        let output = self.commit(Call::Join { player, name })?;
        let avatar = output.avatar.expect("a successful join has an avatar");
        self.players.insert(avatar, player);
        Ok((player, avatar))
    }

    /// Lets the player of `avatar` leave.
    pub fn leave(&mut self, avatar: ObjectId) {
        self.players.remove(&avatar).expect("only a player's avatar leaves");
        let left = self.commit(Call::Leave { avatar });
        assert!(left.is_ok(), "Game::on_leave cannot refuse");
    }

    /// Executes an action of the player of `avatar`, at once.
    pub fn act(&mut self, avatar: ObjectId, action: &G::Action) -> Result<(), G::Refusal> {
        assert!(self.players.contains_key(&avatar), "object {avatar} is no player's avatar");
        let action = encode("an action", action, MESSAGE_MAX).unwrap_or_else(|fault| panic!("{fault}"));
        self.commit(Call::Act { actor: avatar, action: &action }).map(|_| ())
    }

    /// Changes the avatar's velocity and heading from its present position, as a move of its player.
    pub fn steer(
        &mut self,
        avatar: ObjectId,
        velocity: Velocity,
        heading: Heading,
    ) -> Result<(), G::Refusal> {
        let place = self.position(avatar).expect("a moving avatar exists");
        self.go(avatar, place, velocity, heading)
    }

    /// Lets the player of `avatar` walk straight to `place` with `speed` per second and stand still there. World time
    /// advances by the duration of the walk. If the game refuses a move, the avatar stays where it is then.
    ///
    /// # Panics
    /// If `speed` is zero.
    pub fn walk(&mut self, avatar: ObjectId, place: Position, speed: Distance) -> Result<(), G::Refusal> {
        let from = self.position(avatar).expect("a moving avatar exists");
        let (dx, dy) = from.step_to(place);
        let Some(heading) = Heading::along(dx, dy) else { return Ok(()) };
        // Rounded up, so that the walk is never faster than `speed`.
        let millis = from.distance_squared(place).isqrt() * 1_000 / u64::from(speed.millimetres()) + 1;
        let along = |step: i32| (i64::from(step) * 1_000 / millis as i64) as i32;
        let velocity = Velocity::new(along(dx), along(dy)).expect("a walking speed is in range");
        self.go(avatar, from, velocity, heading)?;
        self.advance(Span::from_millis(millis));
        // The rounded velocity may end a little short of `place`: the last move sets the exact position.
        self.go(avatar, place, Velocity::ZERO, heading)
    }

    /// Advances world time by `span`. Letters, timers and thoughts that become due run in the order of their times.
    ///
    /// # Panics
    /// If more than `SOLO_EVENTS_MAX` events become due: then the game never comes to rest.
    pub fn advance(&mut self, span: Span) {
        let end = self.now + span;
        for _ in 0..SOLO_EVENTS_MAX {
            let Some((at, due)) = self.take_due(end) else {
                self.now = end;
                return;
            };
            self.now = at;
            match due {
                SoloTask::Letter(to, letter) => self.on_letter(to, &letter),
                SoloTask::Thought(object) => self.on_thought(object),
            }
        }
        panic!("more than {SOLO_EVENTS_MAX} events in {span}: does a letter or a timer make more of itself?");
    }

    /// World time, zero in a new world.
    pub const fn now(&self) -> Time {
        self.now
    }

    /// Every object, in the order of their names; [`WORLD`] comes first, if the game has it.
    pub fn objects(&self) -> impl Iterator<Item = ObjectId> {
        self.table.0.keys().copied()
    }

    /// The state of an object; `None` if it does not exist.
    pub fn get(&self, object: ObjectId) -> Option<G::State> {
        let (_, state) = self.table.find(object)?;
        Some(decode("a state", state).unwrap_or_else(|error| panic!("object {object}: {error}")))
    }

    /// The motion of an object; `None` if it does not exist.
    pub fn motion(&self, object: ObjectId) -> Option<Motion> {
        self.table.find(object).map(|(motion, _)| *motion)
    }

    /// The present position of an object; `None` if it does not exist.
    pub fn position(&self, object: ObjectId) -> Option<Position> {
        self.motion(object).map(|it| it.position_at(self.now))
    }

    /// Everything within range of `avatar` that the game shows to its player.
    pub fn sight(&self, avatar: ObjectId) -> BTreeMap<ObjectId, G::Shown> {
        let (_, own) = self.table.find(avatar).expect("an observer's avatar exists");
        let (class, place) = (self.rules.class(own), self.position(avatar).unwrap_or_default());
        let near = self.objects().filter(|&it| it != WORLD);
        let near = near.filter(|&it| self.position(it).is_some_and(|at| place.is_within(G::RANGE, at)));
        near.filter_map(|it| Some((it, self.shown(it, Viewer { owns: it == avatar, class })?))).collect()
    }

    /// The notices since the last call, each with the avatar of the player who heard it.
    pub fn notices(&mut self) -> Vec<(ObjectId, G::Notice)> {
        std::mem::take(&mut self.heard)
    }

    fn shown(&self, object: ObjectId, to: Viewer) -> Option<G::Shown> {
        let (_, state) = self.table.find(object)?;
        let shown = self.rules.show(state, to)?;
        Some(decode("what is shown", &shown).unwrap_or_else(|error| panic!("object {object}: {error}")))
    }

    /// A move of a player, with the check that its zone makes.
    fn go(
        &mut self,
        mover: ObjectId,
        position: Position,
        velocity: Velocity,
        heading: Heading,
    ) -> Result<(), G::Refusal> {
        let (before, state) = self.table.0.get_mut(&mover).expect("a moving avatar exists");
        let sequence = before.sequence + 1;
        let start = Millis::floor(self.now);
        let after = Motion { position, velocity, heading, start, sequence, ..*before };
        let allowed = self.rules.allows(state, before, &after);
        if allowed.is_ok() {
            *before = after;
        }
        allowed.map_err(|error| refusal::<G>(&error))
    }

    fn on_letter(&mut self, to: Addressee, letter: &[u8]) {
        let addressee = match to {
            Addressee::Object(object) => Some(object),
            Addressee::World => Some(WORLD),
            Addressee::Place(_) => None,
        };
        if addressee.is_none_or(|object| self.table.find(object).is_some()) {
            // A refused letter has changed nothing, and its sender does not wait for an answer.
            let _ = self.commit(Call::Letter { to, letter });
        }
    }

    fn on_thought(&mut self, object: ObjectId) {
        // The object was removed, stopped thinking, or was made to think again since: then another thought is due.
        if self.thinkers.get(&object) != Some(&Some(self.now)) {
            return;
        }
        let output = self.commit(Call::Think { object });
        let next = output.ok().and_then(|it| it.think_after).map(|pause| self.now + pause);
        if let Some(thinker) = self.thinkers.get_mut(&object) {
            *thinker = next;
            next.into_iter().for_each(|at| self.add_task(at, SoloTask::Thought(object)));
        }
    }

    /// Removes and returns the first task that is due until `end`.
    fn take_due(&mut self, end: Time) -> Option<(Time, SoloTask)> {
        let mut first = self.due.first_entry().filter(|it| *it.key() <= end)?;
        let at = *first.key();
        let due = first.get_mut().pop_front().expect("no empty queue is kept");
        if first.get().is_empty() {
            first.remove();
        }
        Some((at, due))
    }

    fn add_task(&mut self, at: Time, due: SoloTask) {
        self.due.entry(at).or_default().push_back(due);
    }

    /// Runs one event as a zone does, and keeps its product at once.
    fn commit(&mut self, call: Call<'_>) -> Result<CallOutput, G::Refusal> {
        let (output, product) = self.run(call).map_err(|error| refusal::<G>(&error))?;
        self.keep(product);
        Ok(output)
    }

    fn run(&mut self, call: Call<'_>) -> Result<(CallOutput, Product), CallError> {
        let scope = self.rules.scope(&self.table, self.now, call)?;
        let chance = self.rng.fork();
        let mut draft = Draft::new(&self.table, scope, call.actor(), self.now, chance, self.names);
        let output = self.rules.run(&mut draft, call)?;
        let (product, names) = draft.finish().map_err(CallError::Fault)?;
        self.names = names;
        Ok((output, product))
    }

    fn keep(&mut self, product: Product) {
        self.table.apply(&product);
        product.writes.keys().for_each(|&object| self.note_thinker(object));
        for (object, at, letter) in product.timers {
            self.add_task(at, SoloTask::Letter(Addressee::Object(object), letter));
        }
        for (to, letter) in product.letters {
            self.add_task(self.now + SOLO_LETTER_DELAY, SoloTask::Letter(to, letter));
        }
        product.notices.into_iter().for_each(|(to, notice)| self.deliver_notice(to, &notice));
    }

    fn note_thinker(&mut self, object: ObjectId) {
        let thinks = self.table.find(object).is_some_and(|(_, state)| self.rules.thinks(state));
        if !thinks {
            self.thinkers.remove(&object);
        } else if !self.thinkers.contains_key(&object) {
            let at = self.now + THINK_MIN;
            self.thinkers.insert(object, Some(at));
            self.add_task(at, SoloTask::Thought(object));
        }
    }

    fn deliver_notice(&mut self, to: Hearers, notice: &[u8]) {
        let notice: G::Notice = decode("a notice", notice).expect("what was just encoded decodes");
        let hears = |avatar: ObjectId| match to {
            Hearers::Player(object) => object == avatar,
            Hearers::Near(place, reach) => self.position(avatar).is_some_and(|at| place.is_within(reach, at)),
        };
        let hearers: Vec<_> = self.players.keys().copied().filter(|&it| hears(it)).collect();
        self.heard.extend(hearers.into_iter().map(|avatar| (avatar, notice.clone())));
    }
}

/// The refusal of the game. A fault is a mistake of the game's author, so it panics and fails the running test.
fn refusal<G: Game>(error: &CallError) -> G::Refusal {
    match error {
        CallError::ByGame(refusal) => decode("a refusal", refusal).expect("what was just encoded decodes"),
        CallError::Fault(fault) => panic!("{fault}"),
    }
}
