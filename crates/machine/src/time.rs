//! Time as the machines know it: whole microseconds since the driver's origin.
//!
//! Our own type instead of `std::time`: virtual and real time look the same, arithmetic is exact,
//! and a machine cannot ask for "now".

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// An instant, in microseconds since the driver's origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Time(u64);

/// A length of time, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Span(u64);

impl Time {
    /// The instant of the driver's origin.
    pub const ZERO: Self = Self(0);
    /// The end of time, later than every deadline.
    pub const MAX: Self = Self(u64::MAX);

    /// The instant `micros` microseconds after the origin.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// The instant `millis` milliseconds after the origin; [`Time::MAX`] if that cannot be written.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000))
    }

    /// Microseconds since the driver's origin, exact.
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// Whole milliseconds since the origin.
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000
    }

    /// Whole seconds since the origin.
    pub const fn as_secs(self) -> u64 {
        self.0 / 1_000_000
    }

    /// The time that has passed since `earlier`; zero if it lies ahead, since a machine may hear of its own future
    /// from a peer whose clock runs fast.
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// A span of no time at all.
    pub const ZERO: Self = Self(0);
    /// The longest span, longer than any timeout.
    pub const MAX: Self = Self(u64::MAX);

    /// A span of `micros` microseconds.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// A span of `millis` milliseconds; [`Span::MAX`] if that cannot be written.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000))
    }

    /// A span of `secs` seconds; [`Span::MAX`] if that cannot be written.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1_000_000))
    }

    /// The span in microseconds, exact.
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// The span in milliseconds, rounded down.
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000
    }

    /// Seconds, for statistics and drawing; never for a decision.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// This span `count` times over, saturating.
    pub const fn times(self, count: u64) -> Self {
        Self(self.0.saturating_mul(count))
    }
}

/// Saturating: a deadline beyond the end of time is the end of time.
impl Add<Span> for Time {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

/// Saturating: there is no time before the origin.
impl Sub<Span> for Time {
    type Output = Self;
    fn sub(self, span: Span) -> Self {
        Self(self.0.saturating_sub(span.0))
    }
}

impl Add for Span {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06}s", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The largest unit that divides the span: printed spans are never rounded.
        match self.0 {
            micros if micros % 1_000_000 == 0 => write!(f, "{}s", micros / 1_000_000),
            micros if micros % 1_000 == 0 => write!(f, "{}ms", micros / 1_000),
            micros => write!(f, "{micros}us"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_time_saturate() {
        assert_eq!(Time::MAX + Span::from_secs(1), Time::MAX);
        assert_eq!(Time::ZERO - Span::from_secs(1), Time::ZERO);
        assert_eq!(Time::ZERO.since(Time::MAX), Span::ZERO);
        assert_eq!(Span::from_secs(u64::MAX), Span::MAX);
        assert_eq!(Span::MAX.times(3), Span::MAX);
    }

    #[test]
    fn times_and_spans_print_readably() {
        assert_eq!(Time::from_micros(1_000_007).to_string(), "1.000007s");
        assert_eq!(Span::from_millis(250).to_string(), "250ms");
        assert_eq!(Span::from_secs(2).to_string(), "2s");
        assert_eq!(Span::from_micros(1_500).to_string(), "1500us");
    }
}
