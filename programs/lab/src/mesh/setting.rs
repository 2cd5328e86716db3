//! What may be chosen.

use machine::Span;
use serde::Serialize;
use thiserror::Error;

/// What a message takes of a server's time, in or out, in microseconds. The paper does not say how fast its servers were;
/// it says that one of them could bear 150 clients and not 200. With this, the round figure nearest to that, one of ours
/// is 88 % busy with 150 and cannot keep up with 200.
pub const SERVICE_US: u64 = 200;

/// The parts of the experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Experiment 1 of the paper: clients anywhere, and clients at borders.
    Borders,
    /// Experiment 2: one server, and three.
    Servers,
    /// Past the paper: servers that are far apart.
    Distance,
    /// Past the paper: few and many clients at borders.
    Share,
    /// Past the paper: ever larger worlds.
    Zones,
    /// The paper's tests by hand.
    Torture,
}

impl Part {
    /// All of them, in the order of the report.
    pub const ALL: [Self; 6] =
        [Self::Borders, Self::Servers, Self::Distance, Self::Share, Self::Zones, Self::Torture];
}

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Setting {
    /// Where chance starts.
    pub seed: u64,
    /// How many events are timed in the paper's experiments.
    pub events: u64,
    /// What a message takes of a server's time, in microseconds.
    pub service_us: u64,
    /// Numbers of zones, each a square.
    pub zones: Vec<u32>,
    /// Clients per zone in ever larger worlds.
    pub clients_per_zone: u32,
    /// Which parts are run.
    pub parts: Vec<Part>,
}

/// Why a setting was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SettingError {
    /// Times are told for every thousandth event.
    #[error(
        "--events {0} is no multiple of 1000 from 1000 to 100000: times are told for every thousandth event"
    )]
    Events(u64),
    /// A server that takes so long serves nobody.
    #[error("--service {0} is too long: a message takes at most 10000 microseconds of a server's time")]
    Service(u64),
    /// Zones are the squares of a chessboard.
    #[error("--zones {0}: give squares of whole numbers from 1 to 256, such as 1,4,16,64")]
    Zones(u32),
    /// Nobody would play, or too many for the simulator.
    #[error("--clients {0}: give from 1 to 200 clients per zone")]
    Clients(u32),
}

impl Default for Setting {
    /// Everything, as in the paper where it says how.
    fn default() -> Self {
        Self {
            seed: 1,
            events: 5_000,
            service_us: SERVICE_US,
            zones: vec![1, 4, 16, 64],
            clients_per_zone: 25,
            parts: Part::ALL.to_vec(),
        }
    }
}

impl Setting {
    /// Refuses what cannot be.
    pub fn check(&self) -> Result<(), SettingError> {
        if !self.events.is_multiple_of(1_000) || !(1_000..=100_000).contains(&self.events) {
            return Err(SettingError::Events(self.events));
        }
        if 10_000 < self.service_us {
            return Err(SettingError::Service(self.service_us));
        }
        let is_square = |it: u32| (1..=256).contains(&it) && it.isqrt().pow(2) == it;
        if let Some(&zones) = self.zones.iter().find(|it| !is_square(**it)) {
            return Err(SettingError::Zones(zones));
        }
        if !(1..=200).contains(&self.clients_per_zone) {
            return Err(SettingError::Clients(self.clients_per_zone));
        }
        Ok(())
    }

    /// What a message takes of a server's time.
    pub const fn service(&self) -> Span {
        Span::from_micros(self.service_us)
    }

    /// Whether a part is run.
    pub fn has(&self, part: Part) -> bool {
        self.parts.contains(&part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_is_refused() {
        assert_eq!(Setting::default().check(), Ok(()));
        let refused = |change: fn(&mut Setting)| {
            let mut setting = Setting::default();
            change(&mut setting);
            setting.check().unwrap_err().to_string()
        };
        assert!(refused(|it| it.events = 1_500).contains("--events 1500"));
        assert!(refused(|it| it.events = 0).contains("--events 0"));
        assert!(refused(|it| it.service_us = 20_000).contains("--service"));
        assert!(refused(|it| it.zones = vec![4, 5]).contains("--zones 5"));
        assert!(refused(|it| it.clients_per_zone = 0).contains("--clients 0"));
    }
}
