//! The oracle: one diagram of all peers, with which every list is compared.

use super::network::PresentPeer;
use machine::{Address, Span, Time};
use overlay::config::Relevance;
use overlay::{Peer, PeerConfig};
use serde::Serialize;
use space::Voronoi;
use std::collections::{BTreeMap, BTreeSet};

/// A peer that has been in for less than this is not compared yet.
pub const SETTLED: Span = Span::from_secs(1);

/// The overlay at one moment.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct OverlaySample {
    /// Time of the sample, in seconds.
    pub t: f64,
    /// Number of peers that a peer should know and does not, mean.
    pub missing: f64,
    /// Number of peers that a peer knows and need not, mean.
    pub superfluous: f64,
    /// Share of all pairs within view where the one knows the other, in per cent.
    pub consistency: f64,
    /// Number of parts into which the overlay has fallen.
    pub components: usize,
    /// Share of all peers in the largest part, in per cent.
    pub largest: f64,
    /// Mean number of neighbours in a list.
    pub neighbours: f64,
    /// Share of peers with no neighbour missing, in per cent.
    pub error_free: f64,
    /// Mean error of the positions that peers have of others in view, in metres.
    pub drift: f64,
    /// 99th percentile of that error, in metres.
    pub drift_p99: f64,
    /// Share of each peer's eight nearest neighbours whose every step arrives, in per cent: the last step that must
    /// have arrived is known.
    pub near: f64,
    /// Number of peers in the overlay.
    pub peers: usize,
}

/// Number of nearest neighbours that count for `near`.
const NEAR: usize = 8;

/// The diagram of the true positions of all peers in the overlay.
pub fn diagram(present: &BTreeMap<Address, PresentPeer<'_>>) -> Voronoi<Address> {
    let mut truth = Voronoi::new();
    for (&address, it) in present {
        truth.put(address, it.peer.info().position);
    }
    truth
}

/// Compares every list with the true diagram. Messages sent longer ago than `arrived` must have arrived.
pub fn examine(
    (now, arrived): (Time, Span),
    present: &BTreeMap<Address, PresentPeer<'_>>,
    truth: &Voronoi<Address>,
) -> OverlaySample {
    let settled = |it: &PresentPeer<'_>| SETTLED <= now.since(it.since);
    let mut counts = ListCounts::default();
    let mut expected = Vec::new();
    for (&address, it) in present.iter().filter(|it| settled(it.1)) {
        let (place, aoi) = (it.peer.info().position, it.peer.info().aoi);
        truth.neighbours(address, aoi, &mut expected);
        let known = |other: Address| it.peer.neighbour(other);
        let missing_before = counts.missing;
        for neighbour in &expected {
            let Some(other) = present.get(&neighbour.key).filter(|it| settled(it)) else { continue };
            let there = other.peer.info().position;
            let entry = known(neighbour.key);
            counts.missing += usize::from(entry.is_none());
            if place.is_within(aoi, there) {
                counts.in_view += 1;
                counts.seen += usize::from(entry.is_some());
                if let Some(entry) = entry {
                    counts.drifts.push(entry.info().position.distance_squared(there));
                }
            }
        }
        let others = expected.iter().filter_map(|it| present.get(&it.key)).filter(|it| settled(it));
        let mut others: Vec<&Peer> = others.map(|it| it.peer).collect();
        others.sort_by_key(|it| (it.info().position.distance_squared(place), it.info().address));
        for other in others.into_iter().take(NEAR) {
            // The last step may still be on its way; then the one before it must be known.
            let on_its_way = u32::from(now.since(other.stepped()) <= arrived);
            let heard = known(other.info().address).map(|it| it.info().sequence + on_its_way);
            counts.near += 1;
            counts.near_heard += usize::from(heard >= Some(other.info().sequence));
        }
        for (other, _) in it.peer.neighbours() {
            counts.listed += 1;
            let needed = expected.binary_search_by_key(&other, |it| it.key).is_ok();
            counts.superfluous += usize::from(!needed);
        }
        counts.peers += 1;
        counts.error_free += usize::from(counts.missing == missing_before);
    }
    counts.drifts.sort_unstable();
    let parts = components(present);
    let largest = parts.first().map_or(0, Vec::len);
    let each = |count: usize| count as f64 / counts.peers.max(1) as f64;
    OverlaySample {
        t: now.since(Time::ZERO).as_secs_f64(),
        missing: each(counts.missing),
        superfluous: each(counts.superfluous),
        // Without a pair in view nothing is inconsistent.
        consistency: if counts.in_view == 0 {
            100.0
        } else {
            100.0 * counts.seen as f64 / counts.in_view as f64
        },
        components: parts.len(),
        largest: 100.0 * largest as f64 / present.len().max(1) as f64,
        neighbours: each(counts.listed),
        error_free: 100.0 * each(counts.error_free),
        drift: counts.drifts.iter().map(|it| metres(*it)).sum::<f64>() / counts.seen.max(1) as f64,
        drift_p99: counts.drifts.get(counts.drifts.len() * 99 / 100).map_or(0.0, |it| metres(*it)),
        near: 100.0 * counts.near_heard as f64 / counts.near.max(1) as f64,
        peers: present.len(),
    }
}

/// The peers that every peer should know by the protocol, if it knew all positions: near peers, and members of its
/// group.
pub fn relevant(
    config: &PeerConfig,
    present: &BTreeMap<Address, PresentPeer<'_>>,
    truth: &Voronoi<Address>,
) -> BTreeMap<Address, BTreeSet<Address>> {
    let mut relevant: BTreeMap<Address, BTreeSet<Address>> =
        present.keys().map(|&it| (it, BTreeSet::new())).collect();
    let mut add = |one: Address, other: Address| relevant.entry(one).or_default().insert(other);
    let mut found = Vec::new();
    for (&address, it) in present {
        truth.neighbours(address, config.reach(it.peer.info().aoi), &mut found);
        for other in found.iter().map(|it| it.key) {
            add(address, other);
            if config.relevance == Relevance::Mutual {
                add(other, address);
            }
        }
    }
    let mut groups: BTreeMap<u32, Vec<Address>> = BTreeMap::new();
    for it in present.values().map(|it| it.peer.info()).filter(|it| config.groups && it.group != 0) {
        groups.entry(it.group).or_default().push(it.address);
    }
    for members in groups.values() {
        let pairs = members.iter().flat_map(|&one| members.iter().map(move |&other| (one, other)));
        pairs.filter(|(one, other)| one != other).for_each(|(one, other)| {
            add(one, other);
        });
    }
    relevant
}

/// Returns whether every list is exactly what the protocol wants it to be.
pub fn is_exact(config: &PeerConfig, present: &BTreeMap<Address, PresentPeer<'_>>) -> bool {
    let relevant = relevant(config, present, &diagram(present));
    relevant
        .iter()
        .all(|(address, wanted)| wanted.iter().copied().eq(present[address].peer.neighbours().map(|it| it.0)))
}

#[derive(Default)]
struct ListCounts {
    near: usize,
    near_heard: usize,
    peers: usize,
    missing: usize,
    superfluous: usize,
    listed: usize,
    in_view: usize,
    seen: usize,
    error_free: usize,
    /// Squared errors of known positions, in square millimetres.
    drifts: Vec<u64>,
}

fn metres(squared: u64) -> f64 {
    (squared as f64).sqrt() / 1e3
}

/// The parts into which the lists divide all peers, the largest first.
pub fn components(present: &BTreeMap<Address, PresentPeer<'_>>) -> Vec<Vec<Address>> {
    let number: BTreeMap<Address, usize> = present.keys().enumerate().map(|(n, &it)| (it, n)).collect();
    let links =
        present.iter().flat_map(|(address, it)| it.peer.neighbours().map(|other| (*address, other.0)));
    let numbers = links.filter_map(|(a, b)| Some((*number.get(&a)?, *number.get(&b)?)));
    let mut all: BTreeMap<usize, Vec<Address>> = BTreeMap::new();
    for (part, &address) in parts(present.len(), numbers).into_iter().zip(present.keys()) {
        all.entry(part).or_default().push(address);
    }
    let mut all: Vec<Vec<Address>> = all.into_values().collect();
    all.sort_by_key(|it| std::cmp::Reverse(it.len()));
    all
}

/// The part to which each of `count` peers belongs (union-find over the links). A part is named after one of its
/// members.
pub fn parts(count: usize, links: impl Iterator<Item = (usize, usize)>) -> Vec<usize> {
    fn root(parent: &mut [usize], mut it: usize) -> usize {
        while parent[it] != it {
            // Path halving keeps the trees flat.
            parent[it] = parent[parent[it]];
            it = parent[it];
        }
        it
    }
    let mut parent: Vec<usize> = (0..count).collect();
    for (a, b) in links {
        let (a, b) = (root(&mut parent, a), root(&mut parent, b));
        parent[a] = b;
    }
    (0..count).map(|it| root(&mut parent, it)).collect()
}
