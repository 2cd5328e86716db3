//! The reasons why connections end, as numbers that both sides know. The table stands in `docs/net.md`.

/// The reason why a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Close {
    /// No token in time, or an invalid one.
    Refused,
    /// The same player has a newer session.
    Superseded,
    /// Too many bytes waited for a slow receiver.
    Slow,
    /// The other side broke the protocol.
    Protocol,
    /// The host is shutting down.
    Leaving,
    /// The host has as many players as it may.
    Full,
    /// The other side, or the path to it, is gone.
    Gone,
}

impl Close {
    /// The number that stands for it on the wire.
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

    /// The reason for a number on the wire; [`Self::Gone`] for an unknown one, which a newer version may send.
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

    /// The text that goes along with the number, for people.
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
