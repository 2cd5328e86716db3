//! Settling: the filling of a new world.
//!
//! One event writes a bounded number of objects and reaches a bounded distance, a world has any size. So filling
//! it divides it into plots, with a letter to the middle of each, and again as long as a plot is too large; and
//! each zone fills its own plots.

use crate::action::Letter;
use crate::config::{ITEM_AREA, NPC_AREA, PLOT, PLOTS_SIDE_MAX};
use crate::ground::{draw_within, middle};
use crate::items::mint;
use crate::state::{NpcKind, State};
use crate::{KosmosTx, npc};
use game::Addressee;
use machine::Rng;
use space::{Polygon, Position};

/// Fills a rectangle of the world, or sends letters to its parts if it is large.
pub(crate) fn settle(world: &Polygon, tx: &mut KosmosTx<'_, '_>, low: Position, high: Position) {
    let (width, height) = low.step_to(high);
    let (columns, rows) = (plots_along(width), plots_along(height));
    if (columns, rows) == (1, 1) {
        return fill(world, tx, low, high);
    }
    // From the whole length, so that neighbouring plots share their corners exactly.
    let corner = |column, row| {
        let part = |low: i32, length: i32, index: u32, count: u32| {
            i64::from(low) + i64::from(length) * i64::from(index) / i64::from(count)
        };
        Position::saturating(part(low.x(), width, column, columns), part(low.y(), height, row, rows))
    };
    for (column, row) in (0..columns).flat_map(|column| (0..rows).map(move |row| (column, row))) {
        let (low, high) = (corner(column, row), corner(column + 1, row + 1));
        let place = middle(low, high);
        // No zone owns a place outside of the world, so no zone would read the letter.
        if world.contains(place) {
            tx.send(Addressee::Place(place), &Letter::Settle { low, high });
        }
    }
}

fn plots_along(length: i32) -> u32 {
    length.unsigned_abs().div_ceil(PLOT.millimetres()).clamp(1, PLOTS_SIDE_MAX)
}

fn fill(world: &Polygon, tx: &mut KosmosTx<'_, '_>, low: Position, high: Position) {
    let (width, height) = low.step_to(high);
    let area = (i64::from(width) * i64::from(height)).unsigned_abs() / 1_000_000;
    let items = number(tx.chance(), area, ITEM_AREA);
    for place in places(world, tx.chance(), low, high, items) {
        mint(tx, place);
    }
    let npcs = number(tx.chance(), area, NPC_AREA);
    for (index, place) in places(world, tx.chance(), low, high, npcs).into_iter().enumerate() {
        let kind = if index % 2 == 0 { NpcKind::Deer } else { NpcKind::Hound };
        tx.spawn(&State::Npc(npc::born(kind)), place);
    }
}

/// The number of objects on `area` if one lives on `each`: on average exactly, also on small plots.
fn number(rng: &mut Rng, area: u64, each: u64) -> u64 {
    (area + rng.below(each)) / each
}

fn places(world: &Polygon, rng: &mut Rng, low: Position, high: Position, count: u64) -> Vec<Position> {
    let drawn = (0..count).map(|_| draw_within(rng, low, high));
    drawn.filter(|&place| world.contains(place)).collect()
}
