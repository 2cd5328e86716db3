//! A log, for models in which a failover is one step.

/// The backup's log, and the records that only the primary has, as states after each record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct ModelLog<S> {
    pub(super) safe: S,
    pub(super) tail: Vec<S>,
}

impl<S: Clone> ModelLog<S> {
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

    /// A failover: the log of a backup that has some of the last records.
    pub(super) fn cut(&mut self, keeps: usize) {
        self.tail.truncate(keeps);
        self.make_safe();
    }
}
