//! The Voronoi diagram of moving sites: which sites are next to each other.
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
use border::{VoronoiBorder, are_cocircular};
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
    mesh: DelaunayTriangulation<SitePlace>,
    /// The keys at each place, in order, numbered as the places are in the mesh.
    keys: Vec<Vec<K>>,
    /// The place of each site.
    sites: BTreeMap<K, PlaceId>,
}

/// A place with at least one site.
#[derive(Clone, Copy, Debug)]
struct SitePlace(Position);

/// Places are numbered without gaps: when one is removed, the last takes its number.
type PlaceId = FixedVertexHandle;
type PlaceHandle<'a> = VertexHandle<'a, SitePlace>;
type DelaunayEdge<'a> = DirectedEdgeHandle<'a, SitePlace, (), (), ()>;

impl HasPosition for SitePlace {
    type Scalar = f64;

    fn position(&self) -> Point2<f64> {
        Point2::new(self.0.x().into(), self.0.y().into())
    }
}

/// A neighbour of a site with an area of interest (Backhaus and Krause, *VAST revisited*, 2007).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VoronoiNeighbour<K> {
    /// Key of the neighbour's site.
    pub key: K,
    /// True if the two regions touch.
    pub enclosing: bool,
    /// True if its region reaches beyond the area of interest, so that it is the first to know sites that come near.
    pub boundary: bool,
}

impl<K> Default for Voronoi<K> {
    fn default() -> Self {
        Self { mesh: DelaunayTriangulation::new(), keys: Vec::new(), sites: BTreeMap::new() }
    }
}

impl<K: Ord + Copy> Voronoi<K> {
    /// An empty diagram, without any sites.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of sites in the diagram.
    pub fn len(&self) -> usize {
        self.sites.len()
    }

    /// True if the diagram has no sites.
    pub fn is_empty(&self) -> bool {
        self.sites.is_empty()
    }

    /// All sites with their places, by key.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (K, Position)> {
        self.sites.iter().map(|(&key, &place_id)| (key, self.place_of(place_id)))
    }

    /// The place of a site, if the key is known.
    pub fn place(&self, key: K) -> Option<Position> {
        self.sites.get(&key).map(|&place_id| self.place_of(place_id))
    }

    /// Puts a site at `place`, from wherever it was; returns its place before.
    ///
    /// A step to somewhere near costs about as much as the site has neighbours, a new site or a leap
    /// some √n more. Only while all sites are on one line is it n log n.
    pub fn put(&mut self, key: K, place: Position) -> Option<Position> {
        let before = self.sites.get(&key).copied();
        let was = before.map(|place_id| self.place_of(place_id));
        if was == Some(place) {
            return was;
        }
        let near = before.or_else(|| self.sample(place)).map(|from| self.walk(from, place));
        // Joins before it leaves: leaving renumbers places, and `near` would be stale.
        let place_id = self.join(key, place, near);
        self.sites.insert(key, place_id);
        if let Some(before) = before {
            self.leave(key, before);
        }
        was
    }

    /// Takes a site out; returns its place.
    pub fn remove(&mut self, key: K) -> Option<Position> {
        let place_id = self.sites.remove(&key)?;
        let was = self.place_of(place_id);
        self.leave(key, place_id);
        Some(was)
    }

    /// The site nearest to `place`, the lowest key of several.
    pub fn nearest(&self, place: Position) -> Option<K> {
        let nearest = self.walk(self.sample(place)?, place);
        let distance = self.place_of(nearest).distance_squared(place);
        let mut lowest = self.keys[nearest.index()][0];
        // Every other site as near has the place in its region, too, so its region touches this one.
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
        let Some(&place_id) = self.sites.get(&key) else { return };
        out.extend(self.keys[place_id.index()].iter().filter(|&&it| it != key));
        self.for_each_around(place_id, |it| out.extend_from_slice(&self.keys[it.index()]));
        out.sort_unstable();
    }

    /// True if the regions of two different sites touch.
    pub fn are_enclosing(&self, one: K, other: K) -> bool {
        let (Some(&one_place), Some(&other_place)) = (self.sites.get(&one), self.sites.get(&other)) else {
            return false;
        };
        let mut found = one_place == other_place && one != other;
        self.for_each_around(one_place, |it| found |= it.fix() == other_place);
        found
    }

    /// True if the site's region and the disc have a point in common.
    pub fn meets(&self, key: K, centre: Position, radius: Distance) -> bool {
        self.sites.get(&key).is_some_and(|&place_id| self.place_meets(place_id, centre, radius))
    }

    /// True if some of the site's region lies outside the disc. A region without end always does.
    pub fn reaches_beyond(&self, key: K, centre: Position, radius: Distance) -> bool {
        self.sites.get(&key).is_some_and(|&place_id| self.place_reaches_beyond(place_id, centre, radius))
    }

    /// Fills `out` with all sites whose regions meet the disc, by key.
    ///
    /// Looks only at these sites and the ones around them.
    pub fn meeting(&self, centre: Position, radius: Distance, out: &mut Vec<K>) {
        out.clear();
        let Some(from) = self.sample(centre) else { return };
        let place_ids = self.places_meeting(self.walk(from, centre), centre, radius);
        out.extend(place_ids.into_iter().flat_map(|place_id| &self.keys[place_id.index()]));
        out.sort_unstable();
    }

    /// Fills `out` with the sites that a site with an area of interest of this radius should know, by
    /// key: those whose regions meet that area, or touch the site's own.
    ///
    /// Sites in the area are among them: their regions meet it.
    pub fn neighbours(&self, key: K, radius: Distance, out: &mut Vec<VoronoiNeighbour<K>>) {
        out.clear();
        let Some(&place_id) = self.sites.get(&key) else { return };
        let centre = self.place_of(place_id);
        let mut around = vec![place_id];
        self.for_each_around(place_id, |it| around.push(it.fix()));
        around.sort_unstable();
        let mut known = self.places_meeting(place_id, centre, radius);
        known.extend_from_slice(&around);
        known.sort_unstable();
        // Places around the site may also meet its area.
        known.dedup();
        for it in known {
            let boundary = self.place_reaches_beyond(it, centre, radius);
            let enclosing = around.binary_search(&it).is_ok();
            let keys = self.keys[it.index()].iter().filter(|&&it| it != key);
            out.extend(keys.map(|&key| VoronoiNeighbour { key, enclosing, boundary }));
        }
        out.sort_unstable_by_key(|it| it.key);
    }

    fn place_of(&self, place_id: PlaceId) -> Position {
        self.mesh.vertex(place_id).data().0
    }

    /// Adds the key at `place`; `near` is the nearest place with sites, perhaps `place` itself.
    fn join(&mut self, key: K, place: Position, near: Option<PlaceId>) -> PlaceId {
        if let Some(near) = near
            && self.place_of(near) == place
        {
            let keys = &mut self.keys[near.index()];
            keys.insert(keys.partition_point(|&it| it < key), key);
            return near;
        }
        let inserted = match near {
            Some(near) => self.mesh.insert_with_hint(SitePlace(place), near),
            None => self.mesh.insert(SitePlace(place)),
        };
        self.keys.push(vec![key]);
        inserted.expect("every coordinate is a whole number in range")
    }

    /// Takes the key from its place, and the place out of the mesh if it was the last key there.
    fn leave(&mut self, key: K, place_id: PlaceId) {
        let keys = &mut self.keys[place_id.index()];
        keys.retain(|&it| it != key);
        if !keys.is_empty() {
            return;
        }
        // A place without sites would still have a region and change the others.
        self.mesh.remove(place_id);
        // The mesh moved its last place to this number, and the keys follow it.
        self.keys.swap_remove(place_id.index());
        for &key in self.keys.get(place_id.index()).into_iter().flatten() {
            self.sites.insert(key, place_id);
        }
    }

    /// The nearest of some √n places: a walk from there is short.
    fn sample(&self, place: Position) -> Option<PlaceId> {
        let count = self.mesh.num_vertices();
        let some = (0..count).step_by(count.isqrt().max(1)).map(PlaceId::from_index);
        some.min_by_key(|&it| self.place_of(it).distance_squared(place))
    }

    /// The place with sites that is nearest to `place`, found by going nearer from one to the next.
    ///
    /// Never stops too early: a point outside a region lies beyond one of its borders.
    fn walk(&self, from: PlaceId, place: Position) -> PlaceId {
        let distance = |it: PlaceHandle<'_>| it.data().0.distance_squared(place);
        let mut at = self.mesh.vertex(from);
        while let Some(nearer) = at.out_edges().map(|it| it.to()).find(|&it| distance(it) < distance(at)) {
            at = nearer;
        }
        at.fix()
    }

    /// Visits every place whose region touches that of `place_id`, once.
    fn for_each_around<'a>(&'a self, place_id: PlaceId, mut visit: impl FnMut(PlaceHandle<'a>)) {
        let site_place = self.mesh.vertex(place_id);
        let mut open = Vec::new();
        for edge in site_place.out_edges() {
            visit(edge.to());
            // Other places on the circle around a triangle of this place are beyond the side across, and
            // from there beyond the next sides.
            let mut side = (!edge.is_outer_edge()).then(|| edge.next().rev());
            while let Some(across) = side {
                side = match on_circle(site_place, across) {
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

    fn borders(&self, place_id: PlaceId) -> impl Iterator<Item = VoronoiBorder> {
        let place = |it: PlaceHandle<'_>| it.data().0;
        self.mesh.vertex(place_id).out_edges().map(move |edge| {
            let (right, left) = (edge.rev().opposite_vertex(), edge.opposite_vertex());
            VoronoiBorder::new(place(edge.from()), place(edge.to()), right.map(place), left.map(place))
        })
    }

    fn place_meets(&self, place_id: PlaceId, centre: Position, radius: Distance) -> bool {
        let mut holds_centre = true;
        for border in self.borders(place_id).filter(|it| it.is_crossed(centre)) {
            // The region's nearest point is on a border with the centre beyond it.
            if border.meets(centre, radius) {
                return true;
            }
            holds_centre = false;
        }
        holds_centre
    }

    fn place_reaches_beyond(&self, place_id: PlaceId, centre: Position, radius: Distance) -> bool {
        // A region is the hull of its corners, and each is the left end of one border.
        let mut borders = self.borders(place_id).peekable();
        borders.peek().is_none() || borders.any(|it| it.ends_beyond(centre, radius))
    }

    /// The places whose regions meet the disc; the region of `from` holds its centre.
    ///
    /// They are connected: between two points of the disc, one region follows the other.
    fn places_meeting(&self, from: PlaceId, centre: Position, radius: Distance) -> Vec<PlaceId> {
        let mut found = vec![from];
        let mut seen = BTreeSet::from([from]);
        let mut next = 0;
        while let Some(&place_id) = found.get(next) {
            let around = self.mesh.vertex(place_id).out_edges().map(|it| it.to().fix());
            let fresh = around.filter(|&it| seen.insert(it));
            found.extend(fresh.filter(|&it| self.place_meets(it, centre, radius)));
            next += 1;
        }
        found
    }
}

/// The place beyond `side`, if it lies on the circle through `place` and the ends of `side`.
fn on_circle<'a>(place: PlaceHandle<'a>, side: DelaunayEdge<'a>) -> Option<PlaceHandle<'a>> {
    let [one, other] = side.vertices().map(|it| it.data().0);
    let beyond = side.opposite_vertex()?;
    are_cocircular(place.data().0, [one, other, beyond.data().0]).then_some(beyond)
}
