//! The processor time of another thread, which says whether it works or merely waits.

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Names the thread that a reactor runs on, for other threads.
#[derive(Debug, Default)]
pub struct ThreadName(AtomicU32);

impl ThreadName {
    /// Notes that this is the calling thread.
    pub fn note(&self) {
        // `<process>/task/<thread>`, the numbers by which the system knows both.
        let link = fs::read_link("/proc/thread-self").unwrap_or_default();
        let number = link.file_name().and_then(|it| it.to_str()?.parse().ok());
        self.0.store(number.unwrap_or(0), Ordering::Relaxed);
    }

    /// The processor time that the thread has used. `None` before it runs, and where the system does not tell.
    pub fn processor_time(&self) -> Option<Duration> {
        let thread = self.0.load(Ordering::Relaxed);
        let statistics = fs::read_to_string(format!("/proc/self/task/{thread}/schedstat")).ok()?;
        statistics.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, mpsc};

    #[test]
    fn a_thread_that_waits_uses_no_time() {
        let name = Arc::new(ThreadName::default());
        assert_eq!(name.processor_time(), None);
        let (go, wait) = mpsc::channel::<()>();
        let (tell, told) = mpsc::channel();
        let other = name.clone();
        let thread = std::thread::spawn(move || {
            other.note();
            tell.send(()).unwrap();
            wait.recv().unwrap();
            // Until it has worked: how long that takes depends on what else this computer does.
            let begun = other.processor_time().unwrap();
            while other.processor_time().unwrap() < begun + Duration::from_millis(20) {}
            tell.send(()).unwrap();
            wait.recv().unwrap();
        });
        told.recv().unwrap();
        let before = name.processor_time().unwrap();
        assert!(name.processor_time().unwrap() < before + Duration::from_millis(10));
        go.send(()).unwrap();
        told.recv().unwrap();
        assert!(before + Duration::from_millis(20) <= name.processor_time().unwrap());
        go.send(()).unwrap();
        thread.join().unwrap();
    }
}
