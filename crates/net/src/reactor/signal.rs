//! Wakes a reactor that sleeps. A reactor that is awake is not disturbed, so a wake costs one system call per sleep at most.

use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

/// The alarm clock of one reactor.
#[derive(Debug)]
pub struct Signal {
    is_asleep: AtomicBool,
    event: OwnedFd,
}

impl Signal {
    /// The signal of a reactor that is awake.
    pub fn new() -> io::Result<Self> {
        let event = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        Ok(Self { is_asleep: AtomicBool::new(false), event })
    }

    /// Wakes the reactor if it sleeps.
    pub fn wake(&self) {
        if self.is_asleep.swap(false, Ordering::AcqRel) {
            // The counter cannot overflow: it is written once per sleep.
            let _ = rustix::io::write(&self.event, &1_u64.to_ne_bytes());
        }
    }

    /// Announces that the reactor is about to sleep. It must look for mail once more after this.
    pub(super) fn fall_asleep(&self) {
        self.is_asleep.store(true, Ordering::SeqCst);
    }

    /// Announces that the reactor is awake, and forgets earlier wakes.
    pub(super) fn wake_up(&self) {
        self.is_asleep.store(false, Ordering::SeqCst);
        let _ = rustix::io::read(&self.event, &mut [0_u8; 8]);
    }

    pub(super) fn event(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}
