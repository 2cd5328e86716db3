//! The switches of the protocol, and every limit with its reason.

use crate::rule::Rule;
use machine::Span;
use space::Distance;
use std::str::FromStr;
use thiserror::Error;

/// The most peers in a list, in a message or kept. A crowd of more is thinned before.
pub const LIST_MAX: usize = 600;

/// The most bytes of a message: a full list.
pub const MESSAGE_MAX: usize = 32 * 1024;

/// How often a search is handed on at most: about twice the way across ten thousand peers.
pub const HOPS_MAX: u8 = 200;

/// The most peers in one introduction, the nearest first.
pub const NODES_MAX: usize = 8;

/// The most names in a greeting. Whoever knows more is in a crowd: it names nobody there, and asks by itself whom it lacks.
pub const NAMES_MAX: usize = 32;

/// The most names in such a question, the nearest first.
pub const ASKED_MAX: usize = 256;

/// The most peers in the answer, the nearest first.
pub const ANSWER_MAX: usize = 16;

/// The most names in a move of those met since the last one; more are named with the next.
pub const MET_MAX: usize = 16;

/// The most peers in a list who have not proven yet who they are: whoever invents peers fills no more than that.
pub const UNPROVEN_MAX: usize = 64;

/// The most peers of one's group who are remembered.
pub const MATES_MAX: usize = 64;

/// The most bytes of a credential: a signature, and what it is about.
pub const CREDENTIAL_MAX: usize = 128;

/// In a crowd no neighbour hears fewer than one step in so many, and one that hears fewer is as much more patient with silence.
pub(crate) const SLOWEST: u64 = 3;

/// How many times farther than usual somebody may see, whatever they say.
pub const AOI_TIMES_MAX: u32 = 4;

/// What becomes of a move of somebody who is not in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownSender {
    /// It is thrown away. This is what makes the paper's overlay fall apart.
    Drop,
    /// They are taken into the list; the next own move throws out who does not matter.
    Insert,
    /// They are taken into the list if they matter, and told that they do not if not.
    InsertIfRelevant,
}

/// Whom a peer at the edge of a mover's view tells it of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Candidates {
    /// Only those whose regions touch its own.
    Enclosing,
    /// Everybody it knows.
    All,
}

/// Who tells a mover of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checkers {
    /// Only those at the edge of its view.
    Boundary,
    /// Everybody who hears it.
    Everybody,
}

/// When a mover is told of somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// When they come into its view with this step.
    Edge,
    /// Whenever they are in its view and it does not seem to know them.
    Level,
}

/// Who is kept in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relevance {
    /// Those who matter to oneself.
    OneSided,
    /// Those who matter to either: lists are the same from both sides.
    Mutual,
}

/// How a peer behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// How far the peer sees.
    pub aoi: Distance,
    /// Between two moves.
    pub interval: Span,
    /// What becomes of moves of strangers.
    pub unknown_sender: UnknownSender,
    /// Whom newcomers are looked for among.
    pub candidates: Candidates,
    /// Who looks for them.
    pub checkers: Checkers,
    /// When they are told.
    pub trigger: Trigger,
    /// Whether a mover is also told of those who newly touch its region.
    pub enclosing_diff: bool,
    /// Who is kept.
    pub relevance: Relevance,
    /// How long somebody is kept who does not matter any more.
    pub grace: Span,
    /// How much farther than it sees a peer looks, so that nobody is found too late.
    pub buffer: Distance,
    /// Whether a new neighbour is greeted, and answers.
    pub handshake: bool,
    /// Whether introductions are made to both sides, and somebody introduced is taken only if they matter.
    pub mutual_introductions: bool,
    /// Somebody silent for this long is asked whether they are there.
    pub ping_after: Option<Span>,
    /// Somebody silent for this long is gone.
    pub silent: Span,
    /// Whether the gap of somebody who is gone is closed with those who touched their region.
    pub repair: bool,
    /// How long somebody who is gone is not believed to be there by hearsay.
    pub tombstone: Span,
    /// How often a list is compared with a neighbour's.
    pub anti_entropy: Option<Span>,
    /// How often a peer looks whether it is known where it is.
    pub self_lookup: Option<Span>,
    /// Whether peers of one group always know each other.
    pub groups: bool,
    /// Between two tries to join.
    pub join_retry: Span,
    /// So many in a list are a crowd: views shrink, and those farther away are told less often.
    pub crowd: Option<usize>,
    /// Views shrink no further than this.
    pub aoi_min: Distance,
    /// Whether those who take long steps are looked out for as far as their next step takes them.
    pub swept: bool,
    /// The most bytes that leave in any second, headers included.
    pub uplink: Option<u32>,
    /// A rule that this peer does not follow, so that a checker can show that it notices.
    pub broken: Option<Rule>,
}

impl Config {
    /// What the paper describes, with what it does not say taken from OverSim.
    pub const fn paper() -> Self {
        Self {
            aoi: Distance::of_metres(60),
            interval: Span::from_micros(666_667),
            unknown_sender: UnknownSender::Drop,
            candidates: Candidates::Enclosing,
            checkers: Checkers::Boundary,
            trigger: Trigger::Edge,
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

    /// What holds together.
    pub const fn fixed() -> Self {
        Self {
            unknown_sender: UnknownSender::InsertIfRelevant,
            candidates: Candidates::All,
            trigger: Trigger::Level,
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
                self.checkers = match value {
                    "boundary" => Checkers::Boundary,
                    "everybody" => Checkers::Everybody,
                    _ => return Err(wrong("boundary or everybody")),
                }
            }
            "trigger" => {
                self.trigger = match value {
                    "edge" => Trigger::Edge,
                    "level" => Trigger::Level,
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

    /// The names of all switches.
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

    /// Whether a peer of this configuration follows a rule.
    pub fn enforces(&self, rule: Rule) -> bool {
        self.broken != Some(rule)
    }

    /// How far newcomers are looked for around somebody who sees so far: view and buffer. Whoever sees little needs little
    /// buffer, too: in a crowd every metre is many peers.
    pub fn reach(&self, aoi: Distance) -> Distance {
        let aoi = aoi.millimetres().min(self.aoi.millimetres().saturating_mul(AOI_TIMES_MAX));
        let buffer = self.buffer.millimetres().min(aoi / 2);
        Distance::new(aoi.saturating_add(buffer)).unwrap_or(Distance::MAX)
    }

    /// The reach of a peer that sees so far, and as much farther as its next step may be long.
    pub(crate) fn reach_with(&self, aoi: Distance, stride: Distance) -> Distance {
        let reach = self.reach(aoi).millimetres().saturating_add(stride.millimetres());
        Distance::new(reach).unwrap_or(Distance::MAX)
    }
}

/// Why a switch was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SwitchError {
    /// There is none of that name.
    #[error("there is no switch {0:?}; there are {all}", all = Config::SWITCHES.join(", "))]
    Name(String),
    /// It cannot be set to that.
    #[error("{name} cannot be {value:?}: give {expected}")]
    Value {
        /// Which switch.
        name: String,
        /// What was asked for.
        value: String,
        /// What can be.
        expected: &'static str,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_switch_can_be_set_and_refuses_nonsense() {
        for name in Config::SWITCHES {
            let values = ["drop", "all", "everybody", "level", "mutual", "on", "5", "5000"];
            let mut config = Config::paper();
            let taken = values.iter().any(|value| config.set(name, value).is_ok());
            assert!(taken, "{name}");
            let error = config.set(name, "nonsense").unwrap_err().to_string();
            assert!(error.contains(name) && error.contains("give"), "{error}");
        }
        let error = Config::paper().set("colour", "red").unwrap_err().to_string();
        assert!(error.contains("colour") && error.contains("unknown-sender"), "{error}");
    }

    #[test]
    fn ours_differs_from_the_papers_by_switches_only() {
        let mut config = Config::paper();
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
        assert_eq!(Config { join_retry: Config::fixed().join_retry, ..config }, Config::fixed());
    }
}
