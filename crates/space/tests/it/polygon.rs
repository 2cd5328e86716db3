//! Regions against lists of half-planes.

use crate::model::{ModelHalfPlane, ModelPiece, are_crossed};
use crate::world::{self, PlaceChoice, RandomWorld, at, outlines, steps};
use proptest::prelude::*;
use space::{COORDINATE_MAX, COORDINATE_MIN, Distance, Line, Polygon, PolygonError, Position};

fn mm(millimetres: u32) -> Distance {
    Distance::new(millimetres).unwrap()
}

fn square(low: i32, high: i32) -> Polygon {
    Polygon::rectangle(at(low, low), at(high, high)).unwrap()
}

fn line(ax: i32, ay: i32, bx: i32, by: i32) -> Line {
    Line::through(at(ax, ay), at(bx, by)).unwrap()
}

#[test]
fn corners_that_make_no_region_are_refused() {
    let (a, b, c, d) = (at(0, 0), at(9, 0), at(9, 9), at(0, 9));
    assert!(Polygon::new(&[a, b, c, d]).is_ok());
    assert_eq!(Polygon::new(&[]), Err(PolygonError::Corners(0)));
    assert_eq!(Polygon::new(&[a, b]), Err(PolygonError::Corners(2)));
    let bad: [&[Position]; 9] = [
        &[d, c, b, a],                                        // clockwise
        &[a, c, b, d],                                        // crosses itself
        &[a, b, b, c],                                        // a corner doubled
        &[a, b, c, a, b, c],                                  // wound twice
        &[a, b, at(5, 5), c, d],                              // a dent
        &[a, at(4, 0), b, c],                                 // three on one line
        &[a, at(4, 4), c],                                    // no area
        &[a, b, a],                                           // there and back
        &[at(0, 0), at(6, 4), at(-1, 4), at(5, 0), at(2, 6)], // a star winds twice
    ];
    for corners in bad {
        assert!(matches!(Polygon::new(corners), Err(PolygonError::NotConvex(_))), "{corners:?}");
    }
    let parabola = |count: i32| (0..count).map(|x| at(x, x * x)).collect::<Vec<_>>();
    assert!(Polygon::new(&parabola(64)).is_ok());
    assert_eq!(
        Polygon::new(&parabola(65)).unwrap_err().to_string(),
        "a region needs 3 to 64 corners, not 65: add or leave out some"
    );
}

#[test]
fn only_a_line_through_the_inside_cuts() {
    let square = square(0, 10);
    for misses in [line(0, 0, 10, 0), line(10, 0, 0, 0), line(0, 0, -1, 1), line(0, 11, 1, 11)] {
        assert_eq!(square.cut(&misses), None, "{misses:?}");
    }
    let (upper, lower) = square.cut(&line(0, 0, 10, 10)).unwrap();
    assert!(upper.contains(at(0, 0)) && upper.contains(at(10, 10)) && upper.contains(at(5, 5)));
    assert!(!lower.contains(at(5, 5)) && lower.contains(at(10, 0)) && lower.contains(at(5, 4)));
    assert_eq!((upper.vertices_f64().len(), lower.vertices_f64().len()), (3, 3));
    assert_eq!((upper.area_f64(), lower.area_f64()), (50.0, 50.0));
}

/// A border that only touches a region in a corner still decides which region owns the corner.
#[test]
fn a_corner_lost_to_one_neighbour_stays_lost() {
    let (_, east) = square(0, 10).cut(&line(5, 0, 5, 10)).unwrap();
    assert!(!east.contains(at(5, 0)), "the western half owns the border");
    let (above, below) = east.cut(&line(5, 0, 10, 5)).unwrap();
    assert!(!above.contains(at(5, 0)) && !below.contains(at(5, 0)));
    assert!(above.contains(at(7, 2)) && !below.contains(at(7, 2)) && below.contains(at(6, 0)));
}

#[test]
fn discs_touch_at_edges_and_corners() {
    let square = square(0, 10);
    assert!(square.meets_disc(at(5, 5), Distance::ZERO) && square.meets_disc(at(10, 10), Distance::ZERO));
    assert!(square.meets_disc(at(15, 5), mm(5)) && !square.meets_disc(at(16, 5), mm(5)));
    assert!(square.meets_disc(at(13, 14), mm(5)) && !square.meets_disc(at(14, 14), mm(5)));
    let (_, east) = square.cut(&line(5, 0, 5, 10)).unwrap();
    assert!(east.meets_disc(at(2, 5), mm(3)), "distances are taken to the closed region");
}

#[test]
fn boxes_and_sizes_at_the_ends_of_the_range() {
    let (low, high) = (COORDINATE_MIN, COORDINATE_MAX);
    let world = square(low, high);
    assert_eq!(world.bounding_box(), (at(low, low), at(high, high)));
    assert!((world.area_f64() - (1u64 << 62) as f64).abs() < 1e10);
    let (left, right) = world.cut(&line(low, low, high, high - 1)).unwrap();
    assert!(left.contains(at(high, high)) && right.contains(at(high, low)) && left.contains(at(low, low)));
    let (sliver, _) = right.cut(&line(high, high - 2, low, low)).map(|(a, b)| (b, a)).unwrap();
    assert!(sliver.meets_disc(at(low, low), Distance::ZERO) && !sliver.contains(at(low, low)));
    assert!(sliver.is_within(Distance::ZERO, &left) && world.is_within(Distance::ZERO, &sliver));
    assert!(left.is_within(mm(i32::MAX as u32), &sliver));
}

#[test]
fn the_box_rounds_outwards() {
    let (left, _) = square(0, 10).cut(&line(0, 1, 3, 2)).unwrap();
    assert_eq!(left.bounding_box(), (at(0, 1), at(10, 10)));
    let (_, right) = square(0, 10).cut(&line(0, 1, 3, 2)).unwrap();
    assert_eq!(right.bounding_box(), (at(0, 0), at(10, 5)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Cuts one region down, following one part at random.
    #[test]
    fn a_part_is_its_half_planes(
        outline in outlines(),
        scale in prop_oneof![Just(9), Just(1_000), Just(1 << 30)],
        cuts in steps(7),
        sides in any::<u8>(),
        places in prop::collection::vec((-1.0..=1.0, -1.0..=1.0), 20),
        radius in 0.0..1.0f64,
    ) {
        let mut world = RandomWorld::new(outline, scale);
        let mut region = world.partition.bounds().clone();
        let mut model = ModelPiece::bounded(&world.used);
        for (index, cut) in cuts.iter().enumerate() {
            let (from, to) = (world.place_at(cut.from), world.place_at(cut.to));
            let Some(line) = world::line(from, to) else { continue };
            let parts = region.cut(&line);
            prop_assert_eq!(parts.is_some(), are_crossed(std::slice::from_ref(&model), from, to));
            let Some((left, right)) = parts else { continue };
            let keep_left = sides >> (index % 8) & 1 == 0;
            region = if keep_left { left } else { right };
            model = model.and(if keep_left { ModelHalfPlane::left(from, to) } else { ModelHalfPlane::right(from, to) });
            world.used.extend([from, to]);
        }
        let radius = mm((radius * f64::from(scale)) as u32);
        let places = places.into_iter().map(|(x, y)| world.place_at(PlaceChoice::Fresh(x, y)));
        for place in places.chain(world.used.iter().copied()) {
            prop_assert_eq!(region.contains(place), model.owns(place), "{}", place);
            prop_assert_eq!(region.meets_disc(place, radius), model.meets_disc(place, radius), "{}", place);
            prop_assert_eq!(region.meets_disc(place, Distance::ZERO), model.meets_disc(place, Distance::ZERO));
        }
    }
}
