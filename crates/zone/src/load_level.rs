//! The load level of a primary: a state with a name, which clients, the carrier and the operator are told.

use machine::{Span, Time};
use serde::{Deserialize, Serialize};

/// How much a primary has to do, judged by its lateness.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum LoadLevel {
    /// The primary keeps up.
    #[default]
    Calm,
    /// The primary is late: poses are sent half as often.
    Busy,
    /// The primary is very late: poses are sent a quarter as often, and old actions are answered "busy".
    Overloaded,
}

impl LoadLevel {
    /// The lateness from which on a primary has this level.
    const fn from(self) -> Span {
        match self {
            Self::Calm => Span::ZERO,
            Self::Busy => Span::from_millis(60),
            Self::Overloaded => Span::from_millis(150),
        }
    }

    /// The lateness below which a primary may leave this level: well below the one that led there, or the level would flap.
    const fn until(self) -> Span {
        match self {
            Self::Calm => Span::ZERO,
            Self::Busy => Span::from_millis(25),
            Self::Overloaded => Span::from_millis(60),
        }
    }

    /// The next lower level.
    const fn lower(self) -> Self {
        match self {
            Self::Calm | Self::Busy => Self::Calm,
            Self::Overloaded => Self::Busy,
        }
    }

    /// The level as a number for metrics: 0, 1 or 2.
    pub const fn number(self) -> u8 {
        self as u8
    }
}

/// Time for which a primary must be punctual before its level falls.
const CALM_AFTER: Span = Span::from_millis(1_000);

/// The load level of a primary, and since when it could be lower.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LoadMeter {
    level: LoadLevel,
    /// The time since when the lateness is below what the level needs.
    relieved: Option<Time>,
}

impl LoadMeter {
    /// The level as it was last measured.
    pub(crate) const fn level(self) -> LoadLevel {
        self.level
    }

    /// Takes in the lateness now. Returns the level if it changed.
    pub(crate) fn measure(&mut self, now: Time, late: Span) -> Option<LoadLevel> {
        let risen = [LoadLevel::Overloaded, LoadLevel::Busy].into_iter().find(|it| it.from() <= late);
        if let Some(level) = risen.filter(|it| self.level < *it) {
            *self = Self { level, relieved: None };
            return Some(level);
        }
        if self.level.until() <= late {
            self.relieved = None;
            return None;
        }
        let since = *self.relieved.get_or_insert(now);
        if self.level == LoadLevel::Calm || now.since(since) < CALM_AFTER {
            return None;
        }
        *self = Self { level: self.level.lower(), relieved: None };
        Some(self.level)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_level_rises_at_once_and_falls_slowly() {
        let (ms, at) = (Span::from_millis, Time::from_millis);
        let mut meter = LoadMeter::default();
        assert_eq!(meter.measure(at(0), ms(59)), None);
        assert_eq!(meter.measure(at(50), ms(200)), Some(LoadLevel::Overloaded));
        assert_eq!(meter.measure(at(100), ms(59)), None);
        assert_eq!(meter.measure(at(1_000), ms(61)), None, "late again: the wait begins anew");
        assert_eq!(meter.measure(at(1_100), ms(30)), None);
        assert_eq!(meter.measure(at(2_100), ms(30)), Some(LoadLevel::Busy));
        assert_eq!(meter.measure(at(9_000), ms(30)), None, "busy until the lateness is below 25 ms");
        assert_eq!(meter.measure(at(9_050), ms(0)), None);
        assert_eq!(meter.measure(at(10_050), ms(0)), Some(LoadLevel::Calm));
        assert_eq!(meter.measure(at(99_000), ms(0)), None);
    }
}
