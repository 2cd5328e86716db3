//! The overlay as it should be: one diagram of everybody, and every list compared with it.

use super::network::Sitting;
use machine::{Address, Span, Time};
use overlay::config::Relevance;
use overlay::{Config, Peer};
use serde::Serialize;
use space::Voronoi;
use std::collections::{BTreeMap, BTreeSet};

/// Whoever has been in for less is not compared yet.
pub const SETTLED: Span = Span::from_secs(1);

/// The overlay at one moment.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Sample {
    /// When, in seconds.
    pub t: f64,
    /// Those whom a peer should know and does not, per peer.
    pub missing: f64,
    /// Those whom it knows and need not, per peer.
    pub superfluous: f64,
    /// Of all pairs within view of each other, those where the one knows the other, in per cent.
    pub consistency: f64,
    /// Into how many parts the overlay has fallen.
    pub components: usize,
    /// How many of all peers are in the largest, in per cent.
    pub largest: f64,
    /// How long lists are.
    pub neighbours: f64,
    /// Peers with nobody missing, in per cent.
    pub error_free: f64,
    /// How far from the truth a place is that a peer has of somebody in view, in metres.
    pub drift: f64,
    /// The same, what 99 of 100 are below.
    pub drift_p99: f64,
    /// Of everybody's eight nearest, those whose every step is heard: the last one that must have arrived is known, in per
    /// cent.
    pub near: f64,
    /// How many were in.
    pub peers: usize,
}

/// So many are near.
const NEAR: usize = 8;

/// The diagram of everybody who is in, where they are.
pub fn diagram(sitting: &BTreeMap<Address, Sitting<'_>>) -> Voronoi<Address> {
    let mut truth = Voronoi::new();
    for (&address, it) in sitting {
        truth.put(address, it.peer.info().position);
    }
    truth
}

/// Compares every list with the truth. What was said longer ago than `arrived` must have arrived.
pub fn examine(
    (now, arrived): (Time, Span),
    sitting: &BTreeMap<Address, Sitting<'_>>,
    truth: &Voronoi<Address>,
) -> Sample {
    let settled = |it: &Sitting<'_>| SETTLED <= now.since(it.since);
    let mut counts = Counts::default();
    let mut expected = Vec::new();
    for (&address, it) in sitting.iter().filter(|it| settled(it.1)) {
        let (place, aoi) = (it.peer.info().position, it.peer.info().aoi);
        truth.neighbours(address, aoi, &mut expected);
        let known = |other: Address| it.peer.entry(other);
        let missing_before = counts.missing;
        for neighbour in &expected {
            let Some(other) = sitting.get(&neighbour.key).filter(|it| settled(it)) else { continue };
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
        let others = expected.iter().filter_map(|it| sitting.get(&it.key)).filter(|it| settled(it));
        let mut others: Vec<&Peer> = others.map(|it| it.peer).collect();
        others.sort_by_key(|it| (it.info().position.distance_squared(place), it.info().address));
        for other in others.into_iter().take(NEAR) {
            let on_its_way = u32::from(now.since(other.stepped()) <= arrived);
            let heard = known(other.info().address).map(|it| it.info().sequence + on_its_way);
            counts.near += 1;
            counts.near_heard += usize::from(heard >= Some(other.info().sequence));
        }
        for (other, _) in it.peer.list() {
            counts.listed += 1;
            let needed = expected.binary_search_by_key(&other, |it| it.key).is_ok();
            counts.superfluous += usize::from(!needed);
        }
        counts.peers += 1;
        counts.error_free += usize::from(counts.missing == missing_before);
    }
    counts.drifts.sort_unstable();
    let parts = components(sitting);
    let largest = parts.first().map_or(0, Vec::len);
    let each = |count: usize| count as f64 / counts.peers.max(1) as f64;
    Sample {
        t: now.since(Time::ZERO).as_secs_f64(),
        missing: each(counts.missing),
        superfluous: each(counts.superfluous),
        consistency: if counts.in_view == 0 {
            100.0
        } else {
            100.0 * counts.seen as f64 / counts.in_view as f64
        },
        components: parts.len(),
        largest: 100.0 * largest as f64 / sitting.len().max(1) as f64,
        neighbours: each(counts.listed),
        error_free: 100.0 * each(counts.error_free),
        drift: counts.drifts.iter().map(|it| metres(*it)).sum::<f64>() / counts.seen.max(1) as f64,
        drift_p99: counts.drifts.get(counts.drifts.len() * 99 / 100).map_or(0.0, |it| metres(*it)),
        near: 100.0 * counts.near_heard as f64 / counts.near.max(1) as f64,
        peers: sitting.len(),
    }
}

/// Whom everybody should know by the protocol, if everybody knew everything: whoever is near, and mates.
pub fn relevant(
    config: &Config,
    sitting: &BTreeMap<Address, Sitting<'_>>,
    truth: &Voronoi<Address>,
) -> BTreeMap<Address, BTreeSet<Address>> {
    let mut relevant: BTreeMap<Address, BTreeSet<Address>> =
        sitting.keys().map(|&it| (it, BTreeSet::new())).collect();
    let mut add = |one: Address, other: Address| relevant.entry(one).or_default().insert(other);
    let mut found = Vec::new();
    for (&address, it) in sitting {
        truth.neighbours(address, config.reach(it.peer.info().aoi), &mut found);
        for other in found.iter().map(|it| it.key) {
            add(address, other);
            if config.relevance == Relevance::Mutual {
                add(other, address);
            }
        }
    }
    let mut groups: BTreeMap<u32, Vec<Address>> = BTreeMap::new();
    for it in sitting.values().map(|it| it.peer.info()).filter(|it| config.groups && it.group != 0) {
        groups.entry(it.group).or_default().push(it.address);
    }
    for mates in groups.values() {
        let pairs = mates.iter().flat_map(|&one| mates.iter().map(move |&other| (one, other)));
        pairs.filter(|(one, other)| one != other).for_each(|(one, other)| {
            add(one, other);
        });
    }
    relevant
}

/// Whether every list is exactly what the protocol wants it to be.
pub fn is_exact(config: &Config, sitting: &BTreeMap<Address, Sitting<'_>>) -> bool {
    let relevant = relevant(config, sitting, &diagram(sitting));
    relevant
        .iter()
        .all(|(address, wanted)| wanted.iter().copied().eq(sitting[address].peer.list().map(|it| it.0)))
}

#[derive(Default)]
struct Counts {
    near: usize,
    near_heard: usize,
    peers: usize,
    missing: usize,
    superfluous: usize,
    listed: usize,
    in_view: usize,
    seen: usize,
    error_free: usize,
    /// How far places are from the truth, in square millimetres.
    drifts: Vec<u64>,
}

fn metres(squared: u64) -> f64 {
    (squared as f64).sqrt() / 1e3
}

/// The parts into which the lists divide everybody, the largest first.
pub fn components(sitting: &BTreeMap<Address, Sitting<'_>>) -> Vec<Vec<Address>> {
    let number: BTreeMap<Address, usize> = sitting.keys().enumerate().map(|(n, &it)| (it, n)).collect();
    let links = sitting.iter().flat_map(|(address, it)| it.peer.list().map(|other| (*address, other.0)));
    let numbers = links.filter_map(|(a, b)| Some((*number.get(&a)?, *number.get(&b)?)));
    let mut all: BTreeMap<usize, Vec<Address>> = BTreeMap::new();
    for (part, &address) in parts(sitting.len(), numbers).into_iter().zip(sitting.keys()) {
        all.entry(part).or_default().push(address);
    }
    let mut all: Vec<Vec<Address>> = all.into_values().collect();
    all.sort_by_key(|it| std::cmp::Reverse(it.len()));
    all
}

/// Which part everybody is in, if whoever is linked is in the same. Parts are named after one who is in it.
pub fn parts(count: usize, links: impl Iterator<Item = (usize, usize)>) -> Vec<usize> {
    fn root(parent: &mut [usize], mut it: usize) -> usize {
        while parent[it] != it {
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
