//! A map of the overlay: everybody's region, the links, and what one peer sees.

use crate::vast::world::Dot;
use machine::Address;
use space::{Distance, Position, Voronoi};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The side of the drawing.
const SIDE: f64 = 900.0;

/// How much of the world a close look shows, in multiples of the view.
const CLOSE: f64 = 8.0;

type Point = (f64, f64);

/// Draws the whole world, a square with one corner in the origin.
pub fn whole(dots: &[Dot], side: Distance, aoi: Distance) -> String {
    let half = f64::from(side.millimetres()) / 2.0;
    draw(dots, (half, half), half * 1.02, aoi, 1.6)
}

/// Draws what is around the peer with the longest list.
pub fn close(dots: &[Dot], aoi: Distance) -> String {
    let Some(busiest) = dots.iter().max_by_key(|it| (it.links.len(), it.address)) else {
        return String::new();
    };
    draw(dots, point(busiest.position), f64::from(aoi.millimetres()) * CLOSE / 2.0, aoi, 4.0)
}

fn point(place: Position) -> Point {
    (f64::from(place.x()), f64::from(place.y()))
}

fn draw(dots: &[Dot], middle: Point, half: f64, aoi: Distance, radius: f64) -> String {
    let scale = SIDE / (2.0 * half);
    let at = |(x, y): Point| ((x - middle.0 + half) * scale, (middle.1 + half - y) * scale);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {SIDE} {SIDE}\" width=\"{SIDE}\" height=\"{SIDE}\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    let mut line = |text: String| svg.push_str(&text);
    let places: BTreeMap<Address, Position> = dots.iter().map(|it| (it.address, it.position)).collect();
    for corners in regions(&places, middle, half) {
        let path: Vec<String> = corners.into_iter().map(at).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        line(format!("<polygon points=\"{}\" fill=\"none\" stroke=\"#d9dee5\"/>\n", path.join(" ")));
    }
    for dot in dots {
        let (x, y) = at(point(dot.position));
        for other in dot.links.iter().filter_map(|it| places.get(it)) {
            let (to_x, to_y) = at(point(*other));
            line(format!(
                "<line x1=\"{x:.1}\" y1=\"{y:.1}\" x2=\"{to_x:.1}\" y2=\"{to_y:.1}\" stroke=\"#0072b2\" stroke-opacity=\"0.35\" stroke-width=\"0.8\"/>\n"
            ));
        }
    }
    for dot in dots {
        let (x, y) = at(point(dot.position));
        line(format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"#1c2430\"/>\n"));
    }
    if let Some(seer) = dots.iter().max_by_key(|it| (it.links.len(), it.address)) {
        let (x, y) = at(point(seer.position));
        let sees = f64::from(aoi.millimetres()) * scale;
        line(format!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{sees:.1}\" fill=\"#e69f00\" fill-opacity=\"0.12\" stroke=\"#e69f00\" stroke-width=\"1.5\"/>\n"
        ));
    }
    let _ = writeln!(svg, "</svg>");
    svg
}

/// The corners of the regions that meet the drawing, for people: rounded, and cut off at its edge.
fn regions(places: &BTreeMap<Address, Position>, middle: Point, half: f64) -> Vec<Vec<Point>> {
    let mut diagram = Voronoi::new();
    for (&address, &place) in places {
        diagram.put(address, place);
    }
    let mut beside = Vec::new();
    let mut regions = Vec::new();
    for (&address, &place) in places {
        let (low, high) = ((middle.0 - half, middle.1 - half), (middle.0 + half, middle.1 + half));
        let mut region = vec![low, (high.0, low.1), high, (low.0, high.1)];
        diagram.enclosing(address, &mut beside);
        for other in beside.iter().filter_map(|it| places.get(it)).filter(|it| **it != place) {
            region = nearer(&region, point(place), point(*other));
        }
        if 3 <= region.len() {
            regions.push(region);
        }
    }
    regions
}

/// The part of a polygon that is nearer to one point than to another.
fn nearer(corners: &[Point], one: Point, other: Point) -> Vec<Point> {
    let middle = ((one.0 + other.0) / 2.0, (one.1 + other.1) / 2.0);
    let ahead = |it: Point| (it.0 - middle.0) * (other.0 - one.0) + (it.1 - middle.1) * (other.1 - one.1);
    let mut kept = Vec::new();
    for (&from, &to) in corners.iter().zip(corners.iter().cycle().skip(1)) {
        let (a, b) = (ahead(from), ahead(to));
        if a <= 0.0 {
            kept.push(from);
        }
        if (a < 0.0) != (b < 0.0) && a != b {
            let part = a / (a - b);
            kept.push((from.0 + (to.0 - from.0) * part, from.1 + (to.1 - from.1) * part));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_end_half_way() {
        let place = |metres| Position::from_metres(metres, 0.0).unwrap();
        let places = BTreeMap::from([(Address(1), place(-10.0)), (Address(2), place(10.0))]);
        let regions = regions(&places, (0.0, 0.0), 50_000.0);
        assert_eq!(regions.len(), 2);
        assert!(regions[0].iter().all(|it| it.0 <= 0.0) && regions[1].iter().all(|it| 0.0 <= it.0));
        assert!(regions[0].iter().any(|it| it.0 == 0.0));
    }
}
