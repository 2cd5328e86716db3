//! Who runs where: pins what is started next to a core, and reads what processes have used.

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The cores that this process may use.
pub fn cores() -> Vec<usize> {
    let Ok(all) = sched_getaffinity(None) else { return Vec::new() };
    (0..CpuSet::MAX_CPU).filter(|&it| all.is_set(it)).collect()
}

/// Runs the calling thread, and every process it starts from now on, on these cores.
pub fn stay_on(cores: &[usize]) {
    let mut set = CpuSet::new();
    cores.iter().for_each(|&it| set.set(it));
    if !cores.is_empty() {
        let _ = sched_setaffinity(None::<Pid>, &set);
    }
}

/// Processor seconds that a process has used.
pub fn processor_seconds(process: u32) -> Option<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name may hold spaces; what follows its closing bracket does not.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    Some(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}
