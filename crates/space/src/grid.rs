//! A uniform grid over moving points, built anew every tick.
//!
//! Points are sorted by cell into plain arrays, so that a query reads a few contiguous runs. The plane of
//! cells is folded into a table ([`Fold`]): it is as large as the number of points demands, however far
//! apart they are, and an outlier costs nothing. The price is that far cells may share a slot, so a run
//! can hold points that are not near: the caller tests distances itself, which it must do anyway.
//!
//! It allocates only when there are more points than ever before. It knows indices and coordinates,
//! never what these stand for.

use crate::Distance;
use crate::fold::Fold;
use std::ops::Range;

/// The smallest width of a cell, in millimetres; [`Axis::cell`] needs more than one.
const CELL_MIN: u32 = 2;

/// A uniform grid of points, sorted by cell.
///
/// ```
/// use space::{Distance, Grid, Position};
///
/// let (xs, ys) = ([0, 900, 70_000], [0, 100, -3]);
/// let mut grid = Grid::new(Distance::new(500)?);
/// grid.rebuild(&xs, &ys);
///
/// let (here, reach) = (Position::new(10, 10)?, Distance::new(1_000)?);
/// let mut near = Vec::new();
/// grid.for_each_run(here.x(), here.y(), reach, |run| {
///     for at in run {
///         if here.is_within(reach, Position::new(grid.xs()[at], grid.ys()[at]).unwrap()) {
///             near.push(grid.order()[at]);
///         }
///     }
/// });
/// near.sort();
/// assert_eq!(near, [0, 1]);
/// # Ok::<(), space::OutOfRange>(())
/// ```
#[derive(Clone, Debug)]
pub struct Grid {
    axis: Axis,
    fold: Fold,
    /// The index of each slot's first point in the sorted arrays, and at the end the number of points.
    starts: Vec<u32>,
    /// Each point's slot, by original index.
    slots: Vec<u32>,
    order: Vec<u32>,
    xs: Vec<i32>,
    ys: Vec<i32>,
}

impl Grid {
    /// An empty grid with cells `cell` wide, or 2 mm if that is more.
    ///
    /// A good width is a quarter to a half of the usual reach: smaller cells follow the circle more
    /// closely, larger ones make fewer runs.
    pub fn new(cell: Distance) -> Self {
        Self {
            axis: Axis::new(cell.millimetres().max(CELL_MIN)),
            fold: Fold::with(0),
            starts: vec![0; 2],
            slots: Vec::new(),
            order: Vec::new(),
            xs: Vec::new(),
            ys: Vec::new(),
        }
    }

    /// Forgets all points and sorts these in, point `i` being (`xs[i]`, `ys[i]`).
    ///
    /// Points of one cell keep their order, so equal input gives equal arrays.
    pub fn rebuild(&mut self, xs: &[i32], ys: &[i32]) {
        assert_eq!(xs.len(), ys.len(), "every point has two coordinates");
        self.fit(xs.len());
        self.count(xs, ys);
        self.place(xs, ys);
    }

    /// The sorted points' original indices.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// The sorted points' x coordinates.
    pub fn xs(&self) -> &[i32] {
        &self.xs
    }

    /// The sorted points' y coordinates.
    pub fn ys(&self) -> &[i32] {
        &self.ys
    }

    /// Hands out disjoint ranges of the sorted arrays that together hold every point at most `reach`
    /// away from (`x`, `y`), and some others.
    ///
    /// One or two runs for each row of cells, only as wide as the circle is there; never an empty one. A circle of
    /// more cells than there are points, or nearly so, gets everything at once.
    pub fn for_each_run(&self, x: i32, y: i32, reach: Distance, mut visit: impl FnMut(Range<usize>)) {
        let (left, right) = self.axis.cells(x, reach.millimetres());
        let (low, high) = self.axis.cells(y, reach.millimetres());
        // Cells of so large a rectangle may share slots, and a run could be handed out twice.
        if !self.fold.keeps_apart(right - left + 1, high - low + 1) {
            return self.visit_slots(0, self.fold.slots - 1, &mut visit);
        }
        let mut leftmost = self.fold.slot(left, low);
        for row in low..=high {
            let across = u64::from(self.axis.distance(row, y));
            // The difference is exact and its root rounds by far less than one: never too narrow.
            let half_width = ((reach.squared() - across * across) as f64).sqrt() as u32 + 1;
            let (first, last) = self.axis.cells(x, half_width.min(reach.millimetres()));
            self.visit_cells(self.fold.beyond(leftmost, first - left), last - first, &mut visit);
            leftmost = self.fold.beyond(leftmost, self.fold.step);
        }
    }

    /// Hands out the points of the cell in slot `first` and of `more` cells to its right.
    fn visit_cells(&self, first: u32, more: u32, visit: &mut impl FnMut(Range<usize>)) {
        let last = self.fold.beyond(first, more);
        if first <= last {
            return self.visit_slots(first, last, visit);
        }
        // The cells run over the end of the table: the rest of them is at its beginning.
        self.visit_slots(0, last, visit);
        self.visit_slots(first, self.fold.slots - 1, visit);
    }

    fn visit_slots(&self, first: u32, last: u32, visit: &mut impl FnMut(Range<usize>)) {
        let run = self.starts[first as usize] as usize..self.starts[last as usize + 1] as usize;
        if !run.is_empty() {
            visit(run);
        }
    }

    /// Makes room for `points` points, with about two to four slots each.
    fn fit(&mut self, points: usize) {
        // Twice as many slots must fit 31 bits.
        let points = u32::try_from(points).ok().filter(|&it| it <= 1 << 30);
        let points = points.expect("a tick moves at most 2^30 points");
        let bits = (2 * points).max(1).next_power_of_two().ilog2();
        self.fold = Fold::with(bits);
        self.starts.clear();
        self.starts.resize(self.fold.slots as usize + 1, 0);
        self.slots.clear();
        self.order.resize(points as usize, 0);
        self.xs.resize(points as usize, 0);
        self.ys.resize(points as usize, 0);
    }

    /// Finds every point's slot, and leaves the start of slot `s` in `starts[s + 1]`.
    fn count(&mut self, xs: &[i32], ys: &[i32]) {
        let (axis, fold) = (self.axis, self.fold);
        let slot = |(&x, &y): (&i32, &i32)| fold.slot(axis.cell(x), axis.cell(y));
        self.slots.extend(xs.iter().zip(ys).map(slot));
        for &slot in &self.slots {
            self.starts[slot as usize + 1] += 1;
        }
        let mut start = 0;
        for count in &mut self.starts[1..] {
            start += std::mem::replace(count, start);
        }
    }

    /// Puts every point where its slot's next one goes, which leaves the end of slot `s`, and so the
    /// start of slot `s + 1`, in `starts[s + 1]`.
    fn place(&mut self, xs: &[i32], ys: &[i32]) {
        for (index, ((&x, &y), &slot)) in xs.iter().zip(ys).zip(&self.slots).enumerate() {
            let next = &mut self.starts[slot as usize + 1];
            let place = *next as usize;
            *next += 1;
            self.order[place] = index as u32;
            self.xs[place] = x;
            self.ys[place] = y;
        }
    }
}

/// Cuts an axis into cells, numbered from the least coordinate up.
#[derive(Clone, Copy, Debug)]
struct Axis {
    width: u32,
    /// 2^64 / width, rounded up.
    inverse: u64,
}

impl Axis {
    const fn new(width: u32) -> Self {
        Self { width, inverse: u64::MAX / width as u64 + 1 }
    }

    /// The cell of a coordinate.
    ///
    /// A division by `width` as one multiplication, exact for every 32-bit number and every width
    /// above one (Lemire, Kaser, Kurz: Faster remainder by direct computation, 2019, theorem 1).
    const fn cell(self, coordinate: i32) -> u32 {
        ((self.inverse as u128 * from_least(coordinate) as u128) >> 64) as u32
    }

    /// The first and the last cell that hold coordinates at most `reach` away.
    const fn cells(self, coordinate: i32, reach: u32) -> (u32, u32) {
        let low = coordinate.saturating_sub_unsigned(reach);
        (self.cell(low), self.cell(coordinate.saturating_add_unsigned(reach)))
    }

    /// The distance of the nearest coordinate of `cell`.
    const fn distance(self, cell: u32, coordinate: i32) -> u32 {
        let (here, low) = (from_least(coordinate) as u64, cell as u64 * self.width as u64);
        let high = low + self.width as u64 - 1;
        (if here < low { low - here } else { here.saturating_sub(high) }) as u32
    }
}

/// The distance of a coordinate from the least `i32`.
const fn from_least(coordinate: i32) -> u32 {
    coordinate.cast_unsigned() ^ (1 << 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_allocated_for_as_many_points_as_before() {
        let points: Vec<i32> = (0..3_000).collect();
        let mut grid = Grid::new(Distance::ZERO);
        grid.rebuild(&points, &points);
        let buffers = |grid: &Grid| {
            [grid.order.as_ptr(), grid.slots.as_ptr(), grid.starts.as_ptr(), grid.xs.as_ptr().cast()]
        };
        let before = buffers(&grid);
        for count in [0, 1, 2_999, 3_000] {
            grid.rebuild(&points[..count], &points[..count]);
            assert_eq!(buffers(&grid), before, "{count} points");
        }
    }

    #[test]
    fn a_cell_is_an_exact_quotient() {
        let coordinates = [i32::MIN, i32::MIN + 1, -1_000_001, -1, 0, 1, 999_999, i32::MAX - 1, i32::MAX];
        for width in [2, 3, 7, 1_000, 65_537, i32::MAX as u32] {
            let axis = Axis::new(width);
            for coordinate in coordinates {
                let cell = axis.cell(coordinate);
                assert_eq!(cell, from_least(coordinate) / width, "{coordinate} by {width}");
                assert_eq!(axis.distance(cell, coordinate), 0);
            }
        }
    }
}
