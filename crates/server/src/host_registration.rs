//! Registers a host in the directory, and reads the entries of the other hosts.
//!
//! A host swaps only its own entry, and overwrites whatever stands there; it never writes another host's.

use crate::directory::{RemoteDirectory, SwapOutcome};
use crate::host_entries::HostEntryReader;
use crate::log_throttle::LogThrottle;
use crate::world_entry::{self, HostEntries, HostEntry, WorldEntry};
use directory::DirectoryRefusal;
use directory::config::VALUE_MAX;
use machine::directory::DirectoryEntry;
use std::iter;

/// The registration of one host.
pub struct HostRegistration {
    directory: RemoteDirectory,
    host: u32,
    /// This host's entry, as it is to stand in the directory.
    pub entry: HostEntry,
    others: HostEntryReader,
    refusals: LogThrottle,
}

impl HostRegistration {
    /// The registration of a host of this world.
    pub fn new(directory: RemoteDirectory, world: &WorldEntry, host: u32, entry: HostEntry) -> Self {
        let mut others = world.hosts();
        others.remove(&host);
        let others = HostEntryReader::new(others);
        Self { directory, host, entry, others, refusals: LogThrottle::default() }
    }

    /// Registers this host, if the directory's entry differs, and returns the other hosts that are registered. `None` if
    /// the directory does not answer.
    pub async fn refresh(&mut self) -> Option<HostEntries> {
        let keys = iter::once(world_entry::host_key(self.host)).chain(self.others.keys()).collect();
        let entries = self.directory.read(keys).await?;
        let (own, others) = entries.split_first()?;
        if world_entry::read(&own.value).as_ref() != Some(&self.entry) {
            self.register(own).await;
        }
        Some(self.others.decode(others))
    }

    async fn register(&mut self, found: &DirectoryEntry) {
        let (key, value) = (found.key.clone(), world_entry::write(&self.entry));
        // Any other outcome needs no line: the next refresh finds the entry, or tries again.
        let SwapOutcome::Refused(why) = self.directory.swap(key, found.revision, value).await else { return };
        let Some(before) = self.refusals.count() else { return };
        let host = self.host;
        match why {
            DirectoryRefusal::ValueTooLong(bytes) => tracing::error!(
                host,
                bytes,
                limit = VALUE_MAX,
                before,
                "this host cannot register, and is unknown to players and other hosts: its entry is too long for the \
                 directory; shorten `websocket` in [host], or found a world with fewer zones"
            ),
            why => tracing::error!(
                host,
                %why,
                before,
                "this host cannot register, and is unknown to players and other hosts: the directory refuses its entry"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stored_partition::{self, StoredPartition};
    use crate::test_directory::{LogLines, TestDirectory};
    use machine::directory::{Key, Revision};
    use space::Polygon;

    /// The bytes of an entry that no version so far would write.
    const OTHER_VERSION: [u8; 4] = [0xff; 4];

    const ATTEMPTS: usize = 50;

    fn world(zones: u32, hosts: &[u32]) -> WorldEntry {
        let half = 150_000;
        let region = Polygon::new(&world_entry::square(half).unwrap()).unwrap();
        let partition = stored_partition::divide(region, zones).unwrap();
        WorldEntry {
            id: "test-1".to_owned(),
            game: "test".to_owned(),
            schema: 1,
            half,
            seed: 1,
            map: StoredPartition::of(&partition),
            zones: stored_partition::assign_hosts(partition.zones().map(|it| it.0), hosts),
            lobby: [1; 32],
        }
    }

    fn registration(directory: &RemoteDirectory, world: &WorldEntry, host: u32) -> HostRegistration {
        let at = |port: u16| std::net::SocketAddr::from(([192, 0, 2, 1], port + host as u16));
        let entry = HostEntry {
            mesh: at(10_000),
            players: at(20_000),
            web: at(30_000),
            socket: format!("wss://host-{host}.example.org/play"),
            certificate: [host as u8; 32],
            zones: world.zones.keys().copied().collect(),
        };
        HostRegistration::new(directory.clone(), world, host, entry)
    }

    /// Refreshes until the directory answers: on a busy computer a reply may come too late.
    async fn answered(it: &mut HostRegistration) -> HostEntries {
        for _ in 0..ATTEMPTS {
            if let Some(others) = it.refresh().await {
                return others;
            }
        }
        panic!("the directory does not answer");
    }

    /// Refreshes until the directory holds the host's entry. Returns the entry's revision.
    async fn registered(directory: &TestDirectory, it: &mut HostRegistration) -> Revision {
        for _ in 0..ATTEMPTS {
            let entry = stored(directory, world_entry::host_key(it.host)).await;
            if entry.value == world_entry::write(&it.entry) {
                return entry.revision;
            }
            answered(it).await;
        }
        panic!("host {} does not register", it.host);
    }

    async fn stored(directory: &TestDirectory, key: Key) -> DirectoryEntry {
        directory.handle.read(vec![key]).await.unwrap().remove(0)
    }

    #[tokio::test]
    async fn a_hundred_hosts_of_256_zones_find_each_other() {
        let directory = TestDirectory::start("hundred");
        let numbers = Vec::from_iter(1..=100);
        let world = world(256, &numbers);
        let mut hosts: Vec<_> =
            numbers.iter().map(|&host| registration(&directory.remote, &world, host)).collect();
        for host in &mut hosts {
            registered(&directory, host).await;
        }
        let all: HostEntries = hosts.iter().map(|it| (it.host, it.entry.clone())).collect();
        for host in &mut hosts {
            let mut found = answered(host).await;
            assert_eq!(found.len(), numbers.len() - 1, "host {} reads the others", host.host);
            found.insert(host.host, host.entry.clone());
            assert!(found == all, "host {} reads other entries than were written", host.host);
        }
    }

    #[tokio::test]
    async fn a_host_writes_its_own_entry_only_and_once() {
        let directory = TestDirectory::start("own");
        let world = world(1, &[1, 2]);
        let [mut first, mut second] = [1, 2].map(|host| registration(&directory.remote, &world, host));
        let one = registered(&directory, &mut first).await;
        let two = registered(&directory, &mut second).await;
        for _ in 0..3 {
            answered(&mut first).await;
            answered(&mut second).await;
        }
        first.entry.certificate = [9; 32];
        assert_eq!(stored(&directory, world_entry::host_key(1)).await.revision, one);
        assert!(one < registered(&directory, &mut first).await);
        assert_eq!(stored(&directory, world_entry::host_key(2)).await.revision, two);
        assert_eq!(answered(&mut second).await[&1], first.entry);
    }

    #[tokio::test]
    async fn an_entry_of_another_version_is_left_alone_unless_it_is_our_own() {
        let directory = TestDirectory::start("version");
        let (lines, _guard) = LogLines::collect();
        for key in [world_entry::host_key(1), world_entry::host_key(2), Key("hosts".to_owned())] {
            assert_eq!(directory.handle.create(key, OTHER_VERSION.to_vec()).await, SwapOutcome::Won);
        }
        let world = world(1, &[1, 2, 3]);
        let [mut first, mut third] = [1, 3].map(|host| registration(&directory.remote, &world, host));
        registered(&directory, &mut first).await;
        registered(&directory, &mut third).await;
        for _ in 0..3 {
            assert_eq!(answered(&mut first).await.into_keys().collect::<Vec<_>>(), [3]);
            assert_eq!(answered(&mut third).await.into_keys().collect::<Vec<_>>(), [1]);
        }
        assert_eq!(lines.with("host=2").len(), 2, "each of the two readers logs it once");
        assert!(lines.with("host=2")[0].contains("of another version"));
        assert_eq!(stored(&directory, world_entry::host_key(2)).await.value, OTHER_VERSION);
        // Worlds that earlier versions founded hold it; the program neither reads nor writes it.
        assert_eq!(stored(&directory, Key("hosts".to_owned())).await.value, OTHER_VERSION);
    }

    #[tokio::test]
    async fn a_host_whose_entry_is_too_long_says_so() {
        let directory = TestDirectory::start("long");
        let (lines, _guard) = LogLines::collect();
        let mut host = registration(&directory.remote, &world(1, &[1]), 1);
        host.entry.socket = format!("wss://{}.example.org", "a".repeat(VALUE_MAX));
        for _ in 0..5 {
            assert!(answered(&mut host).await.is_empty());
        }
        let said = lines.with("cannot register");
        assert!(!said.is_empty(), "the directory refuses it silently");
        let bytes = world_entry::write(&host.entry).len();
        for part in [&format!("bytes={bytes}"), "limit=16384", "host=1", "shorten `websocket`"] {
            assert!(said[0].contains(part), "{part}: {said:?}");
        }
        host.entry.socket = "wss://one.example.org".to_owned();
        registered(&directory, &mut host).await;
    }
}
