//! The control plane's process: the directory, the lobby and the web page, with the world that they founded.

use crate::admission::LobbyAdmission;
use crate::config::ServerConfig;
use crate::directory::{self, DirectoryHandle, SwapOutcome};
use crate::host_entries::HostEntryReader;
use crate::keys::{KeyFolder, random};
use crate::lobby_http::{self, LobbyHttp};
use crate::page::Page;
use crate::stored_partition::{self, StoredPartition};
use crate::web;
use crate::world_entry::{self, WorldEntry};
use ::directory::DirectoryRefusal;
use ::directory::config::VALUE_MAX;
use anyhow::Context as _;
use game::HostedGame;
use history::{Header, HistoryWriter};
use lobby::{Issuer, Lobby, LobbySettings, Rate};
use machine::Span;
use machine::directory::Revision;
use net::tls::DIRECTORY_NAME;
use space::Polygon;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use store::Files;
use tokio::net::TcpListener;

/// File in the data folder with the addresses of a running control plane: its ports may be chosen by the system.
pub const CONTROL_PLANE_FILE: &str = "seat.json";

/// A running control plane with its addresses.
pub struct ControlPlane {
    /// UDP address of the directory, for hosts.
    pub directory: SocketAddr,
    /// TCP address of the lobby and page, for players.
    pub lobby: SocketAddr,
    /// The directory, for code in the same process.
    pub directory_handle: DirectoryHandle,
    /// The world's entry in the directory.
    pub world: WorldEntry,
}

impl ControlPlane {
    /// Opens directory and lobby, with the game's page, and founds the world if there is none.
    pub async fn start(config: &ServerConfig, rules: &dyn HostedGame, page: Page) -> anyhow::Result<Self> {
        let keys = KeyFolder::of(&config.data);
        let mesh_identity = keys.mesh_identity(DIRECTORY_NAME)?;
        let header = Header::of("directory");
        let history = HistoryWriter::begin(config.history(), &header, net::clock::now)?;
        let directory_handle = DirectoryHandle::open(&config.data.join("directory"), history)?;
        let signing = keys.lobby()?;
        let lobby_key = signing.public().to_bytes();
        let fresh = new_world(config, rules.name(), rules.schema(), lobby_key)?;
        let world = found_or_open(&directory_handle, fresh).await?;
        anyhow::ensure!(
            // Hosts verify tokens with the key in the entry: with another one they would refuse every token.
            world.lobby == lobby_key,
            "the lobby's key is not the one this world was founded with: restore {}",
            config.data.join("keys/lobby.key").display()
        );
        let every = Span::from_micros((1e6 / config.lobby.per_address) as u64);
        let settings = LobbySettings {
            address_rate: Rate { burst: config.lobby.burst, every },
            ..LobbySettings::default()
        };
        let media = Files::open(config.data.join("lobby"))?;
        let lobby_and_accounts = Lobby::open(media, Issuer::new(signing, &world.id)?, settings)?;

        let (range, proxies) = (rules.range().millimetres(), config.lobby.proxies.clone());
        let admission = Arc::new(LobbyAdmission::new(config.lobby.admission(), world.hosts()));
        let (directory, in_world, keeper) = (directory_handle.clone(), world.clone(), admission.clone());
        let http = LobbyHttp::new(lobby_and_accounts, directory, in_world, range, proxies.clone(), keeper)?;
        let listener = TcpListener::bind(config.lobby.listen).await.with_context(|| {
            format!("cannot listen at {}; is another world running?", config.lobby.listen)
        })?;
        let lobby = listener.local_addr()?;
        web::serve(listener, lobby_http::routes(Arc::new(http), page), proxies);
        let on_report = Arc::new(move |report| admission.on_report(report));
        let known = host_addresses(&directory_handle, &world).await;
        let at = config.directory.listen;
        let directory = directory::serve(&directory_handle, at, &mesh_identity, on_report, known)?;
        let found =
            serde_json::json!({ "directory": directory, "lobby": lobby, "process": std::process::id() });
        // Written last: a process that reads it may connect at once.
        std::fs::write(config.data.join(CONTROL_PLANE_FILE), found.to_string())?;
        tracing::info!(%directory, %lobby, world = world.id, "ready");
        Ok(Self { directory, lobby, directory_handle, world })
    }
}

/// The entry of a world as it would be founded now.
fn new_world(config: &ServerConfig, game: &str, schema: u64, lobby: [u8; 32]) -> anyhow::Result<WorldEntry> {
    // Random, so that tokens of another world of the same game are not valid here.
    let id: [u8; 8] = random();
    let half = config.world.half.checked_mul(1_000).context("world.half is too large")?;
    let corners = world_entry::square(half).context("world.half is too large")?;
    let partition = stored_partition::divide(Polygon::new(&corners)?, config.world.zones)?;
    Ok(WorldEntry {
        id: format!("{game}-{:016x}", u64::from_le_bytes(id)),
        game: game.to_owned(),
        schema,
        half,
        seed: config.world.seed,
        map: StoredPartition::of(&partition),
        zones: stored_partition::assign_hosts(partition.zones().map(|it| it.0), &config.world.hosts),
        lobby,
    })
}

/// The world in the directory; founds this one if there is none.
async fn found_or_open(directory_handle: &DirectoryHandle, fresh: WorldEntry) -> anyhow::Result<WorldEntry> {
    let stored = async || {
        let entries = directory_handle.read(vec![world_entry::world_key()]).await;
        entries.and_then(|it| it.into_iter().next()).context("the directory's disk failed")
    };
    let mut entry = stored().await?;
    // Only a world that is missing is written: an existing one counts, whatever the configuration says now.
    if entry.revision == Revision(0) {
        let outcome = directory_handle.create(world_entry::world_key(), world_entry::write(&fresh)).await;
        if let SwapOutcome::Refused(why) = outcome {
            return Err(cannot_found(why, &fresh));
        }
        entry = stored().await?;
    }
    let world: WorldEntry = world_entry::read(&entry.value).context(world_entry::OTHER_VERSION)?;
    world.map.partition().context("the world's stored partition is invalid")?;
    Ok(world)
}

/// The addresses of the hosts that have registered, so that they find the directory also while strangers flood its port.
async fn host_addresses(directory_handle: &DirectoryHandle, world: &WorldEntry) -> Vec<IpAddr> {
    let mut hosts = HostEntryReader::new(world.hosts());
    let entries = directory_handle.read(hosts.keys().collect()).await.unwrap_or_default();
    hosts.decode(&entries).values().map(|it| it.mesh.ip()).collect()
}

fn cannot_found(why: DirectoryRefusal, world: &WorldEntry) -> anyhow::Error {
    let (zones, hosts) = (world.zones.len(), world.hosts().len());
    match why {
        DirectoryRefusal::ValueTooLong(bytes) => anyhow::anyhow!(
            "cannot found the world: {zones} zones with {hosts} hosts each make an entry of {bytes} bytes, and the \
             directory takes {VALUE_MAX}; lower world.zones or name fewer hosts in world.hosts"
        ),
        why => anyhow::anyhow!("cannot found the world: {why}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_directory::TestDirectory;
    use machine::directory::Key;

    fn fresh(zones: u32, hosts: u32) -> WorldEntry {
        let hosts: Vec<u32> = (1..=hosts).collect();
        let config = ServerConfig::of_text(&format!("[world]\nzones = {zones}\nhosts = {hosts:?}")).unwrap();
        new_world(&config, "test", 1, [1; 32]).unwrap()
    }

    #[tokio::test]
    async fn a_world_too_large_for_the_directory_is_refused_with_its_size() {
        let directory = TestDirectory::start("large");
        let large = fresh(256, 100);
        let why = found_or_open(&directory.handle, large.clone()).await.unwrap_err().to_string();
        let bytes = world_entry::write(&large).len().to_string();
        for part in ["256 zones with 100 hosts", &bytes, "16384", "lower world.zones", "world.hosts"] {
            assert!(why.contains(part), "{part}: {why}");
        }
        // What operating.md says fits.
        let fits = fresh(256, 40);
        assert_eq!(found_or_open(&directory.handle, fits.clone()).await.unwrap(), fits);
    }

    #[tokio::test]
    async fn a_world_that_exists_is_opened_whatever_the_configuration_says() {
        let directory = TestDirectory::start("exists");
        let world = found_or_open(&directory.handle, fresh(6, 3)).await.unwrap();
        // An earlier version left it there.
        directory.handle.create(Key("hosts".to_owned()), vec![1, 2, 3]).await;
        assert_eq!(found_or_open(&directory.handle, fresh(256, 100)).await.unwrap(), world);
    }

    #[tokio::test]
    async fn a_world_of_another_version_is_not_founded_anew() {
        let directory = TestDirectory::start("foreign");
        directory.handle.create(world_entry::world_key(), vec![0xff; 4]).await;
        let why = found_or_open(&directory.handle, fresh(6, 3)).await.unwrap_err().to_string();
        assert_eq!(why, world_entry::OTHER_VERSION);
        let stored = directory.handle.read(vec![world_entry::world_key()]).await.unwrap();
        assert_eq!(stored[0].value, [0xff; 4]);
    }
}
