//! Places and courses: the little geometry that walkers, rockets and falling things share.

use machine::Rng;
use space::{Distance, Heading, Polygon, Position, Velocity};

/// The most draws of a place before the middle is taken instead. A rectangle needs one draw, a triangle two; in a
/// world so thin that all draws miss every avatar starts in the middle, which is better than an endless search.
const DRAWS_MAX: u32 = 32;

/// The place at `distance` along a heading.
pub(crate) fn ahead(from: Position, heading: Heading, distance: Distance) -> Position {
    let (x, y) = heading.unit();
    // In doubles the product is exact to far below a millimetre, and it rounds alike everywhere.
    let step = |unit: f32| (f64::from(unit) * f64::from(distance.millimetres())).round() as i64;
    Position::saturating(i64::from(from.x()) + step(x), i64::from(from.y()) + step(y))
}

/// The velocity of an object that goes `speed` per second. Never faster, whatever the rounding.
pub(crate) fn course(heading: Heading, speed: Distance) -> Velocity {
    let (x, y) = heading.unit();
    // Why truncated: rounding up would make the speed a millimetre per second too high, and the move be refused.
    let part = |unit: f32| (f64::from(unit) * f64::from(speed.millimetres())).trunc() as i32;
    Velocity::new(part(x), part(y)).expect("the game's speeds are far below the limit")
}

/// The heading from one place to another; `None` if it is the same place.
pub(crate) fn towards(from: Position, to: Position) -> Option<Heading> {
    let (dx, dy) = from.step_to(to);
    Heading::along(dx, dy)
}

/// The middle of a rectangle.
pub(crate) fn middle(low: Position, high: Position) -> Position {
    let half = |low: i32, high: i32| (i64::from(low) + i64::from(high)) / 2;
    Position::saturating(half(low.x(), high.x()), half(low.y(), high.y()))
}

/// The middle of the world.
pub(crate) fn centre(world: &Polygon) -> Position {
    let (low, high) = world.bounding_box();
    middle(low, high)
}

/// `wished`, or `instead` if that is outside of the world.
pub(crate) fn inside(world: &Polygon, wished: Position, instead: Position) -> Position {
    if world.contains(wished) { wished } else { instead }
}

/// An even draw from a rectangle.
pub(crate) fn draw_within(rng: &mut Rng, low: Position, high: Position) -> Position {
    let x = rng.between(i64::from(low.x()), i64::from(high.x()));
    Position::saturating(x, rng.between(i64::from(low.y()), i64::from(high.y())))
}

/// An even draw from the world.
pub(crate) fn draw(world: &Polygon, rng: &mut Rng) -> Position {
    let (low, high) = world.bounding_box();
    let mut draws = (0..DRAWS_MAX).map(|_| draw_within(rng, low, high));
    draws.find(|&place| world.contains(place)).unwrap_or_else(|| centre(world))
}

/// A heading that stays in the world: the wished one, or towards the middle if that soon leads out.
pub(crate) fn stay_in(world: &Polygon, here: Position, wished: Heading, margin: Distance) -> Heading {
    if world.contains(ahead(here, wished, margin)) {
        return wished;
    }
    towards(here, centre(world)).unwrap_or(wished)
}
