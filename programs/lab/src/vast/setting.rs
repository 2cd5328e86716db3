//! The options of the experiment, and the paper's numbers.

use super::part::VastPart;
use super::world::VastCase;
use machine::{Span, Time};
use overlay::{PeerConfig, SwitchError};
use serde::Serialize;
use sim::Profile;
use sim::crowd::{
    Churn, CrowdError, Cut, Division, Ground, Groups, JoinOrder, MassFailure, Movement, PopulationSchedule,
};
use space::Distance;
use thiserror::Error;

/// Delay between two peers, one way: the least, and the random part.
const LINE: (Span, Span) = (Span::from_millis(60), Span::from_millis(40));

/// The switch for the one rule on which the paper's overlay stands or falls, with its changed value.
pub const ONE_RULE: (&str, &str) = ("unknown-sender", "insert");

/// A protocol of the peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// The protocol of the paper.
    Paper,
    /// Our protocol, whose overlay holds together.
    Fixed,
}

impl Protocol {
    /// Name of the protocol in options and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Fixed => "fixed",
        }
    }
}

/// A pattern by which peers walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WalkPattern {
    /// Each peer walks to places of its own.
    Random,
    /// Peers walk in groups of twelve.
    Groups,
    /// All peers walk to one square.
    Gathering,
    /// Each peer walks to places of its own, with leaps.
    Teleport,
}

impl WalkPattern {
    /// Name of the pattern in options and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Groups => "groups",
            Self::Gathering => "gathering",
            Self::Teleport => "teleport",
        }
    }
}

/// The order in which groups join.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Joins {
    /// One group joins after the other.
    Together,
    /// First one peer of every group joins, then a second of every group, and so on.
    Turns,
}

/// The sizes by which bytes are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MessageSizes {
    /// Sizes of OverSim's messages, as in the paper.
    Paper,
    /// Sizes of our own encoding.
    Wire,
}

/// The options of a run, unchecked; they are part of the JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VastOptions {
    /// Protocol that all peers follow.
    pub protocol: Protocol,
    /// Switches that differ from the protocol, by name and value.
    pub switches: Vec<(String, String)>,
    /// Pattern by which peers walk.
    pub movement: WalkPattern,
    /// Number of peers in the world.
    pub peers: u32,
    /// Simulated hours of the run.
    pub hours: f64,
    /// Share of messages that get lost, 0 to 0.9.
    pub loss: f64,
    /// Mean length of a session, in minutes.
    pub churn_minutes: Option<f64>,
    /// Per cent of all peers that vanish, and the time of that, in seconds.
    pub fail: Option<(u32, u64)>,
    /// Length of a cut of the network and its start, in seconds.
    pub cut: Option<(u64, u64)>,
    /// Moves of a peer per second.
    pub rate: f64,
    /// View of a peer, in metres.
    pub aoi: f64,
    /// Walking speed, in metres per second.
    pub speed: f64,
    /// Side of the world in metres; by default one with the paper's density.
    pub world: Option<f64>,
    /// Time between two samples, in seconds.
    pub sample: u64,
    /// Order in which groups join.
    pub joins: Joins,
    /// Time between two joins, in seconds.
    pub spacing: f64,
    /// Random seed of the run.
    pub seed: u64,
    /// Sizes by which bytes are counted.
    pub sizes: MessageSizes,
    /// Times at which maps are drawn, in seconds.
    #[serde(skip)]
    pub maps: Vec<u64>,
}

impl VastOptions {
    /// The default options of a part of the experiment.
    pub fn of(part: VastPart) -> Self {
        match part {
            VastPart::Run => Self::paper(WalkPattern::Random),
            VastPart::Ablation => Self { hours: 0.5, sample: 60, ..Self::paper(WalkPattern::Groups) },
            VastPart::Scaling => Self { hours: 0.25, sample: 60, ..Self::paper(WalkPattern::Groups) },
        }
    }

    /// Name of the run: the protocol, `paper-insert` if only `ONE_RULE` is changed, or `changed`.
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
    pub const fn paper(movement: WalkPattern) -> Self {
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
            sizes: MessageSizes::Paper,
            maps: Vec::new(),
        }
    }
}

/// Reason why an option was refused.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum VastSettingError {
    /// A number is out of bounds.
    #[error("--{name} {value} cannot be: give {expected}")]
    Number {
        /// Name of the option, without dashes.
        name: &'static str,
        /// Value that was asked for.
        value: f64,
        /// Values that the option takes.
        expected: &'static str,
    },
    /// A switch is unknown or does not take that value.
    #[error("--set: {0}")]
    Switch(#[from] SwitchError),
    /// The crowd or its schedule is invalid.
    #[error("{0}")]
    Crowd(String),
}

impl From<CrowdError> for VastSettingError {
    fn from(error: CrowdError) -> Self {
        Self::Crowd(error.to_string())
    }
}

/// Checks the options and makes a case of them.
pub fn case(options: &VastOptions) -> Result<VastCase, VastSettingError> {
    check(options)?;
    let mut config = match options.protocol {
        Protocol::Paper => PeerConfig::paper(),
        Protocol::Fixed => PeerConfig::fixed(),
    };
    config.aoi = metres("aoi", options.aoi)?;
    config.interval = Span::from_micros((1e6 / options.rate) as u64);
    for (name, value) in &options.switches {
        config.set(name, value)?;
    }
    let movement = match options.movement {
        WalkPattern::Random => Movement::Random,
        WalkPattern::Groups => Movement::groups(),
        WalkPattern::Gathering => Movement::gathering(),
        WalkPattern::Teleport => Movement::teleport(),
    };
    // The paper's density: 500 peers in a square of 10 km.
    let sparse = 10_000.0 * (f64::from(options.peers) / 500.0).sqrt();
    let side = metres("world", options.world.unwrap_or(sparse))?;
    let lasts = Span::from_micros((options.hours * 3.6e9) as u64);
    let case = VastCase {
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

fn schedule(options: &VastOptions) -> PopulationSchedule {
    let minutes = |it: f64| Span::from_micros((it * 6e7) as u64);
    let at = |seconds: u64| Time::ZERO + Span::from_secs(seconds);
    let fail = |(percent, seconds)| MassFailure { at: at(seconds), percent, back_after: None };
    let cut =
        |(lasts, seconds)| Cut { at: at(seconds), lasts: Span::from_secs(lasts), division: Division::Random };
    // Why the order matters: a newcomer of the paper asks all peers on the list that it is given for their lists, and
    // drops most of them with its first step. If the next peer joins at the same place before that step, it is given
    // all of them, and so on, up to lists of nearly all peers.
    let order = match options.movement {
        WalkPattern::Groups if options.joins == Joins::Turns => {
            JoinOrder::Turns { size: Groups::default().size }
        }
        WalkPattern::Groups | WalkPattern::Random | WalkPattern::Gathering | WalkPattern::Teleport => {
            JoinOrder::Numbers
        }
    };
    PopulationSchedule {
        spacing: Span::from_micros((options.spacing * 1e6) as u64),
        order,
        churn: options.churn_minutes.map(|it| Churn::abrupt(minutes(it))),
        failures: options.fail.into_iter().map(fail).collect(),
        cuts: options.cut.into_iter().map(cut).collect(),
    }
}

/// The times at which maps are drawn, in order.
fn maps(options: &VastOptions) -> Result<Vec<Time>, VastSettingError> {
    let mut maps = options.maps.clone();
    maps.sort_unstable();
    maps.dedup();
    let late = maps.iter().find(|it| options.hours * 3_600.0 < **it as f64);
    match late {
        Some(&it) => {
            let expected = "seconds within the run";
            Err(VastSettingError::Number { name: "map", value: it as f64, expected })
        }
        None => Ok(maps.into_iter().map(|it| Time::ZERO + Span::from_secs(it)).collect()),
    }
}

fn metres(name: &'static str, value: f64) -> Result<Distance, VastSettingError> {
    let expected = "metres, from 1 to 1000000";
    let within = (1.0..=1e6).contains(&value).then(|| Distance::from_metres(value).ok()).flatten();
    within.ok_or(VastSettingError::Number { name, value, expected })
}

fn check(options: &VastOptions) -> Result<(), VastSettingError> {
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
        // This refuses NaN, too: no range contains it.
        if !(low..=high).contains(&value) {
            return Err(VastSettingError::Number { name, value, expected });
        }
    }
    Ok(())
}

/// The paper's tables 1 and 2: kilobytes per second, mean and most, and neighbours; `None` if it did not try the
/// pattern.
pub const fn paper_tables(movement: WalkPattern) -> Option<(f64, f64, f64)> {
    match movement {
        WalkPattern::Random => Some((0.73, 6.0, 5.3)),
        WalkPattern::Groups => Some((1.26, 8.0, 8.4)),
        WalkPattern::Gathering | WalkPattern::Teleport => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_options_are_refused() {
        let refused = |change: fn(&mut VastOptions)| {
            let mut options = VastOptions::paper(WalkPattern::Random);
            change(&mut options);
            case(&options).unwrap_err().to_string()
        };
        assert!(case(&VastOptions::paper(WalkPattern::Groups)).is_ok());
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
