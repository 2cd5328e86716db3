//! Why connections end, as numbers that both sides know. The table stands in `docs/net.md`.

/// Why a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Close {
    /// No token in time, or none that is good.
    Refused,
    /// The same player plays in a newer session.
    Superseded,
    /// Too much waited for it.
    Slow,
    /// It sent what nobody understands.
    Protocol,
    /// The host shuts down.
    Leaving,
    /// There are too many already.
    Full,
    /// The other side is gone, or the way to it.
    Gone,
}

impl Close {
    /// The number on the wire.
    pub const fn code(self) -> u32 {
        match self {
            Self::Gone => 0,
            Self::Refused => 1,
            Self::Superseded => 2,
            Self::Slow => 3,
            Self::Protocol => 4,
            Self::Leaving => 5,
            Self::Full => 6,
        }
    }

    /// What a number on the wire means.
    pub const fn of_code(code: u64) -> Self {
        match code {
            1 => Self::Refused,
            2 => Self::Superseded,
            3 => Self::Slow,
            4 => Self::Protocol,
            5 => Self::Leaving,
            6 => Self::Full,
            _ => Self::Gone,
        }
    }

    /// For people.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Gone => "gone",
            Self::Refused => {
                "the entry token is missing, expired, used or not for this host: ask the lobby for a new one"
            }
            Self::Superseded => "you play in a newer session",
            Self::Slow => "you read too slowly: too much waits for you",
            Self::Protocol => "that was no message",
            Self::Leaving => "this host shuts down: go to another",
            Self::Full => "this host has no room: try again later",
        }
    }
}
