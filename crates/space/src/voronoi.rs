//! Who is next to whom: the Voronoi diagram of moving sites.
//!
//! A site's region is the set of points at most as far from it as from every other site. A peer of an
//! overlay holds such a diagram over the few sites it knows, an observer of the whole overlay one over
//! all of them. The diagram is kept as its dual, a Delaunay triangulation, which changes only around a
//! site that moves.
//!
//! Every answer is exact and a function of the sites and their keys alone, whatever the order in which
//! they came. `spade` decides by adaptive predicates, which never err; everything decided here is in
//! integers. The awkward cases:
//!
//! - **Four or more sites on one empty circle** (a lattice): their regions meet in a single point. All of
//!   them count as enclosing neighbours of each other, so that no neighbour is missed, although a
//!   triangulation has an edge between some of them only.
//! - **Sites at one place** share one region: they enclose each other, and each has all the neighbours of
//!   their place.
//! - **All sites on one line**: regions are strips; the next sites on the line are the neighbours.
//! - **A circle that only touches a region** meets it; a region that only touches the circle from within
//!   does not reach beyond.
//!
//! Nothing here knows peers, messages or time.

mod border;

use crate::{Distance, Position};
use border::{Border, are_cocircular};
use spade::handles::{DirectedEdgeHandle, FixedVertexHandle, VertexHandle};
use spade::{DelaunayTriangulation, HasPosition, Point2, Triangulation};
use std::collections::{BTreeMap, BTreeSet};

/// The Voronoi diagram of sites with keys.
///
/// Unknown keys are no error: they have no neighbours and meet nothing.
///
/// ```
/// use space::{Distance, Position, Voronoi};
///
/// let mut diagram = Voronoi::new();
/// for (key, x, y) in [('a', 0, 0), ('b', 4_000, 0), ('c', 0, 4_000), ('d', 90_000, 90_000)] {
///     diagram.put(key, Position::new(x, y)?);
/// }
/// let mut around = Vec::new();
/// diagram.enclosing('a', &mut around);
/// assert_eq!(around, ['b', 'c']);
///
/// diagram.put('d', Position::new(4_000, 4_000)?);
/// diagram.enclosing('a', &mut around);
/// assert_eq!(around, ['b', 'c', 'd'], "all four regions meet in one point");
/// assert_eq!(diagram.nearest(Position::new(2_000, 2_000)?), Some('a'), "ties go to the lowest key");
/// assert!(diagram.meets('a', Position::new(9_000, 0)?, Distance::of_metres(7)), "a touch is enough");
/// # Ok::<(), space::OutOfRange>(())
/// ```
#[derive(Clone, Debug)]
pub struct Voronoi<K> {
    mesh: DelaunayTriangulation<Spot>,
    /// The keys at each spot, in order, numbered as the spots are in the mesh.
    keys: Vec<Vec<K>>,
    /// Each site's spot.
    sites: BTreeMap<K, SpotId>,
}

/// A place with at least one site.
#[derive(Clone, Copy, Debug)]
struct Spot(Position);

/// Spots are numbered without gaps: when one goes, the last takes its number.
type SpotId = FixedVertexHandle;
type SpotHandle<'a> = VertexHandle<'a, Spot>;
type Edge<'a> = DirectedEdgeHandle<'a, Spot, (), (), ()>;

impl HasPosition for Spot {
    type Scalar = f64;

    fn position(&self) -> Point2<f64> {
        Point2::new(self.0.x().into(), self.0.y().into())
    }
}

/// What a site is to another one with an area of interest (Backhaus and Krause, *VAST revisited*, 2007).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Neighbour<K> {
    /// Who it is.
    pub key: K,
    /// Whether the two regions touch.
    pub enclosing: bool,
    /// Whether its region reaches beyond the area of interest, so that it hears first of who comes near.
    pub boundary: bool,
}

impl<K> Default for Voronoi<K> {
    fn default() -> Self {
        Self { mesh: DelaunayTriangulation::new(), keys: Vec::new(), sites: BTreeMap::new() }
    }
}

impl<K: Ord + Copy> Voronoi<K> {
    /// A diagram without sites.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many sites there are.
    pub fn len(&self) -> usize {
        self.sites.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sites.is_empty()
    }

    /// All sites, by key.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (K, Position)> {
        self.sites.iter().map(|(&key, &spot)| (key, self.place_of(spot)))
    }

    /// Where a site is.
    pub fn place(&self, key: K) -> Option<Position> {
        self.sites.get(&key).map(|&spot| self.place_of(spot))
    }

    /// Puts a site at `place`, from wherever it was; says where that was.
    ///
    /// A step to somewhere near costs about as much as the site has neighbours, a new site or a leap
    /// some √n more. Only while all sites are on one line is it n log n.
    pub fn put(&mut self, key: K, place: Position) -> Option<Position> {
        let before = self.sites.get(&key).copied();
        let was = before.map(|spot| self.place_of(spot));
        if was == Some(place) {
            return was;
        }
        let near = before.or_else(|| self.sample(place)).map(|from| self.walk(from, place));
        let spot = self.join(key, place, near);
        self.sites.insert(key, spot);
        if let Some(before) = before {
            self.leave(key, before);
        }
        was
    }

    /// Takes a site out; says where it was.
    pub fn remove(&mut self, key: K) -> Option<Position> {
        let spot = self.sites.remove(&key)?;
        let was = self.place_of(spot);
        self.leave(key, spot);
        Some(was)
    }

    /// The site nearest to `place`, the lowest key of several.
    pub fn nearest(&self, place: Position) -> Option<K> {
        let nearest = self.walk(self.sample(place)?, place);
        let distance = self.place_of(nearest).distance_squared(place);
        let mut lowest = self.keys[nearest.index()][0];
        // Whoever else is as near has the place in its region too.
        self.for_each_around(nearest, |it| {
            if it.data().0.distance_squared(place) == distance {
                lowest = lowest.min(self.keys[it.index()][0]);
            }
        });
        Some(lowest)
    }

    /// Fills `out` with the sites whose regions touch that of `key`, by key.
    pub fn enclosing(&self, key: K, out: &mut Vec<K>) {
        out.clear();
        let Some(&spot) = self.sites.get(&key) else { return };
        out.extend(self.keys[spot.index()].iter().filter(|&&it| it != key));
        self.for_each_around(spot, |it| out.extend_from_slice(&self.keys[it.index()]));
        out.sort_unstable();
    }

    /// Whether the regions of two different sites touch.
    pub fn are_enclosing(&self, one: K, other: K) -> bool {
        let (Some(&one_spot), Some(&other_spot)) = (self.sites.get(&one), self.sites.get(&other)) else {
            return false;
        };
        let mut found = one_spot == other_spot && one != other;
        self.for_each_around(one_spot, |it| found |= it.fix() == other_spot);
        found
    }

    /// Whether the site's region and the disc have a point in common.
    pub fn meets(&self, key: K, centre: Position, radius: Distance) -> bool {
        self.sites.get(&key).is_some_and(|&spot| self.spot_meets(spot, centre, radius))
    }

    /// Whether some of the site's region lies outside the disc. A region without end always does.
    pub fn reaches_beyond(&self, key: K, centre: Position, radius: Distance) -> bool {
        self.sites.get(&key).is_some_and(|&spot| self.spot_reaches_beyond(spot, centre, radius))
    }

    /// Fills `out` with all sites whose regions meet the disc, by key.
    ///
    /// Looks at these and the ones around them only.
    pub fn meeting(&self, centre: Position, radius: Distance, out: &mut Vec<K>) {
        out.clear();
        let Some(from) = self.sample(centre) else { return };
        let spots = self.spots_meeting(self.walk(from, centre), centre, radius);
        out.extend(spots.into_iter().flat_map(|spot| &self.keys[spot.index()]));
        out.sort_unstable();
    }

    /// Fills `out` with everybody whom a site with an area of interest of this radius should know, by
    /// key: whose region meets that area, or touches the site's own.
    ///
    /// Who stands in the area is among them, having a region that meets it.
    pub fn neighbours(&self, key: K, radius: Distance, out: &mut Vec<Neighbour<K>>) {
        out.clear();
        let Some(&spot) = self.sites.get(&key) else { return };
        let centre = self.place_of(spot);
        let mut around = vec![spot];
        self.for_each_around(spot, |it| around.push(it.fix()));
        around.sort_unstable();
        let mut known = self.spots_meeting(spot, centre, radius);
        known.extend_from_slice(&around);
        known.sort_unstable();
        known.dedup();
        for it in known {
            let boundary = self.spot_reaches_beyond(it, centre, radius);
            let enclosing = around.binary_search(&it).is_ok();
            let keys = self.keys[it.index()].iter().filter(|&&it| it != key);
            out.extend(keys.map(|&key| Neighbour { key, enclosing, boundary }));
        }
        out.sort_unstable_by_key(|it| it.key);
    }

    fn place_of(&self, spot: SpotId) -> Position {
        self.mesh.vertex(spot).data().0
    }

    /// Adds the key at `place`, where there is a spot only if it is `near`, the nearest one.
    fn join(&mut self, key: K, place: Position, near: Option<SpotId>) -> SpotId {
        if let Some(near) = near
            && self.place_of(near) == place
        {
            let keys = &mut self.keys[near.index()];
            keys.insert(keys.partition_point(|&it| it < key), key);
            return near;
        }
        let inserted = match near {
            Some(near) => self.mesh.insert_with_hint(Spot(place), near),
            None => self.mesh.insert(Spot(place)),
        };
        self.keys.push(vec![key]);
        inserted.expect("every coordinate is a whole number in range")
    }

    /// Takes the key from its spot, and the spot away if it was the last.
    fn leave(&mut self, key: K, spot: SpotId) {
        let keys = &mut self.keys[spot.index()];
        keys.retain(|&it| it != key);
        if !keys.is_empty() {
            return;
        }
        self.mesh.remove(spot);
        self.keys.swap_remove(spot.index());
        for &key in self.keys.get(spot.index()).into_iter().flatten() {
            self.sites.insert(key, spot);
        }
    }

    /// The nearest of some √n spots: from there it is not far.
    fn sample(&self, place: Position) -> Option<SpotId> {
        let count = self.mesh.num_vertices();
        let some = (0..count).step_by(count.isqrt().max(1)).map(SpotId::from_index);
        some.min_by_key(|&it| self.place_of(it).distance_squared(place))
    }

    /// A spot than which none is nearer to `place`, by going nearer from spot to spot.
    ///
    /// Never stops too early: what is not in a region lies beyond one of its borders.
    fn walk(&self, from: SpotId, place: Position) -> SpotId {
        let distance = |it: SpotHandle<'_>| it.data().0.distance_squared(place);
        let mut at = self.mesh.vertex(from);
        while let Some(nearer) = at.out_edges().map(|it| it.to()).find(|&it| distance(it) < distance(at)) {
            at = nearer;
        }
        at.fix()
    }

    /// Every spot whose region touches that of `spot`, once.
    fn for_each_around<'a>(&'a self, spot: SpotId, mut visit: impl FnMut(SpotHandle<'a>)) {
        let spot = self.mesh.vertex(spot);
        let mut open = Vec::new();
        for edge in spot.out_edges() {
            visit(edge.to());
            // Who else lies on the circle around a triangle of the spot is beyond the side across, and
            // from there beyond the next sides.
            let mut side = (!edge.is_outer_edge()).then(|| edge.next().rev());
            while let Some(across) = side {
                side = match on_circle(spot, across) {
                    Some(touching) => {
                        visit(touching);
                        open.push(across.prev().rev());
                        Some(across.next().rev())
                    }
                    None => open.pop(),
                };
            }
        }
    }

    fn borders(&self, spot: SpotId) -> impl Iterator<Item = Border> {
        let place = |it: SpotHandle<'_>| it.data().0;
        self.mesh.vertex(spot).out_edges().map(move |edge| {
            let (right, left) = (edge.rev().opposite_vertex(), edge.opposite_vertex());
            Border::new(place(edge.from()), place(edge.to()), right.map(place), left.map(place))
        })
    }

    fn spot_meets(&self, spot: SpotId, centre: Position, radius: Distance) -> bool {
        let mut holds_centre = true;
        for border in self.borders(spot).filter(|it| it.is_crossed(centre)) {
            // The region's nearest point is on a border with the centre beyond it.
            if border.meets(centre, radius) {
                return true;
            }
            holds_centre = false;
        }
        holds_centre
    }

    fn spot_reaches_beyond(&self, spot: SpotId, centre: Position, radius: Distance) -> bool {
        // A region is the hull of its corners, and each is the left end of one border.
        let mut borders = self.borders(spot).peekable();
        borders.peek().is_none() || borders.any(|it| it.ends_beyond(centre, radius))
    }

    /// The spots whose regions meet the disc; that of `from` holds its centre.
    ///
    /// They hang together: on the way between two points of the disc, one region follows the other.
    fn spots_meeting(&self, from: SpotId, centre: Position, radius: Distance) -> Vec<SpotId> {
        let mut found = vec![from];
        let mut seen = BTreeSet::from([from]);
        let mut next = 0;
        while let Some(&spot) = found.get(next) {
            let around = self.mesh.vertex(spot).out_edges().map(|it| it.to().fix());
            let fresh = around.filter(|&it| seen.insert(it));
            found.extend(fresh.filter(|&it| self.spot_meets(it, centre, radius)));
            next += 1;
        }
        found
    }
}

/// The spot beyond `side`, if it lies on the circle through `spot` and the ends of `side`.
fn on_circle<'a>(spot: SpotHandle<'a>, side: Edge<'a>) -> Option<SpotHandle<'a>> {
    let [one, other] = side.vertices().map(|it| it.data().0);
    let beyond = side.opposite_vertex()?;
    are_cocircular(spot.data().0, [one, other, beyond.data().0]).then_some(beyond)
}
