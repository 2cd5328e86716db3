//! Writes a simulated world down as its processes would if they were real: one file per life.

use crate::layout::HOSTS;
use crate::world::DIRECTORY;
use history::{Entry, Header, What, World, encode, file_name, header};
use machine::Address;
use space::{Position, ZoneId};
use std::collections::BTreeMap;
use zone::Durability;

/// Files in the making.
pub struct Recorder {
    world: World,
    files: Vec<(String, Vec<u8>)>,
    /// The life that each address is in, and its file.
    lives: BTreeMap<Address, (u32, usize)>,
}

impl Recorder {
    pub fn new(
        schema: u64,
        zone: ZoneId,
        region: &[Position],
        hosts: &[Address],
        durability: Durability,
    ) -> Self {
        let (game, region, hosts) = ("kosmos".to_owned(), region.to_vec(), hosts.to_vec());
        let world = World { game, schema, zone, region, hosts, durability };
        Self { world, files: Vec::new(), lives: BTreeMap::new() }
    }

    /// Something happened. A process that is killed says nothing about it: its next life does, if there is one.
    pub fn take(&mut self, entry: &Entry) {
        match entry.what {
            What::Crashed => return,
            What::Started => self.begin(entry.by),
            _ => (),
        }
        if let Some(&(_, file)) = self.lives.get(&entry.by) {
            encode(entry, &mut self.files[file].1);
        }
    }

    fn begin(&mut self, by: Address) {
        let life = self.lives.get(&by).map_or(0, |it| it.0) + 1;
        let (process, world) = match by {
            DIRECTORY => ("directory".to_owned(), None),
            by if by.0 < HOSTS as u64 => (format!("host-{}", by.0), Some(self.world.clone())),
            by => (format!("player-{}", by.0), None),
        };
        self.lives.insert(by, (life, self.files.len()));
        self.files.push((file_name(&process, life), header(&Header { process, world })));
    }

    pub fn into_files(self) -> Vec<(String, Vec<u8>)> {
        self.files
    }
}
