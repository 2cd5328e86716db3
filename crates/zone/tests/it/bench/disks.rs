//! What would take tables of thousands of lines: disks under steady load.

use super::world::BenchWorld;
use zone::config::SNAPSHOT_EVERY;

/// A zone without a backup whose disk has always one more record to write when it is done.
#[test]
fn a_zone_that_never_rests_writes_snapshots_too() {
    let mut world = BenchWorld::new();
    for line in ["alone", "player ann 0 at 0"] {
        assert!(world.prepare(line));
    }
    world.begin();
    world.step_line("disk z1.a waits");
    for _ in 0..SNAPSHOT_EVERY + 100 {
        world.step_line("wait 25 ms"); // What two actions cost comes back.
        world.step_line("ann acts add 1");
        world.step_line("deliver all");
        // The records so far are on disk; the next action comes before the disk is idle.
        world.step_line("ann acts add 1");
        world.step_line("deliver all");
        world.step_line("disk z1.a persists");
        world.step_line("deliver all");
        world.lines();
    }
    let address = world.names.address("z1.a");
    let disk = &world.disks[&address];
    assert!(disk.snapshot().is_some(), "the log on disk has {} records and no snapshot", disk.records());
    assert!(disk.records() <= 2 * SNAPSHOT_EVERY as usize, "{} records behind the snapshot", disk.records());
}
