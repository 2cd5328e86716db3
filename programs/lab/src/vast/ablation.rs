//! The ablation: the paper's protocol with one change at a time, and ours with one feature removed at a time.

use super::setting::{Protocol, VastOptions};

type Switches = &'static [(&'static str, &'static str)];

/// Factor of moves with intermediate steps: four times as many moves, each a quarter as long.
const INTERMEDIATE: f64 = 4.0;

/// View behind large objects or in fog, as a share of the usual view.
const FOG: f64 = 0.5;

const LEVEL: Switches = &[("trigger", "level")];
const TWO_HOPS: Switches = &[("candidates", "all")];
const ALL_RECEIVERS: Switches = &[("candidates", "all"), ("checkers", "everybody")];
const INSERT: Switches = &[("unknown-sender", "insert")];
const INSERT_IF_RELEVANT: Switches = &[("unknown-sender", "insert-if-relevant")];
const BILATERAL: Switches = &[
    ("relevance", "mutual"),
    ("handshake", "on"),
    ("mutual-introductions", "on"),
    ("unknown-sender", "insert-if-relevant"),
    ("grace", "2"),
];
const RECOVERY: Switches =
    &[("repair", "on"), ("anti-entropy", "2"), ("self-lookup", "10"), ("ping-after", "2")];
const GROUPS: Switches = &[("groups", "on")];

/// The rows of the ablation: the paper's protocol with a change each, then ours with one.
pub fn rows(base: &VastOptions) -> Vec<(String, VastOptions)> {
    let paper = |name: &str, changes: &[Switches]| row(base, Protocol::Paper, name, changes);
    let ours = |name: &str, changes: &[Switches]| row(base, Protocol::Fixed, name, changes);
    let more_often =
        |(name, it): (String, VastOptions)| (name, VastOptions { rate: it.rate * INTERMEDIATE, ..it });
    let in_fog = |(name, it): (String, VastOptions)| (name, VastOptions { aoi: it.aoi * FOG, ..it });
    vec![
        paper("the paper's", &[]),
        paper("+ told of all in view, not only of newcomers", &[LEVEL]),
        paper("+ checks over two hops", &[TWO_HOPS]),
        paper("+ checks over two hops, by all receivers", &[ALL_RECEIVERS]),
        more_often(paper("+ intermediate steps", &[])),
        paper("+ strangers are inserted", &[INSERT]),
        paper("+ strangers are inserted if they matter", &[INSERT_IF_RELEVANT]),
        paper("+ lists are bilateral", &[BILATERAL]),
        paper("+ recovery", &[RECOVERY]),
        paper("+ groups are known", &[GROUPS]),
        in_fog(paper("+ half the view, as in fog", &[])),
        more_often(paper("+ all that the paper proposes", &[ALL_RECEIVERS, BILATERAL, RECOVERY, GROUPS])),
        ours("ours", &[]),
        ours("− anti-entropy", &[&[("anti-entropy", "0")]]),
        ours("− buffer", &[&[("buffer", "0")]]),
        ours("− self-lookup", &[&[("self-lookup", "0")]]),
        ours("− groups", &[&[("groups", "off")]]),
        ours("− repair", &[&[("repair", "off")]]),
    ]
}

fn row(base: &VastOptions, protocol: Protocol, name: &str, changes: &[Switches]) -> (String, VastOptions) {
    let switch = |it: &(&str, &str)| (it.0.to_owned(), it.1.to_owned());
    let switches = base.switches.iter().cloned();
    let switches = switches.chain(changes.iter().flat_map(|it| it.iter()).map(switch)).collect();
    (name.to_owned(), VastOptions { protocol, switches, ..base.clone() })
}

#[cfg(test)]
mod tests {
    use super::super::part::VastPart;
    use super::super::setting::case;
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_row_is_valid_and_differs_from_all_others() {
        let rows = rows(&VastOptions::of(VastPart::Ablation));
        let configs: BTreeSet<String> =
            rows.iter().map(|(_, it)| format!("{:?}", case(it).unwrap().config)).collect();
        assert_eq!(configs.len(), rows.len());
    }
}
