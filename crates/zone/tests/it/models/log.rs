//! A log, for models in which a failover is one step.

/// What the backup of a log has, and what only its primary has, as states after each record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Log<S> {
    pub(super) safe: S,
    pub(super) tail: Vec<S>,
}

impl<S: Clone> Log<S> {
    pub(super) fn now(&self) -> &S {
        self.tail.last().unwrap_or(&self.safe)
    }

    pub(super) fn write(&mut self, change: impl FnOnce(&mut S)) {
        let mut next = self.now().clone();
        change(&mut next);
        self.tail.push(next);
    }

    pub(super) fn make_safe(&mut self) {
        self.safe = self.now().clone();
        self.tail.clear();
    }

    /// What a backup with some of the last records has.
    pub(super) fn cut(&mut self, keeps: usize) {
        self.tail.truncate(keeps);
        self.make_safe();
    }
}
