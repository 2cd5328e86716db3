//! When a world serves its players well, and what must hold when it is offered more.

use super::report::{AFTER, OverloadReport, OverloadRow};
use super::{LOADS, report};
use crate::claims::MeasuredClaim;
use anyhow::{Result, ensure};

/// The longest 99th percentile of answers with which a world serves its players well, in milliseconds.
const SERVED_P99_MS: f64 = 100.0;

/// The least part of the smallest crowd's rate of poses. Denser crowds have something to send in more ticks, never in fewer.
const SERVED_POSES: f64 = 0.9;

/// The largest part of the players' time in which their zone may send poses more rarely.
const SERVED_SLOWED: f64 = 0.05;

/// The longest 99th percentile of answers for players who are in an overloaded world, in milliseconds.
const OVERLOAD_P99_MS: f64 = 1_000.0;

/// The least part of the best goodput at the largest load.
const GOODPUT: f64 = 0.9;

/// The least index of fairness of honest players.
const FAIRNESS: f64 = 0.95;

/// The largest ratio of the latencies at half of the capacity, after the overload and before it.
const RECOVERY: f64 = 2.0;

/// The 99th percentile, in milliseconds, below which latencies are not told apart: the slowest six of six hundred answers depend
/// on the machine's other work.
pub(super) const NOISE_MS: f64 = 25.0;

/// What a step of the search found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// The world serves all of these bots well.
    Serves,
    /// It does not.
    Refuses,
    /// It serves well those whom the lobby lets in, and lets no more in.
    Full,
}

/// The search for the capacity so far.
#[derive(Debug, Default)]
pub(super) struct FoundCapacity {
    served: usize,
    /// Rate of poses of the smallest crowd.
    pose_rate: Option<f64>,
}

impl FoundCapacity {
    pub(super) fn take_in(&mut self, row: &OverloadRow) -> Finding {
        let pose_rate = *self.pose_rate.get_or_insert(row.pose_rate);
        let is_well = row.p99_ms <= SERVED_P99_MS
            && row.slowed <= SERVED_SLOWED
            && SERVED_POSES * pose_rate <= row.pose_rate
            && row.errors + row.sessions_lost + row.failovers == 0;
        if !is_well {
            return Finding::Refuses;
        }
        self.served = self.served.max(row.in_world);
        if row.queued == 0 { Finding::Serves } else { Finding::Full }
    }

    /// The capacity, or an error if the world did not serve the smallest crowd well.
    pub(super) fn capacity(&self) -> Result<u32> {
        ensure!(
            0 < self.served,
            "the world does not serve the smallest crowd well on this machine: look with fewer bots (--step), or give the \
             capacity (--capacity)"
        );
        Ok(self.served as u32)
    }
}

/// The ratio of the latencies after the overload and before it.
pub(super) fn recovery_ratio(before: &OverloadRow, after: &OverloadRow) -> f64 {
    after.p99_ms.max(NOISE_MS) / before.p99_ms.max(NOISE_MS)
}

/// What must hold, with verdicts.
pub(super) fn claims(it: &OverloadReport) -> Vec<MeasuredClaim> {
    let sum = |of: fn(&OverloadRow) -> u64| it.rows.iter().map(of).sum::<u64>() as f64;
    let slowest = it.rows.iter().map(|it| it.p99_ms).fold(0.0, f64::max);
    let mut claims = vec![
        MeasuredClaim::at_most("sessions lost, in all phases", sum(|it| it.sessions_lost), 0.0),
        MeasuredClaim::at_most("errors, in all phases", sum(|it| it.errors), 0.0),
        MeasuredClaim::at_most("failovers, in all phases", sum(|it| it.failovers), 0.0),
        MeasuredClaim::at_most(
            "p99 of actions of those who are in, in ms, in any phase",
            slowest,
            OVERLOAD_P99_MS,
        ),
    ];
    let load = LOADS[LOADS.len() - 1];
    claims.extend(it.goodput_ratio.map(|it| {
        MeasuredClaim::at_least(&format!("goodput at {load} x capacity, as a part of the best"), it, GOODPUT)
    }));
    claims.extend(it.recovery_ratio.map(|it| {
        MeasuredClaim::at_most("p99 of actions at half of the capacity, after : before", it, RECOVERY)
    }));
    claims.extend(it.fairness.map(|it| {
        MeasuredClaim::at_least("fairness to honest players beside greedy ones (Jain's index)", it, FAIRNESS)
    }));
    claims
}

/// The row of a part.
pub(super) fn row<'a>(rows: &'a [OverloadRow], part: &str) -> Option<&'a OverloadRow> {
    rows.iter().find(|it| it.part == part)
}

/// Goodput at the largest load as a part of the best of all loads; `None` if loads were not measured.
pub(super) fn goodput_ratio(rows: &[OverloadRow]) -> Option<f64> {
    let loads: Vec<f64> = LOADS
        .iter()
        .filter_map(|load| Some(row(rows, &report::load_name(*load))?.actions_per_second))
        .collect();
    let best = loads.iter().copied().fold(0.0, f64::max);
    Some(loads.get(LOADS.len() - 1)? / best)
}

/// The recovery; `None` if loads were not measured.
pub(super) fn recovery(rows: &[OverloadRow]) -> Option<f64> {
    Some(recovery_ratio(row(rows, &report::load_name(LOADS[0]))?, row(rows, AFTER)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use report::{GREEDY, judged, load_name};

    fn served(part: &str, bots: usize) -> OverloadRow {
        OverloadRow {
            part: part.to_owned(),
            offered: bots,
            in_world: bots,
            actions_per_second: bots as f64 / 3.0,
            p50_ms: 10.0,
            p99_ms: 40.0,
            pose_rate: 9.5,
            fairness: 1.0,
            ..OverloadRow::default()
        }
    }

    /// A search in which each step is changed by a function of the number of bots.
    fn search(change: impl Fn(usize, &mut OverloadRow)) -> (Vec<Finding>, Option<u32>) {
        let mut found = FoundCapacity::default();
        let findings = [200, 400, 600].map(|bots| {
            let mut row = served("search", bots);
            change(bots, &mut row);
            found.take_in(&row)
        });
        (findings.to_vec(), found.capacity().ok())
    }

    #[test]
    fn the_capacity_is_the_largest_crowd_that_is_served_well() {
        use Finding::{Full, Refuses, Serves};
        let at = |least: usize, change: fn(&mut OverloadRow)| {
            search(move |bots, row| {
                if least <= bots {
                    change(row)
                }
            })
        };
        assert_eq!(search(|_, _| ()), (vec![Serves; 3], Some(600)));
        let late = (vec![Serves, Serves, Refuses], Some(400));
        assert_eq!(at(600, |it| it.p99_ms = 101.0), late);
        assert_eq!(at(600, |it| it.pose_rate = 8.0), late, "the small crowd was sent 9.5");
        assert_eq!(at(600, |it| it.slowed = 0.2), late, "one zone of six sends poses half as often");
        assert_eq!(at(600, |it| it.sessions_lost = 1), late);
        let full = at(400, |it| (it.in_world, it.queued) = (350, it.offered - 350));
        assert_eq!(full, (vec![Serves, Full, Full], Some(350)));
        assert_eq!(at(0, |it| it.p99_ms = 500.0), (vec![Refuses; 3], None));
    }

    /// All rows of a world that holds up.
    fn good() -> Vec<OverloadRow> {
        let mut rows: Vec<_> =
            LOADS.iter().map(|it| served(&load_name(*it), (it.min(1.0) * 600.0) as usize)).collect();
        rows.push(served(AFTER, 300));
        rows.push(served(GREEDY, 600));
        rows
    }

    /// Texts about what does not hold when the row of a part is changed.
    fn failures(part: &str, change: fn(&mut OverloadRow)) -> Vec<String> {
        let mut rows = good();
        change(rows.iter_mut().find(|it| it.part == part).unwrap());
        crate::claims::failures(&judged(600, 10.0, rows).claims)
    }

    #[test]
    fn each_thing_that_must_not_happen_is_found() {
        let most = load_name(3.0);
        assert_eq!(failures(&most, |_| ()), Vec::<String>::new());
        for (part, change, said) in [
            (most.as_str(), (|it| it.sessions_lost = 1) as fn(&mut OverloadRow), "sessions lost"),
            (&most, |it| it.errors = 3, "errors"),
            (&most, |it| it.failovers = 1, "failovers"),
            (&most, |it| it.p99_ms = 1_200.0, "p99 of actions of those who are in"),
            (&most, |it| it.actions_per_second *= 0.8, "goodput"),
            (AFTER, |it| it.p99_ms = 90.0, "p99 of actions at half"),
            (GREEDY, |it| it.fairness = 0.8, "fairness"),
        ] {
            let failed = failures(part, change);
            assert!(failed.len() == 1 && failed[0].starts_with(said), "{said}: {failed:?}");
        }
        let noise = failures(AFTER, |it| it.p99_ms = 49.0);
        assert!(noise.is_empty(), "{noise:?}");
    }

    #[test]
    fn what_was_not_measured_is_not_judged() {
        let rows = vec![served(GREEDY, 600)];
        let report = judged(600, 10.0, rows);
        assert_eq!((report.goodput_ratio, report.recovery_ratio, report.fairness), (None, None, Some(1.0)));
        assert_eq!(report.claims.len(), 5);
    }
}
