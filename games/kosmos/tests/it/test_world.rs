//! A small world for one test: put objects where the test needs them, let one event happen, look at the result.
//!
//! Time stands still unless the test moves it, and no object thinks by itself. A fault of the game panics.

use game::{
    Addressee, Call, CallError, Draft, Hearers, Hosted, HostedGame, NameAllocator, Objects, Product,
    SoloTable, Viewer, WORLD,
};
use kosmos::{
    Action, Avatar, Item, ItemKind, Kosmos, Letter, Notice, Npc, NpcKind, Refusal, Serial, Shown, State,
};
use machine::{Rng, Span, Time};
use serde::de::DeserializeOwned;
use space::{Epoch, Millis, Motion, ObjectId, Position, Velocity, ZoneId};

pub struct KosmosTestWorld {
    pub rules: Hosted<Kosmos>,
    pub now: Time,
    pub table: SoloTable,
    pub letters: Vec<(Addressee, Letter)>,
    pub timers: Vec<(ObjectId, Time, Letter)>,
    pub notices: Vec<(Hearers, Notice)>,
    rng: Rng,
    names: NameAllocator,
}

impl KosmosTestWorld {
    pub fn new() -> Self {
        let rules = Hosted(Kosmos::default());
        let world = rules.world().expect("the game keeps a tally");
        let mut table = SoloTable::default();
        table.0.insert(WORLD, (Motion::default(), world));
        Self {
            rules,
            now: Time::from_millis(10_000),
            table,
            letters: Vec::new(),
            timers: Vec::new(),
            notices: Vec::new(),
            rng: Rng::seeded(7),
            names: NameAllocator { zone: ZoneId(1), epoch: Epoch(1), next: 1 },
        }
    }

    /// Puts an object into the world, at (`x`, `y`) millimetres.
    pub fn put(&mut self, state: &State, (x, y): (i32, i32), (vx, vy): (i32, i32)) -> ObjectId {
        let name = ObjectId { zone: self.names.zone, epoch: self.names.epoch, counter: self.names.next };
        self.names.next += 1;
        let motion = Motion {
            position: Position::new(x, y).unwrap(),
            velocity: Velocity::new(vx, vy).unwrap(),
            start: Millis::floor(self.now),
            ..Motion::default()
        };
        self.table.0.insert(name, (motion, postcard::to_stdvec(state).unwrap()));
        name
    }

    pub fn avatar(&mut self, name: &str, place: (i32, i32)) -> ObjectId {
        self.put(&State::Avatar(avatar(name)), place, (0, 0))
    }

    pub fn npc(&mut self, kind: NpcKind, place: (i32, i32)) -> ObjectId {
        self.put(&State::Npc(Npc { kind, health: kosmos::config::NPC_HEALTH }), place, (0, 0))
    }

    /// Puts an item on the ground.
    pub fn item(&mut self, kind: ItemKind, place: (i32, i32)) -> ObjectId {
        let item = self.fresh(kind);
        self.put(&State::Item(item), place, (0, 0))
    }

    /// Puts an item into an avatar's bag.
    pub fn give(&mut self, to: ObjectId, kind: ItemKind) -> Item {
        let item = self.fresh(kind);
        self.change(to, |it| it.bag.push(item));
        item
    }

    fn fresh(&mut self, kind: ItemKind) -> Item {
        self.names.next += 1;
        let serial = Serial(ObjectId { zone: ZoneId(9), epoch: Epoch(1), counter: self.names.next });
        Item { serial, kind }
    }

    /// Changes an avatar without an event.
    pub fn change(&mut self, avatar: ObjectId, change: impl FnOnce(&mut Avatar)) {
        let mut it = self.avatar_state(avatar);
        change(&mut it);
        self.table.0.get_mut(&avatar).unwrap().1 = postcard::to_stdvec(&State::Avatar(it)).unwrap();
    }

    pub fn act(&mut self, actor: ObjectId, action: Action) -> Result<(), Refusal> {
        let action = postcard::to_stdvec(&action).unwrap();
        self.call(Call::Act { actor, action: &action }).map(|_| ())
    }

    pub fn think(&mut self, object: ObjectId) -> (Option<Span>, Product) {
        self.call(Call::Think { object }).expect("a thought is not refused")
    }

    pub fn letter(&mut self, to: Addressee, letter: Letter) {
        let letter = postcard::to_stdvec(&letter).unwrap();
        self.call(Call::Letter { to, letter: &letter }).expect("letters are not refused");
    }

    pub fn leave(&mut self, avatar: ObjectId) {
        self.call(Call::Leave { avatar }).expect("leaving is not refused");
    }

    pub fn call(&mut self, call: Call<'_>) -> Result<(Option<Span>, Product), Refusal> {
        let (after, product) = match self.run(call) {
            Ok(done) => done,
            Err(CallError::ByGame(refusal)) => return Err(decoded(&refusal)),
            Err(CallError::Fault(fault)) => panic!("{fault}"),
        };
        self.table.apply(&product);
        self.letters.extend(product.letters.iter().map(|(to, it)| (*to, decoded(it))));
        self.timers.extend(product.timers.iter().map(|(to, at, it)| (*to, *at, decoded(it))));
        self.notices.extend(product.notices.iter().map(|(to, it)| (*to, decoded(it))));
        Ok((after, product))
    }

    fn run(&mut self, call: Call<'_>) -> Result<(Option<Span>, Product), CallError> {
        let scope = self.rules.scope(&self.table, self.now, call)?;
        let mut draft = Draft::new(&self.table, scope, call.actor(), self.now, self.rng.fork(), self.names);
        let ran = self.rules.run(&mut draft, call)?;
        let (product, names) = draft.finish().map_err(CallError::Fault)?;
        self.names = names;
        Ok((ran.think_after, product))
    }

    pub fn get(&self, object: ObjectId) -> Option<State> {
        self.table.find(object).map(|(_, state)| decoded(state))
    }

    pub fn avatar_state(&self, avatar: ObjectId) -> Avatar {
        match self.get(avatar) {
            Some(State::Avatar(it)) => it,
            other => panic!("{avatar} is {other:?}"),
        }
    }

    pub fn motion(&self, object: ObjectId) -> Motion {
        *self.table.find(object).expect("it is there").0
    }

    pub fn place(&self, object: ObjectId) -> Position {
        self.motion(object).position_at(self.now)
    }

    pub fn shown(&self, object: ObjectId, owns: bool) -> Shown {
        let (_, state) = self.table.find(object).expect("it is there");
        decoded(&self.rules.show(state, Viewer { owns, class: 0 }).expect("nothing is hidden"))
    }

    /// All objects that `pick` picks.
    pub fn all<T>(&self, pick: impl Fn(State) -> Option<T>) -> Vec<(ObjectId, T)> {
        let states = self.table.0.iter().map(|(&name, (_, state))| (name, decoded(state)));
        states.filter_map(|(name, state)| Some((name, pick(state)?))).collect()
    }

    pub fn items(&self) -> Vec<(ObjectId, Item)> {
        self.all(|it| if let State::Item(item) = it { Some(item) } else { None })
    }

    pub fn rockets(&self) -> Vec<ObjectId> {
        self.all(|it| matches!(it, State::Rocket(_)).then_some(()))
            .into_iter()
            .map(|(name, ())| name)
            .collect()
    }
}

pub fn avatar(name: &str) -> Avatar {
    Avatar {
        name: name.to_owned(),
        health: kosmos::config::AVATAR_HEALTH,
        score: 0,
        coins: kosmos::config::COINS_AT_START,
        bag: Vec::new(),
        offer: None,
        ready_at: Millis(0),
        stunned_until: Millis(0),
    }
}

fn decoded<T: DeserializeOwned>(bytes: &[u8]) -> T {
    postcard::from_bytes(bytes).expect("it is what the game wrote")
}
