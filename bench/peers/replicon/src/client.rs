//! The client's end of bevy_replicon: an app of its own for each client.

use crate::{AvatarNumber, MoveMessage, PROTOCOL, PingMessage, PongMessage, Position, client_app};
use anyhow::{Result, ensure};
use bevy::prelude::{
    App, Changed, IntoScheduleConfigs as _, MessageReader, PostUpdate, Query, ResMut, Resource, State,
    Update, resource_equals,
};
use bevy_replicon::prelude::*;
use bevy_replicon_renet::netcode::{ClientAuthentication, NetcodeClientTransport};
use bevy_replicon_renet::renet::ConnectionConfig;
use bevy_replicon_renet::{RenetChannelsExt as _, RenetClient, RenetSend};
use std::net::UdpSocket;
use std::time::{SystemTime, UNIX_EPOCH};
use workload::{Client, ClientsOptions, Outgoing, Ping, Received, Stamp};

/// A client with a world of its own.
pub struct RepliconClient {
    app: App,
    /// The transport's socket, to look whether a packet waits.
    socket: UdpSocket,
}

/// True in a turn in which the client sends.
#[derive(Resource, Default, PartialEq)]
struct Sends(bool);

/// What has arrived since the last turn.
#[derive(Resource, Default)]
struct Arrived(Received);

impl RepliconClient {
    /// A client that connects to the server; its number is its id.
    pub fn connect(options: &ClientsOptions, number: u16) -> Result<Self> {
        let mut app = client_app();
        app.init_resource::<Arrived>()
            .init_resource::<Sends>()
            .configure_sets(PostUpdate, RenetSend.run_if(resource_equals(Sends(true))))
            .add_systems(Update, (collect_positions, collect_pongs));
        app.finish();
        app.cleanup();
        let channels = app.world().resource::<RepliconChannels>();
        let config = ConnectionConfig {
            server_channels_config: channels.server_configs(),
            client_channels_config: channels.client_configs(),
            ..ConnectionConfig::default()
        };
        let authentication = ClientAuthentication::Unsecure {
            client_id: number.into(),
            protocol_id: PROTOCOL,
            server_addr: options.server,
            user_data: None,
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
        let transport_socket = UdpSocket::bind("127.0.0.1:0")?;
        let socket = transport_socket.try_clone()?;
        let transport = NetcodeClientTransport::new(now, authentication, transport_socket)?;
        app.insert_resource(RenetClient::new(config)).insert_resource(transport);
        Ok(Self { app, socket })
    }
}

impl Client for RepliconClient {
    fn is_connected(&self) -> bool {
        *self.app.world().resource::<State<ClientState>>() == ClientState::Connected
    }

    fn turn(&mut self, outgoing: &Outgoing, received: &mut Received) -> Result<()> {
        // A turn of an app is dear, and a client that measures times has one every two milliseconds.
        if !outgoing.sends && self.socket.peek(&mut [0]).is_err() {
            return Ok(());
        }
        let world = self.app.world_mut();
        world.insert_resource(Sends(outgoing.sends));
        if let Some(step) = outgoing.step {
            world.write_message(MoveMessage(step.into()));
        }
        if let Some(ping) = outgoing.ping {
            world.write_message(PingMessage(ping.0.0));
        }
        self.app.update();
        let disconnected = self.app.world().resource::<RenetClient>().is_disconnected();
        ensure!(!disconnected, "the server ended a connection");
        let arrived = &mut self.app.world_mut().resource_mut::<Arrived>().0;
        received.updates.append(&mut arrived.updates);
        received.pongs.append(&mut arrived.pongs);
        Ok(())
    }
}

fn collect_positions(
    avatars: Query<(&AvatarNumber, &Position), Changed<Position>>,
    mut arrived: ResMut<Arrived>,
) {
    let updates = avatars.iter().map(|(number, &to)| workload::Update { avatar: number.0, to: to.into() });
    arrived.0.updates.extend(updates);
}

fn collect_pongs(mut pongs: MessageReader<PongMessage>, mut arrived: ResMut<Arrived>) {
    arrived.0.pongs.extend(pongs.read().map(|it| Ping(Stamp(it.0))));
}
