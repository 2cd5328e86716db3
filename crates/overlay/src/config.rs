//! The switches of the protocol, and its limits with their reasons.

use crate::rule::OverlayRule;
use machine::Span;
use space::Distance;
use std::str::FromStr;
use thiserror::Error;

/// The most peers in a list, kept or in a message. In a larger crowd views shrink before a list gets that long.
pub const LIST_MAX: usize = 600;

/// The most bytes of a message: that is a message with a full list.
pub const MESSAGE_MAX: usize = 32 * 1024;

/// The most hops of a search: about twice the way across ten thousand peers.
pub const HOPS_MAX: u8 = 200;

/// The most peers in one introduction; the nearest are taken.
pub const NODES_MAX: usize = 8;

/// The most names in a greeting. A peer that knows more is in a crowd: its greetings name no peer, and it asks its
/// neighbours for the peers that it lacks.
pub const NAMES_MAX: usize = 32;

/// The most names in such a question; the nearest peers are named.
pub const ASKED_MAX: usize = 256;

/// The most peers in the answer to it; the nearest are taken.
pub const ANSWER_MAX: usize = 16;

/// The most names of new neighbours in a move; further ones are named in the next move.
pub const MET_MAX: usize = 16;

/// The most peers in a list that have not proven yet who they are: a peer that invents others fills no more than that.
pub const UNPROVEN_MAX: usize = 64;

/// The most members of its group that a peer remembers.
pub const GROUP_MEMBERS_MAX: usize = 64;

/// The most bytes of a credential: a signature with what it signs.
pub const CREDENTIAL_MAX: usize = 128;

/// In a crowd every neighbour is sent at least one step in so many. A neighbour that is sent fewer steps waits by the
/// same factor longer before it takes the sender for gone.
pub(crate) const SLOWEST: u64 = 3;

/// Factor by which the view that a peer announces may exceed the usual one; more is not believed.
pub const AOI_TIMES_MAX: u32 = 4;

/// Treatment of a move whose sender is not in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownSender {
    /// The move is dropped. This is what makes the paper's overlay fall apart.
    Drop,
    /// The sender is added to the list; the next step of the local peer removes irrelevant neighbours.
    Insert,
    /// The sender is added to the list if it is relevant; otherwise it is told that it is not.
    InsertIfRelevant,
}

/// The peers that a neighbour at the edge of a mover's view may introduce to the mover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Candidates {
    /// Only those whose regions touch its own region.
    Enclosing,
    /// All peers that the neighbour knows.
    All,
}

/// The neighbours that introduce other peers to a mover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Introducers {
    /// Only neighbours at the edge of the mover's view.
    Boundary,
    /// All neighbours that receive the move.
    AllReceivers,
}

/// The moment at which a peer is introduced to a mover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntroductionTrigger {
    /// The step with which the peer comes into the mover's view.
    Edge,
    /// Every step at which the peer is in view and the mover does not seem to know it.
    Level,
}

/// The rule by which neighbours are kept in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relevance {
    /// Peers that matter to the local peer.
    OneSided,
    /// Peers that matter to the local peer, or to which it matters: lists are the same from both sides.
    Mutual,
}

/// The configuration of a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerConfig {
    /// View of the peer (area of interest), a radius.
    pub aoi: Distance,
    /// Time between two moves of the peer.
    pub interval: Span,
    /// Treatment of moves of unknown peers.
    pub unknown_sender: UnknownSender,
    /// The peers that may be introduced to a mover.
    pub candidates: Candidates,
    /// The neighbours that introduce them. Its switch is called `checkers`.
    pub introducers: Introducers,
    /// The moment at which they are introduced.
    pub trigger: IntroductionTrigger,
    /// True if peers whose regions newly touch the mover's are introduced to it as well.
    pub enclosing_diff: bool,
    /// The rule by which neighbours are kept.
    pub relevance: Relevance,
    /// Time for which a neighbour is kept after it has become irrelevant.
    pub grace: Span,
    /// Distance beyond its view within which a peer looks for newcomers, so that it finds none too late.
    pub buffer: Distance,
    /// True if peers greet new neighbours and expect an answer.
    pub handshake: bool,
    /// True if introductions are made to both sides, and an introduced peer is added only if it is relevant.
    pub mutual_introductions: bool,
    /// Silence after which a neighbour is pinged; `None` for never.
    pub ping_after: Option<Span>,
    /// Silence after which a neighbour is taken for gone.
    pub silent: Span,
    /// True if a peer greets the enclosing neighbours of one that is gone, to close the gap.
    pub repair: bool,
    /// Time for which reports of other peers about a departed one are not believed.
    pub tombstone: Span,
    /// Time between two comparisons of lists; `None` for never.
    pub anti_entropy: Option<Span>,
    /// Time between two searches of a peer for its own place; `None` for never.
    pub self_lookup: Option<Span>,
    /// True if peers of one group always know each other.
    pub groups: bool,
    /// Time between two tries to join.
    pub join_retry: Span,
    /// Number of neighbours above which there is a crowd: views shrink, and distant neighbours are sent fewer steps.
    pub crowd: Option<usize>,
    /// The smallest view that a crowd leaves a peer.
    pub aoi_min: Distance,
    /// True if the reach of a peer that makes long steps is widened by the length of such a step.
    pub swept: bool,
    /// The most bytes that leave in any second, headers included.
    pub uplink: Option<u32>,
    /// A rule that this peer does not follow, so that a checker can show that it notices.
    pub broken: Option<OverlayRule>,
}

impl PeerConfig {
    /// The protocol of the paper; what the paper leaves open is taken from OverSim.
    pub const fn paper() -> Self {
        Self {
            aoi: Distance::of_metres(60),
            interval: Span::from_micros(666_667),
            unknown_sender: UnknownSender::Drop,
            candidates: Candidates::Enclosing,
            introducers: Introducers::Boundary,
            trigger: IntroductionTrigger::Edge,
            enclosing_diff: true,
            relevance: Relevance::OneSided,
            grace: Span::ZERO,
            buffer: Distance::of_metres(0),
            handshake: false,
            mutual_introductions: false,
            ping_after: None,
            silent: Span::from_secs(6),
            repair: false,
            tombstone: Span::ZERO,
            anti_entropy: None,
            self_lookup: None,
            groups: false,
            join_retry: Span::from_secs(30),
            crowd: None,
            aoi_min: Distance::of_metres(20),
            swept: false,
            uplink: None,
            broken: None,
        }
    }

    /// Our protocol, whose overlay holds together.
    pub const fn fixed() -> Self {
        Self {
            unknown_sender: UnknownSender::InsertIfRelevant,
            candidates: Candidates::All,
            trigger: IntroductionTrigger::Level,
            enclosing_diff: false,
            relevance: Relevance::Mutual,
            grace: Span::from_secs(2),
            buffer: Distance::of_metres(10),
            handshake: true,
            mutual_introductions: true,
            ping_after: Some(Span::from_millis(1_500)),
            silent: Span::from_millis(2_500),
            repair: true,
            tombstone: Span::from_secs(30),
            anti_entropy: Some(Span::from_secs(2)),
            self_lookup: Some(Span::from_secs(10)),
            groups: true,
            join_retry: Span::from_secs(3),
            crowd: Some(32),
            swept: true,
            uplink: Some(64_000),
            ..Self::paper()
        }
    }

    /// Sets one switch by its name, such as `unknown-sender` to `insert`.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), SwitchError> {
        let wrong = |expected: &'static str| SwitchError::Value {
            name: name.to_owned(),
            value: value.to_owned(),
            expected,
        };
        // The parsers of values, one per kind; each names in its error what it takes.
        let on = || match value {
            "on" => Ok(true),
            "off" => Ok(false),
            _ => Err(wrong("on or off")),
        };
        let seconds = || {
            let number = f64::from_str(value).ok().filter(|it| (0.0..=86_400.0).contains(it));
            number
                .map(|it| Span::from_micros((it * 1e6) as u64))
                .ok_or_else(|| wrong("seconds, or 0 for never"))
        };
        let now_and_then = || seconds().map(|it| (Span::ZERO < it).then_some(it));
        let metres = || {
            let metres = f64::from_str(value).ok().and_then(|it| Distance::from_metres(it).ok());
            metres.ok_or_else(|| wrong("metres"))
        };
        let count = |low: u32, expected| {
            // Zero switches the limit off.
            let number = u32::from_str(value).ok().filter(|it| *it == 0 || low <= *it);
            number.map(|it| (0 < it).then_some(it)).ok_or_else(|| wrong(expected))
        };
        match name {
            "unknown-sender" => {
                self.unknown_sender = match value {
                    "drop" => UnknownSender::Drop,
                    "insert" => UnknownSender::Insert,
                    "insert-if-relevant" => UnknownSender::InsertIfRelevant,
                    _ => return Err(wrong("drop, insert or insert-if-relevant")),
                }
            }
            "candidates" => {
                self.candidates = match value {
                    "enclosing" => Candidates::Enclosing,
                    "all" => Candidates::All,
                    _ => return Err(wrong("enclosing or all")),
                }
            }
            "checkers" => {
                self.introducers = match value {
                    "boundary" => Introducers::Boundary,
                    "everybody" => Introducers::AllReceivers,
                    _ => return Err(wrong("boundary or everybody")),
                }
            }
            "trigger" => {
                self.trigger = match value {
                    "edge" => IntroductionTrigger::Edge,
                    "level" => IntroductionTrigger::Level,
                    _ => return Err(wrong("edge or level")),
                }
            }
            "relevance" => {
                self.relevance = match value {
                    "one-sided" => Relevance::OneSided,
                    "mutual" => Relevance::Mutual,
                    _ => return Err(wrong("one-sided or mutual")),
                }
            }
            "enclosing-diff" => self.enclosing_diff = on()?,
            "handshake" => self.handshake = on()?,
            "mutual-introductions" => self.mutual_introductions = on()?,
            "repair" => self.repair = on()?,
            "groups" => self.groups = on()?,
            "grace" => self.grace = seconds()?,
            "silent" => self.silent = seconds()?,
            "tombstone" => self.tombstone = seconds()?,
            "ping-after" => self.ping_after = now_and_then()?,
            "anti-entropy" => self.anti_entropy = now_and_then()?,
            "self-lookup" => self.self_lookup = now_and_then()?,
            "swept" => self.swept = on()?,
            "buffer" => self.buffer = metres()?,
            "aoi-min" => self.aoi_min = metres()?,
            "crowd" => {
                let crowd = count(4, "a number of peers from 4 on, or 0 for no limit")?;
                self.crowd = crowd.map(|it| it as usize);
            }
            "uplink" => self.uplink = count(2_000, "bytes per second from 2000 on, or 0 for no limit")?,
            _ => return Err(SwitchError::Name(name.to_owned())),
        }
        Ok(())
    }

    /// The names of all switches, for error messages and tests.
    pub const SWITCHES: [&'static str; 21] = [
        "unknown-sender",
        "candidates",
        "checkers",
        "trigger",
        "relevance",
        "enclosing-diff",
        "handshake",
        "mutual-introductions",
        "repair",
        "groups",
        "grace",
        "silent",
        "tombstone",
        "ping-after",
        "anti-entropy",
        "self-lookup",
        "buffer",
        "crowd",
        "aoi-min",
        "swept",
        "uplink",
    ];

    /// Returns whether a peer of this configuration follows a rule.
    pub fn enforces(&self, rule: OverlayRule) -> bool {
        self.broken != Some(rule)
    }

    /// Distance within which newcomers are looked for around a peer with this view: view and buffer.
    pub fn reach(&self, aoi: Distance) -> Distance {
        // A peer may claim any view; with an endless one it would be relevant to all others.
        let aoi = aoi.millimetres().min(self.aoi.millimetres().saturating_mul(AOI_TIMES_MAX));
        // A small view gets a small buffer: in a crowd every metre more is many peers more.
        let buffer = self.buffer.millimetres().min(aoi / 2);
        Distance::new(aoi.saturating_add(buffer)).unwrap_or(Distance::MAX)
    }

    /// The reach of a peer with this view, widened by the length of its next step.
    pub(crate) fn reach_with(&self, aoi: Distance, stride: Distance) -> Distance {
        let reach = self.reach(aoi).millimetres().saturating_add(stride.millimetres());
        Distance::new(reach).unwrap_or(Distance::MAX)
    }
}

/// Reason why a switch was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SwitchError {
    /// No switch has that name.
    #[error("there is no switch {0:?}; there are {all}", all = PeerConfig::SWITCHES.join(", "))]
    Name(String),
    /// The switch does not take that value.
    #[error("{name} cannot be {value:?}: give {expected}")]
    Value {
        /// Name of the switch, as given.
        name: String,
        /// Value that was asked for.
        value: String,
        /// Values that the switch takes.
        expected: &'static str,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_switch_can_be_set_and_refuses_nonsense() {
        for name in PeerConfig::SWITCHES {
            let values = ["drop", "all", "everybody", "level", "mutual", "on", "5", "5000"];
            let mut config = PeerConfig::paper();
            let taken = values.iter().any(|value| config.set(name, value).is_ok());
            assert!(taken, "{name}");
            let error = config.set(name, "nonsense").unwrap_err().to_string();
            assert!(error.contains(name) && error.contains("give"), "{error}");
        }
        let error = PeerConfig::paper().set("colour", "red").unwrap_err().to_string();
        assert!(error.contains("colour") && error.contains("unknown-sender"), "{error}");
    }

    #[test]
    fn ours_differs_from_the_papers_by_switches_only() {
        let mut config = PeerConfig::paper();
        let ours = [
            ("unknown-sender", "insert-if-relevant"),
            ("candidates", "all"),
            ("trigger", "level"),
            ("enclosing-diff", "off"),
            ("relevance", "mutual"),
            ("grace", "2"),
            ("buffer", "10"),
            ("handshake", "on"),
            ("mutual-introductions", "on"),
            ("ping-after", "1.5"),
            ("silent", "2.5"),
            ("repair", "on"),
            ("tombstone", "30"),
            ("anti-entropy", "2"),
            ("self-lookup", "10"),
            ("groups", "on"),
            ("crowd", "32"),
            ("swept", "on"),
            ("uplink", "64000"),
        ];
        ours.iter().for_each(|(name, value)| config.set(name, value).unwrap());
        assert_eq!(PeerConfig { join_retry: PeerConfig::fixed().join_retry, ..config }, PeerConfig::fixed());
    }
}
