//! The headroom of a world: what the reports of all its hosts say together.

use super::{HostReport, PaceSettings};
use machine::{Span, Time};
use std::collections::BTreeMap;

/// Age from which on a report is missing: four reports in a row did not arrive.
const SILENT_AFTER: Span = Span::from_millis(2_200);

/// Age from which on a host counts as gone, and the others decide: by then its zones have other primaries.
const GONE_AFTER: Span = Span::from_secs(10);

/// The most hosts whose reports are stored. A world has fewer.
const HOSTS_MAX: usize = 1_024;

/// How much more the hosts can take. The order is from the least to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum HeadroomLevel {
    /// No host has ever reported.
    Unknown,
    /// The reports of a host are missing, or all hosts are gone.
    Silent,
    /// A host is busy.
    Busy,
    /// All hosts keep up, and one of them has not much headroom.
    Tight,
    /// All hosts are calm and have headroom.
    Calm,
}

/// The last report of each host.
#[derive(Clone, Debug, Default)]
pub(super) struct HostHeadroom {
    reports: BTreeMap<u32, (Time, HostReport)>,
    has_reports: bool,
}

impl HostHeadroom {
    /// Stores the report of a host.
    pub(super) fn on_report(&mut self, now: Time, report: HostReport) {
        self.has_reports = true;
        self.reports.retain(|_, it| now.since(it.0) < GONE_AFTER);
        if report.is_leaving {
            self.reports.remove(&report.host);
        } else if self.reports.len() < HOSTS_MAX || self.reports.contains_key(&report.host) {
            self.reports.insert(report.host, (now, report));
        }
    }

    fn present(&self, now: Time) -> impl Iterator<Item = &(Time, HostReport)> {
        self.reports.values().filter(move |it| now.since(it.0) < GONE_AFTER)
    }

    /// Number of players in the world, as the hosts report it.
    pub(super) fn players(&self, now: Time) -> usize {
        self.present(now).map(|it| it.1.players as usize).sum()
    }

    /// The level at this time: the lowest of all hosts.
    pub(super) fn level(&self, now: Time, settings: &PaceSettings) -> HeadroomLevel {
        if !self.has_reports {
            return HeadroomLevel::Unknown;
        }
        let of_host = |(at, report): &(Time, HostReport)| {
            if SILENT_AFTER <= now.since(*at) { HeadroomLevel::Silent } else { level_of(report, settings) }
        };
        // Without any host the world is down, and no player can enter it.
        self.present(now).map(of_host).min().unwrap_or(HeadroomLevel::Silent)
    }
}

fn level_of(report: &HostReport, settings: &PaceSettings) -> HeadroomLevel {
    if 0 < report.load || settings.busy_from <= report.busy {
        HeadroomLevel::Busy
    } else if settings.calm_below <= report.busy || settings.calm_late <= report.lateness() {
        HeadroomLevel::Tight
    } else {
        HeadroomLevel::Calm
    }
}
