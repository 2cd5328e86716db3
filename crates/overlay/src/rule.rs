//! Rules that a checker watches, each of which a test can break.
//!
//! A peer enforces every rule unless its configuration names one as broken ([`crate::Config::broken`]): data in one peer's
//! configuration, never a global. So each checker can show that it notices the rule it watches. The code asks at the line
//! where a rule acts; what a peer does instead of following it stands in `broken`. A rule with a switch in [`crate::Config`]
//! is not listed here: the switch breaks it.

/// One rule of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// A neighbour that stays silent for too long is removed.
    RemoveSilent,
    /// What is known of a neighbour is replaced by newer information only.
    NewestWins,
    /// A move tells its receiver whether the sender wants to hear it.
    AnnounceWant,
    /// A neighbour whose region touches ours matters, also when it stands beyond the reach.
    KeepTouching,
    /// A neighbour within view matters, also when its region does not touch ours.
    KeepVisible,
    /// A neighbour that no longer matters is removed.
    RemoveIrrelevant,
    /// A search is handed on to the nearest neighbour.
    SearchNearest,
    /// Greetings are counted as sent, as every other message is.
    CountGreetings,
}
