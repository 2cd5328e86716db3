// The workload on Colyseus, used as its own pages show it.
//
// All clients are in one room. An avatar is a schema in a map, filtered by a view of each client; Colyseus finds what
// changed and encodes it per client at its patch rate. The workload's circles set the views.

import { Room, Server } from "@colyseus/core";
import { Encoder, StateView } from "@colyseus/schema";
import { WebSocketTransport } from "@colyseus/ws-transport";
import { Avatar, WorldState } from "./colyseus-state.mjs";
import { serverOptions, tellAddress } from "./server.mjs";
import { World } from "./workload.mjs";

const options = serverOptions();

// As Colyseus advises when its own buffer is too small for the first state of a large room.
Encoder.BUFFER_SIZE = 256 * 1024;

class WorldRoom extends Room {
  onCreate() {
    this.maxClients = options.clients;
    this.patchRate = 1_000 / options.hz;
    this.state = new WorldState();
    this.world = new World(options.clients, options.hz);
    this.members = new Array(options.clients).fill(null);
    this.onMessage("move", (client, [x, y, at]) => this.accept(client.userData, x, y, at));
    this.onMessage("ping", (client, at) => client.send("pong", at));
    this.setSimulationInterval(() => this.look(), 1_000 / options.hz);
  }

  onJoin(client, { number }) {
    client.view = new StateView();
    const avatar = new Avatar();
    avatar.number = number;
    client.userData = { number, avatar };
    this.members[number] = client;
    this.state.avatars.set(String(number), avatar);
  }

  accept({ number, avatar }, x, y, at) {
    avatar.x = x;
    avatar.y = y;
    avatar.at = at;
    this.world.accept(number, x, y, at);
  }

  look() {
    this.world.look((number, other, sees) => {
      const { view } = this.members[number];
      const { avatar } = this.members[other].userData;
      if (sees) view.add(avatar);
      else view.remove(avatar);
    });
    this.world.endTick();
  }
}

const transport = new WebSocketTransport();
const server = new Server({ transport, greet: false });
server.define("world", WorldRoom);
await server.listen(0, "127.0.0.1");
tellAddress(transport.server.address());
