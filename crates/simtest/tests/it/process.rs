//! A process of one host: a replica, its disk, and a directory that outlives it.

use directory::Directory;
use game::HostedGame;
use machine::{Address, Input, Machine, Outbox, Time};
use space::{Partition, Polygon, Position, ZoneId};
use std::sync::Arc;
use store::{Log, Media};
use zone::{BrokenRules, Durability, Replica, ReplicaCommand, ReplicaEvent, Timing, ZoneConfig};

pub fn region() -> Polygon {
    let corner = |at| Position::new(at, at).unwrap();
    Polygon::rectangle(corner(-100_000), corner(100_000)).unwrap()
}

pub fn config(rules: Arc<dyn HostedGame>) -> ZoneConfig {
    ZoneConfig {
        zone: ZoneId(1),
        map: Arc::new(Partition::new(region(), ZoneId(1))),
        zone_of: Arc::new(|_| None),
        rules,
        me: Address(0),
        replicas: vec![Address(0)],
        founds: true,
        force: false,
        durability: Durability::Synced,
        timing: Timing::default(),
        seed: 1,
        players_max: 10,
        notes: false,
        calls: Arc::default(),
        suspects: zone::Suspects::NONE,
        broken_rules: BrokenRules::NONE,
    }
}

/// A process: a replica, its disk, and a directory that outlives it.
pub struct Process<'a, M> {
    pub replica: Replica,
    pub log: Log<M>,
    pub directory: &'a mut Directory,
    pub now: Time,
}

impl<M: Media> Process<'_, M> {
    /// Lets time pass, a millisecond at a time.
    pub fn live(&mut self, millis: u64) {
        for _ in 0..millis {
            self.now += machine::Span::from_millis(1);
            self.take(Input::Wake);
        }
    }

    /// Hands the replica an input, and then every answer of its disk and its directory.
    pub fn take(&mut self, input: Input<zone::ZoneMsg, ReplicaCommand>) {
        let mut out = Outbox::new();
        let mut inputs = vec![input];
        {
            while let Some(input) = inputs.pop() {
                self.replica.handle(self.now, input, &mut out);
                let (log, directory, now) = (&mut self.log, &mut *self.directory, self.now);
                out.drain(|effect| {
                    if let machine::Output::Raise(event) = effect {
                        inputs.extend(answer(log, directory, now, event).map(Input::Command));
                    }
                });
            }
        }
    }
}

fn answer<M: Media>(
    log: &mut Log<M>,
    directory: &mut Directory,
    now: Time,
    event: ReplicaEvent,
) -> Option<ReplicaCommand> {
    match event {
        ReplicaEvent::Disk(request) => Some(ReplicaCommand::Disk(log.serve(request))),
        ReplicaEvent::Directory(request) => Some(ReplicaCommand::Directory(directory.serve(now, request))),
        ReplicaEvent::Broken(why) => panic!("{why}"),
        _ => None,
    }
}
