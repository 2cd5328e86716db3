//! Work that takes a processor for long, on threads of its own: hashing passwords, verifying passes and signing tokens.
//!
//! Jobs wait by the address group of the client that asked, and the groups take turns. So a group that asks for a thousand
//! delays those of another group by one.

use net::address_groups::address_group;
use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::ops::Bound::{Excluded, Unbounded};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use tokio::sync::oneshot;

type Job = Box<dyn FnOnce() + Send>;

/// Threads that run jobs, and the jobs that wait for them. The threads live as long as the process.
pub struct FairJobs(Arc<SharedQueue>);

/// The error of a job that was not run: too many wait, or it panicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobRefused;

struct SharedQueue {
    queue: Mutex<JobQueue>,
    arrived: Condvar,
}

/// The jobs that wait.
struct JobQueue {
    waiting_max: usize,
    waiting: usize,
    by_group: BTreeMap<IpAddr, VecDeque<Job>>,
    /// The group whose job was taken last.
    last: Option<IpAddr>,
}

impl FairJobs {
    /// Starts so many threads, whose names begin with `name`.
    pub fn start(name: &str, threads: usize, waiting_max: usize) -> Self {
        let queue = JobQueue { waiting_max, waiting: 0, by_group: BTreeMap::new(), last: None };
        let shared = Arc::new(SharedQueue { queue: Mutex::new(queue), arrived: Condvar::new() });
        for number in 0..threads {
            let shared = shared.clone();
            let run = move || {
                loop {
                    // A panic costs its own request an answer, and no later request a thread.
                    let _ = std::panic::catch_unwind(AssertUnwindSafe(shared.wait_for_job()));
                }
            };
            let thread = std::thread::Builder::new().name(format!("{name}-{number}")).spawn(run);
            thread.expect("a process that has just started can start a thread");
        }
        Self(shared)
    }

    /// Runs a job for a client, and skips it if the client has disconnected meanwhile.
    pub async fn run<T: Send + 'static>(
        &self,
        client: IpAddr,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, JobRefused> {
        let (sender, done) = oneshot::channel();
        let job = move || {
            // The client may have given up while the job waited.
            if !sender.is_closed() {
                drop(sender.send(job()));
            }
        };
        self.0.push(address_group(client), Box::new(job))?;
        done.await.map_err(|_| JobRefused)
    }
}

impl SharedQueue {
    fn push(&self, group: IpAddr, job: Job) -> Result<(), JobRefused> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).push(group, job)?;
        self.arrived.notify_one();
        Ok(())
    }

    fn wait_for_job(&self) -> Job {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(job) = queue.pop() {
                return job;
            }
            queue = self.arrived.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl JobQueue {
    /// Adds a job, unless its group has more waiting than there is room left: so some is left for others.
    fn push(&mut self, group: IpAddr, job: Job) -> Result<(), JobRefused> {
        let of_group = self.by_group.get(&group).map_or(0, VecDeque::len);
        if self.waiting_max - self.waiting <= of_group {
            return Err(JobRefused);
        }
        self.waiting += 1;
        self.by_group.entry(group).or_default().push_back(job);
        Ok(())
    }

    /// Takes the first job of the next group.
    fn pop(&mut self) -> Option<Job> {
        let after = self.last.and_then(|it| self.by_group.range((Excluded(it), Unbounded)).next());
        let group = *after.or_else(|| self.by_group.iter().next())?.0;
        let jobs = self.by_group.get_mut(&group)?;
        let job = jobs.pop_front();
        if jobs.is_empty() {
            self.by_group.remove(&group);
        }
        self.waiting -= 1;
        self.last = Some(group);
        job
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(last: u8) -> IpAddr {
        [10, 0, 0, last].into()
    }

    #[test]
    fn groups_take_turns_and_leave_room_for_others() {
        let mut queue = JobQueue { waiting_max: 8, waiting: 0, by_group: BTreeMap::new(), last: None };
        let done = Arc::new(Mutex::new(Vec::new()));
        let mut push = |last: u8| {
            let done = done.clone();
            queue.push(at(last), Box::new(move || done.lock().unwrap().push(last))).is_ok()
        };
        assert_eq!((0..8).filter(|_| push(1)).count(), 4, "as many as are free then");
        assert_eq!((0..8).filter(|_| push(2)).count(), 2);
        assert_eq!((0..8).filter(|_| push(3)).count(), 1);
        assert!(push(4));
        assert!(!push(5));
        while let Some(job) = queue.pop() {
            job();
        }
        assert_eq!(*done.lock().unwrap(), [1, 2, 3, 4, 1, 2, 1, 1]);
        assert!(queue.waiting == 0 && queue.by_group.is_empty());
    }

    #[tokio::test]
    async fn a_job_that_panics_costs_its_own_client_an_answer() {
        let jobs = FairJobs::start("test", 1, 8);
        assert_eq!(jobs.run(at(1), || panic!("a broken job")).await, Err::<(), _>(JobRefused));
        assert_eq!(jobs.run(at(1), || 7).await, Ok(7));
    }
}
