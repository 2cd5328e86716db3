//! A whole world in one value: no network, no threads, no clock, no faults. For a game's own tests.
//!
//! It has no model of the rules of its own: every event goes through [`Hosted`] and [`Draft`], as on a zone. So
//! a game that behaves here behaves on a zone, as far as nothing breaks down there.

use crate::codec::{decode, encode};
use crate::config::{MESSAGE_MAX, SOLO_EVENTS_MAX, SOLO_LETTER_DELAY, THINK_MIN};
use crate::{
    Addressee, Call, Draft, Game, Hearers, Hosted, Names, Objects, PlayerId, Product, Ran, Refused, Rules,
    Table, Viewer, WORLD,
};
use machine::{Rng, Span, Time};
use space::{Distance, Epoch, Heading, Millis, Motion, ObjectId, Polygon, Position, Velocity, ZoneId};
use std::collections::{BTreeMap, VecDeque};

/// A world with one game in it, and time that stands still until [`Solo::advance`].
///
/// Whatever the game does wrong (reach beyond its scope, write too much, panic) panics here, with the words in
/// which a server would report it.
pub struct Solo<G: Game> {
    rules: Hosted<G>,
    now: Time,
    rng: Rng,
    names: Names,
    table: Table,
    /// What is due when, in the order it was asked for.
    due: BTreeMap<Time, VecDeque<Due>>,
    /// When each thinker thinks next; `None` if it is done with thinking.
    thinkers: BTreeMap<ObjectId, Option<Time>>,
    players: BTreeMap<ObjectId, PlayerId>,
    next_player: u64,
    heard: Vec<(ObjectId, G::Notice)>,
}

enum Due {
    Letter(Addressee, Vec<u8>),
    Thought(ObjectId),
}

impl<G: Game> Solo<G> {
    /// A new world of two kilometres by two around the origin, filled by [`Game::populate`]. One seed, one
    /// history.
    ///
    /// # Panics
    /// If the game cannot fill it.
    pub fn new(game: G, seed: u64) -> Self {
        let corner = |metres| Position::from_metres(metres, metres).expect("a kilometre is in range");
        let region = Polygon::rectangle(corner(-1e3), corner(1e3)).expect("a square is a region");
        Self::in_region(game, seed, &region)
    }

    /// A new world in `region`, filled by [`Game::populate`].
    ///
    /// # Panics
    /// If the game cannot fill it.
    pub fn in_region(game: G, seed: u64, region: &Polygon) -> Self {
        let mut solo = Self {
            rules: Hosted(game),
            now: Time::ZERO,
            rng: Rng::seeded(seed),
            names: Names { zone: ZoneId(1), epoch: Epoch(1), next: 0 },
            table: Table::default(),
            due: BTreeMap::new(),
            thinkers: BTreeMap::new(),
            players: BTreeMap::new(),
            next_player: 1,
            heard: Vec::new(),
        };
        if let Some(state) = solo.rules.world() {
            solo.table.0.insert(WORLD, (Motion::default(), state));
        }
        let filled = solo.judged(Call::Populate { region });
        assert!(filled.is_ok(), "Game::populate cannot refuse");
        solo
    }

    /// A new player enters; the second is the avatar.
    ///
    /// # Panics
    /// If the game refuses: see [`Solo::try_join`].
    pub fn join(&mut self, name: &str) -> (PlayerId, ObjectId) {
        self.try_join(name).unwrap_or_else(|refusal| panic!("{name} may not join: {refusal:?}"))
    }

    /// A new player wants to enter.
    pub fn try_join(&mut self, name: &str) -> Result<(PlayerId, ObjectId), G::Refusal> {
        let player = PlayerId(self.next_player);
        self.next_player += 1;
        let ran = self.judged(Call::Join { player, name })?;
        let avatar = ran.avatar.expect("whoever joins has an avatar");
        self.players.insert(avatar, player);
        Ok((player, avatar))
    }

    /// The player of `avatar` leaves.
    pub fn leave(&mut self, avatar: ObjectId) {
        self.players.remove(&avatar).expect("only a player's avatar leaves");
        let left = self.judged(Call::Leave { avatar });
        assert!(left.is_ok(), "Game::on_leave cannot refuse");
    }

    /// The player of `avatar` wants something done, now.
    pub fn act(&mut self, avatar: ObjectId, action: &G::Action) -> Result<(), G::Refusal> {
        assert!(self.players.contains_key(&avatar), "object {avatar} is no player's avatar");
        let action = encode("an action", action, MESSAGE_MAX).unwrap_or_else(|fault| panic!("{fault}"));
        self.judged(Call::Act { actor: avatar, action: &action }).map(|_| ())
    }

    /// The player of `avatar` wants to go on like this, from where it is.
    pub fn steer(
        &mut self,
        avatar: ObjectId,
        velocity: Velocity,
        heading: Heading,
    ) -> Result<(), G::Refusal> {
        let place = self.position(avatar).expect("whoever moves exists");
        self.go(avatar, place, velocity, heading)
    }

    /// The player of `avatar` walks straight to `place` with `speed` per second and stands still there. Takes
    /// as long as that takes. If the game refuses, it stays where that happened.
    ///
    /// # Panics
    /// If `speed` is nothing.
    pub fn walk(&mut self, avatar: ObjectId, place: Position, speed: Distance) -> Result<(), G::Refusal> {
        let from = self.position(avatar).expect("whoever moves exists");
        let (dx, dy) = from.step_to(place);
        let Some(heading) = Heading::along(dx, dy) else { return Ok(()) };
        let millis = from.distance_squared(place).isqrt() * 1_000 / u64::from(speed.millimetres()) + 1;
        let along = |step: i32| (i64::from(step) * 1_000 / millis as i64) as i32;
        let velocity = Velocity::new(along(dx), along(dy)).expect("a walk is no flight between stars");
        self.go(avatar, from, velocity, heading)?;
        self.advance(Span::from_millis(millis));
        self.go(avatar, place, Velocity::ZERO, heading)
    }

    /// Lets time go by. Letters, timers and thoughts come in the order of their times.
    ///
    /// # Panics
    /// If the game never comes to rest.
    pub fn advance(&mut self, span: Span) {
        let end = self.now + span;
        for _ in 0..SOLO_EVENTS_MAX {
            let Some((at, due)) = self.take_due(end) else {
                self.now = end;
                return;
            };
            self.now = at;
            match due {
                Due::Letter(to, letter) => self.on_letter(to, &letter),
                Due::Thought(object) => self.on_thought(object),
            }
        }
        panic!("more than {SOLO_EVENTS_MAX} events in {span}: does a letter or a timer make more of itself?");
    }

    /// World time.
    pub const fn now(&self) -> Time {
        self.now
    }

    /// Every object, in the order of their names; the world as a whole comes first, if the game has it.
    pub fn objects(&self) -> impl Iterator<Item = ObjectId> {
        self.table.0.keys().copied()
    }

    /// What an object is; `None` if it does not exist.
    pub fn get(&self, object: ObjectId) -> Option<G::State> {
        let (_, state) = self.table.find(object)?;
        Some(decode("a state", state).unwrap_or_else(|error| panic!("object {object}: {error}")))
    }

    /// How an object moves; `None` if it does not exist.
    pub fn motion(&self, object: ObjectId) -> Option<Motion> {
        self.table.find(object).map(|(motion, _)| *motion)
    }

    /// Where an object is; `None` if it does not exist.
    pub fn position(&self, object: ObjectId) -> Option<Position> {
        self.motion(object).map(|it| it.position_at(self.now))
    }

    /// What the player of `avatar` sees: everything in range that the game shows.
    pub fn sight(&self, avatar: ObjectId) -> BTreeMap<ObjectId, G::Shown> {
        let (_, own) = self.table.find(avatar).expect("whoever looks exists");
        let (class, place) = (self.rules.class(own), self.position(avatar).unwrap_or_default());
        let near = self.objects().filter(|&it| it != WORLD);
        let near = near.filter(|&it| self.position(it).is_some_and(|at| place.is_within(G::RANGE, at)));
        near.filter_map(|it| Some((it, self.shown(it, Viewer { owns: it == avatar, class })?))).collect()
    }

    /// What players have heard since this was last asked, and whose avatar heard it.
    pub fn notices(&mut self) -> Vec<(ObjectId, G::Notice)> {
        std::mem::take(&mut self.heard)
    }

    fn shown(&self, object: ObjectId, to: Viewer) -> Option<G::Shown> {
        let (_, state) = self.table.find(object)?;
        let shown = self.rules.show(state, to)?;
        Some(decode("what is shown", &shown).unwrap_or_else(|error| panic!("object {object}: {error}")))
    }

    /// A move of a player, as its zone judges it.
    fn go(
        &mut self,
        mover: ObjectId,
        position: Position,
        velocity: Velocity,
        heading: Heading,
    ) -> Result<(), G::Refusal> {
        let (before, state) = self.table.0.get_mut(&mover).expect("whoever moves exists");
        let sequence = before.sequence + 1;
        let start = Millis::floor(self.now);
        let after = Motion { position, velocity, heading, start, sequence, ..*before };
        let allowed = self.rules.allows(state, before, &after);
        if allowed.is_ok() {
            *before = after;
        }
        allowed.map_err(|refused| told::<G>(&refused))
    }

    fn on_letter(&mut self, to: Addressee, letter: &[u8]) {
        let addressee = match to {
            Addressee::Object(object) => Some(object),
            Addressee::World => Some(WORLD),
            Addressee::Place(_) => None,
        };
        if addressee.is_none_or(|object| self.table.find(object).is_some()) {
            // A letter that is refused has changed nothing, and nobody waits for an answer.
            let _ = self.judged(Call::Letter { to, letter });
        }
    }

    fn on_thought(&mut self, object: ObjectId) {
        // It is gone, no thinker any more, or was a thinker anew since: then another thought is due.
        if self.thinkers.get(&object) != Some(&Some(self.now)) {
            return;
        }
        let ran = self.judged(Call::Think { object });
        let next = ran.ok().and_then(|ran| ran.think_after).map(|pause| self.now + pause);
        if let Some(thinker) = self.thinkers.get_mut(&object) {
            *thinker = next;
            next.into_iter().for_each(|at| self.later(at, Due::Thought(object)));
        }
    }

    /// The first thing due until `end`.
    fn take_due(&mut self, end: Time) -> Option<(Time, Due)> {
        let mut first = self.due.first_entry().filter(|it| *it.key() <= end)?;
        let at = *first.key();
        let due = first.get_mut().pop_front().expect("no empty queue is kept");
        if first.get().is_empty() {
            first.remove();
        }
        Some((at, due))
    }

    fn later(&mut self, at: Time, due: Due) {
        self.due.entry(at).or_default().push_back(due);
    }

    /// One event: as a zone runs it, and kept at once.
    fn judged(&mut self, call: Call<'_>) -> Result<Ran, G::Refusal> {
        let (ran, product) = self.run(call).map_err(|refused| told::<G>(&refused))?;
        self.keep(product);
        Ok(ran)
    }

    fn run(&mut self, call: Call<'_>) -> Result<(Ran, Product), Refused> {
        let scope = self.rules.scope(&self.table, self.now, call)?;
        let chance = self.rng.fork();
        let mut draft = Draft::new(&self.table, scope, call.actor(), self.now, chance, self.names);
        let ran = self.rules.run(&mut draft, call)?;
        let (product, names) = draft.finish().map_err(Refused::Fault)?;
        self.names = names;
        Ok((ran, product))
    }

    fn keep(&mut self, product: Product) {
        self.table.apply(&product);
        product.writes.keys().for_each(|&object| self.note_thinker(object));
        for (object, at, letter) in product.timers {
            self.later(at, Due::Letter(Addressee::Object(object), letter));
        }
        for (to, letter) in product.letters {
            self.later(self.now + SOLO_LETTER_DELAY, Due::Letter(to, letter));
        }
        product.notices.into_iter().for_each(|(to, notice)| self.tell(to, &notice));
    }

    fn note_thinker(&mut self, object: ObjectId) {
        let thinks = self.table.find(object).is_some_and(|(_, state)| self.rules.thinks(state));
        if !thinks {
            self.thinkers.remove(&object);
        } else if !self.thinkers.contains_key(&object) {
            let at = self.now + THINK_MIN;
            self.thinkers.insert(object, Some(at));
            self.later(at, Due::Thought(object));
        }
    }

    fn tell(&mut self, to: Hearers, notice: &[u8]) {
        let notice: G::Notice = decode("a notice", notice).expect("what was just encoded decodes");
        let hears = |avatar: ObjectId| match to {
            Hearers::Player(object) => object == avatar,
            Hearers::Near(place, reach) => self.position(avatar).is_some_and(|at| place.is_within(reach, at)),
        };
        let hearers: Vec<_> = self.players.keys().copied().filter(|&it| hears(it)).collect();
        self.heard.extend(hearers.into_iter().map(|avatar| (avatar, notice.clone())));
    }
}

/// What the game said no with. A fault is the author's to mend, so it fails the test at hand.
fn told<G: Game>(refused: &Refused) -> G::Refusal {
    match refused {
        Refused::ByGame(refusal) => decode("a refusal", refusal).expect("what was just encoded decodes"),
        Refused::Fault(fault) => panic!("{fault}"),
    }
}
