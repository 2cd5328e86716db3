// The workload on ws: binary frames, one per client and tick, in the bytes of the plain UDP server.

import { WebSocketServer } from "ws";
import { serverOptions, tellAddress } from "./server.mjs";
import { MOVE_BYTES, PING_BYTES, UPDATE_BYTES, World } from "./workload.mjs";

const options = serverOptions();
const world = new World(options.clients, options.hz);
const sockets = new Array(options.clients).fill(null);

const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
server.on("listening", () => tellAddress(server.address()));
server.on("connection", (socket, request) => {
  // The path of the URL is the client's number.
  const number = Number(request.url.slice(1));
  sockets[number] = socket;
  socket.on("message", (data) => receive(number, socket, data));
  socket.on("close", () => (sockets[number] = null));
});

function receive(number, socket, data) {
  if (data.length === PING_BYTES) socket.send(data);
  else if (data.length === MOVE_BYTES) {
    world.accept(number, data.readFloatLE(0), data.readFloatLE(4), data.readUInt32LE(8));
  }
}

setInterval(() => {
  world.look();
  sockets.forEach((socket, number) => socket && sendUpdates(socket, world.visible[number]));
  world.endTick();
}, 1_000 / options.hz);

function sendUpdates(socket, visible) {
  const frame = Buffer.allocUnsafe(visible.length * UPDATE_BYTES);
  let length = 0;
  for (const avatar of visible) {
    if (world.moved[avatar] === 0) continue;
    frame.writeUInt16LE(avatar, length);
    frame.writeFloatLE(world.x[avatar], length + 2);
    frame.writeFloatLE(world.y[avatar], length + 6);
    frame.writeUInt32LE(world.at[avatar], length + 10);
    length += UPDATE_BYTES;
  }
  if (0 < length) socket.send(frame.subarray(0, length));
}
