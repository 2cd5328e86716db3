//! Kosmos: a small game of rockets, items, bargains and talk.
//!
//! The first game that was played on a mesh of servers had this name and its rockets (Assiotis and Tzanov, A
//! Distributed Architecture for MMORPG, 2006, section 5). This one shows how a world is written for Ecumene, and
//! has what a platform must get right: two players who reach for one item, bargains that must not be half done, rockets
//! that cross borders, deaths here that lead to life elsewhere.
//!
//! Every rule is a function of a [`game::Tx`]. Nothing here knows zones, borders, networks or clocks.

mod action;
pub mod bots;
pub mod config;
mod goods;
mod state;

mod death;
mod ground;
mod items;
mod npc;
mod rocket;
mod settle;
mod sweep;
mod talk;
mod trade;

pub use action::{Action, Letter, Notice, Refusal};
pub use goods::{KosmosGoods, conserved};
pub use state::{Avatar, Item, ItemKind, Npc, NpcKind, Rocket, Serial, Shown, State, Tally};
pub use trade::{Give, Offer, Want};

use config::{
    ARM, AVATAR_HEALTH, AVATAR_SPEED, COINS_AT_START, NPC_SIGHT, RANGE, ROCKET_REACH, SCATTER, WORLD_HALF,
};
use game::{Addressee, Game, PlayerId, Scope, ScopeView, Viewer, is_within_speed};
use machine::{Rng, Span, Time};
use space::{Distance, Millis, Motion, ObjectId, Polygon, Position};

/// The rules of the game, and the shape of its world.
#[derive(Clone, Debug)]
pub struct Kosmos {
    world: Polygon,
}

impl Kosmos {
    /// The game in a world of this shape.
    pub const fn new(world: Polygon) -> Self {
        Self { world }
    }
}

impl Default for Kosmos {
    /// The game in a square world around the origin.
    fn default() -> Self {
        let half = i64::from(WORLD_HALF.millimetres());
        let (low, high) = (Position::saturating(-half, -half), Position::saturating(half, half));
        Self::new(Polygon::rectangle(low, high).expect("a square is convex"))
    }
}

/// A transaction of this game.
type KosmosTx<'t, 'a> = game::Tx<'t, 'a, Kosmos>;

impl Game for Kosmos {
    type State = State;
    type Shown = Shown;
    type Action = Action;
    type Notice = Notice;
    type Refusal = Refusal;
    type Letter = Letter;

    const NAME: &'static str = "Kosmos";
    const RANGE: Distance = RANGE;

    fn populate(&self, tx: &mut KosmosTx<'_, '_>, region: &Polygon) {
        let (low, high) = region.bounding_box();
        settle::settle(&self.world, tx, low, high);
    }

    fn world(&self) -> Option<State> {
        Some(State::World(Tally::default()))
    }

    fn scope(&self, view: &ScopeView<'_, Self>, actor: ObjectId, action: &Action) -> Result<Scope, Refusal> {
        let here = view.position(actor).ok_or(Refusal::Gone)?;
        // Why here: what the avatar's own state forbids is refused before any zone locks anything. The avatar may have
        // changed until its action is executed, so the same is checked again there.
        if let Some(State::Avatar(avatar)) = view.get(actor) {
            permits(&avatar, action, view.now())?;
        }
        // Why here: an object that is certainly no partner is refused before any zone locks it.
        let with = |other, is_partner: fn(&State) -> bool| {
            let there = view.position(other).filter(|_| view.get(other).as_ref().is_some_and(is_partner));
            let is_near = here.is_within(RANGE, there.ok_or(Refusal::Gone)?);
            if is_near { Ok(Scope::objects([other])) } else { Err(Refusal::TooFar) }
        };
        match *action {
            // These make a new object, which has no name yet: so they lock its place.
            Action::Fire { .. } | Action::Drop { .. } => Ok(Scope::area(here, ARM)),
            Action::PickUp { item } => with(item, |it| matches!(it, State::Item(_))),
            Action::AcceptTrade { from, .. } => with(from, |it| matches!(it, State::Avatar(_))),
            Action::OfferTrade { .. } | Action::WithdrawOffer | Action::Say { .. } => Ok(Scope::objects([])),
        }
    }

    fn execute(&self, tx: &mut KosmosTx<'_, '_>, actor: ObjectId, action: Action) -> Result<(), Refusal> {
        match action {
            Action::Fire { heading } => rocket::fire(&self.world, tx, actor, heading),
            Action::PickUp { item } => items::pick_up(tx, actor, item),
            Action::Drop { slot } => items::put_down(tx, actor, slot),
            Action::OfferTrade { to, give, want } => trade::offer(tx, actor, Offer { to, give, want }),
            Action::WithdrawOffer => trade::withdraw(tx, actor),
            Action::AcceptTrade { from, offer, pay } => trade::accept(tx, actor, from, offer, pay),
            Action::Say { text } => talk::say(tx, actor, text),
        }
    }

    fn allows(&self, mover: &State, before: &Motion, after: &Motion) -> Result<(), Refusal> {
        let State::Avatar(avatar) = mover else { return Err(Refusal::NoAvatar) };
        if avatar.is_dead() {
            Err(Refusal::Dead)
        } else if after.start < avatar.stunned_until {
            Err(Refusal::Stunned)
        } else if !is_within_speed(before, after, AVATAR_SPEED) {
            Err(Refusal::TooFast)
        } else {
            Ok(())
        }
    }

    fn show(&self, object: &State, to: Viewer) -> Option<Shown> {
        Some(state::shown(object, to))
    }

    fn thinks(&self, object: &State) -> bool {
        matches!(object, State::Rocket(_) | State::Npc(_))
    }

    fn think_scope(&self, view: &ScopeView<'_, Self>, object: ObjectId) -> Scope {
        let reach = match view.get(object) {
            Some(State::Rocket(_)) => ROCKET_REACH,
            _ => NPC_SIGHT,
        };
        // An object without a position is gone; `think` then does nothing.
        Scope::area(view.position(object).unwrap_or_default(), reach)
    }

    fn think(&self, tx: &mut KosmosTx<'_, '_>, object: ObjectId) -> Option<Span> {
        match tx.get(object)? {
            State::Rocket(rocket) => rocket::fly(&self.world, tx, object, rocket),
            State::Npc(npc) => npc::walk(&self.world, tx, object, npc),
            State::Avatar(_) | State::Item(_) | State::Nest(_) | State::World(_) => None,
        }
    }

    fn letter_scope(&self, _: &ScopeView<'_, Self>, to: Addressee, letter: &Letter) -> Scope {
        match (to, letter) {
            (Addressee::Place(place), Letter::Settle { .. }) => Scope::area(place, RANGE),
            (Addressee::Place(place), _) => Scope::area(place, SCATTER),
            // All other letters concern their addressee only.
            (Addressee::Object(_) | Addressee::World, _) => Scope::objects([]),
        }
    }

    fn on_letter(&self, tx: &mut KosmosTx<'_, '_>, to: Addressee, letter: Letter) -> Result<(), Refusal> {
        match (to, letter) {
            (Addressee::Place(_), Letter::Settle { low, high }) => settle::settle(&self.world, tx, low, high),
            (Addressee::Place(place), Letter::Brood(kind)) => npc::brood(tx, place, kind),
            (Addressee::Object(nest), Letter::Hatch) => npc::hatch(tx, nest),
            (Addressee::Object(avatar), Letter::Rise) => death::rise(&self.world, tx, avatar),
            (Addressee::Object(avatar), Letter::Scored(points)) => death::score(tx, avatar, points),
            (Addressee::World, Letter::Count(toll)) => death::count(tx, toll),
            _ => (), // The game writes no such letters; a combination that cannot be is ignored.
        }
        Ok(())
    }

    fn entrance(&self, player: PlayerId) -> Position {
        // Drawn from the player's number, because scope and event must agree on the place.
        ground::draw(&self.world, &mut Rng::seeded(player.0))
    }

    fn join_scope(&self, player: PlayerId) -> Scope {
        Scope::area(self.entrance(player), SCATTER)
    }

    fn on_join(&self, tx: &mut KosmosTx<'_, '_>, player: PlayerId, name: &str) -> Result<ObjectId, Refusal> {
        let avatar = Avatar {
            name: name.to_owned(),
            health: AVATAR_HEALTH,
            score: 0,
            coins: COINS_AT_START,
            bag: Vec::new(),
            offer: None,
            ready_at: Millis(0),
            stunned_until: Millis(0),
        };
        Ok(tx.spawn(&State::Avatar(avatar), self.entrance(player)))
    }

    fn leave_scope(&self, view: &ScopeView<'_, Self>, avatar: ObjectId) -> Scope {
        Scope::area(view.position(avatar).unwrap_or_default(), ARM)
    }

    fn on_leave(&self, tx: &mut KosmosTx<'_, '_>, avatar: ObjectId) {
        let (Some(State::Avatar(it)), Some(place)) = (tx.get(avatar), tx.position(avatar)) else { return };
        items::scatter(&self.world, tx, place, it.bag);
        tx.remove(avatar);
    }
}

/// Refuses an action that the state of the acting avatar forbids, whatever is around it.
fn permits(avatar: &Avatar, action: &Action, now: Time) -> Result<(), Refusal> {
    match *action {
        Action::Fire { .. } | Action::Drop { .. } | Action::PickUp { .. } if avatar.is_dead() => {
            Err(Refusal::Dead)
        }
        Action::Fire { .. } => rocket::is_ready(avatar, now),
        Action::Drop { slot } => items::slot_of(avatar, slot).map(drop),
        Action::PickUp { .. } => items::has_room(avatar),
        _ => Ok(()),
    }
}

/// The acting avatar, if it is alive.
fn living_avatar(tx: &mut KosmosTx<'_, '_>, actor: ObjectId) -> Result<Avatar, Refusal> {
    match tx.get(actor) {
        Some(State::Avatar(avatar)) if avatar.is_dead() => Err(Refusal::Dead),
        Some(State::Avatar(avatar)) => Ok(avatar),
        Some(_) => Err(Refusal::NoAvatar),
        None => Err(Refusal::Gone),
    }
}

/// Refuses unless two objects are within `reach` of each other.
fn near(tx: &mut KosmosTx<'_, '_>, one: ObjectId, other: ObjectId, reach: Distance) -> Result<(), Refusal> {
    let (one, other) = tx.position(one).zip(tx.position(other)).ok_or(Refusal::Gone)?;
    if one.is_within(reach, other) { Ok(()) } else { Err(Refusal::TooFar) }
}
