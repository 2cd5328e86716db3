//! Child processes: the core that each runs on, the lines that it prints, its processor time.

use anyhow::{Context as _, Result, ensure};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::time::clock_getcpuclockid;
use nix::unistd::Pid;
use std::io::{BufRead as _, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};

/// The cores of the servers and of the clients. `ecumene bench server` chooses the same two.
pub struct Cores {
    all: CpuSet,
    pub server: usize,
    pub clients: usize,
}

impl Cores {
    /// The first two cores that this process may use.
    pub fn of_this_process() -> Result<Self> {
        let all = sched_getaffinity(Pid::from_raw(0)).context("cannot read which cores may be used")?;
        let mut cores = (0..CpuSet::count()).filter(|&it| all.is_set(it) == Ok(true));
        let (server, clients) = (cores.next(), cores.next());
        let message = "needs two cores: one for the server, one for the clients";
        Ok(Self { server: server.context(message)?, clients: clients.context(message)?, all })
    }
}

/// A process that is killed when the runner is done with it.
pub struct ChildProcess {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl ChildProcess {
    /// Starts a process on a core. Its input stays open for as long as the runner lives, so a server can end with it.
    pub fn start(mut command: Command, core: usize, cores: &Cores) -> Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut set = CpuSet::new();
        set.set(core)?;
        // A child inherits the cores of the thread that starts it.
        sched_setaffinity(Pid::from_raw(0), &set).context("cannot choose a core")?;
        let child = command.spawn();
        sched_setaffinity(Pid::from_raw(0), &cores.all).context("cannot choose all cores")?;
        let mut child = child.with_context(|| format!("cannot start {}", command.get_program().display()))?;
        let out = child.stdout.take().context("the process has an output")?;
        Ok(Self { child, lines: BufReader::new(out).lines() })
    }

    /// The next line that the process prints.
    pub fn line(&mut self) -> Result<String> {
        Ok(self.lines.next().context("a process ended early")??)
    }

    /// Waits for a line.
    pub fn until(&mut self, expected: &str) -> Result<()> {
        let line = self.line()?;
        ensure!(line == expected, "a process printed {line:?} instead of {expected:?}");
        Ok(())
    }

    /// Processor seconds that all threads of the process have used; the kernel counts them in nanoseconds.
    pub fn processor_seconds(&self) -> Result<f64> {
        let process = Pid::from_raw(i32::try_from(self.child.id())?);
        let time = clock_getcpuclockid(process).and_then(|it| it.now()).context("a process ended early")?;
        Ok(time.tv_sec() as f64 + time.tv_nsec() as f64 / 1e9)
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        // Both fail only for a process that has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
