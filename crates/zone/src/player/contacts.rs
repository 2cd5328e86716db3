//! The contacts: the replicas that the player should be able to reach at once.
//!
//! The home names them. A replica that is no contact any more stays one for a while: the avatar may turn round, and a new
//! connection costs more than an idle one. Without a home that is heard, any replica may be the next: then all are wanted.

use machine::{Address, Span, Time};
use std::collections::{BTreeMap, BTreeSet};

/// Time for which a replica stays a contact after the home has stopped naming it.
const KEEP: Span = Span::from_millis(30_000);

pub(super) struct Contacts {
    /// The replicas that the home named last; `None` while all are wanted.
    named: Option<BTreeSet<Address>>,
    /// Replicas that are not named, and until when they stay contacts.
    kept: BTreeMap<Address, Time>,
}

impl Contacts {
    /// All replicas are wanted: a player that starts has no home.
    pub const fn new() -> Self {
        Self { named: None, kept: BTreeMap::new() }
    }

    /// The home names the contacts. Those named before are kept for a while;
    /// while all were wanted, those that can be reached.
    pub fn name(&mut self, now: Time, replicas: Vec<Address>, reachable: impl Iterator<Item = Address>) {
        let named: BTreeSet<_> = replicas.into_iter().collect();
        // Later a host may stay connected for one of its replicas: that the others can be reached, too, says nothing.
        let before = self.named.take().unwrap_or_else(|| reachable.collect());
        for replica in before {
            self.kept.entry(replica).or_insert(now + KEEP);
        }
        self.kept.retain(|it, until| now < *until && !named.contains(it));
        self.named = Some(named);
    }

    /// All replicas are wanted. Returns whether that is news.
    pub fn want_all(&mut self) -> bool {
        self.kept.clear();
        self.named.take().is_some()
    }

    /// Gives up the replicas that were kept for long enough.
    pub fn expire(&mut self, now: Time) {
        self.kept.retain(|_, until| now < *until);
    }

    /// The time at which the next replica is given up.
    pub fn next_expiry(&self) -> Option<Time> {
        self.kept.values().min().copied()
    }

    /// The contacts; `None` if all replicas are wanted.
    pub fn wanted(&self) -> Option<Vec<Address>> {
        let named = self.named.as_ref()?;
        let mut wanted: Vec<_> = named.iter().chain(self.kept.keys()).copied().collect();
        wanted.sort_unstable();
        Some(wanted)
    }
}
