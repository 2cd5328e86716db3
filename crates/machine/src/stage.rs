//! Names for what processor time is spent on, so that a driver can measure its machines from within.
//!
//! A machine tells the stage of its work and learns nothing from it: it stays a value without a clock. Where no driver listens,
//! as in simulations, this does nothing.

use std::cell::Cell;

/// A kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Waiting for packets and deadlines, as far as it costs processor time.
    Wait,
    /// Taking packets from a socket.
    Receive,
    /// QUIC's work on packets that arrived, decryption included.
    Decrypt,
    /// Cutting bytes into frames, and decoding and checking messages.
    Decode,
    /// Messages of players, and what is due in a zone: actions, moves, views, announcements.
    Zone,
    /// Finding out which poses are due for which player.
    Interest,
    /// Messages of other replicas and zones, and answers of disks.
    Replicate,
    /// Encoding messages, and queueing them for connections.
    Encode,
    /// Packing poses and frames into datagrams and streams.
    Pack,
    /// QUIC's work on packets that leave, encryption included.
    Encrypt,
    /// Giving packets to a socket.
    Send,
}

impl Stage {
    /// All stages, in the order of a message's way through a host.
    pub const ALL: [Self; 11] = [
        Self::Wait,
        Self::Receive,
        Self::Decrypt,
        Self::Decode,
        Self::Zone,
        Self::Interest,
        Self::Replicate,
        Self::Encode,
        Self::Pack,
        Self::Encrypt,
        Self::Send,
    ];

    /// The name in metrics and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wait => "wait",
            Self::Receive => "receive",
            Self::Decrypt => "decrypt",
            Self::Decode => "decode",
            Self::Zone => "zone",
            Self::Interest => "interest",
            Self::Replicate => "replicate",
            Self::Encode => "encode",
            Self::Pack => "pack",
            Self::Encrypt => "encrypt",
            Self::Send => "send",
        }
    }
}

/// Told that a stage begins; returns the stage that was under way.
pub type StageListener = fn(Stage) -> Stage;

thread_local! {
    static LISTENER: Cell<Option<StageListener>> = const { Cell::new(None) };
}

/// From now on this thread's stages are told to a listener.
pub fn listen(listener: StageListener) {
    LISTENER.set(Some(listener));
}

/// Does work that counts as this stage. Afterwards the stage around it goes on.
#[inline]
pub fn within<R>(stage: Stage, work: impl FnOnce() -> R) -> R {
    let Some(listener) = LISTENER.get() else { return work() };
    let around = listener(stage);
    let result = work();
    listener(around);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    thread_local! {
        static TOLD: Cell<(Stage, u32)> = const { Cell::new((Stage::Wait, 0)) };
    }

    #[test]
    fn the_stage_around_goes_on_after_a_stage_within() {
        assert_eq!(within(Stage::Zone, || 7), 7, "nothing listens");
        listen(|stage| {
            let (before, count) = TOLD.get();
            TOLD.set((stage, count + 1));
            before
        });
        within(Stage::Zone, || {
            within(Stage::Pack, || assert_eq!(TOLD.get().0, Stage::Pack));
            assert_eq!(TOLD.get().0, Stage::Zone);
        });
        assert_eq!(TOLD.get(), (Stage::Wait, 4));
    }
}
