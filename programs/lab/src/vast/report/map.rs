//! A map of the overlay: the regions of all peers, the links, and the view of one peer.

use crate::vast::oracle::parts;
use crate::vast::world::MapDot;
use machine::Address;
use space::{Distance, Position, Voronoi};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The side of the drawing, in pixels.
const SIDE: f64 = 900.0;

/// Side of the world that the close map shows, in multiples of the view.
const CLOSE: f64 = 3.0;

/// The colours of the parts, the largest first; colour-blind readers can tell them apart, too (Okabe and Ito).
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5b6675"];

type MapPoint = (f64, f64);

/// Draws the whole world, a square with one corner in the origin.
pub fn whole(dots: &[MapDot], side: Distance, aoi: Distance) -> String {
    let half = f64::from(side.millimetres()) / 2.0;
    draw(dots, (half, half), half * 1.02, aoi, 3.5)
}

/// Draws the surroundings of the peer with the longest list.
pub fn close(dots: &[MapDot], aoi: Distance) -> String {
    let Some(busiest) = busiest(dots) else { return String::new() };
    draw(dots, point(busiest.position), f64::from(aoi.millimetres()) * CLOSE / 2.0, aoi, 7.0)
}

fn point(place: Position) -> MapPoint {
    (f64::from(place.x()), f64::from(place.y()))
}

fn draw(dots: &[MapDot], middle: MapPoint, half: f64, aoi: Distance, radius: f64) -> String {
    let scale = SIDE / (2.0 * half);
    let at = |place: Position| on_paper(point(place), middle, half);
    let places: BTreeMap<Address, Position> = dots.iter().map(|it| (it.address, it.position)).collect();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {SIDE} {SIDE}\" width=\"{SIDE}\" height=\"{SIDE}\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    let mut borders = String::new();
    for corners in regions(&places, middle, half) {
        let path: Vec<String> = corners.into_iter().map(|it| words(on_paper(it, middle, half))).collect();
        let _ = write!(borders, "M{}Z", path.join("L"));
    }
    let _ = writeln!(svg, "<path d=\"{borders}\" fill=\"none\" stroke=\"#d9dee5\"/>");
    let colours = colours(dots);
    for &colour in &COLOURS {
        let mut links = String::new();
        for dot in dots.iter().zip(&colours).filter(|it| *it.1 == colour).map(|it| it.0) {
            // A link that both peers have in their lists is drawn once.
            let other = dot.links.iter().filter(|it| dot.address < **it || !knows(dots, **it, dot.address));
            for place in other.filter_map(|it| places.get(it)) {
                let _ = write!(links, "M{}L{}", words(at(dot.position)), words(at(*place)));
            }
        }
        let _ = writeln!(svg, "<path d=\"{links}\" stroke=\"{colour}\" stroke-opacity=\"0.5\"/>");
    }
    for &colour in &COLOURS {
        let of_colour = dots.iter().zip(&colours).filter(|it| *it.1 == colour).map(|it| it.0);
        for (x, y) in of_colour.map(|it| at(it.position)) {
            let _ = writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{colour}\"/>");
        }
    }
    if let Some(seer) = busiest(dots) {
        let (x, y) = at(seer.position);
        let sees = f64::from(aoi.millimetres()) * scale;
        let _ = writeln!(
            svg,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{sees:.1}\" fill=\"none\" stroke=\"#1c2430\" stroke-width=\"1.5\"/>"
        );
    }
    let _ = writeln!(svg, "</svg>");
    svg
}

fn on_paper((x, y): MapPoint, middle: MapPoint, half: f64) -> MapPoint {
    let scale = SIDE / (2.0 * half);
    // In SVG y grows downwards.
    ((x - middle.0 + half) * scale, (middle.1 + half - y) * scale)
}

fn words((x, y): MapPoint) -> String {
    format!("{x:.1} {y:.1}")
}

/// The peer with the longest list.
fn busiest(dots: &[MapDot]) -> Option<&MapDot> {
    dots.iter().max_by_key(|it| (it.links.len(), it.address))
}

/// Returns whether a peer has another in its list. Dots are sorted by address, and so are their links.
fn knows(dots: &[MapDot], who: Address, whom: Address) -> bool {
    let found = dots.binary_search_by_key(&who, |it| it.address);
    found.is_ok_and(|at| dots[at].links.binary_search(&whom).is_ok())
}

/// Number of parts of the overlay.
pub fn components(dots: &[MapDot]) -> usize {
    parts_of(dots).into_iter().collect::<BTreeSet<usize>>().len()
}

fn parts_of(dots: &[MapDot]) -> Vec<usize> {
    let number = |it: Address| dots.binary_search_by_key(&it, |dot| dot.address).ok();
    let links = dots.iter().enumerate().flat_map(|(n, it)| it.links.iter().map(move |&other| (n, other)));
    parts(dots.len(), links.filter_map(|(n, other)| Some((n, number(other)?))))
}

/// The colour of every peer: one per part of the overlay, as far as there are colours.
fn colours(dots: &[MapDot]) -> Vec<&'static str> {
    let parts = parts_of(dots);
    let mut sizes: BTreeMap<usize, usize> = BTreeMap::new();
    parts.iter().for_each(|it| *sizes.entry(*it).or_default() += 1);
    let mut largest_first: Vec<usize> = sizes.keys().copied().collect();
    largest_first.sort_by_key(|it| std::cmp::Reverse(sizes[it]));
    let colour = |(rank, part)| {
        // No other part shares the colour of the largest.
        (part, if rank == 0 { COLOURS[0] } else { COLOURS[1 + (rank - 1) % (COLOURS.len() - 1)] })
    };
    let colours: BTreeMap<usize, &'static str> = largest_first.into_iter().enumerate().map(colour).collect();
    parts.iter().map(|it| colours[it]).collect()
}

/// The corners of the regions that meet the drawing: rounded, and cut off at its edge. For drawing only; the protocol
/// uses exact integers.
fn regions(places: &BTreeMap<Address, Position>, middle: MapPoint, half: f64) -> Vec<Vec<MapPoint>> {
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
fn nearer(corners: &[MapPoint], one: MapPoint, other: MapPoint) -> Vec<MapPoint> {
    let middle = ((one.0 + other.0) / 2.0, (one.1 + other.1) / 2.0);
    let ahead = |it: MapPoint| (it.0 - middle.0) * (other.0 - one.0) + (it.1 - middle.1) * (other.1 - one.1);
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
    fn parts_have_colours_and_the_largest_the_first() {
        let dot = |number, links: &[u64]| MapDot {
            address: Address(number),
            position: Position::from_metres(number as f64, 0.0).unwrap(),
            links: links.iter().copied().map(Address).collect(),
        };
        let dots = [dot(1, &[]), dot(2, &[4]), dot(3, &[4]), dot(4, &[2])];
        assert_eq!(colours(&dots), [COLOURS[1], COLOURS[0], COLOURS[0], COLOURS[0]]);
        assert!(knows(&dots, Address(2), Address(4)) && !knows(&dots, Address(4), Address(3)));
    }

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
