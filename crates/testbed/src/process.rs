//! Processes of this computer: the cores they run on, their processor time and memory.

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The cores that this process may use.
pub fn cores() -> Vec<usize> {
    let Ok(all) = sched_getaffinity(None) else { return Vec::new() };
    (0..CpuSet::MAX_CPU).filter(|&it| all.is_set(it)).collect()
}

/// Binds the calling thread, and every process it starts from now on, to these cores.
pub fn stay_on(cores: &[usize]) {
    let mut set = CpuSet::new();
    cores.iter().for_each(|&it| set.set(it));
    if !cores.is_empty() {
        let _ = sched_setaffinity(None::<Pid>, &set); // Without permission the measurement is only noisier.
    }
}

/// Processor seconds that a process has used.
pub fn processor_seconds(process: u32) -> Option<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The process name may hold spaces; the fields after its closing bracket do not.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    Some(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// The most memory that a process ever had, in MiB; NaN if the process is gone.
pub fn peak_memory_mib(process: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"));
    let kib: f64 = line.and_then(|it| it.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or(f64::NAN);
    kib / 1_024.0
}
