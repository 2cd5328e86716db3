//! Planted bugs: each breaks one rule, so that the checkers can show that they would notice.
//!
//! A plant is data in a peer's configuration, never a global, and there is none unless somebody asks for it. Rules that have
//! a switch in [`crate::Config`] need no plant: the switch breaks them.

/// One rule that is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plant {
    /// Nobody is ever buried, however silent they are.
    NeverBuries,
    /// What is said of somebody is believed although something later is known.
    OldNews,
    /// Moves never say that the receiver is wanted.
    WantUnsaid,
    /// Of every fourth peer it matters only whether they stand within reach, not whether their regions touch.
    SightOnly,
    /// Only those whose regions touch matter, not those who stand within view.
    TouchOnly,
    /// Nobody is ever thrown out because they do not matter any more.
    KeepsAll,
    /// A search is handed on to anybody who is nearer, if that is the first in the list.
    FirstOnly,
    /// Greetings are not counted as sent.
    HelloUncounted,
}
