//! A process of one host: a replica, its disk, and a directory that outlives it.

use directory::Directory;
use game::Rules;
use machine::{Address, Input, Machine, Outbox, Time};
use space::{Partition, Polygon, Position, ZoneId};
use std::sync::Arc;
use store::{Log, Media};
use zone::{BrokenRules, Command, Config, Durability, Event, Replica, Timing};

pub fn region() -> Polygon {
    let corner = |at| Position::new(at, at).unwrap();
    Polygon::rectangle(corner(-100_000), corner(100_000)).unwrap()
}

pub fn config(rules: Arc<dyn Rules>) -> Config {
    Config {
        zone: ZoneId(1),
        map: Arc::new(Partition::new(region(), ZoneId(1))),
        zone_of: Arc::new(|_| None),
        rules,
        me: Address(0),
        peers: vec![Address(0)],
        founds: true,
        force: false,
        durability: Durability::Synced,
        timing: Timing::default(),
        seed: 1,
        players_max: 10,
        notes: false,
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
    /// Lets it live for a while.
    pub fn live(&mut self, millis: u64) {
        for _ in 0..millis {
            self.now += machine::Span::from_millis(1);
            self.take(Input::Wake);
        }
    }

    /// Hands it an input, and everything that its disk and its directory answer.
    pub fn take(&mut self, input: Input<zone::Msg, Command>) {
        let mut out = Outbox::new();
        let mut inputs = vec![input];
        {
            while let Some(input) = inputs.pop() {
                self.replica.handle(self.now, input, &mut out);
                let (log, directory, now) = (&mut self.log, &mut *self.directory, self.now);
                out.drain(|effect| {
                    if let machine::Effect::Raise(event) = effect {
                        inputs.extend(answer(log, directory, now, event).map(Input::Command));
                    }
                });
            }
        }
    }
}

fn answer<M: Media>(log: &mut Log<M>, directory: &mut Directory, now: Time, event: Event) -> Option<Command> {
    match event {
        Event::Disk(request) => Some(Command::Disk(log.serve(request))),
        Event::Directory(request) => Some(Command::Directory(directory.serve(now, request))),
        Event::Broken(why) => panic!("{why}"),
        _ => None,
    }
}
