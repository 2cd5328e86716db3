//! The directory's process: the directory, the lobby, and the page, with the world that they founded.

use crate::config::Config;
use crate::directory::{self, Desk};
use crate::front::{self, Front};
use crate::keys::{KeyFolder, random};
use crate::map::{self, Drawn};
use crate::web;
use crate::world::{self, World};
use anyhow::Context as _;
use game::Rules;
use history::{Header, HistoryWriter};
use lobby::{Issuer, Lobby, Rate, Settings};
use machine::Span;
use net::tls::DIRECTORY_NAME;
use space::Polygon;
use std::net::SocketAddr;
use std::sync::Arc;
use store::Files;
use tokio::net::TcpListener;

/// Where a seat says where it is, in its data folder: ports may be any.
pub const SEAT_FILE: &str = "seat.json";

/// Where the directory and the lobby are.
pub struct Seat {
    /// Where hosts ask.
    pub directory: SocketAddr,
    /// Where people come.
    pub lobby: SocketAddr,
    /// The directory, for whoever is in the same process.
    pub desk: Desk,
    /// The world.
    pub world: World,
}

impl Seat {
    /// Opens directory and lobby, founding the world if there is none.
    pub async fn start(config: &Config, rules: &dyn Rules) -> anyhow::Result<Self> {
        let keys = KeyFolder::of(&config.data);
        let membership = keys.membership(DIRECTORY_NAME)?;
        let header = Header::of("directory");
        let history = HistoryWriter::begin(config.history(), &header, net::clock::now)?;
        let desk = Desk::open(&config.data.join("directory"), history)?;
        let signing = keys.lobby()?;
        let world = found(config, rules, &desk, signing.public().to_bytes()).await?;
        let every = Span::from_micros((1e6 / config.lobby.per_address) as u64);
        let settings =
            Settings { address_rate: Rate { burst: config.lobby.burst, every }, ..Settings::default() };
        let media = Files::open(config.data.join("lobby"))?;
        let lobby = Lobby::open(media, Issuer::new(signing, &world.id)?, settings)?;

        let (range, proxies) = (rules.range().millimetres(), config.lobby.proxies.clone());
        let front = Front::new(lobby, desk.clone(), world.clone(), range, proxies.clone())?;
        let listener = TcpListener::bind(config.lobby.listen).await.with_context(|| {
            format!("cannot listen at {}; is another world running?", config.lobby.listen)
        })?;
        let lobby = listener.local_addr()?;
        web::serve(listener, front::routes(Arc::new(front)), proxies);
        let directory = directory::serve(&desk, config.directory.listen, &membership)?;
        let found =
            serde_json::json!({ "directory": directory, "lobby": lobby, "process": std::process::id() });
        std::fs::write(config.data.join(SEAT_FILE), found.to_string())?;
        tracing::info!(%directory, %lobby, world = world.id, "ready");
        Ok(Self { directory, lobby, desk, world })
    }
}

async fn found(config: &Config, rules: &dyn Rules, desk: &Desk, lobby: [u8; 32]) -> anyhow::Result<World> {
    let id: [u8; 8] = random();
    let half = config.world.half.checked_mul(1_000).context("world.half is too large")?;
    let corners = world::square(half).context("world.half is too large")?;
    let partition = map::divide(Polygon::new(&corners)?, config.world.zones)?;
    let fresh = World {
        id: format!("{}-{:016x}", rules.name(), u64::from_le_bytes(id)),
        game: rules.name().to_owned(),
        schema: rules.schema(),
        half,
        seed: config.world.seed,
        map: Drawn::of(&partition),
        zones: map::place(partition.zones().map(|it| it.0), &config.world.hosts),
        lobby,
    };
    desk.create(world::world_key(), world::write(&fresh)).await;
    let entries = desk.read(vec![world::world_key()]).await.context("the directory's disk failed")?;
    let world: World = world::read(&entries[0].value).context("the world's entry is of another version")?;
    world.map.partition().context("the world's borders make no sense")?;
    anyhow::ensure!(
        world.lobby == lobby,
        "the lobby's key is not the one this world was founded with: restore {}",
        config.data.join("keys/lobby.key").display()
    );
    Ok(world)
}
