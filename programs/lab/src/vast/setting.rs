//! What may be chosen, and the paper's numbers.

use super::part::Part;
use super::world::Case;
use machine::{Span, Time};
use overlay::{Config, SwitchError};
use serde::Serialize;
use sim::Profile;
use sim::crowd::{Churn, CrowdError, Cut, Division, Failure, Ground, Groups, JoinOrder, Movement, Schedule};
use space::Distance;
use thiserror::Error;

/// Between two peers, one way: the least, and what chance adds.
const LINE: (Span, Span) = (Span::from_millis(60), Span::from_millis(40));

/// The one rule on which the paper's overlay stands or falls, changed.
pub const ONE_RULE: (&str, &str) = ("unknown-sender", "insert");

/// Which protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// What the paper describes.
    Paper,
    /// What holds together.
    Fixed,
}

impl Protocol {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Fixed => "fixed",
        }
    }
}

/// How peers walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Walk {
    /// Each to places of its own.
    Random,
    /// Twelve at a time, together.
    Groups,
    /// Everybody to one square.
    Gathering,
    /// Each to places of its own, with leaps.
    Teleport,
}

impl Walk {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Groups => "groups",
            Self::Gathering => "gathering",
            Self::Teleport => "teleport",
        }
    }
}

/// In which order groups join.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Joins {
    /// One group after the other.
    Together,
    /// Every group's first, then every group's second.
    Turns,
}

/// What a peer's bytes are counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sizes {
    /// OverSim's messages.
    Paper,
    /// Our own encoding.
    Wire,
}

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Options {
    /// Which protocol.
    pub protocol: Protocol,
    /// Switches set otherwise, by name and value.
    pub switches: Vec<(String, String)>,
    /// How peers walk.
    pub movement: Walk,
    /// How many.
    pub peers: u32,
    /// How long.
    pub hours: f64,
    /// The share of messages lost.
    pub loss: f64,
    /// How long a peer stays on average, in minutes.
    pub churn_minutes: Option<f64>,
    /// Per cent of all peers that vanish, and when, in seconds.
    pub fail: Option<(u32, u64)>,
    /// For how long the network is divided, and when, in seconds.
    pub cut: Option<(u64, u64)>,
    /// Moves per second.
    pub rate: f64,
    /// How far peers see, in metres.
    pub aoi: f64,
    /// How fast they walk, in metres per second.
    pub speed: f64,
    /// The side of the world in metres; by default as sparse as the paper's.
    pub world: Option<f64>,
    /// How often the overlay is examined, in seconds.
    pub sample: u64,
    /// In which order groups join.
    pub joins: Joins,
    /// Between two joins, in seconds.
    pub spacing: f64,
    /// Where chance starts.
    pub seed: u64,
    /// What bytes are counted by.
    pub sizes: Sizes,
    /// When maps are drawn, in seconds.
    #[serde(skip)]
    pub maps: Vec<u64>,
}

impl Options {
    /// What a part of the experiment is like if nothing else is asked for.
    pub fn of(part: Part) -> Self {
        match part {
            Part::Run => Self::paper(Walk::Random),
            Part::Ablation => Self { hours: 0.5, sample: 60, ..Self::paper(Walk::Groups) },
            Part::Scaling => Self { hours: 0.25, sample: 60, ..Self::paper(Walk::Groups) },
        }
    }

    /// The protocol's name, or the one rule of the paper's that is changed.
    pub fn name(&self) -> &'static str {
        match self.switches.as_slice() {
            [] => self.protocol.name(),
            [one] if self.protocol == Protocol::Paper && (one.0.as_str(), one.1.as_str()) == ONE_RULE => {
                "paper-insert"
            }
            _ => "changed",
        }
    }

    /// The paper's experiment: six hours of 500 peers.
    pub const fn paper(movement: Walk) -> Self {
        Self {
            protocol: Protocol::Paper,
            switches: Vec::new(),
            movement,
            peers: 500,
            hours: 6.0,
            loss: 0.0,
            churn_minutes: None,
            fail: None,
            cut: None,
            rate: 1.5,
            aoi: 60.0,
            speed: 6.0,
            world: None,
            sample: 300,
            seed: 1,
            joins: Joins::Together,
            spacing: 0.2,
            sizes: Sizes::Paper,
            maps: Vec::new(),
        }
    }
}

/// Why a setting was refused.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SettingError {
    /// A number is out of bounds.
    #[error("--{name} {value} cannot be: give {expected}")]
    Number {
        /// Which option.
        name: &'static str,
        /// What was asked for.
        value: f64,
        /// What can be.
        expected: &'static str,
    },
    /// A switch cannot be set so.
    #[error("--set: {0}")]
    Switch(#[from] SwitchError),
    /// A crowd cannot be so.
    #[error("{0}")]
    Crowd(String),
}

impl From<CrowdError> for SettingError {
    fn from(error: CrowdError) -> Self {
        Self::Crowd(error.to_string())
    }
}

/// The case that was asked for, or why it cannot be.
pub fn case(options: &Options) -> Result<Case, SettingError> {
    check(options)?;
    let mut config = match options.protocol {
        Protocol::Paper => Config::paper(),
        Protocol::Fixed => Config::fixed(),
    };
    config.aoi = metres("aoi", options.aoi)?;
    config.interval = Span::from_micros((1e6 / options.rate) as u64);
    for (name, value) in &options.switches {
        config.set(name, value)?;
    }
    let movement = match options.movement {
        Walk::Random => Movement::Random,
        Walk::Groups => Movement::groups(),
        Walk::Gathering => Movement::gathering(),
        Walk::Teleport => Movement::teleport(),
    };
    // As sparse as the paper's: 500 peers in a square of 10 km.
    let sparse = 10_000.0 * (f64::from(options.peers) / 500.0).sqrt();
    let side = metres("world", options.world.unwrap_or(sparse))?;
    let lasts = Span::from_micros((options.hours * 3.6e9) as u64);
    let case = Case {
        config,
        movement,
        peers: options.peers,
        ground: Ground { side, speed: (options.speed * 1e3) as u32 },
        schedule: schedule(options),
        line: Profile::new(LINE.0).with_jitter(LINE.1).with_loss(options.loss).expect("a probability"),
        lasts,
        sample: Span::from_secs(options.sample),
        maps: maps(options)?,
        seed: options.seed,
    };
    case.check()?;
    Ok(case)
}

fn schedule(options: &Options) -> Schedule {
    let minutes = |it: f64| Span::from_micros((it * 6e7) as u64);
    let at = |seconds: u64| Time::ZERO + Span::from_secs(seconds);
    let fail = |(percent, seconds)| Failure { at: at(seconds), percent, back_after: None };
    let cut =
        |(lasts, seconds)| Cut { at: at(seconds), lasts: Span::from_secs(lasts), division: Division::Random };
    // Who joins asks everybody on the list that it is given for theirs, and drops most of them with its first step. If the
    // next one joins at the same place before that step, it is given all of them, and so on, up to lists of nearly everybody.
    let order = match options.movement {
        Walk::Groups if options.joins == Joins::Turns => JoinOrder::Turns { size: Groups::default().size },
        Walk::Groups | Walk::Random | Walk::Gathering | Walk::Teleport => JoinOrder::Numbers,
    };
    Schedule {
        spacing: Span::from_micros((options.spacing * 1e6) as u64),
        order,
        churn: options.churn_minutes.map(|it| Churn::abrupt(minutes(it))),
        failures: options.fail.into_iter().map(fail).collect(),
        cuts: options.cut.into_iter().map(cut).collect(),
    }
}

/// When maps are drawn, in order.
fn maps(options: &Options) -> Result<Vec<Time>, SettingError> {
    let mut maps = options.maps.clone();
    maps.sort_unstable();
    maps.dedup();
    let late = maps.iter().find(|it| options.hours * 3_600.0 < **it as f64);
    match late {
        Some(&it) => {
            let expected = "seconds within the run";
            Err(SettingError::Number { name: "map", value: it as f64, expected })
        }
        None => Ok(maps.into_iter().map(|it| Time::ZERO + Span::from_secs(it)).collect()),
    }
}

fn metres(name: &'static str, value: f64) -> Result<Distance, SettingError> {
    let expected = "metres, from 1 to 1000000";
    let within = (1.0..=1e6).contains(&value).then(|| Distance::from_metres(value).ok()).flatten();
    within.ok_or(SettingError::Number { name, value, expected })
}

fn check(options: &Options) -> Result<(), SettingError> {
    let bounds: [(&'static str, f64, (f64, f64), &'static str); 8] = [
        ("peers", f64::from(options.peers), (2.0, 20_000.0), "from 2 to 20000"),
        ("hours", options.hours, (0.001, 100.0), "from 0.001 to 100"),
        ("loss", options.loss, (0.0, 0.9), "a share from 0 to 0.9"),
        ("rate", options.rate, (0.1, 20.0), "from 0.1 to 20 per second"),
        ("speed", options.speed, (0.1, 100.0), "from 0.1 to 100 metres per second"),
        ("spacing", options.spacing, (0.001, 60.0), "from 0.001 to 60 seconds"),
        ("sample", options.sample as f64, (1.0, 86_400.0), "from 1 to 86400 seconds"),
        ("churn-minutes", options.churn_minutes.unwrap_or(1.0), (0.1, 1e5), "from 0.1 to 100000 minutes"),
    ];
    for (name, value, (low, high), expected) in bounds {
        if !(low..=high).contains(&value) {
            return Err(SettingError::Number { name, value, expected });
        }
    }
    Ok(())
}

/// What the paper's tables 1 and 2 say: kilobytes per second on average and at most, and neighbours.
pub const fn paper_tables(movement: Walk) -> Option<(f64, f64, f64)> {
    match movement {
        Walk::Random => Some((0.73, 6.0, 5.3)),
        Walk::Groups => Some((1.26, 8.0, 8.4)),
        Walk::Gathering | Walk::Teleport => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_is_refused() {
        let refused = |change: fn(&mut Options)| {
            let mut options = Options::paper(Walk::Random);
            change(&mut options);
            case(&options).unwrap_err().to_string()
        };
        assert!(case(&Options::paper(Walk::Groups)).is_ok());
        assert!(refused(|it| it.peers = 1).contains("--peers 1"));
        assert!(refused(|it| it.loss = f64::NAN).contains("--loss NaN"));
        assert!(refused(|it| it.maps = vec![600, 30_000]).contains("--map 30000"));
        assert!(refused(|it| it.aoi = -1.0).contains("--aoi -1"));
        assert!(refused(|it| it.spacing = 0.0).contains("--spacing 0"));
        assert!(refused(|it| it.switches = vec![("colour".into(), "red".into())]).contains("unknown-sender"));
        let wrong = refused(|it| it.switches = vec![("trigger".into(), "red".into())]);
        assert!(wrong.contains("edge or level"), "{wrong}");
    }
}
