//! The server's end of bevy_replicon.

use crate::{AvatarNumber, MoveMessage, PROTOCOL, PingMessage, PongMessage, Position, server_app};
use anyhow::Result;
use bevy::prelude::{
    Add, App, Commands, Entity, FromWorld, IntoScheduleConfigs as _, MessageReader, MessageWriter, Mut, On,
    Query, Res, ResMut, Resource, Update, World,
};
use bevy_replicon::prelude::*;
use bevy_replicon::server::visibility::client_visibility::ClientVisibility;
use bevy_replicon::server::visibility::filters_mask::FilterBit;
use bevy_replicon::server::visibility::registry::FilterRegistry;
use bevy_replicon::shared::backend::connected_client::NetworkId;
use bevy_replicon::shared::replication::registry::ReplicationRegistry;
use bevy_replicon_renet::netcode::{NetcodeServerTransport, ServerAuthentication, ServerConfig};
use bevy_replicon_renet::renet::ConnectionConfig;
use bevy_replicon_renet::{RenetChannelsExt as _, RenetServer};
use std::time::{SystemTime, UNIX_EPOCH};
use workload::ServerOptions;

/// The bit by which an avatar that is out of a client's view is hidden.
#[derive(Resource)]
struct RangeBit(FilterBit);

impl FromWorld for RangeBit {
    fn from_world(world: &mut World) -> Self {
        Self(world.resource_scope(|world, mut filters: Mut<FilterRegistry>| {
            world.resource_scope(|world, mut replication: Mut<ReplicationRegistry>| {
                filters.register_scope::<Entity>(world, &mut replication, ScopeLifetime::WhileVisible)
            })
        }))
    }
}

/// All clients by their number: the entity of the connection, and that of the avatar.
#[derive(Resource)]
struct Crowd {
    world: workload::World,
    connections: Vec<Option<Entity>>,
    avatars: Vec<Option<Entity>>,
}

/// Serves until the process is ended.
pub fn serve(options: &ServerOptions) -> Result<()> {
    let mut app = server_app();
    let empty = vec![None; usize::from(options.clients)];
    app.init_resource::<RangeBit>()
        .insert_resource(Crowd {
            world: workload::World::new(options.clients, options.hz),
            connections: empty.clone(),
            avatars: empty,
        })
        .add_observer(hide_all)
        .add_systems(Update, (accept_moves, look).chain())
        .add_systems(Update, answer_pings);
    app.finish();
    app.cleanup();
    listen(&mut app, options)?;
    workload::every_tick(options, || {
        app.update();
        Ok(())
    })
}

fn listen(app: &mut App, options: &ServerOptions) -> Result<()> {
    let channels = app.world().resource::<RepliconChannels>();
    let config = ConnectionConfig {
        server_channels_config: channels.server_configs(),
        client_channels_config: channels.client_configs(),
        ..ConnectionConfig::default()
    };
    let socket = workload::server_socket()?;
    let address = socket.local_addr()?;
    let transport = NetcodeServerTransport::new(
        ServerConfig {
            current_time: SystemTime::now().duration_since(UNIX_EPOCH)?,
            max_clients: options.clients.into(),
            protocol_id: PROTOCOL,
            public_addresses: vec![address],
            authentication: ServerAuthentication::Unsecure,
        },
        socket,
    )?;
    app.insert_resource(RenetServer::new(config)).insert_resource(transport);
    workload::tell_address(address)
}

/// A new client sees no avatar until [`look`] says otherwise.
fn hide_all(
    added: On<Add, ClientVisibility>,
    crowd: Res<Crowd>,
    bit: Res<RangeBit>,
    mut clients: Query<&mut ClientVisibility>,
) {
    if let Ok(mut visibility) = clients.get_mut(added.entity) {
        crowd.avatars.iter().flatten().for_each(|&it| visibility.set(it, bit.0, false));
    }
}

fn accept_moves(
    mut messages: MessageReader<FromClient<MoveMessage>>,
    mut crowd: ResMut<Crowd>,
    bit: Res<RangeBit>,
    ids: Query<&NetworkId>,
    mut positions: Query<&mut Position>,
    mut clients: Query<&mut ClientVisibility>,
    mut commands: Commands,
) {
    for message in messages.read() {
        let Some(connection) = message.client_id.entity() else { continue };
        let Some(number) = ids.get(connection).ok().and_then(|it| u16::try_from(it.get()).ok()) else {
            continue;
        };
        let index = usize::from(number);
        if crowd.avatars.len() <= index {
            continue;
        }
        let position = message.message.0;
        crowd.world.accept(number, position.into());
        if let Some(avatar) = crowd.avatars[index] {
            if let Ok(mut it) = positions.get_mut(avatar) {
                *it = position;
            }
            continue;
        }
        let avatar = commands.spawn((Replicated, position, AvatarNumber(number))).id();
        clients.iter_mut().for_each(|mut it| it.set(avatar, bit.0, false));
        crowd.connections[index] = Some(connection);
        crowd.avatars[index] = Some(avatar);
    }
}

fn look(mut crowd: ResMut<Crowd>, bit: Res<RangeBit>, mut clients: Query<&mut ClientVisibility>) {
    let Crowd { world, connections, avatars } = &mut *crowd;
    world.look(|client, avatar, sees| {
        let (client, avatar) = (connections[usize::from(client)], avatars[usize::from(avatar)]);
        if let (Some(client), Some(avatar)) = (client, avatar)
            && let Ok(mut visibility) = clients.get_mut(client)
        {
            visibility.set(avatar, bit.0, sees);
        }
    });
    world.end_tick();
}

fn answer_pings(
    mut pings: MessageReader<FromClient<PingMessage>>,
    mut pongs: MessageWriter<ToClients<PongMessage>>,
) {
    for ping in pings.read() {
        let targets = SendTargets::Single(ping.client_id);
        pongs.write(ToClients { targets, message: PongMessage(ping.message.0) });
    }
}
