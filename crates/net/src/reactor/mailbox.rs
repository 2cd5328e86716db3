//! Inputs that other threads have for the workers of a reactor: which workers have some.

use super::Signal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The workers of a reactor that have inputs of other threads. A reactor with thousands of workers need not ask each of them.
#[derive(Debug)]
pub struct Mailbox {
    /// Numbers of the workers, each once.
    workers: Mutex<Vec<u64>>,
    signal: Arc<Signal>,
}

/// One worker's mark in the mailbox: set while the worker's number is in it.
#[derive(Clone, Debug, Default)]
pub struct MailMark(Arc<AtomicBool>);

impl Mailbox {
    /// A mailbox without mail, of the reactor that this signal wakes.
    pub const fn new(signal: Arc<Signal>) -> Self {
        Self { workers: Mutex::new(Vec::new()), signal }
    }

    /// An input was sent to this worker: the reactor is told, once for all inputs until it takes them.
    pub fn post(&self, worker: u64, mark: &MailMark) {
        if !mark.0.swap(true, Ordering::SeqCst) {
            self.workers.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
            self.signal.wake();
        }
    }

    /// The workers that have inputs, each once.
    pub(super) fn take(&self) -> Vec<u64> {
        std::mem::take(&mut *self.workers.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

impl MailMark {
    /// Removes the mark. Call it before the inputs are taken: one that is sent later sets it again.
    pub(crate) fn clear(&self) {
        self.0.store(false, Ordering::SeqCst);
    }

    /// Returns whether inputs may wait.
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
