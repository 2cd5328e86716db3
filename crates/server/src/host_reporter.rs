//! Reports to the control plane how much headroom a host has, so that the lobby lets in as many players as hosts carry.

use crate::directory::RemoteDirectory;
use crate::zone_worker::ZoneSupervisor;
use lobby::HostReport;
use machine::{Span, Time};
use net::reactor::ReactorHandle;
use node::ReplicaNode;
use std::time::Duration;
use zone::{LoadLevel, PrimaryStatus};

/// Interval between two reports.
const REPORT_EVERY: Duration = Duration::from_millis(500);

/// The reporter of a host.
pub struct HostReporter {
    host: u32,
    directory: RemoteDirectory,
    zones: ZoneSupervisor,
    reactors: Vec<ReactorMeter>,
}

impl HostReporter {
    /// The reporter of this host.
    pub fn new(
        host: u32,
        directory: RemoteDirectory,
        zones: ZoneSupervisor,
        reactors: &[ReactorHandle<ReplicaNode>],
    ) -> Self {
        let reactors = reactors.iter().cloned().map(ReactorMeter::new).collect();
        Self { host, directory, zones, reactors }
    }

    /// Reports until it is dropped.
    pub async fn run(mut self) {
        let mut ticks = tokio::time::interval(REPORT_EVERY);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let primaries = self.zones.primaries().await;
            let now = net::clock::now();
            let busy = self.reactors.iter_mut().map(|it| it.busy(now)).max().unwrap_or(0);
            metrics::gauge!("ecumene_reactor_busy").set(f64::from(busy) / 1e3);
            self.directory.report(&report(self.host, &primaries, busy)).await;
        }
    }
}

/// How much of its time a reactor works.
struct ReactorMeter {
    reactor: ReactorHandle<ReplicaNode>,
    at: Time,
    worked: Span,
}

impl ReactorMeter {
    fn new(reactor: ReactorHandle<ReplicaNode>) -> Self {
        Self { worked: reactor.worked(), at: net::clock::now(), reactor }
    }

    /// Thousandths of the time since the last call in which the reactor worked.
    fn busy(&mut self, now: Time) -> u16 {
        let (worked, passed) = (self.reactor.worked(), now.since(self.at));
        let share = busy_share(worked.as_micros() - self.worked.as_micros(), passed.as_micros());
        (self.worked, self.at) = (worked, now);
        share
    }
}

/// Thousandths; a turn that began before the interval counts wholly in the one in which it ends.
fn busy_share(worked: u64, passed: u64) -> u16 {
    (worked.saturating_mul(1_000) / passed.max(1)).min(1_000) as u16
}

/// The report of a host whose primaries have these states; `None` is a primary that does not answer.
fn report(host: u32, primaries: &[Option<PrimaryStatus>], busy: u16) -> HostReport {
    let answered = || primaries.iter().flatten();
    let levels = primaries.iter().map(|it| it.map_or(LoadLevel::Overloaded, |it| it.level));
    let late = answered().map(|it| it.late).max().unwrap_or(Span::ZERO);
    HostReport {
        host,
        players: answered().map(|it| it.players as u32).sum(),
        load: levels.max().unwrap_or_default().number(),
        busy,
        late: u32::try_from(late.as_micros()).unwrap_or(u32::MAX),
        is_leaving: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_counts_players_and_names_the_worst() {
        let primary =
            |players, level, millis| Some(PrimaryStatus { players, level, late: Span::from_millis(millis) });
        let calm = primary(3, LoadLevel::Calm, 5);
        let all = report(7, &[calm, primary(40, LoadLevel::Busy, 70)], 120);
        assert_eq!(
            all,
            HostReport { host: 7, players: 43, load: 1, busy: 120, late: 70_000, is_leaving: false }
        );
        assert_eq!(report(7, &[], 0), HostReport { host: 7, ..HostReport::default() });
        assert_eq!(report(7, &[calm, None], 0).load, 2, "a zone that does not answer has no headroom");
    }

    #[test]
    fn a_reactor_is_busy_for_at_most_all_of_its_time() {
        assert_eq!(
            [(0, 0), (250, 1_000), (9_000, 1_000)].map(|(worked, of)| busy_share(worked, of)),
            [0, 250, 1_000]
        );
    }
}
