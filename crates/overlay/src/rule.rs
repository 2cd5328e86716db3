//! Rules that a checker watches, each of which a test can break.
//!
//! A peer enforces every rule unless its configuration names one as broken ([`crate::PeerConfig::broken`]): data in one
//! peer's configuration, never a global. So each checker can show that it notices the rule it watches. The code asks at
//! the line where a rule acts; the behaviour without it stands in `broken`. A rule with a switch in
//! [`crate::PeerConfig`] is not listed here: the switch breaks it.

/// One rule of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverlayRule {
    /// A neighbour that stays silent for too long is removed.
    RemoveSilent,
    /// Information about a neighbour is replaced by newer information only.
    NewestWins,
    /// A move tells its receiver whether the sender wants the receiver's moves.
    AnnounceWant,
    /// A neighbour whose region touches ours is relevant, also beyond the reach.
    KeepTouching,
    /// A neighbour within view is relevant, also when its region does not touch ours.
    KeepVisible,
    /// A neighbour that is no longer relevant is removed.
    RemoveIrrelevant,
    /// A search is forwarded to the nearest neighbour.
    SearchNearest,
    /// Greetings are counted as sent, as every other message is.
    CountGreetings,
}
