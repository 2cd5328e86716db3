//! The workload on bevy_replicon over renet with netcode, used as bevy_replicon's own pages show it.
//!
//! An avatar is an entity, its position a replicated component; replicon finds what changed, encodes it per client, and
//! sends it again until the client acknowledges. Which entities a client may see is set by the workload's circles.

mod client;
mod server;

use bevy::app::{MainScheduleOrder, PluginGroupBuilder, RunFixedMainLoop};
use bevy::ecs::schedule::ScheduleLabel as _;
use bevy::prelude::*;
use bevy::state::app::StatesPlugin;
use bevy_replicon::prelude::*;
use bevy_replicon_renet::{RepliconRenetClientPlugin, RepliconRenetServerPlugin};
use serde::{Deserialize, Serialize};
use workload::Stamp;

/// Number by which netcode tells programs apart.
const PROTOCOL: u64 = 1;

/// Where an avatar is, and since when.
#[derive(Component, Clone, Copy, Serialize, Deserialize)]
struct Position {
    x: f32,
    y: f32,
    at: u32,
}

/// Number of the client whose avatar this is.
#[derive(Component, Clone, Copy, Serialize, Deserialize)]
struct AvatarNumber(u16);

#[derive(Message, Clone, Copy, Serialize, Deserialize)]
struct MoveMessage(Position);

#[derive(Message, Clone, Copy, Serialize, Deserialize)]
struct PingMessage(u32);

#[derive(Message, Clone, Copy, Serialize, Deserialize)]
struct PongMessage(u32);

impl From<workload::Move> for Position {
    fn from(it: workload::Move) -> Self {
        Self { x: it.x, y: it.y, at: it.at.0 }
    }
}

impl From<Position> for workload::Move {
    fn from(it: Position) -> Self {
        Self { x: it.x, y: it.y, at: Stamp(it.at) }
    }
}

/// A server without the client's plugins. Each `update` is a tick.
fn server_app() -> App {
    let server = RepliconPlugins.set(ServerPlugin::new(PostUpdate));
    let replicon = server.disable::<ClientPlugin>().disable::<ClientMessagePlugin>();
    app(replicon, RepliconRenetServerPlugin)
}

/// A client without the server's plugins.
fn client_app() -> App {
    let replicon = RepliconPlugins.build().disable::<ServerPlugin>().disable::<ServerMessagePlugin>();
    let mut app = app(replicon, RepliconRenetClientPlugin);
    // A thousand apps share a core, so they leave out the schedules that do nothing here.
    let unused = [RunFixedMainLoop.intern(), SpawnScene.intern(), Last.intern()];
    app.world_mut().resource_mut::<MainScheduleOrder>().labels.retain(|it| !unused.contains(it));
    app
}

/// What server and clients have in common.
fn app(replicon: PluginGroupBuilder, renet: impl Plugin) -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, StatesPlugin, replicon, renet));
    app.replicate::<Position>()
        .replicate::<AvatarNumber>()
        .add_client_message::<MoveMessage>(Channel::Unreliable)
        .add_client_message::<PingMessage>(Channel::Unreliable)
        .add_server_message::<PongMessage>(Channel::Unreliable);
    app
}

fn main() -> anyhow::Result<()> {
    workload::run(server::serve, client::RepliconClient::connect)
}
