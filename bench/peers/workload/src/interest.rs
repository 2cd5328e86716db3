//! Who sees whom: a circle around each avatar, found through a grid.

use crate::VIEW;

/// The avatars that each client sees, its own not among them.
pub struct Interest {
    half: f32,
    columns: usize,
    /// Numbers of the avatars in each cell of the grid; a cell is as wide as clients see.
    cells: Vec<Vec<u16>>,
    /// Numbers of the avatars that each client sees, in ascending order.
    visible: Vec<Vec<u16>>,
    /// A list that is kept for its memory.
    spare: Vec<u16>,
}

impl Interest {
    /// No client sees an avatar yet.
    pub fn new(clients: u16, half: f32) -> Self {
        let columns = (2.0 * half / VIEW) as usize + 1;
        Self {
            half,
            columns,
            cells: vec![Vec::new(); columns * columns],
            visible: vec![Vec::new(); usize::from(clients)],
            spare: Vec::new(),
        }
    }

    /// The avatars that a client sees.
    pub fn visible(&self, client: u16) -> &[u16] {
        &self.visible[usize::from(client)]
    }

    fn column(&self, at: f32) -> usize {
        (((at + self.half) / VIEW) as usize).min(self.columns - 1)
    }

    /// Looks again. `changed` is called with a client, an avatar, and whether the client sees it from now on.
    pub fn update(&mut self, positions: &[Option<(f32, f32)>], mut changed: impl FnMut(u16, u16, bool)) {
        self.cells.iter_mut().for_each(Vec::clear);
        for (number, &(x, y)) in present(positions) {
            let cell = self.column(y) * self.columns + self.column(x);
            self.cells[cell].push(number);
        }
        for (number, &at) in present(positions) {
            let mut seen = std::mem::take(&mut self.spare);
            seen.clear();
            self.collect(number, at, positions, &mut seen);
            seen.sort_unstable();
            let before = std::mem::replace(&mut self.visible[usize::from(number)], seen);
            let now = &self.visible[usize::from(number)];
            for_each_difference(&before, now, |avatar, sees| changed(number, avatar, sees));
            self.spare = before;
        }
    }

    fn collect(&self, number: u16, (x, y): (f32, f32), all: &[Option<(f32, f32)>], seen: &mut Vec<u16>) {
        let around = |at: usize| at.saturating_sub(1)..=(at + 1).min(self.columns - 1);
        for row in around(self.column(y)) {
            for column in around(self.column(x)) {
                let cell = &self.cells[row * self.columns + column];
                seen.extend(cell.iter().copied().filter(|&other| {
                    let (dx, dy) = all[usize::from(other)].map_or((VIEW, VIEW), |it| (it.0 - x, it.1 - y));
                    other != number && dx * dx + dy * dy <= VIEW * VIEW
                }));
            }
        }
    }
}

fn present(positions: &[Option<(f32, f32)>]) -> impl Iterator<Item = (u16, &(f32, f32))> {
    positions.iter().enumerate().filter_map(|(number, at)| Some((number as u16, at.as_ref()?)))
}

/// Calls `changed` for each number that only one of two ascending lists has: true if it is the second.
fn for_each_difference(before: &[u16], now: &[u16], mut changed: impl FnMut(u16, bool)) {
    let (mut before, mut now) = (before.iter().copied().peekable(), now.iter().copied().peekable());
    loop {
        match (before.peek(), now.peek()) {
            (None, None) => return,
            (Some(a), Some(b)) if a == b => {
                before.next();
                now.next();
            }
            (Some(&a), b) if b.is_none_or(|&b| a < b) => {
                before.next();
                changed(a, false);
            }
            (_, Some(&b)) => {
                now.next();
                changed(b, true);
            }
            (Some(_), None) => unreachable!("the guard above takes it"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walker::Walker;
    use std::collections::BTreeSet;

    #[test]
    fn the_grid_finds_what_comparing_all_pairs_finds() {
        let (clients, half) = (100, 99.0);
        let mut walkers: Vec<_> = (0..clients).map(|it| Walker::new(it, half)).collect();
        let mut interest = Interest::new(clients, half);
        let mut told = BTreeSet::new();
        for _ in 0..50 {
            let at: Vec<_> = walkers.iter_mut().map(|it| Some(it.step())).collect();
            interest.update(&at, |client, avatar, sees| {
                let changed =
                    if sees { told.insert((client, avatar)) } else { told.remove(&(client, avatar)) };
                assert!(changed, "{client} was told twice about {avatar}");
            });
            let mut expected = BTreeSet::new();
            for (a, (ax, ay)) in at.iter().flatten().enumerate() {
                for (b, (bx, by)) in at.iter().flatten().enumerate() {
                    let (dx, dy) = (bx - ax, by - ay);
                    if a != b && dx * dx + dy * dy <= VIEW * VIEW {
                        expected.insert((a as u16, b as u16));
                    }
                }
            }
            assert_eq!(told, expected);
        }
    }
}
