//! Layout of a world: how it is cut into zones, and the addresses of their replicas.
//!
//! Every zone has a replica on every host. The replicas of the first zone come first, then those of the second, and so
//! on; players follow. So a world of one zone has the hosts' numbers for addresses.

use crate::run_options::RunOptions;
use machine::{Address, Rng};
use space::{Line, Partition, Polygon, Position, ZoneId};
use std::sync::Arc;

/// Number of hosts in a run.
pub const HOSTS: usize = 3;

/// Half the side of a world of one zone: small enough that players meet.
const HALF: i64 = 110_000;

/// Half the side of a zone's share of a larger world, if it were a square.
const HALF_EACH: i64 = 80_000;

/// Regions are not narrower than this, if possible: a player's view is as wide, and most events of narrower zones would
/// concern its neighbours.
const NARROWEST: f64 = 60_000.0;

/// Number of lines that are tried before the best of them is taken.
const TRIES: u32 = 24;

/// The zones of a world, and the addresses of their replicas.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The partition of the world into regions.
    pub map: Arc<Partition>,
    zones: u32,
    hosts: usize,
}

impl Layout {
    /// The layout of a run, drawn from its seed.
    pub fn of(options: &RunOptions) -> Self {
        let mut rng = Rng::seeded(options.seed).fork_named(0x006d_6170);
        let mut map = Partition::new(square(half(options.zones)), ZoneId(1));
        for number in 2..=options.zones {
            map = divided(&map, ZoneId(number), &mut rng);
        }
        Self::new(map, HOSTS)
    }

    /// The layout of a world with zones 1, 2, 3 and so on, each with a replica on that many hosts.
    pub fn new(map: Partition, hosts: usize) -> Self {
        let zones = map.zones().len() as u32;
        Self { map: Arc::new(map), zones, hosts }
    }

    /// Number of hosts; each has a replica of every zone.
    pub const fn hosts(&self) -> usize {
        self.hosts
    }

    /// The bounds of the whole world.
    pub fn world(&self) -> &Polygon {
        self.map.bounds()
    }

    /// Returns whether there is more than one zone.
    pub const fn is_meshed(&self) -> bool {
        1 < self.zones
    }

    /// All zones, in the order of their numbers.
    pub fn zones(&self) -> impl DoubleEndedIterator<Item = ZoneId> + use<> {
        (1..=self.zones).map(ZoneId)
    }

    /// Address of a zone's replica on a host.
    pub const fn replica(&self, zone: ZoneId, host: usize) -> Address {
        Address((zone.0 as u64 - 1) * self.hosts as u64 + host as u64)
    }

    /// Addresses of a zone's replicas, by host.
    pub fn replicas_of(&self, zone: ZoneId) -> Vec<Address> {
        (0..self.hosts).map(|host| self.replica(zone, host)).collect()
    }

    /// Addresses of the replicas on a host, by zone.
    pub fn on_host(&self, host: usize) -> Vec<Address> {
        self.zones().map(|zone| self.replica(zone, host)).collect()
    }

    /// Addresses of all replicas of all zones.
    pub fn replicas(&self) -> impl Iterator<Item = Address> + use<> {
        (0..u64::from(self.zones) * self.hosts as u64).map(Address)
    }

    /// The zone of a replica; `None` for a player.
    pub fn zone_of(&self, address: Address) -> Option<ZoneId> {
        let before = address.0 / self.hosts as u64;
        (before < u64::from(self.zones)).then(|| ZoneId(before as u32 + 1))
    }

    /// The host of a replica; `None` for a player.
    pub fn host_of(&self, address: Address) -> Option<usize> {
        self.zone_of(address).map(|_| address.0 as usize % self.hosts)
    }

    /// Returns whether two replicas are on one host.
    pub fn share_host(&self, one: Address, other: Address) -> bool {
        let host = self.host_of(one);
        // Players have no host here, so two of them do not share one.
        host.is_some() && host == self.host_of(other)
    }
}

fn half(zones: u32) -> i64 {
    if zones == 1 { HALF } else { (HALF_EACH * HALF_EACH * i64::from(zones)).isqrt() }
}

/// The corners of a world of one zone.
pub fn corners() -> [Position; 4] {
    let corner = |x: i64, y: i64| Position::saturating(x * HALF, y * HALF);
    [corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1)]
}

fn square(half: i64) -> Polygon {
    let corner = |sign: i64| Position::saturating(sign * half, sign * half);
    Polygon::rectangle(corner(-1), corner(1)).expect("a square is convex")
}

/// Cuts one region in two: usually the largest, in any direction.
fn divided(map: &Partition, new: ZoneId, rng: &mut Rng) -> Partition {
    let mut best: Option<(f64, Partition)> = None;
    for _ in 0..TRIES {
        let Some(next) = cut(map, new, rng) else { continue };
        let width = next.zones().map(|(_, region)| narrowest(region)).fold(f64::MAX, f64::min);
        if best.as_ref().is_none_or(|it| it.0 < width) {
            best = Some((width, next));
        }
        // Good enough; the coin lets some worlds look for a wider cut.
        if NARROWEST <= width && rng.coin() {
            break;
        }
    }
    best.expect("a line through the middle of a region cuts it").1
}

fn cut(map: &Partition, new: ZoneId, rng: &mut Rng) -> Option<Partition> {
    let largest = map.zones().max_by(|a, b| a.1.area_f64().total_cmp(&b.1.area_f64()))?.0;
    let any = ZoneId(1 + rng.below(u64::from(new.0) - 1) as u32);
    let zone = if rng.below(4) == 0 { any } else { largest };
    let (low, high) = map.polygon(zone)?.bounding_box();
    let (width, height) = low.step_to(high);
    // Somewhere around the middle, so that no part is tiny.
    let within =
        |low: i32, length: i32, rng: &mut Rng| i64::from(low) + i64::from(length) * rng.between(35, 65) / 100;
    let (x, y) = (within(low.x(), width, rng), within(low.y(), height, rng));
    let (dx, dy) = (rng.between(-1_000, 1_000), rng.between(-1_000, 1_000));
    // Upright borders are common in real worlds, and touch special cases of the geometry.
    let (dx, dy) = if rng.below(3) == 0 { if rng.coin() { (1, 0) } else { (0, 1) } } else { (dx, dy) };
    let line = Line::through(Position::saturating(x, y), Position::saturating(x + dx, y + dy)).ok()?;
    map.split(zone, line, new).ok()
}

/// Width of a region where it is narrowest, in millimetres.
fn narrowest(region: &Polygon) -> f64 {
    let corners: Vec<_> = region.vertices_f64().collect();
    let edges = corners.iter().zip(corners.iter().cycle().skip(1));
    let widths = edges.map(|(&[x, y], &[to_x, to_y])| {
        let (dx, dy) = (to_x - x, to_y - y);
        let across = corners.iter().map(|&[px, py]| dx * (py - y) - dy * (px - x));
        across.fold(0.0, f64::max) / (dx * dx + dy * dy).sqrt()
    });
    widths.fold(f64::MAX, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_options::RunRequest;

    #[test]
    fn regions_are_wide_enough_for_players_to_live_in() {
        let mut narrow = 0;
        for seed in 1..=200 {
            let options = RunOptions::draw(seed, &RunRequest::MESH);
            let layout = Layout::of(&options);
            assert_eq!(layout.map.zones().len() as u32, options.zones, "seed {seed}");
            assert!((2..=8).contains(&options.zones), "seed {seed}");
            narrow += layout.map.zones().filter(|(_, it)| narrowest(it) < NARROWEST).count();
        }
        assert!(narrow < 20, "{narrow} regions are narrow");
    }

    #[test]
    fn every_replica_has_a_zone_and_a_host() {
        let layout = Layout::of(&RunOptions { zones: 4, ..RunOptions::draw(1, &RunRequest::MESH) });
        for (zone, host) in layout.zones().flat_map(|zone| (0..HOSTS).map(move |host| (zone, host))) {
            let address = layout.replica(zone, host);
            assert_eq!((layout.zone_of(address), layout.host_of(address)), (Some(zone), Some(host)));
        }
        assert_eq!(layout.replicas().count(), 12);
        assert_eq!((layout.zone_of(Address(12)), layout.host_of(Address(12))), (None, None));
        assert!(layout.share_host(Address(1), Address(4)) && !layout.share_host(Address(1), Address(3)));
        assert!(!layout.share_host(Address(12), Address(15)), "players have hosts of their own");
    }
}
