//! The claims of the paper and ours, one by one, compared with what was measured.

use super::results::{MeshResults, MeshRow};
use crate::report::{OURS, PAPER};

pub use crate::report::ExperimentClaim;

/// Factor by which times at borders may be longer: the paper's figure shows no difference.
const NO_DIFFERENCE: f64 = 1.1;

/// Least factor by which events take longer on an overloaded server.
const BREAKDOWN: f64 = 3.0;

/// Factor by which the cost per client may grow with four times as many zones.
const FLAT: f64 = 1.2;

/// Every claim about which something was measured.
pub fn claims(results: &MeshResults) -> Vec<ExperimentClaim> {
    let mut claims = Vec::new();
    claims.extend(at_borders(results));
    claims.extend(breaks_down(results));
    claims.extend(three_beat_one(results));
    claims.extend(flat(results));
    claims.extend(far_apart(results));
    claims.push(nothing_violated(results));
    claims
}

/// The claims that do not hold.
pub fn failures(results: &MeshResults) -> Vec<ExperimentClaim> {
    claims(results).into_iter().filter(|it| !it.holds).collect()
}

/// Seconds until the last timed event was answered; infinite if it never was.
fn seconds(row: &MeshRow, events: u64) -> f64 {
    let needed = (events / 1_000) as usize;
    row.measured.seconds.get(needed - 1).copied().unwrap_or(f64::INFINITY)
}

fn at_borders(results: &MeshResults) -> Option<ExperimentClaim> {
    let [anywhere, at_borders, ..] = results.borders.as_slice() else { return None };
    let events = results.setting.events;
    let ratio = seconds(at_borders, events) / seconds(anywhere, events);
    let claim = format!("time for {events} events with all clients at borders, against anywhere");
    Some(ExperimentClaim::at_most(claim, PAPER, ratio, NO_DIFFERENCE))
}

fn by_name<'a>(rows: &'a [MeshRow], name: &str) -> Option<&'a MeshRow> {
    rows.iter().find(|it| it.name == name)
}

fn breaks_down(results: &MeshResults) -> Option<ExperimentClaim> {
    let fine = by_name(&results.servers, "one server, 150 clients")?;
    let broken = by_name(&results.servers, "one server, 200 clients")?;
    let ours = broken.measured.event_ms.mean / fine.measured.event_ms.mean;
    let claim = "mean time of an event in one server with 200 clients, against 150".to_owned();
    Some(ExperimentClaim::at_least(claim, PAPER, ours, BREAKDOWN))
}

fn three_beat_one(results: &MeshResults) -> Vec<ExperimentClaim> {
    let one = by_name(&results.servers, "one server, 200 clients");
    let three = by_name(&results.servers, "three servers, 400 clients");
    let (Some(one), Some(three)) = (one, three) else { return Vec::new() };
    let events = results.setting.events;
    let below_one = |claim: String, ours: f64| ExperimentClaim {
        claim,
        by: PAPER,
        ours,
        bound: "below 1".to_owned(),
        holds: ours < 1.0,
    };
    vec![
        below_one(
            format!("time for {events} events of 400 clients on three servers, against 200 on one"),
            seconds(three, events) / seconds(one, events),
        ),
        below_one(
            "mean time of an event, 400 clients on three servers, against 200 on one".to_owned(),
            three.measured.event_ms.mean / one.measured.event_ms.mean,
        ),
    ]
}

fn flat(results: &MeshResults) -> Vec<ExperimentClaim> {
    let (Some(less), Some(more)) =
        (by_name(&results.scaling, "16 zones"), by_name(&results.scaling, "64 zones"))
    else {
        return Vec::new();
    };
    let (less, more) = (&less.measured, &more.measured);
    let claim = |what: &str| format!("{what} per client with 64 zones, against 16");
    vec![
        ExperimentClaim::at_most(claim("messages"), OURS, more.messages.all() / less.messages.all(), FLAT),
        ExperimentClaim::at_most(claim("units of work"), OURS, more.work / less.work, FLAT),
    ]
}

/// The claim that events within one zone do not depend on the distance of the other servers.
fn far_apart(results: &MeshResults) -> Option<ExperimentClaim> {
    let (near, far) = (results.distance.first()?, results.distance.last()?);
    let ratio = far.measured.local_ms.p50 / near.measured.local_ms.p50;
    let claim =
        format!("median time of an event within a zone, servers {} apart, against {}", far.name, near.name);
    Some(ExperimentClaim::at_most(claim, OURS, ratio, NO_DIFFERENCE))
}

fn nothing_violated(results: &MeshResults) -> ExperimentClaim {
    let found = violations(results).len();
    ExperimentClaim::at_most("violations of consistency in all runs".to_owned(), OURS, found as f64, 0.0)
}

/// Violations that the checkers found in all runs.
pub fn violations(results: &MeshResults) -> Vec<&str> {
    let all = [&results.borders, &results.servers, &results.distance, &results.share, &results.scaling];
    let runs = all.into_iter().flatten().flat_map(|it| &it.measured.violations);
    let tortured = results.torture.iter().flat_map(|it| &it.violations);
    runs.chain(tortured).map(String::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::super::case::{MeshMeasurement, TimeStatistics};
    use super::super::setting::MeshSetting;
    use super::*;

    fn row(name: &str, change: impl FnOnce(&mut MeshMeasurement)) -> MeshRow {
        let mut measured =
            MeshMeasurement { seconds: vec![1.0, 2.0, 3.0, 4.0, 5.0], ..MeshMeasurement::default() };
        change(&mut measured);
        MeshRow { name: name.to_owned(), at: 0.0, measured }
    }

    fn takes(millis: f64) -> impl FnOnce(&mut MeshMeasurement) {
        move |it| it.event_ms = TimeStatistics { mean: millis, ..TimeStatistics::default() }
    }

    fn costs(messages: f64, work: f64) -> impl FnOnce(&mut MeshMeasurement) {
        move |it| (it.messages.down, it.work) = (messages, work)
    }

    fn good() -> MeshResults {
        MeshResults {
            experiment: "mesh",
            setting: MeshSetting::default(),
            borders: vec![row("anywhere", |_| ()), row("at borders", |it| it.seconds[4] = 5.4)],
            servers: vec![
                row("one server, 150 clients", takes(10.0)),
                row("one server, 200 clients", takes(40.0)),
                row("three servers, 400 clients", |it| {
                    it.seconds[4] = 4.0;
                    takes(12.0)(it);
                }),
            ],
            distance: vec![
                row("0 ms", |it| it.local_ms.p50 = 1.0),
                row("100 ms", |it| it.local_ms.p50 = 1.05),
            ],
            share: Vec::new(),
            scaling: vec![row("16 zones", costs(10.0, 20.0)), row("64 zones", costs(11.0, 22.0))],
            torture: Vec::new(),
        }
    }

    #[test]
    fn each_claim_can_fail() {
        let failing = |change: fn(&mut MeshResults)| {
            let mut results = good();
            change(&mut results);
            failures(&results).into_iter().map(|it| it.claim).collect::<Vec<_>>().join("; ")
        };
        assert_eq!(failing(|_| ()), "");
        assert_eq!(claims(&good()).len(), 8);
        assert!(failing(|it| it.borders[1].measured.seconds[4] = 5.6).starts_with("time for 5000 events"));
        assert!(
            failing(|it| it.borders[1].measured.seconds.truncate(4)).contains("at borders"),
            "never done"
        );
        assert!(failing(|it| it.servers[1].measured.event_ms.mean = 29.0).contains("against 150"));
        assert!(failing(|it| it.servers[2].measured.seconds[4] = 5.1).contains("of 400 clients on three"));
        assert!(
            failing(|it| it.servers[2].measured.event_ms.mean = 41.0).contains("mean time of an event, 400")
        );
        assert!(failing(|it| it.scaling[1].measured.messages.down = 12.1).starts_with("messages per client"));
        assert!(failing(|it| it.scaling[1].measured.work = 24.1).starts_with("units of work"));
        assert!(failing(|it| it.distance[1].measured.local_ms.p50 = 1.2).contains("within a zone"));
        assert!(
            failing(|it| it.share.push(row("0 %", |it| it.violations.push("!".into()))))
                .contains("violations")
        );
    }
}
