//! The worlds of the experiments: rectangles cut into zones of equal size, and the homes of clients in them.

use kosmos::config::RANGE;
use space::{Line, Partition, Polygon, Position, ZoneId};

/// Side of a zone in millimetres: eight times the range.
pub const SIDE: i64 = 8 * RANGE.millimetres() as i64;

/// The kind of place where a client lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HomeKind {
    /// Any position in the world.
    Anywhere,
    /// Within range of a border, so that the player sees over it.
    NearBorders,
    /// As crowded as near the borders of a row of zones, but in the middle of each zone.
    Inside,
    /// Out of range of every border.
    FarFromBorders,
    /// Exactly on a border that runs north, to the millimetre, and near the middle of the world.
    OnTheLine,
    /// Near the middle of the world, where the zones of a square meet.
    AtTheCorner,
}

/// A world in columns and rows of zones.
#[derive(Clone, Debug)]
pub struct MeshGround {
    /// The partition of the world into zones.
    pub map: Partition,
    columns: i64,
    rows: i64,
    /// Width and height of a zone, in millimetres.
    cell: (i64, i64),
}

impl MeshGround {
    /// A world of columns and rows of zones around the origin; `cell` is the width and height of a zone, in
    /// millimetres.
    ///
    /// # Panics
    /// If there are no columns or rows, or too many for the space.
    pub fn new(columns: u32, rows: u32, cell: (i64, i64)) -> Self {
        let (columns, rows) = (i64::from(columns), i64::from(rows));
        let (x, y) = (columns * cell.0 / 2, rows * cell.1 / 2);
        let (low, high) = (Position::saturating(-x, -y), Position::saturating(x, y));
        let bounds = Polygon::rectangle(low, high).expect("a world has columns and rows");
        let mut it = Self { map: Partition::new(bounds, ZoneId(1)), columns, rows, cell };
        // First all columns, then the rows within each: so every line cuts exactly one zone.
        for column in 1..columns {
            it.cut(columns - 1, rows - 1, it.at(column, 0), it.at(column, rows));
        }
        for column in 0..columns {
            for row in 1..rows {
                it.cut(column, rows - 1, it.at(column, row), it.at(column + 1, row));
            }
        }
        it
    }

    /// Splits the zone that contains the middle of a cell, along the line through two positions.
    fn cut(&mut self, column: i64, row: i64, from: Position, to: Position) {
        let (a, b) = (self.at(column, row), self.at(column + 1, row + 1));
        let middle = |a: i32, b: i32| (i64::from(a) + i64::from(b)) / 2;
        let middle = Position::saturating(middle(a.x(), b.x()), middle(a.y(), b.y()));
        let zone = self.map.locate(middle).expect("cells are in the world");
        let line = Line::through(from, to).expect("corners of cells differ");
        let new = ZoneId(self.map.highest_zone().0 + 1);
        self.map = self.map.split(zone, line, new).expect("lines between cells cut zones");
    }

    /// The lower left corner of a cell.
    fn at(&self, column: i64, row: i64) -> Position {
        let line = |number: i64, count: i64, cell: i64| number * cell - count * cell / 2;
        Position::saturating(line(column, self.columns, self.cell.0), line(row, self.rows, self.cell.1))
    }

    /// The polygon of the whole world.
    pub fn world(&self) -> &Polygon {
        self.map.bounds()
    }

    /// Number of zones in the world.
    pub fn zones(&self) -> u32 {
        self.map.zones().len() as u32
    }

    /// The ends of all lines between columns and between rows.
    pub fn borders(&self) -> Vec<(Position, Position)> {
        let columns = (1..self.columns).map(|it| (self.at(it, 0), self.at(it, self.rows)));
        let rows = (1..self.rows).map(|it| (self.at(0, it), self.at(self.columns, it)));
        columns.chain(rows).collect()
    }

    /// Distance to the next line between columns or rows, in millimetres; `None` if there is none.
    pub fn to_border(&self, place: Position) -> Option<u32> {
        let columns = (1..self.columns).map(|it| self.at(it, 0).x().abs_diff(place.x()));
        let rows = (1..self.rows).map(|it| self.at(0, it).y().abs_diff(place.y()));
        columns.chain(rows).min()
    }

    /// Returns whether a player at this position sees over a border.
    pub fn is_near_border(&self, place: Position) -> bool {
        self.to_border(place).is_some_and(|it| it <= RANGE.millimetres())
    }

    /// Returns whether a position is a home of this kind.
    pub fn is_home(&self, kind: HomeKind, place: Position) -> bool {
        let range = i64::from(RANGE.millimetres());
        let (x, y) = (i64::from(place.x()), i64::from(place.y()));
        match kind {
            HomeKind::Anywhere => true,
            HomeKind::NearBorders => self.is_near_border(place),
            HomeKind::FarFromBorders => !self.is_near_border(place),
            // All zones' strips together are as wide as those at the borders between the columns.
            HomeKind::Inside => {
                let half = range * (self.columns - 1) / self.columns;
                let middle = (x + self.columns * self.cell.0 / 2).rem_euclid(self.cell.0) - self.cell.0 / 2;
                middle.abs() <= half
            }
            HomeKind::OnTheLine => x == 0 && y.abs() <= range,
            HomeKind::AtTheCorner => x.abs().max(y.abs()) <= range / 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::Rng;

    #[test]
    fn zones_are_squares_in_columns_and_rows() {
        let ground = MeshGround::new(4, 4, (SIDE, SIDE));
        assert_eq!(ground.zones(), 16);
        assert!(ground.map.zones().all(|(_, it)| it.area_f64() == (SIDE * SIDE) as f64));
        assert_eq!(ground.map.zones().map(|it| it.0.0).collect::<Vec<_>>(), (1..=16).collect::<Vec<_>>());
        assert_eq!(MeshGround::new(1, 1, (SIDE, SIDE)).to_border(Position::ORIGIN), None);
        let place = |x, y| Position::from_metres(x, y).unwrap();
        assert_eq!(ground.to_border(place(0.0, 100.0)), Some(0));
        assert_eq!(ground.to_border(place(200.0, 470.0)), Some(10_000));
    }

    fn somewhere(rng: &mut Rng) -> Position {
        Position::saturating(rng.between(-720_000, 719_999), rng.between(-240_000, 239_999))
    }

    #[test]
    fn as_many_live_inside_as_at_borders() {
        let ground = MeshGround::new(3, 1, (SIDE, SIDE));
        let mut rng = Rng::seeded(1);
        let mut share = |kind| (0..40_000).filter(|_| ground.is_home(kind, somewhere(&mut rng))).count();
        let (borders, inside, far) =
            (share(HomeKind::NearBorders), share(HomeKind::Inside), share(HomeKind::FarFromBorders));
        assert!(borders.abs_diff(inside) < 400, "{borders} and {inside}");
        assert!((40_000 - borders).abs_diff(far) < 400, "{borders} and {far}");
        assert!((6_300..7_000).contains(&borders), "a sixth of the world: {borders}");
    }
}
