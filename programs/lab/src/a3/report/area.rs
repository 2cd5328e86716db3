//! A drawing of any policy's area of interest, made by asking the policy for the relevance of every cell: the darker,
//! the more relevant. So a policy that a researcher adds is drawn without another line of code.

use interest::{Policy, PolicyReach, Slot, SubjectView};
use space::{Heading, Position};
use std::fmt::Write as _;

const CELLS: i32 = 56;
const CELL_PIXELS: i32 = 4;

/// The area of interest of an observer in the middle that looks to the right, as SVG. `half` is half of the drawing's
/// side, in millimetres.
pub(super) fn draw(policy: &dyn Policy, half: i32) -> String {
    let side = CELLS * CELL_PIXELS;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {side} {side}\" class=\"area\" role=\"img\" shape-rendering=\"crispEdges\">\
         <rect width=\"{side}\" height=\"{side}\" fill=\"#f4f4f4\"/>"
    );
    for row in 0..CELLS {
        for column in 0..CELLS {
            let relevance = relevance_at(policy, half, column, row);
            if 0.0 < relevance {
                cell(&mut svg, column, row, relevance);
            }
        }
    }
    let middle = side / 2;
    let _ = write!(
        svg,
        "<circle cx=\"{middle}\" cy=\"{middle}\" r=\"4\" fill=\"#d55e00\"/>\
         <path d=\"M{middle} {middle}h22m-6 -5l6 5l-6 5\" stroke=\"#d55e00\" stroke-width=\"2\" fill=\"none\"/></svg>"
    );
    svg
}

fn relevance_at(policy: &dyn Policy, half: i32, column: i32, row: i32) -> f32 {
    let centre = |cell: i32| i64::from(half) * i64::from(2 * cell + 1 - CELLS) / i64::from(CELLS);
    // Rows count downwards, y upwards.
    let there = Position::saturating(centre(column), -centre(row));
    let sight = SubjectView::new(Slot(0), Position::ORIGIN, Heading::EAST.unit(), Slot(1), there);
    match policy.reach() {
        // The engine does not ask a policy beyond its reach.
        PolicyReach::Within(reach) if (reach.millimetres() as f32) < sight.distance() => 0.0,
        _ => policy.relevance(&sight).clamp(0.0, 1.0),
    }
}

fn cell(svg: &mut String, column: i32, row: i32, relevance: f32) {
    let (x, y, size) = (column * CELL_PIXELS, row * CELL_PIXELS, CELL_PIXELS);
    let opacity = 0.12 + 0.88 * relevance;
    let _ = write!(
        svg,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{size}\" height=\"{size}\" fill=\"#0072b2\" opacity=\"{opacity:.2}\"/>"
    );
}
