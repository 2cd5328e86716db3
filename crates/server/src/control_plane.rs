//! The control plane's process: the directory, the lobby and the web page, with the world that they founded.

use crate::config::ServerConfig;
use crate::directory::{self, DirectoryHandle};
use crate::keys::{KeyFolder, random};
use crate::lobby_http::{self, LobbyHttp};
use crate::stored_partition::{self, StoredPartition};
use crate::web;
use crate::world_entry::{self, WorldEntry};
use anyhow::Context as _;
use game::HostedGame;
use history::{Header, HistoryWriter};
use lobby::{Issuer, Lobby, LobbySettings, Rate};
use machine::Span;
use net::tls::DIRECTORY_NAME;
use space::Polygon;
use std::net::SocketAddr;
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
    /// Opens directory and lobby, and founds the world if there is none.
    pub async fn start(config: &ServerConfig, rules: &dyn HostedGame) -> anyhow::Result<Self> {
        let keys = KeyFolder::of(&config.data);
        let mesh_identity = keys.mesh_identity(DIRECTORY_NAME)?;
        let header = Header::of("directory");
        let history = HistoryWriter::begin(config.history(), &header, net::clock::now)?;
        let directory_handle = DirectoryHandle::open(&config.data.join("directory"), history)?;
        let signing = keys.lobby()?;
        let world = found(config, rules, &directory_handle, signing.public().to_bytes()).await?;
        let every = Span::from_micros((1e6 / config.lobby.per_address) as u64);
        let settings = LobbySettings {
            address_rate: Rate { burst: config.lobby.burst, every },
            ..LobbySettings::default()
        };
        let media = Files::open(config.data.join("lobby"))?;
        let lobby = Lobby::open(media, Issuer::new(signing, &world.id)?, settings)?;

        let (range, proxies) = (rules.range().millimetres(), config.lobby.proxies.clone());
        let http = LobbyHttp::new(lobby, directory_handle.clone(), world.clone(), range, proxies.clone())?;
        let listener = TcpListener::bind(config.lobby.listen).await.with_context(|| {
            format!("cannot listen at {}; is another world running?", config.lobby.listen)
        })?;
        let lobby = listener.local_addr()?;
        web::serve(listener, lobby_http::routes(Arc::new(http)), proxies);
        let directory = directory::serve(&directory_handle, config.directory.listen, &mesh_identity)?;
        let found =
            serde_json::json!({ "directory": directory, "lobby": lobby, "process": std::process::id() });
        // Written last: a process that reads it may connect at once.
        std::fs::write(config.data.join(CONTROL_PLANE_FILE), found.to_string())?;
        tracing::info!(%directory, %lobby, world = world.id, "ready");
        Ok(Self { directory, lobby, directory_handle, world })
    }
}

async fn found(
    config: &ServerConfig,
    rules: &dyn HostedGame,
    directory_handle: &DirectoryHandle,
    lobby: [u8; 32],
) -> anyhow::Result<WorldEntry> {
    // Random, so that tokens of another world of the same game are not valid here.
    let id: [u8; 8] = random();
    let half = config.world.half.checked_mul(1_000).context("world.half is too large")?;
    let corners = world_entry::square(half).context("world.half is too large")?;
    let partition = stored_partition::divide(Polygon::new(&corners)?, config.world.zones)?;
    let fresh = WorldEntry {
        id: format!("{}-{:016x}", rules.name(), u64::from_le_bytes(id)),
        game: rules.name().to_owned(),
        schema: rules.schema(),
        half,
        seed: config.world.seed,
        map: StoredPartition::of(&partition),
        zones: stored_partition::assign_hosts(partition.zones().map(|it| it.0), &config.world.hosts),
        lobby,
    };
    // Fails if the world exists already; what counts is the entry that is read back.
    directory_handle.create(world_entry::world_key(), world_entry::write(&fresh)).await;
    let entries =
        directory_handle.read(vec![world_entry::world_key()]).await.context("the directory's disk failed")?;
    let world: WorldEntry =
        world_entry::read(&entries[0].value).context("the world's entry is of another version")?;
    world.map.partition().context("the world's stored partition is invalid")?;
    anyhow::ensure!(
        // Hosts verify tokens with the key in the entry: with another one they would refuse every token.
        world.lobby == lobby,
        "the lobby's key is not the one this world was founded with: restore {}",
        config.data.join("keys/lobby.key").display()
    );
    Ok(world)
}
